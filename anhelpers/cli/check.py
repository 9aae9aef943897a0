"""`anhelpers check`: what is installed and what is not."""

from __future__ import annotations

import argparse

HELP = "say what is installed, what is missing for which feature, and what mends it"
EXAMPLE = "anhelpers check"


def options(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(args: argparse.Namespace) -> None:
    """Print the report."""
    from ..doctor import report

    print(report())
