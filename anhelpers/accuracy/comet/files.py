"""Where the two files of a COMET checkpoint lie: a .ckpt file, its folder, the hub's cache, or the hub."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import checks, hub
from ...errors import AnhelpersError, DataError, need

__all__ = ["NOUN", "Checkpoint", "find_checkpoint"]

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
    path = checks.local_path(name)
    if path.suffix.lower() == ".ckpt" or path.is_file():
        return _local(path, path)
    place = hub.find(path if path.is_dir() else name, revision)
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

    weights, settings = hub.cache_first(place, NOUN, fetch, FILES)
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
