"""`anhelpers xmi`: two files of scores to cross-mutual information."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from ..errors import DataError
from . import options as shared

if TYPE_CHECKING:
    from ..data.token_scores import TokenScores

HELP = "cross-mutual information in bits per sentence, from the scores of a translation and a language model"


def options(parser: argparse.ArgumentParser) -> None:
    """Scores, unit, documents, resampling."""
    what = "scores of the target sentences under the"
    parser.add_argument("--mt-logprobs", metavar="FILE", required=True, help=f"{what} translation model: per line a "
                        "sum of log-probabilities or the scores of the tokens; JSONL; "
                        "fairseq-generate's output")  # fmt: skip
    parser.add_argument("--lm-logprobs", metavar="FILE", required=True, help=f"{what} language model, over the same "
                        "tokens")  # fmt: skip
    parser.add_argument("--unit", choices=["nats", "bits"], help="of the scores, natural logarithms or base 2 "
                        "(default: what a file declares, else nats; bits for fairseq)")  # fmt: skip
    parser.add_argument("--docs", metavar="FILE", help="a document's name per line; documents are resampled whole")
    parser.add_argument("--name", default="", metavar="NAME", help="of the direction, such as en-de")
    parser.add_argument("--draws", type=int, default=1000, metavar="B", help="resamples (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the resampling (default: 0)")
    parser.add_argument("-o", "--output", metavar="FILE", help=".csv or .parquet (default: CSV on standard output)")
    parser.set_defaults(refuse=parser.error)


def run(args: argparse.Namespace) -> None:
    """Print or write a row each for h_lm, h_mt and xmi."""
    from ..data.lines import read_lines
    from ..data.token_scores import read_token_scores
    from ..xmi import xmi, xmi_rows

    if args.draws < 2:
        args.refuse(f"--draws is {args.draws}; an interval needs at least 2.")
    if args.seed < 0:
        args.refuse(f"--seed is {args.seed}; it must not be negative.")
    mt, lm = (read_token_scores(path, args.unit) for path in (args.mt_logprobs, args.lm_logprobs))
    if len(mt) != len(lm):
        raise DataError(f"has {len(lm)} sentences, and {args.mt_logprobs} has {len(mt)}; they must be the same.",
                        args.lm_logprobs)  # fmt: skip
    docs = read_lines(args.docs) if args.docs else None
    if docs is not None and len(docs) != len(mt):
        raise DataError(f"has {len(docs)} lines, and there are {len(mt)} sentences.", args.docs)
    tokens, rng = (mt.sequences(), lm.sequences()), np.random.default_rng(args.seed)
    found = xmi(mt.logprobs, lm.logprobs, tokens=tokens, docs=docs, rng=rng, n_draws=args.draws)
    shared.print_notes(_notes(mt, lm, found.left_out, found.xmi.n_docs))
    table = xmi_rows(args.name or "unnamed", found)
    told = f"mt {_told(mt)}; lm {_told(lm)}; seed {args.seed}"
    shared.write_table(table.assign(signature=table.signature + "; " + told), args.output)


def _told(scores: TokenScores) -> str:
    return f"{scores.layout} in {scores.unit} ({scores.source})"


def _notes(mt: TokenScores, lm: TokenScores, left_out: int, n_docs: int) -> list[str]:
    """What the user should see: units that are assumed, sentences left out, tokens that cannot be compared."""
    from ..stats import few_clusters

    notes = [f"the {name} scores are taken as {scores.unit}; nothing in a number shows its unit, --unit decides."
             for name, scores in (("mt", mt), ("lm", lm)) if scores.source == "assumed"]  # fmt: skip
    if not any(a is not None and b is not None for a, b in zip(mt.sequences(), lm.sequences(), strict=True)):
        notes.append("the files have no scores per token, so it was not checked that both models share a tokenizer.")
    if left_out:
        notes.append(f"{left_out} of {len(mt)} sentences left out: a score is missing.")
    few = few_clusters(n_docs, "documents or sentences")
    return [*notes, few] if few else notes
