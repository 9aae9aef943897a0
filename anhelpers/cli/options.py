"""Options that several commands share, and what they mean; the one way in which a command writes a table."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from .. import checks, provenance
from ..errors import DataError, LanguageConflict
from ..progress import note, note_once, say
from ..provenance import environment
from ..scoring import lookup

if TYPE_CHECKING:
    from ..data import TestSet
    from ..metrics import Metric
    from ..naturalness.lm import LanguageModel
    from ..naturalness.lpp import Mono
    from ..provenance import Table
    from ..scoring.cluster import Cluster

__all__ = [
    "axes",
    "built",
    "lm",
    "loading",
    "metrics",
    "mqm_tables",
    "naming_model",
    "notebooks",
    "out_folder",
    "print_notes",
    "refuse_texts",
    "resampling",
    "scheduler",
    "selected",
    "selection",
    "store",
    "training_texts",
    "translations",
    "using_scheduler",
    "using_store",
    "write_table",
]


Parser = argparse.ArgumentParser | argparse._ArgumentGroup  # both take options


def add_texts(parser: argparse.ArgumentParser, required: bool) -> None:
    """The options that name plain files, as COMET and sacreBLEU call them.

    Parameters
    ----------
    required : whether the command cannot do without.
    """
    told = "source text, a line per segment, or WMT's SGM or XML"
    parser.add_argument("-s", "--sources", metavar="SRC", required=required, help=told)
    parser.add_argument(
        "-r", "--references", nargs="+", default=[], metavar="REF", help="reference text(s)"
    )
    parser.add_argument(
        "-l",
        "--language-pair",
        metavar="LP",
        default=None,
        help="such as en-de; decides BLEU's tokenizer (default: what the data set or the texts "
        "say)",
    )


def selection(parser: argparse.ArgumentParser) -> None:
    """--reference and --exclude: which references metrics compare with, and which systems stay away."""
    parser.add_argument(
        "--reference",
        nargs="+",
        metavar="NAME",
        help="the references that metrics compare with, or "
        "all (default: all files of -r, and of a data set the standard one); the others become "
        "human points",
    )
    parser.add_argument(
        "--exclude", nargs="+", default=[], metavar="SYSTEM", help="systems to leave out"
    )


def selected(args: argparse.Namespace, test: TestSet, *, files: bool) -> TestSet:
    """The systems that are compared and the references that they are compared with, their lines in place.

    Parameters
    ----------
    files : whether the texts are files that the user named, all of whose references are meant.
    """
    from ..data import check
    from ..plane import with_human_points

    for name in args.exclude:
        checks.one_of(name, {*test.systems, *test.refs}, "system")
    here = [name for name in args.exclude if name in test.systems]
    test = with_human_points(test.without(here), args.reference or (["all"] if files else None))
    test = test.without(name for name in args.exclude if name in test.systems or name not in here)
    # else it is what was just typed
    named = test.refs and (args.reference or not files or not args.references)
    told = (
        [f"compared with the reference{'s' * (len(test.refs) > 1)} {', '.join(test.refs)}."]
        if named
        else []
    )
    told += [f"left out: {', '.join(args.exclude)}."] if args.exclude else []
    told += check(test)
    return replace(test, notes=(*test.notes, *told))


def bleu_tokenizer_notes(args: argparse.Namespace, signatures: Iterable[str]) -> list[str]:
    """Which tokenizer BLEU's words are cut by, where nobody named a language pair.

    Parameters
    ----------
    signatures : of all metrics.
    """
    used = dict.fromkeys(
        cut[1] for text in signatures if (cut := re.match(r"BLEU\|.*\|tok:([^|]*)", text))
    )
    after = "which follows from the target language; -l decides"
    return (
        []
        if args.language_pair
        else [f"BLEU's words are cut by the tokenizer {name}, {after}." for name in used]
    )


@contextmanager
def naming_model(model: str | None) -> Iterator[None]:
    """Inside, an error about the language of texts also says which language the model knows.

    Parameters
    ----------
    model : that --lm names; None: there is none.
    """
    try:
        yield
    except LanguageConflict as error:
        from ..naturalness.lm import stated_language

        language = stated_language(model) if model else None
        told = f" The language model {model} knows '{language}'." if language else ""
        raise LanguageConflict(f"{error}{told}") from None


def translations(parser: argparse.ArgumentParser, required: bool) -> None:
    """-t: system outputs.

    Parameters
    ----------
    required : whether the command cannot do without.
    """
    parser.add_argument(
        "-t",
        "--translations",
        nargs="+",
        default=[],
        required=required,
        metavar="[NAME=]HYP",
        help="system outputs, a line per segment",
    )


def lm(parser: argparse.ArgumentParser) -> None:
    """--lm: the language model of the naturalness axis."""
    parser.add_argument(
        "--lm",
        metavar="MODEL",
        default="bundled",
        help="folder or hub id[@revision] (default: bundled, the one of the language: de-small or "
        "en-small)",
    )


def axes(parser: argparse.ArgumentParser, naturalness: str, *, several: bool = False) -> None:
    """-m and --naturalness: the two metrics of a plane.

    Parameters
    ----------
    naturalness : which measures there are, in words. several : whether -m takes more than one.
    """
    many: dict[str, Any] = {"nargs": "+", "default": ["chrf"]} if several else {"default": "chrf"}
    each = "; several: a panel each" if several else ""
    parser.add_argument(
        "-m",
        "--metric",
        metavar="METRIC",
        help=f"accuracy {lookup.listed('accuracy')} (default: chrf{each})",
        **many,
    )
    parser.add_argument(
        "--naturalness",
        default="lpp",
        metavar="MEASURE",
        help=f"{naturalness} (default: lpp)",
    )


def originals_and_translations(
    parser: argparse.ArgumentParser, originals: str, translations: str
) -> None:
    """NATIVE and TRANSLATED…, the two sides that judges of naturalness are trained on, and --lang.

    Parameters
    ----------
    originals, translations : what more there is to say of them.
    """
    parser.add_argument(
        "native",
        metavar="NATIVE",
        help=f"texts written in the language, one per line: at least 200; {originals}",
    )
    parser.add_argument(
        "translated",
        nargs="+",
        metavar="TRANSLATED",
        help="texts translated into it, of the same domains, a file per translator or system; "
        f"all files weigh the same{translations}",
    )
    parser.add_argument(
        "--lang",
        metavar="CODE",
        help="the language of the texts, such as cs or pt_BR; texts in any other are refused",
    )


def both_sides(args: argparse.Namespace) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """The texts of NATIVE, and of each file of TRANSLATED; a DataError for a file that is named twice."""
    paths = [args.native, *args.translated]
    if repeated := [path for path in paths if paths.count(path) > 1]:
        raise DataError("is named twice; name it once.", repeated[0])
    native, *others = training_texts(paths, args.lang)
    return native, dict(zip(args.translated, others, strict=True))


def training_texts(paths: Sequence[str], language: str | None) -> list[tuple[str, ...]]:
    """The lines of each file that a judge of naturalness is trained on, all in the one language that it will know.

    Parameters
    ----------
    language : as typed.
    """
    from ..data.lines import read_lines

    if language is None:
        raise DataError("say in which language the text is: --lang CODE, such as --lang es.")
    return [read_lines(path) for path in paths]


def loading(parser: Parser) -> None:
    """--dtype and --device: in what numbers models compute, and where."""
    parser.add_argument(
        "--dtype",
        choices=["float32", "bfloat16", "float16"],
        default="float32",
        help="of the weights of models (default: float32)",
    )
    parser.add_argument(
        "--device",
        metavar="DEVICE",
        help="of models: cpu, cuda, cuda:1 (default: the GPU if there is one)",
    )


def store(parser: Parser, default: str | None = None) -> None:
    """--store: where slow scores are kept.

    Parameters
    ----------
    default : where nothing is typed; None: ANHELPERS_STORE, or the user's cache.
    """
    parser.add_argument(
        "--store",
        metavar="FILE|off",
        default=default,
        help="keeps the scores of models, so that they are computed once (default: what "
        "ANHELPERS_STORE says, else scores.sqlite in the cache folder)",
    )


def scheduler(parser: Parser) -> None:
    """--scheduler: who computes."""
    parser.add_argument(
        "--scheduler",
        metavar="WHERE",
        help="shares the work of models over a Dask cluster: local:N "
        "(N processes here), tcp://HOST:PORT (a running scheduler), slurm:FILE.yaml "
        "(see docs/cluster.md)",
    )


NOT_TOLD = {
    "refuse",
    "output",
    "out",
    "html",
    "mme",
    "save_scores",
    "store",
    "scheduler",
    "jobs",
    "action",
    "debug",
}
"""Of the arguments, those that decide where results go and who computes them, but no number."""


def command_parameters(args: argparse.Namespace) -> dict[str, object]:
    """The command and its parameters, defaults as well, as its results name them; no model that nothing is asked of."""
    unused = set()
    if measures := [args.naturalness] if "naturalness" in args else getattr(args, "judge", None):
        from ..scoring.lookup import needs_lm

        unused = set() if any(map(needs_lm, measures)) else {"lm"}
    rest = {
        name: value
        for name, value in vars(args).items()
        if name not in NOT_TOLD | {"command"} | unused
    }
    return {"command": args.command, **rest}


def check_outputs(args: argparse.Namespace) -> None:
    """A DataError, before anything is done, for a result that cannot go where it should."""
    if args.command in ("score", "curve", "judge", "mqm", "xmi") and args.output:
        check_table_name(args.output)
    if args.command == "store" and args.action == "export":
        check_table_name(args.file, (".parquet",))
    if getattr(args, "save_scores", None):
        check_table_name(args.save_scores, (".jsonl",))
    _check_places(args)


def _check_places(args: argparse.Namespace) -> None:
    """A DataError where a result would replace an input, or where something else is in its place."""
    given = vars(args)
    files = [given[name] for name in ("output", "html", "save_scores") if given.get(name)]
    files += [f"{file}.made" for file in files if file.lower().endswith(".csv")]
    folders = [given[name] for name in ("out", "mme") if given.get(name)]
    files += [args.file] if args.command == "store" and args.action == "export" else []
    inputs = [
        value
        for name, value in given.items()
        if name not in ("output", "html", "save_scores", "out", "mme")
        and not (name == "file" and files)
    ]
    for i, path in enumerate(map(Path, files)):
        if any(path.absolute() == Path(other).absolute() for other in files[:i]):
            raise DataError(
                "is named for two results, of which one would replace the other; name two files.",
                path,
            )
        if path.is_dir():
            raise DataError("this is a folder; name a file for the result.", path)
        for text in _texts(inputs):
            if path.exists() and Path(text).exists() and path.samefile(text):
                raise DataError(
                    "is an input of this command, which the result would replace; name another "
                    "file.",
                    path,
                )
    for folder in [*(Path(file).absolute().parent for file in files), *map(Path, folders)]:
        there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        if not there.is_dir():
            raise DataError(
                "this is a file, and a folder is wanted for the results; name another one.", there
            )


def _texts(values: Iterable[object]) -> Iterator[str]:
    """The texts among arguments, a NAME= before them left out as well."""
    for value in values:
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and len(text) < 4096 and "\0" not in text:
                yield from (text, text.partition("=")[2]) if "=" in text else (text,)


TEXTS = {"sources": "-s", "references": "-r", "translations": "-t", "docs": "--docs", "k": "-k"}
"""The options that bring texts, or belong to them, by the name of what they give."""


def refuse_texts(args: argparse.Namespace, data: str) -> None:
    """A DataError for texts, or options of texts, beside a data set that brings its own: they would be dropped.

    Parameters
    ----------
    data : what the message calls the data set.
    """
    typed = [
        option for name, option in TEXTS.items() if getattr(args, name, None) not in (None, [])
    ]
    if typed:
        mine = " (systems of your own go by --mine)" if "mine" in args and "-t" in typed else ""
        raise DataError(f"{data} brings its own texts; leave out {' and '.join(typed)}{mine}.")


def check_table_name(output: str, suffixes: Sequence[str] = (".csv", ".parquet")) -> None:
    """A DataError where a table cannot be written under that name.

    Parameters
    ----------
    suffixes : what it may end in.
    """
    if Path(output).suffix.lower() not in suffixes:
        raise DataError(
            f"cannot write '{Path(output).suffix}' files; name a {' or '.join(suffixes)} file.",
            output,
        )


@contextmanager
def using_scheduler(named: str | None) -> Iterator[Cluster | None]:
    """Inside, models' scores come from the cluster that --scheduler names; without one nothing changes."""
    if named is None:
        yield None
        return
    from ..scoring.cluster import connect

    with connect(named) as cluster:
        yield cluster


@contextmanager
def using_store(named: str | None) -> Iterator[None]:
    """Inside, this process and the kernels it starts use the store that --store names; without one nothing changes."""
    if named is None:
        yield
        return
    from ..scoring.memo import STORE

    if not named.strip():
        raise DataError("--store is empty; name a file, or say off.")
    place = "off" if named.strip().lower() == "off" else str(checks.local_path(named).absolute())
    with environment(**{STORE: place}):
        yield


def metrics(
    names: Sequence[str],
    lm: LanguageModel | None,
    trg_lang: str,
    n_refs: int | str,
    *,
    mono: Mono | None = None,
) -> list[Metric]:
    """The metrics that the options name, in that order; where none of them uses the model, lpp under it at the end.

    Parameters
    ----------
    n_refs : references per segment, which some signatures name, or "var". mono : what lpp-distance compares with.
    """
    from ..scoring.lookup import LM, metric, row_of

    rows = [row_of(name) for name in names]
    alone = lm is not None and not any(LM in row.sees for row in rows)
    asked = [*names, "lpp"] if alone else names
    return [metric(name, trg_lang, lm=lm, n_refs=n_refs, mono=mono) for name in asked]


def chosen_lm(
    name: str | None, lang: str, *, device: str | None = None, dtype: str = "float32"
) -> LanguageModel | None:
    """The language model that --lm names; None without.

    Parameters
    ----------
    lang : of the texts, which says which bundled model is meant.
    """
    from ..naturalness.lm import load_lm

    model = load_lm(name, device=device, dtype=dtype, lang=lang) if name else None
    if model is not None and model.language is None:
        note_once(
            f"{model.name} does not say which languages it knows; that it knows the texts' is "
            "taken for granted."
        )
    return model


def resampling(parser: argparse.ArgumentParser, draws: bool = True) -> None:
    """How often is resampled, and from which seed.

    Parameters
    ----------
    draws : whether the command lets their number be chosen.
    """
    if draws:
        parser.add_argument(
            "--draws", type=int, default=1000, metavar="B", help="resamples (default: 1000)"
        )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the resampling (default: 0)"
    )


def mqm_tables(parser: argparse.ArgumentParser) -> None:
    """What the categories and severities of MQM count."""
    parser.add_argument(
        "--scheme", metavar="S", help="wmt, en-es or a CSV file (default: what fits the categories)"
    )
    parser.add_argument(
        "--weights",
        default="freitag2021",
        metavar="W",
        help="freitag2021, mt-metrics-eval, wmt24 or a CSV file (default: freitag2021)",
    )


def out_folder(parser: argparse.ArgumentParser, default: str) -> None:
    """Where a command writes several results.

    Parameters
    ----------
    default : the folder without the option.
    """
    parser.add_argument(
        "-o",
        "--out",
        default=default,
        metavar="DIR",
        help=f"folder of the results (default: {default})",
    )


def built(parser: argparse.ArgumentParser) -> None:
    """The folder that `anhelpers run` wrote, for commands that make something of executed notebooks."""
    parser.add_argument(
        "--built",
        default="build",
        metavar="DIR",
        help="where `anhelpers run` wrote (default: build)",
    )


def notebooks(parser: argparse.ArgumentParser) -> None:
    """Which notebooks."""
    parser.add_argument(
        "notebooks",
        nargs="*",
        metavar="NOTEBOOK",
        help="names or paths; all of the collection by default",
    )


def print_notes(notes: Iterable[str]) -> None:
    """What the user should see of the data, on standard error."""
    for sentence in notes:
        note(sentence)


def write_table(table: Table, output: str | None) -> None:
    """CSV on standard output, or a .csv/.parquet file that appears in one step; a last column marks what made it.

    The whole line of what made it goes beside or into the file; of standard output, to standard error. On a terminal
    the same as an aligned text: a person reads it, and no program.
    """
    from ..data.writing import as_utf8, make_folder

    if output is not None:
        check_table_name(output)
        make_folder(Path(output).parent)
        say(f"wrote {provenance.write_result(output, table)} ({len(table)} rows)")
        return
    if sys.stdout.isatty():
        import pandas as pd

        from ..report import terminal_text

        shown = pd.DataFrame(table).assign(made_by=provenance.made_by())
        sys.stdout.write(terminal_text(shown, get_terminal_size().columns))
        return
    line = provenance.line_of(table)
    text = provenance.as_csv(provenance.with_made_by(table, line))
    sys.stdout.write(as_utf8(text, "standard output").decode("utf-8"))
    say(f"made by {provenance.mark_of(line)}: {line}")
