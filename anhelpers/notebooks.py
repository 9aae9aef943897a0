"""Run the collection headless: papermill executes, nbconvert writes one self-contained page per notebook."""

from __future__ import annotations

import ast
import os
import re
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .data.catalog import bundled
from .data.lines import write_text
from .errors import AnhelpersError, DataError, UnknownName, need
from .exercises import NOT_YET, RIGHT

__all__ = [
    "About", "Outcome", "about", "execute", "notebook_paths", "parameters_of", "parse_value", "run", "write_editions",
]  # fmt: skip

OFFLINE_HTML = {
    "mathjax_url": "",
    "require_js_url": "",
    "jquery_url": "",
    "mermaid_js_url": "",
    "widget_renderer_url": "",
}
"""nbconvert's links to outside scripts, all dropped: the page must open from a USB stick."""

QUIET_KERNEL = ["--IPKernelApp.log_level=40"]  # errors only: its warning about TCP on loopback alarms for nothing


@dataclass(frozen=True)
class About:
    """What the first cell of a notebook tells: title, minutes, the notebooks to read before it, and the question."""

    name: str
    title: str
    minutes: int
    before: tuple[str, ...]
    question: str


@dataclass(frozen=True)
class Outcome:
    """What became of one notebook: its files, what its exercises' checks say, or the failing cell and its error."""

    name: str
    seconds: float
    notebook: Path | None = None
    html: Path | None = None
    checks: tuple[str, ...] = ()
    error: str | None = None


def notebook_paths(names: Sequence[str] = ()) -> list[Path]:
    """The notebooks of the collection by name (all without names), or any notebook by path."""
    there = {p.stem: p for p in sorted((bundled("teaching").parents[1] / "notebooks").glob("*.ipynb"))}
    paths = []
    for name in names or there:
        if Path(name).suffix == ".ipynb" and Path(name).is_file():
            paths.append(Path(name))
        elif Path(name).stem in there:
            paths.append(there[Path(name).stem])
        else:
            raise UnknownName("notebook", name, there)
    return paths


def about(path: Path) -> About:
    """What a notebook says of itself in its first cell, by whose form the collection is listed everywhere.

    The form: "# title", "About N minutes", a line "Before this: " with `names` or "nothing", and the first line that
    ends in a question mark.
    """
    text = need("nbformat", "reading notebooks").read(path, 4).cells[0].source
    parts = (r"^# (.+)$", r"About (\d+) minutes", r"^Before this: (.+)$", r"^([^#\s].*\?)$")
    found = [re.search(part, text, re.MULTILINE) for part in parts]
    if not all(found):
        raise DataError("the first cell does not tell title, minutes, what to read before, and the question.", path)
    title, minutes, before, question = (match[1] for match in found)
    before = tuple(re.findall(r"`(\w+)`", before))
    return About(path.stem, title, int(minutes), before, re.sub(r"[*`]", "", question))


def parameters_of(path: Path) -> dict[str, str]:
    """Name -> default (as written) of the cell tagged `parameters`; empty where there is none."""
    papermill = need("papermill", "running notebooks")
    return {name: p["default"] for name, p in papermill.inspect_notebook(str(path)).items()}


def parse_value(text: str) -> Any:
    """A Python literal where the text is one (``5``, ``0.1``, ``None``, ``['chrf']``), else the text itself.

    >>> parse_value("5"), parse_value("wmt24/en-de"), parse_value("true"), parse_value("null")
    (5, 'wmt24/en-de', True, None)
    """
    spelled = {"true": True, "false": False, "null": None}
    if text in spelled:
        return spelled[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def check_parameters(paths: Sequence[Path], given: Mapping[str, Any]) -> dict[Path, dict[str, Any]]:
    """The parameters that each notebook takes; UnknownName for one that no notebook takes, before anything runs."""
    takes = {path: parameters_of(path) for path in paths}
    known = {name for names in takes.values() for name in names}
    for name in given:
        if name not in known:
            raise UnknownName(f"parameter of {', '.join(p.stem for p in paths)}", name, known)
    return {path: {k: v for k, v in given.items() if k in takes[path]} for path in paths}


def execute(path: Path, parameters: Mapping[str, Any], out: Path) -> Outcome:
    """Run one notebook, write OUT/NAME.ipynb and OUT/NAME.html; after an error nothing is written, older files stay."""
    began = time.monotonic()
    papermill = need("papermill", "running notebooks")
    os.environ["ANX_MODE"] = "static"  # widgets write their kernel-free page, not a view that needs one
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=f".{path.stem}.") as folder:
        fresh = Path(folder) / path.name
        try:
            papermill.execute_notebook(
                str(path), str(fresh), parameters=dict(parameters), cwd=os.getcwd(), progress_bar=sys.stderr.isatty(),
                kernel_name="python3", log_output=False, extra_arguments=QUIET_KERNEL,
            )  # fmt: skip
        except papermill.PapermillExecutionError as error:
            return Outcome(path.stem, time.monotonic() - began, error=_told(error))
        checks = _checks(fresh)
        html = fresh.with_suffix(".html")
        html.write_text(export_html(fresh), encoding="utf-8")
        done = [out / fresh.name, out / html.name]
        for source, target in zip((fresh, html), done, strict=True):
            os.replace(source, target)
    return Outcome(path.stem, time.monotonic() - began, *done, checks=checks)


def _checks(executed: Path) -> tuple[str, ...]:
    """What the cells tagged `check` say of the exercises, a line each."""
    cells = need("nbformat", "reading notebooks").read(executed, 4).cells
    printed = [o.text for c in cells if "check" in c.metadata.get("tags", []) for o in c.outputs if "text" in o]
    return tuple(line for text in printed for line in text.splitlines() if RIGHT in line or NOT_YET in line)


def _told(error: Any) -> str:
    """The failing cell and the last lines of its traceback, without colour codes."""
    trace = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback)).strip().splitlines()
    return f"cell {error.exec_count}: {error.ename}: {error.evalue}\n" + "\n".join(
        f"    {line}" for line in trace[-12:]
    )


def export_html(notebook: Path) -> str:
    """One HTML page that needs no network: rich outputs as text/html first, no link to outside scripts."""
    nbconvert, config = (
        need("nbconvert", "exporting notebooks"),
        need("traitlets.config", "exporting notebooks").Config(),
    )
    config.HTMLExporter.update(OFFLINE_HTML)
    config.NbConvertBase.display_data_priority = [
        "text/html", "image/svg+xml", "image/png", "image/jpeg", "text/markdown", "text/plain",
    ]  # fmt: skip
    page, _ = nbconvert.HTMLExporter(config=config, embed_images=True).from_filename(str(notebook))
    return page


def write_editions(names: Sequence[str] = (), out: Path | str = "build") -> list[Path]:
    """Write OUT/students/NAME.ipynb, without the cells tagged `solution`, and OUT/teachers/NAME.ipynb, with them.

    Both without outputs. What a student has worked on is never replaced: a DataError for a file that is there and
    differs.
    """
    nbformat = need("nbformat", "writing notebooks")
    written = {}
    for path in notebook_paths(names):
        book = nbformat.read(path, 4)
        for cell in (c for c in book.cells if c.cell_type == "code"):
            cell.outputs, cell.execution_count = [], None
        written[Path(out) / "teachers" / path.name] = nbformat.writes(book)
        book.cells = [c for c in book.cells if "solution" not in c.metadata.get("tags", [])]
        written[Path(out) / "students" / path.name] = nbformat.writes(book)
    for path, text in written.items():
        if path.exists() and path.read_text(encoding="utf-8") != text:
            raise DataError("is there already and differs: it may hold somebody's work. Move it, or name another "
                            "folder with --out.", path)  # fmt: skip
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    return sorted(written)


def run(
    names: Sequence[str] = (), parameters: Mapping[str, Any] | None = None, out: Path | str = "build", jobs: int = 1
) -> list[Outcome]:
    """Execute notebooks, `jobs` at a time, with a line on stderr for each; all are tried even where one fails."""
    if jobs < 1:
        raise DataError(f"jobs must be at least 1, got {jobs}.")
    paths = notebook_paths(names)
    plan = check_parameters(paths, parameters or {})
    outcomes = []
    with ProcessPoolExecutor(max_workers=min(jobs, len(plan)) or 1) as pool:
        running = {pool.submit(execute, path, p, Path(out)): path for path, p in plan.items()}
        print(f"running {len(plan)} notebook(s) into {out}", file=sys.stderr, flush=True)
        try:
            for future in as_completed(running):
                outcomes.append(future.result())
                o = outcomes[-1]
                state = "FAILED" if o.error else "ok"
                if o.checks:
                    state += f", {sum(RIGHT in line for line in o.checks)} of {len(o.checks)} exercises right"
                print(
                    f"[{len(outcomes)}/{len(plan)}] {o.name}: {state}, {o.seconds:.1f} s", file=sys.stderr, flush=True
                )
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise AnhelpersError(
                f"interrupted: {len(outcomes)} of {len(plan)} notebooks are done; run again for the rest."
            ) from None
    order = {path.stem: i for i, path in enumerate(paths)}
    return sorted(outcomes, key=lambda o: order[o.name])
