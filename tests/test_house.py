"""The house stays small: budgets of the whole. One is raised only in a commit that says what a user gets for it."""

import argparse
import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "anhelpers"
BUDGETS = {
    "files": 125,
    "code lines": 18_000,
    "public definitions": 445,
    "raises": 280,
    "options": 82,
    "commands": 11,
    "JavaScript lines": 2_000,
    "CSS lines": 400,
    "test code lines": 20_000,
    "words of docs": 18_900,
    "bytes of CHANGELOG": 6_000,
    "run-time dependencies": 14,
    "phrases to rewrite": 0,
}
# Words that no native writer of a manual would use: software returns, raises, warns, reads, writes and skips.
PHRASES = (
    "is told", "are told", "told by", "is answered", "is counted for", "as it stands", "stands there",
    "stand there", "lies below", "lie above", "as far as known", "of one's own", "anew", "whoever",
    "owed to", "dearer", "next to nothing", "what is not", "who is not", "who has", "shall ",
)  # fmt: skip


def python_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "_bundle" not in path.parts)


def code_lines(path: Path) -> int:
    """Lines that are neither blank, nor comments, nor docstrings."""
    text = path.read_text(encoding="utf-8")
    said = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
        and ast.get_docstring(node, clean=False) is not None
        for line in range(node.body[0].lineno, node.body[0].end_lineno + 1)
    }
    lines = enumerate(text.split("\n"), 1)
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and n not in said
        for n, line in lines
    )


def filled_lines(pattern: str) -> int:
    texts = (path.read_text("utf-8") for path in PACKAGE.rglob(pattern))
    return sum(bool(line.strip()) for text in texts for line in text.split("\n"))


def options() -> int:
    """Options of every command, as a user sees them in its help."""
    from anhelpers import cli

    (commands,) = (a for a in cli._parser()._actions if isinstance(a, argparse._SubParsersAction))
    own = (one for parser in commands.choices.values() for one in parser._actions)
    return sum(bool(one.option_strings) and one.dest not in ("help", "debug") for one in own)


def figures() -> dict[str, int]:
    files = python_files(PACKAGE)
    trees = {path: ast.parse(path.read_text("utf-8")) for path in files}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    tops = [node for tree in trees.values() for node in tree.body]
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    prose = [path.read_text("utf-8").lower() for path in [*files, *pages]]
    from anhelpers import cli

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return {
        "files": len(files),
        "code lines": sum(map(code_lines, files)),
        "public definitions": sum(
            isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name[0] != "_" for n in tops
        ),
        "raises": sum(isinstance(node, ast.Raise) for node in nodes),
        "options": options(),
        "commands": len(cli.COMMANDS),
        "JavaScript lines": filled_lines("*.js"),
        "CSS lines": filled_lines("*.css"),
        "test code lines": sum(map(code_lines, python_files(ROOT / "tests"))),
        "words of docs": sum(
            len(p.read_text("utf-8").split()) for p in pages if p.name != "CHANGELOG.md"
        ),
        "bytes of CHANGELOG": (ROOT / "CHANGELOG.md").stat().st_size,
        "run-time dependencies": len(project["dependencies"]),
        "phrases to rewrite": sum(text.count(phrase) for text in prose for phrase in PHRASES),
    }


FIGURES = figures()


@pytest.mark.parametrize("name", BUDGETS)
def test_the_house_is_within_its_budget(name):
    found, most = FIGURES[name], BUDGETS[name]
    assert found <= most, f"{name}: got {found}, expected {most} or less; see CONTRIBUTING.md"


if __name__ == "__main__":
    print(*(f"{name}: {n} (budget {BUDGETS[name]})" for name, n in FIGURES.items()), sep="\n")
