"""`anhelpers train-lm`: a very small language model from plain text."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..progress import note, say

HELP = "train a very small language model from plain text, resumable"
EXAMPLE = "anhelpers train-lm sentences.txt my-model --epochs 18 --seed 13"


def options(parser: argparse.ArgumentParser) -> None:
    """Text, folder, recipe."""
    parser.add_argument("text", metavar="TEXT", help="one sentence per line")
    parser.add_argument("out", metavar="FOLDER", help="where the model goes")
    parser.add_argument("--epochs", type=int, metavar="N", help="how often the text is read (default: 18)")
    parser.add_argument("--seed", type=int, metavar="N", help="of the weights and the order (default: 13)")
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: cpu)")


def run(args: argparse.Namespace) -> None:
    """Train; print the held-out perplexity."""
    from ..data.lines import read_lines
    from ..naturalness.train import Recipe, train_lm

    chosen = {k: v for k, v in (("epochs", args.epochs), ("seed", args.seed)) if v is not None}
    lines, recipe = read_lines(args.text), Recipe(**chosen)
    try:
        facts = train_lm(lines, Path(args.out), recipe, device=args.device, say=say)
    except KeyboardInterrupt:
        note(f"finished epochs are kept in {args.out}.partial; the same command goes on from there.")
        raise
    print(
        f"{args.out}: held-out perplexity {facts['held_out_perplexity']} per token "
        f"({facts['held_out_tokens']:,} tokens)"
    )
