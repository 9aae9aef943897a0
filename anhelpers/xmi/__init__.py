"""Cross-mutual information: how many bits of a sentence the source explains, from the scores of two models."""

from ..rooms import old_names
from .measure import (
    characters,
    per_character,
    pointwise_xmi,
    sentence_cross_entropy,
    xmi,
    xmi_difference,
)
from .models import ModelXmi, load_q_lm, xmi_from_models
from .results import Bits, Xmi, XmiPerChar
from .scores import score_doubts, unit_doubt
from .tables import xmi_rows, xmi_table

__all__ = [
    "Bits",
    "ModelXmi",
    "Xmi",
    "XmiPerChar",
    "characters",
    "load_q_lm",
    "per_character",
    "pointwise_xmi",
    "score_doubts",
    "sentence_cross_entropy",
    "unit_doubt",
    "xmi",
    "xmi_difference",
    "xmi_from_models",
    "xmi_rows",
    "xmi_table",
]

__getattr__ = old_names(__name__, cross_entropy="sentence_cross_entropy")
