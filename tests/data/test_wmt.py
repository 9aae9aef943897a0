import pytest

from anhelpers.data import language_pairs, read_wmt
from anhelpers.data.wmt import read_categories
from anhelpers.errors import DataError, UnknownName

CANARY = "CANARY GUID 26b5c67b\n"
TREE_2024 = {
    "sources/en-de.txt": "a\nb\n",
    "references/en-de.refA.txt": "A\nB\n",
    "references/en-de.refB.txt": "A2\nB2\n",
    "system-outputs/en-de/Claude-3.5.txt": "x\nx\n",
    "system-outputs/en-de/Occiglot.txt": "\n \n",
    "documents/en-de.docs": "news\td1\nsocial\td2\n",
}
TREE_2023 = {
    "sources/generaltest2023.en-de.src.en": "a\nb\n",
    "references/generaltest2023.en-de.ref.refA.de": "A\nB\n",
    "system-outputs/generaltest2023.en-de.hyp.ONLINE-A.de": "x\nx\n",
    "system-outputs/generaltest2023.en-de.hyp.v1.2.de": "y\ny\n",
}


@pytest.fixture
def tree(tmp_path):
    def make(files: dict[str, str], canary: bool = False):
        for name, text in files.items():
            first = ("canary\tcanary\n" if name.endswith(".docs") else CANARY) if canary else ""
            path = tmp_path / "mine" / "txt" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(first + text, encoding="utf-8", newline="")
        return tmp_path / "mine"

    return make


def test_a_tree_of_2024_without_canary(tree):
    test = read_wmt(tree(TREE_2024), "en-de")
    assert (test.name, test.srcs, list(test.refs)) == ("mine/en-de", ("a", "b"), ["refA", "refB"])
    assert test.systems == {"Claude-3.5": ("x", "x"), "Occiglot": ("", " ")}
    assert (test.docs, test.domains) == (("d1", "d2"), ("news", "social"))
    assert test.notes == ("Occiglot: 2 blank hypotheses of 2.",)
    assert test == read_wmt(tree({}) / "txt", "en-de", year=2024)


def test_the_canary_is_dropped_and_says_that_this_is_wmt24(tree):
    test = read_wmt(tree(TREE_2024, canary=True), "en-de")
    assert (test.name, test.srcs, test.docs) == ("wmt24/en-de", ("a", "b"), ("d1", "d2"))
    assert list(test.refs) == ["refB", "refA"]  # the task's standard reference
    assert test.notes[0] == "The canary, the first line of every file, is left out."
    assert list(read_wmt(tree({}), "en-de", reference="refA").refs) == ["refA", "refB"]


@pytest.mark.parametrize("odd", [name for name in TREE_2024 if not name.startswith("sources")])
def test_a_file_without_the_canary_is_named(tree, odd):
    root = tree(TREE_2024, canary=True)
    (root / "txt" / odd).write_text(TREE_2024[odd])
    with pytest.raises(
        DataError, match=rf"{odd}, line 1: starts with .*; all files of a tree have it or none"
    ):
        read_wmt(root, "en-de")


def test_a_canary_in_one_file_alone_or_another_canary_is_named(tree):
    root = tree(TREE_2024)
    (root / "txt/references/en-de.refB.txt").write_text(CANARY + "A2\nB2\n")
    with pytest.raises(
        DataError,
        match=r"refB\.txt, line 1: starts with 'CANARY GUID 26b5c67b', but .* has no canary",
    ):
        read_wmt(root, "en-de")
    root = tree(TREE_2024, canary=True)
    (root / "txt/references/en-de.refB.txt").write_text("CANARY GUID other\nA2\nB2\n")
    with pytest.raises(DataError, match=r"refB\.txt, line 1: starts with 'CANARY GUID other'"):
        read_wmt(root, "en-de")


@pytest.mark.parametrize("name", [name for name in TREE_2024 if not name.startswith("sources")])
def test_a_wrong_number_of_lines_names_the_file_and_both_numbers(tree, name):
    root = tree(TREE_2024 | {name: TREE_2024[name] + "news\td3\n"})
    with pytest.raises(
        DataError, match=rf"{name}: has 3 lines, expected 2 as in .*sources/en-de\.txt"
    ):
        read_wmt(root, "en-de")


def test_a_tree_of_2023(tree):
    test = read_wmt(tree(TREE_2023), "en-de")
    assert (test.name, test.srcs, test.refs) == ("wmt23/en-de", ("a", "b"), {"refA": ("A", "B")})
    assert test.systems == {"ONLINE-A": ("x", "x"), "v1.2": ("y", "y")}
    documents = {"documents/generaltest2023.en-de.docs": "news\td1\nnews\td1\n"}
    assert read_wmt(tree(documents), "en-de", year=2023).docs == ("d1", "d1")


def test_the_pairs_of_a_tree_are_listed(tree):
    root = tree(TREE_2023 | {"sources/ja-zh.txt": "a\n", "sources/README": ""})
    assert language_pairs(root) == {"en-de": 2023, "ja-zh": 2024}
    with pytest.raises(
        UnknownName,
        match=r"unknown language pair 'en-fr'; did you mean 'en-de'\?; known: en-de, ja-zh",
    ):
        read_wmt(root, "en-fr")
    with pytest.raises(UnknownName, match="unknown language pair 'en-de'; known: ja-zh"):
        read_wmt(root, "en-de", year=2024)
    with pytest.raises(DataError, match="unknown language pair 'en-xy'"):
        read_wmt(root, "en-xy")
    with pytest.raises(UnknownName, match="unknown WMT layout '2020'"):
        read_wmt(root, "en-de", year=2020)


def test_missing_parts_of_a_tree_are_told(tree, tmp_path):
    with pytest.raises(DataError, match=r"no system outputs for ja-zh in .*system-outputs"):
        read_wmt(tree({"sources/ja-zh.txt": "a\n"}), "ja-zh")
    with pytest.raises(DataError, match="neither sources nor txt/sources"):
        read_wmt(tmp_path, "en-de")
    with pytest.raises(DataError, match="there is no such folder"):
        read_wmt(tmp_path / "no", "en-de")
    with pytest.raises(UnknownName, match="unknown reference 'refC'"):
        read_wmt(tree(TREE_2024), "en-de", reference="refC")


def test_two_test_sets_of_one_pair_are_told(tree):
    root = tree(TREE_2023 | {"sources/other.en-de.src.en": "a\n"})
    with pytest.raises(
        DataError, match=r"one source file for en-de is wanted, there are 2 \(generaltest2023"
    ):
        read_wmt(root, "en-de")


def test_categories_come_from_systems_tsv_beside_the_tree(tree):
    root = tree(TREE_2024)
    (root / "systems.tsv").write_text(
        "system\tcategory\tnote\nClaude-3.5\tLLM\tbig\nSystem-of-another-pair\tMT\n"
    )
    assert read_wmt(root, "en-de").categories == {"Claude-3.5": "LLM", "Occiglot": "unknown"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("X\tLLM\nY\n", r"systems\.tsv, line 2: 'Y' is no line of the form system<TAB>category"),
        (
            "X\tllm\n",
            r"line 1: 'X\tllm' is no .*; categories: LLM, MT, online, human, control, unknown\.",
        ),
        ("X\tMT\nX\tMT\n", "line 2: system 'X' is listed twice"),
    ],
)
def test_bad_categories_are_told(tmp_path, text, sentence):
    (tmp_path / "systems.tsv").write_text(text)
    with pytest.raises(DataError, match=sentence):
        read_categories(tmp_path / "systems.tsv")


def test_glosses_lie_beside_the_tree_a_line_for_each_source(tree):
    file = tree(TREE_2024) / "glosses.txt"
    file.write_text("one\ntwo\n")
    assert read_wmt(file.parent, "en-de").glosses == ("one", "two")
    assert read_wmt(file.parent / "txt", "en-de").subset([1]).glosses == ("two",)
    file.write_text("one\n")
    with pytest.raises(
        DataError, match=r"glosses\.txt: has 1 line, and there are 2 sources; write one for each"
    ):
        read_wmt(file.parent, "en-de")
    file.write_text("one\n \n")
    with pytest.raises(
        DataError, match=r"glosses\.txt, line 2: there is no gloss; say in plain English"
    ):
        read_wmt(file.parent, "en-de")


def test_glosses_of_a_tree_with_several_pairs_are_nobodys(tree):
    root = tree(
        {**TREE_2024, **{name.replace("en-de", "cs-de"): text for name, text in TREE_2024.items()}}
    )
    (root / "glosses.txt").write_text("one\ntwo\n")
    assert read_wmt(root, "en-de").glosses == ()
