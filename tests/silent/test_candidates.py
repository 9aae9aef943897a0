"""Candidates that are none, stand at another source, or are there twice: the curve over them is told or refused."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from anhelpers.accuracy.align import check_candidates

from anhelpers import cli
from anhelpers.accuracy.surface import surface_metric
from anhelpers.data import (
    CandidateSet,
    TestSet,
    from_systems,
    load,
    load_candidates,
    read_candidate_file,
    read_candidates,
    read_plain,
    with_outputs,
)
from anhelpers.errors import DataError
from anhelpers.metrics import Metric
from anhelpers.plane import oracle_study

N, K = 12, 3
WHOLE = load("teaching").subset(range(N))
TEST = replace(WHOLE, refs={"refA": WHOLE.refs["refA"]}, systems={}, categories={})
SRC, REF = TEST.srcs, TEST.refs["refA"]
OFFERED = [
    [WHOLE.systems[name][i] for name in ("MT-Base", "LLM-Large", "Online-P")] for i in range(N)
]
FLAT = tuple(text for texts in OFFERED for text in texts)
CANDS = CandidateSet(np.repeat(np.arange(N), K), FLAT)
ROTATED = REF[4:] + REF[:4]


def length_metric():
    score = lambda hyps, **context: -np.array([float(len(text)) for text in hyps])  # noqa: E731
    return Metric("chars", "chars", "characters", True, (), "chars", score)


def study(test, cands):
    return oracle_study(test, cands, surface_metric("chrf", "de"), length_metric())


def sources(folder, offered=OFFERED, refs=REF, **more):
    """A self-contained file, an object a source; `more` maps a key to its N values."""
    rows = [
        {"src": s, "refs": [r], "candidates": c} for s, r, c in zip(SRC, refs, offered, strict=True)
    ]
    rows = [row | {key: values[i] for key, values in more.items()} for i, row in enumerate(rows)]
    return lines(folder, "c.jsonl", map(json.dumps, rows))


def lines(folder, name, texts):
    path = folder / name
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return str(path)


def curve(capsys, *arguments):
    """(exit status, the accuracy at β = 0, what was said on standard error)."""
    status = cli.main(["curve", *arguments, "-l", "en-de"])
    out, err = capsys.readouterr()
    return status, pd.read_csv(io.StringIO(out)).accuracy[0] if out else None, err


@pytest.mark.parametrize("place", ["first", "last", "anywhere"])
def test_references_put_among_the_candidates_are_left_out(place, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    at = {"first": [0] * N, "last": [K] * N, "anywhere": [i % (K + 1) for i in range(N)]}[place]
    more = [[*c[:k], ref, *c[k:]] for c, ref, k in zip(OFFERED, REF, at, strict=True)]
    plain = curve(capsys, sources(tmp_path))
    status, accuracy, err = curve(capsys, sources(tmp_path, more))
    assert (status, accuracy) == plain[:2]
    assert accuracy < 90
    assert (
        f"in {N} of {N} sources a candidate is the reference refA itself; {N} such are left out."
        in err
    )
    assert "is the reference" not in plain[2]


def test_a_tag_says_who_copied():
    texts = tuple(text for i in range(N) for text in (OFFERED[i][0], REF[i]))
    tags = ("MT", "refA") * N
    cands = CandidateSet(np.repeat(np.arange(N), 2), texts, tags)
    made = study(TEST, cands)
    assert set(made.cands.tags) == {"MT"}
    assert (
        f"in {N} of {N} sources a candidate of refA is the reference refA itself; {N} such are left out."
        in made.notes
    )
    both = replace(cands, tags=("MT", "refA | LLM", *tags[2:]))  # who else wrote it keeps it
    assert study(TEST, both).cands.tags.count("refA | LLM") == 1


def test_translations_that_equal_a_reference_by_chance_stay_and_are_counted():
    texts = (REF[0], *FLAT[1:])
    made = study(TEST, replace(CANDS, texts=texts))
    assert made.cands.texts == texts
    told = f"in 1 of {N} sources a candidate equals a reference word for word (1 of {N * K} candidates), and stays"
    assert [note for note in made.notes if note.startswith(told)]
    many = tuple(REF[i // K] if i % K == 0 and i // K < 8 else text for i, text in enumerate(FLAT))
    assert any(
        "if references were put among the candidates" in note
        for note in study(TEST, replace(CANDS, texts=many)).notes
    )


def test_a_source_with_nothing_but_its_reference_is_refused():
    with pytest.raises(
        DataError,
        match=r"source 0 \(counted from 0\) has no candidate but its own reference \(12 such",
    ):
        study(TEST, CandidateSet(np.arange(N), REF))


def test_a_score_that_is_infinite_is_named_by_its_place_among_all_candidates():
    texts = tuple(text for i in range(N) for text in (REF[i], OFFERED[i][0]))
    cands = CandidateSet(np.repeat(np.arange(N), 2), texts)
    broken = replace(
        length_metric(),
        score_segments=lambda hyps, **c: np.array([np.inf] + [0.0] * (len(hyps) - 1)),
    )
    with pytest.raises(DataError, match=r"segment 0, its candidate 1 \(flat index 1\)"):
        oracle_study(TEST, cands, surface_metric("chrf", "de"), broken)


@pytest.mark.parametrize(
    ("refs", "told"),
    [
        (REF[1:] + REF[:1], "Most fit the reference 1 source earlier"),
        (ROTATED, "Most fit the reference 4 sources earlier"),
        (tuple(REF[i * 5 % N] for i in range(N)), "; put them in one order"),
    ],
)
def test_references_in_another_order_are_refused(refs, told, tmp_path, capsys):
    status, accuracy, err = curve(
        capsys, sources(tmp_path, refs=refs), "-o", str(tmp_path / "v.csv")
    )
    assert (status, accuracy) == (2, None)
    assert "the candidates are not in the order of the references" in err
    assert told in err
    assert not (tmp_path / "v.csv").exists()


def test_k_lines_of_another_order_are_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = ["-s", lines(tmp_path, "s.en", SRC), "-r", lines(tmp_path, "r.de", REF), "-k", str(K)]
    assert curve(capsys, lines(tmp_path, "c.txt", FLAT), *texts)[0] == 0
    blocks = [text for column in zip(*OFFERED, strict=True) for text in column]
    status, _, err = curve(capsys, lines(tmp_path, "b.txt", blocks), *texts)
    assert status == 2
    assert (
        f"one candidate after another, {N} lines each; wanted is one source after another, the {K} candidates"
        in err
    )


def test_one_shifted_system_among_the_candidates_is_refused():
    """Its 26 segments leave too few strange candidates among all."""
    whole = load("teaching")
    cands = load_candidates("teaching")
    mine, other = whole.systems["MT-Tuned"], whole.systems["MT-Base"]
    moved = replace(
        whole, systems={"Moved": mine[:40] + mine[41:] + ("Ende.",), "Other": other}, categories={}
    )
    bare = replace(whole, systems={}, categories={})
    with pytest.raises(
        DataError,
        match=r"the candidates of Moved, from source 4[01]: \d+ sources have candidates that fit",
    ):
        check_candidates(bare, cands.merge(from_systems(moved)))


def test_nothing_is_told_of_good_candidates_and_of_few():
    cands = load_candidates("teaching")
    assert check_candidates(load("teaching"), cands) is cands
    untagged = replace(cands, tags=("",) * len(cands))
    assert check_candidates(load("teaching"), untagged) is untagged
    few, theirs = TEST.subset(range(5)), CandidateSet(CANDS.segment[: 5 * K], FLAT[: 5 * K])
    assert check_candidates(replace(few, refs={"r": few.refs["refA"][::-1]}), theirs) is theirs


@pytest.mark.real
@pytest.mark.parametrize("name", ["wmt23/en-de", "wmt24/en-de", "wmt24/ja-zh"])
def test_no_real_candidates_are_called_disordered(name, real_data):
    test, cands = load(name), load_candidates(name)
    for ref in test.refs:
        check_candidates(
            replace(test.with_reference(ref), systems={}, categories={}),
            replace(cands, tags=("",) * len(cands)),
        )


def test_ids_of_sources_are_not_there_twice(tmp_path):
    names = [f"s{i}" for i in range(N)]
    assert len(read_candidate_file(sources(tmp_path, id=names))[1]) == N * K
    path = sources(tmp_path, id=[*names[:-1], "s3"])
    for read in (read_candidate_file, read_candidates):
        with pytest.raises(
            DataError, match=f"line {N}: id 's3' is used twice; ids of sources must differ"
        ):
            read(path)


@pytest.mark.parametrize("layout", ["sources", "candidates", "parquet"])
def test_a_file_that_is_there_twice_is_refused(layout, tmp_path):
    rows = [{"segment": i // K, "text": text} for i, text in enumerate(FLAT)]
    if layout == "parquet":
        pytest.importorskip("pyarrow")
        path = tmp_path / "c.parquet"
        pd.DataFrame(rows * 2).to_parquet(path)
    elif layout == "candidates":
        path = lines(tmp_path, "c.jsonl", map(json.dumps, rows * 2))
    else:
        once = Path(sources(tmp_path)).read_text(encoding="utf-8")
        path = lines(tmp_path, "c2.jsonl", [once.rstrip(), once.rstrip()])
    for read in (read_candidate_file, read_candidates):
        with pytest.raises(DataError, match=r"the first \d+ stand here again, 2 times in all"):
            read(path)


def test_some_sources_that_are_there_twice_are_told(tmp_path):
    once = Path(sources(tmp_path)).read_text(encoding="utf-8").splitlines()
    _, cands = read_candidate_file(lines(tmp_path, "more.jsonl", [*once, *once[:2]]))
    assert cands.notes == (f"2 of {N + 2} sources stand there again with the same candidates.",)


def test_one_source_may_have_the_same_draws_again(tmp_path):
    rows = [json.dumps({"segment": 0, "text": text}) for text in ("Ja.", "Doch.") * 2]
    assert len(read_candidates(lines(tmp_path, "draws.jsonl", rows))) == 4


def test_repeated_candidates_and_blank_ones_are_told_once_each(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    odd = [[*OFFERED[0], OFFERED[0][0], OFFERED[0][0]], [*OFFERED[1], " "], *OFFERED[2:]]
    n = sum(len(texts) - len(set(texts)) for texts in odd)
    status, _, err = curve(capsys, sources(tmp_path, odd))
    assert status == 0
    assert n >= 2
    assert f"{n} of {N * K + 2} candidates repeat an earlier one of their source." in err
    assert err.count("blank") == 1
    assert f"1 blank candidate of {N * K + 3} left out." in err


def test_outputs_join_the_candidates_once():
    systems = {name: WHOLE.systems[name] for name in ("MT-Base", "MT-Tuned")}
    old = replace(WHOLE, systems=systems, categories={})
    mine = (*systems["MT-Base"][:3], *WHOLE.systems["Online-Q"][3:])
    more = with_outputs(
        from_systems(old), replace(old, systems={**systems, "mine": mine}, categories={})
    )
    distinct = {(i, hyps[i]) for hyps in (*systems.values(), mine) for i in range(N)}
    assert len(more) == len(distinct)
    assert more.multiplicity.sum() == 3 * N
    assert 1 < 3 * N - len(distinct) < N
    assert more.notes == (
        f"{3 * N - len(distinct)} of {3 * N} candidates repeat an earlier one of their source.",
    )


def test_the_appendix_counts_repeats_once(tmp_path, capsys):
    base, tuned = WHOLE.systems["MT-Base"], WHOLE.systems["MT-Tuned"]
    folder = tmp_path / "set"
    for name, texts in {
        "sources/en-de": SRC,
        "references/en-de.refA": REF,
        "system-outputs/en-de/Base": base,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        lines((folder / name).parent, f"{Path(name).name}.txt", texts)
    mine = lines(tmp_path, "mine.de", [*base[:3], *tuned[3:]])
    out = tmp_path / "out"
    call = [
        "plane",
        "--data",
        str(folder),
        "--mine",
        mine,
        "--mine-in-candidates",
        "--draws",
        "10",
        "-l",
        "en-de",
    ]
    assert cli.main([*call, "-o", str(out)]) == 0
    n = sum(a == b for a, b in zip(base, [*base[:3], *tuned[3:]], strict=True))
    told = f"{n} of {2 * N} candidates repeat an earlier one of their source."
    assert capsys.readouterr().err.count(told) == 1
    assert told in (out / "appendix.txt").read_text(encoding="utf-8")


def test_a_reference_that_is_not_compared_with_is_no_candidate_either(tmp_path, capsys):
    a, b = lines(tmp_path, "a.de", REF), lines(tmp_path, "b.de", WHOLE.refs["refB"])
    mine = lines(tmp_path, "mine.de", WHOLE.systems["MT-Base"])
    out = tmp_path / "out"
    call = [
        "plane",
        "-s",
        lines(tmp_path, "s.en", SRC),
        "-r",
        a,
        b,
        "-t",
        mine,
        "-l",
        "en-de",
        "--draws",
        "10",
    ]
    assert cli.main([*call, "--reference", "a", "-o", str(out)]) == 0
    table = pd.read_csv(out / "systems.csv").set_index("system")
    assert table.among_candidates.to_dict() == {"mine": True, "b": False}


def test_the_outputs_of_wmt25_are_called_what_they_are(tmp_path, capsys):
    record = {"doc_id": "cs-de_DE_#_news_#_1", "hypothesis": "Eins.\n\nZwei."}
    path = lines(tmp_path, "out.jsonl", [json.dumps(record)])
    assert (
        cli.main(
            ["score", "-s", lines(tmp_path, "s.cs", SRC), "-t", path, "-l", "cs-de", "-m", "ttr"]
        )
        == 2
    )
    told = "is a document as a system of WMT25 translated it: write the paragraphs"
    assert told in (said := capsys.readouterr().err)
    assert "anhelpers curve" not in said.replace("anhelpers score:", "")
    assert cli.main(["curve", path]) == 2
    assert told in capsys.readouterr().err


def test_candidates_that_fit_no_reference_are_told_by_their_system():
    """As of another test set, or of a model that was hardly trained: both have a curve."""
    words = np.random.default_rng(0).choice(list("abdefgiklmnorstu"), (2, 40, 6, 7))
    refs, others = (tuple(" ".join(map("".join, line)) for line in side) for side in words.tolist())
    test = TestSet("t", "en-de", refs, {"r": refs}, {})
    for tags, whose in (((), "the candidates:"), (("mt",) * 40, "the candidates of mt:")):
        told = check_candidates(test, CandidateSet(np.arange(40), others, tags)).notes
        assert any(
            note.startswith(f"{whose} texts fit the references of their own segments no")
            for note in told
        )


def test_sources_with_fewer_candidates_are_told(tmp_path):
    rows = [
        {"src": f"Line {i}.", "candidates": [f"Zeile {i}, {k}." for k in range(4 if i % 2 else 1)]}
        for i in range(6)
    ]
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert any(
        note.startswith(
            "3 of 6 sources have fewer candidates than the 4 of the others (the fewest: 1)"
        )
        for note in read_candidates(path).notes
    )


def test_lines_of_candidates_need_their_number(tmp_path):
    path = tmp_path / "c.txt"
    path.write_text("Ja.\nNein.\n", "utf-8")
    with pytest.raises(DataError, match="how many lines each source has is not said; say it by -k"):
        read_candidates(path)


def test_documents_in_pieces_and_headers_of_documents_are_told(tmp_path):
    for name, texts in (("s", "abcdefgh"), ("r", "ABCDEFGH"), ("t", "stuvwxyz")):
        (tmp_path / name).write_text("".join(f"{text}\n" for text in texts), "utf-8")
    docs = tmp_path / "docs"
    read = [tmp_path / name for name in "srt"]
    one, two = "news\tone\n", "news\ttwo\n"
    for lines, begin in (
        ((one + two) * 4, "the 2 documents stand in 8 pieces: 'one' begins again at segment 3."),
        # one lower
        (
            one * 3 + two * 4 + one,
            "the 2 documents stand in 3 pieces: 'one' begins again at segment 8.",
        ),
        (
            one * 2 + "news\ton\n" + one + two * 4,
            "the 3 documents stand in 4 pieces: 'one' begins again at segment 4.",
        ),
    ):
        docs.write_text(lines, "utf-8")
        asked = f"{begin} Are the lines in the order of the texts, and all names spelled alike?"
        assert asked in read_plain(*read, "en-de", docs=docs).notes
    docs.write_text("news\tone\n" * 4 + "news\ttwo\n" * 4, "utf-8")
    assert not [note for note in read_plain(*read, "en-de", docs=docs).notes if "pieces" in note]
    docs.write_text("domain\tdocument\n" + "news\ttwo\n" * 7, "utf-8")
    with pytest.raises(
        DataError, match="line 1: is a header, and line 1 belongs to the first segment"
    ):
        read_plain(*read, "en-de", docs=docs)
