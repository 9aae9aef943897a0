"""The surface metrics against sacreBLEU, bit by bit."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.accuracy import bleu, surface
from anhelpers.accuracy.surface import METRICS, surface_metric
from anhelpers.errors import DataError, MissingExtra, UnknownName
from tests.conftest import ORACLES

PIECES = [
    *"ab.,-–'\"!?&;:()/ \t\n\r\x0b\x1c\x85\xa0\u3000\u200b0ß漢字é😀\ue000\ud800",
    *("das", "Haus", " ", " ", "<skipped>", "-\n", "&quot;", "&amp;", "&amp;lt;", "&lt;", "&gt;"),
    *("1,000.5", "3-4", "...", "U.S.", ". ,", "(hi)"),
]
ODD_TEXT = st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.text(max_size=10)


@st.composite
def tasks(draw):
    """Hypotheses, reference streams, and the segment of each hypothesis: ragged, unordered, some segments unused."""
    n, n_refs = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    refs = [draw(st.lists(ODD_TEXT, min_size=n, max_size=n)) for _ in range(n_refs)]
    hyps = draw(st.lists(ODD_TEXT | st.sampled_from(refs[0]), min_size=1, max_size=8))
    return hyps, refs, [draw(st.integers(0, n - 1)) for _ in hyps]


@pytest.fixture(autouse=True, params=[True, False], ids=["compiled", "plain"], scope="module")
def compiling(request):
    """Few texts are counted without numba where nothing else has loaded it: both ways have the same scores."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (surface, bleu):
            patch.setattr(module, "is_compiling", lambda: request.param)
        yield


@pytest.mark.verifies("chrF", "chrF++", "BLEU", "TER", by="foreign", of="sacreBLEU, bit for bit")
@pytest.mark.parametrize("name", METRICS)
@given(task=tasks())
def test_segment_scores_are_sacrebleus(name, task):
    hyps, refs, segment = task
    ours = surface_metric(name, "de", len(refs)).score_segments(
        hyps, refs=refs, segment=np.array(segment)
    )
    oracle = ORACLES[name][0]
    theirs = [
        oracle.sentence_score(h, [r[s] for r in refs]).score
        for h, s in zip(hyps, segment, strict=True)
    ]
    assert ours.tolist() == theirs


@pytest.mark.verifies("chrF", "chrF++", "BLEU", "TER", by="foreign", of="sacreBLEU, bit for bit")
@pytest.mark.parametrize("name", METRICS)
@given(task=tasks())
def test_corpus_scores_are_sacrebleus(name, task):
    hyps, refs, _ = task
    n = min(len(hyps), len(refs[0]))
    hyps, refs = hyps[:n], [stream[:n] for stream in refs]
    ours = surface_metric(name, "de", len(refs)).score_corpus(hyps, refs=refs)
    assert ours == ORACLES[name][1].corpus_score(hyps, refs).score


@pytest.mark.parametrize("lang", ["zh", "zh-CN", "zh_TW", "zho_Hans", "yue", "cmn"])
def test_chinese_has_its_own_tokenizer(lang):
    metric = surface_metric("bleu", lang)
    hyps, refs = ["他喜欢 Tee, 我也是。", "好"], ["他也喜欢 Tee, 我也是。", "你好"]
    oracle = sacrebleu.BLEU(tokenize="zh", effective_order=True)
    assert metric.score_segments(hyps, refs=[refs]).tolist() == [
        oracle.sentence_score(h, [r]).score for h, r in zip(hyps, refs, strict=True)
    ]
    assert "tok:zh" in metric.signature


@pytest.mark.parametrize(
    ("code", "lang"), [("ja", "ja"), ("ko", "ko"), ("jpn_Jpan", "ja"), ("kor", "ko")]
)
def test_a_missing_tokenizer_says_how_to_install_it(code, lang, monkeypatch):
    module = __import__(f"sacrebleu.tokenizers.tokenizer_{lang}_mecab", fromlist=["MeCab"])
    monkeypatch.setattr(module, "MeCab", None)
    with pytest.raises(MissingExtra, match=rf"sacrebleu\[{lang}\]"):
        surface_metric("bleu", code)


def test_signatures_are_sacrebleus():
    metric = surface_metric("bleu", "de", n_refs=2)
    version = sacrebleu.__version__
    assert (
        metric.signature == f"BLEU|nrefs:2|case:mixed|eff:yes|tok:13a|smooth:exp|version:{version}"
    )
    assert (
        metric.corpus_signature
        == f"BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:{version}"
    )
    metric = surface_metric("chrf", "de")
    assert (
        metric.signature == f"chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:{version}"
    )
    assert metric.corpus_signature is None
    assert surface_metric("ter", "de").signature.startswith("TER|nrefs:1|case:lc|tok:tercom|")


def test_direction_and_blank_hypotheses():
    for name in METRICS:
        metric = surface_metric(name, "de")
        blank, same = metric.oriented(
            metric.score_segments(["", "Das ist gut."], refs=[["Das ist gut."] * 2])
        )
        assert blank < same
        assert metric.score_segments([], refs=[[]]).tolist() == []


@pytest.mark.verifies("chrF", "chrF++", "BLEU", "TER", by="property")
def test_any_sum_of_statistics_can_be_scored_at_once():
    hyps, refs = ["a b c d", "x", "a c b d e"], ["a b c e", "x y", "a c b d e"]
    draws = np.array([[0, 1, 2], [2, 2, 1]])
    for name in METRICS:
        metric = surface_metric(name, "de")
        stats = metric.count(hyps, [refs])
        sums = stats[draws].sum(axis=1)
        expected = [
            ORACLES[name][1].corpus_score([hyps[i] for i in draw], [[refs[i] for i in draw]]).score
            for draw in draws
        ]
        assert metric.score_count(sums).tolist() == expected


@pytest.mark.parametrize(
    "refs", [None, "a", ["a"], [], [["a"], ["b"]], [["a", "b"]], [[7]], [[None], ["a", "b"]]]
)
def test_bad_references(refs):
    for score in (surface_metric("chrf").score_segments, surface_metric("chrf").score_corpus):
        with pytest.raises(DataError):
            score(["a"], refs=refs)


@pytest.mark.parametrize(
    ("hyps", "segment"), [(["a", float("nan")], None), (["a"], None), (["a"], [2]), (["a"], [0, 1])]
)
def test_bad_hypotheses(hyps, segment):
    with pytest.raises(DataError):
        surface_metric("chrf").score_segments(hyps, refs=[["a", "b"]], segment=segment)


def test_bad_options_and_empty_corpora():
    with pytest.raises(UnknownName, match="did you mean 'chrf'"):
        surface_metric("chr", "de")
    for n_refs in (0, "many"):
        with pytest.raises(DataError, match="n_refs"):
            surface_metric("chrf", "de", n_refs=n_refs)
    with pytest.raises(DataError):
        surface_metric("bleu", "und")
    for hyps, refs in ([], [[]]), (["a"], [[None]]):
        with pytest.raises(DataError, match="corpus"):
            surface_metric("chrf", "de").score_corpus(hyps, refs=refs)


# ---- real data


@pytest.fixture(scope="module")
def data() -> Path:
    if "ANHELPERS_DATA" not in os.environ:
        pytest.skip("set ANHELPERS_DATA to the folder of the shared data sets to run this test.")
    return Path(os.environ["ANHELPERS_DATA"])


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


@pytest.mark.verifies("chrF", "BLEU", by="foreign", of="WMT23's published scores")
@pytest.mark.real
@pytest.mark.parametrize(("name", "column"), [("bleu", "bleu-refA"), ("chrf", "chrf-refA")])
def test_official_scores_of_wmt23(data, name, column):
    texts = data / "wmt23" / "txt"
    refs = [lines(texts / "references" / "generaltest2023.en-de.ref.refA.de")]
    with (data / "wmt23" / "automatic-scores.tsv").open(encoding="utf-8", newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t")
            if (row["pair"], row["metric"]) == ("en-de", column)
        ]
    assert len(rows) == 12
    metric = surface_metric(name, "de")
    for row in rows:
        hyps = lines(texts / "system-outputs" / f"generaltest2023.en-de.hyp.{row['system']}.de")
        assert metric.score_corpus(hyps, refs=refs) == pytest.approx(float(row["score"]), abs=5e-5)


@pytest.mark.verifies("chrF", "BLEU", by="hand")
def test_statistics_by_hand():
    # "abab" and "abc": a, b twice in the hypothesis, once in the reference; ab twice and once; aba, bab never.
    found = surface_metric("chrf").count(["ab ab"], [["abc"]])[0, :9]
    assert found.tolist() == [4, 3, 2, 3, 2, 1, 2, 1, 0]
    found = surface_metric("bleu").count(["a a b"], [["a b"]])[0]
    assert found.tolist() == [3, 2, 2, 1, 0, 0, 3, 2, 1, 0]


@pytest.mark.verifies("chrF", "chrF++", "BLEU", "TER", by="hand")
@pytest.mark.parametrize(
    ("name", "hyp", "ref", "segment", "corpus"),
    [
        # letters 2 of 3, pairs 1 of 2, triples 0 of 1: their mean, the same for precision and recall
        ("chrf", "abc", "abd", 100 * (2 / 3 + 1 / 2) / 3, 100 * (2 / 3 + 1 / 2) / 3),
        # ab and ac: letters 1 of 2, pairs 0 of 1; words 1 of 2, pairs of words 0 of 1
        ("chrf++", "a b", "a c", 25, 25),
        # β = 2: letters precision 1, recall 1/2, so F = 5 · 1/2 / (4 + 1/2); no pair in either: one order
        ("chrf", "a", "ab", 100 * 2.5 / 4.5, 100 * 2.5 / 4.5),
        # all n-grams match, one word of five is missing: the brevity penalty e^(1 − 5/4) alone
        ("bleu", "a b c d", "a b c d e", 100 * np.exp(-1 / 4), 100 * np.exp(-1 / 4)),
        # a segment of two words has two orders; a corpus without a 4-gram has BLEU 0
        ("bleu", "a b", "a b c", 100 * np.exp(-1 / 2), 0),
        # one substitution and one insertion, four words in the reference
        ("ter", "a b c", "a b d e", 50, 50),
        # one shift of a block of two words
        ("ter", "c d a b", "a b c d", 25, 25),
    ],
)
def test_scores_by_hand(name, hyp, ref, segment, corpus):
    metric = surface_metric(name, "de")
    assert metric.score_segments([hyp], refs=[[ref]])[0] == pytest.approx(segment, rel=1e-12)
    assert metric.score_corpus([hyp], refs=[[ref]]) == pytest.approx(corpus, rel=1e-12)
