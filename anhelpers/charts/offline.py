"""Altair charts without a network: in JupyterLab, in untrusted notebooks, in exported HTML, and as files."""

from __future__ import annotations

import base64
import html
from os import PathLike
from pathlib import Path

import altair as alt
import vl_convert

from .. import checks

__all__ = ["picture", "save", "to_svg", "use_offline"]

VEGALITE_VERSION = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
VEGALITE_MIME = "application/vnd.vegalite.v5+json"  # the newest that JupyterLab 4 draws by itself
FILE_OPTIONS = {".html": {"inline": True}, ".svg": {}, ".png": {"scale_factor": 2}, ".pdf": {}}


def use_offline(tooltips: bool = False) -> None:
    """From now on, show every Altair chart of this session without loading anything from the network.

    Parameters
    ----------
    tooltips : False shows a picture with alt text (`description` of the chart, else its title), the same in JupyterLab,
        in an untrusted notebook and in exported HTML. True shows JupyterLab's own Vega chart, with tooltips, and
        leaves a picture for exported HTML, there without alt text.
    """
    name = "anhelpers-tooltips" if tooltips else "anhelpers"
    alt.renderers.register(name, _vega_bundle if tooltips else _picture_bundle)
    alt.renderers.enable(name)


def to_svg(chart: alt.TopLevelMixin | dict) -> str:
    """The chart as one SVG text, drawn in this process."""
    spec = chart if isinstance(chart, dict) else chart.to_dict()
    return vl_convert.vegalite_to_svg(spec, vl_version=VEGALITE_VERSION)


def picture(chart: alt.TopLevelMixin | dict, svg: str | None = None) -> str:
    """An HTML ``<img>`` with the chart inside it and with alt text; `svg` spares drawing it again.

    >>> picture({"description": "one <point>"}, svg="<svg/>")
    '<img alt="one &lt;point&gt;" style="max-width:100%;background:#fff" src="data:image/svg+xml;base64,PHN2Zy8+">'
    """
    spec = chart if isinstance(chart, dict) else chart.to_dict()
    data = base64.b64encode((to_svg(spec) if svg is None else svg).encode()).decode()
    style = "max-width:100%;background:#fff"
    return f'<img alt="{html.escape(alt_text(spec))}" style="{style}" src="data:image/svg+xml;base64,{data}">'


def alt_text(spec: dict) -> str:
    """The description of a chart, else its title, else the word "chart".

    >>> alt_text({"title": {"text": ["two", "lines"]}})
    'two lines'
    """
    title = spec.get("title", "")
    title = title.get("text", "") if isinstance(title, dict) else title
    return spec.get("description") or (" ".join(title) if isinstance(title, list) else title) or "chart"


def save(chart: alt.TopLevelMixin, path: str | PathLike) -> Path:
    """Write the chart as .html (self-contained, with tooltips), .svg, .png (double size) or .pdf; returns the path."""
    path = Path(path)
    suffix = checks.one_of(path.suffix.lower(), FILE_OPTIONS, "chart file type")
    path.parent.mkdir(parents=True, exist_ok=True)
    chart.save(str(path), **FILE_OPTIONS[suffix])
    return path


def _picture_bundle(spec: dict, **_) -> dict:
    return {"text/html": picture(spec), "text/plain": f"<chart: {alt_text(spec)}>"}


def _vega_bundle(spec: dict, **_) -> dict:
    return {VEGALITE_MIME: spec, "image/svg+xml": to_svg(spec), "text/plain": f"<chart: {alt_text(spec)}>"}
