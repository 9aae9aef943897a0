"""Widgets: the β explorer, for a live notebook, an exported page and a headless run."""
