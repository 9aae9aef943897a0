"""WMT25's JSON lines: outputs with their paragraphs, and the stored scores beside them."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anhelpers.data import load
from anhelpers.data.sets import remote_files
from anhelpers.data.wmt25 import is_wmt25, read_wmt25, read_wmt25_scores, wmt25_pairs
from anhelpers.errors import DataError, UnknownName
from anhelpers.metrics import Metric
from anhelpers.scoring import lookup, system_rows, system_scores


@pytest.fixture
def tree(tmp_path):
    """Writes outputs {system: {doc: text}} and scores {system: {doc: numbers}} of XCOMET-XL; returns the folder."""

    def write(outputs, scores):
        for folder, of in (("systems", outputs), ("automatic_scores", scores)):
            (tmp_path / folder).mkdir(exist_ok=True)
            for system, docs in of.items():
                lines = [
                    _output(d, t) if folder == "systems" else _score(d, t) for d, t in docs.items()
                ]
                text = "".join(json.dumps(line) + "\n" for line in lines)
                (tmp_path / folder / f"{system}.jsonl").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def _output(doc, text):
    return {"doc_id": f"cs-de_DE_#_{doc}", "hypothesis": text, "paragraphs_match": True}


def _score(doc, values):
    domain, name = doc.split("_#_")
    return {
        "language_pair": "cs-de_DE",
        "domain": domain,
        "document_id": name,
        "metric_scores": {"XCOMET-XL": values},
    }


OUTPUTS = {
    "B": {"news_#_n1": "Eins.\n\nZwei.", "speech_#_vid_s": "Drei.\nUnd so."},
    "A": {"speech_#_vid_s": "III", "news_#_n1": "I\n\nII"},
}
SCORES = {
    "A": {"news_#_n1": [0.1, 0.2], "speech_#_s": [0.3]},
    "B": {"speech_#_s": [0.6], "news_#_n1": [0.4, None]},
}


def test_paragraphs_are_segments_whatever_the_order_of_documents(tree):
    folder = tree(OUTPUTS, SCORES)
    assert is_wmt25(folder)
    assert wmt25_pairs(folder) == {"cs-de": ["cs-de_DE"]}
    test = read_wmt25(folder, "cs-de")
    assert test.systems == {"A": ("I", "II", "III"), "B": ("Eins.", "Zwei.", "Drei.\nUnd so.")}
    assert test.docs == ("cs-de_DE_#_news_#_n1",) * 2 + ("cs-de_DE_#_speech_#_s",)
    assert test.domains == ("news", "news", "speech")
    assert test.srcs == ("", "", "")
    assert not test.refs
    assert "neither sources nor references" in test.notes[0]
    values = read_wmt25_scores(folder, test, "XCOMET-XL")
    np.testing.assert_array_equal(values, [[0.1, 0.4], [0.2, np.nan], [0.3, 0.6]])
    assert load(folder).name == f"{folder.name}/cs-de"


def test_systems_must_have_the_same_documents_and_paragraphs(tree):
    with pytest.raises(
        DataError, match=r"B\.jsonl, line 1: .*n1 has 1 paragraphs here, and 2 by A"
    ):
        read_wmt25(
            tree(OUTPUTS | {"B": {"news_#_n1": "Eins.", "speech_#_s": "x"}}, SCORES), "cs-de"
        )
    with pytest.raises(DataError, match=r"B has no document cs-de_DE_#_speech_#_s \(1 such\)"):
        read_wmt25(tree(OUTPUTS | {"B": {"news_#_n1": "Eins.\n\nZwei."}}, SCORES), "cs-de")
    with pytest.raises(UnknownName, match="unknown language pair 'cs-uk'; did you mean 'cs-de'"):
        read_wmt25(tree(OUTPUTS, SCORES), "cs-uk")


def test_what_needs_a_source_or_a_reference_is_refused(tree):
    test = read_wmt25(tree(OUTPUTS, SCORES), "cs-de")
    with pytest.raises(DataError, match="chrf compares with a reference, and wmt25/cs-de has none"):
        system_rows(test, [lookup.metric("chrf", test)])
    reads = Metric(
        "qe", "QE", "0 to 1", True, ("srcs",), "qe", lambda hyps, **others: np.ones(len(hyps))
    )
    with pytest.raises(
        DataError, match="qe reads the source, and those of wmt25/cs-de are all blank"
    ):
        system_rows(test, [reads])


@pytest.mark.real
@pytest.mark.skipif(not os.environ.get("ANHELPERS_DATA"), reason="ANHELPERS_DATA is not set")
def test_the_five_systems_of_cs_de_and_their_stored_scores_by_hand():
    test = load("wmt25/cs-de")
    assert (len(test), len(test.systems), len(set(test.docs))) == (457, 5, 256)
    assert sorted(set(test.domains)) == ["dialogue", "edu", "news", "social", "speech"]
    assert len(remote_files("wmt25/cs-de")) == 10
    folder = Path(os.environ["ANHELPERS_DATA"]) / "wmt25" / "data" / "automatic_scores"
    for metric, sign in (("XCOMET-XL", 1), ("MetricX-24-Hybrid-XL", -1), ("GEMBA-ESA-GPT4.1", 1)):
        ours = lookup.metric(f"stored:wmt25/cs-de#{metric}", test)
        assert ours.higher_is_better == (sign == 1)
        scores = system_scores(test, ours)
        for j, system in enumerate(test.systems):
            table = pd.read_json(folder / f"{system}.jsonl", lines=True)
            mine = table[table.language_pair == "cs-de_DE"].metric_scores.map(lambda of: of[metric])  # noqa: B023
            numbers = np.array([value for values in mine for value in values])
            assert len(numbers) == 457
            assert scores[:, j].mean() == pytest.approx(sign * numbers.mean(), abs=1e-12)
            # and in their places: a document's numbers stand together, in its order
            first = table[table.language_pair == "cs-de_DE"].iloc[17]
            doc = f"cs-de_DE_#_{first.domain}_#_{first.document_id}"
            at = [i for i, name in enumerate(test.docs) if name == doc]
            np.testing.assert_allclose(sign * scores[at, j], first.metric_scores[metric])
