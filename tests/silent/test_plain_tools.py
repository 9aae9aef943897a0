"""Notebooks run by papermill and exported by nbconvert, without options of ours: their widgets live on in the page."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from anhelpers.notebooks import notebook_paths
from anhelpers.widgets import base

ROOT = Path(__file__).parents[2]
TINY = ROOT / "tests" / "browser" / "tiny.py"
CELLS = [
    "import tiny\nfrom anhelpers.widgets.explorer import beta_explorer\n"
    "curve, srcs, refs, texts, options = tiny.corpus()",
    "beta_explorer(curve, srcs, refs, texts, **options)",
]


def kernel_that_answers(can):
    request = {} if can is None else {"content": {"allow_stdin": can}}
    return lambda: SimpleNamespace(kernel=SimpleNamespace(get_parent=lambda channel: request))


@pytest.mark.parametrize(
    ("mode", "answers", "static"),
    [
        (None, False, True),
        (None, True, False),
        (None, None, False),
        ("static", True, True),
        ("live", False, False),
        ("", False, True),
    ],
)
def test_who_runs_the_cell_says_whether_a_kernel_will_be_there(mode, answers, static, monkeypatch):
    monkeypatch.delenv("ANX_MODE", raising=False)
    if mode is not None:
        monkeypatch.setenv("ANX_MODE", mode)
    monkeypatch.setattr(base, "get_ipython", kernel_that_answers(answers))
    assert base.is_static() == static


def test_outside_a_kernel_a_widget_is_a_widget(monkeypatch):
    monkeypatch.delenv("ANX_MODE", raising=False)
    monkeypatch.setattr(base, "get_ipython", lambda: None)
    assert not base.is_static()
    monkeypatch.setattr(base, "get_ipython", lambda: SimpleNamespace())  # IPython in a terminal
    assert not base.is_static()


@pytest.fixture
def jupyter(tmp_path):
    """A function that runs a module of Jupyter in a folder of its own, as a user without settings does."""
    places = {
        name: str(tmp_path / name)
        for name in ("HOME", "JUPYTER_CONFIG_DIR", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR")
    }
    environment = {k: v for k, v in os.environ.items() if k != "ANX_MODE"} | places
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(tmp_path)])
    shutil.copy(TINY, tmp_path)

    def run(module, *words):
        pytest.importorskip(module, reason=f"install {module}: pip install 'anhelpers[notebooks]'")
        command = [sys.executable, "-m", module, *map(str, words)]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=900
        )
        assert done.returncode == 0, done.stderr
        return tmp_path

    return run


def write_notebook(path):
    nbformat = pytest.importorskip(
        "nbformat", reason="install nbformat: pip install 'anhelpers[notebooks]'"
    )
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in ["a = 1", *CELLS]])
    book.cells[0].metadata["tags"] = ["parameters"]
    book.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(book, path)
    return path


@pytest.fixture
def dragged(chromium):
    """A function: opens a page, drags the slider of its last explorer, and returns the hosts that were asked for."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})

    def open_and_drag(path):
        page, asked, errors = context.new_page(), set(), []
        page.on("pageerror", lambda error: errors.append(str(error)))
        outside = ("http:", "https:", "ws:")
        page.on(
            "request",
            lambda r: asked.add(r.url.split("/")[2]) if r.url.startswith(outside) else None,
        )
        page.goto(path.as_uri())
        explorer = page.locator(".anx[data-beta]:visible").last
        slider = explorer.get_by_role("slider").first
        slider.scroll_into_view_if_needed()
        box, before = slider.bounding_box(), explorer.locator("tbody").inner_text()
        y, seen = box["y"] + box["height"] / 2, set()
        page.mouse.move(box["x"] + box["width"] / 2, y)
        page.mouse.down()
        for i in range(1, 21):
            page.mouse.move(box["x"] + box["width"] * (0.5 + i / 41), y)
            seen.add(explorer.get_attribute("data-beta"))
        page.mouse.up()
        assert len(seen) >= 4
        assert explorer.locator("tbody").inner_text() != before
        assert errors == []
        return asked

    yield open_and_drag
    context.close()


# nbconvert's own page asks it for require.js and MathJax, which ours never needs
TEMPLATE = {"cdnjs.cloudflare.com"}
OFFLINE = ROOT / "notebooks" / "nbconvert_offline.json"


@pytest.mark.notebook
@pytest.mark.browser
@pytest.mark.neural
def test_the_first_notebook_by_papermill_and_nbconvert_has_a_live_explorer(
    jupyter, dragged, tiny_lm
):
    (path,) = notebook_paths(["00_start_here"])
    folder = jupyter("papermill", path, "out.ipynb", "-p", "lm", tiny_lm, "-p", "seed", 3)
    book = json.loads((folder / "out.ipynb").read_text(encoding="utf-8"))
    assert "widgets" not in book["metadata"]
    jupyter("nbconvert", "--to", "html", "out.ipynb")
    assert dragged(folder / "out.html") <= TEMPLATE
    jupyter("nbconvert", "--to", "html", "--config", OFFLINE, "out.ipynb")
    assert dragged(folder / "out.html") == set()


@pytest.mark.notebook
@pytest.mark.browser
def test_executed_and_exported_in_one_step(jupyter, dragged, tmp_path):
    write_notebook(tmp_path / "one.ipynb")
    jupyter("nbconvert", "--execute", "--to", "html", "--config", OFFLINE, "one.ipynb")
    assert dragged(tmp_path / "one.html") == set()


@pytest.mark.notebook
@pytest.mark.browser
def test_a_notebook_with_saved_widget_state_stays_alive_in_an_offline_page(
    jupyter, dragged, tmp_path, monkeypatch
):
    """As JupyterLab saves it where its user has asked for widget state: the view that needs a manager is not taken."""
    write_notebook(tmp_path / "one.ipynb")
    book = json.loads((tmp_path / "one.ipynb").read_text(encoding="utf-8"))
    book["cells"][0]["source"] = "import os\nos.environ['ANX_MODE'] = 'live'"
    (tmp_path / "one.ipynb").write_text(json.dumps(book), encoding="utf-8")
    jupyter("papermill", "one.ipynb", "out.ipynb")
    book = json.loads((tmp_path / "out.ipynb").read_text(encoding="utf-8"))
    assert "widgets" in book["metadata"]
    jupyter("nbconvert", "--to", "html", "--config", OFFLINE, "out.ipynb")
    # asked by the template, needed by no widget here
    assert dragged(tmp_path / "out.html") <= {"unpkg.com"}
