"""Fool the judges: type a translation, see its chrF, the critic's view of each word, and its place.

Python ships the scored candidates, the references and the critic's table; own.js scores what is typed
with chrf.js and critic.js, to the same numbers, so no kernel is needed.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import traitlets

from ..accuracy.surface import surface_metric
from ..charts.frame import beta_label, number
from ..data.languages import short_code
from ..data.schema import CandidateSet, TestSet
from ..errors import DataError
from ..frontier import oracle_curve
from ..naturalness.critic import Critic, load_critic, score_critic
from ..plane import OracleStudy
from .base import Widget, _plain_table, _unbounded, html_lang

# beyond the candidates, as shares of their width on an axis
_HEADROOM, _MARGIN = 0.2, 0.12
# (tag, text, accuracy, naturalness)
_Points = list[tuple[str, str, float, float]]


def own_translation(
    test: TestSet | OracleStudy,
    cands: CandidateSet | None = None,
    *,
    segments: Sequence[int] | None = None,
    beta: float = 3.0,
    title: str = "",
) -> _OwnTranslation:
    """Make a page that scores a typed translation at every key, by chrF and a critic.

    Parameters
    ----------
    test : TestSet or OracleStudy
        Sources and references; with several references, the best match counts.
    cands : CandidateSet, optional
        Candidates of the oracle, by default those of the study.
    segments : sequence of int, optional
        Sources to choose from; by default all with a reference.
    beta : float
        Initial weight of naturalness, in [0, ∞], in points of chrF per nat.
    """
    if isinstance(test, OracleStudy):
        cands, test = cands or test.cands, test.test
    if not isinstance(cands, CandidateSet):
        raise DataError(f"cands: got {type(cands).__name__}, expected a CandidateSet.")
    cands.require(len(test), test.name)
    critic = load_critic(test.trg_lang)
    shown = np.flatnonzero(test.referenced).tolist() if segments is None else list(segments)
    if wrong := [i for i in shown if not (0 <= i < len(test) and test.referenced[i])] or not shown:
        raise DataError(f"segments: got {wrong}, expected sources that have a reference.")
    points = _candidates(test, cands, shown, critic)
    data: dict[str, Any] = {
        "title": title,
        "langs": [html_lang(test.src_lang), html_lang(test.trg_lang)],
        "critic": _shipped(critic),
        "segments": [_segment(test, i, points[i]) for i in shown],
    }
    return _OwnTranslation.of(data=data, segment=shown[0], beta=beta)


class _OwnTranslation(Widget, files="chrf.js critic.js sentence.js own.js explorer.css own.css"):
    """The widget that `own_translation` makes; its traits follow the page and can be set.

    Attributes
    ----------
    text : str
        What is typed.
    segment : int
        The source, by its position in the test set.
    beta : float
        The weight of naturalness.
    """

    noun = "fool the judges"
    text = traitlets.Unicode("").tag(sync=True)
    segment = traitlets.Int(0).tag(sync=True)
    beta = _unbounded(3.0)

    def blank(self) -> dict[str, Any]:
        """Nothing typed."""
        return {"text": ""}

    def __repr__(self) -> str:
        shown = f"{len(self.data['segments'])} sources, segment {self.segment}"
        return f"OwnTranslation({shown}, {beta_label(self.beta)})"

    def static_html(self) -> str:
        title = html.escape(self.data["title"] or "Fool the judges")
        return f"<p><b>{title}</b></p>" + "".join(map(_printed, self.data["segments"]))


def _shipped(critic: Critic) -> dict[str, Any]:
    """A critic as the page reads it: all n-grams with idf and weight, to the last bit."""
    return {
        "name": critic.name,
        "german": short_code(critic.language) == "de",
        "intercept": critic.intercept,
        "shape": asdict(critic.shape),
        "words": " ".join(sorted(critic.words)),
        "ngrams": "\n".join(f"{gram}\t{idf!r}\t{w!r}" for gram, (idf, w) in critic.table.items()),
    }


def _candidates(
    test: TestSet, cands: CandidateSet, shown: Sequence[int], critic: Critic
) -> dict[int, _Points]:
    """The scored candidates of each source, without texts that have no score."""
    rows = np.flatnonzero(np.isin(cands.segment, shown))
    rows = [i for i in rows if cands.texts[i].strip()]
    texts, segment = [cands.texts[i] for i in rows], cands.segment[rows].astype(np.int64)
    chrf = surface_metric("chrf", test.trg_lang, test.n_refs)
    assert chrf.score_segments is not None  # of every surface metric
    accuracy = chrf.score_segments(texts, test.streams, segment=segment)
    naturalness = [score_critic(critic, text) for text in texts]
    found: dict[int, _Points] = {one: [] for one in shown}
    for row, one, *point in zip(rows, segment.tolist(), accuracy, naturalness, strict=True):
        if np.isfinite(point).all():
            found[one].append((cands.tags[row], cands.texts[row], *map(float, point)))
    if empty := [one for one, points in found.items() if not points]:
        raise DataError(f"segment {empty[0]}: no candidate has both scores. Leave it out.")
    return found


def _segment(test: TestSet, i: int, points: _Points) -> dict[str, Any]:
    """Data of one source for the page."""
    tags, texts, accuracy, naturalness = map(list, zip(*points, strict=True))
    curve = oracle_curve([0] * len(points), accuracy, naturalness)
    made = {
        "id": i,
        "src": test.srcs[i],
        "refs": [texts[i] for texts in test.streams if texts[i]],
        "tags": [tag or f"candidate {k + 1}" for k, tag in enumerate(tags)],
        "texts": texts,
        "accuracy": accuracy,
        "naturalness": naturalness,
        "chain": curve.chain_candidate.tolist(),
        "beta": curve.chain_beta.tolist(),
        "box": [*_span(naturalness, _MARGIN), *_span(accuracy, _HEADROOM, 100.0)],
    }
    return made | ({"gloss": test.glosses[i]} if test.glosses else {})


def _span(values: Sequence[float], above: float, most: float = math.inf) -> tuple[float, float]:
    """Ends of an axis: the values and a margin, a larger one above them."""
    low, high = min(values), max(values)
    width = max(high - low, 1.0)
    return low - _MARGIN * width, min(high + above * width, most + 1)


def _printed(segment: dict[str, Any]) -> str:
    """One source on paper: a row for each candidate that the oracle takes, with its smallest β."""
    chrf, nats = segment["accuracy"], segment["naturalness"]
    rows = []
    for k, start in zip(segment["chain"], segment["beta"], strict=True):
        scores = number(chrf[k], 1), number(nats[k], 2)
        rows.append((beta_label(start), segment["tags"][k], *scores, segment["texts"][k]))
    caption = f"Source {segment['id']}: {segment['src']} The oracle's choices:"
    return _plain_table(caption, ("from", "candidate", "chrF", "critic", "translation"), rows)
