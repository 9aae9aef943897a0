"""Which texts a model was trained on: hashes of its lines, which lie beside it and from which no line can be read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ..errors import DataError

__all__ = [
    "lengthened_prints",
    "line_fingerprints",
    "lines_by_chance",
    "seen_beyond_chance",
    "seen_lines",
    "shared_lines",
    "shortened_prints",
    "training_lines",
    "write_training_lines",
]


def line_fingerprints(lines: Iterable[str]) -> np.ndarray:
    """Sorted distinct 64-bit hashes of lines, white space folded: enough to recognise a line, not to read it.

    Parameters
    ----------
    lines : texts; the hashes are (n,) uint64.
    """
    return np.sort(np.array([*set(map(_print, lines))], np.uint64))


def _print(line: str) -> int:
    return int.from_bytes(hashlib.sha256(" ".join(line.split()).encode()).digest()[:8], "little")


def shared_lines(reference: Sequence[str], others: Iterable[str] | np.ndarray) -> list[str]:
    """Lines of R that also stand elsewhere: R must be unseen by the language model, and by the systems.

    Parameters
    ----------
    reference : texts of R.
    others : texts, or the (n,) `line_fingerprints` of a model's training lines. Of shortened ones (`shortened_prints`)
        one line in 2,000 is taken for one of theirs by chance (`lines_by_chance`).
    """
    known = others if isinstance(others, np.ndarray) else line_fingerprints(others)
    seen, lowest = set(known.tolist()), _lowest_bit(known)
    return [line for line in reference if _print(line) & -lowest in seen]


def lines_by_chance(n: int, prints: np.ndarray) -> float:
    """How many of `n` lines that stand nowhere else `shared_lines` takes for one of these: about 0 for whole prints.

    Parameters
    ----------
    prints : (m,) uint64, whole or shortened.
    """
    return n * len(prints) * _lowest_bit(prints) / 2**64


def seen_lines(reference: Sequence[str], prints: np.ndarray | None) -> str:
    """How many lines of R a model was trained on, with what chance alone gives where prints are shortened.

    Parameters
    ----------
    reference : texts of R.
    prints : (m,) uint64, of the lines of training; None: not known.

    >>> seen_lines(["a", "b"], line_fingerprints(["b", "c"])), seen_lines(["a"], None)
    ('1', 'unknown')
    """
    if prints is None:
        return "unknown"
    chance = lines_by_chance(len(reference), prints)
    return f"{len(shared_lines(reference, prints))}{f' ({chance:.1f} by chance)' if chance > 0.01 else ''}"


def seen_beyond_chance(texts: Sequence[str], prints: np.ndarray | None) -> list[str]:
    """Those of `texts` that a model was trained on; none where chance alone would find as many in shortened prints.

    Parameters
    ----------
    prints : (m,) uint64, of the lines of training; None: not known.
    """
    if prints is None:
        return []
    chance, seen = lines_by_chance(len(texts), prints), shared_lines(texts, prints)
    return seen if len(seen) > chance + 3 * chance**0.5 else []


def _lowest_bit(prints: np.ndarray) -> int:
    """Of all that were kept, as a number; 0 for no prints."""
    some = int(np.bitwise_or.reduce(prints)) if len(prints) else 0
    return some & -some


def shortened_prints(prints: np.ndarray) -> tuple[np.ndarray, int]:
    """The gaps between the first bits of sorted fingerprints, in two bytes each, and how many bits were kept.

    The low bytes are by chance and the high bytes nearly all small, so that they are packed better apart: (2, n) uint8.

    Parameters
    ----------
    prints : (n,) uint64, sorted, as of `line_fingerprints`.
    """
    bits = len(prints).bit_length() + 10
    first = np.unique(prints >> np.uint64(64 - bits))
    gaps = np.diff(first, prepend=np.uint64(0)).astype(np.uint16)
    return np.stack((gaps & 255, gaps >> 8)).astype(np.uint8), bits


def lengthened_prints(gaps: np.ndarray, bits: int) -> np.ndarray:
    """(n,) uint64: the fingerprints whose first bits `shortened_prints` kept, their other bits 0.

    Parameters
    ----------
    gaps : (2, n) uint8, low and high bytes; or (n,) uint16, as files made before have them.
    bits : how many were kept, 1 to 63; a ValueError for others.
    """
    if gaps.dtype == np.uint8 and gaps.ndim == 2 and len(gaps) == 2:
        gaps = gaps[0] | gaps[1].astype(np.uint16) << 8
    if gaps.dtype != np.uint16 or not 0 < bits < 64:
        raise ValueError(f"{bits} bits, gaps of {gaps.dtype} {gaps.shape}")
    return np.cumsum(gaps.astype(np.uint64)) << np.uint64(64 - bits)


def write_training_lines(folder: Path, prints: np.ndarray) -> None:
    """Write the shortened prints of a model's training lines beside it, where `training_lines` finds them.

    Parameters
    ----------
    folder : of the model. prints : (n,) uint64, of `line_fingerprints`.
    """
    gaps, bits = shortened_prints(prints)
    np.savez_compressed(folder / "train_lines.npz", gaps=gaps, bits=bits)


def training_lines(folder: Path) -> np.ndarray | None:
    """(n,) prints of the lines that a model has seen, whole or shortened; None where its folder has none."""
    whole, short = folder / "train_lines.npy", folder / "train_lines.npz"
    path = short if short.is_file() else whole
    if not path.is_file():
        return None
    try:
        lines = np.load(path, allow_pickle=False)
        lines = lengthened_prints(lines["gaps"], int(lines["bits"])) if path == short else lines
    except (ValueError, EOFError, OSError, KeyError, TypeError, IndexError, BadZipFile):
        lines = None
    if not (isinstance(lines, np.ndarray) and lines.ndim == 1 and lines.dtype.kind in "iu"):
        raise DataError(
            "is no array of the lines of training; delete it, or train the model anew.", path
        )
    return lines
