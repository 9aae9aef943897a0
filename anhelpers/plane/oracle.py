"""Candidates and systems on the accuracy-naturalness plane (AN §5): scores, oracle curve, and the systems below it.

`judged_studies` puts the same candidates before several judges of naturalness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from ..data.schema import CandidateSet, TestSet
from ..data.text_ratings import RATED
from ..errors import DataError
from ..frontier import OracleCurve, oracle_curve
from ..metrics import Metric, fitting_metrics
from ..scoring import lookup, scorable, score_all
from .scores import AXES, Axis, Plane, mean_axis
from .systems import plane_of
from .table import systems_table

if TYPE_CHECKING:
    import pandas as pd

    from ..naturalness.lm import LanguageModel


@dataclass(frozen=True)
class OracleStudy:
    """The candidates of a test set, scored on both axes, with their oracle curve and the systems beside it.

    Parameters
    ----------
    test, cands : restricted to the segments that every compared system has text for; S segments, n candidates.
    accuracy, naturalness : (n,) per candidate, turned to higher is better; naturalness is the mean log-probability.
    plane : the systems of `test` on the same two axes.
    metrics : the accuracy and the naturalness Metric, with their signatures.
    curve : the exact oracle curve over these candidates.
    notes : what was left out and why.
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
        """The same study on the segments of one domain."""
        rows = np.flatnonzero(np.array(self.test.domains) == name)
        if not rows.size:
            raise DataError(
                f"no segment is of domain '{name}'; there are "
                f"{', '.join(sorted(set(self.test.domains)))}."
            )
        return _restricted(self, rows)

    def systems(self, rng: np.random.Generator | None = None, n_draws: int = 1000) -> pd.DataFrame:
        """`systems_table` with the gaps to this study's curve, among_candidates, and candidates, the curve's id.

        A system whose every output is a candidate never lies above the curve; another one may. Gaps are comparable
        where `candidates` and both signatures are the same. The gap of a system whose every output is a candidate is at
        least 0, and so are the ends of its interval. Without `rng` every call draws the same resamples.
        """
        table = systems_table(self.plane, rng or np.random.default_rng(0), n_draws, self.curve)
        table["among_candidates"] = self._offered(table.system.tolist())
        gaps = [c for c in table if c.startswith(("accuracy_gap", "naturalness_gap"))]
        table.loc[table.among_candidates, gaps] = (
            table.loc[table.among_candidates, gaps].clip(lower=0.0) + 0.0
        )
        return table.assign(candidates=self.cands.id)

    def _offered(self, systems: Sequence[str]) -> np.ndarray:
        """(k,) bool: every output of the system is a candidate of its source."""
        offered = np.ones(len(systems), dtype=bool)
        hyps = [self.test.systems[name] for name in systems]
        for i, own in enumerate(map(set, self.cands.by_source())):
            offered &= np.array([texts[i] in own for texts in hyps], dtype=bool)
        return offered

    def candidates(self) -> pd.DataFrame:
        """A row per candidate: segment, doc, domain, tag, accuracy, naturalness, text."""
        import pandas as pd

        where, cands = self.cands.segment, self.cands
        docs, domains = np.array(self.test.docs)[where], np.array(self.test.domains)[where]
        columns = {"segment": where, "doc": docs, "domain": domains, "tag": cands.tags}
        scores = {"accuracy": self.accuracy, "naturalness": self.naturalness, "text": cands.texts}
        return pd.DataFrame(columns | scores)


def with_human_points(test: TestSet, references: Sequence[str] | None = None) -> TestSet:
    """The test set with some references kept as references and the others as systems of category human (AN Figure 2).

    A system that is a copy of a reference is that reference: compared with itself it would be perfect. One that is so
    in most texts stays, and is named. A reference that lacks texts is no human point: its gaps would count as blank
    outputs. Notes tell all this, and which systems have the same outputs.

    Parameters
    ----------
    references : names of those that metrics compare with, or ["all"]; by default the default reference alone.
    """
    if not test.refs:
        return test
    wanted = [str(test.reference)] if references is None else list(references)
    wanted = list(test.refs) if wanted == ["all"] else wanted
    chosen = {name: test.refs[checks.one_of(name, test.refs, "reference")] for name in wanted}
    notes = [
        f"{system} is the reference {ref} and is not compared with itself."
        for system, ref in test.copies.items()
    ]
    test = test.without(test.copies)
    others = {
        name: texts
        for name, texts in test.refs.items()
        if any(texts) and texts not in chosen.values()
    }
    for name in [name for name, texts in others.items() if not all(texts)]:
        missing = f"lacks {others.pop(name).count('')} of {len(test)} texts, and is no human point"
        notes.append(
            f"the reference {name} {missing}: compared over fewer segments it would be another "
            "comparison."
        )
    others = {
        name if name not in test.systems else f"{name} (reference)": texts
        for name, texts in others.items()
    }
    categories = {**test.categories, **dict.fromkeys(others, "human")}
    systems = {**test.systems, **others}
    notes = (*test.notes, *notes)
    return replace(test, refs=chosen, systems=systems, categories=categories, notes=notes)


def oracle_study(
    test: TestSet,
    cands: CandidateSet,
    accuracy: Metric | str,
    naturalness: Metric | str,
    *,
    max_blank_share: float = 1.0,
) -> OracleStudy:
    """Score every candidate and every system on both axes, and trace the oracle curve on the segments that all share.

    Parameters
    ----------
    test : sources `srcs`, references `refs` (all are given to the metric) and the systems to place beside the curve. A
        segment without the reference, or the source, that a metric needs is left out.
    cands : the candidates the oracle may choose from. Those tagged as a reference or human system
        only are left out; the `id` of the others names the curve.
    accuracy, naturalness : the two metrics, or their names as in `scoring.lookup.metric`; either direction, both are
        turned to higher is better.
    max_blank_share : systems with a larger share of blank outputs leave the comparison (not the candidates). Each that
        stays removes its blank segments for all, so that every mean is over the same segments.

    Returns
    -------
    `plane.OracleStudy`: its `curve`, `systems()` below it, and `candidates()`, a row for each in the order that
    `curve.select(beta)` counts in. ``an.plot_curve(study.curve, study.systems())`` draws it, ``an.explore(study)`` lets
    one drag β.
    """
    axes = [accuracy], [naturalness]
    return oracle_studies(test, cands, *axes, max_blank_share=max_blank_share)[0]


def _metric_of(axis: str, metric: Metric | str, test: TestSet) -> Metric:
    """The metric itself, or that of a name, which must be one of its axis."""
    checks.a_kind(metric, (Metric, str), f"{axis} is a Metric or the name of one, such as 'chrf'")
    if isinstance(metric, Metric):
        return metric
    lookup.row_of(metric, axis)
    return lookup.metric(metric, test)


def oracle_studies(
    test: TestSet,
    cands: CandidateSet,
    accuracies: Sequence[Metric | str],
    naturalnesses: Sequence[Metric | str],
    *,
    max_blank_share: float = 1.0,
) -> list[OracleStudy]:
    """`oracle_study` by each accuracy with each naturalness, in this order, all on the same segments and candidates.

    Every metric scores once. The segments are those that every pair of metrics could be on; where there are several
    pairs, one with a candidate that some metric gives no score (nan) is left out too, for all, and told.

    Parameters
    ----------
    accuracies, naturalnesses : metrics or their names, at least one of each.
    max_blank_share : as in `oracle_study`.
    """
    checks.a_kind(test, TestSet, "test is a TestSet, as load() and the readers give")
    checks.a_kind(cands, CandidateSet, "cands is a CandidateSet, as load_candidates() gives")
    by, beside = (
        [_metric_of(axis, one, test) for one in metrics]
        for axis, metrics in zip(AXES, (accuracies, naturalnesses), strict=True)
    )
    test, notes = without_sparse(test, max_blank_share)
    human = [name for name in test.systems if test.categories[name] == "human"]
    given = cands.require(len(test), test.name).without([*test.refs, *human])
    cands = given.without_blanks()
    scored = [[_scored(test, cands, metric) for metric in metrics] for metrics in (by, beside)]
    curve: Any = None  # drawn below, over the shared segments
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
    rows &= np.all([scorable(test, metric) for metric in (*by, *beside)], axis=0)
    for metric, values, _ in chain(*scored) if len(studies) > 1 else ():
        without = np.zeros(len(rows), dtype=bool)
        without[cands.segment[np.isnan(values)]] = True
        if (without & rows).any():
            left_out[
                f"{(without & rows).sum()} of {len(rows)} segments are left out: {metric.name} "
                "gives a candidate there no score."
            ] = None
        rows &= ~without
    dropped = np.zeros(len(cands), dtype=bool)
    if len(studies) == 1:
        both = [getattr(studies[0], axis) for axis in AXES]
        dropped, rows, unscored = _unscored(cands, both, rows)
        left_out |= dict.fromkeys(unscored)
    if not rows.any():
        raise DataError("no segment has a score of its candidates by every metric; leave one out.")
    asked = rows[cands.segment] & ~dropped
    for axis, of_axis in zip(AXES, scored, strict=True):
        for _, values, _ in of_axis:
            _all_scored(axis, given, np.where(asked, values, 0.0))
    if dropped.any():
        scores = {axis: getattr(studies[0], axis)[~dropped] for axis in AXES}
        studies = [replace(studies[0], cands=cands.take(~dropped), **scores)]
    notes = [*test.notes, *cands.notes, *notes, *left_out]
    return [
        replace(_restricted(study, np.flatnonzero(rows)), notes=tuple(notes)) for study in studies
    ]


def _unscored(
    cands: CandidateSet, scores: Sequence[np.ndarray], rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the candidates without a score by some metric, the segments that have others, and notes.

    Parameters
    ----------
    scores : (n,) of each metric, nan where there is none. rows : (N,) bool, the segments.
    """
    without = np.isnan(np.stack(scores)).any(0)
    some = np.bincount(cands.segment[~without], minlength=len(rows)) > 0
    dropped = without & (rows & some)[cands.segment]
    notes = []
    if n := int(dropped.sum()):
        notes = [
            f"{n:,} of {len(cands):,} candidates {'has' if n == 1 else 'have'} no score by one of the metrics, and "
            f"{'is' if n == 1 else 'are'} left out (the first is of source {cands.segment[dropped][0] + 1})."
        ]
    if n := int((rows & ~some).sum()):
        notes.append(f"{n} of {len(rows)} segments are left out: no candidate has a score there.")
    return dropped, rows & some, notes


def without_sparse(test: TestSet, max_blank_share: float) -> tuple[TestSet, list[str]]:
    """The test set without the systems of which more outputs are blank, and a sentence for each of these.

    Parameters
    ----------
    max_blank_share : from 0 to 1. A system that stays removes its blank segments for all.
    """
    if not 0 <= max_blank_share <= 1:
        raise DataError(f"the largest share of blanks is {max_blank_share:g}; give 0 to 1.")
    sparse = [s for s, blank in test.blanks.items() if blank > max_blank_share * len(test)]
    kept = {s: hyps for s, hyps in test.systems.items() if s not in sparse}
    notes = [
        f"{s}: left out of the comparison, more than {max_blank_share:.1%} of its outputs are "
        "blank."
        for s in sparse
    ]
    if sparse and not kept:
        raise DataError(
            f"more than {max_blank_share:.1%} of the outputs of every system are blank; allow more."
        )
    return replace(test, systems=kept, categories={s: test.categories[s] for s in kept}), notes


def _scored(test: TestSet, cands: CandidateSet, metric: Metric) -> tuple[Metric, np.ndarray, Axis]:
    """A metric, the oriented scores of the candidates, and the axis of the systems."""
    of_cands, of_systems = map(metric.oriented, score_all(test, metric, cands))
    title, bounds = metric.oriented_title, metric.oriented_bounds
    return (
        metric,
        of_cands,
        mean_axis(metric.name, title, metric.signature, of_systems, bounds=bounds),
    )


def _all_scored(axis: str, given: CandidateSet, values: np.ndarray) -> None:
    """A DataError for a candidate whose score is not finite, by its place in the candidates as they were given."""
    scores = np.zeros(len(given))
    scores[[bool(text.strip()) for text in given.texts]] = values
    checks.finite_scores(axis, scores, given.segment)


def _restricted(study: OracleStudy, rows: np.ndarray) -> OracleStudy:
    """The study on some segments, its curve drawn anew."""
    where = np.full(len(study.test), -1, dtype=np.int64)
    where[rows] = np.arange(len(rows))
    old, keep = study.cands, np.flatnonzero(where[study.cands.segment] >= 0)
    ids = old.ids and [old.ids[i] for i in keep]
    texts, tags = ([column[i] for i in keep] for column in (old.texts, old.tags))
    cands = replace(
        old,
        segment=where[old.segment[keep]],
        texts=texts,
        tags=tags,
        ids=ids,
        multiplicity=old.multiplicity[keep],
        logprob=old.logprob[keep],
    )
    a, n = study.accuracy[keep], study.naturalness[keep]
    return replace(
        study,
        test=study.test.subset(rows),
        cands=cands,
        accuracy=a,
        naturalness=n,
        plane=study.plane.subset(rows),
        curve=oracle_curve(cands.segment, a, n),
    )


def curve_rows(study: OracleStudy) -> pd.DataFrame:
    """A row per vertex: beta (from which it is optimal), accuracy, naturalness, n, both signatures, candidates (id)."""
    import pandas as pd

    accuracy, naturalness = study.metrics
    curve = study.curve
    return pd.DataFrame(
        {
            "beta": curve.beta,
            "accuracy": curve.accuracy,
            "naturalness": curve.naturalness,
            "n": curve.n_segments,
            "accuracy_signature": accuracy.signature,
            "naturalness_signature": naturalness.signature,
            "candidates": study.cands.id,
        }
    )


def judged_studies(
    test: TestSet,
    cands: CandidateSet,
    accuracies: Sequence[str],
    naturalnesses: Sequence[str],
    *,
    lm: LanguageModel | None = None,
    max_blank_share: float = 1.0,
) -> tuple[list[OracleStudy], tuple[str, ...]]:
    """An oracle study by each named judge of naturalness that these texts have, and a sentence for each missing one.

    A judge is missing where its metric is a DataError for this language, as without a bundled critic, or where
    candidates have no rating. One that is named twice counts once.

    Parameters
    ----------
    accuracies : names for `scoring.lookup.accuracy_metric`.
    naturalnesses : names for `scoring.lookup.naturalness_metric`, with `lm` for those that need a language model.
    max_blank_share : as in `oracle_study`.

    Raises
    ------
    DataError : an axis has no judge at all.
    """

    def rated(name: str, metric: Metric) -> Metric:
        if name.partition(":")[0] in RATED.values():
            _all_rated(test, cands, metric)
        return metric

    def accuracy(name: str) -> Metric:
        return rated(name, lookup.accuracy_metric(name, test.trg_lang, test.n_refs))

    def naturalness(name: str) -> Metric:
        return rated(name, lookup.naturalness_metric(name, test.trg_lang, lm))

    by, missing = fitting_metrics("accuracy", accuracies, accuracy)
    beside, also_missing = fitting_metrics("naturalness", naturalnesses, naturalness)
    for axis, found, why in (("accuracy", by, missing), ("naturalness", beside, also_missing)):
        if not found:
            raise DataError(" ".join(why) or f"there is no judge of {axis}; name one.")
    studies = oracle_studies(
        test, cands, [*by.values()], [*beside.values()], max_blank_share=max_blank_share
    )
    return studies, (*missing, *also_missing)


def _all_rated(test: TestSet, cands: CandidateSet, metric: Metric) -> None:
    """A DataError where a candidate with text has no rating."""
    scores, _ = score_all(test, metric, cands)
    if without := int((np.isnan(scores) & [bool(text.strip()) for text in cands.texts]).sum()):
        raise DataError(f"{without} of {len(cands)} candidates have no rating.")
