import pytest

from anhelpers.data import read_plain
from anhelpers.data.plain import named_files, read_documents
from anhelpers.errors import DataError


@pytest.fixture
def folder(tmp_path):
    for name, text in {
        "src.en": "a\nb\n",
        "ref.de": "A\nB\n",
        "sysX.de": "x\n\n",
        "sysY.de": "y\u2028z\ny\n",
        "a.docs": "news\td1\nsocial\td2\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    return tmp_path


def test_plain_files_are_a_test_set(folder):
    test = read_plain(
        folder / "src.en",
        folder / "ref.de",
        [folder / "sysX.de", f"Y={folder / 'sysY.de'}"],
        "en-de",
    )
    assert (test.name, test.srcs, test.refs) == ("src", ("a", "b"), {"ref": ("A", "B")})
    assert test.systems == {"sysX": ("x", ""), "Y": ("y\u2028z", "y")}
    assert (test.docs, test.domains) == (("0", "1"), ("all", "all"))
    assert test.notes == ("sysX: 1 blank hypothesis of 2.",)


def test_names_may_come_from_a_dict_and_documents_from_a_file(folder):
    test = read_plain(
        str(folder / "src.en"),
        {"refZ": folder / "ref.de"},
        {"S": folder / "sysY.de"},
        "en-de",
        docs=folder / "a.docs",
        name="mine",
    )
    assert (test.name, test.reference, list(test.systems)) == ("mine", "refZ", ["S"])
    assert (test.docs, test.domains) == (("d1", "d2"), ("news", "social"))


def test_a_source_may_come_alone(folder):
    test = read_plain(folder / "src.en", None, None, "en-de")
    assert (test.refs, test.systems, len(test)) == ({}, {}, 2)


def test_a_system_called_like_a_reference_is_human(folder):
    test = read_plain(
        folder / "src.en", folder / "ref.de", [folder / "ref.de", folder / "sysX.de"], "en-de"
    )
    assert test.categories == {"ref": "human", "sysX": "unknown"}


def test_an_equals_sign_in_a_real_path_is_part_of_it(folder):
    path = folder / "beta=0.5.de"
    path.write_text("p\nq\n")
    assert list(read_plain(folder / "src.en", [], [str(path)], "en-de").systems) == ["beta=0.5"]


def test_two_files_of_one_name_are_called_by_their_folders_and_one_file_twice_is_refused(folder):
    (folder / "more").mkdir()
    (folder / "more" / "sysX.de").write_text("x\nx\n")
    both = [folder / "sysX.de", folder / "more" / "sysX.de"]
    test = read_plain(folder / "src.en", folder / "ref.de", both, "en-de")
    assert list(test.systems) == [folder.name, "more"]
    with pytest.raises(
        DataError, match=r"are both called .*; give one of them another name, as in"
    ):
        named_files([*both, f"{folder.name}={folder / 'src.en'}"])
    with pytest.raises(DataError, match=r"sysX\.de is given twice; give it once\."):
        read_plain(folder / "src.en", folder / "ref.de", both[:1] * 2, "en-de")


def test_a_missing_line_names_file_and_both_counts(folder):
    (folder / "sysX.de").write_text("x\n")
    with pytest.raises(DataError, match=r"sysX\.de: has 1 lines, expected 2 as in .*src\.en"):
        read_plain(folder / "src.en", folder / "ref.de", folder / "sysX.de", "en-de")


@pytest.mark.parametrize("line", ["news", "a b c", "a\t", "", "a\tb\tc"])
def test_a_bad_line_of_documents_is_told(line):
    with pytest.raises(
        DataError, match=r"a\.docs, line 2: .* is no line of the form domain<TAB>document"
    ):
        read_documents("a.docs", ["news\td1", line])


def test_documents_may_be_parted_by_spaces():
    assert read_documents("a.docs", ["news d1", "social\td 2"]) == [
        ("news", "d1"),
        ("social", "d 2"),
    ]
