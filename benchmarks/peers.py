"""Peers whose pins contradict ours: each in an environment of its own, kept by the bench, and asked over a pipe.

The peer's process stays up through all rounds, so that its imports are not timed and its turns alternate with ours.
Arrays travel as files. A request is one line of JSON; the answer is one with the seconds taken in that process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

__all__ = ["PeerMissing", "ask", "environment", "peer"]

ENVIRONMENTS = Path("build", "bench", "environments")
TORCH = "torch==2.13.0"
NEEDS = {  # name of benchmarks/peer_NAME.py -> what pip installs beside it
    "lm": ["minicons==0.3.39", "lmppl==0.3.2", "transformers==4.57.6", TORCH],
    "mbrs": ["mbrs==0.1.8", "unbabel-comet==2.2.7", "transformers==4.57.6", "setuptools<81", TORCH],
}
GONE = f"its program has ended; the last lines of its .log file in {ENVIRONMENTS} say why"


class PeerMissing(Exception):
    """The environment of a peer could not be made, or its program ended."""


def environment(name: str) -> Path:
    """The Python of a peer's environment, which is made at the first call."""
    folder = ENVIRONMENTS / name
    python, stamp = folder / "bin" / "python", folder / ".ready"
    wanted = "\n".join(NEEDS[name])
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        print(f"installing {', '.join(NEEDS[name])} into {folder}", file=sys.stderr, flush=True)
        for command in (
            [sys.executable, "-m", "venv", folder],
            [python, "-m", "pip", "install", "-q", *NEEDS[name]],
        ):
            done = subprocess.run(
                [str(part) for part in command], capture_output=True, text=True, check=False
            )
            if done.returncode:
                why = (done.stderr.strip() or "pip says nothing").splitlines()[-1]
                raise PeerMissing(f"its environment cannot be made ({why})")
        stamp.write_text(wanted, encoding="utf-8")
    return python


@contextmanager
def peer(name: str, *arguments: Any) -> Iterator[subprocess.Popen]:
    """A running peer; its program prints what it is, for `ask`, as a first line."""
    program = Path(__file__).with_name(f"peer_{name}.py")
    command = [str(environment(name)), str(program), *map(str, arguments)]
    with (
        (ENVIRONMENTS / f"{name}.log").open("w", encoding="utf-8") as log,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            yield process
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.wait(30)


def ask(process: subprocess.Popen, **request: Any) -> dict[str, Any]:
    """One request and its answer."""
    try:
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
    except BrokenPipeError as error:
        raise PeerMissing(GONE) from error
    for line in process.stdout:
        if line.startswith("{"):  # some libraries print while they load
            return json.loads(line)
    raise PeerMissing(GONE)
