"""Scoring through the store: what is known is not computed, what is computed is kept, and no bit depends on either."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anhelpers.errors import DataError
from anhelpers.scoring import memo as module
from anhelpers.scoring.memo import IN_MEMORY, current_store, memo
from anhelpers.scoring.store import Store, key

TEXTS = st.lists(st.text("abc", max_size=3), max_size=30)


class Scorer:
    """Two numbers for each text, whose last bits depend on the company in which it is scored, as in a batch."""

    def __init__(self, texts, die_at=None):
        self.texts, self.calls, self.die_at = texts, [], die_at

    def __call__(self, indices):
        if len(self.calls) == self.die_at:
            raise KeyboardInterrupt
        self.calls.append([self.texts[i] for i in indices])
        company = sum(map(len, self.calls[-1]))
        return np.array(
            [[len(t) + 1e-12 * company, np.nan if "c" in t else hash_of(t)] for t in self.calls[-1]]
        )


def hash_of(text: str) -> float:
    return int.from_bytes(key(text)[:6], "little") / 7


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE", 3)


@settings(max_examples=60, deadline=None)
@given(TEXTS, TEXTS)
def test_scores_are_the_scorer_s_own_and_each_input_is_computed_once(first, second):
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "s")) as store:
        seen: list[str] = []
        for texts in (first, second, [*first, *second]):
            scorer = Scorer(texts)
            found = memo("m", texts, scorer, width=2, store=store)
            assert found.shape == (len(texts), 2)
            assert found[:, 0] == pytest.approx([len(t) for t in texts], abs=1e-9)
            np.testing.assert_array_equal(
                found[:, 1], [np.nan if "c" in t else hash_of(t) for t in texts]
            )
            seen += [t for call in scorer.calls for t in call]
        assert sorted(seen) == sorted({*first, *second})


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.sampled_from(["none", "labels", "plan"]), st.integers(0, 8))
def test_cut_anywhere_and_begun_again_it_ends_with_the_same_bits(texts, kind, die_at):
    groups = {
        "none": None,
        "labels": [t[:1] for t in texts],
        "plan": lambda missing: longest_first(texts, missing),
    }[kind]
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(module, "AT_ONCE", 3)
        unbroken, cut = Scorer(texts), Scorer(texts, die_at)
        options = {"width": 2, "groups": groups}
        wanted = memo("m", texts, unbroken, store=None, **options)
        with Store(Path(folder, "s")) as store:
            try:
                memo("m", texts, cut, store=store, **options)
            except KeyboardInterrupt:
                rest = Scorer(texts)
                found = memo("m", texts, rest, store=store, **options)
                assert cut.calls + rest.calls == unbroken.calls
                assert found.tobytes() == wanted.tobytes()
            nothing = Scorer(texts)
            assert memo("m", texts, nothing, store=store, **options).tobytes() == wanted.tobytes()
            assert nothing.calls == []


def longest_first(texts, missing):
    order = sorted(missing, key=lambda i: -len(texts[i]))
    return [order[i : i + 4] for i in range(0, len(order), 4)]


def test_a_group_is_never_split_and_small_ones_go_together(small):
    texts, sources = ["a", "b", "c", "d", "e", "f", "g", "a"], [0, 1, 0, 0, 0, 2, 1, 3]
    scorer = Scorer(texts)
    memo("m", texts, scorer, width=2, groups=sources, store=None)
    assert scorer.calls == [["a", "c", "d", "e"], ["b", "g", "f"]]
    scorer = Scorer(texts)
    memo("m", texts, scorer, width=2, store=None)
    assert scorer.calls == [["a", "b", "c"], ["d", "e", "f"], ["g"]]


def test_pairs_are_keys_and_one_number_needs_no_second_axis(tmp_path):
    pairs = [("a", "bc"), ("ab", "c"), ("a", "bc")]
    scores = memo("m", pairs, lambda i: np.array([1.0, 2.0, 9.0])[i], store=Store(tmp_path / "s"))
    assert scores.tolist() == [[1], [2], [1]]
    assert memo("m", [], None, width=4, store=Store(tmp_path / "t")).shape == (0, 4)


def test_the_first_call_is_committed_at_once_and_the_rest_every_few_seconds(
    tmp_path, monkeypatch, small
):
    now, store = [0.0], Store(tmp_path / "s")
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    texts, kept = [str(i) for i in range(15)], []

    def compute(indices):
        with store.connection() as connection:
            kept.extend(connection.execute("SELECT COUNT(*) FROM score").fetchone())
        now[0] += 2
        return np.zeros(len(indices))

    memo("m", texts, compute, store=store)
    assert kept == [0, 3, 3, 3, 12]


def test_how_many_came_from_the_store_is_told_and_progress_counts_the_others(
    tmp_path, monkeypatch, capsys
):
    totals, real = [], module.progress
    monkeypatch.setattr(
        module, "progress", lambda total, *a: totals.append(total) or real(total, *a)
    )
    store = Store(tmp_path / "s")
    memo("m", ["a", "b", "a"], lambda i: np.zeros(len(i)), what="lengths", store=store)
    assert capsys.readouterr().err == ""
    memo("m", ["a", "c", "b", "a"], lambda i: np.zeros(len(i)), what="lengths", store=store)
    assert (
        capsys.readouterr().err == "note: lengths: 2 of 3 distinct scores come from the store s.\n"
    )
    assert totals == [2, 1]


@pytest.mark.parametrize("revision", ["unknown", "main", "", "v1.0", "0123456|and|rev:main"])
def test_a_model_without_a_fixed_revision_is_never_kept(tmp_path, capsys, revision):
    store, signature = Store(tmp_path / "s"), f"lpp|model:x|rev:{revision}|eos:no"
    calls = []
    for _ in range(2):
        memo(signature, ["a"], lambda i: calls.append(1) or np.zeros(1), store=store)
    assert len(calls) == 2
    assert not store.path.exists()
    told = f"'{revision.split(':')[-1]}' is no fixed revision (a commit) of the model."
    assert capsys.readouterr().err == f"note: scores of {signature} are not kept: {told}\n"


def test_a_model_made_in_memory_is_neither_kept_nor_told(tmp_path, capsys):
    store, signature = Store(tmp_path / "s"), f"lpp|model:toy|rev:{IN_MEMORY}|eos:yes"
    memo(signature, ["a"], lambda i: np.zeros(1), store=store)
    assert not store.path.exists()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "signature", ["lpp|model:x|rev:0123456789ab|eos:no", "rev:0123456|x", "ter|prev:main"]
)
def test_a_commit_or_no_model_at_all_is_kept(tmp_path, signature):
    store = Store(tmp_path / "s")
    memo(signature, ["a"], lambda i: np.zeros(1), store=store)
    assert store.get(signature, [key("a")])[1].all()


def test_wrong_scorers_and_groups_are_told(tmp_path):
    zeros = lambda i: np.zeros(len(i))  # noqa: E731
    with pytest.raises(
        DataError,
        match=r"a scorer returned an array of shape \(1,\) for 2 inputs of 1 numbers each",
    ):
        memo("m", ["a", "b"], lambda i: np.zeros(1), store=None)
    with pytest.raises(DataError, match=r"of shape \(2,\) for 2 inputs of 3 numbers"):
        memo("m", ["a", "b"], zeros, width=3, store=None)
    with pytest.raises(DataError, match="1 groups for 2 inputs; give one for each"):
        memo("m", ["a", "b"], zeros, groups=[0], store=None)
    with pytest.raises(DataError, match="lengths: its groups leave out 1 inputs to be scored"):
        memo(
            "m", ["a", "b"], zeros, groups=lambda missing: [missing[:1]], what="lengths", store=None
        )
    store = Store(tmp_path / "s")
    memo("m", ["a"], zeros, store=store)
    with pytest.raises(DataError, match="a score of m is 1 numbers here, and 3 are meant"):
        memo("m", ["b"], lambda i: pytest.fail("nothing is computed in vain"), width=3, store=store)


def test_which_store(tmp_path, monkeypatch, capsys):
    for named, path in {
        str(tmp_path / "mine"): tmp_path / "mine",
        "~/x.sqlite": Path.home() / "x.sqlite",
        " OFF ": None,
        "off": None,
    }.items():
        monkeypatch.setenv("ANHELPERS_STORE", named)
        store = current_store()
        assert (store and store.path) == path
    monkeypatch.setenv("ANHELPERS_STORE", "")
    monkeypatch.setenv("ANHELPERS_CACHE", str(tmp_path / "cache"))
    assert current_store().path == tmp_path / "cache" / "scores.sqlite"
    (tmp_path / "file").touch()
    monkeypatch.delenv("ANHELPERS_STORE")
    monkeypatch.setenv("ANHELPERS_CACHE", str(tmp_path / "file"))
    assert capsys.readouterr().err == ""
    assert current_store() is None
    assert current_store() is None
    err = capsys.readouterr().err
    assert err.startswith(
        f"note: scores are not kept: {tmp_path / 'file' / 'scores.sqlite'}: cannot be made"
    )
    assert err.count("\n") == 1


def test_the_current_store_is_the_default(tmp_path, monkeypatch):
    monkeypatch.setenv("ANHELPERS_STORE", str(tmp_path / "s"))
    memo("m", ["a"], lambda i: np.zeros(1))
    assert Store(tmp_path / "s").get("m", [key("a")])[1].all()
    monkeypatch.setenv("ANHELPERS_STORE", "off")
    calls = []
    memo("m", ["a"], lambda i: calls.append(1) or np.zeros(1))
    assert calls == [1]


SLOW = """
import sys, time
import numpy as np
from anhelpers.scoring import memo as module
from anhelpers.scoring.store import Store
store, log, seconds = Store(sys.argv[1]), open(sys.argv[2], "a"), float(sys.argv[3])
module.AT_ONCE, module.SECONDS_BETWEEN_COMMITS = 10, 0.0
texts = [str(i * i) for i in range(300)]
def compute(indices):
    time.sleep(seconds)
    for i in indices:
        print(texts[i], file=log, flush=True)
    return [np.sqrt(float(texts[i]) + len(indices)) for i in indices]
np.save(sys.argv[2] + ".npy", module.memo("m", texts, compute, store=store))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here")
def test_killed_again_and_again_it_loses_only_the_calls_in_flight(tmp_path):
    def start(store, log, seconds):
        return subprocess.Popen([sys.executable, "-c", SLOW, str(store), str(log), str(seconds)])

    path, log = tmp_path / "s.sqlite", tmp_path / "log"
    log.touch()
    for kills in range(1, 4):
        process, deadline = start(path, log, 0.01), time.monotonic() + 60
        while log.read_text().count("\n") < 60 * kills and time.monotonic() < deadline:
            time.sleep(0.001)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not Path(f"{log}.npy").exists()
        with Store(path) as store, store.connection() as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert start(path, log, 0).wait(60) == 0
    assert start(tmp_path / "whole.sqlite", tmp_path / "whole", 0).wait(60) == 0
    assert np.load(f"{log}.npy").tobytes() == np.load(tmp_path / "whole.npy").tobytes()
    scored = log.read_text().split()
    assert set(scored) == {str(i * i) for i in range(300)}
    assert len(scored) <= 300 + 3 * 10
    assert start(path, log, 0).wait(60) == 0
    assert log.read_text().split() == scored
