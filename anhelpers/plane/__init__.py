"""Systems on the accuracy-naturalness plane: scores, intervals, the oracle curve, and the paper's claim."""

from .local import (
    FEWEST,
    correlation_gap,
    correlations,
    distinct_systems,
    frontier_distance,
    local_correlation,
    verdict,
)
from .mono import overshoot, with_mono
from .oracle import (
    OracleStudy,
    curve_rows,
    judged_studies,
    oracle_studies,
    oracle_study,
    with_human_points,
)
from .paired import at_the_edge, cannot_decide, paired_tests, with_ranks
from .ratings import (
    Join,
    fluency_rows,
    join_ratings,
    metric_against,
    rated_plane,
    rated_texts,
    rating_axis,
    stored_against,
)
from .scores import Axis, Plane, mean_axis, stored_axis
from .systems import metric_axis, outside_of, plane_of, system_plane, with_sanity_systems
from .table import few_documents, pareto, sliced_table, slices, systems_table

__all__ = [
    "FEWEST",
    "Axis",
    "Join",
    "OracleStudy",
    "Plane",
    "at_the_edge",
    "cannot_decide",
    "correlation_gap",
    "correlations",
    "curve_rows",
    "distinct_systems",
    "few_documents",
    "fluency_rows",
    "frontier_distance",
    "join_ratings",
    "judged_studies",
    "local_correlation",
    "mean_axis",
    "metric_against",
    "metric_axis",
    "oracle_studies",
    "oracle_study",
    "outside_of",
    "overshoot",
    "paired_tests",
    "pareto",
    "plane_of",
    "rated_plane",
    "rated_texts",
    "rating_axis",
    "sliced_table",
    "slices",
    "stored_against",
    "stored_axis",
    "system_plane",
    "systems_table",
    "verdict",
    "with_human_points",
    "with_mono",
    "with_ranks",
    "with_sanity_systems",
]
