"""Who joins moves nobody else: a curve is over candidates with an id, and one's own system is none unless asked."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers import cli
from anhelpers.accuracy.surface import surface_metric
from anhelpers.charts.curve import plot_curve, plot_gap
from anhelpers.charts.systems import plot_systems
from anhelpers.cli import options
from anhelpers.data import CandidateSet, from_systems, load, with_outputs
from anhelpers.metrics import Metric
from anhelpers.plane import curve_rows, oracle_study, with_human_points

N = 30
WHOLE = load("teaching").subset(range(N))
OWN = ("MT-Base", "MT-Tuned", "Online-P", "LLM-Large")
TEST = replace(WHOLE, systems={name: WHOLE.systems[name] for name in OWN}, categories={})
REF_A, REF_B = WHOLE.refs["refA"], WHOLE.refs["refB"]
EDITED = (f"{WHOLE.systems['Online-Q'][0]} Ja.", *WHOLE.systems["Online-Q"][1:])
COLUMNS = [
    "accuracy",
    "naturalness",
    "accuracy_gap",
    "naturalness_gap",
    "above_curve",
    "candidates",
]


def lines(folder, name, texts):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return str(path)


def words() -> Metric:
    def score(hyps, **context):
        return np.array([-float(len(hyp.split())) if hyp.strip() else np.nan for hyp in hyps])

    return Metric("words", "words", "words", True, (), "words|v:1", score)


def study(test, cands, accuracy="chrf"):
    return oracle_study(test, cands, surface_metric(accuracy, "de"), words())


loaded = cache(options.chosen_lm)


@pytest.fixture
def wmt(tmp_path):
    """The options of a data set, and the same as files."""
    tree, files = tmp_path / "wmt", tmp_path / "files"
    lines(tree, "sources/en-de.txt", TEST.srcs)
    for name, texts in TEST.refs.items():
        lines(tree, f"references/en-de.{name}.txt", texts)
    for name, texts in TEST.systems.items():
        lines(tree, f"system-outputs/en-de/{name}.txt", texts)
    src, ref = lines(files, "src.en", TEST.srcs), lines(files, "refB.de", REF_B)
    outputs = [
        f"{name}={lines(files, f'{name}.de', texts)}" for name, texts in TEST.systems.items()
    ]
    return {
        "data": ["--data", str(tree), "--reference", "refB"],
        "files": ["-s", src, "-r", ref, "-t", *outputs],
    }


@pytest.fixture
def plane(tmp_path, tiny_lm, capsys, monkeypatch):
    """(systems.csv, curve.csv, the notes, the page) of a run; claim.csv stays in the folder "out"."""

    # which takes seconds a picture
    monkeypatch.setattr("anhelpers.charts.offline.save", lambda *drawn, **how: None)
    monkeypatch.setattr("anhelpers.charts.offline.interactive", lambda chart: "")
    monkeypatch.setattr(options, "chosen_lm", loaded)

    def run(*typed):
        out = tmp_path / "out"
        more = ["-l", "en-de", "--lm", str(tiny_lm), "--draws", "10", "-o", str(out)]
        assert cli.main(["plane", *typed, *more]) == 0
        systems, curve = (
            pd.read_csv(out / f"{name}.csv").drop(columns="made_by")
            for name in ("systems", "curve")
        )
        return (
            systems.set_index("system"),
            curve,
            capsys.readouterr().err,
            (out / "plane.html").read_text("utf-8"),
        )

    return run


# ---- the id


@given(
    st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4), min_size=1, max_size=4),
    st.data(),
)
def test_the_id_is_of_the_texts_of_each_source_whatever_their_order(sources, data):
    rows = [(i, text) for i, texts in enumerate(sources) for text in texts]
    cands = CandidateSet([i for i, _ in rows], [text for _, text in rows])
    mixed = [
        (i, text) for i, texts in enumerate(sources) for text in data.draw(st.permutations(texts))
    ]
    other = CandidateSet(
        [i for i, _ in mixed], [text for _, text in mixed], tags=["MT"] * len(rows), notes=("a",)
    )
    assert cands.id == other.id == cands.deduplicated().id == cands.repeated().id
    assert cands.summary == cands.deduplicated().summary
    at = data.draw(st.integers(0, len(rows) - 1))
    texts = [f"{text} " if i == at else text for i, (_, text) in enumerate(rows)]
    assert CandidateSet(cands.segment, texts).id != cands.id
    assert CandidateSet([*cands.segment, len(sources)], [*cands.texts, "a"]).id != cands.id
    again = (
        np.insert(cands.segment, at, cands.segment[at]),
        np.insert(cands.texts, at, cands.texts[at]),
    )
    assert CandidateSet(*again).id == cands.id  # an oracle has the same choice
    if list(map(set, sources)) != list(map(set, sources[::-1])):
        turned = [(i, text) for i, texts in enumerate(sources[::-1]) for text in texts]
        assert CandidateSet([i for i, _ in turned], [text for _, text in turned]).id != cands.id


def test_the_id_tells_apart_texts_that_look_alike_when_they_are_joined():
    pairs = [
        (["a", "b"], ["a b"]),
        (["a\n", "b"], ["a", "\nb"]),
        (['a", "b'], ["a", "b"]),
        (["ä"], ["a\u0308"]),
    ]
    for one, other in pairs:
        assert CandidateSet([0] * len(one), one).id != CandidateSet([0] * len(other), other).id
    assert CandidateSet([0, 0, 1], list("abc")).id != CandidateSet([0, 1, 1], list("abc")).id
    assert CandidateSet([0], ["\ud800"]).id.startswith("candidates:")  # half a character


def test_the_id_stands_for_good():
    """Published beside a number: another one for the same texts would be another set to every reader."""
    assert CandidateSet([0, 0, 1], ["Ja.", "Doch.", "Nein: 3 × ä"]).id == "candidates:7d85995a5f2a"
    assert CandidateSet([], []).summary == "candidates:4f53cda18c2b (none)"


def test_a_study_and_its_domains_name_the_candidates_that_are_left():
    test, given_ = replace(TEST, refs={"refB": REF_B}), from_systems(TEST)
    some = study(test, given_)
    assert some.cands.id == given_.id == study(test, given_.deduplicated()).cands.id
    assert (
        set(curve_rows(some).candidates)
        == set(some.systems(np.random.default_rng(0), 10).candidates)
        == {given_.id}
    )
    parts = {some.domain(name).cands.id for name in set(TEST.domains)}
    assert given_.id not in parts
    assert len(parts) == len(set(TEST.domains)) > 1
    blank = replace(test, systems=TEST.systems | {"MT-Base": ("", *TEST.systems["MT-Base"][1:])})
    assert study(blank, given_).cands.id != given_.id  # other segments
    assert study(test, given_.without(["MT-Base"])).cands.id != given_.id


# ---- one's own system


@pytest.mark.parametrize("kind", ["data", "files"])
def test_the_places_and_gaps_of_others_stay_to_the_last_digit(kind, wmt, plane, tmp_path):
    alone, curve, _, _ = plane(*wmt[kind])
    claim = pd.read_csv(tmp_path / "out" / "claim.csv").drop(columns="made_by")
    texts = {
        "twin": TEST.systems["MT-Base"],
        "edited": EDITED,
        "b": REF_B,
        "a": REF_A,
        "near": (*REF_B[:-1], "Nein."),
    }
    mine = [lines(tmp_path, f"{name}.de", hyps) for name, hyps in texts.items()]
    with_mine, same, err, page = plane(*wmt[kind], "--mine", *mine)
    pd.testing.assert_frame_equal(
        with_mine.loc[alone.index, COLUMNS], alone[COLUMNS], check_exact=True
    )
    pd.testing.assert_frame_equal(same, curve, check_exact=True)
    still = pd.read_csv(tmp_path / "out" / "claim.csv").drop(columns="made_by")
    pd.testing.assert_frame_equal(still, claim, check_exact=False, rtol=1e-9)
    without, again = re.findall(r"This is without ([^.]*)\.", page)
    assert without == again  # the claim, and the appendix
    assert {"twin", "edited", "near"} <= set(without.split(", "))
    assert with_mine.among_candidates["twin"]
    assert not with_mine.among_candidates["edited"]
    assert with_mine.above_curve["near"]
    named = {
        f"b is the reference refB ({N} of {N} texts are the same, white space around them aside), and is not compared",
        "near is nearly the reference refB (29 of 30 texts are the same",
        "edited, near: not put among the candidates"
        if kind == "data"
        else "edited, a, near: not put among",
        "or beyond its end (no gap): near",
    }
    named |= {f"a is the reference refA ({N} of {N} texts"} if kind == "data" else set()
    for told in (err, page):
        assert alone.candidates.iloc[0] in told
        assert [words for words in named if words not in told] == []


@pytest.mark.parametrize("kind", ["data", "files"])
def test_who_puts_it_among_the_candidates_is_told_and_gets_another_id(kind, wmt, plane, tmp_path):
    alone, _, _, _ = plane(*wmt[kind])
    mine = lines(tmp_path, "edited.de", EDITED)
    plane(*wmt[kind], "--mine", mine, "--mine-in-candidates")
    assert not pd.read_csv(tmp_path / "out" / "claim.csv").systems.str.contains("edited").any()
    joined, curve, err, page = plane(
        *wmt[kind], "--mine", mine, "--mine-in-candidates", "--count-all"
    )
    assert joined.among_candidates["edited"]
    assert pd.read_csv(tmp_path / "out" / "claim.csv").systems.str.contains("edited").any()
    assert "This is without" not in page
    assert not joined.above_curve[joined.among_candidates].any()
    assert joined.candidates.nunique() == 1
    assert joined.candidates.iloc[0] == curve.candidates.iloc[0] != alone.candidates.iloc[0]
    for told in (err, page):
        assert "edited: put among the candidates" in told
        assert joined.candidates.iloc[0] in told


@pytest.mark.parametrize("kind", ["data", "files"])
def test_copies_of_references_never_join_the_curve(kind, wmt, plane, tmp_path):
    alone, curve, _, _ = plane(*wmt[kind])
    mine = [lines(tmp_path, "b.de", REF_B), lines(tmp_path, "near.de", (*REF_B[:-1], "Nein."))]
    _, same, err, page = plane(*wmt[kind], "--mine", *mine, "--mine-in-candidates")
    assert same.accuracy.tolist() == curve.accuracy.tolist()
    assert same.candidates.iloc[0] == alone.candidates.iloc[0]
    for told in (err, page):
        assert "b is the reference refB" in told
        assert "near: not put among the candidates; not all texts stayed" in told
        assert (
            "n 29 of 30 sources a candidate of near is the reference refB itself; 30 candidates of near"
            in told
        )


@pytest.mark.parametrize("n_edited", [1, 2, 3, 12])
def test_a_near_copy_moves_no_gap_however_near_it_is(n_edited):
    """Of 30 texts: at 29, 28 and 27 equal ones, around 95 %, the curve of the others is that of 18 equal ones."""
    near = (*REF_B[:-n_edited], *TEST.systems["MT-Base"][-n_edited:])
    test = replace(TEST, refs={"refB": REF_B}, systems=TEST.systems | {"near": near}, categories={})
    points = with_human_points(test)
    share = f"nearly the reference refB ({N - n_edited} of {N} texts are the same, white space around them aside: "
    assert any(share in note for note in points.notes)
    made = study(points, from_systems(test))
    assert made.cands.id == from_systems(TEST).id  # its other texts are those of MT-Base
    assert any(
        f"in {N - n_edited} of {N} sources a candidate of near is the ref" in note
        for note in made.notes
    )
    outside = {"near": "copy of the reference refB"} if n_edited < 12 else {}
    assert made.plane.outside == made.plane.only(["near", "MT-Base"]).outside == outside


def test_a_copied_reference_among_the_systems_is_no_candidate_under_any_name(wmt, plane, tmp_path):
    """Of -t too: also under the name of the reference that it is, and where metrics compare with another."""
    alone, curve, _, _ = plane(*wmt["files"])
    copies = [f"copy={lines(tmp_path, 'copy.de', REF_B)}", lines(tmp_path, "hyp/refA.de", REF_A)]
    ref_a = lines(tmp_path, "ref/refA.de", REF_A)
    src, ref, outputs = wmt["files"][1], wmt["files"][3], wmt["files"][5:]
    both = ["-s", src, "-r", ref, ref_a, "--reference", "refB", "-t", *outputs, *copies]
    table, same, err, page = plane(*both)
    assert same.accuracy.tolist() == curve.accuracy.tolist()
    assert same.candidates.iloc[0] == alone.candidates.iloc[0]
    assert not table.among_candidates["refA"]
    for told in (err, page):
        assert "copy is the reference refB" in told


def test_another_reference_in_a_file_of_candidates_is_none_either():
    cands = CandidateSet(
        np.repeat(np.arange(N), 3),
        [
            t
            for row in zip(TEST.systems["MT-Base"], TEST.systems["MT-Tuned"], REF_A, strict=True)
            for t in row
        ],
    )
    points = with_human_points(TEST, ["refB"])
    assert list(points.systems) == [*OWN, "refA"]
    for tags in ((), ("x", "y", "z") * N, ("x", "y", "refA") * N):
        made = study(points, replace(cands, tags=tags or ("",) * len(cands)))
        assert made.cands.id == from_systems(TEST, OWN[:2]).id
        assert any(
            "is the reference refA itself; 30 such are left out." in note for note in made.notes
        )
        table = made.systems(np.random.default_rng(0), 10).set_index("system")
        assert not table.among_candidates["refA"]


def test_a_blank_line_of_ones_own_moves_all_numbers_and_is_told(wmt, plane, tmp_path):
    alone, _, before, _ = plane(*wmt["data"])
    mine = lines(tmp_path, "gap.de", ("", *EDITED[1:]))
    table, _, err, page = plane(*wmt["data"], "--mine", mine)
    assert table.n.unique().tolist() == [N - 1]
    assert table.candidates.iloc[0] != alone.candidates.iloc[0]
    for told in (err, page):
        assert "gap is blank in 1 of 30 segments where the other systems have text" in told
        assert "Given were " + alone.candidates.iloc[0] in told
    assert "where the other systems" not in before
    _, _, own, _ = plane(*wmt["data"], "--mine", lines(tmp_path, "none.de", [""] * N))
    assert "where the other systems" not in own  # who says nothing at all takes nothing away


def test_a_segment_where_mine_alone_has_text_has_no_candidate(wmt, plane, tmp_path):
    src, ref = wmt["files"][1], wmt["files"][3]
    outputs = [lines(tmp_path, f"{name}.de", ("", *TEST.systems[name][1:])) for name in OWN]
    files = ["-s", src, "-r", ref, "-t", *outputs]
    _, curve, err, _ = plane(*files, "--mine", lines(tmp_path, "mine.de", EDITED))
    assert "1 of 30 segments are left out: no system has any text there." in err
    assert curve.n.unique().tolist() == [N - 1]


def test_an_id_needs_the_same_choice_of_systems(wmt, plane):
    ids = [
        plane(*wmt["data"], *more)[0].candidates.iloc[0]
        for more in ([], [], ["--exclude", "MT-Base"])
    ]
    assert ids[0] == ids[1] != ids[2]


def test_options_without_their_files_are_refused(wmt, tmp_path, capsys):
    assert cli.main(["plane", *wmt["data"], "--mine-in-candidates"]) == 2
    assert (
        "--mine-in-candidates says what to do with the files of --mine" in capsys.readouterr().err
    )
    mine = lines(tmp_path, "mine.de", EDITED)
    assert cli.main(["plane", *wmt["files"][:4], "--mine", mine, "-l", "en-de"]) == 2
    assert "system outputs (-t SYSTEM)" in capsys.readouterr().err
    copy = lines(tmp_path, "copy.de", REF_B)
    assert cli.main(["plane", *wmt["files"][:4], "-t", copy, "--mine", mine, "-l", "en-de"]) == 2
    assert "no system of -t is left that is no reference" in capsys.readouterr().err


def test_the_command_curve_has_the_same_id(wmt, plane, tiny_lm, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    alone, _, _, _ = plane(*wmt["data"])
    assert (
        cli.main(
            ["curve", *wmt["data"][1:], "-l", "en-de", "--lm", str(tiny_lm), "-o", "vertices.csv"]
        )
        == 0
    )
    assert set(pd.read_csv("vertices.csv").candidates) == {alone.candidates.iloc[0]}
    assert alone.candidates.iloc[0] in (tmp_path / "build" / "wmt.curve.html").read_text("utf-8")
    assert (
        f"The oracle curve is over {alone.candidates.iloc[0]} (from 4 systems or methods; 4 per source, 120 for 30 "
        in (capsys.readouterr().err)
    )


def test_only_those_who_are_asked_join():
    test = replace(
        TEST, systems=TEST.systems | {"mine": ("", *EDITED[1:]), "copy": REF_A}, categories={}
    )
    drawn = CandidateSet(np.arange(N), REF_B[::-1], tags=["model"] * N, logprob=-np.ones(N))
    joined = with_outputs(drawn, test, ["mine", "copy"])
    assert set(joined.tags) == {"model", "mine"}
    assert joined.n_candidates.tolist() == [1] + [2] * (N - 1)
    assert np.isnan(joined.logprob[np.array(joined.tags) == "mine"]).all()
    assert with_outputs(drawn, test, ["copy"]).id == drawn.id
    everybody = with_outputs(drawn, test)
    assert {name for tag in everybody.tags for name in tag.split(" | ")} == {"model", "mine", *OWN}
    assert with_outputs(everybody, test).id == everybody.id


def test_pictures_name_the_candidates_and_who_lies_above():
    test = replace(TEST, systems=TEST.systems | {"near": (*REF_B[:-1], "Nein.")}, categories={})
    made = study(replace(test, refs={"refB": REF_B}), from_systems(TEST))
    table = made.systems(np.random.default_rng(0), 20)
    assert table.set_index("system").above_curve["near"]
    for picture in (plot_systems(table, curve=made.curve), plot_curve(made.curve, table)):
        told = " ".join(picture.title.subtitle)
        assert made.cands.id not in told
        assert f", over {made.cands.id}" in picture.description
        assert "Above the line or beyond its end, and not among the candidates: near." in told
    assert "oracle curve" not in " ".join(plot_systems(table).title.subtitle)
    gaps = " ".join(plot_gap(table).title.subtitle)
    assert "Below 0: above the curve." in gaps or "A missing mark" in gaps
    assert "above the curve" not in " ".join(plot_gap(table[~table.above_curve]).title.subtitle)
