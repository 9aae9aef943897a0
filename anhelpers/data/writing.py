"""The one way in which files and folders are written: beside their place first, then into it in one step.

Whatever goes wrong meanwhile (a full disk, kill -9, Ctrl-C, a second run), at the place is the old content or the new
one, never a part of either; of a folder, for the moment between two renames, nothing. What a killed run leaves beside
it is hidden (``.NAME.XXXXXXXX.tmp``) and never read.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import DataError
from ..progress import say

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "FULL",
    "as_utf8",
    "fresh_file",
    "lock",
    "make_folder",
    "replace_folder",
    "results_together",
    "still_at",
    "turn",
    "unwritable",
    "write_bytes",
    "write_text",
]

FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
CLOSED = {errno.EACCES, errno.EPERM, errno.EROFS}


def write_text(path: str | PathLike, text: str) -> Path:
    """Write a UTF-8 file at once: a temporary file beside it, then an atomic rename. Returns the path."""
    return write_bytes(path, as_utf8(text, path))


def as_utf8(text: str, path: str | PathLike) -> bytes:
    """The bytes of a text in UTF-8; a DataError, naming where it should go, for a half of a surrogate pair.

    Such halves stand for the bytes of file names and arguments that are not UTF-8.
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(
            f"character U+{ord(text[error.start]):04X} cannot be written as UTF-8.", path
        ) from None


def write_bytes(path: str | PathLike, data: bytes) -> Path:
    """Write a file at once: a temporary file beside it, then an atomic rename. Returns the path."""
    path = Path(path)
    with fresh_file(path) as part:
        part.write_bytes(data)
    return path


@contextmanager
def fresh_file(path: str | PathLike) -> Iterator[Path]:
    """A name beside `path` to write a file to, which takes the place of `path` at the end, or is removed.

    What is there and is no file (/dev/null, a pipe) is written to directly: nothing may take its place.

    Raises
    ------
    DataError : no such folder, a folder of that name, a full disk, no right to write.
    """
    path = Path(path)
    # short: a long name must stay a name
    part = path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}.tmp")
    try:
        if path.is_dir():
            raise DataError("is a folder; name a file.", path)
        if not path.parent.is_dir():
            raise DataError(f"there is no folder {path.parent}; make it first.", path)
        if path.exists() and not path.is_file():
            part = path
        yield part
        if part != path:
            os.replace(part, path)
    except OSError as error:
        raise unwritable(error, path) from error
    finally:
        if part != path:
            with suppress(OSError):
                part.unlink(missing_ok=True)


def make_folder(folder: str | PathLike) -> Path:
    """Make a folder, and those above it, where there is none; a DataError where that cannot be."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"this folder cannot be made ({error.strerror}).", folder) from error
    return folder


def replace_folder(new: Path, out: Path) -> None:
    """Rename the finished folder `new` to `out`; an older `out` is moved aside first, and deleted at the end.

    Killed between the two renames, `out` is not there, and its old content is in a folder beside `new`.
    """
    old = new.with_name(f"{new.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    with turn(out.parent):
        there = out.is_dir()
        if there:
            os.rename(out, old)
        try:
            os.rename(new, out)
        except BaseException:
            if there:
                os.rename(old, out)
            raise
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def turn(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on a folder, waiting for it, so that one process at a time writes files that go together.

    No lock where the system has none. Not to be nested for one folder: it would wait for itself.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY) if fcntl is not None else None
    except OSError:
        descriptor = None
    try:
        if descriptor is not None:
            lock(descriptor, wait=True)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


@contextmanager
def results_together(folder: str | PathLike, names: Sequence[str]) -> Iterator[Path]:
    """A hidden folder to write results to, which take their places in `folder` together, each with a line that says so.

    So those of two runs never stand side by side: one of the names that was not written anew is removed. A run that
    ends before leaves no empty folder that it made.

    Parameters
    ----------
    names : all that a run may leave.
    """
    folder = Path(folder)
    new = not folder.exists()
    try:
        with TemporaryDirectory(
            dir=make_folder(folder), prefix=".results.", ignore_cleanup_errors=True
        ) as scratch:
            yield (fresh := Path(scratch))
            with turn(folder):
                for name in names:
                    if (fresh / name).exists():
                        os.replace(fresh / name, folder / name)
                        say(f"wrote {folder / name}")
                    else:
                        (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(error, folder) from error
    finally:
        if new:
            with suppress(OSError):
                folder.rmdir()  # where it is empty


def lock(descriptor: int, wait: bool = False) -> bool:
    """Lock an open file or folder until it is closed; False where another process has it.

    True as well where the system cannot lock it (Windows, some network file systems): then two runs may collide, and
    still no file is written in part.

    Parameters
    ----------
    descriptor : of the open file. wait : until the other process is done.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def still_at(path: Path, descriptor: int) -> bool:
    """Whether an open file or folder still has this name: another run may have removed it before it was locked.

    Parameters
    ----------
    descriptor : of the open file.
    """
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False


def unwritable(error: OSError, path: str | PathLike) -> DataError:
    """The sentence for a file that cannot be written.

    Parameters
    ----------
    error : of the system.

    >>> print(unwritable(OSError(28, "No space left on device"), "a.csv"))
    a.csv: cannot be written (No space left on device); free some space and run again.
    """
    moves = (
        (FULL, "; free some space and run again"),
        (CLOSED, "; make its folder writable, or name another one"),
    )
    move = next((move for numbers, move in moves if error.errno in numbers), "")
    return DataError(f"cannot be written ({error.strerror or error}){move}.", path)
