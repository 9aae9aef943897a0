"""What is found while a folder of a teaching set is looked at, and what stands there beside the translations.

R with its domains, minimal pairs, and lines that a judge may have learnt from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TypeVar

import numpy as np

from ..errors import AnhelpersError, DataError
from ..naturalness.load import bundled_lm
from ..naturalness.prints import (
    line_fingerprints,
    lines_by_chance,
    seen_beyond_chance,
    shared_lines,
    training_lines,
)
from .fetch import bundled
from .identify import check_language, two_languages
from .languages import short_code
from .lines import read_lines
from .schema import TestSet
from .sets import minimal_pairs
from .teaching_skeleton import EXAMPLE

__all__ = ["Look", "counted", "folded", "look_at_mono", "look_at_pairs", "look_for_training_lines"]

T = TypeVar("T")


@dataclass
class Look:
    """What was found in a folder until now.

    Parameters
    ----------
    lp : language pair, "" where it cannot be told. contents : (what, how much of it in words).
    remarks : sentences on what a set may lack. defects : sentences, each with file and line where these are known.
    """

    folder: Path
    lp: str
    contents: list[tuple[str, str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    defects: list[str] = field(default_factory=list)

    @property
    def trg_lang(self) -> str:
        """Language of the translations."""
        return self.lp.partition("-")[2]

    def bad(self, message: str, file: str | PathLike, line: int | None = None) -> None:
        """A defect of a file, whose path may be that in the folder."""
        self.defects.append(str(DataError(message, self.folder / file, line)))

    def every(self, file: str | PathLike, found: Iterable[tuple[str, int]]) -> None:
        """Defects of a file as (what is wrong, without a full stop; line)."""
        for what, line in found:
            self.bad(f"{what}.", file, line)

    def tried(self, read: Callable[[], T]) -> T | None:
        """What a reader gives; None, and its error as a defect, where it fails."""
        try:
            return read()
        except AnhelpersError as error:
            self.defects.append(str(error))
            return None

    def there(self, file: str, use: str) -> bool:
        """Whether the set has a file that it may lack; a remark says where not what it is for."""
        if not (self.folder / file).is_file():
            self.remarks.append(f"there is no {file}, {use}")
        return (self.folder / file).is_file()

    def language(self, texts: Sequence[str], code: str, what: str, file: str | PathLike) -> None:
        """A defect where texts, `what` as the subject of a sentence, read as another language, or as two."""
        try:
            check_language(texts, code, what)
            told = f"{what} read as {mixed}." if (mixed := two_languages(texts)) else ""
        except AnhelpersError as error:
            told = str(error)
        if told:
            self.bad(f"{told} Translate those that are not in '{code}'.", file)


def folded(text: str) -> str:
    """A text with each piece of white space as one space, none at the ends."""
    return " ".join(text.split())


def counted(names: Iterable[str]) -> str:
    """Names with how often each is there.

    >>> counted(["news", "social", "news"])
    'news 2, social 1'
    """
    return ", ".join(f"{name} {n}" for name, n in Counter(names).items())


def look_at_mono(look: Look, test: TestSet | None) -> tuple[str, ...]:
    """The lines of R, and what is wrong with them and with their domains; () where there are none.

    Parameters
    ----------
    test : the translations, if they could be read. look : where defects go.
    """
    file = f"mono.{look.trg_lang}.txt"
    if not (look.lp and look.there(file, "R, text that people wrote in the target language.")):
        return ()
    lines = look.tried(lambda: read_lines(look.folder / file)) or ()
    look.language([line for line in lines if EXAMPLE not in line], look.trg_lang, "its texts", file)
    ours: set[str] = {folded(text) for ref in test.refs.values() for text in ref} if test else set()
    seen: dict[str, int] = {}
    for number, line in enumerate(map(folded, lines), 1):
        if not line:
            look.bad(
                "this line is blank; write a text, or delete the line here and in the domains.",
                file,
                number,
            )
        elif (first := seen.setdefault(line, number)) != number:
            look.bad(f"this text stands at line {first} already; keep one.", file, number)
        elif line in ours:
            look.bad(
                "this is a reference, a translation; R is text that nobody translated.",
                file,
                number,
            )
    domains = f"mono.{look.trg_lang}.domains.txt"
    named: tuple[str, ...] = ()
    if look.there(domains, f"the domain of each line of {file}."):
        named = look.tried(lambda: read_lines(look.folder / domains)) or ()
        if len(named) != len(lines):
            look.bad(
                f"has {len(named)} lines, and {file} has {len(lines)}; write a domain for each.",
                domains,
            )
        known = set(test.domains) if test else set(named)
        for number, domain in enumerate(named, 1):
            if domain not in known:
                look.bad(
                    f"'{domain}' is no domain of the sources ({', '.join(sorted(known))}).",
                    domains,
                    number,
                )
    look.contents.append(("mono", f"{len(lines)} texts{f' ({counted(named)})' if named else ''}"))
    return lines


def look_at_pairs(look: Look) -> None:
    """What is wrong with the minimal pairs."""
    file = "minimal_pairs.tsv"
    if not look.there(file, "pairs of a good sentence and a broken one."):
        return
    pairs = look.tried(lambda: minimal_pairs(look.folder)) or []
    seen: dict[tuple[str, str], int] = {}
    for number, (_, good, bad) in enumerate(pairs, 2):
        if folded(good) == folded(bad):
            look.bad(
                "both sentences of this pair are the same; break the second one.", file, number
            )
        if (first := seen.setdefault((folded(good), folded(bad)), number)) != number:
            look.bad(f"this pair stands at line {first} already; keep one.", file, number)
    look.contents.append(("minimal pairs", f"{len(pairs)} ({counted(one for one, _, _ in pairs)})"))


def look_for_training_lines(
    look: Look, lines: Mapping[str, Sequence[str]], train: Sequence[str | PathLike]
) -> None:
    """No line of R or of a reference may stand in a text that a judge learns from.

    Parameters
    ----------
    look : where defects go. lines : path in the folder -> its lines.
    train : files of training text, beside which the prints of the bundled language model and critic are read.
    """
    prints: list[tuple[str, np.ndarray]] = []
    for path in train:
        if (known := look.tried(lambda path=path: read_lines(path))) is not None:  # type: ignore[misc]  # as above
            prints.append((str(path), line_fingerprints(line for line in known if line.strip())))
    try:
        model = bundled_lm(look.trg_lang)
        judges = {model: f"lm/{model}", "the critic": f"critic/{short_code(look.trg_lang)}"}
        for judge, folder in judges.items():
            if (own := training_lines(bundled(folder))) is not None:
                prints.append((f"the training text of {judge}", own))
    except DataError:  # none is bundled in this language
        pass
    every = list(chain(*lines.values()))
    for where, theirs in prints:
        chance = lines_by_chance(len(every), theirs)
        if not seen_beyond_chance(every, theirs):
            continue
        for file, texts in lines.items():
            if seen := set(shared_lines(texts, theirs)):
                at = [number for number, text in enumerate(texts, 1) if text in seen]
                told = (
                    f" ({len(at)} such "
                    f"lines{f', {chance:.1f} in all by chance' if chance > 0.01 else ''})"
                )
                look.bad(
                    f"this line stands in {where} as well{told}; write another here, or take it "
                    "out there.",
                    file,
                    at[0],
                )
