"""What is in a store, pruning it, and carrying scores from one store to another; the command that does it."""

import io
import os
import sqlite3
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from anhelpers import cli
from anhelpers.errors import DataError
from anhelpers.scoring import store as module
from anhelpers.scoring.store import Store, key
from anhelpers.scoring.upkeep import Imported, export_parquet, fits, import_parquet, prune, sizes

DAY = 20_000  # 2024-10-04


@pytest.fixture
def store(tmp_path, monkeypatch):
    """lpp: 2 scores of width 3, one of them nan, an old and a new one; comet: 3 new scores."""
    store = Store(tmp_path / "s.sqlite")
    for day, kept in (DAY, ["a"]), (DAY + 10, ["b"]):
        monkeypatch.setattr(module, "today", lambda day=day: day)
        store.put(
            "lpp|model:x|eos:no",
            [key(t) for t in kept],
            np.full((1, 3), np.nan if day == DAY else 2.0),
        )
    store.put("comet|rev:1", [key(t) for t in "abc"], [0.1, 0.2, 0.3])
    return store


def rows(store):
    with store.connection() as connection:
        return connection.execute(
            "SELECT s.signature, key, value, day FROM score JOIN signature s ON s.id = score.signature ORDER BY 1, 2"
        ).fetchall()


def test_sizes_by_signature(store):
    assert (
        sizes(store).values.tolist()
        == [
            ["comet|rev:1", 3, 1, 72, "2024-10-14", "2024-10-14", 0, 0],
            ["lpp|model:x|eos:no", 2, 3, 80, "2024-10-04", "2024-10-14", 0, 0],
        ][::-1]
    )
    empty = sizes(Store(store.path.with_name("empty")))
    assert empty.columns.tolist() == [
        "signature",
        "scores",
        "width",
        "bytes",
        "oldest",
        "newest",
        "damaged",
        "unverified",
    ]
    assert len(empty) == 0


@pytest.mark.parametrize(
    ("chosen", "removed", "left"),
    [
        ({"signature": "lpp|*"}, 2, ["comet|rev:1"] * 3),
        ({"signature": "comet|rev:1"}, 3, ["lpp|model:x|eos:no"] * 2),
        ({"signature": "lpp"}, 0, ["comet|rev:1"] * 3 + ["lpp|model:x|eos:no"] * 2),
        ({"older_than": 10}, 0, ["comet|rev:1"] * 3 + ["lpp|model:x|eos:no"] * 2),
        ({"older_than": 9.5}, 1, ["comet|rev:1"] * 3 + ["lpp|model:x|eos:no"]),
        ({"signature": "c*", "older_than": 9}, 0, ["comet|rev:1"] * 3 + ["lpp|model:x|eos:no"] * 2),
        ({"signature": "*"}, 5, []),
    ],
)
def test_prune(store, monkeypatch, chosen, removed, left):
    monkeypatch.setattr("anhelpers.scoring.upkeep.today", lambda: DAY + 10)
    assert prune(store, **chosen) == removed
    assert [name for name, *_ in rows(store)] == left
    assert set(sizes(store).signature) == set(left)


def test_prune_frees_the_name_for_another_width_and_the_space_for_others(store):
    keys = [key(str(i)) for i in range(20_000)]
    store.put("big", keys, np.zeros((20_000, 4)))
    store.close()
    before = store.path.stat().st_size
    assert prune(store, "big") == 20_000
    assert store.path.stat().st_size < before / 10
    store.put("big", keys[:1], [1.0])


@pytest.mark.parametrize(
    "wrong", [{}, {"older_than": -1}, {"older_than": float("nan")}, {"older_than": float("inf")}]
)
def test_prune_removes_nothing_by_an_oversight(store, wrong):
    with pytest.raises(DataError, match=r"say what to remove|must be a number from 0"):
        prune(store, **wrong)
    assert len(rows(store)) == 5


def test_in_a_pattern_only_star_and_question_mark_have_a_meaning():
    assert fits("lpp|model:[a]|x", "lpp|model:[a]*")
    assert not fits("lpp|model:a|x", "lpp|model:[a]*")
    assert fits("a?c", "a?c")
    assert not fits("LPP", "lpp")


CONTENT = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.dictionaries(st.integers(0, 5), st.integers(0, 2**64 - 1), max_size=4),
)


@settings(max_examples=25, deadline=None)
@given(CONTENT, CONTENT)
def test_parquet_carries_every_bit_and_ours_stays(mine, theirs):
    with tempfile.TemporaryDirectory() as folder:
        stores = [Store(Path(folder, name)) for name in ("mine", "theirs", "copy")]
        for store, content in zip(stores, (mine, theirs), strict=False):
            for name, scores in content.items():
                values = np.array(list(scores.values()), np.uint64).view(np.float64)
                store.put(name, [key(str(i)) for i in scores], values)
        path, before = Path(folder, "x.parquet"), rows(stores[0])
        assert (
            export_parquet(stores[1], path)
            == len(rows(stores[1]))
            == sum(map(len, theirs.values()))
        )
        assert import_parquet(stores[2], path).new == len(rows(stores[1]))
        assert rows(stores[2]) == rows(stores[1])
        both = [
            (mine[n][i], v) for n, s in theirs.items() for i, v in s.items() if i in mine.get(n, {})
        ]
        same = sum(a == b for a, b in both)
        new = sum(map(len, theirs.values())) - len(both)
        assert import_parquet(stores[0], path) == Imported(new, same, len(both) - same)
        assert set(before) <= set(rows(stores[0]))
        assert len(rows(stores[0])) == len(before) + new
        for store in stores:
            store.close()


def test_export_in_pieces_of_one_signature(store, monkeypatch, tmp_path):
    monkeypatch.setattr("anhelpers.scoring.upkeep.ROWS_PER_GROUP", 2)
    assert export_parquet(store, tmp_path / "new" / "x.parquet", "comet*") == 3
    table = pd.read_parquet(tmp_path / "new" / "x.parquet")
    assert table.columns.tolist() == ["signature", "key", "value", "day", "checksum"]
    assert set(table.signature) == {"comet|rev:1"}
    assert sorted(v for (v,) in table.value) == [0.1, 0.2, 0.3]
    assert import_parquet(Store(tmp_path / "t"), tmp_path / "new" / "x.parquet") == (3, 0, 0)
    assert not list(tmp_path.glob("new/.*"))


def test_files_that_will_not_do_are_told(store, tmp_path):
    (tmp_path / "text").write_text("no parquet at all", encoding="utf-8")
    pd.DataFrame({"system": ["A"]}).to_parquet(tmp_path / "other")
    export_parquet(store, tmp_path / "good")
    table = parquet.read_table(tmp_path / "good")
    parquet.write_table(
        table.set_column(2, "value", pa.array([None] * 5, pa.list_(pa.float64()))),
        tmp_path / "holes",
    )
    (tmp_path / "cut").write_bytes((tmp_path / "good").read_bytes()[:-20])
    told = {
        "absent": "absent: is no file; name one that anhelpers store export wrote.",
        "text": "text: is no parquet file, or a damaged one; export it again.",
        "cut": "cut: is no parquet file, or a damaged one; export it again.",
        "other": "other: is no export of a score store; make one by anhelpers store export FILE.",
        "holes": "holes: has rows without a value; export it again.",
    }
    for name, sentence in told.items():
        with pytest.raises(DataError) as caught:
            import_parquet(store, tmp_path / name)
        assert str(caught.value).endswith(sentence)
    assert len(rows(store)) == 5
    with pytest.raises(DataError, match=r"has no scores of 'nix\*'; anhelpers store lists"):
        export_parquet(store, tmp_path / "x", "nix*")
    with pytest.raises(DataError, match="this folder cannot be made"):
        export_parquet(store, tmp_path / "text" / "x")
    other = Store(tmp_path / "t")
    other.put("comet|rev:1", [key("z")], np.zeros((1, 2)))
    with pytest.raises(
        DataError, match=r"a score of comet\|rev:1 is 2 numbers here, and 1 are meant"
    ):
        import_parquet(other, tmp_path / "good")


def test_the_command(store, tmp_path, capsys, monkeypatch):
    def typed(*words):
        status = cli.main(["store", *map(str, words)])
        return status, *capsys.readouterr()

    status, out, err = typed("--store", store.path)
    assert status == 0
    assert pd.read_csv(io.StringIO(out)).scores.tolist() == [2, 3]
    assert f"{store.path}: 5 scores in " in err
    assert typed("info", "--store", store.path)[:2] == (0, out)
    monkeypatch.setenv("ANHELPERS_STORE", str(store.path))
    assert "wrote 2 scores to" in typed("export", tmp_path / "x.parquet", "--signature", "lpp*")[2]
    other = tmp_path / "other"
    assert "2 new scores in" in typed("import", tmp_path / "x.parquet", "--store", other)[2]
    with sqlite3.connect(other) as connection:
        connection.execute("UPDATE score SET value = zeroblob(24) WHERE day > ?", [DAY])
    # for a damaged one
    assert "1 new scores in" in typed("import", tmp_path / "x.parquet", "--store", other)[2]
    third = Store(tmp_path / "third")
    third.put("lpp|model:x|eos:no", [key("b")], np.zeros((1, 3)))
    assert "1 new scores in" in (
        err := typed("import", tmp_path / "x.parquet", "--store", third.path)[2]
    )
    assert "0 were there already, and 1 are there with other values, which stay." in err
    assert "removed 3 scores from" in typed("prune", "--signature", "comet*")[2]
    assert "removed 2 scores from" in typed("prune", "--older-than", "1")[2]


def test_the_command_tells_what_is_missing(tmp_path, capsys, monkeypatch):
    for words, sentence in {
        "--store off": "the store is off: name a file (--store FILE, or ANHELPERS_STORE=FILE).",
        f"--store {tmp_path}/s": f"{tmp_path}/s: no scores are kept here yet",
        f"--store {tmp_path} info": f"{tmp_path}: is a folder",
        f"import {tmp_path}/x --store {tmp_path}/s": f"{tmp_path}/x: is no file",
    }.items():
        assert cli.main(["store", *words.split()]) == 2
        assert capsys.readouterr().err.startswith(f"anhelpers store: {sentence}")
    assert cli.main(["store", "--store", " "]) == 2
    assert (
        capsys.readouterr().err == "anhelpers store: --store is empty; name a file, or say off.\n"
    )
    assert not (tmp_path / "s").exists()
    Store(tmp_path / "s").put("m", [key("a")], [1.0])
    assert cli.main(["store", "prune", "--store", str(tmp_path / "s")]) == 2
    assert "say what to remove" in capsys.readouterr().err


def test_the_option_holds_for_one_command(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(
        cli.module_of("store"), "run", lambda args: seen.append(os.environ.get("ANHELPERS_STORE"))
    )
    monkeypatch.chdir(tmp_path)
    for before in ("off", None):
        monkeypatch.delenv("ANHELPERS_STORE") if before is None else monkeypatch.setenv(
            "ANHELPERS_STORE", before
        )
        cli.main(["store", "--store", "x.sqlite"])
        cli.main(["store", "--store", "OFF"])
        cli.main(["store"])
        assert os.environ.get("ANHELPERS_STORE") == before
        assert seen[-3:] == [str(tmp_path / "x.sqlite"), "off", before]
