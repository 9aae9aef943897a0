"""Texts to scores: tidy tables of a test set's scores, and the cache that keeps slow scores on disk.

`tables` turns systems into rows. A slow scorer calls `cache.cached`, which deduplicates its inputs, reuses cached
scores and commits new ones.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
