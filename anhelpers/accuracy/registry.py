"""The accuracy metrics by name, surface and learned: what the command line calls them, and how each is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..data.text_ratings import RATED, is_rated, rated_metric
from ..errors import DataError, UnknownName
from ..metrics import Metric
from .surface import METRICS, surface_metric

__all__ = ["FAMILIES", "LEARNED", "NAMES", "accuracy_metric", "is_accuracy"]


def _comet(
    model: str, n_refs: int | str, reference: bool, called: str | None, **options: Any
) -> Metric:
    from .comet import comet_metric

    return comet_metric(model, n_refs, reference=reference, called=called, **options)


def _metricx(
    model: str, n_refs: int | str, variant: str | None, called: str | None, **options: Any
) -> Metric:
    from .metricx import metricx_metric

    return metricx_metric(model, n_refs, variant=variant, called=called, **options)


FAMILIES: Mapping[str, Callable[..., Metric]] = {
    "comet": partial(_comet, reference=True),
    "comet-qe": partial(_comet, reference=False),
    "metricx": partial(_metricx, variant=None),
    **{
        name: partial(_metricx, variant=name)
        for name in ("metricx23", "metricx23-qe", "metricx24", "metricx24-qe")
    },
}
"""What stands before the colon of a model of one's own, such as comet:FOLDER."""

LEARNED: Mapping[str, tuple[str, str]] = {
    "comet": ("comet", "Unbabel/wmt22-comet-da"),
    "cometkiwi": ("comet-qe", "Unbabel/wmt22-cometkiwi-da"),
    "xcomet-xl": ("comet", "Unbabel/XCOMET-XL"),
    "xcomet-xl-qe": ("comet-qe", "Unbabel/XCOMET-XL"),
    "xcomet-xxl": ("comet", "Unbabel/XCOMET-XXL"),
    "xcomet-xxl-qe": ("comet-qe", "Unbabel/XCOMET-XXL"),
    "metricx23": ("metricx23", "google/metricx-23-xl-v2p0"),
    "metricx23-qe": ("metricx23-qe", "google/metricx-23-qe-xl-v2p0"),
    "metricx24": ("metricx24", "google/metricx-24-hybrid-xl-v2p6"),
    "metricx24-qe": ("metricx24-qe", "google/metricx-24-hybrid-xl-v2p6"),
}
"""Name -> family and model on the hub."""

NAMES = (*METRICS, *LEARNED, RATED["accuracy"])


def is_accuracy(name: str) -> bool:
    """Whether this names an accuracy metric: one of NAMES, or FAMILY:MODEL.

    >>> is_accuracy("bleu"), is_accuracy("comet:my/folder"), is_accuracy("lpp")
    (True, True, False)
    """
    family, colon, _ = name.partition(":")
    return name in NAMES or (bool(colon) and family in FAMILIES) or is_rated(name, "accuracy")


def accuracy_metric(name: str, trg_lang: str = "", n_refs: int | str = 1, **options: Any) -> Metric:
    """An accuracy metric ready to score.

    Parameters
    ----------
    name : one of NAMES, or FAMILY:MODEL, where MODEL is a folder, a .ckpt file or a hub id[@revision]. Families: comet
        (without reference comet-qe) for any COMET checkpoint; metricx23, metricx23-qe, metricx24, metricx24-qe, or
        metricx where the model's name says which. rated-accuracy:FOLDER for ratings of one's own, see `rated_metric`.
    trg_lang : target language, e.g. "de"; it chooses BLEU's tokenizer.
    n_refs : how many references every segment that has any will have, or "var" where they differ: `TestSet.n_refs`.
    options : of the learned ones, `device` and `dtype`; the others take none.

    Raises
    ------
    UnknownName, DataError, MissingExtra; AnhelpersError where a model cannot be loaded.

    >>> accuracy_metric("chrf", "de").unit
    'points, 0 to 100'
    """
    if name in METRICS or is_rated(name, "accuracy"):
        if options:
            raise DataError(f"{name} takes no options, got {', '.join(options)}; leave them out.")
        return (
            surface_metric(name, trg_lang, n_refs)
            if name in METRICS
            else rated_metric(name, trg_lang)
        )
    if name in LEARNED:
        family, model = LEARNED[name]
        return FAMILIES[family](model=model, n_refs=n_refs, called=name, **options)
    family, colon, model = name.partition(":")
    if not colon or family not in FAMILIES:
        raise UnknownName(
            "accuracy metric", name, [*NAMES, *(f"{family}:MODEL" for family in FAMILIES)]
        )
    if not model.strip():
        raise DataError(
            f"'{name}' names no model; write a folder, a file or a hub id after the colon."
        )
    return FAMILIES[family](model=model, n_refs=n_refs, called=None, **options)
