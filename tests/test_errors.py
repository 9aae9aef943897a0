import pytest

from anhelpers.errors import DataError, MissingExtra, UnknownName, nearest, need


def test_a_data_error_starts_with_file_and_line():
    assert str(DataError("bad.", "a.tsv", 3)) == "a.tsv, line 3: bad."
    assert str(DataError("bad.", "a.tsv")) == "a.tsv: bad."
    assert isinstance(DataError("bad."), ValueError)


def test_an_unknown_name_offers_the_nearest_and_the_list():
    error = UnknownName("metric", "chfr", ["chrf", "bleu"])
    assert str(error) == "unknown metric 'chfr'; did you mean 'chrf'?; known: bleu, chrf."
    assert nearest("zzz", ["chrf"]) == ""


def test_a_missing_library_names_the_command_that_installs_it():
    with pytest.raises(MissingExtra, match="pip install no_such_library"):
        need("no_such_library", "drawing")
