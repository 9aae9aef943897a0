"""Accuracy: scores of a translation beside its references, its source, or both (AN eq. 1)."""

from ..rooms import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
