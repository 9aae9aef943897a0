"""pandas, imported by its first use; loops compiled by numba and cached on disk; the cores of this process."""

import os
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
else:

    class _Pandas:
        def __getattr__(self, name: str) -> Any:
            return getattr(import_module("pandas"), name)

    pd = _Pandas()


def compiled(function: Callable | None = None, **options: Any) -> Callable:
    """Compile with numba, and cache the machine code if a cache folder is writable.

    A cached kernel does not notice changes of a kernel in another file: kernels that call each other share a file.

    Parameters
    ----------
    function : callable, optional
        To be compiled; without it, the decorator with these options of numba.
    """
    if function is None:
        return partial(compiled, **options)
    njit = import_module("numba").njit
    try:
        return njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # no writable cache folder (NUMBA_CACHE_DIR)
        return njit(nogil=True, **options)(function)


def cores() -> int:
    """Number of processors of this process, or OMP_NUM_THREADS if that is smaller."""
    given = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    most = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(given or 1, int(most) if most.isdecimal() else given or 1))
