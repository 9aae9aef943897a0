"""Altair charts without a network: in JupyterLab, in untrusted notebooks, in exported HTML, and as files.

A file names what made it, in the place that its format has for it.
"""

from __future__ import annotations

import base64
import html
import json
import math
import re
import struct
import zlib
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
from altair.utils import data as altair_data
from altair.utils.schemapi import debug_mode

from .. import checks
from ..data.fetch import cache_folder
from ..data.writing import make_folder, write_bytes, write_text
from ..errors import DataError
from ..provenance import in_page, made_by
from .drawing import NotDrawn, drawn_aside

__all__ = [
    "interactive",
    "picture",
    "save",
    "spec_of",
    "stamped",
    "to_svg",
    "to_svg_later",
    "unchecked",
    "use_offline",
]

KEY = b"Software"  # the PNG standard's word for what made a picture
HEAD = 33  # bytes of a PNG's signature and of its first chunk, IHDR
START = re.compile(rb"startxref\s+(\d+)\s+%%EOF\s*$")
VEGALITE_VERSION = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
VALUES = "anhelpers"  # altair's name for what makes values of a table
VEGALITE_MIME = "application/vnd.vegalite.v5+json"  # the newest that JupyterLab 4 draws by itself
SVG_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')  # of the drawing: its first element's
DPI = 300  # what printers of proceedings ask of pictures made of dots


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


def _picture_bundle(spec: dict, **_: Any) -> dict:
    words = f"<chart: {alt_text(spec)}>"
    try:
        return {"text/html": picture(spec), "text/plain": words}
    except NotDrawn as error:
        return {"text/plain": f"{words}\n{error}"}


def _vega_bundle(spec: dict, **_: Any) -> dict:
    words = f"<chart: {alt_text(spec)}>"
    try:
        return {VEGALITE_MIME: spec, "image/svg+xml": to_svg(spec), "text/plain": words}
    except NotDrawn as error:
        return {VEGALITE_MIME: spec, "text/plain": f"{words}\n{error}"}


def unchecked() -> AbstractContextManager:
    """Inside, Altair does not check each part of a chart when it is made against Vega-Lite's schema."""
    return debug_mode(False)


def spec_of(chart: alt.TopLevelMixin | dict, *, validate: bool = True) -> dict:
    """A chart's specification; it may be one already.

    Parameters
    ----------
    validate : against Vega-Lite's schema, which takes half of the time.
    """
    if isinstance(chart, dict):
        return chart
    if alt.data_transformers.active != "default":  # the user has chosen another one
        return chart.to_dict(validate=validate)
    with alt.data_transformers.enable(VALUES, **alt.data_transformers.options):
        return chart.to_dict(validate=validate)


def _values(data: Any, **options: Any) -> Any:
    """What altair makes of a table, in a tenth of its time where all columns are numbers, truths or texts.

    Parameters
    ----------
    data : a table, or what else a chart may have. options : those of altair, such as `max_rows`.
    """
    table = altair_data.nw.to_native(data, pass_through=True)
    if not isinstance(table, pd.DataFrame):
        return alt.default_data_transformer(data, **options)
    columns = [_plain(table.iloc[:, i]) for i in range(table.shape[1])]
    names = [*table.columns]
    if any(column is None for column in columns) or not all(type(name) is str for name in names):
        return alt.default_data_transformer(data, **options)
    altair_data.limit_rows(table, **options)
    return {"values": [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]}


alt.data_transformers.register(VALUES, _values)


def _plain(column: pd.Series) -> list | None:
    """A column as values of JSON; None where that takes more thought."""
    values, kind = column.to_numpy(), column.dtype.kind
    if kind == "f":
        return [v if math.isfinite(v) else None for v in values.tolist()]
    known = kind in "iub" or (kind == "O" and all(type(v) is str for v in values))
    return values.tolist() if known else None


def to_svg(chart: alt.TopLevelMixin | dict) -> str:
    """The chart as one SVG text."""
    return to_svg_later(spec_of(chart)).result().decode()


def to_svg_later(spec: dict) -> Future[bytes]:
    """The SVG text of a specification, when it is drawn; until then Python goes on.

    Parameters
    ----------
    spec : of `spec_of`.
    """
    return _aside("vegalite_to_svg", spec)


def _drawn(call: str, subject: dict | str | None, **options: Any) -> bytes:
    return _aside(call, subject, **options).result()


def _aside(call: str, subject: dict | str | None, **options: Any) -> Future[bytes]:
    """As `drawing.drawn_aside`, of whose versions of Vega-Lite this is Altair's."""
    version = {"vl_version": VEGALITE_VERSION} if call.startswith("vegalite") else {}
    return drawn_aside(call, subject, **version, **options)


def picture(chart: alt.TopLevelMixin | dict, svg: str | None = None) -> str:
    """An HTML ``<img>`` with the chart inside it and with alt text; `svg` spares drawing it again.

    >>> picture({"description": "one <point>"}, svg="<svg/>")
    '<img alt="one &lt;point&gt;" style="max-width:100%;background:#fff" src="data:image/svg+xml;base64,PHN2Zy8+">'
    """
    spec = spec_of(chart)
    data = base64.b64encode((to_svg(spec) if svg is None else svg).encode()).decode()
    style = "max-width:100%;background:#fff"
    return f'<img alt="{html.escape(alt_text(spec))}" style="{style}" src="data:image/svg+xml;base64,{data}">'


def interactive(chart: alt.TopLevelMixin) -> str:
    """HTML to put once into a page: the chart with tooltips and all its code (0.9 MB); a picture without scripts."""
    spec = spec_of(_made(chart))
    page = _drawn("vegalite_to_html", spec, bundle=False).decode()
    body = page[page.index('<div id="vega-chart">') :]
    start, end = body.index("<script"), body.rindex("</script>")
    # no name may end the script
    chart_script = body[start:end].replace("</", "<\\/").replace("<!", "\\u003c!")
    words = html.escape(alt_text(spec))
    figure = f'<figure role="img" aria-label="{words}" style="margin:0">{body[:start]}</figure>'
    library = f'<script type="text/javascript">{_library()}</script>'
    return f"<noscript>{picture(spec)}</noscript>{figure}{library}{chart_script}</script>"


@cache
def _library() -> str:
    """The code by which a page draws its chart: takes seconds to make, and is kept beside the user's downloads."""
    file = f"vega-{VEGALITE_VERSION}-{version('vl-convert-python')}.js"
    try:
        place = cache_folder() / file
        digest, code = place.read_text("utf-8").split("\n", 1)
        if digest == sha256(code.encode()).hexdigest():
            return code
    except (DataError, OSError, ValueError):  # none yet, or no folder for it, or broken
        pass
    code = _drawn("javascript_bundle", None, vl_version=VEGALITE_VERSION).decode()
    digest = sha256(code.encode()).hexdigest()
    with suppress(DataError, OSError):
        write_text(make_folder(cache_folder()) / file, f"{digest}\n{code}")
    return code


def alt_text(spec: dict) -> str:
    """The description of a chart, else its title, else the word "chart".

    >>> alt_text({"title": {"text": ["two", "lines"]}})
    'two lines'
    """
    title = spec.get("title", "")
    title = title.get("text", "") if isinstance(title, dict) else title
    return (
        spec.get("description")
        or (" ".join(title) if isinstance(title, list) else title)
        or "chart"
    )


def save(chart: alt.TopLevelMixin, path: str | PathLike, inches: float | None = None) -> Path:
    """Write the chart as .html (self-contained, with tooltips), .svg, .png (double size), .pdf or .json (Vega-Lite).

    Each names in its metadata what made it (`provenance.made_by`). Returns the path.

    Parameters
    ----------
    inches : width in print of a .svg, .png (then of 300 dots per inch) or .pdf, 3.3 for a column of an ACL paper. All
        is scaled: a text of 16 px in a chart that is w px wide comes out at 16 · 72 · inches / w pt, so make small
        charts for narrow columns (`size=axes.COLUMN`).
    """
    path = Path(path)
    suffix = checks.one_of(path.suffix.lower(), FILE_CALLS, "chart file type")
    if inches is not None and suffix in (".html", ".json"):
        raise DataError(
            f"a {suffix} file has no width in inches; save as .svg, .png or .pdf, or leave inches "
            "away.",
            path,
        )
    make_folder(path.parent)
    if inches is None:
        spec = spec_of(_made(chart))
        data = (
            json.dumps(spec).encode()
            if suffix == ".json"
            else _drawn(FILE_CALLS[suffix], spec, **FILE_OPTIONS.get(suffix, {}))
        )
    else:
        data = _printed(to_svg(chart), suffix, inches)
    return write_bytes(path, stamped(data, suffix))


def _made(chart: alt.TopLevelMixin) -> alt.TopLevelMixin:
    """The chart with its maker in the specification itself."""
    return chart.properties(usermeta={"made_by": made_by()})


def _printed(svg: str, suffix: str, inches: float) -> bytes:
    """The drawing at a width in inches: the same picture in .svg, .png and .pdf."""
    width, height = (float(value) for value in SVG_SIZE.findall(svg)[0])
    if suffix == ".png":
        return _drawn("svg_to_png", svg, scale=inches * 72 / width, ppi=DPI)
    # a PDF's unit is the point
    wide, unit = (inches * 72, "") if suffix == ".pdf" else (inches, "in")
    sized = SVG_SIZE.sub(
        f'width="{wide:.5g}{unit}" height="{height / width * wide:.5g}{unit}"', svg, count=1
    )
    return _drawn("svg_to_pdf", sized) if suffix == ".pdf" else sized.encode()


def stamped(data: bytes, suffix: str) -> bytes:
    """The same picture with `made_by` as metadata.

    Parameters
    ----------
    suffix : ".svg" (metadata), ".png" (a text chunk "Software"), ".pdf" (Creator) or ".html" (generator, and a line at
        its end); any other file is left alone.
    """
    return STAMPS[suffix](data) if suffix in STAMPS else data


def _svg(data: bytes) -> bytes:
    start = data.index(b">", data.index(b"<svg")) + 1
    return data[:start] + f"<metadata>{html.escape(made_by())}</metadata>".encode() + data[start:]


def _png(data: bytes) -> bytes:
    """After the head an iTXt chunk: its key, no compression, no language, UTF-8 text."""
    body = b"iTXt" + KEY + b"\0\0\0\0\0" + made_by().encode()
    return (
        data[:HEAD]
        + struct.pack(">I", len(body) - 4)
        + body
        + struct.pack(">I", zlib.crc32(body))
        + data[HEAD:]
    )


def _pdf(data: bytes) -> bytes:
    """The Creator goes into the last object, so that only the place of the table after it moves."""
    found, last = START.search(data), data.rindex(b"/Producer")
    if found is None or last < data.rindex(b" obj\n"):
        return data
    text = b"/Creator <feff%s>\n  " % made_by().encode("utf-16-be").hex().encode()
    table = str(int(found[1]) + len(text)).encode()
    data = data[: found.start(1)] + table + data[found.end(1) :]
    return data[:last] + text + data[last:]


def _html(data: bytes) -> bytes:
    return in_page(data.decode()).encode()


STAMPS = {".svg": _svg, ".png": _png, ".pdf": _pdf, ".html": _html}


FILE_CALLS = {
    ".html": "page",
    ".svg": "vegalite_to_svg",
    ".png": "vegalite_to_png",
    ".pdf": "vegalite_to_pdf",
    ".json": "",
}
FILE_OPTIONS = {".png": {"scale": 2}}
