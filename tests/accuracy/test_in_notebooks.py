"""A neural metric in a notebook that takes several by name."""

import html

import pytest

from anhelpers import cli

pytestmark = [pytest.mark.notebook, pytest.mark.neural, pytest.mark.usefixtures("kept_scores")]


def test_a_notebook_takes_a_checkpoint_of_comet(tiny_comet, tiny_lm, tmp_path, capsys):
    metrics = f'["chrf", "comet:{tiny_comet("regression_metric").folder}"]'
    call = ["run", "an_g_metrics_vs_fluency", "-p", "metrics", metrics, "-p", "lm", str(tiny_lm)]
    assert cli.main([*call, "-p", "n_draws", "50", "--out", str(tmp_path)]) == 0, (
        capsys.readouterr().out
    )
    page = html.unescape((tmp_path / "an_g_metrics_vs_fluency.html").read_text(encoding="utf-8"))
    assert "comet|model:regression_metric|" in page
