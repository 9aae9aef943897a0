"""Cross-mutual information: how many bits of a sentence the source explains, from the scores of two models."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
