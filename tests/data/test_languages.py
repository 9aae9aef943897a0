import pytest

from anhelpers.data import split_pair
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
