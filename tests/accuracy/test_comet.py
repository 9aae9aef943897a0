"""COMET against comet's own predict, on tiny random checkpoints of every class."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("comet", reason="pip install -c constraints.txt -e '.[neural]'")

from anhelpers.accuracy import comet as scoring
from anhelpers.accuracy.comet import _comet_metric, _comet_scores, _load_comet
from anhelpers.candidates import mbr_utility
from anhelpers.data import CandidateSet, TestSet
from anhelpers.errors import DataError
from anhelpers.scoring import system_rows

# float32 in batches of other shapes, on scores up to 1: comet's own batches of 1 and of 16 differ by 5e-7.
ROUNDING = 1e-6

WORDS = (
    "Das Haus|ist alt|bellt|nicht,|The dog|old|ja| |</s>|漢字|ß|😀|\t|xyzxyzxyzxyzxyzxyzxyzxyzxyz"
)
WORDS = WORDS.split("|")
TEXT = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)
CLASSES = [
    ("regression_metric", {}, True),
    ("regression_metric", {"pool": "max", "layer": 1}, True),
    ("referenceless_regression_metric", {}, True),
    ("unified_metric", {}, True),
    ("unified_metric", {}, False),
    ("unified_metric", {"input_segments": ["mt", "src"]}, True),
    ("unified_metric", {"input_segments": ["mt", "ref"]}, True),
    (
        "unified_metric",
        {"word_level_training": True, "word_layer": 1, "error_labels": ["minor", "major"]},
        True,
    ),
    ("xcomet_metric", {}, True),
    ("xcomet_metric", {}, False),
]


def samples(comet, rows):
    """What comet's predict takes."""
    return [
        {"mt" if k == "hyp" else k: text for k, text in zip(comet.reads, row, strict=True)}
        for row in rows
    ]


@pytest.mark.verifies("COMET", by="foreign", of="unbabel-comet")
@pytest.mark.parametrize(("kind", "own", "reference"), CLASSES)
def test_scores_are_comets(tiny_comet, kind, own, reference):
    tiny = tiny_comet(kind, **own)
    comet = _load_comet(tiny.folder, reference=reference, device="cpu")

    @given(
        st.lists(st.tuples(*[TEXT] * len(comet.reads)), min_size=1, max_size=9),
        st.sampled_from([1, 2, 16]),
    )
    @settings(max_examples=4)
    def check(rows, batch_size):
        ours = _comet_scores(comet, rows)[:, 0]
        np.testing.assert_allclose(
            ours, tiny.predict(samples(comet, rows), batch_size).scores, rtol=0, atol=ROUNDING
        )

    check()


@pytest.mark.verifies("COMET", by="property")
@pytest.mark.parametrize(("kind", "own", "reference"), CLASSES)
def test_scores_tell_texts_apart_and_no_batch_matters(tiny_comet, kind, own, reference):
    comet = _load_comet(tiny_comet(kind, **own).folder, reference=reference, device="cpu")
    rows = [
        tuple(f"{w} alt {v}"[: 3 * i] for i, v in enumerate(WORDS[: len(comet.reads)], 1))
        for w in WORDS
    ] * 2
    scores = _comet_scores(comet, rows)
    assert np.unique(scores[:, 0].round(5)).size > 4
    for budget in (1, 64, 10_000):
        np.testing.assert_allclose(
            _comet_scores(comet, rows, budget), scores, rtol=0, atol=ROUNDING
        )


@pytest.mark.parametrize("kind", ["regression_metric", "referenceless_regression_metric"])
def test_each_distinct_text_is_encoded_once(tiny_comet, kind, monkeypatch):
    comet = _load_comet(tiny_comet(kind).folder, device="cpu")
    seen, embed = [], comet.model.get_sentence_embedding
    monkeypatch.setattr(
        comet.model,
        "get_sentence_embedding",
        lambda ids, mask: seen.extend(ids) or embed(ids, mask),
    )
    rows = [("Yes.", f"Ja {i % 5}", "Ja.")[: len(comet.reads)] for i in range(20)]
    _comet_scores(comet, rows)
    assert len(seen) == len({text for row in rows for text in row}) == len(comet.reads) + 4


def test_many_hypotheses_per_source_and_several_references(tiny_comet):
    tiny = tiny_comet("regression_metric")
    srcs, refs = ["Yes.", "The dog"], [["Ja.", "Der Hund"], ["Doch.", "Hund"]]
    hyps, segment = ["Ja.", "", "Hund", "Das Haus", "Hund"], np.array([1, 0, 1, 0, 1])
    ours = _comet_metric(tiny.folder, 2, device="cpu").score_segments(
        hyps, refs=refs, srcs=srcs, segment=segment
    )
    rows = [
        {"src": srcs[i], "mt": h, "ref": r[i]}
        for r in refs
        for h, i in zip(hyps, segment, strict=True)
    ]
    np.testing.assert_allclose(
        ours, np.reshape(tiny.predict(rows).scores, (2, 5)).mean(0), rtol=0, atol=ROUNDING
    )
    assert ours[2] == ours[4]


@pytest.mark.verifies("COMET", by="foreign", of="unbabel-comet")
def test_a_systems_score_is_comets_system_score(tiny_comet):
    tiny = tiny_comet("regression_metric")
    test = TestSet(
        "t", "en-de", ("Yes.", "The dog"), {"A": ("Ja.", "Der Hund")}, {"S": ("Ja.", "Das Haus")}
    )
    rows = system_rows(test, [_comet_metric(tiny.folder, device="cpu")])
    texts = zip(test.srcs, test.systems["S"], test.refs["A"], strict=True)
    wanted = tiny.predict([{"src": s, "mt": h, "ref": r} for s, h, r in texts])
    assert rows.value[0] == pytest.approx(wanted.system_score, rel=0, abs=ROUNDING)
    assert rows[["system", "metric", "level", "unit", "n"]].values.tolist() == [
        [
            "S",
            "comet:regression_metric",
            "segment-mean",
            "points, about 0 to 1 (higher is better)",
            2,
        ]
    ]


def test_the_signature_says_all_that_decides_a_score(tiny_comet):
    metric = _comet_metric(tiny_comet("unified_metric").folder, 2, device="cpu")
    head, *parts = metric.signature.split("|")
    values = dict(part.split(":", 1) for part in parts)
    assert head == "comet"
    assert " ".join(values) == (
        "model rev class reads enc dtype max version transformers nrefs refs"
    )
    assert (values["class"], values["reads"], values["dtype"]) == (
        "unified_metric",
        "src+hyp+ref",
        "float32",
    )
    assert (values["max"], values["nrefs"], values["refs"]) == ("62", "2", "mean")
    assert len(values["rev"]) == 12
    assert values["enc"].startswith("encoder@")
    quality = _comet_metric(tiny_comet("unified_metric").folder, 2, reference=False, device="cpu")
    assert (quality.needs, quality.name) == (("srcs",), "comet-qe:unified_metric")
    assert "nrefs" not in quality.signature
    assert "reads:src+hyp|" in quality.signature


@pytest.mark.parametrize(
    ("kind", "reference"),
    [("regression_metric", True), ("xcomet_metric", True), ("xcomet_metric", False)],
)
def test_inputs_are_counted_where_comet_cuts_them(tiny_comet, kind, reference):
    comet = _load_comet(tiny_comet(kind).folder, reference=reference, device="cpu")
    tokenizer = comet.model.encoder.tokenizer
    words = (
        piece[1:]
        for piece in sorted(tokenizer.get_vocab())
        if piece.startswith("▁") and len(piece) > 1
    )
    word = next(w for w in words if len(tokenizer.tokenize(" ".join([w] * 9))) == 9)
    n = len(comet.reads)
    # beside others of 10: 64 positions; <s>, two </s> between texts, and </s>
    most = 64 - 2 * n - 10 * (n - 1)
    sizes = [
        (60, 1, 1),
        (61, 1, 1),
        (1, 60, 1),
        (1, 61, 1),
        (1, 1, 61),
        (most, 10, 10),
        (most + 1, 10, 10),
    ]
    sizes += [(10, 10, most), (10, most, 10), (10, most + 1, 10)]
    rows = [tuple(" ".join([word] * k) for k in size[:n]) for size in sizes]
    out = _comet_scores(comet, rows)[:, 1].astype(bool).tolist()
    alone = [any(len(tokenizer(text)["input_ids"]) > 62 for text in row) for row in rows]
    if comet.separate:
        assert out == alone
    else:
        whole = [
            comet.model.prepare_sample([one], stage="predict")[-1]["input_ids"][0]
            for one in samples(comet, rows)
        ]
        assert out == [
            a or ids[-1] != tokenizer.eos_token_id for a, ids in zip(alone, whole, strict=True)
        ]
    assert {True, False} == set(out)


def test_blank_hypotheses_and_cut_inputs_are_told(tiny_comet, capsys):
    metric = _comet_metric(tiny_comet("regression_metric").folder, device="cpu")
    scores = metric.score_segments(["", "ja " * 99, "ja"], refs=[["Ja."] * 3], srcs=["Yes."] * 3)
    assert np.isfinite(scores).all()
    notes = capsys.readouterr().err.splitlines()
    assert len(notes) == 2
    assert "cut 1 of 3 inputs that are longer than 62 tokens a text" in notes[0]
    assert "1 blank" in notes[1]


def test_scores_come_from_the_store_with_the_same_bits_and_notes(
    tiny_comet, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("ANHELPERS_STORE", str(tmp_path / "s.sqlite"))
    metric = _comet_metric(tiny_comet("regression_metric").folder, device="cpu")
    texts = {"refs": [["Ja.", "Hund"]], "srcs": ["Yes.", "Dog"]}
    first = metric.score_segments(["ja " * 99, "Der Hund"], **texts)
    notes = [line for line in capsys.readouterr().err.splitlines() if "cut" in line]
    asked = []
    none = lambda comet, rows, budget: asked.extend(rows) or np.zeros((len(rows), 2))  # noqa: E731
    monkeypatch.setattr(scoring, "_by_text", none)
    again = metric.score_segments(["ja " * 99, "Der Hund"], **texts)
    assert again.tobytes() == first.tobytes()
    assert asked == []
    assert notes[0] in capsys.readouterr().err
    metric.score_segments(["neu", "Der Hund"], **texts)
    assert asked == [("Yes.", "neu", "Ja.")]
    two = _comet_metric(tiny_comet("regression_metric").folder, 2, device="cpu")
    two.score_segments(
        ["neu", "Der Hund"], refs=[["Ja.", "Hund"], ["Doch.", "Hund"]], srcs=["Yes.", "Dog"]
    )
    assert asked[1:] == [("Yes.", "neu", "Doch.")]  # what one reference gave is known


def test_it_serves_mbr(tiny_comet):
    tiny = tiny_comet("regression_metric")
    cands = CandidateSet(np.zeros(3, int), ("Ja.", "Doch.", "Hund"))
    ours = mbr_utility(_comet_metric(tiny.folder, device="cpu"), cands, ["Yes."])
    pairs = [(h, r) for h in cands.texts for r in cands.texts if h != r]
    theirs = tiny.predict([{"src": "Yes.", "mt": h, "ref": r} for h, r in pairs]).scores
    np.testing.assert_allclose(ours, np.reshape(theirs, (3, 2)).mean(1), rtol=0, atol=ROUNDING)


BAD_TEXTS = {
    "no sources": {"srcs": None},
    "blank sources": {"srcs": ["", " "]},
    "two streams": {"refs": [["a", "b"], ["a", "b"]]},
    "no references": {"refs": None},
    "flat references": {"refs": ["a", "b"]},
    "fewer sources": {"srcs": ["a"]},
    "no text": {"hyps": ["a", None]},
    "outside": {"segment": [1, 2]},
}


@pytest.mark.parametrize("case", BAD_TEXTS)
def test_bad_texts(tiny_comet, case):
    metric = _comet_metric(tiny_comet("regression_metric").folder, device="cpu")
    texts = {"hyps": ["a", "b"], "refs": [["a", "b"]], "srcs": ["a", "b"]}
    assert np.isfinite(metric.score_segments(**texts)).all()
    with pytest.raises(DataError):
        metric.score_segments(**texts | BAD_TEXTS[case])


def test_no_text_and_no_reference(tiny_comet):
    folder = tiny_comet("regression_metric").folder
    metric = _comet_metric(folder, device="cpu")
    assert metric.score_segments([], refs=[[]], srcs=[]).shape == (0,)
    with pytest.raises(DataError, match="n_refs"):
        _comet_metric(folder, 0, device="cpu")
