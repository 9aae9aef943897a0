"""`anhelpers train-combination`: how much a critic and a language model count together."""

from __future__ import annotations

import argparse

from ..errors import DataError
from ..progress import note
from . import options as shared

HELP = "fit how much a critic and a language model count together (critic+lpp)"
EXAMPLE = "anhelpers train-combination own.cs refA.cs critic --lang cs --lm cs-lm"


def options(parser: argparse.ArgumentParser) -> None:
    """Originals, translations, critic, language model."""
    parser.add_argument("native", metavar="NATIVE", help="texts written in the language, one per line, which neither "
                        "judge was trained on: at least 200")  # fmt: skip
    parser.add_argument("translated", nargs="+", metavar="TRANSLATED", help="texts translated into it, of the same "
                        "domains, a file per translator or system; the files weigh the same")  # fmt: skip
    parser.add_argument("critic", metavar="FOLDER", help="of anhelpers train-critic: the weights go into it, and "
                        "-m critic+lpp:FOLDER scores with them")  # fmt: skip
    parser.add_argument("--lang", metavar="CODE", help="the language of the texts, such as cs or pt_BR")
    shared.lm(parser)
    shared.store(parser)
    parser.add_argument("--seed", type=int, default=13, metavar="N", help="of the damage (default: 13)")


def run(args: argparse.Namespace) -> None:
    """Fit; print the weights and what they reach."""
    from ..naturalness.combination_training import train_combination, write_combination
    from ..naturalness.critic import find_critic, load_critic
    from ..naturalness.lm import load_lm

    paths = [args.native, *args.translated]
    if repeated := [path for path in paths if paths.count(path) > 1]:
        raise DataError("is named twice; name it once.", repeated[0])
    files = dict(zip(paths, shared.training_texts(paths, args.lang), strict=True))
    judges = load_critic(args.critic), load_lm(args.lm)
    native = files.pop(args.native)
    combination, facts = train_combination(native, files, judges, note, seed=args.seed)
    path = write_combination(facts, find_critic(args.critic))
    print(f"{path}: {combination.critic_weight:g} · critic - {combination.lpp_weight:g} · lpp "
          f"{combination.intercept:+g}; {facts['originals']:,} originals: AUC {facts['auc_translations']:.3f} against "
          f"translations, above their damaged selves in {facts['damaged_below_original']:.1%} of "
          f"{facts['damaged']:,}")  # fmt: skip
