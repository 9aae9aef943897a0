"""The documentation builds without broken links, has every public name, and its commands parse."""

import re
from pathlib import Path

import pytest

import anhelpers as an
from anhelpers import cli
from docs import build
from docs.reference import names_of

ROOT = Path(__file__).parents[1]
SOURCES = [ROOT / "README.md", ROOT / "UPGRADING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def command_lines():
    """Every command line in README and docs."""
    for path in SOURCES:
        for block in re.findall(r"^```\n(.*?)^```", path.read_text("utf-8"), re.M | re.S):
            for line in re.findall(r"^anhelpers [a-z].*$", block, re.M):
                yield pytest.param(line, id=f"{path.stem}: {line[:60]}")


@pytest.mark.parametrize("line", [*command_lines()])
def test_every_command_line_parses(line):
    words = line.split("#")[0].split(">")[0].split()
    assert cli._parser().parse_args(words[1:]).command == words[1]


def test_every_target_of_make_is_there():
    makefile, text = (
        (ROOT / "Makefile").read_text("utf-8"),
        "\n".join(p.read_text("utf-8") for p in SOURCES),
    )
    for targets in re.findall(r"^make (\w+(?: \w+)*)", text, re.M):
        assert all(re.search(rf"^{one}:", makefile, re.M) for one in targets.split()), targets


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("docs")
    return out, build.build(out)


def test_every_markdown_file_is_a_page_to_which_every_page_leads(built):
    out, paths = built
    assert {build.source(name) for name in " ".join(build.NAVIGATION.values()).split()} >= {
        *SOURCES
    }
    for path in paths:
        page = path.read_text("utf-8")
        assert page.count(" aria-current=page") == 1
        links = {(path.parent / link).resolve() for link in re.findall(r'href="([^"#]+)', page)}
        assert links >= {one for one in paths if one.parent.name != "reference"}
    assert out / "index.html" == paths[0]


def test_every_name_of_the_front_door_and_of_its_rooms_is_in_the_reference(built):
    out, _ = built
    front = (out / "reference" / "an.html").read_text("utf-8")
    for name in an.__all__:
        if (room := out / "reference" / f"an.{name}.html").is_file():
            page = room.read_text("utf-8")
            inside = [
                one
                for one in names_of(getattr(an, name))
                if f'id="{one}"' not in page
                and not (out / "reference" / f"an.{name}.{one}.html").is_file()
            ]
            assert not inside
            assert f'href="an.{name}.html"' in front
        else:
            assert f'id="{name}"' in front


def test_links_within_the_pages_lead_to_pages(built):
    _, paths = built
    for path in paths:
        for link in re.findall(r'href="([^"#]+)', path.read_text("utf-8")):
            if link.startswith(("http", "mailto")) or (path.parent / link).suffix != ".html":
                continue
            aim = (path.parent / link).resolve()
            assert aim in paths or build.SITE.name in aim.parts, (path.name, link)


@pytest.mark.parametrize("link", ["nowhere.md", "metrics.md#no-such-heading", "#no-such-heading"])
def test_a_link_that_leads_nowhere_is_an_error(link):
    page = build.Page(ROOT / "docs" / "input.md", "input.html", "x", "<h1>x</h1>")
    with pytest.raises(ValueError, match=rf"docs/input.md: {link} "):
        build.lead(page, link, {})
