"""MQM penalties: by hand, by property, against pandas and the published scores; marks and categories."""

import csv
import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers import mqm
from anhelpers.cli import main
from anhelpers.data import bundled
from anhelpers.data.ratings import read_ratings
from anhelpers.errors import DataError, UnknownName
from anhelpers.mqm import KINDS, choose_scheme, load_scheme, load_weights, score_ratings
from anhelpers.mqm.scores import _domain_of

pytestmark = pytest.mark.filterwarnings("ignore::anhelpers.errors.AnhelpersWarning")
SHARED = os.environ.get("ANHELPERS_DATA")
HEADER = "system doc doc_id seg_id rater source target category severity".replace(" ", "\t")
ERRORS = [
    "No-error|No-error",
    "Accuracy/Mistranslation|Major",
    "Accuracy/Omission|Minor",
    "Fluency/Punctuation|Minor",
    "Fluency/Punctuation|Major",
    "Style/Awkward|Minor",
    "Source issue|Major",
    "Other|Minor",
    "Non-translation!|Major",
    "Style/Unnatural or awkward|Neutral",
]


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mqm")

    def make(*rows: str, name: str = "mqm.tsv"):
        """Ratings from rows "system doc segment rater category|severity"."""
        lines = [HEADER]
        for row in rows:
            system, doc, segment, rater, error = row.split(" ", 4)
            lines.append(
                "\t".join([system, doc, segment, segment, rater, "s", "t", *error.split("|")])
            )
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return read_ratings(folder / name)

    return make


@pytest.mark.verifies(
    "MQM weights",
    "MQM penalty, accuracy and fluency",
    "MQM by rater, segment, document, system",
    by="hand",
)
def test_a_score_that_can_be_done_on_paper(read):
    ratings = read(
        "A news-1 1 r1 Accuracy/Mistranslation|Major",
        "A news-1 1 r1 Fluency/Punctuation|Minor",
        "A news-1 1 r2 No-error|No-error",
        "A news-1 2 r1 Other|Minor",
        "B news-1 1 r1 Non-translation!|Major",
    )
    scores = score_ratings(ratings)
    table = scores.by("segment").set_index(["system", "segment"])
    assert table.loc[("A", "1"), list(KINDS)].tolist() == [(5 + 0.1) / 2, 5 / 2, 0.1 / 2]
    assert table.loc[("A", "2"), list(KINDS)].tolist() == [1, 0, 0]  # ignored, and yet a penalty
    assert table.loc[("A", "1"), ["n_raters", "doc", "domain"]].tolist() == [2, "news-1", "news"]
    systems = scores.by().set_index("system")
    assert systems.loc["A"].tolist() == [2, 2, (5.1 / 2 + 1) / 2, 1.25, 0.025]
    assert systems.loc["B", "penalty"] == 25
    values, segments, docs, domains, names = scores.matrix("accuracy")
    assert np.array_equal(values, [[2.5, 25], [0, np.nan]], equal_nan=True)
    assert (segments, docs, domains, names) == (
        ("1", "2"),
        ("news-1",) * 2,
        ("news",) * 2,
        ("A", "B"),
    )
    raters = scores.by("rater").set_index(["system", "rater"])
    assert raters.loc[("A", "r1"), ["n_segments", "penalty"]].tolist() == [2, (5.1 + 1) / 2]
    for unknown in (scores.matrix, scores.by):
        with pytest.raises(UnknownName):
            unknown("acuracy")


rows = st.lists(
    st.builds(
        "{} {} {} {} {}".format,
        st.sampled_from("AB"),
        st.sampled_from(["news-1", "talk.2"]),
        st.integers(0, 3),
        st.sampled_from(["r1", "r2"]),
        st.sampled_from(ERRORS),
    ),
    min_size=1,
    max_size=25,
)


def _by_unit(scores) -> dict:
    names = zip(scores.system, scores.segment, scores.rater, scores.values, strict=True)
    docs, ids = scores.docs, [name.rpartition(":")[2] for name in scores.segments]
    return {
        (scores.systems[s], docs[g], ids[g], scores.raters[r]): value for s, g, r, value in names
    }


@pytest.mark.verifies("MQM by rater, segment, document, system", by="property")
@given(rows=rows, random=st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(read, rows, random):
    shuffled = rows.copy()
    random.shuffle(shuffled)
    one, other = score_ratings(read(*rows)), score_ratings(read(*shuffled))
    for level in ("rater", "doc"):
        a, b = one.by(level), other.by(level)
        assert a.drop(columns=list(KINDS)).equals(b.drop(columns=list(KINDS)))
        assert np.allclose(a[list(KINDS)], b[list(KINDS)], rtol=1e-12)


@pytest.mark.verifies("MQM weights", "MQM penalty, accuracy and fluency", by="property")
@given(rows=rows, more=rows)
def test_scores_are_additive_and_a_duplicate_counts_again(read, rows, more):
    a, b, both = (_by_unit(score_ratings(read(*part))) for part in (rows, more, rows + more))
    assert both.keys() == a.keys() | b.keys()
    for unit, value in both.items():
        assert value == pytest.approx(a.get(unit, 0) + b.get(unit, 0), abs=1e-12)
    for unit, value in _by_unit(score_ratings(read(*rows, *rows))).items():
        assert value == pytest.approx(2 * a[unit], abs=1e-12)


@pytest.mark.verifies("MQM penalty, accuracy and fluency", by="property")
@given(rows=rows)
def test_the_penalty_is_accuracy_and_fluency_and_what_is_ignored(read, rows):
    penalty, accuracy, fluency = score_ratings(read(*rows)).values.T
    ignored = 5 * sum("Source issue|Major" in row for row in rows) + sum(
        "Other|Minor" in row for row in rows
    )
    assert (penalty - accuracy - fluency).sum() == pytest.approx(ignored, abs=1e-9)
    assert (penalty >= accuracy + fluency - 1e-12).all()


def test_kinds_without_a_row_are_refused_unless_ignored(read, capsys):
    ratings = read(
        "A d 1 r Other|Minor",
        "A d 1 r Odd one|Major",
        "A d 1 r Odd one|Minor",
        "A d 2 r Accuracy/New|Minor",
    )
    with pytest.raises(DataError, match="Odd one") as refused:
        score_ratings(ratings)
    assert (refused.value.path, refused.value.line) == (ratings.paths[0], 3)
    scores = score_ratings(ratings, unclassified="ignore")
    # Accuracy/New by the part before the slash
    assert scores.values.tolist() == [[7, 0, 0], [1, 1, 0]]
    assert "Odd one" in capsys.readouterr().err
    with pytest.raises(DataError, match="Critical") as refused:
        score_ratings(read("A d 1 r Other|Minor", "A d 1 r Other|critical"))
    assert refused.value.line == 3
    with pytest.raises(UnknownName):
        score_ratings(ratings, unclassified="warn")


@pytest.mark.verifies("MQM weights", by="foreign", of="the conventions of three programs")
@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ("freitag2021", [25, 0.1, 5, 1, 0, 25]),
        ("mt-metrics-eval", [25, 0.1, 5, 1, 0, 1]),
        ("wmt24", [25, 0.1, 0, 1, 0, 25]),
    ],
)
def test_where_the_conventions_disagree(weights, expected):
    kinds = [
        ("Major", "non-translation"),
        ("minor", "Fluency/Punctuation"),
        ("Major", "Source issue"),
        ("Minor", "Other"),
        ("Neutral", "Style/Awkward"),
        ("Minor", "Non-translation!"),
    ]
    table = load_weights(weights)
    assert [table.weight(*kind) for kind in kinds] == expected
    critical = table.weight("Critical", "Other")
    creative = table.weight("Minor", "Accuracy/Creative Reinterpretation")
    wanted = {"freitag2021": (np.nan, 1), "mt-metrics-eval": (0, 1), "wmt24": (5, 0)}[weights]
    assert np.array_equal([critical, creative], wanted, equal_nan=True)


def test_the_schemes_are_those_of_appendix_d():
    wmt, en_es = load_scheme("wmt"), load_scheme("en-es")
    kinds = {"Accuracy/Gender Mismatch": "accuracy", "Non-translation!": "accuracy"}
    kinds |= {"Terminology/Inconsistent": "fluency", "Locale convention/Date format": "fluency"}
    kinds |= {"Source error": "ignored", "no-error": "none", "Grammar": None}
    assert {name: wmt.dimension(name) for name in kinds} == kinds
    kinds = {"do_not_translate": "accuracy", "date_time_format": "fluency"}
    assert {name: en_es.dimension(name) for name in kinds} == kinds
    counts = Counter(row[1] for row in en_es.rows)
    assert (counts["accuracy"], counts["fluency"]) == (9, 14)
    assert str(load_weights("wmt24")).startswith("weights wmt24\nNo-error  *")


def test_an_edited_table_is_read_and_named_by_its_rows(tmp_path, read):
    scheme, weights = tmp_path / "mine.csv", tmp_path / "weights.freitag2021.csv"
    scheme.write_text(
        'category,dimension,source\nNo-error,none,\n*o*,fluency,"me, today"\n', "utf-8"
    )
    published = bundled("mqm/weights.freitag2021.csv")
    names = {load_weights(published).name, "freitag2021"}
    for points in (9, 10):
        weights.write_text(
            published.read_text("utf-8").replace("Major,*,5", f"Major,*,{points}"), "utf-8"
        )
        scores = score_ratings(read("A d 1 r Other|Major"), str(scheme), weights)
        assert scores.values.tolist() == [[points, 0, points]]
        names.add(load_weights(weights).name)
    assert len(names) == 3
    assert re.search(
        r"\|scheme:mine@[0-9a-f]{8}\|weights:freitag2021@[0-9a-f]{8}\|", scores.signature
    )


@pytest.mark.parametrize(
    ("load", "text", "line"),
    [
        (load_scheme, "category,dimension,source\na,b\n", 2),
        (load_scheme, "category,dimension,source\na,none,x\nb,style,x\n", 3),
        (load_scheme, "", None),
        (load_weights, "severity,category,weight,source\nMajor,*,five,\n", 2),
        (load_weights, "severity,category,weight,source\nMajor,*,inf,\n", 2),
        (load_weights, "severity,category,weight,source\nMajor,*,1,\nmajor,*,2,\n", 3),
    ],
)
def test_a_damaged_table_is_refused_with_its_line(load, text, line, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError) as refused:
        load(path)
    assert Path(refused.value.path) == path
    assert line is None or refused.value.line == line


def test_the_scheme_is_chosen_from_the_categories(read):
    assert (
        choose_scheme(read("A d 1 r mistranslation|minor", "A d 1 r whitespace|minor")) == "en-es"
    )
    assert choose_scheme(read("A d 1 r Style/Awkward|minor", "A d 1 r Other|minor")) == "wmt"
    assert choose_scheme(read("A d 1 r No-error|No-error")) == "wmt"


def test_names_of_documents_and_systems():
    names = {"test-en-social_x": "social", "news-d1": "news", "x-y": "unknown", "Talk.3": "talk"}
    assert {doc: _domain_of(doc) for doc in names} == names
    names = {"refA": "refA", "X_with_refA": "X", "NLLB_MBR": "NLLB_MBR"}
    assert {name: mqm.base_system(name) for name in names} == names


def test_only_shared_segments_are_compared(read):
    scores = score_ratings(
        read(
            "A n 1 r Other|Minor",
            "B n 1 r Other|Major",
            "A n 2 r Other|Major",
            "A m 3 r2 No-error|No-error",
        )
    )
    assert "B on 1" in scores.coverage
    assert "1 for every system" in scores.coverage
    assert len(scores.coverage) <= 150
    few = scores.shared()
    assert (few.segments, few.docs, few.by().penalty.tolist()) == (("1",), ("n",), [1, 5])
    assert few.signature == f"{scores.signature}|segments:shared"
    assert few.notes == ()
    assert few.shared() is few
    with pytest.raises(DataError):
        score_ratings(read("A n 1 r Other|Minor", "B n 2 r Other|Major")).shared()


def test_the_command(tmp_path, capsys, read):
    assert main(["mqm", str(bundled("teaching/en-de/mqm.tsv"))]) == 0
    out, err = capsys.readouterr()
    table = list(csv.DictReader(out.splitlines()))
    assert len(table) == 8
    assert {row["resampled"] for row in table} == {"documents and raters"}
    penalties = [float(row["penalty"]) for row in table]
    assert penalties == sorted(penalties)
    assert "scheme wmt" in err
    target = tmp_path / "domains.csv"
    argv = ["mqm", str(bundled("teaching/en-de/mqm.tsv")), "--by", "domain", "--scheme", "wmt"]
    assert main([*argv, "-o", str(target)]) == 0
    rows = csv.DictReader(target.read_text().splitlines())
    assert {row["domain"] for row in rows} == {"news", "literary", "social", "speech"}
    odd = read("A d 1 r Odd|Minor", name="odd.tsv").paths[0]
    assert main(["mqm", odd]) == 2
    assert odd in capsys.readouterr().err


# README of google/wmt-mqm-human-evaluation, TED talks en-de; eTranslation is printed 1.96, computed 1.97
PUBLISHED = """
ref 0.91, Facebook-AI 1.06, Online-W 1.12, VolcTrans-AT 1.24, metricsystem3 1.44, VolcTrans-GLAT 1.49, HuaweiTSC 1.50,
metricsystem1 1.63, metricsystem2 1.69, metricsystem5 1.72, UEdin 1.77, metricsystem4 1.78, eTranslation 1.97, Nemo 2.14
"""


@pytest.mark.verifies(
    "MQM penalty, accuracy and fluency",
    "MQM by rater, segment, document, system",
    by="foreign",
    of="the published scores of TED 2021",
)
@pytest.mark.erratum("WMT MQM, TED 2021")
@pytest.mark.real
def test_the_published_scores_of_ted_are_met():
    folder = Path(SHARED, "mqm")
    scores = score_ratings(read_ratings(folder / "mqm_ted_ende.tsv"))
    found = {f"{row.system} {row.penalty:.2f}" for row in scores.by().itertuples()}
    assert found == {*re.split(r",\s", PUBLISHED.strip())}
    published = {}
    for line in (folder / "mqm_ted_ende.avg_seg_scores.tsv").read_text().splitlines()[1:]:
        system, score, segment = line.split()
        published["ref" if system == "ref-A" else system, segment] = (
            np.nan if score == "None" else -float(score)
        )
    rated = {(row.system, row.segment): row.penalty for row in scores.by("segment").itertuples()}
    assert rated.keys() == {key for key, score in published.items() if not np.isnan(score)}
    assert max(abs(published[key] - score) for key, score in rated.items()) < 1e-6


TABLE_4 = {  # Freitag et al. 2021, Table 4
    ("Major", "Non-translation!"): 25,
    ("Major", "Accuracy/Mistranslation"): 5,
    ("Major", "Fluency/Punctuation"): 5,
    ("Minor", "Fluency/Punctuation"): 0.1,
    ("Minor", "Fluency/Grammar"): 1,
    ("Minor", "Accuracy/Omission"): 1,
    ("Neutral", "Style/Awkward"): 0,
}


@pytest.mark.verifies("MQM weights", by="foreign", of="Freitag et al. 2021, Table 4")
def test_the_weights_are_those_of_the_published_table():
    weights = load_weights("freitag2021")
    assert {kind: weights.weight(*kind) for kind in TABLE_4} == TABLE_4


@pytest.mark.verifies(
    "MQM penalty, accuracy and fluency",
    "MQM by rater, segment, document, system",
    by="foreign",
    of="pandas",
)
@given(rows=rows)
def test_every_level_is_pandas_of_the_rows(read, rows):
    """Weights of the published table by hand, summed per rater, then plain means: raters, segments."""
    weight = {"Major": 5, "Minor": 1, "Neutral": 0, "No-error": 0}
    named = {"Non-translation!|Major": 25, "Fluency/Punctuation|Minor": 0.1}
    parts = [row.split(" ", 4) for row in rows]
    table = pd.DataFrame([p[:4] for p in parts], columns=["system", "doc", "segment", "rater"])
    table["penalty"] = [named.get(p[4], weight[p[4].split("|")[1]]) for p in parts]
    scores = score_ratings(read(*rows))
    per_rater = table.groupby(["system", "doc", "segment", "rater"]).penalty.sum()
    per_segment = per_rater.groupby(["system", "doc", "segment"]).mean()
    found = scores.by().set_index("system").penalty
    assert found.to_dict() == pytest.approx(
        per_segment.groupby("system").mean().to_dict(), rel=1e-12
    )
    by_doc = scores.by("doc").set_index(["system", "doc"]).penalty
    assert by_doc.to_dict() == pytest.approx(
        per_segment.groupby(["system", "doc"]).mean().to_dict(), rel=1e-12
    )
    by_rater = scores.by("rater").set_index(["system", "rater"]).penalty
    wanted = per_rater.groupby(["system", "rater"]).mean().to_dict()
    assert by_rater.to_dict() == pytest.approx(wanted, rel=1e-12)


ROWS = [
    "A d1 1 r1 Accuracy/Mistranslation|Major",
    "A d1 1 r1 Fluency/Punctuation|Minor",
    "A d1 1 r2 No-error|No-error",
    "B d1 1 r1 Style/Awkward|Minor",
]


@pytest.fixture
def marked(read):
    return read(*ROWS), load_scheme("wmt"), load_weights("freitag2021")


def test_marks_have_their_axis_and_their_points_and_add_up_per_category(marked):
    marks = mqm.marks_table(*marked)
    assert marks.points.tolist() == [5, 0.1, 0, 1]
    assert marks.dimension.tolist() == ["accuracy", "fluency", "none", "fluency"]
    assert set(marks.span) == {""}
    table = mqm.category_table(marks)
    assert table.index.tolist()[:3] == [
        "Accuracy/Mistranslation",
        "Style/Awkward",
        "Fluency/Punctuation",
    ]
    assert table.ratings.tolist() == [1, 1, 1, 1]
    assert np.isclose(table.share["Accuracy/Mistranslation"], 5 / 6.1)
    assert table.Major.sum() == 1


def test_an_example_has_errors_on_both_axes_and_the_length_that_is_nearest(marked):
    ratings, scheme, weights = marked
    marks = mqm.marks_table(ratings, scheme, weights)
    with pytest.raises(DataError):
        mqm.marked_example(ratings, marks)
    with_texts = read_ratings(ratings.paths[0], texts=True)
    source, translation, own = mqm.marked_example(
        with_texts, mqm.marks_table(with_texts, scheme, weights)
    )
    assert (source, translation) == ("s", "t")
    assert set(own.system) == {"A"}
    assert len(own) == 3


def test_a_moved_category_changes_the_parts_and_not_the_whole(marked):
    ratings, scheme, weights = marked
    before = score_ratings(ratings, scheme, weights).by().set_index("system")
    after = score_ratings(ratings, scheme.moved("Style/Awkward", "accuracy"), weights).by()
    after = after.set_index("system")
    assert before.penalty.equals(after.penalty)
    assert (before.accuracy["B"], after.accuracy["B"]) == (0, 1)
    with pytest.raises(UnknownName):
        scheme.moved("Style/Awkward", "both")
