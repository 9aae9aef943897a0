"""The published results on XMI: the bundled table, the authors' files, the correlations and BLEU."""

import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from anhelpers.data import read_lines
from anhelpers.errors import DataError, UnknownName
from anhelpers.xmi.features import feature_correlations
from anhelpers.xmi.published import (
    FEATURE_NAMES,
    FEATURES,
    published_table,
    read_features,
    read_results,
    recomputed_bleu,
    sides,
    token_gap,
)

CODES = "bg cs da de el es et fi fr hu it lt lv nl pl pt ro sk sl sv"
LANGUAGES = set(CODES.split())


@pytest.mark.verifies("XMI", by="foreign", of="the paper's printed table")
def test_xmi_is_the_difference_of_the_cross_entropies_within_rounding():
    """Three numbers rounded to 0.01 each: their sum is known to 0.015, and so, in steps of 0.01, to 0.01."""
    table = published_table()
    off = (100 * (table.h_lm - table.h_mt - table.xmi)).round(6)
    assert set(off) <= {-1.0, 0.0, 1.0}


@pytest.mark.verifies(
    "Means of XMI by side and correlation with BLEU", by="foreign", of="the paper's numbers"
)
def test_means_and_correlations_with_bleu_of_the_bundled_table():
    into, out = sides(published_table()).to_dict("records")
    assert (round(into["xmi"], 2), round(out["xmi"], 2)) == (96.91, 102.16)
    assert (round(into["pearson"], 3), round(out["pearson"], 3)) == (0.961, 0.645)
    assert (into["n"], out["n"]) == (20, 20)


def test_the_bundled_features_are_those_of_the_same_directions():
    """A feature of one language has one value for it as source and as target; a distance from English is symmetric."""
    features = read_features()
    assert features.columns.tolist() == ["direction", "src", "trg", *FEATURES]
    assert features.direction.tolist() == published_table().direction.tolist()
    assert (features.direction == features.src + "-" + features.trg).all()
    there = features.set_index(["src", "trg"])
    back = there.reindex([(trg, src) for src, trg in there.index])
    for name, (_, by) in FEATURES.items():
        if by == "src":
            assert (there.groupby("src")[name].nunique() == 1).all()
            assert there[name].tolist() == back[name.replace("src_", "trg_")].tolist()
        if by == "other":
            assert there[name].tolist() == back[name].tolist()
    assert list(FEATURE_NAMES) == list(FEATURES)
    assert len(set(FEATURE_NAMES.values())) == 17


def assert_described(table, features, source):
    """The docstring of `feature_correlations` has Spearman's r by either: "−0.512 and −0.463 by the table that ..."."""
    r = feature_correlations(table, features).set_index(["feature", "method"]).r
    said = f"{r['src_ttr', 'spearman']:.3f} and {r['ttr_distance', 'spearman']:.3f} by {source}".replace(
        "-", "−"
    )
    assert said in " ".join(feature_correlations.__doc__.split())


@pytest.mark.verifies(
    "Correlations of XMI with features", by="foreign", of="the paper's r and decisions"
)
@pytest.mark.erratum("XMI Table 2, significant features")
def test_the_bundled_tables_leave_the_same_features_significant():
    """XMI to two decimals instead of four changes the third digit of r (ties for Spearman), and no decision."""
    assert_described(published_table(), read_features(), "the bundled table")
    found = feature_correlations(published_table(), read_features())
    named = found.set_index(["feature", "method"])
    assert named.r["src_ttr", "pearson"] == pytest.approx(-0.520, abs=5e-4)
    paper = {("src_ttr", "pearson"), ("src_ttr", "spearman"), ("ttr_distance", "spearman")}
    assert set(named.index[named.bonferroni]) == paper
    assert set(named.index[named.holm]) == paper | {("src_hpe", "pearson")}
    assert set(found.feature[found.p < 0.05 / 34]) == {"src_ttr"}
    assert found.uncorrected.sum() == 14


@pytest.mark.verifies("Tokens behind a published XMI", by="property")
@pytest.mark.erratum("XMI Table 1, same tokens")
def test_tokens_of_the_two_models_differ_into_english_only():
    gap = token_gap().set_index("direction")
    assert set(gap.index[gap.same]) == {f"en-{x}" for x in LANGUAGES} | {"bg-en"}
    assert gap.gap.idxmin() == "fr-en"
    assert round(gap.gap.min(), 2) == -0.86
    assert (gap.gap.abs() / gap.tokens_lm).max() < 0.03
    barely = gap[~gap.same & (gap.gap.abs() < 5 * gap.slack)]
    assert barely.gap.round(2).to_dict() == {"fi-en": 0.01, "hu-en": 0.01, "pl-en": 0.02}
    assert (barely.gap / barely.slack).round(1).to_dict() == {
        "fi-en": 1.5,
        "hu-en": 1.9,
        "pl-en": 4.1,
    }


@pytest.mark.verifies("Tokens behind a published XMI", by="hand")
def test_tokens_by_hand():
    """30 bits at 3 bits a token are 10 tokens, 12 bits at 1.5 are 8; each rounded number moves them a little."""
    table = pd.DataFrame(
        [("de-en", "de", "en", 30.0, 12.0, 3.0, 1.5)],
        columns=["direction", "src", "trg", "h_lm", "h_mt", "nll_lm", "nll_mt"],
    )
    (row,) = token_gap(table).to_dict("records")
    assert (row["tokens_lm"], row["tokens_mt"], row["gap"], row["same"]) == (10, 8, -2, False)
    assert row["slack"] == pytest.approx(5e-5 * (1 / 3 + 1 / 1.5 + 10 / 3 + 8 / 1.5))
    assert token_gap(table.assign(h_mt=15.0)).same.all()


def frames(y, x):
    names = [f"d{i}" for i in range(len(y))]
    return pd.DataFrame({"direction": names, "xmi": y}), pd.DataFrame(
        {"direction": names[::-1], "f": x[::-1]}
    )


@pytest.mark.verifies(
    "Pearson's correlation",
    "p-value and interval of a correlation",
    "Correlations of XMI with features",
    by="hand",
)
def test_a_correlation_by_hand():
    """(1, 2, 3, 4) and (2, 1, 4, 3): r = 3/5, t = 0.6 √2 / 0.8 = 1.0607, and with 2 degrees of freedom p = 1 − r."""
    found = feature_correlations(*frames(np.array([1.0, 2, 3, 4]), np.array([2.0, 1, 4, 3])))
    assert found.r.tolist() == pytest.approx([0.6, 0.6], rel=1e-12)
    assert found.p.tolist() == pytest.approx([0.4, 0.4], rel=1e-12)
    assert found.se.tolist() == pytest.approx([np.sqrt(0.32)] * 2, rel=1e-12)
    assert found.n.tolist() == [4, 4]


@pytest.mark.verifies(
    "Pearson's correlation",
    "Spearman's correlation",
    "Correlations of XMI with features",
    by="foreign",
    of="scipy",
)
@given(arrays(float, (2, 9), elements=st.integers(-20, 20).map(float)))
def test_scipy_agrees(values):
    y, x = values
    if min(np.ptp(x), np.ptp(y)) == 0:
        assert feature_correlations(*frames(y, x))[["r", "p"]].isna().all(axis=None)
        return
    found = feature_correlations(*frames(y, x)).set_index("method")
    for method, theirs in (("pearson", stats.pearsonr(y, x)), ("spearman", stats.spearmanr(y, x))):
        assert found.r[method] == pytest.approx(theirs.statistic, abs=1e-12)
        if abs(theirs.statistic) < 1 - 1e-9:
            assert found.p[method] == pytest.approx(theirs.pvalue, rel=1e-7)


@pytest.mark.verifies("Benjamini and Hochberg's q", by="hand")
@pytest.mark.verifies("Benjamini and Hochberg's q", by="property")
@pytest.mark.verifies("Benjamini and Hochberg's q", by="foreign", of="statsmodels, recorded")
@pytest.mark.parametrize(
    ("p", "q"),
    [
        ([0.01, 0.015, 0.03, 0.2], [4 * 0.015 / 2] * 2 + [4 * 0.03 / 3, 0.2]),
        (
            [0.01, 0.015, 0.03, 0.2, 4e-4, 0.03, 0.6],
            [0.035] * 2 + [0.042, 7 / 30, 0.0028, 0.042, 0.6],
        ),
    ],
)
def test_the_expected_share_of_false_rejections(monkeypatch, p, q):
    """By hand, and multipletests(p, method="fdr_bh") of statsmodels 0.15.0; never above Holm's."""
    monkeypatch.setattr("anhelpers.xmi.features.correlation_p", lambda r, n: np.array(p))
    table, features = frames(np.arange(4.0), np.arange(4.0))
    many = features[["direction"]].assign(
        **{f"x{k}": np.random.default_rng(k).random(4) for k in range(len(p))}
    )
    found = feature_correlations(table, many)
    assert found.q.tolist() == pytest.approx(q * 2, rel=1e-12)
    assert found.fdr.equals(found.q < 0.05)
    assert ((found.p <= found.q) & (found.q <= found.p_holm)).all()


@pytest.mark.verifies("Correlations of XMI with features", by="property")
def test_a_feature_that_does_not_vary_is_no_test():
    """Not even where its mean is rounded; the threshold counts the other one only."""
    table, features = frames(np.array([1.0, 3, 2, 5, 4]), np.array([1.0, 2, 3, 4, 5]))
    found = feature_correlations(table, features.assign(same=0.007962)).set_index(
        ["feature", "method"]
    )
    assert found.loc["same"][["r", "p", "p_holm", "q"]].isna().all(axis=None)
    assert not found.loc["same"][["uncorrected", "bonferroni", "holm", "fdr"]].any(axis=None)
    assert (found.threshold == 0.05).all()


@pytest.mark.parametrize(
    "change",
    [
        lambda t, f: (t.iloc[:2], f),
        lambda t, f: (t, f.iloc[1:]),
        lambda t, f: (pd.concat([t, t]), f),
        lambda t, f: (t, f.replace(4.0, np.nan)),
        lambda t, f: (t.replace(4.0, np.inf), f),
    ],
)
def test_what_correlations_refuse(change):
    table, features = frames(np.array([1.0, 2, 3, 4]), np.array([2.0, 1, 4, 3]))
    with pytest.raises(DataError):
        feature_correlations(*change(table, features))


# ---- real data


def test_output_files_of_ones_own(tmp_path):
    place = tmp_path / "de2en"
    place.mkdir()
    (place / "preds.test").write_text("a b c d\na small house\n")
    (place / "truth.test").write_text("a b c d\nthe small house\n")
    found = recomputed_bleu(tmp_path)
    theirs = sacrebleu.corpus_bleu(
        ["a b c d", "a small house"], [["a b c d", "the small house"]]
    ).score
    assert found.to_numpy().tolist() == [["de-en", theirs, 2]]
    assert recomputed_bleu(place).empty
    (place / "truth.test").write_text("a b c d\n")
    with pytest.raises(DataError):
        recomputed_bleu(tmp_path)


@pytest.fixture(scope="module")
def xmi() -> Path:
    if not os.environ.get("ANHELPERS_DATA"):
        pytest.skip("set ANHELPERS_DATA to the folder of the shared data sets to run this test.")
    return Path(os.environ["ANHELPERS_DATA"]) / "xmi"


@pytest.mark.real
def test_the_bundled_table_is_the_results_rounded(xmi):
    ours = published_table().set_index("direction")
    theirs = read_results(xmi / "results").set_index("direction")
    assert ours.index.tolist() == theirs.index.tolist()
    for name in ("h_lm", "h_mt", "xmi"):
        assert abs(ours[name] - theirs[name]).max() < 0.005 + 1e-9
    assert (ours.bleu == theirs.bleu).all()


@pytest.mark.real
def test_the_bundled_features_are_those_of_the_results(xmi):
    pd.testing.assert_frame_equal(read_features(), read_features(xmi / "results"), check_exact=True)


@pytest.mark.verifies(
    "Tokens behind a published XMI", by="foreign", of="the authors' four-digit results"
)
@pytest.mark.real
def test_into_english_the_two_models_do_not_predict_the_same_tokens(xmi):
    ours, theirs = token_gap(), token_gap(read_results(xmi / "results"))
    assert set(theirs.direction[theirs.same]) == {f"en-{x}" for x in LANGUAGES} | {"bg-en"}
    assert (
        ours[["direction", "nll_lm", "nll_mt"]] == theirs[["direction", "nll_lm", "nll_mt"]]
    ).all(axis=None)
    assert (abs(ours.gap - theirs.gap) <= ours.slack + theirs.slack).all()


@pytest.mark.verifies("BLEU", by="foreign", of="the paper's printed BLEU")
@pytest.mark.real
def test_bleu_of_the_output_files_is_the_published_one(xmi):
    found = recomputed_bleu(xmi / "outputs")
    published = published_table().set_index("direction").bleu
    assert len(found) == 12
    assert found.bleu.round(1).tolist() == published[found.direction].tolist()
    assert set(found.n) == {2000}
    place = xmi / "outputs/en2lt"
    theirs = sacrebleu.corpus_bleu(
        read_lines(place / "preds.test"), [read_lines(place / "truth.test")]
    ).score
    assert found.set_index("direction").bleu["en-lt"] == theirs


@pytest.mark.real
@pytest.mark.parametrize(
    ("file", "old", "new", "line"),
    [
        ("xent.mt.csv", "bg,en,51.8457", "bg,en,abc", 2),
        ("xent.mt.csv", "cs,en,57.2295", "bg,en,57.2295", 3),
        ("xent.lm.csv", "bg,156.4857\n", "", None),
        ("xent.lm.csv", "bg,156.4857\n", "bg,\n", None),
        ("bleu.mt.csv", "src,tgt,value", "src,trg,value", 1),
    ],
)
def test_broken_results_are_refused_with_file_and_line(xmi, tmp_path, file, old, new, line):
    shutil.copytree(xmi / "results/test", tmp_path / "test", copy_function=shutil.copyfile)
    path = tmp_path / "test" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(DataError) as error:
        read_results(tmp_path)
    assert (error.value.path, error.value.line) == (path, line)


def test_unknown_names_are_refused(tmp_path):
    for names in ({"split": "tset"}, {"count": "some"}):
        with pytest.raises(UnknownName):
            read_results(tmp_path, **names)
    with pytest.raises(DataError):
        read_results(tmp_path)


@pytest.mark.verifies("Means of XMI by side and correlation with BLEU", by="hand")
@pytest.mark.verifies("Means of XMI by side and correlation with BLEU", by="property")
def test_sides_by_hand_and_into_english_xmi_is_minus_h_mt():
    """XMI 1 2 3 4 and BLEU 2 1 4 3: means 5/2, r = 3/5. Where H_LM is one number, r with XMI is −r with H_MT."""
    table = pd.DataFrame(
        {"src": list("abcd"), "trg": "en", "xmi": [1.0, 2, 3, 4], "bleu": [2.0, 1, 4, 3]}
    )
    into = sides(table).iloc[0]
    assert (into.n, into.xmi, into.bleu) == (4, 2.5, 2.5)
    assert into.pearson == pytest.approx(0.6, rel=1e-12)
    published = published_table().query("trg == 'en'")
    assert published.h_lm.nunique() == 1
    r = stats.pearsonr(published.h_mt, published.bleu).statistic
    # h_mt is rounded, too
    assert sides(published_table()).pearson[0] == pytest.approx(-r, abs=1e-4)
