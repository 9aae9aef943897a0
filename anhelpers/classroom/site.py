"""The executed collection as one folder of pages that link to each other and need no network."""

from __future__ import annotations

import html
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..data.writing import make_folder, replace_folder, unwritable, write_text
from ..errors import DataError
from ..notebooks import About, about, notebook_paths
from ..progress import note
from ..provenance import in_page

__all__ = ["MOST_BYTES", "write_site"]

MOST_BYTES = 60_000_000
"""What the slowest USB stick of the room still takes in the break."""

STYLE = """<style>
.anx-nav { display: flex; flex-wrap: wrap; gap: .4em 1.6em; justify-content: space-between; max-width: 1100px;
  margin: 0 auto; padding: .8em 1em; font: 18px/1.4 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
.anx-nav a { color: #00539b; text-underline-offset: .15em; padding: .2em 0; }
.anx-nav a:focus-visible { outline: 3px solid #d55e00; outline-offset: 2px; }
:root { --jp-content-font-size1: 17px; --jp-code-font-size: 15px; --jp-cell-prompt-width: 76px; }
.jp-Notebook { max-width: 1250px; margin: 0 auto; }
.anx-solve { padding: 0 .5em; font: 18px/1.4 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
#anx-solve { margin: 0 0 0 1em; width: 1.1em; height: 1.1em; }
#anx-solve:not(:checked) ~ main :is(.celltag_solution, .celltag_check) { display: none; }
@media print { .anx-nav, .anx-solve, #anx-solve { display: none; } }
</style>"""
"""For pages of notebooks: links, letters that the last row can read, solutions that wait to be asked for."""

SOLVE = """<input type="checkbox" id="anx-solve"><label class="anx-solve" for="anx-solve">Show solutions of the
exercises</label>"""

INDEX = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>The accuracy-naturalness tradeoff</title><style>
body {{ color: #111; background: #fff; max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem;
  font: clamp(17px, 1.3vw, 21px)/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }}
h1 {{ line-height: 1.2; }} a {{ color: #00539b; text-underline-offset: .15em; }}
a:focus-visible {{ outline: 3px solid #d55e00; outline-offset: 2px; }}
li {{ margin: 0 0 1em; }} li p {{ margin: .1em 0; }} .soft {{ color: #4a4a4a; }}
@media (prefers-color-scheme: dark) {{ body {{ color: #f1f1f1; background: #161616; }} a {{ color: #7fc4ff; }}
  .soft {{ color: #c4c4c4; }} }}
</style></head><body><main>
<h1>How much accuracy does it cost to sound natural?</h1>
<p>Executed notebooks on the accuracy-naturalness tradeoff of translations. Everything here works without a network and
without Python: open a page, drag, watch. The whole folder can be copied to a USB stick.</p>
<p><a href="{first}.html"><b>{title}</b></a>: a first picture, a drag of two minutes, and in which order to
read.{both}</p>
<ol>
{items}
</ol></main></body></html>
"""

BOTH = """ Its translations are English, each German source with a word-for-word gloss; a switch above the slider shows
German translations of English sources instead."""
"""Of a first page that has both teaching sets."""


def write_site(built: Path | str, out: Path | str) -> Path:
    """Copy OUT/NAME.html, as `run` wrote it to `built`, with links from page to page, and OUT/index.html.

    A note names the pages that are older than their notebooks.

    The folder is made anew beside `out` and takes its place when it is whole. Returns the path of index.html.

    Raises
    ------
    DataError : a notebook of the collection has no page in `built`, `out` holds other files than a site's, or the site
        is larger than `MOST_BYTES`.
    """
    built, out = Path(built), Path(out)
    paths = notebook_paths()
    told = [about(path) for path in paths]
    for one in told:
        if not (built / f"{one.name}.html").is_file():
            raise DataError(
                f"is not there: execute the notebooks first (anhelpers run --out {built}).",
                built / f"{one.name}.html",
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
        _write(told, built, out)
    except OSError as error:
        raise unwritable(error, out) from error
    return out / "index.html"


def _write(told: Sequence[About], built: Path, out: Path) -> None:
    """The folder, beside its place first."""
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".site.") as folder:
        fresh = Path(folder) / "site"
        fresh.mkdir()
        for i, one in enumerate(told):
            page = (built / f"{one.name}.html").read_text(encoding="utf-8")
            write_text(fresh / f"{one.name}.html", _linked(page, told, i))
        first = (built / f"{told[0].name}.html").read_text(encoding="utf-8")
        write_text(fresh / "index.html", in_page(_index(told, both='class="anx-parts"' in first)))
        size = sum(p.stat().st_size for p in fresh.iterdir())
        if size > MOST_BYTES:
            raise DataError(
                f"the site has {size / 1e6:.0f} MB, more than {MOST_BYTES / 1e6:.0f}.", out
            )
        replace_folder(fresh, out)


def _linked(page: str, told: Sequence[About], i: int) -> str:
    """The page between two rows of links: to the one before, to the index, to the next; links to notebooks lead to
    their pages."""
    ways = [
        (told[i - 1], "← ", "") if i else None,
        None,
        (told[i + 1], "", " →") if i + 1 < len(told) else None,
    ]
    links = [
        '<a href="index.html">All notebooks</a>'
        if k == 1
        else f'<a href="{way[0].name}.html">{way[1]}{html.escape(way[0].title)}{way[2]}</a>'
        if way
        else "<span></span>"
        for k, way in enumerate(ways)
    ]
    nav = '<nav class="anx-nav" aria-label="{}">' + "".join(links) + "</nav>"
    known = "|".join(one.name for one in told)
    page = re.sub(rf'href="({known})\.ipynb"', r'href="\1.html"', page)
    page = re.sub(
        r"<body[^>]*>",
        lambda body: f"{body[0]}{STYLE}{nav.format('notebooks, top')}{SOLVE}",
        page,
        count=1,
    )
    head, end = page.rsplit("</body>", 1)
    return f"{head}{nav.format('notebooks, bottom')}</body>{end}"


def _index(told: Sequence[About], both: bool = False) -> str:
    titles = {one.name: one.title for one in told}
    items = (
        f'<li><a href="{one.name}.html">{html.escape(one.title)}</a>'
        f'<p>{html.escape(one.question)}</p><p class="soft">{one.minutes} minutes'
        f"{html.escape('; before it: ' + '; '.join(titles.get(n, n) for n in one.before)) if one.before else ''}"
        "</p></li>"
        for one in told
    )
    title = html.escape(told[0].title)
    return INDEX.format(
        first=told[0].name, title=title, both=BOTH if both else "", items="\n".join(items)
    )
