"""docs/claim.md is current: the claim about systems by data set, accuracy and judge."""

import re

import numpy as np
import pytest

from tests import claim_page as made
from tests.judges.test_bundled import NUMBER, OFF, squeezed


def table_of(page, part):
    """The lines of a part's table, without spaces by which it is laid out."""
    text = re.search(rf"<!-- made: {part} -->\n(.*?)<!-- end -->", page, re.S)[1]
    return [squeezed(line) for line in text.splitlines() if line.startswith("|")][2:]


def assert_same(there, new):
    assert [NUMBER.sub("0", line) for line in there] == [NUMBER.sub("0", line) for line in new], (
        "run python -m tests.claim_page"
    )
    old, now = (
        np.array([float(n.replace("−", "-")) for n in NUMBER.findall(" ".join(lines))])
        for lines in (there, new)
    )
    np.testing.assert_allclose(now, old, atol=OFF, err_msg="run python -m tests.claim_page")


def rows(asked):
    lines = made.page_of(made.rows_of(asked)).splitlines()
    return [squeezed(line) for line in lines if line.startswith("|")][2:]


@pytest.mark.neural
@pytest.mark.parametrize("part", ["teaching", "teaching_en"])
def test_the_page_has_what_the_teaching_sets_say(part):
    page = made.PAGE.read_text("utf-8")
    assert_same(table_of(page, part), rows(made.SETS[part]))


@pytest.mark.real
def test_the_page_has_what_ted_talks_say_by_the_critic():
    page = made.PAGE.read_text("utf-8")
    asked = made.Asked("ted/en-de", made.SETS["ted"].accuracies, ("critic",))
    there = [line for line in table_of(page, "ted") if "| critic |" in line]
    assert len(there) == 2
    assert_same(there, rows(asked))


def test_the_page_counts_what_its_tables_decide():
    page = made.PAGE.read_text("utf-8")
    assert made.counted(page) in page
    decided = sum(page.count(f"| **{word}**") for word in ("holds", "false"))
    assert 0 < decided < len(re.findall(r"\| (?:\*\*)?(?:undecided|holds|false)\b", page))
