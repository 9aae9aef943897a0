"""Files compressed by gzip, xz or zstd: recognised by their first bytes, unpacked in memory up to a limit."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import DataError

__all__ = ["MOST_UNPACKED", "packed_by", "stem_of", "suffix_of", "unpacked"]

MOST_UNPACKED = 512 * 2**20
"""How many bytes a packed text may have: a few million sentences; a small file that claims more may be an attack."""

# zstd makes at most 8 MB of so many bytes, xz and gzip less: what one step may add to the limit
_CHUNK = 256
_ENDINGS = (".gz", ".xz", ".zst")
_XZ_MEMORY = 256 * 2**20  # of the dictionary; xz -9 needs 65 MB


def _zstd() -> Any:
    import zstandard

    return zstandard.ZstdDecompressor().decompressobj()


PACKED: dict[bytes, tuple[str, Callable[[], Any]]] = {  # first bytes -> name, what unpacks
    b"\x1f\x8b": ("gzip", lambda: zlib.decompressobj(31)),  # 31: with gzip's header and checksum
    b"\xfd7zXZ\x00": ("xz", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)),
    b"\x28\xb5\x2f\xfd": ("zstd", _zstd),
}


def packed_by(data: bytes) -> str:
    """What packed a file, by its first bytes: "gzip", "xz", "zstd"; "" for any other.

    >>> packed_by(b"\\x1f\\x8b\\x08"), packed_by(b"text")
    ('gzip', '')
    """
    return next((name for magic, (name, _) in PACKED.items() if data.startswith(magic)), "")


def unpacked(data: bytes, path: str | PathLike) -> bytes:
    """The bytes of a file as they were before gzip, xz or zstd packed them; those of any other file as they are.

    Parameters
    ----------
    data : the whole file.

    Raises
    ------
    DataError : the file is damaged or cut off, or has more than MOST_UNPACKED bytes when unpacked.
    """
    if not (kind := packed_by(data)):
        return data
    new = next(new for name, new in PACKED.values() if name == kind)
    try:
        return _whole(data, new, path)
    except (zlib.error, lzma.LZMAError, EOFError, MemoryError) as error:
        raise _damaged(kind, path) from error
    except Exception as error:  # zstandard is imported only where it is needed, and so is its error
        if type(error).__name__ != "ZstdError":
            raise
        raise _damaged(kind, path) from error


def _whole(data: bytes, new: Callable[[], Any], path: str | PathLike) -> bytes:
    """All parts of a packed file, one after the other; EOFError where the last one is cut off."""
    found, at, decoder = bytearray(), 0, new()
    while at < len(data):
        if decoder.eof:
            if not data[at:].strip(b"\0"):  # tapes and some tools fill up with zeros
                break
            decoder = new()
        piece = data[at : at + _CHUNK]
        found += decoder.decompress(piece)
        at += len(piece) - len(decoder.unused_data)
        if len(found) > MOST_UNPACKED:
            most = f"{MOST_UNPACKED // 2**20} MiB"
            raise DataError(
                f"has more than {most} when unpacked, the most that is unpacked in memory; "
                "unpack it yourself, or cut it.",
                path,
            )
    if not decoder.eof:
        raise EOFError
    return bytes(found)


def _damaged(kind: str, path: str | PathLike) -> DataError:
    """The error of a packed file that cannot be unpacked to its end."""
    return DataError(
        f"is packed by {kind} and damaged or cut off; make or download it again.", path
    )


def suffix_of(path: str | PathLike) -> str:
    """The ending of a file's name in small letters, without that of its packing.

    >>> suffix_of("A.JSONL"), suffix_of("a.jsonl.gz"), suffix_of("a.gz")
    ('.jsonl', '.jsonl', '')
    """
    return Path(_bare(path)).suffix.lower()


def stem_of(path: str | PathLike) -> str:
    """The name of a file without its last ending and that of its packing.

    >>> stem_of("wmt/mine.de.gz"), stem_of("mine.de"), stem_of("mine.GZ")
    ('mine', 'mine', 'mine')
    """
    return Path(_bare(path)).stem


def _bare(path: str | PathLike) -> str:
    """The name of a file without the ending of its packing."""
    path = Path(path)
    return path.stem if path.suffix.lower() in _ENDINGS else path.name
