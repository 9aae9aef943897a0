"""`anhelpers site`: the executed collection as one folder of linked offline pages."""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..progress import say

EXAMPLE = "anhelpers site --built build --out build/site"


def options(parser: argparse.ArgumentParser) -> None:
    """The folder of pages, and that of the site."""
    add = parser.add_argument
    add("--built", default="build", metavar="DIR", help="output folder of `anhelpers run`")
    add("--out", default="build/site", metavar="DIR", help="the site (default: build/site)")


def run(args: argparse.Namespace) -> None:
    """Copy the page of each notebook with links to its neighbours; write and print index.html.

    The folder is replaced only when the new one is complete.
    """
    from ..data import read_lines
    from ..data.io import scratch_folder, write_atomic
    from ..errors import DataError
    from ..notebooks import about, notebook_paths
    from ..notebooks.export import linked
    from ..provenance import from_template, in_page

    books = _in_order([about(path) for path in notebook_paths()])
    out = Path(args.out)
    pages = {"index.html", *(f"{one.name}.html" for one in books)}
    if strange := sorted({p.name for p in out.iterdir()} - pages) if out.is_dir() else []:
        raise DataError(f"holds '{strange[0]}', expected an empty folder or an old site.", out)
    with scratch_folder(out.parent) as folder:
        fresh = Path(folder, "site")
        fresh.mkdir()
        for i, one in enumerate(books):
            file = Path(args.built, f"{one.name}.html")
            page = linked("\n".join(read_lines(file)))
            if not (found := re.fullmatch("(.*?<body[^>]*>)(.*)</body>(.*)", page, re.DOTALL)):
                raise DataError("no whole page. Run the notebook again.", file)
            head, inside, end = found.groups()
            beside = {"before": books[i - 1] if i else None, "after": (*books, None)[i + 1]}
            parts = {"head": head, "inside": inside, "end": end, **beside}
            write_atomic(fresh / f"{one.name}.html", from_template("site_notebook.html", **parts))
        first = (fresh / f"{books[0].name}.html").read_text("utf-8")
        hero = re.search('<div class="anx-host">.*?</script></div>', first, re.DOTALL)
        index = from_template("site_index.html", books=books, hero=hero[0] if hero else "")
        write_atomic(fresh / "index.html", in_page(index))
        if out.is_dir():
            os.rename(out, Path(folder, "old"))  # deleted with its folder
        os.rename(fresh, out)
    say(str(out / "index.html"), file=sys.stdout)


def _in_order(books: Sequence[Any]) -> list[Any]:
    """The notebooks by name, each after those to be read before it."""
    left = sorted(books, key=lambda one: one.name)
    done: list[Any] = []
    while left:
        waiting = {one.name for one in left}
        following = next((one for one in left if not waiting & {*one.before}), left[0])
        left.remove(following)
        done.append(following)
    return done
