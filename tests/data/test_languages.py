import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import anhelpers
from anhelpers.data import split_pair
from anhelpers.data.languages import CODES, MEMBERS, NAMES, OTHERS, TABLE
from anhelpers.errors import DataError


@pytest.mark.parametrize(
    ("lp", "pair"),
    [
        ("en-de", ("en", "de")),
        ("ja-zh", ("ja", "zh")),
        ("en-pt_BR", ("en", "pt_BR")),
        ("en-es_419", ("en", "es_419")),
        ("eng_Latn-hsb", ("eng_Latn", "hsb")),
        ("und-und", ("und", "und")),
    ],
)
def test_a_pair_is_two_languages(lp, pair):
    assert split_pair(lp) == pair


@pytest.mark.parametrize(
    "lp",
    ["", "en", "en-", "-de", "en-de-fr", "ende", "EN-de", "en-qq", "en-deu_", "en-pt_br", None, 3],
)
def test_anything_else_is_unknown(lp):
    with pytest.raises(DataError, match=f"unknown language pair {lp!r}"):
        split_pair(lp)


def test_the_error_gives_the_nearest_code():
    with pytest.raises(DataError, match="did you mean 'deu'"):
        split_pair("en-deux")


def test_every_row_is_one_language_in_its_place():
    codes = [row["iso639_1"] or row["iso639_3"] for row in TABLE]
    assert len({*codes}) == len(codes) == len(MEMBERS) + len(OTHERS)
    assert codes == [*sorted(MEMBERS), *sorted(OTHERS)]
    assert all({*map(len, three)} == {3} for three in [*MEMBERS.values(), OTHERS])
    assert {row["spaced"] for row in TABLE} == {"yes", "no"}
    assert [row["iso639_3"] for row in TABLE if not row["name"]] == ["mul", "und"]
    assert (NAMES["br"], NAMES["deu"], NAMES["gsw"]) == ("Breton", "German", "Swiss German")
    assert {"und", "mul"} <= CODES


def test_the_names_are_those_of_cldr():
    """But for two that the field calls otherwise, and for 11 languages that CLDR does not name."""
    babel = pytest.importorskip("babel", reason="pip install Babel")
    theirs = babel.Locale("en").languages
    rows = [(row["iso639_1"] or row["iso639_3"], row["name"]) for row in TABLE if row["name"]]
    other = {code: name for code, name in rows if theirs.get(code, name) != name}
    assert other == {"bn": "Bengali", "sl": "Slovene"}
    assert sum(code not in theirs for code, _ in rows) == 11


def test_without_the_data_folder_there_is_a_sentence_and_no_traceback(tmp_path):
    """Its table is beside the module, so that this can be imported all the same."""
    shutil.copytree(Path(anhelpers.__file__).parent, tmp_path / "anhelpers")
    call = [sys.executable, "-m", "anhelpers", "data"]
    told = subprocess.run(call, cwd=tmp_path, env={}, capture_output=True, text=True, check=False)
    assert told.returncode == 2
    assert "the package's data folder is missing; install anhelpers again" in told.stderr
    assert "Traceback" not in told.stderr
