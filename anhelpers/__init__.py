"""Analysis helpers for the accuracy-naturalness tradeoff in machine translation.

Nothing heavy is loaded here: import the module you need, e.g. ``from anhelpers import frontier``.
"""

__version__ = "0.1.0"
