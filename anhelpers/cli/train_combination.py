"""`anhelpers train-combination`: how much a critic and a language model count together."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import DataError
from ..progress import note
from . import options as shared

EXAMPLE = "anhelpers train-combination own.cs refA.cs critic --lang cs --lm cs-lm"


def options(parser: argparse.ArgumentParser) -> None:
    """Originals, translations, critic, language model."""
    shared.originals_and_translations(parser, "neither judge was trained on them", "")
    parser.add_argument(
        "critic",
        metavar="FOLDER",
        help="of anhelpers train-critic: the weights go into it, and "
        "-m critic+lpp:FOLDER scores with them",
    )
    shared.lm(parser)
    shared.store(parser)
    parser.add_argument(
        "--seed", type=int, default=13, metavar="N", help="of the damage (default: 13)"
    )


def run(args: argparse.Namespace) -> None:
    """Fit; print the weights and what they reach."""
    from ..naturalness.critic import find_critic, load_critic
    from ..naturalness.lm import load_lm
    from ..training.combination import train_combination, write_combination

    # else the weights of a bundled critic of that name would be written over
    if not Path(args.critic).is_dir():
        raise DataError(
            "there is no such folder; train a critic into it first (anhelpers train-critic).",
            args.critic,
        )
    native, translated = shared.both_sides(args)
    judges = load_critic(Path(args.critic)), load_lm(args.lm, lang=args.lang)
    combination, facts = train_combination(native, translated, judges, note, seed=args.seed)
    path = write_combination(facts, find_critic(Path(args.critic)))
    print(
        f"{path}: {combination.critic_weight:g} · critic - {combination.lpp_weight:g} · lpp "
        f"{combination.intercept:+g}; {facts['originals']:,} originals: AUC "
        f"{facts['auc_translations']:.3f} against translations, above their damaged selves in "
        f"{facts['damaged_below_original']:.1%} of {facts['damaged']:,}"
    )
