"""The β explorer in chromium: from a key to the changed table, K = 1,024 candidates for each of 200 segments.

The page is the kernel-free one, so a busy kernel changes nothing. The time runs from the keydown event to the change
of the shown β, after which the table is drawn in the next frame; 160 keys, the median of each run of 20 is a round.

    python -m benchmarks explorer [--quick]
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import anhelpers as an

from .bench_frontier import problem
from .table import Row, limited, not_measured

WORKLOAD, LIMIT = "β explorer, from key to table, {} segments x {} candidates", 2e-3
WATCH = """() => { window.took = []; let at = 0;
    addEventListener('keydown', () => { at = performance.now(); }, true);
    const table = document.querySelector('.anx tbody');
    new MutationObserver(() => { table.offsetHeight; took.push(performance.now() - at); }).observe(
        document.querySelector('.anx'), {attributeFilter: ['data-beta']}); }"""
SHOWN = """() => [...document.querySelectorAll('.anx-chosen .anx-text')].map(text => [...text.childNodes].filter(
    node => node.className !== 'anx-gone').map(node => node.textContent).join(''))"""


def _page(folder: Path, n: int, k: int) -> tuple[Path, dict[float, list[str]]]:
    """The page, and the texts of the first rows at some β by the curve."""
    segment, *scores = problem("Gaussian", n, k)
    words = np.array(
        [
            "das",
            "alte",
            "Haus",
            "steht",
            "am",
            "stillen",
            "Fluss",
            "wo",
            "Leute",
            "gehen",
            "und",
            "Kinder",
            "spielen",
        ]
    )
    texts = [" ".join(words[i % len(words) :]) + f" {i}" for i in range(n * k)]
    curve, lines = an.oracle_curve(segment, *scores), [f"the old house {s}" for s in range(n)]
    named = {"segment": segment, "accuracy": scores[0], "naturalness": scores[1], "show": 6}
    path = an.widgets.beta_explorer(curve, lines, lines, texts, **named).save(
        folder / "explorer.html"
    )
    return path, {beta: [texts[i] for i in curve.select(beta)[:6]] for beta in (0.0, float("inf"))}


def rows(quick: bool) -> Iterator[Row]:
    """One row."""
    from playwright.sync_api import sync_playwright

    n, k = (40, 64) if quick else (200, 1024)
    workload = WORKLOAD.format(n, k)
    if (program := shutil.which("chromium")) is None:
        yield not_measured(workload, "the limit", "no chromium on the PATH", "<= 1")
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        path, wanted = _page(Path(folder), n, k)
        page.goto(path.as_uri())
        page.get_by_role("slider").focus()
        shown = {}
        for key, beta in (("End", float("inf")), ("Home", 0.0)):
            page.keyboard.press(key)
            page.wait_for_timeout(100)  # a frame
            shown[beta] = page.evaluate(SHOWN)
        page.evaluate(WATCH)
        # a step is a change of a row: from the first to the last and back
        for key in (["ArrowRight"] * 20 + ["ArrowLeft"] * 20) * 4:
            page.keyboard.press(key)
        took = page.evaluate("window.took")
        browser.close()
    rounds = [statistics.median(took[i : i + 20]) / 1e3 for i in range(0, len(took), 20)]
    same = all(shown[beta] == wanted[beta] for beta in wanted)
    agree = f"95 % within {np.quantile(took, 0.95):.2f} ms; rows at β = 0 and ∞ as by the curve"
    yield limited(workload, rounds, LIMIT, lambda s: f"{s * 1e3:.2f} ms", agree=agree, agrees=same)
