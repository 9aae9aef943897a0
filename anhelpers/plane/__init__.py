"""Systems on the accuracy-naturalness plane: scores, intervals, the oracle curve, and the paper's claim."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
