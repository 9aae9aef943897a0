"""`anhelpers generate`: sources to candidates."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..errors import DataError
from ..progress import say
from . import options as shared

if TYPE_CHECKING:
    from ..candidates import Prompt
    from ..candidates.drawing import Drawing
    from ..scoring.cluster import Cluster

EXAMPLE = "anhelpers generate --model MODEL -s src.en -n 64 -o candidates.jsonl"
MORE = """\
Prints nothing; OUT holds an object per source with its distinct candidates,
how often each was drawn (count) and its natural-log probability under the
model (logprob). `anhelpers curve OUT -s SRC -r REF` draws their oracle curve.

A run that was cut off, also by kill -9, goes on from OUT.partial when the same
command is typed again, and ends with the same file. The model's own generation
settings (top-k, penalties) are not used.

The candidates of Flamich et al. 2025 (Gemini 1.5 Flash, 1024 per source)
cannot be drawn again: that model is closed and has moved on, and the paper
gives neither prompt nor temperature. So its Figure 1 cannot be recomputed
point by point; candidates of another model give another curve of the same
kind.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Model, sources, sampling, prompt, output."""
    parser.epilog, parser.formatter_class = MORE, argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add(
        "--model",
        metavar="MODEL",
        required=True,
        help="folder or hub id[@revision] of an encoder-decoder (Marian, "
        "NLLB, M2M100, T5, mBART) or of a causal language model",
    )
    add("-s", "--sources", metavar="SRC", required=True, help="source text, a line per segment")
    add("-n", type=int, default=16, metavar="K", help="samples per source (default: 16)")
    add(
        "--method",
        default="ancestral",
        metavar="METHOD",
        help="ancestral, epsilon:0.02, top-p:0.9 or top-k:50 (default: ancestral)",
    )
    add(
        "--temperature",
        type=float,
        default=1.0,
        metavar="T",
        help="applied before the method (default: 1)",
    )
    add("--seed", type=int, default=0, metavar="N", help="of the samples (default: 0)")
    add(
        "--max-tokens",
        type=int,
        metavar="N",
        help="at which a sample is cut, and counted as cut (default: 512)",
    )
    add("--batch", type=int, metavar="N", help="samples at a time (default: 64, on a GPU 256)")
    add(
        "--src-lang",
        metavar="LANG",
        help="of multilingual models and prompts: a code such as en, or the model's own; "
        "for prompts also a name",
    )
    add("--trg-lang", metavar="LANG", help="likewise, such as de")
    add(
        "--task",
        metavar="TEXT",
        help="put before every source, as T5's 'translate English to German: '",
    )
    add(
        "--template",
        metavar="FILE",
        help="prompt of a language model: text with {src}, {src_lang}, {trg_lang} "
        "(default: one for chats, one for others)",
    )
    add(
        "--examples",
        metavar="FILE",
        help="shown before the source: per line a source, a tab, its translation",
    )
    add("--system", metavar="TEXT", help="system message of a chat")
    add("--plain", action="store_true", help="asks a chat model without its chat template")
    add(
        "--stop",
        metavar="TEXT",
        help="ends an answer, '' for none but the model's own end (default: a line end)",
    )
    parser.set_defaults(device=None, dtype="float32")
    add("-o", "--output", metavar="OUT", required=True, help="a .jsonl file")
    parser.set_defaults(refuse=parser.error)


def run(args: argparse.Namespace) -> None:
    """Draw, and say what was drawn."""
    from ..candidates.drawing import MOST_TOKENS, Drawing, load_drawer, read_method, translates
    from ..candidates.resume import draw_to_file
    from ..data import read_lines

    sampling, srcs = read_method(args.method, args.temperature), read_lines(args.sources)
    prompt, languages = None, {"src_lang": args.src_lang, "trg_lang": args.trg_lang}
    if translates(args.model):
        _refuse(
            args,
            ("template", "examples", "system", "plain", "stop"),
            "a translation model, which takes no prompt",
        )
    else:
        _refuse(args, ("task",), "a language model, which is given a prompt (--template)")
        prompt, languages = _prompt(args), {}
    task = {"task": args.task} if args.task else {}
    loading = {"device": args.device, "dtype": args.dtype, **languages, **task}
    model = load_drawer(args.model, **loading)
    most = MOST_TOKENS if args.max_tokens is None else args.max_tokens
    drawing = Drawing(
        model, args.n, sampling, args.seed, max_tokens=most, batch=args.batch, prompt=prompt
    )
    try:
        cands, before = draw_to_file(drawing, srcs, args.output, None, path=args.sources)
    except KeyboardInterrupt:
        shared.print_notes(
            [f"what is finished is in {args.output}.partial; the same command goes on from there."]
        )
        raise
    if before:
        shared.print_notes([f"{before} of {len(srcs)} sources were there already."])
    shared.print_notes(cands.notes)
    say(f"wrote {args.output} ({len(srcs)} sources)")


def _draws(cluster: Cluster, name: str, drawing: Drawing, loading: dict) -> Callable:
    """How the workers of a cluster draw."""
    from ..scoring.cluster import draws
    from ..scoring.worker import recipe

    names = ("k", "sampling", "seed", "max_tokens", "batch", "prompt")
    given = tuple((one, getattr(drawing, one)) for one in names)
    return draws(
        cluster,
        recipe("candidates.draw:made", drawing.model.device, name=name, drawing=given, **loading),
    )


def _refuse(args: argparse.Namespace, names: Sequence[str], what: str) -> None:
    """A usage error for options that such a model has no use for."""
    given = [f"--{name}" for name in names if getattr(args, name)]
    if given:
        args.refuse(f"{args.model} is {what}: leave out {' and '.join(given)}.")


def _prompt(args: argparse.Namespace) -> Prompt:
    """The prompt that the options describe."""
    from ..candidates import Prompt
    from ..candidates.prompts import language_name
    from ..data import read_lines

    template = "\n".join(read_lines(args.template)) if args.template else None
    languages = [language_name(given) if given else "" for given in (args.src_lang, args.trg_lang)]
    stop = (
        "\n" if args.stop is None else args.stop.replace("\\n", "\n").replace("\\t", "\t") or None
    )
    chat = False if args.plain else None
    examples = _examples(args.examples) if args.examples else ()
    src_lang, trg_lang = languages
    return Prompt(
        src_lang, trg_lang, template, examples, system=args.system or "", chat=chat, stop=stop
    )


def _examples(path: str) -> tuple[tuple[str, str], ...]:
    """(source, translation) of every line."""
    from ..data import read_lines

    pairs: list[tuple[str, str]] = []
    for number, line in enumerate(read_lines(path), 1):
        source, _, translation = line.partition("\t")
        if "\t" in translation or not (source.strip() and translation.strip()):
            raise DataError(
                "an example is a source, a tab and its translation, none of them blank.",
                path,
                number,
            )
        pairs.append((source, translation))
    return tuple(pairs)
