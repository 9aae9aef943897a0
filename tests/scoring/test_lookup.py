"""A metric by its name, of either axis."""

import shutil

import numpy as np
import pytest

from anhelpers.accuracy.registry import accuracy_metric
from anhelpers.data import load, load_candidates
from anhelpers.errors import DataError, UnknownName
from anhelpers.naturalness.registry import naturalness_metric
from anhelpers.plane import oracle_study
from anhelpers.scoring import system_rows
from anhelpers.scoring.lookup import metric


def test_it_is_the_metric_of_its_registry():
    assert metric("bleu", "zh").signature == accuracy_metric("bleu", "zh").signature
    assert metric("critic", "en").signature == naturalness_metric("critic", "en").signature
    assert metric("rated-naturalness", "en").signature.startswith(
        "rated-naturalness|set:teaching/de-en|"
    )
    test = load("teaching/de-en")
    assert metric("chrf", test).signature == accuracy_metric("chrf", "en", 2).signature
    assert metric("chrf", test, n_refs=1).signature == accuracy_metric("chrf", "en", 1).signature


@pytest.mark.neural
def test_the_language_model_is_the_bundled_one_of_the_language_or_the_one_that_is_named(tiny_lm):
    for lang, text in (("de", "Das ist gut."), ("en", "That is good.")):
        assert f"model:{lang}-small|" in metric("lpp", lang).signature
        assert np.isfinite(metric("critic+lpp", lang).score_segments([text])).all()
    assert "model:tiny|" in metric("lpp", "de", lm=str(tiny_lm)).signature


def test_what_is_not_there_is_told():
    with pytest.raises(UnknownName, match="unknown metric 'cherf'; did you mean 'chrf'"):
        metric("cherf", "de")
    with pytest.raises(
        DataError,
        match="'de-en' is a pair of languages; give the test set, or the target language, 'en'",
    ):
        metric("critic", "de-en")  # took the German critic, "en" as its region
    with pytest.raises(DataError, match="klingon"):
        metric("chrf", "klingon")
    with pytest.raises(DataError, match="no language model is bundled for 'cs'"):
        metric("lpp", "cs")
    with pytest.raises(DataError, match="lpp needs a language model"):
        metric("lpp", "de", lm=None)


def test_a_study_takes_metrics_by_name():
    test, cands = load("teaching/de-en"), load_candidates("teaching/de-en")
    named = oracle_study(test, cands, "chrf", "critic")
    made = oracle_study(test, cands, metric("chrf", test), metric("critic", test))
    assert [m.signature for m in named.metrics] == [m.signature for m in made.metrics]
    assert np.array_equal(named.curve.select(10), made.curve.select(10))


@pytest.mark.neural
@pytest.mark.parametrize("name", ["critic", "lpp", "bpb", "zip", "critic+lpp"])
def test_a_metric_of_another_language_is_refused_by_whatever_scores_a_set(name):
    """English was scored by the German critic and model, without a word, where both sets are open in a notebook."""
    test, german = load("teaching/de-en"), metric(name, "de")
    with pytest.raises(
        DataError,
        match=r"knows only 'de', and the translations of teaching/de-en are in 'en'; make",
    ):
        system_rows(test, [german])
    with pytest.raises(DataError, match="knows only 'de'"):
        oracle_study(test, load_candidates("teaching/de-en"), "chrf", german)


@pytest.mark.neural
def test_a_folder_that_was_trained_anew_is_read_anew(tiny_lm, tmp_path):
    folder = tmp_path / "mine"
    shutil.copytree(tiny_lm, folder)
    before = metric("lpp", "de", lm=str(folder)).signature
    weights = folder / "model.safetensors"
    assert weights.is_file()
    torch_files = pytest.importorskip("safetensors.torch")
    doubled = {name: 2 * one for name, one in torch_files.load_file(weights).items()}
    torch_files.save_file(doubled, weights, metadata={"format": "pt"})
    assert metric("lpp", "de", lm=str(folder)).signature != before
