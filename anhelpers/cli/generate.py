"""`anhelpers generate`: sources to candidates."""

import argparse
from typing import Any

from ..errors import counted
from ..progress import note, say

EXAMPLE = "anhelpers generate --model MODEL -s src.en -n 64 -o candidates.jsonl"
MORE = """\
OUT contains one JSON object per source with its distinct candidates, how often
each was drawn (count) and its natural-log probability under the model (logprob).
`anhelpers curve OUT -s SRC -r REF` draws their oracle curve. The same command
resumes a run that was stopped. The model's own generation settings are ignored.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Model, sources, sampling, prompt, output."""
    parser.epilog, add = MORE, parser.add_argument
    kinds = "an encoder-decoder (Marian, NLLB, M2M100, T5, mBART) or of a causal language model"
    add("--model", metavar="MODEL", required=True, help=f"folder or hub id[@revision] of {kinds}")
    add("-s", "--sources", metavar="SRC", required=True, help="source text, one segment per line")
    add("-n", type=int, default=16, metavar="K", help="samples per source (default: 16)")
    told = "ancestral, epsilon:0.02, top-p:0.9 or top-k:50 (default: ancestral)"
    add("--method", default="ancestral", metavar="METHOD", help=told)
    add("--temperature", type=float, default=1.0, metavar="T", help="temperature (default: 1)")
    add("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")
    add("--max-tokens", type=int, default=512, metavar="N", help="per sample (default: 512)")
    add("--lp", metavar="SRC-TRG", help="languages of multilingual models and prompts, e.g. en-de")
    told = "prompt of a language model with {src}, {src_lang}, {trg_lang}; or the text before "
    told += "every source of an encoder-decoder, such as 'translate English to German: {src}'"
    add("--template", metavar="TEXT", help=told)
    add("-o", "--output", metavar="OUT", required=True, help="a .jsonl file")


def run(args: argparse.Namespace) -> None:
    """Draw candidates and write them."""
    from ..candidates import Sampler, generate
    from ..data import read_lines
    from ..models import find
    from ..naturalness.lm import load_lm
    from ..translation import load_mt

    srcs, template = read_lines(args.sources), (args.template or "").replace("\\n", "\n")
    lp = args.lp or ""
    if find(args.model).load_config().is_encoder_decoder:
        src_lang, trg_lang = (code or None for code in lp.partition("-")[::2])
        how: dict[str, Any] = {"src_lang": src_lang, "trg_lang": trg_lang}
        model: Any = load_mt(args.model, task=template.removesuffix("{src}"), **how)
        template = ""
    else:
        model = load_lm(args.model)
    chosen = {"method": args.method, "temperature": args.temperature, "seed": args.seed}
    chosen |= {"max_tokens": args.max_tokens, "template": template, "lp": lp}
    sampler = Sampler(model, args.n, **chosen)
    for sentence in generate(sampler, srcs, args.output).notes:
        note(sentence)
    say(f"wrote {args.output} ({counted(len(srcs), 'source')})")
