"""Systems on the accuracy-naturalness plane: scores that add up, intervals, the oracle curve, the claim."""

from .local import FEWEST, distinct_systems, frontier_distance, local_correlation, verdict
from .oracle import OracleStudy, curve_rows, oracle_study, with_human_points
from .ratings import (
    Join,
    fluency_rows,
    join_ratings,
    metric_against,
    rated_plane,
    rated_texts,
    rating_axis,
    stored_against,
)  # fmt: skip
from .sanity import with_sanity_systems
from .scores import Axis, Plane, mean_axis, metric_axis, plane_of, stored_axis, system_plane
from .table import paired_tests, pareto, sliced_table, slices, systems_table

__all__ = [
    "FEWEST", "Axis", "Join", "OracleStudy", "Plane", "curve_rows", "distinct_systems", "fluency_rows",
    "frontier_distance", "join_ratings", "local_correlation", "mean_axis", "metric_against", "metric_axis",
    "oracle_study", "paired_tests", "pareto", "plane_of", "rated_plane", "rated_texts", "rating_axis", "sliced_table",
    "slices", "stored_against", "stored_axis", "system_plane", "systems_table", "verdict", "with_human_points",
    "with_sanity_systems",
]  # fmt: skip
