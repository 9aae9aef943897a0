"""What holds for every widget: one JSON state, a view without scripts, a page that stands alone."""

import json
import re

import numpy as np
import pytest

from anhelpers.data import from_systems, load, load_candidates, ratings_file
from anhelpers.data.ratings import read_ratings
from anhelpers.exact import Problem, solve_curve
from anhelpers.frontier import oracle_curve
from anhelpers.widgets import base
from anhelpers.widgets.divergences import divergence_explorer
from anhelpers.widgets.explorer import beta_explorer
from anhelpers.widgets.mqm_editor import mqm_editor
from anhelpers.widgets.own import own_translation
from anhelpers.widgets.tradeoff import tradeoff_explorer

TITLE, HOSTILE = "A <claim>", ["<b>x</b>", "</script>", "a & b"]


def beta():
    scores = {"segment": [0, 0, 0], "accuracy": [3, 2, 1], "naturalness": [1, 2, 3]}
    curve = oracle_curve(**scores)
    return beta_explorer(curve, ["</script>"], ["a & b"], HOSTILE, **scores, title=TITLE)


def tradeoff():
    problem = Problem(np.eye(3) / 3, 1 - np.eye(3), [0.2, 0.2, 0.6])
    return tradeoff_explorer(solve_curve(problem, "tv"), HOSTILE, HOSTILE, title=TITLE)


def divergences():
    return divergence_explorer([0.5, 0.3, 0.2], names=HOSTILE, title=TITLE)


def mqm():
    return mqm_editor(read_ratings(ratings_file("teaching")), title=TITLE)


def own():
    test = load("teaching/de-en")
    return own_translation(test, load_candidates("teaching/de-en"), segments=[20], title=TITLE)


def sheet():
    from anhelpers.classroom.sheet import rating_sheet

    test = load("teaching")
    return rating_sheet(test, from_systems(test), rng=np.random.default_rng(3), title=TITLE)


MADE = {f.__name__: f for f in (beta, tradeoff, divergences, mqm, own, sheet)}


@pytest.fixture(scope="module", params=MADE)
def widget(request):
    return MADE[request.param]()


def test_the_view_without_scripts_escapes_and_has_a_table(widget):
    before, script = widget.fragment().split("<script>")
    assert "<table" in before
    assert not re.search("<svg|<style|<b>x</b>", before)
    assert script.count("</script>") == 1
    assert script.endswith("</script></div>")
    assert repr(widget).startswith(type(widget).__name__.lstrip("_"))


def test_the_page_stands_alone_and_its_state_is_the_widgets(widget, tmp_path):
    page = widget.save(tmp_path / "new" / "page.html").read_text("utf-8")
    assert "<title>A &lt;claim&gt;</title>" in page
    assert not re.search(r"""(?:src|href)=["']?https?:|@import|import\(""", page)
    assert "export default" not in page
    text = re.search(r"fakeModel\((\{.*\})\), el: ", page)[1]
    assert "<" not in text
    assert json.loads(text)["data"] == json.loads(json.dumps(widget.data))


def test_shown_live_and_static(monkeypatch):
    live = {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    for mode, kinds in (("live", live), ("static", {"text/html", "text/plain"})):
        monkeypatch.setenv("ANX_MODE", mode)
        made = beta()._repr_mimebundle_()
        assert set(made[0] if isinstance(made, tuple) else made) == kinds


def test_programs_that_cannot_answer_get_html_alone(monkeypatch):
    class Kernel:
        allow = False

        def get_parent(self, _):
            return {"content": {"allow_stdin": self.allow}}

    kernel = Kernel()
    monkeypatch.delenv("ANX_MODE", raising=False)
    monkeypatch.setattr(base, "get_ipython", lambda: type("Shell", (), {"kernel": kernel})())
    assert base._is_static()
    kernel.allow = True
    assert not base._is_static()
    monkeypatch.setattr(base, "get_ipython", lambda: None)
    assert not base._is_static()
