"""`anhelpers generate`, as a user types it."""

import io
import json

import numpy as np
import pandas as pd
import pytest

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")

from anhelpers import cli  # noqa: E402
from anhelpers.data import read_candidates  # noqa: E402


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(model, *more, sources="The dog barks.\nYes.\n"):
        (tmp_path / "src").write_text(sources, "utf-8")
        return cli.main(
            ["generate", "--model", str(model), "-s", "src", "-o", "c.jsonl", "-n", "6", *more]
        )

    return run


def test_sources_to_candidates_to_their_curve(call, tiny_marian, tiny_lm, tmp_path, capsys):
    assert (
        call(tiny_marian / "mt", "--method", "top-k:4", "--temperature", "0.7", "--max-tokens", "9")
        == 0
    )
    out, err = capsys.readouterr()
    assert out == ""
    assert "samples of 2 sources: draw|model:mt|rev:" in err
    assert "|method:top-k:4|temperature:0.7|k:6|seed:0|max:9|batch:64|device:" in err
    assert "note: " in err
    assert "wrote c.jsonl (2 sources)" in err
    cands = read_candidates("c.jsonl", ["The dog barks.", "Yes."])
    assert np.bincount(cands.segment, cands.multiplicity).tolist() == [6, 6]
    assert set(cands.tags) == {"mt top-k:4 t:0.7"}
    (tmp_path / "ref").write_text("Der Hund bellt.\nJa.\n", "utf-8")
    assert cli.main(["curve", "c.jsonl", "-s", "src", "-r", "ref", "--lm", str(tiny_lm)]) == 0
    assert pd.read_csv(io.StringIO(capsys.readouterr().out)).accuracy.is_monotonic_decreasing


def test_a_language_model_is_asked(call, tiny_lm, tmp_path, capsys):
    (tmp_path / "template").write_text("{src_lang} to {trg_lang}: {src}\n", "utf-8")
    (tmp_path / "examples").write_text("No.\tNein.\n", "utf-8")
    languages = ["--src-lang", "en", "--trg-lang", "German", "--template", "template"]
    assert (
        call(tiny_lm, *languages, "--examples", "examples", "--max-tokens", "5", "--stop", r"\n")
        == 0
    )
    first = json.loads((tmp_path / "c.jsonl").read_text("utf-8").splitlines()[0])["signature"]
    assert call(tiny_lm, *languages, "--max-tokens", "5", "--stop", "") == 0
    assert (
        json.loads((tmp_path / "c.jsonl").read_text("utf-8").splitlines()[0])["signature"] != first
    )


def test_the_same_command_twice_costs_nothing(call, tiny_marian, capsys):
    assert call(tiny_marian / "mt", "--max-tokens", "5") == 0
    assert call(tiny_marian / "mt", "--max-tokens", "5") == 0
    assert "note: 2 of 2 sources were there already." in capsys.readouterr().err


def test_help_says_what_of_the_paper_can_not_be_had(capsys):
    with pytest.raises(SystemExit):
        cli.main(["generate", "--help"])
    assert "(Gemini 1.5 Flash, 1024 per source) cannot be drawn again" in " ".join(
        capsys.readouterr().out.split()
    )


@pytest.mark.parametrize(
    ("options", "sources", "sentence"),
    [
        (["-n", "0"], "Yes.\n", "-n is 0; it must be at least 1."),
        (
            ["--method", "beam"],
            "Yes.\n",
            "unknown method 'beam'; known: ancestral, epsilon, top-k, top-p.",
        ),
        (
            ["--method", "epsilon:1.5"],
            "Yes.\n",
            "epsilon takes a probability in (0, 1), got 1.5; write epsilon:NUMBER.",
        ),
        (["--temperature", "0"], "Yes.\n", "temperature must be a number above 0, got 0.0."),
        (
            [],
            "Yes.\n\nNo.\n",
            "src, line 2: source 1 is blank, and a blank has no candidates; leave it out.",
        ),
        ([], "", "src: there are no sources."),
        (
            ["--trg-lang", "fr"],
            "Yes.\n",
            "mt translates en to de, so target language 'fr' cannot be chosen: leave it out.",
        ),
        (
            ["-o", "c.tsv"],
            "Yes.\n",
            "c.tsv: candidates are written as JSON lines; name a .jsonl file.",
        ),
        (["-s", "scr"], "Yes.\n", "scr: no such file; did you mean 'src'?"),
    ],
)
def test_bad_input_is_one_sentence(call, tiny_marian, capsys, options, sources, sentence):
    assert call(tiny_marian / "mt", *options, sources=sources) == 2
    assert capsys.readouterr().err == f"anhelpers generate: {sentence}\n"


@pytest.mark.parametrize(
    ("files", "options", "sentence"),
    [
        ({}, [], "the prompt of tiny names the languages, and src_lang is not given; say it."),
        ({}, ["--src-lang", "qq"], "unknown language 'qq'; known: aa, aar, ab, "),
        (
            {"t": "Translate: {source}"},
            ["--template", "t"],
            "unknown field of the prompt template '{source}'; did",
        ),
        (
            {"t": "Translate:"},
            ["--template", "t"],
            "the prompt template has no {src}, so the model would never see",
        ),
        (
            {"t": "{src}", "e": "a\tb\nc\n"},
            ["--template", "t", "--examples", "e"],
            "e, line 2: an example is a source, a tab and its translation, none of them blank.",
        ),
        (
            {"t": "{src}"},
            ["--template", "t", "--system", "Hi"],
            "tiny is asked without a chat, and a system message",
        ),
    ],
)
def test_a_bad_prompt_is_one_sentence(call, tiny_lm, tmp_path, capsys, files, options, sentence):
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    assert call(tiny_lm, *options) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"anhelpers generate: {sentence}")


def test_options_of_the_other_kind_of_model_are_refused(call, tiny_marian, tiny_lm, capsys):
    for model, options, sentence in [
        (
            tiny_marian / "mt",
            ["--system", "x", "--plain"],
            "which takes no prompt: leave out --system and --plain.",
        ),
        (tiny_lm, ["--task", "x"], "which is given a prompt (--template): leave out --task."),
    ]:
        with pytest.raises(SystemExit) as stopped:
            call(model, *options)
        assert stopped.value.code == 2
        assert sentence in capsys.readouterr().err


def test_a_model_that_does_neither_is_refused(call, tmp_path, capsys):
    transformers = pytest.importorskip("transformers")
    transformers.BertConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2
    ).save_pretrained(tmp_path / "bert")
    transformers.ViTConfig().save_pretrained(tmp_path / "vit")
    transformers.WhisperConfig().save_pretrained(tmp_path / "whisper")
    for kind in ("bert", "vit", "whisper"):
        assert call(tmp_path / kind) == 2
        assert (
            f"({kind}) neither translates nor continues a text: name an encoder-decoder"
            in capsys.readouterr().err
        )
    assert call("nobody/nothing") == 2
    assert "nobody/nothing" in capsys.readouterr().err


def test_an_interrupted_run_says_how_to_go_on(call, tiny_marian, capsys, monkeypatch):
    from anhelpers.candidates import resume

    def interrupted(drawing, missing):
        raise KeyboardInterrupt

    monkeypatch.setattr(resume, "_one_by_one", interrupted)
    assert call(tiny_marian / "mt") == 130
    assert (
        "what is finished is in c.jsonl.partial; the same command goes on from there."
        in capsys.readouterr().err
    )
