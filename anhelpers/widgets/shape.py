"""What the β explorer shows, as plain JSON values: charts, curves, and the chain of translations of every segment."""

from __future__ import annotations

import html
import math
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import checks
from ..charts.curve import axis_ranges, beta_label, plot_curve
from ..charts.describe import digits_of, number
from ..charts.offline import alt_text, picture, to_svg
from ..errors import DataError
from ..frontier import OracleCurve, oracle_curve
from .base import html_lang

__all__ = ["ALL", "choice", "shaped", "static_html", "word_parts"]

ALL = "all"
CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # scripts without spaces: each character counts as a word
LEFT = 'style="text-align:left;vertical-align:top;padding:.2em .8em .3em 0"'
WORD = re.compile(f"[{CJK}]|[^\\s{CJK}]+")
Systems: TypeAlias = pd.DataFrame | Mapping[str, pd.DataFrame] | Callable[[str], pd.DataFrame | None] | None


def shaped(
    curve: OracleCurve,
    srcs: Sequence[str],
    refs: Sequence[str],
    texts: Sequence[str],
    *,
    segment: ArrayLike,
    accuracy: ArrayLike,
    naturalness: ArrayLike,
    tags: Sequence[str] | None = None,
    domains: Sequence[str] | None = None,
    systems: Systems = None,
    segments: Iterable[int] | None = None,
    show: int = 6,
    names: tuple[str, str] = ("accuracy", "log-prob."),
    langs: tuple[str, str] = ("", ""),
    title: str = "",
    marked: Sequence[float] = (0, math.inf),
    point: float | None = None,
    **chart: Any,
) -> tuple[dict, Any]:
    """(data, chart over all segments); arguments as in `explorer.beta_explorer`, `marked` are the labelled β.

    Parameters
    ----------
    tags : (n,) labels of the candidates. show : rows, one per segment, on a page. point : β of the dragged point.
    """
    srcs, refs, texts = list(srcs), list(refs), list(texts)
    tags = [""] * len(texts) if tags is None else list(tags)
    domains = [""] * len(srcs) if domains is None else list(domains)
    segment = checks.segment_ids(segment, len(srcs))
    accuracy, naturalness = np.asarray(accuracy, dtype=float), np.asarray(naturalness, dtype=float)
    given = range(curve.n_candidates)
    checks.same_length(curve=given, texts=texts, tags=tags, segment=segment, accuracy=accuracy, naturalness=naturalness)
    checks.same_length(curve=range(curve.n_segments), srcs=srcs, refs=refs, domains=domains)
    curves = _curves(curve, segment, accuracy, naturalness, np.array(domains, dtype=object))
    tables = {name: _systems_of(systems, name) for name in curves}
    settings: dict[str, Any] = {
        "ranges": axis_ranges(curves.values(), tables.values()),
        "betas": marked,
        "size": (430, 340),
        "max_vertices": 400,
    } | chart
    charts = {name: plot_curve(one, tables[name], point=point, **settings) for name, one in curves.items()}
    digits = [digits_of(v[curve.chain_candidate]) for v in (accuracy, naturalness)]
    candidates = {"text": texts, "tag": tags, "accuracy": accuracy, "naturalness": naturalness}
    kept = range(len(srcs)) if segments is None else [int(s) for s in segments]
    if unknown := [s for s in kept if not 0 <= s < len(srcs)]:
        raise DataError(f"segments names {unknown[0]}, but there are segments 0 to {len(srcs) - 1}.")
    rows = [
        {"id": s, "domain": str(domains[s]), "src": srcs[s], "ref": refs[s], **_chain(curve, s, candidates, digits)}
        for s in kept
    ]
    choices = [_picked(name, one, charts[name], digits) for name, one in curves.items()]
    box = [*settings["ranges"][0], *settings["ranges"][1], *settings["size"]]
    data: dict[str, Any] = {
        "title": title,
        "names": list(names),
        "langs": [html_lang(code) for code in langs],
        "digits": digits,
        "show": int(show),
        "box": box,
    }
    return data | {"choices": choices, "rows": rows}, charts[ALL]


def choice(row: dict, beta: float) -> dict:
    """What the oracle chooses for one segment at one β, as one record.

    Parameters
    ----------
    row : a segment's hull.
    """
    k = _place(row, beta)
    record = {
        "segment": row["id"],
        "domain": row["domain"],
        "beta": beta,
        "source": row["src"],
        "reference": row["ref"],
    }
    scores = {name: row[name][k] for name in ("tag", "accuracy", "naturalness")}
    return record | {"translation": "".join(parts_of(row, k)), **scores}


def _place(row: dict, beta: float) -> int:
    """Place in the segment's chain of the translation that wins at this β."""
    return bisect_right(row["beta"], beta) - 1 if beta > 0 else 0


def static_html(data: dict, betas: Sequence[float] = (0, 1, math.inf)) -> str:
    """Title, chart and the first rows at a few β, of elements that JupyterLab keeps in a notebook it does not trust."""
    first = data["choices"][0]
    head = "".join(f"<th {LEFT}>{text}</th>" for text in ("Source", "Reference", *map(beta_label, betas)))
    body = "".join(_static_row(data, row, betas) for row in data["rows"][: data["show"]])
    title = f"<p><b>{html.escape(data['title'])}</b></p>" if data["title"] else ""
    note = f"<p>Marked words differ from the choice at β = 0 ({html.escape(data['names'][0])} alone).</p>"
    image = picture({"description": first["alt"]}, svg=first["svg"])
    return f"{title}<p>{image}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def _static_row(data: dict, row: dict, betas: Sequence[float]) -> str:
    cells = [html.escape(row["src"]), html.escape(row["ref"])]
    for beta in betas:
        chosen = choice(row, beta)
        text = "".join(
            f"<mark><b><u>{html.escape(part)}</u></b></mark>" if i % 2 else html.escape(part)
            for i, part in enumerate(parts_of(row, _place(row, beta)))
        )
        scores = [
            f"{name}\u00a0{number(chosen[column], digits)}"
            for name, column, digits in zip(data["names"], ("accuracy", "naturalness"), data["digits"], strict=True)
        ]
        note = " · ".join(filter(None, [chosen["tag"], *scores]))
        cells.append(f"{text}<br><small>{html.escape(note)}</small>")
    return "<tr>" + "".join(f'<td {LEFT} dir="auto">{cell}</td>' for cell in cells) + "</tr>"


def _curves(curve: Any, segment: Any, accuracy: Any, naturalness: Any, domains: Any) -> dict[str, OracleCurve]:
    """The given curve as "all", and one for the segments of each domain."""
    named = [name for name in dict.fromkeys(domains) if name]
    if ALL in named:
        raise DataError(f"a domain is named '{ALL}', which stands for all segments; rename it.")
    curves = {ALL: curve}
    for name in named:
        inside = (domains == name)[segment]
        ids = np.unique(segment[inside], return_inverse=True)[1]
        curves[str(name)] = oracle_curve(ids, accuracy[inside], naturalness[inside])
    return curves


def _systems_of(systems: Systems, name: str) -> pd.DataFrame | None:
    if isinstance(systems, pd.DataFrame):
        return systems if name == ALL else None
    return systems(name) if callable(systems) else (systems or {}).get(name)


def _chain(curve: OracleCurve, s: int, candidates: dict, digits: list[int]) -> dict:
    """The hull of one segment: from which β each translation wins, its parts, tag and scores."""
    low, high = np.searchsorted(curve.chain_segment, [s, s + 1])
    chain = curve.chain_candidate[low:high].tolist()
    texts = [candidates["text"][i] for i in chain]
    return {
        "beta": curve.chain_beta[low:high].tolist(),
        "parts": [texts[:1], *(packed(word_parts(text, texts[0]), texts[0]) for text in texts[1:])],
        "tag": [str(candidates["tag"][i]) for i in chain],
        "accuracy": candidates["accuracy"][chain].round(digits[0]).tolist(),
        "naturalness": candidates["naturalness"][chain].round(digits[1]).tolist(),
    }


def _picked(name: str, curve: OracleCurve, chart: Any, digits: list[int]) -> dict:
    """One choice of the domain list: its chart, and the vertices that say where the point goes."""
    spec = chart.to_dict()
    return {
        "name": name,
        "count": curve.n_segments,
        "svg": to_svg(spec),
        "alt": alt_text(spec),
        "beta": curve.beta.tolist(),
        "accuracy": curve.accuracy.round(digits[0] + 3).tolist(),
        "naturalness": curve.naturalness.round(digits[1] + 3).tolist(),
    }


def word_parts(text: str, base: str) -> list[str]:
    """`text` cut into parts that are in turn shared with `base` and not, by a longest common subsequence of words.

    >>> word_parts("the small dog barks", "the dog barks loudly")
    ['the ', 'small', ' dog barks']
    >>> word_parts("a cat", "the dog")
    ['', 'a cat']
    """
    words = list(WORD.finditer(text))
    shared = _in_common([w.group() for w in words], WORD.findall(base))
    parts, at = [""], 0
    for same, run in groupby(range(len(words)), key=shared.__contains__):
        run = list(run)
        if not same:
            parts[-1] += text[at : words[run[0]].start()]
            at = words[run[-1]].end()
            parts += [text[words[run[0]].start() : at], ""]
    parts[-1] += text[at:]
    return parts if parts[-1] or len(parts) == 1 else parts[:-1]


def _in_common(a: list[str], b: list[str]) -> set[int]:
    """Indices of the words of `a` in a longest common subsequence of `a` and `b` (Hunt and Szymanski 1977)."""
    where = defaultdict(list)
    for j in range(len(b) - 1, -1, -1):
        where[b[j]].append(j)
    ends: list[int] = []  # of the common subsequences of k + 1 words: the earliest end in b
    chains: list[Any] = []  # and the one that has it
    for i, word in enumerate(a):
        for j in where.get(word, ()):
            k = bisect_left(ends, j)
            ends[k : k + 1], chains[k : k + 1] = [j], [(i, chains[k - 1] if k else None)]
    shared, chain = set(), chains[-1] if chains else None
    while chain:
        i, chain = chain
        shared.add(i)
    return shared


def packed(parts: list[str], base: str) -> list[str | list[int]]:
    """The parts with each longer shared one as [start, length] in `base`, counted in UTF-16 units as JavaScript does.

    >>> packed(["the small ", "cat", " sleeps here"], "the small dog sleeps here")
    [[0, 10], 'cat', [13, 12]]
    """
    return [
        part if i % 2 or len(part) < 8 or part not in base else [_units(base[: base.index(part)]), _units(part)]
        for i, part in enumerate(parts)
    ]


def parts_of(row: dict, k: int) -> list[str]:
    """The parts of the translation at place `k` of a segment's chain, unpacked."""
    base = "".join(row["parts"][0]).encode("utf-16-le")
    return [
        part if isinstance(part, str) else base[2 * part[0] : 2 * sum(part)].decode("utf-16-le")
        for part in row["parts"][k]
    ]


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
