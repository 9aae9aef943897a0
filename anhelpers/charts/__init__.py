"""Charts: each takes plain arrays or a tidy frame and returns an Altair chart; nothing is enabled on import."""

from ..rooms import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
