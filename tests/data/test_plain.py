import json

import pandas as pd
import pytest

from anhelpers.cli import main
from anhelpers.data import add_systems, read_plain
from anhelpers.data.plain import named_files
from anhelpers.errors import DataError

FILES = {
    "src.en": "a\nb\n",
    "ref.de": "A\nB\n",
    "sysX.de": "x\r\n\r\n",
    "sysY.de": "\ufeffy\u2028z\ny\n",
    "a.docs": "news\td1\nsocial\td2\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    return tmp_path


def read(folder, **options):
    hyps = [folder / "sysX.de", f"Y={folder / 'sysY.de'}"]
    return read_plain(folder / "src.en", folder / "ref.de", hyps, "en-de", **options)


def test_plain_files_are_a_test_set(folder):
    test = read(folder)
    assert (test.name, test.srcs, test.refs) == ("src", ("a", "b"), {"ref": ("A", "B")})
    assert test.systems == {"sysX": ("x", ""), "Y": ("y\u2028z", "y")}
    assert (test.docs, test.domains) == (("0", "1"), ("all", "all"))
    assert read_plain(folder / "src.en", None, None, "en-de").systems == {}


def test_names_may_come_from_a_dict_and_documents_from_a_file(folder):
    files = {"refZ": folder / "ref.de"}, {"S": folder / "sysY.de"}
    test = read_plain(folder / "src.en", *files, "en-de", docs=folder / "a.docs", name="mine")
    assert (test.name, test.reference, list(test.systems)) == ("mine", "refZ", ["S"])
    assert (test.docs, test.domains) == (("d1", "d2"), ("news", "social"))


def test_a_copy_of_a_reference_is_human_and_a_system_named_like_it_is_not(folder):
    (folder / "out").mkdir()
    (folder / "out" / "ref.de").write_text("x\ny\n")
    kinds = []
    for hyp in (folder / "ref.de", folder / "out" / "ref.de"):
        kinds.append(read_plain(folder / "src.en", folder / "ref.de", hyp, "en-de").categories)
    assert kinds == [{"ref": "human"}, {"ref": "unknown"}]


def test_blank_lines_at_the_end_and_canaries_are_left_out(folder):
    (folder / "ref.de").write_text("A\nB\n\n \n")
    assert read(folder).refs == {"ref": ("A", "B")}
    for name in FILES:
        path, first = folder / name, "canary\tcanary" if name == "a.docs" else "CANARY GUID 26b5"
        path.write_text(f"{first}\n{path.read_text(encoding='utf-8-sig')}", encoding="utf-8")
    assert len(read(folder, docs=folder / "a.docs")) == 2
    (folder / "mine.de").write_text("p\nq\n\n")
    for name in ("mine.de", "sysX.de"):
        assert len(add_systems(read(folder), f"m={folder / name}").systems["m"]) == 2


def test_translations_may_be_json_lines(folder):
    (path := folder / "t.jsonl").write_text('{"mt": "x"}\n{"hypothesis": "y\\n"}\n')
    assert add_systems(read(folder), path).systems["t"] == ("x", "y")
    turned, long = ("10", "21", "98"), ("9" * 5000, "1" * 5000)
    for ids in (*turned, "59", "95", "ba", "00", long):
        rows = [json.dumps({"id": one, "mt": text}) for one, text in zip(ids, "xy", strict=True)]
        path.write_text("\n".join(rows))
        expected = ("y", "x") if ids in turned else ("x", "y")
        assert add_systems(read(folder), path).systems["t"] == expected
    path.write_text('{"mt": "x"}\n{"src": "y"}\n')
    for bad, line in (
        (lambda: add_systems(read(folder), path), 2),
        (lambda: read_plain(path, None, None), None),
    ):
        with pytest.raises(DataError) as error:
            bad()
        assert (error.value.path, error.value.line) == (path, line)


WRONG = {  # file, content, line
    "short": ("sysX.de", b"x\n", None),
    "long": ("sysX.de", b"x\ny\nz\n", None),
    "empty": ("src.en", b"", None),
    "canary": ("sysX.de", b"CANARY GUID 1\nx\ny\n", None),
    "other canary": ("src.en", b"CANARY GUID 1\nx\ny\n", None),
    "documents": ("a.docs", b"news\td1\nnews\n", 2),
    "n-best list": ("sysX.de", b"0 ||| x ||| LM= -1\n1 ||| y ||| LM= -2\n", 1),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_malformed_files_are_refused_with_file_and_line(folder, wrong):
    name, content, line = WRONG[wrong]
    (folder / name).write_bytes(content)
    with pytest.raises(DataError) as error:
        read(folder, docs=folder / "a.docs")
    assert error.value.line == line
    assert error.value.path is not None


def test_systems_are_added_under_new_names(folder):
    test = read(folder)
    (folder / "b=0.5.de").write_text("p\nq\n")
    assert list(add_systems(test, str(folder / "b=0.5.de")).systems) == ["sysX", "Y", "b=0.5"]
    assert add_systems(test, []) == test
    (folder / "long.de").write_text("p\nq\nr\n")
    for bad in ("sysX.de", "ref.de", "long.de", "absent.de"):
        with pytest.raises(DataError):
            add_systems(test, folder / bad)


def test_names_that_are_not_utf_8_are_escaped(folder):
    """Their bytes are surrogates here, which no result can hold."""
    hyp, out = folder / "x\udcff.de", folder / "o\udcfe.csv"
    hyp.write_text("x\ny\n")
    texts = ["-s", folder / "src.en", "-r", folder / "ref.de", "-t", hyp, f"\udcfd={hyp}"]
    assert main(["score", *map(str, texts), "-l", "en-de", "-m", "chrf", "-o", str(out)]) == 0
    assert pd.read_csv(out).system.tolist() == [r"x\udcff", r"\udcfd"]
    assert r"o\udcfe.csv" in json.loads((folder / ".made.json").read_text())


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["generaltest2022.en-zh.hyp.Online-Y.zh"], ["Online-Y"]),
        (["g.en-zh.hyp.Online-Y.zh", "g.en-zh.hyp.AISP-SJTU.zh"], ["Online-Y", "AISP-SJTU"]),
        (["mine.de", "theirs.de"], ["mine", "theirs"]),
        (["out.small.de", "out.large.de"], ["small", "large"]),
        (["a.b.de", "a.de"], ["a.b", "a"]),
        (["runs/1/out.de", "runs/2/out.de"], ["1", "2"]),
        (["x.v1.de"], ["x.v1"]),
        (["mine=out.a.de", "out.b.de"], ["mine", "out.b"]),
    ],
)
def test_a_file_is_named_by_what_differs(paths, names):
    assert list(named_files(paths)) == names


def test_a_folder_stands_for_its_files_and_names_differ(folder):
    (folder / ".hidden").write_text("")
    assert [path.name for path in named_files(folder).values()] == sorted(FILES)
    with pytest.raises(DataError):
        named_files(["a/out.de", "b/out.de", "b/out.de"])
