"""Cross-mutual information: how many bits of a sentence the source explains, from the scores of two models."""

from .measure import cross_entropy, per_character, xmi, xmi_difference
from .results import Bits, Xmi, XmiPerChar
from .scores import unit_doubt
from .tables import xmi_rows, xmi_table

__all__ = [
    "Bits", "Xmi", "XmiPerChar", "cross_entropy", "per_character", "unit_doubt", "xmi", "xmi_difference", "xmi_rows",
    "xmi_table",
]  # fmt: skip
