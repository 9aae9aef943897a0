"""Expert ratings (MQM): error weights, the penalties of systems, and how much of these is due to the raters."""

from ..rooms import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
