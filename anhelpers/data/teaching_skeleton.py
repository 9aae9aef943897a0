"""The skeleton of a teaching set: every file with its form and one line as an example."""

from __future__ import annotations

import json
import os
import tempfile
from os import PathLike
from pathlib import Path

from ..errors import DataError
from .languages import NAMES, short_code, split_pair
from .writing import make_folder, write_text

__all__ = ["CORE", "EXAMPLE", "make_skeleton"]

EXAMPLE = "[example]"
"""What every line of a skeleton holds, until somebody writes over it."""

CORE = {
    "calque": "word for word",
    "literal": "careful, a little translated-sounding",
    "literal-2": "another careful translation",
    "near-reference": "refA with a word or two changed",
    "idiomatic": "what a native translator would write",
    "idiomatic-2": "another that a native would write",
    "free": "rephrased",
    "free-short": "rephrased and shorter",
    "generalised": "a vaguer word",
    "omission": "something dropped",
    "omission-2": "something else dropped",
    "addition": "something invented",
    "explicitation": "the implied spelled out",
    "wrong-sense": "an ambiguous word misread",
    "wrong-sense-2": "another word misread",
    "wrong-order": "word order broken",
    "grammar": "one error of agreement, case or tense",
    "bureaucratic": "stiff, as offices write",
    "colloquial": "spoken",
    "elevated": "old-fashioned",
    "unrelated-fluent": "fluent, and says something else",
    "untranslated": "words of the source left in",
}
"""The tags that every source needs, and what each says of a candidate; `bureaucratic` may be called `officialese`."""

SYSTEMS = {"LLM-Large": ("LLM", "idiomatic"), "MT-Base": ("MT", "literal")}
"""Made-up systems of the skeleton: their category, and the tag of their candidate."""

README = """\
# The teaching set {lp} {mark}

{mark} Who wrote the sources, the translations and R, and when. Which of it is made up. The licence of the texts.

{mark} How many sources, documents, candidates, systems, pairs. Tags beyond the {n} of every source, and what they mean.

{mark} Who rated (ratings.tsv) and annotated (mqm.tsv), with which guidelines, and what nobody may conclude from it.
"""


def make_skeleton(folder: str | PathLike, lp: str) -> Path:
    """Write the skeleton of a teaching set into a folder that is not there, or is empty; returns the folder.

    Raises
    ------
    DataError where the folder holds something, or the pair is none.
    """
    folder = Path(folder)
    src, trg = split_pair(lp)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(
            "there is something already; name a folder that is empty, or not there yet.", folder
        )
    with tempfile.TemporaryDirectory(
        prefix=".", suffix=".tmp", dir=make_folder(folder.parent)
    ) as aside:
        fresh = Path(aside) / "set"
        for name, text in _files(src, trg).items():
            make_folder((fresh / name).parent)
            write_text(fresh / name, text)
        if folder.is_dir():  # perhaps somebody's working folder: it stays the same one
            for child in fresh.iterdir():
                os.rename(child, folder / child.name)
        else:
            os.rename(fresh, folder)
    return folder


def _files(src: str, trg: str) -> dict[str, str]:
    """Path in the folder -> text."""
    lp, target = f"{src}-{trg}", NAMES.get(short_code(trg), f"'{trg}'")
    texts = {tag: f"{EXAMPLE} {what}, in {target}" for tag, what in CORE.items()}
    candidates = [
        {"segment": 0, "text": text, "tag": tag, "id": f"news-d1-1/{tag}"}
        for tag, text in texts.items()
    ]
    files = {
        f"txt/sources/{lp}.txt": f"{EXAMPLE} a source in {NAMES.get(short_code(src), src)}: a "
        "sentence per line",
        f"txt/references/{lp}.refA.txt": f"{EXAMPLE} a good translation, of which candidates may "
        "be variants",
        f"txt/references/{lp}.refB.txt": f"{EXAMPLE} somebody else's translation, written without "
        "looking at refA",
        f"txt/documents/{lp}.docs": "news\tnews-d1",
        **{f"txt/system-outputs/{lp}/{name}.txt": texts[tag] for name, (_, tag) in SYSTEMS.items()},
        "systems.tsv": "\n".join(
            ["system\tcategory", *(f"{name}\t{kind}" for name, (kind, _) in SYSTEMS.items())]
        ),
        "candidates.jsonl": "\n".join(json.dumps(one, ensure_ascii=False) for one in candidates),
        f"mono.{trg}.txt": f"{EXAMPLE} a sentence that somebody wrote in {target}, no translation",
        f"mono.{trg}.domains.txt": "news",
        "minimal_pairs.tsv": f"phenomenon\tgood\tbad\nagreement\t{EXAMPLE} The dog "
        f"barks.\t{EXAMPLE} The dog bark.",
        "ratings.tsv": "segment\tid\tpass\tnaturalness\taccuracy",
        "mqm.tsv": "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tcomment",
        "README.md": README.format(lp=lp, mark=EXAMPLE, n=len(CORE)).removesuffix("\n"),
    }
    if short_code(src) != "en":
        files["glosses.txt"] = f"{EXAMPLE} what the source says, in plain English"
    return {name: f"{text}\n" for name, text in files.items()}
