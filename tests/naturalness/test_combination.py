"""Critic and language model together: weights two ways, damage by rule, the bundled weights, bad input."""

import json
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers import cli
from anhelpers.data import bundled, load_candidates, load_mono
from anhelpers.errors import DataError
from anhelpers.naturalness.combination import combination_metric, identity, load_combination
from anhelpers.naturalness.critic import load_critic
from anhelpers.naturalness.lm import load_lm
from anhelpers.scoring.lookup import naturalness_metric, needs_lm
from anhelpers.training.combination import (
    damaged,
    fit_weights,
    other_forms,
    train_combination,
    write_combination,
)

pytestmark = pytest.mark.usefixtures("kept_scores")

WORDS = [
    "der",
    "den",
    "dem",
    "die",
    "ein",
    "eine",
    "einen",
    "geht",
    "gehe",
    "gehen",
    "Haus",
    "Hause",
    "rot",
    "und",
]
SENTENCES = [
    "Der Hund schläft im Garten.",
    "Sie geht mit dem Kind nach Hause.",
    "„Nein“, sagte er leise.",
]


@pytest.fixture(scope="module")
def lm():
    return load_lm("de-small")


@pytest.mark.verifies("Critic with a language model", by="hand")
def test_weights_by_hand():
    """The critic says +1 of 3 of 4 originals and of 1 of 4 translations, the model is right in 3 of 4 pairs: log 3."""
    r, q = np.array([[1.0, 0]] * 3 + [[-1.0, 0]]), np.array([[-1.0, 0]] * 3 + [[1.0, 0]])
    moves = np.array([[0, 1.0]] * 3 + [[0, -1.0]])
    assert fit_weights(r, [q], moves) == pytest.approx([np.log(3), np.log(3), 0], abs=1e-5)


@pytest.mark.verifies("Critic with a language model", by="foreign", of="scikit-learn")
def test_weights_as_scikit_learn_has_them():
    """Pairs are texts without intercept, each in both directions; here they weigh nothing beside the classes."""
    linear = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(3)
    r, q = rng.normal([0.5, 1], 1, (60, 2)), rng.normal([-0.5, 0], 1, (80, 2))
    ours = fit_weights(r, [q], np.zeros((1, 2)))
    weights = np.concatenate([np.full(60, 0.5 / 60), np.full(80, 0.5 / 80)])
    theirs = linear.LogisticRegression(C=1e9, tol=1e-10, max_iter=10_000)
    theirs.fit(np.vstack([r, q]), np.arange(140) < 60, sample_weight=weights)
    assert ours == pytest.approx([*theirs.coef_[0], theirs.intercept_[0]], abs=1e-3)


@pytest.mark.verifies("Critic with a language model", by="property")
def test_files_of_translations_weigh_the_same():
    rng = np.random.default_rng(4)
    r = rng.normal(0.5, 1, (50, 2))
    q = rng.normal(-0.5, 1, (40, 2))
    moves = rng.normal(0.2, 1, (30, 2))
    other = rng.normal(0, 1, (20, 2))
    assert fit_weights(r, [q, other, other], moves) == pytest.approx(
        fit_weights(r, [q, np.vstack([other, other]), other], moves), abs=1e-4
    )


TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=3, max_size=12).map(" ".join), min_size=1
)


@given(TEXTS, st.integers(0, 99))
def test_damage_changes_words_and_only_by_its_rules(texts, seed):
    """Every word of a damaged text stands in the texts, and no error adds or drops more than one word."""
    forms, rng = other_forms(texts), np.random.default_rng(seed)
    known = {word.lower() for text in texts for word in text.split()}
    for text in texts:
        worse = damaged(text, forms, rng)
        if worse is not None:
            assert worse != text
            assert {word.lower() for word in worse.split()} <= known
            assert abs(len(worse.split()) - len(text.split())) <= 4


def test_signs_stay_in_their_place_and_short_texts_stay():
    rng, forms = np.random.default_rng(0), other_forms(SENTENCES)
    for _ in range(50):
        for text in SENTENCES[:2]:
            worse = damaged(text, forms, rng)
            assert worse is None or worse.endswith(".")
    assert damaged("Guten Morgen!", forms, rng) is None


def test_forms_differ_in_the_last_two_letters():
    forms = other_forms(["einem einen eine Einer gehen geht Haus"])
    assert forms["einem"][0] == ["eine", "einen"]
    assert forms["gehen"][0] == ["geht"]
    assert "Haus" not in forms
    assert forms["einem"][1].sum() == pytest.approx(1)


@pytest.mark.verifies("Critic with a language model", by="hand")
def test_a_score_is_the_weighted_sum(lm):
    combination = load_combination("de")
    texts = [*SENTENCES, "42", ""]
    critic = naturalness_metric("critic", "de").score_segments(texts)
    lpp = naturalness_metric("lpp", "de", lm).score_segments(texts)
    together = naturalness_metric("critic+lpp", "de", lm)
    expected = (
        combination.critic_weight * critic - combination.lpp_weight * lpp + combination.intercept
    )
    np.testing.assert_allclose(together.score_segments(texts), expected)
    assert np.isnan(expected).tolist() == [False] * 3 + [True] * 2
    assert together.higher_is_better
    assert needs_lm("critic+lpp")
    assert needs_lm("critic+lpp:mine")


def test_the_signature_has_weights_critic_and_model(lm):
    signature = naturalness_metric("critic+lpp", "de", lm).signature
    c = load_combination("de")
    assert signature.startswith(
        f"critic+lpp|{c.critic_weight:g}*critic-{c.lpp_weight:g}*lpp{c.intercept:+g}|critic|"
    )
    assert load_critic("de").revision in signature
    assert lm.revision in signature


def test_the_bundled_weights_hear_and_read(lm):
    """Both judges count, it was fitted with the two that are bundled, and most damage is seen."""
    combination = load_combination("de")
    assert combination.lm == identity(lm)
    assert combination.critic_weight > 0
    assert combination.lpp_weight > 0
    texts = load_mono("teaching")[:150]
    rng, forms = np.random.default_rng(1), other_forms(texts)
    pairs = [(text, worse) for text in texts if (worse := damaged(text, forms, rng))]
    metric = combination_metric(combination, lm, "de")
    better, worse = (metric.score_segments([pair[i] for pair in pairs]) for i in (0, 1))
    assert np.mean(better > worse) > 0.75


def test_training_from_the_command_line(lm, tmp_path, capsys):
    """Written beside a copy of the critic, it scores; a critic of another revision is refused."""
    cands = load_candidates("teaching")
    files = {"own": load_mono("teaching")}
    for tag in ("literal", "literal-2", "calque", "near-reference", "officialese"):
        files.setdefault("q", []).extend(
            t for t, of in zip(cands.texts, cands.tags, strict=True) if of == tag
        )
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    folder = tmp_path / "mine"
    shutil.copytree(bundled("critic/de"), folder)
    arguments = [
        "train-combination",
        str(tmp_path / "own"),
        str(tmp_path / "q"),
        str(folder),
        "--lang",
        "de",
    ]
    assert cli.main(arguments) == 0
    assert "360 originals" in capsys.readouterr().out
    assert json.loads((folder / "combination.json").read_text())["originals"] == 360
    assert np.isfinite(
        naturalness_metric(f"critic+lpp:{folder}", "de", lm).score_segments(SENTENCES)
    ).all()
    facts = json.loads((folder / "facts.json").read_text())
    (folder / "facts.json").write_text(json.dumps(facts | {"intercept": 0.25}))
    with pytest.raises(DataError, match="was fitted with another critic"):
        load_combination(folder)


def test_a_folder_that_is_not_there_is_not_the_bundled_critic_of_that_name(
    tmp_path, monkeypatch, capsys
):
    """Its weights were written over."""
    monkeypatch.chdir(tmp_path)
    before = (bundled("critic/de") / "combination.json").read_bytes()
    assert cli.main(["train-combination", "own", "q", "de", "--lang", "de"]) == 2
    assert "de: there is no such folder; train a critic into it first" in capsys.readouterr().err
    assert (bundled("critic/de") / "combination.json").read_bytes() == before


def test_what_is_refused(lm, tmp_path):
    judges, own = (load_critic("de"), lm), load_mono("teaching")
    with pytest.raises(DataError, match="2 texts of q are left, and weights need at least 200"):
        train_combination(own, {"q": ["Das ist ein Satz.", "Und noch einer."]}, judges)
    with pytest.raises(DataError, match="0 originals are left"):
        train_combination(own, {"q": own}, judges, lambda line: None)
    folder = tmp_path / "critic"
    shutil.copytree(bundled("critic/de"), folder)
    combination = folder / "combination.json"
    facts = json.loads(combination.read_text())
    write_combination({**facts, "lm": "other@1"}, folder)
    with pytest.raises(
        DataError, match=r"fitted with the language model other@1 and do not hold for de-small@"
    ):
        combination_metric(load_combination(folder), lm)
    turned = [json.dumps({**facts, "critic_weight": -0.5}), json.dumps({**facts, "lpp_weight": 0})]
    for bad in ("{}", "[]", "no", json.dumps({**facts, "intercept": float("nan")}), *turned):
        combination.write_text(bad)
        with pytest.raises(DataError, match="is no combination of judges"):
            load_combination(folder)
    combination.unlink()
    with pytest.raises(DataError, match="beside this critic there is no combination"):
        load_combination(folder)
    with pytest.raises(DataError, match="knows only 'de' and the texts are 'fr'"):
        combination_metric(load_combination("de"), lm, "fr")


def test_swapped_sides_are_refused(lm):
    """The critic would be turned round without anybody noticing: what reads translated would count as natural."""
    own, cands = load_mono("teaching"), load_candidates("teaching")
    q = [
        text
        for text, tag in zip(cands.texts, cands.tags, strict=True)
        if tag.startswith(("literal", "omission"))
    ]
    judges = load_critic("de"), lm
    combination, _ = train_combination(own, {"q": q}, judges, lambda line: None)
    assert combination.critic_weight > 0
    with pytest.raises(DataError, match="are NATIVE and TRANSLATED swapped"):
        train_combination(q, {"own": own}, judges, lambda line: None)
