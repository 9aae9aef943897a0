"""A small part of `make calibrate`: every kind of row holds in a few worlds, and the page is of the rows there are."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest

from calibration.__main__ import COLUMNS, inside, main, measured, page
from calibration.row import Row
from calibration.rows import rows
from calibration.worlds import World

PAGE = Path(__file__).parents[1] / "docs" / "calibration.md"
EACH: dict[str, Row] = {}
"""Of each quantity one row with a tolerance, where there is one that of 20 documents."""
for row in rows():
    if row.least is not None and (row.quantity not in EACH or "20 documents" in row.setting):
        EACH[row.quantity] = row


@pytest.mark.parametrize("quantity", EACH)
def test_a_statement_of_each_kind_holds_as_often_as_it_says(quantity):
    row = EACH[quantity]
    found = measured(row, 80)
    assert inside(row, found), found
    assert str(measured(row, 3)) == str(measured(row, 3))


def test_a_rate_outside_of_its_tolerance_is_seen():
    never = Row("x", "y", 0.95, 0.92, 0.98, lambda rng: False)
    assert not inside(never, measured(never, 20))
    assert inside(Row("x", "y", 0.95, None, None, never.once), measured(never, 20))


def test_the_truth_of_a_world_is_that_of_its_law():
    assert World("normal", "equal", 20_000).truth == pytest.approx(50, abs=0.2)
    assert (
        World("tied to length", "skewed", 2_000).truth > World("normal", "skewed", 2_000).truth + 15
    )


def test_the_page_has_every_row_within_its_tolerance():
    table = PAGE.read_text(encoding="utf-8")
    for row in rows():
        found = re.search(
            rf"\| {re.escape(row.quantity)} \| {re.escape(row.setting)} \| [\d.]+ \| ([\d.]+) ± ([\d.]+)",
            table,
        )
        assert found, f"run make calibrate: {row.quantity}, {row.setting}"
        assert inside(row, {"measured": float(found[1]), "error": float(found[2])}), found[0]


def test_a_row_that_holds_by_its_error_alone_is_marked():
    row = Row("x", "y", 0.95, 0.9, 0.98, lambda rng: True)
    lines = [
        page([(row, measured_of(row) | {"measured": rate})]) for rate in (0.894, 0.9, 0.9804, 0.984)
    ]
    assert [line.endswith("0.90 to 0.98 * |\n") for line in lines] == [True, False, False, True]
    assert "beyond it by at most 2.5 of its standard errors" in lines[0]


def test_rows_that_are_done_are_not_made_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("calibration.__main__.BUILD", tmp_path)
    monkeypatch.setattr("sys.argv", ["calibration", "--worlds", "2", "--only", "paired test"])
    assert main() in (0, 1)
    kept = (tmp_path / "rows_2.jsonl").read_text("utf-8")
    monkeypatch.setattr("calibration.__main__.measured", None)
    assert main() in (0, 1)
    assert (tmp_path / "rows_2.jsonl").read_text("utf-8") == kept
    with (tmp_path / "calibration.csv").open(encoding="utf-8") as file:
        assert next(csv.reader(file)) == COLUMNS
    assert "rows within their tolerance, 2 worlds each" in capsys.readouterr().out
    assert page([(row, measured_of(row)) for row in rows()]).count("\n| ") == len(list(rows())) + 1


def measured_of(row):
    return dict(zip(COLUMNS, (row.quantity, row.setting, row.nominal, 0.95, 0.01, 2), strict=True))


def test_worlds_are_the_same_for_the_same_seed():
    world = World("MQM-like", "skewed")
    first, again = (world.documents(np.random.default_rng(5), 7) for _ in range(2))
    np.testing.assert_array_equal(first[0], again[0])
    assert len(set(first[1].tolist())) == 7
