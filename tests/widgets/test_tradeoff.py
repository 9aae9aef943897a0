"""What the A(N) explorer ships, and how it shows itself without a browser."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import traitlets

from anhelpers.charts.tradeoff import plot_tradeoff
from anhelpers.errors import DataError
from anhelpers.exact import Problem, solve_curve
from anhelpers.widgets import tradeoff as translator
from anhelpers.widgets.tradeoff import static_tradeoff, tradeoff_explorer

SOURCES, TARGETS = ["he </script> runs", "she & ran"], ["läuft", "<b>lief</b>", "rannte"]


def world(n_sources, n_targets, seed=0):
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.ones(n_sources * n_targets) * 0.4).reshape(n_sources, n_targets)
    return Problem(joint, 1 - np.eye(n_targets), rng.dirichlet(np.ones(n_targets)))


@pytest.fixture(scope="module")
def curve():
    """On paper: both sources are certain, and R says the third target half of the time."""
    joint = [[0.75, 0, 0], [0, 0.25, 0]]
    return solve_curve(Problem(joint, 1 - np.eye(3), [0.25, 0.25, 0.5]), "tv")


@pytest.fixture
def widget(curve):
    return tradeoff_explorer(curve, SOURCES, TARGETS, title="A <claim>")


def test_the_hand_worked_world(curve, widget):
    assert (curve.naturalness.tolist(), curve.accuracy.tolist()) == ([-0.5, 0], [0, -0.5])
    assert widget.naturalness == -0.25
    accuracy, q = translator.mixture(widget.data, -0.25)
    assert accuracy == pytest.approx(-0.25)
    assert q == pytest.approx(np.array([[2 / 3, 0, 1 / 3], [0, 1, 0]]), abs=1e-6)
    assert repr(widget) == "TradeoffExplorer(N = -0.25, A(N) = -0.25, 2 sources, 3 columns)"


def test_the_mixture_is_that_of_the_curve():
    for seed in range(8):
        solved = solve_curve(world(4, 5, seed), "tv")
        data = tradeoff_explorer(solved, list("abcd"), list("vwxyz")).data
        inside = np.random.default_rng(seed).uniform(
            solved.naturalness[0], solved.naturalness[-1], 20
        )
        for n in [*inside, *solved.naturalness]:
            accuracy, q = translator.mixture(data, n)
            assert accuracy == pytest.approx(solved.accuracy_at(n))
            assert q == pytest.approx(solved.translator_at(n), abs=2e-6)
            assert solved.problem.accuracy(q) == pytest.approx(accuracy, abs=1e-5)
            marginal = solved.problem.marginal(q)
            value = solved.divergence.value(marginal / marginal.sum(), solved.problem.reference)
            assert value == pytest.approx(-n, abs=1e-5)


def test_many_targets_become_others_and_nothing_is_lost():
    solved = solve_curve(world(3, 40), "tv")
    kept, q, r = translator.columns(solved, 5)
    assert len(kept) == 5
    assert q.shape == (len(solved.beta), 3, 6)
    assert q.sum(axis=2) == pytest.approx(1, abs=1e-5)
    assert r.sum() == pytest.approx(1)
    mass = np.maximum(
        np.einsum("x,vxy->vy", solved.problem.p_x, solved.translators).max(axis=0),
        solved.problem.reference,
    )
    assert mass[kept].min() >= np.delete(mass, kept).max()
    data = tradeoff_explorer(solved, list("abc"), [f"t{y}" for y in range(40)], show=5).data
    assert data["targets"] == [f"t{y}" for y in kept]
    assert data["others"] == 35
    kept, q, r = translator.columns(solved, 40)
    assert (kept.tolist(), q.shape[2], len(r)) == (list(range(40)), 40, 40)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"sources": ["one"]}, "1 sources and 3 targets are named, the curve is over 2 and 3"),
        (
            {"start": -0.6},
            r"must be in \[-0.5, 0\], the ends of this curve; below, the constraint costs nothing",
        ),
        ({"start": 0.1}, r"the ends of this curve, got 0.1"),
        ({"start": np.nan}, "got nan"),
        ({"show": 0}, "show must be at least 1"),
    ],
)
def test_input_that_does_not_fit_is_told(curve, change, sentence):
    given = {"sources": SOURCES, "targets": TARGETS} | change
    with pytest.raises(DataError, match=sentence):
        tradeoff_explorer(curve, **given)


def test_traits_refuse_what_makes_no_sense(widget):
    with pytest.raises(DataError, match="naturalness must be in"):
        widget.naturalness = 0.5
    with pytest.raises(traitlets.TraitError):
        widget.scale = "N"
    widget.naturalness = 1e-12  # rounding of a page
    assert widget.naturalness == 0


def test_a_world_without_a_tradeoff(tmp_path):
    solved = solve_curve(Problem([[0.5, 0], [0, 0.5]], 1 - np.eye(2), [0.5, 0.5]), "tv")
    assert len(solved.naturalness) == 1
    widget = tradeoff_explorer(solved, ["a", "b"], ["A", "B"])
    assert widget.naturalness == 0
    assert widget.static_html().count("<table>") == 1
    assert "no tradeoff" in json.dumps(plot_tradeoff(solved).to_dict())


def test_the_drawn_line_is_the_curve():
    solved = solve_curve(world(4, 5), "tv")
    spec = plot_tradeoff(solved, point=-0.1, at=(-0.05,)).to_dict()
    rows = {a.get("name"): spec["datasets"][a["data"]["name"]] for a in spec["layer"]}
    for name in ("bxline", "vertices"):
        assert [(r["naturalness"], r["accuracy"]) for r in rows[name]] == list(
            zip(solved.naturalness, solved.accuracy, strict=True)
        )
    assert [(r["naturalness"], r["accuracy"]) for r in rows["bxpoint"]] == [
        (-0.1, solved.accuracy_at(-0.1))
    ]
    assert "total variation, probability; higher is" in " ".join(
        spec["layer"][0]["encoding"]["x"]["axis"]["title"]
    )


@pytest.mark.parametrize("asked", [{"at": [0.1]}, {"point": -0.6}])
def test_an_n_that_no_translator_has_is_refused(curve, asked):
    with pytest.raises(
        DataError, match=r"naturalness must be in \[-0.5, 0\], the ends of this curve"
    ):
        plot_tradeoff(curve, **asked)


def test_languages_are_named_as_html_wants_them(curve):
    assert tradeoff_explorer(curve, SOURCES, TARGETS, langs=("und", "pt_BR")).data["langs"] == [
        "",
        "pt-BR",
    ]


def test_a_curve_that_is_not_exact_says_so():
    pytest.importorskip("cvxpy", reason="needs anhelpers[theory]")
    solved = solve_curve(world(2, 3), "chi2")
    data = tradeoff_explorer(solved, ["a", "b"], list("xyz")).data
    assert not data["exact"]
    assert data["gap"] == solved.gap > 0
    assert f"at most {solved.gap:.2g} below the true curve" in data["alt"]


def test_anything_with_these_fields_is_a_curve(curve):
    names = ("naturalness", "accuracy", "accuracy_at", "beta", "translators", "exact", "gap")
    like = SimpleNamespace(
        **{name: getattr(curve, name) for name in names},
        problem=SimpleNamespace(p_x=curve.problem.p_x, reference=curve.problem.reference),
        divergence=SimpleNamespace(label="total variation", unit="probability"),
    )
    assert (
        tradeoff_explorer(like, SOURCES, TARGETS).data
        == tradeoff_explorer(curve, SOURCES, TARGETS).data
    )


def test_the_fallback_needs_no_script_and_escapes(widget):
    before, script = widget.fragment().split("<script>")
    assert before.count("<table>") == 3
    assert before.count("<caption>") == 3
    assert "<caption>N = −0.250, A(N) = −0.250</caption>" in before
    assert "<svg" not in before
    assert "he &lt;/script&gt; runs" in before
    assert "&lt;b&gt;lief&lt;/b&gt;" in before
    assert "<b>66.7\u00a0%</b>" in before
    assert (
        'alt="A(N) under total variation from accuracy 0 at naturalness -0.5 to -0.5 at 0; 2 vertices."'
        in before
    )
    assert script.count("</script>") == 1


def test_the_page_stands_alone(widget, tmp_path):
    page = widget.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>A &lt;claim&gt;</title>" in page
    assert not re.search(r"""(?:src|href)=["']?https?:|@import|import\(""", page)
    assert "export default" not in page
    state = json.loads(re.search(r"fakeModel\((\{.*\})\), el: box", page).group(1))
    assert state == {"data": widget.data, "naturalness": -0.25, "scale": "naturalness"}


def test_shown_live_and_static(curve, widget, monkeypatch):
    monkeypatch.delenv("ANX_MODE", raising=False)
    bundle, _ = widget._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    monkeypatch.setenv("ANX_MODE", "static")
    static = tradeoff_explorer(curve, SOURCES, TARGETS)
    assert set(static._repr_mimebundle_()) == {"text/html", "text/plain"}


def test_static_view_has_a_tidy_table(curve):
    view = static_tradeoff(curve, SOURCES, TARGETS, at=(-0.5, -0.1))
    table = view.table
    assert len(table) == 2 * 2 * 3
    assert table.groupby(["naturalness", "source"])["q"].sum().to_numpy() == pytest.approx(1)
    assert table.groupby("naturalness")["accuracy"].first().to_dict() == pytest.approx(
        {-0.5: 0, -0.1: -0.4}
    )
    assert repr(view) == "TradeoffView(N = -0.5, -0.1; 2 sources)"
    assert view._repr_html_().count("<table>") == 2
    labels = json.dumps(view.chart.to_dict(), ensure_ascii=False)
    assert "N = −0.1" in labels
    assert static_tradeoff(curve, SOURCES, TARGETS).at == (-0.5, -0.25, 0)


def test_numbers_are_printed_for_people():
    assert [
        translator.shown_probability(v).replace("\u00a0", " ")
        for v in (0, 1e-7, 1e-4, 0.0005, 0.999, 1 - 1e-9)
    ] == [
        "·",
        "·",
        "< 0.1 %",
        "0.1 %",
        "99.9 %",
        "100 %",
    ]
    assert [translator.signed(v).replace("\u00a0", " ") for v in (-1e-9, 0.25, -0.25)] == [
        "0.0",
        "▲ +25.0",
        "▼ −25.0",
    ]
