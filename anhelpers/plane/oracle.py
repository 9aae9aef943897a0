"""Candidates and systems on the accuracy-naturalness plane (AN §5): scores, oracle curve, and systems below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, product
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from .._lazy import pd
from ..bootstrap import Resamples
from ..data.human import RATED
from ..data.schema import CandidateSet, TestSet
from ..errors import DataError
from ..frontier import OracleCurve, most_at, oracle_curve
from ..metrics import Metric, fitting_metrics
from ..scoring import lookup, scorable, score_all
from .scores import AXES, Plane, _Axis, mean_axis
from .systems import _training_notes, plane_of
from .table import systems_table

if TYPE_CHECKING:
    from ..naturalness.lm import LanguageModel


@dataclass(frozen=True)
class OracleStudy:
    """Candidates of a test set, scored on both axes, with their oracle curve and the systems.

    Parameters
    ----------
    test, cands : TestSet, CandidateSet
        Restricted to the S segments that all systems share; n candidates.
    accuracy, naturalness : (n,) arrays
        Scores of the candidates, higher is better.
    plane : Plane
        The systems of `test` on the same axes.
    metrics : (Metric, Metric)
        Of accuracy and naturalness.
    curve : OracleCurve
        The exact oracle curve over the candidates.
    notes : tuple of str
        What was left out, and why.
    """

    test: TestSet
    cands: CandidateSet
    accuracy: np.ndarray
    naturalness: np.ndarray
    plane: Plane
    metrics: tuple[Metric, Metric]
    curve: OracleCurve
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        sizes = f"{len(self.test)} segments, {len(self.cands)} candidates"
        axes = " against ".join(metric.label for metric in self.metrics)
        return f"OracleStudy({self.test.name}: {sizes}, {axes}; {self.curve!r})"

    def domain(self, name: str) -> OracleStudy:
        """Restrict the study to the segments of one domain."""
        checks.one_of(name, dict.fromkeys(self.test.domains), "domain")
        return _restricted(self, np.flatnonzero(np.array(self.test.domains) == name))

    def systems(self, rng: np.random.Generator | None = None, n_draws: int = 1000) -> pd.DataFrame:
        """Return `systems_table` with gaps to the curve, among_candidates, and candidates (the id of the curve).

        Gaps are comparable if `candidates` and both signatures are equal. If all outputs of a system are candidates,
        its gap and interval are at least 0. Without `rng`, each call draws the same resamples.
        """
        table = systems_table(self.plane, rng or np.random.default_rng(0), n_draws, self.curve)
        table["among_candidates"] = self._offered(table.system.tolist())
        gaps = [c for c in table if c.startswith(("accuracy_gap", "naturalness_gap"))]
        table.loc[table.among_candidates, gaps] = (
            table.loc[table.among_candidates, gaps].clip(lower=0.0) + 0.0
        )
        return table.assign(candidates=self.cands.id)

    def _offered(self, systems: Sequence[str]) -> np.ndarray:
        """(k,) bool: all outputs of the system are candidates."""
        offered = np.ones(len(systems), dtype=bool)
        hyps = [self.test.systems[name] for name in systems]
        for i, own in enumerate(map(set, self.cands.by_source())):
            offered &= np.array([texts[i] in own for texts in hyps], dtype=bool)
        return offered

    def candidates(self) -> pd.DataFrame:
        """Return a row per candidate: segment, doc, domain, tag, accuracy, naturalness, text."""
        where, cands = self.cands.segment, self.cands
        docs, domains = np.array(self.test.docs)[where], np.array(self.test.domains)[where]
        columns = {"segment": where, "doc": docs, "domain": domains, "tag": cands.tags}
        scores = {"accuracy": self.accuracy, "naturalness": self.naturalness, "text": cands.texts}
        return pd.DataFrame(columns | scores)

    def vertices(self) -> pd.DataFrame:
        """Return a row per vertex: beta (from which it is optimal), both scores, n, signatures, candidates."""
        curve, (accuracy, naturalness) = self.curve, self.metrics
        columns = {"beta": curve.beta, "accuracy": curve.accuracy, "naturalness": curve.naturalness}
        return pd.DataFrame(columns).assign(
            n=curve.n_segments,
            accuracy_signature=accuracy.signature,
            naturalness_signature=naturalness.signature,
            candidates=self.cands.id,
        )


def with_human_points(test: TestSet, references: Sequence[str] | None = None) -> TestSet:
    """Keep some references, and turn the others into systems of category human (AN Figure 2).

    A system that copies a kept reference is left out, since its score against itself is perfect. A reference that lacks
    texts is not a human point. Notes name both.

    Parameters
    ----------
    references : sequence of str, optional
        References for the metrics, or ["all"]; default: the first.
    """
    if not test.refs:
        return test
    wanted = [str(test.reference)] if references is None else list(references)
    wanted = list(test.refs) if wanted == ["all"] else wanted
    chosen = {name: test.refs[checks.one_of(name, test.refs, "reference")] for name in wanted}
    notes = [f"{system}: left out, a copy of {ref}." for system, ref in test.copies.items()]
    test = test.without(test.copies)
    others = {
        name: texts
        for name, texts in test.refs.items()
        if any(texts) and texts not in chosen.values()
    }
    for name in [name for name, texts in others.items() if not all(texts)]:
        lacking = others.pop(name).count("")
        notes.append(f"reference {name}: no human point, lacks {lacking} of {len(test)} texts.")
    others = {
        name if name not in test.systems else f"{name} (reference)": texts
        for name, texts in others.items()
    }
    categories = {**test.categories, **dict.fromkeys(others, "human")}
    systems = {**test.systems, **others}
    notes = (*test.notes, *notes)
    return replace(test, refs=chosen, systems=systems, categories=categories, notes=notes)


def without_sparse(test: TestSet, max_blank_share: float) -> TestSet:
    """Remove systems whose share of blank outputs exceeds the limit.

    Segments that a remaining system leaves blank are later dropped for all systems.
    """
    most = max_blank_share * len(test)
    sparse = [system for system, blank in test.blanks.items() if blank > most]
    notes = (f"{s}: left out, over {max_blank_share:.1%} of outputs are blank." for s in sparse)
    return replace(test.without(sparse), notes=(*test.notes, *notes))


def oracle_study(
    test: TestSet,
    cands: CandidateSet,
    accuracy: Metric | str = "chrf",
    naturalness: Metric | str | None = None,
) -> OracleStudy:
    """Score all candidates and systems on both axes; trace the oracle curve on the segments that all share.

    Parameters
    ----------
    test : TestSet
        Sources, references (all for the metric) and systems. A segment without the reference or source that a metric
        needs is left out.
    cands : CandidateSet
        Candidates of the oracle; those tagged only as a reference or human system are left out.
    accuracy, naturalness : Metric or str
        Metrics, or their names as in `scoring.lookup.metric`; oriented so that higher is better. Without naturalness it
        is `scoring.default_naturalness`: native in German and English, else lpp.

    Returns
    -------
    OracleStudy
        Its `curve`, `systems()`, and `candidates()` in the order of `curve.select(beta)`.
        ``an.plot_curve(study.curve, study.systems())`` draws it; ``an.explore(study)`` has a slider for β.
    """
    naturalness = naturalness or lookup.default_naturalness(test.trg_lang)
    return oracle_studies(test, cands, [accuracy], [naturalness])[0]


def _metric_of(
    axis: str, metric: Metric | str, test: TestSet, lm: LanguageModel | str | None = "gemma-3-270m"
) -> Metric:
    """Look up a metric of this axis by its name."""
    if isinstance(metric, Metric):
        return metric
    lookup.row_of(metric, axis)
    return lookup.metric(metric, test, lm=lm)


def oracle_studies(
    test: TestSet,
    cands: CandidateSet,
    accuracies: Sequence[Metric | str],
    naturalnesses: Sequence[Metric | str],
) -> list[OracleStudy]:
    """Return `oracle_study` by each accuracy with each naturalness, on the same segments and candidates.

    Each metric scores once. With several pairs, segments are left out on which some metric has no score (nan) for a
    system or a candidate.

    Parameters
    ----------
    accuracies, naturalnesses : sequences of Metric or str
        At least one of each.
    """
    by, beside = (
        [_metric_of(axis, one, test) for one in metrics]
        for axis, metrics in zip(AXES, (accuracies, naturalnesses), strict=True)
    )
    human = [name for name in test.systems if test.categories[name] == "human"]
    cands = cands.require(len(test), test.name).without([*test.refs, *human]).without_blanks()
    scored = [[_scored(test, cands, metric) for metric in metrics] for metrics in (by, beside)]
    curve: Any = None  # of the shared segments, below
    studies = []
    for accuracy, naturalness in product(*scored):
        plane = plane_of(test, accuracy[2], naturalness[2], shared=None)
        metrics = accuracy[0], naturalness[0]
        studies.append(
            OracleStudy(test, cands, accuracy[1], naturalness[1], plane, metrics, curve, ())
        )
    planes = [study.plane for study in studies]
    left_out = dict.fromkeys(
        note for plane in planes for note in plane.shared().notes[len(plane.notes) :]
    )
    rows = np.all([plane.shared_rows() for plane in planes], axis=0)
    usable = np.all([scorable(test, metric) for metric in (*by, *beside)], axis=0)
    if lost := np.flatnonzero(rows & ~usable).tolist():
        told = f"left out without source or reference, first in line {lost[0] + 1}."
        left_out[f"{len(lost)} of {len(rows)} segments {told}"] = None
    rows &= usable
    for metric, values, _ in chain(*scored) if len(studies) > 1 else ():
        without = np.zeros(len(rows), dtype=bool)
        without[cands.segment[np.isnan(values)]] = True
        if (without & rows).any():
            n = f"{(without & rows).sum()} of {len(rows)}"
            left_out[f"{n} segments are left out: {metric.name} does not score a candidate."] = None
        rows &= ~without
    dropped = np.zeros(len(cands), dtype=bool)
    if len(studies) == 1:
        both = [getattr(studies[0], axis) for axis in AXES]
        dropped, rows, unscored = _unscored(cands, both, rows)
        left_out |= dict.fromkeys(unscored)
    checks.some(rows, "no segment has candidates with scores by every metric. Leave one out.")
    if dropped.any():
        scores = {axis: getattr(studies[0], axis)[~dropped] for axis in AXES}
        studies = [replace(studies[0], cands=cands.take(~dropped), **scores)]
    seen = _training_notes(test.name, [metric.name for metric in beside])
    notes = [*test.notes, *cands.notes, *seen, *left_out]
    return [
        replace(_restricted(study, np.flatnonzero(rows)), notes=tuple(notes)) for study in studies
    ]


def _unscored(
    cands: CandidateSet, scores: Sequence[np.ndarray], rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return candidates without a score by some metric, segments with other candidates, and notes.

    Parameters
    ----------
    scores : two (n,) arrays
        By each metric, nan if missing.
    rows : (N,) bool array
        The segments.
    """
    without = np.isnan(np.stack(scores)).any(0)
    some = np.bincount(cands.segment[~without], minlength=len(rows)) > 0
    dropped = without & (rows & some)[cands.segment]
    notes = []
    if n := int(dropped.sum()):
        first = cands.segment[dropped][0] + 1
        notes = [f"{n:,} of {len(cands):,} candidates have no score (first: source {first})."]
    if n := int((rows & ~some).sum()):
        notes.append(f"{n} of {len(rows)} segments are left out: no candidate has a score.")
    return dropped, rows & some, notes


def _scored(test: TestSet, cands: CandidateSet, metric: Metric) -> tuple[Metric, np.ndarray, _Axis]:
    """Return a metric, the oriented scores of the candidates, and the axis of the systems."""
    of_cands, of_systems = map(metric.oriented, score_all(test, metric, cands))
    title, bounds = metric.oriented_title, metric.oriented_bounds
    axis = mean_axis(metric.name, title, metric.signature, of_systems, bounds=bounds)
    return metric, of_cands, axis


def _restricted(study: OracleStudy, rows: np.ndarray) -> OracleStudy:
    """Restrict a study to some segments, with their own curve."""
    where = np.full(len(study.test), -1, dtype=np.int64)
    where[rows] = np.arange(len(rows))
    segment = where[study.cands.segment]
    keep = np.flatnonzero(segment >= 0)
    a, n, segment = study.accuracy[keep], study.naturalness[keep], segment[keep]
    parts: dict = {"test": study.test.subset(rows), "plane": study.plane.subset(rows)}
    parts |= {"cands": study.cands._at(keep, segment), "curve": oracle_curve(segment, a, n)}
    return replace(study, **parts, accuracy=a, naturalness=n)


def judged_studies(
    test: TestSet,
    cands: CandidateSet,
    accuracies: Sequence[str],
    naturalnesses: Sequence[str],
    *,
    lm: LanguageModel | None = None,
) -> tuple[list[OracleStudy], tuple[str, ...]]:
    """Return `oracle_studies` by the named metrics that can score these texts, and a sentence for each other one.

    A metric is missing if it has no model of this language, or if candidates have no rating.

    Parameters
    ----------
    accuracies, naturalnesses : sequences of str
        Names for `scoring.lookup`; an axis without any metric is a DataError.
    lm : LanguageModel, optional
        For metrics that need one.
    """

    def made(axis: str, name: str) -> Metric:
        metric = _metric_of(axis, name, test, lm)
        if name.partition(":")[0] in RATED.values():
            _all_rated(test, cands, metric)
        return metric

    names = zip(AXES, (accuracies, naturalnesses), strict=True)
    (by, missing), (beside, also_missing) = (
        fitting_metrics(axis, given, partial(made, axis)) for axis, given in names
    )
    for axis, found, why in (("accuracy", by, missing), ("naturalness", beside, also_missing)):
        if not found:
            raise DataError(" ".join(why) or f"{axis}: got no metric, expected at least one.")
    studies = oracle_studies(test, cands, [*by.values()], [*beside.values()])
    return studies, (*missing, *also_missing)


def _all_rated(test: TestSet, cands: CandidateSet, metric: Metric) -> None:
    """Raise DataError if a candidate with text has no rating."""
    scores, _ = score_all(test, metric, cands)
    if without := int((np.isnan(scores) & [bool(text.strip()) for text in cands.texts]).sum()):
        raise DataError(f"{without} of {len(cands)} candidates have no rating.")


def half_gain_prices(
    studies: Sequence[OracleStudy], rng: np.random.Generator, n_draws: int = 1000
) -> pd.DataFrame:
    """Price of naturalness in a unit that compares across languages (AN §3.1).

    It is the accuracy that the oracle gives up for half of its gain in naturalness between β = 0 and β = ∞, as a share
    of what it gives up for all of the gain. It depends on no unit of either axis; on a straight curve it is 0.5.

    Parameters
    ----------
    studies : sequence of OracleStudy
        By the same judge of naturalness, else DataError: scores of different models do not compare.

    Returns
    -------
    DataFrame with a row per study: name, price in [0, 0.5], low, high : 95 % of resamples of documents, each with its
    own exact curve; accuracy_span, naturalness_span : of the whole curve; candidates per segment, n, n_docs.
    """
    judges = {study.metrics[1].signature for study in studies}
    if len(judges) != 1:
        raise DataError(f"studies: got {len(judges)} judges of naturalness, expected the same one.")
    rows = []
    for study in studies:
        curve, draws = study.curve, Resamples(study.plane.clusters, n_draws, rng)
        blocks = (curve.resampled_judge(w, study.accuracy) for _, w in draws.by_segment())
        drawn = [_half_price(*line) for block in blocks for line in block]
        low, high = np.quantile(drawn, [0.025, 0.975])
        row = {"name": study.test.name, "price": _half_price(curve.accuracy, curve.naturalness)}
        row |= {"low": low, "high": high, "accuracy_span": np.ptp(curve.accuracy)}
        row |= {"naturalness_span": np.ptp(curve.naturalness)}
        row |= {"candidates": len(study.cands) / len(study.test), "n": len(study.test)}
        rows.append(row | {"n_docs": draws.n_clusters})
    return pd.DataFrame(rows)


def _half_price(accuracy: np.ndarray, naturalness: np.ndarray) -> float:
    """Share of the accuracy between the ends of a curve that half of the naturalness costs; nan without a span."""
    if not accuracy[0] > accuracy[-1]:
        return float("nan")
    at = most_at((naturalness[0] + naturalness[-1]) / 2, naturalness, accuracy)
    return float((accuracy[0] - at) / (accuracy[0] - accuracy[-1]))
