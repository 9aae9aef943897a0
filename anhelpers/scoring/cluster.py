"""Scores and candidates from the workers of a Dask cluster; what comes back is kept by this process alone.

Calls of a scorer go out in chunks, at most AHEAD per worker at a time, and come back in any order. A chunk is whole
calls, so that what shares work in one process (a source's candidates) shares it on a worker, and a worker of the same
kind of device computes the bits of an unshared run. A chunk whose worker is killed is given to another one.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from ..errors import AnhelpersError, DataError, need
from ..progress import note, note_once
from .memo import sharing
from .slurm import read_slurm, slurm_options
from .worker import Failed, Recipe, answer

__all__ = ["Cluster", "connect", "draws", "share"]

AHEAD = 2
"""Chunks per worker that are out at once: one at work, one waiting, whatever the number of texts."""

PER_CHUNK = 128
"""Inputs of a chunk, at least; a call is never split."""

DEATHS = 3
"""A chunk that has lost this many workers is tried once more, and no further."""

SECONDS_TO_CONNECT = 15.0
SECONDS_TO_START = 120.0
DEAF = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
"""Local workers do not hear the terminal's Ctrl-C: the command ends them."""

OURS = {
    "distributed.scheduler.allowed-failures": DEATHS,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.nanny.http.routes": [],
}
"""Settings of the clusters that are started here; no page of theirs is served, as anybody could read or call it."""

WHY = "sharing work over a cluster"
FORMS = (
    "write local:N or local:N:THREADS, the address of a scheduler (tcp://HOST:PORT), or "
    "slurm:FILE.yaml"
)

Call = tuple[Any, Sequence, Any]


@dataclass
class Cluster:
    """Workers, asked for when the first chunk goes out.

    Parameters
    ----------
    name : as it was asked for, for messages.
    start : gives a `distributed.Client`, and leaves what ends it on a stack.
    per_chunk : inputs of a chunk, at least.
    here : whether the workers are on this machine, and so take the device that was asked for.
    """

    name: str
    start: Callable[[ExitStack], Any] = field(repr=False)
    per_chunk: int | None = None
    here: bool = False
    _ends: ExitStack = field(default_factory=ExitStack, init=False, repr=False)
    _client: Any = field(default=None, init=False, repr=False)

    @property
    def client(self) -> Any:
        """The `distributed.Client`, connected when first asked for."""
        if self._client is None:
            try:
                self._client = self.start(self._ends)
            except AnhelpersError:
                raise
            except (RuntimeError, ValueError, OSError) as error:
                raise DataError(
                    f"no worker can be asked for ({error}); mend its settings, or go without "
                    "--scheduler.",
                    self.name,
                ) from error
        return self._client

    def _workers(self) -> int:
        with _in_a_sentence(self.name):
            return max(1, len(self.client.nthreads()))

    def close(self) -> None:
        """Disconnect; workers that were started here end."""
        self._client = None
        self._ends.close()

    def answers(
        self, recipe: Recipe, signature: str, calls: Iterable[Call], per_chunk: int | None = None
    ) -> Iterator[tuple[Any, Any]]:
        """(name of a call, its result), in the order in which they are finished.

        Parameters
        ----------
        signature : of this process; a worker that would compute something else is an error.
        calls : (name, inputs, what the model is told of the call beside them), read as workers become free.

        Raises
        ------
        DataError : a call fails, workers are killed by it, or the scheduler is lost.
        """
        distributed = need("distributed", WHY)
        chunks = _chunks(calls, per_chunk or self.per_chunk or PER_CHUNK)
        if (first := next(chunks, None)) is None:
            return
        out: dict[Any, Any] = {}
        chunks = chain([first], chunks)
        client = self.client
        recipe = recipe.here() if self.here else recipe
        finished = distributed.as_completed(loop=client.loop, raise_errors=False)

        def fill() -> None:
            while len(out) < AHEAD * self._workers() and (chunk := next(chunks, None)) is not None:
                sent = [(inputs, detail) for _, inputs, detail in chunk]
                with _in_a_sentence(self.name):
                    future = client.submit(answer, recipe, signature, sent, pure=False)
                    finished.add(future)
                out[future.key] = [name for name, _, _ in chunk]

        try:
            fill()
            while out:
                with _in_a_sentence(self.name):
                    future = next(finished)
                    names, results = out.pop(future.key), future.result()
                if isinstance(results, Failed):
                    raise DataError(results.sentence)
                yield from zip(names, results, strict=True)
                fill()
        finally:
            if out:
                finished.clear()


def _chunks(calls: Iterable[Call], least: int) -> Iterator[list[Call]]:
    """Calls with at least so many inputs together.

    >>> [[name for name, *_ in chunk] for chunk in _chunks([("a", "12", 0), ("b", "3", 0), ("c", "4", 0)], 3)]
    [['a', 'b'], ['c']]
    """
    chunk: list[Call] = []
    n = 0
    for call in calls:
        chunk.append(call)
        n += len(call[1])
        if n >= least:
            yield chunk
            chunk, n = [], 0
    if chunk:
        yield chunk


@contextmanager
def _in_a_sentence(name: str) -> Iterator[None]:
    """Errors of the cluster as one sentence."""
    distributed = need("distributed", WHY)
    again = "what came back is kept, and the same command goes on from there"
    try:
        yield
    except AnhelpersError:
        raise
    except distributed.KilledWorker as error:
        raise DataError(
            f"{error.last_worker.address} and {DEATHS} workers before it were lost over the same "
            "texts, as happens when memory runs out; give them more, or run fewer. "
            f"{again.capitalize()}.",
            name,
        ) from error
    except (distributed.CancelledError, OSError, TimeoutError, RuntimeError) as error:
        raise DataError(
            f"the scheduler was lost ({type(error).__name__}); {again}.", name
        ) from error
    except Exception as error:
        raise DataError(
            f"a worker cannot do the work ({type(error).__name__}: {error}); install the same "
            "versions of anhelpers and of its libraries there.",
            name,
        ) from error


@contextmanager
def connect(spec: str) -> Iterator[Cluster]:
    """Inside, scores that are computed come from the workers of this cluster; at the end those started here stop.

    Local workers and SLURM jobs are started when the first text is to be scored: where all is known, none is.

    Parameters
    ----------
    spec : "local:N", N processes of 1 thread ("local:N:T": of T threads) on this machine; "tcp://HOST:PORT", the
        scheduler that runs there; "slurm:FILE.yaml", jobs as the file says (docs/slurm.yaml).

    Raises
    ------
    DataError : a spec of another form, a file that is absent or wrong, a scheduler that does not answer. MissingExtra
        without distributed or dask_jobqueue.
    """
    need("distributed", WHY)
    cluster = _cluster(spec.strip())
    log = logging.getLogger("distributed.client")
    level = log.level
    log.setLevel(logging.CRITICAL)  # a lost scheduler is told in one sentence
    try:
        with sharing(cluster):
            yield cluster
    finally:
        cluster.close()
        log.setLevel(level)


def share(spec: str) -> None:
    """From here to the end of this process, all is as inside of `connect`: a notebook's kernel begins with it.

    Parameters
    ----------
    spec : as in `connect`.
    """
    ends = ExitStack()
    ends.enter_context(connect(spec))
    atexit.register(ends.close)


def _cluster(spec: str) -> Cluster:
    kind, _, rest = spec.partition(":")
    if kind == "local":
        if not re.fullmatch(r"[1-9]\d{0,3}(:[1-9]\d{0,3})?", rest):
            raise DataError(f"'{spec}' names no cluster; {FORMS}.")
        workers, threads = (int(n) for n in f"{rest}:1".split(":")[:2])
        return Cluster(spec, partial(_local, workers, threads), here=True)
    if kind == "slurm":
        settings = read_slurm(rest)
        need("dask_jobqueue", "sharing work over SLURM")
        return Cluster(spec, partial(_slurm, settings), settings.get("chunk"))
    if re.match(r"(tcp|tls|ucx|ws|wss)://[^\s:]+:\d+$", spec):
        cluster = Cluster(spec, partial(_running, spec))
        cluster.client  # noqa: B018  # told now if it does not answer
        return cluster
    raise DataError(f"'{spec}' names no cluster; {FORMS}.")


def _keys() -> Any:
    """A key and a certificate for one run: the ports of a cluster, which run what is sent, answer only who has them."""
    need("cryptography", "closing a cluster to other users of the machine")
    return need("distributed.security", WHY).Security.temporary()


def _local(workers: int, threads: int, ends: ExitStack) -> Any:
    """A cluster of processes on this machine, each with a model of its own; its ports answer this run alone."""
    distributed, dask = need("distributed", WHY), need("dask", WHY)
    numbers = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads)
    settings = {"distributed.nanny.pre-spawn-environ": numbers} | OURS
    ends.enter_context(dask.config.set(settings))
    cluster = distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        scheduler_kwargs={"dashboard": False},
        memory_limit=0,
        silence_logs="ERROR",
        preload=[DEAF],
        security=_keys(),
    )
    ends.callback(cluster.close)
    return ends.enter_context(distributed.Client(cluster, set_as_default=False))


def _running(address: str, ends: ExitStack) -> Any:
    """A client of a scheduler that runs already and has a worker."""
    distributed = need("distributed", WHY)
    try:
        client = distributed.Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except TypeError as error:
        raise DataError(
            "no key for its TLS is known here; name ca-file, key and cert in distributed.comm.tls "
            "(~/.config/dask, see docs/cluster.md).",
            address,
        ) from error
    except (OSError, TimeoutError, ValueError) as error:
        raise DataError(
            f"no scheduler answers within {SECONDS_TO_CONNECT:.0f} s; start one there (dask "
            "scheduler), or check the address.",
            address,
        ) from error
    ends.enter_context(client)
    if address.startswith(("tcp:", "ws:", "ucx:")):
        note(
            f"{address} has no TLS: whoever reaches that port can run programs as its owner; "
            "docs/cluster.md says how to close it."
        )
    try:
        client.wait_for_workers(1, timeout=SECONDS_TO_START)
    except TimeoutError as error:
        ends.close()
        raise DataError(
            f"its scheduler has no worker after {SECONDS_TO_START:.0f} s; start some (dask worker "
            f"{address} --nthreads 1).",
            address,
        ) from error
    return client


def _slurm(settings: Mapping[str, Any], ends: ExitStack) -> Any:
    """A scheduler here and `n_jobs` jobs; one that ends at its wall time is asked for again."""
    distributed, dask = need("distributed", WHY), need("dask", WHY)
    if shutil.which("sbatch") is None:
        raise DataError(
            "there is no sbatch here, by which SLURM is asked for jobs; type the command where "
            "there is one."
        )
    ends.enter_context(dask.config.set(OURS))
    cluster = _slurm_cluster(settings)
    ends.callback(cluster.close)
    cluster.adapt(minimum_jobs=settings["n_jobs"], maximum_jobs=settings["n_jobs"])
    client = ends.enter_context(distributed.Client(cluster, set_as_default=False))
    note(f"{settings['n_jobs']} SLURM jobs are asked for; work begins with the first.")
    while not client.nthreads():
        with suppress(TimeoutError):
            client.wait_for_workers(1, timeout=SECONDS_TO_START)
            break
        note_once(
            f"no SLURM job has begun after {SECONDS_TO_START:.0f} s. Those that wait are in "
            "`squeue -u $USER`; with none there, SLURM has refused them: compare your settings "
            "with docs/slurm.yaml."
        )
    return client


def _slurm_cluster(settings: Mapping[str, Any]) -> Any:
    """The scheduler of SLURM jobs; the keys of the run lie, readable by their owner alone, where all nodes see them."""
    dask = need("dask", WHY)
    place = dask.config.get("jobqueue.slurm.shared-temp-directory", None) or os.getcwd()
    return need("dask_jobqueue", "sharing work over SLURM").SLURMCluster(
        **{"shared_temp_directory": place} | slurm_options(settings),
        security=_keys(),
        scheduler_options={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
    )


def draws(cluster: Cluster, recipe: Recipe) -> Callable[..., Iterator[Any]]:
    """The `draws` of `candidates.resume.draw_to_file`: a source is a chunk, and its draws depend on nothing else.

    Parameters
    ----------
    cluster : of workers. recipe : by which a worker loads the model.
    """

    def drawn(drawing: Any, missing: Sequence[tuple[int, str]]) -> Iterator[Any]:
        calls = ((i, [(i, src)], None) for i, src in missing)
        for _, results in cluster.answers(recipe, drawing.signature, calls, per_chunk=1):
            yield from results

    return drawn
