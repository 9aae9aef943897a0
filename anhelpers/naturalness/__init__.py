"""Naturalness: scores that read the target text alone (AN §4.1, §5.1)."""

from ..rooms import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
