"""What the explorer ships, and how it shows itself without a browser."""

import json
import math
import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import traitlets

from anhelpers.data import TestSet, from_systems
from anhelpers.errors import AnhelpersError, DataError, UnknownName
from anhelpers.frontier import oracle_curve
from anhelpers.metric import Metric
from anhelpers.plane import oracle_study
from anhelpers.widgets import explorer, shape, study

TEXT = ["der Hund bellt", "ein Hund </script> bellt", "Hund", "die Katze schläft", "Katze & Maus", "eine Katze schläft"]


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
            name, name, "words", higher, (), name, lambda hyps, **_: np.array([len(h.split()) for h in hyps], float)
        )

    test = TestSet("t", "en-pt_BR", ("a", "b"), {"ref": ("x y", "z")}, {"A": ("x", "z"), "B": ("x y", "z z")})
    made = oracle_study(test, from_systems(test), metric("chars", True), metric("bits", False))
    data = study.preview(made).data
    assert data["names"] == ["chars", "−bits"]
    assert data["langs"] == ["en", "pt-BR"]


def test_rows_choose_what_the_curve_selects(given, widget):
    curve = given[0][0]
    for beta in (0, 1e-4, 4.999, 5, 19.9, 20, 1e4, math.inf):
        chosen = curve.select(beta)
        assert [shape.choice(row, beta)["translation"] for row in widget.data["rows"]] == [TEXT[i] for i in chosen]
        assert [shape.choice(row, beta)["tag"] for row in widget.data["rows"]] == ["abcdef"[i] for i in chosen]


def test_random_corpora_choose_what_the_curve_selects():
    rng = np.random.default_rng(5)
    segment, acc, nat = (
        rng.permutation(np.repeat(np.arange(40), 9)),
        rng.integers(0, 9, 360),
        -rng.integers(0, 9, 360) / 4,
    )
    curve = oracle_curve(segment, acc, nat)
    ids = [str(i) for i in range(360)]
    names = ["x"] * 40
    data, _ = shape.shaped(curve, names, names, ids, segment=segment, accuracy=acc, naturalness=nat)
    for beta in [0, *10 ** rng.uniform(-4, 4, 60), *np.unique(curve.chain_beta), math.inf]:
        chosen = [int(shape.choice(row, beta)["translation"]) for row in data["rows"]]
        assert chosen == curve.select(beta).tolist()


def test_each_domain_has_a_curve_over_its_segments(given, widget):
    curve = given[0][0]
    choices = {c["name"]: c for c in widget.data["choices"]}
    assert {name: c["count"] for name, c in choices.items()} == {"all": 3, "news": 2, "speech": 1}
    assert choices["all"]["beta"] == curve.beta.tolist()
    assert choices["all"]["accuracy"] == pytest.approx(curve.accuracy, abs=1e-4)
    assert choices["news"]["beta"] == [0, 5, 20]
    assert choices["news"]["accuracy"] == [70, 65, 60]
    assert choices["speech"]["accuracy"] == [90]
    assert all("bxpoint_marks" in c["svg"] for c in choices.values())


def test_systems_by_domain(given):
    frame = pd.DataFrame({"system": ["Omega"], "category": ["MT"], "accuracy": [60.0], "naturalness": [-3.0]})
    for systems, where in [
        (frame, ["all"]),
        ({"news": frame}, ["news"]),
        (lambda d: frame if d != "all" else None, ["news", "speech"]),
    ]:
        data, _ = shape.shaped(*given[0], **given[1], systems=systems)
        assert [c["name"] for c in data["choices"] if "Omega" in c["svg"]] == where


def test_only_some_segments_are_shipped_but_the_means_are_over_all(given):
    data, _ = shape.shaped(*given[0], **given[1], segments=[2])
    assert [row["id"] for row in data["rows"]] == [2]
    assert data["choices"][0]["count"] == 3


@pytest.mark.parametrize(("change", "sentence"), [
    ({"tags": ["a"]}, "tags has 1"), ({"domains": ["all"] * 3}, "rename it"), ({"accuracy": [1, 2]}, "accuracy has 2"),
    ({"segments": [0, 3]}, "segments names 3"),
])  # fmt: skip
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
    assert "<mark><b><u>ein</u></b></mark> Hund <mark><b><u>&lt;/script&gt;</u></b></mark> bellt" in before
    assert script.count("</script>") == 1
    assert script.endswith("</script></div>")


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
    view = explorer.static_view(*given[0], **given[1], betas=(0, 5, math.inf))
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


def test_marked_words_are_those_outside_a_longest_common_subsequence():
    rng = np.random.default_rng(2)
    for _ in range(200):
        a, b = (list(rng.choice(list("abcd"), rng.integers(0, 8))) for _ in range(2))
        text = "  ".join(a)
        parts = shape.word_parts(text, " ".join(b))
        assert "".join(parts) == text
        assert len(" ".join(parts[::2]).split()) == common_length(a, b)
        assert all(parts[1:])


def test_scripts_without_spaces_are_compared_by_character():
    assert shape.word_parts("我喜欢狗", "我喜欢猫") == ["我喜欢", "狗"]


def test_packed_parts_come_back():
    base = "ein 🐕 bellt sehr laut im Garten und schläft"
    text = "ein 🐈 bellt sehr laut im Garten dann 🐕"
    packed = shape.packed(shape.word_parts(text, base), base)
    assert any(isinstance(part, list) for part in packed)
    row = {"parts": [[base], packed]}
    assert "".join(shape.parts_of(row, 1)) == text
    assert shape.parts_of(row, 1) == shape.word_parts(text, base)
