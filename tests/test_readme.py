"""What the README and docs/sections.md promise is there; their commands: tests/test_docs.py."""

import re
from pathlib import Path

import pytest

from anhelpers.notebooks import about, notebook_paths
from anhelpers.notebooks.catalog import _read

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SECTIONS_PAGE = (ROOT / "docs" / "sections.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_every_link_leads_somewhere(link):
    assert (ROOT / link).exists()


def test_every_notebook_is_in_the_table_with_its_question():
    rows = re.findall(r"^\| \[`(\w+)`\]\(notebooks/\1\.ipynb\) \| (.+?) \|$", README, re.MULTILINE)
    assert rows == [(one.name, one.question) for one in map(about, notebook_paths())]


def test_it_fits_two_screens():
    """350 words outside tables and code."""
    read = re.sub(r"^```.*?^```|^\|.*?$", "", README, flags=re.MULTILINE | re.DOTALL)
    assert len(re.sub(r"\]\([^)]*\)", "]", read).split()) <= 350


# Of Flamich et al. 2025 and Bugliarello et al. 2020, as their texts have them.
SECTIONS = {
    "AN": "§1 §2 §3 §3.1 §4 §4.1 §5 §5.1 §5.2 §6 §7 A A.1 A.2 B C D E E.1 E.1.1 E.1.2 E.1.3 F G",
    "XMI": "§1 §2 §3 §4 §5 A B C D",
}
ADDRESSES = {"AN": "arxiv.org/abs/2503.24013", "XMI": "2020.acl-main.149"}


def section_rows():
    """(paper, section, notebook or none, headings or the reason why there is no notebook)."""
    row = r"^\| (\w+) (\S+) \| [^|]+ \| (?:\[`(\w+)`\]\([^)]+\)|none) \| ([^|]+) \|$"
    return re.findall(row, SECTIONS_PAGE, re.MULTILINE)


def test_every_section_of_both_papers_stands_in_the_table():
    found = {paper: [] for paper in SECTIONS}
    for paper, section, _, _ in section_rows():
        found[paper] += [section] if section not in found[paper] else []
    assert {paper: " ".join(sections) for paper, sections in found.items()} == SECTIONS


@pytest.mark.parametrize(("paper", "section", "notebook", "told"), section_rows())
def test_a_section_has_a_notebook_that_names_it_or_a_reason_why_it_has_none(
    paper, section, notebook, told
):
    if not notebook:
        assert told.endswith(".")
        return
    assert notebook in {path.stem for path in notebook_paths()}
    first, *others = (
        cell.source
        for cell in _read(*notebook_paths([notebook])).cells
        if cell.cell_type == "markdown"
    )
    whole = section.partition(".")[0]  # §3.1 is part of §3, E.1.2 of Appendix E
    named = rf"{whole}\b" if whole[0] == "§" else rf"Appendi(x|ces)( [A-Z](,| and))* {whole}\b"
    assert ADDRESSES[paper] in first
    assert re.search(named, first)
    headings = re.findall(r"^## (.+)$", "\n".join(others), re.MULTILINE)
    assert set(told.split("; ")) <= set(headings)
