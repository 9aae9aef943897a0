"""`anhelpers train-lm`: a very small language model from plain text."""

from __future__ import annotations

import argparse
from itertools import chain
from pathlib import Path
from typing import Any

from ..progress import note, say
from . import options as shared

EXAMPLE = "anhelpers train-lm sentences.es.txt es-tiny --lang es --minutes 60"


def options(parser: argparse.ArgumentParser) -> None:
    """Text, folder, language, recipe."""
    parser.add_argument(
        "text",
        metavar="TEXT",
        nargs="+",
        help="files with a sentence or paragraph per line: at least "
        "1,000 distinct lines, since 500 are held out to measure the model and must not be most of "
        "them; some 10,000 are a beginning (de-small has 1,141,892)",
    )
    parser.add_argument("out", metavar="FOLDER", help="where the model goes")
    parser.add_argument(
        "--lang",
        metavar="CODE",
        help="the language of the text, such as es or pt_BR; the model "
        "refuses texts in any other (und: no language in particular)",
    )
    parser.add_argument(
        "--size",
        metavar="SIZE",
        help="nano (0.6 million parameters), tiny (2.6), small (12), or "
        "LAYERSxWIDTH such as 6x256 (default: tiny, 4x192)",
    )
    parser.add_argument(
        "--vocab",
        type=int,
        metavar="N",
        help="pieces of the tokenizer, at least 259 (default: 4096)",
    )
    parser.add_argument(
        "--epochs", type=int, metavar="N", help="how often the text is read at most (default: 18)"
    )
    parser.add_argument(
        "--steps",
        type=int,
        metavar="N",
        help="steps of the optimiser at most, by which the learning "
        "rate falls to 0 (default: as many as the epochs have)",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        metavar="M",
        help="time at most, about: as many steps are planned as "
        "fit; facts.json says how many, and --steps gives the same model again",
    )
    parser.add_argument(
        "--weights",
        type=float,
        nargs="+",
        metavar="W",
        help="how often the lines of each TEXT are read in an epoch; 0.5 reads every line in one "
        "epoch of two (default: 1)",
    )
    parser.add_argument(
        "--join",
        type=float,
        metavar="P",
        help="chance that a line and the next one of its text are "
        "read as one, so that the model learns how paragraphs go on (default: 0)",
    )
    parser.add_argument(
        "--batch",
        type=int,
        metavar="N",
        help="tokens per step, padding included (default: 1536; a GPU wants 30,000)",
    )
    parser.add_argument(
        "--dropout",
        type=float,
        metavar="P",
        help="share of activations left out in training; less for more text (default: 0.15)",
    )
    parser.add_argument(
        "--stored",
        metavar="TYPE",
        help="float16, which transformers reads, or int8, half as large, "
        "which anhelpers alone reads (default: float16)",
    )
    parser.add_argument(
        "--held-out",
        type=int,
        metavar="N",
        help="lines that only measure the model; twice as many are the least text (default: 500)",
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", help="of the weights and the order (default: 13)"
    )
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: cpu)")


def run(args: argparse.Namespace) -> None:
    """Train; print the held-out perplexity."""
    from ..training.lm import LmRecipe, train_lm
    from ..training.recipe import sized
    from ..training.state import STATE

    texts, language = shared.training_texts(args.text, args.lang), args.lang
    typed = {
        "vocab_size": args.vocab,
        "epochs": args.epochs,
        "steps": args.steps,
        "held_out": args.held_out,
        "seed": args.seed,
        "weights": args.weights or [1.0] * len(texts),
        "join": args.join,
        "tokens_per_batch": args.batch,
        "dropout": args.dropout,
        "stored": args.stored,
    }
    chosen: dict[str, Any] = {name: value for name, value in typed.items() if value is not None}
    recipe = LmRecipe(language=language, **chosen, **(sized(args.size) if args.size else {}))
    try:
        lines, of = list(chain(*texts)), [k for k, text in enumerate(texts) for _ in text]
        facts = train_lm(
            lines, Path(args.out), recipe, of=of, minutes=args.minutes, device=args.device, say=say
        )
    except KeyboardInterrupt:
        place = Path(f"{args.out}.partial")
        kept = (
            f"training is kept in {place} up to its last save; the same command goes on from there."
        )
        note(
            kept
            if (place / STATE).exists()
            else "nothing was saved yet; the same command begins anew."
        )
        raise
    print(
        f"{args.out}: language {facts['language']}, {facts['steps_done']:,} steps, held-out "
        f"perplexity {facts['held_out_perplexity']} per token ({facts['held_out_tokens']:,} "
        "tokens)"
    )
