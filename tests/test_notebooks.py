"""The collection: its form, and that it runs headless to the end."""

import ast
import html
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

import anhelpers as an
from anhelpers import cli
from anhelpers.classroom.exercises import RIGHT
from anhelpers.data import load
from anhelpers.errors import DataError, UnknownName
from anhelpers.notebooks import about, notebook_paths, run
from anhelpers.notebooks.catalog import _parameters_of
from anhelpers.notebooks.export import _typeset
from anhelpers.notebooks.run import _solved
from anhelpers.scoring.stored import _digest
from tests.golden.cases import is_self_contained

COLLECTION = notebook_paths()
# The quickest one. Of the whole collection, `make run` is the test.
EXECUTED = "an_6_related"


def smallest(path):
    """The parameters with which a notebook is done soonest."""
    smoke = {"n_draws": 200}
    return {name: value for name, value in smoke.items() if name in _parameters_of(path)}


def cells(path, kind):
    """Cells of a kind; the code of a solution is a cell of code, as in a run."""
    return [c for c in _solved(nbformat.read(path, 4)).cells if c.cell_type == kind]


def tags(cell):
    return cell.metadata.get("tags", [])


def names(cell, use):
    return {
        n.id
        for n in ast.walk(ast.parse(cell.source))
        if isinstance(n, ast.Name) and isinstance(n.ctx, use)
    }


def lines(cell):
    return [line for line in cell.source.splitlines() if line.strip()]


@pytest.fixture(params=COLLECTION, ids=lambda p: p.stem)
def path(request):
    return request.param


def test_no_outputs_no_counts_and_a_plain_kernel(path):
    book = nbformat.read(path, 4)
    nbformat.validate(book)
    assert all(
        not c.outputs and c.execution_count is None for c in book.cells if c.cell_type == "code"
    )
    assert book.metadata.kernelspec.name == "python3"
    assert len({c.id for c in book.cells}) == len(book.cells)


def test_parameters_are_literals_with_a_comment(path):
    (cell,) = (c for c in cells(path, "code") if "parameters" in c.metadata.get("tags", []))
    for statement in ast.parse(cell.source).body:
        assert isinstance(statement, ast.Assign)
        ast.literal_eval(statement.value)
    assert sum("#" in line for line in lines(cell)) >= len(lines(cell)) - 1
    assert {"data", "seed"} <= set(_parameters_of(path))


def test_the_first_notebook_is_read_aloud_in_five_minutes():
    """At 150 words a minute, all of it before the first deeper section, links and the example included."""
    (first,) = (p for p in COLLECTION if p.stem == "00_start_here")
    texts = [c.source for c in cells(first, "markdown") if "setup" not in tags(c)]
    core = texts[: next(i for i, text in enumerate(texts) if text.startswith("## Deeper"))]
    said = re.sub(r"\]\([^)]*\)", "", "\n".join(core)).split()
    assert sum(bool(re.search(r"\w", word)) for word in said) <= 700


def test_the_core_has_at_most_900_words(path):
    """All prose but set-up, "Deeper" sections, exercises and sources; formulas, code and addresses do not count."""
    core, counts = [], True
    for c in cells(path, "markdown"):
        if c.source.startswith("## "):
            counts = not c.source.startswith(("## Deeper", "## Exercises", "## Sources"))
        core += [c.source] * (counts and "setup" not in tags(c))
    prose = re.sub(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|\]\([^)]*\)", " ", "\n".join(core), flags=re.S)
    assert sum(bool(re.search(r"\w", word)) for word in prose.split()) <= 900


def test_formulas_are_typeset(path):
    """A displayed formula is LaTeX, which becomes MathML in an exported page; none is left in letters and signs."""
    prose = [line for c in cells(path, "markdown") for line in c.source.split("\n")]
    shown = [line for line in prose if line.startswith("> $$")]
    assert all(line.endswith("$$") for line in shown)
    assert not [line for line in prose if line.startswith(">") and re.search(r"[Σ∑√·≤≥]", line)]
    page = _typeset("\n\n".join(shown))
    assert page.count('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"') == len(
        shown
    )
    assert "$" not in page
    assert not re.search(r"\\[a-z]", html.unescape(page))


def test_the_core_needs_nothing_from_a_deeper_section(path):
    """Who skips what is collapsed has read every name that the core uses."""
    core, below, deeper = set(), set(), False
    for c in nbformat.read(path, 4).cells:
        if c.cell_type == "markdown" and (head := re.match(r"## (Deeper: )?", c.source)):
            deeper = bool(head[1])
        if c.cell_type == "code" and not {"exercise", "solution", "check"} & {*tags(c)}:
            if not deeper:
                assert not (names(c, ast.Load) - names(c, ast.Store)) & (below - core), c.source
            (below if deeper else core).update(names(c, ast.Store))


FORMULA = re.compile(
    r"[A-Za-zα-ωΔ]_[\w{]|[Σ∑∫√]|\w\^[\w({]|[₀₁₂₃ₙ²³ⁿ]|\blog [a-z]\(|\b[A-Za-z]\([a-zA-Z]{1,2}(?:[,)]| \|)"
)


def test_formulas_in_a_line_are_typeset_as_well(path):
    """What has an index, a power, a sum or an argument stands between dollars, outside of code and addresses."""
    known = r"\$\$.*?\$\$|\$.*?\$|``.*?``|`.*?`|\[\w+\]\(.*?\)|\]\(.*?\)"
    prose = [re.sub(known, "", c.source, flags=re.S) for c in cells(path, "markdown")]
    assert [found[0] for text in prose for found in FORMULA.finditer(text)] == []


def test_the_form_of_a_teaching_notebook(path):
    folded = {"check", "parameters", "solution", "setup", "hide-input"}
    code = [c for c in cells(path, "code") if not folded & {*tags(c)}]
    prose = cells(path, "markdown")
    sizes = [len(lines(c)) for c in code]
    words = sum(len(re.findall(r"\w+", c.source)) for c in prose)
    assert max(sizes) <= 12
    assert statistics.median(sizes) <= 5
    hidden = [c for c in cells(path, "code") if "hide-input" in tags(c)]  # a guess, with its answer
    assert all(c.metadata.get("jupyter", {}).get("source_hidden") for c in hidden)
    assert words / sum(sizes) >= 5
    text = "\n".join(c.source for c in prose)
    for part in ("does and does not say", "## Exercises", "## Sources and licences"):
        assert part in text, part
    assert re.search(r"Guess first|widgets\.guess\(|view=.hero", text + str(cells(path, "code")))
    assert any("assert" in c.source for c in cells(path, "code"))
    own = [c for c in code if not {"exercise", "definition"} & set(tags(c))]
    assert not any(
        isinstance(node, ast.FunctionDef) for c in own for node in ast.walk(ast.parse(c.source))
    )


@pytest.mark.parametrize(
    "path", [p for p in COLLECTION if p.stem.startswith(("an_", "xmi_"))], ids=lambda p: p.stem
)
def test_a_chapter_shows_its_definition_and_asserts_that_it_is_the_packages(path):
    """A cell tagged `definition`: one to three functions of up to six lines say the equation."""
    shown = [c for c in cells(path, "code") if "definition" in tags(c)]
    functions = [
        node
        for c in shown
        for node in ast.walk(ast.parse(c.source))
        if isinstance(node, ast.FunctionDef)
    ]
    assert 1 <= len(functions) <= 3
    assert all(one.end_lineno - one.lineno < 6 for one in functions)
    code = cells(path, "code")
    after = [c.source + code[code.index(c) + 1].source for c in shown]
    assert all(re.search(r"^(assert .*\ban\.|an\.holds\()", text, re.M | re.S) for text in after)


def test_a_chapter_is_an_hour_and_the_rest_is_deeper(path):
    """Sections "## Deeper: …" are collapsed in pages and in JupyterLab; without them about 60 cells are left."""
    core, deeper = 0, False
    for c in nbformat.read(path, 4).cells:
        assert c.cell_type == "code" or not deeper or "\n## " not in c.source  # it would be hidden
        if c.cell_type == "markdown" and (head := re.match(r"## (Deeper: )?", c.source)):
            deeper = bool(head[1])
            assert bool(c.metadata.get("jp-MarkdownHeadingCollapsed")) == deeper
        core += not deeper and not {"solution", "check", "exercise", "setup"} & {*tags(c)}
    assert core <= 60


def test_its_first_cell_tells_what_lists_of_the_collection_need(path):
    told = about(path)
    assert 5 <= told.minutes <= 90
    assert set(told.before) <= {p.stem for p in COLLECTION} - {path.stem}
    assert html.unescape(cells(path, "markdown")[0].source).count("](http") >= 1


def test_exercises_of_three_kinds_each_with_a_start_a_solution_and_a_check(path):
    """### Exercise N · kind / exercise / check / solution, folded: text and a fence of Python that parses."""
    book = nbformat.read(path, 4).cells
    heads = [
        i
        for i, c in enumerate(book)
        if c.cell_type == "markdown" and c.source.startswith("### Exercise ")
    ]
    kinds = [
        re.match(r"### Exercise (\d+) · (check|extend|open)\n", book[i].source).groups()
        for i in heads
    ]
    assert [int(number) for number, _ in kinds] == [*range(1, len(kinds) + 1)]
    assert {kind for _, kind in kinds} == {"check", "extend", "open"}
    for (number, _), start, end in zip(kinds, heads, [*heads[1:], len(book)], strict=True):
        tagged = [(c, tags(c)[0]) for c in book[start + 1 : end] if tags(c)]
        order = [tag for k, (_, tag) in enumerate(tagged) if not k or tag != tagged[k - 1][1]]
        assert order == ["exercise", "check", "solution"], number
        given, (checking, _), (solution, _) = tagged[0][0], *tagged[-2:]
        assert solution.cell_type == "markdown"
        folded = r"<details><summary>Solution</summary>\n\n.+\n\n```python\n(.+)\n```\n\n</details>"
        ast.parse(re.fullmatch(folded, solution.source, re.S)[1])
        assert given.cell_type == "code"
        assert "..." in given.source
        assert checking.metadata.jupyter.source_hidden
        (function,) = (
            node for node in ast.parse(checking.source).body if isinstance(node, ast.FunctionDef)
        )
        assert function.name == f"exercise_{number}"
        assert ast.get_docstring(function)
        steps = [node for node in ast.walk(function) if isinstance(node, ast.Assert)]
        assert steps
        assert all(step.msg is not None for step in steps)


def test_without_the_solutions_no_name_is_missing(path):
    code = cells(path, "code")
    solved = {name for c in code if "solution" in tags(c) for name in names(c, ast.Store)}
    others = [c for c in code if "solution" not in tags(c)]
    known = {name for c in others for name in names(c, ast.Store)}
    assert not {name for c in others for name in names(c, ast.Load)} & (solved - known)


@pytest.mark.notebook
@pytest.mark.neural
def test_it_runs_headless_and_leaves_one_self_contained_page(tmp_path):
    """With the solutions every check says right; a copy of it before the solution says that nothing was answered."""
    (path,) = notebook_paths([EXECUTED])
    book = nbformat.read(path, 4)
    for i, c in reversed([*enumerate(book.cells)]):
        if "check" in tags(c):
            book.cells.insert(i, nbformat.v4.new_code_cell(c.source, metadata=c.metadata))
    nbformat.write(book, tmp_path / path.name)
    out = tmp_path / "out"
    (outcome,) = run([str(tmp_path / path.name)], smallest(path), out)
    assert outcome.error is None, outcome.error
    assert len(outcome.checks) == 2 * sum("check" in tags(c) for c in cells(path, "code"))
    assert {line[10:] for line in outcome.checks[::2]} == {": not answered yet."}
    assert [line for line in outcome.checks[1::2] if RIGHT not in line] == []
    assert is_self_contained(outcome.html.read_text(encoding="utf-8"))
    names = [".made.json", f"{path.stem}.html", f"{path.stem}.ipynb"]
    assert sorted(p.name for p in out.iterdir()) == names


@pytest.mark.notebook
@pytest.mark.neural
@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "lm", "judge"),
    [
        ("an_5_2_systems", "a folder", "lpp|model:tiny"),
        ("an_2_background", None, "naturalness (compression)"),
    ],
)
def test_it_runs_in_a_language_without_heads(name, lm, judge, tiny_lm, tmp_path, monkeypatch):
    """Four segments of WMT24 en-cs, with a given language model and without one."""
    shared = Path(os.environ["ANHELPERS_DATA"])
    for file in (shared / "wmt24" / "txt").rglob("*"):
        if "en-cs" in str(file.relative_to(shared)) and file.is_file():
            few = tmp_path / file.relative_to(shared)
            few.parent.mkdir(parents=True, exist_ok=True)
            few.write_text("".join(file.read_text("utf-8").splitlines(True)[:5]), "utf-8")
    (tmp_path / "MANIFEST.tsv").touch()
    monkeypatch.setenv("ANHELPERS_DATA", str(tmp_path))
    given = {"data": "wmt24/en-cs", "lm": lm and str(tiny_lm)}
    own = smallest(*notebook_paths([name]))
    (outcome,) = run([name], given | own, tmp_path / "out")
    assert outcome.error is None, outcome.error
    assert judge in outcome.html.read_text(encoding="utf-8")


def test_the_first_page_leads_to_every_notebook():
    (path,) = notebook_paths(["00_start_here"])
    made = {"an": an, "HTML": str}
    (source,) = (c.source for c in cells(path, "code") if "anx-books" in c.source)
    exec(source, made)
    linked = re.findall(r'href="(\w+)\.ipynb"', made["the_map"])
    assert sorted(linked) == [p.stem for p in COLLECTION if p != path]


@pytest.mark.real
def test_wmt24_opens_with_the_sentence_of_the_papers_figure():
    """Line 496 of its file, whose first line is a canary."""
    for path in notebook_paths(["00_start_here", "an_5_1_oracle_curve"]):
        paper = int(_parameters_of(path)["paper"])
        assert _digest([load("wmt24/en-de").srcs[paper]]) == "7651dd50f232"


def small_notebook(folder: Path, name: str, *sources: str) -> Path:
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])
    book.cells[0].metadata["tags"] = ["parameters"]
    book.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(book, folder / f"{name}.ipynb")
    return folder / f"{name}.ipynb"


@pytest.mark.notebook
def test_parameters_are_injected_and_results_appear_together(tmp_path, capsys):
    one = small_notebook(tmp_path, "one", "a = 1\ntext = 'x'", "print('a is', a + 1, text)")
    two = small_notebook(tmp_path, "two", "a = 1", "print(a)")
    call = ["run", str(one), str(two), "-p", "a", "41", "-p", "text", "wmt24/en-de", "--jobs", "2"]
    assert cli.main([*call, "--out", str(tmp_path / "out")]) == 0
    assert "a is 42 wmt24/en-de" in (tmp_path / "out" / "one.html").read_text(encoding="utf-8")
    out, err = capsys.readouterr()
    assert out.splitlines() == [str(tmp_path / "out" / f"{n}.html") for n in ("one", "two")]
    assert "[2/2]" in err


def test_a_failed_notebook_keeps_earlier_results(tmp_path, capsys):
    path = small_notebook(tmp_path, "bad", "a = 1", "print(1 / (a - 1))")
    out = tmp_path / "out"
    assert cli.main(["run", str(path), "-p", "a", "2", "--out", str(out)]) == 0
    before = {p.name: p.read_bytes() for p in out.iterdir()}
    capsys.readouterr()
    assert cli.main(["run", str(path), "--out", str(out)]) == 1
    assert "ZeroDivisionError: division by zero" in capsys.readouterr().out
    assert {p.name: p.read_bytes() for p in out.iterdir()} == before


HEARING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore it
from anhelpers.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupted_run_leaves_no_files(tmp_path):
    path = small_notebook(tmp_path, "slow", "a = 1", "import time\ntime.sleep(600)")
    call = [sys.executable, "-c", HEARING, "run", str(path), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(call, stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline().startswith("running 1 notebook")
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"sede": 3}, UnknownName),
        ({"seed": "three"}, DataError),
        ({"data": 3}, DataError),
        ({"names": "a"}, DataError),
    ],
)
def test_wrong_parameters_are_refused_before_anything_runs(given, error, tmp_path):
    source = "seed = 1\ndata = 'teaching'\nnames = ['a']"
    path = small_notebook(tmp_path, "one", source, "print(seed)")
    with pytest.raises(error):
        run([str(path)], given, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["an_5_1_oracle_curves", "an_5_1_oracle_curve.html"])
def test_an_unknown_notebook_names_the_nearest(name):
    with pytest.raises(UnknownName, match="an_5_1_oracle_curve"):
        notebook_paths([name])


def test_two_notebooks_of_one_name_are_refused(tmp_path):
    paths = []
    for folder in (tmp_path / "anna", tmp_path / "ben"):
        folder.mkdir()
        paths.append(str(small_notebook(folder, "task", "a = 1")))
    assert notebook_paths([paths[0], paths[0]]) == [Path(paths[0])]
    with pytest.raises(DataError):
        notebook_paths(paths)
