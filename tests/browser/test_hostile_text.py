"""Texts that are code to a browser: every widget and page shows them and runs none."""

import numpy as np
import pytest

from anhelpers.data import CandidateSet, TestSet
from anhelpers.exact import Problem, solve_curve
from anhelpers.frontier import oracle_curve

HOSTILE = [
    "<script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>",
    '"><svg onload=window.pwned=1>',
    "</script><script>window.pwned=1</script>",
    "</textarea><script>window.pwned=1</script>",
    "javascript:window.pwned=1",
    "{{constructor.constructor('window.pwned=1')()}}",
    "]]><b>x</b>",
    "<!--<script>x",
    "</style><script>window.pwned=1</script>",
    "' onmouseover='window.pwned=1",
    "&lt;b&gt; &amp;amp;",
    "<a href=javascript:window.pwned=1>x</a>",
    "</title><script>window.pwned=1</script>",
    "${window.pwned=1}`",
    "<iframe srcdoc='<script>top.pwned=1</script>'>",
    "\u2028window.pwned=1//",
    "</noscript><img src=x onerror=window.pwned=1>",
]


def explorer():
    from anhelpers.widgets.explorer import beta_explorer

    n = len(HOSTILE)
    scores = {"segment": range(n), "accuracy": np.arange(n), "naturalness": -np.arange(n)}
    curve = oracle_curve(np.arange(n), scores["accuracy"], scores["naturalness"])
    more = {"tags": HOSTILE, "meanings": dict(zip(HOSTILE, HOSTILE, strict=True)), "show": n}
    scores["segment"] = np.arange(n)
    return beta_explorer(curve, HOSTILE, HOSTILE, HOSTILE, title=HOSTILE[0], **scores, **more)


def tradeoff():
    from anhelpers.widgets.tradeoff import tradeoff_explorer

    problem = Problem(np.eye(12) / 12, 1 - np.eye(12), np.eye(12)[0] / 2 + 1 / 24)
    some = HOSTILE[:12]
    return tradeoff_explorer(solve_curve(problem, "tv"), some, some, show=12, title=HOSTILE[0])


def divergences():
    from anhelpers.widgets.divergences import divergence_explorer

    return divergence_explorer([0.5, 0.3, 0.2, 0], names=HOSTILE[:4], title=HOSTILE[0])


def sheet():
    from anhelpers.classroom.sheet import rating_sheet

    n = len(HOSTILE)
    test = TestSet("t", "en-de", tuple(HOSTILE), refs={"refA": tuple(HOSTILE[::-1])})
    texts = [f"{text} {word}" for text in HOSTILE for word in ("good", "bad")]
    cands = CandidateSet(np.repeat(np.arange(n), 2), texts, ["a", "b"] * n)
    sizes = {"n_segments": n, "n_candidates": 2, "rng": np.random.default_rng(0)}
    return rating_sheet(test, cands, **sizes, title=HOSTILE[0])


def own():
    from anhelpers.widgets.own import own_translation

    n = len(HOSTILE)
    sources = tuple(f"{text} these are some words" for text in HOSTILE)
    test = TestSet("t", "de-en", sources, refs={"refA": sources})
    cands = CandidateSet(np.arange(n), [f"{text} other words" for text in HOSTILE], HOSTILE)
    return own_translation(test, cands, title=HOSTILE[0])


MADE = {explorer: 99, tradeoff: 12, divergences: 4, sheet: 0, own: 1}


@pytest.mark.parametrize("make", MADE, ids=lambda make: make.__name__)
def test_a_widget_shows_hostile_texts_and_runs_none(make, page, without_scripts, tmp_path):
    path = make().save(tmp_path / "hostile.html")
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.goto(path.as_uri())
    page.locator(".anx").first.wait_for()
    for seen in (page, without_scripts(path)):
        shown = " ".join(seen.inner_text("body").split())
        hidden = [text for text in HOSTILE[: MADE[make]] if " ".join(text.split()) not in shown]
        assert hidden == []
    assert page.evaluate("window.pwned === undefined && top.pwned === undefined")
