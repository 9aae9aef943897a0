"""The teaching notebooks: the collection, running it headless, and exporting offline pages."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
