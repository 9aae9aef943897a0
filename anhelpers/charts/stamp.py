"""Files of charts that name their maker, each in the place that its format has for it."""

from __future__ import annotations

import html
import re
import struct
import zlib

from ..provenance import in_page, made_by

__all__ = ["stamped"]

KEY = b"Software"  # the PNG standard's word for what made a picture
HEAD = 33  # bytes of a PNG's signature and of its first chunk, IHDR
START = re.compile(rb"startxref\s+(\d+)\s+%%EOF\s*$")


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
    return (
        data[:start]
        + f"<metadata>{html.escape(made_by(drawn=True))}</metadata>".encode()
        + data[start:]
    )


def _png(data: bytes) -> bytes:
    """After the head an iTXt chunk: its key, no compression, no language, UTF-8 text."""
    body = b"iTXt" + KEY + b"\0\0\0\0\0" + made_by(drawn=True).encode()
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
    text = b"/Creator <feff%s>\n  " % made_by(drawn=True).encode("utf-16-be").hex().encode()
    table = str(int(found[1]) + len(text)).encode()
    data = data[: found.start(1)] + table + data[found.end(1) :]
    return data[:last] + text + data[last:]


def _html(data: bytes) -> bytes:
    return in_page(data.decode()).encode()


STAMPS = {".svg": _svg, ".png": _png, ".pdf": _pdf, ".html": _html}
