"""Toy language pairs against the enumeration of all their sentences, and models whose errors are known."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from anhelpers.divergences import pmf
from anhelpers.errors import DataError, UnknownName
from anhelpers.xmi import characters, mean_over_trainings
from anhelpers.xmi.toy import PAIRS, ToyPair, model_gap, toy_candidates, toy_pair

SMALL = {"n_words": 2, "lengths": [0.2, 0.5, 0.3], "skew": 1.5}
QUANTITIES = ("h_src", "h_trg", "h_joint", "h_trg_given_src", "h_src_given_trg", "mi")


def rng():
    return np.random.default_rng(5)


def sentences(words, pair):
    return [" ".join(s) for k in range(1, len(pair.lengths) + 1) for s in product(words, repeat=k)]


def enumerated(pair):
    """(all sources, all targets) P(s, t), by the story of the class docstring, without any logarithm."""
    srcs, trgs = sentences(pair.sources, pair), sentences(pair.targets, pair)
    table = np.zeros((len(srcs), len(trgs)))
    for g, weight in enumerate(pair.weights):
        for (i, s), (j, t) in product(enumerate(srcs), enumerate(trgs)):
            a, b = (
                [w.index(x) for x in text.split()]
                for w, text in ((pair.sources, s), (pair.targets, t))
            )
            if len(a) == len(b):
                words = math.prod(pair.joint[g][m, n] for m, n in zip(a, b, strict=True))
                table[i, j] += weight * pair.lengths[len(a) - 1] * words
    if not pair.related:
        table = np.outer(table.sum(1), table.sum(0))
    return srcs, trgs, table


def bits(table):
    there = table[table > 0]
    return float(-(there * np.log2(there)).sum())


def by_enumeration(pair):
    _, _, table = enumerated(pair)
    s, t, both = bits(table.sum(1)), bits(table.sum(0)), bits(table)
    return dict(zip(QUANTITIES, (s, t, both, both - s, both - t, s + t - both), strict=True))


def mixed(random, relation):
    """Two or three classes over two or three words a side, which the closed form covers."""
    p, q = random.dirichlet(np.ones(4), 2).reshape(2, 2, 2)
    empty = np.zeros((2, 2))
    joint = {
        "one class": p[None],
        "equal": np.stack([p, p]),
        "disjoint on both sides": np.stack(
            [np.kron(np.diag([1, 0]), p), np.kron(np.diag([0, 1]), q)]
        ),
        "disjoint sources, equal targets": np.stack(
            [np.vstack([p, empty]), np.vstack([empty, p[::-1]])]
        ),
        "two equal, one apart": np.stack(
            [np.vstack([p, empty]), np.vstack([p, empty]), np.vstack([empty, p])]
        ),
    }[relation]
    weights, lengths = random.dirichlet(np.ones(len(joint))), random.dirichlet(np.ones(2))
    names = [
        tuple(side + "abcd"[k] for k in range(n))
        for side, n in zip("st", joint.shape[1:], strict=True)
    ]
    return ToyPair(relation, *names, joint, weights, lengths, bool(random.integers(4)))


@pytest.mark.verifies("Mutual information of a toy pair", by="property")
@pytest.mark.parametrize(
    "relation",
    [
        "one class",
        "equal",
        "disjoint on both sides",
        "disjoint sources, equal targets",
        "two equal, one apart",
    ],
)
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32 - 1))
def test_random_joints_agree_with_their_enumeration_and_mi_is_symmetric(relation, seed):
    pair = mixed(np.random.default_rng(seed), relation)
    assert {q: getattr(pair, q) for q in QUANTITIES} == pytest.approx(
        by_enumeration(pair), abs=1e-12
    )
    back = pair.reversed()
    assert back.mi == pytest.approx(pair.mi, abs=1e-12)
    assert (back.h_trg, back.h_trg_given_src) == pytest.approx(
        (pair.h_src, pair.h_src_given_trg), abs=1e-12
    )
    assert -1e-12 <= pair.mi <= min(pair.h_src, pair.h_trg) + 1e-12


@pytest.mark.parametrize("name", PAIRS)
def test_the_log_probabilities_are_those_of_the_enumeration(name):
    pair = toy_pair(name, **SMALL)
    srcs, trgs, table = enumerated(pair)
    p_trg = np.exp(pair.logprob_trg(trgs))
    np.testing.assert_allclose(p_trg, table.sum(0), atol=1e-15)
    assert p_trg.sum() == pytest.approx(1, abs=1e-12)
    said = np.flatnonzero(table.sum(1) > 0)
    given_src = [np.exp(pair.logprob_trg_given_src([srcs[i]] * len(trgs), trgs)) for i in said]
    np.testing.assert_allclose(
        given_src, table[said] / table[said].sum(1, keepdims=True), atol=1e-14
    )
    np.testing.assert_allclose(np.sum(given_src, axis=1), 1, atol=1e-12)


@pytest.mark.verifies("Mutual information of a toy pair", by="hand")
def test_the_four_kinds_by_hand():
    alone = {"n_words": 4, "skew": 0, "lengths": [1]}
    assert {
        q: getattr(toy_pair("cipher", **alone), q) for q in ("h_trg", "mi", "h_trg_given_src")
    } == pytest.approx({"h_trg": 2, "mi": 2, "h_trg_given_src": 0})
    # ¼ goes to one of three others: H(T|S) = h(¼) + ¼ log2 3
    noisy = toy_pair("noisy", noise=0.25, **alone)
    channel = -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25 / 3))
    assert noisy.h_trg_given_src == pytest.approx(channel)
    assert noisy.mi == pytest.approx(2 - channel)
    gender = toy_pair("gender", **alone)
    assert (gender.h_src, gender.h_trg, gender.mi) == pytest.approx((3, 2, 2))
    assert (gender.h_src_given_trg, gender.reversed().h_trg_given_src) == pytest.approx((1, 1))
    assert toy_pair("unrelated", **alone).mi == 0


@pytest.mark.parametrize("name", PAIRS)
def test_samples_have_the_frequencies_of_the_enumeration(name):
    pair, n = toy_pair(name, **SMALL), 40_000
    srcs, trgs, table = enumerated(pair)
    place = {s: i for i, s in enumerate(srcs)}, {t: i for i, t in enumerate(trgs)}
    counts = np.zeros(table.shape)
    for s, t in zip(*pair.sample(n, rng()), strict=True):
        counts[place[0][s], place[1][t]] += 1
    assert (counts[table == 0] == 0).all()
    there = table > 0
    chi2 = ((counts - n * table)[there] ** 2 / (n * table[there])).sum()
    df = there.sum() - 1
    assert abs(chi2 - df) < 4 * math.sqrt(2 * df)


def test_what_is_never_said_has_probability_0_and_is_no_source():
    pair = toy_pair("gender", n_words=2, lengths=[0.5, 0.5])
    (ro, dro, ra, _), (fa, _) = pair.sources, pair.targets
    assert pair.logprob_trg(["", f"{fa} {fa} {fa}"]).tolist() == [-math.inf] * 2
    assert (
        pair.logprob_trg_given_src([ro, f"{ro} {dro}"], [f"{fa} {fa}", fa]).tolist()
        == [-math.inf] * 2
    )
    with pytest.raises(DataError) as error:
        pair.logprob_trg_given_src([ro, f"{ro} {ra}"], [fa, f"{fa} {fa}"])
    assert (error.value.path, error.value.line) == ("sources", 2)


@pytest.mark.parametrize(
    "change",
    [
        {"joint": [[[1.0]]]},
        {"joint": [[[0.5, 0], [0, 0.6]]]},
        {"weights": [0.5, 0.4]},
        {"lengths": []},
        {"sources": ("a", "a")},
        {"targets": ("c", "d e")},
    ],
)
def test_a_bad_pair_is_refused(change):
    good = {
        "sources": ("a", "b"),
        "targets": ("c", "d"),
        "joint": [[[0.5, 0], [0, 0.5]]],
        "weights": [1],
        "lengths": [1],
    }
    with pytest.raises(DataError):
        ToyPair("bad", **(good | change))


def test_bad_names_numbers_and_words_are_refused():
    pair = toy_pair("cipher")
    for call in (
        lambda: pair.sample(0, rng()),
        lambda: toy_pair("cypher"),
        lambda: toy_pair("noisy", noise=1.5),
        lambda: toy_pair("cipher", vague=-0.5),
        lambda: characters("hello"),
        lambda: mean_over_trainings([1, 2], [1, -1]),
        lambda: toy_pair("cipher", n_words=1),
        lambda: pair.logprob_trg_given_src(["tavin"], ["owl", "owl"]),
        lambda: toy_candidates(pair, ["tavin"], ["owl", "owl"], rng()),
    ):
        with pytest.raises((DataError, UnknownName)):
            call()
    with pytest.raises(DataError) as error:
        pair.logprob_trg(["owl", "owl zz"])
    assert (error.value.path, error.value.line) == ("targets", 2)


def unigram_scores(pair, trgs, words, lengths):
    """ln q(t) of a model that draws words and lengths from other frequencies."""
    number = {w: i for i, w in enumerate(pair.targets)}
    return np.array(
        [
            np.log(lengths[len(t.split()) - 1]) + sum(np.log(words[number[w]]) for w in t.split())
            for t in trgs
        ]
    )


@pytest.mark.verifies("Gap between XMI and MI", by="property")
def test_the_gap_is_that_of_models_whose_errors_are_known():
    pair = toy_pair("noisy", n_words=3, lengths=[0, 0.5, 0.5])
    srcs, trgs = pair.sample(4000, rng())
    right = pair.joint[0].sum(0)
    wrong = 0.9 * right + 0.1 * right[::-1]
    scores = pair.logprob_trg_given_src(srcs, trgs), unigram_scores(pair, trgs, wrong, pair.lengths)
    found = model_gap(pair, srcs, trgs, scores, rng=rng())
    kl = 2.5 * pmf.kl(right, wrong) / math.log(2)  # per word, times the mean length
    for way in (found.lm, found.lm_kl, found.both, found.both_kl):
        assert way.low < kl < way.high
    assert found.mt_kl.value == 0 == found.mt_kl.se
    assert found.lm_kl.se < 0.3 * found.lm.se  # the models are near the truth


@pytest.mark.verifies("Gap between XMI and MI", by="property")
@given(st.integers(0, 2**32 - 1), st.sampled_from(list(PAIRS)))
def test_the_gap_is_the_difference_of_the_excesses_both_ways(seed, name):
    random = np.random.default_rng(seed)
    pair = toy_pair(name, n_words=3)
    srcs, trgs = pair.sample(20, random)
    scores = -random.gamma(5, 2, (2, 20))
    scores[0, 3] = np.nan
    found = model_gap(pair, srcs, trgs, tuple(scores), rng=rng(), n_draws=20)
    assert found.both.value == pytest.approx(found.lm.value - found.mt.value, abs=1e-9)
    assert found.both.value == pytest.approx(found.found.xmi.value - pair.mi, abs=1e-9)
    assert found.both_kl.value == pytest.approx(found.lm_kl.value - found.mt_kl.value, abs=1e-9)
    kept = np.arange(20) != 3
    true = (pair.logprob_trg_given_src(srcs, trgs) - pair.logprob_trg(trgs))[
        kept
    ].mean() / math.log(2)
    assert found.both_kl.value == pytest.approx(found.found.xmi.value - true, abs=1e-9)
    assert (found.both.n, found.found.left_out) == (19, 1)


@pytest.mark.verifies("Gap between XMI and MI", by="hand")
def test_the_rows_of_a_gap():
    pair = toy_pair("unrelated")
    srcs, trgs = pair.sample(200, rng())
    truth = pair.logprob_trg(trgs)
    table = model_gap(pair, srcs, trgs, (truth - 0.5, truth - 0.1), rng=rng()).rows()
    assert table.quantity.tolist() == ["H(T)", "H(T|S)", "MI"]
    np.testing.assert_allclose(table.excess, np.array([0.1, 0.5, -0.4]) / math.log(2), atol=1e-12)
    np.testing.assert_allclose(table.estimate - table.truth, table.excess_mean, atol=1e-12)
    assert table.estimate[2] < 0  # a negative XMI stays negative
    assert set(table.n) == {200}


@pytest.mark.verifies("Mutual information of a toy pair", by="hand")
def test_the_vague_pair_by_hand():
    # 4 precise words of 1/8, 2 general ones of 1/4
    pair = toy_pair("vague", n_words=4, skew=0, lengths=[1], vague=0.5)
    assert pair.targets == ("bird", "tree", "owl", "crow", "oak", "pine")
    assert (pair.h_src, pair.h_trg, pair.h_trg_given_src, pair.mi) == pytest.approx(
        (2, 2.5, 1, 1.5)
    )
    assert toy_pair("vague", vague=0).mi == pytest.approx(toy_pair("cipher").mi)
    assert toy_pair("vague", n_words=2, lengths=[1], vague=1).mi == pytest.approx(0)
    assert toy_pair("vague", n_words=5).joint.shape == (1, 5, 8)


def test_candidates_are_of_the_kinds_that_their_tags_say():
    pair = toy_pair("vague")
    srcs, trgs = pair.sample(30, rng())
    found = toy_candidates(pair, srcs, trgs, rng())
    assert found.n_candidates.tolist() == [9] * 30
    assert found == toy_candidates(pair, srcs, trgs, rng())
    by_tag = {
        tag: [t for t, own in zip(found.texts, found.tags, strict=True) if own == tag]
        for tag in found.tags[:9]
    }
    assert by_tag["reference"] == trgs
    general = {w: pair.targets[k // 2] for k, w in enumerate(pair.sources)}
    precise = {w: pair.targets[4 + k] for k, w in enumerate(pair.sources)}
    assert by_tag["likeliest words"] == [" ".join(general[w] for w in s.split()) for s in srcs]
    assert by_tag["closest words"] == [" ".join(precise[w] for w in s.split()) for s in srcs]
    for right, wrong in zip(trgs, by_tag["one word wrong"], strict=True):
        assert sum(a != b for a, b in zip(right.split(), wrong.split(), strict=True)) == 1
    assert set(by_tag["parrot"]) == {"bird bird"}
    assert np.isfinite(pair.logprob_trg(by_tag["unrelated"])).all()
    assert by_tag["sample"] != by_tag["sample 2"]


@pytest.mark.verifies(
    "Mutual information of a toy pair", "Gap between XMI and MI", by="foreign", of="scipy"
)
@pytest.mark.parametrize("name", PAIRS)
def test_entropies_and_information_are_scipys_of_the_enumeration(name):
    pair = toy_pair(name, **SMALL)
    _, _, table = enumerated(pair)
    assert pair.h_trg == pytest.approx(stats.entropy(table.sum(0), base=2), abs=1e-12)
    product = np.outer(table.sum(1), table.sum(0))
    assert pair.mi == pytest.approx(
        stats.entropy(table.ravel(), product.ravel(), base=2), abs=1e-12
    )
    # the excess of a model that knows nothing is −log2 ½ − H, by one-sample means
    srcs, trgs = pair.sample(300, rng())
    scores = np.full(300, math.log(0.5)), np.full(300, math.log(0.5))
    found = model_gap(pair, srcs, trgs, scores, rng=rng(), n_draws=2000)
    rest = 1 + pair.logprob_trg(trgs) / math.log(2)
    assert found.lm_kl.value == pytest.approx(rest.mean(), abs=1e-12)
    assert found.lm_kl.se == pytest.approx(stats.sem(rest), rel=0.08, abs=1e-12)
