"""MBR utilities against their definition with sacreBLEU."""

from dataclasses import replace

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.accuracy.surface import surface_metric
from anhelpers.candidates import mbr_utility
from anhelpers.data import CandidateSet
from anhelpers.errors import DataError

words = st.lists(
    st.sampled_from(["das", "Haus", "ist", "alt", "klein"]), min_size=1, max_size=5
).map(" ".join)
sets = st.lists(st.lists(words, min_size=2, max_size=5), min_size=1, max_size=4)


def candidates(texts):
    return CandidateSet(
        np.repeat(np.arange(len(texts)), [len(t) for t in texts]),
        tuple(t for s in texts for t in s),
    )


def by_definition(score, texts):
    return [
        np.mean([score(hyp, [ref]).score for j, ref in enumerate(own) if j != i])
        for own in texts
        for i, hyp in enumerate(own)
    ]


@pytest.mark.verifies("Minimum Bayes risk utility", by="foreign", of="sacreBLEU")
@given(sets)
def test_it_is_the_mean_over_the_other_candidates(texts):
    for name, oracle, sign in (("chrf", sacrebleu.CHRF(), 1), ("ter", sacrebleu.TER(), -1)):
        wanted = np.array(by_definition(oracle.sentence_score, texts)) * sign
        np.testing.assert_allclose(
            mbr_utility(surface_metric(name, "de"), candidates(texts)), wanted, atol=1e-9
        )


@pytest.mark.verifies("Minimum Bayes risk utility", by="property")
def test_a_source_by_itself_has_the_same_utilities():
    rng = np.random.default_rng(0)
    vocabulary = np.array(["das", "Haus", "ist", "alt", "klein"])
    texts = [
        [" ".join(rng.choice(vocabulary, 4)) for _ in range(rng.integers(2, 7))] for _ in range(30)
    ]
    metric = surface_metric("chrf", "de")
    alone = [mbr_utility(metric, candidates([own])) for own in texts]
    assert (mbr_utility(metric, candidates(texts)) == np.concatenate(alone)).all()


@pytest.mark.verifies("Minimum Bayes risk utility", by="hand")
def test_equal_texts_count_as_often_as_they_occur_and_are_scored_once():
    metric, calls = surface_metric("chrf", "de"), []

    def score(hyps, **given_):
        calls.append(len(hyps))
        return metric.score_segments(hyps, **given_)

    utility = mbr_utility(
        replace(metric, score_segments=score), candidates([["abc", "xyz", "abc", "abc"]])
    )
    np.testing.assert_allclose(utility, [200 / 3, 0, 200 / 3, 200 / 3])
    assert calls == [4]  # two distinct texts with each other


def test_a_metric_that_reads_sources_gets_those_of_each_pseudo_reference():
    def score(hyps, refs, srcs, segment):
        return np.array(
            [
                float(srcs[i] + refs[0][i] + hyp == "s1bc")
                for hyp, i in zip(hyps, segment, strict=True)
            ]
        )

    metric = replace(surface_metric("chrf"), needs=("refs", "srcs"), score_segments=score)
    utility = mbr_utility(metric, candidates([["b", "c"], ["a", "b", "c"]]), ["s0", "s1"])
    assert utility.tolist() == [0, 0, 0, 0, 0.5]
    for srcs in (None, ["s0"]):
        with pytest.raises(DataError):
            mbr_utility(metric, candidates([["b", "c"], ["b", "c"]]), srcs)


def test_what_has_no_utility_is_refused():
    metric = surface_metric("chrf")
    for of, texts in (
        (metric, [["a", "b"], ["a"]]),
        (replace(metric, needs=("srcs",)), [["a", "b"]]),
        (replace(metric, score_segments=None), [["a", "b"]]),
    ):
        with pytest.raises(DataError):
            mbr_utility(of, candidates(texts))
