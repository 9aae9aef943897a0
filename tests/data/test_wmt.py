import gzip

import pytest

from anhelpers.data import load
from anhelpers.data.wmt import _language_pairs, _read_wmt
from anhelpers.errors import AnhelpersError, DataError, UnknownName

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
    test = _read_wmt(tree(TREE_2024), "en-de")
    assert (test.name, test.srcs, list(test.refs)) == ("mine/en-de", ("a", "b"), ["refA", "refB"])
    assert test.systems == {"Claude-3.5": ("x", "x"), "Occiglot": ("", " ")}
    assert (test.docs, test.domains) == (("d1", "d2"), ("news", "social"))
    assert test == _read_wmt(tree({}) / "txt", "en-de", year=2024)


def test_the_canary_is_dropped_and_means_wmt24(tree):
    test = _read_wmt(tree(TREE_2024, canary=True), "en-de")
    assert (test.name, test.srcs, test.docs) == ("wmt24/en-de", ("a", "b"), ("d1", "d2"))
    assert list(test.refs) == ["refB", "refA"]  # the task's standard reference
    assert test.categories == {"Claude-3.5": "LLM", "Occiglot": "LLM"}  # of the bundled table
    assert list(_read_wmt(tree({}), "en-de", reference="refA").refs) == ["refA", "refB"]


@pytest.mark.parametrize("files", [TREE_2024, TREE_2023])
def test_the_file_of_an_excluded_system_is_not_read(tree, files):
    root, names = tree(files), [name for name in files if name.startswith("system-outputs")]
    kept, gone = _read_wmt(tree(files), "en-de").systems
    (root / "txt" / names[1]).write_bytes(b"\xff")
    test = load(root, exclude=[gone, "refA", "unknown"])
    assert (list(test.systems), test.unread) == ([kept], (gone,))
    with pytest.raises(DataError, match="line 1"):
        load(root)


@pytest.mark.parametrize("odd", TREE_2024)
def test_files_that_do_not_belong_together_are_refused(tree, odd):
    for canary, text in ((True, TREE_2024[odd]), (False, TREE_2024[odd] + "news\td3\n")):
        root = tree(TREE_2024, canary)
        (root / "txt" / odd).write_text(text)
        with pytest.raises(DataError):
            _read_wmt(root, "en-de")


def test_a_tree_of_2023(tree):
    test = _read_wmt(tree(TREE_2023), "en-de")
    assert (test.name, test.srcs, test.refs) == ("wmt23/en-de", ("a", "b"), {"refA": ("A", "B")})
    assert test.systems == {"ONLINE-A": ("x", "x"), "v1.2": ("y", "y")}
    documents = {"documents/generaltest2023.en-de.docs": "news\td1\nnews\td1\n"}
    assert _read_wmt(tree(documents), "en-de", year=2023).docs == ("d1", "d1")
    (tree({"sources/other.en-de.src.en": "a\n"}))
    with pytest.raises(DataError):
        _read_wmt(tree({}), "en-de")


def test_the_pairs_of_a_tree_are_listed(tree, tmp_path):
    root = tree(TREE_2023 | {"sources/ja-zh.txt": "a\n", "sources/README": ""})
    assert _language_pairs(root) == {"en-de": 2023, "ja-zh": 2024}
    for lp, options in (("en-fr", {}), ("en-de", {"year": 2024}), ("en-xy", {})):
        with pytest.raises(AnhelpersError):
            _read_wmt(root, lp, **options)
    with pytest.raises(UnknownName):
        _read_wmt(root, "en-de", reference="refC")
    with pytest.raises(DataError):
        _read_wmt(tmp_path / "no", "en-de")


def test_a_compressed_tree(tmp_path):
    for name, text in TREE_2024.items():
        path = tmp_path / f"{name}.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()))
    test = load(tmp_path)
    assert (test.srcs, list(test.systems)) == (("a", "b"), ["Claude-3.5", "Occiglot"])
    (tmp_path / "system-outputs/en-de/Occiglot.txt").write_text("x\ny\n")
    with pytest.raises(DataError):
        load(tmp_path)


def test_categories_come_from_systems_tsv_beside_the_tree(tree):
    root = tree(TREE_2024)
    rows = "Claude-3.5\tLLM\nSystem-of-another-pair\tMT\n"
    for text in (rows, f"system\tcategory\n{rows}"):
        (root / "systems.tsv").write_text(text)
        assert _read_wmt(root, "en-de").categories == {"Claude-3.5": "LLM", "Occiglot": "unknown"}


def test_glosses_are_beside_a_tree_of_one_pair(tree):
    file = tree(TREE_2024) / "glosses.txt"
    file.write_text("one\ntwo\n")
    assert _read_wmt(file.parent, "en-de").glosses == ("one", "two")
    assert _read_wmt(file.parent / "txt", "en-de").subset([1]).glosses == ("two",)
    file.write_text("one\n")
    with pytest.raises(DataError):
        _read_wmt(file.parent, "en-de")
    tree({name.replace("en-de", "cs-de"): text for name, text in TREE_2024.items()})
    assert _read_wmt(file.parent, "en-de").glosses == ()
