import hashlib
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.data import bundled
from anhelpers.data.manifest import (
    COLUMNS,
    RemoteFile,
    cache_folder,
    fault,
    megabytes,
    missing,
    read_manifest,
)
from anhelpers.data.sets import ENTRIES, FILES
from anhelpers.errors import DataError

GOOD = {
    "dataset": "wmt99/en-de",
    "file": "wmt99/txt/a b.txt",
    "repo": "owner/name",
    "commit": "a" * 40,
    "path": "txt/a b.txt",
    "size": "3",
    "git_blob_sha1": "b" * 40,
    "sha256": "c" * 64,
    "licence": "none stated",
}


@pytest.fixture
def manifest(tmp_path):
    def make(*rows: dict[str, str]) -> Path:
        lines = ["\t".join(COLUMNS), *("\t".join((GOOD | row).values()) for row in rows)]
        path = tmp_path / "manifest.tsv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return make


def remote(content: bytes, **other) -> RemoteFile:
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    named = GOOD | {
        "size": len(content),
        "git_blob_sha1": blob,
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    return RemoteFile(**named | other)


def test_a_row_is_read_with_its_unknowns(manifest):
    first, second = read_manifest(manifest({}, {"file": "x", "size": "", "sha256": ""}))
    assert (first.file, first.size, first.licence) == ("wmt99/txt/a b.txt", 3, "none stated")
    assert (second.size, second.sha256) == (None, "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dataset": "a/b/c"}, "dataset is 'a/b/c' instead of a name like wmt24/en-de"),
        ({"file": "/etc/x"}, "file '/etc/x' is no plain relative path"),
        ({"file": "a/../../x"}, "is no plain relative path"),
        ({"file": "./a"}, "is no plain relative path"),
        ({"file": ""}, "file '' is no plain relative path"),
        ({"path": "a//b"}, "path 'a//b' is no plain relative path"),
        ({"file": "C:x"}, "file 'C:x' has a character that not every system takes"),
        ({"file": "a\\b"}, "has a character that not every system takes"),
        ({"repo": "owner"}, "repo is 'owner' instead of owner/name"),
        ({"commit": "main"}, "commit is 'main' instead of 40 hex digits"),
        ({"size": "-3"}, "size is '-3' instead of a number of bytes or empty"),
        ({"git_blob_sha1": ""}, "git_blob_sha1 is '' instead of 40 hex digits"),
        ({"sha256": "C" * 64}, "instead of 64 hex digits or empty"),
        ({"licence": ""}, "licence is '' instead of the licence, or that none is stated"),
        ({"licence": "MIT\tx"}, "10 columns instead of 9"),
        ({}, "wmt99/txt/a b.txt is listed twice"),
    ],
)
def test_a_bad_row_is_one_sentence_with_its_line(manifest, change, words):
    with pytest.raises(DataError, match=rf"manifest\.tsv, line 3: .*{re.escape(words)}.*\.$"):
        read_manifest(manifest({}, change))


def test_a_bad_header_is_told(tmp_path):
    (tmp_path / "m.tsv").write_text("file\tsize\n")
    with pytest.raises(
        DataError,
        match=r"line 1: the first line must name the columns dataset file .* and is 'file\tsi",
    ):
        read_manifest(tmp_path / "m.tsv")
    (tmp_path / "m.tsv").write_text("")
    with pytest.raises(DataError, match="and is 'nothing'"):
        read_manifest(tmp_path / "m.tsv")


@given(content=st.binary(max_size=40), other=st.binary(max_size=40), known=st.booleans())
def test_only_the_same_bytes_are_right(tmp_path_factory, content, other, known):
    path = tmp_path_factory.mktemp("f") / "x"
    path.write_bytes(other)
    row = remote(content) if known else remote(content, size=None, sha256="")
    assert (fault(path, row) == "") == (content == other)


def test_a_fault_says_what_was_seen_and_wanted(tmp_path):
    path = tmp_path / "x"
    assert fault(path, remote(b"abc")) == "is not there"
    path.write_bytes(b"abcd")
    assert fault(path, remote(b"abc")) == "has 4 bytes, 3 are wanted"
    path.write_bytes(b"abd")
    seen, wanted = (hashlib.sha256(b).hexdigest() for b in (b"abd", b"abc"))
    assert fault(path, remote(b"abc")) == f"has sha256 {seen}, {wanted} is wanted"
    assert fault(path, remote(b"abc", sha256="")).startswith("has git blob id ")


def test_the_blob_id_is_git_s_own(tmp_path):
    (tmp_path / "x").write_bytes(b"ein Satz\n")
    try:
        git = subprocess.run(
            ["git", "hash-object", "x"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("needs git")
    assert remote(b"ein Satz\n").git_blob_sha1 == git.stdout.strip()


def test_sizes_in_words():
    assert megabytes([19_040]) == "19 kB"
    assert megabytes([6_000_000, 450_000]) == "6.5 MB"
    assert megabytes([2_000_000, None, None]) == "2.0 MB and 2 files of unknown size"
    assert megabytes([None]) == "size unknown"


def test_the_cache_folder_of_each_system(monkeypatch, tmp_path):
    for name in ("ANHELPERS_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    where = {"linux": ".cache", "darwin": "Library/Caches", "win32": "AppData/Local"}
    for platform, below in where.items():
        monkeypatch.setattr("sys.platform", platform)
        assert cache_folder() == tmp_path / below / "anhelpers"
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "L"))
    assert cache_folder() == tmp_path / "L" / "anhelpers"
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "X"))
    assert cache_folder() == tmp_path / "X" / "anhelpers"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be passed over, the specification says
    assert cache_folder() == tmp_path / ".cache" / "anhelpers"
    monkeypatch.setenv("ANHELPERS_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"


def test_without_a_home_the_sentence_says_what_to_set(monkeypatch):
    def homeless():
        raise RuntimeError

    for name in ("ANHELPERS_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(DataError, match="set ANHELPERS_CACHE to a folder"):
        cache_folder()


def test_our_own_manifest_fits_the_named_sets():
    rows = read_manifest(bundled("manifest.tsv"))
    count = Counter(row.dataset for row in rows)
    assert count == {
        "wmt24/en-de": 31,
        "wmt24/ja-zh": 26,
        "wmt24/en-es": 27,
        "wmt24/en-cs": 30,
        "wmt23/en-de": 15,
        "wmt25/cs-de": 10,
        "mqm/ted-ende": 2,
        "mqm/wmt23-ende-sxs": 1,
        "mqm/wmt24-ende": 1,
        "mqm/wmt24-enes": 1,
        "mqm/wmt24-jazh": 1,
        "esa/wmt24": 1,
        "xmi": 110,
    }
    assert set(count) <= {*ENTRIES, *FILES}
    for name, (path, _) in FILES.items():
        files = [row.file for row in rows if row.dataset == name]
        assert not files or path in files or all(file.startswith(f"{path}/") for file in files), (
            name
        )
    assert len({(row.dataset, row.licence) for row in rows}) == len(count)  # one licence per set


@pytest.mark.real
def test_every_listed_file_of_the_shared_data_is_right():
    if not os.environ.get("ANHELPERS_DATA"):
        pytest.skip("ANHELPERS_DATA is not set; point it at the shared data to check the manifest.")
    root, rows = Path(os.environ["ANHELPERS_DATA"]), read_manifest(bundled("manifest.tsv"))
    absent = missing(root, rows)
    here = [row for row in rows if row not in absent]
    assert len(here) > 100
    assert {row.file: seen for row in here if (seen := fault(root / row.file, row))} == {}
