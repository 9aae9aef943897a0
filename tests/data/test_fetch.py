"""Data sets by name from a local server into a cache of our own; never from the network."""

import socket
from collections import defaultdict
from dataclasses import replace

import pytest

from anhelpers import cli
from anhelpers.data import fetch as downloading
from anhelpers.data import find_file
from anhelpers.data import sets as bundle
from anhelpers.data.fetch import fetch_data
from anhelpers.data.manifest import COLUMNS
from anhelpers.errors import DataError, UnknownName

SETS = {
    "mqm/ted-ende": ("mqm/mqm_ted_ende.tsv", "mqm/avg scores.tsv"),
    "xmi": ("xmi/results/bleu.csv",),
}


@pytest.fixture
def sets(server, row_of, tmp_path, monkeypatch):
    """Two data sets on the server, a manifest of them, an empty cache; name -> content of the server's files."""
    rows, contents = ["\t".join(COLUMNS)], defaultdict(dict)
    for name, files in SETS.items():
        for file in files:
            contents[name][file] = f"{file}\n".encode()
            row = replace(row_of(contents[name][file], file), dataset=name)
            rows.append("\t".join("" if v is None else str(v) for v in vars(row).values()))
            server.files[f"/o/r/{'c' * 40}/{file.replace(' ', '%20')}"] = contents[name][file]
    (tmp_path / "data" / "teaching" / "en-de").mkdir(parents=True)
    (tmp_path / "data" / "manifest.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    monkeypatch.setattr(bundle, "_bundle_root", lambda: tmp_path / "data")
    monkeypatch.setenv("ANHELPERS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ANHELPERS_MIRROR", f"{server.url}/")
    for name in ("ANHELPERS_DATA", "ANHELPERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    return contents


def test_sets_are_fetched_in_the_layout_of_the_data_folder(server, sets, tmp_path):
    said = []
    cache = tmp_path / "cache"
    places = fetch_data(["mqm/ted-ende", "xmi", "xmi"], say=said.append)
    assert places == {"mqm/ted-ende": cache / "mqm" / "mqm_ted_ende.tsv", "xmi": cache / "xmi"}
    assert find_file("xmi") == cache / "xmi"
    assert {
        p.relative_to(cache).as_posix(): p.read_bytes() for p in cache.rglob("*") if p.is_file()
    } == {file: content for files in sets.values() for file, content in files.items()}
    commit = "c" * 12
    assert said == [
        f"mqm/ted-ende: 2 files, 0 kB, from github.com/o/r at {commit}. Licence: none stated.",
        f"xmi: 1 file, 0 kB, from github.com/o/r at {commit}. Licence: none stated.",
    ]
    assert len(server.paths) == 3


def test_what_is_here_and_right_stays_and_what_is_wrong_is_replaced(server, sets, tmp_path):
    fetch_data("mqm/ted-ende", say=list)
    right, wrong = (tmp_path / "cache" / file for file in SETS["mqm/ted-ende"])
    before = right.stat().st_mtime_ns
    said = []
    fetch_data("mqm/ted-ende", say=said.append)
    assert said == ["mqm/ted-ende: all 2 files are here and verified."]
    wrong.write_bytes(b"edited\n")
    server.faults, said = ["wrong"], []
    with pytest.raises(DataError, match="nothing was changed here"):
        fetch_data("mqm/ted-ende", say=said.append)
    assert wrong.read_bytes() == b"edited\n"
    assert (
        said[0] == f"{wrong} has 7 bytes, 19 are wanted: it is replaced once the right one is here."
    )
    fetch_data("mqm/ted-ende", say=list)
    assert wrong.read_bytes() == b"mqm/avg scores.tsv\n"
    assert right.stat().st_mtime_ns == before
    assert len(server.paths) == 4


def test_a_set_in_the_users_own_folder_is_not_downloaded(server, sets, tmp_path, monkeypatch):
    (tmp_path / "shared" / "xmi" / "results").mkdir(parents=True)
    (tmp_path / "shared" / "xmi" / "results" / "bleu.csv").write_bytes(b"theirs")
    (tmp_path / "shared" / "MANIFEST.tsv").touch()
    monkeypatch.setenv("ANHELPERS_DATA", str(tmp_path / "shared"))
    said = []
    assert fetch_data(["xmi", "teaching"], say=said.append)["xmi"] == tmp_path / "shared" / "xmi"
    assert said == [
        "xmi is in ANHELPERS_DATA: nothing to download.",
        "teaching comes with the package: nothing to download.",
    ]
    assert server.paths == []


@pytest.mark.parametrize(("arguments", "setting"), [(["--offline"], ""), ([], "1")])
def test_offline_opens_no_socket_and_says_what_is_missing(
    sets, monkeypatch, capsys, arguments, setting
):
    def opened(*args, **kwargs):
        raise AssertionError("a socket was opened")

    monkeypatch.setenv("ANHELPERS_OFFLINE", setting)
    monkeypatch.setattr(socket, "socket", opened)
    monkeypatch.setattr(socket, "create_connection", opened)
    assert cli.main(["fetch", "mqm/ted-ende", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert (
        "2 of the 2 files of mqm/ted-ende are missing or wrong (first: mqm/mqm_ted_ende.tsv)" in err
    )
    assert "switched off" in err


def test_unknown_and_undownloadable_names_and_odd_mirrors_are_told_first(server, sets, monkeypatch):
    with pytest.raises(UnknownName, match="unknown data set 'xml'; did you mean 'xmi'"):
        fetch_data(["mqm/ted-ende", "xml"], say=list)
    with pytest.raises(DataError, match=r"wmt24/autoscores is not here; .*cannot be downloaded"):
        fetch_data("wmt24/autoscores", say=list)
    for odd in ("file:///etc", "mirror.example.org", "https://"):
        monkeypatch.setenv("ANHELPERS_MIRROR", odd)
        with pytest.raises(
            DataError, match=f"ANHELPERS_MIRROR is '{odd}'; an address like https://raw"
        ):
            fetch_data("xmi", say=list)
    assert server.paths == []


def test_the_commands_say_where_a_set_is_and_how_to_get_it(sets, tmp_path, capsys):
    assert cli.main(["data", "mqm/ted-ende"]) == 0
    first, facts, *files = capsys.readouterr().out.splitlines()
    assert first == "mqm/ted-ende         expert MQM ratings of TED talks, 14 systems"
    assert (
        " ".join(facts.split())
        == "2 files, 0 kB; licence: none stated; not here: anhelpers fetch mqm/ted-ende"
    )
    assert [line.split()[:3] for line in files] == [["not", "here", "21"], ["not", "here", "19"]]
    assert cli.main(["fetch", "mqm/ted-ende"]) == 0
    place = tmp_path / "cache" / "mqm" / "mqm_ted_ende.tsv"
    out, err = capsys.readouterr()
    assert out == f"mqm/ted-ende\t{place}\n"
    assert "Licence: none stated." in err
    (tmp_path / "cache" / "mqm" / "avg scores.tsv").write_text("edited")
    assert cli.main(["data", "mqm/ted-ende"]) == 0
    _, facts, *files = capsys.readouterr().out.splitlines()
    assert facts.endswith(f"licence: none stated; in {place}")
    assert files[0].split() == ["verified", "21", str(place)]
    assert files[1].startswith("has 6 bytes, 19 are wanted")


def test_the_list_of_sets_works_with_no_network(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("ANHELPERS_CACHE", str(tmp_path))
    monkeypatch.delenv("ANHELPERS_DATA", raising=False)
    monkeypatch.setattr(socket, "socket", None)
    assert cli.main(["data"]) == 0
    text = capsys.readouterr().out
    assert "licence: CC BY 4.0; in " in text
    assert (
        "1 file, size unknown; licence: Apache-2.0; not here: anhelpers fetch mqm/wmt24-ende"
        in text
    )
    assert "not here: cannot be downloaded from one place" in text
    assert cli.main(["data", "xml"]) == 2
    assert "did you mean 'xmi'" in capsys.readouterr().err


def test_a_stopped_fetch_says_that_it_can_go_on(sets, monkeypatch, capsys):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(downloading, "_read", interrupted)
    assert cli.main(["fetch", "xmi"]) == 130
    assert "the same command goes on from there" in capsys.readouterr().err
