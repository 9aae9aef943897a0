"""Tiny language models, made here."""

import pytest

from tests.conftest import byte_pieces

LINES = [
    f"Der {a} {b} den {c}."
    for a in ("Hund", "Mann", "Baum")
    for b in ("sieht", "ruft")
    for c in ("Weg", "Ort", "Bus")
] * 3


@pytest.fixture(scope="session")
def tokenizer():
    """Byte-level BPE with <s>, </s> and <pad> as tokens 0, 1 and 2."""
    pytest.importorskip("transformers", reason="pip install 'anhelpers[neural]'")
    return byte_pieces(LINES, 300, 64)


@pytest.fixture(scope="session")
def build(tokenizer):
    """A function (name, configuration, its settings) -> a random LanguageModel far from uniform."""
    import torch
    import transformers

    from anhelpers.naturalness.lm import LanguageModel

    def made(name, config, **settings):
        common = {"vocab_size": len(tokenizer), "bos_token_id": 0, "eos_token_id": 1}
        torch.manual_seed(1)
        config = getattr(transformers, config)(**common, pad_token_id=2, **settings)
        model = transformers.AutoModelForCausalLM.from_config(config).eval()
        with torch.no_grad():
            for p in model.parameters():
                p.mul_(3)
        return LanguageModel(model, tokenizer, name, "0", "float32", "cpu", 0, 64)

    return made
