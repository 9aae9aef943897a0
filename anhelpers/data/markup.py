"""Test sets from WMT's SGM (to 2020) and XML (2021 and 2022): texts matched by document and segment, never by position.

SGM: ``<srcset>``, ``<refset>`` or ``<tstset>`` with ``<doc docid sysid genre>`` and ``<seg id>``; it is no XML: texts
hold bare ``&`` and ``<``. XML: ``<dataset>``, in it ``<doc id domain>`` with ``<src lang>``, ``<ref lang translator>``
and ``<hyp system>``, each with its ``<seg id>``.
Nothing outside a file is read, and no entity is expanded but XML's own five and those of characters.

A text without ids, such as a system's output, may stand beside them: its lines are those of the sources, in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import DataError, need
from .languages import CODES, UNDETERMINED, base, short_code, split_pair
from .lines import text_of
from .packed import stem_of, unpacked
from .schema import TestSet

__all__ = ["Key", "Lines", "Marked", "by_document", "marked_set", "read_marked", "whole_set"]

Key = tuple[str, str]

_ROOT = re.compile(r"<(srcset|refset|tstset|mteval|dataset)\b", re.IGNORECASE)
# what may stand before the first tag -> how it ends
_PROLOG = {"<?": "?>", "<!--": "-->", "<!doctype": ">"}
# or a comment; a text ends before the next segment, so that a long broken file takes no hours
_SEGMENT = re.compile(
    r"<!--(?:.*?-->|.*)|<seg\b([^<>]{0,4096}?)(?:/>|>([^<]*(?:<(?!/?seg\b)[^<]*)*)</seg\s*>)",
    re.DOTALL | re.IGNORECASE,
)
_STRUCTURE = re.compile(r"<(/?)(srcset|refset|tstset|doc|seg)\b([^<>]{0,4096})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))""")
_CHARACTER = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_FIVE = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


@dataclass(frozen=True)
class Marked:
    """The texts of one file of SGM or XML, by (document, segment), in the order of the file.

    Parameters
    ----------
    path : of the file.
    srcs : key -> source. refs, systems : name -> key -> text.
    domains : document -> domain, where the file says it.
    src_lang, trg_lang : codes of the languages that the file declares, "" where it declares none.
    notes : sentences that the user should see.
    """

    path: Path
    srcs: dict[Key, str] = field(default_factory=dict)
    refs: dict[str, dict[Key, str]] = field(default_factory=dict)
    systems: dict[str, dict[Key, str]] = field(default_factory=dict)
    domains: dict[str, str] = field(default_factory=dict)
    src_lang: str = ""
    trg_lang: str = ""
    notes: tuple[str, ...] = ()


def read_marked(data: bytes, path: str | PathLike) -> Marked | None:
    """The texts of a file of WMT's SGM or XML; None for any other file.

    Parameters
    ----------
    data : the whole file, packed or not.

    Raises
    ------
    DataError : a document or segment without id, one that is there twice, broken markup, declared entities.
    """
    data, path = unpacked(data, path), Path(path)
    head = data[:65536].decode("utf-8", "replace").removeprefix("\ufeff")
    start = _ROOT.match(head, _first_tag(head)) if head.lstrip().startswith("<") else None
    if start is None:
        return None
    prolog, text = head[: start.start()].lower(), text_of(data, path)
    if "<!entity" in prolog or ("<!doctype" in prolog and start[1].lower() == "dataset"):
        raise DataError(
            "declares entities or a document type, and neither is read; take the declaration out.",
            path,
        )
    found = _dataset(text, path) if start[1].lower() == "dataset" else _sets(text, path)
    if not (found.srcs or found.refs or found.systems):
        raise DataError("holds no segment (<seg id=…>) in a document.", path)
    return found


def _first_tag(text: str) -> int:
    """Where the first tag is, after declarations and comments."""
    at = 0
    while True:
        at += len(text[at:]) - len(text[at:].lstrip())
        ending = next(
            (end for begin, end in _PROLOG.items() if text[at : at + len(begin)].lower() == begin),
            None,
        )
        if ending == ">" and "[" in text[at : text.find(">", at)]:
            ending = "]>"
        if ending is None or (found := text.find(ending, at)) < 0:
            return at
        at = found + len(ending)


def _dataset(text: str, path: Path) -> Marked:
    """The texts of XML of 2021 and 2022."""
    etree = need("lxml.etree", "reading SGM and XML")
    # decoded already
    text = re.sub(r"^\s*<\?xml[^>]*\?>", lambda told: "\n" * told[0].count("\n"), text)
    try:
        root = etree.fromstring(text.encode(), _parser(etree, recover=False))
    except etree.XMLSyntaxError as error:
        raise DataError(f"is no well-formed XML ({error.msg}).", path, error.lineno) from None
    found, skipped = _Gathered(path), 0
    for doc in root.iter("doc"):
        if "testsuite" in doc.attrib:
            skipped += 1
            continue
        name = _said(doc, "id", path)
        found.domain(name, doc.get("domain") or doc.get("genre"))
        for part in doc.iter("src", "ref", "hyp"):
            texts = found.part(
                part.tag, _name(part), part.get("lang") or part.get("language"), part.sourceline
            )
            for seg in part.iter("seg"):
                if len(seg):
                    raise DataError(
                        f"a segment holds <{seg[0].tag}>, and a text alone is wanted.",
                        path,
                        seg.sourceline,
                    )
                found.add(texts, (name, _said(seg, "id", path)), seg.text or "", seg.sourceline)
    return found.marked(
        (f"{path.name}: {skipped} documents of test suites are left out.",) if skipped else ()
    )


def _name(part: Any) -> str:
    """What to call the translations of a <ref> or <hyp>: "refA" for translator A; "" for a source."""
    if part.tag != "ref":
        return part.get("system") or ""
    named = part.get("translator") or ""
    return f"ref{named}" if len(named) < 2 else named


def _sets(text: str, path: Path) -> Marked:
    """The texts of SGM: the parser is given the structure, and numbers in place of the texts, which are no XML."""
    etree = need("lxml.etree", "reading SGM and XML")
    text = text.replace("\r\n", "\n")
    texts: list[str] = []

    def numbered(match: re.Match) -> str:
        if match[0].startswith("<!--"):
            return "\n" * match[0].count("\n")
        texts.append(match[2] or "")
        return f"<seg{match[1]}>{len(texts) - 1}</seg>" + "\n" * match[0].count("\n")

    text = _SEGMENT.sub(numbered, text)
    root = etree.fromstring(f"<sgm>{_structure(text)}</sgm>".encode(), _parser(etree, recover=True))
    segments = [] if root is None else list(root.iter("seg"))
    if [seg.text for seg in segments] != [str(i) for i in range(len(texts))]:
        line = next(
            (
                text.count("\n", 0, m.start()) + 1
                for m in re.finditer(r"<seg\b[^<>]*>(?!\d+</seg>)", text)
            ),
            None,
        )
        raise DataError(
            "a segment is not closed (</seg> is missing), or markup is broken.", path, line
        )
    found = _Gathered(path)
    for seg in segments:
        doc, whole = (
            next(seg.iterancestors(*names), None)
            for names in (("doc",), ("srcset", "refset", "tstset"))
        )
        if doc is None or whole is None:
            raise DataError("a segment outside of a document, or of a set.", path, seg.sourceline)
        kind = {"srcset": "src", "refset": "ref", "tstset": "hyp"}[whole.tag]
        name = "" if kind == "src" else doc.get("sysid") or whole.get("sysid") or ""
        found.languages(whole.get("srclang"), whole.get("trglang"))
        found.domain(document := _said(doc, "docid", path), doc.get("genre") or doc.get("domain"))
        into = found.part(kind, name, None, seg.sourceline)
        found.add(
            into, (document, _said(seg, "id", path)), _plain(texts[int(seg.text)]), seg.sourceline
        )
    return found.marked()


def _structure(text: str) -> str:
    """The tags of sets, documents and segments, written as XML; of the rest only line ends and numbers of segments."""

    def tag(match: re.Match) -> str:
        pairs = {
            name.lower(): _plain(a or b or c) for name, a, b, c in _ATTRIBUTE.findall(match[3])
        }
        said = "".join(f' {name}="{_quoted(value)}"' for name, value in pairs.items())
        return f"<{match[1]}{match[2].lower()}{'' if match[1] else said}>"

    parts, at = [], 0
    for match in _STRUCTURE.finditer(text):
        between = text[at : match.start()]
        number = between if between.isdigit() and between.isascii() else "\n" * between.count("\n")
        parts += [number, tag(match)]
        at = match.end()
    return "".join(parts)


def _quoted(value: str) -> str:
    """An attribute's value as XML writes it."""
    return value.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def _plain(text: str) -> str:
    """A text without XML's five entities and numbered characters; anything else that has an ampersand stays."""

    def character(match: re.Match) -> str:
        code = int(match[2]) if match[2] else int(match[3], 16) if match[3] else 0
        if match[1]:
            return _FIVE[match[1]]
        return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else match[0]

    return _CHARACTER.sub(character, text)


def _one_line(text: str) -> str:
    """A text in one line: where it has several, each without the white space at its ends, joined by spaces."""
    if "\n" not in text and "\r" not in text:
        return text
    return " ".join(filter(None, (line.strip() for line in re.split("[\r\n]", text))))


def _parser(etree: Any, *, recover: bool) -> Any:
    """A parser that asks no network, reads no other file and expands nothing."""
    return etree.XMLParser(
        recover=recover,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )


def _said(element: Any, attribute: str, path: Path) -> str:
    """The id of a document or segment; a DataError where it has none."""
    if not (value := (element.get(attribute) or "").strip()):
        raise DataError(
            f"<{element.tag}> without {attribute}; texts are matched by it.",
            path,
            element.sourceline,
        )
    return value


class _Gathered:
    """What is found in a file while it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kinds: dict[str, dict[str, dict[Key, str]]] = {"src": {}, "ref": {}, "hyp": {}}
        self.domains: dict[str, str] = {}
        self.langs: dict[str, str] = {"source": "", "target": ""}

    def domain(self, doc: str, domain: str | None) -> None:
        """Keep the domain of a document, where it is said."""
        if domain:
            self.domains[doc] = domain

    def languages(self, src: str | None, trg: str | None, line: int | None = None) -> None:
        """Keep the declared languages; a DataError where there are two for one side; "any" and the like are none."""
        for side, code in (("source", src), ("target", trg)):
            known = base(code) if code and base(code) in CODES else ""
            if known and self.langs[side] and short_code(known) != short_code(self.langs[side]):
                raise DataError(
                    f"has two {side} languages, {self.langs[side]} and {known}.", self.path, line
                )
            self.langs[side] = self.langs[side] or known

    def part(self, kind: str, name: str, lang: str | None, line: int) -> dict[Key, str]:
        """The texts of a source, a reference or a system, to which more can be added."""
        self.languages(lang if kind == "src" else None, None if kind == "src" else lang, line)
        return self.kinds[kind].setdefault("" if kind == "src" else name, {})

    def add(self, texts: dict[Key, str], key: Key, text: str, line: int) -> None:
        """One more segment; a DataError where it is there already."""
        if key in texts:
            raise DataError(
                f"segment {key[1]} of document '{key[0]}' is there twice.", self.path, line
            )
        texts[key] = _one_line(text)

    def marked(self, notes: tuple[str, ...] = ()) -> Marked:
        """All of it."""
        refs = {name or "ref": texts for name, texts in self.kinds["ref"].items()}
        systems = {name or stem_of(self.path): texts for name, texts in self.kinds["hyp"].items()}
        langs = self.langs["source"], self.langs["target"]
        return Marked(
            self.path, self.kinds["src"].get("", {}), refs, systems, self.domains, *langs, notes
        )


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
