"""What every widget here shares: one script for a live notebook, an exported page and a headless run.

A widget is a class with `data`, its traits and a `static_html`, one .js file with `render({ model, el })`, and a .css
file where it needs one. `common.js` and `common.css` stand in front of them; there is no build.
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

from ..charts.drawing import InScript
from ..charts.offline import alt_text, picture, spec_of, to_svg
from ..data.writing import make_folder, write_text
from ..provenance import in_page

__all__ = [
    "Markup",
    "Shown",
    "Widget",
    "detached",
    "drawn",
    "html_lang",
    "is_static",
    "module",
    "plain_table",
    "static_page",
    "styles",
    "without_kernel",
]

HERE = Path(__file__).parent


def _joined(first: str, *files: str) -> str:
    return "\n".join((HERE / name).read_text(encoding="utf-8") for name in (first, *files))


def module(*files: str) -> str:
    """The JavaScript module of a widget: the common file, its own files, and the export of `render`."""
    return _joined("common.js", *files) + "\nexport default { render };\n"


def styles(*files: str) -> str:
    """The style sheet of a widget: the common one and its own."""
    return _joined("common.css", *files)


class Shown:
    """What shows itself as HTML, and with a kernel as a widget too: stands before a class of ipywidgets.

    A subclass sets `noun` (the title of its page, where its `data` has none) and `fragment()`.
    """

    noun = "widget"

    def fragment(self) -> str:
        """HTML for a notebook's output."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        shown = {"text/plain": repr(self), "text/html": self.fragment()}
        if is_static():
            return shown
        made = super()._repr_mimebundle_(**kwargs) or {}  # type: ignore[misc]
        bundle, metadata = made if isinstance(made, tuple) else (made, {})
        return bundle | shown, metadata

    def to_html(self) -> str:
        """A page of its own that needs neither kernel nor network."""
        head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        title = html.escape(getattr(self, "data", {}).get("title") or self.noun)
        body = f'<body class="anx-page">{self.fragment()}</body>'
        return in_page(
            f'<!doctype html><html lang="en"><head>{head}<title>{title}</title></head>{body}</html>\n'
        )

    def save(self, path: str | PathLike) -> Path:
        """Write `to_html()` to a file, to hand out; returns the path."""
        make_folder(Path(path).parent)
        return write_text(path, self.to_html())


class Widget(Shown, anywidget.AnyWidget):
    """A widget that shows itself with a kernel, without one, without scripts, and as a page of its own.

    A subclass sets `_esm = module(...)`, `_css = styles(...)`, `noun` (the title of its page), its synced traits and
    `static_html()`: what is left where no script may run, of elements that JupyterLab keeps in a notebook that it does
    not trust. What it shows goes into `data`, as JSON values with all texts unescaped; what the user can change
    goes into other traits.
    """

    data = traitlets.Dict().tag(sync=True)
    chart: Any = None

    @classmethod
    def of(cls, chart: Any, **traits: Any) -> Self:
        """A widget with these traits and its chart, which leaves no state in a static notebook."""
        made = cls(**traits, **without_kernel())
        made.chart = chart
        return made

    def fragment(self) -> str:
        """HTML for a notebook's output: a picture and a table, which a script, where one may run, makes interactive."""
        known = anywidget.AnyWidget.class_traits()
        own = [
            name
            for name in type(self).class_traits(sync=True)
            if name not in known and not name.startswith("_")
        ]
        state = _script_json(self.get_state(own))
        script = (
            "(() => {\nconst host = document.currentScript.parentElement;\n"
            + str(self._esm).replace("export default { render };", "")
            + "const box = make('div'), css = make('style');\n"
            + f"css.textContent = {_script_json(str(self._css))};\n"
            + f"render({{ model: fakeModel({state}), el: box }});\nhost.replaceChildren(css, "
            f"box);\n}})();"
        )
        return f'<div class="anx-host">{self.static_html()}<script>{script}</script></div>'


def is_static() -> bool:
    """Whether the notebook will be read without a kernel: a program such as papermill or nbconvert runs it.

    Programs tell the kernel with each cell that nobody can answer `input()`, front ends that somebody can. The
    environment overrules it: ANX_MODE=static, or ANX_MODE=live for a program that shows widgets of its kernel.
    """
    mode = os.environ.get("ANX_MODE")
    return mode == "static" if mode in ("static", "live") else not _answerable()


def _answerable() -> bool:
    """Whether the running cell came from a front end that can answer `input()`; True outside a kernel of Jupyter."""
    parent = getattr(getattr(get_ipython(), "kernel", None), "get_parent", None)
    request = parent("shell") if parent else {}
    return bool(request.get("content", {}).get("allow_stdin", True))


def without_kernel() -> dict:
    """Arguments for a widget that leave no widget state in a static notebook, for which an export loads a script."""
    return detached() if is_static() else {}


def detached() -> dict:
    """Arguments for a widget that no kernel ever knows."""
    return {"comm": comm.DummyComm(), "layout": ipywidgets.Layout(comm=comm.DummyComm())}


class Markup(str):
    """HTML that is put into a page as it stands, where plain texts are escaped."""


def _escaped(text: str) -> str:
    return text if isinstance(text, Markup) else html.escape(text)


def drawn(chart: Any) -> dict[str, str]:
    """A chart as the page shows it: svg, and alt, what it says to those who do not see it."""
    spec = spec_of(
        chart, validate=False
    )  # which is half of the time; `charts` has checked such a chart
    return {"svg": to_svg(spec), "alt": alt_text(spec)}


def static_page(
    seen: Any, *parts: str, title: str = "", words: Iterable[tuple[str, str]] = ()
) -> str:
    """What is left of a widget where no script may run: its title, its picture, sentences, and more HTML.

    Parameters
    ----------
    seen : a chart, or what `drawn` gives of it. words : (what is printed in bold, what follows) of each paragraph.
    parts : HTML after them.
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
    """A table whose first column has names, of elements that are kept where no script may run.

    Parameters
    ----------
    heads, rows : a head for each column; a text, or Markup, for each cell. align : of all columns but the first.
    caption : above the table. foot : more rows, below all others.
    """
    first, other = (
        f'style="text-align:{side};vertical-align:top;padding:.2em .8em .2em 0"'
        for side in ("left", align)
    )
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

    below = lines(foot)
    below = f"<tfoot>{below}</tfoot>" if below else ""
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{lines(rows)}</tbody>{below}</table>"
    )


def html_lang(code: str) -> str:
    """A language code as HTML's attribute lang has it; empty where the language is undetermined.

    >>> html_lang("pt_BR"), html_lang("und")
    ('pt-BR', '')
    """
    return "" if code == "und" else code.replace("_", "-")


def _script_json(value: Any) -> str:
    """JSON that cannot end the script element around it."""
    return json.dumps(
        value, cls=InScript, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
