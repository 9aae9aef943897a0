"""Cross-mutual information: how many bits of a sentence the source explains, from the scores of two models."""

from ..rooms import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
