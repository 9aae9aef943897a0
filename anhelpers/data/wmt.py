"""Read the text trees of the WMT general tasks, in three layouts, and the folders of mt-metrics-eval.

2025: ``systems/SYSTEM.jsonl`` with a document a line, and no sources or references
2024: ``sources/LP.txt  references/LP.REF.txt  system-outputs/LP/SYSTEM.txt  documents/LP.docs``
2023: ``sources/TEST.LP.src.en  references/TEST.LP.ref.REF.de  system-outputs/TEST.LP.hyp.SYSTEM.de``
Optional, in the tree or beside its folder ``txt``: ``systems.tsv`` (``system<TAB>category``; by default the bundled
`TABLES` of wmt24/… and wmt23/…) and ``glosses.txt``, each source in plain English.

The categories follow Figure 2 of AN (Flamich et al. 2025), which distinguishes LLMs, systems trained for MT, online
systems and a human reference, and Kocmi et al. 2024 (2024.wmt-1.1):

- LLM: a general-purpose large language model, prompted, as it is.
- MT: trained or tuned for translation, whatever its base: Unbabel-Tower70B and IKUN are MT.
- online: an anonymised service, ONLINE-*. human: a reference. unknown: not in the table.

A participant's system of unknown design counts as MT. A `claim` that starts with "judgement call" needed a decision;
`source` is an id of aclanthology.org.

Folders of mt-metrics-eval (https://github.com/google-research/mt-metrics-eval) have texts in the layout of 2024, and
scores of people and metrics: ``metric-scores/LP/METRIC-REF.LEVEL.score`` and ``human-scores/LP.NAME.LEVEL.score`` have
a line ``system<TAB>score`` per segment (level "seg") or system ("sys"). Higher is better: MQM points are negated.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from .._lazy import pd
from ..errors import DataError
from . import io
from .fetch import bundled
from .io import _read_jsonl, _refuse, _stem_of, _suffix_of, _value_of, read_lines, read_table
from .languages import _split_pair
from .plain import _is_canary, _ParallelFiles, _read_parallel
from .schema import CATEGORIES, NO_TRANSLATION, TestSet

# The bundled tables of systems: system, category, lp (its language pairs), claim, source.
TABLES = {
    "wmt24": "wmt24_systems.csv",
    "wmt23": "wmt23_systems.csv",
    "wmt21-ted": "wmt21_ted_systems.csv",
}
_DEFAULT_REFERENCE = dict.fromkeys(
    ("wmt24/en-de", "teaching", "teaching/en-de", "teaching/de-en"), "refB"
)  # the standard reference of the task; refA is a second human, or that of which candidates are variants
_DOC_2025 = re.compile(rb'"doc_id"\s*:\s*"(\w+-\w+)_#_')
_SOURCE_2023 = re.compile(r"(?P<test>.+)\.(?P<lp>[^.]+)\.src\.[^.]+")


def system_categories(name: str | PathLike) -> dict[str, str]:
    """Return system -> category of a bundled table, or of an edited copy of one.

    Parameters
    ----------
    name : str or path
        "wmt24", "wmt23", "wmt21-ted" (TED talks of the WMT21 metrics task), or a CSV file.

    Raises
    ------
    UnknownName : neither a table nor a file. DataError : an unknown category, or a repeated system.

    >>> categories = system_categories("wmt24")
    >>> categories["GPT-4"], categories["Unbabel-Tower70B"], categories["ONLINE-B"], categories["refA"]
    ('LLM', 'MT', 'online', 'human')
    """
    if os.path.isfile(name) and str(name) not in TABLES:
        return _read_categories(name)
    return _read_categories(bundled(TABLES[checks.one_of(str(name), TABLES, "table of systems")]))


def _read_categories(path: str | PathLike) -> dict[str, str]:
    """Return system -> category of a file with these columns; the header may be missing."""
    columns = {"system": str, "category": str}
    header = next(iter(read_lines(path)), "").startswith("system")
    table = read_table(path, columns, names=None if header else [*columns], keys=["system"])
    known = ", ".join(CATEGORIES)
    wrong = ~table.category.isin(CATEGORIES) | (table.system == "")
    _refuse(wrong, f"expected a system and one of {known}", path, table[[*columns]])
    return dict(zip(table.system, table.category, strict=True))


def _read_wmt(
    folder: str | PathLike,
    lp: str,
    *,
    year: int | None = None,
    reference: str | None = None,
    name: str = "",
    exclude: Collection[str] = (),
) -> TestSet:
    """Read the test set of one language pair from a WMT text tree.

    Parameters
    ----------
    folder : path
        The tree, or the folder that holds it as ``txt``.
    lp : str
        Language pair, for example "en-de".
    year : int, optional
        The layout, 2023 to 2025; by default that in which the tree has `lp`.
    reference : str, optional
        The default reference; by default the standard one of the task, else the first by name.
    name : str
        Of the set; by default wmt23/LP, wmt24/LP for files with WMT24's canary, or FOLDER/LP.
    exclude : collection of str
        Systems whose files are not read; those with a reference's name are.

    Raises
    ------
    UnknownName : no such language pair or reference. DataError : files that do not belong together.
    """
    _split_pair(lp)
    pairs = {pair: own for pair, own in _language_pairs(folder).items() if year in (None, own)}
    layout = pairs[checks.one_of(lp, pairs, "language pair")]
    if layout == 2025:
        test = _read_2025(Path(folder), lp, name or f"{Path(folder).resolve().name}/{lp}", exclude)
        return test.with_reference(reference) if reference else test
    root = _root(Path(folder))
    files = _find_2023(root, lp) if layout == 2023 else _find_2024(root, lp)
    unread = [s for s in files.systems if s in exclude and s not in files.refs]
    files = replace(files, systems={s: p for s, p in files.systems.items() if s not in unread})
    if not name:
        top = root.resolve().parent if root.name == "txt" else root.resolve()
        canary = layout == 2024 and _is_canary(read_lines(files.src))
        name = f"{f'wmt{layout - 2000}' if layout == 2023 or canary else top.name}/{lp}"
    test = _read_parallel(name, lp, files, _categories_of(name, root, files))
    # beside a tree of one pair, a line for each source
    file = _beside(root, "glosses.txt") if len(_language_pairs(root)) == 1 else None
    glosses = read_lines(file, len(test)) if file else ()
    test = replace(test, glosses=glosses, unread=tuple(unread))
    default = _DEFAULT_REFERENCE.get(test.name)
    chosen = reference or (default if default in test.refs else None)
    return test.with_reference(chosen) if chosen else test


def _language_pairs(folder: str | PathLike) -> dict[str, int]:
    """Return the language pairs of a tree, each with the year of its layout."""
    if files := _files(Path(folder, "systems"), "*", ".jsonl"):  # WMT25
        docs = {doc for path in files for doc in _DOC_2025.findall(io.read_bytes(path))}
        return dict.fromkeys(sorted(_pair_2025(doc.decode()) for doc in docs), 2025)
    sources = [path.name for path in _files(_root(Path(folder)) / "sources", "*")]
    pairs = {match["lp"]: 2023 for name in sources if (match := _SOURCE_2023.fullmatch(name))}
    texts = [_stem_of(name) for name in sources if _suffix_of(name) == ".txt"]
    return pairs | {name: 2024 for name in texts if re.fullmatch(r"[^.]+-[^.]+", name)}


def _find_2024(root: Path, lp: str) -> _ParallelFiles:
    """Return the files of a language pair in the layout of 2024, which mt-metrics-eval shares."""
    sources = _named(_files(root / "sources", f"{lp}.*", ".txt"))
    return _ParallelFiles(
        sources.get(lp, root / "sources" / f"{lp}.txt"),
        _named(_files(root / "references", f"{lp}.*", ".txt"), f"{lp}."),
        _named(_files(root / "system-outputs" / lp, "*", ".txt")),
        _named(_files(root / "documents", f"{lp}.*", ".docs")).get(lp),
    )


def _find_2023(root: Path, lp: str) -> _ParallelFiles:
    """Return the files of a language pair in the layout of 2023."""
    sources = _files(root / "sources", f"*.{lp}.src.*")
    if len(sources) != 1:
        raise DataError(f"got {len(sources)} files of sources for {lp}, expected 1.", root)
    test = sources[0].name.rpartition(f".{lp}.src.")[0]
    refs, hyps = (
        _named(
            (p for p in _files(root / folder, f"{prefix}*") if len(_stem_of(p)) > len(prefix)),
            prefix,
        )
        for folder, prefix in (
            ("references", f"{test}.{lp}.ref."),
            ("system-outputs", f"{test}.{lp}.hyp."),
        )
    )
    docs = _named(_files(root / "documents", f"{test}.{lp}.*", ".docs")).get(f"{test}.{lp}")
    return _ParallelFiles(sources[0], refs, hyps, docs)


def _beside(root: Path, name: str) -> Path | None:
    """Return a file in a tree, or in the folder whose txt it is."""
    places = [root, root.parent] if root.name == "txt" else [root]
    return next((folder / name for folder in places if os.path.lexists(folder / name)), None)


def _categories_of(name: str, root: Path, files: _ParallelFiles) -> dict[str, str]:
    """Return the categories of the systems of a language pair, by systems.tsv, else by the task's table.

    A system with a reference's name is human.
    """
    task, own = name.split("/")[0], _beside(root, "systems.tsv")
    given = _read_categories(own) if own else system_categories(task) if task in TABLES else {}
    human = dict.fromkeys((system for system in files.systems if system in files.refs), "human")
    return human | {system: given[system] for system in files.systems if system in given}


def _root(folder: Path) -> Path:
    """Return the folder that holds ``sources``: this one, or its ``txt``."""
    for root in (folder, folder / "txt"):
        if (root / "sources").is_dir():
            return root
    raise DataError("no sources or txt/sources in it, expected a WMT tree.", folder)


def _named(paths: Iterable[Path], prefix: str = "") -> dict[str, Path]:
    """Return the part of a file's name between a prefix and its endings -> path."""
    named: dict[str, Path] = {}
    for path in paths:
        name = _stem_of(path).removeprefix(prefix)
        if name in named:
            raise DataError(f"two files are named {name}. Delete one.", path)
        named[name] = path
    return named


def _files(folder: Path, pattern: str, suffix: str = "") -> list[Path]:
    """Return the files of a folder that match and have this ending, compressed or not, sorted by name."""
    return sorted(
        path
        for path in folder.glob(pattern)
        if not path.is_dir() and path.name[0] != "." and suffix in ("", _suffix_of(path))
    )


# -- the layout of 2025 ------------------------------------------------------------------------------------------------

_BETWEEN = "_#_"


def _read_2025(folder: Path, lp: str, name: str, exclude: Collection[str]) -> TestSet:
    """Read one language pair of WMT25; its paragraphs are the segments."""
    texts: dict[str, dict[str, list[str]]] = {}
    files = _files(folder / "systems", "*", ".jsonl")
    unread = tuple(_stem_of(path) for path in files if _stem_of(path) in exclude)
    for path in files:
        if _stem_of(path) in unread:
            continue
        rows = [
            [_value_of(row, key, str, path, line) for key in ("doc_id", "hypothesis")]
            for line, row in enumerate(_read_jsonl(path), 1)
        ]
        docs = {
            d.replace("_#_vid_", _BETWEEN): t.split("\n\n") for d, t in rows if _pair_2025(d) == lp
        }
        if docs:
            texts[_stem_of(path)] = dict(sorted(docs.items()))
    counts = {doc: len(parts) for doc, parts in next(iter(texts.values()), {}).items()}
    for system, found in texts.items():
        if {doc: len(parts) for doc, parts in found.items()} != counts:
            raise DataError(f"{system}: its documents or paragraphs differ.", folder)
    categories = folder / "systems.tsv"
    known = _read_categories(categories) if categories.is_file() else {}
    return TestSet(
        name,
        lp,
        srcs=("",) * sum(counts.values()),
        systems={
            s: tuple(part for parts in of.values() for part in parts) for s, of in texts.items()
        },
        docs=tuple(doc for doc, n in counts.items() for _ in range(n)),
        domains=tuple(doc.split(_BETWEEN)[1] for doc, n in counts.items() for _ in range(n)),
        categories={system: known[system] for system in texts if system in known},
        notes=(
            "no sources, no references: only metrics of the translation alone can be computed.",
        ),
        unread=unread,
    )


def _pair_2025(doc: str) -> str:
    """The language pair of a document of WMT25: "cs-de" of "cs-de_DE_#_news_#_n1"."""
    return doc.partition("_")[0]


# -- mt-metrics-eval ---------------------------------------------------------------------------------------------------

_LEVELS = ("sys", "domain", "doc", "seg")  # of these "seg" and "sys" are read and written
_METRIC_FILE = re.compile(rf"(?P<name>.+)-(?P<ref>[^-]+)\.(?P<level>{'|'.join(_LEVELS)})\.score")
_HUMAN_FILE = re.compile(rf"[^.]+\.(?P<name>.+)\.(?P<level>{'|'.join(_LEVELS)})\.score")
_NAME = re.compile(r"(?!und$)[^\s/\0.][^\s/\0]*")
_REFERENCE = re.compile(r"(?!(?:all|src)$)[^\s/\0.-]+")  # reserved words, and no dots or dashes
_LINE = re.compile("[^\0\n\r]*")


class _StoredScores(NamedTuple):
    """Scores in a folder, by the names with which `read_mme_scores` reads them.

    Parameters
    ----------
    kind : str
        "metric" or "human".
    name : str
        Such as "chrF" or "mqm".
    ref : str, optional
        References that a metric compares with: "refA", "refA.refB", "all", "src" for none; None for people and WMT25.
    levels : tuple of str
        Of "sys", "domain", "doc", "seg".
    """

    kind: str
    name: str
    ref: str | None
    levels: tuple[str, ...]

    @property
    def called(self) -> str:
        """The name with its references, such as "chrF-refA"."""
        return self.name if self.ref is None else f"{self.name}-{self.ref}"


def is_mme(folder: str | PathLike) -> bool:
    """Whether a folder has sources beside folders of scores."""
    scores = any(Path(folder, name).is_dir() for name in ("metric-scores", "human-scores"))
    return scores and Path(folder, "sources").is_dir()


def _read_mme(folder: str | PathLike, lp: str, **options: Any) -> TestSet:
    """Read the test set of one language pair; as `_read_wmt`."""
    name = f"{Path(folder).resolve().name}/{lp}"
    return _read_wmt(folder, lp, year=2024, name=name, **options)


def mme_scores(folder: str | PathLike, lp: str) -> list[_StoredScores]:
    """Return the stored scores of one language pair in a folder, also of WMT25: of metrics, then of people."""
    for path in _files(Path(folder, "automatic_scores"), "*", ".jsonl"):
        for row in _read_jsonl(path):
            if _pair_2025(str(row.get("language_pair"))) == lp:
                names = _value_of(row, "metric_scores", dict, path)
                return [_StoredScores("metric", name, None, ("seg",)) for name in names]
    levels: dict[tuple[str, str, str | None], set[str]] = defaultdict(set)
    for kind, pattern, form in (
        ("metric", f"metric-scores/{lp}/*.score", _METRIC_FILE),
        ("human", f"human-scores/{lp}.*.score", _HUMAN_FILE),
    ):
        for path in sorted(Path(folder).glob(pattern)):
            if match := form.fullmatch(path.name):
                levels[kind, match["name"], match.groupdict().get("ref")].add(match["level"])
    return [
        _StoredScores(kind, name, ref, tuple(level for level in _LEVELS if level in found))
        for (kind, name, ref), found in levels.items()
    ]


def read_mme_scores(
    folder: str | PathLike, lp: str, metric: str, ref: str | None = None
) -> pd.DataFrame:
    """Read the scores of segments by one metric, or by people.

    Parameters
    ----------
    metric : str
        Such as "chrF"; with ``ref=None`` a human score, such as "mqm".
    ref, level : str
        As in `_StoredScores`; "seg" or "sys".

    Returns
    -------
    DataFrame system, segment (not at level "sys"), score: as stored, higher is better; nan for None. The line of a
    canary has no score.
    """
    path, files = _score_path(folder, lp, metric, ref, "seg"), _find_2024(Path(folder), lp)
    if not path.is_file():
        kind = "human" if ref is None else "metric"
        stored = [s for s in mme_scores(folder, lp) if s.kind == kind and "seg" in s.levels]
        known = [s.called for s in stored]
        checks.one_of(f"{metric}-{ref}" if ref else metric, known, f"{kind} score")
    kinds = {"system": str, "score": float}
    table = read_table(path, kinds, names=[*kinds], quoted=False)
    _refuse(~table.system.isin(files.systems), "expected a system of the set", path, table.system)
    sources = read_lines(files.src)
    counts = table.system.value_counts()
    if (odd := counts[counts != len(sources)]).size:
        raise DataError(f"{odd.index[0]}: got {odd.iloc[0]} scores, expected {len(sources)}.", path)
    table.insert(1, "segment", table.groupby("system").cumcount() - int(_is_canary(sources)))
    order = table.system.map({s: k for k, s in enumerate(table.system.unique())})
    table = table.loc[order.sort_values(kind="stable").index]
    return table[table.segment >= 0].reset_index(drop=True)


def _score_path(folder: str | PathLike, lp: str, metric: str, ref: str | None, level: str) -> Path:
    """The file of some scores."""
    if ref is None:
        return Path(folder, "human-scores", f"{lp}.{metric}.{level}.score")
    return Path(folder, "metric-scores", lp, f"{metric}-{ref}.{level}.score")


def write_mme(test: TestSet, folder: str | PathLike) -> Path:
    """Write a test set as one language pair of a folder, and return the folder.

    `_read_mme(folder, test.lp, reference=test.reference)` returns it, with its categories. Sources are written last, so
    that an interrupted call leaves no test set. An equal set is left alone. A missing reference is written as
    NO_TRANSLATION.

    Raises
    ------
    DataError : the folder has a different test set of this pair, or its layout cannot hold this one: a line end in a
        text, white space in a name, "." or "-" in the name of a reference.
    """
    folder, lp = Path(folder), test.lp
    if _find_2024(folder, lp).src.exists():
        stored = _read_mme(folder, lp)
        for kind in ("srcs", "refs", "systems", "docs", "domains", "categories"):
            if getattr(stored, kind) != getattr(test, kind):
                raise DataError(f"contains a {lp} test set with different {kind}.", folder)
        return folder
    _check(_REFERENCE, test.refs, "reference")
    _check(_NAME, (*test.systems, *test.docs, *test.domains, *lp.split("-")), "name")
    docs = [f"{domain}\t{doc}" for domain, doc in zip(test.domains, test.docs, strict=True)]
    files: dict[str, Sequence[str]] = {
        f"references/{lp}.{ref}.txt": [text or NO_TRANSLATION for text in texts]
        for ref, texts in test.refs.items()
    }
    files |= {f"system-outputs/{lp}/{s}.txt": texts for s, texts in test.systems.items()}
    files |= {f"documents/{lp}.docs": docs, f"sources/{lp}.txt": test.srcs}
    for name, lines in files.items():
        _check(_LINE, lines, f"text of {name}")
    table = folder / "systems.tsv"
    known = _read_categories(table) if table.exists() else {}
    known |= {
        s: c for s, c in test.categories.items() if c != ("human" if s in test.refs else "unknown")
    }
    if known:
        rows = ("\t".join(row) for row in {"system": "category", **known}.items())
        files = {"systems.tsv": tuple(rows), **files}
    for name, lines in files.items():
        _write(folder / name, lines)
    return folder


def write_mme_scores(
    folder: str | PathLike,
    lp: str,
    metric: str,
    scores: ArrayLike,
    *,
    systems: Sequence[str],
    ref: str | None = None,
    level: str = "seg",
) -> Path:
    """Write the scores of one metric, or of people; return the file.

    Parameters
    ----------
    scores : array
        (N, systems) at level "seg", (systems,) at "sys"; higher is better (`Metric.oriented`). nan is written as None,
        which mt-metrics-eval accepts in human scores only.
    metric, ref, level : str
        As in `read_mme_scores`.

    Raises
    ------
    UnknownName : no such language pair, system or level. DataError : an unexpected shape, an infinite score.
    """
    checks.one_of(level, ("seg", "sys"), "level")
    files, values = _find_2024(Path(folder), lp), np.asarray(scores, dtype=np.float64)
    for system in systems:
        checks.one_of(system, files.systems, "system")
    sources = read_lines(files.src)
    # a canary has a line, no score
    above = [np.nan] * _is_canary(sources) if level == "seg" else []
    shape = (len(sources) - len(above), len(systems)) if level == "seg" else (len(systems),)
    if values.shape != shape or np.isinf(values).any() or len({*systems}) < len(systems):
        raise DataError(f"{metric}: got shape {values.shape}, expected finite scores {shape}.")
    _check(_NAME, [metric], "metric")
    columns = zip(systems, values.T.reshape(len(systems), -1).tolist(), strict=True)
    rows = [(system, x) for system, column in columns for x in [*above, *column]]
    lines = [f"{system}\t{'None' if np.isnan(x) else repr(x)}" for system, x in rows]
    return _write(_score_path(folder, lp, metric, ref, level), lines)


def _check(form: re.Pattern[str], texts: Iterable[str], what: str) -> None:
    """Raise a DataError for a name or text that the layout cannot hold."""
    if bad := [text for text in texts if not form.fullmatch(text)]:
        raise DataError(f"{what:.60}: {bad[0]!r:.60} is not possible in mt-metrics-eval.")


def _write(path: Path, lines: Sequence[str]) -> Path:
    """Write lines to a file, and make its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return io.write_atomic(path, "".join(f"{line}\n" for line in lines))
