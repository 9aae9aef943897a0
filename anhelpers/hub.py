"""Loading models of transformers: bundled ones, a folder, the cache of the Hugging Face hub, or the hub itself.

No code that comes with a model is ever run: unless told so, transformers asks at the terminal whether it may.
"""

from __future__ import annotations

import hashlib
import logging
import re
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from . import checks, eight_bits
from .data.fetch import bundled
from .data.writing import FULL
from .errors import AnhelpersError, DataError, MissingExtra, install_line, need
from .progress import note_once

__all__ = [
    "Place",
    "cache_first",
    "check_weights",
    "device",
    "encode",
    "find",
    "finite_output",
    "forbidden",
    "kind",
    "known_ids",
    "load_config",
    "load_model",
    "load_network",
    "load_tokenizer",
    "longest",
    "plain_ids",
    "revision_of",
    "save_model",
    "usable",
]

T = TypeVar("T")
DTYPES = ("float32", "bfloat16", "float16")
NO_CONFIG = "no config.json"
ABSENT = (
    "not a valid model identifier",
    "404 Client Error",
    "does not appear to have",
    "Unrecognized model",
    "no file named",
    "Repository Not Found",
    "Repo id must",
    "Can't load the configuration of",
    NO_CONFIG,
)
OFFLINE = re.compile("offline|connect|couldn't", re.IGNORECASE)
REQUEST_ID = re.compile(r"\(Request ID: [^)]*\)")  # any digits, which may look like a status
# tokens: some models name no limit or an endless one, and attention grows with the square
LONGEST = 4096

# Of a local model's files those that decide its numbers: weights and pieces, the vocabulary where the fast tokenizer's
# file does not hold it, and the settings (the number of heads, tokens never generated, which token ends a text).
WEIGHTS = {".safetensors", ".bin", ".model", ".spm"}
VOCABULARIES = {"vocab.json", "target_vocab.json", "vocab.txt", "merges.txt"}
SETTINGS = {
    "config.json",
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
}
# Marian's tokenizer has not used it since it was written
HARMLESS = "Recommended: pip install sacremoses"


@dataclass(frozen=True)
class Place:
    """Where to load from: a folder, or a hub id.

    Parameters
    ----------
    address : what transformers is given: the path of the folder, or the hub id.
    revision : commit, tag or branch on the hub; None for the newest, and for a folder.
    folder : None for a hub id.
    """

    address: str
    revision: str | None = None
    folder: Path | None = None

    @property
    def name(self) -> str:
        """What a signature calls the model: the hub id, or the folder's own name."""
        return self.address if self.folder is None else self.folder.resolve().name

    def __str__(self) -> str:
        return f"{self.address}@{self.revision}" if self.revision else self.address


def find(name: str | Path, revision: str | None = None) -> Place:
    """A folder as it is, else a model that is bundled by this name, else a hub id, optionally "id@revision".

    Raises
    ------
    DataError : a revision of a folder.
    """
    path = checks.local_path(name)
    tiny = bundled("teaching").parent / "lm" / path.name
    folder = path if path.is_dir() else tiny if str(name) == tiny.name and tiny.is_dir() else None
    if folder is not None:
        if revision is not None:
            raise DataError(
                f"is a folder and has no revision '{revision}'; leave the revision out.", name
            )
        return Place(str(folder), None, folder)
    hub_id, _, inline = str(path if str(name).startswith("~") else name).partition("@")
    return Place(hub_id, revision or inline or None)


def device(name: str | None = None) -> str:
    """The device asked for; by default the GPU if there is one, else "cpu".

    Raises
    ------
    DataError : no such device here, or one of another kind than a CPU or a GPU of CUDA, such as "meta".
    """
    torch = need("torch", "a neural model")
    if name is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    here = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
    try:
        asked = torch.device(name)
        torch.ones(1, device=asked).item()  # a device of which only the name is known ends here
    except Exception:  # each kind of device that torch was built without has an error of its own
        asked = None
    if asked is None or asked.type not in {"cpu", "cuda"} or (asked.type == "cpu" and asked.index):
        raise DataError(f"there is no device '{name}' here; there is {' and '.join(here)}.")
    return str(asked)


def kind(device: str) -> str:
    """The key of tables such as `scoring.batches.TOKENS_PER_BATCH`: "cpu" or "cuda".

    >>> kind("cuda:1")
    'cuda'
    """
    return device.split(":")[0]


def load_config(place: Place, noun: str) -> Any:
    """The configuration: which kind of model lies there, before its weights are fetched.

    Parameters
    ----------
    noun : what is wanted, for the error.
    """
    transformers = need("transformers", f"loading a {noun}")

    def load(options: dict) -> Any:
        if place.folder is not None and not (place.folder / "config.json").is_file():
            # transformers would guess the kind of model from the folder's name
            raise OSError(NO_CONFIG)
        return transformers.AutoConfig.from_pretrained(
            place.address, trust_remote_code=False, **options
        )

    return cache_first(place, noun, load)


def load_model(place: Place, noun: str, auto: str, dtype: str = "float32") -> tuple[Any, Any]:
    """Tokenizer and model; parameters and errors as in `load_network`.

    Parameters
    ----------
    noun : what is wanted, for the error. auto : the class of transformers, e.g. "AutoModelForCausalLM".
    """
    return load_tokenizer(place, noun), load_network(place, noun, auto, dtype)


def load_tokenizer(place: Place, noun: str) -> Any:
    """The tokenizer that lies there; `noun` is what an error calls the whole, such as "language model"."""
    need("transformers", f"loading a {noun}")
    tokenizer = cache_first(place, noun, lambda options: _tokenizer(place, options))
    if tokenizer is False:  # how transformers says that a vocabulary is unreadable
        raise AnhelpersError(
            f"the tokenizer of the {noun} {place} cannot be read: its files are damaged."
        )
    return tokenizer


def load_network(place: Place, noun: str, auto: str, dtype: str = "float32") -> Any:
    """The model alone, all of whose weights were found.

    Parameters
    ----------
    noun : what an error calls it, such as "language model".
    auto : class of transformers, or one that chooses the model's own, such as "AutoModelForCausalLM".

    Raises
    ------
    AnhelpersError in one sentence: gated, absent, no network, full disk, weights that are not all there or no numbers.
    """
    checks.one_of(dtype, DTYPES, "dtype")
    torch, transformers = (
        need(library, f"loading a {noun}") for library in ("torch", "transformers")
    )
    options = {"dtype": getattr(torch, dtype), "output_loading_info": True}
    load = getattr(transformers, auto).from_pretrained

    def loaded(where: dict) -> Any:
        if place.folder is None or (weights := eight_bits.read(place.folder)) is None:
            return load(place.address, trust_remote_code=False, **options, **where)
        return eight_bits.filled(
            getattr(transformers, auto), load_config(place, noun), weights, options["dtype"]
        )

    model, told = cache_first(place, noun, loaded)
    if told["missing_keys"]:
        absent = sorted(told["missing_keys"])
        raise AnhelpersError(
            f"{place} has no weights for {len(absent)} parts of this {noun}, such as {absent[0]}; "
            "they would be random: name a complete model."
        )
    if spare := sorted(told["unexpected_keys"]):
        _check_spare(model, spare, place, noun)
    check_weights(model, str(place), noun)
    return model


def _check_spare(model: Any, spare: Sequence[str], place: Place, noun: str) -> None:
    """An AnhelpersError where a file has weights of layers that the settings leave out, else a note of what is unused.

    Parameters
    ----------
    spare : names of the weights that the model has no place for.
    """
    kinds = {re.sub(r"\d+", "N", name) for name, _ in model.named_parameters()}
    more = f"{len(spare)} weights, such as {spare[0]}, that this {noun} has no place for"
    if any(re.sub(r"\d+", "N", name) in kinds for name in spare):
        raise AnhelpersError(
            f"{place} has {more}: its config.json leaves out layers that were trained; get the "
            "folder again, or name another model."
        )
    note_once(f"{place} has {more}; they are not used.")


def check_weights(model: Any, where: str, noun: str) -> None:
    """An AnhelpersError where weights are nan or infinite: scores would be nan, or wrong, as attention may skip nan.

    Parameters
    ----------
    model : of torch. where, noun : where it lies and what it is called, for the error.
    """
    if broken := _not_finite(model):
        dtype = str(next(model.parameters()).dtype).removeprefix("torch.")
        raise AnhelpersError(
            f"{where}: {len(broken)} weights of this {noun} hold nan or infinity in {dtype}, such "
            f"as {broken[0]}, as in a damaged file or after a training that failed; get it again, "
            "or name another."
        )


def _not_finite(model: Any) -> list[str]:
    """The names of weights that hold nan or infinity, and of buffers that hold nan (masks may hold -inf)."""
    some = ((of, weights) for of, weights in model.named_parameters() if weights.numel())
    broken = [of for of, weights in some if not all(most.isfinite() for most in weights.aminmax())]
    return broken + [of for of, numbers in model.named_buffers() if numbers.isnan().any()]


@contextmanager
def usable(place: Place | str, noun: str) -> Iterator[None]:
    """Inside, whatever a model ends in that was loaded and cannot work becomes an AnhelpersError in one sentence.

    Parameters
    ----------
    place, noun : where it lies, or its name; what an error calls it, such as "language model".
    """
    try:
        yield
    except (AnhelpersError, MemoryError):
        raise
    except Exception as error:
        if "memory" in str(error).lower():
            raise
        said = (str(error).splitlines() or [""])[0][:200]
        told = f"the {noun} {place} cannot be used, the settings in its folder may be damaged"
        raise AnhelpersError(f"{told}: {type(error).__name__}, {said}") from error


def save_model(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write a model and its tokenizer into a folder, readable for all who may read the user's other files."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    for weights in folder.glob("*.safetensors"):  # which the library makes for its owner alone
        shutil.copymode(folder / "config.json", weights)


def longest(model: Any, tokenizer: Any) -> int:
    """The longest input in tokens that the positions of the model and its tokenizer's own limit allow; at most 4096.

    Raises
    ------
    DataError : a limit that is no number.
    """
    limits = {
        "max_position_embeddings": getattr(
            model.config.get_text_config(), "max_position_embeddings", None
        ),
        "model_max_length": tokenizer.model_max_length,
    }
    for name, limit in limits.items():
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, (int, float))):
            where = "config.json" if name.startswith("max_") else "tokenizer_config.json"
            raise DataError(
                f"{name} is {limit!r:.60} in {where}, and a number of tokens is wanted.",
                tokenizer.name_or_path or None,
            )
    return int(min([LONGEST, *(limit for limit in limits.values() if limit and limit > 1)]))


def forbidden(model: Any) -> tuple[int, ...]:
    """Ids of single tokens that the model itself never generates: they get no probability.

    Marian's converted models forbid the padding token so. The original has none; its row there is all zeros, which is
    a high logit in a model whose other logits are negative.
    """
    settings = getattr(model, "generation_config", None) or model.config
    words = getattr(settings, "bad_words_ids", None) or []
    ids = [word for word in words if isinstance(word, list)] if isinstance(words, list) else []
    if (
        not isinstance(words, list)
        or len(ids) < len(words)
        or not all(type(i) is int for word in ids for i in word)
    ):
        raise DataError(
            f"bad_words_ids is {words!r:.60} in generation_config.json or config.json, and a list "
            "of lists of token ids is wanted.",
            getattr(model.config, "name_or_path", None) or None,
        )
    return tuple(sorted({word[0] for word in ids if len(word) == 1}))


def revision_of(place: Place, model: Any = None) -> str:
    """12 hex digits: of the hub's commit, or of the sha256 over the weight and tokenizer files of a folder.

    Parameters
    ----------
    model : loaded from there; a folder says it without.
    """
    if place.folder is not None:
        return _weights_hash(place.folder)[:12]
    return (getattr(model.config, "_commit_hash", None) or place.revision or "unknown")[:12]


def plain_ids(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """The token ids of target texts: nothing added, and a literal "</s>" or ">>fra<<" in a text is text.

    A tokenizer with another vocabulary or segmentation for the target side (Marian's) uses that. A piece of text that
    is spelled like a special token and would become one is unknown instead: a sentence does not end in its middle.
    """
    two_sided = hasattr(tokenizer, "spm_target")
    # it takes ">>this<<" at the start of a text for a language code, but a space before it is nothing
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
    """The token ids of texts in which nothing is a special token but what the tokenizer itself adds.

    Parameters
    ----------
    side : "text", or "text_target" where a tokenizer treats both sides differently.
    add_special_tokens : whether the tokenizer adds its own, e.g. the end.
    """
    if not len(texts):
        return []
    before = tokenizer.split_special_tokens
    # tokenizers in Python heed this, and not the argument of their call
    tokenizer.split_special_tokens = True
    try:
        return tokenizer(
            **{side: list(texts)},
            add_special_tokens=add_special_tokens,
            split_special_tokens=True,
            truncation=False,
            return_attention_mask=False,
            verbose=False,
        )["input_ids"]
    finally:
        tokenizer.split_special_tokens = before


def known_ids(ids: Iterable[Sequence[int]], n_vocab: int, name: str) -> None:
    """A DataError where a token id is beyond the vocabulary of the model: tokenizer and weights are of two models.

    Parameters
    ----------
    ids : of each text. n_vocab : rows of the model's embedding.
    """
    most = max((max(i) for i in ids if len(i)), default=0)
    if most >= n_vocab:
        raise DataError(
            f"the tokenizer of {name} gives token {most}, and the model knows {n_vocab} tokens "
            "only; they do not belong together."
        )


def finite_output(
    values: np.ndarray, model: Any, name: str, impossible: np.ndarray | None = None
) -> np.ndarray:
    """What a model gave, as it is; an AnhelpersError where some of it is nan or infinite, which is never a score.

    The error says whether the weights themselves are no numbers, or their type is too small for what is computed.

    Parameters
    ----------
    values : (...) scores or log-probabilities.
    model : of torch. name : of the model, for the error.
    impossible : of the shape of values, bool: where -inf is right, as the log-probability of a token that the model
        never generates.
    """
    right = (
        np.isfinite(values)
        if impossible is None
        else np.isfinite(values) | (impossible & np.isneginf(values))
    )
    if right.all():
        return values
    seen = "nan" if np.isnan(values).any() else "infinite"
    broken = _not_finite(model)
    dtype = str(next(model.parameters()).dtype).removeprefix("torch.")
    if broken:
        why = (
            f"{len(broken)} of its weights hold nan or infinity, such as {broken[0]}, as in a "
            "damaged file or after a training that failed; get the model again, or name another"
        )
    elif dtype != "float32":
        why = (
            f"its weights are numbers, but {dtype} does not hold what is computed with them; use "
            "float32"
        )
    else:
        why = (
            "its weights are numbers, but so large that float32 does not hold what is computed; "
            "name another model"
        )
    raise AnhelpersError(f"what {name} gives is {seen}: {why}.")


def _tokenizer(place: Place, options: dict) -> Any:
    """The fast tokenizer, or the slow one where only its conversion fails, which wants a matching protobuf."""
    auto = need("transformers", "loading a tokenizer").AutoTokenizer
    try:
        return auto.from_pretrained(place.address, trust_remote_code=False, **options)
    except ImportError as error:
        if "protobuf" not in str(error).lower():
            raise
        return auto.from_pretrained(
            place.address, use_fast=False, trust_remote_code=False, **options
        )


def cache_first(
    place: Place, noun: str, load: Callable[[dict], T], files: str = "config.json and weights"
) -> T:
    """The result of `load`: from local files alone first, and from the network for a hub id that is not in the cache.

    Parameters
    ----------
    load : is given revision and local_files_only.
    noun, files : what an error calls it, and which files it says that a folder must have.

    Raises
    ------
    AnhelpersError in one sentence.
    """
    hub = logging.getLogger("huggingface_hub")
    level = hub.level
    # its retries would print a screen of tracebacks; we say it in one sentence
    hub.setLevel(logging.ERROR)
    last: Exception = OSError("not found")
    try:
        for local in [True] if place.folder else [True, False]:
            try:
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", message=HARMLESS)
                    return load({"revision": place.revision, "local_files_only": local})
            except AnhelpersError:
                raise
            except (OSError, ValueError) as error:
                last = error
            except ImportError as error:  # transformers' own says it in a screenful
                missing = next(
                    (lib for lib in ("sentencepiece", "protobuf") if lib in str(error).lower()),
                    None,
                )
                if missing is None:
                    raise
                raise MissingExtra(
                    f"the tokenizer of {place} needs {missing}, which comes with the extra "
                    f"'neural': {install_line('neural')}"
                ) from error
            except Exception as error:  # damaged files end in whatever their readers raise
                last = error
                break
    finally:
        hub.setLevel(level)
    raise AnhelpersError(_why_not_loaded(place, noun, last, files)) from last


def _why_not_loaded(place: Place, noun: str, error: Exception, files: str) -> str:
    """One sentence for the usual reasons, told by the error's words without what the user typed, which may hold any."""
    typed = re.compile(rf"(?<![\w./-]){re.escape(place.address)}(?![\w.-])")
    text = REQUEST_ID.sub("", typed.sub("", str(error)))
    if place.folder is None and (told := _why_not_fetched(place, noun, error, text)):
        return told
    if any(word in text for word in ABSENT) or (
        place.folder is None and _is(error, "RepositoryNotFoundError")
    ):
        return f"no {noun} at {place}: give a folder with {files}, or a hub id (owner/model)."
    if "trust_remote_code" in text:
        return (
            f"the {noun} {place} brings code of its own, which is never run here: name a model "
            "that transformers knows."
        )
    if any("Weights only load failed" in str(cause) for cause in _causes(error)):
        return (
            f"the weights of the {noun} {place} are a pickle that is damaged or holds more than "
            "weights, and are not loaded: name a model with .safetensors."
        )
    if place.folder is None and (
        OFFLINE.search(text) or _is(error, "LocalEntryNotFoundError", "OfflineModeIsEnabled")
    ):
        return (
            f"the {noun} {place} is not cached and the hub is out of reach: connect, or name a "
            "folder."
        )
    said = (str(error).splitlines() or ["no reason given"])[0][:200]
    kind = "" if isinstance(error, OSError | ValueError) else f"{type(error).__name__}, "
    return (
        f"the {noun} {place} could not be loaded, its files may be damaged or not belong together: "
        f"{kind}{said}"
    )


def _why_not_fetched(place: Place, noun: str, error: Exception, text: str) -> str:
    """The same for what the hub itself refuses: gated (without a token, or with one), full disk, no such revision."""
    causes, page = list(_causes(error)), f"https://huggingface.co/{place.address}"
    if (
        any(isinstance(cause, OSError) and cause.errno in FULL for cause in causes)
        or "No space left" in text
    ):
        return (
            f"the disk is full while fetching {place}: free some space, or set HF_HOME to a larger "
            "disk, and run again."
        )
    if _is(error, "RevisionNotFoundError") or "is not a valid git identifier" in text:
        wanted = place.revision or "main"
        return (
            f"there is no revision '{wanted}' of {place.address}: name a commit, tag or branch of "
            f"{page}."
        )
    refused = any(re.search(r"\b40[13] Client Error", str(cause)) for cause in causes)
    if (
        _is(error, "GatedRepoError")
        or "gated repo" in text
        or (refused and not _is(error, "RepositoryNotFoundError"))
    ):
        token = need("huggingface_hub", f"loading {noun}").get_token()
        who, then = (
            ("your account has no access yet", "run again")
            if token
            else ("no token is here", "`hf auth login`")
        )
        return f"the {noun} {place} is gated and {who}: accept its licence at {page}, then {then}."
    return ""


def _is(error: BaseException, *names: str) -> bool:
    """Whether an exception, or one that led to it, is of one of these classes of huggingface_hub."""
    kinds = tuple(
        getattr(need("huggingface_hub", "loading a model").errors, name) for name in names
    )
    return any(isinstance(cause, kinds) for cause in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and all that led to it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _weights_hash(folder: Path) -> str:
    """sha256 over the weight, configuration and tokenizer files of a local model: its revision."""
    digest = hashlib.sha256()
    names = {"tokenizer.json"} if (folder / "tokenizer.json").is_file() else VOCABULARIES
    kept = (p for p in folder.iterdir() if p.suffix in WEIGHTS or p.name in names | SETTINGS)
    for path in sorted(kept):
        digest.update(path.name.encode())
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()
