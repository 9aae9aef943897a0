import math
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anhelpers.data import TestSet, load, read_mme, read_mme_scores, write_mme, write_mme_scores
from anhelpers.data.fields import NO_TRANSLATION
from anhelpers.errors import DataError, UnknownName

SMALL = TestSet(
    "small",
    "en-de",
    ("One.", "Two.", "Three."),
    refs={"refA": ("Eins.", "Zwei.", "Drei.")},
    systems={
        "GPT-4.5": ("Eins", "", "Drei"),
        "refA": ("Eins.", "Zwei.", "Drei."),
        "M": ("1", "2", "3"),
    },
    docs=("d1", "d1", "d2"),
    domains=("news", "news", "speech"),
    categories={"GPT-4.5": "LLM", "refA": "human"},
)

LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\0")).filter(
    lambda text: not text.startswith(("\ufeff", "CANARY GUID"))
)
NAMES = st.from_regex(r"[A-Za-z0-9_+(][A-Za-z0-9_.+()äö-]{0,9}", fullmatch=True)
REFS = st.from_regex(r"ref[A-Z_]{1,3}", fullmatch=True)


@st.composite
def sets(draw):
    """A test set with odd texts; its documents stand together."""
    blocks = draw(
        st.lists(st.tuples(st.sampled_from(["news", "all"]), st.integers(1, 2)), max_size=3)
    )
    pairs = [(domain, f"doc-{i}") for i, (domain, size) in enumerate(blocks) for _ in range(size)]
    texts = st.tuples(*[LINES] * len(pairs))
    systems = draw(st.dictionaries(NAMES | REFS, texts, max_size=3))
    refs = draw(st.dictionaries(REFS, texts, max_size=2))
    categories = {s: draw(st.sampled_from(["LLM", "MT", "human", "unknown"])) for s in systems}
    domains, docs = zip(*pairs, strict=True) if pairs else ((), ())
    return TestSet("any", "en-de", draw(texts), refs, systems, docs, domains, categories)


def content(test):
    """All of a test set but its name, the order of its systems, and what readers alone say of letters and copies."""
    unsaid = ("canary", "byte-order mark", NO_TRANSLATION, "Decomposed letters")
    said = {name: kind for name, kind in test.categories.items() if kind != "unknown"}
    categories = dict.fromkeys(test.systems, "unknown") | dict.fromkeys(test.copies, "human") | said
    notes = {note for note in test.notes if not any(word in note for word in unsaid)}
    return (
        test.lp,
        test.srcs,
        test.reference,
        test.refs,
        test.systems,
        test.docs,
        test.domains,
        categories,
        notes,
    )


def read_otherwise(path):
    """Lines as mt-metrics-eval reads them: Python's text mode, white space at the end cut off."""
    with open(path, encoding="utf-8") as file:
        return [line.rstrip() for line in file]


@settings(max_examples=50, deadline=None)
@given(sets())
def test_a_written_set_is_read_back_and_other_programs_see_its_lines(test):
    with tempfile.TemporaryDirectory() as place:
        folder = write_mme(test, Path(place) / "mine")
        again = read_mme(folder, "en-de", reference=test.reference)
        assert again.name == "mine/en-de"
        assert content(again) == content(test)
        assert write_mme(again, folder) == folder
        texts = {f"sources/{test.lp}.txt": test.srcs}
        refs = {ref: [line or NO_TRANSLATION for line in lines] for ref, lines in test.refs.items()}
        texts |= {f"references/{test.lp}.{ref}.txt": lines for ref, lines in refs.items()}
        texts |= {
            f"system-outputs/{test.lp}/{system}.txt": lines
            for system, lines in test.systems.items()
        }
        for name, lines in texts.items():
            assert read_otherwise(folder / name) == [line.rstrip() for line in lines]
        documents = [
            tuple(line.split()) for line in read_otherwise(folder / "documents" / "en-de.docs")
        ]
        assert documents == list(zip(test.domains, test.docs, strict=True))
        assert not list(folder.rglob("*.tmp"))


SCORES = st.floats(allow_infinity=False) | st.just(math.nan)


@settings(max_examples=50, deadline=None)
@given(
    NAMES,
    st.lists(st.tuples(SCORES, SCORES, SCORES), min_size=2, max_size=2),
    st.sampled_from([None, "refA", "src"]),
)
def test_scores_are_read_back_to_the_last_bit(metric, columns, ref):
    systems, values = ["M", "GPT-4.5"], np.array(columns).T
    with tempfile.TemporaryDirectory() as place:
        folder = write_mme(SMALL, place)
        path = write_mme_scores(folder, "en-de", metric, values, systems=systems, ref=ref)
        table = read_mme_scores(folder, "en-de", metric, ref)
        assert table.system.tolist() == [system for system in systems for _ in range(3)]
        np.testing.assert_array_equal(table.score.to_numpy().reshape(2, 3).T, values)
        assert [score == "None" for _, score in map(str.split, read_otherwise(path))] == np.isnan(
            values.T.ravel()
        ).tolist()
        write_mme_scores(folder, "en-de", metric, values[0], systems=systems, ref=ref, level="sys")
        table = read_mme_scores(folder, "en-de", metric, ref, "sys")
        np.testing.assert_array_equal(table.score, values[0])


def test_files_lie_where_the_layout_has_them(tmp_path):
    write_mme(SMALL, tmp_path / "small")
    write_mme_scores(
        tmp_path / "small",
        "en-de",
        "chr-F.2",
        [1, 0.1],
        systems=["M", "GPT-4.5"],
        ref="refA",
        level="sys",
    )
    write_mme_scores(tmp_path / "small", "en-de", "mqm", [[-5], [math.nan], [0]], systems=["M"])
    files = {
        str(path.relative_to(tmp_path / "small")) for path in tmp_path.rglob("*") if path.is_file()
    }
    assert files == {
        "sources/en-de.txt",
        "references/en-de.refA.txt",
        "documents/en-de.docs",
        "systems.tsv",
        "system-outputs/en-de/GPT-4.5.txt",
        "system-outputs/en-de/refA.txt",
        "system-outputs/en-de/M.txt",
        "metric-scores/en-de/chr-F.2-refA.sys.score",
        "human-scores/en-de.mqm.seg.score",
    }
    human = (tmp_path / "small" / "human-scores" / "en-de.mqm.seg.score").read_text()
    assert human == "M\t-5.0\nM\tNone\nM\t0.0\n"
    assert (tmp_path / "small" / "systems.tsv").read_text() == "system\tcategory\nGPT-4.5\tLLM\n"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"srcs": ("a", "b\nc", "d")}, r"sources, segment 1 holds U\+000A"),
        ({"systems": {"X": ("a", "b", "c\rd")}}, r"system X, segment 2 holds U\+000D"),
        ({"srcs": ("a", "b\0c", "d")}, r"sources, segment 1 holds U\+0000"),
        (
            {"srcs": ("<HTML> is a tag", "b", "c")},
            "sources, segment 0 starts with '<HTML> is a tag', which readers take",
        ),
        ({"refs": {"refA": ("a", "\ud800", "c")}}, r"reference refA, segment 1 holds U\+D800"),
        (
            {"refs": {"refA": ("\ufeffa", "b", "c")}},
            "reference refA, segment 0 starts with .*byte order mark",
        ),
        (
            {"srcs": ("CANARY GUID 7", "b", "c")},
            "sources, segment 0 starts with 'CANARY GUID 7'.*canary",
        ),
        (
            {"refs": {"ref-A": ("a", "b", "c")}},
            "reference 'ref-A' cannot be a name.*without dots, dashes",
        ),
        ({"refs": {"all": ("a", "b", "c")}}, "reference 'all' cannot be a name"),
        (
            {"systems": {"My System": ("a", "b", "c")}},
            "system 'My System' cannot be a name.*without white space",
        ),
        ({"systems": {"a/b": ("a", "b", "c")}}, "system 'a/b' cannot be a name"),
        ({"systems": {".x": ("a", "b", "c")}}, "system '.x' cannot be a name"),
        (
            {"docs": ("a", "b", "a")},
            "document 'a' begins at segments 0 and 2; its segments must stand together",
        ),
        ({"docs": ("a", "a", "a")}, "document 'a' begins at segments 0 and 2.*in one domain"),
        ({"docs": ("a", "b c", "d")}, "documents, segment 1: 'b c' is empty or has white space"),
        (
            {"domains": ("canary", "n", "n"), "docs": ("canary", "b", "c")},
            "documents, segment 0 starts with 'canary",
        ),
    ],
)
def test_what_the_layout_cannot_hold_is_told_and_nothing_is_written(tmp_path, change, sentence):
    plain = (
        replace(SMALL, systems={}, categories={}, domains=(), docs=())
        if "domains" in change
        else SMALL
    )
    change |= {"categories": {}} if "systems" in change else {}
    with pytest.raises(DataError, match=sentence):
        write_mme(replace(plain, **change), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("text")
    with pytest.raises(DataError, match=r"file.*: this folder cannot be made"):
        write_mme(SMALL, tmp_path / "file")


def test_another_set_in_the_folder_is_left_alone(tmp_path):
    write_mme(SMALL, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for change, word in [
        ({"srcs": ("One!", "Two.", "Three.")}, "sources"),
        ({"systems": {**SMALL.systems, "N": ("", "", "")}}, "systems, categories"),
        ({"docs": ("d0", "d1", "d2")}, "documents"),
        ({"categories": {"M": "MT"}}, "categories"),
    ]:
        with pytest.raises(
            DataError,
            match=rf"this folder holds another en-de \(other {word}\); write to a new folder",
        ):
            write_mme(replace(SMALL, **change), tmp_path)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_an_interrupted_writing_is_finished_and_a_stray_file_is_told(tmp_path):
    write_mme(SMALL, tmp_path)
    (tmp_path / "sources" / "en-de.txt").unlink()
    (tmp_path / "system-outputs" / "en-de" / "M.txt").write_text("1\n")
    assert read_mme(write_mme(SMALL, tmp_path), "en-de").systems == SMALL.systems
    (tmp_path / "sources" / "en-de.txt").unlink()
    (tmp_path / "system-outputs" / "en-de" / "N.txt").write_text("1\n2\n3\n")
    with pytest.raises(DataError, match=r"N\.txt: this file belongs to no part of small"):
        write_mme(SMALL, tmp_path)


def test_language_pairs_share_a_folder_and_the_categories_of_their_systems(tmp_path):
    french = replace(
        SMALL, lp="en-fr", refs={}, categories={"GPT-4.5": "LLM", "refA": "unknown", "M": "MT"}
    )
    write_mme(french, tmp_path)
    write_mme(
        replace(
            SMALL, systems={"GPT-4.5": SMALL.systems["GPT-4.5"]}, categories={"GPT-4.5": "LLM"}
        ),
        tmp_path,
    )
    assert read_mme(tmp_path, "en-fr").categories == french.categories
    other = replace(SMALL, lp="en-it", categories={"GPT-4.5": "LLM", "M": "online"})
    with pytest.raises(
        DataError, match=r"systems\.tsv: system 'M' is MT in this file and online in small"
    ):
        write_mme(other, tmp_path)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        (
            {"scores": [[1.0], [2.0]]},
            DataError,
            r"shape \(2, 1\), expected \(3, 1\), \(segments, systems\) of en-de",
        ),
        ({"level": "sys"}, DataError, r"shape \(3, 1\), expected \(1,\), \(systems,\) of en-de"),
        ({"scores": [[1.0], [math.inf], [0.0]]}, DataError, "scores of m are infinite in places"),
        ({"systems": ["N"]}, UnknownName, "unknown system 'N'.*known: GPT-4.5, M, refA"),
        ({"systems": ["M", "M"]}, DataError, "systems names one twice: M, M"),
        ({"ref": "refA.refB"}, UnknownName, "unknown reference 'refB'; did you mean 'refA'"),
        ({"level": "doc"}, UnknownName, "unknown level 'doc'"),
        ({"metric": "two words"}, DataError, "metric 'two words' cannot be a name"),
        ({"lp": "en-fr"}, UnknownName, "unknown language pair 'en-fr'.*known: en-de"),
    ],
)
def test_scores_that_do_not_fit_the_set_are_told(tmp_path, change, error, sentence):
    given = {
        "lp": "en-de",
        "metric": "m",
        "scores": [[1.0], [2.0], [3.0]],
        "systems": ["M"],
    } | change
    with pytest.raises(error, match=sentence):
        write_mme_scores(write_mme(SMALL, tmp_path), **given)
    assert not list(tmp_path.rglob("*.score"))


def test_a_canary_keeps_its_line_and_has_no_score(tmp_path):
    for name in ("sources/en-de.txt", "system-outputs/en-de/X.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("CANARY GUID 1\na\nb\n")
    path = write_mme_scores(tmp_path, "en-de", "m", [[1.5], [2.5]], systems=["X"], ref="src")
    assert path.read_text() == "X\tNone\nX\t1.5\nX\t2.5\n"
    assert read_mme_scores(tmp_path, "en-de", "m", "src").score.tolist() == [1.5, 2.5]
    write_mme_scores(tmp_path, "en-de", "m", [2.0], systems=["X"], ref="src", level="sys")
    assert read_mme_scores(tmp_path, "en-de", "m", "src", "sys").score.tolist() == [2]


@pytest.mark.real
@pytest.mark.skipif(
    "ANHELPERS_DATA" not in os.environ, reason="set ANHELPERS_DATA to the shared data sets"
)
@pytest.mark.parametrize("name", ["wmt23/en-de", "wmt24/en-de", "wmt24/ja-zh"])
def test_wmt_is_written_and_read_back_with_its_chrf(tmp_path, name):
    from anhelpers.accuracy.surface import surface_metric
    from anhelpers.scoring import system_scores

    test = load(name)
    folder = write_mme(test, tmp_path / "again")
    again = read_mme(folder, test.lp, reference=test.reference)
    assert content(again) == content(test)
    scores = system_scores(test, surface_metric("chrf", test.trg_lang, len(test.refs)))
    ref, systems = ".".join(test.refs), list(test.systems)
    write_mme_scores(folder, test.lp, "chrf", scores, systems=systems, ref=ref)
    table = read_mme_scores(folder, test.lp, "chrf", ref)
    assert table.system.drop_duplicates().tolist() == systems
    np.testing.assert_array_equal(table.score.to_numpy().reshape(len(systems), -1).T, scores)
