"""`anhelpers store`: the scores that are kept on disk."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..progress import note
from . import options as shared

HELP = "the store of slow scores: what is in it, remove some, carry them to another machine"
EXAMPLE = "anhelpers store prune --signature 'lpp|model:de-tiny|*'"


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
            action.add_argument("--signature", metavar="PATTERN", help="of this signature; * stands for any text")
        if name == "prune":
            action.add_argument("--older-than", type=float, metavar="DAYS", help="kept longer ago than this")
    parser.set_defaults(action="info")


def run(args: argparse.Namespace) -> None:
    """Do it, and say what was done."""
    from ..scoring.memo import STORE, current_store

    store = current_store()
    if store is None:
        raise DataError(f"the store is off: name a file (--store FILE, or {STORE}=FILE).")
    if args.action != "import" and not store.path.exists():
        raise DataError("no scores are kept here yet; scoring with a model makes the file.", store.path)
    note(ACTIONS[args.action][0](store, args))


def _info(store: Any, args: argparse.Namespace) -> str:
    from ..data.manifest import megabytes
    from ..scoring.upkeep import sizes

    table = sizes(store)
    shared.write_table(table, None)
    files = [Path(f"{store.path}{end}") for end in ("", "-wal")]
    size = megabytes(path.stat().st_size for path in files if path.is_file())
    return f"{store.path}: {table.scores.sum():,} scores in {size}."


def _prune(store: Any, args: argparse.Namespace) -> str:
    from ..scoring.upkeep import prune

    return f"removed {prune(store, args.signature, args.older_than):,} scores from {store.path}."


def _export(store: Any, args: argparse.Namespace) -> str:
    from ..scoring.upkeep import export_parquet

    return f"wrote {export_parquet(store, args.file, args.signature):,} scores to {args.file}."


def _import(store: Any, args: argparse.Namespace) -> str:
    from ..scoring.upkeep import import_parquet

    new, same, different = import_parquet(store, args.file)
    told = f"{new:,} new scores in {store.path}, {same:,} were there already"
    return f"{told}, and {different:,} are there with other values, which stay." if different else f"{told}."


ACTIONS = {
    "info": (_info, "a row per metric signature: scores, bytes, days (the default)"),
    "prune": (_prune, "remove scores by signature or age, and give their space back to the disk"),
    "export": (_export, "write scores to a parquet file"),
    "import": (_import, "take over the scores of such a file; where both have one, the store's own stays"),
}
