"""The teacher's pack: slides, a handout and the expected answers, made from executed notebooks, so that nothing is
typed twice.

What stands on a page is a row of data/teaching/pack.tsv, which names a cell; known misconceptions are those of
data/teaching/misconceptions.tsv.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..data.fetch import bundled
from ..data.lines import table_lines
from ..data.writing import make_folder, write_text
from ..errors import DataError
from ..notebooks import About, about, cells_of, notebook_paths
from ..pages import typeset
from ..provenance import from_template, in_page

__all__ = ["Misconception", "PackRow", "misconceptions", "pack_rows", "write_pack"]

PARTS = ("title", "text", "list", "picture", "code", "room")
ROOM = '<div class="room"></div>'
PAGES = ("slides.html", "handout.html", "answers.html")


@dataclass(frozen=True)
class PackRow:
    """One thing on a slide or on a side of the handout.

    Parameters
    ----------
    page : "slide 3" or "handout 1".
    part : one of PARTS; a list is the bullets' first sentences, a picture may be a table, room is space to write.
    notebook : one or several, as are cells. title : above it; empty where the row above has said it.
    cells : ids; the first that is there counts. "an51-07#1-3" are its paragraphs 1 to 3, headings left out; what stands
        behind # may also be a regular expression, for those in which it is found.
    """

    page: str
    part: str
    notebook: str
    cells: str
    title: str


@dataclass(frozen=True)
class Misconception:
    """What learners of a notebook often believe, and what to say to it.

    Parameters
    ----------
    notebook : its name. misconception : in the learners' words. answer : one to three sentences.
    """

    notebook: str
    misconception: str
    answer: str


@dataclass
class _Page:
    """A slide, or a side of the handout: a title, and pieces of HTML."""

    title: str = ""
    pieces: list[str] = field(default_factory=list)
    first: bool = False


def pack_rows() -> list[PackRow]:
    """What stands on the slides and on the handout, in order."""
    return [PackRow(*cells) for cells in _table("teaching/pack.tsv")]


def misconceptions(notebook: str = "") -> list[Misconception]:
    """The known misconceptions about one notebook, or about all."""
    found = [Misconception(*cells) for cells in _table("teaching/misconceptions.tsv")]
    return [one for one in found if notebook in ("", one.notebook)]


def write_pack(built: Path | str, out: Path | str) -> list[Path]:
    """Write OUT/slides.html, OUT/handout.html and OUT/answers.html; returns their paths. All need no network.

    Parameters
    ----------
    built : where `anhelpers run` wrote the executed notebooks of the collection. out : folder.

    Raises
    ------
    DataError : an executed notebook is not there, or no cell of a row of pack.tsv has what the row asks for.
    """
    built, told = Path(built), [about(path) for path in notebook_paths()]
    books = {one.name: _executed(built / f"{one.name}.ipynb") for one in told}
    pages = _pages(books, {one.name: one for one in told})
    slides, sides = (
        [page for name, page in pages.items() if name.startswith(kind)]
        for kind in ("slide", "handout")
    )
    answers = [(one, _answers(books[one.name]), misconceptions(one.name)) for one in told]
    texts = (
        from_template("pack_slides.html", slides=slides),
        from_template("pack_handout.html", sides=sides),
        from_template("pack_answers.html", answers=answers),
    )
    make_folder(Path(out))
    written = zip(PAGES, texts, strict=True)
    return [write_text(Path(out, name), in_page(text)) for name, text in written]


def _table(name: str) -> list[list[str]]:
    """The rows of a table of the teaching material, without its header."""
    return [line.split("\t") for line in table_lines(bundled(name))[1:] if line.strip()]


def _executed(path: Path) -> dict[str, Any]:
    """Id → cell of an executed notebook, in order."""
    if not path.is_file():
        raise DataError(
            f"is not there: execute the notebooks first (anhelpers run --out {path.parent}).", path
        )
    return cells_of(path)


def _pages(books: Mapping[str, Mapping[str, Any]], told: Mapping[str, About]) -> dict[str, _Page]:
    """Name of a slide or side → what stands on it."""
    pages: dict[str, _Page] = {}
    for row in pack_rows():
        page = pages.setdefault(row.page, _Page())
        if row.part == "title":
            one = told[row.notebook]
            page.title, page.first = one.title, True
            page.pieces.append(f"<p>{typeset(one.question)}</p>")
            continue
        if row.part == "room":
            page.pieces.append(ROOM)
            continue
        known = {k: c for name in row.notebook.split() for k, c in books[name].items()}
        head = f"<h2>{row.title}</h2>" if page.title and row.title else ""
        page.title = page.title or row.title
        page.pieces.append(head + _piece(row, known))
    return pages


def _piece(row: PackRow, known: Mapping[str, Any]) -> str:
    """The HTML of a row: of the first of its cells that is there and has what is asked for."""
    for wanted in row.cells.split():
        name, _, span = wanted.partition("#")
        found = _of(known[name], row.part, span) if name in known else ""
        if found:
            return found
    raise DataError(
        f"{row.page}: no cell {row.cells.replace(' ', ' or ')} of {row.notebook} has a {row.part}; "
        "mend its row.",
        bundled("teaching/pack.tsv"),
    )


def _of(cell: Any, part: str, span: str) -> str:
    """A picture (or table), paragraphs, bullets or code of a cell; empty where it has none."""
    if part == "code" and cell.cell_type == "code":
        return from_template("pack_code.html", code=cell.source)
    if part == "picture" and cell.cell_type == "code":
        return next(filter(None, map(_picture, cell.get("outputs", ()))), "")
    if cell.cell_type != "markdown" or part not in ("text", "list"):
        return ""
    if part == "list":
        bullets = re.findall(r"^- (.+?(?:\n  .+?)*)$", cell.source, re.M)
        firsts = (re.match(r".+?[.?](?:\*\*)?(?=\s|$)", one, re.S) for one in bullets)
        shown = "\n".join(f"- {one[0]}" for one in firsts if one)
        return _plain(typeset(shown)) if shown else ""
    paragraphs = [p for p in re.split(r"\n\s*\n", cell.source) if not p.startswith("#")]
    numbers = re.fullmatch(r"(\d+)(?:-(\d+))?", span)
    chosen = [p for p in paragraphs if re.search(span, p)]
    if numbers:
        chosen = paragraphs[int(numbers[1]) - 1 : int(numbers[2] or numbers[1])]
    return _plain(typeset("\n\n".join(chosen))) if chosen else ""


def _picture(output: Any) -> str:
    """The first picture of an output, or else its first table."""
    page = "".join(output.get("data", {}).get("text/html", ""))
    image = re.search(r"<img [^>]*data:image/[^>]*>", page)
    table = re.search(r"<table.*?</table>", page, re.S)
    return image[0] if image else table[0] if table else ""


def _plain(page: str) -> str:
    """Without links to notebooks, which lead nowhere from a page of its own."""
    return re.sub(r'<a href="\w+\.ipynb">(.*?)</a>', r"\1", page)


def _answers(book: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """(what is asked, pieces of the expected answer) of each exercise."""
    found: list[tuple[str, list[str]]] = []
    for cell in book.values():
        if cell.cell_type == "markdown" and cell.source.startswith("### Exercise"):
            found.append((_plain(typeset(cell.source)), []))
        elif found and "solution" in cell.metadata.get("tags", []):
            found[-1][1].extend(_solved(cell))
    return found


def _solved(cell: Any) -> Sequence[str]:
    """What a cell of a solution says, or does and prints."""
    if cell.cell_type == "markdown":
        return [_plain(typeset(cell.source))]
    printed = "".join(o.text for o in cell.get("outputs", ()) if o.get("name") == "stdout")
    return [from_template("pack_code.html", code=text) for text in (cell.source, printed) if text]
