"""Scores that come with the bundled models: those that the models give, and none where they are not asked for."""

import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import anhelpers as an
from anhelpers.data.fetch import bundled
from anhelpers.naturalness.kept import FILE, read_kept
from anhelpers.naturalness.load import LanguageModel
from tests.kept_scores import bundled_texts

pytestmark = pytest.mark.neural
pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
OF = {"teaching/en-de": "de-small", "teaching/de-en": "en-small"}


@pytest.fixture(scope="module", params=OF)
def data(request):
    return request.param


@pytest.fixture(scope="module")
def computed(data):
    """The model, loaded as one that nothing lies beside."""
    return an.load_lm(OF[data], device="cpu")


@pytest.fixture
def lm(data, monkeypatch, tmp_path):
    monkeypatch.setenv("ANHELPERS_STORE", str(tmp_path / "scores.sqlite"))
    return an.load_lm(OF[data])


def is_loaded(lm):
    return "model" in vars(lm)


def test_they_say_what_the_loaded_model_says(lm, computed):
    assert computed.kept is None
    for eos in (False, True):
        assert lm.signature(eos) == computed.signature(eos)
    assert lm.ends == computed.ends
    assert not is_loaded(lm)
    assert (lm.max_tokens, lm.context_token, lm.never) == (
        computed.max_tokens,
        computed.context_token,
        computed.never,
    )
    assert is_loaded(lm)


def test_every_bundled_text_has_one_without_loading(data, lm):
    texts, pairs = bundled_texts(data)
    blank = [text for text in texts if not text.strip()]
    scores = an.score_texts(lm, texts)
    assert np.isnan(scores.total).sum() == len(blank)
    for eos in (False, True):
        an.score_texts(lm, pairs, eos)
    assert not is_loaded(lm)


def test_they_are_what_is_computed(data, lm, computed):
    texts, pairs = bundled_texts(data)
    for eos, some in (False, texts[::9]), (True, pairs[::3]):
        kept, fresh = an.score_texts(lm, some, eos), an.score_texts(computed, some, eos)
        assert (kept.tokens == fresh.tokens).all()
        assert (kept.windowed == fresh.windowed).all()
        # a batch of other texts moves a score by as much
        np.testing.assert_allclose(kept.mean, fresh.mean, rtol=0, atol=1e-5)
    assert not is_loaded(lm)


def test_other_texts_among_them_are_computed(lm, computed, data):
    texts = ["Ein ganz anderer Satz.", *bundled_texts(data)[0][:3], "", "Another sentence."]
    found = an.score_texts(lm, texts)
    assert is_loaded(lm)
    np.testing.assert_allclose(found.mean, an.score_texts(computed, texts).mean, atol=1e-5)


def test_a_copy_that_may_have_other_weights_has_none(lm, computed):
    other = replace(lm, name="mine")
    assert lm.kept is not None
    assert other.kept is None
    assert other.signature(False) == lm.signature(False).replace(lm.name, "mine")
    assert replace(lm, model=None).model is None


def test_where_nothing_is_looked_up_all_is_computed(lm, data, monkeypatch):
    monkeypatch.setenv("ANHELPERS_STORE", "off")
    an.score_texts(lm, bundled_texts(data)[0][:2])
    assert is_loaded(lm)


def test_of_other_weights_another_version_or_a_damaged_file_they_are_not_used(
    data, tmp_path, monkeypatch
):
    mine = tmp_path / "mine"
    shutil.copytree(bundled(f"lm/{OF[data]}"), mine)
    assert an.load_lm(mine).kept is not None
    config = mine / "generation_config.json"
    config.write_text(config.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert an.load_lm(mine).kept is None
    revision = an.load_lm(OF[data]).revision
    assert read_kept(mine, revision) is not None
    monkeypatch.setattr("anhelpers.naturalness.kept.version", lambda name: "0.0.1")
    assert read_kept(mine, revision) is None
    monkeypatch.undo()
    (mine / FILE).write_bytes((mine / FILE).read_bytes()[:5000])
    assert read_kept(mine, revision) is None


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("keys_no", lambda keys: keys[1:]),
        ("keys_yes", lambda keys: keys.astype(np.int64)),
        ("values_no", lambda values: values[:, :2]),
        ("values_yes", lambda values: values + np.array([1000.0, 0, 0])),
        ("values_no", lambda values: np.where(np.arange(3) == 0, np.nan, values)),
    ],
)
def test_a_file_that_does_not_hold_what_it_should_is_not_used(tmp_path, name, wrong):
    folder = bundled("lm/de-small")
    revision = an.load_lm(folder).revision
    with np.load(folder / FILE) as file:
        arrays = {of: file[of] for of in file.files}
    np.savez(tmp_path / FILE, **arrays)
    assert read_kept(tmp_path, revision) is not None
    np.savez(tmp_path / FILE, **arrays | {name: wrong(arrays[name])})
    assert read_kept(tmp_path, revision) is None


WITHOUT_TORCH = """
import sys
sys.modules["torch"] = sys.modules["transformers"] = None
import anhelpers as an
test = an.load("teaching")
lpp = an.metric("lpp", test)
print(round(float(lpp.score_segments(list(test.refs["refA"])).mean()), 4))
try:
    lpp.score_segments(["Ein neuer Satz."])
except an.AnhelpersError as error:
    print(error)
"""


def test_without_torch_the_bundled_texts_are_scored_and_others_ask_for_it(
    tmp_path, monkeypatch, computed
):
    monkeypatch.setenv("ANHELPERS_STORE", str(tmp_path / "scores.sqlite"))
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, check=True
    )
    value, told = done.stdout.splitlines()
    test = an.load("teaching")
    lm = an.load_lm("de-small", device="cpu")
    scores = an.score_texts(lm, test.refs["refA"])
    assert float(value) == pytest.approx(-scores.mean.mean(), abs=2e-4)
    assert "torch" in told
    assert "pip install" in told


def test_a_model_made_by_hand_has_none_and_lacks_what_it_lacks():
    lm = LanguageModel(None, None, "made", "0", "float32", "cpu", 0, 64)
    assert lm.kept is None
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        _ = lm.colour
