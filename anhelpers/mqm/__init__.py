"""Expert ratings (MQM): error weights, the penalties of systems, and how much of these is due to the raters."""

from .scores import (
    DOMAINS,
    KINDS,
    LEVELS,
    Matrix,
    MqmScores,
    Scheme,
    Weights,
    base_system,
    choose_scheme,
    domain_of,
    load_scheme,
    load_weights,
    score_ratings,
)
from .severity import adjust_raters
from .table import rater_notes, system_table

__all__ = [
    "DOMAINS",
    "KINDS",
    "LEVELS",
    "Matrix",
    "MqmScores",
    "Scheme",
    "Weights",
    "adjust_raters",
    "base_system",
    "choose_scheme",
    "domain_of",
    "load_scheme",
    "load_weights",
    "rater_notes",
    "score_ratings",
    "system_table",
]
