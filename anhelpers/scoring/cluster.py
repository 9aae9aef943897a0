"""Scores computed by the workers of a Dask cluster."""

import io
import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..errors import need
from ..models import failing_as

_SECONDS = 15.0  # to connect
_client: ContextVar[Any] = ContextVar("client", default=None)
_sent: ContextVar[dict[Any, Any]] = ContextVar("sent")  # what the workers have already


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
    tokens = _client.set(client), _sent.set({})
    try:
        with client:
            yield client
    finally:
        _client.reset(tokens[0])
        _sent.reset(tokens[1])


def _connected() -> bool:
    """Whether a cluster computes the scores."""
    return _client.get() is not None


def _computed(compute: Callable[[Any], Any], calls: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield (call, result) for every call: in order in this process, or as workers of a cluster finish them.

    Parameters
    ----------
    compute : the function of one call; it is sent to a cluster with the model that it holds, as a `partial` only once.
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
    kept, which = {}, None  # another function is sent in every call, and not kept by the workers
    if isinstance(compute, partial):
        kept, which = _sent.get(), (compute.func, compute.args, *compute.keywords.items())
    if which not in kept:
        kept[which] = client.scatter(_Scorer(compute), hash=False, broadcast=True)
    scorer = kept[which]
    sent = {client.submit(operator.call, scorer, call, pure=False): call for call in calls}
    try:
        with failing_as("the cluster failed; run again to resume"):
            done = distributed.as_completed(list(sent), loop=client.loop, with_results=True)
            for future, result in done:
                yield sent[future], result
    finally:
        client.cancel(list(sent))


class _Scorer:
    """A pickled function and the memory of its tensors, which torch alone would copy; unpickled once in a process.

    Parameters
    ----------
    compute : a function, such as a `partial` that holds a model.
    """

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        torch = need("torch", "sharing work")
        pickler: Any = need("cloudpickle", "sharing work").Pickler

        class Pickler(pickler):
            def reducer_override(self, one: Any) -> Any:
                if type(one) is torch.nn.Parameter:
                    return torch.nn.Parameter, (one.data, one.requires_grad)
                if type(one) is torch.Tensor and one.dtype == torch.float32 and one.is_cpu:
                    return torch.from_numpy, (one.detach().numpy(),)
                return super().reducer_override(one)

        file, parts = io.BytesIO(), list[Any]()
        Pickler(file, 5, buffer_callback=parts.append).dump(compute)
        self.state = file.getvalue(), [np.asarray(part.raw()) for part in parts]

    def __getstate__(self) -> Any:
        return {"state": self.state}

    @cached_property
    def _compute(self) -> Any:
        function, buffers = self.state
        dask = need("distributed", "sharing work").protocol  # which unpickles every task so
        return dask.pickle.loads(function, buffers=buffers)

    def __call__(self, call: Any) -> Any:
        return self._compute(call)
