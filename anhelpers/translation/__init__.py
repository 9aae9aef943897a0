"""Translation models as probabilities: log q_MT(t | s) of given translations under encoder-decoders of transformers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
