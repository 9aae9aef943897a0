"""Progress bars and notes on stderr."""

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from .errors import one_line


def say(*lines: str, file: TextIO | None = None) -> None:
    """Print lines on stderr or a file, control characters escaped; one that is closed or full is ignored."""
    if (file := file or sys.stderr) is not None:
        end = "\n" if lines else ""
        try:
            print(*map(one_line, lines), sep="\n", end=end, file=file, flush=True)
        except (OSError, ValueError):
            with suppress(OSError, ValueError):  # what is buffered would fail again at exit
                os.dup2(os.open(os.devnull, os.O_WRONLY), file.fileno())


def note(sentence: str) -> None:
    """Print a non-fatal note to stderr."""
    say(f"note: {sentence}")


note_once = functools.cache(note)


@contextmanager
def progress(total: int, what: str, unit: str = "it") -> Iterator[Callable[..., None]]:
    """Context manager: a function to call with the number of units just done, and a text.

    A terminal shows a bar; elsewhere a line appears every 30 s, and none in an executed notebook.

    >>> with progress(3, "counting") as step:
    ...     step(3, "loss 0.5")
    """
    from tqdm import tqdm

    seen = sys.stderr is not None and sys.stderr.isatty()
    off = sys.stderr is None or os.environ.get("ANX_MODE") == "static"
    pace = {} if seen else {"delay": 10, "mininterval": 30}
    how = {"desc": one_line(what), "unit": unit, "leave": False, "disable": off, "file": sys.stderr}
    with tqdm(total=total, **how, **pace) as bar:

        def step(n: int, said: str = "") -> None:
            bar.set_postfix_str(one_line(said), refresh=False)
            bar.update(n)

        yield step
