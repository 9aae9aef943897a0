"""Whether a folder holds a teaching set that can be taught with: what is there, and what is wrong with it.

The readers say what they cannot read. What is added here is what only a teaching set has to be: candidates of every
kind for every source, none of them a reference or a system's output that is missing, and texts that no model has seen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from ..errors import DataError
from .candidates import read_candidates
from .identify import foreign_lines
from .languages import short_code
from .lines import table_lines
from .plain import read_parallel
from .ratings import read_ratings
from .records import read_jsonl
from .schema import TestSet
from .sets import load
from .teaching_look import (
    Look,
    counted,
    folded,
    look_at_mono,
    look_at_pairs,
    look_for_training_lines,
)
from .teaching_skeleton import CORE, EXAMPLE
from .text_ratings import FILE, load_ratings, ratings_beside
from .wmt import find_2024, language_pairs, read_categories

__all__ = ["Checked", "check_teaching_set"]

OTHER_NAMES = {"bureaucratic": "officialese"}
"""Another name for a tag of CORE."""
MIXED = {"untranslated", "calque"}
"""Tags of candidates that hold words of the source language on purpose."""
REFERENCES = ("refA", "refB")


class _Row(NamedTuple):
    line: int
    segment: int
    text: str
    tag: str


@dataclass(frozen=True)
class Checked:
    """What a folder holds, and what is wrong with it.

    Parameters
    ----------
    lp : language pair, "" where it cannot be told. contents : (what, how much of it in words), in the order of writing.
    remarks : sentences on what a set may lack. defects : sentences, each with file and line where these are known.
    """

    lp: str
    contents: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]
    defects: tuple[str, ...]


def check_teaching_set(
    folder: str | PathLike, lp: str | None = None, train: Sequence[str | PathLike] = ()
) -> Checked:
    """What a folder of a teaching set holds, and every defect of it.

    Parameters
    ----------
    folder : laid out like data/teaching/de-en. lp : its pair, where it holds several.
    train : files of training text, plain or packed, a line each: no line of the references or of R may stand there.

    Raises
    ------
    DataError where there is no such folder, or it is no teaching set at all.
    """
    folder = Path(folder)
    pairs = language_pairs(folder)
    look = Look(folder, lp or (next(iter(pairs)) if len(pairs) == 1 else ""))
    _examples(look)
    root = folder / "txt" if (folder / "txt").is_dir() else folder
    test = look.tried(lambda: load(folder, lp)) or look.tried(lambda: _without_systems(look, root))
    if test is None:
        look.remarks.append(
            "the candidates and all that belongs to sources are looked at once the texts can be "
            "read."
        )
    else:
        _texts(look, test)
        rows = _candidates(look, test)
        _outputs(look, test, rows, find_2024(root, look.lp).systems)
        _ratings(look, test)
    lines = {f"mono.{look.trg_lang}.txt": look_at_mono(look, test)}
    lines |= {
        f"txt/references/{look.lp}.{name}.txt": texts
        for name, texts in (test.refs if test else {}).items()
    }
    look_at_pairs(look)
    look_for_training_lines(look, lines, train)
    look.there(
        "README.md", "which says who wrote and rated the texts, and what may be done with them."
    )
    return Checked(
        look.lp, tuple(look.contents), tuple(look.remarks), tuple(dict.fromkeys(look.defects))
    )


def _without_systems(look: Look, root: Path) -> TestSet:
    """Sources and references of a set whose systems or glosses cannot be read yet."""
    name = f"{look.folder.resolve().name}/{look.lp}"
    return read_parallel(name, look.lp, replace(find_2024(root, look.lp), systems={}))


def _examples(look: Look) -> None:
    """Lines that are still those of the skeleton."""
    for path in sorted(
        path for path in look.folder.rglob("*") if path.suffix in (".txt", ".tsv", ".jsonl", ".md")
    ):
        lines = look.tried(lambda path=path: table_lines(path)) or ()  # type: ignore[misc]  # mypy knows no defaults
        left = [number for number, line in enumerate(lines, 1) if EXAMPLE in line]
        if left:
            more = f" ({len(left)} such lines)" if len(left) > 1 else ""
            look.bad(
                f"this is still a line of the skeleton{more}; write your own over it.",
                path.relative_to(look.folder),
                left[0],
            )


def _texts(look: Look, test: TestSet) -> None:
    """Sources, documents, references, systems, glosses."""
    look.remarks.extend(test.notes)
    documents = (
        counted(test.domains)
        if look.there(
            f"txt/documents/{look.lp}.docs",
            "and each source counts as a document, which makes intervals too short.",
        )
        else ""
    )
    look.contents += [
        (
            "sources",
            f"{len(test)}{f', of {len(set(test.docs))} documents ({documents})' if documents else ''}",
        ),
        ("references", ", ".join(test.refs) or "none"),
        (
            "systems",
            f"{len(test.systems)}: {', '.join(test.systems)}"
            if test.systems
            else "none that can be read",
        ),
    ]
    for name in REFERENCES:
        if name not in test.refs:
            look.bad(
                f"there is no reference {name}; write a translation a line.",
                f"txt/references/{look.lp}.{name}.txt",
            )
    pairs = (
        list(zip(*(test.refs[name] for name in REFERENCES), strict=True))
        if {*REFERENCES} <= {*test.refs}
        else []
    )
    if (same := sum(folded(a) == folded(b) for a, b in pairs)) > len(pairs) / 4:
        look.bad(
            f"{same} of its {len(pairs)} lines are refA's as well; let somebody else translate the "
            "sources alone.",
            f"txt/references/{look.lp}.refB.txt",
        )
    look.language(_written(test.srcs), test.src_lang, "the sources", f"txt/sources/{look.lp}.txt")
    for name, ref in test.refs.items():
        look.language(
            _written(ref), test.trg_lang, "its texts", f"txt/references/{look.lp}.{name}.txt"
        )
    if short_code(test.src_lang) != "en" and look.there(
        "glosses.txt", "a line of plain English for each source."
    ):
        look.contents.append(("glosses", f"{len(test.glosses) or 'none that can be read'}"))
    if look.there("systems.tsv", "which says what kind of translator each system is."):
        named = look.tried(lambda: read_categories(look.folder / "systems.tsv")) or {}
        for name in dict.fromkeys([*test.systems, *named]) if test.systems else ():
            if (name in named) != (name in test.systems):
                told = "has no texts in txt/system-outputs; write them, or take its row away"
                told = told if name in named else "has no row here; give its category"
                look.bad(f"system {name} {told}.", "systems.tsv")


def _candidates(look: Look, test: TestSet) -> list[_Row]:
    """The candidates, by themselves and beside their source and references."""
    file = look.folder / "candidates.jsonl"
    records = look.tried(lambda: read_jsonl(file)) or []
    rows = [
        _Row(line, one["segment"], one["text"], one.get("tag") or "")
        for line, one in enumerate(records, 1)
        if isinstance(one.get("segment"), int) and isinstance(one.get("text"), str)
    ]
    tags: list[set[str]] = [set() for _ in test.srcs]
    for row in rows:
        if 0 <= row.segment < len(test):
            tags[row.segment].add(row.tag)
    empty = [i for i, own in enumerate(tags) if not own and records]
    try:
        look.remarks.extend(read_candidates(file, srcs=test.srcs).notes)
    except DataError as error:
        if records and not (empty and error.line is None):  # of which all are named below
            look.defects.append(str(error))
    look.every(file.name, _row_by_row(test, rows))
    for i in empty:
        look.bad(
            f"source {i} (line {i + 1} of the sources) has no candidate; write one for each tag.",
            file.name,
        )
    for i, own in enumerate(tags):
        lacking = [tag for tag in CORE if own and not own & {tag, OTHER_NAMES.get(tag, tag)}]
        if lacking:
            look.bad(
                f"source {i} has no candidate with the tag {', '.join(lacking)}; write one for "
                "each.",
                file.name,
            )
    mine = [row for row in rows if 0 <= row.segment < len(test) and EXAMPLE not in row.text]
    for tag in dict.fromkeys(row.tag for row in mine):
        some = [row.text for row in mine if row.tag == tag]
        look.language(some, test.trg_lang, f"the candidates '{tag}'", file.name)
    for i in range(len(test)):
        some = [row.text for row in mine if row.segment == i and row.tag not in MIXED]
        look.language(some, test.trg_lang, f"the candidates of source {i}", file.name)
    k = Counter(row.segment for row in rows).values()
    each = f"; {' to '.join(map(str, sorted({min(k), max(k)})))} per source" if k else ""
    look.contents += [
        ("candidates", f"{len(rows):,}{each}"),
        ("tags", counted(row.tag or "none" for row in rows)),
    ]
    return rows


def _row_by_row(test: TestSet, rows: Iterable[_Row]) -> Iterator[tuple[str, int]]:
    """(what is wrong, line) of single candidates."""
    seen: dict[tuple[int, str], int] = {}
    rows = [row for row in rows if 0 <= row.segment < len(test)]
    for row in rows:
        text = folded(row.text)
        for name, ref in test.refs.items():
            if text and text == folded(ref[row.segment]):
                yield (
                    f"this candidate of source {row.segment} is reference {name}; change it, or "
                    "delete it",
                    row.line,
                )
        if not text:
            yield "this candidate is blank; write it, or delete it", row.line
        elif text == folded(test.srcs[row.segment]):
            yield f"this candidate is source {row.segment} itself; translate it", row.line
        if (first := seen.setdefault((row.segment, text), row.line)) != row.line:
            yield (
                f"this candidate of source {row.segment} stands at line {first} already; change "
                "one of them",
                row.line,
            )
    plain = [row for row in rows if row.tag not in MIXED and EXAMPLE not in row.text]
    for i in foreign_lines([row.text for row in plain], test.trg_lang, test.src_lang):
        told = (
            f"this candidate reads as '{test.src_lang}', and not as '{test.trg_lang}'; translate it"
        )
        yield told, plain[i].line


def _outputs(look: Look, test: TestSet, rows: Iterable[_Row], files: Mapping[str, Path]) -> None:
    """Each system's output must be a candidate."""
    texts = {(row.segment, folded(row.text)) for row in rows}
    for name, hyps in test.systems.items():
        wrong = [i for i, hyp in enumerate(hyps, 1) if (i - 1, folded(hyp)) not in texts]
        if wrong and texts:
            more = f" ({len(wrong)} such lines)" if len(wrong) > 1 else ""
            told = (
                f"this output is none of the candidates of source {wrong[0] - 1}{more}; copy one "
                "of them"
            )
            look.defects.append(
                str(DataError(f"{told}, or add it to candidates.jsonl.", files[name], wrong[0]))
            )


def _ratings(look: Look, test: TestSet) -> None:
    """Ratings of all texts, and MQM of the systems' outputs."""
    if ratings_beside(look.folder) is None:
        look.remarks.append(
            f"there are no ratings in {FILE}, so judges are not compared with readers."
        )
    elif (rated := look.tried(lambda: load_ratings(look.folder))) is not None:
        look.contents.append(
            ("ratings", f"{len(rated.ids):,} texts, each in {', '.join(rated.passes)}")
        )
    file = look.folder / "mqm.tsv"
    lines = table_lines(file)[1:] if file.is_file() else ()
    if not lines:
        look.remarks.append(
            "there is no MQM annotation in mqm.tsv, so no ranking of systems is compared with it."
        )
    elif not test.systems:
        look.remarks.append("mqm.tsv is looked at once the systems can be read.")
    elif look.tried(lambda: read_ratings(file)) is not None:
        look.every(file.name, _mqm_rows(test, table_lines(file)))
        look.contents.append(("mqm", f"{len(lines):,} rows"))


def _mqm_rows(test: TestSet, lines: Sequence[str]) -> Iterator[tuple[str, int]]:
    """(what is wrong, line): rows of what is no output of a system, or of no source."""
    header = lines[0].split("\t")
    columns = [
        header.index(name) for name in ("system", "seg_id", "source", "target") if name in header
    ]
    for number, line in enumerate(lines[1:], 2) if len(columns) == 4 else ():
        cells = line.split("\t")
        system, i, source, target = (re.sub("</?v>", "", cells[at]) for at in columns)
        if system not in test.systems:
            yield (
                f"there is no system {system}; write the name of a file in txt/system-outputs",
                number,
            )
        elif not (i.isdecimal() and 1 <= int(i) <= len(test)):
            yield f"seg_id is {i}; it counts the sources from 1 to {len(test)}", number
        elif (folded(source), folded(target)) != tuple(
            folded(texts[int(i) - 1]) for texts in (test.srcs, test.systems[system])
        ):
            yield (
                f"this is not source {i}, or not what {system} made of it; copy both from the set",
                number,
            )


def _written(texts: Iterable[str]) -> list[str]:
    return [text for text in texts if EXAMPLE not in text]
