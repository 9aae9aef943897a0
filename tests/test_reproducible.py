"""The same command twice gives the same bits, whatever the machine does otherwise; and every file names its maker."""

import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

from anhelpers import __version__, cli, execution
from anhelpers.provenance import MAKING, in_page, made_by, made_of, making, mark_of

pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
pytest.importorskip("papermill", reason="pip install -c constraints.txt -e '.[notebooks]'")
pytestmark = pytest.mark.neural

SETTINGS = [  # of two runs: a folder's name, and what must not matter
    ("here", {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8", "NUMBA_NUM_THREADS": "1"}),
    (
        "far/off",
        {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C", "NUMBA_NUM_THREADS": "2"},
    ),
]
THREADS = {"OMP_NUM_THREADS": "1"}  # torch's sums depend on their number in the seventh digit
PLAIN = ["-s", "src.en", "-r", "ref.de", "-t", "A.de", "two=B.de"]
MODELS = ["--mt", "marian/mt", "--lm", "marian/lm", "-s", "src.en", "-t", "ref.de"]
COMMANDS = [
    [
        "score",
        *PLAIN,
        "-m",
        "chrf",
        "bleu",
        "ter",
        "ttr",
        "zip",
        "lpp",
        "--lm",
        "tiny",
        "-o",
        "score.csv",
    ],
    ["score", *PLAIN, "-m", "chrf++", "--segments", "--mme", "mme", "-o", "segments.parquet"],
    [
        "generate",
        "--model",
        "marian/mt",
        "-s",
        "src.en",
        "-n",
        "6",
        "--seed",
        "4",
        "--max-tokens",
        "9",
        "-o",
        "drawn.jsonl",
    ],
    [
        "curve",
        "drawn.jsonl",
        "-s",
        "src.en",
        "-r",
        "ref.de",
        "--lm",
        "tiny",
        "--html",
        "curve.html",
        "-o",
        "curve.csv",
    ],
    [
        "plane",
        *PLAIN,
        "--lm",
        "tiny",
        "--docs",
        "docs.tsv",
        "--by",
        "length",
        "--draws",
        "40",
        "--seed",
        "7",
        "-o",
        "plane",
    ],
    ["mqm", "mqm.tsv", "-o", "mqm.csv"],
    ["mqm", "mqm.tsv", "--by", "rater", "-o", "raters.csv"],
    [
        "xmi",
        "--mt-logprobs",
        "mt.txt",
        "--lm-logprobs",
        "lm.txt",
        "--unit",
        "nats",
        "--draws",
        "50",
        "-o",
        "xmi.csv",
    ],
    ["xmi", *MODELS, "--draws", "50", "--save-scores", "scores.jsonl", "-o", "models.csv"],
    ["train-lm", "text.de", "trained", "--lang", "de", "--epochs", "1"],
    ["run", "book.ipynb", "-p", "seed", "5", "--out", "run"],
]
DRIVER = """
import json, sys
from pathlib import Path
from anhelpers import cli
for words in json.load(open("commands.json")):
    if cli.main(words):
        sys.exit(f"{words}: failed")
import pandas as pd, altair as alt
from anhelpers.charts import offline
chart = alt.Chart(pd.DataFrame({"a": [1, 2], "b": [2, 3]})).mark_point().encode(x="a:Q", y="b:Q")
for suffix in ("html", "svg", "png", "pdf", "json"):
    offline.save(chart, f"charts/chart.{suffix}")
for suffix in ("svg", "png", "pdf"):
    offline.save(chart, f"charts/column.{suffix}", inches=3.3)
"""
BOOK = [
    ("markdown", "# A book", None),
    ("code", "seed = 0  # of the numbers", "parameters"),
    (
        "code",
        "import sys\nprint('first', seed)\nprint('told', file=sys.stderr)\nprint('second')",
        None,
    ),
    (
        "code",
        "import altair as alt, pandas as pd\nfrom anhelpers.charts.offline import use_offline\nuse_offline()\n"
        "alt.Chart(pd.DataFrame({'a': [seed]})).mark_point().encode(x='a:Q').properties(title='A')",
        None,
    ),
    (
        "code",
        "from anhelpers.progress import progress, _plain_lines\nimport anhelpers.progress as p\n"
        "p.SECONDS_BETWEEN_LINES = 0.0\nwith progress(2, 'slow') as step:\n    step(1)\n    step(1)",
        None,
    ),
    ("code", "from ipywidgets import HBox, IntSlider\nHBox([IntSlider(seed), IntSlider(1)])", None),
    ("code", "styled = pd.DataFrame({'b': [seed]}).style.hide()\ndisplay(styled)\nstyled", None),
]
KERNEL = {
    "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    "language_info": {"name": "python"},
}
# layouts of others, notebooks without results, files of transformers
FOREIGN = ("mme/", "editions/", "trained/")
INPUTS = {
    "book.ipynb",
    "commands.json",
    "docs.tsv",
    "mqm.tsv",
    "src.en",
    "ref.de",
    "A.de",
    "B.de",
    "mt.txt",
    "lm.txt",
    "text.de",
    "told.txt",
}


def write_inputs(folder, tiny_lm, marian):
    """What the commands read: 24 pairs in 8 documents, ratings, two models and a notebook."""
    shutil.copytree(tiny_lm, folder / "tiny")
    shutil.copytree(marian, folder / "marian")
    nouns = ("Hund", "Katze", "Haus", "Regen")
    verbs = ("bellt", "schläft", "steht", "fällt", "ruht", "geht")
    refs = [f"Der {noun} {verb} dort." for noun in nouns for verb in verbs]
    lines = {"ref.de": refs, "src.en": ["The dog barks.", "The cat sleeps."] * 12}
    lines["A.de"] = [ref.replace("dort", "da") for ref in refs]
    lines["B.de"] = [ref if i % 3 else f"Ein {ref[4:]}" for i, ref in enumerate(refs)]
    lines["docs.tsv"] = [f"news\td{i // 3}" for i in range(24)]
    lines["text.de"] = [f"{ref[:-1]}, zum {i}. Mal." for i in range(2, 46) for ref in refs]
    rng = np.random.default_rng(0)
    for name in ("mt.txt", "lm.txt"):
        lines[name] = [f"{x:.3f}" for x in -9 - 5 * rng.random(24)]
    for name, rows in lines.items():
        (folder / name).write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    shutil.copy(Path(__file__).parents[1] / "data/teaching/en-de/mqm.tsv", folder)
    book = nbformat.v4.new_notebook(metadata=KERNEL)
    for kind, source, tag in BOOK:
        cell = getattr(nbformat.v4, f"new_{kind}_cell")(
            source, metadata={"tags": [tag]} if tag else {}
        )
        cell.id = f"c{len(book.cells)}"
        book.cells.append(cell)
    nbformat.write(book, folder / "book.ipynb")
    (folder / "commands.json").write_text(json.dumps(COMMANDS), encoding="utf-8")


@pytest.fixture(scope="module")
def runs(tmp_path_factory, tiny_lm, tiny_marian):
    """Two folders in which two processes have run all commands."""
    root, started = tmp_path_factory.mktemp("twice"), []
    for name, setting in SETTINGS:
        folder = root / name
        folder.mkdir(parents=True)
        write_inputs(folder, tiny_lm, tiny_marian)
        env = {key: value for key, value in os.environ.items() if key != MAKING} | THREADS | setting
        call = [sys.executable, "-c", DRIVER]
        with (folder / "told.txt").open("w") as told:
            started.append(
                (folder, subprocess.Popen(call, cwd=folder, env=env, stdout=told, stderr=told))
            )
    ended = [process.wait(900) for _, process in started]
    assert ended == [0, 0], (started[0][0] / "told.txt").read_text("utf-8")
    return [folder for folder, _ in started]


def results(folder):
    """Name -> path of all that the commands wrote."""
    found = {p.relative_to(folder).as_posix(): p for p in sorted(folder.rglob("*")) if p.is_file()}
    return {
        n: p for n, p in found.items() if n not in INPUTS and not n.startswith(("tiny/", "marian/"))
    }


def test_two_runs_write_the_same_bits(runs):
    one, two = map(results, runs)
    assert list(one) == list(two)
    # whose renderer orders the fonts by chance
    same = [name for name in one if not name.endswith(".pdf")]
    assert [name for name in same if one[name].read_bytes() != two[name].read_bytes()] == []
    assert {Path(name).suffix for name in one} >= {*READ, ".txt", ".safetensors"}


def _png(path):
    data, at = path.read_bytes(), 8
    while data[at + 4 : at + 8] != b"IEND":
        n = int.from_bytes(data[at : at + 4], "big")
        chunk = data[at + 4 : at + 8 + n]
        assert zlib.crc32(chunk) == int.from_bytes(data[at + 8 + n : at + 12 + n], "big")
        if chunk.startswith(b"iTXtSoftware\0"):
            return [chunk.removeprefix(b"iTXtSoftware\0\0\0\0\0").decode()]
        at += 12 + n
    return []


def _pdf(path):
    """The Creator, found as a reader finds it: by the table of places at the end."""
    data = path.read_bytes()
    start = int(data.rstrip().splitlines()[-2])
    lines = data[start:].splitlines()
    assert lines[0] == b"xref"
    number = int(re.search(rb"/Info (\d+) 0 R", data[start:])[1])
    info = data[int(lines[2 + number].split()[0]) : start]
    assert info.startswith(b"%d 0 obj" % number)
    return [
        bytes.fromhex(re.search(rb"/Creator <feff(\w+)>", info)[1].decode()).decode("utf-16-be")
    ]


def _html(path):
    page = path.read_text("utf-8")
    shown = re.findall(r"<footer [^>]+>(.+?)</footer>", page)[-1].replace("<wbr>", "")
    assert re.findall(r'<meta name="generator" content="([^"]+)">', page) == [shown]
    return [shown]


def _named(path, marks):
    """The lines beside a table that have the marks of its rows."""
    places = Path(f"{path}.made"), path.with_name("MADE.txt")
    (place,) = (one for one in places if one.exists())
    lines = dict(row.split("\t") for row in place.read_text("utf-8").splitlines())
    (mark,) = {mark.removeprefix(f"anhelpers {__version__} ") for mark in marks}
    return [lines[mark]]


def _parquet(path):
    line = parquet.read_schema(path).metadata[b"made_by"].decode()
    assert pd.read_parquet(path).made_by.eq(f"anhelpers {__version__} {mark_of(line)}").all()
    return [line]


def _text(path):
    if path.name == "MADE.txt":
        return [row.split("\t")[1] for row in path.read_text("utf-8").splitlines()]
    return re.findall(r"\((anhelpers:[^)]+)\)\.$", path.read_text("utf-8"))


READ = {  # file type -> the lines that it carries, each of which must be the maker's
    ".csv": lambda path: _named(path, pd.read_csv(path).made_by),
    ".made": lambda path: [path.read_text("utf-8").rstrip("\n").split("\t")[1]],
    ".parquet": _parquet,
    ".jsonl": lambda path: sorted(
        {json.loads(line)["made_by"] for line in path.read_text("utf-8").splitlines()}
    ),
    ".json": lambda path: [json.loads(path.read_text("utf-8"))["usermeta"]["made_by"]],
    ".ipynb": lambda path: [nbformat.read(path, 4).metadata.made_by],
    ".html": _html,
    ".svg": lambda path: re.findall(r"<metadata>(.+?)</metadata>", path.read_text("utf-8")),
    ".png": _png,
    ".pdf": _pdf,
    ".tex": lambda path: [path.read_text("utf-8").splitlines()[0].removeprefix("% ")],
    ".bib": lambda path: [path.read_text("utf-8").splitlines()[0].removeprefix("% ")],
    ".txt": _text,
}


def test_every_file_names_versions_command_parameters_and_seed(runs):
    wanted = {
        "score.csv": "command:score|sources:src.en|references:ref.de|translations:A.de,two=B.de|",
        "plane/plane.png": "|draws:40|seed:7|",
        "plane/systems.tex": "|draws:40|seed:7|",
        "plane/appendix.txt": "|draws:40|seed:7|",
        "plane/pairs.csv": "|naturalness:lpp|lm:tiny|",
        "drawn.jsonl": "|model:mt|",
        "xmi.csv": "|lm_logprobs:lm.txt|unit:nats|count:all|draws:50|seed:0|",
        "models.csv": "|torch:",
        "run/book.ipynb": "notebook:book|seed:5|",
        "run/book.html": "notebook:book|seed:5|",
    }
    for name, path in results(runs[1]).items():
        if name.startswith(FOREIGN):
            continue
        lines = READ[path.suffix](path)
        assert made_of(path) == lines, name
        assert len(lines) == (4 if path.name == "MADE.txt" else 1), name
        line = lines[0]
        assert line.startswith(f"anhelpers:{__version__}|"), name
        assert f"|python:{sys.version.split()[0]}|" in line, name
        assert f"|numpy:{np.__version__}" in line, name
        assert wanted.pop(name, "") in line, (name, line)
        assert not re.search(r"/|far|\d{4}-\d\d-\d\d", line), (name, line)
    assert not wanted


def test_a_trained_model_names_its_maker(runs):
    facts = json.loads((runs[0] / "trained" / "facts.json").read_text("utf-8"))
    assert "|command:train-lm|text:text.de|lang:de|epochs:1|" in facts["made_by"]


def test_an_executed_notebook_has_no_times_folders_or_progress(runs):
    book = nbformat.read(runs[1] / "run" / "book.ipynb", 4)
    nbformat.validate(book)
    text = nbformat.writes(book)
    assert str(runs[1]) not in text
    assert not re.search(r"papermill\"|start_time|slow: ", text)
    printed = [(o.name, o.text) for o in book.cells[3].outputs]
    assert sorted(printed) == [("stderr", "told\n"), ("stdout", "first 5\nsecond\n")]


def test_widgets_have_numbers_for_names(runs):
    """ipywidgets names each by chance; a notebook lists them by name."""
    book = nbformat.read(runs[1] / "run" / "book.ipynb", 4)
    names = execution._widget_names(book)
    assert names
    assert all(old == new for old, new in names.items())
    (shown,) = (o.data[execution.WIDGETS.format("view")] for o in book.cells[-2].outputs)
    assert shown["model_id"] == f"{0:032x}"
    state = book.metadata.widgets[execution.WIDGETS.format("state")]["state"]
    assert list(state) == [f"{i:032x}" for i in range(len(names))]
    assert state[shown["model_id"]]["model_name"] == "HBoxModel"


def test_tables_with_a_style_have_numbers_for_names(runs):
    """pandas names each by chance, and names their rows after them."""
    book = nbformat.read(runs[1] / "run" / "book.ipynb", 4)
    one, two = ({*re.findall(r"T_\w{5}", out.data["text/html"])} for out in book.cells[-1].outputs)
    assert one == two == {"T_00000"}
    styled = pd.DataFrame({"a": [1]}).style
    named = [
        {"data": {"text/html": h}} for h in (styled.to_html(), "a T_12345 b", styled.to_html())
    ]
    named += [
        {"data": {"text/html": pd.DataFrame({"a": [1]}).style.to_html()}},
        {"text": "T_12345"},
    ]
    execution._without_chance([{"outputs": named}, {}])
    texts = [one["data"]["text/html"] for one in named[:4]]
    assert ["T_00000" in texts[0], "T_12345" in texts[1], "T_00001" in texts[3]] == [True] * 3
    assert texts[0] == texts[2]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (Path(__file__), "test_reproducible.py"),
        (f"a={__file__}", "a=test_reproducible.py"),
        ("comet:/models/tiny", "comet:tiny"),
        ("translate to German:", "translate to German:"),
        ("a=", "a="),
        ("wmt24/en-de", "wmt24/en-de"),
        ("one|two\nthree\x00", "one%7Ctwo three "),
        ("\udcff", "\\udcff"),
        (0, "0"),
        (True, "yes"),
    ],
)
def test_a_parameter_is_told_on_one_line_without_folders(value, told):
    with making({"it": value, "none": None, "no": False, "empty": []}):
        assert made_by().split("|python:")[0] == f"anhelpers:{__version__}|it:{told}"
    assert MAKING not in os.environ


def test_a_page_shows_texts_of_the_maker_and_runs_none():
    page = in_page("<head></head><body></body>", '"><script>')
    assert "<script>" not in page
    assert page.count("&quot;&gt;&lt;script&gt;") == 2


def test_only_what_decides_a_number_is_told(tmp_path, capsys):
    (tmp_path / "x.de").write_text("Ja.\n", encoding="utf-8")
    (tmp_path / "y.de").write_text("Nein.\n", encoding="utf-8")
    call = [
        "score",
        "-s",
        f"{tmp_path}/x.de",
        "-r",
        f"{tmp_path}/x.de",
        "-t",
        f"{tmp_path}/y.de",
        "--store",
        "off",
    ]
    assert cli.main([*call, "-o", f"{tmp_path}/y.csv"]) == 0
    assert cli.main(call) == 0
    assert capsys.readouterr().out == (tmp_path / "y.csv").read_text("utf-8")
