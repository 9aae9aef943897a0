"""Charts: each takes plain arrays or a tidy frame and returns an Altair chart; nothing is enabled on import."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
