"""log q_MT(t | s) of given translations by teacher forcing: every token predicted from the source and those before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import checks, hub
from ..errors import need
from ..scoring.batches import TOKENS_PER_BATCH, batches, padded
from ..scoring.memo import memo
from ..scoring.worker import Made, loaded_recipe
from .load import TranslationModel, load_mt

__all__ = ["PairLogProbs", "made", "score_call", "score_pairs", "source_ids", "target_tokens"]

LOGITS_PER_BATCH = {"cpu": 2**24, "cuda": 2**29}  # 64 MiB and 2 GiB of float32
ROWS = {"cpu": 64, "cuda": 1024}  # of log-softmax at a time: on a CPU they stay in its cache
# between two chances to commit; to encode a source again for each is a thousandth of the work
TARGETS_PER_CALL = 1024

Pair = tuple[list[int], list[int]]


@dataclass(frozen=True)
class PairLogProbs:
    """Per pair: summed log-probability of the target, nan (never 0) where it has none, and its number of tokens.

    Parameters
    ----------
    total : (n,) log q(t | s) in nats, over the target's tokens and one end-of-sequence token; nan for a blank target
        and where source or target are longer than the model takes: nothing is cut.
    tokens : (n,) number of target tokens, end of sequence included, of too long targets too; 0 for a blank target.
    too_long : (n,) bool, source or target longer than the model takes.
    unknown : (n,) target tokens that the tokenizer does not know, scored as its unknown token.
    """

    total: np.ndarray
    tokens: np.ndarray
    too_long: np.ndarray
    unknown: np.ndarray

    @property
    def notes(self) -> list[str]:
        """What a reader of the scores must know: how many targets were blank, too long, or hold unknown tokens."""
        said = [
            (int((self.tokens == 0).sum()), "have a blank target: excluded (nan)"),
            (int(self.too_long.sum()), "are longer than the model takes: excluded (nan)"),
            (
                int((self.unknown > 0).sum()),
                "hold tokens that the model does not know, scored as its unknown token",
            ),
        ]
        return [f"{n} of {len(self.tokens)} pairs {what}." for n, what in said if n]


def score_pairs(
    mt: TranslationModel,
    srcs: Sequence[str],
    trgs: Sequence[str],
    tokens_per_batch: int | None = None,
) -> PairLogProbs:
    """Log-probability of each translation given its source, Σ log q(t_j | t_<j, s), the end of the sentence included.

    Equal pairs are scored once, and a source with many targets is encoded once; a batch of 1 equals a batch of 32.
    What the score store knows is not computed again (`scoring.memo`).

    Parameters
    ----------
    srcs, trgs : n sources and n targets; "" as source is what a model trained without sources sees.
    tokens_per_batch : padded tokens per forward pass; the default suits the device.

    Raises
    ------
    DataError : different numbers, or something that is not a text. AnhelpersError : the model gives nan for a pair that
    is neither blank nor too long.
    """
    checks.texts("srcs", srcs)
    checks.texts("trgs", trgs)
    checks.same_length(srcs=srcs, trgs=trgs)
    pairs = list(zip(srcs, trgs, strict=True))
    budget = tokens_per_batch or TOKENS_PER_BATCH[hub.kind(mt.device)]
    of_src: dict[str, list[int]] = {}
    of_trg: dict[str, list[int]] = {}

    def calls(missing: np.ndarray) -> Iterator[list[int]]:
        for known, side, encode in ((of_src, 0, source_ids), (of_trg, 1, _target_ids)):
            texts = list(dict.fromkeys(pairs[i][side] for i in missing))
            known.update(zip(texts, encode(mt, texts), strict=True))
        hub.known_ids(
            of_src.values(), mt.model.get_encoder().get_input_embeddings().weight.shape[0], mt.name
        )
        hub.known_ids(of_trg.values(), mt.model.get_output_embeddings().weight.shape[0], mt.name)
        return _calls(
            mt, {i: (of_src[pairs[i][0]], of_trg[pairs[i][1]]) for i in missing.tolist()}, budget
        )

    def compute(indices: np.ndarray) -> np.ndarray:
        return _scores(mt, [(of_src[pairs[i][0]], of_trg[pairs[i][1]]) for i in indices], budget)

    what = f"log-probabilities under {mt.name}"
    recipe = loaded_recipe(
        "translation.score:made", mt, src_lang=mt.src_lang, trg_lang=mt.trg_lang, task=mt.task
    )
    total, tokens, too_long, unknown = memo(
        mt.signature(),
        pairs,
        compute,
        width=4,
        groups=calls,
        what=what,
        recipe=recipe,
        detail=lambda indices: budget,
        possible=lambda scores: (scores[:, 1] == 0) | (scores[:, 2] > 0) | (scores[:, 0] < np.inf),
    ).T
    return PairLogProbs(total, tokens.astype(np.int64), too_long > 0, unknown.astype(np.int64))


def score_call(mt: TranslationModel, pairs: Sequence[tuple[str, str]], budget: int) -> np.ndarray:
    """(m, 4) for the pairs of one call of `score_pairs`, bit for bit: log-probability, tokens, too long, unknown."""
    srcs, trgs = zip(*pairs, strict=True)
    return _scores(mt, list(zip(source_ids(mt, srcs), _target_ids(mt, trgs), strict=True)), budget)


def made(name: str, revision: str | None, **options: Any) -> Made:
    """The scores of `score_pairs` on a worker, as its recipe says; a call's own batches where they are given.

    Parameters
    ----------
    name, revision, options : as in `load_mt`.
    """
    mt = load_mt(name, revision, **options)

    def compute(pairs: list[tuple[str, str]], detail: Any) -> np.ndarray:
        if detail is not None:
            return score_call(mt, pairs, detail)
        srcs, hyps = zip(*pairs, strict=True)
        scores = score_pairs(mt, srcs, hyps)
        return np.stack([scores.total, scores.tokens, scores.too_long, scores.unknown], 1)

    return Made(mt.signature(), mt.device, compute)


def target_tokens(mt: TranslationModel, trgs: Sequence[str]) -> list[tuple[str, ...]]:
    """The tokens of each target that `score_pairs` scores, end of sequence included; none for a blank target."""
    checks.texts("trgs", trgs)
    return [tuple(mt.tokenizer.convert_ids_to_tokens(ids)) for ids in _target_ids(mt, trgs)]


def _target_ids(mt: TranslationModel, trgs: Sequence[str]) -> list[list[int]]:
    """The text's tokens and one EOS, whatever the tokenizer would add; blank: []."""
    ids = hub.plain_ids(_ready(mt), trgs)
    return [
        [*i, mt.tokenizer.eos_token_id] if t.strip() else [] for t, i in zip(trgs, ids, strict=True)
    ]


def source_ids(mt: TranslationModel, srcs: Sequence[str]) -> list[list[int]]:
    """What the encoder sees: language code and task, the text as text, and the tokenizer's own special tokens."""
    marian = hasattr(mt.tokenizer, "spm_target")
    before = f"{mt.trg_lang} {mt.task}" if marian and mt.trg_lang else mt.task
    texts = [" " + s if marian and not before and s.startswith(">>") else before + s for s in srcs]
    return hub.encode(_ready(mt), texts)


def _ready(mt: TranslationModel) -> Any:
    """The tokenizer set to this model's languages: it may be shared, and keeps the last ones."""
    if mt.trg_lang and mt.src_lang:
        mt.tokenizer.src_lang, mt.tokenizer.tgt_lang = mt.src_lang, mt.trg_lang
    return mt.tokenizer


def _calls(mt: TranslationModel, ids: Mapping[int, Pair], budget: int) -> Iterator[list[int]]:
    """Pairs that are scored together: those without a score, then sources of like length with all their targets.

    A source with more targets than one call takes is encoded for each call. Without the pairs of the first calls the
    others are as before: what the store's `memo` asks for.
    """
    if without := [i for i, pair in ids.items() if not _scorable(mt, *pair)]:
        yield without
    owned: dict[tuple[int, ...], list[int]] = {}
    for i in sorted(ids.keys() - set(without), key=lambda i: (-len(ids[i][1]), i)):
        owned.setdefault(tuple(ids[i][0]), []).append(i)
    parts = [
        some[k : k + TARGETS_PER_CALL]
        for some in owned.values()
        for k in range(0, len(some), TARGETS_PER_CALL)
    ]
    call: list[int] = []
    sources = longest = 0
    for part in sorted(
        parts, key=lambda part: (-len(ids[part[0]][0]), -len(ids[part[0]][1]), part[0])
    ):
        if call and ((sources + 1) * longest > budget or len(call) + len(part) > TARGETS_PER_CALL):
            yield call
            call, sources = [], 0
        longest = longest if call else len(ids[part[0]][0])
        call = call + part
        sources += 1
    if call:
        yield call


def _scorable(mt: TranslationModel, src: Sequence[int], trg: Sequence[int]) -> bool:
    return len(trg) > 0 and not _too_long(mt, src, trg)


def _too_long(mt: TranslationModel, src: Sequence[int], trg: Sequence[int]) -> bool:
    return len(trg) > 0 and max(len(src), len(trg) + len(mt.prefix) - 1) > mt.max_tokens


def _scores(mt: TranslationModel, ids: Sequence[Pair], budget: int) -> np.ndarray:
    """(m, 4) of the pairs of a call: log-probability, target tokens, whether too long, unknown target tokens."""
    unknown = mt.tokenizer.unk_token_id
    scores = np.array(
        [(np.nan, len(trg), _too_long(mt, src, trg), trg.count(unknown)) for src, trg in ids]
    )
    some = sorted(
        (i for i, pair in enumerate(ids) if _scorable(mt, *pair)), key=lambda i: -len(ids[i][1])
    )
    if not some:
        return scores
    row = {src: k for k, src in enumerate(dict.fromkeys(tuple(ids[i][0]) for i in some))}
    hidden, mask = _encode(mt, list(row))
    n_vocab = mt.model.get_output_embeddings().weight.shape[0]
    rows = min(budget, max(1, LOGITS_PER_BATCH[hub.kind(mt.device)] // n_vocab))
    most = budget // hidden.shape[1]  # targets beside sources of this length
    for batch in batches([len(mt.prefix) - 1 + len(ids[i][1]) for i in some], rows, most):
        part = [some[k] for k in batch]
        owner = [row[tuple(ids[i][0])] for i in part]
        scores[part, 0] = _decode(mt, hidden[owner], mask[owner], [ids[i][1] for i in part])
    return scores


def _encode(mt: TranslationModel, sources: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """(b, length, width) hidden states and the (b, length) mask of real positions; padding stands on the right."""
    torch = need("torch", "scoring translations")
    x, real = padded(sources, mt.tokenizer.pad_token_id or 0, mt.device)
    mask = real.long()
    with torch.inference_mode():
        return mt.model.get_encoder()(input_ids=x, attention_mask=mask)[0], mask


def _decode(
    mt: TranslationModel, hidden: Any, mask: Any, targets: Sequence[list[int]]
) -> np.ndarray:
    """(b,) the log-probability of each target: float64 sums of a float32 log-softmax of the model's own logits.

    Padding stands on the right and the decoder is causal, so it needs no mask there.
    """
    torch = need("torch", "scoring translations")
    outputs = need("transformers", "scoring translations").modeling_outputs
    before, source = len(mt.prefix) - 1, int(mask.sum(1).max())
    y, real = padded(targets, mt.tokenizer.eos_token_id, mt.device)
    given = torch.tensor([mt.prefix] * len(targets), device=mt.device)
    with torch.inference_mode():
        logits = mt.model(
            encoder_outputs=outputs.BaseModelOutput(last_hidden_state=hidden[:, :source]),
            attention_mask=mask[:, :source],
            decoder_input_ids=torch.cat([given, y[:, :-1]], 1),
            use_cache=False,
        ).logits[:, before:]
        if mt.never:
            logits[..., list(mt.never)] = -torch.inf
        flat, y = logits.flatten(0, 1), y.flatten()
        each = torch.zeros(real.numel(), dtype=torch.float64, device=mt.device)
        # in parts, and not by logsumexp: a process' first torch.exp can be off by 1e-4 (torch 2.13, MKL)
        for k in real.flatten().nonzero()[:, 0].split(ROWS[hub.kind(mt.device)]):
            each[k] = flat[k].float().log_softmax(1).gather(1, y[k, None])[:, 0].double()
        totals = each.view_as(real).sum(1).cpu().numpy()
    return hub.finite_output(
        totals, mt.model, mt.name, np.array([not set(mt.never).isdisjoint(one) for one in targets])
    )
