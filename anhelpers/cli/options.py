"""Options that several commands share, and what they mean; the one way in which a command writes a table."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .. import checks
from ..errors import DataError
from ..progress import note

if TYPE_CHECKING:
    import pandas as pd

    from ..metric import Metric
    from ..naturalness.lm import LanguageModel
    from ..scoring.cluster import Cluster

__all__ = [
    "ACCURACY", "lm", "load_model", "lpp", "metrics", "notebooks", "print_notes", "scheduler", "store", "texts",
    "translations", "using_scheduler", "using_store", "write_table",
]  # fmt: skip


ACCURACY = (
    "chrf, chrf++, bleu, ter; comet, cometkiwi, xcomet-xl, xcomet-xxl, or comet:MODEL for a folder, .ckpt file or hub "
    "id[@revision]; metricx23, metricx24, or metricx:MODEL; with -qe without reference (xcomet-xl-qe, metricx24-qe, "
    "comet-qe:MODEL)"
)
"""The accuracy metrics, in words."""


def texts(parser: argparse.ArgumentParser, required: bool) -> None:
    """The options that name plain files, as COMET and sacreBLEU call them."""
    parser.add_argument("-s", "--sources", metavar="SRC", required=required, help="source text, a line per segment")
    parser.add_argument("-r", "--references", nargs="+", default=[], metavar="REF", help="reference text(s)")
    parser.add_argument(
        "-l",
        "--language-pair",
        metavar="LP",
        default=None,
        help="such as en-de; decides BLEU's tokenizer (default: en-de)",
    )


def translations(parser: argparse.ArgumentParser, required: bool) -> None:
    """-t: system outputs."""
    parser.add_argument("-t", "--translations", nargs="+", default=[], required=required, metavar="[NAME=]HYP",
                        help="system outputs, a line per segment")  # fmt: skip


def lm(parser: argparse.ArgumentParser) -> None:
    """--lm: the language model of the naturalness axis."""
    parser.add_argument("--lm", metavar="MODEL", default="de-tiny",
                        help="folder or hub id[@revision] (default: the bundled de-tiny, for German)")  # fmt: skip


def store(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """--store: where slow scores are kept."""
    parser.add_argument("--store", metavar="FILE|off", default=default,
                        help="keeps the scores of models, so that they are computed once (default: what "
                        "ANHELPERS_STORE says, else scores.sqlite in the cache folder)")  # fmt: skip


def scheduler(parser: argparse.ArgumentParser) -> None:
    """--scheduler: who computes."""
    parser.add_argument("--scheduler", metavar="WHERE", help="shares the work of models over a Dask cluster: local:N "
                        "(N processes here), tcp://HOST:PORT (a running scheduler), slurm:FILE.yaml "
                        "(see docs/cluster.md)")  # fmt: skip


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
    before = os.environ.get(STORE)
    os.environ[STORE] = "off" if named.strip().lower() == "off" else str(Path(named).expanduser().absolute())
    try:
        yield
    finally:
        os.environ.pop(STORE)
        if before is not None:
            os.environ[STORE] = before


def metrics(names: Sequence[str], lm: LanguageModel | None, trg_lang: str, n_refs: int) -> list[Metric]:
    """The metrics that the options name, in that order; where none of them uses the model, lpp under it at the end."""
    from ..accuracy import registry
    from ..naturalness.registry import NAMES, WITH_LM, naturalness_metric

    for name in names:
        if not registry.is_accuracy(name):
            checks.one_of(name, [*registry.NAMES, *NAMES], "metric")
    asked = [*names, "lpp"] if lm is not None and not set(names) & set(WITH_LM) else names
    return [
        registry.accuracy_metric(name, trg_lang, n_refs)
        if registry.is_accuracy(name)
        else naturalness_metric(name, trg_lang, lm)
        for name in asked
    ]


def load_model(name: str | None) -> LanguageModel | None:
    """The language model that --lm names; None without."""
    from ..naturalness.lm import load_lm

    return load_lm(name) if name else None


def lpp(model: str, trg_lang: str) -> Metric:
    """The log-perplexity under a model."""
    from ..naturalness.registry import naturalness_metric

    return naturalness_metric("lpp", trg_lang, load_model(model))


def notebooks(parser: argparse.ArgumentParser) -> None:
    """Which notebooks."""
    parser.add_argument(
        "notebooks", nargs="*", metavar="NOTEBOOK", help="names or paths; all of the collection by default"
    )


def print_notes(notes: Iterable[str]) -> None:
    """What the user should see of the data, on standard error."""
    for sentence in notes:
        note(sentence)


def write_table(table: pd.DataFrame, output: str | None) -> None:
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
