import csv
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anhelpers.cli import main
from anhelpers.data import bundled
from anhelpers.data.ratings import read_ratings
from anhelpers.errors import DataError, UnknownName
from anhelpers.intervals import bootstrap_means
from anhelpers.mqm import (
    KINDS,
    base_system,
    category_table,
    choose_scheme,
    domain_of,
    load_scheme,
    load_weights,
    marked_example,
    marks_table,
    rater_table,
    score_ratings,
    system_table,
)

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
        return read_ratings(folder / name, repeated="count")

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
    with pytest.raises(UnknownName, match="unknown MQM score 'acuracy'; did you mean 'accuracy'"):
        scores.matrix("acuracy")
    with pytest.raises(UnknownName, match="unknown level 'word'"):
        scores.by("word")


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
@settings(max_examples=25)
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
@settings(max_examples=40)
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


def test_what_no_rule_covers_is_listed_unless_waived(read):
    ratings = read(
        "A d 1 r Odd one|Major",
        "A d 1 r Odd one|Minor",
        "A d 2 r Accuracy/New|Minor",
        "A d 2 r Strange|Minor",
    )
    listed = r"'Odd one' \(2 ratings, first at line 2\), 'Strange' \(1 rating, first at line 5\); add rows"
    with pytest.raises(DataError, match=rf"mqm\.tsv: scheme wmt has no row for {listed}"):
        score_ratings(ratings)
    scores = score_ratings(ratings, unclassified="ignore")
    # Accuracy/New by the part before the slash
    assert scores.values.tolist() == [[6, 0, 0], [2, 1, 0]]
    assert scores.notes == (
        "Counted in the penalty alone, as scheme wmt has no row for 'Odd one' (2 ratings, first at line 2), "
        "'Strange' (1 rating, first at line 5).",
    )
    with pytest.raises(
        DataError,
        match=r"weights freitag2021 have no row for Critical 'Other' \(1 rating, first at line 2",
    ):
        score_ratings(read("A d 1 r Other|critical"))
    with pytest.raises(UnknownName, match="way with unclassified"):
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
    assert (
        wmt.dimension("Accuracy/Gender Mismatch") == wmt.dimension("Non-translation!") == "accuracy"
    )
    assert (
        wmt.dimension("Terminology/Inconsistent")
        == wmt.dimension("Locale convention/Date format")
        == "fluency"
    )
    assert (wmt.dimension("Source error"), wmt.dimension("no-error"), wmt.dimension("Grammar")) == (
        "ignored",
        "none",
        None,
    )
    assert (en_es.dimension("do_not_translate"), en_es.dimension("date_time_format")) == (
        "accuracy",
        "fluency",
    )
    assert [sum(row[1] == kind for row in en_es.rows) for kind in ("accuracy", "fluency")] == [
        9,
        14,
    ]
    assert str(load_weights("wmt24")).startswith("weights wmt24\nNo-error  *")


def test_a_table_of_ones_own(tmp_path, read):
    scheme, weights = tmp_path / "mine.csv", tmp_path / "scheme.csv"
    scheme.write_text(
        'category,dimension,source\nNo-error,none,\n*o*,fluency,"me, today"\n', encoding="utf-8"
    )
    weights.write_text("severity,category,weight,source\n*,*,2,me\n", encoding="utf-8")
    scores = score_ratings(read("A d 1 r Other|Critical"), str(scheme), weights)
    assert scores.values.tolist() == [[2, 0, 2]]
    assert re.search(r"\|scheme:mine@[0-9a-f]{8}\|weights:scheme@[0-9a-f]{8}\|", scores.signature)
    for text, sentence in [
        (
            "category,dimension\n",
            r"mine\.csv, line 1: the header must be category,dimension,source; it is category,dim",
        ),
        ("category,dimension,source\na,b\n", "line 2: 2 cells, and the header has 3"),
        (
            "category,dimension,source\na,style,x\n",
            "line 2: unknown dimension 'style'; known: accuracy, fluency",
        ),
        ("", r"mine\.csv: this file is empty"),
    ]:
        scheme.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=sentence):
            load_scheme(scheme)
    weights.write_text("severity,category,weight,source\n\nMajor,*,five,\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"scheme\.csv, line 3: 'five' is no weight"):
        load_weights(weights)
    with pytest.raises(UnknownName, match="unknown MQM scheme 'en-ed'; did you mean 'en-es'"):
        load_scheme("en-ed")
    with pytest.raises(DataError, match="no such file"):
        load_weights("no.csv")


def test_the_signature_tells_an_edited_copy_of_a_table(tmp_path):
    published = bundled("mqm/weights.freitag2021.csv")
    copy = tmp_path / published.name
    copy.write_text(
        published.read_text(encoding="utf-8").replace("Major,*,5", "Major,*,10"), encoding="utf-8"
    )
    edited = load_weights(copy)
    assert edited.weight("Major", "Other") == 10
    copy.write_text(
        published.read_text(encoding="utf-8").replace("Major,*,5", "Major,*,9"), encoding="utf-8"
    )
    names = [load_weights(published).name, edited.name, load_weights(copy).name]
    assert names[0] == "freitag2021"
    assert len(set(names)) == 3


def test_the_scheme_is_chosen_from_the_categories(read):
    assert (
        choose_scheme(read("A d 1 r mistranslation|minor", "A d 1 r whitespace|minor")) == "en-es"
    )
    assert choose_scheme(read("A d 1 r Style/Awkward|minor", "A d 1 r Other|minor")) == "wmt"
    assert choose_scheme(read("A d 1 r No-error|No-error")) == "wmt"


def test_names_of_documents_and_systems():
    assert [domain_of(doc) for doc in ("test-en-social_x", "news-d1", "x-y", "Talk.3")] == [
        "social",
        "news",
        "unknown",
        "talk",
    ]
    assert [base_system(name) for name in ("refA", "X_with_refA", "NLLB_MBR")] == [
        "refA",
        "X",
        "NLLB_MBR",
    ]


def test_domains_may_be_given(read):
    scores = score_ratings(
        read("A x.1 1 r Other|Minor", "A news-2 2 r Other|Minor"), domains={"x.1": "prose"}
    )
    assert set(scores.by("domain")["domain"]) == {"prose", "news"}


def test_intervals_are_of_documents_drawn_once_for_all_systems(read):
    rows = [
        f"{s} d{d} {10 * d + i} r Other|M{'ajor' if d % 3 == 0 else 'inor'}"
        for s in "AB"
        for d in range(9)
        for i in range(4)
    ]
    scores = score_ratings(read(*rows, "C d1 10 r Other|Minor"))
    table = system_table(scores, np.random.default_rng(1))
    values, _, docs, _, _ = scores.matrix()
    drawn = bootstrap_means(values, docs, np.random.default_rng(1))
    bounds = table.sort_values("system")[["penalty_low", "penalty_high"]].T
    assert np.array_equal(bounds, [drawn.low, drawn.high], equal_nan=True)
    assert table["system"].tolist() == ["C", "A", "B"]
    a, b, c = (table.set_index("system").loc[name] for name in "ABC")
    assert a.drop("signature").equals(b.drop("signature"))  # equal scores, the same draws
    assert a["penalty"] == pytest.approx(7 / 3)
    assert a["penalty_low"] < 7 / 3 < a["penalty_high"]
    assert (a["n_docs"], c["n_docs"], c["n_segments"]) == (9, 1, 1)
    assert c["penalty"] == 1
    # one document says nothing about others
    assert np.isnan([c["penalty_low"], c["penalty_high"]]).all()
    one_doc = system_table(
        score_ratings(
            read(*(f"A d {i} r Other|M{'ajor' if i % 2 else 'inor'}" for i in range(40)))
        ),
        np.random.default_rng(1),
    )
    assert one_doc.loc[0, "penalty_low"] < 3 < one_doc.loc[0, "penalty_high"]  # segments are drawn
    single = system_table(score_ratings(read("A d 1 r Other|Minor")), np.random.default_rng(1))
    assert single.loc[0, "penalty"] == 1
    assert np.isnan(single.loc[0, "penalty_low"])


def test_the_command(tmp_path, capsys, read):
    assert main(["mqm", str(bundled("teaching/en-de/mqm.tsv"))]) == 0
    out, err = capsys.readouterr()
    table = list(csv.DictReader(out.splitlines()))
    assert len(table) == 8
    assert list(table[0])[:6] == [
        "system",
        "n_segments",
        "n_raters",
        "n_docs",
        "n_effective",
        "penalty",
    ]
    assert [float(row["penalty"]) for row in table] == sorted(
        float(row["penalty"]) for row in table
    )
    assert "note: scheme wmt, which fits the categories best; another one by --scheme." in err
    assert main(["mqm", str(bundled("teaching/en-de/mqm.tsv"))]) == 0
    assert capsys.readouterr().out == out  # the seed is fixed
    target = tmp_path / "domains.csv"
    assert (
        main(
            [
                "mqm",
                str(bundled("teaching/en-de/mqm.tsv")),
                "--by",
                "domain",
                "--scheme",
                "wmt",
                "-o",
                str(target),
            ]
        )
        == 0
    )
    rows = csv.DictReader(target.read_text().splitlines())
    assert {row["domain"] for row in rows} == {"news", "literary", "social", "speech"}
    odd = read("A d 1 r Odd|Minor", name="odd.tsv").paths[0]
    assert main(["mqm", odd]) == 2
    assert "anhelpers mqm: " + odd in capsys.readouterr().err
    assert main(["mqm", odd, "--ignore-unclassified", "--weights", "wmt24"]) == 0
    assert "note: Counted in the penalty alone" in capsys.readouterr().err


# README of google/wmt-mqm-human-evaluation, TED talks en-de; eTranslation is printed 1.96, computed 1.97
PUBLISHED = {
    "ref": 0.91,
    "Facebook-AI": 1.06,
    "Online-W": 1.12,
    "VolcTrans-AT": 1.24,
    "metricsystem3": 1.44,
    "VolcTrans-GLAT": 1.49,
    "HuaweiTSC": 1.50,
    "metricsystem1": 1.63,
    "metricsystem2": 1.69,
    "metricsystem5": 1.72,
    "UEdin": 1.77,
    "metricsystem4": 1.78,
    "eTranslation": 1.97,
    "Nemo": 2.14,
}


@pytest.mark.verifies(
    "MQM penalty, accuracy and fluency",
    "MQM by rater, segment, document, system",
    by="foreign",
    of="the published scores of TED 2021",
)
@pytest.mark.erratum("WMT MQM, TED 2021")
@pytest.mark.real
@pytest.mark.skipif(
    "ANHELPERS_DATA" not in os.environ, reason="set ANHELPERS_DATA to the shared data sets"
)
def test_the_published_scores_of_ted_are_met():
    folder = Path(os.environ["ANHELPERS_DATA"]) / "mqm"
    scores = score_ratings(read_ratings(folder / "mqm_ted_ende.tsv"))
    assert {row.system: round(row.penalty, 2) for row in scores.by().itertuples()} == PUBLISHED
    published = {}
    for line in (folder / "mqm_ted_ende.avg_seg_scores.tsv").read_text().splitlines()[1:]:
        system, score, segment = line.split()
        published["ref" if system == "ref-A" else system, segment] = (
            np.nan if score == "None" else -float(score)
        )
    rated = {(row.system, row.segment): row.penalty for row in scores.by("segment").itertuples()}
    assert rated.keys() == {key for key, score in published.items() if not np.isnan(score)}
    assert max(abs(published[key] - score) for key, score in rated.items()) < 1e-6


@pytest.mark.real
@pytest.mark.skipif(
    "ANHELPERS_DATA" not in os.environ, reason="set ANHELPERS_DATA to the shared data sets"
)
def test_wmt23_is_scored_by_three_raters_per_segment():
    path = (
        Path(os.environ["ANHELPERS_DATA"])
        / "mqm"
        / "sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv.tar.gz"
    )
    scores = score_ratings(read_ratings(path))
    assert set(scores.by("segment")["n_raters"]) == {3}
    assert set(scores.domains) == {"news"}
    assert not np.isnan(scores.matrix().values).any()


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
@settings(max_examples=25)
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


def marks_of(read):
    return read(*ROWS), load_scheme("wmt"), load_weights("freitag2021")


def test_marks_have_their_axis_and_their_points_and_add_up_per_category(read):
    marks = marks_table(*marks_of(read))
    assert marks.points.tolist() == [5, 0.1, 0, 1]
    assert marks.dimension.tolist() == ["accuracy", "fluency", "none", "fluency"]
    assert set(marks.span) == {""}
    table = category_table(marks)
    assert table.index.tolist()[:3] == [
        "Accuracy/Mistranslation",
        "Style/Awkward",
        "Fluency/Punctuation",
    ]
    assert table.ratings.tolist() == [1, 1, 1, 1]
    assert np.isclose(table.share["Accuracy/Mistranslation"], 5 / 6.1)
    assert table.Major.sum() == 1


def test_an_example_has_errors_on_both_axes_and_the_length_that_is_nearest(read):
    ratings, scheme, weights = marks_of(read)
    marks = marks_table(ratings, scheme, weights)
    with pytest.raises(DataError, match="texts=True"):
        marked_example(ratings, marks)
    with_texts = read_ratings(ratings.paths[0], repeated="count", texts=True)
    source, translation, own = marked_example(with_texts, marks_table(with_texts, scheme, weights))
    assert (source, translation) == ("s", "t")
    assert set(own.system) == {"A"}
    assert len(own) == 3


def test_a_raters_mean_is_over_the_translations_that_this_rater_saw(read):
    ratings, scheme, weights = marks_of(read)
    with pytest.raises(DataError, match="at least 2"):
        rater_table(score_ratings(ratings, scheme, weights), np.random.default_rng(0), 100)
    other = read(*ROWS, "A d2 2 r2 No-error|No-error", name="two.tsv")
    scores = score_ratings(other, scheme, weights)
    table = rater_table(scores, np.random.default_rng(0), 100).set_index("rater")
    assert table.n.to_dict() == {"r1": 2, "r2": 2}
    assert np.allclose(table.loc["r1", list(KINDS)].astype(float), [3.05, 2.5, 0.55])
    assert table.penalty["r2"] == 0


def test_a_moved_category_changes_the_parts_and_not_the_whole(read):
    ratings, scheme, weights = marks_of(read)
    before = score_ratings(ratings, scheme, weights).by().set_index("system")
    after = score_ratings(ratings, scheme.moved("Style/Awkward", "accuracy"), weights).by()
    after = after.set_index("system")
    assert before.penalty.equals(after.penalty)
    assert (before.accuracy["B"], after.accuracy["B"]) == (0, 1)
    with pytest.raises(UnknownName, match="dimension"):
        scheme.moved("Style/Awkward", "both")
