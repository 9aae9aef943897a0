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
    assert call("-1\n-3\nnan\n", "-5\n-4\n-9\n", "--unit", "bits", "--name", "en-de", "--draws", "50") == 0
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
    assert table.value.tolist() == pytest.approx([2 / math.log(2), 1, 2 / math.log(2) - 1], rel=1e-12)
    assert "of 2 documents; mt fairseq in bits (assumed); lm jsonl in nats (declared); seed 0" in table.signature[0]
    err = capsys.readouterr().err
    assert "the mt scores are taken as bits" in err
    assert "the lm scores are taken" not in err
    assert "few to resample" in err


def test_the_seed_decides(call, capsys):
    tables = []
    for seed in "112":
        assert call("-1\n-3\n-2\n", "-5\n-4\n-9\n", "--unit", "nats", "--draws", "20", "--seed", seed) == 0
        tables.append(pd.read_csv(io.StringIO(capsys.readouterr().out)))
    assert tables[0].equals(tables[1])
    assert tables[0].se[2] != tables[2].se[2]


@pytest.mark.parametrize(
    ("mt", "lm", "more", "words"),
    [
        ("-1\n-2\n", "-1\n", [], "lm: has 1 sentences, and mt has 2; they must be the same."),
        ("-1\n2\n", "-1\n-2\n", [], "mt, line 2: 2 is a probability above 1"),
        ("logprob_nats\n-1\n-2\n", "-1\n-2\n", ["--unit", "bits"], "declared as nats, and you say bits"),
        ("-1 -1\n-1\n", "-1 -1\n-1 -1\n", [], "sentence 2 has 1 tokens under mt and 2 under lm"),
        ("-1\n-2\n", "-1\n-2\n", ["--docs", "mt2"], "mt2: no such file"),
    ],
)
def test_bad_input_ends_with_one_sentence(call, capsys, mt, lm, more, words):
    assert call(mt, lm, *more) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("more", [["--draws", "1"], ["--seed", "-1"], ["--unit", "dits"]])
def test_wrong_options_are_usage_errors(call, more):
    with pytest.raises(SystemExit, match="2"):
        call("-1\n-2\n", "-1\n-2\n", *more)
