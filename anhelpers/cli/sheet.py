"""`anhelpers sheet`: the rating sheet of a class as one offline page."""

import argparse
import sys
from pathlib import Path

from ..progress import say

EXAMPLE = "anhelpers sheet --data teaching/de-en --out build/class"


def options(parser: argparse.ArgumentParser) -> None:
    """Content of the sheet, as in the parameters of 01_class_raters, and its folder."""
    add = parser.add_argument
    add("--data", default="teaching", metavar="NAME|PATH", help="the data set (default: teaching)")
    add("-l", "--language-pair", metavar="SRC-TRG", help="such as en-de")
    add("--systems", nargs="+", metavar="NAME", help="systems to rate (default: one of each kind)")
    add("--segments", type=int, default=5, metavar="N", help="sentences (default: 5)")
    add("--candidates", type=int, default=3, metavar="N", help="texts per sentence (default: 3)")
    add("--seed", type=int, default=13, metavar="N", help="random seed (default: 13)")
    add("--out", default="build/class", metavar="DIR", help="folder of sheet.html")


def run(args: argparse.Namespace) -> None:
    """Write the page and print its path."""
    import numpy as np

    from ..classroom.sheet import one_of_each, rating_sheet
    from ..data import from_systems, load
    from ..provenance import write_made

    test = load(args.data, args.language_pair)
    cands = from_systems(test, args.systems or one_of_each(test, args.candidates))
    sizes = {"n_segments": args.segments, "n_candidates": args.candidates}
    rng, title = np.random.default_rng(args.seed), "Rate each translation twice"
    sheet = rating_sheet(test, cands, **sizes, rng=rng, title=title)
    page = sheet.save(Path(args.out, "sheet.html"))
    write_made(page.parent, [page.name])
    say(str(page), file=sys.stdout)
