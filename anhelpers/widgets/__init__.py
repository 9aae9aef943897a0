"""Widgets to drag, for a live notebook, an exported page and a headless run: explorers of the oracle curve over β, of
A(N), of divergences, of corrections, of directions and their bits; the MQM editor; the rating sheet of a class; guesses
that the page remembers."""

from ..rooms import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
