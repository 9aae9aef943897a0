"""A metric by its name, of either axis."""

import re
import sys
from importlib import import_module
from types import ModuleType

import pytest
from pandas.testing import assert_frame_equal

from anhelpers.accuracy.metricx import VARIANTS, _inputs
from anhelpers.cli import main
from anhelpers.data import load, load_candidates
from anhelpers.errors import DataError, UnknownName
from anhelpers.naturalness.lpp import Mono
from anhelpers.plane import oracle_study
from anhelpers.scoring import lookup, system_rows, tables
from anhelpers.scoring.lookup import (
    TABLE,
    accuracy_metric,
    default_naturalness,
    metric,
    naturalness_metric,
)

from .. import metrics_page as page


def test_large_sets_are_counted_in_parts_with_the_same_scores(monkeypatch):
    test = load("teaching")
    wanted = system_rows(test, [metric("chrf", test), metric("bleu", test)])
    monkeypatch.setattr(tables, "_AT_ONCE", 2 * len(test))  # two systems at a time
    assert_frame_equal(system_rows(test, [metric("chrf", test), metric("bleu", test)]), wanted)


def test_it_is_the_metric_of_its_axis():
    assert metric("bleu", "zh").signature == accuracy_metric("bleu", "zh").signature
    assert metric("critic", "en").signature == naturalness_metric("critic", "en").signature
    assert metric("rated-naturalness", "en").signature.startswith(
        "rated-naturalness|set:teaching/de-en|"
    )
    test = load("teaching/de-en")
    assert metric("chrf", test).signature == accuracy_metric("chrf", "en", 2).signature
    assert metric("chrf", test, n_refs=1).signature == accuracy_metric("chrf", "en", 1).signature


@pytest.mark.neural
def test_the_language_model_is_gemma_or_the_one_that_is_named(tiny_lm):
    assert "model:gemma-3-270m|" in metric("lpp", "cs").signature
    assert "model:tiny|" in metric("lpp", "de", lm=str(tiny_lm)).signature


def test_naturalness_is_native_where_there_are_heads_for_the_language_and_its_model():
    names = {lang: default_naturalness(lang) for lang in ("de", "deu_AT", "en", "cs", "zh", "und")}
    assert names == dict.fromkeys(names, "lpp") | dict.fromkeys(("de", "deu_AT", "en"), "native")
    assert default_naturalness("de", "smollm2-135m") == "lpp"


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_every_row_of_the_table_holds(row):
    assert row.description
    assert {*re.findall("[A-Z]+", row.behind)} <= set(lookup.BEHIND)
    parts = {"source", "reference", "ratings", "R", lookup.LM, lookup.CORPUS, lookup.GIVEN}
    assert set(row.sees) <= parts
    assert [one for one in TABLE if one.name == row.name] == [row]
    module, function = row.maker.split(":")
    assert callable(getattr(import_module(f"anhelpers.{module}"), function))


def learned(row):
    """Whether it loads its own model."""
    return row.hub or "MODEL" in row.behind


@pytest.mark.neural
@pytest.mark.parametrize(
    "row",
    [row for row in TABLE if not learned(row) and lookup.GIVEN not in row.sees],
    ids=lambda row: row.name,
)
def test_a_metric_sees_what_its_row_says(row):
    made = metric(row.name, "de", mono=Mono(("Das ist gut.", "Nein, danke.")))
    assert made.name == row.name
    needs = {"refs": "reference", "srcs": "source"}
    assert {needs[one] for one in made.needs} == {*needs.values()} & set(row.sees)
    assert (made.score_segments is None) == (lookup.CORPUS in row.sees)


def test_learned_metrics_see_what_their_rows_say():
    rows = {row.name: row for row in TABLE if learned(row)}
    for name in VARIANTS:
        kinds = {"src": "source", "ref": "reference"}
        assert rows[name].sees == tuple(kinds[one] for one in _inputs(name) if one in kinds)
    without = [name for name, row in rows.items() if "reference" not in row.sees]
    assert without == [name for name in rows if name.endswith("-qe") or name == "cometkiwi"]


def test_a_new_metric_is_a_file_and_a_row(monkeypatch, capsys):
    mine = ModuleType("anhelpers.accuracy.mine")
    mine.named = lambda asked: (asked.name, asked.model, asked.lang, asked.n_refs)
    monkeypatch.setitem(sys.modules, "anhelpers.accuracy.mine", mine)
    new = lookup._MetricRow(
        "accuracy", "mine", "[:MODEL]", ("reference",), "accuracy.mine:named", "me/mine", "mine"
    )
    monkeypatch.setattr(lookup, "TABLE", (*TABLE, new))
    assert metric("mine", "de", n_refs=2) == ("mine", "me/mine", "de", 2)
    assert metric("mine:x", "de") == ("mine:x", "x", "de", 1)
    with pytest.raises(UnknownName, match="mine"):
        metric("minee", "de")
    for command in ("score", "plane", "curve"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert "mine[:MODEL]" in capsys.readouterr().out
    assert "`mine[:MODEL]`" in page.tables()


def test_the_page_is_that_of_the_table():
    """`python -m tests.metrics_page` writes it."""
    assert page.PAGE.read_text(encoding="utf-8") == page.written()
    assert len(page.MADE.findall(page.PAGE.read_text(encoding="utf-8"))) == 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda test: metric("cherf", "de"),
        lambda test: metric("critic", "de-en"),
        lambda test: metric("chrf", "klingon"),
        lambda test: metric("lpp", "de", lm=None),
    ],
)
@pytest.mark.neural
def test_what_does_not_make_a_metric_is_refused(ask):
    with pytest.raises((DataError, UnknownName)):
        ask(load("teaching/de-en"))


@pytest.mark.neural
@pytest.mark.parametrize("name", ["critic", "native"])
def test_a_metric_of_another_language_is_refused_by_whatever_scores_a_set(name):
    """English was scored by the German critic, without a word, where both sets are open in a notebook."""
    test, german = load("teaching/de-en"), metric(name, "de")
    with pytest.raises(DataError):
        system_rows(test, [german])
    with pytest.raises(DataError):
        oracle_study(test, load_candidates("teaching/de-en"), "chrf", german)
