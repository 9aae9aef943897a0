"""`anhelpers train-xmi`: how much of a difference between two directions is the luck of one training."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..errors import DataError
from ..progress import say
from . import options as shared

if TYPE_CHECKING:
    from ..xmi.seeds import Task

EXAMPLE = "anhelpers train-xmi runs.csv -s text.en -t text.de -l en-de --seeds 5"


def options(parser: argparse.ArgumentParser) -> None:
    """Table, text or toy pairs, seeds, recipe."""
    add = parser.add_argument
    add(
        "output",
        metavar="TABLE",
        help="CSV file of the trainings, a row each; rows that are in it are not made again, so "
        "that the same command goes on where it was stopped",
    )
    add("-s", "--sources", metavar="SRC", help="sentences of the first language, one per line")
    add("-t", "--targets", metavar="TGT", help="their translations, line by line")
    add("-l", "--language-pair", metavar="LP", help="the two languages, such as en-de")
    add("--name", default="text", metavar="NAME", help="of the text, for the table (default: text)")
    add("--toy", nargs="+", default=[], metavar="PAIR", help="toy pairs, such as vague or gender")
    add(
        "--seeds",
        type=int,
        default=5,
        metavar="N",
        help="trainings of each pair and label smoothing, with the seeds 1 to N (default: 5)",
    )
    add(
        "--smoothing",
        type=float,
        nargs="+",
        metavar="X",
        help="label smoothing in training, one or several from 0 to below 1; the XMI paper has 0.1 "
        "(default: 0)",
    )
    add(
        "--steps",
        type=int,
        metavar="N",
        help="steps of the optimiser for each of the four models of a training (default: 400, for "
        "toy pairs 150)",
    )
    add(
        "--longest",
        type=int,
        default=30,
        metavar="N",
        help="words of a sentence at most; pairs with more on a side are left out (default: 30)",
    )


def run(args: argparse.Namespace) -> None:
    """Train; print for each pair what is known of the difference between its directions."""
    from ..xmi.seeds import write_trainings
    from ..xmi.trainings import luck_table

    shared.check_table_name(args.output, (".csv",))
    seeds = range(1, args.seeds + 1)
    for task in list(_tasks(args)):
        table = write_trainings(args.output, task, seeds, args.smoothing or [0.0], say=say)
    for row in luck_table(table).to_dict("records"):
        print(
            f"{row['pair']}, label smoothing {row['smoothing']:g}: {row['src']} to {row['trg']} saves "
            f"{row['difference']:.2f} bits per sentence more than back (95 % interval {row['low']:.2f} "
            f"to {row['high']:.2f}, n = {row['trainings']} trainings); one training differs from the next by "
            f"{row['spread']:.2f}"
        )


def _tasks(args: argparse.Namespace) -> Iterator[Task]:
    """What is to be learned: the text, the toy pairs, or both."""
    from ..data.lines import read_lines
    from ..xmi.seeds import text_task, toy_task
    from ..xmi.toy import toy_pair

    steps = {} if args.steps is None else {"steps": args.steps}
    given = [args.sources, args.targets, args.language_pair]
    if any(given):
        if not all(given):
            raise DataError("a text wants all three: -s SRC, -t TGT and -l LP, such as -l en-de.")
        src, dash, trg = args.language_pair.partition("-")
        if not (src and dash and trg):
            raise DataError(f"'{args.language_pair}' is no language pair; write it as en-de.")
        texts = read_lines(args.sources), read_lines(args.targets)
        yield text_task(args.name, (src, trg), texts, longest=args.longest, **steps)
    elif not args.toy:
        raise DataError("say what is to be learned: a text (-s, -t, -l) or --toy PAIR.")
    for name in args.toy:
        yield toy_task(toy_pair(name), **steps)
