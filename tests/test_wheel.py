"""What would be published: the wheel holds all that it needs and nothing else, and works from an empty folder."""

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
import yaml

from anhelpers import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
WITHOUT = {"__pycache__", "tests", "benchmarks", "calibration", "build", "docs", ".git"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built here from the working tree."""
    pytest.importorskip("hatchling", reason="pip install -c constraints.txt -e '.[dev]'")
    folder = tmp_path_factory.mktemp("dist")
    call = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(call, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A function (words, more environment) that runs a program of a fresh environment with the wheel, elsewhere."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    alone = ["--no-deps", "--no-index", str(wheel)]
    subprocess.run([*pip, *alone], check=True, capture_output=True)
    site = next((folder / "venv").glob("lib/python*/site-packages"))
    # their .pth files, as ours, are not read
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    empty = folder / "empty"
    empty.mkdir()
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "ANHELPERS_DATA")
    }

    def run(*words, **more):
        call = [str(folder / "venv" / "bin" / words[0]), *words[1:]]
        done = subprocess.run(call, cwd=empty, env=env | more, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run.folder = empty
    return run


def test_the_wheel_holds_the_package_its_data_and_licences_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    info = f"anhelpers-{__version__}.dist-info/"
    assert {name.split("/")[0] + "/" for name in names} == {"anhelpers/", info}
    glossary = "anhelpers/_bundle/docs/glossary.md"
    assert [name for name in names if WITHOUT & set(name.split("/")[1:])] == [glossary]
    for folder in ("data", "notebooks"):
        files = subprocess.run(
            ["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True
        )
        if files.returncode == 0:
            assert {f"anhelpers/_bundle/{name}" for name in files.stdout.split()} <= set(names)
    for name in (
        "py.typed",
        "_bundle/constraints.txt",
        "_bundle/data/LICENSE",
        "widgets/common.js",
        "__main__.py",
    ):
        assert f"anhelpers/{name}" in names
    assert {f"{info}licenses/LICENSE", f"{info}licenses/data/LICENSE"} <= set(names)
    code = {name for name in names if name.endswith(".py")}
    assert code == {p.relative_to(ROOT).as_posix() for p in (ROOT / "anhelpers").rglob("*.py")}
    assert wheel.stat().st_size < 5_000_000


def test_critics_heads_and_kept_scores_are_small():
    def size(name):
        path = ROOT / "data" / name
        return sum(p.stat().st_size for p in (path, *path.rglob("*")) if p.is_file())

    assert size("critic") + size("native") <= 1_000_000
    assert size("scores.sqlite") <= 2_000_000


def test_the_installed_commands_answer(installed):
    assert installed("anhelpers", "--version") == f"anhelpers {__version__}\n"
    told = installed("anhelpers", "check")
    assert "empty" not in told.splitlines()[0]
    assert str(ROOT) not in installed("python", "-c", "import anhelpers; print(anhelpers.__file__)")
    assert "teaching" in installed("anhelpers", "data")


def test_the_installed_package_scores_files(installed):
    for name, text in {
        "s": "The house is old.\n",
        "r": "Das Haus ist alt.\n",
        "t": "Das Haus war alt.\n",
    }.items():
        (installed.folder / name).write_text(text, encoding="utf-8")
    told = installed("anhelpers", "score", "-s", "s", "-r", "r", "-t", "t", "-m", "ter")
    assert re.search(r"^t,ter,corpus,[\d.]+,", told, re.MULTILINE)


def test_one_version_stands_everywhere():
    assert PROJECT["dynamic"] == ["version"]
    assert CITATION["version"] == __version__
    heads = re.findall(
        r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert heads[0].removesuffix(" (unreleased)") in __version__
    for text in (
        (ROOT / "README.md").read_text(encoding="utf-8"),
        (ROOT / "docs" / "install.md").read_text("utf-8"),
    ):
        assert set(re.findall(r"anhelpers[ -:=]+v?(\d+\.\d+\.\d+)", text)) <= {__version__}
