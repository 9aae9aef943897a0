"""The documentation as pages: `python -m docs.build` makes build/docs from README, docs/ and docstrings."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

import anhelpers as an
from anhelpers.notebooks.export import _typeset

from .reference import reference

ROOT = Path(__file__).parents[1]
SITE = ROOT / "build" / "site"
NAVIGATION = {
    "Start": "README",
    "How to": "howto/plane howto/ratings howto/score howto/python new-language howto/class",
    "What is where": "sections glossary metrics input install",
    "What it rests on": "verification calibration judges claim reproducible performance",
    "Inside": "architecture cluster libraries CONTRIBUTING UPGRADING CHANGELOG",
}
"""Pages in order; those with names in capitals are in the root, the others in docs/."""
LINK = re.compile(r'(?:(?<=href=")|(?<=src="))[^"]*(?=")')
STYLES = [ROOT / "anhelpers/templates/page.css", ROOT / "docs/build.css"]
FRAME = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head><body>
<nav aria-label="pages"><details><summary>All pages</summary>{navigation}</details></nav>
<main>{body}</main></body></html>
"""


@dataclass
class Page:
    """A page of the documentation: its source and target paths, its title and its HTML."""

    source: Path
    target: str
    title: str
    body: str


def slug(heading: str) -> str:
    """The anchor of a heading, as on GitHub."""
    plain = unescape(re.sub(r"<[^>]+>", "", heading)).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def read(path: Path) -> str:
    """A Markdown file as HTML, with anchors as on GitHub."""
    made = _typeset(path.read_text(encoding="utf-8"))
    named = r'<h\1 id="{}">\2</h\1>'
    return re.sub(
        r"<h(\d)[^>]*>(.*?)</h\1>",
        lambda found: found.expand(named.format(slug(found[2]))),
        made,
        flags=re.S,
    )


def source(name: str) -> Path:
    return ROOT / ("" if name.isupper() else "docs") / f"{name}.md"


def pages() -> list[Page]:
    """All pages: those of the navigation, then the reference."""
    found = []
    for name in " ".join(NAVIGATION.values()).split():
        body = read(source(name))
        title = unescape(re.sub(r"<[^>]+>", "", re.search(r"<h1.*?>(.*?)</h1>", body, re.S)[1]))
        target = "index" if name == "README" else name.lower()
        found.append(Page(source(name), f"{target}.html", title, body))
    return found + [
        Page(ROOT / "docs/reference", f"reference/{address}.html", address, body)
        for address, body in reference("an", an).items()
    ]


def lead(page: Page, link: str, known: dict[Path, Page]) -> str:
    """The address of a link, relative to the page.

    Raises
    ------
    ValueError : the target does not exist.
    """
    path, _, anchor = link.partition("#")
    there = (page.source.parent / unescape(path)).resolve() if path else page.source
    to, book = known.get(there), SITE / f"{there.stem}.html"
    body = page.body if not path else to.body if to else None
    if body is None and not there.exists():
        raise ValueError(f"{page.source.relative_to(ROOT)}: {link} does not exist")
    if body is None and anchor and there.suffix == ".md":
        body = read(there)
    if anchor and body and f'id="{anchor}"' not in body:
        raise ValueError(f"{page.source.relative_to(ROOT)}: {link} is no heading of that page")
    aim = ROOT / "build/docs" / to.target if to else there
    aim = book if there.suffix == ".ipynb" and book.is_file() else aim
    aim = ROOT / "build/docs" / there.name if there.suffix == ".svg" else aim
    at = (ROOT / "build/docs" / page.target).parent
    return "#".join(
        part for part in (os.path.relpath(aim, at) if path else "", anchor) if part or not path
    )


def navigation(page: Page, every: list[Page]) -> str:
    """The list of pages beside this one."""
    groups = [
        (group, [one for one in every if one.source in map(source, names.split())])
        for group, names in NAVIGATION.items()
    ]
    rooms = [one for one in every if one.target.startswith("reference/")]
    shown = [one for one in rooms if one.title.count(".") < 2 or page.title.startswith(one.title)]
    here = Path(page.target).parent
    return "".join(
        f"<b>{name}</b><ul>"
        + "".join(
            f'<li><a href="{os.path.relpath(one.target, here)}"'
            f"{' aria-current=page' * (one is page)}>{escape(one.title)}</a></li>"
            for one in group
        )
        + "</ul>"
        for name, group in [*groups, ("Reference", shown)]
    )


def build(out: Path = ROOT / "build/docs") -> list[Path]:
    """Write all pages and their pictures; return the paths of the pages.

    Raises
    ------
    ValueError : with all broken links.
    """
    every = pages()
    known = {one.source: one for one in every if one.source.suffix == ".md"}
    style = "".join(path.read_text(encoding="utf-8") for path in STYLES)
    shutil.rmtree(out, ignore_errors=True)
    broken = []
    for page in every:

        def aim(found: re.Match, page: Page = page) -> str:
            if re.match(r"\w+:", found[0]) or page.source.suffix != ".md":
                return found[0]
            try:
                return lead(page, found[0], known)
            except ValueError as error:
                broken.append(str(error))
                return ""

        path = out / page.target
        path.parent.mkdir(parents=True, exist_ok=True)
        title = page.title if page.title == "anhelpers" else f"{page.title} - anhelpers"
        path.write_text(
            FRAME.format(
                title=escape(title),
                style=style,
                navigation=navigation(page, every),
                body=LINK.sub(aim, page.body),
            ),
            encoding="utf-8",
        )
    for picture in (ROOT / "docs").glob("*.svg"):
        shutil.copy(picture, out)
    if broken:
        raise ValueError("; ".join(broken))
    return [out / page.target for page in every]


if __name__ == "__main__":
    print(build()[0])
