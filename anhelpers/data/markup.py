"""WMT's SGM (to 2020) and XML (2021 and 2022): texts with a document and a segment number each.

SGM: ``<srcset>``, ``<refset>`` or ``<tstset>`` with ``<doc docid sysid genre>`` and ``<seg id>``; it is no XML: texts
hold bare ``&`` and ``<``. XML: ``<dataset>``, in it ``<doc id domain>`` with ``<src lang>``, ``<ref lang translator>``
and ``<hyp system>``, each with its ``<seg id>``. `markup_sets` makes test sets of them.
Nothing outside a file is read, and no entity is expanded but XML's own five and those of characters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import DataError, need
from .languages import CODES, base, short_code
from .lines import text_of
from .packed import stem_of, unpacked

__all__ = ["Key", "Marked", "read_marked"]

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
