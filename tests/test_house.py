"""The house stays small and explained: sizes of modules and functions, docstrings, names of arguments."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "anhelpers"
FILES = sorted(PACKAGE.rglob("*.py"))
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

# CODE and FUNCTION without docstrings, comments and blank lines
LINES, CODE, FUNCTION, POSITIONAL = 420, 310, 70, 4
LONGER = {  # module, or module:function -> why it is longer
    "cli/options.py": "every option that commands share, and what each means: one place to look it up",
    "candidates/drawing.py": "all that decides what is drawn: how a token is chosen, prompts, limits, the signature",
    "data/catalog.py": "where every data set is looked for, and what is said where it is not here",
    "data/fetch.py": "from a set's name to verified files: what is missing, each download, what is kept",
    "data/markup.py": "SGM and XML in all their dialects, and the test sets that they make",
    "data/mme.py": "one layout of folders, read and written so that the two agree",
    "data/plain.py": "parallel files, from their names to their alignment",
    "data/ratings.py": "ratings of experts, from one file or several: what is read, pooled and left out",
    "data/rating_rows.py": "one table of ratings, whatever its vintage: its header and its rows, as bytes",
    "data/schema.py": "the two sets that everything works on, half of it what their fields mean",
    "hub.py": "the one place that knows transformers' folders, revisions and messages, a third of it definitions",
    "widgets/divergences.py": "the widget, and the divergences along its three paths",
    "widgets/mqm_editor.py": "the widget, and what it says in words",
    "training/lm.py": "one command that can be stopped and resumed at every step",
}
MANY = {  # public function -> why it has more than four positional arguments
    "data/mme.py:read_mme_scores": "the parts of a file's name, in their order",
    "data/mme.py:score_path": "the parts of a file's name, in their order",
    "divergences/mmd.py:permutation_test": "x, y and kernel as in mmd; then rng and draws as everywhere",
    "divergences/normals.py:probit_second_moment": "means, variances and covariance of two normals",
    "fan.py:expected_at": "the candidates as everywhere, then where",
    "naturalness/lm.py:score_call": "what a worker is sent",
    "plane/ratings.py:stored_against": "metric_against with values and axis in place of the metric",
    "plane/scores.py:stored_axis": "an axis without its computation",
}
NO_NAMES = {
    "__init__.py",
    "__main__.py",
    "training/__init__.py",
    *(
        path.with_suffix(".py").relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("__init__.pyi")
    ),
}
"""Rooms, whose names stand in their `__init__.pyi`; and a folder whose modules are named in full."""

FRONT_DOORS = ("run", "options")  # of a command: what `cli` calls
SAME_ROLE = {  # public name of functions in several modules -> why these are one role
    "made": "what a worker calls by its address, in every module with a model",
    "score_call": "one call to a worker, of a language model and of a translation model",
    "counter": "what `encode` calls of a surface metric",
    "scores": "what `surface` calls of a surface metric",
    "static_html": "what a widget shows without a script",
    "named": "a metric's maker, which the table of metrics calls by its address",
    "run": "of a command, and of `execution`, which does what `anhelpers run` says",
}


def name_of(path):
    return path.relative_to(PACKAGE).as_posix()


def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def exported(tree):
    """The names in a module's __all__, or None."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            getattr(target, "id", "") == "__all__" for target in node.targets
        ):
            return ast.literal_eval(node.value)
    return None


def said_lines(tree):
    """The lines of all texts that stand alone: docstrings, of constants too."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield from range(node.lineno, node.end_lineno + 1)


def code_lines(path, tree):
    said = set(said_lines(tree))
    lines = path.read_text(encoding="utf-8").split("\n")
    return [
        n
        for n, line in enumerate(lines, 1)
        if n not in said and line.strip() and not line.strip().startswith("#")
    ]


def public():
    """(module:name, node, docstring) of every function and class that a module exports."""
    for path in FILES:
        tree = tree_of(path)
        names = exported(tree) or ()
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in names:
                yield f"{name_of(path)}:{node.name}", node, ast.get_docstring(node) or ""


def arguments(node):
    """The names and annotations of what a function takes, or of the fields of a data class."""
    if isinstance(node, ast.FunctionDef):
        given = node.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        return {
            one.arg: ast.unparse(one.annotation) if one.annotation else "" for one in every if one
        }
    if not any("dataclass" in ast.unparse(one) for one in node.decorator_list):
        return {}
    fields = [
        one
        for one in node.body
        if isinstance(one, ast.AnnAssign) and not one.target.id.startswith("_")
    ]
    return {one.target.id: ast.unparse(one.annotation) for one in fields}


PUBLIC = list(public())
GLOSSARY = ARCHITECTURE.split("## Names that need no explanation")[1].split("\n## ")[0]
FAMILIAR = {
    name
    for row in re.findall(r"^\|([^|]*)\|", GLOSSARY, re.M)
    for name in re.findall(r"`(\w+)`", row)
}
SHAPE = re.compile(r"\((\.\.\.|[A-Za-z0-9_+]+)(, ?(\.\.\.|[A-Za-z0-9_+ *…]+))*,?\)")


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_module_is_small_and_says_what_it_exports(path):
    tree, name = tree_of(path), name_of(path)
    assert ast.get_docstring(tree), f"{name} has no docstring"
    code, whole = code_lines(path, tree), len(path.read_text(encoding="utf-8").splitlines())
    longer = len(code) > CODE or whole > LINES
    assert longer == (name in LONGER), (
        f"{name}: {len(code)} lines of code of {whole}; split it, or say why in LONGER"
    )
    if name in NO_NAMES or (name.startswith("cli/") and exported(tree) is None):
        loose = [
            one.name for one in tree.body if isinstance(one, ast.FunctionDef) and one.name[0] != "_"
        ]
        assert set(loose) <= set(FRONT_DOORS), f"{name} has no __all__, and {loose}"
    else:
        assert exported(tree), f"{name} has no __all__"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            size = sum(node.lineno <= line <= node.end_lineno for line in code)
            tabled = name.startswith("cli/") and node.name == "options"
            longer = size > FUNCTION and not tabled
            assert longer == (f"{name}:{node.name}" in LONGER), f"{node.name} has {size} lines"


def test_a_public_name_means_one_thing():
    modules = {}
    for name, _, _ in PUBLIC:
        module, _, own = name.partition(":")
        modules.setdefault(own, set()).add(module)
    twins = {own: where for own, where in modules.items() if len(where) > 1}
    assert not twins.keys() - SAME_ROLE.keys(), twins


def test_public_functions_take_few_positional_arguments():
    many = {}
    for name, node, _ in PUBLIC:
        compiled = any(
            "compiled" in ast.unparse(one) or "njit" in ast.unparse(one)
            for one in node.decorator_list
        )
        if isinstance(node, ast.FunctionDef) and not compiled:
            many[name] = len(node.args.posonlyargs) + len(node.args.args)
    assert {name for name, n in many.items() if n > POSITIONAL} == set(MANY)


def test_every_public_name_is_defined_in_a_sentence():
    without = [
        name
        for name, _, said in PUBLIC
        if not re.search(r"[.:?!)`>\"]$", said.split("\n\n")[0].strip())
    ]
    assert not without


def test_every_argument_is_explained():
    """By its name, if it is one of those that mean the same everywhere; else in the docstring."""
    missing, seen = {}, Counter()
    for name, node, said in PUBLIC:
        given = arguments(node)
        named = {one for one in given if re.search(rf"\b{one}\b", said)}
        rest = [one for one in given if one not in named | FAMILIAR]
        seen += Counter(
            named=len(named), familiar=len(given) - len(named) - len(rest), rest=len(rest)
        )
        if len(given) > 1 and rest:
            missing[name] = rest
    print(f"{len(PUBLIC)} public names; of their arguments {dict(seen)}")
    assert not missing


def test_arrays_have_shapes():
    arrays = [
        (name, said)
        for name, node, said in PUBLIC
        if any(
            "ndarray" in kind or "ArrayLike" in kind
            for kind in [
                *arguments(node).values(),
                ast.unparse(node.returns) if getattr(node, "returns", None) else "",
            ]
            if "Callable" not in kind
        )
    ]
    without = [name for name, said in arrays if not SHAPE.search(said)]
    print(f"{len(arrays)} public names with arrays")
    assert not without


def test_the_glossary_names_what_is_there():
    """A name that no function takes any more leaves the list."""
    taken = {
        one
        for path in FILES
        for node in ast.walk(tree_of(path))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        for one in arguments(node)
    }
    assert len(FAMILIAR) > 50
    assert not FAMILIAR - taken
