"""Data sets by name: where they are found, how they are loaded, and downloads from a local server."""

import gc
import hashlib
import http.server
import os
import re
import threading
from collections import Counter

import pytest

from anhelpers import cli, data
from anhelpers.data import fetch, sets
from anhelpers.errors import AnhelpersError, DataError, UnknownName

# requests leaves the socket of a refused download to the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
FILES = {
    "txt/sources/en-de.txt": "a\nb\n",
    "txt/references/en-de.refA.txt": "A\nB\n",
    "txt/references/en-de.refB.txt": "C\nD\n",
    "txt/system-outputs/en-de/X.txt": "x\ny\n",
    "txt/documents/en-de.docs": "news\td\nnews\td\n",
    "systems.tsv": "X\tMT\n",
    "candidates.jsonl": '{"segment": 0, "text": "p"}\n{"segment": 1, "text": "q"}\n',
    "mono.de.txt": "eins\nzwei\n",
}
REMOTE = {
    "mqm/ted-ende": ("mqm/mqm_ted_ende.tsv", "mqm/avg scores.tsv"),
    "xmi": ("xmi/results/bleu.csv",),
}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache and no environment, so that no test sees this machine's data."""
    for name in ("DATA", "MIRROR", "OFFLINE"):
        monkeypatch.delenv(f"ANHELPERS_{name}", raising=False)
    monkeypatch.setenv("ANHELPERS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def tree(tmp_path):
    """A teaching set of two segments in a folder."""
    for name, text in FILES.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "tree"


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """An empty folder that ANHELPERS_DATA names."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "MANIFEST.tsv").touch()
    monkeypatch.setenv("ANHELPERS_DATA", str(tmp_path / "shared"))
    return tmp_path / "shared"


def fill(root, name):
    """All files of a data set that the manifest lists, each of one line below a canary."""
    for row in fetch._remote_files(name):
        path = root / row.file
        path.parent.mkdir(parents=True, exist_ok=True)
        docs = row.file.endswith(".docs")
        path.write_text("canary\tcanary\nnews\td\n" if docs else "CANARY GUID 1\neins\n")


def test_bundled_files_are_found_and_others_refused():
    assert data.bundled("teaching/en-de/mono.de.txt").is_file()
    with pytest.raises(UnknownName, match=r"mono\.de\.txt"):
        data.bundled("teaching/en-de/mono.txt")
    with pytest.raises(UnknownName):
        data.bundled("../README.md")


def test_the_teaching_set_is_in_the_package():
    test = data.load("teaching")
    assert (test.name, test.lp, test.reference) == ("teaching", "en-de", "refB")
    assert data.load("teaching/de-en", reference="refA").reference == "refA"
    assert len(data.load_candidates("teaching")) > 1000
    assert data.ratings_file("teaching") == data.bundled("teaching/en-de/mqm.tsv")
    with pytest.raises(UnknownName):
        data.load("teaching", lp="en-fr")


def test_a_folder_is_loaded_like_a_teaching_set(tree):
    test = data.load(tree)
    assert (test.name, test.reference, test.categories) == ("tree/en-de", "refB", {"X": "MT"})
    assert data.load_candidates(tree).texts == ("p", "q")
    assert data.load_candidates(tree / "txt").tags == ("X", "X")
    assert data.load_mono(tree) == data.load_mono(tree / "mono.de.txt") == ("eins", "zwei")
    assert data.mono_for(tree, "de") == (("eins", "zwei"), f"of {tree}")
    (tree / "txt" / "metric-scores").mkdir()
    assert data.load(tree / "txt", reference="refB").name == "txt/en-de"  # as mt-metrics-eval
    (tree / "txt/sources/ja-zh.txt").write_text("a\n")
    with pytest.raises(DataError, match="en-de, ja-zh"):
        data.load(tree)


@pytest.mark.parametrize(
    ("call", "given", "error", "named"),
    [
        (data.load, "wmt24/en-dd", DataError, "wmt24/en-de"),
        (data.load, "wmt24/en-de", DataError, "--fetch wmt24/en-de.* anhelpers run an_5_2"),
        (data.load_mono, "wmt24/en-de", DataError, "ANHELPERS_DATA"),
        (data.find_file, "mqm/ted-end", UnknownName, "mqm/ted-ende"),
        (data.ratings_file, "wmt23/en-de", DataError, "--fetch mqm/wmt23-ende-sxs"),
        (sets.fetch_data, "nothing", UnknownName, "nothing"),
    ],
)
def test_what_is_not_there_is_an_error_that_names_it(call, given, error, named):
    with pytest.raises(error, match=named):
        call(given)


def test_a_wrong_data_folder_is_refused(tmp_path, monkeypatch):
    assert fetch._shared_data() is None
    monkeypatch.setenv("ANHELPERS_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"MANIFEST\.tsv"):
        fetch._shared_data()


def test_a_downloaded_set_needs_all_of_its_files(cache):
    fill(cache, "wmt24/en-es")
    test = data.load("wmt24/en-es")
    assert (len(test), len(test.systems), list(test.refs)) == (1, 23, ["refA"])
    (cache / "wmt24/txt/system-outputs/en-es/Aya23.txt").unlink()
    assert data.whereabouts("wmt24/en-es") is None  # else 22 systems would pass for all


def test_the_users_folder_comes_first_and_may_hold_a_part(cache, shared):
    fill(cache, "wmt24/en-es")
    fill(shared, "wmt24/en-de")
    (shared / "wmt24/txt/metadata/en-de.jsonl").unlink()
    assert data.find_file("wmt24/en-de") == shared / "wmt24" / "txt"
    assert data.find_file("wmt24/en-es") == cache / "wmt24" / "txt"
    assert data.whereabouts("wmt24/ja-zh") is None


def test_the_monolingual_reference_is_replaced_only_if_missing(shared):
    texts, told = data.mono_for("wmt24/en-de", "de")
    assert texts == data.load_mono("teaching") == data.mono_for("wmt24/en-de", "de_AT")[0]
    assert "teaching" in told
    (shared / "mono").mkdir()
    (shared / "mono" / "de.original.txt").write_text("ein Satz\n\nein Satz\n")
    assert data.mono_for("wmt24/en-de", "de") == (("ein Satz",), "of wmt24/en-de")
    assert data.mono_for("x", "cs")[0] == ()


def test_every_row_of_the_tables_is_complete():
    for name, one in sets.SETS.items():
        assert one.path
        assert one.licence
        assert one.note
        assert one.ratings in {"", *sets.SETS}
        assert name in sets.TEACHING or one.mono in {"", *sets.SETS}
        for row in fetch._remote_files(name):
            assert (len(row.commit), len(row.git_blob_sha1)) == (40, 0 if "zhen" in name else 40)
            assert len(row.sha256) in (0, 64)
            assert ".." not in row.file.split("/")
    assert [row["name"] for row in data.available()] == list(sets.SETS)


# -- downloads ---------------------------------------------------------------------------------------------------------


class Handler(http.server.BaseHTTPRequestHandler):
    """Serve `server.files`; answer the next requests with the statuses or bytes of `server.faults`."""

    def log_message(self, *args):
        pass

    def do_GET(self):
        fault = self.server.faults.pop(0) if self.server.faults else None
        body = self.server.files.get(self.path)
        status = fault if isinstance(fault, int) else 404 if body is None else 200
        body = fault if isinstance(fault, bytes) else (body or b"")
        self.server.paths.append(self.path)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server of two data sets, a manifest of them, and no pause between attempts."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as one:
        one.files, one.faults, one.paths, rows = {}, [], [], []
        for name, files in REMOTE.items():
            for file in files:
                content = f"{file}\n".encode()
                one.files[f"/o/r/{'c' * 40}/{file.replace(' ', '%20')}"] = content
                blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
                sha256 = hashlib.sha256(content).hexdigest() if name == "xmi" else ""
                rows.append((name, file, "o/r", "c" * 40, file, "", blob, sha256, "CC0"))
        (tmp_path / "package").mkdir()
        (tmp_path / "package" / "manifest.tsv").write_text("\n".join(map("\t".join, rows)) + "\n")
        monkeypatch.setattr(fetch, "_bundle_root", lambda: tmp_path / "package")
        monkeypatch.setenv("ANHELPERS_MIRROR", f"http://me:s3cret@127.0.0.1:{one.server_port}/")
        thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield one
        one.shutdown()
        thread.join()
        gc.collect()


def test_sets_are_downloaded_in_the_layout_of_a_data_folder(server, cache, capsys):
    assert cli.main(["data", "--fetch", "mqm/ted-ende", "xmi"]) == 0
    wanted = f"mqm/ted-ende\t{cache / 'mqm' / 'mqm_ted_ende.tsv'}\nxmi\t{cache / 'xmi'}\n"
    out, err = capsys.readouterr()
    assert out == wanted
    assert "CC0" in err or "none stated" in err
    found = {p.relative_to(cache).as_posix() for p in cache.rglob("*") if p.is_file()}
    assert found == {file for files in REMOTE.values() for file in files}
    asked = len(server.paths)
    sets.fetch_data(["mqm/ted-ende", "xmi"])
    assert len(server.paths) == asked == 3


@pytest.mark.parametrize("name", REMOTE)  # verified by sha256, and by the git blob id
def test_wrong_bytes_never_get_the_name_of_the_file(server, cache, name):
    server.faults = [b"a login page"] * 9
    with pytest.raises(AnhelpersError) as told:
        sets.fetch_data(name)
    assert "s3cret" not in str(told.value)
    assert not (cache / REMOTE[name][0]).exists()
    server.faults = []
    assert sets.fetch_data(name)[name].exists()


def test_without_a_checksum_a_download_is_called_unverified(server, tmp_path, capsys):
    manifest = tmp_path / "package" / "manifest.tsv"
    rows = re.sub(r"\t[0-9a-f]{40}\t\tCC0", "\t\t\tCC0", manifest.read_text())
    manifest.write_text(rows)
    assert sets.fetch_data("mqm/ted-ende")["mqm/ted-ende"].exists()
    assert "no known checksum: not verified" in capsys.readouterr().err


def test_offline_opens_no_connection(server, monkeypatch):
    monkeypatch.setenv("ANHELPERS_OFFLINE", "1")
    with pytest.raises(DataError, match="ANHELPERS_OFFLINE"):
        sets.fetch_data("xmi")
    assert not server.paths


# -- real data ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def real(monkeypatch):
    if not REAL:
        pytest.skip("ANHELPERS_DATA is not set; point it at the shared data.")
    monkeypatch.setenv("ANHELPERS_DATA", REAL)


REAL = os.environ.get("ANHELPERS_DATA", "")


@pytest.mark.real
def test_wmt24_english_german(real):
    test = data.load("wmt24/en-de")
    assert (len(test), len(test.systems), list(test.refs)) == (997, 26, ["refB", "refA"])
    blanks = {"Occiglot": 86, "Aya23": 1, "CommandR-plus": 1, "Gemini-1.5-Pro": 1}
    assert {name: k for name, k in test.blanks.items() if k} == blanks
    assert Counter(test.domains) == {"social": 531, "literary": 206, "news": 149, "speech": 111}
    texts = (test.srcs, *test.refs.values(), *test.systems.values())
    assert not any("CANARY" in text for column in texts for text in column)
    assert len(data.load_candidates("wmt24/en-de")) == 997 * 26 - 89
    assert len(data.load_mono("wmt24/en-de")) == 2504
