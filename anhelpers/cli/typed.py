"""What was typed, looked at before anything is done: numbers in their ranges, texts that are texts."""

from __future__ import annotations

import argparse
import re

from .. import checks
from ..errors import DataError

__all__ = ["check_typed", "prints"]

RANGES = {
    "seed": (0, checks.LARGEST_SEED),
    "draws": (2, checks.MOST_DRAWS),
    "vocab": (2, 10**9),
    "batch_tokens": (1, 10**9),
    "epochs": (1, 10**6),
    "n": (1, 10**6),
    "batch": (1, 10**6),
    "steps": (1, 10**9),
    "held_out": (1, 10**9),
    "words": (1, 10**6),
    "seeds": (2, 10**6),
    "longest": (1, 10**6),
    "minutes": (0, 10**6),
}
"""The smallest and the largest number that an option of this name takes, in whichever command."""

MAY_BE_EMPTY = {"name", "stop", "system", "task"}
"""Options whose empty text means something; of all others it is what an unset variable of a shell leaves."""


POSITIONAL = {"candidates", "file", "files", "names", "native", "notebooks", "text", "translated"}


def check_typed(args: argparse.Namespace) -> None:
    """A DataError for a number out of its range, an option that is empty or holds no text, a device of no kind."""
    for name, (least, most) in RANGES.items():
        number = getattr(args, name, None)
        if number is not None and not least <= number <= most:
            told = f"at least {least}" if number < least else f"at most {most}"
            raise DataError(f"{_typed(name)} is {number}; it must be {told}.")
    place = getattr(args, "device", None)
    if place and not re.fullmatch(r"cpu(:0)?|cuda(:\d+)?", place.strip()):
        raise DataError(
            f"there is no device '{place}' here; there is cpu, and cuda or cuda:1 where there is a GPU."
        )
    for name, value in vars(args).items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                _check_text(name, text)


def prints(args: argparse.Namespace) -> bool:
    """Whether the result of this command goes to standard output, and nowhere else."""
    only = args.command in ("check", "data") or getattr(args, "action", None) == "info"
    return only or ("output" in args and args.output is None)


def _typed(name: str) -> str:
    """An option as one types it; an argument without a name by what it is."""
    if name in POSITIONAL:
        return f"an argument ({name})"
    return f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"


def _check_text(name: str, text: str) -> None:
    """A DataError for an option that is empty, or holds what no file's name and no text can hold."""
    if not text.strip() and name not in MAY_BE_EMPTY and not (name == "store" and text):
        raise DataError(f"{_typed(name)} is empty; give a value, or leave it out.")
    try:
        if "\0" in text:
            raise ValueError
        text.encode("utf-8", "strict" if name in MAY_BE_EMPTY else "surrogateescape")
    except ValueError:
        raise DataError(
            f"{_typed(name)} is '{text}', which holds what is no character; type it anew."
        ) from None
