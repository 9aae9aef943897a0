"""Systems on the accuracy-naturalness plane: scores, intervals, the oracle curve, and the paper's claim."""

from ..rooms import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
