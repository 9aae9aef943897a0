"""What tells a damaged score from a sound one: a CRC-32 of signature, key and value, which is kept beside it.

So a flipped bit is seen, a value of another size, and one that has come to another key or signature. Scores that were
kept before there were checksums get one as they are found, with a mark: it guards them from then on, and cannot say
what was before.
"""

from __future__ import annotations

import zlib

__all__ = ["DAMAGED", "FOUND", "UNVERIFIED", "VERIFIED", "begun", "checksum", "standing"]

DAMAGED, UNVERIFIED, VERIFIED = range(3)
"""The standing of a stored score: its checksum does not fit; fits what was found without one; fits what was computed.
Of two scores of one key, that of the higher standing is kept."""

FOUND = 1 << 32
"""Added to the checksum of a score that was found without one."""


def begun(signature: str, width: int) -> int:
    """The CRC-32 of a signature and of how many numbers its scores have (`width`), with which theirs begin."""
    return zlib.crc32(b"%d:%b" % (width, signature.encode("utf-8", "surrogatepass")))


def checksum(start: int, key: bytes, value: bytes) -> int:
    """The CRC-32 of a score: of its signature, its key and the bytes of its numbers.

    Parameters
    ----------
    start : of the signature, from `begun`. key : 16 bytes of `store.key`. value : 8 bytes for each number.

    >>> checksum(begun("a", 3), b"b", b"c") == zlib.crc32(b"3:abc")
    True
    """
    return zlib.crc32(key + value, start)


def standing(start: int, key: object, value: object, kept: object) -> int:
    """DAMAGED, UNVERIFIED or VERIFIED: what the checksum that was kept says of a score.

    Parameters
    ----------
    start : of the signature, from `begun`.
    key, value, kept : as they were read, whatever they are: a damaged file may hold any value anywhere.
    """
    if type(key) is not bytes or type(value) is not bytes or not value:
        return DAMAGED
    wanted = checksum(start, key, value)
    return VERIFIED if kept == wanted else UNVERIFIED if kept == wanted | FOUND else DAMAGED
