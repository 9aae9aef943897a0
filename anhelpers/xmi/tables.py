"""Tidy tables of cross-mutual information."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import DataError
from ..scoring import estimate_table
from .measure import SENTENCE, xmi
from .results import Xmi, XmiPerChar
from .scores import Tokens

if TYPE_CHECKING:
    import pandas as pd


def xmi_table(
    directions: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    unit: str = "nats",
    tokens: Mapping[str, tuple[Tokens, Tokens]] | None = None,
    count: str = "all",
    docs: Sequence | None = None,
    rng: np.random.Generator,
    n_draws: int = 1000,
) -> pd.DataFrame:
    """A row per direction: h_lm, h_mt and xmi, each with _se, _low and _high; unit, n, n_docs, left_out, signature.

    Each direction is resampled with the same draws, so directions over the same sentences, none missing, are paired;
    `xmi_difference` tells two of them apart.

    Parameters
    ----------
    directions : name such as "en-de" -> (mt_logprobs, lm_logprobs); docs, where given, belong to all of them.
    tokens : name -> the tokens of both, as in `xmi`. unit, count : as in `xmi`, of all directions.

    Raises
    ------
    DataError as in `xmi`, and for tokens of a direction that is not there.
    """
    import pandas as pd

    if strange := [name for name in tokens or () if name not in directions]:
        known = ", ".join(directions)
        raise DataError(
            f"tokens are given of {strange[0]}, which is no direction here; known: {known}."
        )

    rows, seed = [], int(rng.integers(2**63))
    for name, (mt, lm) in directions.items():
        options: dict[str, Any] = {
            "unit": unit,
            "tokens": (tokens or {}).get(name),
            "count": count,
            "docs": docs,
        }
        found = xmi(mt, lm, **options, rng=np.random.default_rng(seed), n_draws=n_draws)
        row: dict[str, Any] = {"direction": name}
        for b in (found.h_lm, found.h_mt, found.xmi):
            row |= {
                b.name: b.value,
                f"{b.name}_se": b.se,
                f"{b.name}_low": b.low,
                f"{b.name}_high": b.high,
            }
        rows.append(
            row
            | {
                "unit": SENTENCE,
                "n": found.xmi.n,
                "n_docs": found.xmi.n_docs,
                "left_out": found.left_out,
                "signature": found.xmi.signature,
            }
        )
    return pd.DataFrame(rows)


def xmi_rows(direction: str, found: Xmi | XmiPerChar) -> pd.DataFrame:
    """direction, quantity, value, se, low, high, unit, n, signature: a row for each of h_lm, h_mt and xmi.

    Those of `per_character` are called h_lm_per_char, h_mt_per_char and xmi_per_char.

    Parameters
    ----------
    found : of one direction.
    """
    names = ["direction", "quantity", "value", "se", "low", "high", "unit", "n", "signature"]
    table = estimate_table(found.bits).rename(columns={"name": "quantity"})
    return table.assign(direction=direction)[names]
