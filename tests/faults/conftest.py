"""Faults on order, in a forked process: the k-th thing it does to a folder fails, stops it, or is its last."""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from anhelpers import cli
from anhelpers.errors import AnhelpersError

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
SECONDS = 60.0


@dataclass
class Child:
    """A forked process: its number, and the pipe into which it speaks."""

    pid: int
    said: int
    text: bytes = b""

    def wait(self, seconds: float = SECONDS) -> int | None:
        """The exit status (minus the signal that killed it); None where it is still running after so long."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            while select.select([self.said], [], [], 0)[0] and (
                block := os.read(self.said, 1 << 16)
            ):
                self.text += block
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while block := os.read(self.said, 1 << 16):
                    self.text += block
                os.close(self.said)
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.002)
        return None

    def stopped(self) -> bool:
        """Wait until it stops itself (True) or is at its end."""
        while not (info := os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)):
            pass
        return info.si_code == os.CLD_STOPPED

    def lines(self) -> list[str]:
        return self.text.decode().splitlines()


def touches(event: str, arguments: tuple, kinds: set[str]) -> bool:
    if event == "open":
        return "open" in kinds and isinstance(arguments[2], int) and bool(arguments[2] & WRITES)
    return event in kinds


@pytest.fixture
def child(tmp_path):
    """A function (what to run, k, fault): run it in a forked process where the k-th step below tmp_path goes wrong.

    What to run: words of a command, or a function; an error of ours ends the process with its sentence and 2.
    A fault is called at every step from the k-th on with the number of the step after it (0, 1, ...).
    """

    def start(
        act, k: int = 0, fault: Callable[[int], None] | None = None, kinds=EVERY, before=None
    ) -> Child:
        sys.stdout.flush(), sys.stderr.flush()
        reads, writes = os.pipe()
        if pid := os.fork():
            os.close(writes)
            return Child(pid, reads)
        status = 70
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.dup2(writes, 1), os.dup2(writes, 2)
            sys.stdout, sys.stderr = (os.fdopen(n, "w", buffering=1, closefd=False) for n in (1, 2))
            os.chdir(tmp_path)
            if before is not None:
                before()
            if fault is not None:
                _watch(str(tmp_path), k, fault, kinds)
            status = cli.main(act) if isinstance(act, list) else _called(act)
        except BaseException as error:  # as an interpreter would end
            import traceback

            traceback.print_exception(error)
            status = 1
        finally:
            os._exit(status)

    return start


EVERY = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir"}
GROWS = {"open", "os.rename", "os.mkdir"}
"""What a full disk refuses."""


def _called(act: Callable[[], object]) -> int:
    try:
        act()
    except AnhelpersError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _watch(root: str, k: int, fault: Callable[[int], None], kinds: set[str]) -> None:
    seen = -1

    def hook(event: str, arguments: tuple) -> None:
        nonlocal seen
        if touches(event, arguments, kinds) and _below(root, arguments):
            seen += 1
            if seen >= k:
                fault(seen - k)

    sys.addaudithook(hook)


def _below(root: str, arguments: tuple) -> bool:
    """Whether a path is below the folder; names within an open folder (rmtree) count as well."""
    path = arguments[0]
    if isinstance(path, int):
        return False
    path = os.fsdecode(path)
    return os.path.abspath(path).startswith(root) or (
        not os.path.isabs(path) and arguments[-1] not in (-1, None)
    )


def limited(n: int) -> Callable[[], None]:
    """Before a child's work: no file may grow beyond n bytes (EFBIG), as on a disk with so much room."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (n, n))


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but what is hidden: path -> bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }


def hidden(folder: Path) -> list[str]:
    """What is left over below a folder."""
    return sorted(path.name for path in folder.rglob(".*"))


@pytest.fixture
def faults():
    """The tools of this folder, for its tests: a folder of tests is no package."""

    class Tools:
        pass

    for one in (limited, tree, hidden):
        setattr(Tools, one.__name__, staticmethod(one))
    Tools.GROWS, Tools.EVERY = GROWS, EVERY
    return Tools
