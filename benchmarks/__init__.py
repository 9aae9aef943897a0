"""Speed as ratios to reference programs, measured side by side in one run, with agreement in the same row."""

import os

# what is timed is scoring; the benchmark of the store names one of its own
STORE = os.environ.get("ANHELPERS_STORE")
os.environ["ANHELPERS_STORE"] = "off"
