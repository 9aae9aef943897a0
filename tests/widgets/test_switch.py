"""One of several widgets: what it ships, and how it is set."""

import re

import pytest

from anhelpers.errors import DataError, UnknownName
from anhelpers.frontier import oracle_curve
from anhelpers.widgets.explorer import beta_explorer
from anhelpers.widgets.switch import either


def explorer(text):
    curve = oracle_curve([0, 0], [80, 70], [-4, -2])
    scores = {"segment": [0, 0], "accuracy": [80, 70], "naturalness": [-4, -2]}
    return beta_explorer(curve, ["x"], ["y"], [text, "b"], **scores, title=f"of {text}")


@pytest.fixture
def made():
    return either({"<A>": explorer("aa"), "B": explorer("bb")}, "Texts of", choice="B")


def test_one_is_seen_and_another_can_be(made):
    assert repr(made) == "Either(Texts of: <A>, B; B is seen)"
    assert [widget.layout.display for widget in made.widgets.values()] == ["none", None]
    made.choice = "<A>"
    assert [widget.layout.display for widget in made.widgets.values()] == [None, "none"]
    made.switch.set_state({"choice": "B"})  # as a page sends it
    assert made.choice == "B"
    assert [widget.layout.display for widget in made.widgets.values()] == ["none", None]


def test_what_is_not_there_cannot_be_seen(made):
    with pytest.raises(UnknownName, match="choice 'C'"):
        made.choice = "C"
    assert made.choice == made.switch.choice == "B"
    with pytest.raises(UnknownName, match="choice 'C'"):
        either(made.widgets, choice="C")
    with pytest.raises(DataError, match="there is no widget to choose"):
        either({})
    assert either(made.widgets).choice == "<A>"


def test_shown_live_as_widget_and_static_as_html_only(made, monkeypatch):
    monkeypatch.setenv("ANX_MODE", "live")
    bundle, _ = made._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"} == set(bundle)
    monkeypatch.setenv("ANX_MODE", "static")
    static = either({"A": explorer("aa")})
    assert set(static._repr_mimebundle_()) == {"text/html", "text/plain"}


def test_all_fragments_are_there_and_names_are_texts(made):
    before, *scripts = re.split(r"<script>.*?</script>", made.fragment(), flags=re.S)
    assert len(scripts) == 3  # of two explorers and the switch
    assert "<p><b>Texts of: &lt;A&gt;</b></p>" in before
    assert "aa" in before
    assert "bb" in scripts[0]
    assert "<title>of bb</title>" in made.to_html()  # of the one that is seen first
