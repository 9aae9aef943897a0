import os
import subprocess
import sys
from collections import Counter

import pytest

from anhelpers import data
from anhelpers.data import catalog
from anhelpers.data import sets as bundle
from anhelpers.data.manifest import COLUMNS
from anhelpers.errors import DataError, UnknownName


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache, so that no test sees this machine's downloads."""
    monkeypatch.setenv("ANHELPERS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package data folder with a teaching set of two segments, and an empty folder of the other one."""
    (tmp_path / "data" / "teaching" / "de-en").mkdir(parents=True)
    for name, text in {
        "txt/sources/en-de.txt": "a\nb\n",
        "txt/references/en-de.refA.txt": "A\nB\n",
        "txt/references/en-de.refB.txt": "C\nD\n",
        "txt/system-outputs/en-de/X.txt": "x\ny\n",
        "txt/documents/en-de.docs": "news\td\nnews\td\n",
        "systems.tsv": "X\tMT\n",
        "candidates.jsonl": '{"segment": 0, "text": "p"}\n{"segment": 1, "text": "q"}\n',
        "mono.de.txt": "eins\nzwei\n",
    }.items():
        path = tmp_path / "data" / "teaching" / "en-de" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(bundle, "_bundle_root", lambda: tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """An empty shared folder, named by the environment."""
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / "MANIFEST.tsv").write_text("dataset\n")
    monkeypatch.setenv("ANHELPERS_DATA", str(folder))
    return folder


def test_importing_loads_nothing_heavy():
    code = "import sys, anhelpers.data; print({'pandas', 'pyarrow', 'torch', 'altair', 'scipy'} & set(sys.modules))"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "set()\n"
    )


def test_the_teaching_set_comes_with_the_package(package):
    test = data.load("teaching", lp="en-de", reference="refB")
    assert (test.name, test.reference, test.categories) == ("teaching", "refB", {"X": "MT"})
    assert data.load_candidates("teaching").texts == ("p", "q")
    assert data.load_mono("teaching") == ("eins", "zwei")
    assert (
        data.bundled("teaching/en-de/mono.de.txt") == package / "teaching" / "en-de" / "mono.de.txt"
    )
    with pytest.raises(UnknownName, match="unknown language pair of teaching 'en-fr'"):
        data.load("teaching", lp="en-fr")


def test_unknown_bundled_files_list_their_folder(package):
    with pytest.raises(
        UnknownName, match=r"unknown bundled file 'mono\.txt'; did you mean 'mono\.de\.txt'"
    ):
        data.bundled("teaching/en-de/mono.txt")
    with pytest.raises(UnknownName, match="unknown bundled file 'lm'; known: teaching"):
        data.bundled("lm")
    with pytest.raises(DataError, match="names are relative"):
        data.bundled("../secret")


def test_a_checkout_has_a_data_folder():
    assert bundle._bundle_root().name == "data"


def test_an_installed_package_has_its_own_data_folder(tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "anhelpers"
    (package / "data").mkdir(parents=True)
    monkeypatch.setattr(bundle, "__file__", str(package / "data" / "bundle.py"))
    # not what was found before
    monkeypatch.setattr(bundle, "_bundle_root", bundle._bundle_root.__wrapped__)
    (tmp_path / "site-packages" / "data").mkdir()  # another package's, not ours
    with pytest.raises(DataError, match="the package's data folder is missing"):
        data.bundled("teaching")
    (package / "_bundle" / "data" / "teaching").mkdir(parents=True)
    assert data.bundled("teaching") == package / "_bundle" / "data" / "teaching"


def test_without_the_environment_the_sentence_says_what_to_set(monkeypatch):
    monkeypatch.delenv("ANHELPERS_DATA", raising=False)
    assert data.shared_data() is None
    with pytest.raises(
        DataError,
        match=r"wmt24/en-de is not here; set ANHELPERS_DATA to a folder with MANIFEST.tsv and wmt24/txt",
    ):
        data.load("wmt24/en-de")
    present = {row["name"]: row["present"] for row in data.available()}
    assert not present["wmt24/en-de"]
    assert not present["wmt23/en-de"]


def test_a_wrong_environment_is_told(tmp_path, monkeypatch, shared):
    assert data.shared_data() == shared
    with pytest.raises(DataError, match=r"and wmt23/txt \(there is no wmt23/txt in it\)"):
        data.load("wmt23/en-de")
    with pytest.raises(DataError, match=r"mono/de\.original\.txt in it"):
        data.load_mono("wmt24/en-de")
    monkeypatch.setenv("ANHELPERS_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"which ANHELPERS_DATA names, holds no MANIFEST\.tsv"):
        data.shared_data()
    monkeypatch.setenv("ANHELPERS_DATA", str(tmp_path / "no"))
    with pytest.raises(DataError, match="does not exist"):
        data.shared_data()


def test_available_lists_every_name(package, shared):
    (package / "manifest.tsv").write_text("\t".join(COLUMNS) + "\n")
    rows = {row["name"]: row for row in data.available()}
    assert list(rows) == [
        "teaching",
        "teaching/en-de",
        "teaching/de-en",
        "wmt24/en-de",
        "wmt24/ja-zh",
        "wmt24/en-es",
        "wmt24/en-cs",
        "wmt23/en-de",
        "wmt25/cs-de",
    ]
    assert rows["teaching"]["present"] is True
    assert rows["wmt24/en-de"] == {
        "name": "wmt24/en-de",
        "where": "ANHELPERS_DATA: wmt24/txt",
        "present": False,
        "note": "26 systems, refB (standard) and refA; research use",
    }


def fill(root, name):
    """All files of a data set that the manifest lists, each of one line below a canary."""
    for row in catalog.remote_files(name):
        path = root / row.file
        path.parent.mkdir(parents=True, exist_ok=True)
        canary = "canary\tcanary\n" if row.file.endswith(".docs") else "CANARY GUID 1\n"
        path.write_text(canary + ("news\td\n" if row.file.endswith(".docs") else "eins\n"))


def test_a_downloaded_set_is_loaded_when_all_of_it_is_there(cache, monkeypatch):
    monkeypatch.delenv("ANHELPERS_DATA", raising=False)
    fill(cache, "wmt24/en-es")
    assert data.find_file("wmt24/en-es") == cache / "wmt24" / "txt"
    test = data.load("wmt24/en-es")
    assert (len(test), len(test.systems), list(test.refs)) == (1, 23, ["refA"])
    assert {row["name"]: row["where"] for row in data.available()}[
        "wmt24/en-es"
    ] == "cache: wmt24/txt"
    # else 22 systems would pass for all
    (cache / "wmt24/txt/system-outputs/en-es/Aya23.txt").unlink()
    get = r"download it \(26 of its 27 files are downloaded; licence: none stated; .*\): anhelpers fetch wmt24/en-es\.$"
    with pytest.raises(DataError, match=rf"wmt24/en-es is not here; .*{get}"):
        data.load("wmt24/en-es")
    # another pair of the same tree
    with pytest.raises(DataError, match="anhelpers fetch wmt24/en-de"):
        data.load("wmt24/en-de")


def test_the_users_own_folder_comes_first_and_may_hold_a_part(cache, shared):
    fill(cache, "wmt24/en-es")
    with pytest.raises(DataError, match=r"\(there is no wmt24/txt in it\), or download it"):
        data.load("wmt24/en-de")
    fill(shared, "wmt24/en-de")
    assert data.find_file("wmt24/en-de") == shared / "wmt24" / "txt"
    (shared / "wmt24/txt/metadata/en-de.jsonl").unlink()
    assert data.find_file("wmt24/en-de") == shared / "wmt24" / "txt"
    assert data.find_file("wmt24/en-es") == cache / "wmt24" / "txt"  # only the cache has this pair
    with pytest.raises(DataError, match=r"\(wmt24/txt in it has no ja-zh\)"):
        data.find_file("wmt24/ja-zh")
    fill(cache, "wmt24/en-de")
    assert data.find_file("wmt24/en-de") == cache / "wmt24" / "txt"  # all of it beats a part
    fill(shared, "wmt24/en-de")
    assert data.find_file("wmt24/en-de") == shared / "wmt24" / "txt"


def test_a_set_without_a_manifest_is_looked_for_in_the_users_own_folder_first(cache, shared):
    for root in (cache, shared):
        (root / "mono").mkdir(parents=True)
        (root / "mono" / "de.original.txt").write_text(f"{root.name}\n")
    assert data.find_file("mono/de.original") == shared / "mono" / "de.original.txt"


def test_the_reference_of_naturalness_is_replaced_only_where_it_is_absent(shared, monkeypatch):
    texts, told = data.mono_for("wmt24/en-de", "de")
    assert texts == data.load_mono("teaching") == data.mono_for("wmt24/en-de", "de_AT")[0]
    assert "as none is here for wmt24/en-de" in told
    (shared / "mono").mkdir()
    mono = shared / "mono" / "de.original.txt"
    mono.write_text("ein Satz\n")
    assert data.mono_for("wmt24/en-de", "de") == (("ein Satz",), "of wmt24/en-de")
    mono.write_bytes(b"\xff\xffx\n")
    with pytest.raises(DataError, match=r"de\.original\.txt, line 1: byte 0xff .* is not UTF-8"):
        data.mono_for("wmt24/en-de", "de")
    monkeypatch.setenv("ANHELPERS_DATA", str(shared / "typo"))
    with pytest.raises(DataError, match="which ANHELPERS_DATA names, does not exist"):
        data.mono_for("wmt24/en-de", "de")


def test_single_files_and_ratings_are_found_by_name(cache, monkeypatch):
    monkeypatch.delenv("ANHELPERS_DATA", raising=False)
    assert data.ratings_file("teaching") == data.bundled("teaching/en-de/mqm.tsv")
    assert data.ratings_file("my/own.jsonl") is None
    with pytest.raises(
        DataError, match=r"mqm/wmt23-ende-sxs is not here; .*: anhelpers fetch mqm/wmt23-ende-sxs"
    ):
        data.ratings_file("wmt23/en-de")
    for test, name in catalog.RATINGS.items():
        fill(cache, name)
        assert data.ratings_file(test) == data.find_file(name)
        assert data.find_file(name).is_file()
    with pytest.raises(
        DataError,
        match=r"mono/de\.original is not here; .*cannot be downloaded, so take a file of your own",
    ):
        data.load_mono("wmt24/en-de")
    (cache / "mono").mkdir()
    (cache / "mono" / "de.original.txt").write_text("ein Satz\n")
    assert data.load_mono("wmt23/en-de") == ("ein Satz",)
    with pytest.raises(
        UnknownName, match=r"unknown data set 'mqm/ted'; did you mean 'mqm/ted-ende'"
    ):
        data.find_file("mqm/ted")
    told = r"mqm/ted-ende: this is no test set but .*; anhelpers mqm mqm/ted-ende gives penalties, anhelpers run an_5_2"
    with pytest.raises(DataError, match=told):
        data.load("mqm/ted-ende")
    with pytest.raises(
        DataError, match=r"no test set but German by people, .*; anhelpers data says where it lies"
    ):
        data.load("mono/de.human")


def test_every_named_set_has_a_licence_and_ratings_belong_to_sets():
    for name in (*catalog.ENTRIES, *catalog.FILES):
        assert catalog.licence_of(name)
        assert catalog.note_of(name)
    assert set(catalog.RATINGS.values()) <= set(catalog.FILES)
    assert set(catalog.RATINGS) - set(catalog.ENTRIES) == {"ted/en-de"}


def test_paths_are_trees_directories_or_candidates(package, tmp_path):
    tree = package / "teaching" / "en-de"
    assert data.load(tree).name == "en-de/en-de"
    assert data.load_candidates(tree).tags == ("", "")  # those of its candidates.jsonl
    assert data.load_candidates(tree / "txt").tags == ("X", "X")
    (tree / "txt" / "metric-scores").mkdir()
    assert data.load(tree / "txt", reference="refB").name == "txt/en-de"  # read as mt-metrics-eval
    (tree / "txt/sources/ja-zh.txt").write_text("a\n")
    with pytest.raises(
        DataError,
        match=r"holds 2 language pairs \(en-de, ja-zh\); say which by -l \(in Python: lp\)",
    ):
        data.load(tree)
    path = tmp_path / "c.jsonl"
    path.write_text('{"src": "a", "refs": ["A", "B"], "candidates": ["x"]}\n')
    test = data.load(path, lp="en-de", reference="refB")
    assert (test.lp, list(test.refs)) == ("en-de", ["refB", "refA"])
    assert data.load_candidates(path).texts == ("x",)
    assert data.load_mono(tree / "mono.de.txt") == ("eins", "zwei")


def test_paths_without_sources_and_unknown_names_are_told(package, tmp_path):
    with pytest.raises(DataError, match="holds no sources"):
        data.load(package / "teaching" / "en-de" / "candidates.jsonl")
    with pytest.raises(
        DataError, match=r"holds no sources.*; if it holds MQM ratings, anhelpers mqm FILE gives"
    ):
        data.load(package / "teaching" / "en-de" / "mono.de.txt")
    with pytest.raises(
        DataError,
        match="wmt24/en-dd: neither a known data set nor a path that exists; did you mean",
    ):
        data.load("wmt24/en-dd")
    with pytest.raises(DataError, match="neither sources nor txt/sources"):
        data.load(tmp_path)
    with pytest.raises(UnknownName, match="unknown data set 'nothing'"):
        data.load_mono("nothing")
    with pytest.raises(DataError, match="ja-zh has no monolingual reference"):
        data.load_mono("wmt24/ja-zh")


@pytest.fixture
def real():
    if not os.environ.get("ANHELPERS_DATA"):
        pytest.skip(
            "ANHELPERS_DATA is not set; point it at the shared data to check the real sets."
        )


@pytest.mark.real
def test_wmt24_english_german(real):
    test = data.load("wmt24/en-de")
    assert (len(test), len(test.systems), list(test.refs)) == (997, 26, ["refB", "refA"])
    blanks = {"Occiglot": 86, "Aya23": 1, "CommandR-plus": 1, "Gemini-1.5-Pro": 1}
    assert {name: k for name, k in test.blanks.items() if k} == blanks
    assert "Occiglot: 86 blank hypotheses of 997." in test.notes
    assert Counter(test.domains) == {"social": 531, "literary": 206, "news": 149, "speech": 111}
    assert not any(
        "CANARY" in text
        for texts in (test.srcs, *test.refs.values(), *test.systems.values())
        for text in texts
    )
    cands = data.load_candidates("wmt24/en-de")
    assert (len(cands), cands.notes) == (
        997 * 26 - 89,
        ("89 blank hypotheses of 25922 are left out.",),
    )
    assert len(data.load_mono("wmt24/en-de")) == 2504


@pytest.mark.real
def test_wmt24_japanese_chinese(real):
    test = data.load("wmt24/ja-zh")
    assert (len(test), len(test.systems), list(test.refs)) == (721, 22, ["refA"])
    assert {name: k for name, k in test.blanks.items() if k} == {"ONLINE-W": 1, "Phi-3-Medium": 1}


@pytest.mark.real
def test_wmt23_english_german(real):
    test = data.load("wmt23/en-de")
    assert (len(test), len(test.systems), list(test.refs)) == (557, 12, ["refA"])
    (note,) = test.notes
    assert note.startswith("generaltest2023.en-de.hyp.AIRC.de starts with a byte-order mark")


@pytest.mark.real
def test_the_sets_of_the_shared_folder_are_found(real):
    absent = {row["name"] for row in data.available() if not row["present"]}
    assert absent <= {"wmt24/en-es"}  # only to be downloaded
    for name in ("mqm/ted-ende", "mqm/wmt23-ende-sxs", "wmt24/autoscores", "mono/de.human"):
        assert data.find_file(name).is_file()
    assert data.find_file("xmi").is_dir()
    assert data.ratings_file("ted/en-de").name == "mqm_ted_ende.tsv"
    assert data.ratings_file("wmt23/en-de").name.endswith("ende.3ratingsPerSegment.tsv.tar.gz")
