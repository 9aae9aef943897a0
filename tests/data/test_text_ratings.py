"""Ratings of single texts, joined by id, and the two metrics whose scores they are."""

import json
import os
import shutil

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anhelpers.classroom import krippendorff_alpha
from anhelpers.cli import main
from anhelpers.data import (
    CandidateSet,
    TestSet,
    bundled,
    find_file,
    load,
    load_candidates,
    load_ratings,
    read_ratings,
)
from anhelpers.data.text_ratings import rated_metric, ratings_beside
from anhelpers.errors import DataError, UnknownName
from anhelpers.mqm import score_ratings
from anhelpers.plane import oracle_study, with_human_points
from anhelpers.scoring import score_all, system_rows
from anhelpers.scoring.lookup import accuracy_metric, naturalness_metric, row_of

HEAD = "segment\tid\tpass\tnaturalness\taccuracy"
SET = [
    {
        "src": "The dog barks.",
        "refs": ["Der Hund bellt."],
        "lp": "en-de",
        "candidates": [
            {"text": "Der Hund bellt laut.", "id": "a"},
            {"text": "Hund bellt.", "id": "b"},
        ],
    },
    {
        "src": "It is late.",
        "refs": ["Es ist spät."],
        "lp": "en-de",
        "candidates": [{"text": "Spät ist es.", "id": "a2"}],
    },
]
ROWS = [
    "0\ta\tx\t90\t60",
    "0\ta\ty\t80\t70",
    "0\tb\tx\t20\t95",
    "0\tb\ty\t30.5\t90",
    "1\ta2\tx\t70\t100",
    "1\ta2\ty\t71\t98",
]


@pytest.fixture
def own(tmp_path):
    """Writes a set of two sources and its ratings; returns the path of the set."""

    def write(rows=ROWS, head=HEAD, objects=SET):
        lines = "".join(json.dumps(one) + "\n" for one in objects)
        (tmp_path / "mine.jsonl").write_text(lines, encoding="utf-8")
        (tmp_path / "ratings.tsv").write_text(
            "".join(f"{row}\n" for row in [head, *rows]), encoding="utf-8"
        )
        return tmp_path / "mine.jsonl"

    return write


@pytest.mark.verifies("Rated accuracy, rated naturalness", by="foreign", of="pandas")
@pytest.mark.parametrize("name", ["teaching", "teaching/de-en"])
def test_the_teaching_sets_ratings_stand_beside_its_texts(name):
    test, cands, found = load(name), load_candidates(name), load_ratings(name)
    assert found.passes == ("pass1", "pass2")
    assert found.ids[: found.n_candidates] == cands.ids
    assert found.texts == (*cands.texts, *test.refs["refB"], *test.refs["refA"])
    np.testing.assert_array_equal(found.segment, [*cands.segment, *range(52), *range(52)])
    table = pd.read_csv(ratings_beside(name), sep="\t")
    means = table.groupby(["segment", "id"])[["naturalness", "accuracy"]].mean()
    assert len(found.ids) == len(means) == len(cands) + 104
    for axis in ("naturalness", "accuracy"):
        wanted = means.loc[list(zip(found.segment, found.ids, strict=True)), axis]
        np.testing.assert_array_equal(found.mean(axis), wanted)
        of_cands, of_systems = score_all(test, rated_metric(f"rated-{axis}", test.trg_lang), cands)
        np.testing.assert_array_equal(of_cands, wanted[: len(cands)])
        assert not np.isnan(of_systems).any()
    assert naturalness_metric("rated-naturalness", test.trg_lang).signature == (
        f"rated-naturalness|set:{name}|passes:pass1+pass2|n:{len(found.ids)}|sha256:{found.digest}"
    )


@pytest.mark.parametrize("name", ["teaching/en-de", "teaching/de-en"])
def test_the_readme_of_the_ratings_gives_their_agreement(name):
    readme, found = bundled(f"{name}/README.md").read_text(encoding="utf-8"), load_ratings(name)
    assert f"{2 * len(found.ids):,} rows" in readme
    for axis in ("naturalness", "accuracy"):
        each = found.each(axis)
        rank = pd.DataFrame(each).rank().corr().iloc[0, 1]
        alpha, pearson = krippendorff_alpha(each, "interval"), np.corrcoef(each.T)[0, 1]
        row = next(line for line in readme.splitlines() if line.startswith(f"| {axis} |"))
        for number in (alpha, pearson, rank):
            assert f"{number:.3f} (" in row, (axis, number)
        assert f"| {np.abs(each[:, 0] - each[:, 1]).mean():.1f} |" in row
        good = each[found.mean(axis) >= 85]
        alpha, pearson = krippendorff_alpha(good, "interval"), np.corrcoef(good.T)[0, 1]
        assert f"| {alpha:.2f} and {pearson:.2f} ({len(good)} texts) |" in row
    controls = dict(zip(found.ids, found.mean("accuracy"), strict=True))
    assert max(value for key, value in controls.items() if key.endswith("unrelated-fluent")) < 30


@pytest.mark.verifies("Rated accuracy, rated naturalness", by="hand")
def test_a_text_scores_the_mean_of_its_passes(own, capsys):
    path = own()
    found = load_ratings(path)
    assert found.mean("naturalness").tolist() == [85, 25.25, 70.5]
    assert found.each("accuracy").tolist() == [[60, 70], [95, 90], [100, 98]]
    metric = accuracy_metric(f"rated-accuracy:{path}", "de")
    srcs = ["It is late.", "The dog barks."]
    scores = metric.score_segments(
        ["Spät ist es.", " Hund bellt.", "Der Hund bellt.", ""], srcs=srcs, segment=[0, 1, 1, 1]
    )
    np.testing.assert_array_equal(scores, [99, 92.5, np.nan, np.nan])
    assert (
        f"{metric.name}: 1 of 4 texts have no rating in mine.jsonl, and no score."
        in capsys.readouterr().err
    )
    with pytest.raises(UnknownName, match="axis"):
        found.mean("fluency")


@pytest.mark.verifies("Rated accuracy, rated naturalness", by="property")
@settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.permutations(ROWS[0::2]), st.permutations(ROWS[1::2]))
def test_the_order_of_the_rows_decides_nothing(own, first, second):
    path, other = own(), load_ratings(own([*first, *second]))
    found = load_ratings(own())
    assert (found.ids, found.texts) == (other.ids, other.texts)
    for axis in ("naturalness", "accuracy"):
        np.testing.assert_array_equal(found.each(axis), other.each(axis))
        assert (found.each(axis).min(1) <= found.mean(axis)).all()
        assert (found.mean(axis) <= found.each(axis).max(1)).all()
    assert path.name == other.name


def test_rated_references_join_by_their_name(own):
    refs = [
        f"{i}\tx-{i}/ref{one}\t{one_pass}\t88\t99"
        for i in (0, 1)
        for one_pass in "xy"
        for one in ("",)
    ]
    named = load("teaching")
    assert "refA" in named.refs
    path = own()
    name = next(iter(load(path).refs))
    rows = [*ROWS, *(row.replace("/ref\t", f"/{name}\t") for row in refs)]
    found = load_ratings(own(rows))
    assert (len(found.ids), found.n_candidates) == (5, 3)
    assert found.texts[3:] == ("Der Hund bellt.", "Es ist spät.")
    assert found.mean("accuracy").tolist()[3:] == [99, 99]
    with pytest.raises(
        DataError, match=rf"…/{name} of segment 1 has no rating in x \(2 such ratings of 10"
    ):
        load_ratings(own(rows[:-2]))


@pytest.mark.parametrize(
    ("rows", "head", "sentence"),
    [
        (
            ROWS[:-1],
            HEAD,
            r"ratings.tsv: a2 of segment 1 has no rating in y \(1 such ratings of 6 are missing\)",
        ),
        (
            [*ROWS, "1\tz\tx\t1\t2"],
            HEAD,
            r"z of segment 1 is neither a candidate nor a reference \(1 such\)",
        ),
        ([*ROWS, "0\ta\tx\t1\t2"], HEAD, "line 8: a of segment 0 has a second rating in x"),
        ([*ROWS[1:], "0\ta\tx\t1\t101"], HEAD, "101 is no rating; they go from 0 to 100"),
        ([*ROWS[1:], "0\ta\tx\t-1\t10"], HEAD, "'-1' is no naturalness; it must be a number ≥ 0"),
        ([*ROWS[1:], "0\ta\tx\t\t10"], HEAD, "'' is no naturalness"),
        ([*ROWS[1:], "²\ta\tx\t1\t10"], HEAD, "'²' is no segment; they count from 0"),
        ([*ROWS[1:], "0\ta\t\t1\t10"], HEAD, "there is no id, or no pass"),
        ([*ROWS, "0\ta\tx"], HEAD, "has 3 fields, and the header 5"),
        (
            ROWS,
            HEAD.replace("pass", "rater"),
            "its header must be segment, id, pass, naturalness, accuracy",
        ),
        ([], HEAD, "this table has no rows"),
    ],
)
def test_what_is_wrong_with_a_table_is_told(own, rows, head, sentence):
    with pytest.raises(DataError, match=sentence):
        load_ratings(own(rows, head))


def test_what_ratings_would_need_is_told(own, tmp_path):
    wanted = "has no ratings of its texts; that takes a file ratings.tsv with the columns segment, id, pass,"
    for name in ("wmt24/en-de", tmp_path / "x.jsonl"):
        with pytest.raises(DataError, match=wanted):
            load_ratings(name)
    nameless = [one | {"candidates": ["Ja.", "Nein."]} for one in SET]
    with pytest.raises(DataError, match="the candidates have no ids, by which ratings are found"):
        load_ratings(own(objects=nameless))
    with pytest.raises(DataError, match="holds no sources, so its ratings belong to no text"):
        load_ratings(own(objects=[{"segment": 0, "text": "Ja.", "id": "a"}]))


def test_other_texts_than_the_rated_ones_are_told():
    metric = rated_metric("rated-naturalness")
    told = "knows the ratings of teaching, and none of these texts has a source of it; rated-naturalness:FOLDER takes"
    with pytest.raises(DataError, match=told):
        metric.score_segments(["Ja."], srcs=["Yes."])
    with pytest.raises(DataError, match="names no set; write a folder"):
        naturalness_metric("rated-naturalness:", "de")
    with pytest.raises(DataError, match="rated-accuracy takes no options, got device"):
        accuracy_metric("rated-accuracy", device="cpu")
    assert row_of("rated-accuracy:x").axis == "accuracy"
    assert row_of("rated-naturalness").axis == "naturalness"
    with pytest.raises(UnknownName, match="unknown metric 'rated-accuracyx'"):
        row_of("rated-accuracyx")


def test_a_domain_keeps_its_ratings_and_a_shuffled_reference_has_none():
    test, metric = load("teaching"), rated_metric("rated-accuracy")
    part = test.subset(np.array(test.domains) == "speech")
    whole = system_rows(test, [metric]).value
    assert system_rows(part, [metric]).n.tolist() == [13] * 8
    assert (whole > 70).all()
    moved = TestSet(
        "moved", "en-de", test.srcs, {}, {"shuffled": test.refs["refA"][1:] + test.refs["refA"][:1]}
    )
    assert np.isnan(score_all(moved, metric)[1]).all()


def test_the_study_of_rated_texts_has_every_point_and_people(capsys):
    test, cands = with_human_points(load("teaching")), load_candidates("teaching")
    axes = accuracy_metric("rated-accuracy"), naturalness_metric("rated-naturalness", "de")
    study = oracle_study(test, cands, *axes)
    assert len(study.test) == 52
    assert "refA" in study.plane.systems
    assert study.curve.accuracy.max() > 98 > 30 > study.curve.accuracy.min()
    more = CandidateSet(
        np.array([*cands.segment, 51]), (*cands.texts, "Nie gesehen."), (*cands.tags, "new")
    )
    again = oracle_study(test, more, *axes)  # nobody rated it, so that no oracle can choose it
    assert "Nie gesehen." not in again.cands.texts
    assert again.curve.accuracy.tolist() == study.curve.accuracy.tolist()
    assert f"1 of {len(more):,} candidates have no score (first: source 52)." in again.notes


def test_the_commands_take_the_names_and_a_folder_of_ones_own(tmp_path, capsys):
    both = ["-m", "rated-accuracy", "--naturalness", "rated-naturalness"]
    assert (
        main(["plane", "--data", "teaching", *both, "--draws", "20", "-o", str(tmp_path / "plane")])
        == 0
    )
    table = pd.read_csv(tmp_path / "plane" / "systems.csv")
    assert table.naturalness_signature.str.startswith("rated-naturalness|set:teaching|").all()
    assert table.above_curve.sum() == 1  # refA, which is no candidate
    page = ["--html", str(tmp_path / "curve.html"), "-o", str(tmp_path / "curve.csv")]
    assert main(["curve", "teaching", *both, *page]) == 0
    curve = pd.read_csv(tmp_path / "curve.csv")
    assert curve.naturalness.between(80, 100).all()
    copy = tmp_path / "mine"
    shutil.copytree(bundled("teaching/en-de"), copy)
    capsys.readouterr()
    assert (
        main(
            [
                "score",
                "--data",
                "teaching",
                "-m",
                f"rated-accuracy:{copy}",
                f"rated-naturalness:{copy}",
            ]
        )
        == 0
    )
    assert "rated-naturalness|set:mine|passes:pass1+pass2|n:1537|" in capsys.readouterr().out
    (copy / "ratings.tsv").unlink()
    assert main(["score", "--data", "teaching", "-m", f"rated-accuracy:{copy}"]) == 2
    assert (
        "mine: has no ratings of its texts; that takes a file ratings.tsv"
        in capsys.readouterr().err
    )


@pytest.mark.real
@pytest.mark.skipif(
    "ANHELPERS_DATA" not in os.environ, reason="set ANHELPERS_DATA to the shared data sets"
)
def test_the_experts_beside_whom_the_readme_puts_the_passes():
    scores = score_ratings(read_ratings(find_file("mqm/wmt23-ende-sxs")))
    rows = pd.DataFrame({"rater": scores.rater, "segment": scores.segment, "system": scores.system})
    wide = rows.assign(penalty=scores.values[:, 0]).pivot(
        index=["segment", "system"], columns="rater"
    )
    assert set(wide.notna().sum(axis=1)) == {3}
    alpha = krippendorff_alpha(wide.to_numpy(), "interval")
    assert f"on the same segments of WMT23 en-de is {alpha:.2f}." in bundled(
        "teaching/en-de/README.md"
    ).read_text("utf-8")
