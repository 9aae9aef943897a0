"""What an interrupted training leaves on disk: numbers under a checksum, in a folder for one process at a time."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..data.writing import lock, make_folder, still_at, write_bytes
from ..errors import DataError, need

__all__ = ["STATE", "alone", "read_state", "sealed", "write_state"]

STATE = "state.pt"
"""The file of the state in the folder OUT.partial."""

HEADER = b"anhelpers training state 2\n"
LENGTH = len(HEADER) + 64 + 1
"""Bytes before the data: the header, the hexadecimal digits of a sha256, a line end."""

WHY = "training a language model"


@contextmanager
def alone(partial: Path) -> Iterator[None]:
    """Inside, the folder of the training state is there, and no other process trains into it.

    Parameters
    ----------
    partial : the folder, which is made where there is none.
    """
    while True:
        descriptor = os.open(make_folder(partial), os.O_RDONLY) if os.name == "posix" else None
        try:
            if descriptor is not None and not lock(descriptor):
                raise DataError(
                    "another process is training into it; wait for it, or name another folder.",
                    partial,
                )
            # else another run ended just now
            if descriptor is None or still_at(partial, descriptor):
                yield
                return
        finally:
            if descriptor is not None:
                os.close(descriptor)


def read_state(partial: Path, belongs: dict[str, Any]) -> dict[str, Any]:
    """The state that an interrupted training of the same recipe and text left; empty where there is none.

    Parameters
    ----------
    partial : the folder of the state. belongs : what the state must have as well: recipe, text.

    Raises
    ------
    DataError : a state that is damaged, of another version, or of another training.
    """
    if not (file := partial / STATE).exists():
        return {}
    state = _opened(file)
    if any(state.get(name) != value for name, value in belongs.items()):
        raise DataError(
            "holds the state of other text or options; delete it, or name another folder.", partial
        )
    return state


def write_state(partial: Path, state: dict[str, Any]) -> None:
    """Put the state into its folder in one step, so that an older one stays until the new one is whole.

    Parameters
    ----------
    partial : the folder. state : tensors and plain values.
    """
    need("torch", WHY).save(state, buffer := io.BytesIO())
    write_bytes(partial / STATE, sealed(buffer.getvalue()))


def sealed(data: bytes) -> bytes:
    """The content of a state's file: a header, the checksum of the data, the data.

    Parameters
    ----------
    data : as torch saves it; torch itself reads a flipped bit as a number like any other.
    """
    return _head(data) + data


def _head(data: bytes) -> bytes:
    return HEADER + sha256(data).hexdigest().encode() + b"\n"


def _opened(path: Path) -> dict[str, Any]:
    """What the file holds: numbers, and nothing that could run."""
    torch, content = need("torch", WHY), path.read_bytes()
    data = content[LENGTH:]
    if content[:LENGTH] != _head(data):
        raise DataError(
            "is damaged, or of another version, so training cannot go on from it; delete it to "
            "begin anew.",
            path,
        )
    try:
        return dict(torch.load(io.BytesIO(data), weights_only=True, map_location="cpu"))
    except Exception as error:  # what is no state of numbers fails in many ways
        raise DataError("is no state of a training; delete it to begin anew.", path) from error
