"""Raters as critics: what each gives to each system, and D₁ between systems, by hand and against other functions."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import anhelpers as an
from anhelpers.errors import DataError, UnknownName
from anhelpers.mqm import MqmScores, rater_critics, rating_human

# rater 0 sees "human" as perfect, rater 1 gives it 2 points; rater 2 saw one system only
POINTS = {"human": ([0, 0, 0, 0], [2, 2, 2, 2]), "good": ([1, 1, 1, 1], [1, 1, 1, 1])}


def scored(points, extra=True, docs=("a", "a", "b", "b")):
    """MqmScores in which only fluency costs points."""
    systems = tuple(points)
    units = [
        (s, n, k, value)
        for s, system in enumerate(systems)
        for k, values in enumerate(points[system])
        for n, value in enumerate(values)
    ]
    raters = tuple(f"r{k}" for k in range(len(points[systems[0]]) + extra))
    units += [(0, 0, len(raters) - 1, 5.0)] if extra else []
    system, segment, rater, value = (np.array(column) for column in zip(*units, strict=True))
    n = len(docs)
    values = np.stack([value, 0 * value, value], axis=1)
    names = tuple(map(str, range(n)))
    return MqmScores(
        systems, raters, names, tuple(docs), ("",) * n, system, segment, rater, values, "s"
    )


@pytest.fixture
def panel():
    return rater_critics(scored(POINTS), "human", np.random.default_rng(1), 200)


@pytest.mark.verifies("Raters as critics: D₁ to the human", by="hand")
def test_by_hand(panel):
    assert panel.mean.tolist() == [[0, 1], [2, 1]]
    assert panel.raters == ("r0", "r1")
    assert panel.left_out == ("r2",)
    table = panel.table().set_index("system")
    good = table.loc["good"]
    # differences +1 and −1: pooled they cancel, their sizes do not
    assert (good.average, good.signed, good.D1, good.lost) == (1, 0, 1, 1)
    assert good.opposed
    assert [good.D1_low, good.D1_high] == pytest.approx([1, 1])  # equal in every resample
    assert good["noise alone"] == 0
    assert (table.loc["human", ["signed", "D1", "lost"]] == 0).all()
    assert table.n.tolist() == [4, 4]
    assert panel.overstated() == (0, 0, 0)


def test_what_the_human_gets(panel):
    table = panel.of_the_human()
    assert table.critic.tolist() == ["r0", "r1"]
    assert table.points.tolist() == [0, 2]
    assert table.marked.tolist() == [0, 1]
    assert table.n.tolist() == [4, 4]
    assert "left out: r2" in repr(panel)


@pytest.mark.verifies(
    "Raters as critics: D₁ to the human", by="property", of="D₁ of the critics' means"
)
@pytest.mark.verifies(
    "Raters as critics: D₁ to the human", by="foreign", of="SciPy's city-block distance"
)
def test_d1_is_the_critic_distance_between_columns():
    rng = np.random.default_rng(3)
    points = {name: rng.exponential(1, (3, 12)).tolist() for name in "ABC"}
    docs = [f"d{n // 3}" for n in range(12)]
    found = rater_critics(scored(points, False, docs), "B", np.random.default_rng(1), 400)
    table = found.table().set_index("system")
    one, k = np.eye(3), len(found.raters)
    for s, name in enumerate("ABC"):
        expected = an.divergences.critic_distance(one[s], one[1], found.mean)
        assert table.loc[name, "D1"] == pytest.approx(expected)
        (apart,) = cdist(found.mean[:, [s]].T, found.mean[:, [1]].T, "cityblock").ravel() / k
        assert table.loc[name, "D1"] == pytest.approx(apart)
        assert table.loc[name, "D1"] >= abs(table.loc[name, "signed"])
        assert table.loc[name, "D1_low"] <= table.loc[name, "D1"] + 1e-9
    assert table.average.is_monotonic_increasing
    value, low, high = found.overstated()
    others = table.drop("B")
    assert value == pytest.approx((others.average - others.D1).mean())
    assert low <= value <= high


def test_a_rater_who_saw_not_all_cannot_be_a_critic():
    scores = scored({"A": ([1.0, 2, 1, 2],), "B": ([1.0, 2, 1, 2],)}, False)
    keep = ~((scores.system == 1) & (scores.rater == 0))
    parts = {name: getattr(scores, name)[keep] for name in ("system", "segment", "rater", "values")}
    with pytest.raises(DataError):
        rater_critics(replace(scores, **parts), "A", np.random.default_rng(1))
    with pytest.raises(UnknownName):
        rater_critics(scores, "C", np.random.default_rng(1))


def test_who_stands_for_the_language():
    kinds = {"A": "MT", "B": "human", "C": "human"}
    assert rating_human(("A", "B", "C"), kinds) == "B"
    assert rating_human(("A", "B", "C"), kinds, "A") == "A"
    for named in (None, "D"):
        with pytest.raises(UnknownName):
            rating_human(("A",), kinds, named)
