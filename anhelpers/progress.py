"""Progress of long computations: a bar in a terminal or notebook, plain lines elsewhere, always on stderr."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from .errors import without_password

__all__ = ["note", "note_once", "progress", "say", "time_left"]

SECONDS_BETWEEN_LINES = 30.0
SECONDS_TO_THE_FIRST = 10.0
EARLY = 0.05  # of the work, before which its pace tells little: libraries are loaded there


def say(line: str) -> None:
    """Print a line on standard error; where that is closed, full or read by nobody, the line is lost and work goes on.

    A line that could go to standard output instead, as `print` does where there is no standard error, would stand
    amid a table.
    """
    if sys.stderr is None:
        return
    with suppress(OSError, ValueError):  # ValueError: closed since
        print(without_password(line), file=sys.stderr, flush=True)


def note(sentence: str) -> None:
    """What a user should know of data or scores and need not stop for."""
    say(f"note: {sentence}")


@functools.cache
def note_once(sentence: str) -> None:
    """A note that is printed once in a process, however often it would be said."""
    note(sentence)


@contextmanager
def progress(total: int, what: str, unit: str = "it") -> Iterator[Callable[..., None]]:
    """Yield a function to call with the number of units just done and, in words, what else to show.

    Parameters
    ----------
    total : how many units there are. what : happens, as shown before the bar.

    >>> with progress(3, "counting") as step:
    ...     step(3, "loss 0.5")
    """
    if sys.stderr is not None and sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(total=total, desc=what, unit=unit, file=sys.stderr, leave=False) as bar:

            def step(n: int, said: str = "") -> None:
                bar.set_postfix_str(said, refresh=False)
                bar.update(n)

            yield step
    else:
        yield _plain_lines(total, what, unit)


def _plain_lines(total: int, what: str, unit: str) -> Callable[..., None]:
    """A line after 10 s and every half minute, so that short work says nothing; a headless notebook would keep it."""
    done, begin = 0, time.monotonic()
    due = begin + min(SECONDS_TO_THE_FIRST, SECONDS_BETWEEN_LINES)

    def step(n: int, said: str = "") -> None:
        nonlocal done, due
        done += n
        now = time.monotonic()
        if now >= due and os.environ.get("ANX_MODE") != "static":
            share = f"{what}: {done:,} of {total:,} {unit} ({done / max(total, 1):.0%})"
            rest = (now - begin) * (total / done - 1) if done > EARLY * total else 0.0
            say(", ".join(filter(None, [share, said or time_left(rest)])))
            due = now + SECONDS_BETWEEN_LINES

    return step


def time_left(seconds: float) -> str:
    """How long something may still take, in words; nothing for less than a second.

    >>> time_left(100), time_left(20), time_left(0.2)
    ('about 2 min left', 'about 20 s left', '')
    """
    if seconds < 1:
        return ""
    return f"about {seconds / 60:.0f} min left" if seconds >= 90 else f"about {seconds:.0f} s left"
