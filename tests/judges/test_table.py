"""Small sets before judges whose verdicts are known, and `anhelpers judge` as a user types it."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from anhelpers import cli, judges
from anhelpers.data import CandidateSet, TestSet
from anhelpers.errors import DataError, UnknownName
from anhelpers.metrics import Metric
from anhelpers.provenance import made_of
from anhelpers.scoring.lookup import accuracy_metric

TAGS = ("idiomatic", "literal-2", "literal-2", "calque")
TEXTS = (("aaaa", "aa", "aaaa", "a"), ("b", "bb", "bbb", "bbbb"), ("cc", "c", "ccc", "cc"))


def by_size(sign=1):
    """A judge that likes long texts, or short ones."""

    def score(hyps, refs=None, srcs=None, segment=None):
        return np.array([float(len(text)) if text.strip() else np.nan for text in hyps])

    return Metric("size", "characters", "characters", sign > 0, (), f"size|sign:{sign}", score)


def tables(texts, data="mine", **more):
    chosen = {"long": by_size(), "short": by_size(-1)}
    judged = judges.judge_texts(texts, chosen, data)
    table, notes = judges.judge_table(
        judged, accuracy_metric("chrf"), np.random.default_rng(0), 300
    )
    return table.set_index(["question", "judge", "item"]), notes


@pytest.fixture
def small():
    test = TestSet(
        "mine",
        "en-de",
        ("a", "b", "c"),
        {"ref": ("aaaa", "bbbb", "cccc")},
        {"A": ("aa", "bb", "cc"), "B": ("aaa", "b", "c"), "C": ("a", "bbbb", "cccc")},
    )
    segment = np.repeat(np.arange(3), 4)
    return test, CandidateSet(segment, [text for row in TEXTS for text in row], TAGS * 3)


def test_pairs_of_tags_by_hand(small):
    """idiomatic against the mean of two literal-2: 4 > 3, 1 < 2.5, 2 = 2; against calque 4 > 1, 1 < 4, 2 = 2."""
    table, notes = tables(small)
    for judge in ("long", "short"):
        for pair in ("idiomatic > literal-2", "idiomatic > calque"):
            row = table.loc["tags", judge, pair]
            assert (row.value, row.n, row.n_of, row.chance) == (0.5, 3, "sources", 0.5)
    assert ("tags", "long", "idiomatic > literal") not in table.index
    assert not any(note.startswith("tags") for note in notes)


def test_the_opposite_judge_has_the_opposite_places(small):
    table, notes = tables(small)
    assert table.loc["ranking", "long", "with short"].value == pytest.approx(-1)
    assert table.loc["ranking", "long", "with short"].n == 4  # three systems and the reference
    systems = table.loc["systems"].value
    assert systems["long", "ref"] == pytest.approx(4)
    assert systems["short", "A"] == pytest.approx(-2)
    assert systems["long"].index[0] == "ref"
    assert systems["short"].index[0] == "B"
    for judge, sign in (("long", 1), ("short", -1)):
        assert table.loc["tradeoff", judge, "with chrf"].value * sign > 0
    assert (
        "people: mine has no ratings of its texts, so that no judge is compared with readers."
        in notes
    )
    assert "no MQM ratings are known for mine, so no ranking is compared with them." in notes
    assert not {"people", "mqm", "minimal pairs", "language model"} & set(
        table.index.get_level_values(0)
    )


def test_a_set_without_systems_and_one_of_one_source(small):
    test, cands = small
    alone = TestSet("mine", "en-de", ("a",), {"ref": ("aaaa",)})
    table, notes = tables((alone, CandidateSet([0] * 4, TEXTS[0], TAGS)))
    assert table.loc["tags", "long", "idiomatic > calque"].n == 1
    assert np.isnan(table.loc["tradeoff", "long", "with chrf"].low)
    assert "rankings: systems and references of mine: 1; a ranking takes 3." in notes
    bare, notes = tables((TestSet("mine", "en-de", test.srcs), cands))
    assert set(bare.index.get_level_values(0)) == {"tags"}
    assert any(
        note.startswith("tradeoff: chrf compares with a reference, and mine has none")
        for note in notes
    )
    with pytest.raises(DataError, match=r"nothing can be said of the judges of mine: .*tags"):
        tables((TestSet("mine", "en-de", test.srcs), CandidateSet(cands.segment, cands.texts)))


def test_blank_outputs_leave_a_segment_out_and_a_note(small):
    test, cands = small
    systems = {**test.systems, "A": ("aa", "", "cc")}
    table, notes = tables((TestSet("mine", "en-de", test.srcs, test.refs, systems), cands))
    assert table.loc["systems", "long", "B"].n == 2
    assert any(note.startswith("long: 1 of 3 segments are left out") for note in notes)


def test_the_page_has_every_figure_with_its_n(small):
    table, _ = tables(small)
    page = judges.judge_page(table.reset_index())
    assert "| idiomatic > literal-2 | 1.5 of 3 (" in page
    assert "By chance: 1.5 of 3." in page
    assert "- short: −characters (characters, higher is better)" in page
    assert "| ref    | 1: 4.00 (4.00 to 4.00)" in page
    assert "short, n = 3 segments" in page
    assert "nan" not in page


def test_gates_answer_for_these_texts_and_for_others():
    named = {
        "question": "tags",
        "judge": "critic",
        "item": "idiomatic > literal-2",
        "unit": "share",
        "n": 52,
        "n_of": "sources",
        "chance": 0.5,
        "signature": "",
    }
    figures = {
        (42 / 52, 0.7, 0.9): ("yes", "undecided"),
        (0.95, 0.9, 0.99): ("yes", "yes"),
        (0.5, 0.4, 0.6): ("no", "no"),
        (41 / 52, 0.7, 0.9): ("no", "undecided"),
    }
    for (value, low, high), answers in figures.items():
        gates = judges.gate_table(
            pd.DataFrame([{**named, "value": value, "low": low, "high": high}])
        )
        assert len(gates) == len(judges.GATES)
        assert (gates.reached[0], gates.elsewhere[0]) == answers
        assert set(gates.reached[1:]) == {"no figure"}
        page = judges.gate_page(gates)
        assert page.count("\n") == len(judges.GATES) + 2
        assert "at least 42 of 52" in page
    tradeoff = {
        **named,
        "question": "tradeoff",
        "judge": "rated-naturalness",
        "item": "with rated-accuracy",
        "unit": "Spearman's ρ",
        "value": -0.1,
    }
    for high, answers in ((-0.01, ("yes", "yes")), (0.01, ("no", "undecided"))):
        gates = judges.gate_table(
            pd.DataFrame([{**tradeoff, "low": -0.3, "high": high}])
        ).set_index("judge")
        assert tuple(gates.loc["rated-naturalness", ["reached", "elsewhere"]]) == answers


# -- which judges ------------------------------------------------------------------------------------------------------


def test_judges_that_do_not_fit_are_left_out_with_a_reason_and_named_ones_are_refused():
    found, notes = judges.load_judges(None, "de", None)
    assert list(found)[-1] == "rated-naturalness"
    assert "critic" in found
    assert any(
        note.startswith("naturalness by lpp is missing: lpp needs a language model")
        for note in notes
    )
    with pytest.raises(
        DataError,
        match=r"no judge fits the texts of wmt24/en-es: .*naturalness by critic is missing",
    ):
        judges.load_judges(None, "es", None, "wmt24/en-es")
    with pytest.raises(DataError, match="no bundled critic 'es'"):
        judges.load_judges(["critic"], "es", None, "wmt24/en-es")
    with pytest.raises(DataError, match="ttr measures a whole corpus"):
        judges.load_judges(["ttr"], "de", None)
    with pytest.raises(
        UnknownName, match="unknown judge of naturalness 'critics'; did you mean 'critic'"
    ):
        judges.load_judges(["critics"], "de", None)
    with pytest.raises(DataError, match="has no ratings of its texts"):
        judges.load_judges(["rated-naturalness"], "de", None, "wmt24/en-de")


ROWS = [
    (0, "a", "Es ist ja spät.", "idiomatic", 90, 70),
    (0, "b", "Es ist spät geworden.", "literal-2", 80, 90),
    (0, "c", "Spät ist.", "calque", 10, 60),
    (1, "d", "Das war doch klar.", "idiomatic", 95, 80),
    (1, "e", "Das ist klar gewesen.", "literal-2", 60, 95),
    (1, "f", "Klar gewesen das.", "calque", 5, 50),
]


@pytest.fixture
def rated(tmp_path):
    """One's own set of two sources with ratings beside it."""
    lines = [
        {
            "src": src,
            "refs": [ref],
            "lp": "en-de",
            "candidates": [
                {"text": text, "id": name, "tag": tag}
                for at, name, text, tag, *_ in ROWS
                if at == i
            ],
        }
        for i, (src, ref) in enumerate(
            [("It is late.", "Es ist spät."), ("That was clear.", "Das war klar.")]
        )
    ]
    (tmp_path / "mine.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), "utf-8"
    )
    rows = [
        f"{at}\t{name}\t{one}\t{n + add}\t{a}"
        for at, name, *_, n, a in ROWS
        for one, add in (("x", 0), ("y", 1))
    ]
    (tmp_path / "ratings.tsv").write_text(
        "\n".join(["segment\tid\tpass\tnaturalness\taccuracy", *rows, ""]), "utf-8"
    )
    return tmp_path / "mine.jsonl"


def typed(*words):
    return cli.main(["judge", *map(str, words), "--draws", "300"])


def test_ones_own_rated_set(rated, tmp_path, capsys):
    out = tmp_path / "out.csv"
    assert typed("--data", rated, "--judge", "critic", "-o", out) == 0
    page, err = capsys.readouterr()
    table = pd.read_csv(out).set_index(["question", "judge", "item"])
    assert table.loc[("people", "rated-naturalness", "x with y"), "value"] == pytest.approx(1)
    assert table.loc[("tags", "rated-naturalness", "idiomatic > calque"), "value"] == 1
    assert table.loc[("tradeoff", "rated-naturalness", "with rated-accuracy"), "n"] == 2
    assert table.signature.str.contains("sha256").any()
    (maker,) = made_of(out)
    assert "|command:judge|" in maker
    assert "lm:" not in maker
    assert "2 documents are few" in err
    assert "| rated-naturalness | x with y" in page
    assert "What is wanted" not in page
    assert "rankings: " in err
    assert "no MQM ratings are known" in err


def test_wrong_input_is_one_sentence(rated, tmp_path, capsys):
    cases = {
        (
            "--data",
            rated,
            "--judge",
            "critics",
        ): "unknown judge of naturalness 'critics'; did you mean 'critic'",
        ("--data", rated, "--judge", "critic", "-m", "chfr"): "did you mean",
        ("--data", rated, "--judge", "critic", "-o", "x.txt"): "name a .csv or .parquet file",
        ("--data", "teachin"): "did you mean 'teaching'",
    }
    for words, said in cases.items():
        assert typed(*words) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert said in err.splitlines()[-1]
    lines = rated.read_text("utf-8").replace("en-de", "en-es")
    rated.write_text(lines, "utf-8")
    assert typed("--data", rated, "--judge", "critic") == 2
    ratings = tmp_path / "ratings.tsv"
    ratings.write_text(ratings.read_text("utf-8").replace("\t90\t", "\t190\t"), "utf-8")
    assert typed("--data", rated, "--judge", "compression") == 2
    assert io.StringIO(capsys.readouterr().err).readlines()[-1].strip().endswith("from 0 to 100.")
