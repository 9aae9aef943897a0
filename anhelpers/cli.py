"""The command line: parse, call, print. `anhelpers COMMAND --help` tells the rest."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from . import __version__
from .errors import AnhelpersError, DataError

if TYPE_CHECKING:
    import pandas as pd

    from .data import CandidateSet, TestSet
    from .metric import Metric

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; 0 where all went well, 1 where a notebook failed, 2 for a wrong input, 130 when interrupted."""
    args = _parser().parse_args(argv)
    try:
        return args.run(args) or 0
    except AnhelpersError as error:
        print(f"anhelpers {args.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(f"anhelpers {args.command}: interrupted.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="anhelpers", description="The accuracy-naturalness tradeoff of translations.")
    parser.add_argument("--version", action="version", version=f"anhelpers {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, run, text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(run=run)
        return sub

    command("check", _check, "say what is installed, what is missing for which feature, and what mends it")
    sub = command("run", _run, "execute notebooks by papermill; writes executed notebooks and self-contained HTML")
    sub.add_argument(
        "notebooks", nargs="*", metavar="NOTEBOOK", help="names or paths; all of the collection by default"
    )
    sub.add_argument(
        "-p", "--parameter", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"), help="set a parameter"
    )
    sub.add_argument("--data", metavar="NAME|PATH", help="the data set, short for -p data NAME|PATH")
    sub.add_argument("--out", default="build", metavar="DIR", help="where results go (default: build)")
    sub.add_argument("--jobs", type=int, default=1, metavar="N", help="notebooks at a time (default: 1)")
    sub = command("score", _score, "score system outputs: a row per system and metric, or per segment")
    _texts(sub, required=True)
    sub.add_argument(
        "-t",
        "--translations",
        nargs="+",
        required=True,
        metavar="[NAME=]HYP",
        help="system outputs, a line per segment",
    )
    sub.add_argument(
        "-m",
        "--metrics",
        nargs="+",
        metavar="METRIC",
        help="of chrf, chrf++, bleu, ter (default: chrf, or none with --lm)",
    )
    sub.add_argument(
        "--lm", metavar="MODEL", help="adds lpp under this model: de-tiny (German), a folder or hub id[@revision]"
    )
    sub.add_argument("--level", choices=["corpus", "segment-mean", "both"], default="corpus",
                     help="of a system's score; without a corpus score: segment-mean (default: corpus)")  # fmt: skip
    sub.add_argument("--segments", action="store_true", help="a row per segment instead of per system")
    sub.add_argument("-o", "--output", metavar="FILE", help=".csv or .parquet (default: CSV on standard output)")
    sub = command(
        "curve", _curve, "the exact oracle curve of a candidate set: all vertices as CSV, and a page with the explorer"
    )
    sub.add_argument(
        "candidates", metavar="CANDIDATES", help="JSONL, parquet, text with K lines per source, or a data set's name"
    )
    _texts(sub, required=False)
    sub.add_argument("-k", type=int, metavar="K", help="candidates per source, for text files")
    sub.add_argument("-m", "--metric", default="chrf", metavar="METRIC", help="accuracy metric (default: chrf)")
    sub.add_argument(
        "--lm", metavar="MODEL", help="folder or hub id[@revision] (default: the bundled de-tiny, for German)"
    )
    sub.add_argument(
        "-o", "--output", metavar="FILE", help="vertices as .csv or .parquet (default: CSV on standard output)"
    )
    sub.add_argument("--html", metavar="FILE", help="the page (default: build/NAME.curve.html)")
    sub = command("train-lm", _train_lm, "train a very small language model from plain text, resumable")
    sub.add_argument("text", metavar="TEXT", help="one sentence per line")
    sub.add_argument("out", metavar="FOLDER", help="where the model goes")
    sub.add_argument("--epochs", type=int, metavar="N")
    sub.add_argument("--seed", type=int, metavar="N")
    sub.add_argument("--device", default="cpu", help="cpu or cuda (default: cpu)")
    return parser


def _texts(sub: argparse.ArgumentParser, required: bool) -> None:
    """The options that name plain files, as COMET and sacreBLEU call them."""
    sub.add_argument("-s", "--sources", metavar="SRC", required=required, help="source text, a line per segment")
    sub.add_argument("-r", "--references", nargs="+", default=[], metavar="REF", help="reference text(s)")
    sub.add_argument(
        "-l",
        "--language-pair",
        metavar="LP",
        default=None,
        help="such as en-de; decides BLEU's tokenizer (default: en-de)",
    )


def _check(args: argparse.Namespace) -> int:
    from .doctor import report

    print(report())
    return 0


def _run(args: argparse.Namespace) -> int:
    from .notebooks import parse_value, run

    parameters = {name: parse_value(value) for name, value in args.parameter}
    if args.data is not None:
        parameters["data"] = args.data
    outcomes = run(args.notebooks, parameters, args.out, args.jobs)
    for outcome in outcomes:
        print(f"{outcome.name}: {outcome.error}" if outcome.error else f"{outcome.html}")
    return int(any(o.error for o in outcomes))


def _metrics(names: Sequence[str], lm: str | None, trg_lang: str, n_refs: int) -> list[Metric]:
    """The metrics that the options name, in that order; the log-perplexity last."""
    from .accuracy.surface import surface_metric

    metrics = [surface_metric(name, trg_lang, n_refs) for name in names]
    return [*metrics, _lpp(lm, trg_lang)] if lm else metrics


def _lpp(model: str, trg_lang: str) -> Metric:
    from .naturalness.lm import load_lm, lpp_metric

    return lpp_metric(load_lm(model), trg_lang=trg_lang)


def _score(args: argparse.Namespace) -> int:
    from .data import read_plain
    from .scoring import segment_rows, system_rows

    test = read_plain(args.sources, args.references, args.translations, args.language_pair or "en-de")
    names = args.metrics if args.metrics is not None else ([] if args.lm else ["chrf"])
    metrics = _metrics(names, args.lm, test.trg_lang, max(1, len(test.refs)))
    for note in test.notes:
        print(f"note: {note}", file=sys.stderr)
    table = segment_rows(test, metrics) if args.segments else system_rows(test, metrics, args.level)
    _write(table, args.output)
    return 0


def _candidates(args: argparse.Namespace) -> tuple[TestSet, CandidateSet]:
    """Candidates with their sources and references: one JSONL file, a file beside texts, or a named data set."""
    from .data import load, load_candidates, read_candidate_file, read_candidates, read_plain

    if not Path(args.candidates).is_file():
        return load(args.candidates), load_candidates(args.candidates)
    if args.sources:
        test = read_plain(args.sources, args.references, {}, args.language_pair or "en-de")
        return test, read_candidates(args.candidates, test.srcs, args.k)
    test, cands = read_candidate_file(args.candidates, args.language_pair)
    if test is None:
        raise DataError("holds no sources and references; give them by -s SRC -r REF.", args.candidates)
    return test, cands


def _curve(args: argparse.Namespace) -> int:
    from .accuracy.surface import surface_metric
    from .plane import curve_rows, oracle_study
    from .widgets.study import explore

    test, cands = _candidates(args)
    accuracy = surface_metric(args.metric, test.trg_lang, len(test.refs))
    study = oracle_study(test, cands, accuracy, _lpp(args.lm, test.trg_lang))
    for note in study.notes:
        print(f"note: {note}", file=sys.stderr)
    page = Path(args.html or f"build/{Path(args.candidates).stem}.curve.html")
    page.parent.mkdir(parents=True, exist_ok=True)
    explore(study).save(page)
    _write(curve_rows(study), args.output)
    print(f"wrote {page}", file=sys.stderr)
    return 0


def _train_lm(args: argparse.Namespace) -> int:
    from .data.lines import read_lines
    from .naturalness.train import Recipe, train_lm

    chosen = {k: v for k, v in (("epochs", args.epochs), ("seed", args.seed)) if v is not None}
    facts = train_lm(
        read_lines(args.text),
        Path(args.out),
        Recipe(**chosen),
        args.device,
        lambda s: print(s, file=sys.stderr, flush=True),
    )
    print(
        f"{args.out}: held-out perplexity {facts['held_out_perplexity']} per token "
        f"({facts['held_out_tokens']:,} tokens)"
    )
    return 0


def _write(table: pd.DataFrame, output: str | None) -> None:
    """CSV on standard output, or a .csv/.parquet file that appears in one step."""
    if output is None:
        sys.stdout.write(table.to_csv(index=False, lineterminator="\n"))
        return
    path = Path(output)
    if path.suffix not in (".csv", ".parquet"):
        raise DataError(f"cannot write '{path.suffix}' files; name a .csv or .parquet file.", output)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.tmp")
    if path.suffix == ".csv":
        table.to_csv(fresh, index=False, lineterminator="\n")
    else:
        table.to_parquet(fresh, index=False)
    os.replace(fresh, path)
    print(f"wrote {path} ({len(table)} rows)", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
