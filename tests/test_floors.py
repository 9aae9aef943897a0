"""Imports go down only and in no circle, and the light modules stay light."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "anhelpers"
# From the bottom; a module imports from its own floor and below.
FLOORS = [
    "errors checks progress _lazy __version__",
    "frontier hull fan exact stats estimate intervals bootstrap divergences",
    "metrics provenance data accuracy naturalness candidates translation models gguf hub mqm scoring",
    "plane xmi",
    "charts widgets classroom",
    "report notebooks",
    "cli __main__",
]
FILES = sorted(p for p in PACKAGE.rglob("*.py") if p.parent != PACKAGE or p.name != "__init__.py")


def floor_of(module: str) -> int:
    (found,) = (i for i, names in enumerate(FLOORS) if module.split(".")[0] in names.split())
    return found


def imported(path: Path) -> list[tuple[str, str]]:
    """(module, name) of every relative import, except for types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    guards = (n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CH" in ast.dump(n.test))
    for_types = {node for guard in guards for node in ast.walk(guard)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level and node not in for_types:
            base = [*parts[: len(parts) - node.level], *(node.module or "").split(".")]
            found += [(".".join(filter(None, base)), one.name) for one in node.names]
    return found


def test_imports_go_down_only():
    wrong = []
    for path in FILES:
        here = str(path.relative_to(PACKAGE))
        for module, name in imported(path):
            target = (module or name).split(".")[0]
            up = floor_of(target) > floor_of(here.removesuffix(".py").replace("/", "."))
            wrong += [(here, target)] if up else []
    assert not wrong


def test_imports_go_in_no_circle():
    """Nor do those within functions."""
    dotted = {p: ".".join(p.relative_to(PACKAGE).with_suffix("").parts) for p in FILES}
    name_of = {path: name.removesuffix(".__init__") for path, name in dotted.items()}
    modules, graph = {*name_of.values()}, {}
    for path, own in name_of.items():
        named = [(f"{module}.{name}".strip("."), module) for module, name in imported(path)]
        found = {inner if inner in modules else base for inner, base in named}
        graph[own] = (found & modules) - {own}
    assert sum(map(len, graph.values())) > 300
    TopologicalSorter(graph).prepare()  # a CycleError names the circle


def test_light_modules_load_nothing_heavy():
    heavy = ("torch", "pandas", "altair", "papermill")
    code = "import sys, anhelpers.frontier, anhelpers.cli;"
    code += f"print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
