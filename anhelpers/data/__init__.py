"""Test sets, candidate translations and monolingual texts: one schema for each, one reader for each format.

`load("teaching")` gives a TestSet, `load_candidates("teaching")` its CandidateSet, `load_mono("teaching")` German
written by people. Everything else is read by the `read_` function of its format.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
