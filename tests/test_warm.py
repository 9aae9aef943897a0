"""Kernels that are forked from a process that has imported everything: what they share, and what they must not."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from anhelpers import warm
from anhelpers.execution import execute

pytestmark = [
    pytest.mark.notebook,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks kernels"),
]

TOLD = "import os, sys\nprint(os.getppid(), 'altair' in sys.modules)"


def notebook(folder, name, *sources):
    cells = [nbformat.v4.new_code_cell(text) for text in sources]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path = Path(folder, f"{name}.ipynb")
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)
    return path


def printed(path, out):
    outcome = execute(path, {}, out)
    assert outcome.error is None, outcome.error
    cells = nbformat.read(outcome.notebook, 4).cells
    return [one.text.strip() for cell in cells for one in cell.outputs]


@pytest.fixture
def process(monkeypatch):
    """The process of `ready`, of this test alone."""
    monkeypatch.setattr(warm, "_warm", None)
    started, popen = [], subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda *a, **k: started.append(popen(*a, **k)) or started[-1]
    )
    with warm.ready():
        monkeypatch.setattr(subprocess, "Popen", popen)
        yield started[0]


def test_kernels_are_its_children_and_have_everything_imported(process, tmp_path):
    path = notebook(tmp_path, "one", TOLD)
    assert [printed(path, tmp_path / "out") for _ in range(2)] == [[f"{process.pid} True"]] * 2


def test_a_kernel_has_the_environment_the_folder_and_the_path_of_one_started_as_always(
    process, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANHELPERS_DATA", "/nowhere/ä b")
    path = notebook(
        tmp_path,
        "one",
        "import os, signal, sys\nnames = [n for n in sorted(os.environ) if n != 'JPY_PARENT_PID']\n"
        "print({n: os.environ[n] for n in names if n != 'JUPYTER_RUNTIME_DIR'}, os.getcwd(), sys.path)\n"
        "print([signal.getsignal(n) for n in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT)])",
        "import __main__\nprint(__name__, __main__.__name__, hasattr(__main__, 'warm'), sys.argv[0][-18:])",
        "print(os.popen('echo a child of it').read(), end='')",
    )
    forked = printed(path, tmp_path / "out")
    monkeypatch.setattr(warm, "_warm", None)
    usual = printed(path, tmp_path / "out")
    assert forked[0] == usual[0]
    assert forked[2] == usual[2] == "a child of it"
    assert forked[1].split()[:3] == ["__main__", "__main__", "False"]
    assert "/nowhere/ä b" in forked[0]


def test_two_notebooks_draw_other_numbers_where_no_seed_is_set(process, tmp_path):
    path = notebook(
        tmp_path,
        "draws",
        "import random, numpy\nprint(numpy.random.random(), numpy.random.default_rng().random(), random.random())",
    )
    one, two = (printed(path, tmp_path / "out")[0].split() for _ in range(2))
    assert not {*one} & {*two}


def test_an_environment_that_libraries_may_have_read_gets_a_kernel_of_its_own(
    process, tmp_path, monkeypatch
):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    (said,) = printed(notebook(tmp_path, "one", TOLD), tmp_path / "out")
    assert said == f"{os.getpid()} False"


def test_without_the_process_kernels_are_started_as_always(process, tmp_path):
    process.kill()
    process.wait()
    (said,) = printed(notebook(tmp_path, "one", TOLD), tmp_path / "out")
    assert said == f"{os.getpid()} False"


def test_a_kernel_that_is_killed_is_told(process, tmp_path):
    path = notebook(tmp_path, "dies", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    assert execute(path, {}, tmp_path / "out").error.startswith("its kernel was killed")


def test_a_block_within_a_block_has_the_same_process_and_leaves_it(process, tmp_path):
    with warm.ready():
        pass
    (said,) = printed(notebook(tmp_path, "one", TOLD), tmp_path / "out")
    assert said == f"{process.pid} True"


def test_where_no_process_can_be_watched_kernels_are_started_as_always(tmp_path, monkeypatch):
    def unknown(pid):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(warm, "_warm", None)
    monkeypatch.setattr(os, "pidfd_open", unknown)
    with warm.ready():
        assert warm.kernel_manager() is None


def alive(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")")[-1].split()[0] != "Z"
    return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_stays_behind_an_owner_that_is_killed(tmp_path, number):
    """The process and its kernels end, although nobody tells them."""
    path = notebook(
        tmp_path,
        "waits",
        f"import os, time\nopen({str(tmp_path / 'pids')!r}, 'w').write(f'{{os.getpid()}} {{os.getppid()}} .')\n"
        "time.sleep(600)",
    )
    rest = notebook(tmp_path, "after", "1")  # of two, and one at a time, kernels are forked
    paths, out = [str(rest), str(path)], str(tmp_path / "out")
    code = f"from anhelpers.execution import run; run({paths!r}, out={out!r})"
    owner = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    pids, until = tmp_path / "pids", time.monotonic() + 60
    while not (pids.exists() and pids.read_text().endswith(".")):
        assert time.monotonic() < until
        time.sleep(0.05)
    kernel, server = map(int, pids.read_text().split()[:2])
    assert b"warm.serve" in Path(f"/proc/{server}/cmdline").read_bytes()
    assert alive(kernel)
    assert alive(server)
    os.kill(owner.pid, number)
    owner.wait()
    until = time.monotonic() + 30
    while alive(kernel) or alive(server):
        assert time.monotonic() < until
        time.sleep(0.1)
