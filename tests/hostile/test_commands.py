"""A command that cannot do what was asked ends with one sentence, another status than 0, and nothing written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from anhelpers import cli
from anhelpers.cli import mqm
from anhelpers.data import lines

from .bad import ALL, damaged
from .good import FORMATS, TEXTS
from .test_readers import sentence


@pytest.fixture(autouse=True)
def inside(here, monkeypatch):
    monkeypatch.chdir(here)
    monkeypatch.delenv("ANHELPERS_DATA", raising=False)
    monkeypatch.setattr(lines, "PIPE_SECONDS", 0.05)


def seen(folder: Path) -> dict[str, tuple[int, int]]:
    """All that a folder holds, with its size and its last change; a store's log comes and goes with a connection."""
    files = (
        Path(at, name) for at, folders, names in os.walk(folder) for name in (*folders, *names)
    )
    kept = ((path, path.lstat()) for path in files if not path.name.endswith(("-wal", "-shm")))
    return {str(path): (told.st_size, told.st_mtime_ns) for path, told in kept}


def typed(command: str, capsys) -> tuple[int, str, str]:
    """Exit status, standard output, standard error."""
    try:
        status = cli.main(command.split(" "))
    except SystemExit as stop:
        status = stop.code
    out, err = capsys.readouterr()
    return status, out, err


EVERY_COMMAND = {"missing", "a web page", "Latin-1", "empty"}
"""Kinds of damage that every command of a format meets; the others meet the first one."""

SOME = set(ALL[::5])

CASES = [
    (bad, command)
    for bad in ALL
    for k, command in enumerate(FORMATS[bad.file].commands)
    if bad.name in EVERY_COMMAND or (k == 0 and bad in SOME)
]


@pytest.mark.parametrize(("bad", "command"), CASES, ids=lambda value: str(value)[:80])
def test_a_command_says_it_in_one_sentence_and_writes_nothing(good, here, capsys, bad, command):
    with damaged(bad, good, here):
        before = seen(here)
        status, out, err = typed(command, capsys)
        assert status == 2, (status, err)
        *notes, said = err.rstrip("\n").split("\n")
        assert said.startswith(f"anhelpers {command.split(' ')[0]}: ")
        sentence(said)
        assert all(note.startswith("note: ") for note in notes), notes
        assert out == ""
        assert seen(here) == before


ARGUMENTS = {  # what is typed -> what the message says
    "score": "texts are wanted",
    "score -s src.txt": "texts are wanted",
    "score --data teaching -s src.txt -t A.txt": "leave out -s and -t",
    "score -s src.txt -r ref.txt -t A.txt -m chfr": "did you mean",
    "score -s src.txt -t A.txt -m chrf": "reference",
    "score -s src.txt -r ref.txt -t A.txt -l german": "language pair",
    "score -s src.txt -r ref.txt -t A.txt A.txt": "given twice",
    "score --data wmt23/xx-yy": "neither a known",
    "score --data teaching -l en-fr": "language pair",
    "score -s src.txt -r ref.txt -t A.txt -o out.txt": "csv",
    "score -s src.txt -r ref.txt -t A.txt -o wmt": "csv",
    "score --data self.jsonl": "no system outputs",
    "score --data self.jsonl --segments": "no system outputs",
    "plane --data self.jsonl": "no system outputs",
    "score -s src.txt -r ref.txt -t A.txt -o src.txt/out.csv": "a folder is wanted",
    "score -s src.txt -r ref.txt -t A.txt --mme src.txt": "folder",
    "score -s src.txt -r ref.txt -t A.txt --scheduler moon": "local:N",
    "score -s src.txt -r ref.txt -t A.txt --system-logprobs A=logprobs.txt": "--lm",
    "score -s src.txt -r ref.txt -t A.txt --level most": "invalid choice",
    "score -s src.txt -r ref.txt -t mqm.tsv": "lines",
    "score --nonsense": "unrecognized|arguments",
    "nonsense": "invalid choice",
    "": "invalid choice|COMMAND",
    "plane": "one of the two",
    "plane -s src.txt --data wmt": "one of the two",
    "plane -s src.txt -t A.txt": "references",
    "plane -s src.txt -r ref.txt": "outputs",
    "plane --data wmt --draws 0 -o out": "--draws",
    "plane --data wmt --draws -5 -o out": "--draws",
    "plane --data wmt --draws x": "invalid int",
    "plane --data wmt --seed -1 -o out": "seed",
    "plane --data wmt --against Z -o out": "unknown system|Z",
    "plane --data wmt -o src.txt": "folder",
    "plane --data wmt -o src.txt/x": "folder",
    "plane --data wmt --naturalness beauty -o out": "beauty",
    "plane --data wmt --mine A.txt": "already",
    "curve missing.jsonl": "neither",
    "curve cands.jsonl": "no sources",
    "curve cands.txt -k 0 -s src.txt -r ref.txt": "0 lines for each source",
    "curve cands.txt -k -2 -s src.txt -r ref.txt": "-2 lines for each source",
    "curve cands.txt -s src.txt -r ref.txt": "k is None|how many",
    "curve cands.txt -k 5 -s src.txt": "lines",
    "curve self.jsonl --html self.jsonl": "input",
    "curve self.jsonl -o self.jsonl": "input|csv",
    "curve self.jsonl --html wmt": "folder",
    "curve self.jsonl -l en-fr": "lp",
    "plane --data wmt -t A.txt": "leave out -t .*--mine",
    "plane --data wmt -r ref.txt --docs docs.txt": "leave out -r and --docs",
    "curve wmt -s src.txt -r ref.txt -k 2": "leave out -s and -r and -k",
    "curve self.jsonl -r ref.txt": "leave out -r",
    "curve self.jsonl -k 2": "leave out -k",
    "curve wmt -l en-fr": "language pair|en-fr",
    "train-lm src.txt wmt --lang de": "other things in it",
    "train-lm src.txt model --lang de --epochs 0": "at least 1",
    "curve self.jsonl -m chfr": "did you mean",
    "mqm missing.tsv": "no such file",
    "mqm mqm.tsv mqm.tsv": "also",
    "mqm mqm.tsv --scheme nosuch": "unknown",
    "mqm mqm.tsv --weights nosuch": "unknown",
    "mqm mqm.csv -o mqm.csv": "input",
    "mqm mqm.tsv --scheme scheme.csv -o scheme.csv": "input",
    "mqm mqm.tsv --seed -1": "seed",
    "mqm mqm.tsv --by planet": "invalid choice",
    "judge --data nosuch": "neither a known data set",
    "judge --data wmt --judge beauty": "unknown judge",
    "judge --data wmt --judge ttr": "whole corpus",
    "judge --data wmt --judge rated-naturalness": "no ratings",
    "judge --data wmt --judge critic:missing": "no such folder",
    "judge --data wmt --judge compression -m beauty": "beauty",
    "judge --data wmt --judge compression -o out.json": "csv",
    "judge --data self.jsonl --judge compression -o self.jsonl": "csv|input",
    "xmi": "scores are wanted",
    "xmi --mt-logprobs mt.txt": "as well",
    "xmi --mt-logprobs mt.txt --lm-logprobs lm.txt --draws 1": "at least 2",
    "xmi --mt-logprobs mt.txt --lm-logprobs lm.txt --vocab 1": "at least 2",
    "xmi --mt-logprobs mt.txt --lm-logprobs lm.txt --mt x": "give one",
    "xmi --mt-logprobs mt.txt --lm-logprobs lm.txt --seed -1": "at least 0",
    "xmi --mt-logprobs mt.txt --lm-logprobs lm.txt -o out.json": "csv",
    "xmi --mt-logprobs mt.txt --lm-logprobs lm.txt --unit dB": "invalid choice",
    "xmi --mt-logprobs mt.jsonl --lm-logprobs lm.txt --per-char": "-t TGT",
    "data nosuch": "unknown data set",
    "fetch nosuch": "unknown",
    "fetch wmt24/en-de --offline": "offline|not here|missing|not downloaded",
    "run nosuch": "unknown notebook",
    "run book.ipynb -p x 1": "unknown parameter",
    "run book.ipynb -p x": "expected 2",
    "run book.ipynb --jobs 0": "at least 1",
    "run book.ipynb --jobs -1": "at least 1",
    "run book.ipynb --out src.txt": "folder",
    "run book.ipynb --out .": "replace|input",
    "run src.txt": "unknown notebook",
    "site --built wmt --out out": "is not there",
    "site --built wmt --out src.txt": "folder|file",
    "train-lm missing.txt model": "no such file",
    "train-lm src.txt ref.txt --lang de": "ref.txt",
    "train-lm src.txt model": "--lang CODE",
    "train-lm src.txt model --lang qq": "no known language code",
    "train-lm src.txt model --lang de --size big": "unknown size",
    "train-lm src.txt model --lang de --vocab 9": "at least 259",
    "store --store nosuch.sqlite": "no scores",
    "store --store off": "off",
    "train-critic missing.txt ref.txt model --lang de": "no such file",
    "train-critic src.txt ref.txt model": "--lang CODE",
    "train-critic src.txt ref.txt model --lang zh": "without spaces",
    "train-critic src.txt src.txt model --lang en": "named twice",
    "train-critic src.txt ref.txt model --lang qq": "no known language code",
    "train-critic src.txt ref.txt model --lang de --words 0": "at least 1",
    "train-critic src.txt ref.txt model --lang de": "at least 200",
    "train-xmi runs.csv": "say what is to be learned",
    "train-xmi runs.csv -s src.txt": "all three",
    "train-xmi runs.csv --toy vogue": "vogue",
    "train-xmi out.txt --toy vague": "csv",
    "train-xmi src.csv -s src.csv -t ref.txt -l en-de": "no such file|input",
    "train-xmi wmt --toy vague": "folder",
    "store --store scores.sqlite prune": "say what",
    "store --store scores.sqlite prune --older-than -1": "number from 0",
    "store --store scores.sqlite prune --older-than nan": "number from 0",
    "store --store scores.sqlite export scores.sqlite": "name a .parquet file",
    "store --store scores.sqlite export out.parquet --signature nosuch": "no scores",
    "store --store scores.sqlite export src.txt/x.parquet": "src.txt",
    "store --store scores.sqlite import src.txt": "parquet",
    "store --store src.txt": "SQLite",
    "store explode": "invalid choice",
}


@pytest.mark.parametrize("command", ARGUMENTS)
def test_wrong_arguments(here, capsys, command):
    before = seen(here)
    status, out, err = typed(command, capsys)
    said = err.rstrip("\n").rpartition("\n")[2]
    assert (status, out) == (2, ""), err
    assert re.search(ARGUMENTS[command], said), said
    assert said.startswith("anhelpers")
    assert "Traceback" not in err
    assert seen(here) == before


@pytest.mark.parametrize(
    "error",
    [TypeError("a\nb"), AssertionError(), RecursionError("deep"), UnicodeError("x"), KeyError("k")],
)
def test_a_defect_is_told_as_one_and_debug_shows_where_it_is(capsys, monkeypatch, error):
    def fails(args):
        raise error

    monkeypatch.setattr(mqm, "run", fails)
    status, out, err = typed("mqm mqm.tsv", capsys)
    assert (status, out) == (70, "")
    assert err.count("\n") == 1
    assert err.startswith(f"anhelpers mqm: unexpected {type(error).__name__}")
    assert "--debug" in err
    for command in ("--debug mqm mqm.tsv", "mqm mqm.tsv --debug"):
        with pytest.raises(type(error)):
            typed(command, capsys)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(28, "No space left on device", "out.csv"), "out.csv: .*No space left"),
        (PermissionError(13, "Permission denied", "out"), "out: .*Permission denied"),
    ],
)
def test_what_the_system_refuses_names_the_file(capsys, monkeypatch, error, says):
    def fails(args):
        raise error

    monkeypatch.setattr(mqm, "run", fails)
    status, _, err = typed("mqm mqm.tsv", capsys)
    assert status == 2
    assert re.fullmatch(f"anhelpers mqm: {says}.*\n", err)


@pytest.mark.parametrize(
    "command", ["mqm missing.tsv", "xmi --mt-logprobs mt.txt --lm-logprobs src.txt", "data nosuch"]
)
def test_as_a_process_of_its_own(here, command):
    before = seen(here)
    done = subprocess.run(
        [sys.executable, "-m", "anhelpers", *command.split()], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert seen(here) == before
    assert done.stderr.startswith(f"anhelpers {command.split()[0]}: ")
    traced = subprocess.run(
        [sys.executable, "-m", "anhelpers", *command.split(), "--debug"],
        capture_output=True,
        text=True,
    )
    assert "Traceback" in traced.stderr


def test_the_tables_are_as_large_as_they_are_said_to_be():
    assert len({(bad.file, bad.name) for bad in ALL}) >= 1000
    assert len(TEXTS) > 40
