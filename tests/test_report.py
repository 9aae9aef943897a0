"""Tables and texts of a plane, of planes made by hand."""

import re

import numpy as np
import pandas as pd

from anhelpers.data import bundled
from anhelpers.plane import Plane, in_one_cell, mean_axis, paired_tests, readable, systems_table
from anhelpers.report import _bibliography, _latex_text
from anhelpers.scoring.lookup import TABLE


def plane(accuracy, naturalness):
    """(N, k) scores of systems A, B, ...; a document per segment."""
    accuracy, naturalness = np.asarray(accuracy, float), np.asarray(naturalness, float)
    n, k = accuracy.shape
    axes = (
        mean_axis("accuracy", "COMET (points)", "a", accuracy),
        mean_axis("naturalness", "LPP (nats)", "n", naturalness),
    )
    names, docs = tuple("ABCDEFGH"[:k]), np.arange(n)
    return Plane("made", names, ("MT",) * k, *axes, docs, np.full(n, ""), np.zeros(n, int), ())


def test_systems_that_differ_do_so_in_print():
    rng = np.random.default_rng(1)
    accuracy = 0.8 + np.array([0, 0.01, 0.05]) + rng.normal(0, 0.02, (40, 3))
    table = systems_table(plane(accuracy, -3 + rng.normal(0, 0.1, (40, 3))), rng, 200)
    shown = readable(table)["accuracy"]
    assert shown.str.split(" ").str[0].tolist() == [f"{v:.4f}" for v in table.accuracy]
    alone = readable(table[:1])["accuracy"][0]
    # by its interval, where there is no other system
    assert alone.startswith(f"{table.accuracy[0]:.4f} (")


def test_points_of_chrf_have_one_decimal():
    scores = 50 + 10 * np.random.default_rng(0).normal(size=(60, 4)) + [0, 5, 10, 15]
    one = plane(scores, np.zeros((60, 4)))
    table = systems_table(one, np.random.default_rng(0), 200).assign(accuracy_gap=1.25)
    table = table.assign(accuracy_gap_low=1.0, accuracy_gap_high=1.5)
    assert readable(table)["accuracy"].str.match(r"\d\d\.\d \(").all()
    assert readable(table)["accuracy gap"][0] == "1.2 (1.0 to 1.5)"


def test_a_p_is_never_printed_as_0():
    rng = np.random.default_rng(0)
    one = plane(np.array([0, 9.0]) + rng.normal(size=(40, 2)), rng.normal(size=(40, 2)))
    assert readable(paired_tests(one, rng, 30_000))["p"][0] == "3.3e-05"
    table = pd.DataFrame({"p": [1.0, np.nan], "difference": [123456.7, 1.23456]})
    expected = {"p": ["1", "–"], "difference": ["123457", "1.235"]}
    assert readable(table).to_dict("list") == expected


def test_a_value_and_its_interval_are_one_cell():
    table = pd.DataFrame({"system": ["A", "B"], "r": [0.5, np.nan], "r_low": [0.25, np.nan]})
    told = in_one_cell(table.assign(r_high=0.75, n=3), digits=1)
    assert list(told) == ["system", "r", "n"]
    assert told.r.tolist() == ["0.5 (0.2 to 0.8)", "–"]


def test_symbols_are_escaped_for_latex():
    text = _latex_text("50 % of a_b & x < 1 → \u2212y")
    assert text == r"50 \% of a\_b \& x \textless{} 1 $\rightarrow$ $-$y"
    assert _latex_text("0.1 (-0.2 to -0.1)") == "0.1 ($-$0.2 to $-$0.1)"


def test_every_accuracy_metric_has_a_publication():
    for row in TABLE:
        if row.axis == "accuracy" and not row.name.startswith(("rated", "stored")):
            entries, keys = _bibliography([row.name])
            assert keys, row.name
            assert " for = " not in entries


def test_entries_are_whole_and_are_named_once():
    text = bundled("references.bib").read_text("utf-8")
    keys = re.findall(r"@\w+\{([^,]+),", text)
    assert len(keys) == len(set(keys))
    for entry in re.findall(r"@\w+\{[^@]+", text):
        assert entry.count("{") == entry.count("}")
        assert {"title", "year"} <= set(re.findall(r"(\w+) = ", entry))
    _, found = _bibliography(["an", "comet:my/folder", "wmt24/en-de"])
    expected = ["flamich-etal-2025-two-birds", "rei-etal-2020-comet", "kocmi-etal-2024-findings"]
    assert found == expected
    assert "rei-etal-2022-comet" in _bibliography(["comet"])[1]
