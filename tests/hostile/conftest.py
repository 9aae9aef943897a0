"""What the tests of bad input share: the valid files, a copy of them to damage, and an end to what hangs."""

import signal

import pytest

from .good import fill


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The folder of valid files."""
    return fill(tmp_path_factory.mktemp("good"))


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The same, to be damaged and mended."""
    return fill(tmp_path_factory.mktemp("here"))


@pytest.fixture(autouse=True)
def at_once():
    """What hangs, such as a pipe that is waited for, ends after 20 seconds."""

    def stop(*_):
        raise TimeoutError("after 20 seconds it still hung")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
