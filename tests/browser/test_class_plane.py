"""The live plane in a browser: files are dropped, and values, notes and refusals are those of Python."""

import json

import numpy as np
import pytest

from anhelpers import classroom, cli
from anhelpers.classroom.projector import page_interval
from anhelpers.errors import AnhelpersError

SETUP = """import numpy as np
from anhelpers import classroom
from anhelpers.data import from_systems, load
test = load("teaching")
cands = from_systems(test)
drawn = classroom.draw_sheet(test, cands, 5, 3, rng=np.random.default_rng(3))"""
SHOW = """example = classroom.invented_class(drawn, np.random.default_rng(0), 3, following="teaching")
w = classroom.live_plane(drawn, cands, categories=test.categories, title='A <claim>', example=example)
w"""


@pytest.fixture(scope="module")
def made():
    names = {}
    exec("\n".join((SETUP, SHOW)), names)
    return names


@pytest.fixture
def opened(made, page, tmp_path):
    page.goto(made["w"].save(tmp_path / "plane.html").as_uri())
    return page.locator(".anx")


def drop(root, n_raters, *paths, problems=0):
    """Give files to the page; what it then says."""
    root.locator("input[type=file]").set_input_files([str(path) for path in paths])
    root.page.wait_for_function(
        """([n, wrong]) => { const root = document.querySelector('.anx');
        return +root.dataset.raters === n && root.querySelectorAll('li.anx-wrong').length === wrong }""",
        arg=[n_raters, problems],
    )
    return json.loads(root.get_attribute("data-results"))


def means_of(back, made):
    """(system, criterion) → the means of its segments over raters, then candidates."""
    rows = back.table.dropna(subset="rating")
    rows = rows.assign(system=[made["cands"].tags[k].split(" | ") for k in rows.candidate])
    rows = rows.explode("system")
    one = rows.groupby(["system", "criterion", "segment", "candidate"]).rating.mean()
    per_segment = one.groupby(["system", "criterion", "segment"]).mean()
    return {key: part.to_numpy() for key, part in per_segment.groupby(["system", "criterion"])}


def check_values(found, paths, made):
    back = classroom.read_class_ratings(paths, made["drawn"])
    plane = classroom.class_plane(back, made["cands"], np.random.default_rng(0), 200)
    plane = plane.set_index("system")
    assert set(found["systems"]) == set(plane.index)
    for name, here in found["systems"].items():
        there = plane.loc[name]
        values = [np.nan if here[c] is None else here[c] for c in ("accuracy", "fluency")]
        assert values == pytest.approx([there.accuracy, there.naturalness], abs=1e-12, nan_ok=True)
        assert (here["n"], here["ratings"]) == (there.n, there.n_ratings)
    means = means_of(back, made)
    for name, here in found["systems"].items():
        for criterion, ends in here["ends"].items():
            there = page_interval(means.get((name, criterion), []))
            assert ends == (None if there is None else pytest.approx(there, abs=1e-9))
    for criterion, alpha in found["alpha"].items():
        right = classroom.agreement(back, criterion, np.random.default_rng(0), 200).value
        alpha = np.nan if alpha is None else alpha
        assert alpha == pytest.approx(right, abs=1e-12, nan_ok=True)
    return back


@pytest.mark.parametrize("missing", [0.0, 0.2, 0.7])
def test_the_plane_and_agreement_are_pythons_for_the_same_files(made, opened, tmp_path, missing):
    (tmp_path / "class").mkdir()
    invented = classroom.invented_class(made["drawn"], np.random.default_rng(1), 6, missing=missing)
    paths = classroom.write_ratings(invented, tmp_path / "class")
    assert "The systems appear with the first file" in opened.inner_text()
    check_values(drop(opened, 2, *paths[:2]), paths[:2], made)
    found = drop(opened, 6, *paths[2:])  # each further file is added
    back = check_values(found, paths, made)
    assert found["raters"] == list(back.raters)
    assert opened.locator("li").all_inner_texts() == list(back.notes)
    drawn = sum(None not in (one["accuracy"], one["fluency"]) for one in found["systems"].values())
    assert opened.locator("path.mark").count() == drawn
    placed = [
        one for one in found["systems"].values() if None not in (one["accuracy"], one["fluency"])
    ]
    bars = sum(ends is not None for one in placed for ends in one["ends"].values())
    assert opened.locator("svg .ends").count() == bars
    told = opened.locator("caption").inner_text()
    assert ("no interval, for want of 3 sentences" in told) == (bars < 2 * len(placed))
    assert not opened.get_by_role("button", name="take an invented class").is_visible()
    opened.get_by_role("button", name="remove all files").click()
    assert opened.get_attribute("data-raters") == "0"
    assert not opened.locator("path.mark").count()
    opened.get_by_role("button", name="take an invented class").click()
    assert opened.get_attribute("data-raters") == "3"
    assert "This class is invented: nobody gave these ratings." in opened.inner_text()


def lines_of(made, rater="Mo", n=4):
    rows = [(*cell, 1 + k % 5, 2.0 + k, k + 1) for k, cell in enumerate(made["drawn"].rows[:n])]
    return classroom.ratings_csv(rater, made["drawn"].id, rows)


BAD = [
    lambda text: "",
    lambda text: "<!doctype html>",
    lambda text: "name,mark\nMo,3\n",
    lambda text: text.splitlines()[0] + "\n",
    lambda text: text.replace("seconds", "rating"),
    lambda text: text.replace("Mo,", ",", 1),
    lambda text: text.replace(",accuracy,1,", ",accuracy,6,"),
    lambda text: text.replace(",accuracy,1,", ",accuracy,3.5,"),
    lambda text: text.replace(",accuracy,1,", ",accuracy,good,"),
    lambda text: text.replace(",2.0,", ",-2,"),
    lambda text: text.replace(",2.0,", ",soon,"),
    lambda text: text.replace(",1\n", ",0\n"),
    lambda text: text.replace(",1\n", ",1.5\n"),
    lambda text: text.replace(",1\n", "\n"),
    lambda text: text + text.splitlines()[1] + "\n",
    lambda text: (
        text + text.splitlines()[1].replace(",accuracy,", ",fluency,").replace("Mo,", "Di,") + ",\n"
    ),
    lambda text: text.replace(text.split(",")[9], "0123456789ab"),
    lambda text: text.replace(",accuracy,1", ",x,1"),
    lambda text: text.replace("Mo,", "Mo,", 1).replace(
        text.splitlines()[1].split(",")[3] + ",", "99999,"
    ),
    lambda text: text.replace(text.splitlines()[1].split(",")[2] + ",", "-1,", 1),
]


@pytest.mark.parametrize("k", range(len(BAD)))
def test_a_bad_file_is_told_in_pythons_sentence_and_the_others_stay(made, opened, tmp_path, k):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text(lines_of(made, "Al"))
    bad.write_text(BAD[k](lines_of(made)))
    with pytest.raises(AnhelpersError) as error:
        classroom.read_class_ratings(bad, made["drawn"])
    found = drop(opened, 1, good, bad, problems=1)
    said = found["problems"][0]
    # Python says one word more: "did you mean", or the byte where a number stops
    assert said.split(";")[0] == str(error.value).removeprefix(f"{tmp_path}/").split(";")[0]
    assert found["raters"] == ["Al"]
    assert opened.locator("li.anx-wrong").inner_text() == said


def test_people_are_never_counted_together_with_an_invented_class(made, opened, tmp_path):
    opened.get_by_role("button", name="take an invented class").click()
    opened.page.wait_for_function("document.querySelector('.anx').dataset.raters === '3'")
    (tmp_path / "mo.csv").write_text(lines_of(made))
    found = drop(opened, 1, tmp_path / "mo.csv")
    assert found["raters"] == ["Mo"]
    assert "invented" not in opened.locator(".anx-told").inner_text()


def test_a_file_that_is_not_utf8_is_told_in_pythons_sentence(made, opened, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_bytes(lines_of(made).replace("Mo,", "Jörg Müller,").encode("latin-1"))
    with pytest.raises(AnhelpersError) as error:
        classroom.read_class_ratings(bad, made["drawn"])
    found = drop(opened, 0, bad, problems=1)
    assert found["problems"] == [str(error.value).replace(f"{tmp_path}/", "")]


def test_one_persons_file_under_two_names_and_a_name_in_two_ways_are_told(made, opened, tmp_path):
    paths = [tmp_path / f"{name}.csv" for name in "abc"]
    for path, name in zip(paths, ["Mo", "mo.", "Di"], strict=True):
        lines = lines_of(made).replace("Mo,", f"{name},").splitlines(keepends=True)
        path.write_text("".join(lines if name != "Di" else [*lines[:2], *lines[3:]]))
    drop(opened, 3, *paths)
    notes = classroom.read_class_ratings(paths, made["drawn"]).notes
    assert sum("same seconds" in note or "typed" in note for note in notes) == 2
    assert opened.locator("li:not(.anx-wrong)").all_inner_texts() == list(notes)
    assert opened.locator(".anx-read").inner_text() == "3 files read: a.csv, b.csv, c.csv"


def test_a_rater_twice_is_told_and_a_copy_is_read_once(made, opened, tmp_path):
    first, copy, other = (tmp_path / f"{name}.csv" for name in "abc")
    first.write_text(lines_of(made))
    copy.write_text("\ufeff" + lines_of(made).replace(",", ";").replace("\n", "\r\n"))
    other.write_text(lines_of(made).replace(",accuracy,1,", ",accuracy,2,"))
    with pytest.raises(AnhelpersError) as error:
        classroom.read_class_ratings([first, other], made["drawn"])
    found = drop(opened, 1, first, copy, other, problems=1)
    assert found["problems"] == [str(error.value).replace(f"{tmp_path}/", "")]
    back = check_values(found, [first, copy], made)
    notes = [note.replace(f"{tmp_path}/", "") for note in back.notes]
    assert opened.locator("li:not(.anx-wrong)").all_inner_texts() == notes


def test_files_are_dropped_with_the_mouse(made, opened, tmp_path):
    opened.page.evaluate(
        """text => { const moved = new DataTransfer();
        moved.items.add(new File([text], 'mo.csv'));
        const event = new DragEvent('drop', { dataTransfer: moved, bubbles: true, cancelable: true });
        document.querySelector('.anx').dispatchEvent(event) }""",
        lines_of(made),
    )
    opened.page.wait_for_function("document.querySelector('.anx').dataset.raters === '1'")
    assert "1 rater. Agreement takes two." in opened.inner_text()


def test_names_of_systems_and_raters_are_text(page, tmp_path):
    odd = "<img src=x onerror=alert(1)>"
    sheet = classroom.Sheet((0,), ("a",), ((0, 1),), (("x", "y"),))
    page.goto(classroom.live_plane(sheet, [odd, "B"]).save(tmp_path / "odd.html").as_uri())
    rows = [(*cell, 3, 1.0, 1) for cell in sheet.rows]
    (tmp_path / "odd.csv").write_text(classroom.ratings_csv(odd, sheet.id, rows[:3]))
    root = page.locator(".anx")
    assert drop(root, 1, tmp_path / "odd.csv")["raters"] == [odd]
    assert odd in root.locator("table").inner_text()
    assert f"({odd} 1)" in root.locator("li").inner_text()
    assert not page.locator("img").count()


def test_a_candidate_without_a_system_is_named():
    sheet = classroom.Sheet((0,), ("a",), ((0, 1),), (("x", "y"),))
    with pytest.raises(AnhelpersError, match="candidate 1 has no tag, so its system is not known"):
        classroom.live_plane(sheet, ["A"])


def test_the_command_writes_a_sheet_and_a_plane_that_know_each_other(page, tmp_path, capsys):
    assert cli.main(["sheet", "--data", "teaching/de-en", "--out", str(tmp_path)]) == 0
    sheet, plane = capsys.readouterr().out.split()
    page.goto(f"file://{sheet}")
    shown = page.locator(".anx-source").count()
    known = page.locator(".anx-paper").text_content()
    page.goto(f"file://{plane}")
    assert (shown, known) == (5, page.locator(".anx-note").last.inner_text())
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
