"""Models' scores through the store: the same bits with it, without it, and after a crash; nothing twice."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")

from anhelpers import cli  # noqa: E402
from anhelpers.data import load_candidates  # noqa: E402
from anhelpers.naturalness import lm as lms  # noqa: E402
from anhelpers.naturalness.lm import load_lm, score_texts  # noqa: E402
from anhelpers.scoring.memo import memo  # noqa: E402
from anhelpers.scoring.store import Store, key  # noqa: E402

pytestmark = pytest.mark.neural

LONG = " ".join(["Der Hund ruft den Bus."] * 20)
TEXTS = [
    "Das Haus ist alt.",
    "",
    "ja",
    "Das Haus ist alt.",
    LONG,
    "Ein Satz, der über viele Wörter geht.",
    LONG + "!",
]


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("ANHELPERS_STORE", str(tmp_path / "scores.sqlite"))
    return Store(tmp_path / "scores.sqlite")


def watched(calls, die_at=None):
    """`memo`, which writes down every call of the scorer and dies in one of them."""

    def wrapped(signature, keys, compute, **options):
        def watch(indices):
            if len(calls) == die_at:
                raise KeyboardInterrupt
            calls.append([keys[i] for i in indices])
            return compute(indices)

        return memo(signature, keys, watch, **options)

    return wrapped


def same(one, other) -> bool:
    return all(
        getattr(one, f).tobytes() == getattr(other, f).tobytes()
        for f in ("total", "tokens", "windowed")
    )


@pytest.mark.parametrize("budget", [1, 40, 2048])
def test_log_probabilities_have_the_same_bits_with_and_without_a_store(
    tiny_lm, store, monkeypatch, budget
):
    lm = load_lm(tiny_lm, device="cpu")
    first = score_texts(lm, TEXTS, tokens_per_batch=budget)
    assert store.get(lm.signature(False), [key(t) for t in TEXTS], 3)[1].all()
    with monkeypatch.context() as off:
        off.setenv("ANHELPERS_STORE", "off")
        assert same(score_texts(lm, TEXTS, tokens_per_batch=budget), first)
    monkeypatch.setattr(lms, "memo", watched([], die_at=0))
    again = score_texts(lm, TEXTS[::-1])
    assert same(again, type(again)(first.total[::-1], first.tokens[::-1], first.windowed[::-1]))
    assert again.tokens.dtype == np.int64
    assert again.notes == first.notes != []


def test_with_and_without_eos_are_two_scores(tiny_lm, store):
    lm = load_lm(tiny_lm, device="cpu")
    assert (score_texts(lm, ["ja"], eos=True).tokens - score_texts(lm, ["ja"]).tokens).tolist() == [
        1
    ]


def test_cut_after_any_batch_the_rest_is_scored_in_the_same_batches(tiny_lm, store, monkeypatch):
    lm, wanted = load_lm(tiny_lm, device="cpu"), []
    texts = [t[:n] for t in load_candidates("teaching").texts[:9] for n in (20, 25, 40)] + TEXTS
    monkeypatch.setattr(lms, "memo", watched(wanted))
    whole = score_texts(lm, texts, tokens_per_batch=60)
    assert len(wanted) >= 8
    for cut in range(1, len(wanted), len(wanted) // 4):
        calls = []
        monkeypatch.setenv("ANHELPERS_STORE", str(store.path.with_name(f"{cut}.sqlite")))
        monkeypatch.setattr(lms, "memo", watched(calls, die_at=cut))
        with pytest.raises(KeyboardInterrupt):
            score_texts(lm, texts, tokens_per_batch=60)
        assert len(calls) == cut
        monkeypatch.setattr(lms, "memo", watched(calls))
        assert same(score_texts(lm, texts, tokens_per_batch=60), whole)
        assert calls == wanted


IMPATIENT = (
    "import sys; from anhelpers import cli; "
    "from anhelpers.scoring import memo; memo.SECONDS_BETWEEN_COMMITS = 0; "
)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here")
def test_the_command_killed_half_way_ends_with_the_same_file(tmp_path, store, monkeypatch, capsys):
    # changed, or their scores would come with the model
    texts = [f"{t} !" for t in load_candidates("teaching").texts if t.strip()][:600]
    for name, lines in {"src": ["x"] * 300, "A": texts[:300], "B": texts[300:]}.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    words = [
        "score",
        "--lm",
        "de-small",
        "--segments",
        "-s",
        f"{tmp_path}/src",
        "-t",
        f"{tmp_path}/A",
        f"{tmp_path}/B",
    ]

    def scored(name: str) -> bytes:
        assert cli.main([*words, "-o", str(tmp_path / name)]) == 0
        return (tmp_path / name).read_bytes()

    wanted = len(set(texts))
    code = IMPATIENT + f"cli.main({[*words, '-o', str(tmp_path / 'cut.csv')]!r})"
    threads = {"OMP_NUM_THREADS": str(torch.get_num_threads())}
    running = subprocess.Popen([sys.executable, "-c", code], env=os.environ | threads)
    done = 0
    deadline = time.monotonic() + 120
    while done < wanted / 3 and time.monotonic() < deadline:
        time.sleep(0.01)
        if store.path.exists():
            with store.connection() as connection:
                (done,) = connection.execute("SELECT COUNT(*) FROM score").fetchone()
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    assert not (tmp_path / "cut.csv").exists()
    with store.connection() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (done,) = connection.execute("SELECT COUNT(*) FROM score").fetchone()
    assert wanted / 3 <= done < wanted
    capsys.readouterr()
    resumed = scored("cut.csv")
    assert (
        f"{done} of {wanted} distinct scores come from the store {store.path.name}"
        in capsys.readouterr().err
    )
    with monkeypatch.context() as patch:
        patch.setattr(lms, "memo", watched([], die_at=0))
        assert scored("again.csv") == resumed
    monkeypatch.setenv("ANHELPERS_STORE", "off")
    assert scored("whole.csv") == resumed
    assert Path(tmp_path, "whole.csv").read_text().count("\n") == 601
