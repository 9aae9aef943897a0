"""What a paper takes from a plane: escapes, references, and pictures of several metrics."""

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from anhelpers.charts.panels import Panel, plot_panels, short_title, zoomed
from anhelpers.data import bundled
from anhelpers.errors import DataError
from anhelpers.estimate import Estimate
from anhelpers.frontier import pareto_mask
from anhelpers.paper import bibliography, brief, figure_latex, latex_rows, latex_text
from anhelpers.scoring.lookup import TABLE
from tests.charts.test_systems import table


def test_every_accuracy_metric_by_reference_or_model_has_a_publication():
    for row in TABLE:
        if row.axis == "accuracy" and not row.name.startswith(("rated", "stored")):
            entries, keys = bibliography([row.name])
            assert keys, row.name
            assert " for = " not in entries


def test_entries_are_whole_and_are_named_once():
    text = bundled("references.bib").read_text("utf-8")
    keys = re.findall(r"@\w+\{([^,]+),", text)
    assert len(keys) == len(set(keys))
    for entry in re.findall(r"@\w+\{[^@]+", text):
        assert entry.count("{") == entry.count("}")
        assert {"title", "year"} <= set(re.findall(r"(\w+) = ", entry))
        assert " for = {" in entry
    entries, keys = bibliography(["an", "comet:my/folder", "wmt24/en-de"], [("org/m_1", "abc")])
    assert keys == [
        "flamich-etal-2025-two-birds",
        "rei-etal-2020-comet",
        "kocmi-etal-2024-findings",
        "org-m-1",
    ]
    assert "rei-etal-2022-comet" in bibliography(["comet"])[1]
    assert r"{{org/m\_1}}" in entries


def test_symbols_are_escaped_for_latex():
    assert latex_text("50 % of a_b & |x| < 1 → \u2212y") == (
        r"50 \% of a\_b \& \textbar{}x\textbar{} \textless{} 1 $\rightarrow$ $-$y"
    )
    assert latex_text("0.1 (-0.2 to -0.1)") == "0.1 ($-$0.2 to $-$0.1)"
    assert brief("A short one: a, b.") == "A short one: a, b."
    assert len(brief("These pairs are close: " + "a and b, " * 99)) < 60
    whole = "wmt24/en-de: 5 systems by " + "a long name of a metric and " * 20
    assert brief(whole) == whole


def test_a_label_has_no_sign_that_stops_latex():
    rows = pd.DataFrame({"system": ["A"], "kind": ["MT"], "score": [1.0]})
    text = latex_rows(rows, "A claim", "tab:plane-stored:wmt25/cs-de#XCOMET_XL")
    assert r"\label{tab:plane-stored:wmt25-cs-de-XCOMET-XL}" in text
    assert "# " not in text


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")
def test_latex_takes_a_wide_table_and_a_high_picture(tmp_path):
    rows = pd.DataFrame(
        {"system": ["A_1"], "kind": ["LLM"]} | {f"score of metric {k}": [k / 7] for k in range(12)}
    )
    rows.columns = [f"{c} by another judge" if c.startswith("score") else c for c in rows]
    (tmp_path / "table.tex").write_text(latex_rows(rows, "A claim", "tab:a#b"), "utf-8")
    (tmp_path / "figure.tex").write_text(
        figure_latex({"high.pdf": ""}, ["A sentence."], []), "utf-8"
    )
    page = r"\documentclass[twocolumn]{article}\usepackage{booktabs,graphicx}\begin{document}"
    high = r"\documentclass{article}\usepackage[paperwidth=3in,paperheight=12in,margin=0in]{geometry}\begin{document}x"
    (tmp_path / "high.tex").write_text(high + r"\end{document}", "utf-8")
    whole = page + r"\input{figure}\input{table}See \ref{tab:a-b}.\end{document}"
    (tmp_path / "whole.tex").write_text(whole, "utf-8")
    for name in ("high", "whole", "whole"):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", name]
        said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert said.returncode == 0, said.stdout[-2000:]
    for wrong in ("Overfull", "too large", "undefined"):
        assert wrong not in said.stdout, said.stdout


def test_panels_share_the_axis_of_naturalness_and_have_no_sentence_inside():
    one, other = table(12), table(12).assign(accuracy=range(12))
    r = Estimate("R", -2.2, low=-2.3, high=-2.1, n=40)
    panels = [Panel(one, "chrF (points, higher is better)"), Panel(other, "BLEU (points)")]
    chart, notes, unnamed = plot_panels(panels, "LPP (nats)", mono=r, ruler=True)
    spec = chart.to_dict()
    assert len(spec["vconcat"]) == 2
    assert "title" not in spec
    assert all("title" not in part for part in spec["vconcat"])
    domains = {
        tuple(layer["encoding"]["x"]["scale"]["domain"])
        for part in spec["vconcat"]
        for layer in part["layer"]
        if "scale" in layer.get("encoding", {}).get("x", {})
    }
    assert len(domains) == 1
    assert len(notes) == 2
    assert "Rings: no counted system beats these on both axes." in notes[0][0]
    assert "chrF (points, higher is better): " in spec["description"]
    best = set(one.system[pareto_mask(np.zeros(12, int), one.accuracy, one.naturalness)])
    assert not best & set(unnamed)
    closer, _, _ = plot_panels(panels, "LPP (nats)", zoom=zoomed(one, 4))
    far = one.system[one.accuracy.idxmin()]
    assert far not in zoomed(one, 4)
    assert {*zoomed(one, 4), far} <= {*zoomed(one, 4, named=[far])}  # one's own are never outside
    assert zoomed(one, 4, named=["of another panel"]) == zoomed(one, 4)
    assert closer.to_dict() != spec
    with pytest.raises(DataError, match="no plane to draw"):
        plot_panels([], "LPP (nats)")


def test_a_title_keeps_to_one_line():
    assert short_title("BLEU (points)", 320) == ("BLEU (points)", 18)
    long = "mean log-probability under an/enormously-long-name (nats per token, higher is more natural)"
    text, font = short_title(long, 320)
    assert len(text) * font * 0.53 <= 320
    assert font >= 15
