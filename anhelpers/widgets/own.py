"""Write your own translation: see its chrF, the critic's opinion of each word, and its place.

Python ships the scored candidates, the references and the critic's table; own.js scores what is typed
with chrf.js and critic.js, to the same numbers, so no kernel is needed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import traitlets

from .. import checks
from ..accuracy.surface import surface_metric
from ..charts.curve import plot_curve
from ..charts.frame import beta_label, number
from ..charts.offline import drawn
from ..data.languages import NAMES, short_code
from ..data.schema import CandidateSet, TestSet
from ..errors import DataError
from ..frontier import oracle_curve
from ..naturalness import critic as critics
from ..naturalness.critic import Critic, critic_metric, critic_tokens, load_critic, score_critic
from ..plane import OracleStudy
from .base import Widget, _Markup, _plain_table, _static_page, _unbounded, html_lang

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
    """Make a page on which a typed translation is scored at every key by chrF and a critic.

    Parameters
    ----------
    test : TestSet or OracleStudy
        Sources and references; of several references the best fitting one counts.
    cands : CandidateSet, optional
        The oracle's choice, by default the study's.
    segments : sequence of int, optional
        Sources to choose from; by default all with a reference.
    beta : float
        Weight of naturalness at the start, in [0, ∞], in points of chrF per nat.
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
    references = [text for texts in test.streams for text in texts if text]
    chrf = surface_metric("chrf", test.trg_lang, test.n_refs)
    judges = chrf, critic_metric(critic, test.trg_lang)
    task = [list(test.srcs), test.streams, [metric.signature for metric in judges]]
    code = short_code(critic.language)
    data: dict[str, Any] = {
        "title": title,
        "task": hashlib.sha256(json.dumps(task).encode()).hexdigest()[:12],
        "langs": [html_lang(test.src_lang), html_lang(test.trg_lang)],
        "critic": _shipped(critic),
        "segments": [_segment(test, i, points[i]) for i in shown],
    }
    least = _least_known(critic, references)
    data["language"] = {"name": NAMES.get(code, code), "least": least, "words": critics.FEWEST}
    return _OwnTranslation.of(_picture(data["segments"][0]), data=data, segment=shown[0], beta=beta)


class _OwnTranslation(Widget, files="chrf.js critic.js own.js own.css"):
    """The widget that `own_translation` makes; its traits follow the page and can be set.

    Attributes
    ----------
    text : str
        What is typed.
    segment : int
        The source, by its position in the test set.
    beta : float
        The weight of naturalness.
    kept : list of [int, str]
        The kept sentences with their segments. An exported page is empty.
    """

    noun = "write your own translation"
    text = traitlets.Unicode("").tag(sync=True)
    segment = traitlets.Int(0).tag(sync=True)
    kept: Any = traitlets.List().tag(sync=True)
    beta = _unbounded(3.0)

    @traitlets.validate("beta")
    def _valid_beta(self, proposal: Any) -> Any:
        return checks.non_negative("beta", proposal["value"])

    def blank(self) -> dict[str, Any]:
        """Nothing typed, nothing kept."""
        return {"text": "", "kept": []}

    def __repr__(self) -> str:
        shown = f"{len(self.data['segments'])} sources, segment {self.segment} is seen"
        return f"OwnTranslation({shown}, {beta_label(self.beta)}; {len(self.kept)} sentences kept)"

    def static_html(self) -> str:
        parts = _Markup("".join(map(_printed, self.data["segments"])))
        said = "The candidates of the first source; the line joins those that are best at some β."
        title = self.data["title"] or "Write your own translation"
        return _static_page(drawn(self.chart), parts, title=title, words=[("", said)])


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
    """What the page needs of one source."""
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


def _picture(segment: dict[str, Any]) -> Any:
    """The chart of one source for readers without scripts: candidates below their curve."""
    x0, x1, y0, y1 = segment["box"]
    titles: Any = {"accuracy_title": "chrF, points →", "naturalness_title": "critic, nats →"}
    table = pd.DataFrame({name: segment[name] for name in ("accuracy", "naturalness")})
    curve = oracle_curve([0] * len(table), table.accuracy, table.naturalness)
    return plot_curve(curve, circles=table, ranges=((x0, x1), (y0, y1)), size=(520, 340), **titles)


def _printed(segment: dict[str, Any]) -> str:
    """One source on paper: a row for each candidate that the oracle takes, with its smallest β."""
    chrf, nats = segment["accuracy"], segment["naturalness"]
    rows = []
    for k, start in zip(segment["chain"], segment["beta"], strict=True):
        scores = number(chrf[k], 1), number(nats[k], 2)
        rows.append((beta_label(start), segment["tags"][k], *scores, segment["texts"][k]))
    caption = f"Source {segment['id']}: {segment['src']} What the oracle takes:"
    return _plain_table(caption, ("from", "candidate", "chrF", "critic", "translation"), rows)


def _least_known(critic: Critic, texts: Sequence[str]) -> float:
    """A share of known words, in [0, 1], below which a text is probably in a different language.

    Parameters
    ----------
    texts : texts in the critic's language; the result is 0.4 of their median share.
    """
    shares = []
    for text in texts:
        words = [t.lower() for t in critic_tokens(text, critic.language) if t[0].isalpha()]
        shares += [sum(word in critic.words for word in words) / len(words)] if words else []
    return 0.4 * float(np.median(shares or [0.0]))
