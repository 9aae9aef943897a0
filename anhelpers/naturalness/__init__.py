"""Naturalness: scores that read the target text alone (AN §4.1, §5.1)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
