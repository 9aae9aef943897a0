"""`anhelpers train-critic`: a critic between texts written in a language and texts translated into it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..progress import note
from . import options as shared

EXAMPLE = "anhelpers train-critic own.cs refA.cs sysB.cs cs-critic --lang cs"


def options(parser: argparse.ArgumentParser) -> None:
    """Originals, translations, folder, language, recipe."""
    shared.originals_and_translations(
        parser,
        "some 3,000 of several domains are a beginning",
        ", and lines of the same number are taken for translations of the same source",
    )
    parser.add_argument(
        "out", metavar="FOLDER", help="where the critic goes; -m critic:FOLDER scores with it"
    )
    parser.add_argument(
        "--test",
        nargs="+",
        default=[],
        metavar="FILE",
        help="texts that the critic will be tested on: lines that stand there as well are left "
        "out of the training",
    )
    parser.add_argument(
        "--words",
        type=int,
        metavar="N",
        help="how many of the most frequent words are not masked (default: 500)",
    )
    parser.add_argument(
        "--penalty",
        type=float,
        metavar="X",
        help="how much large weights cost, above 0; more text wants less (default: 0.0002)",
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", help="of the parts of the cross-fit (default: 13)"
    )


def run(args: argparse.Namespace) -> None:
    """Train; print the cross-fitted figures."""
    from ..data.lines import read_lines
    from ..training.critic import CriticRecipe, train_critic, write_critic

    native, translated = shared.both_sides(args)
    chosen: dict[str, Any] = {
        name: value
        for name in ("words", "penalty", "seed")
        if (value := getattr(args, name)) is not None
    }
    recipe = CriticRecipe(args.lang, **chosen)
    unseen = [line for path in args.test for line in read_lines(path)]
    critic, facts = train_critic(native, translated, recipe, note, unseen=unseen)
    write_critic(critic, facts, Path(args.out))
    bound = facts["tv_lower_bound"]
    print(
        f"{args.out}: language {critic.language}, {facts['originals']:,} originals against "
        f"{sum(facts['translations'].values()):,} translations, {facts['ngrams']:,} n-grams; "
        f"cross-fitted AUC {facts['auc']:.3f}, TV(Q, R) at least {bound['bound']:.3f} "
        f"({bound['low']:.3f} to {bound['high']:.3f})"
    )
