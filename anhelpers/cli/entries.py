"""What `anhelpers plane` compares: systems, those of --mine among them, and the candidates of the oracle curve."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .. import checks
from ..errors import DataError
from ..metrics import LPP_DISTANCE
from . import options as shared
from .mono import about_distance

if TYPE_CHECKING:
    import pandas as pd

    from ..data import CandidateSet, TestSet
    from ..naturalness.lm import LanguageModel
    from ..plane import OracleStudy, Plane

__all__ = [
    "about_candidates",
    "about_curve",
    "about_models",
    "about_options",
    "compared_texts",
    "split_kinds",
]

KINDS = ("LLM", "MT", "online", "human")
"""What may stand behind a file of a system, as NAME=FILE:LLM."""


def compared_texts(args: argparse.Namespace) -> tuple[TestSet, CandidateSet, list[str]]:
    """The systems to compare, the candidates of the curve, and which of the systems are those of --mine.

    The candidates are a data set's own, or all outputs of -t; those of --mine only where the user asks for it.
    """
    from ..data import add_systems, load, load_candidates, read_plain, with_outputs
    from ..plane import without_sparse
    from ..scoring import check_systems
    from ..scoring.lookup import needs_lm

    if bool(args.data) == bool(args.sources):
        raise DataError("give either --data NAME, or -s SRC -r REF -t SYSTEM: one of the two.")
    if args.mine_in_candidates and not args.mine:
        raise DataError(
            "--mine-in-candidates says what to do with the files of --mine, and there is none."
        )
    files, kinds = split_kinds(args.mine)
    outputs, more = split_kinds(args.translations)
    if args.data:
        shared.refuse_texts(args, "--data")
        others = load(args.data, args.language_pair)
        joined = _of_kinds(add_systems(others, files), kinds)
        cands = load_candidates(args.data, args.language_pair).without(args.exclude)
        test = check_systems(shared.selected(args, joined, files=False))
    else:
        with shared.naming_model(args.lm if needs_lm(args.naturalness) else None):
            others = read_plain(
                args.sources, args.references, outputs, args.language_pair, docs=args.docs
            )
            others = _of_kinds(others, more)
            joined = _of_kinds(add_systems(others, files), kinds)
        if not others.refs or not others.systems:
            raise DataError("the plane needs references (-r REF) and system outputs (-t SYSTEM).")
        test, cands = _candidates_of(
            check_systems(shared.selected(args, joined, files=True)), others
        )
    test, sparse = without_sparse(test, args.max_blank_share)
    test = replace(test, notes=(*test.notes, *sparse))
    mine = [name for name in joined.systems if name not in others.systems and name in test.systems]
    if args.mine_in_candidates:
        cands = with_outputs(cands, test, mine)
    return _with_silence(test, mine) if not args.own_segments else test, cands, mine


def split_kinds(typed: list[str]) -> tuple[list[str], dict[str, str]]:
    """Files of systems as they are read, without the kinds behind them; name of a system -> its kind.

    Parameters
    ----------
    typed : [NAME=]FILE[:KIND]. A file whose own name ends so stays whole.
    """
    from ..data.plain import named_files

    parts = []
    for one in typed:
        file, colon, kind = one.rpartition(":")
        path = one.partition("=")[2] or one
        if not colon or os.path.exists(one) or os.path.exists(path) or "/" in kind or "\\" in kind:
            parts.append((one, ""))
        else:
            parts.append((file, checks.one_of(kind, KINDS, "kind of system")))
    of_path = {path: kind for file, kind in parts if kind for path in named_files([file]).values()}
    names = named_files([file for file, _ in parts]) if of_path else {}
    return [file for file, _ in parts], {
        name: of_path[path] for name, path in names.items() if path in of_path
    }


def _of_kinds(test: TestSet, kinds: dict[str, str]) -> TestSet:
    """The test set with the kinds of systems that the user typed."""
    for name in kinds:
        checks.one_of(name, test.systems, "system")
    return replace(test, categories={**test.categories, **kinds}) if kinds else test


def _candidates_of(test: TestSet, given: TestSet) -> tuple[TestSet, CandidateSet]:
    """The segments in which some system of -t has text, and the outputs of these systems, but for copied references.

    Parameters
    ----------
    given : the same texts before anybody joined or was left out.
    """
    from ..data import from_systems

    names = [name for name in given.systems if name in test.systems and name not in given.copies]
    if not names:
        raise DataError(
            "no system of -t is left that is no reference: the oracle curve has no candidates."
        )
    said = [i for i in range(len(test)) if any(test.systems[name][i].strip() for name in names)]
    if len(said) < len(test):
        silent = (
            f"{len(test) - len(said)} of {len(test)} segments are left out: no system has any text "
            "there."
        )
        test = replace(test.subset(said), notes=(*test.notes, silent))
    return test, from_systems(test, names)


def _with_silence(test: TestSet, mine: list[str]) -> TestSet:
    """A note where a system of --mine alone is blank: that segment is left out for all, and their numbers move."""
    said = {
        name: np.array([bool(text.strip()) for text in hyps]) for name, hyps in test.systems.items()
    }
    others = np.logical_and.reduce(
        [here for name, here in said.items() if name not in mine and here.any()]
    )
    alone = {name: int((others & ~said[name]).sum()) for name in mine if said[name].any()}
    notes = [
        f"{name} is blank in {n} of {len(test)} segments where the other systems have text: left "
        f"out for all and for the curve, so all numbers are others than without {name}."
        for name, n in alone.items()
        if n
    ]
    return replace(test, notes=(*test.notes, *notes))


def about_options(
    args: argparse.Namespace, notes: tuple[str, ...], plane: Plane
) -> tuple[str, ...]:
    """The notes of the scores, and what a reader must know of the options.

    Parameters
    ----------
    args : of the command. notes : of the scores.
    """
    stored = plane.naturalness.level == "stored"
    said = (
        (
            args.naturalness == "zip" and not stored,
            "zip's mean over segments mostly follows the length of the outputs "
            "(longer ones look more natural); see --naturalness-level corpus.",
        ),
        (
            args.own_segments,
            "each system is over its own segments: without common ones there are no oracle curve, "
            "no gaps to it, no tests, and no ranks and clusters.",
        ),
        (args.by and stored, f"no slices by {args.by}: the naturalness is known per system only."),
        (
            args.against and args.own_segments,
            f"no tests against {args.against}: systems are compared over their own "
            "segments, and tests want the same ones for both.",
        ),
    )
    cut = shared.bleu_tokenizer_notes(args, [axis.signature for axis in plane.axes])
    cut += about_distance(args) if args.naturalness == LPP_DISTANCE else []
    return (*notes, *cut, *(sentence for told, sentence in said if told))


def about_models(args: argparse.Namespace, lm: LanguageModel | None) -> list[str]:
    """What a reader must know of a bundled language model or critic, and of numbers made up for teaching.

    Parameters
    ----------
    lm : that judges naturalness; None: there is none.
    """
    from ..data.fetch import bundled
    from ..data.sets import TEACHING

    told = []
    if lm is not None and lm.name in {path.name for path in bundled("lm").iterdir()}:
        told.append(
            f"The language model {lm.name} is small and made for teaching: its scores are not "
            "evidence of naturalness for a publication; name another model by --lm."
        )
    if args.naturalness in ("critic", "critic+lpp"):
        told.append(
            f"The bundled judge {args.naturalness} knows the translations of 2022 and agrees with ratings only "
            "loosely: a place by it alone is no evidence of naturalness for a publication."
        )
    if args.data in TEACHING:
        told.append(f"The data set {args.data} is made up: none of its numbers is a finding.")
    return told


def about_curve(
    args: argparse.Namespace,
    study: OracleStudy,
    given: CandidateSet,
    *,
    mine: list[str],
    table: pd.DataFrame,
) -> tuple[str, ...]:
    """Which candidates the curve is over, whether those of --mine are among them, and who lies above it.

    Parameters
    ----------
    given : the candidates as they were before the study. mine : systems of --mine. table : of `study.systems`.
    """
    said = [*about_candidates(study.cands, given)]
    inside = {*table.system[table.among_candidates]} if args.mine_in_candidates else set()
    put, not_put = (
        ", ".join(one for one in mine if (one in inside) == there) for there in (True, False)
    )
    if put:
        said.append(
            f"{put}: put among the candidates, so that only who has the same outputs can draw this "
            "curve."
        )
    if not_put:
        why = (
            "not all texts stayed, as another note says"
            if args.mine_in_candidates
            else "the curve is that of others"
        )
        said.append(f"{not_put}: not put among the candidates; {why}.")
    above = ", ".join(table.system[table.above_curve & ~table.among_candidates])
    if above:
        said.append(
            f"Above the curve (a negative gap), or beyond its end (no gap): {above}. Not all "
            "outputs of these are candidates, so the oracle could not choose them."
        )
    return tuple(said)


def about_candidates(kept: CandidateSet, given: CandidateSet) -> tuple[str, ...]:
    """Which candidates a curve is over, and which were given where these are others.

    Parameters
    ----------
    kept : those of the curve. given : before blanks, copies of references and segments were left out.
    """
    said = f"The oracle curve is over {kept.summary}."
    if len(kept) and kept.n_candidates.max() == 1:
        said += (
            " Each source has one candidate: there is nothing to choose, the curve is one point, and gaps to it "
            "say nothing."
        )
    if kept.id == given.id:
        return (said,)
    return said, f"Given were {given.summary}; other notes say what was left out."
