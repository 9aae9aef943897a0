"""`make lab` on a fresh machine: the first notebook is open, and nobody asks about news or updates."""

import re
import shlex
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FIRST = "00_start_here.ipynb"
pytest.importorskip("jupyterlab", reason="install JupyterLab: pip install 'anhelpers[notebooks]'")


def recipe(part):
    """What follows $(BIN)/jupyter in the line of the Makefile that has this part, as words."""
    lines = (ROOT / "Makefile").read_text("utf-8").splitlines()
    (line,) = (line for line in lines if f"$(BIN)/jupyter {part}" in line)
    return shlex.split(line.partition("$(BIN)/jupyter ")[2], comments=True)


@pytest.fixture
def started(isolated, tmp_path):
    """The address that JupyterLab gives to the browser, for a user without settings."""
    environment, _ = isolated
    fresh = {
        "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
        "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(tmp_path / "workspaces"),
        "BROWSER": f"{sys.executable} -c \"open('{tmp_path}/asked','w').write('%s')\"",
    }
    environment = environment | fresh
    _, disable, *what = recipe("labextension disable")
    command = [sys.executable, "-m", "jupyterlab.labextensions", disable, "--level=user", *what]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / FIRST).write_bytes((ROOT / "notebooks" / FIRST).read_bytes())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = [
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--allow-root",
        "--expose-app-in-browser",
    ]
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *recipe("lab notebooks")[1:], *options],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 60
        while not (tmp_path / "asked").exists() and time.monotonic() < end:
            time.sleep(0.2)
        asked = (tmp_path / "asked").read_text()
        page = urllib.request.urlopen(asked).read().decode()
        yield re.search(r"url=([^\"]+)\"", page)[1].replace("localhost", "127.0.0.1")
    finally:
        server.terminate()
        server.wait(20)


def test_jupyterlab_opens_the_first_notebook_and_asks_nothing(started, page):
    assert f"/lab/tree/{FIRST}" in started
    page.goto(started)
    page.locator(".jp-NotebookPanel").wait_for(timeout=60_000)
    page.locator(".jp-NotebookPanel h1").first.wait_for(timeout=60_000)
    page.wait_for_timeout(2000)
    assert page.locator(".Toastify__toast, .jp-Dialog").count() == 0
