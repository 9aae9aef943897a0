"""Scores that come with a bundled model, those of the bundled texts: who needs no others needs no torch, and no time.

They lie in the model's folder as `scores.npz`, which `python -m tests.kept_scores` makes from a run of all notebooks.
They are those of the very weights beside them; next to another version of transformers than the one that their
signature names they are not used.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ..scoring.store import key

__all__ = ["ENDS", "FILE", "Kept", "read_kept"]

FILE = "scores.npz"
ENDS = ("no", "yes")
"""As signatures say it: without the end of the text, and with it."""


@dataclass(frozen=True)
class Kept:
    """Scores of texts under one model: of each pair first without the end of the text, then with it.

    Parameters
    ----------
    signatures : of `LanguageModel.signature`. keys : (n, 16) bytes of `store.key`. values : (n, 3) as `lm.score_texts`
        has them: log-probability, scored tokens, whether in windows.
    """

    signatures: tuple[str, str]
    keys: tuple[np.ndarray, np.ndarray] = field(repr=False)
    values: tuple[np.ndarray, np.ndarray] = field(repr=False)

    @cached_property
    def _rows(self) -> list[dict[bytes, int]]:
        return [{row.tobytes(): i for i, row in enumerate(keys)} for keys in self.keys]

    def get(self, eos: bool, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """(n, 3) scores, nan where there is none, and (n,) where there is one."""
        rows, known = self._rows[int(eos)], self.values[int(eos)]
        at = np.array([rows.get(key(text), -1) for text in texts], dtype=np.int64)
        there, values = at >= 0, np.full((len(texts), 3), np.nan)
        values[there] = known[at[there]]
        return values, there


def read_kept(folder: Path, revision: str) -> Kept | None:
    """The scores in a model's folder, if they are of this revision and of the transformers that is here, or of none.

    A file that cannot be read, or does not hold what it should, is no error: its texts are scored, as all others are.
    """
    try:
        with (folder / FILE).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            signatures = str(file["signature_no"]), str(file["signature_yes"])
            keys = file["keys_no"], file["keys_yes"]
            values = file["values_no"], file["values_yes"]
    except (OSError, ValueError, EOFError, KeyError, BadZipFile):
        return None
    if not all(map(_sound, keys, values)):
        return None
    said = dict(re.findall(r"(rev|transformers):([^|]*)", signatures[0]))
    try:
        fits = version("transformers") == said.get("transformers")
    except PackageNotFoundError:
        fits = True
    return Kept(signatures, keys, values) if fits and said.get("rev") == revision else None


def _sound(keys: np.ndarray, values: np.ndarray) -> bool:
    """Whether every key has a score that a model can have given: a log-probability of tokens, or nan of none."""
    if keys.dtype != np.uint8 or keys.shape != (len(values), 16) or values.shape[1:] != (3,):
        return False
    total, tokens = values[:, 0], values[:, 1]
    return bool(np.where(tokens == 0, np.isnan(total), (total <= 0) & (total > -np.inf)).all())
