"""Bundled scores of WMT's systems, a table per test set: real systems on the plane without their texts."""

from __future__ import annotations

import lzma
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import sha256
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks
from .._lazy import pd
from ..accuracy import bleu
from ..accuracy.surface import surface_metric
from ..data.external import Family
from ..data.fetch import bundled
from ..data.io import parse_json
from ..data.schema import TestSet
from ..errors import DataError
from ..metrics import LPP_DISTANCE, Given, Metric, signature_of
from ..naturalness.lpp import Mono, lpp_distance_metric
from ..naturalness.native import load_heads, native_metric
from ..progress import note_once
from .cache import OFFERS

FOLDER, SUFFIX = "scores", ".csv.xz"
COLUMNS = {
    "chrf": ["chrf"],
    "bleu": ["bleu_length", "bleu_reference", *(f"bleu_matches_{n}" for n in range(1, 5))],
    "lpp": ["lpp_total", "lpp_tokens"],
    "native": ["native_head", "fluent_head"],
}
"""Metric -> its columns in a file: scores, counts, or what a model computes of a text."""


@dataclass(frozen=True, eq=False, repr=False)
class _ScoreTable:
    """Scores of a test set's systems and references, from `load_scores`.

    Parameters
    ----------
    test : TestSet
        Labels such as "[GPT-4, segment 7]" in place of texts: equal outputs of a segment have one label, a blank one is
        "". Of several references the first is compared with, the others are human systems. `test.stored` has the
        metrics, so that ``an.oracle_study(table.test, an.from_systems(table.test))`` works.
    frame : DataFrame
        A row per segment and reference or system: system, segment (from 0), doc, domain, words, and a column per
        metric of segments in its own unit and direction; nan without a score.
    mono : Mono or None
        R with stored log-probabilities, as labels.
    """

    test: TestSet
    frame: pd.DataFrame
    mono: Mono | None

    def __repr__(self) -> str:
        sizes = f"{len(self.test)} segments, {len(self.systems)} systems"
        return f"ScoreTable({self.test.name}: {sizes}; {', '.join(self.metrics)})"

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, without people."""
        return tuple(s for s, kind in self.test.categories.items() if kind != "human")

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """Name -> metric of the stored scores, with the signature under which they were made."""
        return self.test.stored


def score_tables() -> list[str]:
    """Names of the test sets with bundled scores.

    >>> "wmt24/en-de" in score_tables()
    True
    """
    files = (path.name for path in bundled(FOLDER).iterdir())
    return sorted(f.removesuffix(SUFFIX).replace(".", "/", 1) for f in files if f.endswith(SUFFIX))


@cache
def _read(name: str) -> tuple[dict[str, Any], pd.DataFrame]:
    """Head and rows of a file; rows are by segment, then references before systems."""
    path = Path(name)
    if not path.is_file():
        checks.one_of(name, score_tables(), "table of scores", "Make one: make wmt24-tables.")
        path = bundled(f"{FOLDER}/{name.replace('/', '.', 1)}{SUFFIX}")
    try:
        first, body = lzma.decompress(path.read_bytes()).split(b"\n", 1)
        head, rows = parse_json(first, path, 1), pd.read_csv(BytesIO(body))
        n, k = len(head["docs"]), len(head["digests"])
        wanted = [column for one in head["metrics"] for column in COLUMNS[one]]
        if len(rows) != n * k or not {"output", "words", *wanted} <= {*rows}:
            raise ValueError(f"{len(rows)} rows of {n} segments and {k} systems or references")
    except (lzma.LZMAError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"cannot be read as a table of scores: {error!r:.80}.", path) from None
    return head, rows


def load_scores(name: str | PathLike) -> _ScoreTable:
    """Load the scores of a test set's systems, which need neither its texts nor a model.

    Parameters
    ----------
    name : str or path
        A name of `score_tables`, such as "wmt24/en-de", or a file that `make wmt24-tables` wrote.

    Raises
    ------
    UnknownName : no such table. DataError : a damaged file, or scores by other heads than the bundled ones.

    >>> table = load_scores("wmt24/en-de")
    >>> table
    ScoreTable(wmt24/en-de: 997 segments, 26 systems; chrf, bleu, lpp, native, lpp-distance, metricx, cometkiwi)
    >>> means = table.frame.groupby(["domain", "system"])[["chrf", "lpp"]].mean()  # a lower lpp is more natural
    >>> means.loc["news", "GPT-4"].round(1).tolist()
    [61.7, 3.8]
    """
    head, rows = _read(str(name))
    names, n, lang = [*head["digests"]], len(head["docs"]), head["lp"].partition("-")[2]
    lines = []
    for i, line in enumerate(rows.output.to_numpy().reshape(n, -1).tolist(), 1):
        first = dict(zip(line[::-1], names[::-1], strict=True))  # equal outputs: that of the first
        lines.append([f"[{first[one]}, segment {i}]" if one >= 0 else "" for one in line])
    texts = dict(zip(names, zip(*lines, strict=True), strict=True))
    where = np.repeat(np.arange(n), len(names))
    frame = pd.DataFrame({"system": names * n, "segment": where})
    frame["doc"], frame["domain"] = np.array(head["docs"])[where], np.array(head["domains"])[where]
    frame["words"] = rows.words
    mono, stored = None, {}
    labels = [label for line in lines for label in line]
    for one, about in head["metrics"].items():
        values = rows[COLUMNS[one]].to_numpy(np.float64)
        of_label: dict[str, Sequence[float]] = dict(zip(labels, values, strict=True))
        of_label[""] = [np.nan] * values.shape[1]
        if one == "lpp" and "mono" in head:
            r = head["mono"]
            of_r = {f"[{r['name']}, text {i}]": row for i, row in enumerate(r["lpp"], 1)}
            mono, of_label = Mono(tuple(of_r), r["name"], r["signature"]), of_label | of_r
        lookup = _Rows(
            one, of_label, dict(zip(texts[names[0]], values[:: len(names)], strict=True))
        )
        stored[one] = _metric(one, about, lookup, lang)
        if one != "bleu":  # of a corpus, not of segments
            frame[one] = _scored(one, values, lang)
    if mono is not None:
        stored[LPP_DISTANCE] = lpp_distance_metric(stored["lpp"], mono)
    for one, about in head["of_systems"].items():
        stored[one] = _of_systems(one, about["metric"], about["scores"], head["name"])
    first, *others = head["references"]
    kinds = head["systems"] | dict.fromkeys(others, "human")
    note = f"{head['name']}: no texts; scores are stored, and labels take the place of the texts."
    sides = {first: texts[first]}, {name: texts[name] for name in kinds}
    facts = *sides, head["docs"], head["domains"], kinds, (note,)
    test = TestSet(head["name"], head["lp"], ("",) * n, *facts, stored=stored)
    return _ScoreTable(test, frame, mono)


@dataclass(frozen=True)
class _Rows:
    """Stored rows of a metric by label: (texts, their references) -> (n, columns).

    `of_reference` has the rows of the reference with which all were compared.
    """

    name: str
    rows: Mapping[str, Sequence[float]]
    of_reference: Mapping[str, np.ndarray]

    def __call__(self, hyps: Sequence[str], refs: Any = None, segment: Any = None) -> np.ndarray:
        found = [self.rows.get(text) for text in hyps]
        missing = [text for text, row in zip(hyps, found, strict=True) if row is None]
        if missing:
            raise DataError(f"{self.name}: no stored score of '{missing[0]:.40}'. Load the texts.")
        values = np.array(found, np.float64).reshape(len(hyps), -1)
        if refs is not None:  # a blank text has no match and the length of its reference
            if len(refs) != 1 or not self.of_reference.keys() >= {*refs[0]}:
                raise DataError(f"{self.name}: stored for one reference. Load the texts.")
            of = np.arange(len(hyps)) if segment is None else np.asarray(segment)
            for i in [i for i, text in enumerate(hyps) if not text]:
                values[i] = 0
                values[i, 1:2] = self.of_reference[refs[0][of[i]]][1:2]
        return values


def _scored(name: str, values: np.ndarray, lang: str) -> np.ndarray:
    """(n,) scores by a metric of its columns."""
    if name == "native":
        return load_heads(lang).score(values)
    if name == "lpp":
        return -values[:, 0] / values[:, 1]
    return (
        bleu.scores(_bleu_counts(values), effective_order=True) if name == "bleu" else values[:, 0]
    )


def _bleu_counts(values: np.ndarray) -> np.ndarray:
    """(n, 10) counts of lengths and matches, as `accuracy.bleu` counts them: n-grams follow from the length."""
    return np.hstack([values, np.maximum(values[:, :1] - np.arange(4), 0)])


def _metric(name: str, about: Mapping[str, str], rows: _Rows, lang: str) -> Metric:
    """The metric of stored scores, with the signature under which they were made."""
    if name == "native":
        base = native_metric(load_heads(lang), lang)
        if base.signature != about["signature"]:
            raise DataError(
                "native: the table is of other heads than the bundled ones. Make it again."
            )
    elif name == "lpp":
        label, unit = f"log-perplexity under {about['model']}", "nats per token"
        base = Metric(name, label, unit, False, (), "", None, bounds=(0.0, np.inf))
    else:
        base = replace(surface_metric(name, lang), score_corpus=None, count=None, score_count=None)

    def score_segments(
        hyps: Sequence[str], refs: Any = None, srcs: Any = None, segment: Any = None
    ) -> np.ndarray:
        return _scored(name, rows(hyps, refs if base.needs else None, segment), lang)

    corpus = about.get("corpus_signature")
    made = replace(
        base, signature=about["signature"], corpus_signature=corpus, score_segments=score_segments
    )
    if name != "bleu":
        return made
    of_sums = partial(bleu.scores, effective_order=False)

    def count(hyps: Sequence[str], refs: Any, segment: Any = None) -> np.ndarray:
        return _bleu_counts(rows(hyps, refs, segment))

    def score_corpus(hyps: Sequence[str], refs: Any, srcs: Any = None) -> float:
        return float(of_sums(count(hyps, refs).sum(0)))

    return replace(made, score_corpus=score_corpus, count=count, score_count=of_sums)


def _of_systems(name: str, called: str, scores: Mapping[str, float], where: str) -> Metric:
    """A metric with one stored score per system; nan without."""
    family = Family.of(called)
    if family is None:
        raise DataError(f"{called}: no direction is known.", where)

    def score_systems(test: TestSet) -> Given:
        return Given(np.array([scores.get(system, np.nan) for system in test.systems]))

    signature = signature_of({"stored": None, "metric": called, "from": where})
    facts = name, f"{called}, stored", family.unit, family.higher_is_better, (), signature, None
    return Metric(*facts, bounds=family.bounds, score_systems=score_systems)


def _digest(texts: Sequence[str]) -> str:
    """12 hex digits of the sha256 of the texts of a system."""
    return sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _offered(
    test: TestSet, mono: Callable[[], Sequence[str]], signature: str
) -> dict[str, np.ndarray]:
    """Text -> what `cached` keeps under a signature, of R and those systems whose texts are the table's."""
    head, rows = _read(test.name)
    own = {**test.systems, **test.refs}
    found: dict[str, np.ndarray] = {}
    same = {s for s, mark in head["digests"].items() if s in own and _digest(own[s]) == mark}
    if other := [s for s in own if s in head["digests"] and s not in same]:
        note_once(f"{test.name}: not the texts of the stored scores: {', '.join(other):.80}.")
    for name, about in head["metrics"].items():
        if about["signature"] == signature:
            values = rows[COLUMNS[name]].to_numpy(np.float64)
            if name == "lpp":
                tokens = np.nan_to_num(values[:, 1])
                values = np.column_stack([values[:, 0], tokens, 0 * tokens])  # none is in windows
            for j, system in enumerate(head["digests"]):
                if system in same:
                    texts = [own[system][i] for i in head["segments"]]
                    found |= zip(texts, values[j :: len(head["digests"])], strict=True)
            if name == "lpp" and "mono" in head:
                r, of_r = head["mono"], tuple(mono())
                if Mono(of_r).signature == r["signature"]:
                    found |= zip(of_r, (np.array([*row, 0.0]) for row in r["lpp"]), strict=True)
    return found


def offer(test: TestSet, mono: Callable[[], Sequence[str]] = tuple) -> TestSet:
    """The same test set, whose stored scores are found instead of computed, if its texts are those of a table.

    `mono` returns R, whose stored scores are found as well.
    """
    if test.name in score_tables():
        OFFERS[test.name] = cache(partial(_offered, test, mono))
    return test
