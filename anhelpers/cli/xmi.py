"""`anhelpers xmi`: two files of scores, or two models and texts, to cross-mutual information."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError
from . import options as shared

if TYPE_CHECKING:
    from ..data.token_scores import TokenScores
    from ..xmi import ModelXmi, Xmi, XmiPerChar

EXAMPLE = "anhelpers xmi --mt-logprobs mt.txt --lm-logprobs lm.txt -o xmi.csv"

OF_FILES = ("mt_logprobs", "lm_logprobs", "unit", "vocab")
OF_MODELS = (
    "mt",
    "lm",
    "sources",
    "src_lang",
    "trg_lang",
    "task",
    "device",
    "batch_tokens",
    "store",
    "scheduler",
    "save_scores",
)


def options(parser: argparse.ArgumentParser) -> None:
    """Scores or models, unit, documents, resampling."""
    files = parser.add_argument_group("from files of scores")
    what = "scores of the target sentences under the"
    files.add_argument(
        "--mt-logprobs",
        metavar="FILE",
        help=f"{what} translation model: per line a sum of log-probabilities or the scores of the "
        "tokens; JSONL; fairseq-generate's output",
    )
    files.add_argument(
        "--lm-logprobs", metavar="FILE", help=f"{what} language model, over the same tokens"
    )
    files.add_argument(
        "--unit",
        choices=["nats", "bits", "log10"],
        help="of the scores: natural logarithms, base 2, base 10 as of KenLM (default: what a "
        "file declares, else nats; bits for fairseq)",
    )
    files.add_argument(
        "--vocab",
        type=int,
        metavar="N",
        help="size of the vocabulary: scores per token that are worse "
        "than a uniform guess over it are refused, their unit may be wrong",
    )
    models = parser.add_argument_group("from models of transformers")
    place = "a folder or hub id[@revision]"
    models.add_argument(
        "--mt",
        metavar="MODEL",
        help=f"translation model, an encoder-decoder (Marian, M2M100, NLLB, T5, mBART): {place}",
    )
    models.add_argument(
        "--lm",
        metavar="MODEL",
        help="language model with the same tokenizer, causal, or an "
        f"encoder-decoder trained without source, which is given empty ones: {place}",
    )
    models.add_argument("-s", "--sources", metavar="SRC", help="source text, a line per sentence")
    models.add_argument(
        "-t",
        "--targets",
        metavar="TGT",
        help="target text, a line per sentence; with files of scores for --per-char only",
    )
    models.add_argument(
        "--src-lang", metavar="CODE", help="of multilingual models, such as de or deu_Latn"
    )
    models.add_argument("--trg-lang", metavar="CODE", help="of multilingual models")
    models.add_argument(
        "--task",
        metavar="TEXT",
        help="put before every source, such as T5's 'translate English to German: '",
    )
    models.add_argument(
        "--device", metavar="NAME", help="cpu, cuda, cuda:1 (default: the GPU if there is one)"
    )
    models.add_argument("--batch-tokens", type=int, metavar="N", help="padded tokens at a time")
    shared.store(models)
    shared.scheduler(models)
    models.add_argument(
        "--save-scores",
        metavar="FILE.jsonl",
        help="writes both log-probabilities of every sentence",
    )
    parser.add_argument(
        "--per-char",
        action="store_true",
        help="bits per character of the target instead: for two models with different tokenizers",
    )
    every = "all: every token counts, the end of the sentence too, as in eq. 2"
    table = (
        "published: the mean over tokens times the tokens without the end, as in the paper's table"
    )
    parser.add_argument(
        "--count",
        choices=["all", "published"],
        default="all",
        help=f"{every}; {table} (needs scores per token; default: all)",
    )
    docs = (
        "a document's name per line; documents are resampled whole (default: those that rows of "
        "JSONL name)"
    )
    parser.add_argument("--docs", metavar="FILE", help=docs)
    parser.add_argument(
        "--name", default="", metavar="NAME", help="of the direction, such as en-de"
    )
    shared.resampling(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", help=".csv or .parquet (default: CSV on standard output)"
    )
    parser.set_defaults(refuse=parser.error)


def run(args: argparse.Namespace) -> None:
    """Print or write a row each for h_lm, h_mt and xmi."""
    from ..xmi import xmi_rows

    from_models = _way(args)
    found, notes, told = _from_models(args) if from_models else _from_files(args)
    shared.print_notes(notes)
    table = xmi_rows(args.name or "unnamed", found)
    shared.write_table(
        table.assign(signature=table.signature + f"{told}; seed {args.seed}"), args.output
    )


def _way(args: argparse.Namespace) -> bool:
    """Whether models score; a usage error where the options do not go together."""
    given = {name for name in (*OF_FILES, *OF_MODELS, "targets") if getattr(args, name) is not None}
    files, models = given & {"mt_logprobs", "lm_logprobs"}, given & {"mt", "lm"}
    if files and models:
        args.refuse(
            "scores come from two files (--mt-logprobs, --lm-logprobs) or from two models (--mt, "
            "--lm): give one of the pairs."
        )
    wanted = {"mt", "lm", "sources", "targets"} if models else {"mt_logprobs", "lm_logprobs"}
    if not files and not models:
        args.refuse(
            "scores are wanted: --mt-logprobs FILE --lm-logprobs FILE, or models: --mt MODEL --lm "
            "MODEL -s SRC -t TGT."
        )
    if wanted - given:
        args.refuse(
            f"{_options(files or models)} {'needs' if len(files or models) == 1 else 'need'} "
            f"{_options(wanted - given)} as well."
        )
    if args.per_char and args.count == "published":
        args.refuse("--count published is of bits per sentence: leave out --per-char.")
    if args.per_char and not models and args.targets is None:
        args.refuse("--per-char needs the target text: -t TGT.")
    strange = given & set(OF_FILES if models else OF_MODELS)
    strange |= {"targets"} & given if not (models or args.per_char) else set()
    if strange:
        args.refuse(
            f"{_options(strange)} cannot be used with {'models' if models else 'files of scores'}."
        )
    return bool(models)


def _options(names: Any) -> str:
    """What the user types, in the order of the help."""
    short = {"sources": "-s", "targets": "-t"}
    known = [*OF_FILES, *OF_MODELS, "targets"]
    return " and ".join(
        short.get(n, "--" + n.replace("_", "-")) for n in sorted(names, key=known.index)
    )


def _from_files(args: argparse.Namespace) -> tuple[Xmi | XmiPerChar, list[str], str]:
    """The result, what the user should see, and how the scores were read."""
    from ..data.token_scores import read_score_pair
    from ..xmi import characters, per_character, score_doubts, xmi

    mt, lm, how = read_score_pair(args.mt_logprobs, args.lm_logprobs, args.unit)
    rest: dict[str, Any] = {
        "docs": _lines(args.docs, len(mt)) or mt.docs or lm.docs,
        "rng": np.random.default_rng(args.seed),
        "n_draws": args.draws,
    }
    for scores, path in ((mt, args.mt_logprobs), (lm, args.lm_logprobs)):
        _unit_holds(scores, args.vocab, path)
    texts = _lines(args.targets, len(mt)) or mt.texts or lm.texts
    n_chars = characters(texts) if texts else None
    if args.per_char and n_chars is not None:
        found = per_character(mt.logprobs, lm.logprobs, n_chars, **rest)
    else:
        both = mt.tokens, lm.tokens
        found = xmi(mt.logprobs, lm.logprobs, tokens=both, count=args.count, **rest)
    doubts = score_doubts(mt.logprobs, lm.logprobs, n_tokens=mt.counts, n_chars=n_chars)
    return found, [*found.notes, *doubts], f"; {how}; mt {_told(mt)}; lm {_told(lm)}"


def _from_models(args: argparse.Namespace) -> tuple[Xmi | XmiPerChar, list[str], str]:
    """The result, what the user should see, and nothing more: the signature names the models already."""
    from ..data.lines import read_lines
    from ..stats import check_draws, clusters_of
    from ..translation import load_mt
    from ..xmi import load_q_lm, xmi_from_models

    srcs, trgs = read_lines(args.sources), read_lines(args.targets)
    n = min(len(srcs), len(trgs))
    srcs, trgs = _cut(srcs, n, args.sources), _cut(trgs, n, args.targets)
    if len(srcs) != len(trgs):
        raise DataError(
            f"has {len(trgs)} lines, and {args.sources} has {len(srcs)}; they must be the same.",
            args.targets,
        )
    docs = _lines(args.docs, len(trgs))
    check_draws(clusters_of(docs or range(len(trgs))), args.draws)
    codes = {"src_lang": args.src_lang, "trg_lang": args.trg_lang, "device": args.device}
    mt = load_mt(args.mt, task=args.task or "", **codes)
    lm = load_q_lm(args.lm, **codes)
    with shared.using_scheduler(args.scheduler):
        scored = xmi_from_models(
            mt,
            lm,
            srcs,
            trgs,
            docs=docs,
            rng=np.random.default_rng(args.seed),
            n_draws=args.draws,
            per_char=args.per_char,
            count=args.count,
            tokens_per_batch=args.batch_tokens,
        )
    if args.save_scores:
        _save(scored, args.save_scores)
    return scored.found, [*scored.notes, *scored.found.notes], ""


def _lines(path: str | None, n: int) -> tuple[str, ...] | None:
    """A line for each of n sentences; None without a file."""
    from ..data.lines import read_lines

    if path is None:
        return None
    lines = _cut(read_lines(path), n, path)
    if len(lines) != n:
        raise DataError(f"got {len(lines)} lines, expected {n}.", path)
    return lines


def _cut(lines: tuple[str, ...], n: int, path: str) -> tuple[str, ...]:
    """The lines without blank ones behind the n-th, which a note counts."""
    from ..data.plain import without_blank_end

    lines, notes = without_blank_end(lines, n, path)
    shared.print_notes(notes)
    return lines


def _unit_holds(scores: TokenScores, n_vocab: int | None, path: str) -> None:
    """A DataError where scores per token are worse than a uniform guess over the vocabulary."""
    from ..data.token_scores import NATS
    from ..xmi import unit_doubt

    if n_vocab is None:
        return
    if not any(
        count and not np.isnan(logprob)
        for count, logprob in zip(scores.counts, scores.logprobs, strict=True)
    ):
        raise DataError("has no scores per token, so --vocab cannot tell anything.", path)
    doubt = unit_doubt(scores.logprobs / NATS[scores.unit], scores.counts, n_vocab, scores.unit)
    if doubt:
        raise DataError(doubt, path)


def _save(scored: ModelXmi, path: str) -> None:
    """A JSON object per sentence, with what made it; a score that is missing is null."""
    import json

    from ..data.writing import write_text
    from ..provenance import made_by
    from ..xmi import pointwise_xmi, xmi_rows

    bits = pointwise_xmi(scored.mt_logprobs, scored.lm_logprobs)
    columns = zip(
        scored.mt_logprobs,
        scored.lm_logprobs,
        bits,
        scored.mt_tokens,
        scored.lm_tokens,
        strict=True,
    )
    names = ("mt_logprob_nats", "lm_logprob_nats", "xmi_bits", "mt_tokens", "lm_tokens")
    made = {"signature": xmi_rows("", scored.found).signature.iloc[-1], "made_by": made_by()}
    rows = (
        {
            name: None if np.isnan(value) else value.item()
            for name, value in zip(names, row, strict=True)
        }
        | made
        for row in columns
    )
    write_text(
        path, "".join(json.dumps({"sentence": i, **row}) + "\n" for i, row in enumerate(rows, 1))
    )


def _told(scores: TokenScores) -> str:
    return f"{scores.layout} in {scores.unit}"
