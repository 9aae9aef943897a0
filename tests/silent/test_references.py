"""Which texts are references, which are systems, and which are left out: nothing is compared with itself unseen."""

import io
import re

import pandas as pd
import pytest

from anhelpers import cli, data
from anhelpers.data import TestSet, from_systems
from anhelpers.errors import UnknownName
from anhelpers.plane import with_human_points

N = 30
REF_A = tuple(f"Das ist der Satz Nummer {i} von {i * i} guten Sätzen." for i in range(N))
REF_B = tuple(f"Dies wäre der {i}. unter {i * i} ordentlichen Sätzen." for i in range(N))
MT = tuple(f"Das ist der Satz Zahl {i} von {i * i} Sätzen, die gut sind." for i in range(N))
SRC = tuple(f"This is sentence number {i} of {i * i} good sentences." for i in range(N))
LOST = (*MT[:9], *MT[10:], "")
TEST = TestSet("t", "en-de", SRC, {"refA": REF_A, "refB": REF_B}, {"refA": REF_A, "MT": MT, "copy": REF_B})


def lines(folder, name, texts):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return str(path)


@pytest.fixture
def mtme(tmp_path):
    """A folder as mt-metrics-eval has them: references stand among the systems."""
    folder = tmp_path / "wmt"
    lines(folder, "sources/en-de.txt", SRC)
    for name, texts in {"refA": REF_A, "refB": REF_B}.items():
        lines(folder, f"references/en-de.{name}.txt", texts)
    for name, texts in {"refA": REF_A, "refB": REF_B, "MT": MT, "Lost": LOST}.items():
        lines(folder, f"system-outputs/en-de/{name}.txt", texts)
    lines(folder, "metric-scores/.keep", [])
    return str(folder)


def table(capsys):
    out, err = capsys.readouterr()
    return pd.read_csv(io.StringIO(out)).set_index("system").value, err


def test_a_reference_among_the_systems_is_not_compared_with_itself(mtme, capsys):
    assert cli.main(["score", "--data", mtme, "--exclude", "Lost"]) == 0
    scores, err = table(capsys)
    assert set(scores.index) == {"MT", "refB"}
    assert scores.max() < 100
    assert "refA is the reference refA, and is not compared with itself." in err
    assert "compared with the reference refA." in err
    assert "left out: Lost." in err


@pytest.mark.parametrize(
    ("wanted", "systems"),
    [(["refB"], {"MT", "refA"}), (["all"], {"MT"}), (["refB", "refA"], {"MT"}), (None, {"MT", "refB"})],
)
def test_reference_chooses_and_the_others_are_human_points(wanted, systems, mtme, capsys):
    chosen = ["--reference", *wanted] if wanted else []
    assert cli.main(["score", "--data", mtme, "--exclude", "Lost", *chosen]) == 0
    scores, _ = table(capsys)
    assert set(scores.index) == systems


def test_score_and_plane_have_the_same_references(mtme, tmp_path, capsys):
    common = ["--data", mtme, "--exclude", "Lost"]
    assert cli.main(["score", *common, "--level", "segment-mean"]) == 0
    scores, _ = table(capsys)
    assert cli.main(["plane", *common, "--naturalness", "ttr", "-o", str(tmp_path / "out"), "--draws", "10"]) == 0
    systems = pd.read_csv(tmp_path / "out" / "systems.csv").set_index("system")
    assert systems.accuracy.to_dict() == pytest.approx(scores.to_dict())
    assert systems.category["refB"] == "human"
    assert "compared with the reference refA." in (tmp_path / "out" / "appendix.txt").read_text(encoding="utf-8")


def test_a_copy_under_another_name_is_that_reference():
    assert TEST.copies == {"refA": "refA", "copy": "refB"}
    points = with_human_points(TEST)
    assert list(points.systems) == ["MT", "refB"]
    assert points.categories == {"MT": "unknown", "refB": "human"}
    assert list(with_human_points(TEST, ["all"]).systems) == ["MT"]
    with pytest.raises(UnknownName, match="unknown reference 'refC'"):
        with_human_points(TEST, ["refC"])


def test_a_copy_alone_is_no_system(tmp_path, capsys):
    src, ref = lines(tmp_path, "src.en", SRC), lines(tmp_path, "ref.de", REF_A)
    assert cli.main(["score", "-s", src, "-r", ref, "-t", f"mine={ref}"]) == 2
    assert "mine: nothing but a reference, with which chrf compares" in capsys.readouterr().err
    assert cli.main(["score", "-s", src, "-r", ref, "-t", f"mine={ref}", "-m", "ttr"]) == 0  # which compares with none
    assert list(table(capsys)[0].index) == ["mine"]


def test_references_are_no_candidates():
    assert set(from_systems(TEST).tags) == {"MT"}
    assert set(from_systems(TEST, ["refA"]).tags) == {"refA"}  # who asks for it gets it


def test_a_system_file_called_like_a_reference_file_is_a_system(tmp_path):
    src = lines(tmp_path, "x.en", SRC)
    test = data.read_plain(src, lines(tmp_path, "refs/x.de", REF_A), lines(tmp_path, "sys/x.de", MT), "en-de")
    assert test.categories == {"x": "unknown"}
    assert list(with_human_points(test, ["all"]).systems) == ["x"]


@pytest.mark.parametrize("command", ["score", "plane"])
def test_a_shifted_system_is_refused_and_can_be_left_out(command, mtme, tmp_path, capsys):
    more = ["--naturalness", "ttr", "-o", str(tmp_path / "out"), "--draws", "10"] if command == "plane" else []
    assert cli.main([command, "--data", mtme, *more]) == 2
    err = capsys.readouterr().err
    assert "Lost, from segment 10: 20 lines fit the reference 1 segment later" in err
    assert "by --exclude Lost" in err
    assert cli.main([command, "--data", mtme, "--exclude", "Lost", *more]) == 0
    assert not re.search(r"^\s*Lost", capsys.readouterr().out, re.MULTILINE)


def test_what_is_left_out_must_be_there(mtme, capsys):
    assert cli.main(["score", "--data", mtme, "--exclude", "Lots"]) == 2
    assert "unknown system 'Lots'; did you mean 'Lost'?" in capsys.readouterr().err


def test_the_oracle_does_without_the_candidates_of_who_is_left_out():
    cands = from_systems(TEST, ["MT", "copy"], distinct=True)
    assert set(cands.without(["copy"]).tags) == {"MT"}
    assert cands.without([]) is cands


@pytest.mark.real
def test_wmt24_is_compared_with_its_standard_reference(real_data, capsys):
    assert cli.main(["score", "--data", "wmt24/en-de", "-m", "chrf"]) == 0
    scores, err = table(capsys)
    assert "compared with the reference refB." in err
    assert scores["refA"] < 100
    assert len(scores) == 27
