"""Notebooks on data that they were not written with: each works, or ends in one sentence that says what to do."""

import ast
import html

import nbformat
import numpy as np
import pytest
from anhelpers.data.catalog import target_language

from anhelpers import cli
from anhelpers.classroom.exercises import holds
from anhelpers.errors import DataError
from anhelpers.notebooks import notebook_paths, parameters_of

OURS = [path for path in notebook_paths() if not path.stem.startswith("xmi")]
ALSO = {"seed", "picture", "page"}  # parameters that no data come from
HEAD = "system mqm_avg_score seg_id\n"


def names(node, use):
    """The names that a statement binds (Store) or reads (Load), but those that live inside a comprehension alone."""
    inner = [n.target for n in ast.walk(node) if isinstance(n, ast.comprehension)]
    local = {n.id for target in inner for n in ast.walk(target) if isinstance(n, ast.Name)}
    return {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, use)
    } - local


def asserted(path):
    """The assertions of a notebook, outside the checks of exercises, that read what came from a data parameter."""
    given = {"data", "ratings", "world", "mono", "folder", "categories", "mine"} & set(
        parameters_of(path)
    ) - ALSO
    found = []
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type != "code" or {"check", "parameters"} & set(cell.metadata.get("tags", [])):
            continue
        for node in ast.parse(cell.source).body:
            bound = names(node, ast.Store)
            given = given | bound if names(node, ast.Load) & given else given - bound
            within = (n for n in ast.walk(node) if isinstance(n, ast.Assert))
            found += [ast.unparse(n) for n in within if names(n, ast.Load) & given]
    return found


@pytest.mark.parametrize("path", OURS, ids=lambda p: p.stem)
def test_nothing_is_asserted_of_the_users_data(path):
    assert asserted(path) == []


def test_the_search_for_assertions_finds_one(tmp_path):
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(c) for c in ("data = 'x'", "a = len(data)")]
    )
    book.cells[0].metadata["tags"] = ["parameters"]
    book.cells.append(
        nbformat.v4.new_code_cell(
            "b = a + 1\nc = 3\nassert c == 3\nfor k in [b]:\n    assert k > 0"
        )
    )
    book.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(book, tmp_path / "one.ipynb")
    assert asserted(tmp_path / "one.ipynb") == ["assert k > 0"]


def test_a_claim_that_is_false_of_the_data_is_one_sentence():
    holds("nothing is asked", [])
    holds("all are positive", [1 > 0, 2 > 0])
    with pytest.raises(
        DataError, match=r"it is false that all are positive, in 2 of 3 cases; what is special"
    ):
        holds("all are positive", np.array([1, -1, np.nan]) > 0)
    with pytest.raises(DataError, match=r"it is false that one and one are three; "):
        holds("one and one are three", 1 + 1 == 3)


def test_the_language_of_translations_is_that_of_the_set_or_asked_for():
    assert [target_language(name) for name in ("teaching", "wmt24/ja-zh", "ted/en-de")] == [
        "de",
        "zh",
        "de",
    ]
    assert target_language("ratings.tsv", "zh") == "zh"
    assert target_language("wmt23/en-de", "deu") == "deu"
    with pytest.raises(
        DataError, match=r"ratings.tsv: which language .* is not said; name it as lang"
    ):
        target_language("ratings.tsv")
    with pytest.raises(DataError, match="its translations are in 'zh', and lang says 'de'"):
        target_language("wmt24/ja-zh", "de")


def tree(folder, lp, lines, systems):
    """A WMT tree of one language pair with these sources, each also its reference and every system's output."""
    for name in ("sources", "references", "system-outputs"):
        (folder / name).mkdir(parents=True)
    text = "".join(f"{line}\n" for line in lines)
    (folder / "sources" / f"{lp}.txt").write_text(text, encoding="utf-8")
    (folder / "references" / f"{lp}.refA.txt").write_text(text, encoding="utf-8")
    (folder / "system-outputs" / lp).mkdir()
    for name in systems:
        (folder / "system-outputs" / lp / f"{name}.txt").write_text(
            text.replace(".", "!"), encoding="utf-8"
        )
    return folder


def refused(capsys, *words):
    """What `anhelpers run` prints where a notebook ends in a refusal: one line."""
    assert cli.main(["run", *map(str, words)]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    return line


@pytest.mark.notebook
@pytest.mark.neural
@pytest.mark.parametrize("name", ["00_start_here", "an_5_1_oracle_curve", "an_5_2_systems"])
def test_a_language_without_a_model_ends_in_one_sentence_that_says_what_to_do(
    name, tmp_path, capsys
):
    lines = ["Pes štěká na starém dvoře.", "Dům je malý a starý.", "Kočka spí celý den."]
    data = tree(tmp_path / "set", "en-cs", lines, ["A", "B", "C"])
    line = refused(capsys, name, "--data", data, "-p", "lp", "en-cs", "--out", tmp_path / "out")
    assert line.startswith(f"{name}: cell ")
    assert "no language model is bundled for 'cs' (there are de-small, en-small)" in line
    assert "-p lm MODEL" in line
    assert "Error" not in line


@pytest.mark.notebook
@pytest.mark.neural
def test_judges_that_a_language_does_not_have_are_told_and_the_others_judge(
    tiny_lm, tmp_path, capsys
):
    lines = [
        "Pes štěká na starém dvoře.",
        "Dům je malý a starý.",
        "Kočka spí celý den.",
        "Prší.",
        "Sněží už týden.",
    ]
    data = tree(tmp_path / "set", "en-cs", lines, ["A", "B"])
    better = "".join(f"{line} Ano.\n" for line in lines)
    (data / "system-outputs" / "en-cs" / "B.txt").write_text(better, encoding="utf-8")
    names = ["00_start_here", "an_5_1_oracle_curve"]
    call = [
        "run",
        *names,
        "--data",
        str(data),
        "-p",
        "lp",
        "en-cs",
        "-p",
        "lm",
        str(tiny_lm),
        "--jobs",
        "2",
    ]
    assert cli.main([*call, "--out", str(tmp_path / "out")]) == 0, capsys.readouterr().out
    for name in names:
        page = html.unescape((tmp_path / "out" / f"{name}.html").read_text(encoding="utf-8"))
        assert "naturalness by critic is missing: there is no bundled critic 'cs'" in page
        assert "is missing: " + str(data) in page  # ratings
        assert "log-probability" in page


@pytest.mark.notebook
@pytest.mark.parametrize("name", ["an_4_critics_trained", "an_f_optimism"])
def test_a_language_without_a_critic_ends_in_one_sentence(name, tmp_path, capsys):
    data = tree(tmp_path / "set", "en-cs", ["Pes štěká na dvoře.", "Dům je malý."], ["A", "B"])
    line = refused(capsys, name, "--data", data, "--out", tmp_path / "out")
    assert (
        "there is no bundled critic 'cs'"
        if "critics" in name
        else "no language model is bundled for 'cs'"
    ) in line
    assert f"train one (anhelpers train-{'critic' if 'critics' in name else 'lm'})" in line


@pytest.mark.notebook
def test_critics_without_text_of_the_language_end_in_one_sentence(tmp_path, capsys):
    data = tree(tmp_path / "set", "en-cs", ["Pes štěká.", "Dům je malý."], ["A"])
    line = refused(
        capsys,
        "an_e_critics",
        "--data",
        data,
        "-p",
        "n_critics",
        1000,
        "-p",
        "n_repeats",
        10,
        "--out",
        tmp_path / "out",
    )
    assert "critics compare translations with R, which is missing" in line
    assert "-p mono FILE" in line


@pytest.mark.notebook
def test_ratings_ask_for_what_no_file_says(tmp_path, capsys):
    head = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    rows = [
        f"{name}\td\t{i}\t{i}\tr\ts\tt\tFluency/Grammar\tMajor\n" for name in "ABCD" for i in (1, 2)
    ]
    (tmp_path / "mqm.tsv").write_text(head + "".join(rows), encoding="utf-8")
    given = ["an_4_no_reference_metrics", "--data", tmp_path / "mqm.tsv", "--out", tmp_path / "out"]
    assert "which language its translations are in is not said" in refused(capsys, *given)
    assert "no rated system is known as human; name one as human: A, B, C, D" in refused(
        capsys, *given, "-p", "lm", "null"
    )
    assert "unknown rated system 'E'" in refused(
        capsys, *given, "-p", "lm", "null", "-p", "human", "E"
    )
    line = refused(capsys, "an_5_2_mqm", "--data", tmp_path / "mqm.tsv", "--out", tmp_path / "out")
    assert "no category in it counts as accuracy by scheme wmt; name another scheme" in line
