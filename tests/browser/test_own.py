"""Fool the judges: the page's metrics are Python's, and what typing shows."""

import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anhelpers import widgets
from anhelpers.accuracy.surface import surface_metric
from anhelpers.data import load, load_candidates
from anhelpers.naturalness.critic import critic_tokens, explain, load_critic, score_critic
from anhelpers.widgets.own import _shipped

SETS = {"en": "teaching/de-en", "de": "teaching"}
SETUP = """from anhelpers.data import load, load_candidates
from anhelpers.plane import with_human_points
from anhelpers.widgets.own import own_translation
test, cands = with_human_points(load("teaching/de-en")), load_candidates("teaching/de-en")"""
SHOW = "w = own_translation(test, cands, segments=[23, 42, 20], title='A <claim>')\nw"
TYPED = "Since then she has gone up there twice a week and wound the clock."
JUDGE = """([texts, refs]) => texts.map((text, i) => {
    const judged = explainedText(critic, text);
    return [chrfOf(text, refs[i].map(chrfReference)), judged.score, judged.shares.map((s) => [s.token, s.nats])];
})"""
PIECES = ["ß", "„", "“", "–", "…", "½", "²", "ª", "_", "\u2028", "\x1c", "\x85", "\ufeff", "\u200b"]
PIECES += ["\xad", *".!?,Ⅷ漢\U0001d400\U00010a40😀", "Straße", "’s", "``"]
PIECES += ["''", " — ", "--", "...", "1.000,5", "12:30", "①x", "#PERSON#", '"', "x_y", "don't"]
PIECES += ["wohl-bekannt", "ΣΑΣ", "İx", "ǅ", "e\u0301", "\u0308", "👩‍👩‍👧", "١٢", "the", "Der"]


@pytest.fixture
def root(page, tmp_path):
    names = {}
    exec(f"{SETUP}\n{SHOW}", names)
    page.goto(names["w"].save(tmp_path / "own.html").as_uri())
    return page.locator(".anx")


@pytest.fixture(scope="module", params=SETS)
def judges(request, chromium):
    """(critic, a function: texts and references -> what the page's judges say): the scripts alone, without a widget."""
    critic = load_critic(request.param)
    page = chromium.new_page()
    folder = Path(widgets.__file__).parent
    page.add_script_tag(
        content="".join((folder / name).read_text("utf-8") for name in ("chrf.js", "critic.js"))
    )
    page.evaluate("shipped => { window.critic = criticOf(shipped); }", _shipped(critic))
    yield critic, lambda texts, refs: page.evaluate(JUDGE, [texts, refs])
    page.close()


def assert_same(critic, judge, texts, refs):
    """The last bit of chrF, every token, and every share of the critic to 1e-9 nats."""
    chrf = surface_metric("chrf", n_refs="var")
    longest = max(map(len, refs))
    streams = [[one[k] if k < len(one) else None for one in refs] for k in range(longest)]
    want = chrf.score_segments(texts, refs=streams)
    for text, points, (said, score, shares) in zip(texts, want, judge(texts, refs), strict=True):
        assert said == points, text
        assert [token for token, _ in shares] == critic_tokens(text, critic.language), text
        whole = score_critic(critic, text)
        if np.isnan(whole):
            assert score is None
            continue
        assert score == pytest.approx(whole, abs=1e-9), text
        assert [nats for _, nats in shares] == pytest.approx(
            [n for _, n in explain(critic, text)[1:]], abs=1e-9
        )


def test_the_judges_of_the_page_are_pythons_on_candidates(judges):
    critic, judge = judges
    test, cands = load(SETS[critic.language]), load_candidates(SETS[critic.language])
    some = range(0, len(cands), 4)
    refs = [[texts[cands.segment[i]] for texts in test.streams] for i in some]
    assert len(some) > 250
    assert_same(critic, judge, [cands.texts[i] for i in some], refs)


ODD = st.lists(
    st.sampled_from(PIECES)
    | st.text(
        st.characters(exclude_categories=("Cs", "Cn")).filter(
            lambda c: unicodedata.category(c) != "Cn"
        ),
        max_size=4,
    ),
    max_size=12,
).map("".join)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(ODD, st.lists(ODD, min_size=1, max_size=3)), min_size=1, max_size=25))
def test_and_on_texts_that_nobody_writes(judges, pairs):
    texts, refs = map(list, zip(*pairs, strict=True))
    assert_same(*judges, texts, refs)


def test_a_typed_sentence_has_its_scores_and_fools_both_metrics(root, page):
    area, verdict = root.locator("textarea"), root.locator(".anx-verdict")
    assert "Yours" not in verdict.inner_text()
    area.fill(TYPED)
    critic = load_critic("en")
    scores = root.locator(".anx-scores").inner_text().replace("\u2212", "-")
    assert f"critic {score_critic(critic, TYPED):.2f}\u00a0nats" in scores
    assert root.locator(".anx-words").inner_text() == TYPED
    assert "another candidate has a higher value" in verdict.inner_text()
    area.fill(
        load(SETS["en"]).refs["refB"][23].replace("she", "he")
    )  # wrong, and near the reference
    assert "Is it faithful to the source?" in verdict.inner_text()
    assert root.locator(".anx-plane .anx-mine").is_visible()
    for _ in range(2):  # each source keeps its draft
        page.get_by_label("Next source").click()
    assert not area.input_value()
    page.get_by_label("Previous source").click()
    page.get_by_label("Previous source").click()
    assert "he" in area.input_value()


def test_the_slider_takes_every_choice_of_the_oracle(root, page):
    root.get_by_role("slider").focus()
    page.keyboard.press("Home")
    seen = [root.locator(".anx-verdict i").inner_text()]
    while root.get_by_label("Next change").get_attribute("aria-disabled") != "true":
        root.get_by_label("Next change").click()
        seen.append(root.locator(".anx-verdict i").inner_text())
    assert root.get_attribute("data-beta") == "Infinity"
    assert len(set(seen)) == root.locator(".anx-corner").count()


def test_a_dot_shows_its_text_by_mouse_and_by_key(root, page):
    dots, seen = root.locator(".anx-over"), root.locator(".anx-seen")
    dots.nth(4).hover(force=True)
    hovered = seen.inner_text()
    root.get_by_role("slider").focus()
    page.get_by_label("Next change").focus()
    page.keyboard.press("Tab")
    first = seen.inner_text()
    page.keyboard.press("ArrowRight")
    assert len({hovered, first, seen.inner_text()}) == 3
    texts = load_candidates(SETS["en"]).texts
    assert seen.inner_text().split(": ", 1)[1] in texts
