"""Test sets from WMT's SGM and XML: texts matched by document and segment, never by position alone.

A text without ids, such as a system's output, may stand beside them: its lines are those of the sources, in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ..errors import DataError
from .languages import UNDETERMINED, short_code, split_pair
from .markup import Key, Marked
from .packed import stem_of
from .schema import TestSet

__all__ = ["Lines", "by_document", "marked_set", "whole_set"]

Lines = tuple[tuple[str, ...], tuple[str, ...]]
"""A text without ids: its lines, and notes on them."""

Found = dict[str, tuple[dict[Key, str], Path]]


def marked_set(
    src: Marked,
    refs: Mapping[str, Path],
    systems: Mapping[str, Path],
    *,
    read: Mapping[Path, Marked | Lines],
    name: str,
    lp: str,
) -> TestSet:
    """A test set from a file of sources, and references and systems from it or from other files.

    Parameters
    ----------
    src : the file with the sources. refs, systems : name -> path.
    read : path -> what was read there: texts with their ids, or (lines, notes) of a text in the order of the sources.

    Raises
    ------
    DataError : a segment that is missing or is none of the sources; languages that contradict the pair.
    """
    marked = [
        src,
        *(found for found in read.values() if isinstance(found, Marked) and found is not src),
    ]
    lp = _pair(marked, lp)
    if not src.srcs:
        raise DataError("holds no sources (<srcset>, or <src> in each document).", src.path)
    notes = [sentence for found in marked for sentence in found.notes]
    if refs:
        keys, known = list(src.srcs), _texts_of(refs, read, src, "refs", notes)
    else:
        keys, known = _own_references(src, notes)
    outputs = (
        _texts_of(systems, read, src, "systems", notes) if systems else _from(src, src.systems)
    )
    found_refs, found = (
        {n: _ordered(texts, n, keys, src, path) for n, (texts, path) in side.items()}
        for side in (known, outputs)
    )
    docs = tuple(doc for doc, _ in keys)
    return TestSet(
        name,
        lp,
        tuple(src.srcs[key] for key in keys),
        found_refs,
        found,
        docs=docs,
        domains=tuple(src.domains.get(doc, "all") for doc in docs),
        categories={system: "human" for system in found if system in found_refs},
        notes=tuple(notes),
    )


def whole_set(marked: Marked, lp: str | None) -> TestSet:
    """The test set of a file that holds sources, references and systems.

    Parameters
    ----------
    marked : the file. lp : language pair; None: as the file declares it.
    """
    if lp is None and not (marked.src_lang and marked.trg_lang):
        raise DataError(
            "does not declare its languages; give the language pair by -l (in Python: lp).",
            marked.path,
        )
    return marked_set(marked, {}, {}, read={}, name=stem_of(marked.path), lp=lp or UNDETERMINED)


def by_document(marked: Marked, test: TestSet, name: str) -> dict[str, tuple[str, ...]]:
    """System -> texts for a test set that keeps documents and no ids: segment "3" is the third of its document.

    Parameters
    ----------
    marked : a file with system outputs. name : what a single system is called; the file's own name stands for none.
    """
    _pair([marked], test.lp)
    seen: dict[str, int] = {}
    keys = []
    for doc in test.docs:
        seen[doc] = seen.get(doc, 0) + 1
        keys.append((doc, str(seen[doc])))
    whole = Marked(Path(test.name), dict(zip(keys, test.srcs, strict=True)))
    outputs = _texts_of({name: marked.path}, {marked.path: marked}, whole, "systems", [])
    return {
        system: _ordered(texts, system, keys, whole, path)
        for system, (texts, path) in outputs.items()
    }


def _from(marked: Marked, texts: Mapping[str, dict[Key, str]]) -> Found:
    """Name -> texts, and the file they are from."""
    return {name: (found, marked.path) for name, found in texts.items()}


def _texts_of(
    files: Mapping[str, Path],
    read: Mapping[Path, Marked | Lines],
    src: Marked,
    kind: str,
    notes: list[str],
) -> Found:
    """Name -> texts of these files, under the names that the user or else the files give; notes are added."""
    found: Found = {}
    for label, path in files.items():
        content = read[path]
        if not isinstance(content, Marked):
            found[label] = (
                dict(zip(src.srcs, _fitting(content[0], src, path, notes), strict=True)),
                path,
            )
            notes += [
                *content[1],
                f"{path.name} has no ids: its lines are taken in the order of {src.path.name}'s "
                "segments.",
            ]
            continue
        own = content.refs if kind == "refs" else content.systems or content.refs
        if not own:
            raise DataError(f"holds no {'reference' if kind == 'refs' else 'translation'}.", path)
        if len(own) == 1 and (label != stem_of(path) or set(own) & set(found)):
            own = {label: next(iter(own.values()))}
        if label != stem_of(path) and len(own) > 1:
            raise DataError(
                f"holds {len(own)} texts ({', '.join(own)}); '{label}' can name one only.", path
            )
        if twice := set(own) & set(found):
            raise DataError(
                f"'{min(twice)}' is in {found[min(twice)][1]} too; name one of them, as in "
                f"NAME={path}.",
                path,
            )
        found |= _from(content, own)
    return found


def _fitting(lines: tuple[str, ...], src: Marked, path: Path, notes: list[str]) -> tuple[str, ...]:
    """The lines of a text without ids, as many as there are sources; only blank ones at the end may be more."""
    n = len(src.srcs)
    if len(lines) < n or any(line.strip() for line in lines[n:]):
        raise DataError(
            f"has {len(lines)} lines, and {src.path} has {n} segments; they must align.", path
        )
    if len(lines) > n:
        notes.append(f"{path.name}: {len(lines) - n} blank lines at its end are left out.")
    return lines[:n]


def _own_references(src: Marked, notes: list[str]) -> tuple[list[Key], Found]:
    """The segments that some reference of the file has, and the references that have all of them."""
    if not src.refs:
        return list(src.srcs), {}
    keys = [
        key for key in src.srcs if any(texts.get(key, "").strip() for texts in src.refs.values())
    ]
    if without := len(src.srcs) - len(keys):
        notes.append(
            f"{without} of {len(src.srcs)} segments are left out: no reference of {src.path.name} "
            "has them."
        )
    whole = {name: texts for name, texts in src.refs.items() if all(key in texts for key in keys)}
    for name in src.refs:
        if whole and name not in whole:
            gaps = [key for key in keys if key not in src.refs[name]]
            doc, seg = gaps[0]
            notes.append(
                f"{name} is left out: it has no segment {seg} of document '{doc}' ({len(gaps)} "
                "such)."
            )
    return keys, _from(src, whole or src.refs)


def _ordered(
    texts: Mapping[Key, str], name: str, keys: Iterable[Key], src: Marked, path: Path
) -> tuple[str, ...]:
    """The texts of these segments; a DataError that names one that is missing, or one that the sources have not."""
    keys = list(keys)
    if missing := [key for key in keys if key not in texts]:
        doc, seg = missing[0]
        such = f" ({len(missing)} of {len(keys)} are missing)"
        raise DataError(
            f"{name} has no segment {seg} of document '{doc}'{such}; every source needs one.", path
        )
    if other := next((key for key in texts if key not in src.srcs), None):
        raise DataError(
            f"{name} has a segment {other[1]} of document '{other[0]}', and {src.path} has none.",
            path,
        )
    return tuple(texts[key] for key in keys)


def _pair(files: Iterable[Marked], lp: str) -> str:
    """The language pair, which files may declare where it is undetermined; a DataError where one declares another."""
    for marked in files:
        declared = marked.src_lang or "und", marked.trg_lang or "und"
        for mine, code in zip(declared, split_pair(lp), strict=True):
            if "und" not in (mine, code) and short_code(mine) != short_code(code):
                told = f"declares the languages {'-'.join(declared)}, and {lp} was asked for"
                raise DataError(f"{told}; say which with -l (in Python: lp).", marked.path)
        if lp == UNDETERMINED and "und" not in declared:
            lp = "-".join(declared)
    return lp
