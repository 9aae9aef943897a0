"""Cross-mutual information: how many bits of a sentence the source explains, from the scores of two models."""

from .measure import characters, cross_entropy, per_character, pointwise_xmi, xmi, xmi_difference
from .models import ModelXmi, load_q_lm, xmi_from_models
from .results import Xmi, XmiPerChar
from .scores import score_doubts, unit_doubt
from .tables import xmi_rows, xmi_table

__all__ = [
    "ModelXmi",
    "Xmi",
    "XmiPerChar",
    "characters",
    "cross_entropy",
    "load_q_lm",
    "per_character",
    "pointwise_xmi",
    "score_doubts",
    "unit_doubt",
    "xmi",
    "xmi_difference",
    "xmi_from_models",
    "xmi_rows",
    "xmi_table",
]
