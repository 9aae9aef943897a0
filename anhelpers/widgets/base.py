"""Base of the widgets: one script for a live notebook, an exported page and a headless run.

A widget is a class with `data`, traits and `static_html`, a .js file with `render({ model, el })` and a
.css file. `common.js` and `common.css` come before them; there is no build step.
"""

import html
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Self

import anywidget
import traitlets
from comm import DummyComm
from IPython import get_ipython
from ipywidgets import Layout

from .. import checks
from ..charts.offline import picture
from ..data.io import make_folder, write_atomic
from ..provenance import from_template, in_page

_HERE = Path(__file__).parent
_COMMON = ("common.js", "common.css")
_EXPORT = "export default { render };"


class Widget(anywidget.AnyWidget):
    """A widget that shows itself with a kernel, without one, without scripts, and as a page.

    A subclass names its `files`, whose scripts and style sheets follow the common ones. It sets `noun`
    (the title of its page), synced traits for what a user can change, and `static_html`. `data` holds
    the content as JSON values with unescaped texts.
    """

    noun = "widget"
    data = traitlets.Dict().tag(sync=True)
    chart: Any = None

    def __init_subclass__(cls, files: str = "", **more: Any) -> None:
        # traitlets makes a subclass of each widget with more traits
        if files:
            names = [*_COMMON, *files.split()]
            texts = {name: (_HERE / name).read_text(encoding="utf-8") for name in names}
            parts = {end: [texts[n] for n in names if n.endswith(end)] for end in (".js", ".css")}
            cls._esm = "\n".join([*parts[".js"], _EXPORT, ""])
            cls._css = "\n".join(parts[".css"])
        super().__init_subclass__(**more)

    @classmethod
    def of(cls, chart: Any = None, **traits: Any) -> Self:
        """Make a widget with these traits and its chart; in a static notebook without a kernel."""
        quiet = {"comm": DummyComm(), "layout": Layout(comm=DummyComm())} if _is_static() else {}
        made = cls(**traits, **quiet)
        made.chart = chart
        return made

    def blank(self) -> dict[str, Any]:
        """Trait values for an exported page, which contains no reader's input."""
        return {}

    def static_html(self) -> str:
        """HTML for readers without scripts: elements that JupyterLab keeps in an untrusted notebook."""
        return ""

    def fragment(self) -> str:
        """HTML for a notebook's output: the static view, which a script makes interactive."""
        known = anywidget.AnyWidget.class_traits()
        names = [n for n in self.class_traits(sync=True) if n not in known and n[0] != "_"]
        script = (
            "(() => {\nconst host = document.currentScript.parentElement;\n"
            + str(self._esm).replace(_EXPORT, "")
            + "const box = make('div'), css = make('style');\n"
            + f"css.textContent = {_script_json(str(self._css))};\n"
            + f"render({{ model: fakeModel({_script_json(self.get_state(names) | self.blank())}), el: box }});\n"
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
        title = self.data.get("title") or self.noun
        return in_page(from_template("widget.html", title=title, fragment=self.fragment()))

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


class _NonNegative(traitlets.Float):
    def validate(self, obj: Any, value: Any) -> float:
        return checks.non_negative(str(self.name), value)


def _unbounded(default: float) -> Any:
    """Synced number ≥ 0 that may be infinite, "inf" in JSON."""
    trait = _NonNegative(default)
    to_json = lambda v, _: "inf" if math.isinf(v) else v  # noqa: E731
    return trait.tag(sync=True, to_json=to_json, from_json=lambda v, _: float(v))


def _static_page(
    seen: Mapping[str, str], *parts: str, title: str = "", words: Iterable[tuple[str, str]] = ()
) -> str:
    """HTML of a title, a picture as from `drawn`, sentences and more HTML, without scripts and styles.

    Parameters
    ----------
    words : iterable of (str, str)
        For each paragraph what is printed in bold, and what follows.
    """
    image = picture({"description": seen["alt"]}, svg=seen["svg"])
    head = f"<p><b>{html.escape(title)}</b></p>" if title else ""
    said = (f"<p><b>{html.escape(bold)}</b> {html.escape(text)}</p>" for bold, text in words)
    return f"{head}<p>{image}</p>{''.join((*said, *parts))}"


def _plain_table(
    caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], align: str = "left"
) -> str:
    """An HTML table whose first column has names, with inline styles only.

    Parameters
    ----------
    align : str
        Alignment of all columns except the first.
    """
    style = '{} style="text-align:{};vertical-align:top;padding:.2em .8em .2em 0"'
    first, other = style.format("th", "left"), style.format("td", align)

    def cell(tag: str, text: str, more: str = ' dir="auto"') -> str:
        return f"<{tag}{more}>{html.escape(text)}</{tag[:2]}>"

    def line(name: str, *texts: str) -> str:
        cells = (cell(other, text, "").replace(" %", "\u00a0%") for text in texts)
        return f"<tr>{cell(first, name)}{''.join(cells)}</tr>"

    aligns = ["left", *[align] * (len(heads) - 1)]
    top = "".join(cell(style.format("th", a), t) for a, t in zip(aligns, heads, strict=True))
    head = f"<caption>{html.escape(caption)}</caption><thead><tr>{top}</tr></thead>"
    return f"<table>{head}<tbody>{''.join(line(*row) for row in rows)}</tbody></table>"


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
