"""Imports go down only, and the light modules stay light."""

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from . import floors_page as page

PACKAGE = page.PACKAGE
# a module may import from its own floor and below
FLOORS = [{*page.names_of(floor)} for floor in page.FLOORS]
FLOORS[-1] |= {"__main__"}
ADDRESSES = {  # a heavy library and the only places that may name it
    "torch": {
        "accuracy/comet/",
        "accuracy/metricx.py",
        "candidates/",
        "hub.py",
        "scoring/batches.py",
        "translation/",
        "naturalness/load.py",
        "naturalness/lm.py",
        "naturalness/packed.py",
        "training/lm.py",
        "training/state.py",
        "xmi/train.py",
    },
    "transformers": {
        "accuracy/comet/",
        "accuracy/metricx.py",
        "candidates/",
        "hub.py",
        "translation/",
        "naturalness/load.py",
        "naturalness/lm.py",
        "training/lm.py",
        "xmi/train.py",
    },
    "comet": {"accuracy/comet/"},
    "sacrebleu": {"accuracy/"},
    "papermill": {"notebooks.py", "execution.py"},
    "nbconvert": {"execution.py", "pages.py"},
    "nbformat": {"notebooks.py", "execution.py", "pages.py"},
    "anywidget": {"widgets/"},
    "altair": {"charts/"},
    "cvxpy": {"exact/"},
    "vl_convert": {"charts/"},
    "dask": {"scoring/cluster"},
    "distributed": {"scoring/cluster"},
    "dask_jobqueue": {"scoring/cluster"},
}


def floor_of(module: str) -> int:
    head = module.split(".")[0]
    found = [i for i, names in enumerate(FLOORS) if head in names]
    assert found, f"{module} has no floor: add it to FLOORS"
    return found[0]


def imported(path: Path):
    """(package module or None, top-level library or None) of every import and every need("...") in a file."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = parts[: len(parts) - node.level]
            names = [node.module] if node.module else [a.name for a in node.names]
            yield from ((".".join([*base, *name.split(".")]), None) for name in names)
        elif isinstance(node, ast.ImportFrom):
            yield None, node.module.split(".")[0]
        elif isinstance(node, ast.Import):
            yield from ((None, a.name.split(".")[0]) for a in node.names)
        elif (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", "") == "need"
            and isinstance(node.args[0], ast.Constant)
        ):
            yield None, node.args[0].value.split(".")[0]


FILES = sorted(p for p in PACKAGE.rglob("*.py") if p.parent != PACKAGE or p.name != "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_down_only(path):
    here = str(path.relative_to(PACKAGE))
    mine = floor_of(here.removesuffix(".py").replace("/", "."))
    for module, library in imported(path):
        if module and module != "__version__":
            assert floor_of(module) <= mine, (
                f"{here} (floor {mine}) imports {module} (floor {floor_of(module)})"
            )
        allowed = ADDRESSES.get(library)
        assert allowed is None or any(here.startswith(a) for a in allowed), (
            f"{here} imports {library}; allowed: {allowed}"
        )


def needed(path: Path, modules: set[str]) -> set[str]:
    """The modules of the package that a file imports, on top or within functions, but not for types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = path.relative_to(PACKAGE).with_suffix("").parts
    guards = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
    ]
    for_types = {node for guard in guards for node in ast.walk(guard)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level and node not in for_types:
            base = ".".join([*own[: len(own) - node.level], *(node.module or "").split(".")]).strip(
                "."
            )
            for name in node.names:
                inner = f"{base}.{name.name}".strip(".")
                found |= {inner if inner in modules else base}
    return {name for name in found if name in modules}


def test_imports_go_in_no_circle():
    """Nor do those within functions, by which a circle hides."""
    name_of = {
        path: ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        for path in FILES
    }
    modules = set(name_of.values())
    graph = {name: needed(path, modules) - {name} for path, name in name_of.items()}
    assert sum(map(len, graph.values())) > 700
    TopologicalSorter(graph).prepare()  # a CycleError names the circle


def test_the_picture_and_the_table_are_those_of_the_code():
    """Every module and folder stands on one floor; picture and table are what `python -m tests.floors_page` draws."""
    there = {
        path.stem
        for path in PACKAGE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    named = [name for floor in page.FLOORS for name in page.names_of(floor)]
    assert sorted(named) == sorted(there - {"__init__", "__main__"})
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.PICTURE.read_text(encoding="utf-8") == page.picture()
    assert page.MADE.search(text)[0] == page.table()
    for name in set(re.findall(r"`([a-z_/]+(?:/|\.py|\.tsv))`", text)) - {"build/"}:
        assert any((root / name).exists() for root in (PACKAGE, PACKAGE.parent)), (
            f"docs/architecture.md names {name}"
        )


@pytest.mark.parametrize(
    "module",
    [
        "anhelpers",
        "anhelpers.frontier",
        "anhelpers.data",
        "anhelpers.accuracy.surface",
        "anhelpers.cli",
    ],
)
def test_light_modules_load_nothing_heavy(module):
    code = f"import sys, {module}; print([m for m in ('torch', 'pandas', 'altair', 'papermill') if m in sys.modules])"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )
