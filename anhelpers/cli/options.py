"""Options shared by several commands, the texts that they name, and the output of tables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from .. import checks
from .._lazy import pd
from ..errors import DataError, counted, one_line
from ..progress import note, say
from ..scoring import lookup

if TYPE_CHECKING:
    from ..data import TestSet
    from ..naturalness.lm import LanguageModel
    from ..naturalness.lpp import Mono

_KINDS = ("LLM", "MT", "online", "human")
_SHARED: dict[str, dict[str, object]] = {
    "--naturalness": {
        "metavar": "METRIC",
        "help": f"{lookup.listed('naturalness')} (default: native for de and en, else lpp; with another --lm lpp)",
    },
    "--lm": {
        "default": "gemma-3-270m",
        "metavar": "MODEL",
        "help": "language model: smollm2-135m, a folder or a hub id[@revision] (default: gemma-3-270m)",
    },
    "--mono": {
        "nargs": "?",
        "const": True,
        "metavar": "FILE",
        "help": "R: texts originally written in the target language (not translations), one per line, "
        "for lpp-distance and the naturalness axis (without FILE: R of the data set or of its language)",
    },
    "--seed": {"type": int, "default": 0, "metavar": "N", "help": "random seed (default: 0)"},
    "--output": {"metavar": "FILE", "help": ".csv or .parquet (default: CSV on standard output)"},
}


@dataclass(frozen=True)
class _Texts:
    """A data set or plain files, the references to compare with, and the systems to leave out."""

    data: str | None = None
    sources: str | None = None
    references: tuple[str, ...] = ()
    translations: tuple[str, ...] = ()
    language_pair: str | None = None
    reference: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    mine: tuple[str, ...] = ()
    docs: str | None = None

    @classmethod
    def of(cls, args: argparse.Namespace) -> _Texts:
        """The request in parsed arguments."""
        given = {k: tuple(v) if isinstance(v, list) else v for k, v in vars(args).items()}
        fields = cls.__dataclass_fields__
        known = {k: v for k, v in given.items() if k in fields and v is not None}
        return cls(**known)  # type: ignore[arg-type]

    def read(self) -> tuple[TestSet, TestSet]:
        """The test set with its references and its own systems; and with the systems of --mine.

        Raises
        ------
        DataError : neither a data set nor source texts, or both.
        """
        from ..data import add_systems, read_plain

        own = self.references or self.translations or self.docs
        if bool(self.data) == bool(self.sources) or (self.data and own):
            raise DataError("texts: expected either --data NAME, or -s SRC with -t, -r, --docs.")
        files, kinds, left_out = _split_kinds(self.translations, self.exclude)
        mine, more, others = _split_kinds(self.mine, self.exclude)
        if self.data:
            test = self._of_data(self.data)
        else:
            test = read_plain(
                self.sources or "", self.references, files, self.language_pair, docs=self.docs
            )
        joined = add_systems(test, mine) if mine else test
        kinds = {**joined.categories, **kinds, **more}
        return test, replace(joined, categories=kinds, unread=(*test.unread, *left_out, *others))

    def _of_data(self, name: str) -> TestSet:
        """The data set; where its texts are missing, its bundled scores."""
        from ..data import load, whereabouts
        from ..scoring import load_scores, score_tables

        if name not in score_tables() or whereabouts(name):
            return load(name, self.language_pair, exclude=self.exclude)
        test = load_scores(name).test
        option = "--mine" if self.mine else "--reference"
        if self.mine or self.reference not in (None, (test.reference,)):
            raise DataError(f"{option}: needs the texts: anhelpers data --fetch {name}.", name)
        return test

    def selected(self, test: TestSet, tags: Iterable[str] = ()) -> TestSet:
        """The test set without excluded systems (or tags of candidates), with other references as human points."""
        from ..plane import with_human_points

        for name in self.exclude:
            checks.one_of(name, {*test.systems, *test.refs, *test.unread, *tags}, "system")
        here = [name for name in self.exclude if name in test.systems]
        kept = None if self.data else ["all"]
        test = with_human_points(test.without(here), self.reference or kept)
        gone = {*here, *test.unread, *tags}
        # references that have become human points
        return test.without(n for n in self.exclude if n in test.systems or n not in gone)


def _split_kinds(
    typed: Iterable[str], exclude: Sequence[str]
) -> tuple[dict[str, Path], dict[str, str], set[str]]:
    """[NAME=]FILE[:KIND] → name → file, name → kind, and the excluded names."""
    from ..data.plain import named_files

    files: list[str] = []
    kinds: dict[Path, str] = {}
    for one in typed:
        file, _, kind = one.rpartition(":")
        given = kind in _KINDS and not Path(one.partition("=")[2] or one).exists()
        files.append(file if given else one)
        if given:
            kinds |= dict.fromkeys(named_files([file]).values(), kind)
    named = named_files(files)
    kept = {name: path for name, path in named.items() if name not in exclude}
    known = {name: kinds[path] for name, path in kept.items() if path in kinds}
    return kept, known, {*named} - {*kept}


def _add_texts(parser: argparse.ArgumentParser, *, systems: bool = True) -> None:
    """Add the options that name texts."""
    add = parser.add_argument
    add("-s", "--sources", metavar="SRC", help="source text: a segment per line, SGM or XML")
    add("-r", "--references", nargs="+", metavar="REF", help="reference text(s)")
    if systems:
        add("-t", "--translations", nargs="+", metavar="[NAME=]HYP", help="system outputs")
        add("--data", metavar="NAME|PATH", help="a data set in place of -s, -r and -t")
        add("--docs", metavar="FILE", help="a line domain<TAB>document for each segment of -s")
    add("-l", "--language-pair", metavar="LP", help="such as en-de (default: inferred)")
    add(
        "--reference",
        nargs="+",
        metavar="NAME",
        help="references to score against, or all; others are shown as human points (default: the "
        "standard one of a data set, or all files of -r)",
    )
    add("--exclude", nargs="+", metavar="SYSTEM", help="systems to leave out")


def _add_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add some of the shared options."""
    for name in names:
        flags = ("-o", "--output") if name == "--output" else (name,)
        parser.add_argument(*flags, **_SHARED[name])  # type: ignore[arg-type]


def _refuse_unused(why: str, given: Mapping[str, object]) -> None:
    """Raise a DataError for the first of these options that is given, as it would not be used."""
    for option in (name for name, value in given.items() if value):
        raise DataError(f"{option}: not used {why}.")


def _language_model(name: str, metrics: Sequence[str], test: TestSet) -> LanguageModel | None:
    """The language model, if one of the metrics needs it for this test set; else None.

    Raises
    ------
    DataError : a model that is named and not needed.
    """
    from ..naturalness.lm import DEFAULT, load_lm

    if not test.stored and any(lookup.LM in lookup.row_of(one).sees for one in metrics):
        return load_lm(name)
    of = "stored scores" if test.stored else ", ".join(metrics)
    _refuse_unused(f"by {of:.80}", {"--lm": name != DEFAULT})
    return None


def _monolingual(data: str | None, test: TestSet, named: str | bool | None) -> Mono:
    """R from a named file, or R of the data set or of its language."""
    from ..data import mono_for
    from ..naturalness.lpp import Mono
    from ..scoring import load_scores

    if test.stored:
        stored = load_scores(test.name).mono
        if stored is None or isinstance(named, str):
            raise DataError(f"{test.name}: no stored scores of this R, and no texts.")
        return stored
    file = named if isinstance(named, str) else None
    texts, origin = mono_for(data or "these texts", test.trg_lang, file)
    if not texts and file is None:
        raise DataError(f"--mono: got no FILE, and R is {origin}. Name a file.")
    note(f"R is {origin} ({counted(len(texts), 'text')}).")
    return Mono(texts, origin)


def _print_notes(notes: Iterable[str]) -> None:
    """Print each distinct note to stderr."""
    for sentence in dict.fromkeys(notes):
        note(sentence)


def _write_table(table: pd.DataFrame, output: str | None) -> None:
    """Write a .csv or .parquet file, or CSV on stdout; aligned text on a terminal."""
    from ..data.io import make_folder

    if output is not None:
        make_folder(Path(output).parent)
        path = _write_result(Path(output), table)
        say(f"wrote {path} ({counted(len(table), 'row')})")
    elif sys.stdout.isatty():
        from ..plane import in_one_cell

        long = [c for c in table if c.endswith(("signature", "unit"))]
        shown = in_one_cell(table.drop(columns=long), 4)
        text = shown.to_string(index=False, line_width=get_terminal_size().columns)
        signed = dict.fromkeys(str(value) for c in long for value in table[c])
        print(*map(one_line, [*text.split("\n"), *signed]), sep="\n")
    else:
        sys.stdout.write(table.to_csv(index=False, lineterminator="\n"))


def _write_result(path: Path, table: pd.DataFrame) -> Path:
    """Write a table as .csv or .parquet, and its origin into .made.json beside it."""
    from ..checks import one_of
    from ..data.io import write_atomic
    from ..provenance import write_made

    if one_of(path.suffix.lower(), (".csv", ".parquet"), "suffix of results") == ".csv":
        write_atomic(path, table.to_csv(index=False, lineterminator="\n"))
    else:
        write_atomic(path, table.to_parquet(index=False))
    if path.is_file():  # not /dev/null or a pipe
        write_made(path.parent, [path.name])
    return path
