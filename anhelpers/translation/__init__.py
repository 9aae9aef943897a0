"""Translation models as probabilities: log q_MT(t | s) of given translations under encoder-decoders of transformers."""

from ..rooms import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
