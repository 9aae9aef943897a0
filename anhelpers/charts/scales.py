"""A plane for any two quantities, linear or logarithmic, in known pixels."""

from __future__ import annotations

import textwrap
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from ..errors import DataError
from .axes import AXIS, Plane, Size, scaled

__all__ = ["plane_of"]


def plane_of(
    x: ArrayLike, y: ArrayLike, titles: tuple[str, str], *, log: tuple[bool, bool], size: Size
) -> Plane:
    """A plane that holds all these values: x with 2 % of air, y with 7 %.

    Parameters
    ----------
    x, y : (n,) and (m,) finite values; all positive where the axis is logarithmic. titles : of the two axes.
    log : which of x and y are logarithmic.
    """
    ranges, channels = [], {}
    for k, (name, values) in enumerate((("x", x), ("y", y))):
        values = np.asarray(values, dtype=float)
        if not values.size:
            raise DataError(
                f"nothing of column {name} can be drawn: every row has a nan, or there is no row."
            )
        if log[k] and values.min() <= 0:
            raise DataError(
                f"{name} has the value {values.min():g}, which a logarithmic axis cannot show."
            )
        low, high = scaled([values.min(), values.max()], log[k])
        air = (0.02, 0.07)[k] * (high - low) or 0.05 * abs(high) or 1.0
        ranges.append((float(low - air), float(high + air)))
        channels[name] = _channel(name, ranges[k], titles[k], length=size[k], log=log[k])
    return Plane((ranges[0], ranges[1]), size, channels, log)


def _channel(
    name: str, span: tuple[float, float], title: str, *, length: int, log: bool
) -> alt.X | alt.Y:
    """The x or the y channel; a logarithmic axis over two decades or more is marked at whole powers of ten only."""
    look: dict[str, Any] = {
        "title": textwrap.wrap(title, max(12, length // 9)),
        "tickCount": length // 80,
    } | AXIS
    if log:
        powers = np.arange(np.ceil(span[0]), np.floor(span[1]) + 1)
        step = -(-len(powers) * 60 // length)
        look |= {"format": "~g"} | (
            {"values": (10.0 ** powers[::step]).tolist()} if len(powers) >= 3 else {}
        )
    domain, kind = (
        ([float(10**v) for v in span], {"type": "log"}) if log else (list(span), {"zero": False})
    )
    scale = alt.Scale(domain=domain, nice=False, **kind)
    channel = alt.X if name == "x" else alt.Y
    return channel(f"{name}:Q", scale=scale, axis=alt.Axis(**look))
