"""Scores from the workers of a Dask cluster."""

import pickle
from functools import partial

import numpy as np
import pytest

distributed = pytest.importorskip("distributed", reason="pip install 'anhelpers[cluster]'")

from anhelpers.errors import AnhelpersError, DataError  # noqa: E402
from anhelpers.scoring import cache, cluster  # noqa: E402
from anhelpers.scoring.cache import cached  # noqa: E402
from anhelpers.scoring.cluster import connect  # noqa: E402

TEXTS = [f"text {i}" for i in range(600)]


@pytest.fixture(scope="module")
def address():
    quiet = {"dashboard_address": None, "scheduler_kwargs": {"dashboard": False}}
    how = quiet | {"n_workers": 2, "threads_per_worker": 1, "processes": False}
    with distributed.LocalCluster(**how) as here:
        yield here.scheduler_address


def where(texts):
    """The length of each text, and 1 if it was computed by a worker."""
    try:
        distributed.get_worker()
    except ValueError:
        return [[len(text), 0] for text in texts]
    return [[len(text), 1] for text in texts]


def test_workers_compute_what_this_process_would_and_it_is_cached(address, tmp_path, monkeypatch):
    monkeypatch.setenv(cache.STORE, str(tmp_path / "scores.sqlite"))
    with connect(address):
        scores = cached("length", TEXTS, where, width=2)
    np.testing.assert_array_equal(scores, [[len(text), 1] for text in TEXTS])
    np.testing.assert_array_equal(cached("length", TEXTS, where, width=2), scores)
    assert cached("outside", ["a"], where, width=2).tolist() == [[1, 0]]


def at_once(texts):
    return [len(texts)] * len(texts)


def test_few_texts_are_shared_too(address):
    with connect(address):
        assert cached("at once", TEXTS[:64], at_once).max() == cache.SHARED
    assert cached("at once", TEXTS[:64], at_once).max() == 64


def broken(texts):
    raise DataError("text 5 is malformed")


def crashed(texts):
    raise ZeroDivisionError("no number")


@pytest.mark.parametrize(("compute", "error"), [(broken, DataError), (crashed, AnhelpersError)])
def test_the_error_of_a_worker_is_raised_here(address, compute, error):
    with connect(address), pytest.raises(error):
        cached("x", TEXTS, compute)


def test_an_address_without_a_scheduler_is_refused(monkeypatch):
    monkeypatch.setattr("anhelpers.scoring.cluster._SECONDS", 0.3)
    with pytest.raises(AnhelpersError), connect("tcp://127.0.0.1:9"):
        pass


def longer(extra, texts):
    return [len(text) + extra for text in texts]


def longer_by(texts, *, extra):
    return longer(extra, texts)


def test_a_function_is_sent_once(address, monkeypatch):
    sent = []
    scorer = cluster._Scorer
    monkeypatch.setattr(cluster, "_Scorer", lambda one: sent.append(one) or scorer(one))
    with connect(address):
        for _ in range(2):
            assert cached("longer", ["a", "bc"], partial(longer, 1)).ravel().tolist() == [2, 3]
        assert cached("longest", ["a"], partial(longer, 2)).ravel().tolist() == [3]
        assert cached("by name", ["a"], partial(longer_by, extra=3)).ravel().tolist() == [4]
        assert cached("by name too", ["a"], partial(longer_by, extra=4)).ravel().tolist() == [5]
        assert len(cluster._sent.get()) == len(sent) == 4
        cached("outside", ["a"], where, width=2)  # no partial: sent again, not kept
        assert (len(cluster._sent.get()), len(sent)) == (4, 5)


def summed(model, texts):
    return [float(model(model[0].weight[len(text)]).sum()) for text in texts]


def test_a_model_is_sent_whole_with_its_weights_beside():
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(*(torch.nn.Linear(64, 64) for _ in range(3))).requires_grad_(False)
    model[2].weight = model[0].weight
    scorer = cluster._Scorer(partial(summed, model))
    again = pickle.loads(pickle.dumps(scorer))
    assert again(["a", "bcd"]) == summed(model, ["a", "bcd"])
    layers = again._compute.args[0]
    assert layers[2].weight is layers[0].weight
    assert not layers[0].weight.requires_grad
    assert len(scorer.state[0]) < 10_000 < sum(part.nbytes for part in scorer.state[1])
    assert pickle.loads(pickle.dumps(again)).state[0] == scorer.state[0]
