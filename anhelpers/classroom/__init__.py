"""A class of raters: the rating sheet, pooled ratings, agreement, the plane; exercises.

A rating from 1 to 5 is how accurate, or how fluent, one rater finds one translation. A blank one is missing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
