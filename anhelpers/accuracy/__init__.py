"""Accuracy: scores that compare a translation with references (AN eq. 1)."""
