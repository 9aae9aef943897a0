"""Find and load models of transformers: of the package index, in a folder, or on the Hugging Face hub.

Code that comes with a model never runs. Weights are read from safetensors (but see `load_network`).
"""

import hashlib
import logging
import os
import socket
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies

import numpy as np

from . import checks
from .errors import AnhelpersError, need
from .gguf import PACKAGED, converted

T = TypeVar("T")
DTYPES = ("float32", "bfloat16", "float16")
# tokens; some models name no limit, and attention grows with its square
LONGEST = 4096
# Padded tokens in a forward pass, by the kind of device; on a CPU a larger batch leaves the cache.
TOKENS_PER_BATCH = {"cpu": 2048, "cuda": 16384}

# The files of a folder that decide a score: weights, pieces, vocabulary and settings.
_WEIGHTS = {".safetensors", ".bin", ".model", ".spm"}
_VOCABULARIES = {"vocab.json", "target_vocab.json", "vocab.txt", "merges.txt"}
_SETTINGS = {"config.json", "generation_config.json", "tokenizer_config.json"}
_SETTINGS |= {"special_tokens_map.json", "added_tokens.json"}


@dataclass(frozen=True)
class Place:
    """Where a model is: a folder, or an id on the hub.

    Parameters
    ----------
    address : str
        The folder's path, or the hub id.
    revision : str or None
        Commit, tag or branch on the hub; None for the newest, and for a folder.
    folder : Path or None
        None for a hub id.
    called : str
        Its name in `gguf.PACKAGED`, if it has one.
    """

    address: str
    revision: str | None = None
    folder: Path | None = None
    called: str = ""

    @property
    def name(self) -> str:
        """The model's name in signatures: the hub id, or the folder's own name."""
        here = self.address if self.folder is None else self.folder.resolve().name
        return self.called or here

    def __str__(self) -> str:
        return f"{self.address}@{self.revision}" if self.revision else self.address

    def cache_first(self, load: Callable[[dict], T]) -> T:
        """The result of `load(options)`: from local files if they suffice, else from the hub."""
        hub = logging.getLogger("huggingface_hub")
        level, given = hub.level, {"revision": self.revision or "main"}
        # its retries print tracebacks; the error below has its message
        hub.setLevel(logging.ERROR)
        try:
            with failing_as(self):
                if "://" in self.address:  # transformers would leave temporary files
                    need("huggingface_hub", "a model").utils.validate_repo_id(self.address)
                if self.folder is None:
                    with suppress(OSError, ValueError):
                        return load(given | {"local_files_only": True})
                    self._check_hub()
                return load(given | {"local_files_only": self.folder is not None})
        finally:
            hub.setLevel(level)

    def _check_hub(self) -> None:
        """Raise an AnhelpersError if no connection to the hub is possible, whose own retries take half a minute."""
        hub = urlsplit(os.environ.get("HF_ENDPOINT", "https://huggingface.co"))
        if os.environ.get("HF_HUB_OFFLINE") or getproxies():
            return
        try:
            socket.create_connection((hub.hostname, hub.port or 443), timeout=5).close()
        except OSError as error:
            why = f"not in the local cache, and {hub.hostname} cannot be reached"
            raise AnhelpersError(f"{self}: {why}. Download it once, or name a folder.") from error

    def load_config(self) -> Any:
        """The configuration of a model, which has its kind, without reading any weights."""
        auto = need("transformers", "loading a model").AutoConfig
        return self.cache_first(
            lambda given: auto.from_pretrained(self.address, trust_remote_code=False, **given)
        )

    def load_tokenizer(self) -> Any:
        """The tokenizer of a model; the slow one where the fast one cannot be made."""
        auto = need("transformers", "loading a tokenizer").AutoTokenizer

        def load(given: dict) -> Any:
            try:
                return auto.from_pretrained(self.address, trust_remote_code=False, **given)
            except ImportError:  # the conversion to a fast one needs a matching protobuf
                given = {"use_fast": False, **given}
                return auto.from_pretrained(self.address, trust_remote_code=False, **given)

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Recommended: pip install sacremoses")
            tokenizer = self.cache_first(load)
        # transformers' result for an unreadable vocabulary
        if tokenizer is False:
            raise AnhelpersError(f"{self}: its tokenizer cannot be read.")
        return tokenizer

    def load_network(self, auto: str, dtype: str = "float32", safetensors: bool = True) -> Any:
        """The network of a model, all of whose weights were found.

        Parameters
        ----------
        auto : str
            Class of transformers, such as "AutoModelForCausalLM".
        dtype : {"float32", "bfloat16", "float16"}
        safetensors : bool
            False also reads pickles of weights and nothing else, where the authors have published no other file.
        """
        checks.one_of(dtype, DTYPES, "dtype")
        torch, transformers = (need(name, "loading a model") for name in ("torch", "transformers"))
        options = {"dtype": getattr(torch, dtype), "output_loading_info": True}
        options |= {"trust_remote_code": False, "use_safetensors": safetensors or None}
        load = getattr(transformers, auto).from_pretrained
        model, found = self.cache_first(lambda given: load(self.address, **options, **given))
        if absent := sorted(found["missing_keys"]):
            raise AnhelpersError(f"{self}: {len(absent)} weights are missing, such as {absent[0]}.")
        return model

    def revision_of(self, model: Any = None) -> str:
        """The first 12 hex digits of the hub's commit, or of the sha256 of a folder's files."""
        if self.folder is None:
            return (getattr(model.config, "_commit_hash", None) or self.revision or "unknown")[:12]
        if self.revision:
            return self.revision
        digest, folder = hashlib.sha256(), self.folder
        names = {"tokenizer.json"} if (folder / "tokenizer.json").is_file() else _VOCABULARIES
        kept = (p for p in folder.iterdir() if p.suffix in _WEIGHTS or p.name in names | _SETTINGS)
        for path in sorted(kept):
            digest.update(path.name.encode())
            with path.open("rb") as file:
                hashlib.file_digest(file, lambda: digest)
        return digest.hexdigest()[:12]


def find(name: str | Path) -> Place:
    """The place of a model: a folder, a name of `gguf.PACKAGED`, or a hub id, optionally "id@revision"."""
    path = Path(os.path.expanduser(name))
    if path.is_dir():
        return Place(str(path), None, path)
    hub_id, _, revision = str(path if str(name).startswith("~") else name).partition("@")
    if (known := PACKAGED.get(hub_id)) is None:
        return Place(hub_id, revision or None)
    if revision in ("", known.revision) and known.installed:
        folder = converted(hub_id)
        return Place(str(folder), known.revision, folder, hub_id)
    return Place(known.hub, revision or None, None, hub_id)


def device(name: str | None = None) -> str:
    """The named device of torch; by default "cuda" if there is a GPU, else "cpu"."""
    torch = need("torch", "a neural model")
    if name is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    with failing_as(f"device '{name}'"):
        torch.ones(1, device=name).item()
    return str(torch.device(name))


def budget(on: str) -> int:
    """Padded tokens in a forward pass on a device such as "cuda:1"."""
    return TOKENS_PER_BATCH.get(on.split(":")[0], TOKENS_PER_BATCH["cuda"])


@contextmanager
def failing_as(name: object) -> Iterator[None]:
    """Re-raise any failure of a model as an AnhelpersError: its name and the library's first line."""
    try:
        yield
    except (AnhelpersError, MemoryError):
        raise
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise AnhelpersError(f"{name}: {lines[0][:140]}") from error


def longest(model: Any, tokenizer: Any) -> int:
    """The longest input in tokens that the model and its tokenizer take, at most 4096."""
    positions = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    limits = (limit for limit in (positions, tokenizer.model_max_length) if limit and limit > 1)
    return int(min([LONGEST, *limits]))


def forbidden(model: Any) -> tuple[int, ...]:
    """Ids of single tokens that the model never generates, so that they have probability 0.

    Converted Marian models forbid the padding token: its logit of 0 is high where others are negative.
    """
    settings = getattr(model, "generation_config", None) or model.config
    words = getattr(settings, "bad_words_ids", None) or []
    return tuple(sorted({word[0] for word in words if len(word) == 1}))


def plain_ids(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Token ids of target texts without special tokens; "</s>" in a text is text.

    A tokenizer with its own vocabulary for the target side, such as Marian's, uses that. A piece of text that is
    spelled like a special token becomes the unknown token.
    """
    two_sided = hasattr(tokenizer, "spm_target")
    # Marian reads ">>this<<" at the start of a text as a language code
    if two_sided:
        texts = [" " + text if text.startswith(">>") else text for text in texts]
    ids = encode(tokenizer, texts, "text_target" if two_sided else "text", add_special_tokens=False)
    if (unknown := tokenizer.unk_token_id) is None:
        return ids
    special = set(tokenizer.all_special_ids) - {unknown}
    return [[unknown if i in special else i for i in text] for text in ids]


def encode(
    tokenizer: Any, texts: Sequence[str], side: str = "text", add_special_tokens: bool = True
) -> list[list[int]]:
    """Token ids of texts, in which only the tokenizer itself adds special tokens.

    Parameters
    ----------
    side : {"text", "text_target"}
        The second where a tokenizer treats both sides differently.
    """
    if not len(texts):
        return []
    before = tokenizer.split_special_tokens
    # slow tokenizers ignore the argument of the call
    tokenizer.split_special_tokens = True
    try:
        how = {"split_special_tokens": True, "add_special_tokens": add_special_tokens}
        how |= dict.fromkeys(("truncation", "return_attention_mask", "verbose"), False)
        return tokenizer(**{side: list(texts)}, **how)["input_ids"]
    finally:
        tokenizer.split_special_tokens = before


def batches(lengths: Sequence[int], budget: int, most: float = float("inf")) -> list[list[int]]:
    """Indices of inputs in batches of at most `budget` padded tokens and `most` inputs, longest first.

    An input longer than the budget is a batch by itself.

    >>> batches([2, 5, 1, 2], 5)
    [[1], [0, 3], [2]]
    """
    found: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        last = found[-1] if found else []
        if last and lengths[last[0]] * (len(last) + 1) <= budget and len(last) < most:
            last.append(i)
        else:
            found.append([i])
    return found


def padded(rows: Sequence[Sequence[int]], fill: int, device: str) -> tuple[Any, Any]:
    """Two (b, longest) tensors: ids padded on the right with `fill`, and True where an id is real."""
    torch = need("torch", "a neural model")
    ids = [torch.tensor(row, dtype=torch.long) for row in rows]
    x = torch.nn.utils.rnn.pad_sequence(ids, batch_first=True, padding_value=fill)
    real = torch.arange(x.shape[1]) < torch.tensor([[len(row)] for row in rows])
    return x.to(device), real.to(device)


def finite_output(
    values: np.ndarray, name: str, impossible: np.ndarray | bool = False
) -> np.ndarray:
    """The scores of a model unchanged, or an AnhelpersError where some are nan or infinite.

    Parameters
    ----------
    impossible : (...) bool
        Where -inf is right, as for a token that the model never generates.
    """
    if not (np.isfinite(values) | (np.isneginf(values) & impossible)).all():
        raise AnhelpersError(f"{name}: returned nan or infinity. Try dtype float32.")
    return values
