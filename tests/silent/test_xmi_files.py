"""Cross-mutual information from files: which sentence is which, what is no score, what was counted, what is said."""

import io
import json
import math
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from anhelpers.data.score_pairs import lengths_of, read_score_pair

from anhelpers import cli
from anhelpers.data.candidates import read_candidates
from anhelpers.data.numbers import read_logprobs
from anhelpers.data.schema import TestSet
from anhelpers.data.token_scores import read_token_scores
from anhelpers.divergences.samples import kl_from_logprobs
from anhelpers.errors import DataError, LanguageConflict
from anhelpers.naturalness.kl import system_kl
from anhelpers.naturalness.lm import load_lm, score_texts
from anhelpers.xmi import per_character, sentence_cross_entropy, xmi, xmi_difference, xmi_table
from anhelpers.xmi.published import (
    find_outputs,
    find_results,
    published_table,
    read_features,
    read_results,
    recomputed_bleu,
    sides,
)
from anhelpers.xmi.scores import share_doubt

N = 12
MT = [-10.0 - k for k in range(N)]
LM = [-30.0 - 5 * k for k in range(N)]


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """A function (rows of mt, rows of lm, options) -> (status, table, what was said); rows are JSON objects or text."""
    monkeypatch.chdir(tmp_path)

    def run(mt, lm, *more):
        for name, rows in (("mt", mt), ("lm", lm)):
            text = (
                rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
            )
            (tmp_path / name).write_text(text, "utf-8")
        status = cli.main(
            ["xmi", "--mt-logprobs", "mt", "--lm-logprobs", "lm", "--draws", "50", *more]
        )
        out, err = capsys.readouterr()
        return status, pd.read_csv(io.StringIO(out)) if out else None, err

    return run


def rows(scores, key="id", **more):
    return [
        {key: f"s{k}", "logprob": score} | {k2: v[k] for k2, v in more.items()}
        for k, score in enumerate(scores)
    ]


# ---- which sentence is which


def test_rows_are_paired_by_id_whatever_their_order(call):
    """The language model misses one sentence and the rows are turned around: by position 94.9 bits, by id 96.6."""
    lm = rows([None, *LM[1:]])
    _, straight, _ = call(rows(MT), lm)
    status, turned, _ = call(rows(MT), lm[::-1])
    assert status == 0
    right = np.mean([m - q for m, q in zip(MT[1:], LM[1:], strict=True)]) / math.log(2)
    assert straight.value[2] == pytest.approx(right, rel=1e-12)
    assert turned[["value", "se", "low", "high", "n"]].equals(
        straight[["value", "se", "low", "high", "n"]]
    )
    assert "; paired by id;" in straight.signature[0]
    assert "; paired by id, in the order of the first file;" in turned.signature[0]


def test_without_ids_the_pairing_by_line_is_said(call):
    status, table, err = call([{"logprob": v} for v in MT], "".join(f"{v}\n" for v in LM))
    assert status == 0
    assert "; paired by line;" in table.signature[0]
    assert (
        "note: the files do not both have ids: each line is taken for the same line of the other."
        in err
    )


def test_fairseq_s_ids_are_lines_from_0(call):
    mt = "".join(f"P-{k}\t{v}\n" for k, v in reversed([*enumerate(MT)]))
    status, table, err = call(mt, "".join(f"{v}\n" for v in LM), "--unit", "nats")
    assert status == 0
    assert "fairseq's sentence 0 is taken for the first line of the other." in err
    assert table.value[1] == pytest.approx(-np.mean(MT) / math.log(2), rel=1e-12)
    _, other, err = call(mt, rows_numbered(LM, 0)[::-1], "--unit", "nats")
    assert "; paired by id;" in other.signature[0]
    assert other.se.tolist() == table.se.tolist()
    assert "do not both have ids" not in err
    status, _, err = call(mt, rows_numbered(LM, 1))
    assert status == 2
    assert "mt counts from 0, lm from 1: number both alike." in err


def rows_numbered(scores, start):
    return [{"sentence": start + k, "logprob": score} for k, score in enumerate(scores)]


@pytest.mark.parametrize(
    ("mt", "lm", "words"),
    [
        (
            rows(MT),
            [{"logprob": v} for v in LM],
            "lm: has no ids, and mt has; give both files the same ids",
        ),
        (rows(MT), "".join(f"{v}\n" for v in LM), "lm: has no ids, and mt has"),
        (rows(MT), rows(LM[:-1]), "lm: has no sentence with the id s11, which mt has; write null"),
        (rows(MT), [{"id": f"t{k}", "logprob": v} for k, v in enumerate(LM)], "(12 of its 12 ids)"),
        (
            rows(MT),
            rows(LM[:-1]) + rows(LM[:1]),
            'lm, line 12: "id" s0 stands in line 1 too; give each sentence an id',
        ),
        (
            rows(MT),
            [*rows(LM[:-1]), {"logprob": -3}],
            'lm, line 12: there is no "id", which other lines have',
        ),
        (
            rows(MT),
            [*rows(LM[:-1]), {"id": True, "logprob": -3}],
            'lm, line 12: "id" is True; a whole number',
        ),
        (
            rows(MT),
            [*rows(LM[:-1]), {"id": 1.5, "logprob": -3}],
            '"id" is 1.5; a whole number or a text',
        ),
        (
            rows(MT, doc=["a"] * N),
            rows(LM, doc=["a"] * 11 + ["b"]),
            "s11 is of document 'b', and of document 'a'",
        ),
        (
            rows(MT, text=["Ja."] * N),
            rows(LM, text=["Ja."] * 11 + ["Nein."]),
            "s11 is 'Nein.', and 'Ja.' in mt",
        ),
    ],
)
def test_what_cannot_be_paired_is_refused_in_one_sentence(call, mt, lm, words):
    status, table, err = call(mt, lm)
    assert (status, table) == (2, None)
    assert words in err
    assert err.count("\n") == 1


def test_ids_are_those_of_the_usual_keys_and_numbers_are_texts(tmp_path):
    def read(name, table):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in table), "utf-8")
        return tmp_path / name

    mt = read("mt", [{"Segment_ID": 2.0, "logprob": -1}, {"Segment_ID": 1, "logprob": -2}])
    lm = read("lm", [{"seg-id": "1", "logprob": -5}, {"seg-id": "2", "logprob": -4}])
    one, two, how = read_score_pair(mt, lm)
    assert (one.logprobs.tolist(), two.logprobs.tolist(), how) == (
        [-2, -1],
        [-5, -4],
        "paired by id",
    )
    many = [{"doc": d, "segment": s, "logprob": -s - 3 * (d == "b")} for d in "ab" for s in (1, 2)]
    more = [
        {"doc": row["doc"], "segment": row["segment"], "logprob": row["logprob"] - 9}
        for row in many[::-1]
    ]
    one, two, _ = read_score_pair(read("mt", many), read("lm", more))
    assert (one.logprobs - two.logprobs).tolist() == [9] * 4
    said = [{"sentence": "Der Hund bellt.", "logprob": -3}, {"sentence": "Ja.", "logprob": -1}]
    labels = read_token_scores(read("mt", said)).labels
    assert (labels.ids, labels.texts) == (None, ("Der Hund bellt.", "Ja."))
    with pytest.raises(
        DataError, match=r"lm: sentence 1 is 'Ja\.', and 'Der Hund bellt\.' in .*mt"
    ):
        read_score_pair(read("mt", said), read("lm", [row | {"logprob": -7} for row in said[::-1]]))


def test_documents_of_the_rows_are_resampled_and_lines_of_others_must_fit(call, tmp_path):
    docs = ["a"] * 6 + ["b"] * 6
    status, table, err = call(rows(MT, doc=docs), rows(LM)[::-1])
    assert status == 0
    assert "resamples of 2 documents;" in table.signature[0]
    assert "documents are those that the rows of the files name." in err
    (tmp_path / "docs").write_text("\n".join(docs) + "\n")
    status, _, err = call(rows(MT), rows(LM)[::-1], "--docs", "docs")
    assert status == 2
    assert (
        "docs: has a line per sentence, and the two files of scores have their sentences in different orders"
        in err
    )
    assert call(rows_numbered(MT, 1), rows_numbered(LM, 1)[::-1], "--docs", "docs")[0] == 0
    assert call(rows(MT, doc=docs), rows(LM), "--docs", "docs")[0] == 0
    (tmp_path / "docs").write_text("\n".join("ab" * 6) + "\n")
    status, _, err = call(rows(MT, doc=docs), rows(LM), "--docs", "docs")
    assert status == 2
    assert "docs: groups the sentences otherwise than the documents in the rows of scores" in err


# ---- one model given twice


def test_the_same_scores_under_two_names_are_refused(call, tmp_path, capsys):
    """XMI was 0 for every sentence, with the interval 0 to 0."""
    status, _, err = call(rows(MT), rows(MT))
    assert status == 2
    assert (
        "lm: holds the same 12 scores as mt: one model was given twice, and its XMI would be 0"
        in err
    )
    assert call(rows(MT), rows(MT)[::-1])[0] == 2
    assert cli.main(["xmi", "--mt-logprobs", "mt", "--lm-logprobs", "mt"]) == 2
    assert "mt: holds the same 12 scores as mt" in capsys.readouterr().err


def test_one_file_for_two_systems_is_refused(tiny_lm):
    hyps = {"A": ("Das Haus.", "Der Hund."), "B": ("Ein Haus.", "Ein Hund.")}
    test = TestSet("t", "en-de", ("a", "b"), {"r": ("c", "d")}, hyps)
    with pytest.raises(
        DataError, match="log-probabilities of A and B are the same, and their outputs are not"
    ):
        system_kl(test, {"A": [-1, -2], "B": [-1, -2]}, load_lm(str(tiny_lm), device="cpu"))


# ---- what is no score


@pytest.mark.parametrize("bad", [-1e30, -1e300, -1e9, -1e6 - 1, -math.inf])
def test_hugely_negative_scores_are_refused_wherever_scores_are_read(tmp_path, bad):
    """One -1e30 among 40 sentences made H_LM 3.6e28 bits, one -1e300 a standard error of inf; status 0."""
    numbers, cands = tmp_path / "numbers", tmp_path / "c.jsonl"
    numbers.write_text(f"-5\n{bad}\n")
    cands.write_text(json.dumps({"segment": 0, "text": "a", "logprob": bad}) + "\n")
    words = r"(lower than any model gives a text|no finite number|\"logprob\" is -inf|-inf makes|finite\.|at most 0)"
    for read in (read_token_scores, read_logprobs):
        with pytest.raises(DataError, match=rf"numbers, line 2: .*{words}"):
            read(numbers)
    with pytest.raises(DataError, match=words):
        read_candidates(cands, srcs=["x"])
    with pytest.raises(DataError, match=words):
        kl_from_logprobs([-1.0, bad, -2.0], [-1.0, -2.0, -2.0])
    with pytest.raises(DataError, match=words):
        xmi([-1.0, bad], [-5.0, -6.0], rng=np.random.default_rng(0))


def test_a_masked_token_is_refused_in_either_unit_and_a_text_may_be_long(tmp_path):
    path = tmp_path / "tokens"
    path.write_text("-5 -3\n-5 -800\n")
    words = r"tokens, line 2: token 2: -800 is lower than any model gives a token \(.* -744"
    with pytest.raises(DataError, match=words):
        read_token_scores(path)
    path.write_text("-5 -3\n-5 -740\n")
    read_token_scores(path)
    read_token_scores(path, "bits")
    path.write_text("-5 -3\n-5 -1100\n")
    with pytest.raises(DataError, match="lower than any model"):
        read_token_scores(path, "bits")
    path.write_text("-40\n-900000\n-50\n")
    assert read_token_scores(path).notes == (
        "sentence 2 has -900000 nats, 18000 times the median of -50: was a masked or padded token summed?",
    )
    path.write_text("-40\n-3900\n-50\n")
    assert read_token_scores(path).notes == ()


def test_a_padded_sum_is_pointed_out(call):
    status, _, err = call(rows(MT), rows([LM[0] - 1e4, *LM[1:]]))
    assert status == 0
    assert (
        "note: lm: sentence 1 has -10030 nats, 160 times the median of -62.5: was a masked or padded token"
        in err
    )


# ---- what is left out, and what is resampled


def test_what_is_missing_is_said_by_its_name(call, tmp_path):
    _, _, err = call(rows([None, *MT[1:]]), rows([None, None, None, *LM[3:]]))
    why = "no score of either model (1), no score of the language model (2)"
    assert f"note: 3 of 12 sentences left out: {why}." in err
    (tmp_path / "trg").write_text("Ja.\n" * 11 + " \n", "utf-8")
    _, _, err = call(rows(MT), rows(LM), "--per-char", "-t", "trg")
    assert "note: 1 of 12 sentences left out: blank text (1)." in err


def test_a_single_document_is_said_and_its_interval_has_a_width(call, tmp_path):
    (tmp_path / "docs").write_text("d\n" * N)
    status, table, err = call(rows(MT), rows(LM), "--docs", "docs")
    assert status == 0
    assert (table.low < table.high).all()
    assert "50 resamples of 12 sentences of one document;" in table.signature[0]
    assert (
        "note: all 12 sentences are of one document, and one cannot be resampled: sentences were"
        in err
    )
    rng = np.random.default_rng(0)
    found = per_character(MT, LM, [9] * N, docs=["d"] * N, rng=rng)
    assert found.one_document
    assert "sentences of one document" in found.xmi_per_char.signature
    same = xmi([-1.0, -1.0], [-2.0, -2.0], rng=rng)
    assert (
        "every resample gives the same h_lm and h_mt and xmi: an interval without width tells nothing."
        in same.notes
    )


# ---- one token's worth per sentence


@pytest.mark.verifies("Count of the published table", by="hand")
def test_both_counts_by_hand(call):
    """Two sentences of 2 and 4 tokens: 6 and 12 bits of the language model, 2 and 4 of the translation model.

    All tokens: 9 and 3 bits per sentence. The published count: 18 bits / 6 tokens · (6 - 2) tokens / 2 sentences = 6,
    and 6 / 6 · 4 / 2 = 2.
    """
    mt, lm = "-1 -1\n-1 -1 -1 -1\n", "-3 -3\n-3 -3 -3 -3\n"
    _, every, _ = call(mt, lm, "--unit", "bits")
    _, table, _ = call(mt, lm, "--unit", "bits", "--count", "published")
    assert every.value.tolist() == pytest.approx([9, 3, 6], rel=1e-12)
    assert table.value.tolist() == pytest.approx([6, 2, 4], rel=1e-12)
    assert "mean over tokens × (tokens - 1 per sentence)" in table.signature[0]
    status, _, err = call("-1\n-2\n", "-3\n-4\n", "--unit", "bits", "--count", "published")
    assert status == 2
    assert "the tokens of sentence 1 are not known, and the published count needs them" in err
    with pytest.raises(SystemExit):
        call(mt, lm, "--count", "published", "--per-char", "-t", "trg")


@pytest.mark.verifies("Count of the published table", by="property")
def test_the_published_count_is_the_other_less_one_mean_token_in_every_resample():
    """With c tokens in every sentence, each draw is (c - 1) / c of the other; else h - h / mean of c."""
    rng = np.random.default_rng(3)
    lm, mt = -rng.gamma(9, 9, 50), -rng.gamma(9, 3, 50)
    counts = rng.integers(2, 40, 50).tolist()
    drawn = [np.random.default_rng(1) for _ in range(4)]
    every = xmi(mt, lm, tokens=(counts, counts), rng=drawn[0])
    table = xmi(mt, lm, tokens=(counts, counts), count="published", rng=drawn[1])
    for a, b in zip(every.bits, table.bits, strict=True):
        assert b.value == pytest.approx(a.value * (1 - 1 / np.mean(counts)), rel=1e-12)
    c = [5] * 50
    every = xmi(mt, lm, tokens=(c, c), rng=drawn[2])
    table = xmi(mt, lm, tokens=(c, c), count="published", rng=drawn[3])
    for a, b in zip(every.bits, table.bits, strict=True):
        got = [b.value, b.se, b.low, b.high]
        assert got == pytest.approx([0.8 * v for v in (a.value, a.se, a.low, a.high)], rel=1e-12)


@pytest.mark.verifies(
    "Count of the published table", by="foreign", of="the authors' bits per token"
)
@pytest.mark.erratum("XMI eq. 2, the end of a sentence")
def test_with_the_ends_the_means_are_larger_and_the_claim_stays():
    """By the scripts, h = nll · tokens without ends; nll · all tokens is h + nll."""
    table, every = published_table(), published_table("all")
    into, out = sides(every).to_dict("records")
    assert (round(into["xmi"], 2), round(out["xmi"], 2)) == (99.84, 105.32)
    assert (round(into["pearson"], 3), round(out["pearson"], 3)) == (0.960, 0.631)
    more = every.set_index("direction").xmi - table.set_index("direction").xmi
    assert (round(more.min(), 1), round(more.max(), 1)) == (2.6, 3.5)
    gain = [
        every[every[end] == "en"].set_index(other).xmi
        for end, other in (("src", "trg"), ("trg", "src"))
    ]
    assert (gain[0] - gain[1].loc[gain[0].index] > 0).sum() == 20
    assert every.columns.tolist() == table.columns.tolist()


# ---- scores that are no sums of the same sentences under two models

# tokens, about 33 as in the paper
LENGTHS = np.maximum(2, np.random.default_rng(0).gamma(3, 11, 60)).astype(int)


def sums(nats, seed):
    """Sums over LENGTHS tokens of so many nats each on average."""
    random = np.random.default_rng(seed)
    return np.array([-random.gamma(0.5, 2 * nats, k).sum() for k in LENGTHS])


MT_SUMS, LM_SUMS = sums(1.2, 1), sums(3.3, 2)  # 1.7 and 4.7 bits per token, as published
BELOW = "and its whole interval is below 0: by these scores the targets are easier to predict without their source."
APART = "the mt and lm scores hardly go together (Spearman's correlation"


def column(values):
    return "".join(f"{v}\n" for v in values)


def doubts(err):
    """What is said of the scores, without the usual lines on unit, pairing, tokenizer and maker."""
    usual = (
        "are taken as nats",
        "do not both have ids",
        "was not checked that both models share",
        "are few: the intervals",
        "made by ",
    )
    return [line for line in err.splitlines() if not any(words in line for words in usual)]


def test_plausible_scores_get_no_doubt(call):
    status, table, err = call(column(MT_SUMS), column(LM_SUMS))
    assert (status, doubts(err)) == (0, [])
    assert table.value[0] / LENGTHS.mean() == pytest.approx(4.8, abs=0.4)
    more = {"n_tokens": LENGTHS.tolist(), "text": ["x" * (5 * k) for k in LENGTHS]}
    status, _, err = call(rows(MT_SUMS, **more), rows(LM_SUMS, **more))
    assert (status, doubts(err)) == (0, [])


@pytest.mark.parametrize(
    ("mt", "lm", "words"),
    [
        (LM_SUMS, MT_SUMS, [BELOW]),
        (
            MT_SUMS,
            LM_SUMS / LENGTHS,
            [BELOW, "h_lm is 4.95 bits per sentence, and language models need more", APART],
        ),
        (
            MT_SUMS / LENGTHS,
            LM_SUMS / LENGTHS,
            ["are the scores means per token? Give sums.", APART],
        ),
        (
            MT_SUMS / LENGTHS,
            LM_SUMS,
            ["XMI is 98.9 % of h_lm, and the published models save 56 to 70 %", APART],
        ),
        (MT_SUMS, np.roll(LM_SUMS, 1), [APART]),
        (
            MT_SUMS,
            np.round(MT_SUMS, 1),
            [" % of h_lm, and the published models save 56 to 70 %: are both scores"],
        ),
        (
            MT_SUMS,
            [f"{v:.2g}" for v in MT_SUMS],
            ["are both scores of one model, of other sources, or without a"],
        ),
        (
            MT_SUMS,
            MT_SUMS * 1.7,
            ["each lm score is 1.7 times the mt score of its sentence, in 60 sentences"],
        ),
        (
            MT_SUMS,
            [0, 0, 0, *LM_SUMS[3:]],
            ["3 of 60 sentences have a score of exactly 0 under lm, a probability of"],
        ),
    ],
    ids=[
        "swapped",
        "lm means",
        "means",
        "mt means",
        "shifted",
        "rounded",
        "two digits",
        "proportional",
        "zeros",
    ],
)
def test_implausible_scores_are_doubted(call, mt, lm, words):
    """Nothing was said of any of these; the swapped files have an XMI of -100 bits, and the means one of 3."""
    status, _, err = call(column(mt), column(lm))
    assert status == 0
    assert [said for said in words if said not in err] == []
    assert len(doubts(err)) >= len(words)


def test_lengths_tell_means_from_sums(call):
    """The values are the same in all files: with lengths they are seen to be means, whatever their size."""
    # h_lm is 24 bits, which short sentences may have
    mt, lm = 5 * MT_SUMS / LENGTHS, 5 * LM_SUMS / LENGTHS
    assert "means per token" not in call(column(mt), column(lm))[2]
    _, _, err = call(rows(mt, n_tokens=LENGTHS.tolist()), rows(lm))
    assert "h_lm is 0.77 bits per token" not in err  # such a model may be: 5 times too much
    mt, lm = MT_SUMS / LENGTHS, LM_SUMS / LENGTHS
    _, _, err = call(rows(mt, n_tokens=LENGTHS.tolist()), rows(lm))
    assert (
        "h_lm is 0.157 bits per token, and language models need more than 0.4 (as means per token"
        in err
    )
    _, _, err = call(rows(mt, text=["x" * (5 * k) for k in LENGTHS]), rows(lm))
    assert (
        "h_lm is 0.0314 bits per character, and language models need more than 0.3: are the scores means"
        in err
    )
    assert "h_mt is 0.01" in err


@pytest.mark.parametrize(
    ("mt", "lm", "words"),
    [
        (
            MT_SUMS,
            np.zeros(60),
            "lm: all 60 scores are 0, which would be a probability of 1; give a model's log-probabi",
        ),
        (np.zeros(60), LM_SUMS, "mt: all 60 scores are 0"),
        (
            MT_SUMS,
            [f"{v:.3g}" for v in MT_SUMS],
            "lm: holds the 60 scores of mt but for their rounding: one model was",
        ),
        (
            MT_SUMS,
            MT_SUMS / math.log(2),
            "lm: holds the 60 scores of mt in another unit, times 1.443: one model was",
        ),
        (
            MT_SUMS,
            MT_SUMS / LENGTHS,
            "lm: holds the 60 scores per token of what mt sums (sentence 1: ",
        ),
        (
            MT_SUMS / LENGTHS,
            MT_SUMS,
            "lm: holds the 60 scores summed of what mt has per token (sentence 1: ",
        ),
    ],
    ids=["lm zeros", "mt zeros", "rounded", "other unit", "lm per token", "mt per token"],
)
def test_one_model_under_two_forms_is_refused(call, mt, lm, words):
    """XMI was about 0, or up to all of H, without a word."""
    status, table, err = call(column(mt), column(lm))
    assert (status, table) == (2, None)
    assert words in err
    assert err.count("\n") == 1


def test_what_is_not_read_is_told(call):
    status, _, err = call(
        rows(MT, score=MT, n_tokens=[9] * N), rows(LM, n_tokens=[0] * N, lang=["de"] * N)
    )
    assert status == 0
    assert "note: mt: keys that are not read: score." in err
    assert "note: lm: keys that are not read: lang." in err
    status, _, err = call([row | {"units": "bits"} for row in rows(MT)], rows(LM))
    assert status == 2
    assert 'mt, line 1: "units" is not read; did you mean "unit"? Rename it, or take it out.' in err
    tokens = [
        {"id": f"s{k}", "logprobs": [v, -1.3], "n_tokens": 2 + 3 * (k > 9)}
        for k, v in enumerate(MT)
    ]
    status, _, err = call(tokens, rows(LM))
    assert status == 0
    assert (
        "mt: sentence 11 says that it has 5 tokens, and has 2 scores (2 of 12 sentences are so)"
        in err
    )


def test_other_numbers_of_tokens_are_told(call, tmp_path):
    """The two models have two tokenizers, by what the files say of themselves."""
    lengths = {"n_tokens": LENGTHS.tolist()}
    other = (LENGTHS + (np.arange(60) % 2)).tolist()
    status, _, err = call(rows(MT_SUMS, **lengths), rows(LM_SUMS, n_tokens=other))
    assert status == 0
    assert (
        f"sentence 2 has {LENGTHS[1]} tokens in mt and {other[1]} in lm (30 of 60 differ): XMI per sente"
        in err
    )
    (tmp_path / "trg").write_text("Das ist ein Haus.\n" * 60)
    assert (
        "of 60 differ"
        not in call(
            rows(MT_SUMS, **lengths), rows(LM_SUMS, n_tokens=other), "--per-char", "-t", "trg"
        )[2]
    )
    with_ends = rows(LM_SUMS, n_tokens=(LENGTHS + 1).tolist())
    assert doubts(call(rows(MT_SUMS, **lengths), with_ends)[2]) == []


def test_lengths_follow_the_ids(tmp_path):
    def read(name, table):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in table), "utf-8")
        return tmp_path / name

    mt = read("mt", [{"id": k, "logprob": -k - 1} for k in (1, 0)])
    lm = read("lm", [{"id": k, "logprob": -5 - k, "n_tokens": 7 + k} for k in (0, 1)])
    assert lengths_of(*read_score_pair(mt, lm)[:2]) == [7, 8]


def test_different_units_are_pointed_out(call):
    fairseq = "".join(f"P-{k}\t{v}\n" for k, v in enumerate(MT_SUMS))
    status, _, err = call(fairseq, column(LM_SUMS))
    assert status == 0
    assert "note: mt is in bits, lm in nats: where both are in one unit, name it by --unit." in err
    assert "lm in nats: where" not in call(fairseq, column(LM_SUMS), "--unit", "bits")[2]


@pytest.mark.neural
def test_a_kl_of_means_per_token_is_doubted(tiny_lm, capsys, monkeypatch):
    """A system's scores per token against a model's sums gave a large KL without a word."""
    monkeypatch.setenv("ANHELPERS_STORE", "off")  # which has a note of its own
    lm, random = load_lm(str(tiny_lm), device="cpu"), np.random.default_rng(4)
    texts = [
        " ".join(["Das", "Haus", "und", "der", "Hund"] * int(k))[: 3 * int(k) + 2]
        for k in 1 + random.permutation(20)
    ]
    test = TestSet("t", "en-de", tuple("a" * 20), {}, {"A": tuple(texts)})
    own = score_texts(lm, texts, True).total
    system_kl(test, {"A": own * random.uniform(0.4, 0.6, 20)}, lm)
    assert capsys.readouterr().err == ""
    system_kl(test, {"A": random.uniform(-1, 0, 20)}, lm)
    assert (
        "A: its log-probabilities hardly go together with those of the language model"
        in capsys.readouterr().err
    )
    system_kl(test, {"A": 1.5 * own}, lm)
    assert "nats per segment, and none is below 0: are they sums" in capsys.readouterr().err


@pytest.mark.neural
def test_two_models_that_save_next_to_nothing_are_doubted(tiny_marian, pairs):
    """Both are of random weights."""
    from anhelpers.translation import load_mt
    from anhelpers.xmi import load_q_lm, xmi_from_models

    mt = load_mt(tiny_marian / "mt", device="cpu")
    lm = load_q_lm(str(tiny_marian / "mt"), device="cpu")
    srcs, trgs = zip(*pairs, strict=True)
    scored = xmi_from_models(mt, lm, srcs, trgs, rng=np.random.default_rng(0), n_draws=20)
    assert (
        "% of h_lm, and the published models save 56 to 70 %: are both scores of one model"
        in scored.notes[-1]
    )


@pytest.mark.neural
def test_texts_of_the_wrong_side_are_refused_or_told(tiny_marian, tiny_lm):
    """The targets as sources, the two sides exchanged, a language model of another language: nothing was said."""
    from anhelpers.translation import load_mt
    from anhelpers.xmi import load_q_lm, xmi_from_models

    mt = load_mt(tiny_marian / "mt", device="cpu")
    lm = load_q_lm(str(tiny_marian / "lm"), device="cpu")
    en = [f"{k} old houses stand here." for k in range(40)]
    de = [f"{k} alte Häuser stehen hier." for k in range(40)]
    rest = {"rng": np.random.default_rng(0), "n_draws": 5}
    with pytest.raises(
        DataError,
        match="all 40 targets are copies of their sources; give the translations as targets",
    ):
        xmi_from_models(mt, lm, de, de, **rest)
    with pytest.raises(
        LanguageConflict,
        match=r"the sources read as German \('de'\) \(. of . samples\), and not as English",
    ):
        xmi_from_models(mt, lm, de, en, **rest)
    with pytest.raises(
        LanguageConflict, match=r"the targets read as German .*, and not as English"
    ):
        xmi_from_models(mt, replace(lm, language="en"), en, de, **rest)
    assert not any(
        "read as" in note or "copies" in note
        for note in xmi_from_models(mt, lm, en, de, **rest).notes
    )
    mt.tokenizer.source_lang = mt.tokenizer.target_lang = None
    notes = xmi_from_models(mt, lm, de[::-1], de, **rest).notes
    assert (
        "the sources and the targets both read as 'de': is one of the files the other's?" in notes
    )
    assert (
        "21 of 40 targets are copies of their sources."
        in xmi_from_models(mt, lm, de[:21] + en[21:], de, **rest).notes
    )


# ---- other texts than the references, columns, lists and values that come again, other units


def log(scored, refs=None, spaced=lambda text: text):
    """fairseq-generate's output: a reference, the text that was scored, and MT_SUMS."""
    kinds = [("T", lambda k: refs[k])] if refs else []
    kinds += [("H", lambda k: f"-1.2\t{spaced(scored[k])}"), ("P", lambda k: MT_SUMS[k])]
    return "".join(f"{kind}-{k}\t{said(k)}\n" for k in range(len(scored)) for kind, said in kinds)


REFS = [f"Haus {k}: das war's." for k in range(60)]


def test_scores_of_fairseq_s_own_hypotheses_are_refused(call):
    """XMI was 162.28 bits for 117.76: without --score-reference the model scores what it wrote itself."""
    own = [f"Hütte {k}: dies war es." for k in range(60)]
    status, table, err = call(log(own, REFS), column(LM_SUMS))
    assert (status, table) == (2, None)
    told = "mt: scores of other texts than the references, in 60 of 60 sentences: of 'Hütte 0: dies war es.' (H-0), and"
    assert told in err
    assert "run fairseq-generate with --score-reference." in err
    assert call(log(REFS[:57] + own[57:], REFS), column(LM_SUMS))[0] == 0
    assert (
        "mt: 3 of 60 texts are not the references, first that of sentence 57."
        in call(log(REFS[:57] + own[57:], REFS), column(LM_SUMS))[2]
    )
    assert call(log(REFS[:56] + own[56:], REFS), column(LM_SUMS))[0] == 2


def test_texts_of_fairseq_are_compared_whatever_the_tokenizer(call):
    def spaced(text):
        return (
            text.replace("Ha", "Ha@@ ")
            .replace(":", " :")
            .replace("'s", " &apos;s")
            .replace("9", "9 ")
        )

    status, _, err = call(log(REFS, REFS, spaced), rows_numbered(LM_SUMS, 0))
    assert (status, "references" in err) == (0, False)
    named = [
        row | {"text": text} for row, text in zip(rows_numbered(LM_SUMS, 0), REFS, strict=True)
    ]
    status, _, err = call(log(REFS, None, spaced), named)
    assert status == 0
    assert (
        "note: mt: T- or H- lines are lacking, so it was not checked that the references were scored"
        in err
    )
    status, _, err = call(log(REFS[::-1]), named)
    assert status == 2
    assert (
        "lm: sentence 1 is 'Haus 0: das war's.', and 'Haus 59: das war's.' in mt (60 of 60 texts differ); give"
        in err
    )


def test_targets_that_are_not_the_texts_of_the_rows_are_refused(call, tmp_path):
    """The sources for the targets: 0.642 bits per character for 0.734."""
    mt, lm = rows(MT_SUMS, text=REFS), rows(LM_SUMS)
    (tmp_path / "trg").write_text("\n".join(REFS).replace(":", " :"))
    assert call(mt, lm, "--per-char", "-t", "trg")[0] == 0
    (tmp_path / "trg").write_text("\n".join(REFS).replace("Haus", "House"))
    status, _, err = call(mt, lm, "--per-char", "-t", "trg")
    assert status == 2
    assert (
        "trg: sentence 1 is 'House 0: das war's.', and 'Haus 0: das war's.' in mt (60 of 60 texts differ)"
        in err
    )


def test_other_documents_than_those_of_the_rows_are_told(call, tmp_path):
    """Nested ones were taken without a word: standard error 1.48 for 1.99 bits."""
    own = rows(MT_SUMS, doc=[k // 20 for k in range(60)])
    (tmp_path / "docs").write_text("".join(f"d{k // 10}\n" for k in range(60)))
    status, _, err = call(own, rows(LM_SUMS), "--docs", "docs")
    assert status == 0
    assert (
        "--docs names 6 documents, and the rows of scores name 3: those of --docs are resampled."
        in err
    )
    (tmp_path / "docs").write_text("".join(f"d{k // 20}\n" for k in range(60)))
    assert "--docs names" not in call(own, rows(LM_SUMS), "--docs", "docs")[2]


def test_a_sum_and_its_mean_are_no_two_tokens(call):
    """They were added: 121.18 bits for 117.94."""

    def both(sums, form="{:f}\t{:f}\n"):
        return "".join(form.format(v, v / k) for v, k in zip(sums, LENGTHS, strict=True))

    status, _, err = call(both(MT_SUMS), both(LM_SUMS))
    assert status == 2
    assert "mt: a sum and its mean per token (first -" in err
    assert "would be added as scores of tokens; give the sums alone." in err
    assert call(column(MT_SUMS), both(LM_SUMS, "{:f} -0.1 {:f}\n"))[0] == 2
    assert call(column(MT_SUMS), both(LM_SUMS, "{1:.3f} {0:.3f}\n"))[0] == 2
    assert call(both(MT_SUMS, '{{"logprobs": [{:f}, {:f}]}}\n'), column(LM_SUMS))[0] == 2
    two = "".join(f"{v - 0.3} -{0.1 + k % 7}\n" for k, v in enumerate(MT_SUMS))
    status, _, err = call(two, column(LM_SUMS))
    assert status == 0
    assert (
        "mt: each of 60 sentences has 2 numbers, which are added as scores of 2 tokens: are they?"
        in err
    )
    lists = [{"logprobs": [v]} for v in MT_SUMS]
    assert (
        "mt: each of 60 sentences has one token: are these sums?" in call(lists, column(LM_SUMS))[2]
    )
    assert "has 2 numbers" not in call(two.replace("\n", " -1\n", 1), column(LM_SUMS))[2]


def test_a_list_that_comes_twice_is_refused(call):
    """The standard error was 1.08 for 1.91 bits."""
    status, _, err = call(column([*MT_SUMS] * 2), column([*LM_SUMS] * 2))
    assert status == 2
    assert (
        "lm: 60 of 120 sentences come again with the same scores, in mt too: sentences 61, 62 … are 1, 2 …; giv"
        in err
    )
    # a shard and a file that begins with it
    joined = [[*side[:20], *side[:40], np.nan] for side in (MT_SUMS, LM_SUMS)]
    assert (
        "lm: 20 of 61 sentences come again with the same scores, in mt too: sentences 21, 22 … are 1, 2 …"
        in call(*map(column, joined))[2]
    )
    each = np.repeat([MT_SUMS, LM_SUMS], 3, axis=1)
    assert (
        "lm: each of 60 sentences comes 3 times in a row with the same scores, in mt too; give"
        in call(column(each[0]), column(each[1]))[2]
    )
    bare = [[{"logprob": v} for v in side] * 2 for side in (MT_SUMS, LM_SUMS)]
    assert call(*bare)[0] == 2
    assert call(column([*MT_SUMS] * 2), column([*LM_SUMS, *LM_SUMS * 1.1]))[0] == 0


def test_base_10_is_a_unit(call):
    """Scores of KenLM and SRILM were 2.3 times too small, or refused where they said what they are."""
    _, right, _ = call(column(MT_SUMS), column(LM_SUMS))
    mt, lm = MT_SUMS / math.log(10), LM_SUMS / math.log(10)
    for found in (
        call(column(mt), column(lm), "--unit", "log10"),
        call(column(MT_SUMS), "log10prob\n" + column(lm)),
        call(column(MT_SUMS), [{"logprob": v, "unit": "log10"} for v in lm]),
        call([{"logprob": v, "unit": "10"} for v in mt], [{"log10prob": v} for v in lm]),
    ):
        assert found[1].value.tolist() == pytest.approx(right.value.tolist(), rel=1e-12)
        assert "log10" in found[1].signature[0]
    assert (
        "nothing in a number shows its unit, --unit decides (log10 for KenLM and SRILM)."
        in call(column(MT_SUMS), column(LM_SUMS))[2]
    )
    assert xmi(
        mt, lm, unit="log10", rng=np.random.default_rng(0), n_draws=9
    ).xmi.value == pytest.approx(right.value[2])
    assert (
        "anhelpers xmi: lm: holds the 60 scores of mt in another unit"
        in call(column(mt), column(MT_SUMS))[2]
    )
    assert "or is one in another unit?" in call(column(MT_SUMS), column(lm))[2]
    assert "in another unit, or not of the targets?" in call(column(mt), column(LM_SUMS))[2]


@pytest.mark.real
def test_the_published_results_get_no_doubt_unless_one_side_is_in_base_10():
    if not os.environ.get("ANHELPERS_DATA"):
        pytest.skip("set ANHELPERS_DATA to the folder of the shared data sets to run this test.")
    found = pd.concat([read_results(split=split) for split in ("test", "valid")])
    sides = np.stack([found.h_mt, found.h_lm], 1)[:, :, None]
    assert [share_doubt(mt, lm) for mt, lm in sides] == [()] * 80
    assert all(share_doubt(mt, lm / math.log(10)) for mt, lm in sides)
    assert all(share_doubt(mt / math.log(10), lm) for mt, lm in sides)


def test_one_value_in_many_sentences_is_told(call):
    """500 of 2000 scores of -99 made 95.8 bits, as many of -1 131.2, for 117.9."""
    some = np.where(np.arange(60) % 6 == 0, -99.0, MT_SUMS)
    status, _, err = call(column(some), column(LM_SUMS), "--unit", "bits")
    assert status == 0
    told = "mt: 10 of 60 sentences have the same score, -99: does it stand for a missing one? Write nan."
    assert told in err
    assert told in call(rows(some, text=REFS), rows(LM_SUMS))[2]
    same = ["Danke." if k % 6 == 0 else text for k, text in enumerate(REFS)]
    assert told not in call(rows(some, text=same), rows(LM_SUMS))[2]
    assert (
        "same score"
        not in call(column(np.where(np.arange(60) == 7, MT_SUMS, some)[1:]), column(LM_SUMS[1:]))[2]
    )


@pytest.mark.parametrize(
    ("mt", "words"),
    [
        ("-36,05\n-3\n", "line 1: '-36,05' is no number: a decimal comma? Write a decimal point."),
        (
            "id,logprob\n0,-3\n",
            "line 1: 'id,logprob' is no number: a table, or its header? Give the numbers alone",
        ),
        (
            "id\tlogprob\n0\t-3\n",
            "line 1: 'id' is no number: a table, or its header? Give the numbers alone",
        ),
        (
            "0\t-36.1\n1\t-20.2\n",
            "line 2: token 1: 1 is a probability above 1; an id, or a number of tokens? Give",
        ),
        (
            "-36.1 31\n-20.2 18\n",
            "line 1: token 2: 31 is a probability above 1; an id, or a number of tokens? Give",
        ),
        (
            "P-0\t-1\nP-1\t-1\n" * 2,
            "line 3: sentence 0 has a second hypothesis, or is of a second log (the first: ",
        ),
    ],
    ids=["decimal comma", "csv", "header", "id", "tokens", "two logs"],
)
def test_what_is_no_list_of_scores_is_named(call, mt, words):
    status, _, err = call(mt, column(LM_SUMS))
    assert (status, err.count("\n")) == (2, 1)
    assert words in err


def test_odd_numbers_of_a_system_are_named(tmp_path, capsys):
    (tmp_path / "numbers").write_text("-1\n-99\n" * 10)
    read_logprobs(tmp_path / "numbers", 20)
    assert "numbers: 10 of 20 sentences have the same score, -" in capsys.readouterr().err
    (tmp_path / "numbers").write_text("-1\n-2,5\n")
    with pytest.raises(
        DataError,
        match=r"line 2: '-2,5' is no finite number: a decimal comma\? Write a decimal point",
    ):
        read_logprobs(tmp_path / "numbers", 2)


# ---- blank lines at the end


def test_blank_lines_at_the_end_are_left_out_with_a_note(call, tmp_path):
    _, straight, _ = call(column(MT), column(LM))
    status, table, err = call(column(MT), column(LM) + "\n \n")
    assert status == 0
    assert "note: lm: 2 blank lines at the end left out." in err
    assert table.equals(straight)
    (tmp_path / "docs").write_text("a\nb\n" * 6 + "\n")
    (tmp_path / "trg").write_text("Ja.\n" * 12 + "\n\n")
    status, _, err = call(column(MT), column(LM), "--docs", "docs", "--per-char", "-t", "trg")
    assert status == 0
    assert "the other files end before them: docs (1)." in err
    assert "the other files end before them: trg (2)." in err
    assert call(column(MT), column(LM[:-1]) + "\n")[0] == 2
    assert call(column(MT[:5]) + "\n" + column(MT[6:]), column(LM))[0] == 2
    (tmp_path / "numbers").write_text("-1\n-2\n\n")
    assert read_logprobs(tmp_path / "numbers", 2).tolist() == [-1, -2]
    with pytest.raises(DataError, match="has 3 lines, and 1 are wanted"):
        read_logprobs(tmp_path / "numbers", 1)


# ---- both counts in every function


@pytest.mark.verifies("Count of the published table", by="property")
def test_each_function_has_both_counts():
    """A sentence's bits less one mean token each: those of `xmi` are in all others; without tokens it is refused."""
    counts, rng = (LENGTHS, LENGTHS), np.random.default_rng
    options = {"unit": "bits", "count": "published", "n_draws": 50}
    found = xmi(MT_SUMS, LM_SUMS, tokens=counts, rng=rng(0), **options)
    alone = sentence_cross_entropy(LM_SUMS, tokens=LENGTHS, rng=rng(0), **options)
    assert [alone.value, alone.se] == pytest.approx([found.h_lm.value, found.h_lm.se], rel=1e-12)
    assert alone.value == pytest.approx(-LM_SUMS.mean() * (1 - 1 / LENGTHS.mean()), rel=1e-12)
    assert "mean over tokens × (tokens - 1 per sentence)" in alone.signature
    back = LENGTHS + 7
    two = (MT_SUMS, LM_SUMS), (1.1 * MT_SUMS, LM_SUMS)
    apart = xmi_difference(*two, tokens=(counts, (back, back)), rng=rng(0), **options)
    other = xmi(*two[1], tokens=(back, back), rng=rng(0), **options).xmi
    assert apart.value == pytest.approx(found.xmi.value - other.value, rel=1e-12)
    assert "mean over tokens × (tokens - 1 per sentence)" in apart.signature
    table = xmi_table(
        {"a-b": two[0], "b-a": two[1]},
        tokens={"a-b": counts, "b-a": (back, back)},
        rng=rng(0),
        **options,
    )
    assert table.xmi.tolist() == pytest.approx([found.xmi.value, other.value], rel=1e-12)
    with pytest.raises(
        DataError, match="tokens of sentence 1 are not known, and the published count needs them"
    ):
        sentence_cross_entropy(LM_SUMS, rng=rng(0), **options)
    with pytest.raises(DataError, match="the published count needs them"):
        xmi_difference(*two, rng=rng(0), **options)
    with pytest.raises(DataError, match="the published count needs them"):
        xmi_table({"a-b": two[0]}, rng=rng(0), **options)
    with pytest.raises(
        DataError, match="tokens are given of c-d, which is no direction here; known: a-b"
    ):
        xmi_table({"a-b": two[0]}, tokens={"c-d": counts}, rng=rng(0), **options)


# ---- where the authors' files lie


@pytest.fixture
def files(tmp_path):
    """The authors' files in two layouts: a checkout of theirs, and the data set here."""
    if not os.environ.get("ANHELPERS_DATA"):
        pytest.skip("set ANHELPERS_DATA to the folder of the shared data sets to run this test.")
    data = Path(os.environ["ANHELPERS_DATA"]) / "xmi"
    checkout = tmp_path / "nmt-difficulty"
    shutil.copytree(data / "results", checkout / "results", copy_function=shutil.copyfile)
    for name in ("en2lt", "lt2en"):
        source = data / "outputs" / name
        shutil.copytree(
            source, checkout / "experiments" / name / "outputs", copy_function=shutil.copyfile
        )
    (checkout / "experiments" / "lt" / "xent").mkdir(parents=True)
    (checkout / "experiments" / "en2cs").mkdir()
    return data, checkout


@pytest.mark.real
def test_every_layout_of_the_authors_files_is_found(files):
    data, checkout = files
    for folder in (data, data / "results", checkout, checkout / "results"):
        assert len(read_results(folder)) == len(read_features(folder)) == 40
    assert find_results(checkout) == checkout / "results"
    assert (
        [*find_outputs(data / "results")]
        == [*find_outputs(data)]
        == [*find_outputs(data / "outputs")]
    )
    assert [*find_outputs(checkout)] == [*find_outputs(checkout / "results")] == ["en-lt", "lt-en"]
    found = recomputed_bleu(checkout / "results").set_index("direction")
    assert found.bleu.round(1).equals(published_table().set_index("direction").bleu[found.index])
    shutil.rmtree(checkout / "experiments")
    assert find_outputs(checkout) == {}


def test_a_folder_without_results_is_told(tmp_path):
    with pytest.raises(
        DataError, match="this folder has none of the results; name the authors' repository"
    ):
        read_results(tmp_path)
    with pytest.raises(DataError, match="absent: there is no such folder"):
        read_results(tmp_path / "absent")


@pytest.mark.real
@pytest.mark.notebook
@pytest.mark.parametrize(
    ("name", "layout", "words"),
    [
        (
            "xmi_4_results",
            "results",
            [
                "BLEU of 2 directions with output files, 2000 sentences each: all as printed",
                "38 directions have no output files here",
            ],
        ),
        ("xmi_4_correlations", "", ["2 directions recomputed, 38 without output files"]),
    ],
)
def test_the_notebooks_take_each_layout_and_say_what_is_checked(
    files, name, layout, words, tmp_path, capsys
):
    _, checkout = files
    call = ["run", name, "--data", str(checkout / layout), "--out", str(tmp_path)]
    assert cli.main(call) == 0, capsys.readouterr().out
    page = (tmp_path / f"{name}.html").read_text("utf-8")
    assert [said for said in words if said not in page] == []
