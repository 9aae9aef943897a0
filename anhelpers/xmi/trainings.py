"""Train models on toy pairs, and estimate how much XMI varies between trainings.

A row of the table is one training of four models: q_MT and q_LM from the first language into the
second ("there") and from the second into the first ("back"), all scored on the same sentence pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from .._lazy import pd
from ..bootstrap import student
from ..data.io import read_table
from ..data.sets import bundled
from ..errors import need
from ..estimate import Estimate
from ..naturalness.lm import LanguageModel, language_model
from ..progress import progress
from ..scoring.cache import IN_MEMORY
from ..translation import TranslationModel, translation_model
from .measure import SENTENCE, UNITS, pointwise_xmi
from .models import xmi_from_models
from .toy import ToyPair

_BATCH, _LONGEST = 64, 64  # sentences of a step; tokens of a sentence
# of Adam; share of the steps in which the rate rises
_RATE, _WARM_UP = 8e-3, 0.1
# Marian's 0.02 suits a width of 512; with it a narrow model ignores its source for long
_WIDTH, _INIT_STD = 32, 0.1
_WHY = "training a translation model"
_Ids = list[list[int]]

_RECIPE = {"pair": str, "src": str, "trg": str, "scored": str, "n_train": int, "n": int}
_RECIPE |= {"steps": int, "smoothing": float}
_BITS = ("mi", "h_lm", "h_mt", "se", "h_lm_back", "h_mt_back", "se_back", "se_difference")


def read_trainings(path: str | PathLike | None = None) -> pd.DataFrame:
    """Read a table of trainings, with the XMI of both directions and their difference.

    Parameters
    ----------
    path : CSV file with all but the last three columns; None: the bundled table of 60 trainings.

    Returns
    -------
    pair, src, trg; scored : 8 digits that identify the scored sentences; n_train, n : pairs learned from and scored;
    steps; smoothing; seed; mi : true MI, nan if unknown;
    h_lm, h_mt, xmi of src → trg, and h_lm_back, h_mt_back, xmi_back of trg → src; difference = xmi - xmi_back; all in
    bits per sentence; se, se_back, se_difference : standard errors over sentences of xmi, xmi_back and difference.

    Raises
    ------
    DataError with file and line: a missing column, a malformed number; DataError for a training that is listed twice.
    """
    path = bundled("xmi_trainings.csv") if path is None else path
    kinds = _RECIPE | {"seed": int} | dict.fromkeys(_BITS, float)
    table = read_table(path, kinds, keys=[*_RECIPE, "seed"]).reset_index(drop=True)
    table["xmi"], table["xmi_back"] = table.h_lm - table.h_mt, table.h_lm_back - table.h_mt_back
    return table.assign(difference=table.xmi - table.xmi_back)


def train_both_ways(
    pair: ToyPair, seed: int, smoothing: float = 0.0, *, steps: int = 150, n_test: int = 1000
) -> dict[str, float]:
    """Train a toy pair in both directions, two models each, and score `n_test` sentence pairs.

    Parameters
    ----------
    seed : of the training, including the sentences that are learned from; each direction has its own random state.
    smoothing, steps : as in `train_pair`.

    Returns
    -------
    mi, h_lm, h_mt, se, h_lm_back, h_mt_back, se_back, se_difference as in `read_trainings`.
    """
    row, gaps, texts = {"mi": pair.mi}, [], pair.sample(n_test, np.random.default_rng(0))
    for back, end in ((False, ""), (True, "_back")):
        rng = np.random.default_rng([seed, back])
        of = pair.reversed() if back else pair
        models = train_pair(of, rng=rng, steps=steps, smoothing=smoothing)
        found = xmi_from_models(*models, *(texts[::-1] if back else texts), rng=rng)
        bits = -UNITS["nats"] * np.stack([found.lm_logprobs, found.mt_logprobs])
        gaps.append(pointwise_xmi(found.mt_logprobs, found.lm_logprobs))
        row |= {f"h_lm{end}": float(bits[0].mean()), f"h_mt{end}": float(bits[1].mean())}
        row[f"se{end}"] = _error(gaps[-1])
    return row | {"se_difference": _error(gaps[0] - gaps[1])}


def _error(each: np.ndarray) -> float:
    """The standard error of a mean over sentences."""
    return float(each.std(ddof=1) / math.sqrt(len(each)))


def mean_over_trainings(
    values: ArrayLike, ses: ArrayLike | None = None, *, name: str = "mean"
) -> Estimate:
    """The mean of several trainings with Student's interval.

    Without `ses` the interval covers the variation between trainings on these sentences. With `ses` it covers the
    variation between sentences as well, and is a little too wide, as their interaction counts twice.

    Parameters
    ----------
    values : (K,) one number of each training, K at least 2. ses : (K,) their standard errors over sentences.
    name : of the estimate.

    Returns
    -------
    Estimate, n = K trainings; K - 1 degrees of freedom, with `ses` those of Welch and Satterthwaite; the interval is
    then at least as wide.

    >>> mean_over_trainings([1.0, 2.0, 3.0]).text(2)
    'mean 2.00 bits per sentence, 95 % interval -0.48 to 4.48 (n = 3 trainings)'
    """
    each = _trainings(values)
    k, of_runs = len(each), float(each.var(ddof=1)) / len(each)
    of_texts = 0.0
    if ses is not None:
        errors = checks.finite("ses", ses, (k,))
        checks.non_negative("ses", errors.min())
        of_texts = float(np.mean(errors**2))
    variance = of_runs + of_texts
    freedom = (k - 1) * min(variance / of_runs, 1e6) ** 2 if of_runs else math.inf
    mean, errors = float(each.mean()), np.sqrt([of_runs, variance])
    low, high = student(np.full(2, mean), errors, np.array([k, freedom + 1]))
    what = "trainings alone, the same sentences" if ses is None else "trainings and sentences"
    # the wider end of both: more sources of variance never narrow it
    ends = {"low": float(low.min()), "high": float(high.max()), "se": float(errors[1])}
    return _of_trainings(name, mean, k, signature=f"Student's t over {what}", **ends)


def training_spread(values: ArrayLike, *, name: str = "spread") -> Estimate:
    """The standard deviation between trainings, with its interval.

    Parameters
    ----------
    values : (K,) one number of each training, K at least 2. name : of the estimate.

    Returns
    -------
    Estimate, n = K trainings; the interval is that of chi-square, which assumes normal trainings. For K = 5 it
    extends from 0.6 to 2.9 times the value.

    >>> training_spread([1.0, 2.0, 3.0]).text(2)
    'spread 1.00 bits per sentence, 95 % interval 0.52 to 6.28 (n = 3 trainings)'
    """
    from scipy.special import chdtri

    each = _trainings(values)
    spread, k = float(each.std(ddof=1)), len(each)
    low, high = (spread * math.sqrt((k - 1) / chdtri(k - 1, p)) for p in (0.025, 0.975))
    signature = "standard deviation between trainings; chi-square"
    return _of_trainings(name, spread, k, low=low, high=high, signature=signature)


def _of_trainings(name: str, value: float, k: int, **more: Any) -> Estimate:
    return Estimate(name, value, n=k, n_docs=k, of="trainings", unit=SENTENCE, **more)


def _trainings(values: ArrayLike) -> np.ndarray:
    """(K,) finite numbers of at least 2 trainings."""
    each = checks.finite("values", values)
    checks.whole("number of trainings", len(each), 2)
    return each


def luck_table(table: pd.DataFrame) -> pd.DataFrame:
    """Variation between trainings of each pair and label smoothing, beside the difference of directions.

    Parameters
    ----------
    table : of `read_trainings`, at least 2 trainings of each pair and smoothing.

    Returns
    -------
    The columns that trainings of one recipe share (pair, src, trg, ..., smoothing); trainings : how many;
    difference : mean of XMI there less XMI back, bits per sentence; low, high : its 95 % interval over trainings and
    sentences; runs_low, runs_high : over trainings alone; spread : standard deviation between trainings; se :
    standard error of one training over sentences (root mean square); share : spread² / (spread² + se²), the part of
    the variance of one run that is between trainings; decided : "there", "back", or "undecided" if 0 is between low and
    high.
    """
    rows = []
    for shared, part in table.groupby([*_RECIPE], sort=False):
        runs = mean_over_trainings(part.difference)
        both = mean_over_trainings(part.difference, part.se_difference)
        spread = training_spread(part.difference).value
        se = math.sqrt(float((part.se_difference**2).mean()))
        total = spread**2 + se**2
        row: dict[str, Any] = dict(zip(_RECIPE, shared, strict=True))
        row |= {"trainings": len(part), "difference": both.value}
        row |= {"low": both.low, "high": both.high, "runs_low": runs.low, "runs_high": runs.high}
        row |= {"spread": spread, "se": se, "share": spread**2 / total if total else math.nan}
        row["decided"] = "there" if both.low > 0 else "back" if both.high < 0 else "undecided"
        rows.append(row)
    return pd.DataFrame(rows)


def train_pair(
    pair: ToyPair,
    *,
    rng: np.random.Generator,
    n_train: int = 20_000,
    steps: int = 250,
    smoothing: float = 0.0,
) -> tuple[TranslationModel, LanguageModel]:
    """Train q_MT and q_LM for a toy pair: a Marian transformer, and its decoder alone.

    Both see the same target sentences in the same order, with the same tokens (words, and one for
    the end). The loss is cross-entropy.

    Parameters
    ----------
    rng : Generator
        The same state gives the same models, on other processors to about six digits.
    n_train : int
        Sentence pairs, drawn from `pair`; repeated if `steps` batches of 64 need more.
    steps : int
        Of the optimiser for each model; 250 take some 3 seconds on one core of a laptop.
    smoothing : float
        Label smoothing in [0, 1): the share of the target's probability that is spread over the
        vocabulary.

    Returns
    -------
    TranslationModel, LanguageModel: as loaded ones, on the CPU, for sentences below 64 words.

    Raises
    ------
    DataError : a number out of range. MissingExtra : without torch and transformers.
    """
    checks.whole("n_train", n_train)
    checks.whole("steps", steps)
    srcs, trgs = pair.sample(n_train, rng)
    tokenizer = _tokenizer([*pair.sources, *pair.targets])
    number, end = tokenizer.get_vocab(), tokenizer.eos_token_id
    ids = [[[*(number[w] for w in text.split()), end] for text in texts] for texts in (srcs, trgs)]
    with _own_seed(int(rng.integers(2**31))):
        # single precision would depend on the processor: rounding grows from step to step
        both = [model.double() for model in _new_models(tokenizer)]
        order = rng.permutation(n_train)
        with progress(2 * steps, f"training toy {pair.name}", "steps") as step:
            for model in both:
                for _ in _train(model, ids, order, steps, smoothing):
                    step(1)
    smooth = f", label smoothing {smoothing:g}" if smoothing else ""
    name = f"toy {pair.name}, {steps} steps{smooth}"
    mt, lm = (model.float() for model in both)
    named = {"name": name, "revision": IN_MEMORY, "device": "cpu"}
    return translation_model(mt, tokenizer, **named), language_model(lm, tokenizer, **named)


@contextmanager
def _own_seed(seed: int) -> Iterator[None]:
    """One thread and a separate random state, so that the result depends on nothing else."""
    torch = need("torch", _WHY)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # also the fastest for models this small
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(threads)


def _tokenizer(words: Sequence[str]) -> Any:
    """One token per word of either language, and one for the end of every sentence."""
    tokenizers, transformers = need("tokenizers", _WHY), need("transformers", _WHY)
    vocabulary = ["</s>", "<unk>", *dict.fromkeys(words), "<pad>"]
    level = tokenizers.models.WordLevel({w: i for i, w in enumerate(vocabulary)}, unk_token="<unk>")
    tokenizer = tokenizers.Tokenizer(level)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    forms: dict[str, Any] = {"single": "$A </s>", "pair": "$A $B </s>"}
    template = tokenizers.processors.TemplateProcessing(**forms, special_tokens=[("</s>", 0)])
    tokenizer.post_processor = template
    special: dict[str, Any] = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    special["model_max_length"] = _LONGEST
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


def _new_models(tokenizer: Any) -> tuple[Any, Any]:
    """An encoder-decoder, and a decoder of the same shape."""
    transformers = need("transformers", _WHY)
    shape: dict[str, Any] = {
        f"{side}_{what}": n
        for side in ("encoder", "decoder")
        for what, n in (("layers", 1), ("attention_heads", 4), ("ffn_dim", 2 * _WIDTH))
    }
    shape |= {
        "vocab_size": len(tokenizer),
        "d_model": _WIDTH,
        "max_position_embeddings": _LONGEST,
        "init_std": _INIT_STD,
        "dropout": 0.0,
        "eos_token_id": tokenizer.eos_token_id,
    }
    shape |= dict.fromkeys(("pad_token_id", "decoder_start_token_id"), tokenizer.pad_token_id)
    shape |= dict.fromkeys(("bos_token_id", "forced_eos_token_id"))
    alone = transformers.MarianConfig(**shape, is_decoder=True, is_encoder_decoder=False)
    mt = transformers.MarianMTModel(transformers.MarianConfig(**shape))
    return mt, transformers.MarianForCausalLM(alone)


def _train(
    model: Any, ids: Sequence[_Ids], order: np.ndarray, steps: int, smoothing: float
) -> Iterator[None]:
    """Train by Adam with a linear warm-up and a cosine to zero; yield after each step."""
    torch = need("torch", _WHY)
    warm = max(1, round(_WARM_UP * steps))
    how: dict[str, Any] = {"betas": (0.9, 0.98), "weight_decay": 0.01, "fused": True}
    optimizer = torch.optim.AdamW(model.parameters(), _RATE, **how)

    def rate(k: int) -> float:
        cosine = (1 + math.cos(math.pi * (k - warm) / max(1, steps - warm))) / 2
        return (k + 1) / warm if k < warm else cosine

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    for k in range(steps):
        batch = order[np.arange(k * _BATCH, (k + 1) * _BATCH) % len(order)]
        srcs, trgs = ([rows[i] for i in batch] for rows in ids)
        _loss(model, srcs, trgs, smoothing).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        yield


def _loss(model: Any, srcs: _Ids, trgs: _Ids, smoothing: float) -> Any:
    """Mean over sentences of -ln q, summed over the tokens of the target and its end."""
    torch = need("torch", _WHY)
    pad = model.config.pad_token_id
    source, target = (
        torch.tensor([row + [pad] * (max(map(len, rows)) - len(row)) for row in rows])
        for rows in (srcs, trgs)
    )
    # pad is the start of a sentence as well
    before = torch.nn.functional.pad(target[:, :-1], (1, 0), value=pad)
    if model.config.is_encoder_decoder:
        read = {"input_ids": source, "attention_mask": source != pad, "decoder_input_ids": before}
    else:
        read = {"input_ids": before}
    logits = model(**read, use_cache=False).logits.flatten(0, 1)
    how = {"ignore_index": pad, "reduction": "sum", "label_smoothing": smoothing}
    return torch.nn.functional.cross_entropy(logits, target.flatten(), **how) / len(trgs)
