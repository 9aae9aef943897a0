"""How a command ends before its time: Ctrl-C and SIGTERM take the same way out, on which what is done is kept."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Terminated", "mute", "stoppable"]


class Terminated(KeyboardInterrupt):
    """SIGTERM, as batch systems send it when the time is over."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Inside, SIGTERM is raised like Ctrl-C, in the process and thread that asked for it and in no forked one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = os.getpid()

    def end(number: int, frame: object) -> None:
        if os.getpid() != asked:
            os._exit(128 + number)
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def mute() -> None:
    """Standard output goes nowhere from now on: what nobody reads, or no disk takes, must not fail again at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
