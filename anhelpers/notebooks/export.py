"""Export executed notebooks as offline pages: MathML formulas, folded set-up and deeper sections."""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

from ..data.sets import bundled
from ..errors import need
from ..provenance import in_page, made_by
from .catalog import _read, notebook_paths

_TEMPLATES = Path(__file__).parents[1] / "templates"
_FORMATS = ("html", "svg", "png", "jpeg", "markdown", "plain")
_PRIORITY = [f"{'image' if f in ('svg', 'png', 'jpeg') else 'text'}/{f}" for f in _FORMATS]
_SETUP = {"setup", "parameters", "injected-parameters"}
# Tab stops of nbconvert on elements without any action.
_TAB_STOP = re.compile(
    r'(?<=class="jp-Cell-inputWrapper") tabindex="0"|(?<=data-mime-type="text/plain") tabindex="0"'
    r'|(?<=data-mime-type="text/html") tabindex="0"(?=>\s*<div class="anx-host")'
)
# An inline formula with the punctuation after it: kept on one line.
_CLOSED = re.compile(
    r'<math[^>]* display="inline"[^>]*>(?:(?!</math>).)*</math>[.,;:!?)\u2019\u201d]+', re.S
)
_FORM = re.compile(r'<form class="anx-ask".*?</form>')
_OPENS = re.compile(r"^<details><summary>Solution</summary>|</details>$")
_PICTURE = re.compile(r'<img alt="([^"]*)"[^>]* src="data:image/svg\+xml;base64,([^"]+)">')
_PANDAS = re.compile(r"<style scoped>.*?</style>", re.S)  # of tables: page.css has their look
_WIDTH = re.compile(r'<svg[^>]* width="([\d.]+)')
_HALF = 700  # px; a narrower chart is as wide as the text
_VIEW = "application/vnd.jupyter.widget-view+json"
_EXERCISES = (
    "## Exercises\n\nWrite down your answer, or enter it where there is a field.{} "
    "To check all answers, open the notebook `{}` in Jupyter."
)


def _export_html(notebook: Path) -> str:
    """Return an executed notebook as one HTML page that needs no network.

    Set-up cells (tagged `setup` or `parameters`, or importing this package) are folded, as are sections
    "## Deeper: …" and solutions. Cells tagged `hide-input` show code only in print. If solutions were run, checks
    become fields for answers or are omitted. Links between notebooks of the collection lead to their pages.

    Parameters
    ----------
    notebook : path
        An executed notebook.
    """
    nbconvert = need("nbconvert", "exporting notebooks")
    config = need("traitlets.config", "exporting notebooks").Config()
    config.HTMLExporter.update({"jupyter_widgets_base_url": "", "widget_renderer_url": ""})
    config.NbConvertBase.display_data_priority = _PRIORITY
    files = ("fonts/fonts.css", "page.css", "page.js", "page.html")
    fonts, style, script, template = ((_TEMPLATES / name).read_text("utf-8") for name in files)
    how = dict.fromkeys(("embed_images", "exclude_input_prompt", "exclude_output_prompt"), True)
    exporter = nbconvert.HTMLExporter(config=config, raw_template=template, **how)
    exporter.register_filter("markdown2html", _typeset)
    book = _read(notebook)
    book.metadata.pop("widgets", None)
    if solved := any("solution" in _tags(c) and c.cell_type == "code" for c in book.cells):
        book.cells = [*_asked(book.cells)]
    for cell in book.cells:
        _prepare(cell, notebook.name, solved)
    _join(book.cells)
    _fold(book.cells, _is_setup, '<details class="anx-fold"><summary>Set-up</summary>')
    solution = '<details class="anx-solution"><summary>Solution</summary>'
    _fold(book.cells, lambda cell: "solution" in _tags(cell), solution)
    _fold_deeper(book.cells)
    first = "".join(cell.source for cell in book.cells[:1])
    found = [re.search(part, first, re.MULTILINE) for part in (r"^# (.+)$", r"^([^#\s].*)$")]
    book.metadata["title"], about = (
        re.sub("[*`]", "", m[1]) if m else notebook.stem for m in found
    )
    resources: dict = {"metadata": {"name": notebook.stem}, "anx_about": about}
    prose = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    resources |= {"anx_style": fonts + style, "anx_script": script, "anx_terms": _terms_in(prose)}
    page, _ = exporter.from_notebook_node(book, resources)
    page = re.sub(r"<p>(?=About \d+ minutes)", '<p class="anx-about">', page, count=1)
    page = _TAB_STOP.sub("", page)
    return in_page(linked(page), made_by(installed=True))


def _terms_in(prose: str) -> list[list[str]]:
    """[term, meaning] of each row of the glossary whose term, or its plural, is in a text."""
    lines = (bundled("teaching").parents[1] / "docs/glossary.md").read_text("utf-8").split("\n")
    rows = [line.strip("| ").split(" | ") for line in lines if " | " in line][1:]
    return [row for row in rows if re.search(rf"\b{row[0]}s?\b", prose, re.IGNORECASE)]


def linked(page: str) -> str:
    """Return the page with links to notebooks of the collection replaced by links to their pages.

    >>> linked('<a href="00_start_here.ipynb#guess">') + linked('<a href="mine.ipynb">')
    '<a href="00_start_here.html#guess"><a href="mine.ipynb">'
    """
    known = "|".join(path.stem for path in notebook_paths())
    return re.sub(rf'href="({known})\.ipynb(?=["#])', r'href="\1.html', page)


def _tags(cell: Any) -> set[str]:
    return {*cell.metadata.get("tags", [])}


def _shown(cell: Any) -> list[Any]:
    """The outputs of a cell except stderr."""
    return [one for one in cell.get("outputs", []) if one.get("name") != "stderr"]


def _is_setup(cell: Any) -> bool:
    ours = cell.cell_type == "code" and "import anhelpers" in cell.source
    return bool(_tags(cell) & _SETUP or ours) and not _shown(cell)


def _asked(cells: list[Any]) -> Iterator[Any]:
    """The cells; of checks only the fields of exercises of kind `check`, which have one right answer."""
    text = ""
    for cell in cells:
        text = "" if cell.source.startswith("### Exercise ") else text
        text += f"{cell.source}\n"
        if "check" not in _tags(cell):
            yield cell
        elif re.match("### .* check\n", text) and (form := _FORM.search(str(cell.outputs))):
            cell |= {"cell_type": "markdown", "source": form[0]}
            for name, said in re.findall(r"^(\w+) = \.\.\.  # (.+)", text, re.M):
                cell.source = cell.source.replace(
                    f"<code>{name}</code>", f"{escape(said)} <code>{name}</code>"
                )
            yield cell


def _prepare(cell: Any, name: str, solved: bool) -> None:
    """Adapt one cell to a reader without a kernel."""
    if cell.cell_type == "markdown" and cell.source.startswith("## Exercises"):
        cell.source = _EXERCISES.format(" Then open the solution." if solved else "", name)
    if "solution" in _tags(cell):
        cell.source = _OPENS.sub("", cell.source).strip()
    if "hide-input" in _tags(cell):
        cell.outputs = _shown(cell)
    for data in (one.get("data", {}) for one in cell.get("outputs", [])):
        if data.pop(_VIEW, None) and "text/html" not in data:
            data["text/html"] = "<p><small>This control works only in Jupyter.</small></p>"
        # a widget draws its chart itself
        if 'class="anx-host"' not in (shown := data.get("text/html", "")):
            shown = _PANDAS.sub("", _PICTURE.sub(_inlined, shown))
            data |= {"text/html": shown} if shown else {}


def _join(cells: list[Any]) -> None:
    """Tag a question and the widget or chart directly below it: the page shows them as one card."""
    shown = [cell for cell in cells if cell.cell_type == "markdown" or _shown(cell)]
    for upper, lower in pairwise(shown):
        both = [str(_shown(cell)) if "outputs" in cell else "" for cell in (upper, lower)]
        cards = all(re.search("anx-host|anx-figure|vegaEmbed", one) for one in both)
        if cards and any("Guess(" in one for one in both):
            upper.metadata.setdefault("tags", []).append("upper")
            lower.metadata.setdefault("tags", []).append("lower")


def _inlined(image: re.Match[str]) -> str:
    """A chart as an element of the page, with its fonts and colours and with ids of its own."""
    svg = re.sub(r' (?:role|aria-\w+)="[^"]*"', "", b64decode(image[2]).decode())
    svg = re.sub(r'(?<= id=")|(?<=url\(#)|(?<=href="#)', f"c{crc32(svg.encode()):x}-", svg)
    half = " anx-half" if float(_WIDTH.findall(svg)[0]) < _HALF else ""
    look = f'class="marks anx-figure{half}" role="img" aria-label="{image[1]}"'
    return svg.replace('class="marks"', look, 1)


def _wrap(cells: list[Any], opens: str) -> None:
    """Put neighbouring cells into one <details> element."""
    cells[0].metadata["anx_opens"] = opens + cells[0].metadata.get("anx_opens", "")
    cells[-1].metadata["anx_closes"] = cells[-1].metadata.get("anx_closes", "") + "</details>"


def _fold(cells: list[Any], holds: Callable[[Any], bool], opens: str) -> None:
    """Fold each run of neighbouring cells for which `holds` is true."""
    inside = [False, *map(holds, cells), False]
    edges = [i for i, (a, b) in enumerate(pairwise(inside)) if a != b]
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        _wrap(cells[start:end], opens)


def _fold_deeper(cells: list[Any]) -> None:
    """Fold each section with the heading "## Deeper: …" under its heading."""
    heads = [i for i, c in enumerate(cells) if c.cell_type == "markdown" and c.source[:3] == "## "]
    for start, end in pairwise([*heads, len(cells)]):
        head = cells[start]
        title, _, rest = head.source.partition("\n")
        if title.startswith("## Deeper: "):
            head.source = rest.strip()
            head.metadata["anx_bare"] = not head.source
            summary = f"<summary>{_typeset(title).strip()}</summary>"
            _wrap(cells[start:end], f'<details class="anx-deeper">{summary}')


def _typeset(text: str) -> str:
    r"""Markdown as HTML with formulas ($…$, $$…$$) as MathML, which needs no script.

    >>> _typeset(r"a half, $\frac{1}{2}$").count("<mfrac>")
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
            # its XML parser prefixes the elements of a formula, and appends a link to each heading
            made = re.sub(r"(</?)ns\d+:", r"\1", super().heading(text, level, **more))
            return re.sub(r'<a class="anchor-link".*?</a>', "", made)

        def table(self, text: str) -> str:
            return f'<div class="anx-wide"><table>\n{text}</table></div>\n'

    made = markdown.MarkdownWithMath(renderer=Renderer(escape=False)).render(text)
    return _CLOSED.sub(r'<span class="anx-whole">\g<0></span>', made)
