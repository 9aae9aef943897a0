"""Which texts are references, which are systems, and which are left out: nothing is compared with itself unseen."""

import io
import re

import numpy as np
import pandas as pd
import pytest

from anhelpers import cli, data, progress
from anhelpers.data import TestSet, from_systems
from anhelpers.errors import UnknownName
from anhelpers.plane import with_human_points

N = 30
REF_A = tuple(f"Das ist der Satz Nummer {i} von {i * i} guten Sätzen." for i in range(N))
REF_B = tuple(f"Dies wäre der {i}. unter {i * i} ordentlichen Sätzen." for i in range(N))
MT = tuple(f"Das ist der Satz Zahl {i} von {i * i} Sätzen, die gut sind." for i in range(N))
SRC = tuple(f"This is sentence number {i} of {i * i} good sentences." for i in range(N))
LOST = (*MT[:9], *MT[10:], "")
MADE_UP = np.random.default_rng(7).choice(list("abdefgiklmnorstu"), (N, 8, 7))
VARIED = tuple(
    tuple(" ".join("".join(word) for word in words[some]) for words in MADE_UP)
    for some in (slice(0, 8, 3), slice(8), slice(1, 7))
)
"""Sources, references and outputs of as many different words as texts of that length have, in no language."""
TEST = TestSet(
    "t", "en-de", SRC, {"refA": REF_A, "refB": REF_B}, {"refA": REF_A, "MT": MT, "copy": REF_B}
)


def lines(folder, name, texts):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return str(path)


@pytest.fixture
def mtme(tmp_path):
    """A folder as mt-metrics-eval has them: references stand among the systems."""
    folder = tmp_path / "wmt"
    lines(folder, "sources/en-de.txt", SRC)
    for name, texts in {"refA": REF_A, "refB": REF_B}.items():
        lines(folder, f"references/en-de.{name}.txt", texts)
    for name, texts in {"refA": REF_A, "refB": REF_B, "MT": MT, "Lost": LOST}.items():
        lines(folder, f"system-outputs/en-de/{name}.txt", texts)
    lines(folder, "metric-scores/.keep", [])
    return str(folder)


def table(capsys):
    out, err = capsys.readouterr()
    return pd.read_csv(io.StringIO(out)).set_index("system").value, err


def test_a_reference_among_the_systems_is_not_compared_with_itself(mtme, capsys):
    assert cli.main(["score", "--data", mtme, "--exclude", "Lost"]) == 0
    scores, err = table(capsys)
    assert set(scores.index) == {"MT", "refB"}
    assert scores.max() < 100
    assert (
        "refA is the reference refA (30 of 30 texts are the same, white space around them aside), and is not"
        in err
    )
    assert "compared with the reference refA." in err
    assert "left out: Lost." in err


@pytest.mark.parametrize(
    ("wanted", "systems"),
    [
        (["refB"], {"MT", "refA"}),
        (["all"], {"MT"}),
        (["refB", "refA"], {"MT"}),
        (None, {"MT", "refB"}),
    ],
)
def test_reference_chooses_and_the_others_are_human_points(wanted, systems, mtme, capsys):
    chosen = ["--reference", *wanted] if wanted else []
    assert cli.main(["score", "--data", mtme, "--exclude", "Lost", *chosen]) == 0
    scores, _ = table(capsys)
    assert set(scores.index) == systems


def test_score_and_plane_have_the_same_references(mtme, tmp_path, capsys):
    common = ["--data", mtme, "--exclude", "Lost"]
    assert cli.main(["score", *common, "--level", "segment-mean"]) == 0
    scores, _ = table(capsys)
    assert (
        cli.main(
            ["plane", *common, "--naturalness", "ttr", "-o", str(tmp_path / "out"), "--draws", "10"]
        )
        == 0
    )
    systems = pd.read_csv(tmp_path / "out" / "systems.csv").set_index("system")
    assert systems.accuracy.to_dict() == pytest.approx(scores.to_dict())
    assert systems.category["refB"] == "human"
    assert "Compared with the reference refA." in (tmp_path / "out" / "appendix.txt").read_text(
        encoding="utf-8"
    )


def test_a_copy_under_another_name_is_that_reference():
    assert TEST.copies == {"refA": "refA", "copy": "refB"}
    points = with_human_points(TEST)
    assert list(points.systems) == ["MT", "refB"]
    assert points.categories == {"MT": "unknown", "refB": "human"}
    assert list(with_human_points(TEST, ["all"]).systems) == ["MT"]
    with pytest.raises(UnknownName, match="unknown reference 'refC'"):
        with_human_points(TEST, ["refC"])


def test_a_copy_of_a_reference_that_is_not_compared_with_is_told_by_name():
    test = TestSet(
        "t",
        "en-de",
        SRC,
        {"refA": REF_A, "refB": REF_B},
        {"MT": MT, "copy": [f"{t} " for t in REF_B]},
    )
    points = with_human_points(test)
    assert list(points.systems) == ["MT", "refB"]
    assert (
        "copy is the reference refB (30 of 30 texts are the same, white space around them aside), and is named so."
        in (points.notes)
    )


def test_a_reference_with_gaps_is_no_human_point():
    """Its gaps would count as blank outputs, and take their segments from all systems."""
    test = TestSet("t", "en-de", SRC, {"refA": REF_A, "refB": ("", "", *REF_B[2:])}, {"MT": MT})
    points = with_human_points(test)
    assert list(points.systems) == ["MT"]
    assert any(
        note.startswith("the reference refB lacks 2 of 30 texts, and is no human point")
        for note in points.notes
    )
    assert list(with_human_points(test, ["refB"]).systems) == ["MT", "refA"]


@pytest.mark.parametrize("others", [2, 3])
def test_one_system_under_two_names_is_told_and_counts_once(others, tmp_path, capsys):
    src, ref, mt = (
        lines(tmp_path, name, texts) for name, texts in (("src", SRC), ("ref", REF_A), ("mt", MT))
    )
    more = [
        lines(tmp_path, f"s{i}", [f"{text} {'Ja. ' * (i + n % 3)}" for n, text in enumerate(MT)])
        for i in range(others)
    ]
    texts = ["-s", src, "-r", ref, "-t", f"mine={mt}", f"twin={mt}", *more, "-l", "en-de"]
    assert cli.main(["score", *texts]) == 0
    assert (
        "mine and twin have the same outputs throughout: one system under 2 names."
        in capsys.readouterr().err
    )
    assert cli.main(["plane", *texts, "--draws", "9", "-o", str(tmp_path / "out")]) == 0
    out, err = capsys.readouterr()
    assert "mine and twin have the same outputs throughout: one system under 2 names." in err
    assert (f"here: {others + 1} different systems on 30 segments" in out) == (others == 2)


def test_neither_slices_nor_controls_move_the_draws_of_other_results(tmp_path):
    src, ref = lines(tmp_path, "src", SRC), lines(tmp_path, "ref", REF_A)
    systems = [
        lines(tmp_path, f"s{i}", [f"{text} {'Ja. ' * (i + n % 3)}" for n, text in enumerate(MT)])
        for i in range(4)
    ]
    found = []
    for more in ([], ["--by", "length"], ["--sanity"]):
        out = tmp_path / f"out{len(found)}"
        texts = [
            "-s",
            src,
            "-r",
            ref,
            "-t",
            *systems,
            "-l",
            "en-de",
            "--draws",
            "20",
            "-o",
            str(out),
        ]
        assert cli.main(["plane", *texts, *more]) == 0
        table = pd.read_csv(out / "systems.csv").set_index("system")
        columns = [name for name in table if name in ("accuracy_low", "naturalness_low")]
        claim = pd.read_csv(out / "claim.csv")[
            ["pearson_low", "pearson_high", "selection_pearson", "selection_p"]
        ]
        found.append(
            pd.concat([table.loc[["s0", "s3"], columns].reset_index(drop=True), claim], axis=1)
        )
    # a language model's batches differ with the systems, and so their last digits
    for numbers in found[1:]:
        pd.testing.assert_frame_equal(numbers, found[0], rtol=1e-5)


def test_what_tables_write_for_nothing_is_told_where_it_stands_as_a_text():
    test = TestSet(
        "t",
        "en-de",
        ("Good morning.", "-", "None"),
        {"A": ("NA", "-", "Keiner")},
        {"X": ("a", "b", "None")},
    )
    told = "1 text is 'NA', scored as it stands; where a text is missing, leave its line blank."
    assert test.notes == (f"A: {told}",)  # "-" and "None" are what the sources say
    assert test.subset([0]).notes == test.notes
    assert test.subset([1, 2]).notes == ()


def test_ter_of_a_language_without_spaces_is_told(tmp_path, capsys):
    progress.note_once.cache_clear()
    src, ref = (
        lines(tmp_path, "src", ["こんにちは。", "犬です。"]),
        lines(tmp_path, "ref", ["你好。", "是狗。"]),
    )
    texts = [
        "-s",
        src,
        "-r",
        ref,
        "-t",
        lines(tmp_path, "mt", ["你们好。", "那是狗。"]),
        "-l",
        "ja-zh",
    ]
    assert cli.main(["score", *texts, "-m", "ter"]) == 0
    assert (
        "TER counts the edits of words between spaces, and 'zh' writes none"
        in capsys.readouterr().err
    )


def test_a_copy_alone_is_no_system(tmp_path, capsys):
    src, ref = lines(tmp_path, "src.en", SRC), lines(tmp_path, "ref.de", REF_A)
    assert cli.main(["score", "-s", src, "-r", ref, "-t", f"mine={ref}"]) == 2
    assert "mine: nothing but a reference, with which chrf compares" in capsys.readouterr().err
    # which compares with none
    assert cli.main(["score", "-s", src, "-r", ref, "-t", f"mine={ref}", "-m", "ttr"]) == 0
    assert list(table(capsys)[0].index) == ["mine"]


def test_references_are_no_candidates():
    assert set(from_systems(TEST).tags) == {"MT"}
    assert set(from_systems(TEST, ["refA"]).tags) == {"refA"}  # who asks for it gets it


def test_a_system_file_called_like_a_reference_file_is_a_system(tmp_path):
    src = lines(tmp_path, "x.en", SRC)
    test = data.read_plain(
        src, lines(tmp_path, "refs/x.de", REF_A), lines(tmp_path, "sys/x.de", MT), "en-de"
    )
    assert test.categories == {"x": "unknown"}
    assert list(with_human_points(test, ["all"]).systems) == ["x"]


@pytest.mark.parametrize("command", ["score", "plane"])
def test_a_shifted_system_is_refused_and_can_be_left_out(command, mtme, tmp_path, capsys):
    more = (
        ["--naturalness", "ttr", "-o", str(tmp_path / "out"), "--draws", "10"]
        if command == "plane"
        else []
    )
    assert cli.main([command, "--data", mtme, *more]) == 2
    err = capsys.readouterr().err
    assert "Lost, from segment 10: 20 lines fit the reference 1 segment later" in err
    assert "by --exclude Lost" in err
    assert cli.main([command, "--data", mtme, "--exclude", "Lost", *more]) == 0
    assert not re.search(r"^\s*Lost", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize("order", ["reversed", "shuffled", "halves"])
@pytest.mark.parametrize("command", ["score", "plane"])
def test_a_system_in_another_order_is_refused_with_its_cause(order, command, tmp_path, capsys):
    """Its chrF is that of another system, and looks like one."""
    rows = {
        "reversed": range(N)[::-1],
        "shuffled": np.random.default_rng(3).permutation(N),
        "halves": [*range(N // 2, N), *range(N // 2)],
    }[order]
    srcs, refs, hyps = VARIED
    texts = [
        "-s",
        lines(tmp_path, "src", srcs),
        "-r",
        lines(tmp_path, "ref", refs),
        "-l",
        "en-de",
        "-t",
        lines(tmp_path, "good", hyps),
        lines(tmp_path, "bad", [hyps[i] for i in rows]),
    ]
    more = (
        ["--naturalness", "ttr", "-o", str(tmp_path / "out"), "--draws", "10"]
        if command == "plane"
        else []
    )
    assert cli.main([command, *texts, *more]) == 2
    err = capsys.readouterr().err
    assert "lines looked at clearly fit another segment" in err
    assert "bad, " in err
    assert (
        "not in the order of the references: mend the file, or go on without it by --exclude bad"
        in err
    )
    assert cli.main([command, *texts, *more, "--exclude", "bad"]) == 0


def test_a_second_reference_that_is_shifted_is_refused_and_can_be_left_out(tmp_path, capsys):
    """It would join the first one as if it said the same: the best of two, of which one is always wrong."""
    srcs, refs, hyps = VARIED
    shifted = [*(f"{text} ja" for text in refs[1:]), "ja"]
    texts = [
        "-s",
        lines(tmp_path, "src", srcs),
        "-t",
        lines(tmp_path, "mt", hyps),
        "-l",
        "en-de",
        "-r",
        lines(tmp_path, "A", refs),
        lines(tmp_path, "B", shifted),
    ]
    assert cli.main(["score", *texts]) == 2
    err = capsys.readouterr().err
    assert (
        "reference B, compared with A, from segment 1: 29 lines fit the reference 1 segment later"
        in err
    )
    assert cli.main(["score", *texts, "--reference", "A", "--exclude", "B"]) == 0
    assert list(table(capsys)[0].index) == ["mt"]


def test_texts_of_another_test_set_are_told_or_refused(tmp_path, capsys):
    """As many lines, another year: a system then has a score, and a second reference hardly changes one."""
    srcs, refs, hyps = VARIED
    other = [
        " ".join("".join(word) for word in words)
        for words in np.random.default_rng(8).permuted(MADE_UP, axis=0)
    ]
    src, ref, mt, foreign = (
        lines(tmp_path, name, texts)
        for name, texts in (("src", srcs), ("A", refs), ("mt", hyps), ("B", other))
    )
    assert cli.main(["score", "-s", src, "-r", ref, "-t", mt, foreign, "-l", "en-de"]) == 0
    told = "texts fit the references of their own segments no better than those of others (chrF"
    assert f"B: {told}" in (err := capsys.readouterr().err)
    assert f"mt: {told}" not in err
    assert cli.main(["score", "-s", src, "-r", foreign, "-t", mt, "-l", "en-de"]) == 0
    err = capsys.readouterr().err
    assert f"mt: {told}" in err
    assert "; is it, or the reference B, of another test set?" in err
    other = lines(tmp_path, "other", [f"{text}!" for text in hyps])
    assert cli.main(["score", "-s", src, "-r", foreign, "-t", mt, other, "-l", "en-de"]) == 2
    err = capsys.readouterr().err
    assert f"2 of 2 systems do not fit the reference B; mt: {told}" in err
    assert "the reference seems to be of another test set; give that of these sources." in err
    assert cli.main(["score", "-s", src, "-r", ref, foreign, "-t", mt, "-l", "en-de"]) == 2
    assert f"reference B, compared with A, {told}" in capsys.readouterr().err


def test_a_reference_under_two_names_is_one(tmp_path, capsys):
    """The signature would say nrefs:2, and so would the paper."""
    srcs, refs, hyps = VARIED
    src, ref, mt = (
        lines(tmp_path, name, texts) for name, texts in (("src", srcs), ("A", refs), ("mt", hyps))
    )
    base = ["score", "-s", src, "-t", mt, "-l", "en-de", "-r", ref]
    assert cli.main([*base, f"B={ref}"]) == 2
    assert "the references A and B are the same texts, which is one" in capsys.readouterr().err
    assert cli.main([*base, ref]) == 2
    assert "A is given twice; give it once." in capsys.readouterr().err


def test_who_has_many_texts_of_a_reference_is_told(tmp_path, capsys):
    srcs, refs, hyps = VARIED
    saw = [refs[i] if i % 5 == 0 else hyp for i, hyp in enumerate(hyps)]
    src, ref, mt, mine = (
        lines(tmp_path, name, texts)
        for name, texts in (("src", srcs), ("A", refs), ("mt", hyps), ("mine", saw))
    )
    assert cli.main(["score", "-s", src, "-t", mt, mine, "-l", "en-de", "-r", ref]) == 0
    err = capsys.readouterr().err
    assert "mine has the very text of the reference A in 6 of 30 segments (20%)" in err
    assert "did it see the reference?" in err
    assert "mt has the very text" not in err


@pytest.mark.parametrize("where", [0, 7])
def test_a_reference_that_has_lost_a_line_is_named_and_not_the_systems(where, tmp_path, capsys):
    srcs, refs, hyps = VARIED
    lost = [*refs[:where], *refs[where + 1 :], "ja"]
    src, good, ref, mt, other = (
        lines(tmp_path, name, texts)
        for name, texts in (
            ("src", srcs),
            ("good", refs),
            ("lost", lost),
            ("mt", hyps),
            ("other", [f"{text}!" for text in hyps]),
        )
    )
    base = ["score", "-s", src, "-l", "en-de"]
    assert cli.main([*base, "-t", mt, other, "-r", ref]) == 2
    err = capsys.readouterr().err
    told = f"mt, from segment {where + 2}: "
    assert f"2 of 2 systems do not stand in the order of the reference lost; {told}" in err
    assert (
        "mend the reference's file, whose lines seem to be moved (or those of all systems)" in err
    )
    assert "exclude" not in err
    assert cli.main([*base, "-t", mt, other, "-r", ref, good]) == 2  # nor is it the other reference
    err = capsys.readouterr().err
    assert f"order of the reference lost; {told}" in err
    assert "or go on by --reference good --exclude lost." in err
    assert (
        cli.main(
            [*base, "-t", mt, other, "-r", ref, good, "--reference", "good", "--exclude", "lost"]
        )
        == 0
    )
    assert cli.main([*base, "-t", mt, "-r", ref]) == 2  # who of the two, only a person can say
    assert "mend the file, or that of the reference lost." in capsys.readouterr().err


def test_a_system_that_fits_speaks_for_the_reference(tmp_path, capsys):
    """Of five, four are of another test set, or have lost a line: the fifth tells that the reference may be right."""
    srcs, refs, hyps = VARIED
    other = [
        " ".join("".join(word) for word in words)
        for words in np.random.default_rng(8).permuted(MADE_UP, axis=0)
    ]
    src, ref, good = (
        lines(tmp_path, name, texts) for name, texts in (("src", srcs), ("A", refs), ("good", hyps))
    )
    foreign = [lines(tmp_path, f"f{i}", [f"{text}{i}" for text in other]) for i in range(4)]
    base = ["score", "-s", src, "-l", "en-de", "-r", ref, "-t", good]
    assert cli.main([*base, *foreign]) == 0
    assert "f3: texts fit the references of their own segments no better" in capsys.readouterr().err
    lost = [lines(tmp_path, f"l{i}", [f"{t}{i}" for t in (*hyps[1:], "ja")]) for i in range(4)]
    assert cli.main([*base, *lost]) == 2
    err = capsys.readouterr().err
    assert "4 of 5 systems do not stand in the order of the reference A" in err
    assert "; if it is right, as the other may tell, go on by --exclude l0 l1 l2 l3." in err
    assert cli.main([*base, *lost, "--exclude", "l0", "l1", "l2", "l3"]) == 0


def test_short_lines_that_fit_others_are_no_sign_of_another_order(tmp_path, capsys):
    srcs, refs, hyps = (list(texts) for texts in VARIED)
    for i, (ref, hyp) in enumerate(
        [("usw.", "etc..."), ("Also...", "So..."), ("Ja, ja.", "Also, ja."), ("So?", "Ja?")] * 3
    ):
        refs[2 * i], hyps[2 * i] = ref, hyp
    texts = [
        "-s",
        lines(tmp_path, "s", srcs),
        "-r",
        lines(tmp_path, "r", refs),
        "-t",
        lines(tmp_path, "t", hyps),
    ]
    assert cli.main(["score", *texts, "-l", "en-de"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if not line.startswith("made by ")] == []


def test_n_counts_segments_and_not_references(tmp_path, capsys):
    """References as files of their own: n = N. Sources that stand once with each of them: n = 2 N, which is told."""
    apart = [
        lines(tmp_path, f"{name}.de", texts) for name, texts in {"a": REF_A, "b": REF_B}.items()
    ]
    src, mt = lines(tmp_path, "src.en", SRC), lines(tmp_path, "MT.txt", MT)
    assert (
        cli.main(["score", "-s", src, "-r", *apart, "-t", mt, "-l", "en-de", "--level", "both"])
        == 0
    )
    out, err = capsys.readouterr()
    assert pd.read_csv(io.StringIO(out)).n.tolist() == [N, N]
    assert "again" not in err
    stacked = [
        lines(tmp_path, f"{name}2", texts)
        for name, texts in {"src": SRC + SRC, "ref": REF_A + REF_B, "MT": MT + MT}.items()
    ]
    assert (
        cli.main(["score", "-s", stacked[0], "-r", stacked[1], "-t", stacked[2], "-l", "en-de"])
        == 0
    )
    out, err = capsys.readouterr()
    assert pd.read_csv(io.StringIO(out)).n.tolist() == [2 * N]
    told = f"{N} of {2 * N} segments are an earlier one again, {N} of them with another reference: n counts each"
    assert told in err
    assert "a file of its own (-r A B)" in err


def test_short_texts_that_come_again_are_no_segment_twice(real_data):
    """ "@user44" and "etc." stand several times among the sources of WMT24, a few of them with the same outputs."""
    test = data.load("wmt24/en-de")
    assert len(test) - len(set(test.srcs)) == 5
    assert not any("again" in note for note in test.notes)
    some = data.TestSet("t", "en-de", ("Hi.",) * 2 + SRC, systems={"MT": ("Hallo.",) * 2 + MT})
    assert not any("again" in note for note in data.plain.checked(some).notes)


def test_what_is_left_out_must_be_there(mtme, capsys):
    assert cli.main(["score", "--data", mtme, "--exclude", "Lots"]) == 2
    assert "unknown system 'Lots'; did you mean 'Lost'?" in capsys.readouterr().err


def test_the_oracle_does_without_the_candidates_of_who_is_left_out():
    cands = from_systems(TEST, ["MT", "copy"], distinct=True)
    assert set(cands.without(["copy"]).tags) == {"MT"}
    assert cands.without([]) is cands


@pytest.mark.real
def test_wmt24_is_compared_with_its_standard_reference(real_data, capsys):
    assert cli.main(["score", "--data", "wmt24/en-de", "-m", "chrf"]) == 0
    scores, err = table(capsys)
    assert "compared with the reference refB." in err
    assert scores["refA"] < 100
    assert len(scores) == 27
