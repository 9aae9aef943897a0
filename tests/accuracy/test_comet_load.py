"""Places and damages of a COMET checkpoint."""

import shutil
import sys

import numpy as np
import pytest

pytest.importorskip("comet", reason="pip install -c constraints.txt -e '.[neural]'")

import huggingface_hub
import torch
import yaml

from anhelpers.accuracy.comet import _comet_metric, _comet_scores, _load_comet
from anhelpers.errors import AnhelpersError, DataError, MissingExtra, UnknownName

ROW = ("Yes.", "Das Haus", "Ja.")
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def copied(tiny_comet, tmp_path):
    """A copy of a checkpoint that a test may break."""

    def copy(kind="regression_metric", **settings):
        folder = tmp_path / "copy"
        shutil.copytree(tiny_comet(kind, **settings).folder, folder)
        return folder

    return copy


def changed(folder, **settings):
    """hparams.yaml with other settings; None removes one."""
    path = folder / "hparams.yaml"
    told = yaml.safe_load(path.read_text(encoding="utf-8")) | settings
    path.write_text(
        yaml.safe_dump({k: v for k, v in told.items() if v is not None}), encoding="utf-8"
    )
    return folder


def test_a_folder_a_file_and_a_flat_folder_are_one_model(copied, tmp_path):
    folder = copied()
    flat = tmp_path / "flat"
    flat.mkdir()
    for file in (folder / "hparams.yaml", folder / "checkpoints" / "model.ckpt"):
        shutil.copy(file, flat)
    names = [folder, folder / "checkpoints" / "model.ckpt", flat, flat / "model.ckpt", str(flat)]
    models = [_load_comet(name, device="cpu") for name in names]
    assert {model.revision for model in models} == {models[0].revision}
    assert [model.name for model in models] == ["copy", "model.ckpt", "flat", "model.ckpt", "flat"]
    assert len({_comet_scores(model, [ROW])[0, 0] for model in models}) == 1


def test_another_weight_or_setting_is_another_revision(copied):
    folder = copied()
    first = _load_comet(folder, device="cpu").revision
    assert _load_comet(changed(folder, dropout=0.2), device="cpu").revision != first


def test_from_the_hubs_cache_by_id_and_revision(copied, tmp_path, monkeypatch):
    cache = tmp_path / "hub"
    repository = cache / "models--owner--metric"
    shutil.copytree(copied(), repository / "snapshots" / COMMIT)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(cache))
    for name in ("owner/metric", f"owner/metric@{COMMIT}"):
        comet = _load_comet(name, device="cpu")
        assert (comet.name, comet.revision) == ("owner/metric", COMMIT[:12])
        assert comet.signature.startswith(
            f"comet|model:owner/metric|rev:{COMMIT[:12]}|class:regression_metric|"
        )
    with pytest.raises(AnhelpersError, match=r"^owner/metric@other: "):
        _load_comet("owner/metric@other", device="cpu")


def test_a_patched_sparsemax_is_a_softmax_as_in_comet(tiny_comet, copied):
    folder = changed(copied(), layer_transformation="sparsemax_patch")
    assert _load_comet(folder, device="cpu").model.layerwise_attention.transform_fn is torch.softmax
    assert (
        _load_comet(tiny_comet("regression_metric").folder).model.layerwise_attention.transform_fn
        is not torch.softmax
    )


@pytest.mark.parametrize(
    "kind", ["regression_metric", "referenceless_regression_metric", "xcomet_metric"]
)
def test_half_precision_is_that_of_comet_score(tiny_comet, kind):
    tiny = tiny_comet(kind)
    half = _load_comet(tiny.folder, device="cpu", dtype="float16")
    assert "|dtype:float16|" in half.signature
    rows = [ROW, ("The dog", "Der Hund bellt", "Hund")]
    theirs = tiny_comet(kind, dropout=0.2)  # of its own, as it is changed
    theirs.model.half()
    data = [dict(zip(("src", "mt", "ref"), row, strict=True)) for row in rows]
    ours = _comet_scores(half, [row[: len(half.reads)] for row in rows])[:, 0]
    np.testing.assert_allclose(ours, theirs.predict(data, 1).scores, rtol=0, atol=2e-3)
    assert (ours != tiny.predict(data, 1).scores).all()


def broken(copied, case):
    """What is loaded in a case of a broken checkpoint."""
    folder = copied("ranking_metric" if case == "ranker" else "regression_metric")
    checkpoints = folder / "checkpoints"
    match case:
        case "no hparams":
            (folder / "hparams.yaml").unlink()
        case "encoder":
            changed(folder, pretrained_model="nobody/nothing")
            state = torch.load(checkpoints / "model.ckpt")
            state["hyper_parameters"]["pretrained_model"] = "nobody/nothing"
            torch.save(state, checkpoints / "model.ckpt")
        case "pointer":
            (checkpoints / "model.ckpt").write_text(
                "version https://git-lfs.github.com/spec/v1", encoding="utf-8"
            )
        case "half":
            state = torch.load(checkpoints / "model.ckpt")
            state["state_dict"] = {
                k: v for k, v in state["state_dict"].items() if not k.startswith("estimator")
            }
            torch.save(state, checkpoints / "model.ckpt")
        case "none":
            shutil.rmtree(checkpoints)
        case "no folder":
            return folder / "nowhere"
    return folder


@pytest.mark.parametrize(
    ("case", "named"),
    [
        ("ranker", "ranking_metric"),
        ("no hparams", "hparams.yaml"),
        ("encoder", "^nobody/nothing: "),
        ("pointer", "model.ckpt"),
        ("half", "model.ckpt: 6 weights are missing, such as estimator.ff.0.bias"),
        ("none", "copy: .*got 0 "),
        ("no folder", "nowhere: "),
    ],
)
def test_a_broken_checkpoint_is_refused_by_its_name(copied, case, named):
    with pytest.raises(AnhelpersError, match=named):
        _load_comet(broken(copied, case), device="cpu")


def test_a_failure_of_the_network_has_the_metric_s_name(copied, monkeypatch):
    monkeypatch.setattr("anhelpers.accuracy.comet._comet_scores", lambda *_: [][0])
    metric = _comet_metric(copied(), device="cpu")
    with pytest.raises(AnhelpersError, match=r"^COMET copy: list index"):
        metric.score_segments(["Ja."], refs=[["Ja."]], srcs=["Yes."])


def test_what_a_model_cannot_do_is_refused(tiny_comet):
    for tiny in (
        tiny_comet("regression_metric"),
        tiny_comet("unified_metric", input_segments=["mt", "ref"]),
    ):
        with pytest.raises(DataError, match="needs the reference"):
            _load_comet(tiny.folder, reference=False, device="cpu")
    with pytest.raises(UnknownName, match="unknown dtype 'float23'"):
        _load_comet(tiny_comet("regression_metric").folder, dtype="float23")


def test_no_hub_id_and_no_comet(tiny_comet, monkeypatch):
    with pytest.raises(AnhelpersError, match=r"^a/b/c: "):
        _load_comet("a/b/c")
    monkeypatch.setitem(sys.modules, "comet", None)
    with pytest.raises(MissingExtra, match=r"^COMET needs comet"):
        _load_comet(tiny_comet("regression_metric").folder)
