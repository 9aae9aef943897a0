"""Tiny random checkpoints of COMET, whose encoders and tokenizers are made here: comet itself loads and scores them."""

import logging
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

LINES = [
    "Das Haus ist alt und klein.",
    "Der Hund bellt nicht, die Katze schläft im alten Haus.",
    "Ja.",
    "The house is old and small.",
    "The dog does not bark, the cat sleeps in the old house.",
    "Yes.",
]
KINDS = {  # class -> settings of its own
    "regression_metric": {
        "pool": "avg",
        "layer": "mix",
        "layer_transformation": "sparsemax",
        "layer_norm": False,
    },
    "referenceless_regression_metric": {"pool": "cls", "layer_norm": True},
    "unified_metric": {"layer_transformation": "softmax", "layer_norm": False},
    "xcomet_metric": {"word_layer": 2},
    "ranking_metric": {},
}


@dataclass(frozen=True)
class Tiny:
    """A checkpoint in comet's layout, and the scores of comet's own predict."""

    folder: Path
    kind: str

    @property
    def path(self):
        return self.folder / "checkpoints" / "model.ckpt"

    @cached_property
    def model(self):
        """As comet's own loader gives it."""
        return quiet_comet().load_from_checkpoint(self.path, local_files_only=True)

    def predict(self, rows, batch_size=16):
        """Scores of dictionaries with src, mt and ref."""
        options = {"gpus": 0, "num_workers": 0, "progress_bar": False, "batch_size": batch_size}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.model.predict(rows, **options)


def quiet_comet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pkg_resources
        comet = pytest.importorskip("comet", reason="pip install -c constraints.txt -e '.[neural]'")
    for name in ("pytorch_lightning", "lightning", "comet"):
        logging.getLogger(name).setLevel(logging.ERROR)
    return comet


@pytest.fixture(scope="session")
def unigram():
    """A function (special tokens, text) -> a tokenizer that knows the words and characters of a text."""
    tokenizers = pytest.importorskip(
        "tokenizers", reason="pip install -c constraints.txt -e '.[neural]'"
    )

    def build(special, text):
        words = sorted({f"▁{word}" for word in text.split()} - set(text))
        scored = [*((token, 0.0) for token in special), *((word, -4.0) for word in words)]
        scored += [(character, -6.0) for character in sorted(set(f"▁{text}") - {" "})]
        pieces = tokenizers.Tokenizer(
            tokenizers.models.Unigram(scored, unk_id=special.index("<unk>"))
        )
        pieces.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
        return pieces

    return build


@pytest.fixture(scope="session")
def encoder(tmp_path_factory, unigram):
    """A folder with the configuration of an XLM-R of width 32 for 64 tokens, and its tokenizer."""
    transformers = pytest.importorskip(
        "transformers", reason="pip install -c constraints.txt -e '.[neural]'"
    )
    import tokenizers

    folder = tmp_path_factory.mktemp("comet") / "encoder"
    pieces = unigram(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], " ".join(LINES))
    pieces.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    tokenizer = transformers.XLMRobertaTokenizerFast(tokenizer_object=pieces)
    tokenizer.save_pretrained(folder)
    transformers.XLMRobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=66,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        type_vocab_size=1,
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_comet(tmp_path_factory, encoder):
    """A function (kind, more settings) -> a Tiny of that class, made once."""
    made = {}

    def build(kind, **settings):
        key = (kind, repr(settings))
        if key not in made:
            made[key] = _checkpoint(
                tmp_path_factory.mktemp("comet") / kind, encoder, kind, settings
            )
        return made[key]

    return build


def _checkpoint(folder, encoder, kind, settings):
    """Random weights, larger than at birth, so that every part of the model tells in the score."""
    comet = quiet_comet()
    import pytorch_lightning
    import torch
    import yaml

    settings = (
        KINDS[kind] | ({} if kind == "ranking_metric" else {"hidden_sizes": [16, 8]}) | settings
    )
    torch.manual_seed(3)
    model = comet.models.str2model[kind](
        encoder_model="XLM-RoBERTa",
        pretrained_model=str(encoder),
        load_pretrained_weights=False,
        **settings,
    )
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.2)
        if model.layerwise_attention is not None:
            for weight, value in zip(
                model.layerwise_attention.scalar_parameters, (0.1, 0.3, 0.5), strict=True
            ):
                weight.fill_(value)
            model.layerwise_attention.gamma.fill_(1.3)
    (folder / "checkpoints").mkdir(parents=True)
    hparams = dict(model.hparams)
    state = {
        "state_dict": model.state_dict(),
        "hyper_parameters": hparams,
        "epoch": 0,
        "global_step": 0,
        "loops": None,
    }
    torch.save(
        state | {"pytorch-lightning_version": pytorch_lightning.__version__},
        folder / "checkpoints" / "model.ckpt",
    )
    (folder / "hparams.yaml").write_text(yaml.safe_dump(hparams), encoding="utf-8")
    return Tiny(folder, kind)
