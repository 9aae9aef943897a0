"""Bundled tables of scores: what they say is what the texts give, and labels are never scored as texts."""

import lzma
import os
import subprocess
import sys
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest

import anhelpers as an
from anhelpers.accuracy.surface import surface_metric
from anhelpers.data.fetch import bundled
from anhelpers.data.sets import find_file
from anhelpers.errors import DataError, UnknownName
from anhelpers.naturalness.native import load_heads
from anhelpers.scoring import cache, score_tables
from anhelpers.scoring.stored import FOLDER, _digest, _of_systems, _read, offer

PAIRS = {
    "wmt24/en-de": (26, 997),
    "wmt24/en-cs": (26, 997),
    "wmt24/ja-zh": (22, 721),
    "wmt23/en-de": (12, 557),
}


@pytest.fixture(autouse=True)
def no_offers(monkeypatch):
    monkeypatch.setattr(cache, "OFFERS", offers := {})
    monkeypatch.setattr("anhelpers.scoring.stored.OFFERS", offers)


def test_the_tables_are_small_and_complete():
    assert score_tables() == sorted(PAIRS)
    assert sum(path.stat().st_size for path in bundled(FOLDER).iterdir()) < 1_500_000
    for name, (k, n) in PAIRS.items():
        table = an.load_scores(name)
        assert (len(table.systems), len(table.test), table.test.name) == (k, n, name)
        outputs = len(table.test.systems) + 1  # and the reference with which all are compared
        assert len(table.frame) == n * outputs
        assert np.isfinite(table.frame.chrf).all()
        assert table.frame.lpp.isna().sum() == sum(table.test.blanks.values())


@pytest.mark.real
@pytest.mark.parametrize("name", PAIRS)
def test_a_table_has_the_scores_of_its_texts(name):
    """chrF and BLEU of ten segments by the package from the texts, equal outputs and blanks of all."""
    table, test = an.load_scores(name), an.load(name)
    head, rows = _read(name)
    own = {**test.refs, **test.systems}
    assert {system: _digest(own[system]) for system in head["digests"]} == head["digests"]
    assert list(test.docs) == head["docs"]
    ten = np.random.default_rng(0).choice(len(test), 10, replace=False)
    refs = [[test.refs[test.reference][i] for i in ten]]
    for system, labels in table.test.systems.items():
        texts = [own[system][i] for i in ten]
        assert [not text.strip() for text in own[system]] == [not label for label in labels]
        frame = table.frame[table.frame.system == system]
        theirs = surface_metric("chrf", test.trg_lang).score_segments(texts, refs=refs)
        assert np.allclose(frame.chrf.to_numpy()[ten], theirs, rtol=0, atol=5.1e-5)
        at = list(head["digests"]).index(system)
        counts = rows[[c for c in rows if c.startswith("bleu")]].to_numpy()[at :: len(own)][ten]
        assert np.array_equal(
            counts, surface_metric("bleu", test.trg_lang).count(texts, refs=refs)[:, :6]
        )
    pairs = {"texts": own, "labels": {**table.test.refs, **table.test.systems}}
    lines = {kind: np.array([[of[s][i] for s in own] for i in ten]) for kind, of in pairs.items()}
    equal = {kind: (of[:, :, None] == of[:, None]).tolist() for kind, of in lines.items()}
    assert equal["texts"] == equal["labels"]


@pytest.mark.real
def test_log_probabilities_are_those_of_an_independent_run():
    """Summed log-probabilities of another program with the same model; 129 texts with other tokens differ."""
    shared = pd.read_csv(
        find_file("mono/de.original").parents[1] / "scores/gemma-3-270m.logprobs.tsv.xz", sep="\t"
    )
    known = dict(zip(shared.sha256_16, shared.logprob_nats / shared.tokens, strict=True))
    test, table = an.load("wmt24/en-de"), an.load_scores("wmt24/en-de")
    own = {
        text: label
        for s, labels in table.test.systems.items()
        for text, label in zip(test.systems.get(s, test.refs.get(s)), labels, strict=True)
    }
    keys = {text: sha256(text.encode()).hexdigest()[:16] for text in own}
    both = [text for text in own if own[text] and keys[text] in known]
    ours = table.metrics["lpp"].score_segments([own[text] for text in both])
    apart = np.abs(ours + [known[keys[text]] for text in both])
    assert len(both) > 20_000
    assert (apart < 2e-3).mean() > 0.99


@pytest.mark.real
def test_with_the_texts_scores_are_found_and_not_computed(monkeypatch, capsys):
    """Of a changed system nothing is found: all its texts are to be scored again."""
    monkeypatch.setenv("ANHELPERS_STORE", "off")
    heads, test = load_heads("de"), an.load("wmt24/en-de")
    texts = [*dict.fromkeys(test.systems["GPT-4"] + test.systems["Occiglot"])]  # 86 are blank

    def never(some):
        raise AssertionError("computed")

    found = cache.cached(heads.signature, texts, never, width=2)
    stored = an.load_scores("wmt24/en-de").metrics["native"]
    labels = an.load_scores("wmt24/en-de").test.systems
    both = [labels["GPT-4"] + labels["Occiglot"], test.systems["GPT-4"] + test.systems["Occiglot"]]
    ours = dict(zip(both[1], stored.score_segments(both[0]), strict=True))
    assert np.allclose(heads.score(found), [ours[text] for text in texts], equal_nan=True)
    lpp, r = _read(test.name)[0]["metrics"]["lpp"], an.load_mono(test.name)
    assert cache.cached(lpp["signature"], r, never, width=3).shape == (2504, 3)
    changed = (*test.systems["MSLC"][:-1], "Ganz anders.")
    offer(an.TestSet("wmt24/en-de", "en-de", test.srcs, {}, {"MSLC": changed}))
    with pytest.raises(AssertionError, match="computed"):
        cache.cached(heads.signature, list(changed[:5]), never, width=2)
    assert "not the texts of the stored scores: MSLC" in capsys.readouterr().err


def test_the_plane_of_a_table_is_the_mean_of_its_scores():
    table = an.load_scores("wmt23/en-de")
    study = an.oracle_study(table.test, an.from_systems(table.test))
    assert study.metrics[1].name == "native"
    shared = table.frame[table.frame.segment.isin(range(557))].pivot(
        index="segment", columns="system"
    )
    kept = shared["native"].notna().all(axis=1).to_numpy()
    assert len(study.test) == kept.sum()
    for system, point in zip(study.plane.systems, study.plane.scores().T, strict=True):
        ours = [shared[axis][system].to_numpy()[kept].mean() for axis in ("chrf", "native")]
        assert np.allclose(point, ours, rtol=1e-12)
    bleu = an.system_plane(
        table.test, table.metrics["bleu"], table.metrics["lpp"], level="corpus", shared=None
    )
    corpus = dict(zip(bleu.systems, bleu.scores()[0], strict=True))
    assert table.metrics["bleu"].score_corpus(
        table.test.systems["AIRC"], refs=table.test.streams
    ) == pytest.approx(corpus["AIRC"])


def test_labels_are_not_scored_as_texts():
    table = an.load_scores("wmt24/en-de")
    with pytest.raises(UnknownName, match="ttr"):
        an.metric("ttr", table.test)
    with pytest.raises(DataError, match=r"alone. Load the texts"):
        an.oracle_study(table.test, an.from_systems(table.test), an.metric("chrf", "de"))
    mixed = an.TestSet(
        "mixed",
        "en-de",
        ("",),
        table.test.subset([0]).refs,
        {"mine": ("Ja.",)},
        stored=table.metrics,
    )
    with pytest.raises(DataError, match="no stored score of 'Ja"):
        an.system_scores(mixed, table.metrics["lpp"])
    other = an.TestSet(
        "other", "en-de", ("",), {"refA": (table.test.systems["refA"][0],)}, stored=table.metrics
    )
    with pytest.raises(DataError, match="one reference"):
        table.metrics["chrf"].score_segments(["[GPT-4, segment 1]"], refs=other.streams)


def test_a_stored_metric_without_direction_is_refused():
    with pytest.raises(DataError, match="no direction"):
        _of_systems("mine", "MyMetric", {"A": 1.0}, "wmt24/en-de")


@pytest.mark.parametrize(
    ("damage", "match"),
    [
        (lambda data: b"nothing", "cannot be read"),
        (lambda data: lzma.compress(b"{}\na,b\n1,2\n"), "cannot be read"),
        (lambda data: lzma.compress(lzma.decompress(data)[:-2000]), "cannot be read"),
    ],
)
def test_a_damaged_table_is_named(tmp_path, damage, match):
    path = tmp_path / "wmt23.en-de.csv.xz"
    path.write_bytes(damage((bundled(FOLDER) / path.name).read_bytes()))
    with pytest.raises(DataError, match=match) as error:
        an.load_scores(path)
    assert str(path) in str(error.value)
    with pytest.raises(UnknownName, match="wmt24/en-fr"):
        an.load_scores("wmt24/en-fr")


def test_a_plane_of_a_table_needs_no_texts_and_no_torch(tmp_path):
    code = (
        "import sys; from anhelpers.charts import offline; offline.save = lambda *args, **how: None;"
        "from anhelpers.plane import paired; paired._MOST = 0;"
        "from anhelpers.cli import main, plane; plane._DRAWS = plane._SWAPS = 50;"
        f"main(['plane', '--data', 'wmt23/en-de', '--naturalness', 'lpp', '-o', {str(tmp_path / 'out')!r}]);"
        "main(['score', '--data', 'wmt23/en-de', '-m', 'lpp-distance']);"
        "assert 'torch' not in sys.modules"
    )
    env = {key: value for key, value in os.environ.items() if key != "ANHELPERS_DATA"}
    env |= {"ANHELPERS_CACHE": str(tmp_path), "ANHELPERS_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=env,
        cwd=bundled(".").parent,
    )
    assert done.returncode == 0, done.stderr
    assert "labels take the place of the texts" in done.stderr
    assert (tmp_path / "out" / "plane.html").exists()
    assert "AIRC,lpp-distance,corpus" in done.stdout
