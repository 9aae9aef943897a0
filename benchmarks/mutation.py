"""Share of small edits of the mathematics that the tests notice: ``python -m benchmarks.mutation [MUTANTS] [SEED]``.

Each mutant changes one operator or constant of one module in a copy of the checkout and runs that module's tests.
Mutants are chosen by a hash of what they change, so that code that only moved gets the same ones again.
"""

import ast
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path

ROOT = Path(__file__).parents[1]
TIMEOUT = 120.0  # seconds for one mutant's tests; a mutant that loops is killed
ROOMS = {  # noun -> its modules, and the tests that guard them
    "frontier": ("frontier.py hull.py", "tests/test_frontier.py"),
    "fan": ("fan.py", "tests/test_fan.py"),
    "stats": ("stats.py", "tests/test_stats.py"),
    "bootstrap": ("bootstrap.py", "tests/test_bootstrap.py"),
    "divergences": ("divergences/*.py", "tests/divergences"),
    "mqm.scores": ("mqm/scores.py", "tests/mqm"),
    "xmi.measure": ("xmi/measure.py", "tests/xmi/test_measure.py"),
    "plane.oracle": ("plane/oracle.py", "tests/plane/test_oracle.py"),
}
SWAPS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


def sites(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Every node that can be changed, with a name that survives moving it: function, kind, source, occurrence."""
    seen: dict[str, int] = {}

    def walk(node: ast.AST, inside: str) -> Iterator[tuple[str, ast.AST]]:
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
            return
        if isinstance(node, ast.FunctionDef):
            inside = node.name
        changeable = (
            (isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS)
            or (isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS)
            or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not))
            or (isinstance(node, ast.Constant) and isinstance(node.value, int | float))
        )
        if changeable and inside:
            name = f"{inside} {type(node).__name__} {ast.unparse(node)}"
            seen[name] = seen.get(name, 0) + 1
            yield f"{name} {seen[name]}", node
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from walk(child, inside)

    yield from walk(tree, "")


def changed(source: str, wanted: str) -> str:
    """The module with one site changed."""
    tree = ast.parse(source)
    node = next(node for name, node in sites(tree) if name == wanted)
    if isinstance(node, ast.BinOp | ast.BoolOp):
        node.op = SWAPS[type(node.op)]()
    elif isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.UnaryOp):
        negative = isinstance(node.op, ast.USub)
        node.op = ast.UAdd() if negative else ast.Not()
        node.operand = node.operand if negative else ast.UnaryOp(ast.Not(), node.operand)
    elif isinstance(node.value, bool):
        node.value = not node.value
    else:
        node.value = node.value + 1
    return ast.unparse(tree)


def killed(copy: Path, path: Path, site: str, tests: list[str]) -> bool:
    """Whether the tests fail on a mutant."""
    target, original = copy / path.relative_to(ROOT), path.read_text("utf-8")
    target.write_text(changed(original, site), "utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(command, cwd=copy, capture_output=True, timeout=TIMEOUT, check=False)
        return done.returncode != 0
    except subprocess.TimeoutExpired:
        return True
    finally:
        target.write_text(original, "utf-8")


def main(n: int = 200, seed: int = 1) -> None:
    """Print the share of killed mutants by noun, and the survivors."""
    began, jobs = time.monotonic(), []
    for noun, (patterns, tests) in ROOMS.items():
        paths = [p for one in patterns.split() for p in (ROOT / "anhelpers").glob(one)]
        every = [(s, p) for p in paths for s, _ in sites(ast.parse(p.read_text("utf-8")))]
        order = sorted(every, key=lambda one: blake2b(f"{seed} {one[0]}".encode()).digest())
        named = [test for test in tests.split() if (ROOT / test).exists()]
        jobs += [(noun, path, site, named) for site, path in order[: n // len(ROOMS)]]
    with tempfile.TemporaryDirectory() as folder:
        copies = [Path(folder, str(i)) for i in range(2)]
        for copy in copies:
            ignored = shutil.ignore_patterns(".git", ".venv", "build", "__pycache__")
            shutil.copytree(ROOT, copy, ignore=ignored)

        def work(half: int) -> list[tuple[str, str, bool]]:
            mine = jobs[half :: len(copies)]
            return [(noun, f"{path.name}: {site}", killed(copies[half], path, site, tests))
                    for noun, path, site, tests in mine]  # fmt: skip

        with ThreadPoolExecutor(len(copies)) as pool:
            results = [one for half in pool.map(work, range(len(copies))) for one in half]
    for noun in ROOMS:
        own = [dead for name, _, dead in results if name == noun]
        print(f"{noun}\t{sum(own)} of {len(own)}")
    print(
        f"all\t{sum(dead for *_, dead in results)} of {len(results)} in {time.monotonic() - began:.0f} s"
    )
    for noun, site, dead in sorted(results):
        if not dead:
            print(f"survived\t{noun}\t{site}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
