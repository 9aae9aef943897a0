"""The bundled critics on texts that they were not trained on: WMT23, and for English a part of WMT22 as well."""

import csv
import lzma
import os
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from anhelpers.naturalness.critic_figures import auc

from anhelpers.data import bundled, load
from anhelpers.data.lines import read_lines
from anhelpers.naturalness.critic import critic_metric, load_critic, score_critic

pytestmark = pytest.mark.real
FIRST = 1958
"""The line of de.original.txt, from 0, at which the paragraphs of WMT23 begin; before it are sentences of WMT21."""
END = re.compile(r"(?<=[.!?…])[\"”“’')»]*\s+(?=[\"„“‚»(\-–]*[A-ZÄÖÜ0-9])")
ABBREVIATED = re.compile(
    r"(?:\b(?:z|B|d|h|u|a|o|Dr|Prof|St|Nr|ca|bzw|vgl|Mr|Mrs|Ms|Jan|Feb|Mio|Mrd|Str|Abs|Art|usw|etc|evtl|ggf|inkl|max|min"
    r"|Tel|[A-Z])|\b\d{1,2})\.$"
)


def sentences(paragraphs):
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


def tens(scores):
    """Means of ten neighbouring sentences."""
    scores = scores[~np.isnan(scores)]
    return scores[: len(scores) // 10 * 10].reshape(-1, 10).mean(1)


@pytest.fixture(scope="module")
def scored():
    critic, test = load_critic("de"), load("wmt23/en-de")
    originals = read_lines(Path(os.environ["ANHELPERS_DATA"]) / "mono" / "de.original.txt")[FIRST:]
    texts = {"originals": originals, "refA": test.refs["refA"], **test.systems}
    return {
        name: np.array([score_critic(critic, text) for text in sentences(t)])
        for name, t in texts.items()
    }


def test_the_gates_of_sentences(scored):
    r = scored["originals"]
    systems = [scores for name, scores in scored.items() if name not in ("originals", "refA")]
    assert len(systems) == 12
    assert np.mean([auc(r, q) for q in systems]) >= 0.77
    assert auc(r, scored["refA"]) >= 0.75


def test_means_of_ten_sentences_as_the_card_says(scored):
    """0.95 was wanted of neighbouring sentences, and 0.948 is reached; of sentences of any documents 0.99."""
    systems = [scores for name, scores in scored.items() if name not in ("originals", "refA")]
    assert np.mean([auc(tens(scored["originals"]), tens(q)) for q in systems]) == pytest.approx(
        0.948, abs=0.001
    )


def test_only_texts_of_its_training_are_told(capsys):
    """WMT22's are, to the last one; WMT23's are not."""
    file = Path(os.environ["ANHELPERS_DATA"]) / "critic" / "wmt22_native_or_translated.de.tsv.xz"
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        read = [row["text"] for row in rows if (row["set"], row["origin"]) == ("en-de", "Online-B")]
    metric = critic_metric(load_critic("de"), "de")
    metric.score_segments(read)
    assert "1729 of 1729 different texts of 6 words or more stand in its" in capsys.readouterr().err
    metric.score_segments(load("wmt23/en-de").systems["ONLINE-B"])
    assert "stand in its training texts" not in capsys.readouterr().err


@pytest.fixture(scope="module")
def english():
    """Scores of English originals, and of translations by (source language, kind), all kept from the training."""
    root, critic = Path(os.environ["ANHELPERS_DATA"]), load_critic("en")
    with lzma.open(
        root / "critic" / "wmt22_native_or_translated.en.tsv.xz", "rt", encoding="utf-8"
    ) as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            if int(row["line"]) // 10 % 5 == 4
        ]
    texts = defaultdict(list, {"WMT23 sentences": read_lines(root / "mono" / "en.original.txt")})
    seen = set()
    for row in sorted(rows, key=lambda row: int(row["line"])):
        if row["side"] != "native" and (key := (row["set"], row["side"], row["line"])) not in seen:
            # neighbours, one text for each source
            texts[row["set"], row["side"], "in order"].append(row["text"])
            seen.add(key)
    for row in rows:
        kind = {"en": "WMT22 held-out sources", "ewt": "EWT held-out lines"}.get(row["set"])
        texts[kind or (row["set"], row["side"])].append(row["text"])
    scored = {
        name: [score_critic(critic, text) for text in some if len(re.findall(r"\w+", text)) >= 2]
        for name, some in texts.items()
    }
    return {name: np.array(scores)[~np.isnan(scores)] for name, scores in scored.items()}


def test_the_english_critic_on_texts_kept_from_it_as_the_card_says(english):
    card = (bundled("critic/en") / "README.md").read_text(encoding="utf-8")
    sides = [
        [q for q in english if q[1:] == (kind,)]
        for kind in ("machine-translation", "human-translation")
    ]
    assert [len(side) for side in sides] == [6, 6]
    originals = [name for name in english if isinstance(name, str)]
    for name in originals:
        means = [np.mean([auc(english[name], english[q]) for q in side]) for side in sides]
        german = [auc(english[name], english[q]) for side in sides for q in side if q[0] == "de-en"]
        row = next(line for line in card.splitlines() if line.startswith(f"| {name} |"))
        said = [float(number) for number in re.findall(r"\d\.\d+", row)]
        np.testing.assert_allclose([*means, *german], said, atol=0.001)
    r = tens(english[originals[0]])
    tens_of = [np.mean([auc(r, tens(english[*q, "in order"])) for q in side]) for side in sides]
    assert (
        "| WMT23, means of ten neighbouring sentences | {:.3f} | {:.3f} | |".format(*tens_of)
        in card
    )
    above = [(english[name] > 0).mean() for name in originals[:2]]
    assert (
        "{:.0%} of WMT23's originals and {:.0%} of the held-out sources stand above 0".format(
            *above
        )
        in card
    )
