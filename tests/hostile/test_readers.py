"""A bad file ends in one sentence that names it: every reader, every kind of damage."""

from __future__ import annotations

import os
import re
import unicodedata

import pytest

from anhelpers.data import lines
from anhelpers.errors import AnhelpersError

from .bad import ALL, damaged
from .good import FORMATS


def sentence(message: str) -> None:
    """One line of printable characters that ends as a sentence does, and is short enough to be read."""
    assert not any(
        unicodedata.category(c) in ("Cc", "Zl", "Zp", "Cs") and c != "\t" for c in message
    ), ascii(message)
    assert len(message) < 2200, len(message)
    assert message.rstrip()[-1] in ".?)", message
    assert not re.search(
        r"Traceback|\bErrno\b|<class|object at 0x|Expecting|codec can't", message
    ), message


@pytest.mark.parametrize("name", FORMATS)
def test_the_undamaged_file_is_read(good, name):
    for read in FORMATS[name].readers.values():
        read(good / name)


@pytest.mark.parametrize("bad", [one for one in ALL if one.file in FORMATS], ids=str)
def test_a_reader_says_what_is_wrong_with_which_file(good, here, monkeypatch, bad):
    monkeypatch.setattr(lines, "PIPE_SECONDS", 0.05)
    with damaged(bad, good, here) as path:
        before = sorted(os.listdir(path.parent))
        for name, read in FORMATS[bad.file].readers.items():
            with pytest.raises(AnhelpersError) as error:
                read(path)
            message = str(error.value)
            sentence(message)
            assert any(
                part in message for part in (path.name, str(path.parent), str(path.parents[1]))
            ), (name, message)
            assert re.search(bad.says, message, re.DOTALL), (
                f"{name} does not say {bad.says!r}: {message}"
            )
            assert [
                one for one in sorted(os.listdir(path.parent)) if one[-4:] not in ("-wal", "-shm")
            ] == before
