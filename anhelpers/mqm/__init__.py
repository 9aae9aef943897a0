"""Expert ratings (MQM): error weights, the penalties of systems, and how much of these is due to the raters."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
