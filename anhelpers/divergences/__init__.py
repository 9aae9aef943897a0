"""How far a system's output distribution q is from the reference r: exact on finite spaces, estimated from samples.

`pmf` : between distributions. `samples` : from samples of scores or categories, and eq. 14. `mmd` : from samples
of vectors; `naturalness.ngrams` makes vectors of texts. `critics`, `processes` : as seen by a population of critics
(eqs. 4, 31, Appendix E).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
