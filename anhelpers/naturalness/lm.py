"""Log-probabilities of texts under a causal language model of transformers: Γ(y) of AN §5.1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import checks, hub
from ..data.fetch import bundled_too
from ..data.languages import short_code
from ..errors import DataError
from ..metrics import Asked, Metric
from ..progress import note
from ..scoring.batches import TOKENS_PER_BATCH, batches, padded
from ..scoring.memo import looks_nothing_up, memo
from ..scoring.worker import Made, loaded_recipe
from . import packed
from .load import LanguageModel, language_model, load_lm

__all__ = [
    "LanguageModel",
    "TextLogProbs",
    "bits_per_byte_metric",
    "language_model",
    "lm_tokens",
    "load_lm",
    "lpp_metric",
    "made",
    "named_bpb",
    "named_lpp",
    "score_call",
    "score_texts",
]


@dataclass(frozen=True)
class TextLogProbs:
    """Per text: summed log-probability and the number of scored tokens; texts without a scored token are nan, never 0.

    Parameters
    ----------
    total : (n,) log Γ(y) in nats, nan for an empty text.
    tokens : (n,) number of scored tokens |y|.
    windowed : (n,) bool: longer than the model's context, so scored in half-overlapping windows.
    """

    total: np.ndarray
    tokens: np.ndarray
    windowed: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """(n,) log Γ(y) / |y| in nats per token (AN eq. 5), nan for an empty text."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.tokens > 0, self.total / self.tokens, np.nan)

    @property
    def notes(self) -> list[str]:
        """What a reader of the scores must know: how many texts were empty or longer than the model's context."""
        empty, long = int((self.tokens == 0).sum()), int(self.windowed.sum())
        said = [
            (empty, "without a scored token: excluded (nan)"),
            (long, "longer than the context: scored in windows"),
        ]
        return [f"{n} of {len(self.tokens)} texts {what}." for n, what in said if n]


def score_texts(
    lm: LanguageModel,
    texts: Sequence[str],
    eos: bool = False,
    tokens_per_batch: int | None = None,
    *,
    share_prefixes: bool | None = None,
) -> TextLogProbs:
    """Log-probability log Γ(y) and number of tokens |y| of every text; equal texts are scored once.

    Where texts begin alike, each distinct prefix is read once (`packed`): the same numbers, so the same signature.

    What the score store knows is not computed again (`scoring.memo`). A score has the bits of the batch in which it was
    computed; the size of a batch, and the other texts in it, move it by at most 2e-6 nats per token.

    Parameters
    ----------
    texts : n target texts; a blank one gets total nan and 0 tokens.
    eos : whether the end-of-sequence token is scored (and counted) as well.
    tokens_per_batch : padded tokens per forward pass; the default suits the device.
    share_prefixes : None decides by what texts have in common; True shares whatever can be shared, False nothing.

    Raises
    ------
    DataError where a text is not a string, or `eos` is asked of a model that has no such token; AnhelpersError where
    the model gives nan, for a text that is not blank.
    """
    _check(lm, texts, eos)
    known, there = _kept(lm, texts, eos)
    if not there.all():
        missing = [text for text, done in zip(texts, there, strict=True) if not done]
        known[~there] = _computed(lm, missing, eos, tokens_per_batch, share_prefixes)
    total, tokens, windowed = known.T
    return TextLogProbs(total, tokens.astype(np.int64), windowed > 0)


def _kept(lm: LanguageModel, texts: Sequence[str], eos: bool) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3) scores that came with the model, and (n,) of which texts; none while no score is looked up."""
    if lm.kept is None or looks_nothing_up():
        return np.full((len(texts), 3), np.nan), np.zeros(len(texts), bool)
    return lm.kept.get(eos, texts)


def _computed(
    lm: LanguageModel,
    texts: Sequence[str],
    eos: bool,
    tokens_per_batch: int | None,
    share_prefixes: bool | None,
) -> np.ndarray:
    """(n, 3) of `score_texts` for texts whose scores did not come with the model."""
    budget = tokens_per_batch or TOKENS_PER_BATCH[hub.kind(lm.device)]
    ids: dict[int, list[int]] = {}
    trees: dict[int, np.ndarray] = {}  # first text of a pack -> where each of its trees ends

    def groups(missing: np.ndarray) -> Iterator[list[int]]:
        ids.update(
            zip(missing.tolist(), _token_ids(lm, [texts[i] for i in missing], eos), strict=True)
        )
        hub.known_ids(ids.values(), lm.model.get_input_embeddings().weight.shape[0], lm.name)
        shared: set[int] = set()
        for rows in packed.packs(lm, ids, budget, share_prefixes):
            pack = [i for row in rows for i in row]
            trees[pack[0]] = np.cumsum([len(row) for row in rows])
            shared.update(pack)
            yield pack
        yield from _groups(
            {i: text for i, text in ids.items() if i not in shared}, lm.max_tokens, budget
        )

    def compute(indices: np.ndarray) -> np.ndarray:
        sequences, ends = [ids.pop(i) for i in indices.tolist()], trees.pop(int(indices[0]), None)
        return (
            _scores(lm, sequences, budget)
            if ends is None
            else packed.packed_scores(lm, sequences, ends)
        )

    return memo(
        lm.signature(eos),
        texts,
        compute,
        width=3,
        groups=groups,
        what=f"log-probabilities under {lm.name}",
        recipe=loaded_recipe("naturalness.lm:made", lm, eos=eos, share_prefixes=share_prefixes),
        detail=lambda indices: (budget, trees.get(int(indices[0]))),
        possible=lambda scores: (scores[:, 1] == 0) | (scores[:, 0] < np.inf),
    )


def score_call(
    lm: LanguageModel, texts: Sequence[str], eos: bool, budget: int, ends: Sequence[int] | None
) -> np.ndarray:
    """(m, 3) for the texts of one call of `score_texts`, bit for bit: log-probability, scored tokens, in windows.

    Parameters
    ----------
    ends : where each tree of a pack ends; None for texts that are read whole.
    """
    ids = _token_ids(lm, texts, eos)
    return _scores(lm, ids, budget) if ends is None else packed.packed_scores(lm, ids, ends)


def made(
    name: str, revision: str | None, eos: bool, share_prefixes: bool | None, **options: Any
) -> Made:
    """The scores of `score_texts` on a worker, as its recipe says; a call's own batches where they are given.

    Parameters
    ----------
    name, revision : as in `load_lm`. eos, share_prefixes : as in `score_texts`. options : of `load_lm`.
    """
    lm = load_lm(name, revision, **options)

    def compute(texts: list[str], detail: Any) -> np.ndarray:
        if detail is not None:
            return score_call(lm, texts, eos, *detail)
        scores = score_texts(lm, texts, eos, share_prefixes=share_prefixes)
        return np.stack([scores.total, scores.tokens, scores.windowed], 1)

    return Made(lm.signature(eos), lm.device, compute)


def _check(lm: LanguageModel, texts: Sequence[str], eos: bool) -> None:
    """A DataError for the first that is no text, or for an end of sequence that the model does not know."""
    checks.texts("texts", texts)
    if eos and not lm.ends:
        raise DataError(f"{lm.name} has no end-of-sequence token; leave eos=False.")


def _groups(ids: Mapping[int, Sequence[int]], longest: int, budget: int) -> Iterator[list[int]]:
    """Texts that are scored together, longest first, so that padding is small and memory runs out at once or never.

    Without the texts of the first groups the others are as before: what the store's `memo` asks for.
    """
    group: list[int] = []
    rows = width = 0
    for i in sorted(ids, key=lambda i: -len(ids[i])):
        windows = 1 + len(range(longest - longest // 2, len(ids[i]) - longest // 2, longest // 2))
        if group and (rows + windows) * width > budget:
            yield group
            group, rows = [], 0
        width = width if group else min(len(ids[i]), longest)
        group.append(i)
        rows += windows
    if group:
        yield group


def _scores(lm: LanguageModel, ids: Sequence[Sequence[int]], budget: int) -> np.ndarray:
    """(m, 3) for the texts of a group: log-probability, scored tokens, whether in windows."""
    total, tokens, windows = np.zeros((3, len(ids)))
    parts = list(_windows(ids, lm.max_tokens))
    for rows in batches([len(window) for _, window, _ in parts], budget):
        batch = [parts[row] for row in rows]
        for (owner, window, skip), logprobs in zip(
            batch, _forward(lm, [w for _, w, _ in batch]), strict=True
        ):
            total[owner] += logprobs[skip:].sum()
            tokens[owner] += len(window) - 1 - skip
            windows[owner] += 1
    total[tokens == 0] = np.nan
    return np.stack([total, tokens, windows > 1], 1)


def lm_tokens(lm: LanguageModel, texts: Sequence[str], eos: bool = True) -> list[tuple[str, ...]]:
    """The tokens of each text that `score_texts` scores, as the tokenizer writes them; none for a blank text."""
    _check(lm, texts, eos)
    return [
        tuple(lm.tokenizer.convert_ids_to_tokens(ids[1:])) for ids in _token_ids(lm, texts, eos)
    ]


def _token_ids(lm: LanguageModel, texts: Sequence[str], eos: bool) -> list[list[int]]:
    """Context token once, the text as text (a literal "</s>" in it is no special token), EOS if asked; blank: []."""
    ids = hub.plain_ids(lm.tokenizer, texts)
    before = [] if lm.context_token is None else [lm.context_token]
    after = [lm.tokenizer.eos_token_id] if eos else []
    return [
        [*before, *i, *after] if text.strip() else [] for text, i in zip(texts, ids, strict=True)
    ]


def _windows(
    ids: Sequence[Sequence[int]], longest: int
) -> Iterator[tuple[int, Sequence[int], int]]:
    """(text, ids, predictions to skip): whole texts, or windows overlapping by half; each token is scored once."""
    half = longest // 2
    for owner, sequence in enumerate(ids):
        if len(sequence) > 1:
            yield owner, sequence[:longest], 0
        for start in range(longest - half, len(sequence) - half, half):
            yield owner, sequence[start : start + longest], half - 1


def _forward(lm: LanguageModel, batch: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """Log-probability of every token after the first, per sequence, float64 values of a float32 log-softmax.

    Padding stands on the right and attention is causal, so no mask is needed; logits are made for real positions only.
    """
    # not the pad token: some models hide it by themselves
    fill = 1 if lm.tokenizer.pad_token_id == 0 else 0
    x, real = padded(batch, fill, lm.device)
    flat = lm.log_probs(x[:, :-1], real[:, 1:], x[:, 1:][real[:, 1:]])
    return np.split(flat, np.cumsum([len(one) - 1 for one in batch[:-1]]))


def bits_per_byte_metric(lm: LanguageModel, trg_lang: str | None = None) -> Metric:
    """-log2 Γ(y) over the bytes of y in UTF-8, end of text included, as a metric: lower is more natural.

    Comparable between models of any tokens, as a mean per token is not. A corpus has all its bits over all its bytes.
    Blank texts are nan. `trg_lang` as in `lpp_metric`.
    """
    eos = lm.ends
    signature = f"bpb|{lpp_metric(lm, eos, trg_lang).signature.removeprefix('lpp|')}"

    def count(hyps: Sequence[str], refs: Any = None, segment: Any = None) -> np.ndarray:
        scores = score_texts(lm, hyps, eos)
        for sentence in scores.notes:
            note(f"bits per byte under {lm.name}: {sentence}")
        sizes = np.array(
            [len(text.encode("utf-8", "surrogatepass")) for text in hyps], dtype=np.float64
        )
        blank = np.isnan(scores.total)
        return np.where(blank[:, None], 0.0, np.stack([-scores.total / np.log(2), sizes], 1))

    def score_count(counts: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return counts[..., 0] / counts[..., 1]

    return Metric(
        "bpb",
        f"bits per byte under {lm.name}",
        "bits per byte of UTF-8",
        False,
        (),
        signature,
        lambda hyps, refs=None, srcs=None, segment=None: score_count(count(hyps)),
        lambda hyps, refs=None, srcs=None: float(score_count(count(hyps).sum(0))),
        count=count,
        score_count=score_count,
        skips_blank=True,
        bounds=(0.0, np.inf),
        lang=lm.language,
    )


def lpp_metric(lm: LanguageModel, eos: bool = False, trg_lang: str | None = None) -> Metric:
    """-log Γ(y)/|y| in nats per token as a metric: lower is more natural (AN §5.1); blank texts are nan.

    How many texts were blank or longer than the model's context is told on stderr. `trg_lang` is the language of the
    texts: a DataError where the model is known to know another one only.
    """
    lang = short_code(trg_lang or "und")
    if lm.language and lang not in ("und", short_code(lm.language)):
        other = bundled_too(f"lm/{lang}-small", lang, f"{lang}-small (--lm bundled)")
        raise DataError(
            f"{lm.name} knows only '{lm.language}' and the texts are '{trg_lang}'; {other}name "
            "another language model (--lm MODEL, or -p lm MODEL for a notebook), train one (anhelpers "
            "train-lm), or measure naturalness without one (anhelpers score -m mattr)."
        )

    def score_segments(
        hyps: Sequence[str], refs: Any = None, srcs: Any = None, segment: Any = None
    ) -> np.ndarray:
        scores = score_texts(lm, hyps, eos)
        for sentence in scores.notes:
            note(f"log-perplexity under {lm.name}: {sentence}")
        return -scores.mean

    return Metric(
        "lpp",
        f"log-perplexity under {lm.name}",
        "nats per token",
        False,
        (),
        lm.signature(eos),
        score_segments,
        bounds=(0.0, np.inf),
        lang=lm.language,
    )


def named_lpp(asked: Asked) -> Metric:
    """`lpp_metric` as the table of metrics asks for it."""
    return lpp_metric(asked.lm, trg_lang=asked.lang)


def named_bpb(asked: Asked) -> Metric:
    """`bits_per_byte_metric` as the table of metrics asks for it."""
    return bits_per_byte_metric(asked.lm, asked.lang)
