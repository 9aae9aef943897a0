"""Texts that are code to a browser: every widget, page and picture shows them, letter by letter, and runs none."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from anhelpers import cli
from anhelpers.charts.offline import interactive, save, to_svg
from anhelpers.charts.systems import plot_systems
from anhelpers.data import CandidateSet, TestSet
from anhelpers.data.ratings import read_ratings
from anhelpers.exact import Problem, solve_curve
from anhelpers.frontier import oracle_curve
from anhelpers.report import write_page
from anhelpers.stats import holm

HOSTILE = [
    "<script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>",
    '"><svg onload=window.pwned=1>',
    "</script><script>window.pwned=1</script>",
    "</textarea><script>window.pwned=1</script>",
    "javascript:window.pwned=1",
    "{{constructor.constructor('window.pwned=1')()}}",
    "]]><b>x</b>",
    "<!--<script>x",
    "</style><script>window.pwned=1</script>",
    "' onmouseover='window.pwned=1",
    "&lt;b&gt; &amp;amp;",
    "<a href=javascript:window.pwned=1>x</a>",
    "</title><script>window.pwned=1</script>",
    "${window.pwned=1}`",
    "<iframe srcdoc='<script>top.pwned=1</script>'>",
    "\u2028window.pwned=1//",
    "</noscript><img src=x onerror=window.pwned=1>",
]
SMUGGLED = "iframe, img[src=x], [onload], [onerror], [onmouseover]"
TITLE = "</title><script>window.pwned=1</script><img src=x onerror=window.pwned=1>"


def named(i):
    """A hostile text that differs from all others."""
    return f"{HOSTILE[i % len(HOSTILE)]} {i}"


def explorer():
    from anhelpers.widgets.judged import Judged

    from anhelpers.widgets.explorer import beta_explorer

    n = len(HOSTILE)
    segment = np.repeat(np.arange(n), 2)
    accuracy = np.tile([80.0, 60.0], n) + segment
    naturalness = np.tile([-4.0, -1.0], n) + segment / 10
    options = {"segment": segment, "title": TITLE, "show": n}
    options |= {
        "domains": [named(i) for i in range(n)],
        "tags": [named(i + 40) for i in range(2 * n)],
    }
    options |= {"langs": ("en", "de")}
    systems = pd.DataFrame(
        {"system": HOSTILE[:5], "category": ["LLM", "MT", "online", "human", "unknown"]}
    )
    systems = systems.assign(accuracy=70.0 + np.arange(5), naturalness=-2.0)
    curve = oracle_curve(segment, accuracy, naturalness)
    pairs = [
        Judged(
            curve,
            accuracy,
            naturalness,
            systems,
            *[(named(k + i), named(k + i + 1)) for i in range(3)],
        )
        for k in (20, 30)
    ]
    texts = [f"{named(i)} {word}" for i in range(n) for word in ("good", "bad")]
    return beta_explorer(pairs, HOSTILE, HOSTILE[::-1], texts, **options)


def tradeoff():
    from anhelpers.widgets.tradeoff import tradeoff_explorer

    rng = np.random.default_rng(0)
    n = 6
    joint = rng.dirichlet(np.ones(n * n) * 0.4).reshape(n, n)
    curve = solve_curve(Problem(joint, 1 - np.eye(n), rng.dirichlet(np.ones(n))), "tv")
    return tradeoff_explorer(
        curve, HOSTILE[:n], HOSTILE[6 : 6 + n], title=TITLE, names=(HOSTILE[1], HOSTILE[2]), show=n
    )


def decisions():
    from anhelpers.widgets.decisions import correction_explorer

    p = np.linspace(0.001, 0.2, len(HOSTILE))
    features = [f"f{i}" for i in range(len(p))]
    table = pd.DataFrame(
        {"feature": features, "method": "pearson", "r": 0.5, "p": p, "p_holm": holm(p)}
    )
    return correction_explorer(table, names=dict(zip(features, HOSTILE, strict=True)), title=TITLE)


def directions():
    from anhelpers.widgets.directions import direction_explorer

    rows = [
        (f"en-{text}", 160.0 + i, 60.0, 100.0 + i, 30.0)
        for i, text in enumerate(HOSTILE)
        if "-" not in text
    ]
    table = pd.DataFrame(rows, columns=["direction", "h_lm", "h_mt", "xmi", "bleu"])
    return direction_explorer(table, title=TITLE)


def divergences():
    from anhelpers.widgets.divergences import divergence_explorer

    n = 6
    r = np.arange(1, n + 1) / np.arange(1, n + 1).sum()
    return divergence_explorer(
        r,
        {HOSTILE[1]: [r, r[::-1]], HOSTILE[3]: [r, np.roll(r, 1)]},
        names=HOSTILE[:n],
        ground=np.arange(n),
        unit=HOSTILE[2],
        title=TITLE,
    )


WORD = "abcdefgh"
GERMAN = (
    "Die alte Fähre legt um sieben Uhr ab, und wer zu spät kommt, muss bis zum Abend warten. " * 4
)
"""Enough to say that these texts, of which most is markup, are meant to be German."""


def mqm_file(tmp_path):
    """Ratings whose every name is hostile, of two segments."""
    lines = [
        ["system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity"]
    ]
    for i, text in enumerate(HOSTILE):
        for seg in (1, 2):
            for k in range(1 + i * (1 + 2 * seg) % 7):  # so that the systems differ
                kind = f"{('Accuracy', 'Fluency')[k % 2]}/{text}"
                where = [HOSTILE[2], f"{seg}", f"{seg}", HOSTILE[(i + 1) % 3]]
                # each error at a place of its own
                marked = f"{WORD[:k]}<v>{WORD[k]}</v>{WORD[k + 1 :]} {i}"
                lines.append([text, *where, "s", marked, kind, "Major"])
    path = tmp_path / "m.tsv"
    path.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
    return path


def mqm(tmp_path):
    from anhelpers.widgets.mqm_editor import mqm_editor

    return mqm_editor(read_ratings(mqm_file(tmp_path)), title=TITLE)


def raters():
    from anhelpers.classroom.sheet import rating_sheet

    n = len(HOSTILE)
    test = TestSet("t", "en-de", tuple(HOSTILE), refs={"refA": tuple(HOSTILE[::-1])})
    texts = [f"{named(i)} {word}" for i in range(n) for word in ("good", "bad")]
    cands = CandidateSet(np.repeat(np.arange(n), 2), texts, [named(i) for i in (7, 8)] * n)
    return rating_sheet(
        test,
        cands,
        n_segments=n,
        n_candidates=2,
        rng=np.random.default_rng(0),
        title=TITLE,
    )


def own():
    from anhelpers.widgets.own import own_translation

    n = len(HOSTILE)
    test = TestSet("t", "de-en", tuple(HOSTILE), refs={"refA": tuple(HOSTILE[::-1])})
    texts = [f"{named(i)} {word}" for i in range(n) for word in ("good", "bad")]
    cands = CandidateSet(np.repeat(np.arange(n), 2), texts, [named(i) for i in (7, 8)] * n)
    return own_translation(test, cands, segments=[0], title=TITLE)


def a_guess():
    from anhelpers.widgets.guesses import guess

    return guess(HOSTILE[0], HOSTILE[1], HOSTILE, HOSTILE[3])


def compared():
    from anhelpers.widgets.guesses import guessed

    told = {text: HOSTILE[k] for k, text in enumerate(HOSTILE)}
    made = guessed(HOSTILE[0], told | {named(2): dict.fromkeys(HOSTILE, 1)}, unit=HOSTILE[3])
    made.value = HOSTILE[2]
    return made


def shifted():
    from anhelpers.widgets.explained import shift_explorer

    n = len(HOSTILE)
    world = Problem(np.eye(n) / n, 1 - np.eye(n), np.full(n, 1 / n))
    return shift_explorer({HOSTILE[0]: world, HOSTILE[1]: world}, HOSTILE, HOSTILE, title=TITLE)


WIDGETS = {
    "explorer": (explorer, HOSTILE),
    "tradeoff": (tradeoff, HOSTILE[:12]),
    "decisions": (decisions, HOSTILE),
    "directions": (directions, [t for t in HOSTILE if "-" not in t]),
    "divergences": (divergences, HOSTILE[:6]),
    "mqm": (mqm, HOSTILE),
    "raters": (raters, HOSTILE),
    "own": (own, [HOSTILE[0], named(7), named(8)]),
    "grids": (shifted, HOSTILE),
    "guess": (a_guess, HOSTILE),
    "guessed": (compared, HOSTILE),
}
"""Name -> what makes the widget, and which texts must be seen in it."""


def flat(text):
    """White space as a browser shows it."""
    return " ".join(text.replace("\xa0", " ").split())


def opened(page, path):
    """The text of a page that opened without a dialog; what an attack would do, is done by nothing."""
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(path.as_uri())
    page.wait_for_timeout(200)
    seen = page.evaluate(
        """() => [document.body.innerText,
             ...[...document.querySelectorAll('option, svg text, svg title, [aria-label]')].map(
                 e => e.textContent + ' ' + (e.getAttribute('aria-label') ?? ''))].join(' ')"""
    )
    for kind in ("mouseover", "focus", "click"):  # handlers that were smuggled in would run now
        page.evaluate(f"""() => document.querySelectorAll('.anx *, table *, svg *').forEach(
            e => e.tagName === 'A' || e.dispatchEvent(new Event('{kind}', {{bubbles: true}})))""")
    assert page.evaluate("window.pwned") is None
    assert (
        page.evaluate(
            "document.querySelectorAll('iframe, img[src=x], [onload], [onerror], [onmouseover]').length"
        )
        == 0
    )
    assert dialogs == []
    return flat(seen)


def made(name, tmp_path):
    make, texts = WIDGETS[name]
    widget = make(tmp_path) if name == "mqm" else make()
    return widget.save(tmp_path / f"{name}.html"), texts


@pytest.mark.parametrize("name", WIDGETS)
def test_a_widget_shows_hostile_texts_and_runs_none(name, page, tmp_path):
    path, texts = made(name, tmp_path)
    seen = opened(page, path)
    missing = [text for text in texts if flat(text) not in seen]
    assert missing == []


@pytest.mark.parametrize("name", WIDGETS)
def test_without_scripts_too(name, without_scripts, tmp_path):
    path, texts = made(name, tmp_path)
    page = without_scripts(path)
    seen = flat(page.locator("body").inner_text())
    assert page.locator(SMUGGLED).count() == 0
    assert any(flat(text) in seen for text in texts)


@pytest.fixture
def systems():
    """A table of systems with such names, as `anhelpers plane` draws and prints it."""
    n = len(HOSTILE)
    at = np.arange(n)
    table = pd.DataFrame(
        {"system": HOSTILE, "category": "MT", "accuracy": 40.0 + at, "naturalness": -3.0 - at / 9}
    )
    table = table.assign(accuracy_se=0.1, naturalness_se=0.01, correlation=0.0, n=52, pareto=True)
    for axis in ("accuracy", "naturalness"):
        table[f"{axis}_low"], table[f"{axis}_high"] = table[axis] - 1, table[axis] + 1
    return table


def plane_of(systems):
    return plot_systems(
        systems,
        title=TITLE,
        accuracy_title=HOSTILE[0],
        naturalness_title=HOSTILE[1],
        size=(900, 900),
    )


def test_a_page_of_the_plane(systems, page, tmp_path):
    notes = pd.DataFrame({"{body}": HOSTILE, HOSTILE[0]: HOSTILE[::-1]})
    parts = {"Systems": systems, HOSTILE[3]: "\n".join(HOSTILE), "{title} {body}": notes}
    path = write_page(
        tmp_path / "plane.html", TITLE + " {body}", interactive(plane_of(systems)), parts
    )
    seen = opened(page, path)
    # two tables, paragraphs, the picture's words
    assert [text for text in HOSTILE if seen.count(flat(text)) < 4] == []
    assert page.locator("h1").inner_text() == TITLE + " {body}"
    assert page.locator("h1").count() == 1
    mark = page.wait_for_selector("path[aria-roledescription][aria-label*='system: ']")
    mark.hover(force=True)
    page.wait_for_function("document.querySelector('#vg-tooltip-element')?.innerText.length > 3")
    assert page.evaluate("window.pwned") is None


def test_a_chart_saved_as_a_page(systems, page, tmp_path):
    seen = opened(page, save(plane_of(systems), tmp_path / "chart.html"))
    # labels that fit, and titles
    assert len([text for text in HOSTILE if flat(text) in seen]) >= len(HOSTILE) // 2


def test_a_drawing_is_well_formed_and_holds_no_script(systems):
    svg = ElementTree.fromstring(to_svg(plane_of(systems)))
    tags = {re.sub(r"{.*}", "", element.tag) for element in svg.iter()}
    assert tags <= {
        "svg",
        "g",
        "path",
        "text",
        "tspan",
        "rect",
        "line",
        "defs",
        "clipPath",
        "title",
        "metadata",
        "style",
    }
    assert not [
        key for element in svg.iter() for key in element.attrib if key.lower().startswith("on")
    ]
    assert TITLE[:20] in "".join(svg.itertext())


@pytest.fixture
def candidates(tmp_path):
    """A file of candidates in which all is hostile: sources, references, texts, tags."""
    rows = [
        {
            "src": text,
            "refs": [f"{named(i)} good {text} {GERMAN}"],
            "lp": "en-de",
            "candidates": [
                {"text": f"{named(i)} {word}", "tag": named(i + k)}
                for k, word in enumerate(("good", "bad"))
            ],
        }
        for i, text in enumerate(HOSTILE)
    ]
    path = tmp_path / "candidates.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def all_rows(page, seen):
    """What is seen, and what all pages of each explorer's table show, back to the first and on to the last."""
    for explorer in page.locator(".anx").all():
        for way in "‹›":
            turn = explorer.locator("button:visible", has_text=re.compile(f"^{way}$"))
            while turn.count() and turn.is_enabled():
                turn.click()
                seen += flat(explorer.inner_text())
    return seen


def test_the_page_of_a_curve(candidates, page, tmp_path):
    out = tmp_path / "curve.html"
    assert (
        cli.main(["curve", str(candidates), "--html", str(out), "-o", str(tmp_path / "curve.csv")])
        == 0
    )
    seen = all_rows(page, opened(page, out))
    assert [text for text in HOSTILE if flat(text) not in seen] == []
    assert page.evaluate("window.pwned") is None


@pytest.mark.notebook
def test_an_exported_notebook_with_hostile_candidates(candidates, tiny_lm, page, tmp_path):
    name = "an_5_1_oracle_curve"
    options = ["--data", str(candidates), "-p", "lm", str(tiny_lm), "--out", str(tmp_path)]
    assert cli.main(["run", name, *options]) == 0
    seen = all_rows(page, opened(page, tmp_path / f"{name}.html"))
    assert [text for text in HOSTILE if flat(text) not in seen] == []
    assert page.evaluate("window.pwned") is None


@pytest.mark.notebook
def test_an_exported_notebook_with_hostile_ratings(page, tmp_path):
    name, path = "an_5_2_mqm", mqm_file(tmp_path)
    options = ["-p", "unclassified", "ignore", "-p", "n_draws", "100", "--out", str(tmp_path)]
    assert cli.main(["run", name, "--data", str(path), *options]) == 0
    seen = opened(page, tmp_path / f"{name}.html")
    assert [text for text in HOSTILE if flat(text) not in seen] == []
