"""Pages of executed notebooks: nothing from the network, formulas typeset, set-up and deeper sections folded."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from .charts.dark import with_dark_charts
from .errors import need
from .notebooks import notebook_paths
from .provenance import in_page, made_by

__all__ = ["export_html", "linked", "typeset"]

TEMPLATES = Path(__file__).with_name("templates")

PRIORITY = [
    "text/html",
    "image/svg+xml",
    "image/png",
    "image/jpeg",
    "text/markdown",
    "text/plain",
]
"""Of an output in several formats, the first that it has is shown."""

SETUP = {"setup", "parameters", "injected-parameters"}
TASKS = {"definition", "exercise", "solution", "check", "hide-input"}
HIDDEN = "hide-input"
"""The tag, as Jupyter Book has it, of code that a page does not show."""
FOLD = '<details class="anx-fold"><summary>{}</summary>'
DEEPER = re.compile(r"## Deeper: .+")
ASKS = re.compile(r"^an\.widgets\.guess(ed)?\(", re.M)
TAB_STOP = re.compile(
    r'(?<=class="jp-Cell-inputWrapper") tabindex="0"|(?<=data-mime-type="text/plain") tabindex="0"'
    r'|(?<=data-mime-type="text/html") tabindex="0"(?=>\s*<div class="anx-host")'
)
"""What nbconvert makes the tabulator stop at, although nothing can be done there."""
EXERCISE = re.compile(r"^### (Exercise \d+)", re.M)
CLOSED = re.compile(
    r'<math[^>]* display="inline"[^>]*>(?:(?!</math>).)*</math>[.,;:!?)\u2019\u201d]+', re.S
)
"""A formula in a line with the signs behind it, before which a browser would break the line."""
VIEW = "application/vnd.jupyter.widget-view+json"
ALIVE = "<p><small>A control that needs a kernel stands here in Jupyter.</small></p>"
AS_PAGE = {
    True: "Think first, then open the solution below the exercise. To have an answer of your own checked, "
    "open the notebook `{name}` in Jupyter.",
    False: "Think, and write your answer down. To have it checked, open the notebook `{name}` in Jupyter.",
}
"""What a reader of a page can do with its exercises: where there are solutions, and where there are none."""


def export_html(notebook: Path) -> str:
    """One HTML page that needs no network: rich outputs as text/html first, no link to outside scripts.

    What no reader begins with (parameters, imports, cells tagged `setup`) is one line that opens, and so is each
    section "## Deeper: …" and each solution. A cell tagged `hide-input` shows its code on paper only. Nobody puts an
    answer into a page: where solutions stand, checks are left out, as what they say is about these. Links to notebooks
    of the collection lead to their pages; charts are dark on a dark system.

    Parameters
    ----------
    notebook : an executed one.
    """
    nbconvert = need("nbconvert", "exporting notebooks")
    config = need("traitlets.config", "exporting notebooks").Config()
    config.HTMLExporter.update({"jupyter_widgets_base_url": "", "widget_renderer_url": ""})
    config.NbConvertBase.display_data_priority = PRIORITY
    exporter = nbconvert.HTMLExporter(
        config=config,
        embed_images=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        raw_template=_file("page.html"),
    )
    exporter.register_filter("markdown2html", typeset)
    book = need("nbformat", "exporting notebooks").read(notebook, 4)
    _for_readers(book, notebook.name)
    _without_foreign_widgets(book)
    _fold_setup(book.cells)
    _fold_solutions(book.cells)
    _fold_deeper(book.cells)
    _hide_asking(book.cells)
    resources = {
        "metadata": {"name": notebook.stem},
        "anx_style": _file("page.css"),
        "anx_script": _file("page.js"),
    }
    page, _ = exporter.from_notebook_node(book, resources)
    page = TAB_STOP.sub("", page)
    page = re.sub(r"<p>(?=About \d+ minutes)", '<p class="anx-about">', page, count=1)
    return in_page(with_dark_charts(linked(page)), made_by(installed=True))


def linked(page: str) -> str:
    """The page, whose links to notebooks of the collection lead to their pages beside it.

    Parameters
    ----------
    page : HTML.

    >>> linked('<a href="00_start_here.ipynb#guess">') + linked('<a href="mine.ipynb">')
    '<a href="00_start_here.html#guess"><a href="mine.ipynb">'
    """
    known = "|".join(path.stem for path in notebook_paths())
    return re.sub(rf'href="({known})\.ipynb(?=["#])', r'href="\1.html', page)


@cache
def _file(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _fold(cells: list[Any], opens: str) -> None:
    """Put these neighbours into one element that opens."""
    cells[0].metadata["anx_opens"] = opens + cells[0].metadata.get("anx_opens", "")
    cells[-1].metadata["anx_closes"] = cells[-1].metadata.get("anx_closes", "") + "</details>"


def _tags(cell: Any) -> set[str]:
    return {*cell.metadata.get("tags", [])}


def _for_readers(book: Any, name: str) -> None:
    """Exercises say what somebody without a kernel can do; a check of the solution beside it is left out."""
    solved = any("solution" in _tags(cell) for cell in book.cells)
    if solved:
        book.cells = [cell for cell in book.cells if "check" not in _tags(cell)]
    for cell in book.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## Exercises"):
            cell.source = f"## Exercises\n\n{AS_PAGE[solved].format(name=name)}"
        elif cell.cell_type == "markdown" and cell.source.startswith("## Deeper: more exercises"):
            parts = cell.source.split("\n\n")
            cell.source = "\n\n".join(part for part in parts if "three dots" not in part)


def _without_foreign_widgets(book: Any) -> None:
    """A widget that has no HTML of its own is a sentence: it would need a kernel, and a script from the network."""
    book.metadata.pop("widgets", None)
    outputs = (one for cell in book.cells for one in cell.get("outputs", []))
    for data in (one.get("data", {}) for one in outputs):
        if data.pop(VIEW, None) and "text/html" not in data:
            data["text/html"] = ALIVE


def _fold_solutions(cells: list[Any]) -> None:
    """The cells of a solution become one line that opens, named after its exercise."""
    for start, end in _runs(cells, lambda cell: "solution" in _tags(cell)):
        heads = (EXERCISE.search(cell.source) for cell in reversed(cells[:start]))
        found = next((head[1].lower() for head in heads if head), "")
        named = f"Solution of {found}" if found else "Solution"
        _fold(cells[start:end], f'<details class="anx-solution"><summary>{named}</summary>')


def _is_setup(cell: Any) -> bool:
    """Whether no reader begins with this cell: it is tagged so, or has imports and shows nothing."""
    tags = _tags(cell)
    if tags & SETUP:
        return not _shown(cell)
    lines = [line for line in cell.source.splitlines() if line.strip()]
    imports = [line for line in lines if re.match(r"(import|from) \w|    \w+,$|\)$", line)]
    ours = re.search(r"^import anhelpers\b", cell.source, re.M)
    plain = cell.cell_type == "code" and not cell.outputs and not tags & TASKS
    return bool(lines and plain and (ours or imports == lines))


def _fold_setup(cells: list[Any]) -> None:
    """Neighbours that are set-up become one line that opens, and so does hidden code that shows nothing."""
    for start, end in _runs(cells, _is_setup):
        _fold(cells[start:end], FOLD.format("Set-up"))
    for start, end in _runs(cells, lambda cell: HIDDEN in _tags(cell) and not _shown(cell)):
        _fold(cells[start:end], FOLD.format("The same in Python"))


def _hide_asking(cells: list[Any]) -> None:
    """Of a cell that only asks for a guess, or only shows what the set-up made, the page shows no code; paper does.

    So it is with a cell tagged `hide-input`, of which neither shows what it wrote to stderr.
    """
    for cell in (cell for cell in cells if cell.cell_type == "code"):
        if HIDDEN in _tags(cell):
            cell.outputs = _shown(cell)
        alone = re.fullmatch(r"\w+|display\(.*\)", cell.source)
        asks = ASKS.search(cell.source) and cell.source.count("\n") < 4
        if alone or asks:
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "asking"]


def _shown(cell: Any) -> list[Any]:
    """The outputs of a cell but for what it wrote to stderr."""
    return [one for one in cell.get("outputs", []) if one.get("name") != "stderr"]


def _runs(cells: list[Any], holds: Callable[[Any], bool]) -> list[tuple[int, int]]:
    """Where runs of cells begin and end, of all of which this holds."""
    inside = [False, *map(holds, cells), False]
    edges = [i for i in range(len(inside) - 1) if inside[i] != inside[i + 1]]
    return [*zip(edges[::2], edges[1::2], strict=True)]


def _fold_deeper(cells: list[Any]) -> None:
    """Each section whose first cell begins with "## Deeper: …" is one line, its heading, that opens."""
    heads = [i for i, c in enumerate(cells) if c.cell_type == "markdown" and c.source[:3] == "## "]
    for start, end in pairwise([*heads, len(cells)]):
        head = cells[start]
        if not (found := DEEPER.match(head.source)):
            continue
        head.source = head.source[found.end() :].strip()
        head.metadata["anx_bare"] = not head.source
        _fold(
            cells[start:end],
            f'<details class="anx-deeper"><summary>{typeset(found[0]).strip()}</summary>',
        )


def typeset(text: str) -> str:
    r"""Markdown as HTML, its formulas ($…$ and $$…$$ in LaTeX) as MathML, which browsers draw without a script.

    Parameters
    ----------
    text : Markdown as Jupyter has it.

    >>> typeset(r"a half, $\frac{1}{2}$").count("<mfrac>")
    1
    """
    markdown: Any = need("nbconvert.filters.markdown_mistune", "exporting notebooks")
    mathml = need("latex2mathml.converter", "formulas in exported pages").convert

    class Renderer(markdown.IPythonRenderer):
        def inline_math(self, body: str) -> str:
            return mathml(body)

        def block_math(self, body: str) -> str:
            return mathml(body, display="block")

        def heading(self, text: str, level: int, **more: Any) -> str:
            # its parser of XML puts a prefix before the elements of a formula, and a link behind each heading, which is
            # one more stop of the tabulator
            made = re.sub(r"(</?)ns\d+:", r"\1", super().heading(text, level, **more))
            return re.sub(r'<a class="anchor-link".*?</a>', "", made)

        def table(self, text: str) -> str:
            return f'<div class="anx-wide"><table>\n{text}</table></div>\n'

    made = markdown.MarkdownWithMath(renderer=Renderer(escape=False)).render(text)
    return CLOSED.sub(r'<span class="anx-whole">\g<0></span>', made)
