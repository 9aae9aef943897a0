"""Whatever is written is written whole: killed, interrupted or without room at any step, two at once, read-only.

Each case writes "old" and then "new" content. After a fault every file has the bytes of the one or of the other, and
the same work again ends as if nothing had been. The table of all faults is in the README of this folder.
"""

from __future__ import annotations

import errno
import functools
import os
import shutil
import signal
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from anhelpers.candidates.draw import SourceDraws
from anhelpers.candidates.resume import draw_to_file
from anhelpers.report import write_page, write_tables

from anhelpers import cli
from anhelpers.charts import offline
from anhelpers.data import bundled, from_systems, load, read_plain, write_candidates
from anhelpers.notebooks import about, notebook_paths
from anhelpers.scoring.store import Store, key

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]
ABOUT = {path: about(path) for path in notebook_paths()[:2]}
NAMES = [path.stem for path in ABOUT]
SCORE = ["score", "-l", "en-de", "-s", "src", "-r", "ref"]


def _fixed_svg(chart):
    return '<svg width="10" height="10"></svg>'


def _candidates(variant, suffix):
    test = read_plain("src", ["ref"], [f"A={variant}.txt"], "en-de")
    write_candidates(f"out/c{suffix}", from_systems(test))


def _draw(variant):
    """Candidates into a file, of a model that needs no library: its samples are the words of the source."""
    drawing = SimpleNamespace(
        signature=f"draw|model:{variant}",
        tag=variant,
        k=1,
        max_tokens=9,
        start=lambda i, src: None,
        model=SimpleNamespace(name=variant),
    )

    def draws(drawing, missing):
        return (SourceDraws(i, (f"{src} {variant}",), (1,), (-1.0,), 0, 0, 0) for i, src in missing)

    try:
        draw_to_file(drawing, ["The house.", "Rain.", "Yes."], "out/d.jsonl", draws)
    except ValueError as error:
        if "holds another draw" not in str(error):
            raise
        os.unlink("out/d.jsonl.partial")  # as the sentence says
        draw_to_file(drawing, ["The house.", "Rain.", "Yes."], "out/d.jsonl", draws)


@functools.cache
def _teaching():
    return load("teaching")


def _report(variant):
    table = pd.DataFrame({"system": [variant], "accuracy": [1.0]})
    write_tables("out", {"systems": table, "pairs": table})
    write_page("out/plane.html", variant, "<svg></svg>", {"Systems": table, "Words": variant})


def _chart(variant):
    offline.to_svg = lambda chart: _fixed_svg(chart).replace("></svg>", f"><!--{variant}--></svg>")
    offline.save(None, "out/chart.svg", inches=3.3)


CASES = {
    "score csv": lambda v: [*SCORE, "-t", f"A={v}.txt", "-o", "out/x.csv"],
    "score parquet": lambda v: [*SCORE, "-t", f"A={v}.txt", "-o", "out/x.parquet"],
    "score segments": lambda v: [*SCORE, "-t", f"A={v}.txt", "--segments", "-o", "out/x.csv"],
    "score mme": lambda v: [
        *SCORE,
        "-t",
        "A=old.txt",
        "-m",
        {"old": "chrf", "new": "ter"}[v],
        "--mme",
        "out/set",
        "-o",
        "out/x.csv",
    ],
    "mqm": lambda v: [
        "mqm",
        str(bundled("teaching/en-de/mqm.tsv")),
        "--by",
        {"old": "domain", "new": "rater"}[v],
        "-o",
        "out/x.csv",
    ],
    "xmi": lambda v: [
        "xmi",
        "--mt-logprobs",
        f"{v}.num",
        "--lm-logprobs",
        "lm.num",
        "--unit",
        "nats",
        "--draws",
        "9",
        "-o",
        "out/x.csv",
    ],
    "store export": lambda v: [
        "store",
        "export",
        "out/x.parquet",
        "--signature",
        v,
        "--store",
        "s.sqlite",
    ],
    "candidates jsonl": lambda v: lambda: _candidates(v, ".jsonl"),
    "candidates parquet": lambda v: lambda: _candidates(v, ".parquet"),
    "draw to file": lambda v: lambda: _draw(v),
    "report": lambda v: lambda: _report(v),
    "chart": lambda v: lambda: _chart(v),
}
FILES = {
    "src": "The house is old.\nYes.\n",
    "ref": "Das Haus ist alt.\nJa.\n",
    "old.txt": "Das Haus war alt.\nJa.\n",
    "new.txt": "Ein Haus.\nNein.\n",
    "lm.num": "-5\n-4\n",
    "old.num": "-1\n-2\n",
    "new.num": "-3\n-2.5\n",
}


@pytest.fixture(scope="module", autouse=True)
def warm():
    """What the first call of a process loads is loaded here, before any fork."""
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [1]}).to_parquet(os.devnull)
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        _prepare(Path(folder))
        os.chdir(folder)
        try:
            for name in sorted(set(CASES) - {"site", "chart"}):
                act = CASES[name]("old")
                assert (cli.main(act) if isinstance(act, list) else act()) in (0, None)
        finally:
            os.chdir(here)


def _prepare(folder: Path) -> None:
    (folder / "out").mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    for variant in ("old", "new"):
        (folder / f"built-{variant}").mkdir()
        for name in NAMES:
            (folder / f"built-{variant}" / f"{name}.html").write_text(
                f"<html><head></head><body>{variant}</body></html>", "utf-8"
            )
    with Store(folder / "s.sqlite") as store:
        for variant, n in (("old", 3), ("new", 5)):
            store.put(variant, [key(str(i)) for i in range(n)], np.arange(n))


ALIKE = {"score csv", "score parquet", "score segments", "xmi", "candidates jsonl"}
"""They end in the same two lines as others: one test holds them, those of their kind all."""


@pytest.fixture(params=CASES)
def case(request, tmp_path, child, faults):
    """One case with its states: `act` writes the new content; `reset` puts `old` there; `new` is what must come."""
    _prepare(tmp_path)
    make, out, kept = CASES[request.param], tmp_path / "out", tmp_path / "kept"

    def reset(state: str) -> None:
        shutil.rmtree(out)
        shutil.copytree(kept / state, out)

    def done(variant: str) -> dict[str, bytes]:
        run = child(make(variant))
        assert run.wait() == 0, run.text.decode()
        return faults.tree(out)

    shutil.copytree(out, kept / "empty")
    alone = done("new")
    reset("empty")
    old = done("old")
    shutil.copytree(out, kept / "old")
    new = done("new")
    assert old != new != {}
    return SimpleNamespace(
        name=request.param, make=make, out=out, reset=reset, states=(old, new, alone), new=new
    )


def whole(case, now: dict[str, bytes]) -> bool:
    """Whether every file is of one of the states; a site whose folder is just changed may be away, all of it."""
    finished = {name: data for name, data in now.items() if not name.endswith(".partial")}
    if case.name == "site" and not finished:
        return True
    names = {name for state in case.states for name in state} | set(finished)
    return all(finished.get(name) in [state.get(name) for state in case.states] for name in names)


def test_killed_at_any_step_it_is_whole_and_the_same_command_ends_it(case, child, faults):
    for k in range(200):
        case.reset("old")
        run = child(case.make("new"), k, lambda after: os.kill(os.getpid(), signal.SIGKILL))
        status = run.wait()
        assert whole(case, faults.tree(case.out)), k
        if status == 0:
            break
        assert status == -signal.SIGKILL
        again = child(case.make("new"))
        assert again.wait() == 0, again.text.decode()
        assert faults.tree(case.out) == case.new
    assert k >= 2  # at least: a new file, its bytes, its name


def no_room(after: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("case", sorted(set(CASES) - ALIKE), indirect=True)
def test_without_room_from_any_step_on_it_is_told_and_nothing_is_left_over(case, child, faults):
    for k in range(200):
        case.reset("old")
        run = child(case.make("new"), k, no_room, faults.GROWS)
        status = run.wait()
        assert whole(case, faults.tree(case.out)), k
        assert faults.hidden(case.out) == []
        if status == 0:
            break
        assert status == 2, run.text.decode()
        told = [line for line in run.lines() if not line.startswith(("note: ", "wrote "))]
        assert len(told) == 1, told
        assert "No space left on device" in told[0]
    assert k >= 2


TIMES = [
    *((case, 1) for case in sorted(set(CASES) - ALIKE)),
    ("score mme", 2),
    ("draw to file", 2),
]


@pytest.mark.parametrize(("case", "times"), TIMES, indirect=["case"])
def test_interrupted_at_any_step_once_or_twice_it_goes_on(case, child, faults, times):
    def interrupt(after):
        if after < times:
            raise KeyboardInterrupt

    for k in range(200):
        case.reset("old")
        run = child(case.make("new"), k, interrupt, faults.GROWS if times == 1 else faults.EVERY)
        status = run.wait()
        assert whole(case, faults.tree(case.out)), k
        if status == 0:
            break
        assert status == 130, run.text.decode()
        assert "Traceback" not in run.text.decode()
        if times == 1:
            assert faults.hidden(case.out) == []
    assert k >= 2
    again = child(case.make("new"))
    assert again.wait() == 0, again.text.decode()
    assert faults.tree(case.out) == case.new


def test_a_file_that_outgrows_the_disk_is_told_and_removed(case, child, faults):
    """The real thing: the system refuses bytes in the middle of a file."""
    refused = 0
    for room in (0, 10, 10_000):
        case.reset("old")
        run = child(case.make("new"), before=faults.limited(room))
        status = run.wait()
        assert whole(case, faults.tree(case.out)), room
        assert faults.hidden(case.out) == []
        if status:
            refused += 1
            told = [line for line in run.lines() if not line.startswith(("note: ", "wrote "))]
            assert status == 2, told
            assert len(told) == 1, told
            assert "File too large" in told[0] or "could not be read or written" in told[0]
    assert refused


@pytest.mark.parametrize("case", sorted(set(CASES) - ALIKE - {"mqm", "report"}), indirect=True)
def test_two_at_once_leave_what_one_of_them_writes(case, child, faults):
    """One is stopped at each of its steps in turn, while the other runs; then it goes on."""
    for k in range(200):
        case.reset("empty")
        stop = lambda after: after or os.kill(os.getpid(), signal.SIGSTOP)  # noqa: E731
        first = child(case.make("old"), k, stop, {"open", "os.rename"})
        stopped = first.stopped()
        second = child(case.make("new"))
        ends = [second.wait(0.5 if stopped else 60)]
        if stopped:
            os.kill(first.pid, signal.SIGCONT)
            ends = [first.wait(), second.wait() if ends[0] is None else ends[0]]
        assert set(ends) <= {0, 2}
        assert 0 in ends
        assert "Traceback" not in (first.text + second.text).decode()
        assert whole(case, faults.tree(case.out)), k
        assert faults.hidden(case.out) == []
        if not stopped:
            break
    assert k >= 1
