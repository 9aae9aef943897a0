"""The command line, as a user types it."""

import io
import json
import os
import re
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest
import sacrebleu

from anhelpers import cli
from anhelpers.doctor import report

REF = "Das Haus ist alt.\nEs regnet nicht.\n"
HYP = "Das Haus war alt.\nEs regnet nicht.\n"
OTHER = "Ein Haus.\n\n"


@pytest.fixture
def files(tmp_path):
    for name, text in {
        "src.en": "The house is old.\nIt does not rain.\n",
        "ref.de": REF,
        "A.de": HYP,
        "B.de": OTHER,
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def score(files, *more):
    named = [files / n for n in ("src.en", "ref.de", "A.de", "B.de")]
    return cli.main(
        [
            "score",
            "-l",
            "en-de",
            "-s",
            str(named[0]),
            "-r",
            str(named[1]),
            "-t",
            *map(str, named[2:]),
            *more,
        ]
    )


def test_score_prints_a_row_per_system_and_metric_with_sacrebleu_s_values(files, capsys):
    assert score(files, "-m", "chrf", "bleu", "ter") == 0
    out, err = capsys.readouterr()
    table = pd.read_csv(io.StringIO(out))
    columns = [
        "system",
        "metric",
        "level",
        "value",
        "unit",
        "n",
        "references",
        "signature",
        "made_by",
    ]
    assert table.columns.tolist() == columns
    assert table[["system", "metric"]].values.tolist() == [
        [s, m] for m in ("chrf", "bleu", "ter") for s in "AB"
    ]
    refs = [REF.rstrip("\n").split("\n")]
    for metric in (sacrebleu.CHRF(), sacrebleu.BLEU(), sacrebleu.TER()):
        for system, text in {"A": HYP, "B": OTHER}.items():
            name = type(metric).__name__.lower()
            row = table[(table.system == system) & (table.metric == name)].iloc[0]
            assert row.value == metric.corpus_score(text[:-1].split("\n"), refs).score
            assert (row.level, row.n) == ("corpus", 2)
            assert f"version:{sacrebleu.__version__}" in row.signature
    assert "note: B: 1 blank hypothesis of 2." in err


def test_score_refuses_a_file_that_lost_a_line(tmp_path, capsys):
    refs = [f"Das ist der Satz Nummer {i} von {i * i} Sätzen." for i in range(30)]
    srcs = [f"This is sentence number {i} of {i * i} sentences." for i in range(30)]
    for name, lines in {"src": srcs, "ref": refs, "lost": [*refs[:9], *refs[10:], ""]}.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    src, ref, lost = (str(tmp_path / name) for name in ("src", "ref", "lost"))
    assert (
        cli.main(["score", "-s", src, "-r", ref, "-t", lost, "-o", str(tmp_path / "out.csv")]) == 2
    )
    assert (
        "lost, from segment 10: 20 lines fit the reference 1 segment later"
        in capsys.readouterr().err
    )
    assert not (tmp_path / "out.csv").exists()


def test_score_by_segment_with_a_language_model_to_parquet(files, tiny_lm, capsys):
    target = files / "out" / "scores.parquet"
    assert score(files, "-m", "chrf", "--lm", str(tiny_lm), "--segments", "-o", str(target)) == 0
    table = pd.read_parquet(target)
    assert len(table) == 2 * 2 * 2
    blank = table[(table.system == "B") & (table.segment == 1)].set_index("metric").value
    assert blank["chrf"] == 0
    assert pd.isna(blank["lpp"])
    out, err = capsys.readouterr()
    assert out == ""
    assert "wrote" in err
    assert not list(target.parent.glob(".*"))


def test_score_with_a_language_model_alone_needs_no_reference(files, tiny_lm, capsys):
    code = cli.main(
        ["score", "-s", str(files / "src.en"), "-t", str(files / "B.de"), "--lm", str(tiny_lm)]
    )
    out, err = capsys.readouterr()
    table = pd.read_csv(io.StringIO(out))
    assert code == 0
    assert (
        "note: log-perplexity under tiny: 1 of 2 texts without a scored token: excluded (nan)."
        in err
    )
    row = ["lpp", "segment-mean", 1, "nats per token (lower is better)"]
    assert table[["metric", "level", "n", "unit"]].values.tolist() == [row]
    assert "|rev:" in table.signature[0]


@pytest.mark.parametrize("name", ["./scores.csv", "a//scores.csv", "scores.csv"])
def test_a_result_is_replaced_however_its_name_is_typed(files, monkeypatch, capsys, name):
    monkeypatch.chdir(files)
    assert [score(files, "-o", name) for _ in range(2)] == [0, 0]


def test_both_levels_are_two_rows(files, capsys):
    assert score(files, "--level", "both") == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert table.level.tolist() == ["corpus", "corpus", "segment-mean", "segment-mean"]


@pytest.mark.parametrize(
    ("change", "arguments", "words"),
    [
        ({"A.de": "nur eine Zeile\n"}, [], ["A.de", "1 line", "2"]),
        ({}, ["-m", "chfr"], ["'chfr'", "did you mean 'chrf'"]),
        ({}, ["-o", "x.xlsx"], ["x.xlsx", ".parquet"]),
        ({}, ["-l", "en-qq"], ["qq"]),
        ({"B.de": b"gut\nschl\xe4cht\n"}, [], ["B.de", "line 2", "UTF-8"]),
        pytest.param(
            {},
            ["--lm", "no/such-model"],
            ["no/such-model"],
            marks=pytest.mark.skipif(
                find_spec("torch") is None, reason="pip install -c constraints.txt -e '.[neural]'"
            ),
        ),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(files, capsys, change, arguments, words):
    for name, content in change.items():
        (files / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert score(files, *arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    last = err.strip().splitlines()[-1]
    assert last.startswith("anhelpers score: ")
    assert all(word in last for word in words), last


def test_curve_of_one_self_contained_file(tmp_path, tiny_lm, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    house = {
        "src": "The house is old.",
        "refs": ["Das Haus ist alt."],
        "candidates": ["Das Haus ist alt", "Der Hund."],
    }
    no = {
        "src": "No.",
        "refs": ["Nein."],
        "candidates": ["Nein!", {"text": "Nicht.", "tag": "free"}, "Das Haus."],
    }
    lines = [house, no]
    Path("mine.jsonl").write_text(
        "\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8"
    )
    assert cli.main(["curve", "mine.jsonl", "--lm", str(tiny_lm)]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert table.beta[0] == 0
    assert table.accuracy.is_monotonic_decreasing
    assert table.naturalness.is_monotonic_increasing
    page = Path("build/mine.curve.html").read_text(encoding="utf-8")
    assert "Das Haus ist alt" in page
    assert not re.search(r'(src|href)="https?://', page)


def test_curve_of_k_lines_per_source_beside_plain_texts(files, tiny_lm, capsys):
    (files / "four.txt").write_text("Das Haus\nEin Haus\nEs regnet\nRegen\n", encoding="utf-8")
    call = [
        "curve",
        str(files / "four.txt"),
        "-s",
        str(files / "src.en"),
        "-r",
        str(files / "ref.de"),
        "--lm",
        str(tiny_lm),
    ]
    assert (
        cli.main(
            [*call, "-k", "2", "--html", str(files / "x" / "p.html"), "-o", str(files / "c.csv")]
        )
        == 0
    )
    assert (files / "x" / "p.html").is_file()
    assert pd.read_csv(files / "c.csv").n.eq(2).all()
    assert cli.main([*call, "-k", "3"]) == 2
    assert "four.txt" in capsys.readouterr().err


def test_curve_without_references_says_what_to_give(tmp_path, capsys):
    path = tmp_path / "c.jsonl"
    path.write_text('{"segment": 0, "text": "a"}\n', encoding="utf-8")
    assert cli.main(["curve", str(path)]) == 2
    assert "give them by -s SRC -r REF" in capsys.readouterr().err


def test_check_fits_one_screen_and_names_the_mending_command(monkeypatch, capsys):
    monkeypatch.delenv("ANHELPERS_DATA", raising=False)
    assert cli.main(["check"]) == 0
    text = capsys.readouterr().out
    assert len(text.splitlines()) <= 40
    assert "ANHELPERS_DATA=not set" in text
    assert "export ANHELPERS_DATA=" in text
    assert "ok  data set teaching" in text
    assert all(f"ok  language model {name}-small" in text for name in ("de", "en"))


def test_check_tells_what_installs_a_missing_package(monkeypatch):
    import anhelpers.doctor as doctor

    real = doctor.version_of
    monkeypatch.setattr(doctor, "version_of", lambda name: None if name == "torch" else real(name))
    text = report()
    assert "missing: torch" in text
    assert re.search(r"-m pip install -c \S+/constraints.txt -e '\S+\[neural\]'", text)


def test_unknown_commands_and_missing_arguments_exit_with_2(capsys):
    for arguments in (["scor"], ["score"], []):
        with pytest.raises(SystemExit) as stop:
            cli.main(arguments)
        assert stop.value.code == 2
    capsys.readouterr()


def test_train_lm_writes_a_model_that_score_takes(tmp_path, files, capsys, monkeypatch):
    pytest.importorskip("torch")
    import anhelpers.training.lm as train

    small = train.LmRecipe(
        "de",
        vocab_size=280,
        width=8,
        layers=1,
        heads=1,
        max_tokens=32,
        epochs=1,
        held_out=2,
        tokens_per_batch=99,
    )
    monkeypatch.setattr(train, "LmRecipe", lambda **chosen: small)
    (tmp_path / "t.txt").write_text(
        "".join(f"Zeile {i} steht hier.\n" for i in range(12)), encoding="utf-8"
    )
    assert cli.main(["train-lm", str(tmp_path / "t.txt"), str(tmp_path / "m"), "--lang", "de"]) == 0
    assert "held-out perplexity" in capsys.readouterr().out
    assert score(files, "--lm", str(tmp_path / "m")) == 0


@pytest.mark.real
@pytest.mark.skipif(
    "ANHELPERS_DATA" not in os.environ, reason="set ANHELPERS_DATA to the shared data sets"
)
def test_score_reproduces_the_official_bleu_and_chrf_of_wmt23(capsys):
    root = Path(os.environ["ANHELPERS_DATA"]) / "wmt23"
    txt, test = root / "txt", "generaltest2023.en-de"
    hyps = sorted(map(str, (txt / "system-outputs").glob(f"{test}.hyp.*.de")))
    code = cli.main(
        [
            "score",
            "-s",
            f"{txt}/sources/{test}.src.en",
            "-r",
            f"{txt}/references/{test}.ref.refA.de",
            "-t",
            *hyps,
            "-m",
            "bleu",
            "chrf",
        ]
    )
    assert code == 0
    ours = pd.read_csv(io.StringIO(capsys.readouterr().out))
    official = pd.read_csv(root / "automatic-scores.tsv", sep="\t")
    official = official[
        (official.pair == "en-de") & official.metric.isin(["bleu-refA", "chrf-refA"])
    ]
    ours["key"] = ours.system.str.replace(f"{test}.hyp.", "", regex=False) + "/" + ours.metric
    wanted = dict(
        zip(
            official.system + "/" + official.metric.str.replace("-refA", ""),
            official.score,
            strict=True,
        )
    )
    assert len(ours) == 24
    for key, value in zip(ours.key, ours.value, strict=True):
        assert round(value, 4) == round(float(wanted[key]), 4), key


def table_of(capsys):
    out, err = capsys.readouterr()
    return pd.read_csv(io.StringIO(out)), err


def test_lexical_measures_are_of_the_corpus_and_need_no_reference(files, capsys):
    names = ["ttr", "mattr", "mtld", "yules_i", "yules_k", "shannon", "simpson"]
    call = ["score", "-s", str(files / "src.en"), "-t", str(files / "B.de"), "-m", *names]
    assert cli.main(call) == 0
    table, _ = table_of(capsys)
    assert table.metric.tolist() == names
    assert (table.level == "corpus").all()
    assert (table.n == 1).all()  # the second output is blank
    assert table.value.tolist()[:1] == [1.0]
    assert table.value[1:4].isna().all()  # two words are too few, and none is repeated
    assert table.unit[0] == "types per token (higher is more diverse)"
    assert cli.main([*call, "--segments"]) == 2
    assert (
        "ttr is a measure of a whole corpus and has no score of a segment"
        in capsys.readouterr().err
    )


def test_an_unknown_metric_gets_the_whole_list(files, capsys):
    assert score(files, "-m", "mtdl") == 2
    err = capsys.readouterr().err
    assert "did you mean 'mtld'" in err
    assert all(name in err for name in ("chrf++", "lpp", "simpson", "zip"))


def test_zip_has_two_levels_and_takes_the_place_of_lpp(files, tiny_lm, capsys):
    assert score(files, "-m", "zip", "chrf", "--lm", str(tiny_lm), "--level", "both") == 0
    table, err = table_of(capsys)
    assert table[["metric", "level"]].drop_duplicates().values.tolist() == [
        ["zip", "corpus"],
        ["zip", "segment-mean"],
        ["chrf", "corpus"],
        ["chrf", "segment-mean"],
    ]
    rows = table[table.metric == "zip"].set_index(["level", "system"])
    assert rows.n.tolist() == [2, 1, 2, 1]
    # one text either way
    assert rows.value["corpus", "B"] == pytest.approx(rows.value["segment-mean", "B"])
    assert rows.unit.eq("nats per segment (lower is better)").all()
    assert rows.signature["corpus", "A"].endswith("texts:joined")
    assert "note: zip under tiny: 1 of 2 texts without a scored token: excluded (nan)." in err
    assert score(files, "-m", "zip") == 0  # with the bundled model of the language
    table, _ = table_of(capsys)
    assert table.signature.str.startswith("zip|model:de-small|").all()


def test_lpp_by_name_is_the_one_that_comes_with_a_model(files, tiny_lm, capsys):
    assert score(files, "-m", "lpp", "zip", "--lm", str(tiny_lm)) == 0
    named, _ = table_of(capsys)
    assert named.metric.tolist() == ["lpp", "lpp", "zip", "zip"]
    assert score(files, "--lm", str(tiny_lm)) == 0
    pd.testing.assert_frame_equal(
        *(t.drop(columns="made_by") for t in (table_of(capsys)[0], named[:2]))
    )


def test_known_log_probabilities_of_a_system_give_its_kl(files, tiny_lm, capsys):
    from anhelpers.naturalness.lm import load_lm, score_texts

    (files / "a.logprobs").write_text("-40.5\n-30\n", encoding="utf-8")
    assert (
        score(
            files,
            "-m",
            "chrf",
            "--lm",
            str(tiny_lm),
            "--system-logprobs",
            f"A={files / 'a.logprobs'}",
        )
        == 0
    )
    table, err = table_of(capsys)
    assert table.metric.tolist() == ["chrf", "chrf", "lpp", "lpp", "kl"]
    row = table.iloc[-1]
    log_f = score_texts(load_lm(str(tiny_lm)), HYP[:-1].split("\n"), eos=True).total
    assert row.value == pytest.approx(((-40.5 - log_f[0]) + (-30 - log_f[1])) / 2)
    assert (row.system, row.level, row.unit, row.n) == (
        "A",
        "segment-mean",
        "nats per segment (lower is better)",
        2,
    )
    assert row.signature.startswith("kl|model:tiny|")
    told = r"^note: A: kl \S+ nats per segment, 95 % interval \S+ to \S+ \(n = 2, taken as independent; unbiased\)\. "
    assert re.search(
        told + "2 outputs are few: the intervals may be far too short or far too long.$", err, re.M
    )


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("A", "-1\n", ["A.lp: has 1 line, and 2 are wanted"]),
        ("A", "-1\nx\n", ["A.lp, line 2: 'x' is no finite number"]),
        (
            "A",
            "-1\n3\n",
            ["A.lp, line 2: 3 is a probability above 1", "negative log-probabilities?"],
        ),
        ("AB", "-1\n-2\n", ["unknown system 'AB'", "known: A, B"]),
    ],
)
def test_wrong_log_probabilities_are_told_before_a_model_is_loaded(
    files, capsys, name, text, words
):
    (files / "A.lp").write_text(text, encoding="utf-8")
    assert (
        score(files, "--lm", "no/such-model", "--system-logprobs", f"{name}={files / 'A.lp'}") == 2
    )
    out, err = capsys.readouterr()
    assert out == ""
    assert all(word in err for word in words), err


@pytest.mark.parametrize("more", [[], ["--lm", "x", "--segments"]])
def test_log_probabilities_need_a_model_and_whole_systems(files, capsys, more):
    with pytest.raises(SystemExit) as stop:
        score(files, "--system-logprobs", "A=a", *more)
    assert stop.value.code == 2
    assert "give --lm MODEL" in capsys.readouterr().err


def test_a_measure_of_the_corpus_is_written_to_mt_metrics_eval_for_systems_only(
    files, tmp_path, capsys
):
    folder = tmp_path / "mine"
    assert score(files, "-m", "yules_k", "chrf", "--mme", str(folder)) == 0
    written = {p.name for p in (folder / "metric-scores" / "en-de").iterdir()}
    assert {"yules_k-src.sys.score", "chrf-ref.seg.score", "chrf-ref.sys.score"} <= written
    assert "yules_k-src.seg.score" not in written
    values = (folder / "metric-scores" / "en-de" / "yules_k-src.sys.score").read_text(
        encoding="utf-8"
    )
    assert "A\t-" in values  # negated: lower is more diverse
    assert "yules_k-src is negated" in capsys.readouterr().err


def test_lpp_distance_has_its_interval_and_r_in_its_signature(files, tiny_lm, capsys):
    from anhelpers.naturalness.lm import load_lm
    from anhelpers.naturalness.lpp import Mono, lpp_distance_metric

    (files / "r.de").write_text("Das Haus ist alt.\nDer Hund bellt nicht.\nJa.\n", encoding="utf-8")
    assert (
        score(
            files, "-m", "chrf", "lpp-distance", "--lm", str(tiny_lm), "--mono", str(files / "r.de")
        )
        == 0
    )
    table, err = table_of(capsys)
    assert table.metric.tolist() == ["chrf", "chrf", "lpp-distance", "lpp-distance"]
    row = table.iloc[2]
    metric = lpp_distance_metric(
        load_lm(str(tiny_lm)), Mono(("Das Haus ist alt.", "Der Hund bellt nicht.", "Ja."))
    )
    assert row.value == pytest.approx(metric.score_corpus(HYP[:-1].split("\n")))
    assert row.low <= row.value <= row.high
    assert (row.level, row.unit, row.n) == ("corpus", "nats per token (lower is nearer to R)", 2)
    assert row.signature == metric.signature
    assert re.search(
        r"^note: A: lpp-distance \S+ nats per token, 95 % interval .*signed gap", err, re.M
    )
    assert "lines:3); they count as independent" in err


def test_r_without_its_measure_and_single_segments_are_refused(files, tiny_lm, capsys):
    with pytest.raises(SystemExit):
        score(files, "-m", "chrf", "--mono", str(files / "ref.de"))
    assert "--mono is what lpp-distance compares with" in capsys.readouterr().err
    more = ("--lm", str(tiny_lm), "--mono", str(files / "ref.de"), "--segments")
    assert score(files, "-m", "lpp-distance", *more) == 2
    assert "lpp-distance is a measure of a whole corpus" in capsys.readouterr().err
