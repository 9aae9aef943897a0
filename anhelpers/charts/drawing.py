"""Charts drawn by a process beside this one: Python goes on meanwhile, and where drawing fails, only that process ends.

The library that draws reserves more addresses than a limit on them (`ulimit -v`) leaves, and then aborts.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Any

from ..errors import AnhelpersError, need

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

__all__ = ["NO_PICTURE", "InScript", "NotDrawn", "draw_all", "drawn_aside"]

NO_PICTURE = "no picture: "
"""With which the sentence begins that stands for a picture."""

SERVE = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from anhelpers.charts.drawing import draw_all
draw_all()
"""


class NotDrawn(AnhelpersError, RuntimeError):
    """A picture cannot be drawn here, though what it shows is known: results are written without it."""


class InScript(json.JSONEncoder):
    """JSON in which no text can end the script element around it."""

    def encode(self, o: Any) -> str:
        return super().encode(o).replace("<", "\\u003c")


def drawn_aside(call: str, subject: dict | str | None = None, **options: Any) -> Future[bytes]:
    """What the library makes of a specification or an SVG text, as soon as it is there; in the order of the calls.

    Parameters
    ----------
    call : the name of the library's function; "page" is altair's page. subject, options : what it is called with.

    Raises
    ------
    The Future's result raises NotDrawn where the process that draws has ended, and ValueError with the library's words
    for a specification that is none.
    """
    asked = json.dumps([call, subject, options]).encode()
    return _asking(os.getpid()).submit(_answer, asked)


@cache
def _asking(pid: int) -> ThreadPoolExecutor:
    """One thread of this process; a fork of it has none, and makes its own."""
    return ThreadPoolExecutor(1, "anhelpers-draws")


@cache
def _beside(pid: int) -> subprocess.Popen:
    """The process that draws for this one, until its standard input is closed."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", SERVE, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # who interrupts a computation does not mean this
    )
    atexit.register(_end, process, pid)
    return process


def _end(process: subprocess.Popen, pid: int) -> None:
    """End it, and what it draws; in a fork of the process that began it, nothing.

    Its input would tell it, too, but that a fork may hold open.
    """
    if os.getpid() == pid:
        process.kill()
        with suppress(OSError, ValueError):  # its pipes are broken, or closed already
            process.communicate()


def _answer(asked: bytes) -> bytes:
    """Asked of a second process where the first has ended, unless a limit ended it, as it would the second."""
    try:
        return _asked(asked)
    except NotDrawn:
        if _limit() is not None:
            raise
        return _asked(asked)


def _asked(asked: bytes) -> bytes:
    process: Any = _beside(os.getpid())
    try:
        process.stdin.write(asked + b"\n")
        process.stdin.flush()
        kind, size = process.stdout.readline().split()
        made = process.stdout.read(int(size))
        if len(made) < int(size):
            raise EOFError
    except (OSError, ValueError, EOFError):  # it has ended
        _beside.cache_clear()
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)  # for its own status; one that says what is no answer has not ended
        _end(process, os.getpid())
        raise NotDrawn(_why(process.returncode)) from None
    if kind == b"refused":
        raise ValueError(made.decode())
    return made


def _limit() -> float | None:
    """Bytes of addresses that this process may use; None without a limit."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0] if resource is not None else -1
    return None if resource is None or limit == resource.RLIM_INFINITY else limit


def _why(status: int) -> str:
    if (limit := _limit()) is None:
        return (
            f"{NO_PICTURE}the process that draws has ended twice (status {status}), as happens when "
            "memory runs out; close other programs, and run again for the picture."
        )
    return (
        f"{NO_PICTURE}this process may use {limit / 2**30:.1f} GB of addresses, and the library "
        "that draws wants more; run again after `ulimit -v unlimited` for the picture."
    )


def draw_all() -> None:
    """Draw what is asked for, a line each, until nobody can ask any more."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    for line in sys.stdin.buffer:
        try:
            kind, made = b"made", _made(*json.loads(line))
        except Exception as error:  # of the library, of which only the words are told
            kind, made = b"refused", str(error).encode()
        answers.write(b"%s %d\n%s" % (kind, len(made), made))
        answers.flush()


def _made(call: str, subject: Any, options: dict[str, Any]) -> bytes:
    if call == "page":
        page = io.StringIO()
        chart: Any = need("altair", "drawing charts").Chart.from_dict(subject)
        chart.save(page, format="html", inline=True, json_kwds={"cls": InScript})
        return page.getvalue().encode()
    made = getattr(need("vl_convert", "drawing charts"), call)(subject, **options)
    return made if isinstance(made, bytes) else made.encode()
