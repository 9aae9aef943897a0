"""Write your own translation: what is shipped, and what is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

from anhelpers.data import load, load_candidates
from anhelpers.errors import AnhelpersError, DataError
from anhelpers.naturalness.critic import load_critic
from anhelpers.plane import oracle_study, with_human_points
from anhelpers.widgets.own import _shipped, own_translation

SEGMENTS = [20, 3]


@pytest.fixture(scope="module")
def sets():
    return with_human_points(load("teaching/de-en")), load_candidates("teaching/de-en")


@pytest.fixture
def made(sets):
    return own_translation(*sets, segments=SEGMENTS)


def test_the_candidates_have_the_scores_of_a_study(sets, made):
    study = oracle_study(*sets, "chrf", "critic")
    table = study.candidates()
    for one in made.data["segments"]:
        part = table[table.segment == one["id"]]
        assert one["texts"] == part.text.tolist()
        assert one["tags"] == part.tag.tolist()
        assert one["accuracy"] == part.accuracy.tolist()
        assert one["naturalness"] == pytest.approx(part.naturalness.tolist(), abs=1e-12)
        rows = study.curve.chain_segment == one["id"]
        chain = study.curve.chain_candidate[rows] - part.index[0]
        assert one["chain"] == chain.tolist()
        assert one["beta"] == pytest.approx(study.curve.chain_beta[rows].tolist())
    assert [one["id"] for one in made.data["segments"]] == SEGMENTS
    same = own_translation(study, segments=SEGMENTS)
    assert same.data["segments"] == made.data["segments"]


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_whole_critic_is_shipped_to_the_last_bit_in_less_than_600_kb(language):
    critic = load_critic(language)
    shipped = _shipped(critic)
    rows = [line.split("\t") for line in shipped["ngrams"].split("\n")]
    assert {gram: (float(idf), float(w)) for gram, idf, w in rows} == critic.table
    assert frozenset(shipped["words"].split(" ")) == critic.words
    assert len(json.dumps(shipped, ensure_ascii=False).encode()) < 600_000


def test_an_exported_page_is_empty(made):
    empty = made.to_html()
    made.text = "A secret draft"
    assert repr(made) == "OwnTranslation(2 sources, segment 20, β = 3)"
    assert made.to_html() == empty


def test_what_cannot_be_shown_is_refused(sets):
    test, cands = sets
    some = replace(test, refs={"r": ("", *test.refs[test.reference][1:])})
    for wrong, options in (
        (replace(test, lp="de-fr"), {}),
        (replace(test, refs={}), {}),
        (some, {"segments": [0]}),
        (test, {"segments": []}),
        (test, {"segments": [99]}),
    ):
        with pytest.raises(AnhelpersError):
            own_translation(wrong, cands, **options)
    with pytest.raises(DataError):
        own_translation(test)
    assert 0 not in [one["id"] for one in own_translation(some, cands).data["segments"]]


def test_texts_without_a_word_have_no_place(sets):
    test, cands = sets
    texts = list(cands.texts)
    texts[int(np.flatnonzero(cands.segment == 20)[0])] = "?!"
    changed = replace(cands, texts=tuple(texts))
    (one,) = own_translation(test, changed, segments=[20]).data["segments"]
    assert "?!" not in one["texts"]
    assert np.isfinite(one["naturalness"]).all()
