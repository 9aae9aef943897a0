"""A class: the rating sheet, the students' pooled ratings, their agreement, the systems by these; their sentences.

A rating says on a scale from 1 to 5 how accurate, or how fluent, one rater finds one translation. A blank one is
missing, and stays missing: it is never 0 and never the middle of the scale.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
