"""`anhelpers generate`, as a user types it."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")

from anhelpers import cli  # noqa: E402
from anhelpers.data import read_candidates  # noqa: E402


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(model, *more, sources="The dog barks.\nYes.\n"):
        (tmp_path / "src").write_text(sources, "utf-8")
        given = ["--model", str(model), "-s", "src", "-o", "c.jsonl", "-n", "6"]
        return cli.main(["generate", *given, "--max-tokens", "9", *more])

    return run


def test_sources_to_candidates_to_their_curve(call, tiny_marian, tiny_lm, tmp_path, capsys):
    assert call(tiny_marian / "mt", "--method", "top-k:4", "--temperature", "0.7") == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "wrote c.jsonl (2 sources)" in err
    cands = read_candidates("c.jsonl", ["The dog barks.", "Yes."])
    assert np.bincount(cands.segment, cands.multiplicity).tolist() == [6, 6]
    assert set(cands.tags) == {"mt top-k:4 t:0.7"}
    (tmp_path / "ref").write_text("Der Hund bellt.\nJa.\n", "utf-8")
    assert cli.main(["curve", "c.jsonl", "-s", "src", "-r", "ref", "--lm", str(tiny_lm)]) == 0


def test_a_language_model_gets_a_prompt_and_a_run_resumes(call, tiny_lm, tmp_path):
    prompt = ["--lp", "en-de", "--template", "{src_lang} to {trg_lang}: {src}\\n"]
    assert call(tiny_lm, *prompt) == 0
    first = (tmp_path / "c.jsonl").read_bytes()
    assert call(tiny_lm, *prompt) == 0
    assert (tmp_path / "c.jsonl").read_bytes() == first
    assert call(tiny_lm, "--lp", "en-de") == 2  # another prompt
