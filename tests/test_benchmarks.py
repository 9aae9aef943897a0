"""The table of `make bench`: what its rows say, that a missed goal shows, and that a peer may be absent."""

import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as bench
from benchmarks import peers
from benchmarks.table import Row, beside, limited, not_measured


@pytest.mark.parametrize(
    ("goal", "ratio", "met"),
    [
        (">= 3", 3.0, "yes"),
        (">= 3", 2.99, "MISSED"),
        ("<= 1.3", 1.3, "yes"),
        ("< 1.1", 1.1, "MISSED"),
        ("", 5.0, ""),
        ("> 1", float("nan"), "not measured"),
    ],
)
def test_goals(goal, ratio, met):
    row = Row("w", "peer 1.0", "3 s", "1 s", ratio, ratio, ratio, 1, goal, "")
    assert row.met == row.record()["met"] == met
    assert (f"goal {goal}: {met}" in str(row)) == bool(goal)


def test_a_ratio_is_the_median_of_the_rounds_and_turns_with_the_goal():
    times = [(4.0, 1.0), (9.0, 3.0), (10.0, 2.0)]
    faster, overhead = beside("w", "p", times, goal=">= 4"), beside("w", "p", times, goal="<= 0.2")
    assert (faster.ratio, faster.low, faster.high, faster.rounds) == (4, 3, 5, 3)
    assert (overhead.ratio, overhead.low, overhead.high) == (0.25, 0.2, 1 / 3)
    assert (faster.met, overhead.met) == ("yes", "MISSED")
    assert (faster.theirs, faster.ours) == ("9 s", "2 s")
    share = limited("w", [0.02, 0.005, 0.01], 0.02, lambda s: f"{s * 1e3:g} ms")
    assert (share.ratio, share.met, share.theirs, share.ours) == (0.5, "yes", "20 ms", "10 ms")


@pytest.fixture
def results(monkeypatch, tmp_path, capsys):
    """A function (rows, or an exception to be raised) -> exit status, what was printed, the folder of the results."""

    def run(rows):
        def given(quick):
            for row in rows:
                if isinstance(row, Exception):
                    raise row
                yield row

        monkeypatch.chdir(tmp_path)
        monkeypatch.setitem(bench.BENCHMARKS, "frontier", False)
        monkeypatch.setattr("benchmarks.bench_frontier.rows", given)
        monkeypatch.setattr(sys, "argv", ["benchmarks", "frontier"])
        return bench.main(), capsys.readouterr(), tmp_path / "build" / "bench"

    return run


def test_misses_and_absent_peers_are_in_the_table_and_on_the_page(results):
    good = beside("fast", "peer 1.0", [(3.0, 1.0)], goal=">= 2", agree="equal", agrees=True)
    slow = beside("slow <b>", "peer 1.0", [(1.0, 1.0)], goal=">= 2")
    status, said, folder = results(
        [good, slow, not_measured("lost", "peer 2.0", "no network", ">= 2")]
    )
    assert status == 0
    assert "1 goals met, 1 missed, 1 rows not measured" in said.out
    table = (folder / "bench.csv").read_text("utf-8")
    page = (folder / "index.html").read_text("utf-8")
    assert table.count("MISSED") == page.count("MISSED") == 1
    assert "not measured: no network" in table
    assert "not measured: no network" in page
    assert "slow &lt;b&gt;" in page


def test_disagreement_and_a_broken_benchmark_end_with_status_1(results):
    wrong = beside("w", "peer 1.0", [(3.0, 1.0)], agree="apart by 2", agrees=False)
    status, said, folder = results([wrong])
    assert (status, "disagree: w" in said.err) == (1, True)
    assert "DISAGREES" in (folder / "index.html").read_text("utf-8")
    status, said, _ = results([ZeroDivisionError("x")])
    assert (status, "broke: frontier" in said.err) == (1, True)
    status, said, _ = results([peers.PeerMissing("its environment cannot be made (offline)")])
    assert (status, "not measured: its environment cannot be made (offline)" in said.out) == (
        0,
        True,
    )


def test_every_benchmark_has_a_file_and_every_file_is_run():
    files = {
        path.stem.removeprefix("bench_") for path in Path(bench.__file__).parent.glob("bench_*.py")
    }
    assert files == set(bench.BENCHMARKS)
