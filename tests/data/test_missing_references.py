"""Missing references: they count for nothing, as in sacreBLEU."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.accuracy.surface import METRICS, surface_metric
from anhelpers.data import TestSet, read_plain
from anhelpers.errors import DataError
from anhelpers.plane import with_human_points
from anhelpers.scoring import system_rows
from tests.conftest import ORACLES

TEXT = st.sampled_from(
    [
        "",
        " ",
        "Das Haus ist alt.",
        "Das alte Haus",
        "Haus",
        "Es regnet, 3-4 Tage (lang)!",
        "漢字 das",
    ]
)


@st.composite
def tasks(draw):
    """Hypotheses with one to three streams of references, each missing in places: no segment is without any."""
    n, n_refs = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    rows = st.lists(st.none() | TEXT, min_size=n_refs, max_size=n_refs).filter(any_there)
    refs = draw(st.lists(rows, min_size=n, max_size=n))
    return draw(st.lists(TEXT, min_size=n, max_size=n)), [
        list(stream) for stream in zip(*refs, strict=True)
    ]


def any_there(refs):
    return any(ref is not None for ref in refs)


@pytest.mark.parametrize("name", METRICS)
@given(task=tasks())
def test_missing_references_count_as_in_sacrebleu(name, task):
    hyps, refs = task
    metric, (of_segment, of_corpus) = surface_metric(name, "de", "var"), ORACLES[name]
    theirs = [
        of_segment.sentence_score(h, list(r)).score for h, *r in zip(hyps, *refs, strict=True)
    ]
    assert metric.score_segments(hyps, refs=refs).tolist() == theirs
    assert metric.score_corpus(hyps, refs=refs) == of_corpus.corpus_score(hyps, refs).score
    backwards = metric.score_segments(hyps[::-1], refs=refs, segment=np.arange(len(hyps))[::-1])
    assert backwards.tolist() == theirs[::-1]


@pytest.mark.parametrize("name", METRICS)
def test_a_segment_without_any_reference_has_no_score_and_no_part_in_a_corpus(name):
    hyps = ["Das Haus", "Es regnet.", "Nein"]
    refs = [["Das alte Haus", None, None], ["Ein Haus", None, "Nein, nein"]]
    metric, kept = surface_metric(name, "de", "var"), [[stream[0], stream[2]] for stream in refs]
    scores = metric.score_segments(hyps, refs=refs)
    assert np.isnan(scores).tolist() == [False, True, False]
    assert (
        metric.score_corpus(hyps, refs=refs) == ORACLES[name][1].corpus_score(hyps[::2], kept).score
    )
    assert not surface_metric(name, "de", "var").count(hyps, refs)[1].any()
    with pytest.raises(DataError):
        metric.score_corpus(["a"], refs=[[None]])


def test_half_a_file_of_references_is_half_a_test_set(tmp_path):
    refs = [f"Das ist der Satz Nummer {i} von zwölf alten Sätzen." for i in range(12)]
    hyps = [f"Das ist Satz {i} von zwölf Sätzen, die alt sind." for i in range(12)]
    half = ["" if i % 2 else ref for i, ref in enumerate(refs)]
    for name, lines in (("s", hyps), ("r", half), ("r2", [" "] * 12), ("h", hyps)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", "utf-8")
    files = [tmp_path / "s", [tmp_path / "r", tmp_path / "r2"], tmp_path / "h"]
    test = read_plain(*files, "en-de")
    assert test.n_refs == 1
    metrics = [surface_metric(name, "de", 1) for name in METRICS]
    for row in system_rows(test, metrics).itertuples():
        assert row.value == ORACLES[row.metric][1].corpus_score(hyps[::2], [refs[::2]]).score
        assert row.n == 6


def test_references_are_compared_with_or_are_human_points():
    refs = {"A": list("abcd"), "B": list("efgh"), "C": ["x", "", "y", "z"]}
    systems = {"X": list("pqrs"), "A": list("abcd"), "copy": [" e", "f", "g", "h"]}
    test = TestSet("t", "en-de", list("1234"), refs, systems)
    points = with_human_points(test)
    assert (list(points.refs), list(points.systems)) == (["A"], ["X", "B"])  # C lacks a text
    assert points.categories == {"X": "unknown", "B": "human"}
    assert list(with_human_points(test, ["all"]).systems) == ["X"]
