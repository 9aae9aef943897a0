"""The β explorer: drag the weight of naturalness and see the oracle's translations change.

Python ships every breakpoint of the curve once; explorer.js looks a β up, so no kernel is needed.
"""

from __future__ import annotations

import html
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import pandas as pd
import traitlets
from numpy.typing import ArrayLike

from .. import checks
from ..charts.curve import plot_curve
from ..charts.frame import ACCURACY_TITLE, NATURALNESS_TITLE, axis_ranges, beta_label, number
from ..charts.offline import drawn
from ..data.fetch import bundled
from ..data.human import RATED
from ..data.io import read_lines
from ..errors import DataError
from ..estimate import digits_of
from ..frontier import OracleCurve, oracle_curve
from ..metrics import Metric
from ..plane import OracleStudy
from .base import Widget, _plain_table, _static_page, _unbounded, html_lang

_ALL = "all"
_VIEWS = ["one", "table"]
_MOST_POINTS = 64  # candidates of a source that are drawn as points
_ENDS = [f"{axis}_{end}" for axis in ("accuracy", "naturalness") for end in ("low", "high")]
_SHORT = {
    "lpp": ("log-probability", "log-prob."),
    "critic": ("critic",) * 2,
    "native": ("native",) * 2,
}


@dataclass(frozen=True)
class _Judged:
    """The n candidates of S sources under one accuracy and one naturalness metric.

    Parameters
    ----------
    curve : OracleCurve
        Over all S sources, of these scores.
    accuracy, naturalness : (n,) scores
    systems : DataFrame or callable
        Table of `plot_curve`, drawn with all segments; or domain ("all" for all) → its table.
    judges, labels, names : (str, str)
        The two metrics as code, lists and the readout name them.
    accuracy_title, naturalness_title : str
        Of the axes.
    """

    curve: OracleCurve
    accuracy: ArrayLike
    naturalness: ArrayLike
    systems: pd.DataFrame | Callable[[str], pd.DataFrame | None] | None = None
    judges: tuple[str, str] = ("accuracy", "naturalness")
    labels: tuple[str, str] = ("accuracy", "naturalness")
    names: tuple[str, str] = ("accuracy", "log-prob.")
    accuracy_title: str = ACCURACY_TITLE
    naturalness_title: str = NATURALNESS_TITLE


def beta_explorer(
    curve: OracleCurve | Sequence[_Judged],
    srcs: Sequence[str],
    refs: Sequence[str],
    texts: Sequence[str],
    *,
    segment: ArrayLike,
    beta: float = 1.0,
    view: str = "table",
    tags: Sequence[str] | None = None,
    domains: Sequence[str] | None = None,
    by_domain: bool = True,
    segments: Iterable[int] | None = None,
    show: int = 6,
    glosses: Sequence[str] = (),
    meanings: Mapping[str, str] | None = None,
    langs: tuple[str, str] = ("", ""),
    title: str = "",
    size: tuple[int, int] = (370, 300),
    **single: Any,
) -> _BetaExplorer:
    """Make a slider over β beside the translations that the oracle chooses at that β.

    A step of the slider is one change of what is shown: β = 0 first, ∞ last.

    Parameters
    ----------
    curve : OracleCurve or sequence of Judged
        From `oracle_curve(segment, accuracy, naturalness)`; or several `_Judged`, which the page
        lists for the reader to choose from.
    srcs, refs : (S,) sources and references
    texts : (n,) candidate translations
    segment : (n,) source of each candidate
    beta : float
        Initial β, in [0, ∞].
    view : {"table", "one"}
        Initial view: all sentences beside the curve, or one sentence beside its candidates.
    tags, domains : (n,) labels, (S,) names
        Each domain gets a curve if `by_domain`.
    segments : sources whose texts are included, by default all
    show : rows a page; 0 shows the chart alone
    glosses, meanings : (S,) word-for-word English; tag → sentence
    langs : (source, target); title : the claim; size : (width, height) of the plane in pixels
    **single
        Of a single curve: accuracy, naturalness, systems, names, accuracy_title, naturalness_title,
        as in `_Judged`.
    """
    checks.one_of(view, _VIEWS, "view")
    judged = [_Judged(curve, **single)] if isinstance(curve, OracleCurve) else list(curve)
    judged = [replace(one, **single) for one in judged]
    srcs, refs, texts = list(srcs), list(refs), list(texts)
    tags = [""] * len(texts) if tags is None else list(tags)
    domains = [""] * len(srcs) if domains is None else list(domains)
    glosses = list(glosses) or [""] * len(srcs)
    segment = checks.segment_ids(segment, len(srcs))
    checks.same_length(texts=texts, tags=tags, segment=segment)
    checks.same_length(srcs=srcs, refs=refs, domains=domains, glosses=glosses)
    wanted = range(len(srcs)) if segments is None else segments
    kept = [checks.whole("segment", s, 0, len(srcs) - 1) for s in wanted]
    # with all rows on one page there is nothing to choose by domain
    choose = by_domain and not 0 < len(kept) <= show
    candidates, clouds = _thinned(segment, kept), []
    # by row: (choice at β = 0, choice) → place in "pairs"
    found: list[dict] = [{} for _ in kept]
    views, charts = [], []
    for one in judged:
        made, chart = _view(one, segment, domains if choose else [""] * len(srcs), beta, size)
        pairs = zip(kept, found, strict=True)
        made["chains"] = [_chain(one, s, made["digits"], own) for s, own in pairs]
        scored = zip((one.accuracy, one.naturalness), made["digits"], strict=True)
        made["clouds"] = []
        for scores, digits in scored:
            cloud = [np.asarray(scores, float)[own].round(digits).tolist() for own in candidates]
            clouds += [] if cloud in clouds else [cloud]
            made["clouds"].append(clouds.index(cloud))
        views.append(made)
        charts.append(chart)
    rows = [
        {"id": s, "domain": str(domains[s]), "src": srcs[s], "ref": refs[s]}
        | _texts(own, texts, tags)
        | ({"gloss": glosses[s]} if glosses[s] else {})
        for s, own in zip(kept, found, strict=True)
    ]
    shown = dict.fromkeys(tag for row in rows for tag in row["tags"])
    data = {
        "title": title,
        "langs": [html_lang(code) for code in langs],
        "show": int(show),
        "meanings": {tag: said for tag, said in (meanings or {}).items() if tag in shown},
        "clouds": clouds,
        "dots": [[texts[i] for i in own] for own in candidates if view == "one"],
        "rows": rows,
        "judged": views,
    }
    first = dict(zip(("accuracy", "naturalness"), judged[0].judges, strict=True))
    seen = {"view": view if rows else "table", "sentence": rows[0]["id"] if rows else 0}
    return _BetaExplorer.of(charts[0], data=data, beta=beta, **seen, **first)


def explore(*studies: OracleStudy, rng: np.random.Generator | None = None, **options: Any) -> Any:
    """Drag the weight β of naturalness and see which candidates the oracle chooses.

    Parameters
    ----------
    studies : OracleStudy
        Of the same texts, as `plane.oracle_studies` returns them; the page starts with the first.
    rng : Generator, optional
        Draws the intervals of the systems.
    **options
        beta, view, title, segments, show, by_domain, size as in `beta_explorer`. View "hero" opens a page: a guess, and
        the first of `segments` on a slider from faithful to natural; a switch allows candidates with the tag `aside`.
    """
    if len({(one.test.srcs, tuple(one.cands.texts)) for one in studies}) != 1:
        raise DataError("explore: expected one or more studies of the same sources and candidates.")
    if options.get("view") == "hero":
        return _opening(studies[0], **options)
    test, cands = studies[0].test, studies[0].cands
    rng = rng or np.random.default_rng(0)
    refs = [""] * len(test) if test.reference is None else test.refs[test.reference]
    given: dict[str, Any] = {"segment": cands.segment, "tags": cands.tags}
    given |= {"meanings": _tag_meanings(), "glosses": test.glosses}
    given["langs"] = test.src_lang, test.trg_lang
    given["domains"] = test.domains if len(set(test.domains)) > 1 else None
    judged = [_judged(one, rng) for one in studies]
    return beta_explorer(judged, test.srcs, refs, cands.texts, **given, **options)


def _judged(study: OracleStudy, rng: np.random.Generator) -> _Judged:
    """A study as one pair of metrics."""
    judges = study.metrics[0].name, study.metrics[1].name
    names: Any = zip(*map(_named, study.metrics), strict=True)

    def systems(name: str) -> pd.DataFrame | None:
        part = study if name == _ALL else study.domain(name)
        return part.systems(rng) if study.test.systems else None

    facts = study.curve, study.accuracy, study.naturalness, systems, judges
    return _Judged(*facts, *names, *map(_axis_title, study.metrics))


def _named(metric: Metric) -> tuple[str, str]:
    """The oriented score in a list, and in the readout."""
    if metric.name in RATED.values():
        return "ratings", metric.label
    sign = "" if metric.higher_is_better else "−"
    return _SHORT.get(metric.name, (f"{sign}{metric.label}",) * 2)


def _axis_title(metric: Metric) -> str:
    if metric.name not in _SHORT:
        return metric.oriented_title
    return f"{_SHORT[metric.name][0]} ({metric.unit}, higher is {metric.praise})"


class _BetaExplorer(Widget, files="sentence.js explorer.js explorer.css"):
    """The widget that `beta_explorer` makes; its traits follow the page and can be set.

    Attributes
    ----------
    beta : float
    accuracy, naturalness : str
        The metrics, by name. On the page β keeps its place along the curve when they change.
    view, sentence : str, int
        "one" or "table"; the segment that "one" shows.
    domain, page, order : str, int, str
    """

    noun = "β explorer"
    beta = _unbounded(1.0)
    accuracy = traitlets.Unicode().tag(sync=True)
    naturalness = traitlets.Unicode().tag(sync=True)
    domain = traitlets.Unicode(_ALL).tag(sync=True)
    page = traitlets.Int(1).tag(sync=True)
    view = traitlets.Enum(_VIEWS, "table").tag(sync=True)
    sentence = traitlets.Int().tag(sync=True)
    order = traitlets.Enum(["document", "changes"], "document").tag(sync=True)

    @property
    def _pairs(self) -> list[tuple[str, str]]:
        return [tuple(one["judges"]) for one in self.data["judged"]]

    @traitlets.validate("accuracy", "naturalness", "domain")
    def _valid_name(self, proposal: Any) -> Any:
        name = proposal["trait"].name
        known = {
            "accuracy": [a for a, _ in self._pairs],
            "naturalness": [n for a, n in self._pairs if a == self.accuracy],
            "domain": [one["name"] for one in self.data["judged"][0]["choices"]],
        }
        return checks.one_of(proposal["value"], known[name], name)

    @traitlets.observe("accuracy")
    def _pair_with_accuracy(self, change: Any) -> None:
        beside = [n for a, n in self._pairs if a == change["new"]]
        if self.naturalness not in beside:
            self.naturalness = beside[0]

    def values(self) -> pd.DataFrame:
        """Return the choices at the current β for the current metrics, a row for each segment.

        Columns: segment, domain, beta, source, reference, translation, tag, accuracy, naturalness.
        """
        judged = self._pairs.index((self.accuracy, self.naturalness))
        rows = range(len(self.data["rows"]))
        return pd.DataFrame([_choice(self.data, i, self.beta, judged) for i in rows])

    def table(self, betas: Sequence[float] = (0, 1, math.inf)) -> pd.DataFrame:
        """Return the first page of rows at several β for the first metrics; columns as in `values`."""
        rows = range(min(self.data["show"], len(self.data["rows"])))
        return pd.DataFrame([_choice(self.data, i, beta) for i in rows for beta in betas])

    def __repr__(self) -> str:
        judges = f"{self.accuracy} × {self.naturalness}, " if len(self._pairs) > 1 else ""
        rows = f"domain {self.domain!r}, {len(self.data['rows'])} segments"
        return f"BetaExplorer({judges}{beta_label(self.beta)}, {rows})"

    def static_html(self) -> str:
        data, betas = self.data, (0, 1, math.inf)
        rows = [_static_row(data, i, betas) for i in range(min(data["show"], len(data["rows"])))]
        heads = ("Source", "Reference", *map(beta_label, betas))
        table = _plain_table("The oracle's choices", heads, rows) if rows else ""
        return _static_page(data["judged"][0]["choices"][0], table, title=data["title"])


class _Opening(Widget, files="sentence.js hero.js explorer.css own.css"):
    """The widget that `explore` makes of view "hero"; its traits follow the page and can be set.

    Attributes
    ----------
    place : float
        The slider: 0, then 1 for each change of choice.
    allowed : bool
        Whether all candidates count.
    guess : float, optional
    """

    noun = "from faithful to natural"
    place = traitlets.Float(0.0).tag(sync=True)
    allowed = traitlets.Bool(False).tag(sync=True)
    guess = traitlets.Float(None, allow_none=True).tag(sync=True)

    def blank(self) -> dict[str, Any]:
        """Nothing guessed, nothing dragged."""
        return {"place": 0.0, "allowed": False, "guess": None}

    def __repr__(self) -> str:
        return f"Opening({len(self.data['texts'])} candidates of one source)"

    def static_html(self) -> str:
        data, columns = self.data, ("texts", "accuracy", "naturalness")
        rows = [[str(data[name][i]) for name in columns] for i in data["ways"][0]]
        heads = ("from faithful to natural", "accuracy", "naturalness")
        table = _plain_table(data["src"], heads, rows)
        return f"{table}<p>{html.escape(data['note'])}</p>"


def _opening(
    study: OracleStudy, segments: Sequence[int], aside: str = "", title: str = "", view: str = ""
) -> _Opening:
    """One sentence: its candidates, and the oracle's choices among all not tagged `aside`, and among all."""
    test, cands, tags = study.test, study.cands, np.array(study.cands.tags, dtype=object)
    s = checks.whole("segment", segments[0], 0, len(test) - 1)
    own = np.flatnonzero(cands.segment == s)
    scores = study.accuracy, study.naturalness
    ways, paid = [], []
    for kept in [tags != aside] * (aside in {*tags} - {""}) + [np.full(len(tags), True)]:
        rows = np.flatnonzero(kept)
        curve = oracle_curve(cands.segment[rows], *(values[rows] for values in scores))
        ways.append((rows[curve.chain_candidate[curve.chain_segment == s]] - own[0]).tolist())
        paid.append(round(float(curve.accuracy[0] - curve.accuracy[-1]), 2))
    digits = [digits_of(values[own[ways[-1]]]) for values in scores]
    rounded = [values[own].round(n).tolist() for values, n in zip(scores, digits, strict=True)]
    rated = all(metric.name in RATED.values() for metric in study.metrics)
    labels = ["" if rated else f" ({_named(metric)[0]})" for metric in study.metrics]
    note = "Accuracy: {.oriented_title}. Naturalness: {.oriented_title}.".format(*study.metrics)
    data: dict[str, Any] = {
        "title": title,
        "langs": [html_lang(code) for code in (test.src_lang, test.trg_lang)],
        "src": test.srcs[s],
        "gloss": test.glosses[s] if test.glosses else "",
        "texts": [cands.texts[i] for i in own],
        "aside": (tags[own] == aside).tolist(),
        "accuracy": rounded[0],
        "naturalness": rounded[1],
        "digits": digits,
        "ways": ways,
        "paid": paid,
        "n": len(test),
        "points": f"points for accuracy{labels[0]}",
        "axes": [f"↑ accuracy{labels[0]}", f"naturalness{labels[1]} →"],
        "note": "Points: ratings from 0 to 100 by a large language model." if rated else note,
    }
    return _Opening.of(data=data)


def _view(
    one: _Judged, segment: np.ndarray, domains: Sequence[str], beta: float, size: tuple[int, int]
) -> tuple[dict, Any]:
    """Data of one pair of metrics, without texts, and the chart of all segments."""
    accuracy, naturalness = (np.asarray(v, dtype=float) for v in (one.accuracy, one.naturalness))
    counted = range(one.curve.n_candidates)
    checks.same_length(curve=counted, segment=segment, accuracy=accuracy, naturalness=naturalness)
    checks.same_length(curve=range(one.curve.n_segments), domains=domains)
    curves = {_ALL: one.curve}
    for name in dict.fromkeys(filter(None, domains)):
        inside = (np.array(domains, dtype=object) == name)[segment]
        ids = np.unique(segment[inside], return_inverse=True)[1]
        curves[str(name)] = oracle_curve(ids, accuracy[inside], naturalness[inside])
    systems = {
        name: one.systems(name) if callable(one.systems) else one.systems if name == _ALL else None
        for name in curves
    }
    # without their intervals: those of a domain of three documents would stretch the axes of all
    there = (t for t in systems.values() if t is not None)
    points = [table.drop(columns=_ENDS, errors="ignore") for table in there]
    ranges = axis_ranges(curves.values(), [systems[_ALL], *points])
    titles = {"accuracy_title": one.accuracy_title, "naturalness_title": one.naturalness_title}
    look: dict[str, Any] = {"ranges": ranges, "size": size, "point": beta, **titles}
    charts = {n: plot_curve(c, _clipped(systems[n], ranges), **look) for n, c in curves.items()}
    drawings = {name: drawn(chart) for name, chart in charts.items()}
    boxes = [one.pop("box") for one in drawings.values()]
    digits = [digits_of(v[one.curve.chain_candidate]) for v in (accuracy, naturalness)]
    data = {name: list(getattr(one, name)) for name in ("judges", "labels", "names")}
    data |= {
        "digits": digits,
        "box": boxes[0],
        "choices": [
            {
                "name": name,
                "count": curve.n_segments,
                **drawings[name],
                "beta": curve.beta.tolist(),
                "accuracy": curve.accuracy.round(digits[0] + 3).tolist(),
                "naturalness": curve.naturalness.round(digits[1] + 3).tolist(),
            }
            for name, curve in curves.items()
        ],
    }
    return data, charts[_ALL]


def _clipped(systems: pd.DataFrame | None, ranges: Any) -> pd.DataFrame | None:
    """The systems with intervals that end where the picture does."""
    if systems is None:
        return None
    spans = dict(zip(("naturalness", "accuracy"), ranges, strict=True))
    ends = {c: systems[c].clip(*spans[c.split("_")[0]]) for c in _ENDS if c in systems}
    return systems.assign(**ends)


def _thinned(segment: np.ndarray, rows: Iterable[int]) -> list[np.ndarray]:
    """The candidates of each row that are drawn as points, at most `_MOST_POINTS`."""
    own = [np.flatnonzero(segment == s) for s in rows]
    thin = [np.linspace(0, len(k) - 1, min(len(k), _MOST_POINTS)).astype(int) for k in own]
    return [k[at] for k, at in zip(own, thin, strict=True)]


def _chain(one: _Judged, s: int, digits: list[int], found: dict[tuple[int, int], int]) -> dict:
    """The hull of a segment: the β from which each translation wins, its place, its scores."""
    low, high = np.searchsorted(one.curve.chain_segment, [s, s + 1])
    chain = one.curve.chain_candidate[low:high].tolist()
    scores = (np.asarray(one.accuracy, float), np.asarray(one.naturalness, float))
    rounded = [v[chain].round(d).tolist() for v, d in zip(scores, digits, strict=True)]
    return {
        "beta": one.curve.chain_beta[low:high].tolist(),
        "at": [found.setdefault((chain[0], i), len(found)) for i in chain],
        "accuracy": rounded[0],
        "naturalness": rounded[1],
    }


def _texts(found: dict[tuple[int, int], int], texts: list[str], tags: Sequence[str]) -> dict:
    """Each text once, with its tag; pairs: [new text, text at β = 0, edits or None]."""
    shown = list(dict.fromkeys(i for pair in found for i in pair))
    pairs = []
    for first, i in found:
        edits = _word_edits(texts[first], texts[i])
        places = None if edits is None else _in_utf16(texts[first], texts[i], edits)
        pairs.append([shown.index(i), shown.index(first), places])
    return {
        "texts": [texts[i] for i in shown],
        "tags": [str(tags[i]) for i in shown],
        "pairs": pairs,
    }


def _choice(data: dict, i: int, beta: float, judged: int = 0) -> dict:
    """The oracle's choice for row `i` of `data` at one β, as a record."""
    row, chain = data["rows"][i], data["judged"][judged]["chains"][i]
    k = bisect_right(chain["beta"], beta) - 1 if beta > 0 else 0
    at = row["pairs"][chain["at"][k]][0]
    return {
        "segment": row["id"],
        "domain": row["domain"],
        "beta": beta,
        "source": row["src"],
        "reference": row["ref"],
        "translation": row["texts"][at],
        "tag": row["tags"][at],
        "accuracy": chain["accuracy"][k],
        "naturalness": chain["naturalness"][k],
    }


def _static_row(data: dict, i: int, betas: Sequence[float]) -> list[str]:
    first, row = data["judged"][0], data["rows"][i]
    gloss = f" (word for word: {row['gloss']})" if "gloss" in row else ""
    cells = [row["src"] + gloss, row["ref"]]
    for beta in betas:
        chosen = _choice(data, i, beta)
        columns = zip(first["names"], ("accuracy", "naturalness"), first["digits"], strict=True)
        scores = [f"{name}\u00a0{number(chosen[column], n)}" for name, column, n in columns]
        cells.append(" · ".join(filter(None, [chosen["translation"], chosen["tag"], *scores])))
    return cells


# ---- edits: what was struck out of one translation, and what was inserted, to make another

# from, to in the old text; from, to in the new one
_Edit = tuple[int, int, int, int]
# above this share of changed words, marks say less than the two texts
_ALMOST_ALL = 0.5
# in scripts without spaces each character is a word; a dash without spaces separates two words
_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(f"[{_CJK}—–]|[^\\s{_CJK}—–]+")


def _word_edits(old: str, new: str) -> list[_Edit] | None:
    """Places of deleted and inserted words; None where almost all of them changed.

    >>> _word_edits("the dog barks loudly", "the small dog barks")
    [(4, 4, 4, 9), (14, 20, 19, 19)]
    """
    a, b = list(_WORD.finditer(old)), list(_WORD.finditer(new))
    words = [word.group() for word in a], [word.group() for word in b]
    edits, changed = [], 0
    for kind, i, at, j, to in SequenceMatcher(None, *words, autojunk=False).get_opcodes():
        if kind != "equal":
            edits.append((*_span(a, i, at, len(old)), *_span(b, j, to, len(new))))
            changed += at - i + to - j
    return None if changed > _ALMOST_ALL * (len(a) + len(b)) else edits


def _span(words: Sequence[re.Match], first: int, end: int, length: int) -> tuple[int, int]:
    """From the first to the last of some words; of none, twice where the next one begins."""
    if first < end:
        return words[first].start(), words[end - 1].end()
    return (words[first].start(),) * 2 if first < len(words) else (length,) * 2


def _in_utf16(old: str, new: str, edits: Sequence[_Edit]) -> list[int]:
    """The four places of every edit in UTF-16 units, as JavaScript counts.

    >>> _in_utf16("🐕 barks", "🐈 barks", [(0, 1, 0, 1)])
    [0, 2, 0, 2]
    """
    return [
        len(text[:place].encode("utf-16-le")) // 2
        for edit in edits
        for text, place in zip((old, old, new, new), edit, strict=True)
    ]


def _tag_meanings() -> dict[str, str]:
    """Return tag of a candidate of the teaching sets -> a sentence about it."""
    return dict(line.split("\t", 1) for line in read_lines(bundled("teaching/tags.tsv")))
