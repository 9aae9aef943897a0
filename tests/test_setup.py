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


def conda(name: str) -> tuple[list[str], list[str]]:
    """The packages of a conda file, and what pip installs beside them."""
    environment = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    (pip,) = (d["pip"] for d in environment["dependencies"] if isinstance(d, dict))
    return [d for d in environment["dependencies"] if isinstance(d, str)], pip


def test_conda_makes_the_environment_of_a_class_or_the_full_one():
    python, tool = conda("environment.yml")[0]
    assert (python, tool) == ("python=3.11", "pip")
    assert PROJECT["requires-python"] == ">=3.11"
    assert conda("environment.yml")[1] == ["-c constraints.txt", "-e .[notebooks,theory]"]
    extras = ",".join(PROJECT["optional-dependencies"])
    packages, pip = conda("environment-full.yml")
    assert any(one.startswith("pytorch-cpu") for one in packages)
    assert pip == [f"-e .[{extras}]"]
    assert f"EXTRAS := {extras}\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_core_needs_no_torch():
    assert not {"torch", "transformers", "unbabel-comet"} & {
        re.split(r"[<>=!~ ;\[]", r)[0] for r in PROJECT["dependencies"]
    }
