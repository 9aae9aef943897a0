"""COMET models of unbabel-comet, and what all learned metrics share: references, sources, cached scores, notes.

Each distinct text is tokenised once, and encoded once where a model's architecture allows it.
"""

import hashlib
import logging
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, models
from ..errors import AnhelpersError, DataError, need
from ..metrics import Asked, Metric, signature_of
from ..models import batches, padded
from ..progress import note
from ..scoring.cache import cached, groups
from .surface import _check_number, _streams

_NEEDS = {"src": "srcs", "ref": "refs"}
_DTYPES = ("float32", "float16")  # comet's estimator takes no bfloat16
_FIELDS = ("src", "hyp", "ref")
# class in hparams.yaml -> what it reads; None: its input_segments
_READS = {
    "regression_metric": _FIELDS,
    "referenceless_regression_metric": _FIELDS[:2],
    "unified_metric": None,
    "xcomet_metric": _FIELDS,
}
# comet's tokenizer of every encoder of the kind MiniLM
_MINILM = "xlm-roberta-base"
_ROWS = 4096  # of the estimator at a time


@dataclass(frozen=True)
class _Comet:
    """A loaded model with all that its signature contains.

    Parameters
    ----------
    model : Any
        The module of comet, in evaluation mode.
    name, revision : str
        Hub id or name of the folder; hub commit, or sha256 of a local checkpoint, 12 hex digits.
    kind : str
        comet's name of the class, such as "regression_metric".
    encoder : str
        Name and revision, such as "xlm-roberta-large@c23d21b0620b".
    reads : tuple of "src", "hyp", "ref"
    dtype : str
        Of the weights. comet 2.2.7 computes in float32 in `predict`, in float16 in its `comet-score`.
    device : str
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
        """Whether each text is encoded by itself, so that a source is encoded once for all hypotheses."""
        return "regression" in self.kind

    @property
    def longest(self) -> int:
        """Longest text in tokens, special ones included; comet cuts longer ones."""
        return self.model.encoder.max_positions - 2

    @property
    def signature(self) -> str:
        """Everything that decides a score, in sacreBLEU's key:value style."""
        parts = {"comet": None, "model": self.name, "rev": self.revision, "class": self.kind}
        parts |= {"reads": "+".join(self.reads), "enc": self.encoder, "dtype": self.dtype}
        versions = {"version": need("comet", "COMET").__version__}
        versions["transformers"] = need("transformers", "COMET").__version__
        return signature_of(parts | {"max": self.longest} | versions)


def _load_comet(
    name: str | Path, *, reference: bool = True, device: str | None = None, dtype: str = "float32"
) -> _Comet:
    """Load a COMET model. torch reads only weights and plain values of its pickle.

    Parameters
    ----------
    name : str or Path
        A .ckpt file with hparams.yaml beside it or in the folder above, a folder with both, or a hub id, optionally
        "id@revision", such as "Unbabel/wmt22-comet-da".
    reference : bool
        Whether a model that can do without (unified, XCOMET) reads the reference.
    device : str, optional
        "cpu", "cuda", "cuda:1"; by default a GPU if there is one.
    dtype : {"float32", "float16"}

    Raises
    ------
    MissingExtra without comet; UnknownName for a ranker or a different class; DataError if the model cannot do without
    the reference; AnhelpersError if it cannot be loaded.
    """
    checks.one_of(dtype, _DTYPES, "dtype")
    named, revision, path, hparams = _checkpoint(name)
    with models.failing_as(hparams):
        settings = need("yaml", "a COMET model").safe_load(hparams.read_text(encoding="utf-8"))
        kind = checks.one_of(str(settings.get("class_identifier")), _READS, "class of COMET models")
        encoder = models.find(settings["pretrained_model"])
    given = settings.get("input_segments") or ["mt", "src", "ref"]
    reads = _READS[kind] or tuple(f for f in _FIELDS if f in given or f == "hyp")
    if not reference and ("src" not in reads or kind == "regression_metric"):
        raise DataError(f"{named}: needs the reference. Use Unbabel/wmt22-cometkiwi-da.")
    model = _model(path, kind, settings, encoder)
    device = models.device(device)
    model = model.eval().to(device, getattr(need("torch", "COMET"), dtype))
    of = f"{encoder.name}@{encoder.revision_of(model.encoder.model)}"
    reads = tuple(f for f in reads if reference or f != "ref")
    return _Comet(model, named, revision, kind, of, reads, dtype, device)


def _checkpoint(name: str | Path) -> tuple[str, str, Path, Path]:
    """Name and revision of a checkpoint, its .ckpt file and its hparams.yaml; fetched from the hub if needed."""
    path = Path(os.path.expanduser(name))
    place = models.find(name) if path.suffix != ".ckpt" else None
    if place is not None and place.folder is None:
        library = need("huggingface_hub", "a COMET model")

        def fetch(options: dict) -> tuple[Path, Path]:
            get = partial(library.hf_hub_download, place.address)
            settings = Path(get("hparams.yaml", **options))
            # of one commit
            both = options | {"revision": settings.parent.name}
            return Path(get("checkpoints/model.ckpt", **both)), settings

        weights, settings = place.cache_first(fetch)
        return place.name, settings.parent.name[:12], weights, settings
    found = [path]
    if place is not None and place.folder is not None:
        path = place.folder.resolve()
        found = [*path.glob("checkpoints/*.ckpt")] or [*path.glob("*.ckpt")]
    if len(found) != 1 or not found[0].is_file():
        raise DataError(f"COMET model: got {len(found)} .ckpt files, expected one.", path)
    near, above = (p / "hparams.yaml" for p in found[0].resolve().parents[:2])
    settings = above if above.is_file() else near
    digest = hashlib.sha256()
    for part in (settings, found[0]):
        with models.failing_as(settings), part.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return path.name, digest.hexdigest()[:12], found[0], settings


def _model(path: Path, kind: str, settings: dict[str, Any], encoder: models.Place) -> Any:
    """The module by comet's own loader, with all weights; the encoder's settings and tokenizer are fetched first."""
    comet = _library()
    encoder.load_config()
    minilm = settings.get("encoder_model") == "MiniLM"
    (models.find(_MINILM) if minilm else encoder).load_tokenizer()
    # as comet.load_from_checkpoint, which does not pass on weights_only
    patched = settings.get("layer_transformation") == "sparsemax_patch"
    options = {"layer_transformation": "softmax"} if patched else {}
    with (
        models.failing_as(path),
        warnings.catch_warnings(record=True) as warned,
        ExitStack() as after,
    ):
        warnings.simplefilter("always")
        after.callback(logging.disable, logging.root.manager.disable)
        # Lightning's notes on upgrading a checkpoint
        logging.disable(logging.WARNING)
        model = comet.models.str2model[kind].load_from_checkpoint(
            checkpoint_path=path,
            load_pretrained_weights=False,
            map_location="cpu",
            strict=False,
            local_files_only=True,
            weights_only=True,
            **options,
        )
    missing = " ".join(str(w.message) for w in warned if "not in the checkpoint" in str(w.message))
    of_model = {name for name, _ in model.named_parameters()}
    if absent := sorted(of_model.intersection(re.findall(r"'([^']+)'", missing))):
        raise AnhelpersError(f"{path}: {len(absent)} weights are missing, such as {absent[0]}.")
    return model


def _library() -> Any:
    """comet, imported without warnings and without its setting of the process' logging."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        comet = need("comet", "COMET")
    root.setLevel(level)
    root.handlers[:] = handlers
    return comet


# -- scores ------------------------------------------------------------------------------------------------------------


def _comet_metric(
    name: str | Path,
    n_refs: int | str = 1,
    *,
    reference: bool = True,
    called: str | None = None,
    **options: Any,
) -> Metric:
    """Return COMET as a metric: a score per segment, about 0 to 1, higher is better.

    Scores match COMET's `predict` in float32 up to its own rounding error (about 1e-7 between batch sizes 8 and 16).

    Parameters
    ----------
    name : str or Path
        A .ckpt file, its folder, or a hub id such as "Unbabel/wmt22-comet-da".
    n_refs : int or "var"
        References of every segment.
    reference : bool
        False: without the reference, for a model that can (XCOMET).
    called : str, optional
        Name of the Metric; by default "comet:" and the model's own.
    options
        revision (hub commit), device ("cpu", "cuda"), dtype ("float32", "float16").

    References
    ----------
    Rei et al. 2020, 2022 (COMET, CometKiwi), Guerreiro et al. 2024 (XCOMET).
    """
    comet = _load_comet(name, reference=reference, **options)
    short = _short_name(comet.name)
    family = "" if short.lower().startswith("xcomet") else "COMET "
    name = called or f"comet{'' if reference else '-qe'}:{short}"
    label = f"{family}{short}{'' if reference else ' without reference'}"
    together = "" if comet.separate else f", {comet.model.encoder.max_positions} together"
    limit, scores = f"{comet.longest} tokens a text{together}", partial(_comet_scores, comet)
    facts = name, label, "points, about 0 to 1", True
    return _learned_metric(facts, comet.signature, n_refs, comet.reads, limit, scores)


def _named(asked: Asked) -> Metric:
    """Return the COMET of a row of the table of metrics, with the reference if the row has it."""
    how = {"reference": "reference" in asked.sees, "called": asked.called, **asked.options}
    return _comet_metric(asked.model, asked.n_refs, **how)


def _comet_scores(
    comet: _Comet, rows: Sequence[tuple[str, ...]], tokens_per_batch: int | None = None
) -> np.ndarray:
    """Return (m, 2): the score of each tuple of texts, and 1 if one of its texts was cut.

    Parameters
    ----------
    rows : m tuples of texts in the order of `comet.reads`.
    tokens_per_batch : int, optional
        Padded tokens per forward pass; the default suits the device.

    Raises
    ------
    AnhelpersError : the model returns nan.
    """
    budget = tokens_per_batch or _token_budget(comet.device)
    with need("torch", "COMET").inference_mode():
        out = (_by_text if comet.separate else _by_row)(comet, rows, budget)
    return models.finite_output(out, comet.name)


def _by_text(comet: _Comet, rows: Sequence[tuple[str, ...]], budget: int) -> np.ndarray:
    """Sentence embeddings of distinct texts, then the estimator on them."""
    texts = list({text: None for row in rows for text in row})
    where = {text: i for i, text in enumerate(texts)}
    embedded, cut = _embeddings(comet, texts, budget)
    at = np.array([[where[text] for text in row] for row in rows], np.int64)
    at = at.reshape(len(rows), len(comet.reads))
    out = np.empty((len(rows), 2))
    out[:, 1] = cut[at].any(1)
    for start in range(0, len(rows), _ROWS):
        columns = zip(comet.reads, at[start : start + _ROWS].T, strict=True)
        scores = _estimate(comet, {kind: embedded[column] for kind, column in columns})
        out[start : start + _ROWS, 0] = scores.double().cpu().numpy()
    return out


def _embeddings(comet: _Comet, texts: Sequence[str], budget: int) -> tuple[Any, np.ndarray]:
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


def _estimate(comet: _Comet, embedded: dict[str, Any]) -> Any:
    """The estimator on the embeddings and their products and differences, in the model's order."""
    if "ref" in embedded:
        return comet.model.estimate(embedded["src"], embedded["hyp"], embedded["ref"]).score
    src, hyp = embedded["src"], embedded["hyp"]
    x = need("torch", "COMET").cat((hyp, src, hyp * src, (hyp - src).abs()), dim=1)
    return comet.model.estimator(x).view(-1)


def _by_row(comet: _Comet, rows: Sequence[tuple[str, ...]], budget: int) -> np.ndarray:
    """Models that read all texts as one sequence: comet's own step on batches of similar length."""
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
            {k: v.to(comet.device) if hasattr(v, "to") else v for k, v in one.items()}
            for one in comet.model.prepare_sample(samples, stage="predict")
        ]
        out[batch, 0] = comet.model.predict_step(tuple(inputs)).scores.double().cpu().numpy()
    return out


def _token_ids(comet: _Comet, texts: Sequence[str]) -> tuple[list[list[int]], np.ndarray]:
    """The ids of each text, cut as in comet, and which were cut."""
    cut = np.zeros(len(texts), bool)
    if not len(texts):
        return [], cut
    tokenizer = comet.model.encoder.tokenizer
    ids = tokenizer(list(texts), truncation=True, max_length=comet.longest)["input_ids"]
    full = [i for i, one in enumerate(ids) if len(one) == comet.longest]
    if full:
        whole = tokenizer([texts[i] for i in full], truncation=False, verbose=False)["input_ids"]
        cut[full] = [len(one) > comet.longest for one in whole]
    return ids, cut


# -- what all learned metrics share ------------------------------------------------------------------------------------


def _learned_metric(
    facts: tuple[str, str, str, bool],
    signature: str,
    n_refs: int | str,
    reads: tuple[str, ...],
    limit: str,
    score: Callable[[list[tuple[str, ...]]], np.ndarray],
) -> Metric:
    """Return a metric of a model's scores, which are cached.

    Several references count by the mean of the scores with each that is not missing (None). Without any reference, or
    with a blank source that the model reads, the score is nan. A blank hypothesis is scored as any text, as by the
    models' own programs; the numbers of blank hypotheses and of cut inputs are printed. A system's score is the mean.

    Parameters
    ----------
    facts : tuple
        name, label, unit and higher_is_better of the Metric.
    signature : str
        For one reference.
    n_refs : int or "var"
        References of every segment that has any; unused by a model without references.
    reads : tuple of "src", "hyp", "ref"
        Texts of an input of `score`, in their order.
    limit : str
        The longest input, such as "1536 tokens", for a note.
    score : callable
        m tuples of texts -> (m, 2): the score, and 1 if the input was cut.

    Raises
    ------
    DataError : n_refs < 1; from the Metric: missing sources or references, texts that do not align.
    """
    label = facts[1]
    if "ref" in reads:
        _check_number(n_refs)
    score = models.failing_as(label)(score)

    def score_segments(
        hyps: Sequence[str], refs: Any = None, srcs: Any = None, segment: Any = None
    ) -> np.ndarray:
        given = {"src": _sources(label, srcs)} if "src" in reads else {}
        found = _streams(refs, label, n_refs) if "ref" in reads else []
        passes = [given | {"ref": one} for one in found] or [given]
        rows, there = _rows(reads, hyps, passes, segment)
        values = np.zeros((*there.shape, 2))
        batches = groups(partial(_without, reads.index("hyp")))
        values[there] = cached(signature, rows, score, width=2, batches=batches, what=label)
        cut, blank = int((values[:, :, 1] > 0).any(0).sum()), sum(not h.strip() for h in hyps)
        if cut:
            note(f"{label}: cut {cut} of {len(hyps)} inputs that are longer than {limit}.")
        if blank:
            note(f"{label}: scored {blank} blank hypotheses as any text.")
        total, n = values[:, :, 0].sum(0), there.sum(0)
        return np.divide(total, n, out=np.full(len(hyps), np.nan), where=n > 0)

    refs_too = f"|nrefs:{n_refs}" + ("" if n_refs == 1 else "|refs:mean") if "ref" in reads else ""
    needs = tuple(_NEEDS[kind] for kind in reads if kind in _NEEDS)
    return Metric(*facts, needs, signature + refs_too, score_segments)


def _without(place: int, row: tuple[str, ...]) -> tuple[str, ...]:
    """The texts of an input that its batch shares: all but the hypothesis."""
    return row[:place] + row[place + 1 :]


def _token_budget(device: str) -> int:
    """Padded tokens of a forward pass; metrics need no logits of every token, so a GPU takes more of them."""
    return 2048 if device == "cpu" else 32768


def _short_name(name: str) -> str:
    """A model's name in a metric's name, without its owner and without spaces.

    >>> _short_name("Unbabel/wmt22-comet-da")
    'wmt22-comet-da'
    """
    return "_".join(name.rsplit("/", 1)[-1].split())


def _sources(label: str, srcs: Sequence[str] | None) -> list[str | None]:
    """The sources, None for a blank one."""
    texts = checks.texts("srcs", () if srcs is None else srcs)
    given = [src if src.strip() else None for src in texts]
    if srcs is None or (given and not any(given)):
        raise DataError(f"{label}: got no sources, expected one per segment.")
    return given


def _rows(
    reads: Sequence[str],
    hyps: Sequence[str],
    passes: Sequence[Mapping[str, Sequence[str | None]]],
    segment: ArrayLike | None,
) -> tuple[list[tuple[str, ...]], np.ndarray]:
    """Complete inputs of the model, pass (one reference) after pass; (passes, n) whether an input is complete.

    A pass has the N texts of each kind that is read besides the hypothesis.
    """
    named = {_NEEDS[kind]: texts for kind, texts in passes[0].items()}
    n = checks.same_length(**named)
    ids = np.arange(checks.same_length(hyps=hyps, **named)) if segment is None else segment
    of = checks.segment_ids(ids, n).tolist()
    checks.same_length(hyps=checks.texts("hyps", hyps), segment=of)
    rows: list[tuple] = []
    for texts in passes:
        columns = {"hyp": hyps} | {kind: [column[i] for i in of] for kind, column in texts.items()}
        rows += zip(*(columns[kind] for kind in reads), strict=True)
    there = np.array([None not in row for row in rows], dtype=bool)
    kept = [row for row, known in zip(rows, there, strict=True) if known]
    return kept, there.reshape(len(passes), len(hyps))
