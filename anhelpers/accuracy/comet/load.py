"""A COMET checkpoint: where its two files lie (a .ckpt file, its folder, the hub's cache, or the hub), and the model
they make: its class, what it reads, its encoder, and its signature."""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from ... import checks, models
from ...errors import AnhelpersError, DataError, need
from ...metrics import signature_of

NOUN = "COMET model"
FILES = "hparams.yaml and checkpoints/model.ckpt"


@dataclass(frozen=True)
class Checkpoint:
    """The weights and their description.

    Parameters
    ----------
    name : hub id, or the name of the folder or file that was given.
    revision : 12 hex digits, of the hub's commit or of the sha256 over both files.
    path : the .ckpt file.
    settings : what hparams.yaml says.
    """

    name: str
    revision: str
    path: Path
    settings: dict[str, Any]


def find_checkpoint(name: str | Path, revision: str | None = None) -> Checkpoint:
    """The files of a checkpoint, fetched from the hub if they are nowhere here.

    Parameters
    ----------
    name : a .ckpt file with hparams.yaml beside it or in the folder above; a folder with such files; or a hub id,
        optionally "id@revision".
    revision : hub commit, tag or branch.

    Raises
    ------
    AnhelpersError in one sentence: gated, absent, no network, full disk; DataError where the files are not COMET's.
    """
    path = Path(os.path.expanduser(name))
    if path.suffix.lower() == ".ckpt" or path.is_file():
        return _local(path, path)
    place = models.find(path if path.is_dir() else name, revision)
    if place.folder is not None:
        return _local(_only_one(place.folder), place.folder.resolve())
    if str(name).startswith((".", "/", "~")):
        raise DataError(
            f"no {NOUN} here: give a folder with {FILES}, a .ckpt file, or a hub id (owner/model).",
            path,
        )
    library = need("huggingface_hub", f"loading a {NOUN}")

    def fetch(options: dict) -> tuple[Path, Path]:
        settings = Path(library.hf_hub_download(place.address, "hparams.yaml", **options))
        options = options | {"revision": settings.parent.name}  # both of one commit
        return Path(
            library.hf_hub_download(place.address, "checkpoints/model.ckpt", **options)
        ), settings

    weights, settings = models.cache_first(place, fetch)
    return Checkpoint(place.name, settings.parent.name[:12], weights, _settings(settings))


def _local(path: Path, named: Path) -> Checkpoint:
    """A .ckpt file with the hparams.yaml in the folder above, where comet looks, or beside it."""
    if not path.is_file():
        raise DataError("there is no such file; give a .ckpt file, its folder, or a hub id.", path)
    near = [
        folder / "hparams.yaml" for folder in (path.resolve().parent.parent, path.resolve().parent)
    ]
    found = next((file for file in near if file.is_file()), None)
    if found is None:
        raise DataError(
            "no hparams.yaml lies beside it or in the folder above, which says what model it is.",
            path,
        )
    settings = _settings(found)
    digest = hashlib.sha256(found.read_bytes())
    with path.open("rb") as file:
        hashlib.file_digest(file, lambda: digest)
    return Checkpoint(named.name, digest.hexdigest()[:12], path, settings)


def _only_one(folder: Path) -> Path:
    """The checkpoint in a folder: model.ckpt, or the only one."""
    found = sorted(folder.glob("checkpoints/*.ckpt")) or sorted(folder.glob("*.ckpt"))
    if not found:
        raise DataError(f"no {NOUN} here: it should hold {FILES}.", folder)
    best = [path for path in found if path.name == "model.ckpt"] or found
    if len(best) > 1:
        raise DataError(
            f"holds {len(best)} checkpoints, {', '.join(p.name for p in best)}; name one of them.",
            folder,
        )
    return best[0]


def _settings(path: Path) -> dict[str, Any]:
    """hparams.yaml as a dictionary that says the class and the encoder."""
    yaml = need("yaml", f"loading a {NOUN}")
    try:
        settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read as YAML ({str(error).splitlines()[0]}).", path) from error
    except OSError as error:
        raise AnhelpersError(f"{path}: cannot be read ({error.strerror}).") from error
    missing = [
        key
        for key in ("class_identifier", "pretrained_model")
        if not isinstance(settings, dict) or not isinstance(settings.get(key), str)
    ]
    if missing:
        raise DataError(f"says no {' and no '.join(missing)}, so it describes no {NOUN}.", path)
    return settings


DTYPES = ("float32", "float16")  # what comet itself computes in; its estimator takes no bfloat16
FIELDS = ("src", "hyp", "ref")
READS = {  # class in hparams.yaml -> what it reads; None: what its input_segments say
    "regression_metric": FIELDS,
    "referenceless_regression_metric": FIELDS[:2],
    "unified_metric": None,
    "xcomet_metric": None,
}
MINILM = "xlm-roberta-base"  # whose tokenizer comet takes for every encoder of the kind MiniLM
BROKEN = (
    RuntimeError,
    pickle.UnpicklingError,
    OSError,
    EOFError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    AssertionError,
)


@dataclass(frozen=True)
class Comet:
    """A loaded model with all that its signature must say.

    Parameters
    ----------
    model : of comet, in evaluation mode.
    name, revision : hub id or folder name; hub commit, or sha256 over a local checkpoint, 12 hex digits.
    kind : comet's name of the class, such as "regression_metric".
    encoder : its name and revision, such as "xlm-roberta-large@c23d21b0620b".
    reads : of "src", "hyp", "ref".
    dtype : of the weights in memory. comet 2.2.7 computes in float32 in `predict`, in float16 in its `comet-score`.
    device : "cpu" or "cuda[:i]".
    """

    model: Any = field(repr=False)
    name: str
    revision: str
    kind: str
    encoder: str
    reads: tuple[str, ...]
    dtype: str
    device: str

    @property
    def separate(self) -> bool:
        """Whether each text is encoded by itself, so that a source or reference is encoded once for all hypotheses."""
        return "regression" in self.kind

    @property
    def longest(self) -> int:
        """Tokens of one text, special ones included, beyond which comet cuts it."""
        return self.model.encoder.max_positions - 2

    @property
    def limit(self) -> str:
        """The longest input in words."""
        together = "" if self.separate else f", {self.model.encoder.max_positions} together"
        return f"{self.longest} tokens a text{together}"

    @property
    def signature(self) -> str:
        """Everything that decides a score, in sacreBLEU's key:value style."""
        parts = {
            "comet": None,
            "model": self.name,
            "rev": self.revision,
            "class": self.kind,
            "reads": "+".join(self.reads),
            "enc": self.encoder,
            "dtype": self.dtype,
            "max": self.longest,
            "version": need("comet", "COMET").__version__,
            "transformers": need("transformers", "COMET").__version__,
        }
        return signature_of(parts)


def load_comet(
    name: str | Path,
    revision: str | None = None,
    *,
    reference: bool = True,
    device: str | None = None,
    dtype: str = "float32",
) -> Comet:
    """A COMET model from a checkpoint file, a folder, or the hub.

    A checkpoint is a pickle, of which torch reads weights and plain values only.

    Parameters
    ----------
    name, revision : as in `files.find_checkpoint`, e.g. "Unbabel/wmt22-comet-da".
    reference : whether a model that can do both (unified, XCOMET) reads the reference; others are as they are.
    device : "cpu", "cuda", "cuda:1"; None takes the GPU if there is one.
    dtype : "float32" (default) or "float16".

    Raises
    ------
    AnhelpersError in one sentence where it cannot be loaded; MissingExtra without comet; DataError for a ranker, for a
    checkpoint of another kind or with missing weights, and where reference=False is asked of a model that needs one.
    """
    checks.one_of(dtype, DTYPES, "dtype")
    found = find_checkpoint(name, revision)
    kind = found.settings["class_identifier"]
    if kind == "ranking_metric":
        raise DataError(
            f"{found.name} is a ranker, trained to order translations and not to score them: name "
            "a regression or unified model, such as Unbabel/wmt22-comet-da."
        )
    if kind not in READS:
        raise DataError(
            f"{found.name} is of the class '{kind}', which is not known here; known: "
            f"{', '.join(READS)}."
        )
    reads = READS[kind] or _segments(found)
    if not reference and ("src" not in reads or kind == "regression_metric"):
        raise DataError(
            f"{found.name} cannot do without the reference: name a reference-free model, such as "
            "Unbabel/wmt22-cometkiwi-da."
        )
    encoder, model = _model(found)
    device = models.device(device)
    return Comet(
        model=model.eval().to(device, getattr(need("torch", "COMET"), dtype)),
        name=found.name,
        revision=found.revision,
        kind=kind,
        encoder=f"{encoder.name}@{models.revision_of(encoder, model.encoder.model)}",
        reads=tuple(f for f in reads if reference or f != "ref"),
        dtype=dtype,
        device=device,
    )


def _segments(found: Checkpoint) -> tuple[str, ...]:
    """What a unified model reads; XCOMET always all three."""
    given = found.settings.get("input_segments") or ["mt", "src", "ref"]
    all_three = found.settings["class_identifier"] == "xcomet_metric"
    return FIELDS if all_three else tuple(f for f in FIELDS if f in given or f == "hyp")


def _model(found: Checkpoint) -> tuple[models.Place, Any]:
    """The encoder's place, and the model: comet's load_from_checkpoint, but wherever hparams.yaml lies, and complete.

    The encoder's description and tokenizer are fetched first: comet would fail without a reason.
    """
    comet = _library()
    encoder = models.find(found.settings["pretrained_model"])
    models.load_config(encoder)
    models.load_tokenizer(
        models.find(MINILM) if found.settings.get("encoder_model") == "MiniLM" else encoder
    )
    patched = found.settings.get("layer_transformation") == "sparsemax_patch"
    try:
        with _quiet(), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = comet.models.str2model[found.settings["class_identifier"]].load_from_checkpoint(
                checkpoint_path=found.path,
                load_pretrained_weights=False,
                map_location="cpu",
                strict=False,
                local_files_only=True,
                weights_only=True,
                **({"layer_transformation": "softmax"} if patched else {}),
            )
    except BROKEN as error:
        first = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise AnhelpersError(
            f"{found.path}: is no checkpoint of comet's {found.settings['class_identifier']}, or a "
            f"damaged one ({first})."
        ) from error
    said = " ".join(str(w.message) for w in told if "not in the checkpoint" in str(w.message))
    absent = sorted(
        set(re.findall(r"'([^']+)'", said)) & {name for name, _ in model.named_parameters()}
    )
    if absent:
        raise AnhelpersError(
            f"{found.path}: has no weights for {len(absent)} parts of this {NOUN}, such as "
            f"{absent[0]}; they would be random: name a complete checkpoint."
        )
    return encoder, model


def _library() -> ModuleType:
    """comet, whose import neither warns nor sets up the logging of the whole process."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        comet = need("comet", "COMET")
    root.setLevel(level)
    root.handlers[:] = handlers
    return comet


@contextmanager
def _quiet() -> Iterator[None]:
    """Without Lightning's notes on upgrading a checkpoint."""
    loggers = [logging.getLogger(name) for name in ("pytorch_lightning", "lightning", "comet")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
