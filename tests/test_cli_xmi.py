"""`anhelpers xmi`, as a user types it."""

import io
import json
import math

import pandas as pd
import pytest

from anhelpers import cli


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(mt, lm, *more):
        (tmp_path / "mt").write_text(mt, "utf-8")
        (tmp_path / "lm").write_text(lm, "utf-8")
        return cli.main(["xmi", "--mt-logprobs", "mt", "--lm-logprobs", "lm", *more])

    return run


def test_two_files_to_three_rows(call, capsys):
    assert (
        call("-1\n-3\nnan\n", "-5\n-4\n-9\n", "--unit", "bits", "--name", "en-de", "--draws", "50")
        == 0
    )
    out, err = capsys.readouterr()
    table = pd.read_csv(io.StringIO(out))
    assert table.quantity.tolist() == ["h_lm", "h_mt", "xmi"]
    assert table.value.tolist() == pytest.approx([4.5, 2.0, 2.5], rel=1e-12)
    assert (table.low <= table.value).all()
    assert set(table.direction) == {"en-de"}
    assert set(table.unit) == {"bits per sentence"}
    assert set(table.n) == {2}
    assert "mt numbers in bits (given)" in table.signature[0]
    assert "note: 1 of 3 sentences left out" in err
    assert "it was not checked that both models share a tokenizer" in err


def test_layouts_may_differ_and_units_are_said(call, capsys, tmp_path):
    lm = "".join(json.dumps({"logprobs": [-1.0, -1.0], "unit": "nats"}) + "\n" for _ in range(4))
    (tmp_path / "docs").write_text("a\na\nb\nb\n", "utf-8")
    mt = "".join(f"P-{i}\t-0.5 -0.5\n" for i in range(4))
    assert call(mt, lm, "--docs", "docs", "-o", "x.csv") == 0
    table = pd.read_csv(tmp_path / "x.csv")
    assert table.value.tolist() == pytest.approx(
        [2 / math.log(2), 1, 2 / math.log(2) - 1], rel=1e-12
    )
    assert (
        "of 2 documents; paired by line, fairseq's ids as lines from 0; mt fairseq in bits"
        in table.signature[0]
    )
    assert "(assumed); lm jsonl in nats (declared); seed 0" in table.signature[0]
    err = capsys.readouterr().err
    assert "the mt scores are taken as bits" in err
    assert "the lm scores are taken" not in err
    assert "are few: the intervals" in err


def test_the_seed_decides(call, capsys):
    tables = []
    for seed in "112":
        mt, lm = ("".join(f"-{10 * k + i * i * k % 7}.5\n" for i in range(12)) for k in (1, 3))
        assert call(mt, lm, "--unit", "nats", "--draws", "20", "--seed", seed) == 0
        tables.append(pd.read_csv(io.StringIO(capsys.readouterr().out)))
    assert tables[0].equals(tables[1])
    assert tables[0].low[2] != tables[2].low[2]


@pytest.mark.parametrize(
    ("mt", "lm", "more", "words"),
    [
        ("-1\n-2\n", "-1\n", [], "lm: has 1 sentences, and mt has 2; they must be the same."),
        ("-1\n2\n", "-1\n-2\n", [], "mt, line 2: 2 is a probability above 1"),
        (
            "logprob_nats\n-1\n-2\n",
            "-1\n-2\n",
            ["--unit", "bits"],
            "declared as nats, and you say bits",
        ),
        ("-1 -1\n-1\n", "-1 -1\n-1 -1\n", [], "sentence 2 has 1 tokens under mt and 2 under lm"),
        ("-1\n-2\n", "-2\n-3\n", ["--docs", "mt2"], "mt2: no such file"),
        ("-1\n-2\n", "-2\n-3\n", ["--draws", "1"], "--draws is 1; it must be at least 2."),
        ("-1\n-2\n", "-2\n-3\n", ["--seed", "-1"], "--seed is -1; it must be at least 0."),
        ("-1\n-2\n", "-2\n-3\n", ["--vocab", "1"], "--vocab is 1; it must be at least 2."),
        (
            "-1\n-2\n",
            "-2\n-3\n",
            ["--batch-tokens", "0"],
            "--batch-tokens is 0; it must be at least 1.",
        ),
    ],
)
def test_bad_input_ends_with_one_sentence(call, capsys, mt, lm, more, words):
    assert call(mt, lm, *more) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


def test_an_unknown_unit_is_a_usage_error(call):
    with pytest.raises(SystemExit, match="2"):
        call("-1\n-2\n", "-1\n-2\n", "--unit", "dits")


@pytest.fixture
def models(tmp_path, monkeypatch, tiny_marian, pairs):
    """A function (options) -> exit code, in a folder with src, trg and the tiny Marian pair."""
    monkeypatch.chdir(tmp_path)
    for name, lines in zip(("src", "trg"), zip(*pairs, strict=True), strict=True):
        (tmp_path / name).write_text("\n".join(lines) + "\n", "utf-8")
    usual = {
        "--mt": str(tiny_marian / "mt"),
        "--lm": str(tiny_marian / "lm"),
        "-s": "src",
        "-t": "trg",
        "--device": "cpu",
        "--draws": "20",
    }

    def run(*more, **changed):
        options = usual | {
            f"--{k.replace('_', '-')}" if len(k) > 1 else f"-{k}": v for k, v in changed.items()
        }
        return cli.main(
            ["xmi", *(word for pair in options.items() if pair[1] for word in pair), *more]
        )

    return run


@pytest.mark.neural
def test_two_models_to_three_rows_and_their_scores(models, capsys, tmp_path):
    assert models("--save-scores", "scores.jsonl", "--name", "en-de") == 0
    out, err = capsys.readouterr()
    table = pd.read_csv(io.StringIO(out))
    rows = [
        json.loads(line) for line in (tmp_path / "scores.jsonl").read_text("utf-8").splitlines()
    ]
    assert table.quantity.tolist() == ["h_lm", "h_mt", "xmi"]
    assert table.value[0] == pytest.approx(
        -sum(r["lm_logprob_nats"] for r in rows) / 5 / math.log(2), rel=1e-12
    )
    assert table.value[2] == pytest.approx(sum(r["xmi_bits"] for r in rows) / 5, rel=1e-12)
    assert [r["sentence"] for r in rows] == [1, 2, 3, 4, 5]
    assert all(r["mt_tokens"] == r["lm_tokens"] for r in rows)
    assert "; mt|model:mt|rev:" in table.signature[0]
    assert "|given:<pad>|eos:yes|max:64/64|never:<pad>|transformers:" in table.signature[0]
    assert "; lpp|model:lm|rev:" in table.signature[0]
    assert table.signature[0].endswith("; seed 0")
    assert "are few: the intervals" in err
    again = "".join(json.dumps({"logprob_nats": r["mt_logprob_nats"]}) + "\n" for r in rows)
    alone = "".join(json.dumps({"logprob_nats": r["lm_logprob_nats"]}) + "\n" for r in rows)
    (tmp_path / "mt").write_text(again, "utf-8")
    (tmp_path / "lm").write_text(alone, "utf-8")
    assert cli.main(["xmi", "--mt-logprobs", "mt", "--lm-logprobs", "lm", "--draws", "20"]) == 0
    files = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert files.value.tolist() == pytest.approx(table.value.tolist(), rel=1e-12)
    assert files.se.tolist() == pytest.approx(table.se.tolist(), rel=1e-9)


@pytest.mark.neural
def test_another_tokenizer_is_refused_and_taken_per_character(models, capsys, tiny_lm):
    assert models(lm=str(tiny_lm)) == 2
    err = capsys.readouterr().err
    assert "the two models do not score the same token sequence: sentence 1 has " in err
    assert err.count("\n") == 1
    assert models("--per-char", lm=str(tiny_lm)) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert table.quantity.tolist() == ["h_lm_per_char", "h_mt_per_char", "xmi_per_char"]
    assert set(table.unit) == {"bits per character"}


@pytest.mark.neural
def test_an_encoder_decoder_as_language_model_is_given_empty_sources(models, capsys, tiny_marian):
    assert models(lm=str(tiny_marian / "mt"), batch_tokens="1") == 0
    out, err = capsys.readouterr()
    assert "|source:empty|" in pd.read_csv(io.StringIO(out)).signature[0]
    assert "note: mt is an encoder-decoder and is given empty sources" in err


@pytest.mark.neural
def test_left_out_sentences_are_told_and_null(models, capsys, tmp_path):
    (tmp_path / "src2").write_text("The dog.\nYes.\n\n" + "The dog. " * 40 + "\n", "utf-8")
    (tmp_path / "trg2").write_text("Der Hund.\nJa.\n\nJa.\n", "utf-8")
    assert models("--save-scores", "x.jsonl", s="src2", t="trg2") == 0
    err = capsys.readouterr().err
    assert "note: mt: 1 of 4 pairs have a blank target: excluded (nan)." in err
    assert "note: mt: 1 of 4 pairs are longer than the model takes: excluded (nan)." in err
    why = "blank target (1), longer than the translation model takes (1)"
    assert f"note: 2 of 4 sentences left out: {why}." in err
    rows = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text("utf-8").splitlines()]
    assert [r["mt_logprob_nats"] is None for r in rows] == [False, False, True, True]
    assert rows[3]["lm_logprob_nats"] < 0
    assert rows[3]["xmi_bits"] is None


@pytest.mark.neural
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"t": "short"}, "short: has 1 lines, and src has 5; they must be the same."),
        ({"s": "absent"}, "absent: no such file"),
        ({"s": "blank"}, "sentence 2 has a target and a blank source; are the two texts shifted?"),
        ({"docs": "short"}, "short: has 1 lines, and there are 5 sentences."),
        (
            {"mt": "."},
            "no translation model at .: give a folder with config.json and weights, or a hub id",
        ),
        (
            {"mt": "no/such"},
            "the translation model no/such is not cached and the hub is out of reach",
        ),
        ({"lm": "no/such"}, "the language model no/such is not cached and the hub is out of reach"),
        (
            {"mt": "de-small"},
            "(gpt2) is a language model, which sees no source: name an encoder-decoder",
        ),
        ({"device": "gpu"}, "there is no device 'gpu' here; there is cpu"),
        ({"device": "cuda:99"}, "there is no device 'cuda:99' here; there is cpu"),
        (
            {"trg_lang": "fr"},
            "mt translates en to de, so target language 'fr' cannot be chosen: leave it out.",
        ),
        ({"save_scores": "x.csv"}, "x.csv: cannot write '.csv' files; name a .jsonl file."),
        ({"output": "x.txt"}, "x.txt: cannot write '.txt' files; name a .csv or .parquet file."),
    ],
)
def test_bad_models_and_texts_end_with_one_sentence(models, capsys, tmp_path, changed, words):
    (tmp_path / "short").write_text("Ja.\n", "utf-8")
    (tmp_path / "blank").write_text("The dog.\n \na\nb\nc\n", "utf-8")
    assert models(**changed) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.neural
def test_a_multilingual_model_wants_its_language(models, capsys, marian):
    folder = marian((">>deu<<", ">>fra<<"))
    both = {"mt": str(folder / "mt"), "lm": str(folder / "lm")}
    assert models(**both) == 2
    assert (
        "mt translates between many languages: name the target language, such as >>deu<<"
        in capsys.readouterr().err
    )
    assert models(**both, trg_lang="xx") == 2
    assert "mt has no target language 'xx'; it knows >>deu<<, >>fra<<." in capsys.readouterr().err
    assert models(**both, trg_lang="de") == 0
    assert "|trg:>>deu<<|" in capsys.readouterr().out
    # the language model needs it as well
    assert models(**(both | {"lm": both["mt"]}), trg_lang="de") == 0
    assert capsys.readouterr().out.splitlines()[1].count("|trg:>>deu<<|") == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            [],
            "scores are wanted: --mt-logprobs FILE --lm-logprobs FILE, or models: --mt MODEL --lm MODEL -s SRC -t TGT",
        ),
        (["--mt-logprobs", "a"], "--mt-logprobs needs --lm-logprobs as well."),
        (["--mt", "a"], "--mt needs --lm and -s and -t as well."),
        (["--mt", "a", "--lm", "b"], "--mt and --lm need -s and -t as well."),
        (
            ["--mt", "a", "--lm-logprobs", "b"],
            "scores come from two files (--mt-logprobs, --lm-logprobs) or from two",
        ),
        (
            ["--mt-logprobs", "a", "--lm-logprobs", "b", "-s", "c"],
            "-s cannot be used with files of scores.",
        ),
        (
            ["--mt-logprobs", "a", "--lm-logprobs", "b", "-t", "c"],
            "-t cannot be used with files of scores.",
        ),
        (
            ["--mt-logprobs", "a", "--lm-logprobs", "b", "--per-char"],
            "--per-char needs the target text: -t TGT.",
        ),
        (
            ["--mt", "a", "--lm", "b", "-s", "c", "-t", "d", "--unit", "bits"],
            "--unit cannot be used with models.",
        ),
    ],
)
def test_options_that_do_not_go_together_are_usage_errors(capsys, words, told):
    with pytest.raises(SystemExit, match="2"):
        cli.main(["xmi", *words])
    assert told in capsys.readouterr().err


def test_a_vocabulary_shows_some_wrong_units(call, capsys):
    # a guess over 1000 tokens costs 9.97 bits, and these are 14.4 if they are nats
    bits = "-9 -10 -11\n-10 -10\n"
    lm = "-9 -10 -10\n-10 -10\n"
    assert call(bits, lm, "--vocab", "1000") == 2
    assert (
        "mt: 14.43 bits per token are more than a uniform guess over 1000 tokens costs (9.97): is the unit really n"
        in (capsys.readouterr().err)
    )
    assert call(bits, lm, "--vocab", "1100", "--unit", "bits") == 0
    assert call("-1\n-2\n", "-2\n-3\n", "--vocab", "1000") == 2
    assert (
        "mt: has no scores per token, so --vocab cannot tell anything." in capsys.readouterr().err
    )


def test_files_per_character(call, capsys, tmp_path):
    (tmp_path / "trg").write_text("ab\nabcd\n", "utf-8")
    assert call("-1\n-3\n", "-5\n-5\n", "--unit", "bits", "--per-char", "-t", "trg") == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert table.quantity.tolist() == ["h_lm_per_char", "h_mt_per_char", "xmi_per_char"]
    assert table.value.tolist() == pytest.approx([10 / 6, 4 / 6, 1], rel=1e-12)
    (tmp_path / "trg").write_text(
        "ab\n \nabcd\n", "utf-8"
    )  # a blank line has a score, that of its end, and no character
    assert call("-1\n-9\n-3\n", "-5\n-9\n-5\n", "--unit", "bits", "--per-char", "-t", "trg") == 0
    out, err = capsys.readouterr()
    assert pd.read_csv(io.StringIO(out)).value.tolist() == pytest.approx(
        [10 / 6, 4 / 6, 1], rel=1e-12
    )
    assert "1 of 3 sentences left out" in err
    (tmp_path / "trg").write_text("ab\n", "utf-8")
    assert call("-1\n-3\n", "-5\n-5\n", "--unit", "bits", "--per-char", "-t", "trg") == 2
    assert "trg: has 1 lines, and there are 2 sentences." in capsys.readouterr().err
