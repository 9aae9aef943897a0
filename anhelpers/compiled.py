"""Loops compiled to machine code, which is cached on disk where possible."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numba

__all__ = ["compiled"]


def compiled(function: Callable | None = None, **options: Any) -> Callable:
    """Compile with numba, and keep the machine code on disk where some cache folder can be written.

    A cached kernel does not notice that a kernel it calls has changed in another file: kernels that call each other
    live in one file.

    Parameters
    ----------
    function : to be compiled; None: the decorator with these options.
    options : more of numba's, such as `fastmath`.
    """
    if function is None:
        return partial(compiled, **options)
    try:
        return numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:
        # neither this folder nor the user's cache can be written; NUMBA_CACHE_DIR would name another
        return numba.njit(nogil=True, **options)(function)
