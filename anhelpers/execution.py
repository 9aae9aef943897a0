"""Notebooks executed headless, each in a process of its own, by papermill; `pages` makes the page of each."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .charts.drawing import NO_PICTURE
from .classroom.exercises import NOT_YET, RIGHT
from .data.writing import make_folder, turn, unwritable, write_text
from .errors import AnhelpersError, DataError, MissingExtra, UnknownName, need, one_line
from .notebooks import check_parameters, notebook_paths, parameters_of, parse_value
from .pages import export_html
from .progress import note, say
from .provenance import environment, made_by, making
from .warm import kernel_manager, ready

__all__ = ["Outcome", "execute", "run"]

REFUSALS = {kind.__name__ for kind in (AnhelpersError, DataError, MissingExtra, UnknownName)}
"""Errors, by the names that a kernel gives, whose text is a sentence for the user; a traceback adds nothing to it."""

STYLED = re.compile(r'(?<=["#])T_[0-9a-f]{5}(?![0-9a-f])')
"""The name that pandas gives, by chance, to a table with a style of its own."""

ADDRESS = re.compile(r" at 0x[0-9a-f]+(?=>)")
WIDGETS = "application/vnd.jupyter.widget-{}+json"
PART = re.compile(r"(?<=IPY_MODEL_)[0-9a-f]{32}")
"""How the state of a widget of ipywidgets names another one, such as its layout."""

# cells tell what fails; how a kernel ends alarms for nothing
QUIET_KERNEL = ["--IPKernelApp.log_level=50"]

LONGEST_SOCKET = 100  # bytes of a path; Linux knows 107, macOS 103


@dataclass(frozen=True)
class Outcome:
    """What became of one notebook: its files, what its exercises' checks say, or the failing cell and its error.

    Parameters
    ----------
    seconds : it took. notebook, html : the files written. missing : how many pictures are not in them, as nothing could
        draw them.
    """

    name: str
    seconds: float
    notebook: Path | None = None
    html: Path | None = None
    checks: tuple[str, ...] = ()
    missing: int = 0
    error: str | None = None


def execute(
    path: Path, parameters: Mapping[str, Any], out: Path, scheduler: str | None = None
) -> Outcome:
    """Run one notebook, write OUT/NAME.ipynb and OUT/NAME.html; after an error nothing is written, older files stay.

    Parameters
    ----------
    parameters : injected after the cell tagged `parameters`. out : folder.
    scheduler : of `scoring.cluster.connect`, whose workers compute the models' scores; None: the kernel itself.
    """
    began = time.monotonic()
    told = {name: parse_value(text) for name, text in parameters_of(path).items()} | dict(
        parameters
    )
    make_folder(out)
    try:
        scratch = tempfile.TemporaryDirectory(
            dir=out, prefix=f".{path.stem}.", ignore_cleanup_errors=True
        )
        with (
            scratch as folder,
            making({"notebook": path.stem, **told}),
            environment(**_headless(Path(folder).absolute())),
        ):
            fresh = Path(folder) / path.name
            if error := _executed(path, fresh, parameters, scheduler):
                return Outcome(path.stem, time.monotonic() - began, error=error)
            cells = need("nbformat", "reading notebooks").read(fresh, 4).cells
            checks, missing = _checks(cells), _missing(cells)
            _settle(fresh)
            html = write_text(fresh.with_suffix(".html"), export_html(fresh))
            done = [out / fresh.name, out / html.name]
            with turn(out):
                for source, target in zip((fresh, html), done, strict=True):
                    os.replace(source, target)
    except OSError as error:
        raise unwritable(error, out) from error
    seconds = time.monotonic() - began
    return Outcome(path.stem, seconds, done[0], done[1], checks=checks, missing=missing)


def _headless(folder: Path) -> dict[str, str]:
    """Environment of a kernel: widgets write their page, not a view that needs a kernel; its address lies in `folder`.

    A home folder, where Jupyter keeps addresses else, may be read-only, or absent.
    """
    return {"ANX_MODE": "static", "JUPYTER_RUNTIME_DIR": str(make_folder(folder / "runtime"))}


def _executed(
    path: Path, fresh: Path, parameters: Mapping[str, Any], scheduler: str | None
) -> str | None:
    """Write the executed notebook to `fresh`; what went wrong in it, or None."""
    papermill, nbclient = (
        need(name, "running notebooks") for name in ("papermill", "nbclient.exceptions")
    )
    seen = sys.stderr is not None and sys.stderr.isatty()
    manager = kernel_manager()
    try:
        with _channels() as config:
            papermill.execute_notebook(
                str(path),
                str(fresh),
                parameters=dict(parameters),
                cwd=os.getcwd(),
                progress_bar=seen,
                kernel_name="python3",
                log_output=False,
                request_save_on_cell_execute=False,  # takes longer than most cells; the file is written at the end
                extra_arguments=[*QUIET_KERNEL, *_sharing(scheduler)],
                config=config,
                **({"kernel_manager_class": manager} if manager else {}),
            )
    except papermill.PapermillExecutionError as error:
        return _failure(error)
    except nbclient.DeadKernelError:
        return (
            "its kernel was killed, as happens when memory runs out; close other programs, or run "
            "with --jobs 1."
        )
    except RuntimeError as error:
        return f"its kernel did not start ({error}); close other programs, or run with --jobs 1."
    return None


@contextmanager
def _channels() -> Iterator[Any]:
    """How a kernel is spoken to: by sockets in a folder that nobody else may enter, or by ports where there are none.

    A port is chosen before the kernel takes it, and another program may have been quicker.
    """
    chosen = need("traitlets.config", "running notebooks").Config()
    if os.name != "posix":
        yield chosen
        return
    with tempfile.TemporaryDirectory(prefix="anhelpers.", ignore_cleanup_errors=True) as folder:
        chosen.KernelManager.connection_file = os.path.join(folder, "kernel.json")  # has its key
        base = os.path.join(folder, "kernel")
        if len(os.fsencode(base)) <= LONGEST_SOCKET:
            chosen.KernelManager.update(transport="ipc", ip=base)
        yield chosen


def _sharing(scheduler: str | None) -> list[str]:
    """What a kernel is told so that, before its first cell, models' scores come from a cluster."""
    if scheduler is None:
        return []
    line = f"from anhelpers.scoring import cluster; cluster.share({scheduler!r}); del cluster"
    return [f"--IPKernelApp.exec_lines={line}"]


def _checks(cells: Sequence[Any]) -> tuple[str, ...]:
    """What the cells tagged `check` say of the exercises, a line each."""
    printed = [
        o.text
        for c in cells
        if "check" in c.metadata.get("tags", [])
        for o in c.outputs
        if "text" in o
    ]
    return tuple(
        line for text in printed for line in text.splitlines() if RIGHT in line or NOT_YET in line
    )


def _missing(cells: Sequence[Any]) -> int:
    """How many outputs are the sentence that stands for a picture."""
    shown = [o.get("data", {}).get("text/plain", "") for c in cells for o in c.get("outputs", [])]
    return sum(f"\n{NO_PICTURE}" in text for text in shown)


def _settle(executed: Path) -> None:
    """Name in the notebook what made it; leave away times, folders and ids by chance, so that a second run is equal.

    How a printed text came from the kernel is a matter of time, too: each becomes one piece, of a line that was written
    over and over the last state.
    """
    nbformat = need("nbformat", "writing notebooks")
    preprocessors = need("nbconvert.preprocessors", "writing notebooks")
    book = nbformat.read(executed, 4)
    book, _ = preprocessors.CoalesceStreamsPreprocessor().preprocess(book, {})
    book.metadata.pop("papermill", None)
    book.metadata["made_by"] = made_by(installed=True)
    for i, cell in enumerate(book.cells):
        for name in ("papermill", "execution"):
            cell.metadata.pop(name, None)
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell.id = f"injected-{i}"
    _without_chance(book.cells)
    text, names = nbformat.writes(book), _widget_names(book)
    if names:
        text = re.sub("|".join(names), lambda found: names[found[0]], text)
        text = nbformat.writes(nbformat.reads(text, 4))  # in the order of the new names
    write_text(executed, text + "\n")


def _widget_names(book: Any) -> dict[str, str]:
    """The name by chance of each widget of ipywidgets -> its number: as they are shown, each before its own parts."""
    state = book.metadata.get("widgets", {}).get(WIDGETS.format("state"), {}).get("state", {})
    datas = [one.get("data", {}) for cell in book.cells for one in cell.get("outputs", [])]
    order = [data[view]["model_id"] for data in datas if (view := WIDGETS.format("view")) in data]
    told = {name: json.dumps(model, sort_keys=True) for name, model in state.items()}
    order += sorted(set(told) - set(order), key=lambda name: PART.sub("", told[name]))
    names: dict[str, str] = {}
    while order:
        if (name := order.pop(0)) not in names:
            names[name] = f"{len(names):032x}"
            order = [*PART.findall(told.get(name, "")), *order]
    return names


def _without_chance(cells: Sequence[Any]) -> None:
    """Number the tables with a style of their own, in their order, and leave out where in memory an object lay."""
    names: dict[str, str] = {}
    for data in (one.get("data", {}) for cell in cells for one in cell.get("outputs", [])):
        if data.get("text/html", "").startswith("<style"):
            data["text/html"] = STYLED.sub(
                lambda found: names.setdefault(found[0], f"T_{len(names):05x}"), data["text/html"]
            )
        if "text/plain" in data:
            data["text/plain"] = ADDRESS.sub("", data["text/plain"])


def _failure(error: Any) -> str:
    """The failing cell and its error: one sentence where this package refused, else the last lines of the traceback."""
    if error.ename in REFUSALS:
        return f"cell {error.exec_count}: {one_line(error.evalue)}"
    trace = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback)).strip().splitlines()
    return f"cell {error.exec_count}: {error.ename}: {error.evalue}\n" + "\n".join(
        f"    {line}" for line in trace[-12:]
    )


def _ends_when_told() -> None:
    """In a process that executes notebooks: the command ends it, and SIGTERM lets it remove what it has begun."""

    def end(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal
    signal.signal(signal.SIGTERM, end)
    threading.Thread(target=_ends_with, args=(os.getppid(),), daemon=True).start()


def _ends_with(parent: int) -> None:
    """End this process when the one that started it is gone, which kill -9 cannot tell it."""
    while True:
        time.sleep(1.0)
        if os.getppid() != parent:  # first its kernel ends, then the process
            os.kill(os.getpid(), signal.SIGTERM)


def _outcome(future: Future[Outcome], path: Path) -> Outcome:
    """What a process made of a notebook, or that it was killed over it."""
    try:
        return future.result()
    except BrokenProcessPool:
        killed = (
            "the process that ran it was killed, as happens when memory runs out; run this one "
            "again."
        )
        return Outcome(path.stem, 0.0, error=killed)


def _share(jobs: int) -> dict[str, str]:
    """Environment of kernels side by side: a share of the processors each, or their threads would be in their way."""
    if jobs < 2:
        return {}
    from .compiled import cores

    return {"OMP_NUM_THREADS": str(max(1, cores() // jobs))}


def run(
    names: Sequence[str] = (),
    parameters: Mapping[str, Any] | None = None,
    out: Path | str = "build",
    jobs: int = 1,
    *,
    scheduler: str | None = None,
) -> list[Outcome]:
    """Execute notebooks, `jobs` at a time, with a line on stderr for each; all are tried even where one fails.

    Parameters
    ----------
    parameters : injected into every notebook that knows them. out : folder.
    scheduler : of `scoring.cluster.connect`; each notebook that scores with a model has workers of its own, or shares
        those of a scheduler that runs already.
    """
    if jobs < 1:
        raise DataError(f"jobs must be at least 1, got {jobs}.")
    paths = notebook_paths(names)
    for path in paths:
        if (target := Path(out, path.name)).exists() and path.samefile(target):
            raise DataError(
                "lies where its results go, which would replace it; name another folder.", path
            )
    plan = check_parameters(paths, parameters or {})
    make_folder(out)
    outcomes: list[Outcome] = []
    workers = min(jobs, len(plan)) or 1
    with (
        environment(**_share(workers)),
        ready(),  # it imports beside this process, which has its own imports
        ProcessPoolExecutor(max_workers=workers, initializer=_ends_when_told) as pool,
    ):
        # the last first: those that train models stand there, and would be waited for alone
        running = {
            pool.submit(execute, path, p, Path(out), scheduler): path
            for path, p in reversed(plan.items())
        }
        say(f"running {len(plan)} notebook(s) into {out}")
        try:
            for future in as_completed(running):
                outcomes.append(o := _outcome(future, running[future]))
                state = "FAILED" if o.error else "ok"
                if o.checks:
                    state += (
                        f", {sum(RIGHT in line for line in o.checks)} of {len(o.checks)} exercises "
                        "right"
                    )
                lost = f"{o.missing} picture{'s' * (o.missing > 1)} could not be drawn"
                state += f", but {lost}; the page says why" if o.missing else ""
                say(f"[{len(outcomes)}/{len(plan)}] {o.name}: {state}, {o.seconds:.1f} s")
        except BaseException as error:
            processes = list(pool._processes.values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()
            if isinstance(error, KeyboardInterrupt):
                rest = "run the others by name, or all again"
                note(
                    f"{len(outcomes)} of {len(plan)} notebooks are done, and kept in {out}; {rest}."
                )
            raise
    order = {path.stem: i for i, path in enumerate(paths)}
    return sorted(outcomes, key=lambda o: order[o.name])
