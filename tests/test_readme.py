"""What the README promises is there."""

import re
from pathlib import Path

import pytest

from anhelpers import cli
from anhelpers.notebooks import about, notebook_paths

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_every_link_leads_somewhere(link):
    assert (ROOT / link).exists()


def test_every_notebook_stands_in_the_table_with_what_its_first_cell_says():
    rows = re.findall(
        r"^\| \[`(\w+)`\]\(notebooks/(\w+)\.ipynb\) \| [^|]+ \| (\d+) \| (.+?) \| [^|]+ \|$",
        README,
        re.MULTILINE,
    )
    told = [about(path) for path in notebook_paths()]
    assert rows == [(one.name, one.name, str(one.minutes), one.question) for one in told]


@pytest.mark.parametrize("line", re.findall(r"^anhelpers [a-z].*$", README, re.MULTILINE))
def test_every_command_line_parses(line):
    words = line.split("#")[0].split(">")[0].split()
    assert cli._parser().parse_args(words[1:]).command == words[1]
