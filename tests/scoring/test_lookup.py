"""A metric by its name, of either axis."""

import numpy as np
import pytest

from anhelpers.accuracy.registry import accuracy_metric
from anhelpers.data import load, load_candidates
from anhelpers.errors import DataError, UnknownName
from anhelpers.naturalness.registry import naturalness_metric
from anhelpers.plane import oracle_study
from anhelpers.scoring.lookup import metric


def test_it_is_the_metric_of_its_registry():
    assert metric("bleu", "zh").signature == accuracy_metric("bleu", "zh").signature
    assert metric("critic", "en").signature == naturalness_metric("critic", "en").signature
    assert metric("rated-naturalness", "en").signature.startswith("rated-naturalness|set:teaching/de-en|")
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
        DataError, match="'de-en' is a pair of languages; give the test set, or the target language, 'en'"
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
