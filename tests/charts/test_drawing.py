"""The process that draws beside this one: the same pictures, and what becomes of both where one of them ends."""

import os
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest
import vl_convert

from anhelpers.charts import drawing, offline

SPEC = {
    "data": {"values": [{"a": 1, "b": 2}]},
    "mark": "point",
    "encoding": {"x": {"field": "a", "type": "quantitative"}},
}
VERSION = offline.VEGALITE_VERSION


@pytest.fixture
def process():
    """The process that draws, of this test alone."""
    drawing._beside.cache_clear()
    drawing.drawn_aside("vegalite_to_svg", SPEC).result()
    yield (own := drawing._beside(os.getpid()))
    drawing._beside.cache_clear()
    drawing._end(own, os.getpid())


def gone(pid, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


def test_the_pictures_are_the_librarys_in_the_order_of_the_calls():
    specs = [{**SPEC, "title": "ä" * n} for n in range(1, 6)]
    asked = [drawing.drawn_aside("vegalite_to_svg", spec, vl_version=VERSION) for spec in specs]
    theirs = [vl_convert.vegalite_to_svg(spec, vl_version=VERSION) for spec in specs]
    assert [one.result().decode() for one in asked] == theirs
    svg = theirs[0]
    assert drawing.drawn_aside("svg_to_png", svg, scale=2.0).result() == vl_convert.svg_to_png(
        svg, scale=2.0
    )


def test_what_is_no_chart_is_refused_in_the_librarys_words_and_the_next_is_drawn(process):
    wrong = drawing.drawn_aside("vegalite_to_svg", {"mark": 3}, vl_version=VERSION)
    with pytest.raises(ValueError, match="conversion failed"):
        wrong.result()
    assert drawing.drawn_aside("vegalite_to_svg", SPEC).result().startswith(b"<svg")
    assert drawing._beside(os.getpid()) is process


def test_where_it_is_killed_another_draws_the_same_picture(process):
    whole = drawing.drawn_aside("vegalite_to_svg", SPEC).result()
    os.kill(process.pid, signal.SIGKILL)
    assert drawing.drawn_aside("vegalite_to_svg", SPEC).result() == whole
    assert drawing._beside(os.getpid()).pid != process.pid
    drawing._end(drawing._beside(os.getpid()), os.getpid())


@pytest.mark.parametrize(
    "says", ["print('a word')", "print('made 3')", "print('made 9999\\nshort')"]
)
def test_what_is_no_answer_is_no_picture(says, monkeypatch):
    monkeypatch.setattr(drawing, "SERVE", says)
    monkeypatch.setattr(drawing, "_beside", cache(drawing._beside.__wrapped__))
    with pytest.raises(drawing.NotDrawn, match="has ended twice"):
        drawing.drawn_aside("vegalite_to_svg", SPEC).result()


def test_what_the_library_prints_is_no_answer(monkeypatch):
    loud = """
from anhelpers.charts import drawing
quiet = drawing._made
drawing._made = lambda *parts: (print("a word", flush=True), quiet(*parts))[1]
draw_all()"""
    monkeypatch.setattr(drawing, "SERVE", drawing.SERVE.replace("\ndraw_all()", loud))
    monkeypatch.setattr(drawing, "_beside", cache(drawing._beside.__wrapped__))
    made = drawing.drawn_aside("vegalite_to_svg", SPEC).result()
    assert made.startswith(b"<svg")
    drawing._end(drawing._beside(os.getpid()), os.getpid())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are POSIX")
def test_a_fork_has_a_process_of_its_own():
    code = """
import os, sys
from anhelpers.charts import drawing
spec = %s
mine = drawing.drawn_aside("vegalite_to_svg", spec).result()
beside = drawing._beside(os.getpid()).pid
child = os.fork()
if not child:
    same = drawing.drawn_aside("vegalite_to_svg", spec).result() == mine
    other = drawing._beside(os.getpid()).pid != beside
    drawing._end(drawing._beside(os.getpid()), os.getpid())
    os._exit(0 if same and other else 1)
status = os.waitpid(child, 0)[1]
print(status, drawing.drawn_aside("vegalite_to_svg", spec).result() == mine)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code % SPEC], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("0 True\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are POSIX")
def test_a_fork_that_lives_on_does_not_keep_its_owner():
    code = f"""
import os, time
from anhelpers.charts import drawing
drawing.drawn_aside("vegalite_to_svg", {SPEC}).result()
if not os.fork():
    os.close(1), os.close(2), time.sleep(60), os._exit(0)
"""
    began = time.monotonic()
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, check=True)
    assert time.monotonic() - began < 30


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(
    "ends",
    ["pass", "os.kill(os.getpid(), 9)", "os.kill(drawing._beside(os.getpid()).pid, 9)"],
)
def test_it_ends_with_its_owner_and_nothing_is_said(ends):
    code = f"""
import os
from anhelpers.charts import drawing
drawing.drawn_aside("vegalite_to_svg", {SPEC}).result()
print(drawing._beside(os.getpid()).pid, flush=True)
{ends}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert gone(int(done.stdout))
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform != "linux", reason="signals reach a group of processes")
def test_who_interrupts_a_computation_does_not_end_it(process):
    assert os.getpgid(process.pid) != os.getpgid(0)


def test_it_imports_what_this_process_would(tmp_path):
    """Not a file of the current folder that has the name of a module."""
    (tmp_path / "json.py").write_text("raise SystemExit('not this one')")
    code = f"""
import sys
sys.path[:] = [place for place in sys.path if place]
from anhelpers.charts import drawing
print(drawing.drawn_aside("vegalite_to_svg", {SPEC}).result()[:4])
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("b'<svg'\n", "")
