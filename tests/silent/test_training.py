"""A trained model says its language, its size and its steps, and is the same however often it was stopped."""

import json
import re
import shutil

import pytest

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
pytest.importorskip("transformers", reason="pip install -c constraints.txt -e '.[neural]'")

from anhelpers import cli, progress  # noqa: E402
from anhelpers.errors import DataError  # noqa: E402
from anhelpers.naturalness.lm import load_lm, lpp_metric  # noqa: E402
from anhelpers.training import lm as train  # noqa: E402
from anhelpers.training.lm import train_lm  # noqa: E402
from anhelpers.training.recipe import SIZES, LmRecipe, sized  # noqa: E402
from anhelpers.training.state import STATE, sealed  # noqa: E402

pytestmark = pytest.mark.neural

WORDS = (("perro", "gato", "niño"), ("ve", "oye"), ("casa", "calle", "luz"))
LINES = [f"El {a} {b} la {c}." for a in WORDS[0] for b in WORDS[1] for c in WORDS[2]]
SHAPE = {"vocab_size": 270, "width": 8, "layers": 1, "heads": 1, "max_tokens": 32}
SMALL = SHAPE | {"tokens_per_batch": 60, "held_out": 2}
NO_CODE = [(5, '"language" is 5'), ("german", "'german' is no known"), ("und", None)]


def recipe(**chosen):
    return LmRecipe(**{"language": "es", "epochs": 2} | SMALL | chosen)


def trained(folder, **options):
    chosen = {
        name: options.pop(name) for name in list(options) if name in LmRecipe.__dataclass_fields__
    }
    return train_lm(
        LINES, folder, recipe(**chosen), say=options.pop("say", lambda line: None), **options
    )


def weights(folder):
    return (folder / "model.safetensors").read_bytes()


@pytest.fixture
def text(tmp_path, monkeypatch):
    """A function (more of the command line) -> its status; the model goes into the folder m."""
    monkeypatch.setattr(
        train, "LmRecipe", lambda **chosen: LmRecipe(**{"epochs": 1} | SMALL | chosen)
    )
    (tmp_path / "t.txt").write_text("\n".join(LINES) + "\n", "utf-8")
    return lambda *more: cli.main(["train-lm", str(tmp_path / "t.txt"), str(tmp_path / "m"), *more])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "m"
    return folder, trained(folder)


def test_no_model_is_german_because_nobody_said_otherwise(text, tmp_path, capsys):
    assert text() == 2
    assert (
        "say in which language the text is: --lang CODE, such as --lang es"
        in capsys.readouterr().err
    )
    assert text("--lang", "qq") == 2
    assert "'qq' is no known language code" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["t.txt"]
    with pytest.raises(TypeError, match="language"):
        LmRecipe()


def test_the_language_that_was_told_stands_wherever_the_model_is_asked(text, tmp_path, capsys):
    assert text("--lang", "es-MX") == 0
    assert "m: language es_MX, " in capsys.readouterr().out
    assert json.loads((tmp_path / "m" / "facts.json").read_text("utf-8"))["language"] == "es_MX"
    assert "| language | es_MX, " in (tmp_path / "m" / "README.md").read_text("utf-8")
    lm = load_lm(tmp_path / "m", device="cpu")
    assert lm.language == "es_MX"
    assert lpp_metric(lm, trg_lang="es").name == "lpp"
    with pytest.raises(DataError, match="m knows only 'es_MX' and the texts are 'de'"):
        lpp_metric(lm, trg_lang="de")


@pytest.mark.parametrize(("language", "found"), NO_CODE)
def test_a_language_that_is_none_is_told_when_the_model_is_loaded(whole, tmp_path, language, found):
    folder = shutil.copytree(whole[0], tmp_path / "m")
    (folder / "facts.json").write_text(json.dumps({"language": language}), "utf-8")
    if found is None:
        assert load_lm(folder, device="cpu").language is None
        return
    with pytest.raises(DataError, match=f"facts.json: .*{found}"):
        load_lm(folder, device="cpu")


def test_a_text_in_two_languages_is_told_and_everybody_may_read_the_model(text, tmp_path, capsys):
    few = [
        *LINES * 3,
        *(f"The {a} sees the {b} in this very old house." for a in "abcdefgh" for b in "klmnopqr"),
    ]
    path = tmp_path / "t.txt"
    path.write_text("\n".join(few) + "\n", "utf-8")
    assert text("--lang", "es") == 0
    assert (
        "t.txt read as English ('en') and Spanish ('es'): a model of both"
        in capsys.readouterr().err
    )
    modes = {file.name: file.stat().st_mode & 0o777 for file in (tmp_path / "m").iterdir()}
    assert modes["model.safetensors"] == path.stat().st_mode & 0o777


def test_how_little_text_is_enough_is_said_in_the_help_and_before_any_work(tmp_path, capsys):
    with pytest.raises(SystemExit):
        cli.main(["train-lm", "--help"])
    assert "at least 1,000 distinct lines, since 500 are held out" in " ".join(
        capsys.readouterr().out.split()
    )
    (tmp_path / "t.txt").write_text("".join(f"Zeile {i}\n" for i in range(898)), "utf-8")
    assert cli.main(["train-lm", str(tmp_path / "t.txt"), str(tmp_path / "m"), "--lang", "de"]) == 2
    said = "only 898 distinct lines, too few to hold out 500: at least 1,000 are wanted"
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["t.txt"]


def stopping(monkeypatch, after):
    """Ctrl-C in the step after so many, at its worst place: gradients are there, the optimiser has not run."""
    real, calls = train._loss, []

    def loss(model, batch):
        calls.append(model.training)
        if sum(calls) > after:
            raise KeyboardInterrupt
        return real(model, batch)

    monkeypatch.setattr(train, "_loss", loss)


@pytest.mark.parametrize("after", [1, 2, 3, 4, 6, 7])
def test_stopped_at_any_step_it_goes_on_to_the_same_bits(whole, tmp_path, monkeypatch, after):
    folder, facts = whole
    assert facts["steps_done"] >= 8, "two epochs of at least four steps"
    with monkeypatch.context() as patch:
        patch.setattr(train, "SAVED_EVERY", 2)
        stopping(patch, after)
        with pytest.raises(KeyboardInterrupt):
            trained(tmp_path / "m")
    said = []
    assert trained(tmp_path / "m", say=said.append) == facts
    last = re.search(r"resumed after step (\d+)", " ".join(said))
    assert int(last[1]) in (after, after - 1) if last else after == 1
    for name in ("model.safetensors", "tokenizer.json", "facts.json", "README.md"):
        assert (tmp_path / "m" / name).read_bytes() == (folder / name).read_bytes(), name


def test_a_damaged_state_is_told_although_torch_reads_it(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(train, "SAVED_EVERY", 2)
        stopping(patch, 3)
        with pytest.raises(KeyboardInterrupt):
            trained(tmp_path / "m")
    file = tmp_path / "m.partial" / STATE
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 64
    file.write_bytes(content)
    (tmp_path / "bare.pt").write_bytes(content[len(sealed(b"")) :])
    assert torch.load(tmp_path / "bare.pt", weights_only=True)["place"]["step"] in (2, 3)
    with pytest.raises(DataError, match=r"state.pt: is damaged, or of another version"):
        trained(tmp_path / "m")


def test_a_budget_of_time_is_a_number_of_steps_that_gives_the_same_model_again(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(train, "_steps_that_fit", lambda *asked: 6)
    facts = trained(tmp_path / "budget", minutes=3)
    assert (facts["minutes"], facts["steps_done"], facts["recipe"]["steps"]) == (3, 6, 6)
    assert 1 < facts["epochs_done"] < 2
    assert ", within a budget of 3 minutes" in (tmp_path / "budget" / "README.md").read_text(
        "utf-8"
    )
    train_lm(LINES, tmp_path / "again", LmRecipe(**facts["recipe"]), say=lambda line: None)
    assert weights(tmp_path / "again") == weights(tmp_path / "budget")


def test_a_budget_that_is_large_enough_changes_nothing(whole, tmp_path, monkeypatch):
    monkeypatch.setattr(train, "TRIAL", 0.0)
    said = []
    facts = trained(tmp_path / "m", minutes=600, say=said.append)
    assert any(
        re.fullmatch(r"600 minutes have room for about [\d,]+ steps of \S+ seconds", line)
        for line in said
    )
    assert facts["recipe"]["steps"] is None
    assert weights(tmp_path / "m") == weights(whole[0])


def test_a_stopped_run_keeps_the_plan_of_its_budget(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(train, "SAVED_EVERY", 2)
        patch.setattr(train, "_steps_that_fit", lambda *asked: 5)
        stopping(patch, 3)
        with pytest.raises(KeyboardInterrupt):
            trained(tmp_path / "m", minutes=3)
    with pytest.raises(DataError, match="holds the state of other text or options"):
        trained(tmp_path / "m", minutes=4)
    monkeypatch.setattr(train, "_steps_that_fit", lambda *asked: 1 / 0)
    assert trained(tmp_path / "m", minutes=3)["steps_done"] == 5
    trained(tmp_path / "again", steps=5)
    assert weights(tmp_path / "again") == weights(tmp_path / "m")


@pytest.mark.parametrize(
    ("minutes", "sentence"),
    [
        (1e-9, "minutes are too few: a step takes"),
        (0, "minutes is 0"),
        (float("nan"), "minutes is nan"),
    ],
)
def test_a_budget_without_room_is_told(tmp_path, minutes, sentence):
    with pytest.raises(DataError, match=sentence):
        trained(tmp_path / "m", minutes=minutes)


def test_progress_within_an_epoch_tells_loss_and_time(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(train, "_left", lambda run: ", about 7 min left")
    monkeypatch.delenv("ANX_MODE", raising=False)
    trained(tmp_path / "m")
    first = capsys.readouterr().err.splitlines()[0]
    assert re.fullmatch(
        r"epoch 1/2: 1 of \d+ steps \(\d+%\), loss \d\.\d{3}, about 7 min left", first
    )


def test_what_was_chosen_is_recorded(text, tmp_path):
    chosen = [
        "--lang",
        "es",
        "--size",
        "1x32",
        "--vocab",
        "265",
        "--steps",
        "3",
        "--held-out",
        "4",
        "--seed",
        "5",
    ]
    assert text(*chosen, "--epochs", "9") == 0
    facts = json.loads((tmp_path / "m" / "facts.json").read_text("utf-8"))
    wanted = {
        "layers": 1,
        "width": 32,
        "heads": 1,
        "vocab_size": 265,
        "steps": 3,
        "held_out": 4,
        "seed": 5,
    }
    assert (wanted | {"epochs": 9}).items() <= facts["recipe"].items()
    assert (facts["steps_done"], facts["vocabulary"], facts["held_out_lines"]) == (3, 265, 4)
    assert "|lang:es|size:1x32|" in facts["made_by"]


def test_what_is_left_out_is_said(tmp_path):
    said = []
    train_lm(
        [*LINES, LINES[0], " "],
        tmp_path / "m",
        recipe(max_tokens=6, vocab_size=999),
        say=said.append,
    )
    assert said[0] == "16 lines to learn from, 2 held out; 2 blank or repeated left out"
    assert re.fullmatch(
        r"the text repeats itself enough for \d{3} of the 999 pieces asked for", said[1]
    )
    assert re.fullmatch(r"\d+ lines are longer than 6 pieces, and cut there", said[2])


def test_an_older_card_never_describes_a_new_model(tmp_path):
    trained(tmp_path / "m", steps=2)
    trained(tmp_path / "m", steps=3)
    assert "| training | 3 steps" in (tmp_path / "m" / "README.md").read_text("utf-8")
    (tmp_path / "m" / "README.md").write_text("my own words", "utf-8")
    trained(tmp_path / "m", steps=2)
    assert (tmp_path / "m" / "README.md").read_text("utf-8") == "my own words"


def test_sizes_are_what_the_help_says():
    def parameters(layers, width):
        """Pieces and places, per layer 12 width² and 13 width of biases and norms, and the last norm."""
        return (4096 + 256) * width + layers * (12 * width**2 + 13 * width) + 2 * width

    millions = {name: round(parameters(*shape) / 1e6, 1) for name, shape in SIZES.items()}
    assert millions == {"nano": 0.6, "tiny": 2.6, "small": 12.3}
    default = LmRecipe("de")
    assert sized("tiny") == {
        name: getattr(default, name) for name in ("layers", "width", "heads", "learning_rate")
    }
    for wrong in ("huge", "4x100", "0x32", "4×192"):
        with pytest.raises(DataError, match="unknown size"):
            sized(wrong)
