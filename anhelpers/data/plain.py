"""Read parallel files, whose line i belongs to segment i, and WMT's SGM (to 2020) and XML (since 2021).

SGM is not XML, as its texts hold bare ``&`` and ``<``, so both are read by their tags: ``srcset``, ``refset``,
``tstset`` with ``doc`` and ``seg``; ``doc`` with ``src``, ``ref``, ``hyp`` and ``seg``. Only XML's five
predefined entities and numeric character references are expanded. Their texts are matched by document and segment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from .. import checks
from ..errors import DataError, counted
from .candidates import _NBEST, JSONL, _by_number, _read_records
from .io import _decode, _split_lines, _stem_of, _suffix_of, _utf8, _value_of, read_bytes
from .languages import CODES, _infer_pair, base
from .schema import TestSet

Paths = str | PathLike | Iterable[str | PathLike] | Mapping[str, str | PathLike]
_CANARY = "CANARY GUID"  # first line of WMT24's files, by which they are found in training data
_WMT_NAME = re.compile(r".+\.[^.]+-[^.]+\.(?:hyp|ref)\.(?P<name>.+)")
_TEXT = "text, mt or hypothesis"
_Key = tuple[str, str]  # document and segment
_ROOT = re.compile(r"<(srcset|refset|tstset|mteval|dataset)\b", re.IGNORECASE)
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<(/?)(srcset|refset|tstset|doc|src|ref|hyp|seg)\b([^<>]*?)(/?)>",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))""")
_CHARACTER = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_FIVE = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_KINDS = {"srcset": "src", "refset": "ref", "tstset": "hyp"}


@dataclass(frozen=True)
class _ParallelFiles:
    """The files of one language pair; `docs` has lines ``domain<TAB>document``."""

    src: Path
    refs: Mapping[str, Path]
    systems: Mapping[str, Path]
    docs: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """All files."""
        docs = [self.docs] if self.docs else []
        return (self.src, *self.refs.values(), *self.systems.values(), *docs)


def read_plain(
    src: str | PathLike,
    refs: Paths | None,
    hyps: Paths | None,
    lp: str | None = None,
    *,
    docs: str | PathLike | None = None,
    name: str = "",
) -> TestSet:
    """Read a test set from files of sources, references and system outputs.

    Parameters
    ----------
    src : path
        A text file with one segment per line, or WMT's SGM or XML, which may hold references and outputs, too.
        Files may be compressed by gzip, xz or zstd.
    refs, hyps : path, sequence of paths, mapping, or None
        A folder means its files; ``"NAME=PATH"`` names a file, as a mapping does, else `named_files`.
    lp : str, optional
        Language pair; by default inferred from the texts.
    docs : path, optional
        Lines of ``domain<TAB>document``.
    name : str
        Of the set; by default that of the source file.

    Raises
    ------
    DataError : a missing or malformed file, an unexpected number of lines, two files of one name.
    """
    path, name = Path(src), name or _stem_of(src)
    files = _ParallelFiles(path, named_files(refs), named_files(hyps), Path(docs) if docs else None)
    if _suffix_of(path) in JSONL:
        raise DataError("got JSON Lines, expected texts. Give candidates as --data.", path)
    sources = _read(path)
    if not isinstance(sources, _Marked):
        return _read_parallel(name, lp, files)
    if docs is not None:
        raise DataError("SGM and XML name their own documents; omit this file.", docs)
    return _marked_set(sources, files.refs, files.systems, name, lp)


def _read_parallel(
    name: str, lp: str | None, files: _ParallelFiles, categories: Mapping[str, str] | None = None
) -> TestSet:
    """Return a test set from plain files; a canary line, and blank lines beyond the shortest file, are left out.

    Parameters
    ----------
    categories : mapping, optional
        System to category.
    """
    lines = {path: _lines(path) for path in files.paths}
    canary, n = _is_canary(lines[files.src]), min(map(len, lines.values()))
    wrong = [path for path, own in lines.items() if any(map(str.strip, own[n:]))]
    if wrong[:1] == [files.src]:  # too long for another file: name the shortest
        wrong = [min(lines, key=lambda one: len(lines[one]))]
    wrong += [path for path, own in lines.items() if _is_canary(own) != canary]
    if wrong:
        said = f"{len(lines[files.src])} as in {files.src.name}{', with its canary' * canary}"
        raise DataError(f"lines: got {len(lines[wrong[0]])}, expected {said}.", wrong[0])
    texts = {path: found[canary:n] for path, found in lines.items()}
    refs, systems = ({k: texts[p] for k, p in kind.items()} for kind in (files.refs, files.systems))
    documents = documents_of(files.docs, texts[files.docs], canary) if files.docs else []
    targets = [text for side in (refs or systems).values() for text in side]
    return TestSet(
        name,
        _infer_pair(lp, texts[files.src], targets),
        texts[files.src],
        refs,
        systems,
        docs=tuple(doc for _, doc in documents),
        domains=tuple(domain for domain, _ in documents),
        categories=categories or {},
    )


def add_systems(test: TestSet, hyps: Paths) -> TestSet:
    """Return the test set with more systems, from files with a line per segment, or SGM or XML.

    The segments of SGM and XML are counted within their documents.

    Raises
    ------
    DataError : an unexpected number of lines, or a name that is taken.
    """
    keys, seen = [], dict.fromkeys(test.docs, 0)
    for doc in test.docs:
        seen[doc] += 1
        keys.append((doc, str(seen[doc])))
    files = named_files(hyps)
    added = _by_key(files, keys, "hyp", taken={*test.systems, *test.refs})
    outputs = _columns(added, keys, ", ".join(map(str, files.values())))
    return replace(test, systems={**test.systems, **outputs})


def _read(path: Path) -> _Marked | tuple[str, ...]:
    """Return the texts of SGM and XML, the translations of JSON Lines by their numbers, the lines of any other file."""
    if _suffix_of(path) in JSONL:
        _, records = _read_records(path)
        texts = tuple(
            _value_of({_TEXT: record.get("text")}, _TEXT, str, path, line).rstrip("\r\n")
            for line, record in enumerate(records, 1)
        )
        return tuple(texts[line] for line in _by_number(records, path))
    text = _decode(read_bytes(path), path)
    lines = _split_lines(text)
    if lines and _NBEST.match(lines[0]):
        raise DataError("got an n-best list, expected texts. Give it as candidates.", path, 1)
    return _marked(text, path) or lines


def _read_marked(path: str | PathLike, lp: str | None = None) -> TestSet | None:
    """Read a test set from one file of SGM or XML; None for any other file.

    Parameters
    ----------
    lp : str, optional
        Language pair; by default what the file declares, or that of its texts.
    """
    found = _read(Path(path))
    return _marked_set(found, {}, {}, _stem_of(path), lp) if isinstance(found, _Marked) else None


def _lines(path: Path) -> tuple[str, ...]:
    """Return the lines of a plain text."""
    lines = _read(path)
    if isinstance(lines, _Marked):
        raise DataError("got SGM or XML beside sources in plain text.", path)
    return lines


def documents_of(
    path: str | PathLike, lines: Sequence[str], skipped: int = 0
) -> list[tuple[str, str]]:
    """Return (domain, document) of each segment, from lines ``domain<TAB>document``.

    Parameters
    ----------
    skipped : int
        Lines of the file before these.
    """
    pairs = []
    for number, line in enumerate(lines, skipped + 1):
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) != 2 or not all(map(str.strip, cells)):
            raise DataError(f"got '{line:.40}', expected domain<TAB>document.", path, number)
        pairs.append((cells[0], cells[1]))
    return pairs


def _is_canary(lines: Sequence[str]) -> bool:
    """Return whether the first line of a file of texts or documents is a canary."""
    return bool(lines) and (lines[0].startswith(_CANARY) or lines[0].split() == ["canary"] * 2)


def named_files(paths: Paths | None) -> dict[str, Path]:
    """Return name -> path; a file without ``NAME=`` is named by the part of its name that differs from the others.

    That is its name without the last ending and without the dotted parts with which all names begin or end; of equal
    names the folder, or the ending. Of WMT's names it is what follows hyp or ref.

    >>> list(named_files(["wmt22.en-zh.hyp.Online-Y.zh", "ref=r.zh"])), list(named_files(["a/out.de", "b/out.de"]))
    (['Online-Y', 'ref'], ['a', 'b'])
    """
    if isinstance(paths, Mapping):
        return {name: Path(path) for name, path in paths.items()}
    listed = [paths] if isinstance(paths, str | PathLike) else list(paths or ())
    given: list[tuple[str, Path]] = []
    for one in (fspath(path) for path in listed):
        checks.some(
            np.array(one[-1:] not in ("", "=")), f"'{one}': expected a file, got an empty path."
        )
        name, equals, path = one.partition("=")
        if equals and not Path(one).exists():
            given.append((name, Path(path)))
        elif Path(one).is_dir():
            files = (p for p in Path(one).iterdir() if p.is_file() and p.name[0] != ".")
            given += [("", path) for path in sorted(files)]
        else:
            given.append(("", Path(one)))
    called = iter(_called([path for name, path in given if not name]))
    named: dict[str, Path] = {}
    for name, path in given:
        name = _utf8(name or next(called))
        if name in named:
            raise DataError(f"two files are named {name}. Name one, as in {name}2={path}.", path)
        named[name] = path
    return named


def _called(paths: Sequence[Path]) -> list[str]:
    """Return the part of each file's name that differs, see `named_files`."""
    stems = [_stem_of(path) for path in paths]
    if all(map(_WMT_NAME.fullmatch, stems)):
        return [_WMT_NAME.sub(r"\g<name>", stem) for stem in stems]
    if len(paths) < 2 or any(_suffix_of(path) in (".sgm", ".xml") for path in paths):
        return stems
    if len(set(stems)) == 1:
        endings = [path.suffix[1:] for path in paths]
        folders = zip(*(reversed(path.absolute().parent.parts) for path in paths), strict=False)
        return next((list(n) for n in (endings, *folders) if len(set(n)) == len(paths)), stems)
    parts = [stem.split(".") for stem in stems]
    for end in (0, -1):
        while min(map(len, parts)) > 1 and len({part[end] for part in parts}) == 1:
            for part in parts:
                del part[end]
    return [".".join(part) for part in parts]


# -- SGM and XML -------------------------------------------------------------------------------------


@dataclass
class _Marked:
    """The texts of one file.

    Parameters
    ----------
    path : Path
    srcs, refs, hyps : mappings
        _Key to source; name to key to text.
    domains : mapping
        Document to domain.
    langs : mapping
        "src" and "trg" to a declared language.
    """

    path: Path
    srcs: dict[_Key, str] = field(default_factory=dict)
    refs: dict[str, dict[_Key, str]] = field(default_factory=dict)
    hyps: dict[str, dict[_Key, str]] = field(default_factory=dict)
    domains: dict[str, str] = field(default_factory=dict)
    langs: dict[str, str] = field(default_factory=dict)

    def part(self, kind: str, name: str) -> dict[_Key, str]:
        """Return the texts of a source, reference or system, to be extended."""
        if kind == "src":
            return self.srcs
        return (self.refs if kind == "ref" else self.hyps).setdefault(name, {})


def _marked(text: str, path: str | PathLike) -> _Marked | None:
    """Return the texts of a file of WMT's SGM or XML; None for any other text.

    Raises
    ------
    DataError : with the line, for a segment outside of a document, without id, repeated or not closed.
    """
    root = _ROOT.search(text, 0, 65536) if text.lstrip().startswith("<") else None
    if root is None:
        return None
    found = _Marked(Path(path))
    doc: dict[str, str] | None = None
    part: dict[str, str] | None = None
    seg: tuple[dict[str, str], int] | None = None
    wrong: int | None = None  # where a segment has no document or id, is repeated or not closed
    for match in _TAG.finditer(text):
        if match[2] is None:  # a comment
            continue
        tag, closing, empty = match[2].lower(), bool(match[1]), bool(match[4])
        if tag == "seg" and (closing or empty):
            attributes, start = seg or (_attributes(match[3]), match.start())
            content = "" if empty else text[start : match.start()]
            key = (doc or {}).get("docid") or (doc or {}).get("id", ""), attributes.get("id", "")
            if (seg is None) != empty or part is None or not all(key):
                wrong = match.start()
                break
            if doc is not None and "testsuite" not in doc:
                into = found.part(part["kind"], _name(part, doc, found.path))
                if key in into:
                    wrong = match.start()
                    break
                into[key] = _one_line(content)
            seg = None
        elif seg is not None:
            if tag in ("seg", "doc"):
                break
        elif tag == "seg":
            seg = _attributes(match[3]), match.end()
        elif tag == "doc":
            doc = None if closing else _attributes(match[3])
            if doc and (domain := doc.get("domain") or doc.get("genre")):
                found.domains[doc.get("docid") or doc.get("id", "")] = domain
        else:
            part = None if closing else {**_attributes(match[3]), "kind": _KINDS.get(tag, tag)}
            _declare(found, part or {})
    if wrong is None and (seg or doc or f"</{root[1].lower()}" not in text.lower()):
        wrong = seg[1] if seg else len(text)
    if wrong is not None:
        line = text.count("\n", 0, wrong) + 1
        raise DataError("a segment lacks a document, id or end, or is repeated.", path, line)
    return found


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): _unescaped(a or b or c) for name, a, b, c in _ATTRIBUTE.findall(text)}


def _declare(found: _Marked, part: Mapping[str, str]) -> None:
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
    return part.get("system") or doc.get("sysid") or part.get("sysid") or _stem_of(path)


def _unescaped(text: str) -> str:
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
    return _unescaped(text if len(lines) < 2 else " ".join(filter(None, map(str.strip, lines))))


def _marked_set(
    src: _Marked, refs: Mapping[str, Path], hyps: Mapping[str, Path], name: str, lp: str | None
) -> TestSet:
    """Return a test set whose sources are those of a file.

    Without files of references or systems they are the file's own. Segments without any of its own references are left
    out, and so is a reference that lacks some of the others.

    Parameters
    ----------
    refs, hyps : mappings
        Name to a file, whose lines are in the order of the sources if it is a plain text.

    Raises
    ------
    DataError : a source without text of a system or a reference.
    """
    keys = list(src.srcs)
    if refs:
        found = _by_key(refs, keys, "ref")
    else:
        own = src.refs.values()
        keys = [key for key in keys if not own or any(ref.get(key, "").strip() for ref in own)]
        whole = {n: ref for n, ref in src.refs.items() if set(keys) <= ref.keys()}
        found = whole or src.refs
    outputs = _by_key(hyps, list(src.srcs), "hyp") if hyps else src.hyps
    columns = [_columns(kind, keys, src.path) for kind in (found, outputs)]
    if not keys:
        raise DataError("got no sources (<srcset>, or <src> in each document).", src.path)
    marked = [_read(path) for path in (*refs.values(), *hyps.values())]
    declared_in = [*(one for one in marked if isinstance(one, _Marked)), src]
    langs = {side: code for one in declared_in for side, code in one.langs.items()}
    declared = f"{langs['src']}-{langs['trg']}" if len(langs) > 1 else None
    srcs = tuple(src.srcs[key] for key in keys)
    targets = [text for kind in columns for texts in kind.values() for text in texts]
    docs = tuple(doc for doc, _ in keys)
    domains = tuple(src.domains.get(doc, "all") for doc in docs)
    pair = _infer_pair(lp or declared, srcs, targets)
    return TestSet(name, pair, srcs, columns[0], columns[1], docs, domains)


def _by_key(
    files: Mapping[str, Path], keys: Sequence[_Key], kind: str, taken: Set[str] = frozenset()
) -> dict[str, dict[_Key, str]]:
    """Return name -> key -> text, under the names given, or those in a file that is named like its stem.

    Parameters
    ----------
    keys : sequence of (document, segment)
        The sources, in whose order the lines of a plain text are.
    kind : str
        "ref" or "hyp".
    taken : set of str
        Names that are not possible.
    """
    found: dict[str, dict[_Key, str]] = {}
    for label, path in files.items():
        file, n = _read(path), len(keys)
        if isinstance(file, _Marked):
            own = file.refs if kind == "ref" else file.hyps or file.refs
            if len(own) == 1 and label != _stem_of(path):
                own = {label: next(iter(own.values()))}
        else:
            file = file[_is_canary(file) :]
            if len(file) < n or any(map(str.strip, file[n:])):
                raise DataError(f"got {counted(len(file), 'line')}, expected {n}.", path)
            own = {label: dict(zip(keys, file, strict=False))}
        if not own or own.keys() & {*found, *taken}:
            raise DataError(f"{label}: got no text, or its name is taken. Try NAME=FILE.", path)
        found |= own
    return found


def _columns(
    found: Mapping[str, Mapping[_Key, str]], keys: Sequence[_Key], path: str | PathLike
) -> dict[str, tuple[str, ...]]:
    """Return name -> the texts of all keys."""
    if missing := [(name, *key) for name, own in found.items() for key in keys if key not in own]:
        name, doc, seg = missing[0]
        raise DataError(f"{name:.40} lacks segment {seg:.20} of document {doc:.60}.", path)
    return {name: tuple(own[key] for key in keys) for name, own in found.items()}
