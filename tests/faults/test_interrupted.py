"""What an interruption leaves behind: cached scores, whole files, and the exit status."""

import os
import subprocess
import sys

import pytest

from anhelpers.cli import main
from anhelpers.data.io import write_atomic
from anhelpers.scoring.cache import STORE

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

STOPPED = """
import os, signal, sys
import anhelpers.naturalness.lm as lm
from anhelpers.cli import main
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
COUNTED = """
import sys
import anhelpers.naturalness.lm as lm
from anhelpers.cli import main
n, score = [], lm._computed
lm._computed = lambda *given: n.append(len(given[-1])) or score(*given)
status = main(sys.argv[1:])
print("scored", sum(n))
sys.exit(status)
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

    def run(code):
        line = [sys.executable, "-c", code, *command, str(out)]
        return subprocess.run(
            line, capture_output=True, text=True, env=os.environ | {STORE: str(kept)}
        )

    stopped = run(STOPPED)
    assert stopped.returncode == 130, stopped.stderr
    assert str(kept) in stopped.stderr
    assert not out.exists()
    resumed = run(COUNTED)
    assert (resumed.returncode, resumed.stdout.split()[-1]) == (0, "12"), resumed.stderr
    monkeypatch.setenv(STORE, "off")
    assert main([*command, str(tmp_path / "whole.csv")]) == 0
    whole = (tmp_path / "whole.csv").read_text("utf-8").splitlines()
    assert len(out.read_text("utf-8").splitlines()) == len(whole) == 21
