"""Write your own translation: what is shipped, what Python knows of it, and which questions it refuses."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from anhelpers.classroom import read_sentences
from anhelpers.data import load, load_candidates
from anhelpers.errors import DataError
from anhelpers.naturalness.critic import load_critic, score_critic
from anhelpers.plane import oracle_study, with_human_points
from anhelpers.widgets.own import OwnTranslation, own_translation, shipped_critic

SEGMENTS = [20, 3]


@pytest.fixture(scope="module")
def sets():
    return with_human_points(load("teaching/de-en")), load_candidates("teaching/de-en")


@pytest.fixture
def made(sets):
    return own_translation(*sets, segments=SEGMENTS, title="A <claim>")


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
    assert same.data["task"] == made.data["task"]


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_whole_critic_is_shipped_to_the_last_bit_in_less_than_600_kb(language):
    critic = load_critic(language)
    shipped = shipped_critic(critic)
    rows = [line.split("\t") for line in shipped["ngrams"].split("\n")]
    assert {gram: (float(idf), float(w)) for gram, idf, w in rows} == critic.table
    assert frozenset(shipped["words"].split(" ")) == critic.words
    assert len(json.dumps(shipped, ensure_ascii=False).encode()) < 600_000


def test_python_and_the_page_share_what_was_kept(made):
    made.who, made.kept = "Mo", [[20, "So there she was."], (3, "It works again.")]
    table = made.sentences()
    assert table.columns.tolist() == ["who", "task", "segment", "text", "chrf", "critic", "version"]
    assert table.segment.tolist() == [20, 3]
    assert table.critic[0] == score_critic(load_critic("en"), "So there she was.")
    assert repr(made) == "OwnTranslation(2 sources, segment 20 is seen, β = 3; 2 sentences kept)"
    assert made.csv().splitlines()[1].startswith(f"Mo,{made.data['task']},20,So there she was.,")
    made.who = "=1"
    with pytest.raises(DataError, match="cannot be written"):
        made.csv()
    made.who = ""
    with pytest.raises(DataError, match="Enter a pseudonym"):
        made.csv()
    made.kept = []
    assert made.sentences().empty


def test_a_sentence_that_is_a_formula_to_a_spreadsheet_is_guarded_and_comes_back(made, tmp_path):
    texts = ["=1+1, she said.", "- Yes.", "'Twas late.", "'=odd'", "@home", "-5", "-5+1"]
    made.who, made.kept = "Mo", [[20, text] for text in texts]
    (tmp_path / "mo.csv").write_text(made.csv(), "utf-8")
    cells = [row[3] for row in csv.reader(made.csv().splitlines()[1:])]
    assert cells == [
        "'=1+1, she said.",
        "'- Yes.",
        "'Twas late.",
        "''=odd'",
        "'@home",
        "-5",
        "'-5+1",
    ]
    assert read_sentences(tmp_path).text.tolist() == texts


def test_a_page_that_is_handed_out_is_empty(made, monkeypatch):
    made.text, made.who, made.kept = "A secret draft", "Mo the Great", [[20, "Kept in secret."]]
    monkeypatch.setenv("ANX_MODE", "static")
    page = made.to_html() + made._repr_mimebundle_()["text/html"]
    assert not [
        word for word in ("A secret draft", "Mo the Great", "Kept in secret.") if word in page
    ]
    assert "A &lt;claim&gt;" in page


@pytest.mark.parametrize(
    ("trait", "value", "said"),
    [
        ("segment", 7, "segment 7 is not among the sources here; there are 20, 3"),
        ("beta", -1.0, "beta"),
        ("kept", [[7, "x"]], "a kept sentence is"),
        ("kept", [[20, " "]], "a kept sentence is"),
    ],
)
def test_what_cannot_be_is_refused(made, trait, value, said):
    with pytest.raises(DataError, match=said):
        setattr(made, trait, value)


def test_what_cannot_be_shown_is_said_in_a_sentence(sets):
    test, cands = sets
    with pytest.raises(DataError, match="no bundled critic 'fr'"):
        own_translation(replace(test, lp="de-fr"), cands)
    with pytest.raises(DataError, match="knows only 'de'"):
        own_translation(test, cands, critic="de")
    with pytest.raises(DataError, match="reference"):
        own_translation(replace(test, refs={}), cands)
    gaps = ("", *test.refs[test.reference][1:])
    some = replace(test, refs={"r": gaps})
    with pytest.raises(DataError, match="segment 0 has no reference"):
        own_translation(some, cands, segments=[0])
    with pytest.raises(DataError, match="no source to translate"):
        own_translation(test, cands, segments=[])
    with pytest.raises(DataError, match="cands is a CandidateSet"):
        own_translation(test)
    with pytest.raises(DataError, match="segments"):
        own_translation(test, cands, segments=[99])
    assert 0 not in [one["id"] for one in own_translation(some, cands).data["segments"]]


def test_sentences_that_were_changed_after_they_were_saved_are_told(sets, made, capsys):
    """A segment or a word that a spreadsheet changed, in silence: its scores no longer are those of its file."""
    made.who, made.kept = "Mo", [[20, "So there she was."], [20, "There she stood."]]
    table = made.sentences()
    own_translation(*sets, segments=SEGMENTS, also=table.round(4))
    assert "other scores" not in capsys.readouterr().err
    table.loc[1, "segment"] = SEGMENTS[1]
    own_translation(*sets, segments=SEGMENTS, also=table)
    said = capsys.readouterr().err
    assert "1 of 2 sentences have other scores here than in their files" in said
    assert f"(first: 'There she stood.', segment {SEGMENTS[1]})" in said
    own_translation(
        *sets, segments=SEGMENTS, also=table.assign(chrf=float("nan"), critic=float("nan"))
    )
    assert "other scores" not in capsys.readouterr().err


def test_a_sentence_of_a_class_that_has_no_point_is_told(sets, made, capsys):
    made.who, made.kept = "Mo", [[20, "So there she was."], [20, "There she stood."]]
    table = made.sentences()
    own_translation(*sets, segments=SEGMENTS, also=table)
    assert "left out" not in capsys.readouterr().err
    for column, value in (("segment", 7000), ("text", "!!!")):
        wrong = table.copy()
        wrong.loc[1, column] = value
        whole = own_translation(*sets, segments=SEGMENTS, also=wrong)
        said = capsys.readouterr().err
        assert "1 of 2 sentences are left out (first: " in said
        assert f"'{wrong.text[1]}', of Mo, segment {wrong.segment[1]})" in said
        assert len(whole.data["segments"][0]["also"]) == 1
    own_translation(*sets, segments=SEGMENTS[1:], also=table)
    assert "2 of 2 sentences are left out" in capsys.readouterr().err


def test_a_sentence_of_a_class_in_another_language_is_told(sets, made, capsys):
    made.who, made.kept = "Mo", [[20, "So there she was, and nobody else had seen it."]]
    table = made.sentences()
    own_translation(*sets, segments=SEGMENTS, also=table)
    assert "do not read as" not in capsys.readouterr().err
    made.kept = [*made.kept, [20, "Da stand sie nun, und niemand sonst hatte es gesehen."]]
    own_translation(*sets, segments=SEGMENTS, also=made.sentences())
    said = capsys.readouterr().err
    assert "1 of 2 sentences do not read as English (first: 'Da stand sie nun" in said
    assert "of Mo, segment 20)" in said


def test_sentences_of_another_task_are_refused(sets, made):
    made.who, made.kept = "Mo", [[20, "So there she was."]]
    table = made.sentences()
    also = own_translation(*sets, segments=SEGMENTS, also=table).data["segments"]
    assert [len(one["also"]) for one in also] == [1, 0]
    who, text, chrf, nats = also[0]["also"][0]
    assert (who, text, chrf, nats) == ("Mo", "So there she was.", table.chrf[0], table.critic[0])
    # scored anew, whatever the file says
    changed = table.assign(chrf=100.0)
    assert (
        own_translation(*sets, segments=SEGMENTS, also=changed).data["segments"][0]["also"][0][2]
        == chrf
    )
    with pytest.raises(DataError, match="are of task 'x'"):
        own_translation(*sets, segments=SEGMENTS, also=table.assign(task="x"))
    # other sources of the same test are the same task, other references are another
    assert own_translation(*sets, segments=[1]).data["task"] == made.data["task"]
    assert (
        own_translation(load("teaching/de-en"), sets[1], segments=[20]).data["task"]
        != made.data["task"]
    )


def test_it_is_a_widget_of_the_room():
    from anhelpers import widgets

    assert widgets.own_translation is own_translation
    assert OwnTranslation.noun == "write your own translation"


def test_texts_without_a_word_have_no_place(sets):
    test, cands = sets
    texts = list(cands.texts)
    first = int(np.flatnonzero(cands.segment == 20)[0])
    texts[first] = "?!"
    (one,) = own_translation(test, replace(cands, texts=tuple(texts)), segments=[20]).data[
        "segments"
    ]
    assert "?!" not in one["texts"]
    assert np.isfinite(one["naturalness"]).all()
