"""Base of the widgets: one script for a live notebook, an exported page and a headless run.

A widget is a class with `data`, traits and `static_html`, a .js file with `render({ model, el })` and a
.css file. `common.js` and `common.css` come before them; there is no build step.
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Self

import anywidget
import comm
import ipywidgets
import traitlets
from IPython import get_ipython

from ..charts.offline import alt_text, picture, spec_of, to_svg
from ..data.io import make_folder, write_atomic
from ..provenance import in_page

_HERE = Path(__file__).parent


def _joined(*files: str) -> str:
    return "\n".join((_HERE / name).read_text(encoding="utf-8") for name in files)


def module(*files: str) -> str:
    """Join a widget's JavaScript files after the common one into a module that exports `render`."""
    return _joined("common.js", *files) + "\nexport default { render };\n"


def styles(*files: str) -> str:
    """Join a widget's style sheets after the common one."""
    return _joined("common.css", *files)


class Widget(anywidget.AnyWidget):
    """A widget that shows itself with a kernel, without one, without scripts, and as a page.

    A subclass sets `_esm`, `_css`, `noun` (the title of its page), synced traits for what a user can
    change, and `static_html`. `data` holds what it shows, as JSON values with unescaped texts.
    """

    noun = "widget"
    data = traitlets.Dict().tag(sync=True)
    chart: Any = None

    @classmethod
    def of(cls, chart: Any, **traits: Any) -> Self:
        """Make a widget with these traits and its chart."""
        made = cls(**traits, **without_kernel())
        made.chart = chart
        return made

    def static_html(self) -> str:
        """HTML for readers without scripts, of elements that JupyterLab keeps when untrusted."""
        return ""

    def fragment(self) -> str:
        """HTML for a notebook's output: the static view, which a script makes interactive."""
        known = anywidget.AnyWidget.class_traits()
        names = [n for n in self.class_traits(sync=True) if n not in known and n[0] != "_"]
        script = (
            "(() => {\nconst host = document.currentScript.parentElement;\n"
            + str(self._esm).replace("export default { render };", "")
            + "const box = make('div'), css = make('style');\n"
            + f"css.textContent = {_script_json(str(self._css))};\n"
            + f"render({{ model: fakeModel({_script_json(self.get_state(names))}), el: box }});\n"
            + "host.replaceChildren(css, box);\n})();"
        )
        return f'<div class="anx-host">{self.static_html()}<script>{script}</script></div>'

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        shown = {"text/plain": repr(self), "text/html": self.fragment()}
        if _is_static():
            return shown
        made: Any = super()._repr_mimebundle_(**kwargs) or {}
        bundle, metadata = made if isinstance(made, tuple) else (made, {})
        return bundle | shown, metadata

    def to_html(self) -> str:
        """A page that needs neither kernel nor network."""
        title = html.escape(self.data.get("title") or self.noun)
        head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        body = f'<body class="anx-page">{self.fragment()}</body>'
        page = f'<html lang="en"><head>{head}<title>{title}</title></head>{body}</html>'
        return in_page(f"<!doctype html>{page}\n")

    def save(self, path: str | PathLike) -> Path:
        """Write `to_html()` to a file; return its path."""
        make_folder(Path(path).parent)
        return write_atomic(path, self.to_html())


def _is_static() -> bool:
    """Whether the notebook will be read without a kernel: papermill or nbconvert executes it.

    ANX_MODE=static or ANX_MODE=live in the environment overrides the detection: such programs
    announce with each cell that no `input()` can be answered.
    """
    mode = os.environ.get("ANX_MODE")
    parent = getattr(getattr(get_ipython(), "kernel", None), "get_parent", None)
    request = parent("shell") if parent else {}
    answerable = bool(request.get("content", {}).get("allow_stdin", True))
    return mode == "static" if mode in ("static", "live") else not answerable


def without_kernel() -> dict:
    """Arguments for a widget that leave no widget state in a static notebook."""
    return detached() if _is_static() else {}


def detached() -> dict:
    """Arguments for a widget that is not connected to a kernel."""
    return {"comm": comm.DummyComm(), "layout": ipywidgets.Layout(comm=comm.DummyComm())}


class Markup(str):
    """HTML that is inserted unescaped."""


def _escaped(text: str) -> str:
    return text if isinstance(text, Markup) else html.escape(text)


def drawn(chart: Any) -> dict[str, str]:
    """Draw a chart: its svg, and alt, its description."""
    spec = spec_of(chart, validate=False)  # half of the time
    return {"svg": to_svg(spec), "alt": alt_text(spec)}


def static_page(
    seen: Any, *parts: str, title: str = "", words: Iterable[tuple[str, str]] = ()
) -> str:
    """HTML of a title, a picture, sentences and more HTML, without scripts and styles.

    Parameters
    ----------
    seen : chart or dict
        An Altair chart, or what `drawn` returns.
    words : iterable of (str, str)
        For each paragraph what is printed in bold, and what follows.
    """
    known = isinstance(seen, Mapping) and "svg" in seen
    image = picture({"description": seen["alt"]}, svg=seen["svg"]) if known else picture(seen)
    head = f"<p><b>{html.escape(title)}</b></p>" if title else ""
    said = (f"<p><b>{html.escape(bold)}</b> {html.escape(text)}</p>" for bold, text in words)
    return f"{head}<p>{image}</p>{''.join((*said, *parts))}"


def plain_table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    align: str = "left",
    *,
    foot: Iterable[Sequence[str]] = (),
) -> str:
    """An HTML table whose first column has names, with inline styles only.

    Parameters
    ----------
    heads, rows : sequences of str
        Texts, or Markup.
    align : str
        Of all columns but the first.
    foot : sequences of str
        More rows, below all others.
    """
    style = 'style="text-align:{};vertical-align:top;padding:.2em .8em .2em 0"'
    first, other = style.format("left"), style.format(align)
    head = "".join(
        f'<th {other if i else first} dir="auto">{_escaped(text)}</th>'
        for i, text in enumerate(heads)
    )

    def lines(rows: Iterable[Sequence[str]]) -> str:
        text = ""
        for name, *texts in rows:
            unbroken = (_escaped(text).replace(" %", "\u00a0%") for text in texts)
            cells = "".join(f"<td {other}>{text}</td>" for text in unbroken)
            text += f'<tr><th {first} dir="auto">{_escaped(name)}</th>{cells}</tr>'
        return text

    top = f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead>"
    return f"{top}<tbody>{lines(rows)}</tbody><tfoot>{lines(foot)}</tfoot></table>"


def html_lang(code: str) -> str:
    """A language code as HTML's attribute lang has it; empty where the language is undetermined.

    >>> html_lang("pt_BR"), html_lang("und")
    ('pt-BR', '')
    """
    return "" if code == "und" else code.replace("_", "-")


def _script_json(value: Any) -> str:
    """JSON that cannot end the script element around it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
