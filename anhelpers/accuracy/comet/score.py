"""COMET scores: every distinct text tokenised and encoded once where the architecture allows it, else every triple."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ... import models
from ...errors import need
from ...metrics import Asked, Metric
from ...models import batches, padded
from ..learned import Learned, learned_metric, short_name, token_budget
from .load import Comet, load_comet

ROWS = 4096  # of the estimator at a time


def comet_metric(
    name: str | Path,
    n_refs: int | str = 1,
    *,
    reference: bool = True,
    called: str | None = None,
    **options: Any,
) -> Metric:
    """COMET as a metric: a score for each segment, about 0 to 1, higher is better; of a system their mean.

    Scores equal those of comet's `predict` in float32 to its own rounding (its batches of 8 and of 16 differ by 1e-7).
    As there, a blank hypothesis gets a score like any text, and a text beyond the encoder's positions loses its end;
    both are counted in notes. Several references, which comet does not know: the mean of the scores with each that is
    not missing.

    Parameters
    ----------
    name : checkpoint, folder or hub id, as in `load_comet`.
    n_refs : how many references every segment will have, or "var".
    reference : False: without the reference, for a model that can (XCOMET).
    called : name of the Metric; by default "comet:" and the model's own.
    options : revision, device, dtype of `load_comet`.

    References
    ----------
    Rei et al. 2020, 2022 (COMET, CometKiwi), Guerreiro et al. 2024 (XCOMET).
    """
    comet = load_comet(name, reference=reference, **options)
    short = short_name(comet.name)
    learned = Learned(
        name=called or f"comet{'' if reference else '-qe'}:{short}",
        label=("" if short.lower().startswith("xcomet") else "COMET ")
        + short
        + ("" if reference else " without reference"),
        unit="points, about 0 to 1",
        higher_is_better=True,
        signature=comet.signature,
        reads=comet.reads,
        limit=comet.limit,
        score=lambda rows: comet_scores(comet, rows),
    )
    return learned_metric(learned, n_refs)


def named(asked: Asked) -> Metric:
    """The COMET of a row of the table of metrics, with the reference where the row sees it."""
    reference = "reference" in asked.sees
    return comet_metric(
        asked.model, asked.n_refs, reference=reference, called=asked.called, **asked.options
    )


def comet_scores(
    comet: Comet, rows: Sequence[tuple[str, ...]], tokens_per_batch: int | None = None
) -> np.ndarray:
    """(m, 2): the score of each tuple of texts, in the order of `comet.reads`; and 1 where a text of it was cut.

    Parameters
    ----------
    tokens_per_batch : padded tokens per forward pass; the default suits the device.

    Raises
    ------
    AnhelpersError where the model gives nan.
    """
    torch = need("torch", "COMET")
    budget = tokens_per_batch or token_budget(comet.device)
    with torch.inference_mode():
        out = (_by_text if comet.separate else _by_row)(comet, rows, budget)
    return models.finite_output(out, comet.name)


def _by_text(comet: Comet, rows: Sequence[tuple[str, ...]], budget: int) -> np.ndarray:
    """Sentence embeddings of distinct texts, then the estimator on them."""
    texts = list({text: None for row in rows for text in row})
    where = {text: i for i, text in enumerate(texts)}
    embedded, cut = _embeddings(comet, texts, budget)
    at = np.array([[where[text] for text in row] for row in rows], np.int64).reshape(
        len(rows), len(comet.reads)
    )
    out = np.empty((len(rows), 2))
    out[:, 1] = cut[at].any(1)
    for start in range(0, len(rows), ROWS):
        chunk = {
            kind: embedded[column]
            for kind, column in zip(comet.reads, at[start : start + ROWS].T, strict=True)
        }
        out[start : start + ROWS, 0] = _estimate(comet, chunk).double().cpu().numpy()
    return out


def _embeddings(comet: Comet, texts: Sequence[str], budget: int) -> tuple[Any, np.ndarray]:
    """(n, d) sentence embeddings on the device, and which of the n texts were cut."""
    model = comet.model
    ids, cut = _token_ids(comet, texts)
    pad, out = model.encoder.tokenizer.pad_token_id, None
    for batch in batches([len(i) for i in ids], budget):
        x, real = padded([ids[i] for i in batch], pad, comet.device)
        embedded = model.get_sentence_embedding(x, real.long())
        if out is None:
            out = embedded.new_empty((len(texts), embedded.shape[1]))
        out[batch] = embedded
    return out, cut


def _estimate(comet: Comet, embedded: dict[str, Any]) -> Any:
    """The estimator on the embeddings and their products and differences, in the model's order."""
    if "ref" in embedded:
        return comet.model.estimate(embedded["src"], embedded["hyp"], embedded["ref"]).score
    torch, src, hyp = need("torch", "COMET"), embedded["src"], embedded["hyp"]
    return comet.model.estimator(torch.cat((hyp, src, hyp * src, (hyp - src).abs()), dim=1)).view(
        -1
    )


def _by_row(comet: Comet, rows: Sequence[tuple[str, ...]], budget: int) -> np.ndarray:
    """Models that read hypothesis, source and reference as one sequence: comet's own step on batches of like length."""
    texts = list({text: None for row in rows for text in row})
    ids, cut = _token_ids(comet, texts)
    length, was_cut = (dict(zip(texts, values, strict=True)) for values in (map(len, ids), cut))
    encoder, names = comet.model.encoder, ["mt" if kind == "hyp" else kind for kind in comet.reads]
    special = 2 + (len(names) - 1) * encoder.size_separator
    joined = [special + sum(length[text] - 2 for text in row) for row in rows]
    out = np.empty((len(rows), 2))
    out[:, 1] = [
        n > encoder.max_positions or any(was_cut[text] for text in row)
        for n, row in zip(joined, rows, strict=True)
    ]
    for batch in batches(joined, budget):
        samples = [dict(zip(names, rows[i], strict=True)) for i in batch]
        inputs = [
            _on(comet.device, one) for one in comet.model.prepare_sample(samples, stage="predict")
        ]
        out[batch, 0] = comet.model.predict_step(tuple(inputs)).scores.double().cpu().numpy()
    return out


def _on(device: str, inputs: dict) -> dict:
    """The tensors of a batch moved to the device; offsets of words stay lists."""
    return {
        name: value.to(device) if hasattr(value, "to") else value for name, value in inputs.items()
    }


def _token_ids(comet: Comet, texts: Sequence[str]) -> tuple[list[list[int]], np.ndarray]:
    """The ids of each text, cut where comet cuts it, and which were cut."""
    tokenizer = comet.model.encoder.tokenizer
    ids = (
        tokenizer(list(texts), truncation=True, max_length=comet.longest)["input_ids"]
        if len(texts)
        else []
    )
    cut = np.zeros(len(texts), bool)
    full = [i for i, one in enumerate(ids) if len(one) == comet.longest]
    if full:
        whole = tokenizer([texts[i] for i in full], truncation=False, verbose=False)["input_ids"]
        cut[full] = [len(one) > comet.longest for one in whole]
    return ids, cut
