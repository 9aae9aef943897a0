"""The AN function A(N) of eq. 3, solved exactly on finite spaces (AN §3, Theorems 3.1 and B.1)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
