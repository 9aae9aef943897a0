"""What an interruption leaves behind: cached scores, whole files, and the exit status."""

import os

import pytest

from anhelpers.data.io import write_atomic

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    file = write_atomic(tmp_path / "a.csv", "old")

    def stopped(part, path):
        assert (part.read_text("utf-8"), path.read_text("utf-8")) == ("new", "old")
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(file, "new")
    assert [*tmp_path.iterdir()] == [file]
    assert file.read_text("utf-8") == "old"
    monkeypatch.undo()
    assert write_atomic(file, "new").read_text("utf-8") == "new"
