"""What the β explorer shows, as plain JSON values: charts, curves, and the chain of translations of every segment.

A translation is cut into the words that it shares with the one at β = 0, and those that it does not.
"""

from __future__ import annotations

import html
import math
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..charts.curve import beta_label
from ..charts.frame import number
from ..errors import DataError
from .base import html_lang, plain_table, static_page
from .judged import Judged, judged_data

__all__ = ["bounds", "choice", "cut", "shaped", "static_html", "word_parts"]

# scripts without spaces: each character counts as a word
CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
WORD = re.compile(f"[{CJK}]|[^\\s{CJK}]+")
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
    title: str = "",
    marked: Sequence[float] = (0, math.inf),
    point: float | None = None,
    **chart: Any,
) -> tuple[dict, Any]:
    """(data, chart of the first pair of judges); arguments as in `explorer.beta_explorer`, `marked` are labelled β.

    Parameters
    ----------
    judged : the same candidates under one or more pairs of judges. segments : those whose texts are shipped.
    glosses : S lines of plain English for the sources, or none.
    tags : (n,) labels of the candidates. show : rows, one per segment, on a page. point : β of the dragged point.
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
    # of each row: (candidate at β = 0, candidate) -> place in its "marked"
    found: list[dict] = [{} for _ in kept]
    views, charts = [], []
    for one in judged:
        view, drawn = judged_data(one, segment, domains, betas=marked, point=point, **chart)
        rows = zip(kept, found, strict=True)
        views.append(view | {"chains": [_chain(one, s, view["digits"], own) for s, own in rows]})
        charts.append(drawn)
    rows = [
        {"id": s, "domain": str(domains[s]), "src": srcs[s], "ref": refs[s]}
        | _texts(pairs, texts, tags)
        | ({"gloss": glosses[s]} if glosses[s] else {})
        for s, pairs in zip(kept, found, strict=True)
    ]
    data = {"title": title, "langs": [html_lang(code) for code in langs], "show": int(show)}
    return data | {"rows": rows, "judged": views}, charts[0]


def _chain(one: Judged, s: int, digits: list[int], found: dict[tuple[int, int], int]) -> dict:
    """The hull of one segment: from which β each translation wins, its place in the row's "marked", its scores."""
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
    """Each text once, with its tag; "marked": of each pair, the text's place, and where shared and own words meet."""
    shown = list(dict.fromkeys(i for _, i in found))
    return {
        "texts": [texts[i] for i in shown],
        "tags": [str(tags[i]) for i in shown],
        "marked": [
            [shown.index(i), *bounds(word_parts(texts[i], texts[first]))] for first, i in found
        ],
    }


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
    at = row["marked"][chain["at"][k]][0]
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
        f"<p>Marked words differ from the choice at β = 0 ({html.escape(first['names'][0])} "
        "alone).</p>"
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
        text = "".join(
            f"<mark><b><u>{html.escape(part)}</u></b></mark>" if n % 2 else html.escape(part)
            for n, part in enumerate(
                cut(chosen["translation"], row["marked"][chain["at"][_place(chain, beta)]][1:])
            )
        )
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


def bounds(parts: Sequence[str]) -> list[int]:
    """Where the parts of a text meet, counted in UTF-16 units as JavaScript does; one part has no such place.

    >>> bounds(["the ", "small", " dog barks"])
    [4, 9]
    """
    return [end // 2 for end in accumulate(len(part.encode("utf-16-le")) for part in parts[:-1])]


def cut(text: str, bounds: Sequence[int]) -> list[str]:
    """The parts that meet at these places.

    Parameters
    ----------
    bounds : of the function of that name.

    >>> cut("the small dog barks", [4, 9])
    ['the ', 'small', ' dog barks']
    """
    units, ends = text.encode("utf-16-le"), [0, *bounds, len(text) * 2]
    return [units[2 * low : 2 * high].decode("utf-16-le") for low, high in pairwise(ends)]
