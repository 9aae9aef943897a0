"""`anhelpers data`: list the data sets, and download some."""

import argparse

EXAMPLE = "anhelpers data --fetch wmt24/en-de mqm/ted-ende"


def options(parser: argparse.ArgumentParser) -> None:
    """Add the one option."""
    told = "download these data sets, verified, into the cache"
    parser.add_argument("--fetch", nargs="+", metavar="NAME", help=told)


def run(args: argparse.Namespace) -> None:
    """Print two lines per data set, or NAME<TAB>PATH of each fetched one."""
    from ..data.sets import available, fetch_data

    if args.fetch:
        for name, place in fetch_data(args.fetch).items():
            print(name, place, sep="\t")
        return
    for row in available():
        get = f"anhelpers data --fetch {row['name']}" if row["files"] else "not downloadable"
        where = f"in {row['place']}" if row["place"] else f"not here: {get}"
        print(f"{row['name']:<20} {row['note']}\n{'':<20} licence: {row['licence']}; {where}")
