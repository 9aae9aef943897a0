"""Texts to scores: tidy tables of a test set's scores, and the store that keeps slow scores on disk.

`tables` turns systems into rows. A slow scorer goes through `memo.memo`, which scores equal inputs once, takes what is
known from the score store (`store`) and commits what it computes; `upkeep` shows, prunes, exports and imports a store.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
