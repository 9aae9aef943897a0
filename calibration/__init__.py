"""How often intervals cover, tests reject and verdicts are right, in simulated worlds whose truth is known."""

import os

os.environ["ANHELPERS_STORE"] = "off"
