"""The notebook xmi_2_definition with models of one's own in the place of the toy ones."""

import html

import pytest

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
transformers = pytest.importorskip(
    "transformers", reason="pip install -c constraints.txt -e '.[neural]'"
)

from anhelpers import cli  # noqa: E402
from tests.conftest import MARIAN, byte_pieces  # noqa: E402

pytestmark = [pytest.mark.neural, pytest.mark.notebook]
HURRIED = [
    *["-p", "steps", "4", "-p", "young", "[2]", "-p", "n_test", "40", "-p", "pairs"],
    '["cipher"]',
]


@pytest.fixture(scope="module")
def tiny_mt(tmp_path_factory):
    """A folder with a random Marian model of width 16 and a tokenizer for any text."""
    folder = tmp_path_factory.mktemp("mt") / "tiny"
    tokenizer = byte_pieces(
        ["Das Haus ist alt und klein.", "The house is old and small."] * 4, 300, 512
    )
    config = transformers.MarianConfig(
        **MARIAN,
        vocab_size=len(tokenizer),
        max_position_embeddings=512,
        pad_token_id=2,
        eos_token_id=1,
        decoder_start_token_id=2,
        forced_eos_token_id=None,
    )
    torch.manual_seed(0)
    transformers.MarianMTModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_real_models_take_the_place_of_the_toy_ones(tiny_mt, tiny_lm, tmp_path, capsys):
    call = ["run", "xmi_2_definition", "-p", "mt", str(tiny_mt), "-p", "lm", str(tiny_lm), *HURRIED]
    assert cli.main([*call, "--out", str(tmp_path)]) == 0, capsys.readouterr().out
    page = html.unescape((tmp_path / "xmi_2_definition.html").read_text(encoding="utf-8"))
    assert "mt|model:tiny|" in page
    assert "1433 candidates of 52 sources." in page
    assert "The two cut texts differently" in page
    assert "unrelated-fluent" in page
