"""The pseudonym under which somebody hands in ratings or sentences: what it may be, and what is said otherwise."""

from __future__ import annotations

import re

__all__ = ["BAD_NAME", "NAME", "NO_NAME"]

NAME = re.compile(r"""[^=+\-@'\s",;\x00-\x1f\x7f-\x9f][^",;\x00-\x1f\x7f-\x9f]{0,39}""")
NO_NAME = "Enter a pseudonym before you save; no real name is needed."
BAD_NAME = (
    "This pseudonym cannot be written: at most 40 characters without quotes, commas and "
    "semicolons, and none of = + - @ ' at the start."
)
