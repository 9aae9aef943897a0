"""What made a table is said once, beside it or in it; each row carries a mark of it."""

import hashlib
import io
import json
import subprocess
import sys

import altair as alt
import nbformat
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers import __version__, cli
from anhelpers.charts import offline
from anhelpers.errors import DataError
from anhelpers.provenance import (
    as_csv,
    in_page,
    line_of,
    made_by,
    made_of,
    making,
    with_made_by,
    write_result,
)
from anhelpers.report import write_tables

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
TABLE = pd.DataFrame({"system": ["A", "B"], "value": [1.5, 2.0]})


def short(line):
    return f"anhelpers {__version__} {hashlib.sha256(line.encode()).hexdigest()[:8]}"


@pytest.fixture
def score(tmp_path):
    """A function: `anhelpers score` on two lines, with options; its status."""
    (tmp_path / "x.de").write_text("Ja.\nNein.\n", encoding="utf-8")
    (tmp_path / "y.de").write_text("Ja.\nNie.\n", encoding="utf-8")
    places = {"-s": "x.de", "-r": "x.de", "-t": "y.de"}
    typed = [one for option, name in places.items() for one in (option, str(tmp_path / name))]

    def run(*more):
        return cli.main(["score", *typed, "--store", "off", "-m", "chrf", *map(str, more)])

    return run


TEXTS = st.text(st.sampled_from('ab ,;"\n\r\tä'))


@given(st.lists(st.tuples(TEXTS, st.floats(), st.integers(-9, 10**12), st.booleans()), min_size=1))
def test_rows_are_the_same_csv_as_their_data_frame(cells):
    names = "system", "value", "n", "told", "low"
    rows = [dict(zip(names, (*row, float("nan")), strict=True)) for row in cells]
    frame = pd.DataFrame(rows)
    assert as_csv(rows) == as_csv(frame)
    assert as_csv(with_made_by(rows, "x")) == as_csv(with_made_by(frame, "x"))


def test_a_score_is_written_without_loading_pandas(tmp_path):
    code = "import sys; from anhelpers import cli; cli.main(sys.argv[1:]); assert 'pandas' not in sys.modules"
    for name, text in {"x.de": "Ja, das ist so.", "y.de": "Nein, so ist es."}.items():
        (tmp_path / name).write_text(f"{text}\n" * 3, encoding="utf-8")
    words = ["score", "-s", "x.de", "-r", "x.de", "-t", "y.de", "-m", "chrf", "-o", "s.csv"]
    subprocess.run([sys.executable, "-c", code, *words], cwd=tmp_path, check=True)
    assert len(pd.read_csv(tmp_path / "s.csv")) == 1


def test_a_row_of_csv_carries_the_mark_and_the_line_stands_beside(tmp_path, score, capsys):
    out = tmp_path / "s.csv"
    assert score("--segments", "-o", out) == 0
    aside = (tmp_path / "s.csv.made").read_text("utf-8")
    mark, line = aside.removesuffix("\n").split("\t")
    assert "|command:score|sources:x.de|" in line
    table = pd.read_csv(out)
    assert table.columns[-1] == "made_by"
    assert table.made_by.eq(short(line)).all()
    assert short(line).endswith(f" {mark}")
    assert made_of(out) == [line]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s.csv", "s.csv.made", "x.de", "y.de"]
    first = out.read_bytes()
    assert score("--segments", "-o", out) == 0
    assert (out.read_bytes(), (tmp_path / "s.csv.made").read_text("utf-8")) == (first, aside)


def test_parquet_has_the_line_in_its_metadata(tmp_path, score, capsys):
    out = tmp_path / "s.parquet"
    assert score("-o", out) == 0
    line = parquet.read_schema(out).metadata[b"made_by"].decode()
    assert "|command:score|" in line
    assert pd.read_parquet(out).made_by.eq(short(line)).all()
    assert made_of(out) == [line]
    assert not list(tmp_path.glob("*.made"))


def test_what_is_read_back_of_parquet_is_the_table_itself(tmp_path):
    table = TABLE.assign(n=[1, None], ok=[True, False])
    write_result(tmp_path / "t.parquet", table)
    back = pd.read_parquet(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(back.drop(columns="made_by"), table)


def test_into_a_pipe_the_line_goes_to_standard_error(score, capsys):
    assert score() == 0
    out, err = capsys.readouterr()
    (named,) = pd.read_csv(io.StringIO(out)).made_by.unique()
    (said,) = (line for line in err.splitlines() if line.startswith("made by "))
    mark, _, line = said.removeprefix("made by ").partition(": ")
    assert line.startswith(f"anhelpers:{__version__}|command:score|")
    assert short(line) == named
    assert named.endswith(mark)


def test_tables_of_a_folder_share_a_file_that_keeps_the_lines_of_others(tmp_path):
    with making({"command": "one"}):
        paths = write_tables(tmp_path, {"a": TABLE, "b": TABLE})
        one = line_of(TABLE)
    with making({"command": "two"}):
        write_tables(tmp_path, {"c": TABLE})
        two = line_of(TABLE)
    assert [path.name for path in paths] == ["a.csv", "b.csv"]
    assert [made_of(path) for path in paths] == [[one], [one]]
    assert made_of(tmp_path / "c.csv") == [two]
    assert made_of(tmp_path / "MADE.txt") == [one, two]


def test_results_put_together_are_told_apart(tmp_path):
    lines = []
    for name in "ab":
        with making({"command": name}):
            write_result(tmp_path / f"{name}.csv", TABLE)
            lines.append(line_of(TABLE))
    both = pd.concat([pd.read_csv(tmp_path / f"{name}.csv") for name in "ab"])
    assert both.made_by.nunique() == 2
    both.to_csv(tmp_path / "both.csv", index=False)
    with pytest.raises(DataError, match=rf"names {short(lines[0])}, whose line is neither in both"):
        made_of(tmp_path / "both.csv")
    asides = [(tmp_path / f"{name}.csv.made").read_text("utf-8") for name in "ab"]
    (tmp_path / "both.csv.made").write_text("".join(asides), encoding="utf-8")
    assert made_of(tmp_path / "both.csv") == lines


def test_a_line_that_somebody_changed_is_no_line_of_the_table(tmp_path):
    path = write_result(tmp_path / "t.csv", TABLE)
    aside = tmp_path / "t.csv.made"
    aside.write_text(aside.read_text("utf-8").replace("|python:3", "|python:4"), encoding="utf-8")
    with pytest.raises(DataError, match=r"whose line is neither in t\.csv\.made nor in MADE\.txt"):
        made_of(path)


def test_a_table_that_was_changed_is_told(tmp_path, score, capsys):
    """The line was that of the command alone: doubled values, and another run's line beside it, passed."""
    table = TABLE.assign(text=['a "b", c', "d\r\ne"], empty=["", None], n=[1, None])
    path = write_result(tmp_path / "t.csv", table)
    assert made_of(path) == [line_of(table)]
    changed = pd.read_csv(path)
    changed.assign(value=2 * changed.value).to_csv(path, index=False)
    with pytest.raises(DataError, match=r"t\.csv: is not as it was written: rows or numbers have"):
        made_of(path)
    for name, text in (("one", "Ja.\nNie.\n"), ("two", "Ja.\nDoch.\n")):
        (tmp_path / "y.de").write_text(text, encoding="utf-8")
        assert score("-o", tmp_path / f"{name}.csv") == 0
    (tmp_path / "two.csv.made").replace(tmp_path / "one.csv.made")
    capsys.readouterr()
    assert cli.main(["check", str(tmp_path / "one.csv")]) == 2
    assert "whose line is neither in one.csv.made nor in MADE.txt" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_older_tables_have_the_line_in_each_row(tmp_path, suffix):
    old, path = TABLE.assign(made_by=made_by()), tmp_path / f"old{suffix}"
    old.to_csv(path, index=False) if suffix == ".csv" else old.to_parquet(path, index=False)
    assert made_of(path) == [made_by()]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_without_rows_has_its_line(tmp_path, suffix):
    assert made_of(write_result(tmp_path / f"none{suffix}", TABLE[:0])) == [line_of(TABLE[:0])]


def test_what_is_not_ours_names_nobody(tmp_path):
    write_tables(tmp_path, {"ours": TABLE})
    TABLE.to_csv(tmp_path / "mine.csv", index=False)
    TABLE.to_parquet(tmp_path / "mine.parquet")
    texts = {
        "empty.csv": "",
        "no.parquet": "PAR1",
        "a.svg": "<svg><metadata>Inkscape</metadata></svg>",
        "a.png": "iTXtSoftware\0",
        "b.png": "",
        "a.json": '{"made_by": "me"}',
        "a.pdf": "/Creator <feff0>",
        "a.ipynb": "[]",
        "b.ipynb": '{"metadata": 1}',
        "c.ipynb": "{",
        "a.txt": "text",
        "a.xyz": made_by(),
        "MADE.made": "x",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in ("mine.csv", "mine.parquet", *texts):
        with pytest.raises(DataError, match="does not say what made it"):
            made_of(tmp_path / name)


def test_check_prints_what_made_a_result(tmp_path, score, capsys):
    assert score("-o", tmp_path / "s.csv") == 0
    capsys.readouterr()
    assert cli.main(["check", str(tmp_path / "s.csv")]) == 0
    out, err = capsys.readouterr()
    assert (out.splitlines(), err) == (made_of(tmp_path / "s.csv"), "")
    assert cli.main(["check", str(tmp_path / "x.de")]) == 2
    assert "x.de: does not say what made it" in capsys.readouterr().err


def test_check_prints_long_lines_whole_and_no_codes_for_the_terminal(tmp_path, capsys):
    text = f"anhelpers:{__version__}|{'x' * 3000}|\x1b[2J"
    (tmp_path / "a.json").write_text(json.dumps({"made_by": text}), encoding="utf-8")
    assert cli.main(["check", str(tmp_path / "a.json")]) == 0
    assert capsys.readouterr().out == text.replace("\x1b", r"\x1b") + "\n"


def test_pictures_pages_and_notebooks_say_what_made_them(tmp_path):
    chart = alt.Chart(TABLE).mark_point().encode(x="value:Q")
    with making({"it": '<ä|"&>'}):
        line = made_by(drawn=True)
        for suffix in (".svg", ".png", ".pdf", ".html", ".json"):
            offline.save(chart, tmp_path / f"chart{suffix}")
            assert made_of(tmp_path / f"chart{suffix}") == [line], suffix
        (tmp_path / "page.html").write_text(in_page("<head></head><body></body>"), "utf-8")
        assert made_of(tmp_path / "page.html") == [line]
    cell = nbformat.v4.new_code_cell("x")
    cell.outputs = [nbformat.v4.new_output("display_data", {"application/json": {"made_by": line}})]
    book = nbformat.v4.new_notebook(cells=[cell], metadata={"made_by": made_by()})
    nbformat.write(book, tmp_path / "book.ipynb")
    assert made_of(tmp_path / "book.ipynb") == [made_by()]  # not that of a picture in it


def test_a_line_beside_a_table_replaces_no_input(tmp_path, score, capsys):
    refs = tmp_path / "s.csv.made"
    refs.write_text("Ja.\nNein.\n", encoding="utf-8")
    assert score("-t", refs, "-o", tmp_path / "s.csv") == 2
    assert "s.csv.made: is an input of this command" in capsys.readouterr().err
    assert refs.read_text("utf-8") == "Ja.\nNein.\n"


def test_the_mark_is_short_and_follows_the_line():
    one, two = (with_made_by(TABLE, line).made_by for line in ("a|b", "a|c"))
    assert one.tolist() == [short("a|b")] * 2
    assert not one.eq(two).any()
    assert len(one[0]) < 32
