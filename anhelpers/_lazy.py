"""pandas, imported by its first use; loops compiled by numba and cached on disk; the cores of this process."""

import os
import sys
from collections.abc import Callable
from functools import cached_property, partial, update_wrapper
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
else:

    class _Pandas:
        def __getattr__(self, name: str) -> Any:
            return getattr(import_module("pandas"), name)

    pd = _Pandas()


class _Compiled:
    """A loop that numba compiles at its first call, and that `plain` runs in Python."""

    def __init__(self, function: Callable, options: dict[str, Any]) -> None:
        self.plain, self._options = function, options
        update_wrapper(self, function)

    @cached_property
    def _kernel(self) -> Any:
        njit = import_module("numba").njit
        try:
            return njit(cache=True, nogil=True, **self._options)(self.plain)
        except RuntimeError:  # no writable cache folder (NUMBA_CACHE_DIR)
            return njit(nogil=True, **self._options)(self.plain)

    @property
    def _numba_type_(self) -> Any:
        """What numba asks of a kernel that another one calls."""
        return self._kernel._numba_type_

    def __call__(self, *args: Any) -> Any:
        return self._kernel(*args)


def compiled(function: Callable | None = None, **options: Any) -> Any:
    """Compile with numba at the first call, and cache the machine code if a cache folder is writable.

    A cached kernel does not notice changes of a kernel in another file: kernels that call each other share a file.

    Parameters
    ----------
    function : callable, optional
        To be compiled; without it, the decorator with these options of numba.
    """
    return partial(compiled, **options) if function is None else _Compiled(function, options)


def is_compiling() -> bool:
    """Whether this process has imported numba, so that the next kernel costs little."""
    return "numba" in sys.modules


def cores() -> int:
    """Number of processors of this process, or OMP_NUM_THREADS if that is smaller."""
    given = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    most = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(given or 1, int(most) if most.isdecimal() else given or 1))
