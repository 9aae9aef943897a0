"""Accuracy metrics by name, in the package and on the command line."""

import numpy as np
import pandas as pd
import pytest

from anhelpers.accuracy import comet, metricx
from anhelpers.cli import main
from anhelpers.scoring.lookup import accuracy_metric

SRC = ["Yes.", "The dog barks.", "old"]
REF = ["Ja.", "Der Hund bellt.", "alt"]
HYP = ["Ja.", "Ein Hund", "Haus"]


def test_learned_names_are_their_models_of_the_hub(monkeypatch):
    asked = []

    def kept(family):
        return lambda model, n_refs, **options: asked.append((family, model, n_refs, options))

    monkeypatch.setattr(comet, "_comet_metric", kept("comet"))
    monkeypatch.setattr(metricx, "_metricx_metric", kept("metricx"))
    for name in (
        "cometkiwi",
        "metricx24-qe",
        "comet:my/model@abc",
        "metricx23-qe:~/f",
        "metricx:x",
    ):
        accuracy_metric(name, "de", 3, device="cpu")
    kiwi, google = "Unbabel/wmt22-cometkiwi-da", "google/metricx-24-hybrid-xl-v2p6"
    variants = ("metricx24-qe", "metricx24-qe"), ("metricx23-qe", None), (None, None)
    first, second, third = ({"variant": one, "called": called} for one, called in variants)
    expected = [
        ("comet", kiwi, {"reference": False, "called": "cometkiwi"}),
        ("metricx", google, first),
        ("comet", "my/model@abc", {"reference": True, "called": None}),
        ("metricx", "~/f", second),
        ("metricx", "x", third),
    ]
    assert asked == [(*one, 3, {**options, "device": "cpu"}) for *one, options in expected]


@pytest.fixture
def texts(tmp_path):
    """The arguments -s, -r and -t of three segments."""
    for name, lines in (("src", SRC), ("ref", REF), ("a", HYP), ("b", HYP[::-1])):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    own = ["-t", f"A={tmp_path / 'a'}", f"B={tmp_path / 'b'}"]
    return ["-l", "en-de", "-s", str(tmp_path / "src"), "-r", str(tmp_path / "ref"), *own]


def test_score_takes_a_checkpoint_and_equals_comet(tiny_comet, texts, tmp_path, capsys):
    tiny, out = tiny_comet("regression_metric"), tmp_path / "scores.csv"
    assert (
        main(["score", "-m", "chrf", f"comet:{tiny.folder}", *texts, "--segments", "-o", str(out)])
        == 0
    )
    table = pd.read_csv(out)
    ours = table[table.metric == "comet:regression_metric"]
    rows = [
        {"src": s, "mt": h, "ref": r}
        for hyps in (HYP, HYP[::-1])
        for s, h, r in zip(SRC, hyps, REF, strict=True)
    ]
    np.testing.assert_allclose(ours.value, tiny.predict(rows).scores, rtol=0, atol=1e-6)
    assert set(table.metric) == {"chrf", "comet:regression_metric"}
