"""What an interruption leaves behind: cached scores, whole files, and the exit status."""

import os
import subprocess
import sys

import pytest

from anhelpers.cli import main
from anhelpers.data.io import write_atomic
from anhelpers.naturalness import lm
from anhelpers.scoring.cache import STORE

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

STOPPED = """
import os, signal, sys
import anhelpers.naturalness.lm as lm
from anhelpers.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
lm._CHUNK = 4
calls, score = [], lm._computed
def counted(*given):
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGINT)
    calls.append(given)
    return score(*given)
lm._computed = counted
sys.exit(main(sys.argv[1:]))
"""


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


@pytest.mark.neural
def test_score_keeps_what_it_has_scored_and_resumes(tiny_lm, tmp_path, monkeypatch):
    text = tmp_path / "hyp.de"
    text.write_text("".join(f"Das Haus {i} ist alt.\n" for i in range(20)), "utf-8")
    command = ["score", "-l", "en-de", "-m", "lpp", "--lm", str(tiny_lm), "-t", str(text)]
    command += ["-s", str(text), "--segments", "-o"]
    kept, out = tmp_path / "scores.sqlite", tmp_path / "out.csv"

    line = [sys.executable, "-c", STOPPED, *command, str(out)]
    there = os.environ | {STORE: str(kept)}
    stopped = subprocess.run(line, capture_output=True, text=True, env=there)
    assert stopped.returncode == 130, stopped.stderr
    assert str(kept) in stopped.stderr
    assert not out.exists()
    scored, compute = [], lm._computed
    monkeypatch.setattr(lm, "_computed", lambda *given: scored.extend(given[-1]) or compute(*given))
    monkeypatch.setenv(STORE, str(kept))
    assert main([*command, str(out)]) == 0
    assert len(scored) == 12
    monkeypatch.setenv(STORE, "off")
    assert main([*command, str(tmp_path / "whole.csv")]) == 0
    whole = (tmp_path / "whole.csv").read_text("utf-8").splitlines()
    assert len(out.read_text("utf-8").splitlines()) == len(whole) == 21
