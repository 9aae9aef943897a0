"""The executed collection as one folder of pages that link to each other and need no network."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..data.writing import make_folder, replace_folder, unwritable, write_text
from ..errors import DataError
from ..notebooks import About, about, notebook_paths, write_without
from ..pages import export_html, linked
from ..progress import note
from ..provenance import from_template, in_page

__all__ = ["MOST_BYTES", "without_solutions", "write_site"]

MOST_BYTES = 60_000_000
"""What the slowest USB stick of the room still takes in the break."""


def write_site(built: Path | str, out: Path | str, *, solutions: bool = True) -> Path:
    """Copy OUT/NAME.html, as `run` wrote it to `built`, with links from page to page, and OUT/index.html.

    Each notebook comes after those that it names to be read before it, else by its name.

    Parameters
    ----------
    solutions : False for a site to hand out before the exercises are done: its pages are made anew from NAME.ipynb in
        `built`, and hold neither solutions nor checks, which know the answers.

    A note names the pages that are older than their notebooks.

    The folder is made anew beside `out` and takes its place when it is whole. Returns the path of index.html.

    Raises
    ------
    DataError : a notebook of the collection has no page in `built`, `out` holds other files than a site's, or the site
        is larger than `MOST_BYTES`.
    """
    built, out = Path(built), Path(out)
    paths = notebook_paths()
    told = _in_order([about(path) for path in paths])
    for one in told:
        for needed in [f"{one.name}.html"] + [f"{one.name}.ipynb"] * (not solutions):
            if not (built / needed).is_file():
                raise DataError(
                    f"is not there: execute the notebooks first (anhelpers run --out {built}).",
                    built / needed,
                )
    if old := [
        p.stem for p in paths if (built / f"{p.stem}.html").stat().st_mtime < p.stat().st_mtime
    ]:
        note(
            f"{', '.join(old)}: the page is older than the notebook; anhelpers run "
            f"{' '.join(old)} --out {built} executes it again."
        )
    pages = {"index.html", *(f"{one.name}.html" for one in told)}
    if strange := sorted({p.name for p in out.iterdir()} - pages) if out.is_dir() else []:
        raise DataError(
            f"holds '{strange[0]}', which is no page of this site; name a new folder.", out
        )
    make_folder(out.parent)
    try:
        _write(told, built, out, solutions)
    except OSError as error:
        raise unwritable(error, out) from error
    return out / "index.html"


def _in_order(told: Sequence[About]) -> list[About]:
    """The notebooks by name, each after those to be read before it."""
    left, done = sorted(told, key=lambda one: one.name), list[About]()
    while left:
        waiting = {one.name for one in left}
        # where two wait for each other, the first by name begins
        following = next((one for one in left if not waiting & {*one.before}), left[0])
        left.remove(following)
        done.append(following)
    return done


def _write(told: Sequence[About], built: Path, out: Path, solutions: bool) -> None:
    """The folder, beside its place first."""
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".site.") as folder:
        fresh = Path(folder) / "site"
        fresh.mkdir()
        for i, one in enumerate(told):
            page = (built / f"{one.name}.html").read_text(encoding="utf-8")
            page = page if solutions else without_solutions(built / f"{one.name}.ipynb")
            write_text(fresh / f"{one.name}.html", _linked(page, told, i))
        first = (built / f"{told[0].name}.html").read_text(encoding="utf-8")
        write_text(fresh / "index.html", in_page(_index(told, both='class="anx-parts"' in first)))
        size = sum(p.stat().st_size for p in fresh.iterdir())
        if size > MOST_BYTES:
            raise DataError(
                f"the site has {size / 1e6:.0f} MB, more than {MOST_BYTES / 1e6:.0f}.", out
            )
        replace_folder(fresh, out)


def without_solutions(executed: Path) -> str:
    """The page of an executed notebook without its cells tagged `solution` or `check`, outputs and all.

    Parameters
    ----------
    executed : path of the notebook.
    """
    with tempfile.TemporaryDirectory() as folder:
        return export_html(
            write_without(executed, ("solution", "check"), Path(folder, executed.name))
        )


def _linked(page: str, told: Sequence[About], i: int) -> str:
    """The page between two rows of links: to the one before, to the index, to the next; links to notebooks lead to
    their pages."""
    head, body, rest = re.split("(<body[^>]*>)", linked(page), maxsplit=1)
    inside, _, end = rest.rpartition("</body>")
    return from_template(
        "site_notebook.html",
        head=head + body,
        inside=inside,
        end=end,
        before=told[i - 1] if i else None,
        after=told[i + 1] if i + 1 < len(told) else None,
    )


def _index(told: Sequence[About], both: bool = False) -> str:
    titles = {one.name: one.title for one in told}
    return from_template("site_index.html", books=told, titles=titles, both=both)
