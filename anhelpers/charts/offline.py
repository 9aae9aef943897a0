"""Altair charts without a network: in notebooks, in exported HTML, and as files."""

import base64
import html
import json
import re
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import altair as alt

from .. import checks
from ..data.fetch import cache_folder
from ..data.io import make_folder, write_atomic
from ..errors import DataError, need
from ..provenance import in_page, made_by

VEGALITE = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')  # of an SVG
# in JSON, after no or an even number of backslashes
_NOT_XML = re.compile(r"(?<!\\)((?:\\\\)*)\\(?:[bf]|u(?:00[01].|fff[ef]))")
_PRINT, _SUFFIXES = (".svg", ".png", ".pdf"), (".svg", ".png", ".pdf", ".html", ".json")
_DPI = 300
_FONTS = Path(__file__).parents[1] / "templates/fonts"
_WORDS = {"labelFontSize": 14, "titleFontSize": 14, "titleFontWeight": 400}
# Controls of a chart, as those of widgets/common.css; a page of this collection sets the colours.
_CONTROLS = (
    "<style>.vega-bindings { font: 14px/1.4 Inter, system-ui, sans-serif; } .vega-bind :is(select, input) {"
    "font: inherit; min-height: 32px; padding: 3px 10px; margin: 8px; border: 1px solid #85868a; border-radius: 6px;"
    "color: var(--anx-ink, #16181d); background: var(--anx-paper, #fff); }</style>"
)
_INK, _SOFT = {"labelColor": "#45484f", "titleColor": "#16181d"}, "#85868a"
# The look of all charts, in the fonts and sizes of templates/page.css; a title of y is above its axis.
_THEME: dict[str, dict[str, Any]] = {
    "axis": _WORDS | _INK | {"gridColor": "#e4e2dc", "domainColor": _SOFT, "tickColor": _SOFT},
    "axisY": {
        "titleAngle": 0,
        "titleAlign": "left",
        "titleBaseline": "bottom",
        "titleX": -34,
        "titleY": -10,
    },
    "legend": _WORDS | _INK,
    "header": _WORDS | _INK,
    "title": {
        "fontSize": 19,
        "fontWeight": 600,
        "subtitleFontSize": 14,
        "subtitleColor": "#45484f",
    },
    "view": {"stroke": None},
}


def use_offline() -> None:
    """Show every Altair chart of this session without loading anything from the network.

    A chart is a picture with alt text, the same in JupyterLab, in an untrusted notebook and in
    exported HTML; one with a slider or a list is interactive.
    """

    def shown(spec: dict, **_: Any) -> dict:
        words = {"text/plain": f"<chart: {_alt_text(spec)}>"}
        return {"text/html": (interactive if _bound(spec) else picture)(spec)} | words

    alt.renderers.register("anhelpers", shown)
    alt.renderers.enable("anhelpers")


def _spec_of(chart: Any, *, validate: bool = True) -> dict:
    """Vega-Lite specification of a chart, which may be one already, with the theme."""
    spec = chart if isinstance(chart, dict) else chart.to_dict(validate=validate)
    own = spec.get("config", {})
    theme = {name: look | own.get(name, {}) for name, look in _THEME.items()}
    return spec | {"config": {"font": "Inter, Arial, sans-serif"} | own | theme}


def drawn(chart: Any) -> dict[str, Any]:
    """svg, alt (its description), and of layers on one plane the box: ends of x and y, width, height."""
    spec = _spec_of(chart, validate=False)  # half of the time
    axes = [one["encoding"].get(c, {}) for c in "xy" for one in spec.get("layer", ())]
    ends = [axis["scale"]["domain"] for axis in axes if "domain" in axis.get("scale", {})]
    box = [*ends[0], *ends[-1], spec.get("width"), spec.get("height")] if ends else []
    return {"svg": _to_svg(spec), "alt": _alt_text(spec), "box": box}


@cache
def _converter() -> Any:
    """The program that draws charts, which knows the fonts of the pages."""
    draw = need("vl_convert", "drawing charts")
    draw.register_font_directory(str(_FONTS))
    return draw


def _to_svg(chart: Any) -> str:
    """Chart as SVG."""
    draw = _converter()
    # characters that XML forbids would end the process
    spec = json.loads(_NOT_XML.sub(r"\1\\ufffd", json.dumps(_spec_of(chart))))
    return draw.vegalite_to_svg(spec, vl_version=VEGALITE)


def picture(chart: Any, svg: str | None = None) -> str:
    """HTML ``<img>`` of a chart with alt text; `svg` spares drawing it.

    >>> picture({"description": "one <point>"}, svg="<svg/>")
    '<img alt="one &lt;point&gt;" style="max-width:100%;background:#fff" src="data:image/svg+xml;base64,PHN2Zy8+">'
    """
    spec = _spec_of(chart)
    data = base64.b64encode((_to_svg(spec) if svg is None else svg).encode()).decode()
    style = "max-width:100%;background:#fff"
    return f'<img alt="{html.escape(_alt_text(spec))}" style="{style}" src="data:image/svg+xml;base64,{data}">'


def interactive(chart: Any) -> str:
    """HTML of a chart with tooltips, sliders and all code (0.9 MB); a picture without scripts."""
    spec = _spec_of(chart) | {"usermeta": {"made_by": made_by()}}
    # no text can end the script
    code = json.dumps(spec).replace("<", "\\u003c")
    key = f"vega-{sha256(code.encode()).hexdigest()[:12]}"
    words, role = html.escape(_alt_text(spec)), "group" if _bound(spec) else "img"
    return (
        f"<noscript>{picture(spec)}</noscript>"
        f'<figure role="{role}" aria-label="{words}" style="margin:0">{_CONTROLS}<div id="{key}"></div></figure>'
        f"<script>window.vegaEmbed || (() => {{{_library()}}})();</script>"
        f'<script>vegaEmbed("#{key}", {code}, {{"renderer": "svg", "actions": false}}).catch(console.error);</script>'
    )


def _bound(spec: dict) -> bool:
    """Whether a chart has a slider or a list."""
    return any("bind" in param for param in spec.get("params", ()))


@cache
def _library() -> str:
    """Code of Vega; bundling takes seconds, so the cache folder keeps it."""
    name = f"vega-lite-{VEGALITE}-{version('vl-convert-python')}.js"
    with suppress(DataError, OSError):
        return (cache_folder() / name).read_text("utf-8")
    code = need("vl_convert", "drawing charts").javascript_bundle(vl_version=VEGALITE)
    with suppress(DataError, OSError):
        write_atomic(make_folder(cache_folder()) / name, code)
    return code


def _alt_text(spec: dict) -> str:
    """Description of a chart, else its title, else "chart".

    >>> _alt_text({"title": {"text": ["two", "lines"]}})
    'two lines'
    """
    title = spec.get("title", "")
    title = title.get("text", "") if isinstance(title, dict) else title
    title = " ".join(title) if isinstance(title, list) else title
    return spec.get("description") or title or "chart"


def save(chart: Any, path: str | PathLike, inches: float | None = None) -> Path:
    """Write a chart as .html (self-contained, with tooltips), .svg, .png, .pdf or .json; return the path.

    Parameters
    ----------
    inches : width in print of an .svg, .png (at 300 dpi) or .pdf, 3.3 for a column of an ACL paper
        A text of 14 px in a chart of w px has 14 · 72 · inches / w pt: make small charts for narrow
        columns (``size=frame.COLUMN``).
    """
    path = Path(path)
    known = _SUFFIXES if inches is None else _PRINT
    suffix = checks.one_of(path.suffix.lower(), known, "chart file type")
    make_folder(path.parent)
    made = made_by()
    if suffix == ".json":
        return write_atomic(path, json.dumps(_spec_of(chart) | {"usermeta": {"made_by": made}}))
    if suffix == ".html":
        head = f'<meta charset="utf-8"><title>{html.escape(_alt_text(_spec_of(chart)))}</title>'
        page = f'<!doctype html><html lang="en"><head>{head}</head><body>{interactive(chart)}</body></html>\n'
        return write_atomic(path, in_page(page))
    draw, svg = _converter(), _to_svg(chart)
    width, height = (float(value) for value in _SIZE.findall(svg)[0])
    if suffix == ".png":
        scale = {"scale": 2} if inches is None else {"scale": inches * 72 / width, "ppi": _DPI}
        return write_atomic(path, draw.svg_to_png(svg, **scale))
    if inches is not None:
        wide, unit = (inches * 72, "") if suffix == ".pdf" else (inches, "in")
        size = f'width="{wide:.5g}{unit}" height="{height / width * wide:.5g}{unit}"'
        svg = _SIZE.sub(size, svg, count=1)
    if suffix == ".pdf":
        return write_atomic(path, draw.svg_to_pdf(svg))
    start = svg.index(">", svg.index("<svg")) + 1
    return write_atomic(path, f"{svg[:start]}<metadata>{html.escape(made)}</metadata>{svg[start:]}")
