"""The ways to install agree: pyproject, constraints, conda environment, Makefile."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINS = dict(
    line.split("==")
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    if not line.startswith("#")
)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements():
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    return sorted({re.split(r"[<>=!~ ;\[]", r)[0] for group in groups for r in group})


@pytest.mark.parametrize("name", requirements())
def test_every_requirement_is_pinned(name):
    assert normal(name) in {normal(pin) for pin in PINS} or name == "setuptools"


def test_the_conda_environment_installs_the_same_pins_and_extras():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    (pip,) = (d["pip"] for d in environment["dependencies"] if isinstance(d, dict))
    extras = ",".join(PROJECT["optional-dependencies"])
    assert pip == ["-c constraints.txt", f"-e .[{extras}]"]
    assert f"EXTRAS := {extras}\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
    python = next(d for d in environment["dependencies"] if str(d).startswith("python="))
    assert tuple(map(int, python.split("=")[1].split("."))) >= (3, 11)
    assert PROJECT["requires-python"] == ">=3.11"
    assert "pip" in environment["dependencies"]


def test_torch_is_pinned_exactly():
    assert PINS["torch"] == "2.13.0"


def test_the_core_needs_no_torch():
    assert not {"torch", "transformers", "unbabel-comet"} & {
        re.split(r"[<>=!~ ;\[]", r)[0] for r in PROJECT["dependencies"]
    }
