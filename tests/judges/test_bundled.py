"""The bundled judges on the teaching sets: docs/judges.md is current, and says which gates are reached."""

import re

import numpy as np
import pytest

import anhelpers as an
from anhelpers import cli, judges
from tests import judges_page as made

pytestmark = pytest.mark.neural
BOTH = {
    ("critic", "idiomatic > literal"),
    ("critic", "idiomatic > calque"),
    ("critic", "with the ratings"),
    ("critic+lpp", "with the ratings"),
}
MISSED = {
    "": BOTH
    | {
        ("critic", "idiomatic > literal-2"),
        ("critic+lpp", "near-reference > grammar"),
        ("critic+lpp", "near-reference > wrong-order"),
    },
    "_en": BOTH | {("critic+lpp", "with chrf"), ("language model", "bits per byte of originals")},
}
"""Gates that are not reached today; a judge that comes to reach one, or no longer does, is told here, and in words
in an_5_1 (an51-51b), 00 (st-39), the README and the cards."""
NUMBER = re.compile(r"−?\d+\.?\d*")
OFF = 0.011
"""What rounding and another machine's arithmetic may change."""


@pytest.fixture(scope="module")
def tables():
    """As the command makes them, which takes the scores that come with the models (tests/naturalness/test_kept.py)."""
    return {end: made.figures(data) for end, data in made.SETS.items()}


@pytest.mark.parametrize("end", made.SETS)
def test_the_gates_are_reached_but_for_those_that_are_known_to_be_missed(tables, end):
    gates = judges.gate_table(tables[end])
    assert set(gates.reached) == {"yes", "no"}
    assert {(row.judge, row.item) for row in gates.itertuples() if row.reached == "no"} == MISSED[
        end
    ]
    assert len(gates) == 13


def test_the_page_has_these_figures(tables):
    there = made.PAGE.read_text("utf-8")
    page = made.made(there, made.parts(tables))
    assert squeezed(NUMBER.sub("0", there)) == squeezed(NUMBER.sub("0", page)), (
        "run python -m tests.judges_page"
    )
    old, new = (
        np.array([float(n.replace("−", "-")) for n in NUMBER.findall(text)])
        for text in (there, page)
    )
    np.testing.assert_allclose(new, old, atol=OFF, err_msg="run python -m tests.judges_page")


def squeezed(text):
    """Without the spaces and lines by which tables are laid out."""
    return re.sub(r" +|-+", " ", text)


@pytest.mark.parametrize("end", made.SETS)
def test_every_judge_is_measured_on_all_that_it_can_be(tables, end):
    table = tables[end]
    known = set(table.judge) - {"language model"}
    assert {"lpp", "critic", "rated-naturalness"} <= known
    for question in ("tags", "people", "tradeoff", "mqm", "systems"):
        assert set(table.judge[table.question == question]) == known
    assert table.n[table.question.isin(["tags", "people", "tradeoff"])].eq(52).all()
    assert table.n[table.question == "mqm"].eq(8).all()
    assert table[["value", "low", "high", "n"]].notna().all(axis=None)
    assert ((table.low <= table.value) & (table.value <= table.high)).all()


def test_the_command_prints_tables_and_gates(capsys):
    assert cli.main(["judge", "--judge", "critic", "--draws", "300"]) == 0
    page = capsys.readouterr().out
    assert (
        "| idiomatic > literal-2        | 40 of 52 (0.64 to 0.86) | 52 of 52 (0.93 to 1.00) |"
        in page
    )
    assert "## What is wanted of the bundled judges" in page


@pytest.mark.real
@pytest.mark.parametrize("part", made.REAL)
def test_real_sets_as_the_page_says(part):
    """Of the critic alone, which takes seconds: the cells of its column, or its row."""
    there = made.PAGE.read_text("utf-8").partition(f"made: {part}")[2].partition("<!-- end")[0]
    rows = made.of_real(part, ["critic"], lm=None)[part].splitlines()
    seen = {cells(line)[0]: cells(line) for line in there.splitlines() if line.startswith("| ")}
    wanted = [cells(line) for line in rows if line.startswith("| ")]
    assert len(wanted) > (28 if part == "wmt24" else 1)
    for head, *rest in wanted:
        assert set(rest) <= set(seen[head])


def cells(line):
    return [cell.strip() for cell in line.strip("| ").split("|")]


JUDGES = ["lpp", "critic", "critic+lpp", "rated-naturalness"]
SOURCES = made.PAGE.read_text("utf-8").partition("# Five sources")[2]


@pytest.fixture(scope="module")
def studies():
    """(accuracy, judge) -> study of the teaching set."""
    test = an.with_human_points(an.load("teaching"))  # chrF against one reference, as there
    cands = an.load_candidates("teaching")
    lm = an.load_lm("bundled", lang="de")
    found, missing = an.judged_studies(test, cands, ["chrf", "rated-accuracy"], JUDGES, lm=lm)
    assert missing == ()
    return {tuple(metric.name for metric in study.metrics): study for study in found}


def cell(named):
    """A cell of the page's tables, from (β, judge) of all that chose this text."""
    chosen = {b: [j for j in JUDGES if (b, j) in named] for b in ("0", "10", "∞")}
    words = {
        b: "all judges"
        if len(js) == 4
        else ", ".join(j.replace("rated-naturalness", "ratings") for j in js)
        for b, js in chosen.items()
    }
    return "; ".join(f"β = {b}: {js}" for b, js in words.items() if js) or "–"


def test_the_five_sources_are_what_the_judges_choose(studies):
    """Texts, tags and who chose them at which price; the remarks below them are a reader's."""
    cands = an.load_candidates("teaching")
    parts = re.split(r"^\*\*Segment (\d+)\.\*\*", SOURCES, flags=re.M)[1:]
    assert parts[::2] == ["0", "10", "20", "30", "40"]
    for segment, part in zip(map(int, parts[::2]), parts[1::2], strict=True):
        by = {}
        for (accuracy, judge), study in studies.items():
            for price, beta in (("0", 0.0), ("10", 10.0), ("∞", np.inf)):
                k = study.curve.select(beta)[segment]
                row = by.setdefault(
                    (cands.texts[k], cands.tags[k]), {"chrf": set(), "rated-accuracy": set()}
                )
                row[accuracy].add((price, judge))
        told = {
            (text, tag): (one, other)
            for text, tag, one, other in re.findall(
                r"^\| (.+) \| (.+) \| (.+) \| (.+) \|$", part, re.M
            )
            if tag not in ("tag", "---")
        }
        assert told == {key: tuple(map(cell, row.values())) for key, row in by.items()}, segment


def test_how_often_nothing_keeps_the_oracle_with_the_source(studies):
    tags = np.array(an.load_candidates("teaching").tags)
    ends = {
        key: (tags[study.curve.select(np.inf)] == "unrelated-fluent").sum()
        for key, study in studies.items()
    }
    counts = [ends["chrf", judge] for judge in JUDGES]
    told = SOURCES.partition("is chosen for ")[2].partition(" beside rated accuracy")[0]
    found = re.findall(r"\d+", told.replace(" of 52 sources", ""))
    assert [*map(int, found)] == [*counts, ends["rated-accuracy", "rated-naturalness"]]
