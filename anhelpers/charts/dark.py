"""Charts on a dark page: the same drawing, which turns its colours where the reader's system is dark."""

from __future__ import annotations

import base64
import re

__all__ = ["PAPER", "contrast", "in_the_dark", "turned", "with_dark_charts"]

PAPER, INK = (22, 22, 22), (241, 241, 241)
"""Of a dark page and its letters: red, green and blue from 0 to 255, as in `templates/page.css`."""

LEAST = 4.5
"""The contrast that WCAG 2 (1.4.3) asks of texts; marks have it too, so that a line and its name keep one colour."""

DEEPEST = 0.55
"""The most that a box on a scale of tints takes of its colour, so that a light text on it stays readable."""

ON_BARS = ":is(.texts_marks,.texts_center_marks) text{fill:#161616}"
"""Of `charts.xmi_bars`: what is written on a bar, whose colour is light enough for dark letters as it is for the page.
"""

COLOUR = re.compile(
    r'\b(fill|stroke)="(#[0-9a-fA-F]{3}|#[0-9a-fA-F]{6}|black|white|rgb\([^)"]+\))"'
)
NAMED = {"black": "#000000", "white": "#ffffff"}
DRAWING = re.compile(r'(?<=<img )([^>]*src="data:image/svg\+xml;base64,)([A-Za-z0-9+/=]+)(?=")')


def with_dark_charts(page: str) -> str:
    """The page, whose charts (pictures in base64 that Vega drew) also know what they look like in the dark.

    Parameters
    ----------
    page : HTML. Other pictures stay as they are.
    """

    def both(found: re.Match[str]) -> str:
        svg = base64.b64decode(found[2]).decode()
        return found[1] + base64.b64encode(in_the_dark(svg).encode()).decode()

    return DRAWING.sub(both, page)


def in_the_dark(svg: str) -> str:
    """The drawing with a style sheet for dark systems; one that is no chart of Vega comes back as it is.

    In a page that is light, or printed, nothing changes.

    >>> chart = '<svg class="marks"><text fill="#000">a</text></svg>'
    >>> '[fill="#000"]{fill:#f1f1f1}' in in_the_dark(chart)
    True
    """
    start = svg.find(">", svg.find("<svg")) + 1
    if 'class="marks"' not in svg[:start]:
        return svg
    rules = {f'[{part}="{named}"]{{{part}:{turned(named)}}}' for part, named in COLOUR.findall(svg)}
    sheet = "".join([*sorted(rules), ON_BARS])
    style = f"<style>@media (prefers-color-scheme: dark){{{sheet}}}</style>"
    return svg[:start] + style + svg[start:]


def turned(colour: str) -> str:
    """A colour of a light chart as a dark page shows it, in hexadecimal digits.

    Greys change places, from black for white to white for black. A hue stays, and becomes lighter where its contrast
    with the page is below 4.5. What Vega writes as rgb(…), a colour between two of a scale, keeps its distance from
    the page's own colour.

    Parameters
    ----------
    colour : "#abc", "#aabbcc", "black", "white" or "rgb(1, 2, 3)".

    >>> turned("#000"), turned("white"), turned("#E69F00"), turned("#0072B2")
    ('#f1f1f1', '#161616', '#e69f00', '#2687be')
    """
    told = _parsed(colour)
    depth = 1 - min(told) / 255
    if colour.startswith("rgb") and depth:
        pure = tuple(255 - (255 - part) / depth for part in told)
        return _written(_mixed(PAPER, pure, depth * DEEPEST))
    if max(told) - min(told) < 8:
        return _written(_mixed(PAPER, INK, depth))
    share = next(k for k in range(101) if contrast(_mixed(told, (255,) * 3, k / 100)) >= LEAST)
    return _written(_mixed(told, (255,) * 3, share / 100))


def contrast(colour: tuple[float, ...], paper: tuple[float, ...] = PAPER) -> float:
    """The ratio of two colours' luminances, as WCAG 2 defines it: from 1 (the same) to 21 (black and white).

    Parameters
    ----------
    colour, paper : red, green and blue from 0 to 255.

    >>> round(contrast((255, 255, 255), (0, 0, 0)), 1)
    21.0
    """
    low, high = sorted((_luminance(colour), _luminance(paper)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: tuple[float, ...]) -> float:
    parts = (part / 255 for part in colour)
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _mixed(one: tuple[float, ...], other: tuple[float, ...], share: float) -> tuple[float, ...]:
    return tuple(a + (b - a) * share for a, b in zip(one, other, strict=True))


def _parsed(colour: str) -> tuple[float, ...]:
    if colour.startswith("rgb"):
        return tuple(float(part) for part in re.findall(r"[\d.]+", colour)[:3])
    digits = NAMED.get(colour, colour)[1:]
    digits = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
    return tuple(int(digits[k : k + 2], 16) for k in (0, 2, 4))


def _written(colour: tuple[float, ...]) -> str:
    return "#" + "".join(f"{round(part):02x}" for part in colour)
