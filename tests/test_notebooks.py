"""The collection: its form, and that it runs headless to the end."""

import ast
import html
import os
import re
import statistics
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest

from anhelpers import cli, compiled, execution, pages
from anhelpers.classroom.exercises import NOT_YET, RIGHT
from anhelpers.errors import DataError, UnknownName
from anhelpers.execution import execute, run
from anhelpers.notebooks import about, notebook_paths, parameters_of

COLLECTION = notebook_paths()
INTO_ENGLISH = [
    p
    for p in COLLECTION
    if parameters_of(p)["data"] == '"teaching"' and p.stem != "xmi_2_definition"
]
"""The notebooks that read a teaching set; that one reads it only beside a translation model, which is none of ours."""


def smallest(path):
    """The parameters with which a notebook is done soonest."""
    smoke = {
        "n_draws": 200,
        "pairs": ["cipher", "gender", "vague"],
        "young": [40],
    }
    return {name: value for name, value in smoke.items() if name in parameters_of(path)}


def cells(path, kind):
    return [c for c in nbformat.read(path, 4).cells if c.cell_type == kind]


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


def test_there_is_a_collection():
    assert "an_5_1_oracle_curve" in {p.stem for p in COLLECTION}


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
    assert {"data", "seed"} <= set(parameters_of(path))


def test_the_first_notebook_is_read_aloud_in_five_minutes():
    """At 150 words a minute, all of it before the first deeper section, links and the example included."""
    (first,) = (p for p in COLLECTION if p.stem == "00_start_here")
    texts = [c.source for c in cells(first, "markdown") if "setup" not in tags(c)]
    core = texts[: next(i for i, text in enumerate(texts) if text.startswith("## Deeper"))]
    said = re.sub(r"\]\([^)]*\)", "", "\n".join(core)).split()
    assert sum(bool(re.search(r"\w", word)) for word in said) <= 750


def test_formulas_are_typeset(path):
    """A displayed formula is LaTeX, which becomes MathML in an exported page; none is left in letters and signs."""
    prose = [line for c in cells(path, "markdown") for line in c.source.split("\n")]
    shown = [line for line in prose if line.startswith("> $$")]
    assert all(line.endswith("$$") for line in shown)
    assert not [line for line in prose if line.startswith(">") and re.search(r"[Σ∑√·≤≥]", line)]
    page = pages.typeset("\n\n".join(shown))
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
    code = [c for c in cells(path, "code") if "check" not in tags(c)]
    prose = cells(path, "markdown")
    sizes = [len(lines(c)) for c in code]
    words = sum(len(re.findall(r"\w+", c.source)) for c in prose)
    assert max(sizes) <= 12
    assert statistics.median(sizes) <= 5
    assert words / sum(sizes) >= 8
    text = "\n".join(c.source for c in prose)
    for part in ("Guess first", "does and does not say", "## Exercises", "## Sources and licences"):
        assert part in text, part
    assert any("assert" in c.source for c in code)
    own = [c for c in code if not {"exercise", "solution", "definition"} & set(tags(c))]
    assert not any(
        isinstance(node, ast.FunctionDef) for c in own for node in ast.walk(ast.parse(c.source))
    )


@pytest.mark.parametrize(
    "path",
    [p for p in COLLECTION if p.stem.startswith(("an_", "xmi_"))],
    ids=lambda p: p.stem,
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
    assert any("After this notebook you can" in c.source for c in cells(path, "markdown")[:6])
    assert html.unescape(cells(path, "markdown")[0].source).count("](http") >= 1


def test_exercises_of_three_kinds_each_with_a_start_a_solution_and_a_check(path):
    """### Exercise N · kind / exercise / solution … / check."""
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
        assert order == ["exercise", "solution", "check"], number
        given, checking = tagged[0][0], tagged[-1][0]
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


IN_CODE = re.compile(r"`([^`]+)`|\b([a-z]\w*_\w+|[a-z]\w*(?:\.[a-z]\w*)+)", re.I)
"""Of a hint: what stands in backticks, names with an underscore or a dot."""


def hints(check):
    """The texts of a check: its docstring, and the message of each step."""
    (function,) = (n for n in ast.parse(check.source).body if isinstance(n, ast.FunctionDef))
    steps = [n.msg for n in ast.walk(function) if isinstance(n, ast.Assert)]
    parts = [ast.walk(step) for step in steps if step is not None]
    told = [n.value for part in parts for n in part if isinstance(n, ast.Constant)]
    return function, [ast.get_docstring(function), *map(str, told)]


def words(text):
    return set(re.findall(r"[^\W\d]\w*", text))


def test_a_hint_names_what_its_reader_has(path):
    """Answers are called in the check as in the start cell; other names of a hint stand in cells that students get."""
    seen, open_ones = set(), set()
    for c in nbformat.read(path, 4).cells:
        if c.cell_type == "markdown" and "solution" not in tags(c):
            seen |= words(" ".join(re.findall(r"`[^`]+`|\$[^$]+\$|\w+_\w+", c.source)))
        elif "check" in tags(c):
            function, texts = hints(c)
            asked = {a.arg for a in function.args.args}
            assert asked == {ast.unparse(d) for d in function.args.defaults}
            assert asked <= open_ones, f"{function.name}: {asked - open_ones}"
            named = [a or b for text in texts for a, b in IN_CODE.findall(text)]
            library = {n for name in named for n in re.findall(r"\b(?:an|np|pd)\.(\w+)", name)}
            assert set().union(*map(words, named)) <= seen | library, function.name
        elif c.cell_type == "code" and "solution" not in tags(c):
            seen |= words(c.source)
            if "exercise" in tags(c):
                open_ones = words(" ".join(re.findall(r"^([\w, ]+?) = \.\.\.", c.source, re.M)))


def test_without_the_solutions_no_name_is_missing(path):
    code = cells(path, "code")
    solved = {name for c in code if "solution" in tags(c) for name in names(c, ast.Store)}
    others = [c for c in code if "solution" not in tags(c)]
    known = {name for c in others for name in names(c, ast.Store)}
    assert not {name for c in others for name in names(c, ast.Load)} & (solved - known)


@pytest.mark.notebook
@pytest.mark.neural
def test_it_runs_headless_and_leaves_one_self_contained_page(path, tmp_path):
    """With the solutions every check says right; before a solution, it gives its hint."""
    book = nbformat.read(path, 4)
    for i, c in reversed([*enumerate(book.cells)]):
        if "check" in tags(c):
            start = max(k for k in range(i) if "exercise" in tags(book.cells[k]))
            book.cells.insert(start + 1, nbformat.v4.new_code_cell(c.source, metadata=c.metadata))
    nbformat.write(book, tmp_path / path.name)
    out = tmp_path / "out"
    (outcome,) = run([str(tmp_path / path.name)], smallest(path), out)
    assert outcome.error is None, outcome.error
    assert len(outcome.checks) == 2 * sum("check" in tags(c) for c in cells(path, "code"))
    assert all(NOT_YET in line and "three dots" in line for line in outcome.checks[::2])
    assert [line for line in outcome.checks[1::2] if RIGHT not in line] == []
    page = outcome.html.read_text(encoding="utf-8")
    assert "MaxRowsError" not in page  # of which Altair leaves a trace and no picture
    assert not re.search(r"""<(script|link|img|iframe)[^>]+(src|href)=["']?(https?:)?//""", page)
    assert sorted(p.name for p in out.iterdir()) == [f"{path.stem}.html", f"{path.stem}.ipynb"]


@pytest.mark.notebook
@pytest.mark.neural
@pytest.mark.parametrize("book", INTO_ENGLISH, ids=lambda p: p.stem)
def test_it_runs_on_the_set_into_english_with_every_exercise_right(book, tmp_path):
    (outcome,) = run([str(book)], smallest(book) | {"data": "teaching/de-en"}, tmp_path)
    assert outcome.error is None, outcome.error
    assert [line for line in outcome.checks if RIGHT not in line] == []
    assert len(outcome.checks) == sum("check" in tags(c) for c in cells(book, "code"))
    written = nbformat.read(tmp_path / book.name, 4).cells
    printed = "".join(
        o.text for c in written for o in c.get("outputs", ()) if o.output_type == "stream"
    )
    # which notes say of texts without a word
    assert not re.search(r"\bnan\b", printed.replace("(nan)", ""))


@pytest.mark.notebook
@pytest.mark.neural
def test_the_first_page_of_another_set_has_no_switch(tiny_lm, tmp_path, capsys):
    call = [
        "run",
        "00_start_here",
        "--data",
        "teaching",
        "-p",
        "lm",
        str(tiny_lm),
        "--out",
        str(tmp_path),
    ]
    assert cli.main(call) == 0
    assert "ok, 3 of 3 exercises right" in capsys.readouterr().err
    page = (tmp_path / "00_start_here.html").read_text(encoding="utf-8")
    assert 'class="anx-parts"' not in page
    assert "word for word:" not in page
    assert '"sentence":37' not in page  # which belongs to the set of translations into English
    assert page.count('"view":"one"') == 1


def test_the_first_page_leads_to_every_notebook():
    (path,) = notebook_paths(["00_start_here"])
    text = "\n".join(c.source for c in cells(path, "markdown"))
    the_map = text.split("## A map of the collection")[1].split("\n## ")[0]
    assert set(re.findall(r"\]\((\w+)\.ipynb\)", the_map)) == {
        p.stem for p in COLLECTION if p != path
    }


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A store of scores, as every user has one: two notebooks ask for those of the same texts."""
    return str(tmp_path_factory.mktemp("store") / "scores.sqlite")


@pytest.mark.notebook
@pytest.mark.neural
@pytest.mark.real
@pytest.mark.skipif(
    "ANHELPERS_DATA" not in os.environ, reason="set ANHELPERS_DATA to the shared data sets"
)
def test_the_oracle_curve_runs_on_wmt24_with_every_system_on_or_below_it(
    tiny_lm, kept, tmp_path, capsys
):
    call = [
        "run",
        "an_5_1_oracle_curve",
        "--data",
        "wmt24/en-de",
        "-p",
        "lm",
        str(tiny_lm),
        "--store",
        kept,
    ]
    assert cli.main([*call, "--out", str(tmp_path)]) == 0, capsys.readouterr().out
    page = (tmp_path / "an_5_1_oracle_curve.html").read_text(encoding="utf-8")
    assert "Occiglot: 86 blank hypotheses of 997." in page
    assert all(system in page for system in ("Unbabel-Tower70B", "CycleL2", "refA"))
    assert "MaxRowsError" not in page


@pytest.mark.notebook
@pytest.mark.neural
@pytest.mark.real
@pytest.mark.skipif(
    "ANHELPERS_DATA" not in os.environ, reason="set ANHELPERS_DATA to the shared data sets"
)
@pytest.mark.parametrize(
    ("name", "more", "said"),
    [
        (
            "an_5_2_mqm",
            ["--data", "ted/en-de"],
            ["7,406", "metricsystem5", "naturalness go against each other"],
        ),
        (
            "an_g_metrics_vs_fluency",
            ["--data", "wmt23/en-de", "-p", "metrics", '["chrf"]', "-p", "lm", "null"],
            [
                "104 of 104 rated segments are in wmt23/en-de",
                "1039 of 1040 rated translations",
                "stored chrf-all",
            ],
        ),
        (
            "an_5_2_systems",
            ["--data", "wmt23/en-de", "-p", "n_draws", "100", "-p", "lm", "{tiny_lm}"],
            ["none lies above", "NLLB_MBR_BLEU", "the systems' own hull (557 segments"],
        ),
        (
            "an_4_no_reference_metrics",
            ["--data", "wmt23/en-de", "-p", "lm", "null"],
            [
                "critics who find nothing in refA: 0 of 10",
                "critics disagree in direction on 7 of 9 systems",
            ],
        ),
        (
            "an_4_critics_trained",
            ["--data", "wmt23/en-de", "-p", "n_draws", "100", "-p", "lm", "null"],
            [
                "R: of wmt23/en-de",
                "the domains of R are not known",
                "Said and seen shares of originals differ by",
            ],
        ),
        pytest.param(
            "an_f_optimism",
            [
                "--data",
                "wmt24/en-de",
                "-p",
                "n_draws",
                "200",
                "-p",
                "naturalness",
                "lpp",
                "-p",
                "lm",
                "{tiny_lm}",
            ],
            [
                "sees the judging reference: 71.55 chrF",
                "sees all references: 68.72",
                "sees none (MBR): 62.54",
                "oracle, all 26 − another reference, on refB: surely above 0 at 6, surely below at 0 of 7 places",
                "oracle, all 26 − another reference, on refA: surely above 0 at 6, surely below at 0 of 7 places",
            ],
            id="an_f_optimism-wmt24",  # beside the other one: they share a store
        ),
        (
            "xmi_4_results",
            ["--data", "shared", "-p", "language", "ro", "-p", "n_draws", "500"],
            [
                "40 directions: H_LM − H_MT is XMI, to four decimals",
                "BLEU of 12 directions with output files, 2000",
                "For 20 of 20 languages",
                "English → Romanian minus the way back: BLEU -6.3 points, XMI +6.3 bits",
            ],
        ),
        (
            "xmi_4_correlations",
            ["--data", "shared"],
            ["12 directions recomputed", "p = 0.0024, threshold 0.0029: significant"],
        ),
    ],
)
def test_systems_and_ratings_run_on_real_data(name, more, said, tiny_lm, kept, tmp_path, capsys):
    more = [word.replace("{tiny_lm}", str(tiny_lm)) for word in more]
    assert cli.main(["run", name, *more, "--store", kept, "--out", str(tmp_path)]) == 0, (
        capsys.readouterr().out
    )
    page = html.unescape((tmp_path / f"{name}.html").read_text(encoding="utf-8"))
    assert [words for words in said if words not in page] == []
    assert "MaxRowsError" not in page


@pytest.mark.notebook
def test_the_tradeoff_runs_on_a_world_of_ones_own(tmp_path, capsys):
    files = {
        "pairs.csv": "source,reference,count\nTu viens ?,Are you coming?,3\nVous venez ?,Are you coming?,2\n"
        "Vous venez ?,Are you coming sir?,1\n",
        "targets.csv": "target,count\nAre you coming?,95\nAre you coming sir?,5\n",
        "distortion.csv": "source,reference,candidate,distortion\nVous venez ?,*,Are you coming sir?,0\n*,*,*,1\n",
    }
    (tmp_path / "court").mkdir()
    for name, text in files.items():
        (tmp_path / "court" / name).write_text(text, encoding="utf-8")
    call = [
        "run",
        "an_3_tradeoff",
        "--data",
        str(tmp_path / "court"),
        "--out",
        str(tmp_path / "out"),
    ]
    assert cli.main(call) == 0, capsys.readouterr().out
    assert "Are you coming sir?" in html.unescape(
        (tmp_path / "out" / "an_3_tradeoff.html").read_text(encoding="utf-8")
    )


@pytest.mark.notebook
def test_ratings_of_too_few_systems_are_told(tmp_path, capsys):
    rows = [f"{name}\td\t1\t1\tr\ts\tt\tAccuracy/Omission\tMajor\n" for name in "ABC"]
    head = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    (tmp_path / "three.tsv").write_text(head + "".join(rows), encoding="utf-8")
    assert (
        cli.main(
            ["run", "an_5_2_mqm", "--data", str(tmp_path / "three.tsv"), "--out", str(tmp_path)]
        )
        == 1
    )
    assert "three.tsv: at least 4 systems are wanted here" in capsys.readouterr().out


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


@pytest.mark.notebook
@pytest.mark.parametrize(
    ("n", "jobs", "told"), [(1, 3, "5"), (2, 1, "5"), (2, 2, "2"), (3, 9, "1")]
)
def test_kernels_side_by_side_share_the_processors(n, jobs, told, tmp_path, monkeypatch):
    monkeypatch.setattr(compiled, "cores", lambda: 5)
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    asked = "import os; print(os.environ['OMP_NUM_THREADS'])"
    paths = [small_notebook(tmp_path, f"n{i}", "a = 1", asked) for i in range(n)]
    done = run([str(path) for path in paths], None, tmp_path / "out", jobs)
    cells = [c for one in done for c in nbformat.read(one.notebook, 4).cells if c.get("outputs")]
    assert [cell.outputs[0].text for cell in cells] == [f"{told}\n"] * n
    assert os.environ["OMP_NUM_THREADS"] == "5"


@pytest.mark.notebook
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's limit on addresses")
def test_a_page_without_its_picture_is_told(tmp_path, capsys):
    draws = (
        "import resource, altair as alt, pandas as pd, anhelpers as an",
        "resource.setrlimit(resource.RLIMIT_AS, (16 * 2**30,) * 2)  # V8 reserves hundreds",
        "an.use_offline()",
        "alt.Chart(pd.DataFrame({'x': [1]})).mark_point().encode(x='x:Q')",
    )
    path = small_notebook(tmp_path, "lost", "\n".join(draws))
    assert cli.main(["run", str(path), "--out", str(tmp_path / "out")]) == 0
    err = capsys.readouterr().err
    assert "lost: ok, but 1 picture could not be drawn; the page says why, " in err
    assert "no picture: this process may use 16.0 GB" in (tmp_path / "out/lost.html").read_text()


def test_a_failing_cell_is_told_and_earlier_results_stay(tmp_path, capsys):
    path = small_notebook(tmp_path, "bad", "a = 1", "print(1 / (a - 1))")
    out = tmp_path / "out"
    assert cli.main(["run", str(path), "-p", "a", "2", "--out", str(out)]) == 0
    before = {p.name: p.read_bytes() for p in out.iterdir()}
    capsys.readouterr()
    assert cli.main(["run", str(path), "--out", str(out)]) == 1
    assert "ZeroDivisionError: division by zero" in capsys.readouterr().out
    assert {p.name: p.read_bytes() for p in out.iterdir()} == before


def test_an_unknown_parameter_is_refused_before_anything_runs(tmp_path, capsys):
    path = small_notebook(tmp_path, "one", "seed = 1\ndata = 'teaching'", "print(seed)")
    assert cli.main(["run", str(path), "-p", "sede", "3", "--out", str(tmp_path / "out")]) == 2
    assert "'sede'; did you mean 'seed'?" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "name",
    ["an_5_1_oracle_curves", "nowhere/an_5_1_oracle_curve.ipynb", "an_5_1_oracle_curve.html"],
)
def test_an_unknown_notebook_names_the_nearest(name):
    with pytest.raises(UnknownName, match="did you mean 'an_5_1_oracle_curve'"):
        notebook_paths([name])


def test_two_notebooks_of_one_name_would_replace_each_others_results(tmp_path):
    paths = []
    for folder in (tmp_path / "anna", tmp_path / "ben"):
        folder.mkdir()
        paths.append(str(small_notebook(folder, "task", "a = 1")))
    assert notebook_paths([paths[0], paths[0], "an_5_1_oracle_curve.ipynb", "an_5_1_oracle_curve"])[
        0
    ] == Path(paths[0])
    with pytest.raises(DataError, match=r"ben/task.ipynb: .*anna/task.ipynb has the same name"):
        notebook_paths(paths)


def test_a_kernel_that_does_not_start_is_told_and_nothing_of_ours_stays_behind(
    tmp_path, monkeypatch
):
    import papermill

    def dies(*parts, **more):
        assert os.environ["ANX_MODE"] == "static"
        raise RuntimeError("Kernel died before replying to kernel_info")

    monkeypatch.delenv("ANX_MODE", raising=False)
    monkeypatch.setattr(papermill, "execute_notebook", dies)
    before = dict(os.environ)
    outcome = execute(small_notebook(tmp_path, "one", "a = 1"), {}, tmp_path / "out")
    assert outcome.error.startswith(
        "its kernel did not start (Kernel died before replying to kernel_info)"
    )
    assert dict(os.environ) == before


@pytest.mark.skipif(os.name != "posix", reason="sockets with a path are POSIX")
@pytest.mark.parametrize(("folder", "told"), [("t", "ipc True"), ("t" * 120, "tcp False")])
def test_a_kernel_is_spoken_to_where_only_its_owner_can_or_by_ports_where_paths_are_too_long(
    folder, told, tmp_path, monkeypatch
):
    asked = """
import ipykernel, json, os
here = json.loads(ipykernel.get_connection_info())
place = os.path.dirname(here["ip"])
print(here["transport"], bool(place) and os.stat(place).st_mode % 0o1000 == 0o700)"""
    with tempfile.TemporaryDirectory() as short:  # pytest's own folders have long names
        (place := Path(short, folder)).mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(place))
        outcome = execute(small_notebook(tmp_path, "one", asked), {}, tmp_path / "out")
        left = [path.name for path in place.iterdir()]
    (cell,) = [c for c in nbformat.read(outcome.notebook, 4).cells if c.get("outputs")]
    assert (cell.outputs[0].text, left) == (f"{told}\n", [])


def test_what_is_printed_is_one_piece_and_of_a_line_written_over_the_last_state(tmp_path):
    out = nbformat.v4.new_output
    printed = [out("stream", text=text) for text in ("one\n", "10 %\r", "20 %\r", "30 %\n")]
    shown = out("display_data", data={"text/plain": "x"})
    outputs = [*printed, out("stream", name="stderr", text="told\n"), shown, printed[0].copy()]
    cell = nbformat.v4.new_code_cell("x", outputs=outputs)
    path = tmp_path / "a.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    execution._settle(path)
    kept = nbformat.read(path, 4).cells[0].outputs
    texts = [one.get("text", "shown") for one in kept]
    assert texts == ["one\n30 %\n", "told\n", "shown", "one\n"]
