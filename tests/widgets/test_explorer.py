"""What the explorer ships, and how it shows itself without a browser."""

import json
import math
import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import traitlets

from anhelpers.data import CandidateSet, TestSet, from_systems, load_candidates
from anhelpers.data.teaching_tags import tag_meanings
from anhelpers.errors import AnhelpersError, DataError, UnknownName
from anhelpers.frontier import oracle_curve
from anhelpers.metrics import Metric
from anhelpers.plane import oracle_studies, oracle_study
from anhelpers.widgets import edits as words
from anhelpers.widgets import explorer, shape, study
from anhelpers.widgets.judged import Judged

TEXT = [
    "der Hund bellt",
    "ein Hund </script> bellt",
    "Hund",
    "die Katze schläft",
    "Katze & Maus",
    "eine Katze schläft",
]


@pytest.fixture
def given():
    """Three segments of 2 candidates each; in the first, β = 5 separates the two."""
    options = {
        "segment": [0, 0, 1, 1, 2, 2],
        "accuracy": [80, 70, 60, 50, 55, 90],
        "naturalness": [-4, -2, -3, -2.5, -3, -3],
    }
    options |= {"domains": ["news", "news", "speech"], "tags": list("abcdef"), "show": 2}
    curve = oracle_curve(options["segment"], options["accuracy"], options["naturalness"])
    return (curve, ["the dog barks", "a", "b"], ["der Hund bellt", "A", "B"], TEXT), options


@pytest.fixture
def widget(given):
    return explorer.beta_explorer(*given[0], **given[1])


def test_the_readout_of_a_study_names_its_own_metrics():
    def metric(name, higher):
        return Metric(
            name,
            name,
            "words",
            higher,
            (),
            name,
            lambda hyps, **_: np.array([len(h.split()) for h in hyps], float),
        )

    test = TestSet(
        "t", "en-pt_BR", ("a", "b"), {"ref": ("x y", "z")}, {"A": ("x", "z"), "B": ("x y", "z z")}
    )
    made = oracle_study(test, from_systems(test), metric("chars", True), metric("bits", False))
    data = study.preview(made).data
    assert data["judged"][0]["names"] == ["chars", "−bits"]
    assert data["langs"] == ["en", "pt-BR"]


def counting(name, letters, higher=True):
    """A metric that counts some letters."""

    def score(hyps, **_):
        return np.array([sum(hyp.count(letter) for letter in letters) for hyp in hyps], float)

    return Metric(name, name, "letters", higher, (), name, score)


@pytest.fixture
def studies():
    """Two accuracies with two naturalnesses: four studies of six candidates for two sources in two domains."""
    outputs = {"A": ("aab", "bbc"), "B": ("abcc", "cca"), "C": ("bbb", "aaac")}
    test = TestSet("t", "en-de", ("one", "two"), {"ref": ("x", "y")}, outputs, domains=("n", "m"))
    metrics = (
        [counting("a", "a"), counting("ab", "ab")],
        [counting("lpp", "b", False), counting("critic", "c")],
    )
    return oracle_studies(test, from_systems(test), *metrics)


def test_every_pair_of_judges_chooses_what_its_curve_selects(studies):
    data = study.explore(*studies).data
    assert [one["judges"] for one in data["judged"]] == [
        ["a", "lpp"],
        ["a", "critic"],
        ["ab", "lpp"],
        ["ab", "critic"],
    ]
    assert data["judged"][0]["labels"] == ["a", "log-probability"]
    assert data["judged"][0]["names"] == ["a", "log-prob."]
    for j, one in enumerate(studies):
        for beta in (0, 0.3, 1, 2.5, math.inf):
            chosen = [one.cands.texts[i] for i in one.curve.select(beta)]
            assert [shape.choice(data, s, beta, j)["translation"] for s in range(2)] == chosen
    for row in data["rows"]:
        # a text is shipped once, whoever chooses it
        assert len(row["texts"]) == len(set(row["texts"])) <= 3


def test_judges_are_set_from_python_and_others_are_refused(studies):
    widget = study.explore(*studies[1:])  # without a × lpp
    assert (widget.accuracy, widget.naturalness) == ("a", "critic")
    assert repr(widget) == "BetaExplorer(a × critic, β = 1, domain 'all', 2 segments)"
    widget.accuracy, widget.naturalness = "ab", "lpp"
    with pytest.raises(UnknownName, match="accuracy 'bleu'"):
        widget.accuracy = "bleu"
    assert (widget.accuracy, widget.naturalness) == ("ab", "lpp")
    widget.accuracy = "a"
    assert widget.naturalness == "critic"  # the first that is there
    with pytest.raises(UnknownName, match="naturalness beside a 'lpp'"):
        widget.naturalness = "lpp"
    widget.set_state({"accuracy": "ab", "naturalness": "lpp"})  # as a page sends them
    assert (widget.accuracy, widget.naturalness) == ("ab", "lpp")


def test_who_observes_beta_and_the_judges_hears_the_page_and_has_what_is_chosen_there(studies):
    widget, heard = study.explore(*studies), []
    widget.observe(lambda move: heard.append((move.name, widget.values())), ["beta", "naturalness"])
    widget.set_state({"beta": 2.5})  # as a page sends it
    widget.set_state({"beta": "inf"})
    widget.naturalness = "critic"
    assert [name for name, _ in heard] == ["beta", "beta", "naturalness"]
    judged = [(studies[0], 2.5), (studies[0], math.inf), (studies[1], math.inf)]
    for (_, values), (one, beta) in zip(heard, judged, strict=True):
        at = one.curve.select(beta)
        assert values.translation.tolist() == [one.cands.texts[i] for i in at]
        assert values.accuracy.tolist() == pytest.approx(one.accuracy[at])
        assert values.naturalness.tolist() == pytest.approx(one.naturalness[at])
        assert set(values.beta) == {beta}


def test_one_source_stands_with_its_gloss_and_its_first_candidates():
    test = TestSet("t", "de-en", ("<eins>", "zwei"), {"ref": ("x", "y")}, glosses=("<one>", "two"))
    cands = CandidateSet(np.array([0, 1, 1, 1]), ("a", "<b>", "c", "d"))
    assert study.one_source(test, cands, 1, 2).data == (
        '<p dir="auto" lang="de">zwei<br><small lang="en">word for word: two</small></p>'
        '<ol start="0"><li dir="auto" lang="en">&lt;b&gt;</li><li dir="auto" lang="en">c</li></ol>'
    )
    assert ">&lt;eins&gt;<br>" in study.one_source(test, cands).data
    assert "word" not in study.one_source(replace(test, glosses=()), cands).data
    for wrong in (2, -1):
        with pytest.raises(DataError, match="segment must be"):
            study.one_source(test, cands, wrong)


def test_studies_of_different_texts_or_the_same_judges_are_told(studies):
    with pytest.raises(DataError, match="there is no study to explore"):
        study.explore()
    with pytest.raises(
        DataError, match="accuracy by a with naturalness by lpp is given twice; give it once"
    ):
        study.explore(studies[0], studies[0])
    with pytest.raises(DataError, match="the studies are of different tests"):
        study.explore(studies[0], studies[1].domain("n"))
    test = studies[0].test
    fewer = oracle_studies(test, from_systems(test, ["A", "B"]), *([m] for m in studies[1].metrics))
    with pytest.raises(
        DataError, match="the studies choose from different candidates, candidates:"
    ):
        study.planes(studies[0], *fewer)


def test_without_scripts_a_table_says_what_each_pair_of_judges_does(studies):
    first = study.preview(studies[0])._repr_html_()
    shown = study.preview(*studies)._repr_html_()
    assert shown.startswith(first)
    assert study.planes(*studies).static_html().count("<table>") == 1
    rows = re.findall(r"<tr><th[^>]*>(.*?)</th>(.*?)</tr>", shown.removeprefix(first))[1:]
    assert [name for name, _ in rows] == [
        f"{a} × {n}" for a in ("a", "ab") for n in ("log-probability", "critic")
    ]
    for (_, cells), one in zip(rows, studies, strict=True):
        said, curve = re.findall(r"<td[^>]*>(.*?)</td>", cells), one.curve
        assert float(said[0]) == pytest.approx(curve.accuracy[0] - curve.accuracy[-1], abs=0.005)
        assert float(said[1]) == pytest.approx(
            curve.naturalness[-1] - curve.naturalness[0], abs=0.005
        )
        for text, beta in zip(said[2:], (0, math.inf), strict=True):
            moved = [
                one.cands.texts[i] != one.cands.texts[j]
                for i, j in zip(curve.select(beta), studies[0].curve.select(beta), strict=True)
            ]
            assert text == f"{sum(moved)} of 2"


def test_rows_choose_what_the_curve_selects(given, widget):
    curve = given[0][0]
    for beta in (0, 1e-4, 4.999, 5, 19.9, 20, 1e4, math.inf):
        chosen = curve.select(beta)
        assert [shape.choice(widget.data, s, beta)["translation"] for s in range(3)] == [
            TEXT[i] for i in chosen
        ]
        assert [shape.choice(widget.data, s, beta)["tag"] for s in range(3)] == [
            "abcdef"[i] for i in chosen
        ]


def test_random_corpora_choose_what_the_curve_selects():
    rng = np.random.default_rng(5)
    segment = rng.permutation(np.repeat(np.arange(40), 9))
    acc = rng.integers(0, 9, 360)
    nat = -rng.integers(0, 9, 360) / 4
    curve = oracle_curve(segment, acc, nat)
    ids = [str(i) for i in range(360)]
    names = ["x"] * 40
    data, _ = shape.shaped([Judged(curve, acc, nat)], names, names, ids, segment=segment)
    for beta in [0, *10 ** rng.uniform(-4, 4, 60), *np.unique(curve.chain_beta), math.inf]:
        chosen = [int(shape.choice(data, s, beta)["translation"]) for s in range(40)]
        assert chosen == curve.select(beta).tolist()


def test_each_domain_has_a_curve_over_its_segments(given, widget):
    curve = given[0][0]
    choices = {c["name"]: c for c in widget.data["judged"][0]["choices"]}
    assert {name: c["count"] for name, c in choices.items()} == {"all": 3, "news": 2, "speech": 1}
    assert choices["all"]["beta"] == curve.beta.tolist()
    assert choices["all"]["accuracy"] == pytest.approx(curve.accuracy, abs=1e-4)
    assert choices["news"]["beta"] == [0, 5, 20]
    assert choices["news"]["accuracy"] == [70, 65, 60]
    assert choices["speech"]["accuracy"] == [90]
    assert all("bxpoint_marks" in c["svg"] for c in choices.values())


def test_systems_by_domain(given):
    frame = pd.DataFrame(
        {"system": ["Omega"], "category": ["MT"], "accuracy": [60.0], "naturalness": [-3.0]}
    )
    for systems, where in [
        (frame, ["all"]),
        ({"news": frame}, ["news"]),
        (lambda d: frame if d != "all" else None, ["news", "speech"]),
    ]:
        data = explorer.beta_explorer(*given[0], **given[1], systems=systems).data
        assert [c["name"] for c in data["judged"][0]["choices"] if "Omega" in c["svg"]] == where


def test_only_some_segments_are_shipped_but_the_means_are_over_all(given):
    data = explorer.beta_explorer(*given[0], **given[1], segments=[2]).data
    assert [row["id"] for row in data["rows"]] == [2]
    assert data["judged"][0]["choices"][0]["count"] == 3


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"tags": ["a"]}, "tags has 1"),
        ({"domains": ["all"] * 3}, "rename it"),
        ({"accuracy": [1, 2]}, "accuracy has 2"),
        ({"segments": [0, 3]}, "segments names 3"),
    ],
)
def test_input_that_does_not_fit_is_told(given, change, sentence):
    with pytest.raises(DataError, match=sentence):
        explorer.beta_explorer(*given[0], **given[1] | change)


def test_traits_refuse_what_makes_no_sense(widget):
    with pytest.raises(DataError, match="beta must be in"):
        widget.beta = -1
    with pytest.raises(UnknownName, match="did you mean 'news'"):
        widget.domain = "newz"
    with pytest.raises(traitlets.TraitError):
        widget.order = "random"
    assert issubclass(UnknownName, AnhelpersError)


def test_infinity_travels_as_a_word(widget):
    widget.beta = math.inf
    assert widget.get_state("beta") == {"beta": "inf"}
    widget.set_state({"beta": 2.5})
    assert widget.beta == 2.5
    widget.set_state({"beta": "inf"})
    assert math.isinf(widget.beta)
    assert '"beta":"inf"' in widget.fragment()


def test_shown_live_as_widget_and_html(widget, monkeypatch):
    monkeypatch.delenv("ANX_MODE", raising=False)
    bundle, _ = widget._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"} == set(bundle)
    assert bundle["text/plain"] == repr(widget) == "BetaExplorer(β = 1, domain 'all', 3 segments)"


def test_shown_static_as_html_only(given, monkeypatch):
    monkeypatch.setenv("ANX_MODE", "static")
    widget = explorer.beta_explorer(*given[0], **given[1])
    assert set(widget._repr_mimebundle_()) == {"text/html", "text/plain"}
    widget.beta = 3
    assert widget.fragment() == widget.fragment()


def test_the_fallback_needs_no_script_and_escapes(widget):
    before, script = widget.fragment().split("<script>")
    assert before.count("<tr>") == 1 + 2
    assert "<svg" not in before
    assert "<style" not in before
    assert 'alt="oracle curve' in before
    assert (
        "<del>der</del> <ins><b>ein</b></ins> Hund <ins><b>&lt;/script&gt;</b></ins> bellt"
        in before
    )
    assert script.count("</script>") == 1
    assert script.endswith("</script></div>")


def test_without_scripts_texts_say_their_language_too(given):
    options = given[1] | {"langs": ("de", "en"), "glosses": ["the <dog>", "", "x"]}
    row = explorer.static_explorer(*given[0], **options)._repr_html_().split("<tr>")[2]
    cells = re.findall(r'<td style="[^"]*hyphens:auto" dir="auto" lang="(\w+)">(.*?)</td>', row)
    assert [lang for lang, _ in cells] == ["de", *["en"] * 5]
    assert cells[0][1] == 'the dog barks<br><small lang="en">word for word: the &lt;dog&gt;</small>'
    assert "lang=" not in explorer.beta_explorer(*given[0], **given[1]).static_html().replace(
        '<small lang="en">', ""
    )


def test_json_in_the_page_is_the_data(widget):
    text = re.search(r"fakeModel\((\{.*\})\), el: box", widget.fragment()).group(1)
    assert json.loads(text)["data"] == widget.data
    assert "<" not in text


def test_the_page_stands_alone(widget, tmp_path):
    path = widget.save(tmp_path / "new" / "page.html")
    page = path.read_text(encoding="utf-8")
    assert page.startswith('<!doctype html><html lang="en"><head><meta charset="utf-8">')
    assert not re.search(r"""(?:src|href)=["']?https?:|@import|import\(""", page)
    assert "export default" not in page


def test_static_view_has_the_same_chart_and_a_tidy_table(given):
    view = explorer.static_explorer(*given[0], **given[1], betas=(0, 5, math.inf))
    table = view.table
    assert len(table) == 2 * 3
    assert table.loc[:2, "translation"].tolist() == [TEXT[0], TEXT[1], TEXT[1]]
    assert table.loc[:2, "accuracy"].tolist() == [80, 70, 70]
    assert view._repr_html_().count("<tr>") == 3
    assert "β = 5" in view._repr_html_()
    assert repr(view) == "StaticView(β = 0, β = 5, β = ∞; 3 segments)"
    assert view.chart.to_dict()["layer"]


def common_length(a, b):
    """Length of a longest common subsequence, by trying all subsequences of `a`, the longest first."""
    for k in range(len(a), -1, -1):
        for kept in combinations(a, k):
            rest = iter(b)
            if all(word in rest for word in kept):
                return k
    return 0


def as_words(parts, *kinds):
    return " ".join(part for kind, part in parts if kind in kinds).split()


def test_marked_words_are_those_outside_a_longest_common_subsequence():
    rng = np.random.default_rng(2)
    marked = 0
    for _ in range(300):
        a, b = (list(rng.choice(list("abcd"), rng.integers(0, 8))) for _ in range(2))
        old, new = " ".join(a), "  ".join(b)
        common, edits = common_length(a, b), words.word_edits(old, new)
        changed = len(a) + len(b) - 2 * common
        assert (edits is None) == (changed > words.ALMOST_ALL * (len(a) + len(b)))
        if edits is None:
            continue
        marked += bool(edits)
        parts = list(words.pieces(old, new, edits))
        assert "".join(part for kind, part in parts if kind != "gone") == new
        assert as_words(parts, "same", "gone") == a
        assert len(as_words(parts, "same")) == common
        assert all(part for _, part in parts)
    assert marked > 50


def test_what_changed_almost_throughout_has_no_marks():
    assert words.word_edits("one two three four", "one two three five") == [(14, 18, 14, 18)]
    assert words.word_edits("one two three four", "one two 3 4") == [(8, 18, 8, 11)]  # one half
    assert words.word_edits("one two three four", "one 2 3 4") is None
    assert words.word_edits("", "") == []
    assert words.word_edits("", "new") is None


def test_scripts_without_spaces_are_compared_by_character():
    assert words.word_edits("我喜欢猫", "我喜欢狗") == [(3, 4, 3, 4)]
    dash = words.word_edits("a friend—a good one", "a friend—the good one")
    assert dash == [(9, 10, 9, 12)]  # a dash parts two words


def test_places_are_counted_as_the_page_counts_them():
    old, new = "ein 🐕 bellt sehr laut im Garten", "ein 🐈 bellt sehr laut im Garten dann 🐕"
    edits = words.word_edits(old, new)
    units = words.in_utf16(old, new, edits)
    assert units == [4, 6, 4, 6, 32, 32, 33, 40]  # an emoji is two units of UTF-16
    parts = list(words.pieces(old, new, edits))
    assert parts == [
        ("same", "ein "),
        ("gone", "🐕"),
        ("came", "🐈"),
        ("same", " bellt sehr laut im Garten "),
        ("came", "dann 🐕"),
    ]


def test_what_was_struck_out_at_the_end_stands_apart():
    row = {"texts": ["the dog barks", "the dog"]}
    assert shape._with_edits(row, [1, 0]) == "the dog <del>barks</del>"
    assert shape._with_edits(row, [0, 1]) == "the dog <ins><b>barks</b></ins>"
    assert shape._with_edits(row, [0, 0]) == "the dog barks"
    assert shape._with_edits({"texts": ["a b", "<c>"]}, [1, 0]) == "&lt;c&gt;"


def test_pairs_of_texts_say_what_changed_since_beta_0(widget):
    for row, chain in zip(widget.data["rows"], widget.data["judged"][0]["chains"], strict=True):
        first = row["pairs"][chain["at"][0]]
        assert first == [first[0], first[0], []]
        for place in chain["at"]:
            new, old, shipped = row["pairs"][place]
            assert old == first[0]
            old, new = row["texts"][old], row["texts"][new]
            edits = words.word_edits(old, new)
            assert shipped == (None if edits is None else words.in_utf16(old, new, edits))


def test_points_of_all_candidates_are_shipped_once_for_judges_that_share_a_score(studies):
    data = study.explore(*studies).data
    assert len(data["clouds"]) == 4
    assert [one["clouds"] for one in data["judged"]] == [[0, 1], [0, 2], [3, 1], [3, 2]]
    for one, made in zip(data["judged"], studies, strict=True):
        for place, scores in zip(one["clouds"], (made.accuracy, made.naturalness), strict=True):
            assert [x for row in data["clouds"][place] for x in row] == scores.tolist()


def test_of_many_candidates_some_are_drawn():
    n = 500
    rng = np.random.default_rng(0)
    acc, nat, ids = rng.normal(size=n), rng.normal(size=n), np.zeros(n, dtype=int)
    curve = oracle_curve(ids, acc, nat)
    texts = [str(i) for i in range(n)]
    data, _ = shape.shaped([Judged(curve, acc, nat)], ["x"], ["y"], texts, segment=ids)
    (points,) = data["clouds"][0]
    assert len(points) == shape.MOST_POINTS
    assert (points[0], points[-1]) == (acc[0].round(2), acc[-1].round(2))


def test_labels_say_what_they_mean(given):
    meanings = {"a": "First.", "b": "Second.", "z": "Never."}
    options = given[1] | {"meanings": meanings}
    assert explorer.beta_explorer(*given[0], **options).data["meanings"] == {
        "a": "First.",
        "b": "Second.",
    }
    assert explorer.beta_explorer(*given[0], **given[1]).data["meanings"] == {}


@pytest.mark.parametrize("name", ["teaching/en-de", "teaching/de-en"])
def test_every_tag_of_the_teaching_sets_has_a_sentence(name):
    tags = set(load_candidates(name).tags)
    assert tags <= tag_meanings().keys()


def test_one_sentence_is_seen_first_and_set_from_python(given):
    widget = explorer.beta_explorer(*given[0], **given[1], view="one", segments=[2, 0], beta=0)
    assert (widget.view, widget.sentence, widget.beta) == ("one", 2, 0)
    widget.sentence = 0
    with pytest.raises(DataError, match="sentence is 1, but the page has those of segments 2, 0"):
        widget.sentence = 1
    with pytest.raises(UnknownName, match="view 'on'; did you mean 'one'"):
        explorer.beta_explorer(*given[0], **given[1], view="on")
    alone = explorer.beta_explorer(*given[0], **given[1] | {"show": 0, "segments": ()}, view="one")
    assert (alone.view, alone.sentence) == ("table", 0)


def test_without_domains_there_is_one_chart(given):
    widget = explorer.beta_explorer(*given[0], **given[1], by_domain=False)
    assert [one["name"] for one in widget.data["judged"][0]["choices"]] == ["all"]
    assert widget.data["rows"][0]["domain"] == "news"
    one_page = explorer.beta_explorer(*given[0], **given[1] | {"show": 3})
    assert len(one_page.data["judged"][0]["choices"]) == 1


def test_intervals_of_a_domain_do_not_stretch_the_axes(given):
    frame = pd.DataFrame(
        {"system": ["Omega"], "category": ["MT"], "accuracy": [60.0], "naturalness": [-3.0]}
    )
    wide = frame.assign(accuracy_low=-900.0, accuracy_high=900.0)
    data = explorer.beta_explorer(*given[0], **given[1], systems={"news": wide}).data
    assert data["judged"][0]["box"][2] > 0
    assert data["judged"][0]["box"][3] < 100
    data = explorer.beta_explorer(*given[0], **given[1], systems=wide).data
    assert data["judged"][0]["box"][2] < -900  # of all segments they are seen whole


def test_glosses_stand_with_their_sources():
    """In the page on demand, on paper below the source; a set without them ships none."""
    test = TestSet(
        "t",
        "de-en",
        ("eins", "zwei"),
        {"ref": ("one", "two")},
        {"A": ("one", "too"), "B": ("an", "two")},
    )
    length = Metric(
        "length",
        "length",
        "characters",
        True,
        (),
        "length",
        lambda hyps, **_: np.array([len(h) for h in hyps]),
    )
    short = Metric("short", "short", "characters", False, (), "short", length.score_segments)
    for glosses in ((), ("the number <1>", "the number 2")):
        one = oracle_study(replace(test, glosses=glosses), from_systems(test), length, short)
        assert [row.get("gloss", "") for row in study.explore(one).data["rows"]] == list(
            glosses or ("", "")
        )
        assert ("the number &lt;1&gt;" in study.preview(one)._repr_html_()) == bool(glosses)
