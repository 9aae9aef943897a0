"""The cache of scores: every input once, resumed after an interruption, off when told so, one file for processes."""

import multiprocessing
import sqlite3

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.errors import DataError
from anhelpers.scoring import cache
from anhelpers.scoring.cache import _key, cache_file, cached, groups, signatures

SIGNATURE = "length|rev:0123456789ab"


class Scorer:
    """The length of every text and how many texts it was called with."""

    def __init__(self):
        self.calls = []

    def __call__(self, texts):
        self.calls.append(list(texts))
        return [[len(text), 0.5] for text in texts]

    @property
    def seen(self):
        return [text for call in self.calls for text in call]


@pytest.fixture(autouse=True)
def file(tmp_path, monkeypatch):
    path = tmp_path / "folder" / "scores.sqlite"
    monkeypatch.setenv(cache.STORE, str(path))
    return path


def scored(texts, scorer=None, **options):
    scorer = scorer or Scorer()
    return cached(SIGNATURE, texts, scorer, width=2, **options)[:, 0].tolist(), scorer.seen


def test_equal_inputs_are_scored_once_and_known_ones_never_again(file):
    assert scored(["b", "aaa", "b"]) == ([1, 3, 1], ["b", "aaa"])
    assert scored(["aaa", "cc", "b"]) == ([3, 2, 1], ["cc"])
    assert scored([]) == ([], [])
    assert signatures(file) == [SIGNATURE]


@pytest.mark.parametrize("off", ["off", "OFF"])
def test_nothing_is_kept_when_it_is_off_or_the_model_may_change(off, file, monkeypatch):
    for revision in ("main", cache.IN_MEMORY, "0123"):
        cached(f"x|rev:{revision}|y:1", ["a"], lambda texts: [1.0])
    assert not file.exists()
    monkeypatch.setenv(cache.STORE, off)
    assert cache_file() is None
    assert scored(["a"])[1] == scored(["a"])[1] == ["a"]


@given(st.lists(st.text(max_size=5)), st.lists(st.text(max_size=5)))
def test_tuples_have_one_key_each(one, other):
    assert (_key(tuple(one)) == _key(tuple(other))) == (one == other)


def test_values_keep_their_bits_and_nan(file):
    values = [[np.nan, -0.0], [np.inf, 0.1 + 0.2]]
    first = cached(SIGNATURE, ["\ud800", "é"], lambda texts: values, width=2)
    again = cached(SIGNATURE, ["é", "\ud800"], lambda texts: 1 / 0, width=2)
    assert first.tobytes() == np.array(values).tobytes() == again[::-1].tobytes()


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_run_resumes(stop, monkeypatch):
    def broken(texts):
        if "c" in texts:
            raise stop
        return [[len(text), 0] for text in texts]

    one_each = {"batches": lambda texts: [[text] for text in texts]}
    with pytest.raises(stop):
        cached(SIGNATURE, ["a", "bb", "c", "dddd"], broken, width=2, **one_each)
    assert scored(["a", "bb", "c", "dddd"]) == ([1, 2, 1, 4], ["c", "dddd"])


def test_scores_are_committed_while_others_are_computed(file, monkeypatch):
    monkeypatch.setattr(cache, "COMMIT_EVERY", -1.0)

    def count(texts):
        rows = (
            sqlite3.connect(file).execute("SELECT count(*) FROM score") if file.exists() else [[0]]
        )
        return [[n] for (n,) in rows]

    batches = lambda texts: [[text] for text in texts]  # noqa: E731
    assert cached(SIGNATURE, "abc", count, batches=batches).ravel().tolist() == [0, 1, 2]


def test_groups_stay_together():
    texts = [f"{i % 40}:{i}" for i in range(1000)]
    batches = list(groups(lambda text: text.partition(":")[0])(texts))
    assert sorted(text for batch in batches for text in batch) == sorted(texts)
    where = [{text.partition(":")[0] for text in batch} for batch in batches]
    assert len(batches) > 1
    assert sum(map(len, where)) == 40


@pytest.mark.parametrize(
    "options",
    [
        {"compute": lambda texts: [1.0]},
        {"compute": lambda texts: [[1.0, 2.0]] * len(texts)},
        {"batches": lambda texts: [texts[:1]]},
    ],
)
def test_scores_that_would_shift_are_refused(options):
    compute = options.pop("compute", lambda texts: [1.0] * len(texts))
    with pytest.raises((ValueError, KeyError)):
        cached(SIGNATURE, ["a", "b"], compute, **options)


def test_a_bundled_file_comes_first_and_is_not_written(file, tmp_path, monkeypatch):
    scored(["a", "bb"])
    bundled = file.rename(tmp_path / "bundled.sqlite")
    before = bundled.read_bytes()
    bundled.chmod(0o444)
    assert scored(["bb", "ccc"], bundled=bundled) == ([2, 3], ["ccc"])
    assert bundled.read_bytes() == before
    monkeypatch.setenv(cache.STORE, "off")
    assert scored(["a"], bundled=bundled) == ([1], ["a"])


def test_a_file_that_is_no_cache_is_an_error_only_if_it_was_named(
    file, tmp_path, monkeypatch, capsys
):
    file.parent.mkdir()
    file.write_bytes(b"")
    assert scored(["a"]) == ([1], ["a"])
    file.write_bytes(b"no database" * 100)
    with pytest.raises(DataError, match=file.name):
        scored(["a"])
    monkeypatch.setenv(cache.STORE, "")
    monkeypatch.setenv("ANHELPERS_CACHE", str(file))
    assert scored(["a"]) == ([1], ["a"])
    assert "not cached" in capsys.readouterr().err


def _fill(path, first):
    import os

    os.environ[cache.STORE] = path
    cached(
        SIGNATURE,
        [str(i) for i in range(first, first + 500)],
        lambda texts: [float(t) for t in texts],
    )


def test_processes_share_one_file(file):
    context = multiprocessing.get_context("spawn")
    both = [context.Process(target=_fill, args=(str(file), first)) for first in (0, 250)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    known = cached(SIGNATURE, [str(i) for i in range(750)], lambda texts: 1 / 0)
    assert known.ravel().tolist() == list(range(750))
    assert [p.exitcode for p in both] == [0, 0]
