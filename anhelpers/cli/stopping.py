"""How a command starts and how it ends before its time.

It starts with three streams that are open, and tables leave it in UTF-8 wherever it runs. Ctrl-C and SIGTERM take the
same way out, on which what is done is kept.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Terminated", "mute", "open_streams", "stoppable"]


AGAIN = 2.0
"""Seconds after which a process that has been told to end, and goes on, is told again."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, as batch systems send it when the time is over."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Inside, SIGTERM is raised like Ctrl-C, in the process and thread that asked for it and in no forked one.

    Python ignores what is raised while an object is cleared away, or in a library's callback: it is raised again until
    the process is on its way out, which nothing interrupts.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked, out = os.getpid(), threading.Event()

    def tell_again() -> None:
        while not out.wait(AGAIN):
            os.kill(asked, signal.SIGTERM)

    again = threading.Thread(target=tell_again, daemon=True)

    def end(number: int, frame: object) -> None:
        if os.getpid() != asked:
            os._exit(128 + number)
        if again.ident is None and os.name == "posix":
            again.start()
        if not _on_its_way(sys.exc_info()[1]):
            raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except SystemError as error:  # what a compiled loop says that was interrupted, or what it calls
        cause: BaseException | None = error
        while isinstance(cause, SystemError):
            cause = cause.__cause__
        if isinstance(cause, KeyboardInterrupt):
            raise cause from None
        raise
    finally:
        out.set()
        try:
            if again.ident is not None:
                again.join()
        finally:
            signal.signal(signal.SIGTERM, before)


def _on_its_way(error: BaseException | None) -> bool:
    """Whether what is being handled is an interruption, or came while one was."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def open_streams() -> bool:
    """Give this process the three standard streams, those that are closed leading nowhere; whether output was open.

    A file that is opened while one of them is closed would get its number, and with it all that a library prints
    there. A table in a pipe or file is UTF-8, whatever the locale or PYTHONIOENCODING say, as the same table in a file
    of -o is; a terminal keeps its encoding, and shows by their codes the characters that it lacks.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # takes the lowest number that is free, which is this one; a process that is started here needs it, too
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    there = sys.stdout is not None
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding = sys.stdout.encoding if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")
    return there


def mute() -> None:
    """Standard output goes nowhere from now on: what nobody reads, or no disk takes, must not fail again at the end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        # a stream without a number, as in a test or a notebook
        return
