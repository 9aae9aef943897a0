"""What systems are called, what options are called, and where results go."""

import pytest

from anhelpers import cli, data, progress
from anhelpers.data.languages import split_pair
from anhelpers.data.plain import named_files
from anhelpers.errors import DataError


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["generaltest2022.en-zh.hyp.Online-Y.zh"], ["Online-Y"]),
        (
            ["generaltest2022.en-zh.hyp.Online-Y.zh", "generaltest2022.en-zh.hyp.AISP-SJTU.zh"],
            ["Online-Y", "AISP-SJTU"],
        ),
        (["generaltest2022.en-zh.ref.A.zh"], ["A"]),
        (["mine.de", "theirs.de"], ["mine", "theirs"]),
        (["out.small.de", "out.large.de"], ["small", "large"]),
        (["small.out.de", "large.out.de"], ["small", "large"]),
        (["a.b.de", "a.de"], ["a.b", "a"]),
        (["out.A", "out.B"], ["A", "B"]),
        (["runs/1/out.de", "runs/2/out.de"], ["1", "2"]),
        (["x.v1.de"], ["x.v1"]),
        (["mine=out.a.de", "out.b.de"], ["mine", "out.b"]),
    ],
)
def test_a_file_is_called_by_what_differs(paths, names):
    assert list(named_files(paths)) == names


def test_names_that_are_the_same_are_refused():
    with pytest.raises(
        DataError, match="are both called 'out'; give one of them another name, as in out2="
    ):
        named_files(["a/out.de", "b/out.de", "b/out.de"])


def test_the_option_for_the_pair_is_named(tmp_path):
    for lp in ("en-de", "ja-zh"):
        path = tmp_path / "sources" / f"{lp}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text("a\n")
    with pytest.raises(
        DataError, match=r"holds 2 language pairs \(en-de, ja-zh\); say which by -l"
    ):
        data.load(tmp_path)


CANDIDATES = '{"src": "one", "refs": ["eins"], "candidates": ["eins", "zwei"]}\n'


def test_two_results_do_not_go_into_one_file(tmp_path, capsys):
    (tmp_path / "c.jsonl").write_text(CANDIDATES)
    same = str(tmp_path / "out.csv")
    assert cli.main(["curve", str(tmp_path / "c.jsonl"), "-o", same, "--html", same]) == 2
    assert (
        "out.csv: is named for two results, of which one would replace the other"
        in capsys.readouterr().err
    )
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"segment": 0, "text": "a", "counts": 2}', '"counts" is not read; did you mean "count"?'),
        (
            '{"src": "a", "ref": ["b"], "candidates": ["c"]}',
            '"ref" is not read; did you mean "refs"?',
        ),
        (
            '{"src": "a", "reference": "b", "candidates": ["c"]}',
            '"reference" is not read; did you mean "refs"?',
        ),
        (
            '{"src": "a", "candidates": [{"text": "c", "logprobs": -1}]}',
            '"logprobs" is not read; did you mean "logprob"?',
        ),
    ],
)
def test_a_key_that_is_nearly_one_is_refused(line, told, tmp_path):
    (tmp_path / "c.jsonl").write_text(line)
    with pytest.raises(DataError) as error:
        data.read_candidates(tmp_path / "c.jsonl")
    assert told in str(error.value)


def test_other_keys_are_told(tmp_path):
    (tmp_path / "c.jsonl").write_text('{"segment": 0, "text": "a", "score": 0.5, "model": "m"}')
    assert data.read_candidates(tmp_path / "c.jsonl").notes == (
        "keys that are not read: model, score.",
    )


def test_a_blank_output_of_one_system_is_told_as_that(tmp_path, capsys):
    for name, word in {"src": "house", "ref": "Haus", "a": "Hauses", "b": "Hausen"}.items():
        lines = [f"{word} {i} {i}" if name != "b" or i else "" for i in range(12)]
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    src, ref, *systems = (str(tmp_path / name) for name in ("src", "ref", "a", "b"))
    plane = [
        "plane",
        "-l",
        "en-cs",
        "-s",
        src,
        "-r",
        ref,
        "-t",
        *systems,
        "--naturalness",
        "compression",
    ]
    assert cli.main([*plane, "--draws", "10", "-o", str(tmp_path / "out")]) == 0
    err = capsys.readouterr().err
    assert (
        "1 of 12 segments are left out: there a system, or every reference, is blank, or a score is missing."
        in err
    )


def test_without_documents_none_are_counted(tmp_path, capsys):
    for name, word in {"src": "house", "ref": "Haus", "mt": "Hauses"}.items():
        (tmp_path / name).write_text("".join(f"{word} {i} {i}\n" for i in range(12)))
    src, ref, hyp = (str(tmp_path / name) for name in ("src", "ref", "mt"))
    plane = [
        "plane",
        "-l",
        "en-de",
        "-s",
        src,
        "-r",
        ref,
        "-t",
        hyp,
        "--naturalness",
        "ttr",
        "--draws",
        "10",
    ]
    assert cli.main([*plane, "-o", str(tmp_path / "out")]) == 0
    assert "12 of 12 segments compared, resampled one by one; 1 system." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "missing"), [("=out.de", "name"), (" =out.de", "name"), ("mine=", "file")]
)
def test_half_a_name_and_file_is_refused(given, missing):
    with pytest.raises(DataError, match=f"no NAME=FILE: the {missing} is missing"):
        named_files([given])


def test_a_pair_in_capitals_is_told_in_small_letters():
    with pytest.raises(
        DataError, match=r"unknown language pair 'JA-ZH': 'JA' is no known language code; .* 'ja'"
    ):
        split_pair("JA-ZH")


def test_a_measure_without_a_value_says_why(tmp_path, capsys):
    progress.note_once.cache_clear()
    for name, text in (("src", "Yes.\nNo.\n"), ("hyp", "Ja.\nNein.\n")):
        (tmp_path / name).write_text(text, "utf-8")
    assert (
        cli.main(
            [
                "score",
                "-s",
                str(tmp_path / "src"),
                "-t",
                str(tmp_path / "hyp"),
                "-m",
                "mattr",
                "-l",
                "en-de",
            ]
        )
        == 0
    )
    assert "mattr of a text of 2 words is nan: it needs 100 words." in capsys.readouterr().err


def test_no_model_is_named_where_none_is_asked(tmp_path):
    for name, text in (("src", "Yes.\nNo.\n"), ("ref", "Ja.\nNein.\n"), ("hyp", "Jaja.\nNein!\n")):
        (tmp_path / name).write_text(text, "utf-8")
    texts = [
        "-s",
        str(tmp_path / "src"),
        "-r",
        str(tmp_path / "ref"),
        "-t",
        str(tmp_path / "hyp"),
        "-l",
        "en-de",
    ]
    assert (
        cli.main(
            ["plane", *texts, "--naturalness", "ttr", "--draws", "9", "-o", str(tmp_path / "out")]
        )
        == 0
    )
    assert "de-small" not in (tmp_path / "out" / "systems.csv").read_text("utf-8")
