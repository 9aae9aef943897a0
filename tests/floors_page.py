"""The floors of the package, their picture and their table: `python -m tests.floors_page` draws both from the code."""

from __future__ import annotations

import ast
import html
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE, PAGE, PICTURE = (
    ROOT / "anhelpers",
    ROOT / "docs" / "architecture.md",
    ROOT / "docs" / "floors.svg",
)
FLOORS = {  # from below; a module imports from its own floor and from those below
    "ground": ("what everybody stands on", "errors checks compiled progress rooms"),
    "mathematics": (
        "arrays in, numbers out: no text, no file, no table",
        "frontier fan exact stats estimate intervals divergences",
    ),
    "texts": (
        "text becomes numbers",
        "metrics provenance data accuracy naturalness candidates translation mqm scoring models",
    ),
    "studies": ("scores become a claim with an interval", "plane xmi"),
    "pictures": ("a table becomes something to look at", "charts widgets report paper appendix"),
    "doors": ("a person comes in", "notebooks pages warm execution classroom cli doctor"),
}
MADE = re.compile(r"(?<=<!-- made: modules -->\n).*?(?=<!-- end -->)", re.S)
"""The part of the page that is written here."""

WIDE, LEFT, BOX, ROW = 1000, 190, 34, 42


def names_of(floor: str) -> list[str]:
    return FLOORS[floor][1].split()


def says(name: str) -> str:
    """The first sentence of a module's or folder's docstring, without its full stop."""
    path = PACKAGE / name / "__init__.py" if (PACKAGE / name).is_dir() else PACKAGE / f"{name}.py"
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).split("\n\n")[0]
    return " ".join(said.split()).rstrip(".").replace("|", "\\|")


def table() -> str:
    """A row per module of floor, its name and what its docstring says, from the ground up."""
    rows = [
        f"| {floor} | `{name}` | {says(name)} |" for floor in FLOORS for name in names_of(floor)
    ]
    return "\n".join(["| floor | module | what it is |", "|---|---|---|", *rows, ""])


def rows_of(floor: str) -> list[list[tuple[str, float, float]]]:
    """The boxes of a floor, row by row: label, left edge, width."""
    rows, x = [[]], float(LEFT)
    for name in names_of(floor):
        label = name + "/" * (PACKAGE / name).is_dir()
        width = 7.6 * len(label) + 14
        if x + width > WIDE - 60:
            rows.append([])
            x = float(LEFT)
        rows[-1].append((label, x, width))
        x += width + 6
    return rows


def picture() -> str:
    """The floors as SVG: the ground below, a box per module or folder, one arrow for all imports."""
    parts, top = [], 30
    for i, (floor, (purpose, _)) in reversed([*enumerate(FLOORS.items())]):
        rows = rows_of(floor)
        high = 42 + ROW * len(rows)
        parts.append(
            f'<rect x="8" y="{top}" width="{WIDE - 16}" height="{high}" rx="8" class="floor"/>'
            f'<text x="24" y="{top + 32}" class="name">{i}  {floor}</text>'
            f'<text x="{LEFT}" y="{top + 24}" class="soft">{html.escape(purpose)}</text>'
        )
        for k, row in enumerate(rows):
            y = top + 36 + ROW * k
            parts += [
                f'<rect x="{x:.0f}" y="{y}" width="{width:.0f}" height="{BOX}" rx="5" class="box"/>'
                f'<text x="{x + width / 2:.0f}" y="{y + 22}" class="module">{label}</text>'
                for label, x, width in row
            ]
        top += high + 8
    parts.append(
        f'<path d="M {WIDE - 30} 44 V {top - 20} m -6 -10 l 6 10 l 6 -10" class="arrow"/>'
        f'<text x="{WIDE - 18}" y="20" class="soft" text-anchor="end">imports go down only</text>'
    )
    told = "; ".join(f"{floor}: {', '.join(names_of(floor))}" for floor in reversed(FLOORS))
    style = (
        "text{font:14px system-ui,'DejaVu Sans',sans-serif;fill:#111}"
        "text.name{font-weight:600;font-size:16px}text.soft{fill:#555}"
        "text.module{text-anchor:middle;font:12.5px ui-monospace,'DejaVu Sans Mono',monospace}"
        ".floor{fill:#f3f5f7}.box{fill:#fff;stroke:#0072b2}"
        ".arrow{fill:none;stroke:#d55e00;stroke-width:2}.ground{fill:#fff}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {top}" role="img" '
        f'aria-label="The floors of the package, from the top. {told}.">'
        f'<style>{style}</style><rect width="{WIDE}" height="{top}" class="ground"/>'
        f"{''.join(parts)}</svg>\n"
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    PAGE.write_text(MADE.sub(lambda _: table(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
