"""Naturalness: scores that read the target text alone (AN §4.1, §5.1)."""
