"""Candidate translations of a source: drawn from models, and how well they agree with each other."""

from .draw import draw
from .drawing import Drawing, load_drawer
from .mbr import mbr_utility
from .prompts import Prompt, language_name

__all__ = ["Drawing", "Prompt", "draw", "language_name", "load_drawer", "mbr_utility"]


def __dir__() -> list[str]:
    return __all__
