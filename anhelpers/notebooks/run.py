"""Execute notebooks by papermill, several at a time, each in its own process."""

import multiprocessing
import os
import re
import signal
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import checks
from ..classroom.exercises import RIGHT
from ..data.io import scratch_folder, write_atomic
from ..errors import DataError, need, one_line
from ..progress import say
from ..provenance import environment, made_by, making, write_made
from .catalog import _parameters_of, _read, notebook_paths, parse_value
from .export import _export_html, _tags

_QUIET_KERNEL = ["--IPKernelApp.log_level=50"]  # cells report what fails
# Errors of this package by name: their message needs no traceback.
_REFUSALS = ("AnhelpersError", "DataError", "MissingExtra", "UnknownName")


@dataclass(frozen=True)
class _Outcome:
    """Result of one notebook: seconds, files written, lines of its exercise checks, or its error."""

    name: str
    seconds: float
    notebook: Path | None = None
    html: Path | None = None
    checks: tuple[str, ...] = ()
    error: str | None = None


def run(
    names: Sequence[str] = (),
    parameters: Mapping[str, Any] | None = None,
    out: Path | str = "build",
    jobs: int = 1,
) -> list[_Outcome]:
    """Execute notebooks, `jobs` at a time; write OUT/NAME.ipynb and OUT/NAME.html of each.

    Prints one line per notebook on stderr. A failed notebook does not stop the others or replace older results, and an
    interrupted run leaves no partial files.

    Parameters
    ----------
    parameters : mapping
        Injected into every notebook that has a parameter of that name.
    out : path
        Folder of the results.

    Raises
    ------
    UnknownName : no such notebook, or a parameter that no notebook has. DataError : a value whose type is not that of
        the parameter's default, or `out` is the folder of a notebook.
    """
    checks.whole("jobs", jobs)
    paths, out = notebook_paths(names), Path(out)
    if inside := [path for path in paths if path.parent.resolve() == out.resolve()]:
        raise DataError("results would replace this notebook. Use another folder.", inside[0])
    plan = _plan(paths, parameters or {})
    outcomes: dict[str, _Outcome] = {}
    share = str(max(1, (os.cpu_count() or 1) // min(jobs, len(plan))))
    with (
        scratch_folder(out) as scratch,
        # widgets write their page, kernels their address into the scratch folder
        environment(
            ANX_MODE="static",
            JUPYTER_RUNTIME_DIR=os.path.abspath(scratch),
            OMP_NUM_THREADS=os.environ.get("OMP_NUM_THREADS", share),
        ),
        ProcessPoolExecutor(
            jobs, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)
        ) as pool,
    ):
        # the last first: the longest ones are last in the collection
        running = {
            pool.submit(_execute, path, given, scratch): path
            for path, given in reversed(plan.items())
        }
        say(f"running {len(plan)} notebook(s) into {out}")
        try:
            for future in as_completed(running):
                try:
                    outcome = _kept(future.result(), out)
                except BrokenProcessPool:
                    said = "its process was killed (out of memory?). Run it alone with --jobs 1."
                    outcome = _Outcome(running[future].stem, 0.0, error=said)
                outcomes[outcome.name] = outcome
                say(f"[{len(outcomes)}/{len(plan)}] {outcome.name}: {_state(outcome)}")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            raise
    return [outcomes[path.stem] for path in paths]


def _state(outcome: _Outcome) -> str:
    right = sum(RIGHT in line for line in outcome.checks)
    exercises = f", {right} of {len(outcome.checks)} exercises right" if outcome.checks else ""
    return f"{'FAILED' if outcome.error else 'ok'}{exercises}, {outcome.seconds:.1f} s"


def _plan(paths: Sequence[Path], given: Mapping[str, Any]) -> dict[Path, dict[str, Any]]:
    """Notebook → the given parameters that it has; raise for unknown names and other types."""
    takes = {path: _parameters_of(path) for path in paths}
    known = {name for names in takes.values() for name in names}
    for name in given:
        checks.one_of(name, known, "parameter")
    plan = {path: {name: given[name] for name in given if name in takes[path]} for path in paths}
    for path, values in plan.items():
        for name, value in values.items():
            own = parse_value(takes[path][name])
            kinds: Any = (int, float) if isinstance(own, float) else type(own)
            kinds = (str, type(None)) if isinstance(own, str) else kinds
            if own is not None and not isinstance(value, kinds):
                kept = f"a value of the same type as {own!r}"
                raise DataError(f"parameter {name}: got {value!r:.60}, expected {kept}.")
    return plan


def _execute(path: Path, parameters: Mapping[str, Any], scratch: Path) -> _Outcome:
    """Run one notebook into the scratch folder, in a process of the pool."""
    papermill = need("papermill", "running notebooks")
    began, fresh = time.monotonic(), scratch / path.name
    own = {name: parse_value(text) for name, text in _parameters_of(path).items()}
    how: dict[str, Any] = {
        "kernel_name": "python3",
        "cwd": os.getcwd(),
        "extra_arguments": _QUIET_KERNEL,
    }
    how |= dict.fromkeys(("progress_bar", "log_output", "request_save_on_cell_execute"), False)
    with making({"notebook": path.stem, **own, **parameters}):
        try:
            book = _solved(_read(path))
            papermill.execute_notebook(book, str(fresh), dict(parameters), **how)
        except papermill.PapermillExecutionError as error:
            return _Outcome(path.stem, time.monotonic() - began, error=_failure(error))
        except RuntimeError as error:  # the kernel did not start, or died
            said = f"its kernel died ({error}). Out of memory? Try --jobs 1."
            return _Outcome(path.stem, time.monotonic() - began, error=said)
        checks = _settle(fresh)
        html = write_atomic(fresh.with_suffix(".html"), _export_html(fresh))
    return _Outcome(path.stem, time.monotonic() - began, fresh, html, checks)


def _solved(book: Any) -> Any:
    """Move the code of each folded solution into a cell before its check, if no exercise was answered."""
    fresh = all("..." in cell.source for cell in book.cells if "exercise" in _tags(cell))
    for cell in [cell for cell in book.cells if fresh and "solution" in _tags(cell)]:
        text, fence, code = cell.source.rpartition("\n```python\n")
        if fence:
            made = need("nbformat", "running notebooks").v4.new_code_cell(id=cell.id)
            made |= {"source": code.partition("\n```")[0], "metadata": cell.metadata}
            cell |= {"id": f"{cell.id}-text", "source": f"{text}\n</details>"}
            at = book.cells.index(cell)
            book.cells[at - 1 : at + 1] = [cell, made, book.cells[at - 1]]
    return book


def _kept(outcome: _Outcome, out: Path) -> _Outcome:
    """The outcome after its files have been moved from the scratch folder to `out`."""
    if outcome.error or outcome.notebook is None or outcome.html is None:
        return outcome
    book, html = (path.replace(out / path.name) for path in (outcome.notebook, outcome.html))
    write_made(out, [book.name, html.name])
    return replace(outcome, notebook=book, html=html)


def _settle(executed: Path) -> tuple[str, ...]:
    """Remove times and folders from an executed notebook; return the lines of its exercise checks."""
    nbformat = need("nbformat", "writing notebooks")
    preprocessors = need("nbconvert.preprocessors", "writing notebooks")
    book = nbformat.read(executed, 4)
    book, _ = preprocessors.CoalesceStreamsPreprocessor().preprocess(book, {})
    book.metadata.pop("papermill", None)
    book.metadata["made_by"] = made_by(installed=True)
    printed = []
    for i, cell in enumerate(book.cells):
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if "injected-parameters" in _tags(cell):
            cell.id = f"injected-{i}"
        if "check" in _tags(cell):
            printed += [one.text for one in cell.outputs if "text" in one]
            if "solution" in _tags(book.cells[i - 1]):  # the check first, as in the source
                book.cells[i - 2 : i + 1] = [cell, *book.cells[i - 2 : i]]
    write_atomic(executed, nbformat.writes(book) + "\n")
    lines = "".join(printed).splitlines()
    return tuple(line for line in lines if line.startswith("Exercise "))


def _failure(error: Any) -> str:
    """The failing cell and its error: the message of this package, else the end of the traceback."""
    if error.ename in _REFUSALS:
        return f"cell {error.exec_count}: {one_line(error.evalue)}"
    trace = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback)).strip().splitlines()[-12:]
    return "\n    ".join([f"cell {error.exec_count}: {error.ename}: {error.evalue}", *trace])
