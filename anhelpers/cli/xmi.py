"""`anhelpers xmi`: two files of scores, or two models and texts, to cross-mutual information."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError
from . import options as shared

if TYPE_CHECKING:
    from ..xmi import Xmi

EXAMPLE = "anhelpers xmi --mt mt.txt --lm lm.txt -o xmi.csv"


def options(parser: argparse.ArgumentParser) -> None:
    """Scores or models, texts, unit, documents."""
    add = parser.add_argument
    forms = "a file of log-probabilities of the targets (per line a sum or its tokens; JSONL; "
    forms += "fairseq), or a model: a folder or hub id[@revision]"
    add("--mt", required=True, metavar="FILE|MODEL", help=f"translation model: {forms}")
    add("--lm", required=True, metavar="FILE|MODEL", help=f"language model, same tokens: {forms}")
    told = "of the files' scores (default: that of the file, else nats; bits for fairseq)"
    add("--unit", choices=["nats", "bits", "log10"], help=told)
    add("-s", "--sources", metavar="SRC", help="source text for models, a line per sentence")
    add("-t", "--targets", metavar="TGT", help="target text, for models and --per-char")
    add("-l", "--language-pair", metavar="LP", help="codes of multilingual models, such as de-en")
    add("--per-char", action="store_true", help="bits per character, for different tokenizers")
    add("--docs", metavar="FILE", help="a document, or domain<TAB>document, per line, to resample")
    shared._add_options(parser, "--seed", "--output")


def run(args: argparse.Namespace) -> None:
    """Read, measure, write a row each for h_lm, h_mt and xmi."""
    gone = [name for name in (args.mt, args.lm) if not Path(name).is_file()]
    if len(gone) == 1 or (gone and not (args.sources and args.targets)):
        raise DataError(f"expected two files, or two models with -s, -t; no file: {gone!s:.70}.")
    texts = {"-s": args.sources, "-t": args.targets and not args.per_char}
    unused = {"--unit": args.unit} if gone else texts
    shared._refuse_unused(f"with {'models' if gone else 'files of scores'}", unused)
    found = _from_models(args) if gone else _from_files(args)
    shared._print_notes(found.notes)
    shared._write_table(found.rows(args.language_pair or "unnamed"), args.output)


def _how(args: argparse.Namespace, n: int, docs: Any = None) -> dict[str, Any]:
    """Randomness, and the documents of n sentences: those of --docs, else `docs`."""
    from ..data.plain import documents_of

    if lines := _lines(args.docs, n):
        named = [line if "\t" in line else f"all\t{line}" for line in lines]
        docs = [doc for _, doc in documents_of(args.docs, named)]
    return {"docs": docs, "rng": np.random.default_rng(args.seed)}


def _from_files(args: argparse.Namespace) -> Xmi:
    from ..data import read_score_pair
    from ..data.token_scores import NATS
    from ..xmi import characters, per_character, xmi

    mt, lm, _ = read_score_pair(args.mt, args.lm, args.unit, same_tokens=not args.per_char)
    how = _how(args, len(mt), mt.docs or lm.docs)
    how["unit"] = unit = mt.unit if mt.unit == lm.unit else "nats"
    scores = mt.logprobs / NATS[unit], lm.logprobs / NATS[unit]
    if not args.per_char:
        return xmi(*scores, tokens=(mt.tokens, lm.tokens), **how)
    texts = _lines(args.targets, len(mt)) or mt.texts or lm.texts
    if not texts:
        raise DataError("--per-char: got no target text. Name it with -t TGT.")
    return per_character(*scores, characters(texts), **how)


def _from_models(args: argparse.Namespace) -> Xmi:
    from ..data import read_lines
    from ..translation import load_mt
    from ..xmi import load_q_lm, xmi_from_models

    srcs = read_lines(args.sources or "")
    trgs = read_lines(args.targets or "", len(srcs))
    src_lang, _, trg_lang = (args.language_pair or "").partition("-")
    codes: dict[str, Any] = {"src_lang": src_lang or None, "trg_lang": trg_lang or None}
    mt, lm = load_mt(args.mt, **codes), load_q_lm(args.lm, **codes)
    how = _how(args, len(trgs))
    return xmi_from_models(mt, lm, srcs, trgs, per_char=args.per_char, **how).found


def _lines(path: str | None, n: int) -> tuple[str, ...] | None:
    """A line for each of n sentences; None without a file."""
    from ..data import read_lines

    return read_lines(path, n) if path else None
