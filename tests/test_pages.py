"""Exported pages: what is folded, where links lead, formulas; how they look is in browser/test_pages.py."""

import re
from copy import deepcopy

import nbformat
import pytest

from anhelpers.notebooks.export import _export_html, _typeset
from anhelpers.notebooks.run import _solved

CODE, TEXT, OUT = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell, nbformat.v4.new_output


def tagged(cell, *tags):
    cell.metadata["tags"] = [*tags]
    return cell


@pytest.fixture
def exported(tmp_path):
    """A function: the page of these cells."""

    def page(*cells):
        nbformat.write(nbformat.v4.new_notebook(cells=[*cells]), tmp_path / "one.ipynb")
        return _export_html(tmp_path / "one.ipynb")

    return page


def folds(page):
    return re.findall(r'<details class="anx-fold">.*?</details>', page, re.S)


def test_what_no_reader_begins_with_is_one_line(exported):
    page = exported(
        TEXT("# One"),
        tagged(CODE("seed = 1"), "parameters"),
        tagged(CODE("seed = 2"), "injected-parameters"),
        tagged(TEXT("Parameters stand above."), "setup"),
        CODE("from pathlib import Path\n\nimport anhelpers as an\n\nan.use_offline()"),
        tagged(CODE("rng = 3", outputs=[OUT("stream", name="stderr", text="note\n")]), "setup"),
        TEXT("## Guess"),
        CODE("an.load", outputs=[OUT("stream", text="loaded\n")]),
    )
    (fold,) = folds(page)
    for words in ("seed", "Parameters stand above", "Path", "rng", "note"):
        assert words in fold
    assert "Guess" not in fold
    assert "loaded" not in fold
    assert page.count("Set-up</summary>") == 1
    assert "<title>One</title>" in page


def test_what_shows_something_or_is_a_task_is_not_folded(exported):
    shown = [OUT("stream", text="kept\n")]
    page = exported(
        CODE("import anhelpers", outputs=shown),
        tagged(CODE("import math"), "solution"),
        tagged(CODE("n = 1", outputs=shown), "setup"),
        TEXT("import this"),
    )
    assert folds(page) == []


def test_a_deeper_section_is_its_heading_until_it_is_opened(exported):
    page = exported(
        TEXT("## First"),
        TEXT("## Deeper: why $x^2$"),
        CODE("a = 1"),
        TEXT("### A part of it"),
        TEXT("## Deeper: more\n\nIts first words."),
        tagged(TEXT("solved"), "solution"),
        TEXT("## Exercises"),
    )
    first, second = re.findall(r'<details class="anx-deeper">.*?</details>', page, re.S)
    assert re.search(r'<summary><h2 id="Deeper:[^>]*>Deeper: why <math', first)
    assert "A part of it" in first
    assert "<summary>" in second
    assert "Its first words" in second
    assert "celltag_solution" in second
    assert "Exercises" not in second
    assert page.count("<details") == page.count("</details>") == 5


def test_links_between_notebooks_lead_to_pages(exported):
    page = exported(
        TEXT("[a](an_3_tradeoff.ipynb) [b](an_3_tradeoff.ipynb#The-definition) [c](mine.ipynb)"),
        TEXT("[paper](https://arxiv.org/abs/2503.24013)"),
    )
    for address in (
        "an_3_tradeoff.html",
        "an_3_tradeoff.html#The-definition",
        "mine.ipynb",
        "https://arxiv.org/abs/2503.24013",
    ):
        assert f'href="{address}"' in page


def test_a_formula_beside_text_and_code():
    page = _typeset(r"Half is $\frac{1}{2}$, and `$HOME` is no formula; nor is 5 \$ or *so*.")
    assert page.count("<math") == page.count("<mfrac>") == 1
    assert "<code>$HOME</code>" in page
    assert "<em>so</em>" in page


def test_a_sign_after_a_formula_stays_in_its_line():
    page = _typeset("Of $x$, $y$ ($z$). Or $x$ and\n\n$$x = y.$$")
    kept = re.findall(r'<span class="anx-whole"><math.*?</math>(.*?)</span>', page)
    assert kept == [",", ")."]
    assert page.count("<math") == 5


FOLD = "<details><summary>Solution</summary>\n\n"


def exercise(n):
    said = [OUT("stream", text=f"Exercise {n} ✓ right\n")]
    return [
        TEXT(f"### Exercise {n} · check\n\nHow many?"),
        tagged(CODE(f"n_{n} = ..."), "exercise"),
        tagged(CODE("@an.check\ndef exercise(): pass", outputs=said), "check"),
        tagged(TEXT(f"{FOLD}It is {n}.\n</details>"), "solution"),
        tagged(CODE(f"n_{n} = {n}"), "solution"),
    ]


def test_a_page_says_what_can_be_done_without_a_kernel_and_claims_no_check(exported):
    asked = TEXT("## Exercises\n\nReplace the three dots, run the cell, and the check below it.")
    more = TEXT("## Deeper: more exercises\n\nAbout dice.")
    page = exported(asked, *exercise(1), more, *exercise(2))
    assert "three dots" not in page
    assert "open the notebook <code>one.ipynb</code> in Jupyter" in page
    assert "About dice." in page
    assert "✓" not in page
    assert "an.check" not in page
    solution = r'<details class="anx-solution"><summary>Solution</summary>(.*?)</details>'
    for n, found in enumerate(re.findall(solution, page, re.S), 1):
        assert f"It is {n}." in found
        assert found.count("celltag_solution") == 2
        assert "How many?" not in found
    assert page.count("<details") == page.count("</details>") == 5


def test_the_page_of_somebodys_own_answers_keeps_what_the_checks_said(exported):
    page = exported(TEXT("## Exercises\n\nRun it."), *exercise(1)[:-1])
    assert "Exercise 1 ✓ right" in page
    assert page.count("<summary>Solution</summary>") == 1
    assert "the solution below" not in page


def test_a_run_moves_the_code_of_solutions_before_checks_if_nothing_was_answered():
    start, check = tagged(CODE("n = ..."), "exercise"), tagged(CODE("check"), "check")
    solution = tagged(TEXT(f"{FOLD}3.\n\n```python\nn = 3\n```\n\n</details>", id="n"), "solution")
    book = nbformat.v4.new_notebook(cells=[start, check, solution])
    told, made = _solved(deepcopy(book)).cells[1:3]
    assert (told.id, told.source) == ("n-text", f"{FOLD}3.\n\n</details>")
    assert (made.id, made.source) == ("n", "n = 3")
    start.source = "n = 2"
    assert _solved(deepcopy(book)) == book


def test_code_that_is_hidden_shows_what_it_made_and_no_note_of_the_run(exported):
    noted = [OUT("stream", name="stderr", text="note: 3 scores\n"), OUT("stream", text="made\n")]
    page = exported(tagged(CODE("x = 'hidden code'\nx", outputs=noted), "hide-input"))
    assert "made" in page
    assert "note: 3 scores" not in page
    assert "celltag_hide-input" in page


def test_a_page_explains_its_own_terms(exported):
    page = exported(TEXT("The oracles of two systems"), CODE("rater = 1"))
    assert re.findall(r"<dt>(.*?)</dt>", page) == ["system", "oracle"]


def test_a_question_and_the_card_below_it_are_one_card(exported):
    def shows(kind):
        data = {"text/html": '<div class="anx-host"></div>', "text/plain": f"{kind}()"}
        return CODE(kind, outputs=[OUT("display_data", data=data)])

    question, widget = shows("Guess"), shows("Flipbook")
    page = exported(question, CODE("x = 1"), widget, TEXT("words"), shows("Guess"), TEXT("words"))
    assert re.findall(r"celltag_\w+(?=[^>]*id=)", page) == ["celltag_upper", "celltag_lower"]
    assert "celltag_" not in exported(widget, shows("Flipbook")).partition("<main>")[2]
