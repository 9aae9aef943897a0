"""What the β explorer shows, as plain JSON values: charts, curves, and the chain of translations of every segment.

Each translation comes with what was struck out of the one at β = 0, and what came in its place (`edits`).
"""

from __future__ import annotations

import html
import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..charts.curve import beta_label
from ..charts.frame import number
from ..errors import DataError
from .base import html_lang, plain_table, static_page
from .edits import in_utf16, pieces, word_edits
from .judged import Judged, judged_data, settle

__all__ = ["choice", "shaped", "static_html"]

MOST_POINTS = 64
"""So many candidates of a source are drawn as points, evenly taken where there are more."""
LEFT = 'style="text-align:left;vertical-align:top;padding:.2em .8em .3em 0;hyphens:auto"'


def shaped(
    judged: Sequence[Judged],
    srcs: Sequence[str],
    refs: Sequence[str],
    texts: Sequence[str],
    *,
    segment: ArrayLike,
    tags: Sequence[str] | None = None,
    domains: Sequence[str] | None = None,
    segments: Iterable[int] | None = None,
    show: int = 6,
    langs: tuple[str, str] = ("", ""),
    glosses: Sequence[str] = (),
    meanings: Mapping[str, str] | None = None,
    title: str = "",
    by_domain: bool = True,
    marked: Sequence[float] = (0, math.inf),
    point: float | None = None,
    **chart: Any,
) -> tuple[dict, Any]:
    """(data, chart of the first pair of judges); arguments as in `explorer.beta_explorer`, `marked` are labelled β.

    Parameters
    ----------
    judged : the same candidates under one or more pairs of judges. segments : those whose texts are shipped.
    glosses : S lines of plain English for the sources, or none.
    tags : (n,) labels of the candidates. meanings : tag -> what it says of a candidate, in a sentence.
    show : rows, one per segment, on a page. by_domain : whether each domain has a curve of its own.
    point : β of the dragged point.
    """
    srcs, refs, texts = list(srcs), list(refs), list(texts)
    tags = [""] * len(texts) if tags is None else list(tags)
    domains = [""] * len(srcs) if domains is None else list(domains)
    segment = checks.segment_ids(segment, len(srcs))
    checks.same_length(texts=texts, tags=tags, segment=segment)
    glosses = list(glosses) or [""] * len(srcs)
    checks.same_length(srcs=srcs, refs=refs, domains=domains, glosses=glosses)
    names = [one.judges for one in judged]
    if twice := [pair for i, pair in enumerate(names) if pair in names[:i]]:
        raise DataError(
            f"accuracy by {twice[0][0]} with naturalness by {twice[0][1]} is given twice; give it "
            "once."
        )
    kept = range(len(srcs)) if segments is None else [int(s) for s in segments]
    if unknown := [s for s in kept if not 0 <= s < len(srcs)]:
        raise DataError(
            f"segments names {unknown[0]}, but there are segments 0 to {len(srcs) - 1}."
        )
    # of each row: (candidate at β = 0, candidate) -> place in its "pairs"
    found: list[dict] = [{} for _ in kept]
    views, charts, clouds = [], [], _Clouds(segment, kept)
    # nothing is to be chosen by domain where all rows are on one page
    curves_of = [""] * len(srcs) if 0 < len(kept) <= show or not by_domain else domains
    for one in judged:
        view, drawn = judged_data(one, segment, curves_of, betas=marked, point=point, **chart)
        rows = zip(kept, found, strict=True)
        view["chains"] = [_chain(one, s, view["digits"], own) for s, own in rows]
        view["clouds"] = [
            clouds.place(scores, digits)
            for scores, digits in zip((one.accuracy, one.naturalness), view["digits"], strict=True)
        ]
        views.append(view)
        charts.append(drawn)
    rows = [
        {"id": s, "domain": str(domains[s]), "src": srcs[s], "ref": refs[s]}
        | _texts(pairs, texts, tags)
        | ({"gloss": glosses[s]} if glosses[s] else {})
        for s, pairs in zip(kept, found, strict=True)
    ]
    shown = dict.fromkeys(tag for row in rows for tag in row["tags"])
    data = {
        "title": title,
        "langs": [html_lang(code) for code in langs],
        "show": int(show),
        "meanings": {tag: said for tag in shown if (said := (meanings or {}).get(tag))},
        "clouds": clouds.kept,
    }
    settle(views)
    return data | {"rows": rows, "judged": views}, charts[0]


class _Clouds:
    """The scores of all candidates of the rows, to be drawn as points; those that several judges share, once."""

    def __init__(self, segment: np.ndarray, rows: Iterable[int]) -> None:
        order = np.argsort(segment, kind="stable")
        ends = np.searchsorted(segment[order], [[s, s + 1] for s in rows]).reshape(-1, 2)
        self.candidates = [_some(order[low:high]) for low, high in ends]
        self.kept: list[list[list[float]]] = []
        self._places: dict[bytes, int] = {}

    def place(self, scores: ArrayLike, digits: int) -> int:
        """Where in `kept` the points of these scores stand: for each row, a number for each candidate."""
        values = np.asarray(scores, dtype=float)
        if values.tobytes() not in self._places:
            self._places[values.tobytes()] = len(self.kept)
            self.kept.append([values[own].round(digits).tolist() for own in self.candidates])
        return self._places[values.tobytes()]


def _some(candidates: np.ndarray) -> np.ndarray:
    """At most MOST_POINTS of them, evenly taken."""
    if len(candidates) <= MOST_POINTS:
        return candidates
    return candidates[np.linspace(0, len(candidates) - 1, MOST_POINTS).astype(int)]


def _chain(one: Judged, s: int, digits: list[int], found: dict[tuple[int, int], int]) -> dict:
    """The hull of one segment: from which β each translation wins, its place in the row's "pairs", its scores."""
    curve = one.curve
    low, high = np.searchsorted(curve.chain_segment, [s, s + 1])
    chain = curve.chain_candidate[low:high].tolist()
    scores = {
        "accuracy": np.asarray(one.accuracy, float),
        "naturalness": np.asarray(one.naturalness, float),
    }
    return {
        "beta": curve.chain_beta[low:high].tolist(),
        "at": [found.setdefault((chain[0], i), len(found)) for i in chain],
        **{
            name: scores[name][chain].round(d).tolist()
            for name, d in zip(scores, digits, strict=True)
        },
    }


def _texts(found: dict[tuple[int, int], int], texts: list[str], tags: list[str]) -> dict:
    """Each text once, with its tag; "pairs": [the new text's place, the place of that at β = 0, edits or None] each."""
    shown = list(dict.fromkeys(i for pair in found for i in pair))
    return {
        "texts": [texts[i] for i in shown],
        "tags": [str(tags[i]) for i in shown],
        "pairs": [
            [shown.index(i), shown.index(first), _edits(texts[first], texts[i])]
            for first, i in found
        ],
    }


def _edits(old: str, new: str) -> list[int] | None:
    """The edits as the page takes them; None where almost all words changed."""
    edits = word_edits(old, new)
    return None if edits is None else in_utf16(old, new, edits)


def choice(data: dict, i: int, beta: float, judged: int = 0) -> dict:
    """What the oracle chooses for the row `i` of `data` at one β, as one record.

    Parameters
    ----------
    judged : by which of the pairs of judges.
    """
    row, chain = data["rows"][i], data["judged"][judged]["chains"][i]
    k = _place(chain, beta)
    record = {
        "segment": row["id"],
        "domain": row["domain"],
        "beta": beta,
        "source": row["src"],
        "reference": row["ref"],
    }
    scores = {name: chain[name][k] for name in ("accuracy", "naturalness")}
    at = row["pairs"][chain["at"][k]][0]
    return record | {"translation": row["texts"][at], "tag": row["tags"][at]} | scores


def _place(chain: dict, beta: float) -> int:
    """Place in the segment's chain of the translation that wins at this β."""
    return bisect_right(chain["beta"], beta) - 1 if beta > 0 else 0


def static_html(data: dict, betas: Sequence[float] = (0, 1, math.inf)) -> str:
    """Title, chart and the first rows at a few β, of elements that JupyterLab keeps in a notebook it does not trust."""
    first = data["judged"][0]
    head = "".join(
        f"<th {LEFT}>{text}</th>" for text in ("Source", "Reference", *map(beta_label, betas))
    )
    body = "".join(_static_row(data, i, betas) for i in range(min(data["show"], len(data["rows"]))))
    note = (
        "<p>Against the choice at β = 0 "
        f"({html.escape(first['names'][0])} alone): words struck through are gone, underlined ones "
        "are new; a translation without marks is the same, or new almost throughout.</p>"
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"
    tables = [table if body else "", _judges_table(data)]
    return static_page(first["choices"][0], *tables, title=data["title"])


def _static_row(data: dict, i: int, betas: Sequence[float]) -> str:
    first, row = data["judged"][0], data["rows"][i]
    chain = first["chains"][i]
    gloss = (
        f'<br><small lang="en">word for word: {html.escape(row["gloss"])}</small>'
        if "gloss" in row
        else ""
    )
    source, target = (f' lang="{html.escape(code)}"' if code else "" for code in data["langs"])
    cells = [(source, html.escape(row["src"]) + gloss), (target, html.escape(row["ref"]))]
    for beta in betas:
        chosen = choice(data, i, beta)
        text = _with_edits(row, row["pairs"][chain["at"][_place(chain, beta)]])
        scores = [
            f"{name}\u00a0{number(chosen[column], digits)}"
            for name, column, digits in zip(
                first["names"], ("accuracy", "naturalness"), first["digits"], strict=True
            )
        ]
        note = " · ".join(filter(None, [chosen["tag"], *scores]))
        cells.append((target, f'{text}<br><small lang="en">{html.escape(note)}</small>'))
    return (
        "<tr>"
        + "".join(f'<td {LEFT} dir="auto"{lang}>{cell}</td>' for lang, cell in cells)
        + "</tr>"
    )


def _with_edits(row: dict, pair: Sequence) -> str:
    """A translation in which the words are struck through that the one at β = 0 had, and new ones are marked."""
    new, old = (row["texts"][place] for place in pair[:2])
    edits = word_edits(old, new)
    if edits is None:
        return html.escape(new)
    parts = list(pieces(old, new, edits))
    text = ""
    for n, (kind, part) in enumerate(parts, 1):
        said = html.escape(part)
        if kind == "came":
            said = f"<ins><b>{said}</b></ins>"
        elif kind == "gone":
            said = f"<del>{said}</del> " if n < len(parts) else f" <del>{said}</del>"
        text += said
    return text


def _judges_table(data: dict) -> str:
    """What each pair of judges costs and buys, and how often it chooses otherwise than the first; "" for one pair."""
    judged, rows = data["judged"], range(len(data["rows"]))
    if len(judged) < 2:
        return ""

    def chosen_by(j: int) -> list[list[str]]:  # at either end
        return [[choice(data, i, beta, j)["translation"] for i in rows] for beta in (0, math.inf)]

    ends = [chosen_by(j) for j in range(len(judged))]
    lines = []
    for one, chosen in zip(judged, ends, strict=True):
        curve, (a, n) = one["choices"][0], one["digits"]
        lost = curve["accuracy"][0] - curve["accuracy"][-1]
        got = curve["naturalness"][-1] - curve["naturalness"][0]
        moved = [
            sum(x != y for x, y in zip(*two, strict=True))
            for two in zip(chosen, ends[0], strict=True)
        ]
        said = [f"{m} of {len(rows)}" for m in moved] if rows else []
        lines.append([" × ".join(one["labels"]), number(lost, a), number(got, n), *said])
    heads = ["accuracy × naturalness by", "accuracy lost", "naturalness gained"]
    heads += ["other choices at β = 0", "other choices at β = ∞"] if rows else []
    caption = "From β = 0 to β = ∞ under each pair of judges"
    caption += (
        f", and how many choices differ from those of the first pair, {lines[0][0]}."
        if rows
        else "."
    )
    return plain_table(caption, heads, lines, "right")
