"""Widgets to drag, for a live notebook, an exported page and a headless run: explorers of the oracle curve over β, of
A(N), of divergences, of corrections, of directions and their bits, of a shifting world, of powers of D_p, of small
samples; the MQM editor; the rating sheet of a class; a translation of one's own under two judges; guesses that the page
remembers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
