"""Accuracy: scores of a translation beside its references, its source, or both (AN eq. 1)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
