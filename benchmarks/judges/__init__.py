"""What the naturalness metrics are worth: the tables of docs/judges.md and docs/claim.md."""

import os

from .. import STORE

os.environ["ANHELPERS_STORE"] = STORE or ""  # no time is measured here: scores are kept
