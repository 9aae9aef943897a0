"""What kind of translator each system is: the bundled tables, and copies that somebody edited."""

import csv
import os
from collections import Counter
from pathlib import Path

import pytest

from anhelpers.data import bundled, load, system_categories
from anhelpers.data.languages import _split_pair
from anhelpers.data.schema import CATEGORIES
from anhelpers.data.wmt import TABLES, _read_wmt
from anhelpers.errors import DataError, UnknownName

HEADER = "system,category,lp,claim,source"
ROW = 'X,MT,en-de de-en,"ours, trained here",nowhere'


def read_table(name: str) -> list[dict[str, str]]:
    with bundled(TABLES[name]).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", TABLES)
def test_every_row_of_a_table_says_why_and_whence(name):
    rows = read_table(name)
    assert system_categories(name) == {row["system"]: row["category"] for row in rows}
    for row in rows:
        # "unknown" is for systems that no table lists
        assert row["category"] in CATEGORIES[:-1], row
        assert row["claim"].strip(), row
        assert row["source"].strip(), row
        pairs = row["lp"].split(" ")
        assert pairs == sorted({"-".join(_split_pair(lp)) for lp in pairs}), row


def test_an_edited_copy_changes_the_categories(tmp_path):
    path = tmp_path / "mine.csv"
    text = bundled(TABLES["wmt24"]).read_text(encoding="utf-8")
    path.write_text(
        text.replace("\nUnbabel-Tower70B,MT,", "\nUnbabel-Tower70B,LLM,"), encoding="utf-8"
    )
    assert system_categories(path) == system_categories("wmt24") | {"Unbabel-Tower70B": "LLM"}
    assert system_categories(str(path)) == system_categories(path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (ROW, 1),
        (HEADER.replace(",", " "), 1),
        (f"{HEADER}\n{ROW}\nY,LLM,en-de,big, general,nowhere\n", 3),
        (f"{HEADER}\n{ROW}\nY,llm,en-de,big,nowhere\n", 3),
        (f"{HEADER}\n,LLM,en-de,big,nowhere\n", 2),
        (f"{HEADER}\n{ROW}\n{ROW}\n", 3),
    ],
)
def test_a_malformed_table_is_refused_with_its_line(tmp_path, text, line):
    (tmp_path / "mine.csv").write_text(text)
    with pytest.raises(DataError) as error:
        system_categories(tmp_path / "mine.csv")
    assert error.value.line == line
    for unknown in ("wmt22", tmp_path):
        with pytest.raises(UnknownName):
            system_categories(unknown)


def make_tree(folder: Path, systems: list[str]) -> Path:
    files = {"sources/en-de.txt": "a\n", "references/en-de.refA.txt": "A\n"}
    for name, text in (
        files | {f"system-outputs/en-de/{system}.txt": "x\n" for system in systems}
    ).items():
        path = folder / "txt" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_a_tree_takes_the_table_that_its_name_bears(tmp_path):
    tree = make_tree(tmp_path / "mine", ["GPT-4", "ONLINE-B", "Mine"])
    assert _read_wmt(tree, "en-de", name="wmt24/en-de").categories == {
        "GPT-4": "LLM",
        "Mine": "unknown",
        "ONLINE-B": "online",
    }
    assert _read_wmt(tree, "en-de", name="wmt23/en-de").categories["GPT-4"] == "unknown"
    assert set(_read_wmt(tree, "en-de").categories.values()) == {"unknown"}  # mine/en-de
    (tree / "systems.tsv").write_text("GPT-4\tMT\n")
    assert _read_wmt(tree, "en-de", name="wmt24/en-de").categories == {
        "GPT-4": "MT",
        "Mine": "unknown",
        "ONLINE-B": "unknown",
    }


@pytest.fixture
def data() -> Path:
    return Path(os.environ.get("ANHELPERS_DATA") or pytest.skip("set ANHELPERS_DATA"))


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("wmt24/en-de", {"LLM": 9, "MT": 13, "online": 4}),
        ("wmt24/ja-zh", {"LLM": 8, "MT": 10, "online": 4}),
        ("wmt23/en-de", {"LLM": 1, "MT": 5, "online": 6}),
    ],
)
def test_named_sets_have_no_unknown_system(data, name, counts):
    assert Counter(load(name).categories.values()) == counts
