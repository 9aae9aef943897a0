"""`anhelpers check`: report what is installed, or the origin of a result."""

import argparse
import json
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..errors import DataError, MissingExtra, one_line

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
    told = "print the versions, command, parameters and seed of this file"
    parser.add_argument("file", nargs="?", metavar="RESULT", help=told)


def run(args: argparse.Namespace) -> None:
    """Print the report, or the origin of a result."""
    print(one_line(_made_of(Path(args.file))) if args.file else _report())


def _made_of(path: Path) -> str:
    """The origin of a result, from .made.json beside it; a DataError if there is none."""
    from ..provenance import MADE

    beside = path.with_name(MADE)
    known = json.loads(beside.read_text("utf-8")) if beside.is_file() else {}
    if path.name not in known:
        raise DataError(f"no entry for it in {beside}. Keep that file with its results.", path)
    return known[path.name]


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _report() -> str:
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
    return "\n".join([*lines, *(f"to install: {line}" for line in sorted(mend))])
