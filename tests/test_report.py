"""Tables and sentences for a paper, of planes made by hand."""

import contextlib
import io
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anhelpers.appendix import HEADINGS, appendix_sentences, appendix_text
from anhelpers.data import bundled
from anhelpers.errors import DataError
from anhelpers.paper import appendix_latex, latex_table
from anhelpers.plane import Plane, few_documents, mean_axis, paired_tests, systems_table, with_ranks
from anhelpers.report import in_one_cell, readable, terminal_text


def plane(accuracy, naturalness, docs=None):
    """(N, k) scores of systems A, B, ...; a document per segment, or those given."""
    accuracy, naturalness = np.asarray(accuracy, dtype=float), np.asarray(naturalness, dtype=float)
    n, k = accuracy.shape
    docs = np.arange(n) if docs is None else np.array(docs)
    axes = (
        mean_axis("accuracy", "COMET (points)", "a", accuracy),
        mean_axis("naturalness", "LPP (nats)", "n", naturalness),
    )
    return Plane(
        "made",
        tuple("ABCDEFGH"[:k]),
        ("MT",) * k,
        *axes,
        docs,
        np.full(n, ""),
        np.zeros(n, dtype=int),
        (),
    )


def appendix(*given, **more):
    """What the command writes."""
    return appendix_text({"chrF": appendix_sentences(*given, **more)})


def told(one, n_draws=200, **more):
    table = systems_table(one, np.random.default_rng(0), n_draws)
    return appendix(one, table, n_draws, 0, **more)


@pytest.fixture
def close():
    """Three systems whose scores differ in the second decimal, as COMET's do."""
    rng = np.random.default_rng(1)
    return plane(
        0.8 + np.array([0, 0.01, 0.05]) + rng.normal(0, 0.02, (40, 3)),
        -3 + rng.normal(0, 0.1, (40, 3)),
    )


def test_systems_that_differ_do_so_in_print(close):
    table = systems_table(close, np.random.default_rng(0), 200)
    shown = readable(table)["accuracy"]
    assert shown.str.split(" ").str[0].tolist() == [f"{v:.4f}" for v in table.accuracy]
    for value in table.accuracy:
        assert f"{value:.4f} [0." in latex_table(table, close)
    alone = readable(table[:1])["accuracy"][0]
    # by its interval, where there is no other system
    assert alone.startswith(f"{table.accuracy[0]:.4f} (")


def test_points_of_chrf_have_one_decimal():
    one = plane(
        50 + 10 * np.random.default_rng(0).normal(size=(60, 4)) + [0, 5, 10, 15], np.zeros((60, 4))
    )
    table = systems_table(one, np.random.default_rng(0), 200).assign(accuracy_gap=1.25)
    table = table.assign(accuracy_gap_low=1.0, accuracy_gap_high=1.5)
    assert readable(table)["accuracy"].str.match(r"\d\d\.\d \(").all()
    assert readable(table)["accuracy gap"][0] == "1.2 (1.0 to 1.5)"


def test_a_p_is_never_printed_as_0():
    rng = np.random.default_rng(0)
    one = plane(np.array([0, 9.0]) + rng.normal(size=(40, 2)), rng.normal(size=(40, 2)))
    shown = readable(paired_tests(one, rng, 30_000))
    assert shown["p"][0] == "3.3e-05"
    assert shown["n"].tolist() == [40, 40]
    assert readable(pd.DataFrame({"p": [1.0, np.nan], "difference": [123456.7, 1.23456]})).to_dict(
        "list"
    ) == {
        "p": ["1", "–"],
        "difference": ["123457", "1.235"],
    }


def test_the_sentences_are_of_what_there_is(close):
    assert "made: 3 systems, 40 segments.\n\nMeasures. Accuracy is" in told(close)
    assert "studentised bootstrap intervals from 200 resamples of segments" in told(close)
    by_document = plane(close.accuracy.values, close.naturalness.values, docs=np.arange(40) // 7)
    assert "made: 3 systems, 40 segments in 6 documents." in told(by_document)
    assert "6 documents are few: the intervals" in told(by_document)
    assert few_documents(pd.DataFrame({"system": ["a", "b"], "n_docs": [3, 5]})).startswith(
        "3 to 5 documents are few:"
    )
    tests = paired_tests(close, np.random.default_rng(0), 500)
    assert tests.n_swaps.min() == 500
    ways = f"500 to {tests.n_swaps.max():,} random ways"
    sentence = (
        f"over segments ({ways} to swap them), with Holm's correction on each axis for 3 pairs."
    )
    assert sentence in told(close, tests=tests)
    few = paired_tests(
        plane(close.accuracy.values[:6], close.naturalness.values[:6]),
        np.random.default_rng(0),
        500,
    )
    assert "(all ways to swap them)" in told(close, tests=few)


def test_exact_tests_beside_an_axis_without_any_are_called_so(close):
    few = plane(close.accuracy.values[:6], close.naturalness.values[:6])
    tests = paired_tests(few, np.random.default_rng(0), 500)
    stored = tests.axis == "naturalness"
    tests.loc[stored, ["p", "p_holm"]] = np.nan
    tests.loc[stored, "exact"] = False
    tests.loc[stored, "n_swaps"] = 0
    assert "(all ways to swap them), with Holm's correction on accuracy alone for 3 pairs." in told(
        few, tests=tests
    )


def test_segments_of_one_document_are_told_to_be_taken_as_independent(close):
    one = plane(close.accuracy.values, close.naturalness.values, docs=np.zeros(40))
    assert "All segments are of one document, and resampled as if they were independent" in told(
        one
    )
    assert "one document" not in told(close)


def test_one_segment_has_no_intervals():
    assert "interval" not in told(plane([[1.0, 2.0]], [[-3.0, -2.0]]))


def test_systems_without_a_score_are_named_and_not_counted():
    accuracy = np.random.default_rng(0).normal(size=(30, 3))
    accuracy[:, 1], accuracy[:5, 2] = np.nan, np.nan
    assert "made: 2 systems, 25 to 30 segments. Without a score: B." in told(
        plane(accuracy, np.zeros((30, 3)))
    )
    with pytest.raises(DataError, match="made has no system with a score on both axes"):
        told(plane(np.full((3, 2), np.nan), np.zeros((3, 2))))
    with pytest.raises(DataError, match="made has no system"):
        told(plane(np.zeros((3, 0)), np.zeros((3, 0))))


def test_the_sentences_say_how_gaps_intervals_ranks_and_probabilities_are_made(close):
    few = plane(close.accuracy.values, close.naturalness.values, docs=np.arange(40) // 7)
    table = systems_table(few, np.random.default_rng(0), 200).assign(accuracy_gap=1.0)
    tests = paired_tests(few, np.random.default_rng(0))
    text = appendix(
        few,
        with_ranks(table, tests),
        200,
        0,
        tests=tests,
        doubts=["A; take more documents."],
        claim="So.",
    )
    for words in (
        "their intervals are Student's t with the spread of the resamples as standard error.",
        "With fewer than 8 effective documents (as many of equal size would say as much), each end is the farther one",
        "The Pareto probability is the share of the resamples in which",
        "a cluster ends only where every system above is significantly better than each one below.",
        "(level 5 %)",
        " A.\n\nClaim. So.\n\nComputed with",
    ):
        assert words in text
    assert "farther" not in told(close)
    assert "Ranks" not in told(close)


def test_what_two_metrics_share_is_told_once_under_its_heading(close):
    table = systems_table(close, np.random.default_rng(0), 200)
    found = {
        metric: appendix_sentences(
            replace(close, notes=("All.", metric)), table, 200, 0, claim=metric
        )
        for metric in ("chrF", "BLEU")
    }
    text = appendix_text(found)
    assert [line.partition(". ")[0] for line in text.split("\n\n")[:-1]] == [
        head for head in HEADINGS if head != "Tests"
    ]
    assert (
        "\n\nClaim. By chrF: chrF By BLEU: BLEU\n\nNotes. All. By chrF: chrF By BLEU: BLEU\n\n"
        in text
    )
    assert text.count("Accuracy is") == text.count("Data set made") == 1
    latex = appendix_latex(text)
    assert "\n\n\\textbf{Claim.} By chrF: chrF" in latex
    assert latex.count(r"\textbf") == len(HEADINGS) - 1


def test_notes_begin_with_a_capital_and_name_no_option(close):
    notes = (
        "zip follows length; see --naturalness-level corpus.",
        "A: 1 blank text.",
        "cut by 13a; -l decides.",
    )
    text = told(replace(close, notes=notes))
    assert "Zip follows length. A: 1 blank text. Cut by 13a.\n\nComputed" in text
    small = replace(
        close, systems=("a", "B", "C"), notes=("a: 1 blank text.",), outside={"C": "copy of B"}
    )
    assert "Notes. The system a: 1 blank text." in told(small)
    assert "The systems a, B: no text." in told(replace(small, notes=("a, B: no text.",)))
    assert "Notes. A, Z: no text." not in told(replace(small, notes=("a, Z: no text.",)))
    assert "C (copy of B). Of near-copies, the one given first counts." in told(small)


def test_who_has_no_documents_is_told_so_and_who_has_is_not(close):
    none = "Documents are not known: segments count as independent"
    assert none in told(close)
    assert none not in told(replace(close, docs=np.array([f"doc {i}" for i in range(40)])))
    assert none not in told(
        plane(close.accuracy.values, close.naturalness.values, docs=np.arange(40) // 4)
    )


# -- on a terminal -----------------------------------------------------------------------------------------------------


def test_on_a_terminal_values_stand_with_their_intervals_and_what_is_shared_below():
    table = pd.DataFrame(
        {
            "system": ["A", "B"],
            "n": [7, 7],
            "penalty": [1.23456, np.nan],
            "penalty_low": [1.0, np.nan],
            "penalty_high": [2.0, np.nan],
            "fluency_low_same_raters": [0.5, 0.25],
            "fluency_high_same_raters": [1.0, 2.0],
            "resampled": ["documents"] * 2,
            "unit": ["points"] * 2,
            "made_by": ["x|y"] * 2,
        }
    )
    lines = terminal_text(table, 100).splitlines()
    assert lines[0].split() == ["system", "n", "penalty", "fluency", "same", "raters"]
    assert lines[1].split() == ["A", "7", "1.235", "(1", "to", "2)", "0.5", "to", "1"]
    assert lines[2].split() == ["B", "7", "–", "0.25", "to", "2"]
    assert lines[3:] == ["", "resampled: documents", "unit: points", "made by: x|y"]


def test_what_differs_by_metric_is_told_once_for_each_and_a_key_stays_in_its_row():
    scores = pd.DataFrame(
        {
            "system": ["A", "B", "A"],
            "metric": ["chrf", "chrf", "lpp"],
            "unit": ["points"] * 2 + ["nats"],
        }
    )
    assert terminal_text(scores, 80).endswith("\n\nunit of chrf: points\nunit of lpp: nats\n")
    store = pd.DataFrame({"signature": ["lpp|a", "lpp|b"], "scores": [1, 2]})
    assert terminal_text(store, 80).splitlines()[1].split() == ["lpp|a", "1"]


@pytest.mark.skipif(sys.platform == "win32", reason="no terminals of this kind there")
def test_a_command_writes_csv_to_a_pipe_and_text_to_a_terminal():
    command = [sys.executable, "-m", "anhelpers", "mqm", str(bundled("teaching/de-en/mqm.tsv"))]
    piped = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert len(pd.read_csv(io.StringIO(piped))) == 8
    ours, theirs = os.openpty()
    subprocess.run(command, stdout=theirs, stderr=subprocess.DEVNULL, check=True)
    os.close(theirs)
    seen = b""
    with contextlib.suppress(OSError):
        while part := os.read(ours, 65536):
            seen += part
    os.close(ours)
    assert "made_by" not in seen.decode()
    assert "signature: mqm|scheme:wmt" in seen.decode()


def test_a_value_and_its_interval_are_one_cell():
    table = pd.DataFrame({"system": ["A", "B"], "r": [0.5, np.nan], "r_low": [0.25, np.nan]})
    told = in_one_cell(table.assign(r_high=0.75, n=3), digits=1)
    assert list(told) == ["system", "r", "n"]
    assert told.r.tolist() == ["0.5 (0.2 to 0.8)", "–"]
