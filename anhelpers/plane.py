"""Candidates and systems on the accuracy-naturalness plane (AN §5): scores, oracle curve, points with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .data.schema import CandidateSet, TestSet
from .errors import DataError
from .frontier import OracleCurve, oracle_curve
from .metric import Metric
from .scoring import score_all
from .stats import bootstrap_means

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OracleStudy", "curve_rows", "oracle_study", "systems_table", "with_human_points"]


@dataclass(frozen=True)
class OracleStudy:
    """The candidates of a test set, scored on both axes, with their oracle curve and the systems beside it.

    Parameters
    ----------
    test, cands : restricted to the segments that every compared system has text for; S segments, n candidates.
    accuracy, naturalness : (n,) per candidate, turned to higher is better; naturalness is the mean log-probability.
    system_accuracy, system_naturalness : (S, systems) in the order of `test.systems`, likewise.
    metrics : the accuracy and the naturalness Metric, with their signatures.
    curve : the exact oracle curve over these candidates.
    notes : what was left out and why.
    """

    test: TestSet
    cands: CandidateSet
    accuracy: np.ndarray
    naturalness: np.ndarray
    system_accuracy: np.ndarray
    system_naturalness: np.ndarray
    metrics: tuple[Metric, Metric]
    curve: OracleCurve
    notes: tuple[str, ...]

    def domain(self, name: str) -> OracleStudy:
        """The same study on the segments of one domain."""
        rows = np.flatnonzero(np.array(self.test.domains) == name)
        if not rows.size:
            raise DataError(f"no segment is of domain '{name}'; there are {', '.join(sorted(set(self.test.domains)))}.")
        return _restricted(self, rows)

    def systems(self, rng: np.random.Generator, n_draws: int = 1000) -> pd.DataFrame:
        """`systems_table` of this study, with two columns more.

        below_curve : how much more accuracy the oracle has at the system's naturalness, in the metric's points; never
            negative where among_candidates : every output of the system is one of the candidates.
        """
        table = systems_table(self.test, self.system_accuracy, self.system_naturalness, rng, n_draws)
        offered = set(zip(self.cands.segment.tolist(), self.cands.texts, strict=True))
        table["below_curve"] = self.curve.accuracy_at(table.naturalness) - table.accuracy
        table["among_candidates"] = [
            all(pair in offered for pair in enumerate(self.test.systems[name])) for name in table.system
        ]
        return table

    def candidates(self) -> pd.DataFrame:
        """A row per candidate: segment, doc, domain, tag, accuracy, naturalness, text."""
        import pandas as pd

        where, cands = self.cands.segment, self.cands
        docs, domains = np.array(self.test.docs)[where], np.array(self.test.domains)[where]
        columns = {"segment": where, "doc": docs, "domain": domains, "tag": cands.tags}
        scores = {"accuracy": self.accuracy, "naturalness": self.naturalness, "text": cands.texts}
        return pd.DataFrame(columns | scores)


def systems_table(
    test: TestSet, accuracy: np.ndarray, naturalness: np.ndarray, rng: np.random.Generator, n_draws: int = 1000
) -> pd.DataFrame:
    """A row per system: means on both axes (segment-mean level) with 95 % intervals from resampling documents jointly.

    Columns: system, category, accuracy, accuracy_low, accuracy_high, naturalness, naturalness_low, naturalness_high,
    n (segments), n_docs. Where there is one document only, segments are resampled; one segment has no interval (nan).
    """
    import pandas as pd

    names, k = list(test.systems), len(test.systems)
    if not k:
        return pd.DataFrame(columns=["system", "category", "accuracy", "naturalness", "n", "n_docs"])
    clusters: Sequence = test.docs if len(set(test.docs)) > 1 else range(len(test))
    scores = np.hstack([accuracy, naturalness])
    if len(test) > 1:
        m = bootstrap_means(scores, clusters, rng, n_draws)
        mean, low, high, n_docs = m.mean, m.low, m.high, m.n_clusters
    else:  # one segment has a score, and no interval
        mean, low, high, n_docs = scores[0], np.full(2 * k, np.nan), np.full(2 * k, np.nan), 1
    columns = {"system": names, "category": [test.categories[s] for s in names]}
    for axis, cut in (("accuracy", slice(0, k)), ("naturalness", slice(k, None))):
        columns |= {axis: mean[cut], f"{axis}_low": low[cut], f"{axis}_high": high[cut]}
    return pd.DataFrame(columns | {"n": len(test), "n_docs": n_docs})


def with_human_points(test: TestSet) -> TestSet:
    """The test set with every reference but the first as one more "system" of category human, as in AN Figure 2."""
    others = {name: texts for name, texts in test.refs.items() if name != test.reference and name not in test.systems}
    categories = test.categories | dict.fromkeys(others, "human")
    return replace(test.one_reference(), systems=test.systems | others, categories=categories)


def oracle_study(
    test: TestSet, cands: CandidateSet, accuracy: Metric, naturalness: Metric, max_blank_share: float = 1.0
) -> OracleStudy:
    """Score every candidate and every system on both axes, and trace the oracle curve on the segments that all share.

    Parameters
    ----------
    test : sources, references (all are given to the metric) and the systems to place beside the curve.
    cands : the candidates the oracle may choose from.
    accuracy, naturalness : the two metrics; either direction, both are turned to higher is better.
    max_blank_share : systems with a larger share of blank outputs leave the comparison (not the candidates). Each that
        stays removes its blank segments for all, so that every mean is over the same segments.
    """
    sparse = [s for s, blank in test.blanks.items() if blank > max_blank_share * len(test)]
    kept = {s: hyps for s, hyps in test.systems.items() if s not in sparse}
    notes = [
        f"{s}: left out of the comparison, more than {max_blank_share:.1%} of its outputs are blank." for s in sparse
    ]
    test = replace(test, systems=kept, categories={s: test.categories[s] for s in kept})
    cands = cands.without_blanks()
    (a, system_a), (n, system_n) = (
        map(metric.oriented, score_all(test, metric, cands)) for metric in (accuracy, naturalness)
    )
    study = OracleStudy(test, cands, a, n, system_a, system_n, (accuracy, naturalness), None, ())
    rows = np.isfinite(study.system_accuracy + study.system_naturalness).all(1)
    if not rows.any():
        raise DataError(
            "no segment has text from every system; lower max_blank_share, or leave the sparse systems out."
        )
    if not rows.all():
        notes.append(
            f"{int((~rows).sum())} of {len(rows)} segments are left out: some compared system has no text there."
        )
    study = _restricted(study, np.flatnonzero(rows))
    return replace(study, notes=(*test.notes, *cands.notes, *notes))


def _restricted(study: OracleStudy, rows: np.ndarray) -> OracleStudy:
    """The study on some segments, its curve drawn anew; a candidate without two finite scores is an error there."""
    where = np.full(len(study.test), -1)
    where[rows] = np.arange(len(rows))
    keep = where[study.cands.segment] >= 0
    old = study.cands
    cands = CandidateSet(
        where[old.segment[keep]], tuple(t for t, k in zip(old.texts, keep, strict=True) if k),
        tuple(t for t, k in zip(old.tags, keep, strict=True) if k), notes=old.notes,
    )  # fmt: skip
    a, n = study.accuracy[keep], study.naturalness[keep]
    return replace(
        study, test=study.test.subset(rows), cands=cands, accuracy=a, naturalness=n,
        system_accuracy=study.system_accuracy[rows], system_naturalness=study.system_naturalness[rows],
        curve=oracle_curve(cands.segment, a, n),
    )  # fmt: skip


def curve_rows(study: OracleStudy) -> pd.DataFrame:
    """All vertices of the curve: beta (from which the vertex is optimal), accuracy, naturalness, n, both signatures."""
    import pandas as pd

    accuracy, naturalness = study.metrics
    curve = study.curve
    return pd.DataFrame({
        "beta": curve.beta, "accuracy": curve.accuracy, "naturalness": curve.naturalness, "n": curve.n_segments,
        "accuracy_signature": accuracy.signature, "naturalness_signature": naturalness.signature,
    })  # fmt: skip
