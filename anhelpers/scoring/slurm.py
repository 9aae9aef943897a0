"""The settings of SLURM jobs: a small yaml file, and what dask_jobqueue is told of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from ..data.lines import table_lines
from ..errors import DataError, need

__all__ = ["read_slurm", "slurm_options"]

MOST_CHARACTERS = 100_000
"""Of a file of settings; yaml is slow to read."""

SLURM = {  # of the file -> kind and whether it must be there
    "queue": (str, False),
    "account": (str, False),
    "gpus": (int, False),
    "cores": (int, False),
    "memory": (str, True),
    "walltime": (str, True),
    "n_jobs": (int, True),
    "activate": (str, False),
    "directives": (list, False),
    "interface": (str, False),
    "logs": (str, False),
    "keys": (str, False),
    "chunk": (int, False),
}


def read_slurm(path: str) -> Mapping[str, Any]:
    """The settings of SLURM jobs from a yaml file, or a DataError that names the first that is wrong."""
    yaml = need("yaml", "reading the settings of SLURM jobs")
    text = "\n".join(table_lines(path))
    if len(text) > MOST_CHARACTERS:
        raise DataError(
            f"has {len(text):,} characters, too many for settings; write them after "
            "docs/slurm.yaml.",
            path,
        )
    try:
        settings = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DataError("is no yaml; write one after docs/slurm.yaml.", path) from error
    if not isinstance(settings, dict):
        raise DataError(
            "holds no settings; write lines of the form 'queue: gpu', as in docs/slurm.yaml.", path
        )
    for name in settings:
        if name not in SLURM:
            raise DataError(f"unknown setting '{name}'; known: {', '.join(SLURM)}.", path)
    for name, (kind, wanted) in SLURM.items():
        value = settings.get(name)
        if (value is None and wanted) or (value is not None and type(value) is not kind):
            what = {
                str: "text, in quotes where it has a colon",
                int: "a whole number",
                list: "a list",
            }[kind]
            raise DataError(
                f"{name} is {'absent' if value is None else repr(value)}; it must be {what}.", path
            )
        if isinstance(value, list) and any(type(one) is not str for one in value):
            raise DataError(f"{name} is {value!r:.60}; it must be a list of texts.", path)
        if isinstance(value, int) and value < (0 if name == "gpus" else 1):
            raise DataError(f"{name} is {value}; it must be positive.", path)
    return {name: value for name, value in settings.items() if value is not None}


def slurm_options(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What `dask_jobqueue.SLURMCluster` is told: one process and one model per job, and per GPU one job."""
    gpus, cores = settings.get("gpus", 0), settings.get("cores", 1)
    options: dict[str, Any] = {
        "cores": 1,
        "processes": 1,
        "job_cpu": cores,
        "memory": settings["memory"],
        "walltime": settings["walltime"],
        "python": "python" if "activate" in settings else sys.executable,
        "job_extra_directives": ([f"--gres=gpu:{gpus}"] if gpus else [])
        + settings.get("directives", []),
        "job_script_prologue": [f"export OMP_NUM_THREADS={cores} MKL_NUM_THREADS={cores}"]
        + ([settings["activate"]] if "activate" in settings else []),
    }
    names = {
        "queue": "queue",
        "account": "account",
        "interface": "interface",
        "logs": "log_directory",
        "keys": "shared_temp_directory",
    }
    return options | {there: settings[here] for here, there in names.items() if here in settings}
