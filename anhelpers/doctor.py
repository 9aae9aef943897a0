"""Diagnosis of an installation (`anhelpers check`): what is missing for which feature, and how to install it."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from importlib.util import find_spec

from . import __version__
from .data.fetch import bundled
from .data.sets import available
from .errors import install_line
from .provenance import version_of

__all__ = ["Finding", "chromium", "findings", "report"]


@dataclass(frozen=True)
class Finding:
    """One line of the report: a feature, whether it is there, what was seen, and the command that mends it.

    Parameters
    ----------
    ok : whether it works. mend : what to type where it does not.
    """

    feature: str
    ok: bool
    seen: str
    mend: str = ""


FEATURES = {  # feature -> (distributions, what installs them)
    "scores, curves, charts, explorer": (
        (
            "numpy",
            "scipy",
            "pandas",
            "numba",
            "sacrebleu",
            "altair",
            "vl-convert-python",
            "anywidget",
            "pyarrow",
            "zstandard",
        ),
        "",
    ),
    "notebooks (anhelpers run, make lab)": (
        ("jupyterlab", "papermill", "nbconvert", "ipykernel", "latex2mathml"),
        "notebooks",
    ),
    "exact A(N) for KL, Rényi, JS, χ², MMD": (("cvxpy", "clarabel"), "theory"),
    "language models (lpp)": (("torch", "transformers"), "neural"),
    "COMET": (("unbabel-comet",), "neural"),
    "MetricX": (("torch", "transformers", "sentencepiece", "protobuf"), "neural"),
    "cluster": (("dask", "distributed", "dask-jobqueue"), "cluster"),
    "tests": (
        (
            "pytest",
            "pytest-xdist",
            "hypothesis",
            "ruff",
            "playwright",
            "nbstripout",
            "fastchrf",
            "lexicalrichness",
            "POT",
            "mpmath",
            "hatchling",
        ),
        "dev",
    ),
}


def _packages() -> list[Finding]:
    rows = []
    for feature, (names, extra) in FEATURES.items():
        found = {name: version_of(name) for name in names}
        missing = [name for name, v in found.items() if v is None]
        seen = ", ".join(f"{n} {v}" for n, v in list(found.items())[:4])
        if missing:
            seen = f"missing: {', '.join(missing)}" + (f" (extra '{extra}')" if extra else "")
        rows.append(Finding(feature, not missing, seen, install_line(extra) if missing else ""))
    return rows


def _comet() -> list[Finding]:
    """Whether an installed COMET can be imported, without doing it, which takes seconds: two libraries break it."""
    if version_of("unbabel-comet") is None:
        return []
    broken = [] if find_spec("pkg_resources") else ["no pkg_resources: setuptools is 81 or later"]
    if int((version_of("transformers") or "0").split(".")[0]) >= 5:
        broken.append(f"transformers is {version_of('transformers')}, and COMET fails from 5 on")
    seen = "; ".join(broken) or "pkg_resources is there, transformers is before 5"
    return [
        Finding("COMET can be imported", not broken, seen, install_line("neural") if broken else "")
    ]


def _data() -> list[Finding]:
    rows = []
    sets = available()
    absent = " ".join(str(entry["name"]) for entry in sets if not entry["place"])
    for entry in sets:
        mend = (
            ""
            if entry["place"]
            else f"anhelpers data --fetch {absent}   (or export ANHELPERS_DATA=FOLDER)"
        )
        rows.append(
            Finding(
                f"data set {entry['name']}",
                bool(entry["place"]),
                str(entry["note"]),
                mend,
            )
        )
    for name in ("de-small", "en-small"):
        there = (bundled("teaching").parent / "lm" / name / "config.json").is_file()
        seen, mend = (f"data/lm/{name}", "") if there else ("missing", "git checkout data/lm")
        rows.append(Finding(f"language model {name}", there, seen, mend))
    return rows


def chromium() -> str | None:
    """Where the browser of the tests is, under one of its names; None where it is not installed."""
    return next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )


def _browser() -> Finding:
    path = chromium()
    return Finding(
        "browser tests",
        bool(path),
        path or "no chromium",
        "" if path else "apt-get install -y chromium",
    )


def findings() -> list[Finding]:
    """Everything that `anhelpers check` reports."""
    return [*_packages(), *_comet(), *_data(), _browser()]


def report() -> str:
    """One screen of plain text: a line per feature, then the commands that mend what is missing."""
    rows = findings()
    width = max(len(r.feature) for r in rows)
    lines = [
        f"anhelpers {__version__}, Python {sys.version.split()[0]}, "
        f"ANHELPERS_DATA={os.environ.get('ANHELPERS_DATA', 'not set')}",
        "",
    ]
    lines += [f"{'ok' if r.ok else '--'}  {r.feature:<{width}}  {r.seen}" for r in rows]
    mends: dict[str, list[str]] = {}
    for r in rows:
        if r.mend:
            mends.setdefault(r.mend, []).append(r.feature)
    lines += ["", "To mend:" if mends else "Nothing is missing."]
    lines += [f"  {mend}\n      for {', '.join(features)}" for mend, features in mends.items()]
    return "\n".join(lines)
