"""Read WMT's SGM (to 2020) and XML (since 2021): texts matched by document and segment.

SGM is no XML, as its texts hold bare ``&`` and ``<``, so both are read by their tags: ``srcset``, ``refset``,
``tstset`` with ``doc`` and ``seg``; ``doc`` with ``src``, ``ref``, ``hyp`` and ``seg``. No entity is expanded but XML's
own five and numbered characters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from ..errors import DataError
from .io import stem_of
from .languages import CODES, base, infer_pair
from .schema import TestSet

Key = tuple[str, str]
"""Document and segment."""
_ROOT = re.compile(r"<(srcset|refset|tstset|mteval|dataset)\b", re.IGNORECASE)
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<(/?)(srcset|refset|tstset|doc|src|ref|hyp|seg)\b([^<>]*?)(/?)>",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))""")
_CHARACTER = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_FIVE = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_KINDS = {
    "srcset": "src",
    "refset": "ref",
    "tstset": "hyp",
    "src": "src",
    "ref": "ref",
    "hyp": "hyp",
}


@dataclass
class Marked:
    """The texts of one file.

    Parameters
    ----------
    path : Path
    srcs, refs, hyps : mappings
        Key to source; name to key to text.
    domains : mapping
        Document to domain.
    langs : mapping
        "src" and "trg" to a declared language.
    """

    path: Path
    srcs: dict[Key, str] = field(default_factory=dict)
    refs: dict[str, dict[Key, str]] = field(default_factory=dict)
    hyps: dict[str, dict[Key, str]] = field(default_factory=dict)
    domains: dict[str, str] = field(default_factory=dict)
    langs: dict[str, str] = field(default_factory=dict)

    def part(self, kind: str, name: str) -> dict[Key, str]:
        """Return the texts of a source, reference or system, to be extended."""
        if kind == "src":
            return self.srcs
        return (self.refs if kind == "ref" else self.hyps).setdefault(name, {})


def read_marked(text: str, path: str | PathLike) -> Marked | None:
    """Return the texts of a file of WMT's SGM or XML; None for any other text.

    Raises
    ------
    DataError : with the line, for a segment outside of a document, without id, repeated or not closed.
    """
    root = _ROOT.search(text, 0, 65536) if text.lstrip().startswith("<") else None
    if root is None:
        return None
    found = Marked(Path(path))
    doc: dict[str, str] | None = None
    part: dict[str, str] | None = None
    seg: tuple[dict[str, str], int] | None = None
    for match in _TAG.finditer(text):
        if match[2] is None:  # a comment
            continue
        tag, closing, empty = match[2].lower(), bool(match[1]), bool(match[4])
        if tag == "seg" and (closing or empty):
            attributes, start = seg or (_attributes(match[3]), match.start())
            content = "" if empty else text[start : match.start()]
            key = (doc or {}).get("docid") or (doc or {}).get("id", ""), attributes.get("id", "")
            if (seg is None) != empty or part is None or not all(key):
                raise _malformed("a segment without document or id", text, match.start(), path)
            if doc is not None and "testsuite" not in doc:
                into = found.part(part["kind"], _name(part, doc, found.path))
                if key in into:
                    raise _malformed(f"segment {key} is repeated", text, match.start(), path)
                into[key] = _one_line(content)
            seg = None
        elif seg is not None and tag in ("seg", "doc"):
            raise _malformed("a segment is not closed", text, seg[1], path)
        elif seg is not None:  # part of a text
            continue
        elif tag == "seg":
            seg = _attributes(match[3]), match.end()
        elif tag == "doc":
            doc = None if closing else _attributes(match[3])
            if doc and (domain := doc.get("domain") or doc.get("genre")):
                found.domains[doc.get("docid") or doc.get("id", "")] = domain
        else:
            part = None if closing else {**_attributes(match[3]), "kind": _KINDS[tag]}
            _declare(found, part or {})
    if seg or doc or f"</{root[1].lower()}" not in text.lower():
        at = seg[1] if seg else len(text)
        raise _malformed("a segment or document is not closed", text, at, path)
    if not (found.srcs or found.refs or found.hyps):
        raise DataError("got no segments (<seg id=…>).", path)
    return found


def _malformed(what: str, text: str, at: int, path: str | PathLike) -> DataError:
    return DataError(f"malformed markup: {what}.", path, text.count("\n", 0, at) + 1)


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): _plain(a or b or c) for name, a, b, c in _ATTRIBUTE.findall(text)}


def _declare(found: Marked, part: Mapping[str, str]) -> None:
    """Keep the languages that a set or a part of a document declares."""
    own = part.get("lang") or part.get("language", "")
    source = part.get("srclang") or (own if part.get("kind") == "src" else "")
    target = part.get("trglang") or (own if part.get("kind") != "src" else "")
    for side, code in (("src", source), ("trg", target)):
        if base(code) in CODES:
            found.langs.setdefault(side, base(code))


def _name(part: Mapping[str, str], doc: Mapping[str, str], path: Path) -> str:
    """Return the name of a text: "refA" for translator A, the system, or that of the file."""
    if part["kind"] == "ref":
        name = part.get("translator") or doc.get("sysid") or part.get("sysid") or ""
        return f"ref{name}" if len(name) < 2 else name
    return part.get("system") or doc.get("sysid") or part.get("sysid") or stem_of(path)


def _plain(text: str) -> str:
    """Return a text with XML's five entities and numbered characters replaced."""

    def character(match: re.Match) -> str:
        if match[1]:
            return _FIVE[match[1]]
        code = int(match[2]) if match[2] else int(match[3], 16)
        return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else match[0]

    return _CHARACTER.sub(character, text)


def _one_line(text: str) -> str:
    """Return a segment in one line."""
    lines = re.split("[\r\n]+", text) if "\n" in text or "\r" in text else [text]
    return _plain(text if len(lines) < 2 else " ".join(filter(None, map(str.strip, lines))))


def marked_set(
    src: Marked,
    refs: Mapping[str, Marked | Sequence[str]],
    hyps: Mapping[str, Marked | Sequence[str]],
    name: str,
    lp: str | None,
) -> TestSet:
    """Return a test set whose sources are those of a file.

    Without files of references or systems they are the file's own. Segments without any of its own references are left
    out, and so is a reference that lacks some of the others.

    Parameters
    ----------
    refs, hyps : mappings
        Name to a file, or to the lines of a plain text in the order of the sources.

    Raises
    ------
    DataError : a source without text of a system or a reference.
    """
    keys = list(src.srcs)
    if refs:
        found = by_key(refs, keys, "ref")
    else:
        own = src.refs.values()
        keys = [key for key in keys if not own or any(ref.get(key, "").strip() for ref in own)]
        whole = {n: ref for n, ref in src.refs.items() if set(keys) <= ref.keys()}
        found = whole or src.refs
    outputs = by_key(hyps, list(src.srcs), "hyp") if hyps else src.hyps
    columns = []
    for kind in (found, outputs):
        missing = [(n, key) for n, texts in kind.items() for key in keys if key not in texts]
        if missing:
            label, (doc, seg) = missing[0]
            raise DataError(f"{label} lacks segment {seg} of document {doc}.", src.path)
        columns.append({n: tuple(texts[key] for key in keys) for n, texts in kind.items()})
    if not keys:
        raise DataError("got no sources (<srcset>, or <src> in each document).", src.path)
    marked = [one for one in (*refs.values(), *hyps.values(), src) if isinstance(one, Marked)]
    langs = {side: code for one in marked for side, code in one.langs.items()}
    declared = f"{langs['src']}-{langs['trg']}" if len(langs) > 1 else None
    srcs = tuple(src.srcs[key] for key in keys)
    targets = [text for kind in columns for texts in kind.values() for text in texts]
    docs = tuple(doc for doc, _ in keys)
    domains = tuple(src.domains.get(doc, "all") for doc in docs)
    pair = infer_pair(lp or declared, srcs, targets)
    return TestSet(name, pair, srcs, columns[0], columns[1], docs, domains)


def by_key(
    files: Mapping[str, Marked | Sequence[str]], keys: Sequence[Key], kind: str
) -> dict[str, dict[Key, str]]:
    """Return name -> key -> text, under the names given, or those in a file that is named like its stem.

    Parameters
    ----------
    keys : sequence of (document, segment)
        The sources, in whose order the lines of a plain text are.
    kind : str
        "ref" or "hyp".
    """
    found: dict[str, dict[Key, str]] = {}
    for label, file in files.items():
        if not isinstance(file, Marked):
            if len(file) != len(keys):
                raise DataError(f"{label}: got {len(file)} lines, expected {len(keys)}.")
            own = {label: dict(zip(keys, file, strict=True))}
        else:
            own = file.refs if kind == "ref" else file.hyps or file.refs
            if len(own) == 1 and label != stem_of(file.path):
                own = {label: next(iter(own.values()))}
            if not own or own.keys() & found.keys():
                raise DataError(f"got no text, or one of a name that is taken: {label}.", file.path)
        found |= own
    return found
