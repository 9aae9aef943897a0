"""Download named data sets into the cache: each file pinned to a commit and verified; what is there already stays.

A file is continued where it was cut, tried again with growing pauses, and named only once it is verified. It grows
under a hidden name that belongs to this call alone, so that two runs cannot mix their bytes. A call that ends early
gives its part back under a name that the next one finds and continues. The part of a killed one is taken over when
nobody has it open and its process is gone, or, on another machine, it has not grown for an hour.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import os
import re
import secrets
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from email.message import Message
from email.utils import parsedate_to_datetime
from glob import escape
from http.client import HTTPException, HTTPResponse, InvalidURL
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote, unquote_to_bytes, urlsplit, urlunsplit
from urllib.request import Request, urlopen

from .. import __version__
from ..errors import AnhelpersError, DataError, without_password
from ..progress import progress
from ..progress import say as _say
from .catalog import find_file, licence_of, note_of, remote_files, shared_data
from .manifest import (
    CACHE,
    ENVIRONMENT,
    MIRROR,
    OFFLINE,
    RemoteFile,
    cache_folder,
    fault,
    megabytes,
    missing,
)
from .writing import FULL, lock

__all__ = ["BASE", "Patience", "download", "fetch_data"]

BLOCK = 1 << 16  # bytes per read
MOST_BYTES = 2_000_000_000  # of a file whose size is not known beforehand
# seconds without a new byte after which a part has no owner: a live run never pauses so long
ABANDONED = 3600.0
PASSING = {408, 429, 500, 502, 503, 504}  # HTTP answers that may be different a little later
INSTEAD = f"or set {ENVIRONMENT} to a folder that has the files"


@dataclass(frozen=True)
class Patience:
    """How long to wait for a server.

    Pauses double, and are shortened at random by up to a half so that a class does not come back all at once.

    Parameters
    ----------
    timeout : seconds without a byte. attempts : for one file.
    pause, longest : the first pause and the longest, in seconds.
    least : bytes a second, below which, over each `timeout`, a server is left as if it had stopped.
    """

    timeout: float = 30.0
    attempts: int = 5
    pause: float = 1.0
    longest: float = 60.0
    least: float = 500.0


class _Again(Exception):
    """A fault that may pass; with the seconds that the server asks for, or the wish to start from the first byte."""

    def __init__(self, why: str, seconds: float = 0.0, anew: bool = False):
        super().__init__(without_password(why))
        self.seconds, self.anew = seconds, anew


def download(
    url: str,
    target: Path,
    row: RemoteFile,
    *,
    say: Callable[[str], object],
    patience: Patience,
    what: str = "",
) -> None:
    """Put the file at `url` to `target`, with the bytes that `row` wants; a file already there is replaced at the end.

    Parameters
    ----------
    patience : how long to wait. what : it is called in messages.

    Raises
    ------
    AnhelpersError : no network, no such file, a server that refuses. DataError : wrong bytes, a full or closed disk.
    What was received stays beside the target for the next call, except where it is wrong.
    """
    part = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = _claim(target)
        _fill(url, part, row, patience, say, what or target.name)
        os.replace(part, target)
    except OSError as error:
        raise _disk(error, target.parent) from error
    finally:
        if part is not None and part.exists():
            os.replace(part, _free(target))


def _free(target: Path) -> Path:
    """The name of a part that anybody may continue."""
    return target.with_name(f".{target.name}.part")


def _claim(target: Path) -> Path:
    """A name for this call alone; an earlier call's part, if there is one, has it now: renaming is the lock."""
    owner = f"{_this_machine()}{os.getpid():x}"
    mine = target.with_name(f".{target.name}.{owner}-{secrets.token_hex(4)}.part")
    for part in [_free(target), *target.parent.glob(f".{escape(target.name)}.*-????????.part")]:
        try:
            with part.open("rb") as file:
                if not lock(file.fileno()):  # whatever the clock says, somebody writes it
                    continue
                if part == _free(target) or _abandoned(part):
                    os.utime(part)  # before the new name: under that it must never look abandoned
                    os.rename(part, mine)
                    return mine
        except OSError:
            # not there, taken by another run just now, or (on Windows) still open there
            continue
    return mine


def _this_machine() -> str:
    """8 digits of this machine's name, which stand in the names of its parts."""
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


def _abandoned(part: Path) -> bool:
    """Whether nobody writes a part: its process on this machine is gone, or it has not grown for long."""
    owner = part.name.rpartition("-")[0].rpartition(".")[2]
    if os.name == "posix" and owner.startswith(_this_machine()):
        try:
            os.kill(int(owner[8:], 16), 0)
        except ProcessLookupError:
            return True
        except (OSError, ValueError, OverflowError):  # somebody else's, or no number
            pass
    return abs(time.time() - part.stat().st_mtime) > ABANDONED


def _fill(
    url: str,
    part: Path,
    row: RemoteFile,
    patience: Patience,
    say: Callable[[str], object],
    what: str,
) -> None:
    """Receive until the part is the whole file, verified."""
    for attempt in range(1, patience.attempts + 1):
        if part.exists() and not fault(part, row):
            return
        try:
            continued = _receive(url, part, row, patience, what)
            wrong = fault(part, row)
            if not wrong:
                return
            if not continued:
                raise DataError(
                    f"{url} {wrong}; a proxy may have answered in its place, nothing was changed "
                    "here."
                )
            raise _Again(f"{url}, continued from an earlier part, {wrong}", anew=True)
        except DataError:
            part.unlink(missing_ok=True)
            raise
        except _Again as error:
            if error.anew:
                part.unlink(missing_ok=True)
            _pause(error, attempt, patience, say)


def _pause(error: _Again, attempt: int, patience: Patience, say: Callable[[str], object]) -> None:
    """Wait before the next attempt, or give up in a sentence."""
    if attempt == patience.attempts or error.seconds > patience.longest:
        asks = f", and asks to wait {error.seconds:.0f} s" if error.seconds else ""
        raise AnhelpersError(
            f"{error}{asks} (attempt {attempt}); run the same command again later, it goes on from "
            f"here, {INSTEAD}."
        ) from error
    # SystemRandom: a pause is no estimate, and must not advance anybody's seed
    pause = patience.pause * 2 ** (attempt - 1) * secrets.SystemRandom().uniform(0.5, 1)
    pause = min(max(pause, error.seconds), patience.longest)
    say(f"{error}; again in {pause:.0f} s ({attempt + 1} of {patience.attempts}).")
    time.sleep(pause)


def _receive(url: str, part: Path, row: RemoteFile, patience: Patience, what: str) -> bool:
    """Append what is missing of a part, or write it anew where the server cannot continue; whether it was continued."""
    start = part.stat().st_size if part.exists() else 0
    with _open(url, start, patience.timeout) as response:
        continued = start > 0 and response.status == 206
        if continued and not response.headers.get("Content-Range", "").startswith(
            f"bytes {start}-"
        ):
            raise _Again(f"{url} was continued at another place than asked", anew=True)
        done = start if continued else 0
        length = response.headers.get("Content-Length", "")
        total = done + int(length) if length.isdecimal() else None
        _check_size(url, total, row, continued)
        with (
            part.open("ab" if continued else "wb") as file,
            progress(total or row.size or 0, what, "B") as step,
        ):
            lock(file.fileno())
            step(done)
            for block in _blocks(response, url, patience):
                file.write(block)
                step(len(block))
                done += len(block)
                if done == total:
                    break
                _check_size(url, done if done > (row.size or MOST_BYTES) else None, row, continued)
    if total is not None and done < total:
        raise _Again(f"{_host(url)} ended the connection after {done:,} of {total:,} bytes")
    return continued


def _check_size(url: str, size: int | None, row: RemoteFile, continued: bool) -> None:
    """Refuse an answer of another size than the file has; of a part that is continued, the part may be at fault."""
    if size is None or size == row.size or (row.size is None and size <= MOST_BYTES):
        return
    wanted = f"{row.size:,}" if row.size is not None else f"at most {MOST_BYTES:,}"
    told = f"{url} has {size:,} bytes or more, {wanted} are wanted"
    if continued:
        raise _Again(told, anew=True)
    raise DataError(f"{told}; a proxy may have answered in its place, nothing was changed here.")


def _blocks(response: HTTPResponse, url: str, patience: Patience) -> Iterator[bytes]:
    """What comes, block by block; a server that sends next to nothing for long is left for another attempt."""
    began, seen = time.monotonic(), 0
    while block := _read(response, url, patience.timeout):
        yield block
        seen += len(block)
        if (passed := time.monotonic() - began) > patience.timeout:
            if seen < patience.least * passed:
                raise _Again(f"{_host(url)} sends no more than {seen / passed:.0f} bytes a second")
            began, seen = time.monotonic(), 0


def _request(url: str, start: int) -> Request:
    """A request for a file from a byte on; a user and password in the address are told to that host, and no other."""
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    host = host if host.isascii() else host.encode("idna").decode("ascii")
    headers = {"User-Agent": f"anhelpers/{__version__}"} | (
        {"Range": f"bytes={start}-"} if start else {}
    )
    request = Request(urlunsplit(parts._replace(netloc=host)), headers=headers)
    if user:
        given = base64.b64encode(unquote_to_bytes(user)).decode("ascii")
        request.add_unredirected_header("Authorization", f"Basic {given}")
    return request


def _open(url: str, start: int, timeout: float) -> HTTPResponse:
    """The answer to a request for a file from a byte on."""
    try:
        return urlopen(_request(url, start), timeout=timeout)
    except HTTPError as error:
        with error:
            raise _refused(error, url) from None
    except (OSError, HTTPException) as error:
        raise _broken(error, url, timeout) from error
    except ValueError:  # an address of a proxy, or one to which a server sends us on
        raise _no_address(url) from None


def _read(response: HTTPResponse, url: str, timeout: float) -> bytes:
    """The next bytes, as many as have arrived."""
    try:
        return response.read1(BLOCK)
    except (OSError, HTTPException) as error:
        raise _broken(error, url, timeout) from error


def _refused(error: HTTPError, url: str) -> Exception:
    """What to make of an HTTP status that is no success."""
    if error.code == 416:
        return _Again(f"{url} is shorter than the part of it that is here", anew=True)
    if error.code in PASSING:
        return _Again(f"{_host(url)} answers {error.code} {error.reason}", _seconds(error.headers))
    if error.code in (404, 410):
        return AnhelpersError(
            f"there is no file at {url} (HTTP {error.code}); check {MIRROR}, {INSTEAD}."
        )
    if error.code == 401:
        return AnhelpersError(
            f"{url} wants another user or password (HTTP 401); write them into {MIRROR} before the "
            f"host, as NAME:PASSWORD@{_host(url)}, {INSTEAD}."
        )
    return AnhelpersError(
        f"{url} is refused (HTTP {error.code} {error.reason}); try a network without it, {INSTEAD}."
    )


def _seconds(headers: Message) -> float:
    """What a Retry-After header asks for, in seconds: a number, or a date by the clock of the server."""
    asked = headers.get("Retry-After") or ""
    if asked.strip().isdecimal():
        return float(asked)
    try:
        now = (
            parsedate_to_datetime(headers["Date"]).timestamp()
            if headers.get("Date")
            else time.time()
        )
        return max(0.0, parsedate_to_datetime(asked).timestamp() - now)
    except ValueError:
        return 0.0


def _broken(error: Exception, url: str, timeout: float) -> Exception:
    """What to make of a connection that does not come about, or breaks."""
    reason, host = getattr(error, "reason", error), _host(url)
    if isinstance(reason, ssl.SSLCertVerificationError):
        return AnhelpersError(
            f"{host} shows a certificate that cannot be verified ({reason.verify_message}); where "
            f"a proxy replaces certificates set SSL_CERT_FILE to its own, {INSTEAD}."
        )
    no_way = isinstance(reason, OSError) and reason.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH)
    if no_way or isinstance(reason, (socket.gaierror, ConnectionRefusedError)):
        why = getattr(reason, "strerror", None) or reason
        return AnhelpersError(
            f"no network reaches {host} ({why}); connect (https_proxy is honoured), {INSTEAD}."
        )
    if isinstance(reason, InvalidURL):
        return _no_address(url)
    if isinstance(reason, TimeoutError):
        return _Again(f"no network reaches {host} (nothing came for {timeout:g} s)")
    return _Again(f"the connection to {host} broke ({reason})")


def _no_address(url: str) -> AnhelpersError:
    told = f"the address of {_host(url)}, or of a proxy (http_proxy, https_proxy), is none"
    return AnhelpersError(f"{told}; mend it, {INSTEAD}.")


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


def _disk(error: OSError, folder: Path) -> DataError:
    """The sentence for a folder that cannot take a file."""
    if error.errno in FULL:
        return DataError(
            f"the disk is full; free some space, or set {CACHE} to a folder on another disk.",
            folder,
        )
    return DataError(
        f"cannot be written ({error.strerror}); set {CACHE} to a folder of your own.", folder
    )


BASE = "https://raw.githubusercontent.com"
"""Where files of public repositories are served as REPO/COMMIT/PATH."""


def fetch_data(
    names: str | Sequence[str],
    *,
    base: str | None = None,
    offline: bool | None = None,
    patience: Patience | None = None,
    say: Callable[[str], object] = _say,
) -> dict[str, Path]:
    """Download what is missing of data sets; name -> where each lies then, as `find_file` says.

    Parameters
    ----------
    names : of `anhelpers data`, e.g. "wmt24/en-de" or ["xmi", "mqm/ted-ende"].
    base : another place that serves REPO/COMMIT/PATH; by default what ANHELPERS_MIRROR says, or GitHub. A user and
        password in it (https://NAME:PASSWORD@HOST) are given to that host alone, and never shown.
    offline : never open a connection, only say what is missing; by default what ANHELPERS_OFFLINE says.
    patience : time-outs, attempts and pauses.
    say : is told licences, repeated attempts and what was found, in sentences.

    Raises
    ------
    UnknownName : no such data set (before anything is loaded). DataError : wrong bytes, no room, missing while offline.
    AnhelpersError : no network. Files that were complete before stay; the next call goes on with the rest.
    """
    names = [names] if isinstance(names, str) else list(dict.fromkeys(names))
    for name in names:
        note_of(name)
    if offline is None:
        offline = os.environ.get(OFFLINE, "").strip() not in ("", "0")
    base = (
        _checked(base, "base")
        if base
        else _checked(os.environ.get(MIRROR, "").strip() or BASE, MIRROR)
    )

    def get(row: RemoteFile, what: str) -> None:
        url, target = f"{base}/{row.repo}/{row.commit}/{quote(row.path)}", cache_folder() / row.file
        download(url, target, row, say=say, patience=patience or Patience(), what=what)

    return {name: _fetch_set(name, say, None if offline else get) for name in names}


def _fetch_set(
    name: str, say: Callable[[str], object], get: Callable[[RemoteFile, str], None] | None
) -> Path:
    """Get what is missing of one data set; without `get` only say what that is."""
    rows, root, shared = remote_files(name), cache_folder(), shared_data()
    if not rows or (shared is not None and not missing(shared, rows)):
        place = find_file(name)
        kept = {shared: f"is in {ENVIRONMENT}", root: "is among the downloads"}
        whose = next(
            (told for folder, told in kept.items() if folder in place.parents),
            "comes with the package",
        )
        say(f"{name} {whose}: nothing to download.")
        return place
    wrong = {row: seen for row in rows if (seen := fault(root / row.file, row))}
    for row, seen in wrong.items():
        if (root / row.file).exists():
            say(f"{root / row.file} {seen}: it is replaced once the right one is here.")
    if not wrong:
        say(f"{name}: all {len(rows)} files are here and verified.")
    elif get is None:
        first = next(iter(wrong)).file
        raise DataError(
            f"{len(wrong)} of the {len(rows)} files of {name} are missing or wrong (first: "
            f"{first}) and downloading is switched off (--offline or {OFFLINE}); run `anhelpers "
            f"fetch {name}` with a network.",
            root,
        )
    else:
        _get_all(name, list(wrong), say, get)
    return find_file(name)


def _get_all(
    name: str,
    rows: list[RemoteFile],
    say: Callable[[str], object],
    get: Callable[[RemoteFile, str], None],
) -> None:
    """Say from where and under which terms, then get file after file."""
    files = "1 file" if len(rows) == 1 else f"{len(rows)} files"
    sources = ", ".join(sorted({f"github.com/{row.repo} at {row.commit[:12]}" for row in rows}))
    say(
        f"{name}: {files}, {megabytes(row.size for row in rows)}, from {sources}. Licence: "
        f"{licence_of(name)}."
    )
    try:
        for number, row in enumerate(rows, 1):
            get(row, f"{name}, file {number} of {len(rows)}")
    except KeyboardInterrupt:
        say(f"{name}: stopped; what was received is kept, and the same command goes on from there.")
        raise


def _checked(base: str, what: str) -> str:
    """A base address without its last slash, or a DataError that says what is wrong, without its user and password."""
    shown = re.sub(r"(?s)^(\w*:?/*).*@", r"\1…@", base)
    wrong = DataError(f"{what} is '{shown}'; an address like {BASE} is wanted.")
    try:
        parts = urlsplit(base)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:
        # brackets that are not closed, a port that is none, a host with an empty part
        raise wrong from None
    if (
        parts.scheme not in ("http", "https")
        or not host
        or port == 0
        or parts.query
        or parts.fragment
    ):
        raise wrong
    # a password with a slash ends before its end
    if "@" in parts.path or re.search(r"[\s\x00-\x1f\x7f]", base):
        raise wrong
    return f"{parts.scheme}://{parts.netloc}{quote(parts.path, safe='/%~')}".rstrip("/")
