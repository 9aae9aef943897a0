"""Critic and language model together: a text that is fluent and reads as if it had not been translated.

Either sees what the other does not: the critic hears a translation and no error, a language model hears errors and
likes the literal. `training.combination` fits how much each counts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..data.lines import read_bytes
from ..errors import DataError
from ..metrics import Asked, Metric
from .critic import Critic, critic_metric, find_critic, load_critic
from .lm import lpp_metric
from .load import LanguageModel

__all__ = ["NAME", "Combination", "combination_metric", "identity", "load_combination", "named"]

NAME = "critic+lpp"
FILE = "combination.json"
AGAIN = "fit it anew (anhelpers train-combination)."


@dataclass(frozen=True)
class Combination:
    """critic_weight · critic - lpp_weight · LPP + intercept: how natural a text is, in NATS, higher is more natural.

    Parameters
    ----------
    critic : log-odds in nats that a text was not translated.
    critic_weight, lpp_weight : of the critic's log-odds, and of nats per token of log-perplexity.
    intercept : nats; with it a text above 0 reads more like an original than like a translation.
    lm : name@revision of the language model that it was fitted with.
    """

    critic: Critic
    critic_weight: float
    lpp_weight: float
    intercept: float
    lm: str

    @property
    def signature(self) -> str:
        """The weights, then the critic; the language model's follows in a metric."""
        weights = f"{self.critic_weight:g}*critic-{self.lpp_weight:g}*lpp{self.intercept:+g}"
        return f"{NAME}|{weights}|{self.critic.signature}"


def identity(lm: LanguageModel) -> str:
    """name@revision of a language model."""
    return f"{lm.name}@{lm.revision}"


def load_combination(name: str | Path) -> Combination:
    """The combination that lies beside a critic: of a language, such as "de", or of a folder.

    Raises
    ------
    DataError : no such critic; none lies beside it, or it was fitted with another critic.
    """
    critic, path = load_critic(name), find_critic(name) / FILE
    if not path.is_file():
        raise DataError(
            f"beside this critic there is no combination with a language model ({FILE}); {AGAIN}",
            path.parent,
        )
    try:
        facts = json.loads(read_bytes(path))
        heard, read, intercept = (
            float(facts[key]) for key in ("critic_weight", "lpp_weight", "intercept")
        )
        fitted_with, lm = str(facts["critic"]), str(facts["lm"])
        if not (all(map(math.isfinite, (heard, read, intercept))) and heard > 0 < read):
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError(f"is no combination of judges; {AGAIN}", path) from None
    if fitted_with != critic.revision:
        raise DataError(
            f"was fitted with another critic (revision {fitted_with}) than the one beside it "
            f"({critic.revision}); {AGAIN}",
            path,
        )
    return Combination(critic, heard, read, intercept, lm)


def combination_metric(
    combination: Combination, lm: LanguageModel, trg_lang: str | None = None
) -> Metric:
    """Critic and log-perplexity together as a metric: nats per text, higher is more natural; nan without a word.

    Parameters
    ----------
    combination : of `load_combination`.
    lm : the language model that it was fitted with; a DataError for another one.
    trg_lang : language of the texts: a DataError where the judges know another one.
    """
    critic, lpp = critic_metric(combination.critic, trg_lang), lpp_metric(lm, trg_lang=trg_lang)
    if identity(lm) != combination.lm:
        raise DataError(
            f"the weights of {NAME} were fitted with the language model {combination.lm} and do "
            f"not hold for {identity(lm)}; name that model (--lm), or {AGAIN}"
        )

    def score_segments(
        hyps: Sequence[str], refs: Any = None, srcs: Any = None, segment: Any = None
    ) -> np.ndarray:
        heard, read = (
            np.asarray(metric.score_segments(hyps))
            for metric in (critic, lpp)
            if metric.score_segments
        )
        return (
            combination.critic_weight * heard
            - combination.lpp_weight * read
            + combination.intercept
        )

    return Metric(
        NAME,
        NAME,
        "nats per text",
        True,
        (),
        f"{combination.signature}|{lpp.signature}",
        score_segments,
        lang=combination.critic.language,
    )


def named(asked: Asked) -> Metric:
    """The combination of a row of the table of metrics: of the folder behind the colon, else the bundled one."""
    folder = Path(asked.model) if asked.model else asked.lang
    return combination_metric(load_combination(folder), asked.lm, asked.lang)
