"""How exported pages look: on a phone, in the dark, on paper; what is folded opens by key, by a link and for paper."""

import re

import nbformat
import pandas as pd
import pytest

CODE, TEXT, OUT = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell, nbformat.v4.new_output
LONG = "table = {name: [value for value in values if value is not None] for name, values in some.items()}  # all"
HEADS = "".join(f"<th>column number {k}</th>" for k in range(14))
TABLE = f"<table><thead><tr>{HEADS}</tr></thead><tbody><tr>{'<td>1.2345</td>' * 14}</tr></tbody></table>"
GERMAN = '<p lang="de">Die Donaudampfschifffahrtsgesellschaft übersetzt Übersetzungsgenauigkeitsmaße.</p>'


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """The address of a page with all that notebooks show."""
    pytest.importorskip("nbconvert", reason="install nbconvert: pip install 'anhelpers[notebooks]'")
    alt = pytest.importorskip("altair", reason="install altair: pip install 'anhelpers[notebooks]'")
    from anhelpers.charts import offline
    from anhelpers.notebooks.export import _export_html
    from anhelpers.widgets import guess

    points = alt.Data(values=[{"x": 1, "y": 1}, {"x": 2, "y": 2}])
    chart = alt.Chart(points).mark_point(color="#0072B2").encode(x="x:Q", y="y:Q")

    asked = guess("How *many*?", (5, "It is **five**."), range=(0, 10), after=chart)
    words = pd.DataFrame({"text": ["A sentence of some words, not a number."], "n": [1.5]})

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANX_MODE", "static")
        patch.setattr("IPython.display.display", lambda data, raw: asks.append(data["text/html"]))
        asks = []
        exec("from anhelpers.classroom import check\n@check\ndef one(n=3/14, sure=False): pass", {})

    def shows(text):
        return OUT("execute_result", data={"text/html": text})

    many = " ".join(f"| column number {k}" for k in range(12)) + " |\n"
    cells = [
        TEXT("# A page\n\nHow does it *look*?\n\nAbout 5 minutes. Before this: nothing."),
        CODE("seed = 1", metadata={"tags": ["parameters"]}),
        CODE("import anhelpers as an"),
        TEXT(
            "In a line $D_p(q, r) = \\sqrt{x}$ stands, and displayed\n\n> $$A(N) = \\max_Q \\frac{a}{b}$$"
        ),
        CODE(LONG, outputs=[OUT("stream", text=50 * "printed " + "\n"), shows(TABLE)]),
        CODE("import re", outputs=[OUT("stream", name="stderr", text="note: a note\n")]),
        CODE("chart", outputs=[shows(offline.picture(chart)), shows(GERMAN)]),
        CODE("broad", outputs=[shows(offline.picture(chart.properties(width=900)))]),
        TEXT(many + re.sub("column number [0-9]+", "---", many) + many),
        CODE("asked", outputs=[shows(asked.fragment())]),
        CODE("words", outputs=[shows(words.to_html())]),
        TEXT("See [below](#Inside)."),
        CODE(
            "unseen = 1 + 1\nunseen",
            metadata={"tags": ["hide-input"]},
            outputs=[OUT("stream", text="2\n")],
        ),
        TEXT("## Deeper: why"),
        TEXT("### Inside\n\nThe deep words."),
        CODE("def f(x): return 'text', 1.5, None, print(x)  # code"),
        TEXT("## The end"),
        TEXT("### Exercise 1 · check\n\nHow many?"),
        CODE("n = ...  # a share\nsure = ...", metadata={"tags": ["exercise"]}),
        CODE("@an.check", metadata={"tags": ["check"]}, outputs=[shows(*asks)]),
        CODE("n, sure = 3 / 14, False", metadata={"tags": ["solution"]}),
    ]
    path = tmp_path_factory.mktemp("pages") / "smoke.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    path.with_suffix(".html").write_text(_export_html(path), "utf-8")
    return path.with_suffix(".html").as_uri()


CLIPPED = """() => [...document.querySelectorAll('main *')].filter(e => !e.closest('.anx')
    && ['hidden', 'clip'].includes(getComputedStyle(e).overflowX)
    && e.clientWidth > 5 && e.scrollWidth > e.clientWidth + 2).map(e => e.className)"""
RED = """() => [...document.querySelectorAll('main *')].filter(e => !e.closest('.anx, svg')).flatMap(e => {
    const style = getComputedStyle(e);
    return [style.color, style.backgroundColor].map(c => c.match(/[0-9.]+/g).map(Number))
        .filter(([r, g, b, a = 1]) => a > 0 && r - Math.max(g, b) > 15 && Math.abs(g - b) < 15)
        .map(c => e.className + c); })"""
FITS = "document.documentElement.scrollWidth <= innerWidth"
PATH = re.compile(r"(?<![\w.:/])/(work|tmp|home|root|Users)/\w")


def is_sound(page):
    """On a phone nothing sticks out or is cut off; in the dark all is dark; nothing is red, and no machine is named."""
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate(FITS)
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate(RED) == []
    assert not PATH.search(page.inner_text("main"))
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 20, 20)"
    page.emulate_media(color_scheme="light")


def test_a_page_is_sound(page, smoke):
    page.goto(smoke)
    is_sound(page)
    for box in (".anx-wide", ".jp-RenderedHTML:has(table)"):
        wide = page.locator(box).first
        assert wide.evaluate(
            "e => e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX === 'auto'"
        )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_code_and_text_have_contrast(page, smoke, scheme):
    page.emulate_media(color_scheme=scheme)
    page.goto(smoke)
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    colours = page.evaluate(
        """() => [...document.querySelectorAll('.highlight span, main :is(p, summary, td, th, a, pre)')].map(e => {
            let at = e; while (at && getComputedStyle(at).backgroundColor.startsWith('rgba')) at = at.parentElement;
            return [getComputedStyle(e).color, at ? getComputedStyle(at).backgroundColor : 'rgb(255, 255, 255)']; })"""
    )
    assert len(colours) > 50
    for ink, paper in {tuple(pair) for pair in colours}:
        assert contrast(ink, paper) >= 4.5, (ink, paper)


def contrast(*colours):
    """Contrast of two colours (WCAG 2)."""

    def luminance(colour):
        parts = [float(n) / 255 for n in re.findall(r"[\d.]+", colour)[:3]]
        parts = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
        return sum(w * v for w, v in zip((0.2126, 0.7152, 0.0722), parts, strict=True))

    low, high = sorted(map(luminance, colours))
    return (high + 0.05) / (low + 0.05)


def test_what_is_deeper_opens_by_key_and_by_a_link_into_it(page, smoke):
    page.goto(smoke)
    words = page.get_by_text("The deep words.")
    assert not words.is_visible()
    assert page.get_by_role("heading", name="The end").is_visible()
    page.locator(".anx-deeper > summary").focus()
    page.keyboard.press("Enter")
    assert words.is_visible()
    page.keyboard.press("Enter")
    assert not words.is_visible()
    page.get_by_role("link", name="below").click()
    assert words.is_visible()
    page.goto("about:blank")
    page.goto(f"{smoke}#Inside")
    assert words.is_visible()


def test_an_answer_is_checked_by_keyboard(page, smoke):
    page.goto(smoke)
    share, sure = page.get_by_label("a share n"), page.get_by_label("sure")
    said = page.locator(".anx-ask output[aria-live=polite]")
    sure.fill("False")
    for typed in ("0,21", "3/14", "21 %", ".2143", "0.2", "0", "1/2", "−0.21", "some"):
        share.fill(typed)
        share.press("Enter")
        right = typed in ("0,21", "3/14", "21 %", ".2143")
        assert said.inner_text() == ("right" if right else "not yet: n"), typed
        assert share.get_attribute("aria-invalid") == str(not right).lower()


def test_on_paper_all_is_open_and_nothing_is_cut_off(page, smoke):
    page.set_viewport_size({"width": 700, "height": 900})
    page.goto(smoke)
    assert not page.get_by_text("unseen").first.is_visible()
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for words in ("The deep words.", "seed", "import", "unseen"):
        assert page.get_by_text(words).first.bounding_box()["height"] > 0
    assert page.evaluate(CLIPPED) == []
    scrolls = "[...document.querySelectorAll('main pre, main table')].filter(e => e.scrollWidth > innerWidth).length"
    assert page.evaluate(scrolls) == 0
    page.emulate_media(media="screen")
    assert page.locator("details[open]").count() == 0
    assert len(page.pdf()) > 10_000
    page.wait_for_function("document.querySelectorAll('details[open]').length === 0")


def test_one_switch_shows_all_code_and_one_keeps_a_theme(page, smoke):
    page.goto(smoke)
    assert page.title() == "A page"
    assert page.get_attribute("meta[name=description]", "content") == "How does it look?"
    code, dark = page.get_by_text("import re"), "getComputedStyle(document.body).backgroundColor"
    assert not code.is_visible()
    page.get_by_label("Show code").check()
    assert code.is_visible()
    chart = page.get_by_role("img").first
    assert chart.evaluate("e => getComputedStyle(e.querySelector(`text`)).fontFamily").startswith(
        "Inter"
    )
    page.get_by_role("button", name="Light or dark").click()
    page.reload()
    assert page.evaluate(dark) == "rgb(20, 20, 20)"
    assert chart.evaluate("e => getComputedStyle(e).filter").startswith("invert")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_paints_at_once_moves_nothing_and_asks_for_nothing(page, smoke, width):
    page.set_viewport_size({"width": width, "height": 800})
    asked = []
    page.on("request", lambda one: asked.append(one.url))
    note = "new PerformanceObserver(l => l.getEntries().forEach(e => (window.moved += e.value)))"
    page.add_init_script(
        f"window.moved = 0; {note}.observe({{type: 'layout-shift', buffered: true}})"
    )
    page.goto(smoke)
    page.locator(".anx").first.wait_for()
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
    first = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert first < 1000
    assert page.evaluate("moved") < 0.02
    assert [one for one in asked if not one.startswith(("data:", smoke))] == []
