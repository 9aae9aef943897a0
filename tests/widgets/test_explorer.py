"""What the β explorer ships is what the oracle curve selects."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import traitlets
from hypothesis import given, settings
from hypothesis import strategies as st

from anhelpers.data import TestSet, from_systems, load_candidates
from anhelpers.errors import AnhelpersError, DataError, UnknownName
from anhelpers.frontier import oracle_curve
from anhelpers.metrics import Metric
from anhelpers.plane import oracle_studies
from anhelpers.widgets.explorer import _tag_meanings, _word_edits, beta_explorer, explore

TEXT = ["der Hund bellt", "ein Hund bellt", "Hund", "die Katze schläft", "Katze", "eine Katze"]


@pytest.fixture
def options():
    """Three segments of 2 candidates each; in the first, β = 5 separates the two."""
    return {
        "segment": [0, 0, 1, 1, 2, 2],
        "accuracy": [80, 70, 60, 50, 55, 90],
        "naturalness": [-4, -2, -3, -2.5, -3, -3],
        "domains": ["news", "news", "speech"],
        "tags": list("abcdef"),
        "show": 2,
    }


def made(options, **more):
    options = options | more
    curve = oracle_curve(*(options[name] for name in ("segment", "accuracy", "naturalness")))
    return beta_explorer(curve, ["the dog", "a", "b"], ["der Hund", "A", "B"], TEXT, **options)


def counting(name, letters, higher=True):
    """A metric that counts some letters."""

    def score(hyps, **_):
        return np.array([sum(hyp.count(letter) for letter in letters) for hyp in hyps], float)

    return Metric(name, name, "letters", higher, (), name, score)


@pytest.fixture
def studies():
    """Two accuracies with two naturalnesses of six candidates for two sources in two domains."""
    outputs = {"A": ("aab", "bbc"), "B": ("abcc", "cca"), "C": ("bbb", "aaac")}
    refs, domains = {"ref": ("x", "y")}, ("n", "m")
    test = TestSet("t", "en-pt_BR", ("one", "two"), refs, outputs, domains=domains)
    test = replace(test, glosses=("<1>", "2"))
    accuracy = [counting("a", "a"), counting("ab", "ab")]
    natural = [counting("lpp", "b", False), counting("critic", "c")]
    return oracle_studies(test, from_systems(test), accuracy, natural)


def test_every_pair_of_metrics_chooses_what_its_curve_selects(studies):
    widget = explore(*studies)
    data = widget.data
    pairs = [["a", "lpp"], ["a", "critic"], ["ab", "lpp"], ["ab", "critic"]]
    assert [one["judges"] for one in data["judged"]] == pairs
    assert data["judged"][0]["names"] == ["a", "log-prob."]
    assert data["langs"] == ["en", "pt-BR"]
    for one in studies:
        widget.accuracy, widget.naturalness = (metric.name for metric in one.metrics)
        for widget.beta in (0, 0.3, 1, 2.5, math.inf):
            at, values = one.curve.select(widget.beta), widget.values()
            assert values.translation.tolist() == [one.cands.texts[i] for i in at]
            assert values.accuracy.tolist() == pytest.approx(one.accuracy[at])
            assert values.naturalness.tolist() == pytest.approx(one.naturalness[at])
    # a text, and the points of a score, are shipped once
    assert all(len(row["texts"]) == len({*row["texts"]}) <= 3 for row in data["rows"])
    assert [one["clouds"] for one in data["judged"]] == [[0, 1], [0, 2], [3, 1], [3, 2]]
    assert [x for row in data["clouds"][0] for x in row] == studies[0].accuracy.tolist()
    assert data["rows"][0]["gloss"] == "<1>"
    assert "word for word: &lt;1&gt;" in widget.static_html()


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.one_of(st.floats(0, 1e6), st.just(math.inf)))
def test_random_corpora_choose_what_the_curve_selects(seed, beta):
    rng = np.random.default_rng(seed)
    segment = rng.permutation(np.repeat(np.arange(8), 9))
    scores = {"accuracy": rng.integers(0, 9, 72), "naturalness": -rng.integers(0, 9, 72) / 4}
    curve = oracle_curve(segment, *scores.values())
    ids, names = [str(i) for i in range(72)], ["x"] * 8
    widget = beta_explorer(curve, names, names, ids, segment=segment, show=8, **scores)
    for b in (beta, *np.unique(curve.chain_beta)):
        chosen = widget.table([b]).translation.astype(int).tolist()
        assert chosen == curve.select(b).tolist()


def test_metrics_are_set_from_python_and_from_the_page(studies):
    widget = explore(*studies[1:])  # without a × lpp
    assert (widget.accuracy, widget.naturalness) == ("a", "critic")
    assert repr(widget) == "BetaExplorer(a × critic, β = 1, domain 'all', 2 segments)"
    widget.accuracy, widget.naturalness = "ab", "lpp"
    widget.accuracy = "a"
    assert widget.naturalness == "critic"  # the only one beside a
    widget.set_state({"accuracy": "ab", "naturalness": "lpp"})
    assert (widget.accuracy, widget.naturalness) == ("ab", "lpp")
    widget.beta = math.inf
    assert widget.get_state("beta") == {"beta": "inf"}
    widget.set_state({"beta": 2.5})
    assert widget.beta == 2.5
    widget.set_state({"beta": "inf"})
    assert math.isinf(widget.beta)


@pytest.mark.parametrize(
    ("trait", "value", "error"),
    [
        ("beta", -1, DataError),
        ("domain", "newz", UnknownName),
        ("accuracy", "bleu", UnknownName),
        ("order", "random", traitlets.TraitError),
    ],
)
def test_traits_refuse_what_is_undefined(options, trait, value, error):
    widget = made(options)
    with pytest.raises(error):
        setattr(widget, trait, value)


@pytest.mark.parametrize(
    "change",
    [
        {"tags": ["a"]},
        {"domains": ["x"]},
        {"accuracy": [1, 2]},
        {"segments": [0, 3]},
        {"view": "on"},
    ],
)
def test_input_that_does_not_fit_is_refused(options, change):
    curve = oracle_curve(*(options[name] for name in ("segment", "accuracy", "naturalness")))
    with pytest.raises(AnhelpersError):
        beta_explorer(curve, ["a"] * 3, ["b"] * 3, TEXT, **options | change)


def test_studies_of_different_texts_are_refused(studies):
    with pytest.raises(DataError):
        explore()
    with pytest.raises(DataError):
        explore(studies[0], studies[1].domain("n"))


def test_each_domain_has_a_curve_over_its_segments(options):
    choices = {c["name"]: c for c in made(options).data["judged"][0]["choices"]}
    assert {name: c["count"] for name, c in choices.items()} == {"all": 3, "news": 2, "speech": 1}
    assert choices["news"]["beta"] == [0, 5, 20]
    assert choices["news"]["accuracy"] == [70, 65, 60]
    assert choices["speech"]["accuracy"] == [90]
    assert all("bxpoint_marks" in c["svg"] for c in choices.values())
    assert len(made(options, by_domain=False).data["judged"][0]["choices"]) == 1
    assert len(made(options, show=3).data["judged"][0]["choices"]) == 1  # all on one page


def test_systems_are_drawn_with_all_or_by_domain(options):
    columns = {"system": ["Omega"], "category": ["MT"], "accuracy": 60.0, "naturalness": -3.0}
    frame = pd.DataFrame(columns)
    by_domain = {"news": frame.assign(accuracy_low=-900.0, accuracy_high=900.0)}.get
    for systems, where in ((frame, ["all"]), (by_domain, ["news"])):
        one = made(options, systems=systems).data["judged"][0]
        assert [c["name"] for c in one["choices"] if "Omega" in c["svg"]] == where
        assert 0 < one["box"][2] < one["box"][3] < 100  # intervals of a domain do not stretch it


words = st.lists(st.sampled_from("abcd"), max_size=8)


@given(words, words)
def test_outside_the_edits_both_texts_are_the_same(a, b):
    old, new = " ".join(a), "  ".join(b)
    rest = [list(old), list(new)]
    for low, high, start, end in _word_edits(old, new) or [(0, len(old), 0, len(new))]:
        rest[0][low:high], rest[1][start:end] = " " * (high - low), " " * (end - start)
    assert "".join(rest[0]).split() == "".join(rest[1]).split()


@pytest.mark.parametrize(
    ("old", "new", "edits"),
    [
        ("one two three four", "one two three five", [(14, 18, 14, 18)]),
        ("one two three four", "one two 3 4", [(8, 18, 8, 11)]),
        ("one two three four", "one 2 3 4", None),
        ("", "", []),
        ("我喜欢猫", "我喜欢狗", [(3, 4, 3, 4)]),
        ("a friend—a good one", "a friend—the good one", [(9, 10, 9, 12)]),
    ],
)
def test_edits_by_hand(old, new, edits):
    assert _word_edits(old, new) == edits


def test_labels_have_a_meaning(options):
    meanings = {"a": "First.", "b": "Second.", "z": "Never."}
    assert set(made(options, meanings=meanings).data["meanings"]) == {"a", "b"}
    for name in ("teaching/en-de", "teaching/de-en"):
        assert set(load_candidates(name).tags) <= _tag_meanings().keys()
