"""A translator as a table, Q(y|x): between two vertices of a curve, in plain HTML, and how its numbers are printed."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..charts.describe import number
from ..charts.offline import picture

if TYPE_CHECKING:
    from ..exact import ExactCurve

__all__ = ["OTHERS", "columns", "mixture", "percent", "signed", "static_html"]

OTHERS = "others"
CELL = 'style="text-align:right;padding:.1em .6em"'
NAME = 'style="text-align:left;padding:.1em .6em"'


def columns(curve: ExactCurve, show: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(K,) shown targets in their order; (V, X, C) Q(y|x) and (C,) R(y) of these and, where some are left, of others.

    C is K, or K + 1 with others. Shown are the targets with the largest Q(y) at any vertex, or R(y).

    Parameters
    ----------
    show : K, the most targets with a column of their own.
    """
    q, p, r = curve.translators, curve.problem.p_x, curve.problem.reference
    n = q.shape[2]
    mass = np.maximum(np.einsum("x,vxy->vy", p, q).max(axis=0), r)
    kept = np.arange(n) if n <= show else np.sort(np.argsort(-mass, kind="stable")[:show])
    rest = np.setdiff1d(np.arange(n), kept)
    more = (
        (q[:, :, rest].sum(axis=2, keepdims=True), [r[rest].sum()])
        if rest.size
        else (q[:, :, :0], [])
    )
    q, r = np.concatenate([q[:, :, kept], more[0]], axis=2), np.concatenate([r[kept], more[1]])
    return kept, q.round(6) + 0.0, r


def mixture(data: dict, naturalness: float) -> tuple[float, np.ndarray]:
    """(A(N), (X, C) Q(y|x)) between two vertices: both are linear in N there, as in tradeoff.js."""
    n, q = np.array(data["naturalness"]), np.array(data["q"])
    v = min(int(np.searchsorted(n, naturalness, side="right")) - 1, len(n) - 2)
    if v < 0:
        return float(data["accuracy"][0]), q[0]
    share = (naturalness - n[v]) / (n[v + 1] - n[v])
    accuracy = np.interp(naturalness, n, data["accuracy"])
    return float(accuracy), (1 - share) * q[v] + share * q[v + 1]


def static_html(data: dict, at: Sequence[float]) -> str:
    """Title, chart and one table for each N, of elements that JupyterLab keeps in a notebook it does not trust.

    Parameters
    ----------
    at : values of N.
    """
    title = f"<p><b>{html.escape(data['title'])}</b></p>" if data["title"] else ""
    image = picture({"description": data["alt"]}, svg=data["svg"])
    note = (
        "<p>Rows: Q(y|x), what the best translator says for each source. Bold: the most probable "
        "target.</p>"
    )
    return f"{title}<p>{image}</p>{''.join(_static_table(data, n) for n in at)}{note}"


def _static_table(data: dict, naturalness: float) -> str:
    accuracy, q = mixture(data, naturalness)
    (a_digits, n_digits), (a_name, n_name) = data["digits"], map(html.escape, data["names"])
    said = f"{n_name} = {number(naturalness, n_digits)}, {a_name} = {number(accuracy, a_digits)}"
    names = [
        *map(html.escape, data["targets"]),
        *([f"<i>{OTHERS} ({data['others']})</i>"] if data["others"] else []),
    ]
    head = "".join(f'<th {CELL} dir="auto">{name}</th>' for name in ["P(x)", *names])
    named = len(data["targets"])
    body = "".join(
        f'<tr><th {NAME} dir="auto">{html.escape(source)}</th>{_cells([percent(p)])}{_chosen(row, named)}</tr>'
        for source, p, row in zip(data["sources"], data["p"], q, strict=True)
    )
    marginal, r = np.array(data["p"]) @ q, np.array(data["r"])
    lines = {"marginal Q(y)": map(percent, marginal), "reference R(y)": map(percent, r)}
    lines["difference, points"] = map(signed, marginal - r)
    foot = "".join(
        f"<tr><th {NAME}>{name}</th><td></td>{_cells(texts)}</tr>" for name, texts in lines.items()
    )
    return (
        f"<table><caption>{said}</caption><thead><tr><th "
        f"{NAME}>source</th>{head}</tr></thead><tbody>{body}</tbody>"
        f"<tfoot>{foot}</tfoot></table>"
    )


def _cells(texts: Iterable[str]) -> str:
    return "".join(f"<td {CELL}>{html.escape(text)}</td>" for text in texts)


def _chosen(row: np.ndarray, named: int) -> str:
    """The cells of one source, the most probable of the named targets in bold."""
    best = max(row[:named].max() - 1e-6, 5e-7)
    texts = ((html.escape(percent(v)), k < named and v >= best) for k, v in enumerate(row))
    return "".join(f"<td {CELL}>{f'<b>{text}</b>' if bold else text}</td>" for text, bold in texts)


def percent(share: float) -> str:
    """A probability as a percentage, as tradeoff.js prints it.

    >>> [percent(v).replace(chr(160), " ") for v in (0, 1e-5, 0.125, 1)]
    ['·', '< 0.1 %', '12.5 %', '100 %']
    """
    if share < 5e-7:
        return "·"
    if share < 5e-4:
        return "<\u00a00.1\u00a0%"
    return f"{100 * share:.{0 if share > 1 - 5e-7 else 1}f}\u00a0%"


def signed(difference: float) -> str:
    """A difference of probabilities in percentage points, with a sign that is more than a colour.

    >>> [signed(d).replace(chr(160), " ") for d in (0.031, -0.2, 1e-5)]
    ['▲ +3.1', '▼ −20.0', '0.0']
    """
    points = round(100 * difference, 1) + 0.0
    return (
        "0.0"
        if points == 0
        else f"▲\u00a0+{points:.1f}"
        if points > 0
        else f"▼\u00a0−{-points:.1f}"
    )
