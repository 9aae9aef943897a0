"""Widgets for a live notebook, an exported page and a headless run.

Explorers of the oracle curve over β, of A(N) and of divergences; the MQM editor; your own translation
under two automatic judges.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
