"""A missing reference, blank in a file or null in JSONL, is no empty reference: it counts for nothing, and is told."""

import io
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sacrebleu
from anhelpers.accuracy.align import check_alignment
from hypothesis import given, settings
from hypothesis import strategies as st

from anhelpers import cli, plane
from anhelpers.accuracy.learned import Learned, learned_metric
from anhelpers.accuracy.surface import METRICS, surface, surface_metric
from anhelpers.candidates import mbr_utility
from anhelpers.data import (
    CandidateSet,
    TestSet,
    from_systems,
    load_mono,
    mono_for,
    read_candidate_file,
    read_mme,
    read_plain,
    write_mme,
)
from anhelpers.errors import DataError
from anhelpers.metrics import Metric
from anhelpers.scoring import segment_rows, system_rows

ORACLES = {
    "chrf": (sacrebleu.CHRF(), sacrebleu.CHRF()),
    "chrf++": (sacrebleu.CHRF(word_order=2), sacrebleu.CHRF(word_order=2)),
    "bleu": (sacrebleu.BLEU(effective_order=True), sacrebleu.BLEU()),
    "ter": (sacrebleu.TER(), sacrebleu.TER()),
}
TEXT = st.sampled_from(
    [
        "",
        " ",
        "Das Haus ist alt.",
        "Das alte Haus",
        "Haus",
        "Es regnet, 3-4 Tage (lang)!",
        "漢字 das",
    ]
)
MARK = "[No translation supplied]"


@st.composite
def tasks(draw):
    """Hypotheses with one to three streams of references, each missing in places: no segment is without any."""
    n, n_refs = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    rows = st.lists(st.none() | TEXT, min_size=n_refs, max_size=n_refs).filter(any_there)
    refs = draw(st.lists(rows, min_size=n, max_size=n))
    return draw(st.lists(TEXT, min_size=n, max_size=n)), [
        list(stream) for stream in zip(*refs, strict=True)
    ]


def any_there(refs):
    return any(ref is not None for ref in refs)


@pytest.mark.parametrize("name", METRICS)
@given(task=tasks())
@settings(max_examples=60, deadline=None)
def test_missing_references_count_as_in_sacrebleu(name, task):
    hyps, refs = task
    metric, (of_segment, of_corpus) = surface_metric(name, "de", "var"), ORACLES[name]
    theirs = [
        of_segment.sentence_score(h, list(r)).score for h, *r in zip(hyps, *refs, strict=True)
    ]
    assert metric.score_segments(hyps, refs=refs).tolist() == theirs
    assert metric.score_corpus(hyps, refs=refs) == of_corpus.corpus_score(hyps, refs).score
    backwards = metric.score_segments(hyps[::-1], refs=refs, segment=np.arange(len(hyps))[::-1])
    assert backwards.tolist() == theirs[::-1]


@pytest.mark.parametrize("name", METRICS)
def test_a_segment_without_any_reference_has_no_score_and_no_part_in_a_corpus(name):
    hyps = ["Das Haus", "Es regnet.", "Nein"]
    refs = [["Das alte Haus", None, None], ["Ein Haus", None, "Nein, nein"]]
    metric, kept = surface_metric(name, "de", "var"), [[stream[0], stream[2]] for stream in refs]
    scores = metric.score_segments(hyps, refs=refs)
    assert np.isnan(scores).tolist() == [False, True, False]
    assert (
        metric.score_corpus(hyps, refs=refs) == ORACLES[name][1].corpus_score(hyps[::2], kept).score
    )
    assert not surface(name, "de").statistics(hyps, refs)[1].any()
    with pytest.raises(DataError, match="of a corpus needs a reference, and all of 1 are missing"):
        metric.score_corpus(["a"], refs=[[None]])


def test_the_signature_says_how_many_references_as_sacrebleu_does():
    hyps, refs = ["a", "b"], [["a", "b"], ["c", None]]
    theirs = sacrebleu.CHRF()
    theirs.corpus_score(hyps, refs)
    assert surface_metric("chrf", "de", "var").signature == f"chrF2|{theirs.get_signature()}"
    assert "|nrefs:var|" in surface_metric("bleu", "de", "var").corpus_signature
    with pytest.raises(
        DataError, match=r"made for 2 reference\(s\) per segment, but segment 1 has 1; make it with"
    ):
        surface_metric("chrf", "de", 2).score_segments(hyps, refs=refs)
    one = surface_metric("chrf", "de", 1)  # a second reference that is missing throughout is none
    assert one.score_corpus(hyps, refs=[["a", "b"], [None, None]]) == one.score_corpus(
        hyps, refs=[["a", "b"]]
    )


def folder_of(tmp_path, **texts):
    """Files of these lines; returns the arguments -s, -r and -t for those called s…, r…, h…."""
    found = {"s": [], "r": [], "h": []}
    for name, lines in texts.items():
        path = tmp_path / f"{name}.txt"
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        found[name[0]].append(str(path))
    return [*("-s", *found["s"]), *("-r", *found["r"]), *("-t", *found["h"])]


SRCS = [f"This is sentence {i} of twelve." for i in range(12)]
REFS = [f"Das ist der Satz Nummer {i} von zwölf alten Sätzen." for i in range(12)]
HYPS = [f"Das ist Satz {i} von zwölf Sätzen, die alt sind." for i in range(12)]
HALF = ["" if i % 2 else ref for i, ref in enumerate(REFS)]
WHOLE = ["  "] * 12


def score(capsys, *args):
    assert cli.main(["score", *args]) == 0
    out, err = capsys.readouterr()
    return pd.read_csv(io.StringIO(out), float_precision="round_trip"), err


def test_half_a_file_of_references_is_half_a_test_set(tmp_path, capsys):
    args = folder_of(tmp_path, s=SRCS, r=HALF, h=HYPS)
    table, err = score(capsys, *args, "-m", *METRICS)
    for name, row in table.set_index("metric").iterrows():
        assert row.value == ORACLES[name][1].corpus_score(HYPS[::2], [REFS[::2]]).score
        assert (row.n, "|nrefs:1|" in row.signature) == (6, True)
    assert "note: r: 6 blank references of 12, taken as missing." in err
    assert (
        "note: 6 of 12 segments have no reference: metrics that read one give no score there."
        in err
    )
    rows, _ = score(capsys, *args, "--segments")
    assert rows.value.isna().tolist() == [bool(i % 2) for i in range(12)]


def test_a_second_reference_that_is_blank_changes_nothing(tmp_path, capsys):
    alone, _ = score(capsys, *folder_of(tmp_path, s=SRCS, r=REFS, h=HYPS), "-m", *METRICS)
    table, err = score(
        capsys, *folder_of(tmp_path, s=SRCS, r=REFS, r2=WHOLE, h=HYPS), "-m", *METRICS
    )
    assert table.value.tolist() == alone.value.tolist()
    assert table.signature.tolist() == alone.signature.tolist()
    assert "note: r2: 12 blank references of 12, taken as missing." in err


def test_a_second_reference_here_and_there_is_a_variable_number(tmp_path, capsys):
    other = ["" if i % 3 else f"Satz {i} von zwölfen." for i in range(12)]
    table, _ = score(capsys, *folder_of(tmp_path, s=SRCS, r=HALF, r2=other, h=HYPS), "-m", *METRICS)
    there = [i for i in range(12) if HALF[i] or other[i]]
    streams = [[refs[i] or None for i in there] for refs in (HALF, other)]
    for name, row in table.set_index("metric").iterrows():
        assert row.value == ORACLES[name][1].corpus_score([HYPS[i] for i in there], streams).score
        assert (row.n, "|nrefs:var|" in row.signature) == (len(there), True)


def test_references_that_are_all_blank_are_refused(tmp_path, capsys):
    assert cli.main(["score", *folder_of(tmp_path, s=SRCS, r=WHOLE, h=HYPS)]) == 2
    assert (
        "chrf compares with a reference, and those of s are all blank; give one (-r REF, beside your own -s and -t)."
        in capsys.readouterr().err
    )


def test_a_part_of_a_test_set_counts_its_blanks_anew():
    test = TestSet(
        "t",
        "en-de",
        ("a", "", "c"),
        {"A": ("x", None, ""), "B": (" ", None, "z")},
        {"X": ("x", "y", "z")},
    )
    assert (test.refs, test.n_refs) == ({"A": ("x", "", ""), "B": ("", "", "z")}, 1)
    assert test.streams == [["x", None, None], [None, None, "z"]]
    assert test.referenced.tolist() == [True, False, True]
    assert test.notes == (
        "A: 2 blank references of 3, taken as missing.",
        "B: 2 blank references of 3, taken as missing.",
        "1 of 3 segments has no reference: metrics that read one give no score there.",
        "1 blank source of 3.",
    )
    part = test.subset([0, 2])
    assert part.notes == (
        "A: 1 blank reference of 2, taken as missing.",
        "B: 1 blank reference of 2, taken as missing.",
    )
    assert part.subset([0]).one_reference().notes == ()
    assert TestSet("t", "en-de", ("a", "b"), {"A": ("x", "y"), "B": ("", "z")}).n_refs == "var"
    assert (
        TestSet("t", "en-de", ("a",)).n_refs
        == TestSet("t", "en-de", ("a",), {"A": ("",)}).n_refs
        == 0
    )


def test_a_line_that_says_that_there_is_none_is_missing(tmp_path):
    folder_of(
        tmp_path,
        s=["a", "b", "c"],
        r=["A", f"{MARK} ", "C"],
        h=["x", "NO TRANSLATION AVAILABLE", MARK],
    )
    test = read_plain(tmp_path / "s.txt", tmp_path / "r.txt", tmp_path / "h.txt", "en-de")
    assert (test.refs["r"], test.systems["h"]) == (("A", "", "C"), ("x", "", ""))
    assert test.notes == (
        f"r: 1 text is '{MARK}', taken as missing.",
        "h: 1 text is 'NO TRANSLATION AVAILABLE', taken as missing.",
        f"h: 1 text is '{MARK}', taken as missing.",
        "h: 2 blank hypotheses of 3.",
        "r: 1 blank reference of 3, taken as missing.",
        "1 of 3 segments has no reference: metrics that read one give no score there.",
    )
    write_mme(test, tmp_path / "mine")
    assert (tmp_path / "mine/references/en-de.r.txt").read_text("utf-8").splitlines() == [
        "A",
        MARK,
        "C",
    ]
    again = read_mme(tmp_path / "mine", "en-de")
    assert (again.refs, again.systems) == (test.refs, test.systems)
    assert write_mme(test, tmp_path / "mine") == tmp_path / "mine"  # the same set is there


def jsonl(tmp_path, *refs, **more):
    """A file of one source per line with these references."""
    lines = [
        {"src": SRCS[i], "candidates": [HYPS[i], REFS[i]], "lp": "en-de"} | more
        for i in range(len(refs))
    ]
    for line, ref in zip(lines, refs, strict=True):
        line.update({} if ref is Ellipsis else {"refs": ref})
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def test_jsonl_has_as_many_references_as_there_are(tmp_path):
    test, _ = read_candidate_file(jsonl(tmp_path, ["A"], [None, "B"], [], None, ["C", "D", "E"]))
    assert test.refs == {
        "refA": ("A", "", "", "", "C"),
        "refB": ("", "B", "", "", "D"),
        "refC": ("", "", "", "", "E"),
    }
    assert test.n_refs == "var"
    test, _ = read_candidate_file(jsonl(tmp_path, {"one": "A", "two": None}, {"two": "B"}, None))
    assert test.refs == {"one": ("A", "", ""), "two": ("", "B", "")}
    with pytest.raises(
        DataError,
        match='line 2: "refs" is missing here, and other lines have it; give it to all, null',
    ):
        read_candidate_file(jsonl(tmp_path, ["A"], ...))
    with pytest.raises(
        DataError,
        match="line 2: reference 'tow', but one, two in the lines before; name it there too",
    ):
        read_candidate_file(jsonl(tmp_path, {"one": "A", "two": "B"}, {"one": "A", "tow": "B"}))


def words(trg_lang="de"):
    """How many words: stands in for a naturalness measure, which reads no reference; nan for a blank text."""

    def count(hyps, refs=None, srcs=None, segment=None):
        return np.array([len(hyp.split()) or np.nan for hyp in hyps], dtype=float)

    return Metric("words", "words", "words", True, (), "words", count)


def of_half(**systems):
    return TestSet("t", "en-de", tuple(SRCS), {"r": tuple(HALF)}, systems)


@pytest.mark.parametrize("level", ["segment-mean", "corpus"])
def test_the_plane_and_the_curve_are_over_the_segments_with_a_reference(level):
    test, chrf = of_half(A=tuple(HYPS), B=tuple(REFS[::-1])), surface_metric("chrf", "de")
    found = plane.system_plane(test, chrf, words(), level)
    alone = plane.system_plane(test.subset(range(0, 12, 2)), chrf, words(), level)
    assert len(found) == 6
    assert found.scores().tolist() == alone.scores().tolist()
    assert "6 of 12 segments are left out: no system has a score there." in found.notes
    own = plane.system_plane(test, chrf, words(), level, shared=False)
    assert own.scores().tolist() == alone.scores().tolist()
    assert own.there.sum(0).tolist() == [6, 6]


def test_the_oracle_study_leaves_out_segments_without_a_reference():
    test, chrf = of_half(A=tuple(HYPS)), surface_metric("chrf", "de")
    cands = from_systems(test).merge(
        from_systems(TestSet("t", "en-de", tuple(SRCS), {}, {"B": tuple(REFS[::-1])}))
    )
    for one in (test, of_half()):  # with a system, and with candidates alone
        study = plane.oracle_study(one, cands, chrf, words())
        assert len(study.test) == study.curve.n_segments == 6
        assert np.isfinite(study.accuracy).all()
        assert (
            "6 of 12 segments have no reference: metrics that read one give no score there."
            in study.notes
        )


def test_the_curve_of_a_file_with_missing_references(tmp_path, tiny_lm, capsys):
    path = jsonl(tmp_path, *([ref] if ref else [None] for ref in HALF))
    page = tmp_path / "page.html"
    assert cli.main(["curve", str(path), "--lm", str(tiny_lm), "--html", str(page)]) == 0
    out, err = capsys.readouterr()
    assert (pd.read_csv(io.StringIO(out)).n == 6).all()
    assert "note: refA: 6 blank references of 12, taken as missing." in err


def test_scores_for_mt_metrics_eval_are_none_without_a_reference(tmp_path, capsys):
    _, err = score(
        capsys, *folder_of(tmp_path, s=SRCS, r=HALF, h=HYPS), "--mme", str(tmp_path / "mine")
    )
    lines = (tmp_path / "mine/metric-scores/en-de/chrf-r.seg.score").read_text("utf-8").splitlines()
    assert [line.endswith("None") for line in lines] == [bool(i % 2) for i in range(12)]
    assert "chrf-r is None for 6 of 12 segments" in err


def test_lines_are_checked_for_shifts_around_missing_references():
    refs = tuple(
        "" if i % 5 == 4 else f"{w} ist der Satz Nummer {i} von {w * 2}"
        for i, w in enumerate(WORDS)
    )
    texts = {
        "refs": {"r": refs},
        "systems": {"A": tuple(f"{w} war Satz Nr. {i}, {w * 2}" for i, w in enumerate(WORDS))},
    }
    test = TestSet("t", "en-de", WORDS, **texts)
    assert check_alignment(test) is test
    lost = TestSet(
        "t", "en-de", WORDS, texts["refs"], {"A": (*texts["systems"]["A"][3:], "", "", "")}
    )
    with pytest.raises(
        DataError, match="A, from segment 1: 25 lines fit the reference 3 segments later"
    ):
        check_alignment(lost)


WORDS = tuple(
    "".join(np.random.default_rng(i).choice(list("abcdefghijklmnop"), 9)) for i in range(44)
)


def test_references_are_shuffled_among_those_that_there_are():
    odd = plane.with_sanity_systems(of_half(A=tuple(HYPS)), np.random.default_rng(0))
    shuffled = odd.systems["references shuffled"]
    assert sorted(shuffled) == sorted(HALF)
    assert [not text for text in shuffled] == [not text for text in HALF]
    both = TestSet(
        "t", "en-de", tuple(SRCS), {"r": tuple(HALF), "r2": tuple(REFS)}, {"A": tuple(HYPS)}
    )
    odd = plane.with_sanity_systems(both, np.random.default_rng(0))
    assert sorted(odd.systems["references shuffled"]) == sorted(REFS)  # no segment is lost to it


def test_a_reference_without_any_text_is_no_human_point():
    test = TestSet(
        "t",
        "en-de",
        ("a", "b"),
        {"A": ("x", "y"), "B": ("", ""), "C": ("w", "z")},
        {"X": ("x", "q")},
    )
    assert list(plane.with_human_points(test).systems) == ["X", "C"]


def test_mbr_takes_a_blank_candidate_for_a_sample():
    cands = CandidateSet(np.zeros(3, int), ("Das Haus", "Das Haus", ""))
    assert mbr_utility(surface_metric("chrf"), cands).tolist() == [50, 50, 0]


def learned(reads, asked):
    """A model whose score is the number of letters of its texts together; it notes what it is asked."""

    def score_rows(rows):
        asked.extend(rows)
        return np.array([[len("".join(row)), 0] for row in rows], dtype=float).reshape(-1, 2)

    return Learned("l", "L", "letters", True, "l", reads, "9 tokens", score_rows)


def test_learned_metrics_skip_what_is_missing():
    asked = []
    metric = learned_metric(learned(("src", "hyp", "ref"), asked), "var")
    assert metric.signature == "l|nrefs:var|refs:mean"
    refs, srcs = [["r", None, None, "r"], ["rrr", "rr", None, "r"]], ["s", "s", "s", " "]
    scores = metric.score_segments(["h"] * 4, refs=refs, srcs=srcs)
    np.testing.assert_array_equal(scores, [4, 4, np.nan, np.nan])
    assert sorted(asked) == [("s", "h", "r"), ("s", "h", "rr"), ("s", "h", "rrr")]
    estimate = learned_metric(learned(("src", "hyp"), asked))
    np.testing.assert_array_equal(estimate.score_segments(["h"] * 4, srcs=srcs), [2, 2, 2, np.nan])


def test_n_counts_the_segments_behind_a_learned_score():
    test = TestSet("t", "en-de", ("s", "", "s"), {"r": ("r", "r", "")}, {"X": ("a", "b", "c")})
    table = system_rows(
        test,
        [learned_metric(learned(("src", "hyp"), [])), learned_metric(learned(("hyp", "ref"), []))],
    )
    assert table.n.tolist() == [2, 2]
    assert segment_rows(
        test, [learned_metric(learned(("src", "hyp"), []))]
    ).value.isna().tolist() == [0, 1, 0]


@pytest.mark.parametrize("field", ["doc", "domain"])
def test_a_blank_name_is_no_name_of_a_document(tmp_path, field):
    """Segments with an empty name would be resampled as one document."""
    with pytest.raises(DataError, match=f'line 1: "{field}" is blank'):
        read_candidate_file(jsonl(tmp_path, ["A"], ["B"], **{field: " "}))
    with pytest.raises(
        DataError,
        match="document of segment 1 is blank; give every segment a name, or none of them",
    ):
        TestSet("t", "en-de", ("a", "b"), docs=("d", ""))
    (tmp_path / "docs").write_text("news\td1\nnews\t \n", "utf-8")
    folder_of(tmp_path, s=["a", "b"])
    with pytest.raises(DataError, match=r"docs, line 2: .* is no line of the form"):
        read_plain(tmp_path / "s.txt", None, None, "en-de", docs=tmp_path / "docs")


def test_blank_lines_are_no_monolingual_texts(tmp_path, capsys):
    (tmp_path / "r").write_text("eins\n\n \nzwei\n", "utf-8")
    assert (
        load_mono(tmp_path / "r")
        == mono_for("teaching", "de", tmp_path / "r")[0]
        == ("eins", "zwei")
    )
    assert "2 blank lines of 4 left out." in capsys.readouterr().err


def test_monolingual_texts_that_are_there_twice_count_once(tmp_path, capsys):
    """A file appended to itself had 720 texts for 360, and an interval of R that was shorter by 29 %."""
    (tmp_path / "r").write_text("eins\nzwei\n" * 2, "utf-8")
    assert (
        load_mono(tmp_path / "r")
        == mono_for("teaching", "de", tmp_path / "r")[0]
        == ("eins", "zwei")
    )
    assert "2 repeated lines of 4 left out." in capsys.readouterr().err


@pytest.mark.real
def test_wmt23_with_half_its_references(tmp_path, capsys):
    """GPT4-5shot had BLEU 23.1 for 43.6 (n 557) with every second reference blank."""
    if "ANHELPERS_DATA" not in os.environ:
        pytest.skip("ANHELPERS_DATA is not set; point it at the shared data to check real sets.")
    root = Path(os.environ["ANHELPERS_DATA"], "wmt23", "txt")
    name, n = "generaltest2023.en-de", 557
    src, ref, hyp = (
        (root / path).read_text("utf-8").removesuffix("\n").split("\n")
        for path in (
            f"sources/{name}.src.en",
            f"references/{name}.ref.refA.de",
            f"system-outputs/{name}.hyp.GPT4-5shot.de",
        )
    )
    half = ["" if i % 2 else text for i, text in enumerate(ref)]
    table, _ = score(capsys, *folder_of(tmp_path, s=src, r=half, h=hyp), "-m", "bleu", "chrf")
    for name, row in table.set_index("metric").iterrows():
        assert row.value == ORACLES[name][1].corpus_score(hyp[::2], [ref[::2]]).score
        assert row.n == n // 2 + 1
    table, _ = score(
        capsys, *folder_of(tmp_path, s=src, r=ref, r2=[""] * n, h=hyp), "-m", "bleu", "chrf"
    )
    assert table.value.round(4).tolist() == [43.5866, 69.1148]
