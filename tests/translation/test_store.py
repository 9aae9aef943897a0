"""Translation models through the score store: the same bits, nothing twice, the rest in the same batches."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")

from anhelpers.scoring.store import Store, key  # noqa: E402
from anhelpers.translation import load_mt, score_pairs  # noqa: E402
from anhelpers.translation import score as scores  # noqa: E402

pytestmark = pytest.mark.neural

FIELDS = ("total", "tokens", "too_long", "unknown")


@pytest.fixture(scope="module")
def mt(family):
    found = family("marian")
    return load_mt(found.folder, device="cpu", **found.options)


@pytest.fixture
def texts(pairs):
    """Many targets of few sources, an empty source, a blank target, pairs too long, one twice."""
    srcs, trgs = [src for src, _ in pairs], [trg for _, trg in pairs]
    crossed = [(src, trg[: 9 + 3 * i]) for src in ["", *srcs[:3]] for i in range(5) for trg in trgs]
    found = [*crossed, (srcs[0], " "), (srcs[0] * 40, trgs[0]), (srcs[0], trgs[0] * 40), crossed[0]]
    return [src for src, _ in found], [trg for _, trg in found]


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("ANHELPERS_STORE", str(tmp_path / "scores.sqlite"))
    return Store(tmp_path / "scores.sqlite")


def bits(found):
    return [getattr(found, field).tobytes() for field in FIELDS]


@pytest.mark.parametrize("most", [4, 1024])
def test_pairs_have_the_same_bits_with_and_without_a_store(mt, store, texts, monkeypatch, most):
    monkeypatch.setattr(scores, "TARGETS_PER_CALL", most)
    srcs, trgs = texts
    first = score_pairs(mt, srcs, trgs, 200)
    assert first.too_long.sum() == 2
    assert first.tokens[len(srcs) - 4] == 0
    assert np.isnan(first.total).sum() == 3
    assert store.get(mt.signature(), [key(*pair) for pair in zip(*texts, strict=True)], 4)[1].all()
    with monkeypatch.context() as off:
        off.setenv("ANHELPERS_STORE", "off")
        assert bits(score_pairs(mt, srcs, trgs, 200)) == bits(first)
    for part in ("_encode", "_decode"):
        monkeypatch.setattr(scores, part, lambda *a: pytest.fail("scored again"))
    again = score_pairs(mt, srcs, trgs)
    assert bits(again) == bits(first)
    assert [getattr(again, field).dtype.kind for field in FIELDS] == ["f", "i", "b", "i"]
    assert again.notes == first.notes


def test_the_store_tells_a_pair_from_its_reverse(mt, store):
    assert (
        score_pairs(mt, ["a"], ["Das Haus."]).total != score_pairs(mt, ["Das Haus."], ["a"]).total
    )


def test_cut_after_any_call_it_ends_with_the_same_bits(mt, store, texts, monkeypatch):
    monkeypatch.setattr(scores, "TARGETS_PER_CALL", 7)
    real, calls = scores._scores, []
    monkeypatch.setattr(
        scores, "_scores", lambda mt, ids, budget: calls.append(ids) or real(mt, ids, budget)
    )
    whole = score_pairs(mt, *texts, 100)
    wanted = calls.copy()
    assert max(map(len, wanted)) <= 7
    for cut in range(1, len(wanted), len(wanted) // 5):
        calls.clear()
        monkeypatch.setenv("ANHELPERS_STORE", str(store.path.with_name(f"{cut}.sqlite")))

        def dying(mt, ids, budget, cut=cut):
            if len(calls) == cut:
                raise KeyboardInterrupt
            calls.append(ids)
            return real(mt, ids, budget)

        with monkeypatch.context() as patch:
            patch.setattr(scores, "_scores", dying)
            with pytest.raises(KeyboardInterrupt):
                score_pairs(mt, *texts, 100)
        assert bits(score_pairs(mt, *texts, 100)) == bits(whole)
        assert calls == wanted
