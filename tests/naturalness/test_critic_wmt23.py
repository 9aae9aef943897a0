"""The bundled critic of German on texts that it was not trained on: WMT23."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

from anhelpers.data import load, read_lines
from anhelpers.naturalness.critic import auc, load_critic, score_critic

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
