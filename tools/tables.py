"""Make the bundled tables of scores: `python -m tools.tables [--segments N] [FOLDER] PAIR …`.

PAIR is a data set such as wmt24/en-de, or with FOLDER, a WMT text tree, a language pair such as en-ru. Texts are those
of `anhelpers data --fetch`; scores are kept in the cache, so that a stopped run resumes. A table has numbers and names,
no texts: chrF, the counts of BLEU, Gemma's log-probability and tokens, both heads of `native` in their languages,
words, and MetricX and CometKiwi per system where the sheet of the task is at hand. Whole documents are taken up to
--segments. `data/scores/tables.csv` has a row per table.
"""

from __future__ import annotations

import argparse
import csv
import json
import lzma
import time
from pathlib import Path

import numpy as np
import pandas as pd

import anhelpers as an
from anhelpers.accuracy.surface import surface_metric
from anhelpers.data.fetch import bundled
from anhelpers.data.sets import SETS, mono_for, whereabouts
from anhelpers.errors import UnknownName
from anhelpers.naturalness import Mono
from anhelpers.naturalness.lexical import _words
from anhelpers.naturalness.native import _head_scores, load_heads
from anhelpers.scoring.cache import OFFERS
from anhelpers.scoring.stored import COLUMNS, FOLDER, SUFFIX, _digest

SHEET = {"metricx": "MetricX-23-XL", "cometkiwi": "CometKiwi-XL"}
"""Column of the task's sheet -> the metric's own name."""


def whole_documents(test: an.TestSet, most: int) -> list[int]:
    """Segments of documents that are taken at random while they fit into `most` segments."""
    documents = list(dict.fromkeys(test.docs))
    taken: set[str] = set()
    for i in np.random.default_rng(0).permutation(len(documents)):
        if sum(doc in taken or doc == documents[i] for doc in test.docs) <= most:
            taken.add(documents[i])
    return [i for i, doc in enumerate(test.docs) if doc in taken]


def of_systems(test: an.TestSet) -> dict[str, dict]:
    """The scores of whole systems in the sheet of WMT24's organisers."""
    place = whereabouts("wmt24/autoscores")
    if place is None or not test.name.startswith("wmt24"):
        return {}
    sheet = pd.read_csv(place, sep="\t")
    sheet = sheet[sheet.lp == test.lp].assign(
        system=lambda t: t.system.str.replace(r"\$.*\$", "", regex=True)
    )
    sheet = sheet[sheet.system.isin([*test.systems])].set_index("system")
    found = {key: sheet[key].dropna().to_dict() for key in SHEET}
    return {key: {"metric": SHEET[key], "scores": found[key]} for key in SHEET if found[key]}


def table(whole: an.TestSet, chosen: list[int]) -> tuple[dict, pd.DataFrame]:
    """Head and rows of the table of some segments of a test set."""
    test = whole.subset(chosen)
    outputs = {**test.refs, **test.systems}
    n, k, lang = len(test), len(outputs), test.trg_lang
    texts = [text for line in zip(*outputs.values(), strict=True) for text in line]
    segment, first = (
        np.repeat(np.arange(n), k),
        [[text or None for text in test.refs[test.reference]]],
    )
    numbers = []
    for line in zip(*outputs.values(), strict=True):
        seen = {text: i for i, text in enumerate(dict.fromkeys(line))}
        numbers += [seen[text] if text.strip() else -1 for text in line]
    lm = an.load_lm()
    parts = {
        "chrf": surface_metric("chrf", lang).score_segments(texts, refs=first, segment=segment)[
            :, None
        ]
    }
    parts["bleu"] = surface_metric("bleu", lang).count(texts, refs=first, segment=segment)[:, :6]
    scores = an.score_texts(lm, texts)
    parts["lpp"] = np.column_stack(
        [scores.total, np.where(scores.tokens > 0, scores.tokens, np.nan)]
    )
    metrics = {one: {"signature": surface_metric(one, lang).signature} for one in ("chrf", "bleu")}
    metrics["bleu"]["corpus_signature"] = surface_metric("bleu", lang).corpus_signature
    metrics["lpp"] = {"signature": lm.signature(False), "model": lm.name}
    try:
        heads = load_heads(lang)
        parts["native"] = _head_scores(heads, texts)
        metrics["native"] = {"signature": heads.signature}
    except (UnknownName, an.DataError):
        pass
    for one in {*parts} & {"lpp", "native"}:
        parts[one] = np.where([[not text.strip()] for text in texts], np.nan, parts[one])
    rows = pd.DataFrame({"output": numbers, "words": [len(_words(text)) for text in texts]})
    for one, values in parts.items():
        for name, column in zip(COLUMNS[one], values.T, strict=True):
            rounded = np.round(column, 4)
            rows[name] = rounded if (rounded % 1).any() else pd.array(rounded, dtype="Int64")
    head = {
        "name": test.name,
        "lp": test.lp,
        "references": list(test.refs),
        "systems": dict(test.categories),
        "digests": {name: _digest(own) for name, own in {**whole.refs, **whole.systems}.items()},
        "segments": chosen,
        "metrics": metrics,
        "of_systems": of_systems(test),
        "docs": test.docs,
        "domains": test.domains,
    }
    mono, origin = mono_for(test.name, lang)
    if test.name in SETS and SETS[test.name].mono and origin == f"of {test.name}":
        r = an.score_texts(lm, mono)
        pairs = np.column_stack([np.round(r.total, 3), r.tokens]).tolist()
        head["mono"] = {
            "name": SETS[test.name].mono,
            "signature": Mono(mono).signature,
            "lpp": pairs,
        }
    return head, rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("pairs", nargs="+")
    parser.add_argument("--segments", type=int, default=10**6)
    parser.add_argument("--out", type=Path, default=bundled(FOLDER))
    args = parser.parse_args()
    folder = args.pairs.pop(0) if Path(args.pairs[0]).is_dir() else None
    for pair in args.pairs:
        start = time.monotonic()
        whole = an.load(folder, pair) if folder else an.load(pair)
        OFFERS.clear()  # computed, not taken from the table that this replaces
        chosen = whole_documents(whole, args.segments)
        head, rows = table(whole, chosen)
        file = args.out / f"{whole.name.replace('/', '.', 1)}{SUFFIX}"
        body = (
            json.dumps(head, ensure_ascii=False)
            + "\n"
            + rows.to_csv(index=False, lineterminator="\n")
        )
        file.write_bytes(lzma.compress(body.encode(), preset=9 | lzma.PRESET_EXTREME))
        about = {
            "name": whole.name,
            "references": " ".join(whole.refs),
            "systems": len(whole.systems),
            "segments": len(chosen),
            "of": len(whole),
            "documents": len(set(head["docs"])),
            "metrics": " ".join([*head["metrics"], *head["of_systems"]]),
            "bytes": file.stat().st_size,
            "minutes": f"{(time.monotonic() - start) / 60:.1f}",
        }
        index = args.out / "tables.csv"
        kept = list(csv.DictReader(index.open())) if index.is_file() else []
        kept = sorted(
            [row for row in kept if row["name"] != whole.name] + [about],
            key=lambda row: row["name"],
        )
        pd.DataFrame(kept).to_csv(index, index=False, lineterminator="\n")
        print(", ".join(f"{key}: {value}" for key, value in about.items()))


if __name__ == "__main__":
    main()
