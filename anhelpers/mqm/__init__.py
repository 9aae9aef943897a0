"""Expert ratings (MQM): error weights, the penalties of systems, and the share of the raters in these."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
