"""`anhelpers sheet`: the two pages of a class of raters: the sheet to hand out, and the plane to drop the files on."""

from __future__ import annotations

import argparse
from pathlib import Path

EXAMPLE = "anhelpers sheet --data teaching/de-en --out build/class"


def options(parser: argparse.ArgumentParser) -> None:
    """What is on the sheet, as the parameters of the notebook 01_class_raters, and the folder."""
    parser.add_argument(
        "--data", default="teaching", metavar="NAME|PATH", help="the data set (default: teaching)"
    )
    parser.add_argument("-l", "--language-pair", metavar="SRC-TRG", help="such as en-de")
    parser.add_argument(
        "--systems", nargs="+", metavar="NAME", help="systems to rate (default: one of each kind)"
    )
    parser.add_argument(
        "--segments", type=int, default=5, metavar="N", help="sentences (default: 5)"
    )
    parser.add_argument(
        "--candidates", type=int, default=3, metavar="N", help="translations of each (default: 3)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=13,
        metavar="N",
        help="the same seed draws the same sheet (default: 13)",
    )
    parser.add_argument(
        "--out",
        default="build/class",
        metavar="DIR",
        help="sheet.html and plane.html go there (default: build/class)",
    )


def run(args: argparse.Namespace) -> None:
    """Write both pages and print their paths."""
    import numpy as np

    from ..classroom.invented import invented_class
    from ..classroom.projector import live_plane
    from ..classroom.rating_sheet import rating_sheet
    from ..classroom.sheet import one_of_each
    from ..data import from_systems, load

    test = load(args.data, args.language_pair)
    cands = from_systems(test, args.systems or one_of_each(test, args.candidates))
    sheet = rating_sheet(
        test,
        cands,
        n_segments=args.segments,
        n_candidates=args.candidates,
        rng=np.random.default_rng(args.seed),
        title="Rate each translation twice",
    )
    print(sheet.save(Path(args.out, "sheet.html")))
    if sheet.sheet is not None:
        title = "The plane of the class"
        example = invented_class(sheet.sheet, np.random.default_rng(args.seed), following=args.data)
        plane = live_plane(
            sheet.sheet, cands, categories=test.categories, title=title, example=example
        )
        print(plane.save(Path(args.out, "plane.html")))
