"""`anhelpers store`: the scores that are kept on disk."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..progress import note
from . import options as shared

EXAMPLE = "anhelpers store prune --signature 'lpp|model:de-small|*'"


def options(parser: argparse.ArgumentParser) -> None:
    """What to do, with which scores."""
    shared.store(parser)
    actions = parser.add_subparsers(dest="action", metavar="[ACTION]")
    for name, (_, told) in ACTIONS.items():
        action = actions.add_parser(name, help=told, description=told)
        shared.store(action, default=argparse.SUPPRESS)
        if name in ("export", "import"):
            action.add_argument("file", metavar="FILE", help="a parquet file")
        if name in ("prune", "export"):
            action.add_argument(
                "--signature", metavar="PATTERN", help="of this signature; * stands for any text"
            )
        if name == "prune":
            action.add_argument(
                "--older-than", type=float, metavar="DAYS", help="kept longer ago than this"
            )
            for only, what in ONLY.items():
                action.add_argument(
                    f"--{only}", dest="only", action="store_const", const=only, help=what
                )
    parser.set_defaults(action="info")


def run(args: argparse.Namespace) -> None:
    """Do it, and say what was done."""
    from ..scoring.memo import STORE, current_store

    store = current_store()
    if store is None:
        raise DataError(f"the store is off: name a file (--store FILE, or {STORE}=FILE).")
    if args.action != "import" and not store.path.exists():
        raise DataError(
            "no scores are kept here yet; scoring with a model makes the file.", store.path
        )
    note(ACTIONS[args.action][0](store, args))


def _info(store: Any, args: argparse.Namespace) -> str:
    from ..scoring.upkeep import sizes

    table = sizes(store)
    shared.write_table(table, None)
    files = [Path(f"{store.path}{end}") for end in ("", "-wal")]
    size = f"{sum(path.stat().st_size for path in files if path.is_file()) / 1e6:.1f} MB"
    bad, old = int(table.damaged.sum()), int(table.unverified.sum())
    if bad:
        note(
            f"{store.path}: {bad:,} scores are damaged (their checksums do not fit). They are "
            "never used, and computed again where they are wanted; anhelpers store prune "
            "--damaged removes them."
        )
    if old:
        note(
            f"{store.path}: {old:,} scores are from before checksums were kept and cannot be "
            "verified; anhelpers store prune --unverified removes them."
        )
    return f"{store.path}: {table.scores.sum():,} scores in {size}."


def _check(store: Any, args: argparse.Namespace) -> str:
    from ..scoring.upkeep import faults, sizes

    if found := faults(store):
        raise DataError(
            f"{' '.join(found)} Remove what is damaged (anhelpers store prune --damaged); it is "
            "computed again where it is wanted.",
            store.path,
        )
    table = sizes(store)
    old = (
        f", but for {n:,} from before checksums were kept"
        if (n := int(table.unverified.sum()))
        else ""
    )
    return f"{store.path}: all {table.scores.sum():,} scores fit their checksums{old}."


def _prune(store: Any, args: argparse.Namespace) -> str:
    from ..scoring.upkeep import prune

    return (
        f"removed {prune(store, args.signature, args.older_than, only=args.only):,} scores from "
        f"{store.path}."
    )


def _export(store: Any, args: argparse.Namespace) -> str:
    from ..scoring.upkeep import export_parquet

    return f"wrote {export_parquet(store, args.file, args.signature):,} scores to {args.file}."


def _import(store: Any, args: argparse.Namespace) -> str:
    from ..scoring.upkeep import import_parquet

    new, same, different = import_parquet(store, args.file)
    told = f"{new:,} new scores in {store.path}, {same:,} were there already"
    return (
        f"{told}, and {different:,} are there with other values, which stay."
        if different
        else f"{told}."
    )


ONLY = {
    "damaged": "only scores whose checksum does not fit",
    "unverified": "only scores from before checksums were kept, which cannot be verified",
}
ACTIONS = {
    "info": (
        _info,
        "a row per metric signature: scores, bytes, days, how many are damaged (the default)",
    ),
    "check": (_check, "compare every score with its checksum; exit status 2 where one is damaged"),
    "prune": (
        _prune,
        "remove scores by signature, age or damage, and give their space back to the disk",
    ),
    "export": (_export, "write scores to a parquet file, each with its checksum"),
    "import": (
        _import,
        "take over the scores of such a file; where both have one, the store's own stays",
    ),
}
