"""How the next token is drawn: from all of the model's distribution, or from its likelier part, by numbers in [0, 1).

The numbers depend on the seed, the source, the sample and the step alone, so a source's samples are the same in
whatever order, process or company they are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from .. import checks
from ..errors import DataError, need

__all__ = [
    "METHODS",
    "Numbers",
    "Sampling",
    "choose",
    "least",
    "levels",
    "numbers",
    "probabilities",
    "read_method",
]

Numbers = Callable[[int, range, int], np.ndarray]

METHODS = {  # name -> its parameter's range, in words
    "ancestral": None,
    "epsilon": "a probability in (0, 1)",
    "top-p": "a probability in (0, 1]",
    "top-k": "a whole number >= 1",
}
FIRST_TRY = 64  # tokens among which the top-p set is sought first


@dataclass(frozen=True)
class Sampling:
    """One method with its parameter, applied to the model's probabilities after the temperature.

    Parameters
    ----------
    method : "ancestral" draws from all tokens; "epsilon" from those with probability >= `value` (Hewitt et al. 2022);
        "top-p" from the smallest set of most probable ones that has probability >= `value` (Holtzman et al. 2020);
        "top-k" from the `value` most probable ones. The most probable token always stays, and tokens that are exactly
        as probable as the last one kept stay as well.
    value : the parameter; None for "ancestral".
    temperature : > 0; the probabilities are proportional to the model's to the power 1 / temperature.
    """

    method: str = "ancestral"
    value: float | None = None
    temperature: float = 1.0

    def __post_init__(self) -> None:
        wanted = METHODS[checks.one_of(self.method, METHODS, "method")]
        if wanted is None and self.value is not None:
            raise DataError(f"{self.method} takes no parameter, got {self.value:g}.")
        if wanted is not None and not _in_range(self.method, self.value):
            raise DataError(
                f"{self.method} takes {wanted}, got {_said(self.value)}; write "
                f"{self.method}:NUMBER."
            )
        if not 0 < self.temperature < math.inf:
            raise DataError(f"temperature must be a number above 0, got {self.temperature}.")

    @property
    def name(self) -> str:
        """The method as `read_method` reads it."""
        return self.method if self.value is None else f"{self.method}:{self.value:.15g}"


def read_method(text: str, temperature: float = 1.0) -> Sampling:
    """A method with its parameter from text such as "ancestral", "epsilon:0.02", "top-p:0.9", "top-k:50".

    >>> read_method("epsilon:0.02")
    Sampling(method='epsilon', value=0.02, temperature=1.0)
    """
    name, colon, given = text.partition(":")
    checks.one_of(name, METHODS, "method")
    try:
        value = float(given) if colon else None
    except ValueError:
        raise DataError(f"the parameter of '{text}' is no number; write {name}:NUMBER.") from None
    return Sampling(name, value, temperature)


def numbers(seed: int, segment: int, src: str) -> Numbers:
    """A function (step, samples, n) -> (len(samples), n) numbers in [0, 1), those of each sample its own.

    Philox (Salmon et al. 2011) with the key (seed, hash of the source's number and text), counter (sample, step).
    """
    source = blake2b(f"{segment}:{src}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    key = np.array([seed, int.from_bytes(source, "little")], np.uint64)

    def drawn(step: int, samples: range, n: int) -> np.ndarray:
        blocks = -(-n // 4)  # of four numbers, which share a counter
        counter = np.array([samples.start * blocks, step, 0, 0], np.uint64)
        bits = np.random.Philox(key=key, counter=counter).random_raw(len(samples) * blocks * 4)
        return (bits.reshape(len(samples), -1)[:, :n] >> np.uint64(11)) * 2.0**-53

    return drawn


def probabilities(logits: Any, sampling: Sampling) -> tuple[Any, Any]:
    """(b, V) float64 probabilities of the model itself, and, not normalised, of what is drawn from.

    Parameters
    ----------
    logits : (b, V) tensor of the model's logits, -inf where it never generates a token.
    sampling : method and temperature.
    """
    logits = logits.double()
    own = logits.softmax(1)
    if sampling.temperature == 1:
        p = own
    else:  # the largest less itself is 0, and stays so at the lowest temperatures
        p = ((logits - logits.amax(1, keepdim=True)) / sampling.temperature).softmax(1)
    if sampling.method == "ancestral":
        return own, p
    return own, p.masked_fill(p < least(p, sampling), 0)


def least(p: Any, sampling: Sampling) -> Any:
    """(b, 1) the least probability that a token must have to be drawn.

    Parameters
    ----------
    p : (b, V) tensor of probabilities.
    sampling : method and temperature.
    """
    if sampling.method == "epsilon":
        return p.max(1, keepdim=True).values.clamp(max=sampling.value)
    if sampling.method == "top-k":
        return p.topk(min(int(sampling.value or 0), p.shape[1])).values[:, -1:]
    n = FIRST_TRY
    while True:
        top = p.topk(min(n, p.shape[1])).values
        reached = top.cumsum(1) >= sampling.value
        if n >= p.shape[1] or reached[:, -1].all():
            # rounding may leave the sum below 1
            last = (~reached).sum(1, keepdim=True).clamp(max=top.shape[1] - 1)
            return top.gather(1, last)
        n *= FIRST_TRY


def choose(p: Any, u: Any) -> Any:
    """(b,) tokens, token v with probability p_v / Σ p: down a binary tree over the tokens, by one number per level.

    Where two machines differ by ε in the logarithms of p, they choose different tokens about once in 1/ε times or less,
    whatever the size of the vocabulary. (One number and the distribution function: hundreds of times as often.)

    Parameters
    ----------
    p : (b, V) float64 tensor, not negative, not all 0; or (1, V) for all.
    u : (b, levels(V)) float64 tensor in [0, 1).
    """
    torch = need("torch", "drawing candidates")
    sums = [torch.nn.functional.pad(p, (0, 2 ** u.shape[1] - p.shape[1]))]
    while sums[-1].shape[1] > 2:
        sums.append(sums[-1].unflatten(1, (-1, 2)).sum(2))
    at = torch.zeros(len(u), 1, dtype=torch.long, device=p.device)
    for level, both in enumerate(reversed(sums)):
        both = both.expand(len(u), -1)
        left, right = both.gather(1, 2 * at), both.gather(1, 2 * at + 1)
        at = 2 * at + (u[:, level, None] * (left + right) >= left)
    return at[:, 0]


def levels(n_vocab: int) -> int:
    """How many numbers `choose` takes for a vocabulary of this size."""
    return max(1, (n_vocab - 1).bit_length())


def _in_range(method: str, value: float | None) -> bool:
    if value is None or not math.isfinite(value):
        return False
    if method == "top-k":
        return value >= 1 and value == int(value)
    return 0 < value < 1 or (method == "top-p" and value == 1)


def _said(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"
