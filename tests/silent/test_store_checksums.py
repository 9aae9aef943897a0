"""A damaged score is never used without a word, and a broken model never scores."""

import json
import os
import shutil
import sqlite3
import types
from contextlib import nullcontext

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from anhelpers import cli, hub, progress
from anhelpers.errors import AnhelpersError
from anhelpers.scoring import opening
from anhelpers.scoring.memo import memo
from anhelpers.scoring.opening import DAMAGED, UNVERIFIED, VERIFIED, begun, checksum, standing
from anhelpers.scoring.store import Store, key
from anhelpers.scoring.upkeep import export_parquet, faults, import_parquet, prune, sizes

NAME = "lpp|model:x|rev:0123456789ab"
KEYS = [key(text) for text in "abc"]
OLD_TABLES = """
CREATE TABLE signature (id INTEGER PRIMARY KEY, signature TEXT NOT NULL UNIQUE, width INTEGER NOT NULL,
                        created INTEGER NOT NULL);
CREATE TABLE score (signature INTEGER NOT NULL REFERENCES signature (id), key BLOB NOT NULL, value BLOB NOT NULL,
                    day INTEGER NOT NULL, PRIMARY KEY (signature, key)) WITHOUT ROWID;
"""


@pytest.fixture
def store(tmp_path):
    """Three scores of two numbers."""
    store = Store(tmp_path / "s.sqlite")
    store.put(NAME, KEYS, [[1.0, 2], [3.0, 4], [np.nan, 0]])
    store.close()
    return store


def changed(store, statement, *values):
    """A change that another program, or the disk, makes: SQLite itself finds nothing wrong."""
    store.close()
    connection = sqlite3.connect(store.path)
    connection.create_function("flip", 2, flipped)
    n = connection.execute(statement, values).rowcount
    connection.commit()
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    return n


def flipped(value: bytes, bit: int) -> bytes:
    return bytes(byte ^ (1 << bit % 8) if i == bit // 8 else byte for i, byte in enumerate(value))


def old_store(path, values, width=2):
    """A file as version 1 wrote it."""
    connection = sqlite3.connect(path)
    connection.executescript(OLD_TABLES)
    connection.execute("INSERT INTO signature VALUES (1, ?, ?, 0)", [NAME, width])
    rows = [
        (one, value if isinstance(value, bytes) else np.array(value, "<f8").tobytes())
        for one, value in zip(KEYS, values, strict=False)
    ]
    connection.executemany("INSERT INTO score VALUES (1, ?, ?, 20000)", rows)
    connection.execute(f"PRAGMA application_id = {opening.APPLICATION}")
    connection.execute("PRAGMA user_version = 1")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.commit()
    connection.close()
    return Store(path)


# ---- a value that is not what was kept


@settings(max_examples=60, deadline=None)
@given(
    st.binary(min_size=16, max_size=16), st.binary(min_size=24, max_size=24), st.integers(0, 191)
)
def test_any_flipped_bit_and_any_other_place_is_seen(one, value, bit):
    start = begun(NAME, 3)
    kept = checksum(start, one, value)
    assert standing(start, one, value, kept) == VERIFIED
    for wrong in (
        (start, one, flipped(value, bit), kept),
        (start, flipped(one, bit % 128), value, kept),
        (begun(NAME + "|", 3), one, value, kept),
        (start, one, value, kept ^ (1 << bit % 32)),
        (begun(NAME, 2), one, value, kept),
        (start, one, value[:-1], kept),
        (start, one, None, kept),
        (start, one, value.hex(), kept),
        (start, one, value, None),
    ):
        assert standing(*wrong) == DAMAGED
    assert standing(start, one, value, kept + (1 << 32)) == UNVERIFIED


@pytest.mark.parametrize("bit", [0, 52, 62, 63, 127])
def test_a_flipped_bit_is_computed_again_and_replaced(store, bit, capsys):
    texts, right = list("abc"), np.array([[1.0, 2], [3.0, 4], [np.nan, 0]])
    assert (
        changed(store, "UPDATE score SET value = flip(value, ?) WHERE key = ?", bit, KEYS[0]) == 1
    )
    computed = []

    def compute(indices):
        computed.extend(texts[i] for i in indices)
        return right[indices]

    for wanted in (["a"], []):
        computed.clear()
        np.testing.assert_array_equal(memo(NAME, texts, compute, width=2, store=store), right)
        assert computed == wanted
    told = capsys.readouterr().err
    assert (
        told.count(
            f"s.sqlite: 1 of 3 scores of {NAME} are damaged (their checksums do not fit) and are not"
        )
        == 1
    )
    assert "2 of 3 distinct scores come from the store" in told
    assert sizes(store)[["scores", "damaged", "unverified"]].values.tolist() == [[3, 0, 0]]


@pytest.mark.parametrize(
    "wrong",
    [
        "substr(value, 1, 15)",
        "x''",
        "value || x'00'",
        "value || value",
        "CAST('\u00e4\u00f6' AS TEXT)",
        "7",
        "1.5",
        "CAST(x'ff80' AS TEXT)",
    ],
)
def test_a_value_of_a_wrong_size_or_kind_is_damaged(store, wrong, tmp_path, capsys):
    changed(store, f"UPDATE score SET value = {wrong} WHERE key = ?", KEYS[1])
    assert store.get(NAME, KEYS, 2)[1].tolist() == [True, False, True]
    assert sizes(store).damaged.tolist() == [1]
    assert export_parquet(store, tmp_path / "x.parquet") == 2
    assert (
        "1 scores are damaged (their checksums do not fit) and left out" in capsys.readouterr().err
    )
    store.put(NAME, KEYS, np.full((3, 2), 9.0))
    assert store.get(NAME, KEYS, 2)[0][:2].tolist() == [[1, 2], [9, 9]]  # a sound one stays


def test_values_that_change_places_are_damaged(store):
    other = key("z")
    changed(store, "UPDATE score SET key = ? WHERE key = ?", other, KEYS[0])
    assert store.get(NAME, [other, *KEYS], 2)[1].tolist() == [False, False, True, True]
    store.put("another", KEYS, np.ones((3, 2)))
    changed(store, "UPDATE OR REPLACE score SET signature = 2 WHERE key = ?", KEYS[1])
    assert store.get("another", KEYS, 2)[1].tolist() == [True, False, True]
    changed(store, "UPDATE signature SET signature = 'lpp|model:y' WHERE id = 1")
    assert sizes(store).set_index("signature").damaged.to_dict() == {"another": 1, "lpp|model:y": 2}
    changed(store, "UPDATE score SET signature = 77 WHERE signature = 1")
    assert [s for s in faults(store) if "no signature" in s] == ["2 scores belong to no signature."]
    assert prune(store, only="damaged") == 3
    assert faults(store) == []
    assert sizes(store).scores.tolist() == [2]


@pytest.mark.parametrize("column", ["key", "value", "day", "checksum"])
@pytest.mark.parametrize(
    "wrong", ["CAST(x'ff' AS TEXT)", "9e99", "x'00'", "''", "-9223372036854775807"]
)
def test_whatever_a_row_holds_nothing_but_a_sentence_comes_of_it(
    store, column, wrong, tmp_path, capsys
):
    changed(store, f"UPDATE score SET {column} = {wrong} WHERE key = ?", KEYS[0])
    damaged = column != "day"
    for words in ("", "check", f"export {tmp_path}/x.parquet", "prune --damaged", "check"):
        status = 2 if words == "check" and damaged else 0
        assert cli.main(["store", *words.split(), "--store", str(store.path)]) == status
        damaged &= words != "prune --damaged"
    assert "defect" not in capsys.readouterr().err
    assert store.get(NAME, KEYS, 2)[1].tolist() == [column == "day", True, True]


def test_the_command_tells_and_removes_damaged_scores(store, capsys):
    def typed(*words):
        return cli.main(["store", *words, "--store", str(store.path)]), capsys.readouterr().err

    assert typed("check") == (0, f"note: {store.path}: all 3 scores fit their checksums.\n")
    changed(store, "UPDATE score SET value = flip(value, 52) WHERE key != ?", KEYS[0])
    status, told = typed("check")
    assert status == 2
    assert f"s.sqlite: 2 of 3 scores of {NAME} are damaged. Remove what is damaged" in told
    assert (
        "2 scores are damaged (their checksums do not fit). They are never used" in typed("info")[1]
    )
    assert "removed 2 scores" in typed("prune", "--damaged")[1]
    assert typed("check")[0] == 0
    assert typed("prune")[0] == 2


def test_scores_are_exported_to_a_parquet_file_alone(store, tmp_path, capsys):
    """Not onto the store of a colleague."""
    other = tmp_path / "theirs.sqlite"
    other.write_bytes(store.path.read_bytes())
    assert cli.main(["store", "--store", str(store.path), "export", str(other)]) == 2
    assert "cannot write '.sqlite' files; name a .parquet file" in capsys.readouterr().err
    assert other.read_bytes() == store.path.read_bytes()


def test_parquet_carries_the_checksum(store, tmp_path, capsys):
    path, other = tmp_path / "x.parquet", Store(tmp_path / "other")
    assert export_parquet(store, path) == 3
    table = parquet.read_table(path)
    order = [table["key"].to_pylist().index(one) for one in KEYS]
    table = table.take(order)
    for column, values in {
        "value": [[1.0, 2], [3.0, 4.5], [np.nan, 0]],
        "key": [KEYS[0], key("z"), KEYS[2]],
        "signature": [NAME, "other", NAME],
        "checksum": [*table["checksum"].to_pylist()[:2], 7],
    }.items():
        i = table.schema.get_field_index(column)
        wrong = table.set_column(
            i, table.schema.field(i), pa.array(values, table.schema.field(i).type)
        )
        parquet.write_table(wrong, tmp_path / "wrong")
        capsys.readouterr()
        assert import_parquet(Store(tmp_path / f"new-{column}"), tmp_path / "wrong") == (2, 0, 0)
        assert (
            "wrong: 1 scores are damaged (their checksums do not fit) and are left out"
            in capsys.readouterr().err
        )
    assert import_parquet(other, path) == (3, 0, 0)
    changed(other, "UPDATE score SET value = flip(value, 52) WHERE key = ?", KEYS[0])
    assert import_parquet(other, path) == (1, 2, 0)  # in the place of the damaged one
    assert faults(other) == []


# ---- stores and files from before


def test_a_store_of_version_1_is_used_as_found_and_guarded_from_then_on(tmp_path, capsys):
    store = old_store(tmp_path / "old", [[1.0, 2], [3.0, 4], b"\0" * 15])
    values, there = store.get(NAME, KEYS, 2)
    assert there.tolist() == [True, True, False]
    assert values[:2].tolist() == [[1, 2], [3, 4]]
    told = capsys.readouterr().err
    assert (
        "its 2 scores were kept without checksums, so nobody can say whether they are as they were"
        in told
    )
    assert (
        f"2 of 3 scores of {NAME} are from before checksums were kept and cannot be verified"
        in told
    )
    changed(store, "UPDATE score SET value = flip(value, 52) WHERE key = ?", KEYS[0])
    assert store.get(NAME, KEYS, 2)[1].tolist() == [False, True, False]
    assert sizes(store)[["scores", "damaged", "unverified"]].values.tolist() == [[3, 2, 1]]
    # what is computed anew takes the place of what cannot be verified
    store.put(NAME, KEYS, np.full((3, 2), 5.0))
    assert sizes(store)[["scores", "damaged", "unverified"]].values.tolist() == [[3, 0, 0]]
    assert store.get(NAME, KEYS, 2)[0].tolist() == [[5, 5]] * 3


def test_unverified_scores_can_be_removed_and_an_older_anhelpers_refuses_the_new_file(
    tmp_path, capsys
):
    store = old_store(tmp_path / "old", [[1.0, 2], [3.0, 4]])
    store.put(NAME, KEYS[2:], np.ones((1, 2)))
    assert cli.main(["store", "check", "--store", str(store.path)]) == 0
    assert "all 3 scores fit their checksums, but for 2 from before" in capsys.readouterr().err
    assert cli.main(["store", "prune", "--unverified", "--store", str(store.path)]) == 0
    assert "removed 2 scores" in capsys.readouterr().err
    assert store.get(NAME, KEYS, 2)[1].tolist() == [False, False, True]
    with store.connection() as connection:
        # version 1 says: update anhelpers
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
        # one that has it open
        with pytest.raises(sqlite3.OperationalError, match="5 columns but 4 values"):
            connection.execute("INSERT OR IGNORE INTO score VALUES (1, ?, ?, 3)", [KEYS[0], b""])


def test_nan_that_an_older_version_kept_is_computed_again(tmp_path, capsys):
    store = old_store(tmp_path / "old", [[np.nan, 5], [np.nan, 0], [-1.0, 3]])
    right = np.array([[-2.0, 5]] * 3)
    options = {
        "width": 2,
        "possible": lambda v: (v[:, 1] == 0) | (v[:, 0] < np.inf),
        "store": store,
    }
    for told in ("1 scores in the store old are nan or infinite", ""):
        found = memo(NAME, list("abc"), lambda i: right[i], **options)
        np.testing.assert_array_equal(found, [[-2, 5], [np.nan, 0], [-1, 3]])
        assert told in capsys.readouterr().err
    with pytest.raises(
        AnhelpersError, match="lengths: 1 of 1 scores are nan or infinite, so the model is broken"
    ):
        memo(NAME, ["d"], lambda i: np.array([[np.inf, 3]]), what="lengths", **options)
    assert not store.get(NAME, [key("d")], 2)[1].any()


def test_a_parquet_file_without_checksums_is_taken_as_it_is_and_told(store, tmp_path, capsys):
    export_parquet(store, tmp_path / "x")
    parquet.write_table(
        parquet.read_table(tmp_path / "x").drop_columns("checksum"), tmp_path / "old"
    )
    other = Store(tmp_path / "other")
    assert import_parquet(other, tmp_path / "old") == (3, 0, 0)
    assert (
        "old: was written before scores had checksums: they are taken as they are"
        in capsys.readouterr().err
    )
    assert sizes(other).unverified.tolist() == [3]
    # what can be verified takes their place
    assert import_parquet(other, tmp_path / "x") == (3, 0, 0)
    assert sizes(other).unverified.tolist() == [0]


# ---- models whose output is nan


def broken_copy(folder, out, value, of=""):
    """A model whose weights all are sound, but one of one matrix."""
    transformers = pytest.importorskip("transformers")
    auto = (
        transformers.AutoModelForSeq2SeqLM
        if "mt" in folder.name
        else transformers.AutoModelForCausalLM
    )
    model = auto.from_pretrained(folder)
    name, weights = next((n, w) for n, w in model.named_parameters() if w.dim() > 1 and of in n)
    weights.data.view(-1)[0] = value
    shutil.copytree(folder, out)
    model.save_pretrained(out)
    return name


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """Files of sources and outputs, one of them blank, and a store."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANHELPERS_STORE", str(tmp_path / "s.sqlite"))
    (tmp_path / "src").write_text("The dog barks.\nYes.\nA house is old and small.\n", "utf-8")
    (tmp_path / "hyp").write_text("Der Hund bellt.\n\nEin Haus ist alt und klein.\n", "utf-8")
    return tmp_path


def kept(folder):
    with Store(folder / "s.sqlite") as store:
        return int(sizes(store).scores.sum())


@pytest.mark.neural
@pytest.mark.parametrize(
    ("value", "of"), [(float("nan"), "attn"), (float("inf"), "mlp"), (float("nan"), "wte")]
)
def test_a_language_model_with_nan_in_its_weights_is_an_error(texts, tiny_lm, value, of, capsys):
    """Attention on a CPU passes over nan: with nan in the query of one head, the score is finite and wrong."""
    name = broken_copy(tiny_lm, texts / "ill", value, of)
    words = ["score", "-l", "en-de", "-s", "src", "-t", "hyp", "--lm", "./ill"]
    assert cli.main(words) == 2
    told = capsys.readouterr().err
    assert (
        f"ill: 1 weights of this language model hold nan or infinity in float32, such as {name}, as in a"
        in told
    )
    assert not (texts / "s.sqlite").exists()


@pytest.mark.neural
@pytest.mark.parametrize(
    ("left_out", "status"), [({"n_layer": 1}, 2), ({"add_cross_attention": False}, 0)]
)
def test_trained_layers_that_the_settings_leave_out_are_told(texts, left_out, status, capsys):
    """transformers itself gives a warning of many lines, and a model that nobody trained."""
    transformers = pytest.importorskip("transformers")
    progress.note_once.cache_clear()
    whole = transformers.GPT2Config(
        vocab_size=300,
        n_embd=8,
        n_layer=2,
        n_head=1,
        n_positions=32,
        bos_token_id=0,
        eos_token_id=0,
        add_cross_attention=True,
    )
    transformers.GPT2LMHeadModel(whole).save_pretrained("m")
    settings = json.loads((texts / "m" / "config.json").read_text("utf-8"))
    (texts / "m" / "config.json").write_text(json.dumps(settings | left_out), "utf-8")
    with (
        pytest.raises(AnhelpersError, match="leaves out layers that were trained")
        if status
        else nullcontext()
    ):
        hub.load_network(hub.find("./m"), "language model", "AutoModelForCausalLM")
    assert (
        "that this language model has no place for; they are not used" in capsys.readouterr().err
    ) == (not status)


@pytest.mark.neural
@pytest.mark.parametrize("share", [False, True])
def test_a_language_model_that_gives_nan_is_an_error(texts, tiny_lm, share):
    from anhelpers.naturalness.lm import load_lm, lpp_metric, score_texts

    lm = load_lm(tiny_lm, device="cpu")
    lm.model.transformer.h[0].mlp.c_fc.weight.data[0] = float("nan")
    hyps = ["Der Hund bellt.", "Der Hund bellt nicht.", ""]
    with pytest.raises(
        AnhelpersError,
        match=r"what tiny gives is nan: 1 of its weights hold .*h\.0\.mlp\.c_fc\.weight",
    ):
        score_texts(lm, hyps, share_prefixes=share)
    with pytest.raises(AnhelpersError, match="what tiny gives is nan"):
        lpp_metric(lm).score_segments(hyps)
    assert kept(texts) == 0
    assert np.isnan(score_texts(lm, ["", " "]).total).all()  # by policy


@pytest.mark.neural
def test_one_broken_token_matters_where_it_is_read_only(texts, tiny_lm):
    torch = pytest.importorskip("torch")
    from anhelpers.naturalness.lm import load_lm, score_texts

    lm = load_lm(tiny_lm, device="cpu")
    sound = score_texts(lm, ["Der Hund", ""]).total
    used = {i for ids in lm.tokenizer(["Der Hund", " "])["input_ids"] for i in ids} | {0, 1, 2}
    # apart from the head
    lm.model.transformer.wte.weight = torch.nn.Parameter(lm.model.transformer.wte.weight.clone())
    free = next(i for i in range(3, 200) if i not in used)
    lm.model.transformer.wte.weight.data[free] = float("nan")
    os.environ["ANHELPERS_STORE"] = "off"
    for share in (False, True):
        again = score_texts(lm, ["Der Hund", "", "Der Hund bellt"], share_prefixes=share).total
        np.testing.assert_allclose(again[:2], sound, atol=1e-5)


@pytest.mark.neural
@pytest.mark.parametrize("share", [False, True])
def test_float16_that_overflows_is_an_error_that_names_it(texts, tiny_lm, share):
    pytest.importorskip("torch")
    from anhelpers.naturalness.lm import load_lm, score_texts

    lm = load_lm(tiny_lm, device="cpu", dtype="float16")
    lm.model.transformer.h[0].mlp.c_fc.weight.data.fill_(6e4)
    lm.model.transformer.h[0].mlp.c_proj.weight.data.fill_(6e4)
    with pytest.raises(
        AnhelpersError,
        match=r"what tiny gives is nan: its weights are numbers, but float16 does not .* use float32",
    ):
        score_texts(lm, ["Der Hund bellt", "Der Hund bellt nicht", ""], share_prefixes=share)
    assert kept(texts) == 0
    blank = score_texts(lm, ["", " "])  # by policy
    assert np.isnan(blank.total).all()


@pytest.mark.neural
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_translation_models_with_nan_in_their_weights_are_an_error_everywhere(
    texts, tiny_marian, value, capsys
):
    for kind in ("mt", "lm"):
        broken_copy(tiny_marian / kind, texts / kind, value, of="fc1")
    sound = str(tiny_marian / "mt")
    for words in (
        ["generate", "--model", "./mt", "-s", "src", "-n", "2", "-o", "c.jsonl"],
        ["xmi", "-s", "src", "-t", "src", "--mt", "./mt", "--lm", str(tiny_marian / "lm")],
        ["xmi", "-s", "src", "-t", "src", "--mt", sound, "--lm", "./lm"],
    ):
        assert cli.main(words) == 2
        assert " hold nan or infinity in float32, such as model." in capsys.readouterr().err
    assert not (texts / "c.jsonl").exists()
    assert not (texts / "s.sqlite").exists()


@pytest.mark.neural
def test_a_translation_model_that_gives_nan_is_an_error(texts, tiny_marian):
    from anhelpers.candidates import draw
    from anhelpers.translation import load_mt, score_pairs

    mt = load_mt(tiny_marian / "mt", device="cpu")
    mt.model.model.decoder.layers[0].fc1.weight.data[0] = float("nan")
    with pytest.raises(
        AnhelpersError, match=r"what mt gives is nan: 1 of its weights .*decoder\.layers\.0\.fc1"
    ):
        score_pairs(mt, ["The dog barks.", "Yes."], ["Der Hund bellt.", " "])
    with pytest.raises(AnhelpersError, match="what mt gives is nan"):
        draw(mt, ["Yes."], 2)
    assert kept(texts) == 1  # the blank one, which has nan by policy
    assert np.isnan(score_pairs(mt, ["Yes.", "Yes." * 99], [" ", "Ja."]).total).all()  # by policy


def stand_in(value):
    """A network with one weight, which is all that it gives."""
    torch = pytest.importorskip("torch")

    class One(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor([[value]]))
            pieces = types.SimpleNamespace(pad_token_id=0)
            self.encoder = types.SimpleNamespace(tokenizer=tokens(pieces), max_positions=99)

        def forward(self, input_ids, **given):
            return types.SimpleNamespace(logits=self.weight.expand(len(input_ids), 1)[:, :, None])

        def get_sentence_embedding(self, x, mask):
            return self.weight.expand(len(x), 4)

        def estimate(self, src, hyp, ref):
            return types.SimpleNamespace(score=(src + hyp + ref)[:, 0])

    def tokens(pieces):
        def call(texts, **given):
            return {"input_ids": [[1, 2] for _ in texts]}

        call.pad_token_id = pieces.pad_token_id
        return call

    return One()


@pytest.mark.neural
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_learned_metrics_that_give_nan_are_an_error(value):
    from anhelpers.accuracy.comet.load import Comet
    from anhelpers.accuracy.comet.score import comet_scores
    from anhelpers.accuracy.metricx import MetricX, metricx_scores

    def scored(value):
        one = stand_in(value)
        comet = Comet(
            one, "c", "0", "regression_metric", "e", ("src", "hyp", "ref"), "float32", "cpu"
        )
        metricx = MetricX(one, one.encoder.tokenizer, "metricx24", "m", "0", None, "float32", "cpu")
        return (comet_scores, comet), (metricx_scores, metricx)

    for scores, model in scored(1.0):
        assert np.isfinite(scores(model, [("a", "b", "c")])).all()
    for scores, model in scored(value):
        with pytest.raises(
            AnhelpersError,
            match=rf"what {model.name} gives is .*: 1 of its weights hold nan or inf",
        ):
            scores(model, [("a", "b", "c")])


@pytest.mark.neural
def test_a_training_whose_loss_is_nan_is_an_error(tmp_path, monkeypatch):
    from dataclasses import replace
    from functools import partial

    from anhelpers.training.lm import LmRecipe, train_lm
    from anhelpers.xmi import train
    from anhelpers.xmi.toy import toy_pair

    small = LmRecipe(
        "de", vocab_size=300, width=16, layers=1, heads=2, max_tokens=32, epochs=1, held_out=2
    )
    lines = [f"Der Hund sieht {i} Katzen." for i in range(40)]
    with pytest.raises(
        AnhelpersError, match="the training has failed: the loss is no number any more"
    ):
        train_lm(
            lines, tmp_path / "m", replace(small, learning_rate=float("inf")), say=lambda line: None
        )
    assert not (tmp_path / "m").exists()
    monkeypatch.setattr(train, "_Recipe", partial(train._Recipe, rate=float("inf")))
    with pytest.raises(
        AnhelpersError, match="the training has failed: after 1 steps the loss is no number"
    ):
        train.train_pair(
            toy_pair("cipher"), rng=np.random.default_rng(0), n_train=64, steps=3, width=8
        )


# ---- other files that are read again


@pytest.mark.neural
def test_a_damaged_line_of_candidates_is_drawn_again(tiny_marian, tmp_path, capsys):
    pytest.importorskip("torch")
    from anhelpers.candidates.draw import draw_source
    from anhelpers.candidates.resume import draw_to_file

    from anhelpers.candidates import Drawing
    from anhelpers.translation import load_mt

    drawing = Drawing(load_mt(tiny_marian / "mt", device="cpu"), 5, max_tokens=6)
    srcs = ["Yes.", "The dog.", "A house."]
    path = tmp_path / "c.jsonl"
    partial = tmp_path / "c.jsonl.partial"
    draw_to_file(drawing, srcs, path)
    whole = path.read_bytes()
    path.unlink()

    def cut(drawing, missing):
        yield from (draw_source(drawing, i, src) for i, src in missing[:2])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        draw_to_file(drawing, srcs, path, cut)
    lines = partial.read_bytes().splitlines(keepends=True)
    number = lines[1].index(b'"count": ') + len(b'"count": ')
    flipped_digit = lines[1][:number] + bytes([lines[1][number] ^ 1]) + lines[1][number + 1 :]
    json.loads(flipped_digit[9:])  # as good JSON as before
    partial.write_bytes(lines[0] + flipped_digit + lines[2])
    capsys.readouterr()
    assert draw_to_file(drawing, srcs, path)[1] == 1
    assert path.read_bytes() == whole
    assert (
        "c.jsonl.partial: 1 of 2 lines are damaged; what they held is drawn again."
        in capsys.readouterr().err
    )
    path.unlink()
    partial.write_bytes(lines[0] + lines[1][9:] + lines[2][9:])  # as an older version wrote it
    assert draw_to_file(drawing, srcs, path)[1] == 2
    assert path.read_bytes() == whole
    assert (
        "2 of 2 sources were drawn by an older version, without checksums"
        in capsys.readouterr().err
    )
