"""What the rating sheet ships, what it saves, and how it shows itself without a browser."""

import html
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anhelpers import classroom
from anhelpers.classroom.rating_sheet import NAME, RatingSheet, _turns, rating_sheet
from anhelpers.data import from_systems, load
from anhelpers.data.lines import read_lines
from anhelpers.errors import DataError


def sheet(**options):
    test = load("teaching")
    return rating_sheet(
        test, from_systems(test), rng=np.random.default_rng(3), title="A <claim>", **options
    )


@pytest.fixture
def widget():
    return sheet()


def test_what_is_shipped_tells_no_system(widget):
    test = load("teaching")
    shipped = json.dumps(widget.data, ensure_ascii=False)
    assert not [name for name in test.systems if name in shipped]
    assert not [ref for ref in widget.sheet.refs if ref in shipped]
    assert [s["texts"] for s in widget.data["segments"]] == [
        list(texts) for texts in widget.sheet.texts
    ]
    assert [s["src"] for s in widget.data["segments"]] == list(widget.sheet.srcs)
    assert widget.data["langs"] == ["en", "de"]
    assert [s["ref"] for s in sheet(reference=True).data["segments"]] == list(widget.sheet.refs)
    # on paper too
    assert re.findall(r'lang="(\w+)"', widget.static_html())[13:17] == ["de", "de", "en", "de"]


def test_sources_have_their_line_of_plain_english_where_the_set_has_glosses(widget, monkeypatch):
    test = load("teaching/de-en")
    foreign = rating_sheet(test, from_systems(test), rng=np.random.default_rng(3))
    lines = [test.glosses[i] for i in foreign.sheet.segments]
    assert [s["gloss"] for s in foreign.data["segments"]] == lines
    assert not any("gloss" in s for s in widget.data["segments"])
    monkeypatch.setenv("ANX_MODE", "static")
    page = html.unescape(foreign._repr_mimebundle_()["text/html"])
    assert [line for line in lines if f'<small lang="en">{line}</small>' not in page] == []


def test_languages_are_named_as_html_wants_them():
    test = replace(load("teaching"), lp="und-pt_BR")
    assert rating_sheet(test, from_systems(test), rng=np.random.default_rng(3)).data["langs"] == [
        "",
        "pt-BR",
    ]


@pytest.mark.parametrize("given", [[1.0], [None] * 29 + [-1.0], [None] * 29 + ["2"]])
def test_seconds_that_fit_no_rating_are_refused(widget, given):
    with pytest.raises(DataError, match="seconds must be 30 numbers, None where missing"):
        widget.seconds = given


def test_nothing_is_rated_at_first(widget):
    assert widget.ratings == widget.seconds == [None] * 30
    assert repr(widget) == f"RatingSheet({widget.sheet.id}: 0 of 30 ratings)"
    assert widget.table().rating.isna().all()
    assert next(widget.table().itertuples(index=False))[:3] == widget.sheet.rows[0]


def test_the_same_generator_gives_the_same_sheet_to_everybody(widget):
    assert sheet().data == widget.data
    assert rating_sheet(
        ["one"],
        from_systems(load("teaching").subset([0])),
        n_segments=1,
        rng=np.random.default_rng(0),
    ).data["langs"] == ["", ""]


def rate(widget, rater="Mo", n=4):
    widget.rater = rater
    widget.ratings = [5, None, 1, 3][:n] + [None] * (30 - n)
    widget.seconds = [2.5, None, 0.1, 12.0][:n] + [None] * (30 - n)
    return widget


def test_the_file_is_tidy_and_read_back(widget, tmp_path):
    path = rate(widget).save_ratings(tmp_path / "mo.csv")
    lines = read_lines(path)
    assert lines[0] == "rater,sheet,segment,candidate,criterion,rating,seconds,version,turn"
    segment, candidate, _ = widget.sheet.rows[0]
    assert lines[1].startswith(f"Mo,{widget.sheet.id},{segment},{candidate},accuracy,5,2.5,")
    assert f",{candidate},fluency,,," in lines[2]
    assert len(lines) == 31
    back = classroom.read_class_ratings(path)
    assert back.raters == ("Mo",)
    assert back.notes == ("27 of 30 ratings are missing (Mo 27).",)
    assert back.table.rating.tolist()[:4] == pytest.approx([5, np.nan, 1, 3], nan_ok=True)
    assert path.read_text(encoding="utf-8") == widget.csv()


def test_a_file_that_is_there_is_gone_on_with(widget, tmp_path):
    rate(widget).save_ratings(tmp_path / "mo.csv")
    again = sheet(path=tmp_path / "mo.csv")
    assert (again.rater, again.ratings, again.seconds) == ("Mo", widget.ratings, widget.seconds)
    assert again.file == "mo.csv"
    again.ratings = [5] * 30
    again.asked = 1
    assert again.answer == [1, "Saved 30 of 30 ratings to mo.csv."]
    assert classroom.read_class_ratings(tmp_path / "mo.csv").table.rating.tolist() == [5] * 30


def test_a_file_of_another_rater_or_sheet_is_refused_and_stays(widget, tmp_path):
    path = rate(widget).save_ratings(tmp_path / "mo.csv")
    before = path.read_bytes()
    mine = sheet(path=path)
    mine.rater = "Di"
    mine.asked = 1
    assert (
        mine.answer[1]
        == f"Not saved: {path}: holds the ratings of Mo, and not of Di; take another file."
    )
    test = load("teaching")
    with pytest.raises(DataError, match=r"is of sheet .*, and this is .*; take another file"):
        rating_sheet(test, from_systems(test), rng=np.random.default_rng(4), path=path)
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="there is no column rater"):
        rate(sheet()).save_ratings(tmp_path / "notes.csv")
    both = tmp_path / "both.csv"
    both.write_text(widget.csv() + "\n".join(rate(sheet(), "Di").csv().splitlines()[1:]))
    with pytest.raises(DataError, match="holds the ratings of 2 raters"):
        sheet(path=both)
    with pytest.raises(DataError, match="there is no folder"):
        sheet(path=tmp_path / "nowhere" / "mo.csv")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "name", ["", "  ", "a,b", 'a"b', "a;b", "=1+1", "-x", "@x", "a\nb", "x" * 41]
)
def test_a_name_that_no_file_should_hold_is_refused(widget, name, tmp_path):
    rate(widget, name)
    with pytest.raises(DataError, match="pseudonym"):
        widget.save_ratings(tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.parametrize("name", ["Mo", "Žofie Ö", "李", "नमस्ते", "O'Neil 2", "x" * 40])
def test_names_of_all_scripts_are_read_back(widget, name, tmp_path):
    assert classroom.read_class_ratings(
        rate(widget, f" {name} ").save_ratings(tmp_path / "x.csv")
    ).raters == (name,)


def test_what_is_set_from_python_is_checked(widget):
    for wrong in ([6] + [None] * 29, [0] + [None] * 29, [None] * 29, ["5"] + [None] * 29):
        with pytest.raises(DataError, match="ratings must be 30, each 1 to 5, or None"):
            widget.ratings = wrong
    with pytest.raises(DataError, match="place must be a page of the sheet, 0 to 7, got 8"):
        widget.place = 8
    with pytest.raises(DataError, match="give the sheet a path"):
        rate(widget).save_ratings()


def test_on_paper_there_is_a_table_with_empty_boxes_for_each_sentence(widget):
    before, script = widget.fragment().split("<script>")
    assert before.count("<table>") == 1 + 5
    assert before.count("☐") == 30 * 5
    assert all(html.escape(text) in before for texts in widget.sheet.texts for text in texts)
    assert "Accuracy: 1 = says something else than the source; 5 = " in before
    assert widget.sheet.id in before
    assert "A &lt;claim&gt;" in before
    assert "<svg" not in before
    assert "<style" not in before
    assert script.count("</script>") == 1


def test_a_page_to_hand_out_is_empty_whoever_has_rated(tmp_path):
    mine = rate(sheet(path=tmp_path / "secret-folder.csv"), "Mo-the-first")
    page = mine.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Mo-the-first" not in page
    assert "secret-folder" not in page
    assert "<title>A &lt;claim&gt;</title>" in page
    assert not re.search(r"""(?:src|href)=["']?https?:|@import|import\(""", page)
    state = json.loads(re.search(r"fakeModel\((\{.*\})\), el: box", page).group(1))
    assert state["ratings"] == state["seconds"] == [None] * 30
    assert (state["rater"], state["file"], state["asked"], state["answer"]) == ("", "", 0, [])
    assert (state["place"], state["sources_shown"]) == (0, False)
    assert mine.ratings[0] == 5


def test_shown_live_and_static(widget, monkeypatch):
    monkeypatch.delenv("ANX_MODE", raising=False)
    bundle, _ = widget._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    monkeypatch.setenv("ANX_MODE", "static")
    assert set(sheet()._repr_mimebundle_()) == {"text/html", "text/plain"}


def test_all_texts_come_alone_first_and_no_page_has_two_of_one_source(widget):
    pages = widget.data["alone"]
    assert [len(page) for page in pages] == [5, 5, 5]
    assert all(len({segment for segment, _ in page}) == 5 for page in pages)
    assert sorted(place for page in pages for place in page) == [
        [segment, k] for segment in range(5) for k in range(3)
    ]
    turns = pd.Series(_turns(widget.data), [criterion for *_, criterion in widget.sheet.rows])
    assert sorted(turns["fluency"]) == [*range(1, 16)]
    assert turns["accuracy"].tolist() == [*range(16, 31)]
    of_eight = sheet(n_segments=8).data["alone"]
    assert [len(page) for page in of_eight] == [4] * 6


def test_a_file_with_accuracy_closes_fluency_and_one_without_does_not(widget, tmp_path):
    widget.rater = "Mo"
    widget.ratings = [None, 4] * 15
    path = widget.save_ratings(tmp_path / "mo.csv")
    assert not sheet(path=path).sources_shown
    widget.ratings = [3, 4] * 15
    widget.save_ratings(path)
    assert sheet(path=path).sources_shown


def test_the_page_is_sent_what_a_pseudonym_may_be(widget):
    assert widget.data["name"]["pattern"] == f"^{NAME.pattern}$"
    assert RatingSheet.noun == "rating sheet"
