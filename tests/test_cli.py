"""The command line: each command works once, refuses once, and explains its options."""

import argparse
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
import sacrebleu

from anhelpers import cli
from anhelpers.candidates import _finished
from anhelpers.data import load
from anhelpers.data.fetch import bundled
from anhelpers.errors import DataError
from anhelpers.gguf import _Packaged
from anhelpers.naturalness import native
from anhelpers.progress import progress

REF = "Das Haus ist alt.\nEs regnet nicht.\n"
HYP = "Das Haus war alt.\nEs regnet nicht.\n"
OTHER = "Ein Haus.\n\n"
PARSER = cli._parser()
(COMMANDS,) = (a.choices for a in PARSER._actions if isinstance(a, argparse._SubParsersAction))
ACTIONS = [(name, action) for name, parser in COMMANDS.items() for action in parser._actions]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {"src.en": "The house is old.\nIt does not rain.\n", "ref.de": REF}
    for name, text in {**texts, "A.de": HYP, "B.de": OTHER}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def score(*more, systems=("A.de", "B.de")):
    texts = ["-l", "en-de", "-s", "src.en", "-r", "ref.de", "-t", *systems]
    return cli.main(["score", *texts, *map(str, more)])


def table_of(capsys):
    return pd.read_csv(io.StringIO(capsys.readouterr().out))


def test_score_gives_the_values_of_sacrebleu(files, capsys):
    assert score("-m", "chrf", "bleu", "ter") == 0
    table = table_of(capsys)
    columns = ["system", "metric", "level", "value", "unit", "n", "references", "signature"]
    assert table.columns.tolist() == columns
    refs = [REF.rstrip("\n").split("\n")]
    for metric in (sacrebleu.CHRF(), sacrebleu.BLEU(), sacrebleu.TER()):
        for system, text in {"A": HYP, "B": OTHER}.items():
            name = type(metric).__name__.lower()
            row = table[(table.system == system) & (table.metric == name)].iloc[0]
            assert row.value == metric.corpus_score(text[:-1].split("\n"), refs).score
            assert (row.level, row.n) == ("corpus", 2)
            assert f"version:{sacrebleu.__version__}" in row.signature


@pytest.mark.neural
def test_score_by_segment_with_a_language_model_to_parquet(files, tiny_lm):
    more = ("-m", "chrf", "lpp", "--lm", tiny_lm, "--segments", "-o", "out/scores.parquet")
    assert score(*more) == 0
    table = pd.read_parquet("out/scores.parquet")
    assert len(table) == 2 * 2 * 2
    blank = table[(table.system == "B") & (table.segment == 1)].set_index("metric").value
    assert blank["chrf"] == 0
    assert pd.isna(blank["lpp"])
    assert {p.name for p in Path("out").iterdir()} == {"scores.parquet", ".made.json"}


def test_scores_and_texts_are_written_for_mt_metrics_eval(files):
    assert score("-m", "yules_k", "chrf", "--mme", "mine") == 0
    folder = Path("mine/metric-scores/en-de")
    written = {p.name for p in folder.iterdir()}
    assert {"yules_k-src.sys.score", "chrf-ref.seg.score", "chrf-ref.sys.score"} <= written
    assert "yules_k-src.seg.score" not in written
    # negated: lower is more diverse
    assert "A\t-" in (folder / "yules_k-src.sys.score").read_text("utf-8")


@pytest.mark.neural
def test_lpp_distance_has_an_interval_and_needs_r(files, tiny_lm, capsys):
    Path("r.de").write_text("Das Haus ist alt.\nDer Hund bellt nicht.\nJa.\n", encoding="utf-8")
    assert score("-m", "chrf", "lpp-distance", "--lm", tiny_lm, "--mono", "r.de") == 0
    table = table_of(capsys)
    assert table.metric.tolist() == ["chrf", "chrf", "lpp-distance", "lpp-distance"]
    row = table.iloc[2]
    assert row.low <= row.value <= row.high
    assert (row.level, row.n) == ("corpus", 2)


@pytest.mark.parametrize(
    ("change", "arguments", "words"),
    [
        ({"A.de": "nur eine Zeile\n"}, [], ["A.de"]),
        ({}, ["-m", "chfr"], ["chfr", "chrf"]),
        ({}, ["-o", "x.xlsx"], [".xlsx"]),
        ({}, ["--data", "teaching"], ["--data"]),
        ({"B.de": b"gut\nschl\xe4cht\n"}, [], ["B.de", "line 2"]),
    ],
)
def test_bad_input_is_one_line_and_status_2(files, capsys, change, arguments, words):
    for name, content in change.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert score(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    last = err.strip().splitlines()[-1]
    assert last.startswith("anhelpers score: ")
    assert all(word in last for word in words), last
    assert len(last) <= 160


@pytest.mark.parametrize(
    ("call", "option"),
    [
        ("curve c.jsonl -r none.de", "-r"),
        ("score -s src.en -r ref.de -t A.de -m chrf --lm none", "--lm"),
        ("score -s src.en -r ref.de -t A.de -m chrf --segments --level both", "--level"),
        ("xmi --mt m.csv --lm l.txt -s src.en", "-s"),
        ("mqm none.tsv --seed -1", "--seed"),
        ("sheet --data teaching --segments -1", "segments must be"),
        ("score -s src.en -r ref.de -t X=A.de:MT -m chrf -o ./A.de", "./A.de"),
        ("score -s src.en -t A.de -m stored:s.csv#m -o s.csv", "s.csv"),
        ("curve c.jsonl --html c.jsonl", "c.jsonl"),
        ("plane -s src.en -t A.de -m stored:f/systems.csv#m -o f", "f/systems.csv"),
        ("curve c.jsonl --html x.csv -o x.csv", "x.csv"),
    ],
)
def test_no_option_is_ignored_and_no_input_replaced(files, capsys, call, option):
    Path("c.jsonl").write_text(
        '{"src": "No.", "refs": ["Nein."], "candidates": ["Ja."]}\n', "utf-8"
    )
    for name in ("m.csv", "l.txt", "s.csv"):
        Path(name).write_text("-1\n-2\n", "utf-8")
    Path("f").mkdir()
    shutil.copy("s.csv", "f/systems.csv")
    before = {path: path.read_bytes() for path in files.rglob("*.*")}
    assert cli.main(call.split()) == 2
    assert f": {option}" in capsys.readouterr().err.splitlines()[-1]
    assert {path: path.read_bytes() for path in files.rglob("*.*")} == before


def test_a_defect_has_status_70_and_an_interrupt_130(files, capsys, monkeypatch):
    def raising(error):
        def run(args):
            raise error

        return run

    monkeypatch.setattr("anhelpers.cli.score.run", raising(RuntimeError("odd")))
    assert score("-m", "chrf") == 70
    monkeypatch.setattr("anhelpers.cli.score.run", raising(KeyboardInterrupt()))
    assert score("-m", "chrf") == 130
    assert "interrupted" in capsys.readouterr().err


def test_curve_of_one_file(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    house = {"src": "The house is old.", "refs": ["Das Haus ist alt."]}
    no = {"src": "No.", "refs": ["Nein."]}
    lines = [
        house | {"candidates": ["Das Haus ist alt", "Der Hund."]},
        no | {"candidates": ["Nein!", {"text": "Nicht.", "tag": "free"}, "Das Haus."]},
    ]
    Path("mine.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    assert cli.main(["curve", "mine.jsonl", "-l", "en-de", "--naturalness", "critic"]) == 0
    table = table_of(capsys)
    assert table.beta[0] == 0
    assert table.accuracy.is_monotonic_decreasing
    assert table.naturalness.is_monotonic_increasing
    page = Path("build/mine.curve.html").read_text(encoding="utf-8")
    assert "Das Haus ist alt" in page
    Path("none.jsonl").write_text('{"src": "No.", "candidates": ["Nein!"]}\n', "utf-8")
    assert cli.main(["curve", "none.jsonl", "--naturalness", "critic"]) == 2
    assert "needs refs" in capsys.readouterr().err
    assert cli.main(["score", "--data", "mine.jsonl", "-m", "chrf"]) == 2
    assert "expected outputs of systems" in capsys.readouterr().err
    assert not re.search(r'(src|href)="https?://', page)


@pytest.fixture
def mine(tmp_path):
    """A system for the teaching set: MT-Tuned with one word changed and a blank line."""
    hyps = [text.replace("der", "die", 1) for text in load("teaching").systems["MT-Tuned"]]
    hyps[7] = ""
    (path := tmp_path / "mine.txt").write_text("\n".join(hyps) + "\n", encoding="utf-8")
    return path


def test_a_plane_of_two_metrics_with_a_system_of_mine(tmp_path, mine, capsys, monkeypatch):
    monkeypatch.setattr("anhelpers.charts.offline.save", lambda *args, **options: None)
    out = tmp_path / "out"
    more = ("-m", "chrf", "bleu", "--naturalness", "critic", "--mine", f"ours={mine}:LLM")
    assert cli.main(["plane", "--data", "teaching", "--mono", *more, "-o", str(out)]) == 0
    tables = {path.stem: pd.read_csv(path) for path in out.glob("*.csv")}
    assert {*tables} == {"systems", "pairs", "curve", "claim"}
    for table in tables.values():
        assert table.columns[0] == "metric"
        assert table.metric.unique().tolist() == ["chrf", "bleu"]
    systems, pairs = tables["systems"], tables["pairs"]
    chrf, bleu = (systems[systems.metric == name].set_index("system") for name in ("chrf", "bleu"))
    assert chrf.index.tolist() == [*load("teaching").systems, "ours", "refA"]
    assert chrf.naturalness_low.tolist() == bleu.naturalness_low.tolist()
    assert (chrf.category["ours"], chrf.outside["ours"]) == ("LLM", "added")
    assert not chrf.among_candidates["ours"]
    assert systems.n.eq(51).all()  # its blank line is left out for all
    # one comparison of naturalness has one p
    by = pairs[pairs.axis == "naturalness"].groupby(["system_a", "system_b"]).p.nunique()
    assert by.eq(1).all()
    page = (out / "plane.html").read_text("utf-8")
    assert "ours" in page
    assert "p: the two outputs of a document are exchangeable." in page
    made = json.loads((out / ".made.json").read_text("utf-8"))
    assert {*made} == {path.name for path in out.iterdir()} - {".made.json"}
    assert "command:plane" in made["systems.csv"]
    printed = capsys.readouterr().out
    assert "chrF: " in printed
    assert "BLEU: " in printed
    entries = (out / "refs.bib").read_text("utf-8")
    keys = re.findall(r"^@\w+\{([^,]+),", entries, re.M)
    assert "popovic-2015-chrf" in keys
    outside = entries
    while "{" in outside:  # the innermost first
        outside = re.sub(r"\{[^{}]*\}", "", outside)
    assert outside.split() == re.findall(r"^@\w+", entries, re.M)
    for name in ("caption.tex", "systems.tex", "appendix.tex"):
        latex = (out / name).read_text("utf-8")
        body = "\n".join(line for line in latex.split("\n") if not line.startswith("%"))
        assert body.count("{") - body.count(r"\{") == body.count("}") - body.count(r"\}")
        assert not re.search(r"(?<!\\)[%#]", body), name
        assert body.isascii(), [c for c in body if not c.isascii()]
        for group in re.findall(r"\\cite\{([^}]+)\}", latex):
            assert {*group.split(",")} <= {*keys}
    told = (out / "appendix.txt").read_text("utf-8")
    assert "documents (null hypothesis: the two outputs of one are exchangeable)" in told
    assert systems.accuracy_signature[0] in told
    assert systems.naturalness_signature[0] in told


def test_bibtex_reads_all_references(tmp_path):
    if not (bibtex := shutil.which("bibtex")):
        pytest.skip("needs bibtex: install texlive-binaries and texlive-base")
    (tmp_path / "refs.bib").write_bytes(bundled("references.bib").read_bytes())
    cited = "\\citation{*}\n\\bibdata{refs}\n\\bibstyle{plain}\n"
    (tmp_path / "paper.aux").write_text(cited, "utf-8")
    found = subprocess.run([bibtex, "paper"], cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout
    assert "Warning" not in found.stdout, found.stdout


def test_without_its_model_score_gives_chrf_and_plane_says_what_to_install(
    files, capsys, monkeypatch
):
    monkeypatch.setattr(_Packaged, "files", lambda self: [])
    monkeypatch.setenv("ANHELPERS_STORE", "off")
    native._model.cache_clear()
    assert score() == 0
    out, err = capsys.readouterr()
    assert pd.read_csv(io.StringIO(out)).metric.unique().tolist() == ["chrf"]
    assert "native is missing: gemma-3-270m is not installed. Install it: " in err
    texts = ["-l", "en-de", "-s", "src.en", "-r", "ref.de", "-t", "A.de"]
    for command in (["score", *texts, "-m", "native"], ["plane", *texts, "--naturalness", "lpp"]):
        assert cli.main(command) == 2
        assert "pip install" in capsys.readouterr().err


@pytest.mark.parametrize("data", ["teaching", "teaching/de-en"])
def test_the_default_axis_is_native_from_the_kept_scores(tmp_path, monkeypatch, undrawn, data):
    monkeypatch.setattr(_Packaged, "files", lambda self: [])
    native._model.cache_clear()
    out = tmp_path / "out"
    assert cli.main(["plane", "--data", data, "--mono", "-o", str(out)]) == 0
    signed = pd.read_csv(out / "systems.csv").naturalness_signature
    assert signed.str.startswith("native|heads:").all()
    assert cli.main(["curve", data, "-o", str(out / "v.csv"), "--html", str(out / "v.html")]) == 0


def test_a_plane_of_files_and_of_one_domain(files, undrawn):
    texts = ["-s", "src.en", "-r", "ref.de", "-t", "A.de", "B.de"]
    more = ["--naturalness", "compression", "-o", "out"]
    assert cli.main(["plane", *texts, *more]) == 0
    assert pd.read_csv("out/systems.csv").n.eq(1).all()  # B is blank in the other one
    whole = ["plane", "--data", "teaching", "--naturalness", "critic", "-o", "out"]
    domain = load("teaching").domains[0]
    assert cli.main([*whole, "--domain", domain]) == 0
    assert pd.read_csv("out/systems.csv").n.max() <= load("teaching").domains.count(domain)
    assert cli.main([*whole, "--domain", "none"]) == 2
    assert cli.main([*whole, "-m", "chrf", "ttr"]) == 2  # naturalness on both axes
    assert cli.main(["plane", "-s", "src.en", "-t", "A.de"]) == 2


def wmt25(system, doc, text):
    """A system of WMT25 with one document of two paragraphs, and its stored scores."""
    row = {"language_pair": "cs-de_DE", "domain": "news", "document_id": "n1"}
    row |= {"metric_scores": {"XCOMET-XL": [0.5, 0.25 * len(system)], "CometKiwi": [0.1, 0.2]}}
    for folder, line in (
        ("systems", {"doc_id": doc, "hypothesis": text}),
        ("automatic_scores", row),
    ):
        Path("wmt25", folder).mkdir(parents=True, exist_ok=True)
        Path("wmt25", folder, f"{system}.jsonl").write_text(json.dumps(line) + "\n", "utf-8")


def test_without_references_a_plane_takes_a_stored_metric_and_no_excluded_file(
    files, undrawn, capsys
):
    for system, text in {"A": "Eins.\n\nZwei.", "BC": "Ein.\n\nZwo.", "D": "1\n\n2"}.items():
        wmt25(system, "cs-de_DE_#_news_#_n1", text)
    for broken in (Path("B.de"), Path("wmt25/systems/D.jsonl")):
        broken.write_bytes(b"\xff")
    more = ["--naturalness", "compression", "-o", "out"]
    assert cli.main(["plane", "--data", "wmt25", *more]) == 2
    assert cli.main(["plane", "--data", "wmt25", *more, "--exclude", "D"]) == 0
    table = pd.read_csv("out/systems.csv").set_index("system")
    assert table.accuracy.to_dict() == {"A": 0.375, "BC": 0.5}
    assert "-m stored:wmt25#XCOMET-XL, also stored: CometKiwi." in capsys.readouterr().err
    assert score("-m", "chrf", "--exclude", "B", systems=("A.de:LLM", "B.de:MT")) == 0
    assert {*table_of(capsys).system} == {"A"}
    assert cli.main(["plane", "-s", "src.en", "-t", "A.de", *more]) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert "cometkiwi" in last
    assert len(last) <= 160


def test_score_takes_documents(files, capsys):
    Path("docs.tsv").write_text("news\td1\nblog\td2\n", "utf-8")
    assert score("-m", "chrf", "--segments", "--docs", "docs.tsv") == 0
    table = table_of(capsys)
    assert table[["domain", "doc"]].values.tolist() == [["news", "d1"], ["blog", "d2"]] * 2


def xmi(mt, lm, *more):
    Path("mt").write_text(mt, "utf-8")
    Path("lm").write_text(lm, "utf-8")
    return cli.main(["xmi", "--mt", "mt", "--lm", "lm", *more])


def test_xmi_of_two_files(files, capsys):
    assert xmi("-1\n-3\nnan\n", "-5\n-4\n-9\n", "--unit", "bits", "-l", "en-de") == 0
    table = table_of(capsys)
    assert table.quantity.tolist() == ["h_lm", "h_mt", "xmi"]
    assert table.value.tolist() == pytest.approx([4.5, 2.0, 2.5], rel=1e-12)
    assert (table.low <= table.value).all()
    assert set(table.direction) == {"en-de"}
    assert set(table.unit) == {"bits per sentence"}
    assert table.signature.str.startswith("scores in bits; ").all()
    assert set(table.n) == {2}


@pytest.mark.parametrize(
    ("mt", "lm", "more"),
    [
        ("-1\n-2\n", "-1\n", []),
        ("-1\n-2\n", "-2\n-3\n", ["--docs", "blank.docs"]),
        ("-1\n-2\n", "-2\n-3\n", ["--lm", "no/model"]),
    ],
)
def test_xmi_refuses_with_status_2(files, mt, lm, more, capsys):
    Path("blank.docs").write_text("a\td1\n\n", "utf-8")
    assert xmi(mt, lm, *more) == 2
    named = {"--lm": "no file: ['no/model'].", "--docs": f"{more[-1]}" if more else ""}
    told = named.get(more[0], "") if more else "expected"
    assert told in capsys.readouterr().err


@pytest.mark.neural
def test_xmi_of_two_models(tmp_path, monkeypatch, tiny_marian, tiny_lm, pairs, capsys):
    monkeypatch.chdir(tmp_path)
    for name, lines in zip(("src", "trg"), zip(*pairs, strict=True), strict=True):
        Path(name).write_text("\n".join(lines) + "\n", "utf-8")
    call = ["xmi", "--mt", str(tiny_marian / "mt"), "-s", "src", "-t", "trg"]
    assert cli.main([*call, "--lm", str(tiny_marian / "lm")]) == 0
    table = table_of(capsys)
    assert table.quantity.tolist() == ["h_lm", "h_mt", "xmi"]
    assert table.value[0] - table.value[1] == pytest.approx(table.value[2])
    assert cli.main([*call, "--lm", str(tiny_lm)]) == 2  # another tokenizer
    assert cli.main([*call, "--lm", str(tiny_lm), "--per-char"]) == 0
    assert set(table_of(capsys).unit) == {"bits per character"}


def test_check_reports_features_and_the_origin_of_a_result(files, capsys):
    assert cli.main(["check"]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) < 30
    assert "scores, curves, charts" in out
    assert score("-m", "chrf", "-o", "scores.csv") == 0
    capsys.readouterr()
    assert cli.main(["check", "scores.csv"]) == 0
    assert "|command:score|" in capsys.readouterr().out
    assert cli.main(["check", "ref.de"]) == 2


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "[]", '{"A.de": 3}', "\ud800"])
def test_damaged_json_is_wrong_input(files, capsys, text):
    for name in (".made.json", "deep.jsonl", "facts.json"):
        Path(name).write_bytes(f"{text}\n".encode("utf-8", "surrogatepass"))
    for result in ("A.de", "."):
        assert cli.main(["check", result]) == 2
    for metric in ("native:deep.jsonl", "critic:."):
        assert score("-m", metric) == 2
    with pytest.raises(DataError):
        _finished(Path("deep.jsonl"), "signature", ["source"])
    assert score("-m", "chrf", "-o", "a.csv") == cli.main(["check", "a.csv"]) == 0
    assert "unexpected" not in capsys.readouterr().err


def test_nothing_printed_forges_a_line_or_reaches_the_terminal(files, capsys, undrawn):
    odd = "A\x1b[2J\nforged: line\u202e"
    Path(f"{odd}.de").write_text(HYP, "utf-8")
    assert score("-m", "chrf", "-o", f"{odd}.csv", systems=[f"{odd}.de"]) == 0
    texts = ["-s", "src.en", "-r", "ref.de", "-t", f"{odd}.de", "A.de"]
    assert cli.main(["plane", *texts, "--naturalness", "compression", "-o", odd]) == 0
    assert cli.main(["check", odd]) == cli.main(["check", f"{odd}.csv"]) == 0
    assert cli.main(["sheet", "--data", "teaching/de-en", "--out", odd]) == 0
    assert cli.main(["run", odd]) == 2
    with pytest.raises(SystemExit):
        cli.main(["score", f"--{odd}"])
    with progress(1, odd) as step:
        step(1, odd)
    said = "".join(capsys.readouterr())
    assert "\\x1b[2J" in said
    assert not re.search("\x1b|\u202e|^forged", said, re.M)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full of Linux")
def test_a_file_was_written_if_stdout_is_full(files, monkeypatch):
    odd = os.fsdecode(b"sheet\xff")
    with open("/dev/full", "w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert cli.main(["sheet", "--data", "teaching/de-en", "--out", odd]) == 0
        assert "command:sheet" in Path(odd, ".made.json").read_text("utf-8")
        assert score("-m", "chrf") == 0
        monkeypatch.undo()


def test_a_users_own_files_are_not_replaced(files, capsys):
    (files / "refs.bib").write_text("mine", "utf-8")
    for out in (str(files), ""):
        texts = ["-s", "src.en", "-r", "ref.de", "-t", "A.de", "-o", out]
        assert cli.main(["plane", *texts]) == 2
        assert "your own file" in capsys.readouterr().err
    assert (files / "refs.bib").read_text("utf-8") == "mine"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_during_the_first_imports_has_no_traceback(tmp_path):
    stop = "import os, signal, sys\nos.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "numpy.py").write_text(stop, "utf-8")
    path = os.pathsep.join([str(tmp_path), str(Path(cli.__file__).parents[2])])
    call = [sys.executable, "-m", "anhelpers", "plane", "--data", "teaching"]
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # not in the background
    there = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(call, env=there, capture_output=True, preexec_fn=heard)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_purpose_and_an_example_that_parses(name):
    text = COMMANDS[name].format_help()
    example = cli._module(name).EXAMPLE
    assert f"example:\n  {example}\n" in text
    words = shlex.split(example)
    assert words[0] == "anhelpers"
    assert PARSER.parse_args(words[1:]).command == name


def test_every_option_has_a_help():
    assert [(name, a.dest) for name, a in ACTIONS if not (a.help or a.metavar)] in (
        [],
        [("curve", "candidates")],
    )


def test_a_repeated_option_of_several_values_goes_on():
    parse = cli._parser("score").parse_args
    args = parse(["score", "-s", "s", "-t", "a", "b", "-r", "r", "-t", "c", "-m", "chrf"])
    assert (args.translations, args.references) == (["a", "b", "c"], ["r"])
