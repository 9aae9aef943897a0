"""The compiled kernels on odd input: texts against sacreBLEU, bit by bit, and arrays against the obvious definition.

``tests/accuracy/test_surface.py`` has ragged tasks; here are the characters and lengths that break text kernels. More
pairs than CI has time for: ``ANHELPERS_FUZZ=20000 python -m pytest tests/fuzz/test_kernels.py``.
"""

import itertools
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from anhelpers.accuracy.surface import METRICS, surface_metric
from anhelpers.frontier import oracle_curve
from tests.conftest import ORACLES

EXAMPLES = int(os.environ.get("ANHELPERS_FUZZ", 40))
bounded = settings(
    max_examples=EXAMPLES,
    suppress_health_check=list(HealthCheck),
    database=None,
    phases=[Phase.explicit, Phase.generate],
)

CONTROLS = [*map(chr, range(0x20)), *"\x7f\x85\xa0\xad\u2028\u2029\u3000\ufeff\u200b"]
MARKS = """
&quot; &amp; &lt; &gt; &amp;amp; &amp;quot; &#39; & ; <skipped> <SKIPPED> <skip
1,000.5 1. .5 ,5, 3-4 -3- a-b 1-a a.1 U.S. ... (hi) {[~]} `^_@ 's “” «» - -- … $5 5%
a/b \\ | = +*
"""
WORDS = MARKS.split()
WORDS += ["-\n", "-\n-\n", "- \n", "\n-", "\r\n", ". ,"]
LETTERS = """
漢字 かな 한국어 ทดสอบ שלום مرحبا हिन्दी ß ẞ İ ı ﬁ é 🇩🇪 👍🏽 １２，３
"""
SCRIPTS = LETTERS.split()
SCRIPTS += ["\u202eabc\u202c", "\u2067x\u2069", "e\u0301"]
SCRIPTS += ["a\u0300\u0301\u0302a\u0300\u0301\u0302a\u0300\u0301\u0302", "\u0301"]
SCRIPTS += ["\U0001f469\u200d\U0001f469\u200d\U0001f467", "\ufe0f", "\ue000", "\U000f0000"]
SCRIPTS += ["\U0010ffff", "\ud800", "\udfff", "\udcff", "\ufffe"]
OURS = {name: surface_metric(name, "de") for name in METRICS}


def same(name, hyps, refs):
    """Segment by segment and as a corpus, to the last bit."""
    ours, (segments, corpus) = OURS[name], ORACLES[name]
    theirs = [
        segments.sentence_score(hyp, [ref]).score for hyp, ref in zip(hyps, refs, strict=True)
    ]
    assert ours.score_segments(hyps, refs=[refs]).tolist() == theirs
    assert ours.score_corpus(hyps, refs=[refs]) == corpus.corpus_score(hyps, [refs]).score


@pytest.mark.parametrize("name", METRICS)
def test_every_odd_piece_against_every_other(name):
    pieces = ["", *CONTROLS, *WORDS, *SCRIPTS]
    pieces = pieces if name != "ter" else pieces[::3]  # sacreBLEU's own, which is slow
    hyps, refs = zip(*itertools.product(pieces, pieces), strict=True)
    same(name, [f"a {hyp} b" for hyp in hyps], [f"a {ref} b" for ref in refs])


@pytest.mark.parametrize("name", ["chrf", "chrf++", "bleu"])
@pytest.mark.parametrize("glue", ["", "\u0301"])
def test_long_texts(name, glue):
    rng = np.random.default_rng(8)
    pieces = np.array([*WORDS, *SCRIPTS, *"abcdefgh"], dtype=object)
    texts = [glue.join(rng.choice(pieces, 3000)) for _ in range(2)]
    same(name, [texts[0], texts[1], "", texts[0]], [texts[1], texts[1], texts[0], ""])


NUMBERS = (
    st.sampled_from([0.0, -0.0, 1 / 3, 1 + 2**-52, 1 - 2**-53, -1.0])
    | st.integers(-3, 3)
    | st.floats(-9, 9, width=16)
)
SCALE = st.sampled_from([1.0, 1e-75, 1e75, 100.0])
# (source, accuracy, naturalness) of some candidates, many of them equal or in line, and a scale for each axis.
POINTS = st.tuples(
    st.lists(st.tuples(st.integers(0, 3), NUMBERS, NUMBERS), min_size=1, max_size=24), SCALE, SCALE
)


def flat(points):
    """Sources numbered without gaps, and two columns of scores."""
    rows, *scales = points
    segment, *scores = (np.array(column) for column in zip(*rows, strict=True))
    return np.unique(segment, return_inverse=True)[1], *(
        s * scale for s, scale in zip(scores, scales, strict=True)
    )


@given(POINTS, st.sampled_from([0.0, 1e-75, 0.5, 1.0, 3.0, 1e75, np.inf]))
@bounded
def test_the_curve_of_odd_points_ends_and_wins_where_it_must(points, beta):
    segment, accuracy, naturalness = flat(points)
    curve = oracle_curve(segment, accuracy, naturalness)
    assert (np.diff(curve.beta) > 0).all()
    chosen = {0.0: curve.select(0.0), np.inf: curve.select(np.inf), beta: curve.select(beta)}
    for s in range(segment.max() + 1):
        own = np.flatnonzero(segment == s)
        assert all(picked[s] in own for picked in chosen.values())
        assert accuracy[chosen[0.0][s]] == accuracy[own].max()
        assert naturalness[chosen[np.inf][s]] == naturalness[own].max()
        if 0 < beta < np.inf:
            score = accuracy[own] + beta * naturalness[own]
            scale = np.abs(accuracy[own]).max() + beta * np.abs(naturalness[own]).max()
            picked = chosen[beta][s]
            assert accuracy[picked] + beta * naturalness[picked] >= score.max() - 1e-12 * scale
