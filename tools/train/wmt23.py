"""Write the texts on which the weight of the head fluent is chosen: `python -m tools.train.wmt23 LANG OUT`.

German: sentences of WMT23's German originals, refA and 400 of each system. English: WMT23's English originals, and the
translations from Czech and Ukrainian of WMT22. ANHELPERS_DATA has them.
"""

import os
import random
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import anhelpers as an

FIRST = 1958
"""The line of de.original.txt, from 0, at which the paragraphs of WMT23 begin; before it are sentences of WMT21."""
END = re.compile(r"(?<=[.!?…])[\"”“’')»]*\s+(?=[\"„“‚»(\-–]*[A-ZÄÖÜ0-9])")
ABBREVIATED = re.compile(
    r"(?:\b(?:z|B|d|h|u|a|o|Dr|Prof|St|Nr|ca|bzw|vgl|Mr|Mrs|Ms|Jan|Feb|Mio|Mrd|Str|Abs|Art|usw|etc|evtl|ggf|inkl|max|min"
    r"|Tel|[A-Z])|\b\d{1,2})\.$"
)


def sentences(paragraphs: Iterable[str]) -> list[str]:
    """Cut after . ! ? … before a capital or a digit, not after abbreviations and ordinals; two words or more."""
    out = []
    for text in paragraphs:
        start = 0
        for cut in END.finditer(text):
            if not ABBREVIATED.search(text[start : cut.start()]):
                out.append(text[start : cut.end()].strip())
                start = cut.end()
        out.append(text[start:].strip())
    return [sentence for sentence in out if len(re.findall(r"\w+", sentence)) >= 2]


def rows(lang: str, data: Path) -> Iterator[tuple[str, str, str]]:
    """(side, origin, text)."""
    originals = an.data.read_lines(data / "mono" / f"{lang}.original.txt")
    if lang == "de":
        test, draw = an.load("wmt23/en-de"), random.Random(5)
        yield from (("native", "wmt23", text) for text in sentences(originals[FIRST:]))
        yield from (("human-translation", "refA", text) for text in sentences(test.refs["refA"]))
        for name in sorted(test.systems):
            some = draw.sample(sentences(test.systems[name]), 400)
            yield from (("machine-translation", name, text) for text in some)
        return
    yield from (("native", "wmt23", text) for text in originals)
    for line in an.data.read_lines(data / "critic" / "wmt22_native_or_translated.en.tsv.xz"):
        group, side, origin, _, text = line.split("\t")
        if group in ("cs-en", "uk-en"):
            yield side, f"{group} {origin}", text


if __name__ == "__main__":
    lang, out = sys.argv[1:]
    found = rows(lang, Path(os.environ["ANHELPERS_DATA"]))
    lines = [
        f"wmt23\t{side}\t{origin}\t{i}\t{text}" for i, (side, origin, text) in enumerate(found)
    ]
    Path(out).write_text("\n".join(["set\tside\torigin\tline\ttext", *lines]) + "\n", "utf-8")
