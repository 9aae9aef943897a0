"""`anhelpers teaching-set`: the skeleton of a teaching set in another language, and what is still wrong with it."""

from __future__ import annotations

import argparse
from pathlib import Path
from textwrap import fill

EXAMPLE = "anhelpers teaching-set my-es -l en-es"


def options(parser: argparse.ArgumentParser) -> None:
    """Folder, pair, training texts."""
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        help="not there, or empty: the skeleton is made in it; else it is "
        "checked, and the exit status is 2 where anything is wrong",
    )
    parser.add_argument(
        "-l",
        "--language-pair",
        metavar="SRC-TRG",
        help="such as en-es; needed for a skeleton, and for the check of a folder that holds "
        "several pairs",
    )
    parser.add_argument(
        "--train",
        nargs="+",
        default=[],
        metavar="FILE",
        help="texts that judges learn from, plain or packed: no reference and no line of the "
        "set's monolingual text may stand there (the bundled language model's are known)",
    )


def run(args: argparse.Namespace) -> int:
    """Make it, or check it; 2 where there is a defect."""
    folder = Path(args.folder)
    there = folder.is_file() or (folder.is_dir() and any(folder.iterdir()))
    return _check(args) if there else _make(args)


def _make(args: argparse.Namespace) -> int:
    from ..data.teaching_skeleton import EXAMPLE, make_skeleton
    from ..errors import DataError

    if args.language_pair is None:
        raise DataError(
            "there is no teaching set; say of which pair a skeleton is wanted (-l en-es).",
            args.folder,
        )
    folder = make_skeleton(args.folder, args.language_pair)
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    print(
        f"{folder}: a skeleton with {len(files)} files.",
        *(f"  {name}" for name in files),
        "",
        sep="\n",
    )
    glosses = "the glosses, " if "glosses.txt" in files else ""
    order = (
        f"Write over every line with {EXAMPLE}, in this order: sources and documents, refB by "
        "somebody else, refA, the candidates, the systems (each line a copy of a candidate), "
        f"{glosses}mono, minimal pairs, README. ratings.tsv and mqm.tsv may keep their header "
        "alone. docs/new-language.md leads through it. What is there and what is wrong, as often "
        "as you like:"
    )
    print(fill(order, 100), f"\n  anhelpers teaching-set {folder}", sep="\n")
    return 0


def _check(args: argparse.Namespace) -> int:
    from ..data.teaching import check_teaching_set

    found = check_teaching_set(args.folder, args.language_pair, args.train)
    print(f"{args.folder}: {found.lp or 'no language pair'}")
    for what, told in found.contents:
        print(fill(told, 110, initial_indent=f"  {what:<14} ", subsequent_indent=" " * 17))
    for remark in found.remarks:
        print(f"remark: {remark}")
    for defect in found.defects:
        print(f"defect: {defect}")
    n = len(found.defects)
    print(f"{n} defect{'s' * (n != 1)}." if n else "Nothing is wrong with it.")
    return 2 if n else 0
