"""A chromium that reaches this machine only, and an isolated JupyterLab."""

import contextlib
import importlib.util
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
SETTINGS = {
    "apputils-extension/notification.jupyterlab-settings": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
    "notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},
}


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def tiny():
    spec = importlib.util.spec_from_file_location("tiny", HERE / "tiny.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def page(chromium):
    """A fresh page; afterwards no script error, none in a page's console, and no request to the outside."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    errors, outside = [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "console",
        lambda m: (
            errors.append(m.text) if m.type == "error" and page.url.startswith("file:") else None
        ),
    )
    local = ("file:", "data:", "blob:", "http://127.0.0.1:", "ws://127.0.0.1:")
    page.on(
        "request",
        lambda request: None if request.url.startswith(local) else outside.append(request.url),
    )
    yield page
    context.close()
    assert not errors
    assert not outside


def write_notebook(path, *cells):
    nbformat = pytest.importorskip(
        "nbformat", reason="install nbformat: pip install 'anhelpers[notebooks]'"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(notebook, path)
    return notebook


@pytest.fixture(scope="session")
def notebook():
    return write_notebook


CELLS = "jupyterapp.shell.currentWidget.content.widgets"


@pytest.fixture
def run_cell(page):
    """A function that runs a cell of the notebook open in JupyterLab, and waits for it."""

    def run(cell):
        count = page.evaluate(f"{CELLS}[{cell}].model.sharedModel.execution_count") or 0
        page.evaluate(f"jupyterapp.shell.currentWidget.content.activeCellIndex = {cell}")
        page.evaluate("jupyterapp.commands.execute('notebook:run-cell')")
        page.wait_for_function(
            f"{CELLS}[{cell}].model.sharedModel.execution_count > {count}", timeout=60_000
        )

    return run


@pytest.fixture
def printed(page, run_cell):
    """A function that runs a cell after the page had the time to send, and returns the words that Python printed."""

    def said(cell):
        page.wait_for_timeout(300)
        run_cell(cell)
        page.wait_for_function(f"{CELLS}[{cell}].model.sharedModel.getOutputs().length > 0")
        return "".join(
            page.evaluate(f"{CELLS}[{cell}].model.sharedModel.getOutputs()[0].text")
        ).split()

    return said


@pytest.fixture
def n_cells(page):
    """A function that counts the cells of the notebook open in JupyterLab."""
    return lambda: page.evaluate(f"{CELLS}.length")


@pytest.fixture
def in_lab(lab, notebook, page):
    """A function that opens new cells in JupyterLab, and waits for their kernel."""

    def show(name, *cells):
        address, work = lab
        notebook(work / name, *cells)
        page.goto(address(name))
        kernel = "window.jupyterapp?.shell?.currentWidget?.context?.sessionContext?.session?.kernel?.status"
        page.wait_for_function(f"{kernel} === 'idle'", timeout=60_000)

    return show


@pytest.fixture
def drag(page):
    """A function: a real mouse drags a slider from the middle to three quarters; how many states its widget passed."""

    def dragged(slider, state):
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        y = box["y"] + box["height"] / 2
        slider.evaluate(
            """(slider, name) => { const root = slider.closest('.anx'); window.seen = new Set();
                const note = () => seen.add(root.getAttribute(name));
                new MutationObserver(note).observe(root, {attributeFilter: [name]}); }""",
            f"data-{state}",
        )
        page.mouse.move(box["x"] + box["width"] / 2, y)
        page.mouse.down()
        for i in range(1, 41):
            page.mouse.move(box["x"] + box["width"] * (0.5 + 0.25 * i / 40), y)
        page.mouse.up()
        return page.evaluate("window.seen.size")

    return dragged


@pytest.fixture
def by_hand(page, drag):
    """A function: a slider is dragged, and left by the tabulator for the next control of its widget."""

    def used(slider, state, states=10):
        assert drag(slider, state) >= states
        slider.focus()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('.anx') !== null")
        assert not slider.evaluate("slider => slider === document.activeElement")

    return used


@pytest.fixture
def load_again(page):
    """A function that loads the page once more, a moment after the last key, as people do.

    What a page stores is kept by another process of the browser, which may tell a page that is loaded at once what was
    stored before.
    """

    def loaded():
        page.wait_for_timeout(300)
        page.reload()

    return loaded


@pytest.fixture
def without_scripts(chromium):
    """A function that opens a file in a browser that runs no scripts."""
    context = chromium.new_context(java_script_enabled=False)

    def show(path):
        page = context.new_page()
        page.goto(path.as_uri())
        return page

    yield show
    context.close()


@pytest.fixture(scope="session")
def execute(isolated):
    """Run cells without a browser under ANX_MODE=static, as the runner does; returns the notebook, also written."""
    nbclient = pytest.importorskip(
        "nbclient", reason="install nbclient: pip install 'anhelpers[notebooks]'"
    )
    nbformat = pytest.importorskip(
        "nbformat", reason="install nbformat: pip install 'anhelpers[notebooks]'"
    )
    environment, work = isolated

    def run(name, *cells):
        node = write_notebook(work / name, *cells)
        client = nbclient.NotebookClient(
            node, resources={"metadata": {"path": str(work)}}, timeout=60
        )
        client.execute(env=environment | {"ANX_MODE": "static", "PATH": os.environ["PATH"]})
        nbformat.write(node, work / name)
        return node

    return run


@pytest.fixture
def exported(tmp_path):
    """The address of a notebook as a page, with no widget state in it."""
    nbconvert = pytest.importorskip(
        "nbconvert", reason="install nbconvert: pip install 'anhelpers[notebooks]'"
    )

    def write(node):
        assert "widgets" not in node.metadata
        body, _ = nbconvert.HTMLExporter(mathjax_url="", require_js_url="").from_notebook_node(node)
        (tmp_path / "export.html").write_text(body, encoding="utf-8")
        return (tmp_path / "export.html").as_uri()

    return write


@pytest.fixture(scope="session")
def isolated(tmp_path_factory):
    """Environment of a Jupyter process that sees none of the user's settings; its folder `work` holds tiny.py."""
    top = tmp_path_factory.mktemp("jupyter")
    settings = top / "settings" / "@jupyterlab"
    for name, value in SETTINGS.items():
        (settings / name).parent.mkdir(parents=True)
        (settings / name).write_text(json.dumps(value))
    (top / "work").mkdir()
    shutil.copy(HERE / "tiny.py", top / "work")
    folders = {
        name: str(top / name)
        for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")
    }
    folders |= {
        "JUPYTER_RUNTIME_DIR": str(top / "run"),
        "JUPYTERLAB_WORKSPACES_DIR": str(top / "workspaces"),
    }
    folders |= {"JUPYTERLAB_SETTINGS_DIR": str(top / "settings"), "PYTHONPATH": str(ROOT)}
    environment = {k: v for k, v in os.environ.items() if k != "ANX_MODE"} | folders
    return environment, top / "work"


@pytest.fixture(scope="session")
def lab(isolated):
    """(address of a file, folder): a real JupyterLab on a free port."""
    pytest.importorskip(
        "jupyterlab", reason="install JupyterLab: pip install 'anhelpers[notebooks]'"
    )
    environment, work = isolated
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(12)
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--ip=127.0.0.1",
        f"--port={port}",
    ]
    command += [
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={token}",
        "--expose-app-in-browser",
    ]
    command += [
        "--LabApp.extension_manager=readonly",
        "--allow-root",
        f"--ServerApp.root_dir={work}",
    ]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    server = subprocess.Popen(command, env=environment, cwd=work, **quiet)
    try:
        _wait_until_up(f"http://127.0.0.1:{port}/api?token={token}", server)
        yield (lambda name: f"http://127.0.0.1:{port}/doc/tree/{name}?token={token}&reset"), work
    finally:
        _stop(server, f"http://127.0.0.1:{port}/api/shutdown?token={token}")


def _stop(server, address):
    """Ask the server to end itself and its kernels; kill it if it does not."""
    with contextlib.suppress(OSError):
        urllib.request.urlopen(urllib.request.Request(address, method="POST"), timeout=5).close()
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait(5)


def _wait_until_up(address, server, seconds=40):
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            return urllib.request.urlopen(address, timeout=2).close()
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(
        f"JupyterLab did not answer within {seconds} s (exit status {server.poll()})"
    )
