"""Odd values, closed streams, broken addresses and missing libraries end in one sentence, never in a defect."""

import argparse
import ast
import base64
import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import nbformat
import numpy as np
import pytest
from anhelpers.data.manifest import RemoteFile

import anhelpers
from anhelpers import checks, cli, errors, notebooks, progress
from anhelpers.cli import mqm, typed
from anhelpers.cli.stopping import Terminated
from anhelpers.data import fetch as downloading
from anhelpers.data.fetch import fetch_data
from anhelpers.errors import (
    EXTRA_OF,
    AnhelpersError,
    DataError,
    MissingExtra,
    install_line,
    need,
    one_line,
)
from anhelpers.intervals import bootstrap_means
from anhelpers.metrics import Metric
from anhelpers.provenance import MAKING, making
from tests.hostile.good import fill

SECRET = "s3cret"
XMI = ["xmi", "--mt-logprobs", "mt.txt", "--lm-logprobs", "lm.txt"]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return fill(tmp_path_factory.mktemp("here"))


@pytest.fixture
def ran(here, monkeypatch, capsys):
    """Run a command in the folder of valid files: exit status, standard output, standard error."""
    monkeypatch.chdir(here)
    monkeypatch.delenv("ANHELPERS_DATA", raising=False)

    def run(*argv):
        try:
            status = cli.main(list(argv))
        except SystemExit as stop:
            status = stop.code
        return status, *capsys.readouterr()

    return run


# -- odd values of every option ----------------------------------------------------------------------------------------

ODD = [
    "",
    " ",
    "-1",
    "0",
    "100000000000",
    "9" * 400,
    "1" * 5000,
    "nan",
    "-inf",
    "1e400",
    "a\nb",
    "a\0b",
    "\ud800",
    "\udcff",
    "wmt",
    "src.txt/x",
    "~nosuchuser/x.csv",
    "/dev/null",
    "x" * 5000,
    "=",
    "a=",
    "{1,2}",
    "%s",
    "[",
    "@",
    "meta",
]
BASES = {
    # ends where metrics are looked up
    "score": ["-s", "src.txt", "-r", "ref.txt", "-t", "A.txt", "-m", "nosuch"],
    "mqm": ["mqm.tsv"],
    "xmi": XMI[1:],
    "curve": ["cands.txt", "-k", "2", "-s", "src.txt", "-r", "ref.txt", "-m", "nosuch"],
    "judge": ["--data", "nosuch"],
    "data": [],
    "fetch": ["--offline"],
    "store": ["--store", "scores.sqlite"],
    "site": [],
    "train-lm": ["src.txt", "model"],
    "train-critic": ["src.txt", "ref.txt", "model"],
    "train-xmi": ["runs.csv", "--toy", "nosuch"],
    "run": ["nosuch"],
}


def odd_lines():
    """Every option of every command with every odd value."""
    commands = next(
        a for a in cli._parser()._actions if isinstance(a, argparse._SubParsersAction)
    ).choices
    for command, base in BASES.items():
        for action in commands[command]._actions:
            if isinstance(
                action,
                (argparse._HelpAction, argparse._StoreTrueAction, argparse._SubParsersAction),
            ):
                continue
            name = action.option_strings[-1] if action.option_strings else None
            for odd in ODD:
                if name is None:
                    yield command, [command, odd, *base[1:]]
                elif action.nargs is None and name.startswith("--"):
                    yield command, [command, *base, f"{name}={odd}"]
                else:
                    yield (
                        command,
                        [command, *base, name, *(["n"] if action.nargs == 2 else []), odd],
                    )


@pytest.mark.parametrize("command", BASES)
def test_no_odd_value_of_an_option_is_a_defect(ran, command):
    lines = [line for name, line in odd_lines() if name == command]
    assert len(lines) >= len(ODD)
    for line in lines:
        status, _, err = ran(*line)
        assert status in (0, 2), (line, err)
        assert status == 0 or re.match(r"(usage:|note: |anhelpers )", err), (line, err)


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--draws", "100000000000", "--draws is 100000000000; it must be at most 10000000"),
        ("--draws", "9" * 400, "it must be at most"),
        ("--draws", "1", "at least 2"),
        ("--seed", "9" * 400, "at most"),
        ("--docs", "", "--docs is empty; give a value, or leave it out"),
        ("-o", "", "--output is empty"),
    ],
)
def test_a_number_out_of_range_and_an_empty_option_are_told(ran, option, value, says):
    status, out, err = ran(*XMI, option, value)
    assert (status, out) == (2, "")
    assert says in err


def test_every_number_that_a_command_takes_has_a_range_or_is_checked_where_it_is_used():
    commands = next(
        a for a in cli._parser()._actions if isinstance(a, argparse._SubParsersAction)
    ).choices
    numbers = {a.dest for parser in commands.values() for a in parser._actions if a.type is int}
    assert numbers - set(typed.RANGES) == {"k", "jobs", "max_tokens", "segments", "candidates"}


def test_resamples_that_do_not_fit_into_memory_are_refused_before_they_are_drawn():
    rng, x = np.random.default_rng(0), np.arange(200_000.0)
    with pytest.raises(DataError, match=r"10,000,000 resamples of 1,000 .* at most [\d,]+ do"):
        bootstrap_means(x, np.arange(len(x)), rng, checks.MOST_DRAWS)
    for n_draws in (10**11, 0, -1, 0.5, np.nan, np.inf, "7", True, None):
        with pytest.raises(DataError, match="n_draws must be a whole number from 1 to 10000000"):
            bootstrap_means(x[:3], [0, 1, 2], rng, n_draws)
    assert bootstrap_means(x[:3], [0, 1, 2], rng, 50.0).draws.shape == (50, 1)


@pytest.mark.parametrize("command", ["plane", "judge", "bias"])
def test_resamples_that_do_not_fit_are_refused_before_any_text_is_scored(ran, monkeypatch, command):
    def scored(*args):
        raise AssertionError("a text was scored")

    monkeypatch.setattr(Metric, "oriented", scored)
    monkeypatch.setattr(os, "sysconf", lambda name: 1000)  # a machine with a million bytes
    status, _, err = ran(command, "--data", "teaching", "--draws", "999999")
    assert status == 2
    assert re.search(r"999,999 resamples of \d+ .* fit into the memory .*: take fewer draws", err)


@pytest.mark.parametrize(
    ("stop", "status"), [(KeyboardInterrupt, 130), (Terminated, 143), (None, 70)]
)
@pytest.mark.parametrize("inner", [False, True])
def test_a_compiled_loop_that_is_stopped_is_no_defect(ran, monkeypatch, stop, status, inner):
    """Stopped in what it calls, numba says it twice."""

    def fails(args):
        try:
            raise SystemError("_numba_unpickle returned a result with an exception set") from stop
        except SystemError as error:
            cause = error if inner else stop
        raise SystemError("CPUDispatcher returned a result with an exception set") from cause

    monkeypatch.setattr(mqm, "run", fails)
    found, _, err = ran("mqm", "mqm.tsv")
    assert found == status
    assert ("unexpected SystemError" in err) == (stop is None)


def test_memory_that_runs_out_is_no_defect(ran, monkeypatch):
    def fails(args):
        raise MemoryError("Unable to allocate 2.18 TiB")

    monkeypatch.setattr(mqm, "run", fails)
    status, out, err = ran("mqm", "mqm.tsv")
    assert (status, out) == (2, "")
    assert "memory ran out (Unable to allocate 2.18 TiB); close other programs" in err


# -- parameters of notebooks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["{1,2}", "1+2j", "b'x'", "...", "{1: 2}", "{1,2", "-" * 100_000 + "1", "[" * 5000, "1" * 5000],
)
def test_what_is_no_parameter_is_a_text(text):
    assert notebooks.parse_value(text) == text


def test_values_become_what_papermill_writes_as_they_are():
    assert notebooks.parse_value("('chrf', 'bleu')") == ["chrf", "bleu"]
    assert notebooks.parse_value("{'en-de': ('a', 2)}") == {"en-de": ["a", 2]}


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("n_draws", "many", "whole number"),
        ("n_draws", "1e11", "whole number from 0 to 10000000"),
        ("seed", "-1", "whole"),
        ("n_draws", "1+2j", "whole number"),
        ("data", "5", "a text is wanted"),
        ("data", "\udcff", "cannot be written"),
        ("max_blank_share", "nan", "a number is wanted"),
        ("max_blank_share", "all", "a number is wanted"),
    ],
)
def test_a_parameter_of_another_kind_is_refused_before_any_notebook_runs(ran, name, value, says):
    pytest.importorskip("papermill")
    status, out, err = ran("run", "an_5_2_systems", "-p", name, value, "--out", "built")
    assert (status, out) == (2, "")
    assert says in err
    assert not Path("built").exists()


def test_a_parameter_of_the_right_kind_is_passed_on():
    pytest.importorskip("papermill")
    (path,) = notebooks.notebook_paths(["an_5_2_systems"])
    given = {
        "n_draws": 50.0,
        "data": "{1,2}",
        "mine": ("a.txt",),
        "lp": None,
        "lm": None,
        "seed": np.int64(7),
    }
    wanted = {"n_draws": 50, "data": "{1,2}", "mine": ["a.txt"], "lp": None, "lm": None, "seed": 7}
    assert notebooks.check_parameters([path], given)[path] == wanted
    with pytest.raises(DataError, match=r"parameter mine: \{1\} \(set\) is no text"):
        notebooks.check_parameters([path], {"mine": {1}})


# -- streams -----------------------------------------------------------------------------------------------------------


def shell(here, line, **environment):
    """A command line of sh in that folder, with `AN` for the program: exit status, output, error (as bytes)."""
    line = line.replace("AN ", f"'{sys.executable}' -m anhelpers ")
    variables = {
        **os.environ,
        "PYTHONPATH": str(Path(anhelpers.__file__).parents[1]),
        **environment,
    }
    done = subprocess.run(["sh", "-c", line], cwd=here, env=variables, capture_output=True)
    return done.returncode, done.stdout, done.stderr


TABLE = " ".join(["AN", *XMI])


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (f"{TABLE} -o closed.csv >&-", 0),
        (f"{TABLE} -o closed.csv >&- 2>&- <&-", 0),
        (f"{TABLE} >&-", 2),
        (f"{TABLE} >&- 2>&-", 2),
        ("AN check >&-", 2),
        ("AN mqm nosuch 2>&-", 2),
        ("AN mqm nosuch 2>/dev/full", 2),
    ],
)
def test_closed_streams(here, line, status):
    (here / "closed.csv").unlink(missing_ok=True)
    ended, out, err = shell(here, line)
    assert (ended, out) == (status, b""), err
    assert b"Traceback" not in err
    assert (here / "closed.csv").exists() == ("closed.csv" in line)
    if status and "2>" not in line:
        assert b"standard output is closed" in err


@pytest.mark.notebook
@pytest.mark.parametrize("streams", [">&-", ">&- 2>&- <&-"])
def test_a_notebook_runs_where_nobody_reads(here, streams):
    """A kernel has the streams of its command, and takes them apart."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print(6 * 7)")])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(book, here / "small.ipynb")
    status, _, err = shell(here, f"AN run small.ipynb --out read-by-nobody {streams}")
    assert status == 0, err
    assert "42" in (here / "read-by-nobody" / "small.html").read_text()


@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full", "<&-"])
def test_a_table_is_the_same_and_whole_where_nobody_reads_the_notes(here, streams):
    wanted = shell(here, TABLE)
    assert wanted[1].startswith(b"direction,")
    assert b"note: " in wanted[2]
    assert shell(here, f"{TABLE} {streams}")[:2] == wanted[:2]


def test_tables_are_utf8_whatever_the_encoding_of_the_stream(here):
    wanted = shell(here, f"{TABLE} --name größe→β", PYTHONUTF8="1")
    assert "größe→β".encode() in wanted[1]
    assert shell(here, f"{TABLE} --name größe→β", PYTHONIOENCODING="ascii")[:2] == wanted[:2]


def test_a_note_goes_nowhere_rather_than_into_a_table(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", None)
    progress.note("a note")
    with progress.progress(3, "counting") as step:
        step(3)
    assert capsys.readouterr().out == ""


# -- models ------------------------------------------------------------------------------------------------------------


@pytest.mark.neural
@pytest.mark.parametrize(
    ("file", "changed", "says"),
    [
        (
            "tokenizer_config.json",
            {"model_max_length": "10"},
            "model_max_length is '10' in tokenizer_config.json",
        ),
        ("tokenizer_config.json", {"model_max_length": [1]}, "a number of tokens is wanted"),
        ("config.json", {"layer_norm_epsilon": "10"}, "cannot be used.*TypeError"),
        ("generation_config.json", {"bad_words_ids": [5]}, "a list of lists of token ids"),
        ("generation_config.json", {"bad_words_ids": [["x"]]}, "a list of lists of token ids"),
        ("facts.json", {"language": 5}, '"language" is 5, and a code such as "de" is wanted'),
        ("facts.json", {"language": ["de"]}, "a code such as"),
        ("facts.json", {"language": "de\nx"}, "is no known language code"),
    ],
)
def test_a_models_settings_of_another_type(tiny_lm, tmp_path, file, changed, says):
    from anhelpers.naturalness.lm import load_lm

    folder = shutil.copytree(tiny_lm, tmp_path / "model")
    path = folder / file
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    path.write_text(json.dumps(kept | changed), encoding="utf-8")
    with pytest.raises(AnhelpersError, match=says):
        load_lm(folder)


@pytest.mark.neural
@pytest.mark.parametrize(
    "changed",
    [{"decoder_start_token_id": -1}, {"dropout": "10"}, {"decoder_attention_heads": -1}],
    ids=str,
)
def test_a_translation_models_settings_that_do_not_fit(tiny_marian, tmp_path, changed):
    from anhelpers.translation import load_mt

    folder = shutil.copytree(tiny_marian / "mt", tmp_path / "model")
    settings = json.loads((folder / "config.json").read_text(encoding="utf-8")) | changed
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(AnhelpersError, match="the translation model model c"):
        load_mt(folder, device="cpu")


@pytest.mark.neural
@pytest.mark.parametrize(
    "name", ["meta", "cpu:7", "", "nonsense", "mkldnn", "xla", "cuda:-1", "cuda:99"]
)
def test_a_device_that_computes_nothing_here(name):
    pytest.importorskip("torch")
    from anhelpers import hub

    with pytest.raises(DataError, match=f"there is no device '{name}' here; there is cpu"):
        hub.device(name)
    assert hub.device("cpu") == "cpu"


# -- addresses with a password -----------------------------------------------------------------------------------------

BROKEN = [
    "http://me:s3cret@[bad/x",
    "http://me:s3cret@localhost:99999",
    "http://me:s3/cret@127.0.0.1",
    "ftp://me:s3cret@host",
    "me:s3cret@host",
    "http://:s3cret@",
    "http://me:s3cret@host:port",
    "http://me:s3 cret@host",
    "http://a..b",
    f"http://{'a' * 70}.org",
    "http://me:s3cret@host/?x#y",
    "http://me:s3cret@host:0",
    "http://",
    "x",
]


@pytest.mark.parametrize("mirror", BROKEN)
def test_a_broken_mirror_is_told_without_its_password(ran, monkeypatch, mirror):
    monkeypatch.setenv("ANHELPERS_MIRROR", mirror)
    status, out, err = ran("fetch", "xmi")
    assert (status, out) == (2, "")
    assert err.startswith("anhelpers fetch: ANHELPERS_MIRROR is '")
    assert not re.search("s3|cret", err)


def row():
    return RemoteFile("xmi", "a.txt", "o/r", "c" * 40, "a.txt", 3, "0" * 40, "", "CC0")


@pytest.fixture
def asked(monkeypatch):
    """The requests that were made, none of which is answered."""
    requests = []

    def refuse(request, timeout):
        requests.append(request)
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(downloading, "urlopen", refuse)
    return requests


def test_user_and_password_are_told_to_the_mirror_alone(asked, tmp_path):
    said, patience = [], downloading.Patience(attempts=1)
    url = "http://me:s%403cret@example.org:8080/ä%20b".replace("ä", "%C3%A4")
    with pytest.raises(AnhelpersError) as told:
        downloading.download(url, tmp_path / "a", row(), say=said.append, patience=patience)
    (request,) = asked
    assert request.full_url == "http://example.org:8080/%C3%A4%20b"
    assert (
        request.unredirected_hdrs["Authorization"]
        == f"Basic {base64.b64encode(b'me:s@3cret').decode()}"
    )
    assert "Authorization" not in request.headers
    assert "3cret" not in f"{told.value}{said}"
    assert "no network reaches example.org:8080" in str(told.value)


def test_a_mirror_with_a_password_is_one(asked, tmp_path, monkeypatch):
    monkeypatch.setenv("ANHELPERS_CACHE", str(tmp_path))
    monkeypatch.delenv("ANHELPERS_DATA", raising=False)
    with pytest.raises(AnhelpersError, match=r"no network reaches bücher\.example"):
        fetch_data(
            "xmi", base=f"https://me:{SECRET}@bücher.example/ä b/".replace(" ", "%20"), say=list
        )
    assert asked[0].full_url.startswith("https://xn--bcher-kva.example/%C3%A4%20b/")


def test_passwords_of_addresses_stand_nowhere(capsys):
    address = f"https://me:{SECRET}@example.org/x"
    assert one_line(f"no {address}") == "no https://…@example.org/x"
    progress.note(f"tried {address}")
    assert SECRET not in capsys.readouterr().err
    with making({"command": "run", "parameter": [address, f"http://me:{SECRET}@example.org"]}):
        assert SECRET not in os.environ[MAKING]
    assert (
        one_line("a mail to me@example.org, or owner/model@main")
        == "a mail to me@example.org, or owner/model@main"
    )


@pytest.mark.parametrize("error", [ValueError("Invalid IPv6 URL"), UnicodeError("label too long")])
def test_an_address_that_only_the_connection_finds_broken(monkeypatch, tmp_path, error):
    def fails(request, timeout):
        raise error

    monkeypatch.setattr(downloading, "urlopen", fails)
    with pytest.raises(AnhelpersError, match=r"or of a proxy .* is none; mend it"):
        downloading.download(
            "http://a.org/x", tmp_path / "a", row(), say=list, patience=downloading.Patience()
        )


# -- places ------------------------------------------------------------------------------------------------------------


NOWHERE = [
    {"ANHELPERS_CACHE": "src.txt"},
    {"ANHELPERS_CACHE": "src.txt/below"},
    {"ANHELPERS_CACHE": "~nosuchuser"},
    {"HOME": None, "ANHELPERS_CACHE": None},
    {"HOME": "", "ANHELPERS_CACHE": None},
    {"HOME": "src.txt", "ANHELPERS_CACHE": None},
    {"ANHELPERS_DATA": "~nosuchuser"},
    {"ANHELPERS_DATA": "src.txt"},
    {"ANHELPERS_STORE": "~nosuchuser/x"},
    {"ANHELPERS_STORE": "src.txt"},
    {"ANHELPERS_STORE": "wmt"},
]


@pytest.mark.parametrize("variables", NOWHERE, ids=str)
@pytest.mark.parametrize(
    "command", ["fetch xmi --offline", "data", "data xmi", "check", "store", "mqm mqm.tsv"]
)
def test_variables_that_name_no_place(ran, monkeypatch, variables, command):
    for name, value in variables.items():
        monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(
            name, value
        )
    status, _, err = ran(*command.split())
    assert status in (0, 2)
    assert command not in ("check", "mqm mqm.tsv") or status == 0, err


def test_a_home_that_nobody_knows_is_no_reason_for_a_check_to_fail(ran, monkeypatch):
    def unknown():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("ANHELPERS_CACHE", raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    assert ran("check")[0] == 0
    status, _, err = ran("fetch", "xmi", "--offline")
    assert status == 2
    assert "set ANHELPERS_CACHE" in err


# -- what is not installed ---------------------------------------------------------------------------------------------

PACKAGE = Path(anhelpers.__file__).parent
OF_CORE = {  # library -> the requirement of the core that brings it
    "numpy": "numpy",
    "pandas": "pandas",
    "scipy": "scipy",
    "numba": "numba",
    "sacrebleu": "sacrebleu",
    "altair": "altair",
    "vl_convert": "vl-convert-python",
    "anywidget": "anywidget",
    "ipywidgets": "anywidget",
    "traitlets": "anywidget",
    "jinja2": "altair",
    "comm": "anywidget",
    "tqdm": "tqdm",
    "pyarrow": "pyarrow",
    "zstandard": "zstandard",
    "py3langid": "py3langid",
    "lxml": "sacrebleu",
    "IPython": "anywidget",
}


def libraries(tree):
    """The libraries outside Python's own that a module imports, or needs by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.split(".")[0]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "need":
            yield from (a.value.split(".")[0] for a in node.args[:1] if isinstance(a, ast.Constant))
        elif (
            isinstance(node, (ast.GeneratorExp, ast.ListComp))
            and getattr(getattr(node.elt, "func", None), "id", "") == "need"
        ):
            yield from (
                one.value.split(".")[0]
                for one in ast.walk(node.generators[0].iter)
                if isinstance(one, ast.Constant)
            )


def test_every_library_comes_with_the_core_or_with_a_named_extra():
    sources = PACKAGE.rglob("*.py")
    found = {
        name for path in sources for name in libraries(ast.parse(path.read_text(encoding="utf-8")))
    }
    found -= set(sys.stdlib_module_names)
    assert found == set(OF_CORE) | set(EXTRA_OF)
    project = (PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f'"{requirement}>=' in project for requirement in OF_CORE.values())
    assert all(re.search(rf"^{extra} = \[", project, re.M) for extra in EXTRA_OF.values())


@pytest.mark.parametrize("library", EXTRA_OF)
def test_a_missing_library_is_told_by_its_extra_and_a_line_that_works(monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra) as told:
        need(library, "this")
    assert (
        f"it comes with the extra '{EXTRA_OF[library]}': {install_line(EXTRA_OF[library])}"
        in str(told.value)
    )


def test_a_library_that_is_half_there_is_told_like_a_missing_one(monkeypatch):
    def fails(name):
        raise OSError("libtorch.so: cannot open shared object file")

    monkeypatch.setattr(errors.importlib, "import_module", fails)
    with pytest.raises(MissingExtra, match=r"libtorch.so.*extra 'neural'"):
        need("torch", "this")


class Installed:
    """The metadata of an installed package."""

    requires = (
        "numpy>=1.26",
        'torch>=2.4; extra == "neural"',
        "setuptools<81; extra == 'neural'",
        'cvxpy>=1.5; extra == "theory"',
    )

    def __init__(self, direct):
        self.direct = direct

    def read_text(self, name):
        return self.direct if name == "direct_url.json" else None


def test_the_line_of_an_installed_package_names_where_it_came_from(monkeypatch, tmp_path):
    """A wheel or folder that is still there, a repository, or the extra's own libraries; never an index."""
    package = tmp_path / "lib" / "anhelpers"
    wheel = tmp_path / "a b" / "anhelpers-1-py3-none-any.whl"
    (package / "_bundle").mkdir(parents=True)
    (package / "_bundle" / "constraints.txt").touch()
    monkeypatch.setattr(errors, "__file__", str(package / "errors.py"))

    def line(direct, extra="neural"):
        monkeypatch.setattr(errors, "distribution", lambda name: Installed(direct))
        return install_line(extra)

    begins = f"{sys.executable} -m pip install -c {package}/_bundle/constraints.txt "
    libraries = f"{begins}'torch>=2.4' 'setuptools<81'"
    assert (
        line(None) == line("no json") == line("[]") == line('{"url": "http://[bad"}') == libraries
    )
    assert line(None, "") == f"{begins}'numpy>=1.26'"
    direct = f'{{"url": "{wheel.as_uri()}", "archive_info": {{}}}}'
    assert line(direct) == libraries  # the wheel is gone
    wheel.parent.mkdir()
    wheel.touch()
    assert line(direct) == f"{begins}'anhelpers[neural] @ {wheel.as_uri()}'"
    git = '{"url": "https://example.org/r.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}}'
    assert line(git) == f"{begins}'anhelpers[neural] @ git+https://example.org/r.git@abc'"


def test_the_line_of_a_checkout_names_it():
    checkout = PACKAGE.parent
    if not (checkout / "pyproject.toml").is_file():
        pytest.skip("installed from a wheel")
    assert install_line("theory").endswith(f"-c {checkout}/constraints.txt -e '{checkout}[theory]'")


def test_the_extras_of_the_metadata_are_those_of_the_messages():
    try:
        listed = requires("anhelpers") or []
    except ModuleNotFoundError:
        pytest.skip("not installed")
    assert {f'extra == "{extra}"' for extra in EXTRA_OF.values()} <= {
        line.partition(";")[2].strip().replace("'", '"') for line in listed
    }


def test_a_device_of_no_kind_is_told_where_no_model_runs(capsys):
    call = "plane --data teaching -m chrf --naturalness critic --device banana --out nowhere"
    assert cli.main(call.split()) == 2
    assert "there is no device 'banana' here; there is cpu" in capsys.readouterr().err
    assert not Path("nowhere").exists()
