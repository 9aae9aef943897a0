"""Sentences that a class wrote: files put together, and what is said of bad ones."""

import pytest

from anhelpers import classroom
from anhelpers.errors import DataError
from anhelpers.widgets.handed_in import SENTENCE_COLUMNS, sentences_csv

HEAD = "who,task,segment,text,chrf,critic,version"


def write(path, *lines, head=HEAD):
    path.write_text("\n".join((head, *lines)) + "\n", encoding="utf-8")
    return path


def test_files_of_a_folder_are_put_together_and_copies_count_once(tmp_path):
    write(tmp_path / "a.csv", 'Mo,t1,3,"Yes, she said.",61.25,-0.5,0.1', "Mo,t1,4,No.,,,")
    write(tmp_path / "b.csv", "sep=;", head="")
    text = "sep=;\nwho;task;segment;text;chrf;critic\nDi;t1;3;Well,  well;61,5;-0,25\n"
    (tmp_path / "b.csv").write_text("\ufeff" + text, encoding="utf-8")
    write(tmp_path / "copy.csv", 'Mo,t1,3,"Yes, she said.",61.25,-0.5,0.1')
    (tmp_path / "notes.txt").write_text("no file of sentences")
    found = classroom.read_sentences(tmp_path)
    assert list(found.columns) == list(SENTENCE_COLUMNS)
    assert found.who.tolist() == ["Mo", "Mo", "Di"]
    assert found.text.tolist() == ["Yes, she said.", "No.", "Well, well"]
    assert found.chrf.tolist()[::2] == [61.25, 61.5]
    assert found.critic.isna().tolist() == [False, True, False]
    rows = found.iloc[:1].itertuples(index=False, name=None)
    assert sentences_csv(rows) == HEAD + '\nMo,t1,3,"Yes, she said.",61.2500,-0.5000,0.1\n'
    assert len(classroom.read_sentences([tmp_path / "a.csv", tmp_path / "a.csv"])) == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "Mo,t2,3,x,,,",
            "line 3: this sentence is of task 't2', and in {path} it is 't1'; only sentences of one",
        ),
        (",t1,3,x,,,", "line 3: who is blank"),
        ("Mo,,3,x,,,", "line 3: task is blank"),
        ("Mo,t1,3, ,,,", "line 3: text is blank"),
        ("Mo,t1,-3,x,,,", "line 3: segment '-3' is no whole number"),
        ("Mo,t1,3,x,good,,", "line 3: chrf 'good' is no number"),
        ("Mo,t1,3,x", "line 3: 4 cells, and the header has 7"),
    ],
)
def test_a_wrong_row_is_named_with_file_and_line(tmp_path, line, said):
    path = write(tmp_path / "a.csv", "Mo,t1,3,x,1,2,", line)
    with pytest.raises(DataError) as error:
        classroom.read_sentences(tmp_path)
    assert str(error.value).startswith(f"{path}, {said.replace('{path}', str(path))}")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "this file is empty; a file of sentences begins with who,task"),
        (HEAD + "\n", "line 1: there is a header and no sentence below it"),
        ("<!doctype html>", "this is a web page and no CSV: press Save on it"),
        (
            "name,mark\nMo,3\n",
            "line 1: there is no column who, task, segment, text; it has name, mark",
        ),
    ],
)
def test_what_is_no_file_of_sentences_is_told(tmp_path, content, said):
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(DataError) as error:
        classroom.read_sentences(tmp_path / "a.csv")
    assert said in str(error.value)


def test_no_file_is_an_error_too(tmp_path):
    with pytest.raises(DataError, match="put everybody's files into it"):
        classroom.read_sentences(tmp_path)
    with pytest.raises(DataError, match="there is no file to read"):
        classroom.read_sentences([])
