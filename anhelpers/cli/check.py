"""`anhelpers check`: report what is installed, or the origin of a result."""

import argparse
import shutil
import sys
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..errors import DataError, MissingExtra, one_line
from ..progress import note

EXAMPLE = "anhelpers check"
# Feature → distributions, and the extra that installs them.
_FEATURES = {
    "scores, curves, charts": ("numpy scipy pandas numba sacrebleu altair vl-convert-python", ""),
    "notebooks": ("jupyterlab papermill nbconvert ipykernel latex2mathml", "notebooks"),
    "exact A(N) beyond linear programs": ("cvxpy clarabel", "theory"),
    "language models": ("torch transformers", "neural"),
    "COMET": ("unbabel-comet", "neural"),
    "MetricX": ("torch transformers sentencepiece protobuf", "neural"),
    "cluster": ("dask distributed dask-jobqueue", "cluster"),
    "tests": ("pytest hypothesis ruff mypy playwright nbstripout", "dev"),
}


def options(parser: argparse.ArgumentParser) -> None:
    """A result, if any."""
    told = "print the versions, command, parameters and seed of this file or folder of results"
    parser.add_argument("file", nargs="?", metavar="RESULT", help=told)


def run(args: argparse.Namespace) -> None:
    """Print the report, or the origin of results."""
    print(*map(one_line, _made_of(Path(args.file)) if args.file else _report()), sep="\n")


def _made_of(path: Path) -> list[str]:
    """The origin of a result, or a line for each in a folder, from .made.json.

    A DataError for a file without an entry there, or that is not the file of its entry.
    """
    from ..data.io import parse_json
    from ..provenance import MADE

    path = path.resolve()
    folder = path if path.is_dir() else path.parent
    beside = folder / MADE
    known = parse_json(beside.read_bytes(), beside) if beside.is_file() else {}
    here = {one_line(one.name): one for one in folder.glob("[!.]*") if one.is_file()}
    lines, wrong = [], []
    for name in known if path.is_dir() else [one_line(path.name)]:
        origin, _, digest = str(known.get(name)).rpartition("|sha256:")
        same = name in here and sha256(here[name].read_bytes()).hexdigest() == digest
        lines.append(f"{name}: {origin}" if path.is_dir() else origin)
        wrong += [] if same else [name]
    if not lines or not {*wrong} <= {*known}:
        raise DataError(f"no entry in {MADE}." if path.exists() else "there is no such file.", path)
    if wrong:
        raise DataError(f"{wrong!s:.60}: changed, gone, or of another run. Run it again.", path)
    if path.is_dir() and (others := sorted({*here} - {*known})):
        note(f"no entry in {MADE}: {', '.join(others)}.")
    return lines


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _report() -> list[str]:
    """A line per feature and data set, with the command that installs what is missing."""
    from .. import __version__
    from ..data.sets import available

    lines = [f"anhelpers {__version__}, Python {sys.version.split()[0]}"]
    mend = set()
    for feature, (names, extra) in _FEATURES.items():
        found = {name: _installed(name) for name in names.split()}
        missing = [name for name, seen in found.items() if seen is None]
        mend |= {MissingExtra.remedy(extra)} if missing else set()
        seen = ", ".join(f"{name} {seen}" for name, seen in found.items() if seen)
        told = f"missing: {', '.join(missing)}" if missing else seen
        lines.append(f"{'--' if missing else 'ok'}  {feature:<34} {told}")
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    lines.append(f"{'ok' if browser else '--'}  {'browser tests':<34} {browser or 'no chromium'}")
    absent = [str(row["name"]) for row in available() if not row["place"]]
    mend |= {f"anhelpers data --fetch {' '.join(absent)}"} if absent else set()
    lines.append(f"ok  {'data sets':<34} {len(available()) - len(absent)} here")
    return [*lines, *(f"to install: {line}" for line in sorted(mend))]
