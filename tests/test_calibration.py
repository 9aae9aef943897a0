"""A small part of `make calibrate`: each kind of row holds in a few worlds; the table and the page are current."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calibration.__main__ import inside, lines_of, measured, page, read_table
from calibration.paired import _SPREAD, _differences, _not_exchangeable
from calibration.row import Row
from calibration.rows import rows
from calibration.worlds import World

DOCS = Path(__file__).parents[1] / "docs"
# Of each quantity one row with a tolerance, where there is one that of 20 documents.
EACH: dict[str, Row] = {}
for row in rows():
    if row.least is not None and (row.quantity not in EACH or "20 documents" in row.setting):
        EACH[row.quantity] = row


@pytest.mark.parametrize("quantity", EACH)
def test_a_statement_of_each_kind_holds_as_often_as_it_says(quantity):
    row, held = EACH[quantity], []

    def once(rng):
        held.append(row.once(rng))
        return held[-1]

    found = measured(replace(row, once=once), 4)
    assert inside(row, found), found
    measured(replace(row, once=once), 1)
    np.testing.assert_array_equal(held[0], held[4])


def test_a_rate_outside_of_its_tolerance_is_seen():
    never = Row("x", "y", 0.95, 0.92, 0.98, lambda rng: False)
    assert not inside(never, measured(never, 20))
    assert inside(Row("x", "y", 0.95, None, None, never.once), measured(never, 20))


def test_the_truth_of_a_world_is_that_of_its_law():
    assert World("normal", "equal", 20_000).truth == pytest.approx(50, abs=0.2)
    assert (
        World("tied to length", "skewed", 2_000).truth > World("normal", "skewed", 2_000).truth + 15
    )


@pytest.mark.parametrize("kind", _SPREAD)
def test_systems_that_are_not_exchangeable_have_equal_means(kind):
    differences = _differences(kind, 40_000, np.random.default_rng(0))[0]
    assert differences.mean() == pytest.approx(0, abs=0.25)
    assert _not_exchangeable(kind, 12, np.random.default_rng(1)) in (True, False)


def test_the_table_has_every_row_within_its_tolerance():
    kept = {(one["quantity"], one["setting"]): one for one in read_table(DOCS / "calibration.tsv")}
    assert [*kept] == [(row.quantity, row.setting) for row in rows()], "run make calibrate"
    for row in rows():
        line = kept[row.quantity, row.setting]
        found = {name: float(line[name]) for name in ("measured", "error")}
        assert inside(row, found), line
        assert line == lines_of([(row, found)])[0]


def test_the_page_summarises_the_table():
    lines = read_table(DOCS / "calibration.tsv")
    text = (DOCS / "calibration.md").read_text(encoding="utf-8")
    assert text == page(lines), "run make calibrate"
    mean = "| interval of a mean | 0.95 | 33 | 0.894 to 0.965 | 0.90 to 0.98 | 14: 0.700 to 0.972 |"
    assert mean in text
