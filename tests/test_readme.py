"""What the README promises is there."""

import re
from pathlib import Path

import pytest

from anhelpers import cli
from anhelpers.notebooks import notebook_paths

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_every_link_leads_somewhere(link):
    assert (ROOT / link).exists()


def test_every_notebook_stands_in_the_table():
    listed = set(re.findall(r"\[`(\w+)`\]\(notebooks/\w+\.ipynb\)", README))
    assert listed == {p.stem for p in notebook_paths()}


@pytest.mark.parametrize("line", re.findall(r"^anhelpers [a-z].*$", README, re.MULTILINE))
def test_every_command_line_parses(line):
    words = line.split("#")[0].split(">")[0].split()
    assert cli._parser().parse_args(words[1:]).command == words[1]
