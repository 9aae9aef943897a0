"""Kernels that begin with what every notebook imports: forked, on Linux, from one process that has it already."""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .errors import need

__all__ = ["kernel_manager", "ready", "serve"]

LAUNCHER = ["-m", "ipykernel_launcher"]
MODULES = (
    "numba",
    "pandas",
    "altair",
    "anywidget",
    "sacrebleu",
    "ipykernel.ipkernel",
    "ipykernel.kernelapp",
    "anhelpers.charts.curve",
    "anhelpers.plane.oracle",
    "anhelpers.scoring.lookup",
    "anhelpers.widgets.base",
)
"""What nearly every notebook of the collection imports."""

LATER = ("pandas.io.formats.style", "scipy.stats")
"""What half of them import: while nobody waits for a kernel."""

READ_LATE = ("ANHELPERS_", "ANX_", "JPY_", "JUPYTER_", "PYTEST_")
"""How those environment variables begin that nothing reads while it is imported: a kernel may have others of these."""

SERVE = (
    "import sys; sys.path[0] = sys.argv[2]; from anhelpers import warm; del sys.path[0]; "
    "warm.serve(int(sys.argv[1]))"
)
"""This package, and nothing else of the current folder, is imported; a kernel has it on its path later, as always."""

LARGEST = 2**18  # bytes of one order: a command, a folder and an environment

_warm: tuple[socket.socket, dict[str, str]] | None = None


@contextmanager
def ready() -> Iterator[None]:
    """Inside, `kernel_manager` has a process to fork kernels from; where one is there already, it is that one.

    The process ends with this block, with its owner, or when the owner is killed; so do the kernels that are left.
    """
    global _warm
    if _warm is not None or not _can_watch():
        yield
        return
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    root = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", SERVE, str(theirs.fileno()), root]
    with ours:
        process = subprocess.Popen(
            command,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        _warm = ours, _imported_under(os.environ)
        try:
            yield
        finally:
            _warm = None
            process.kill()
            process.wait()


def kernel_manager() -> type | None:
    """A class of kernel managers for nbclient whose kernels are forked from the process of `ready`, or None without it.

    A kernel of another Python, or one whose environment differs in what libraries may read when they are imported, is
    started as always; and so is each where that process is gone.
    """
    if _warm is None:
        return None
    client: Any = need("jupyter_client", "running notebooks")

    class Manager(client.AsyncKernelManager):
        async def _async_launch_kernel(self, kernel_cmd: list[str], **options: Any) -> None:
            forked = _forked(kernel_cmd, options)
            if forked is None:
                await super()._async_launch_kernel(kernel_cmd, **options)
                return
            here = self.provisioner
            here.process, here.pid, here.pgid = forked, forked.pid, forked.pid
            here.cwd = options.get("cwd") or Path.cwd()
            self._reconcile_connection_info(here.connection_info)

    return Manager


def _can_watch() -> bool:
    """Whether a process that is no child can be watched here: Linux since 5.3, and not in every sandbox."""
    if sys.platform != "linux":
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True


def _imported_under(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that a library may have read when it was imported."""
    return {name: value for name, value in environment.items() if not name.startswith(READ_LATE)}


def _forked(command: Sequence[str], options: Mapping[str, Any]) -> _Forked | None:
    """A kernel from the warm process; None where it has to be started as always."""
    environment = dict(options.get("env") or os.environ)
    if _warm is None or [*command[1:3]] != LAUNCHER or not _same_python(command[0]):
        return None
    orders, imported_under = _warm
    if _imported_under(environment) != imported_under:
        return None
    order = {
        "arguments": [*command[3:]],
        "environment": environment,
        "folder": str(options.get("cwd") or os.getcwd()),
    }
    read, write = os.pipe()
    try:
        socket.send_fds(orders, [json.dumps(order).encode()], [write])
        os.close(write)
        write = -1
        answer = os.read(read, 32)
        return _Forked(int(answer)) if answer else None
    except OSError:  # the process is gone, or the kernel already
        return None
    finally:
        os.close(read)
        if write >= 0:
            os.close(write)


def _same_python(executable: str) -> bool:
    """Whether this is the program that runs now: links to one Python may belong to two environments."""
    return os.path.abspath(executable) == os.path.abspath(sys.executable)


class _Forked:
    """As much of subprocess.Popen as jupyter_client asks for, of a process that is no child of this one."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int):
        self.pid = pid
        self._file = os.pidfd_open(pid)
        weakref.finalize(self, os.close, self._file)
        self._watch = select.poll()  # select() takes no file beyond the thousandth
        self._watch.register(self._file, select.POLLIN)

    def poll(self) -> int | None:
        """None while it runs, then 0: how it ended nobody can tell but its parent."""
        return 0 if self._watch.poll(0) else None

    def wait(self, timeout: float | None = None) -> int:
        """Until it has ended; TimeoutExpired after `timeout` seconds."""
        if not self._watch.poll(None if timeout is None else 1000 * timeout):
            raise subprocess.TimeoutExpired(LAUNCHER, timeout or 0)
        return 0

    def send_signal(self, number: int) -> None:
        """Nothing where it has ended."""
        if self.poll() is None:
            signal.pidfd_send_signal(self._file, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def serve(number: int) -> None:
    """Fork a kernel for every order, until nobody is left who could give one.

    Parameters
    ----------
    number : of the open file, a socket, from which orders come.
    """
    orders = socket.socket(fileno=number)
    # whose end ends a kernel; read when ipykernel is imported
    os.environ["JPY_PARENT_PID"] = str(os.getpid())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    _import_all()
    waiting, later = select.poll(), [*LATER]
    waiting.register(orders, select.POLLIN)
    while True:
        while later and not waiting.poll(0):
            importlib.import_module(later.pop(0))
        gc.freeze()
        text, files, _, _ = socket.recv_fds(orders, LARGEST, 1)
        if not text:
            return
        (answer,) = files
        pid = os.fork()
        if pid == 0:
            orders.close()
            os.close(answer)
            _become_kernel(**json.loads(text))
            return
        with suppress(OSError):  # who asked is gone
            os.write(answer, str(pid).encode())
        os.close(answer)


def _import_all() -> None:
    """Import the modules, and use once what is slow the first time."""
    for name in MODULES:
        importlib.import_module(name)
    from .accuracy.surface import surface_metric

    # outside of IPython pandas takes itself to be in a terminal, and shows as many columns as fit there
    importlib.import_module("pandas").set_option("display.max_columns", 20)
    chrf, altair = surface_metric("chrf"), importlib.import_module("altair")
    if chrf.score_segments:  # it can always, which a type checker cannot know
        chrf.score_segments(["a"], [["a"]])
    altair.Chart().mark_point().to_dict()


def _become_kernel(arguments: list[str], environment: dict[str, str], folder: str) -> None:
    """Be the kernel that these arguments, this environment and this folder would have begun."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environment | {"JPY_PARENT_PID": str(os.getppid())})
    os.chdir(folder)
    importlib.import_module("numpy").random.seed()  # else all kernels would draw the same
    sys.argv[:] = ["ipykernel_launcher", *arguments]
    importlib.import_module("ipykernel.kernelapp").launch_new_instance()
