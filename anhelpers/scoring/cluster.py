"""Scores computed by the workers of a Dask cluster."""

import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..errors import need
from ..models import failing_as

_SECONDS = 15.0  # to connect
_client: ContextVar[Any] = ContextVar("client", default=None)


@contextmanager
def connect(cluster: Any) -> Iterator[Any]:
    """Context manager: scores that are not in the cache are computed by this cluster's workers.

    Models and batches are sent to the workers, which need the same versions of the libraries. Connect only to a
    scheduler that you trust and that others cannot reach: a scheduler runs whatever code it receives.

    Parameters
    ----------
    cluster : address of a scheduler ("tcp://HOST:PORT"), or a cluster object such as `distributed.LocalCluster()` or
        `dask_jobqueue.SLURMCluster()`.

    Returns
    -------
    The `distributed.Client`, which is closed at the end.

    Raises
    ------
    AnhelpersError if no scheduler answers; MissingExtra without distributed.
    """
    distributed = need("distributed", "sharing work over a cluster")
    with failing_as(f"no Dask scheduler at {cluster}"):
        client = distributed.Client(cluster, timeout=_SECONDS, set_as_default=False)
    token = _client.set(client)
    try:
        with client:
            yield client
    finally:
        _client.reset(token)


def _connected() -> bool:
    """Whether a cluster computes the scores."""
    return _client.get() is not None


def _computed(compute: Callable[[Any], Any], calls: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield (call, result) for every call: in order in this process, or as workers of a cluster finish them.

    Parameters
    ----------
    compute : the function of one call; it is pickled for a cluster, with the model that it holds.
    calls : its arguments, such as lists of texts.

    Raises
    ------
    AnhelpersError if the cluster fails, or if a worker fails with anything but one.
    """
    client = _client.get()
    if client is None:
        for call in calls:
            yield call, compute(call)
        return
    distributed = need("distributed", "sharing work over a cluster")
    scorer = client.scatter(compute, broadcast=True, hash=False)
    sent = {client.submit(operator.call, scorer, call, pure=False): call for call in calls}
    try:
        with failing_as("the cluster failed; run again to resume"):
            done = distributed.as_completed(list(sent), loop=client.loop, with_results=True)
            for future, result in done:
                yield sent[future], result
    finally:
        client.cancel(list(sent))
