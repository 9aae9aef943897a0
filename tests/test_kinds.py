"""Arguments of the wrong kind, and numbers that cannot be: one sentence at the door, and nothing from the depths."""

import numpy as np
import pytest

import anhelpers as an


@pytest.fixture(scope="module")
def german():
    return an.load("teaching"), an.load_candidates("teaching")


@pytest.mark.parametrize("load", [an.load, an.load_candidates, an.load_mono])
@pytest.mark.parametrize("name", [3, None, ["a"]])
def test_data_are_named_by_a_text(load, name):
    with pytest.raises(an.DataError, match=r"wmt24/en-de"):
        load(name)


def test_a_study_takes_texts_and_metrics_of_their_axes(german):
    test, candidates = german
    with pytest.raises(an.DataError, match=r"test is a TestSet, .*, and not 'teaching/de-en'"):
        an.oracle_study("teaching/de-en", candidates, "chrf", "critic")
    with pytest.raises(an.DataError, match=r"cands is a CandidateSet, .*, and not None"):
        an.oracle_study(test, None, "chrf", "critic")
    with pytest.raises(an.DataError, match=r"accuracy is a Metric or the name of one.*, and not 7"):
        an.oracle_study(test, candidates, 7, "critic")
    for pair, unknown in ((("lpp", "chrf"), "accuracy metric 'lpp'"), (("chrf", "ter"), "'ter'")):
        with pytest.raises(an.AnhelpersError, match=f"unknown .*{unknown}"):
            an.oracle_study(test, candidates, *pair)


def test_candidates_of_another_set_are_refused(german):
    """They had a curve of numbers that mean nothing, with notes that only the study kept."""
    with pytest.raises(an.DataError, match=r"no better than those of others.*of one test set"):
        an.oracle_study(german[0], an.load_candidates("teaching/de-en"), "chrf", "compression")


def test_in_python_the_notes_on_candidates_are_seen(german, capsys):
    """Of one language, but of other sources: it may be a model that was hardly trained, so this is no refusal."""
    test, candidates = german
    half = len(test) // 2
    mine = np.flatnonzero(candidates.segment >= half)
    texts = [candidates.texts[i] for i in mine]
    moved = an.CandidateSet(candidates.segment[mine] - half, texts)
    an.oracle_study(test.subset(np.arange(half)), moved, "chrf", "compression")
    assert "are they and the references of one test set?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"low": 2, "high": 0}, "x: low 2 is above high 0."),
        ({"level": 95}, "x: level 95 is not between 0 and 1."),
        ({"p": 3}, "x: p 3 is no probability."),
        ({"n": -3}, "x: n -3 is below 0."),
    ],
)
def test_an_estimate_that_cannot_be(facts, said):
    with pytest.raises(an.DataError) as caught:
        an.Estimate("x", 1.0, **facts)
    assert str(caught.value) == said


def test_an_estimate_without_n_is_not_called_exact():
    assert an.Estimate("x", 1.5).text() == "x 1.5, no interval (n not given)"
    known = an.Estimate("D", 0.5, bias="no sample, no bias")
    assert known.text() == "D 0.5, no interval (exact q and r; no sample, no bias)"
