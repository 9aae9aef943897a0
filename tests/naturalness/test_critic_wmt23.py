"""The bundled critic of German on texts that it was not trained on: WMT23."""

import os
from pathlib import Path

import numpy as np
import pytest

from anhelpers.data import load, read_lines
from anhelpers.naturalness.critic import auc, load_critic, score_critic
from tools.train.wmt23 import FIRST, sentences

pytestmark = pytest.mark.real


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
