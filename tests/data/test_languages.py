import pytest

from anhelpers.data import load
from anhelpers.data.languages import (
    CODES,
    MEMBERS,
    NAMES,
    _guess_language,
    _infer_pair,
    _split_pair,
)
from anhelpers.errors import DataError


def test_a_pair_is_two_languages():
    assert _split_pair("en-pt_BR") == ("en", "pt_BR")
    assert _split_pair("en-es_419") == ("en", "es_419")
    assert _split_pair("eng_Latn-hsb") == ("eng_Latn", "hsb")


@pytest.mark.parametrize(
    "lp", ["", "en", "en-", "-de", "en-de-fr", "EN-de", "en-qq", "en-pt_br", None, 3]
)
def test_anything_else_is_unknown(lp):
    with pytest.raises(DataError):
        _split_pair(lp)


def test_the_table_has_each_language_once():
    three = [code for codes in MEMBERS.values() for code in codes]
    assert {*map(len, three)} == {3}
    assert {*MEMBERS, *three} <= CODES
    assert (NAMES["br"], NAMES["deu"], NAMES["gsw"]) == ("Breton", "German", "Swiss German")


def test_the_language_of_texts_is_inferred(capsys):
    test = load("teaching")
    assert _infer_pair(None, test.srcs, test.refs["refA"]) == "en-de"
    assert "en-de" in capsys.readouterr().err
    assert _infer_pair("cs-de", test.srcs, test.srcs) == "cs-de"
    chinese = ["他说这座老房子的屋顶上睡着一只猫，明天我们要去海边。"] * 40
    assert _guess_language(chinese) == "zh"
    assert _guess_language(["Yes."]) == _guess_language([]) == "und"
