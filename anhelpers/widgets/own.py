"""Write your own translation: at every key its chrF, what the critic says of each word, and its place on the plane.

Python scores the candidates and ships them with the references and the critic's table; own.js scores what is typed,
with chrf.js and critic.js, to the same numbers, so no kernel is needed later.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from .. import __version__, checks
from ..accuracy.surface import surface, surface_metric
from ..charts.curve import beta_label
from ..charts.frame import legible, number
from ..charts.one_source import plot_one_source
from ..data.languages import NAMES, short_code
from ..data.schema import CandidateSet, TestSet
from ..errors import DataError
from ..frontier import oracle_curve
from ..naturalness.critic import (
    FEWEST,
    Critic,
    critic_metric,
    critic_scores,
    foreign,
    least_known,
    load_critic,
)
from ..plane import OracleStudy
from ..progress import note
from .base import (
    Markup,
    Widget,
    detached,
    drawn,
    html_lang,
    module,
    plain_table,
    static_page,
    styles,
)
from .handed_in import BAD_NAME, NAME, NO_NAME, SENTENCE_COLUMNS, sentences_csv

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OwnTranslation", "own_translation", "shipped_critic"]

ROUNDED = 1e-3  # files have four decimals
HEADROOM, MARGIN = 0.2, 0.12  # beyond the candidates, as shares of their width on an axis
Points = list[tuple[str, str, float, float]]  # (who or tag, text, accuracy, naturalness)


def own_translation(
    test: TestSet | OracleStudy,
    cands: CandidateSet | None = None,
    *,
    critic: Critic | str | None = None,
    segments: Sequence[int] | None = None,
    beta: float = 3.0,
    also: pd.DataFrame | None = None,
    title: str = "",
) -> OwnTranslation:
    """Type a translation, and see at every key how accurate and how natural two judges find it, beside the oracle's.

    Accuracy is chrF against the references, naturalness the critic's log-odds. Both are computed in the page.

    Parameters
    ----------
    test : sources and references; or a study, for its test and its candidates. With several references the one that
        fits best counts; `with_human_points` keeps the default one alone.
    cands : translations that the oracle chooses from, for the same sources; copies of references are left out.
    critic : of the target language, by default the bundled one; or its name, as `load_critic` takes it.
    segments : the sources to choose from, by their position in `test`; by default all that have a reference.
    beta : the weight of naturalness at the start, in [0, ∞], in points of chrF per nat.
    also : sentences of a class, from `classroom.read_sentences`, to show as points with their names.
    title : above it all.

    Returns
    -------
    OwnTranslation; its `text`, `segment`, `beta` and `kept` follow the page and can be set.

    Raises
    ------
    DataError : no critic of the target language, no reference, or sentences that were written for another task.
    """
    test, cands = _given(test, cands)
    checks.a_kind(critic, (Critic, str, type(None)), "critic is a Critic, or the name of one")
    critic = critic if isinstance(critic, Critic) else load_critic(critic or test.trg_lang)
    judges = (
        surface_metric("chrf", test.trg_lang, test.n_refs),
        critic_metric(critic, test.trg_lang),
    )
    signatures = [metric.signature for metric in judges]
    shown, task = _segments(test, segments), _task(test, signatures)
    scored = partial(_scored, test, critic)
    points = _candidates(test, cands, shown, scored)
    others = _others(also, task, shown, scored)
    language = _language(critic, test)
    _tell_foreign(critic, language, others)
    data: dict[str, Any] = {
        "title": title,
        "task": task,
        "test": test.name,
        "langs": [html_lang(test.src_lang), html_lang(test.trg_lang)],
        "version": __version__,
        "columns": list(SENTENCE_COLUMNS),
        "signatures": signatures,
        "name": {"pattern": f"^{NAME.pattern}$", "none": NO_NAME, "bad": BAD_NAME},
        "critic": shipped_critic(critic),
        "language": language,
        "segments": [_segment(test, i, points[i], others[i]) for i in shown],
    }
    made = OwnTranslation.of(None, data=data, segment=shown[0], beta=beta)
    made.chart, made.scored = _picture(data["segments"][0]), scored
    return made


class OwnTranslation(Widget):
    """The widget that `own_translation` makes; its traits follow the page and can be set.

    `text` is what is typed, `segment` the source, by its position in the test set, `beta` the weight of naturalness,
    `who` the pseudonym, `kept` the kept sentences as [segment, text] pairs. A page that is handed out is empty.
    """

    _esm = module("chrf.js", "critic.js", "own.js")
    _css = styles("own.css")
    noun = "write your own translation"
    scored: Any = None
    text = traitlets.Unicode("").tag(sync=True)
    segment = traitlets.Int(0).tag(sync=True)
    who = traitlets.Unicode("").tag(sync=True)
    kept: Any = traitlets.List().tag(sync=True)
    beta = traitlets.Float(3.0).tag(
        sync=True,
        to_json=lambda b, _: "inf" if math.isinf(b) else b,
        from_json=lambda b, _: float(b),
    )

    @traitlets.validate("beta")
    def _valid_beta(self, proposal: Any) -> Any:
        return checks.non_negative("beta", proposal["value"])

    @traitlets.validate("segment")
    def _valid_segment(self, proposal: Any) -> Any:
        known = [one["id"] for one in self.data.get("segments", [])]
        if known and proposal["value"] not in known:
            raise DataError(
                f"segment {proposal['value']} is not among the sources here; there are "
                f"{', '.join(map(str, known))}."
            )
        return proposal["value"]

    @traitlets.validate("kept")
    def _valid_kept(self, proposal: Any) -> Any:
        known = {one["id"] for one in self.data.get("segments", [])}
        for pair in proposal["value"]:
            if len(pair) != 2 or pair[0] not in known or not str(pair[1]).strip():
                raise DataError(
                    f"a kept sentence is [segment, text] of a source here, got {pair!r}."
                )
        return [[int(segment), str(text)] for segment, text in proposal["value"]]

    def sentences(self) -> pd.DataFrame:
        """The kept sentences, a row for each: who, task, segment, text, chrf (points), critic (nats), version."""
        import pandas as pd

        segment, texts = [one for one, _ in self.kept], [text for _, text in self.kept]
        chrf, nats = self.scored(texts, segment) if self.kept else ([], [])
        columns = (self.who, self.data["task"], segment, texts, chrf, nats, self.data["version"])
        return pd.DataFrame(dict(zip(SENTENCE_COLUMNS, columns, strict=True)))

    def csv(self) -> str:
        """The text of the file that "Save my sentences" downloads; a DataError without a pseudonym."""
        if not NAME.fullmatch(self.who.strip()):
            raise DataError(BAD_NAME if self.who.strip() else NO_NAME)
        return sentences_csv(self.sentences().itertuples(index=False, name=None))

    def fragment(self) -> str:
        """HTML for a notebook's output, with nothing typed: a page that is handed out does not tell who wrote what."""
        blank = OwnTranslation(data=self.data, segment=self.segment, beta=self.beta, **detached())
        blank.chart = self.chart
        return super(OwnTranslation, blank).fragment()

    def __repr__(self) -> str:
        return (
            f"OwnTranslation({len(self.data['segments'])} sources, segment {self.segment} is seen, "
            f"{beta_label(self.beta)}; {len(self.kept)} sentences kept)"
        )

    def static_html(self) -> str:
        parts = "".join(map(_printed, self.data["segments"]))
        said = (
            "The picture shows the candidates of the first source; the line joins those that the oracle takes. Without "
            "scripts a sentence that you write is not scored."
        )
        title = self.data["title"] or "Write your own translation"
        return static_page(drawn(self.chart), Markup(parts), title=title, words=[("", said)])


def _scored(
    test: TestSet, critic: Critic, texts: Sequence[str], segment: Any
) -> tuple[np.ndarray, np.ndarray]:
    """chrF and the critic's log-odds of translations of these segments; nan for a text without a word."""
    chrf = surface("chrf", test.trg_lang)
    counts = chrf.statistics(texts, test.streams, np.asarray(segment, dtype=np.int64))
    return chrf.segment_scores(counts), critic_scores(critic, texts)


def shipped_critic(critic: Critic) -> dict[str, Any]:
    """A critic as the page reads it: all of its n-grams with idf and weight, as one text; no weight is left out.

    Parameters
    ----------
    critic : of `load_critic`. Every number is printed so that it is read back to the last bit.
    """
    return {
        "name": critic.name,
        "german": short_code(critic.language) == "de",
        "intercept": critic.intercept,
        "shape": {
            "order": critic.shape.order,
            "lengths": list(critic.shape.lengths),
            "ending": critic.shape.ending,
        },
        "words": " ".join(sorted(critic.words)),
        "ngrams": "\n".join(f"{gram}\t{idf!r}\t{w!r}" for gram, (idf, w) in critic.table.items()),
    }


def _given(test: TestSet | OracleStudy, cands: CandidateSet | None) -> tuple[TestSet, CandidateSet]:
    """The test and the candidates, of a study or as they are given."""
    if isinstance(test, OracleStudy):
        return test.test, test.cands if cands is None else cands.require(len(test.test))
    checks.a_kind(test, TestSet, "test is a TestSet, as load() gives, or a study")
    if not isinstance(cands, CandidateSet):
        raise DataError(
            "cands is a CandidateSet, as load_candidates() gives; of a study they are its own."
        )
    return test, cands.require(len(test), test.name)


def _segments(test: TestSet, segments: Sequence[int] | None) -> list[int]:
    """The sources that are shown: those asked for, which must have a reference."""
    there = test.referenced
    if segments is None:
        segments = np.flatnonzero(there).tolist()
    shown = [
        checks.whole("segments", one, 0, len(test) - 1) for one in dict.fromkeys(list(segments))
    ]
    if without := [one for one in shown if not there[one]]:
        raise DataError(
            f"segment {without[0]} has no reference, so chrF cannot be computed; leave it out."
        )
    if not shown:
        raise DataError("there is no source to translate; give segments, each with a reference.")
    return shown


def _task(test: TestSet, signatures: Sequence[str]) -> str:
    """12 hex digits of what is translated and who judges it: sentences of one task can be compared."""
    said = json.dumps([list(test.srcs), test.streams, list(signatures)], ensure_ascii=False)
    return hashlib.sha256(said.encode()).hexdigest()[:12]


def _candidates(
    test: TestSet, cands: CandidateSet, shown: Sequence[int], scored: Any
) -> dict[int, Points]:
    """The candidates of each source that is shown, without copies of references and texts without a score."""
    rows = [i for i in np.flatnonzero(np.isin(cands.segment, shown)) if cands.texts[i].strip()]
    texts, segment = [cands.texts[i] for i in rows], cands.segment[rows]
    found: dict[int, Points] = {one: [] for one in shown}
    for row, one, *point in zip(rows, segment.tolist(), *scored(texts, segment), strict=True):
        if np.isfinite(point).all():
            found[one].append((cands.tags[row], cands.texts[row], *map(float, point)))
    if empty := [one for one, points in found.items() if not points]:
        raise DataError(
            f"no candidate of segment {empty[0]} has both scores; leave the segment out."
        )
    return found


def _others(also: Any, task: str, shown: Sequence[int], scored: Any) -> dict[int, Points]:
    """The sentences of a class for each source that is shown, scored anew."""
    found: dict[int, Points] = {one: [] for one in shown}
    if also is None or not len(also):
        return found
    if other := [one for one in also["task"].unique() if one != task]:
        raise DataError(
            f"these sentences are of task '{other[0]}', and this is '{task}': other sources, references or judges; "
            "open the test set on whose page they were written."
        )
    rows = also[also["segment"].isin(shown)]
    accuracy, naturalness = (
        scored(rows["text"].tolist(), rows["segment"].tolist()) if len(rows) else ([], [])
    )
    _tell_other_scores(rows, accuracy, naturalness)
    for who, one, text, *point in zip(
        rows["who"], rows["segment"], rows["text"], accuracy, naturalness, strict=True
    ):
        if np.isfinite(point).all():
            found[int(one)].append((str(who), text, *map(float, point)))
    drawn = also["segment"].isin(shown).to_numpy()
    drawn[drawn] = np.isfinite([accuracy, naturalness]).all(axis=0)
    if not drawn.all():
        first = also[~drawn].iloc[0]
        note(
            f"{(~drawn).sum()} of {len(also)} sentences are left out (first: '{first.text:.40}', of {first.who}, "
            f"segment {first.segment}): this page does not show their source, or a judge has no score for them."
        )
    return found


def _tell_other_scores(rows: pd.DataFrame, chrf: Any, critic: Any) -> None:
    """A note where sentences have other scores than their file says: a text or a segment was changed on the way."""
    said = rows[["chrf", "critic"]].to_numpy(dtype=float)
    apart = np.abs(said - np.column_stack([chrf, critic])) > ROUNDED
    if (other := apart.any(axis=1)).any():
        first = rows[other].iloc[0]
        note(
            f"{other.sum()} of {len(rows)} sentences have other scores here than in their files (first: "
            f"'{first.text:.40}', segment {first.segment}): their texts or segments were changed after they were "
            "saved. Shown are the scores of the texts as they are."
        )


def _language(critic: Critic, test: TestSet) -> dict[str, Any]:
    """The critic's language, by name, and what a text must have to be taken for another one's."""
    name = NAMES.get(code := short_code(critic.language), code)
    references = (text for texts in test.streams for text in texts if text)
    return {"name": name, "least": least_known(critic, references), "words": FEWEST}


def _tell_foreign(critic: Critic, language: dict[str, Any], others: dict[int, Points]) -> None:
    """A note where sentences of a class may be in another language than the critic's."""
    rows = [(i, who, text) for i, some in others.items() for who, text, *_ in some]
    if strange := [row for row in rows if foreign(critic, row[2], language["least"])]:
        segment, who, text = strange[0]
        note(
            f"{len(strange)} of {len(rows)} sentences do not read as {language['name']} (first: '{text:.40}', of "
            f"{who}, segment {segment}): what the critic says of another language means nothing. The page marks them."
        )


def _segment(test: TestSet, i: int, points: Points, others: Points) -> dict[str, Any]:
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
        "box": [
            *_span([p[3] for p in points + others], MARGIN),
            *_span([p[2] for p in points + others], HEADROOM, 100.0),
        ],
        "also": [list(point) for point in others],
    }
    return made | ({"gloss": test.glosses[i]} if test.glosses else {})


def _span(values: Sequence[float], above: float, most: float = math.inf) -> tuple[float, float]:
    """From and to of an axis: the values and a margin, a larger one above them."""
    low, high = min(values), max(values)
    width = max(high - low, 1.0)
    return low - MARGIN * width, min(high + above * width, most + 1)


def _picture(segment: dict[str, Any]) -> Any:
    """The chart of one source where no script may run: its candidates, and the line of those that the oracle takes."""
    x0, x1, y0, y1 = segment["box"]
    return plot_one_source(
        segment["accuracy"],
        segment["naturalness"],
        ((x0, x1), (y0, y1)),
        accuracy_title="chrF, points →",
        naturalness_title="critic, nats →",
    )


def _printed(segment: dict[str, Any]) -> str:
    """One source on paper: its text, a row per candidate that the oracle takes with its smallest β, and the class."""
    chrf, nats = segment["accuracy"], segment["naturalness"]
    rows = [
        (
            legible(start),
            segment["tags"][k],
            number(chrf[k], 1),
            number(nats[k], 2),
            segment["texts"][k],
        )
        for k, start in zip(segment["chain"], segment["beta"], strict=True)
    ]
    rows += [("", who, number(a, 1), number(n, 2), text) for who, text, a, n in segment["also"]]
    caption = f"Source {segment['id']}: {segment['src']} What the oracle takes:"
    return plain_table(caption, ("from β", "candidate", "chrF", "critic", "translation"), rows)
