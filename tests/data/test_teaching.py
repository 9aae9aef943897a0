"""The teaching sets are what their READMEs say."""

import csv
import re
from collections import Counter

import pytest

from anhelpers.data import bundled, load, read_lines

OF = {
    "teaching/en-de": ("de", ("agreement", "verb-position", "case", "separable-verbs")),
    "teaching/de-en": (
        "en",
        ("agreement", "articles", "tense-aspect", "word-order", "prepositions"),
    ),
}
SETS = pytest.mark.parametrize("name", OF)


@SETS
def test_minimal_pairs_differ_and_cover_the_phenomena(name):
    rows = [line.split("\t") for line in read_lines(bundled(f"{name}/minimal_pairs.tsv"))]
    assert rows[0] == ["phenomenon", "good", "bad"]
    assert all(len(r) == 3 and r[1] != r[2] for r in rows)
    assert len({(r[1], r[2]) for r in rows}) == len(rows) >= 101
    counts = Counter(r[0] for r in rows[1:])
    assert all(counts[p] >= 25 for p in OF[name][1])
    for phenomenon, good, bad in rows[1:]:
        if phenomenon == "verb-position":
            assert Counter(re.findall(r"\w+", good.lower())) == Counter(
                re.findall(r"\w+", bad.lower())
            ), good


@SETS
def test_mqm_rows_name_real_outputs_and_cover_every_one_twice(name):
    test = load(name)
    with bundled(f"{name}/mqm.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert {r["severity"] for r in rows} <= {"Major", "Minor", "Neutral", "No-error"}
    covered = set()
    for r in rows:
        i = int(r["seg_id"]) - 1
        assert re.sub("</?v>", "", r["target"]) == test.systems[r["system"]][i]
        assert re.sub("</?v>", "", r["source"]) == test.srcs[i]
        assert test.docs[i] == r["doc"]
        marked = ("<v>" in r["target"]) + ("<v>" in r["source"])
        assert marked == (r["category"] != "No-error"), r
        covered.add((r["system"], i, r["rater"]))
    assert len(covered) == 8 * len(test) * 2
