"""The teaching set is what its README says."""

import csv
import re
import unicodedata
from collections import Counter

import pytest

from anhelpers.data import bundled, load, load_candidates, load_mono
from anhelpers.data.lines import read_lines

TEST, CANDS = load("teaching"), load_candidates("teaching")


def test_counts_are_those_of_the_readme():
    readme = bundled("teaching/README.md").read_text(encoding="utf-8")
    mqm = read_lines(bundled("teaching/mqm.tsv"))
    pairs = read_lines(bundled("teaching/minimal_pairs.tsv"))
    for number in (
        f"{len(TEST)}: 13",
        f"{len(CANDS):,};",
        f"{len(load_mono('teaching'))} sent",
        f"{len(mqm) - 1:,} rows",
    ):
        assert number in readme, number
    assert f"| {len(pairs) - 1} |" in readme
    assert Counter(TEST.domains) == dict.fromkeys(("news", "literary", "social", "speech"), 13)
    assert len(set(TEST.docs)) == 12
    assert list(TEST.refs) == ["refB", "refA"]
    assert len(TEST.systems) == 8
    assert set(TEST.categories.values()) == {"LLM", "MT", "online", "human"}
    assert not TEST.notes


def test_candidates_are_distinct_tagged_and_span_the_plane():
    assert CANDS.n_candidates.min() >= 24
    seen = set()
    for i, text, tag in zip(CANDS.segment, CANDS.texts, CANDS.tags, strict=True):
        folded = " ".join(text.split())
        assert (i, folded) not in seen
        seen.add((i, folded))
        assert folded not in {" ".join(ref[i].split()) for ref in TEST.refs.values()}
        assert tag
        assert unicodedata.is_normalized("NFC", text)
    assert sum(n == len(TEST) for n in Counter(CANDS.tags).values()) >= 22
    documented = bundled("teaching/README.md").read_text(encoding="utf-8")
    assert all(f"`{tag}`" in documented for tag in set(CANDS.tags))


def test_every_system_output_is_a_candidate():
    there = set(zip(CANDS.segment.tolist(), CANDS.texts, strict=True))
    assert all((i, hyp) in there for hyps in TEST.systems.values() for i, hyp in enumerate(hyps))
    assert len({tuple(hyps) for hyps in TEST.systems.values()}) == 8


def test_monolingual_german_is_distinct_and_no_translation_of_ours():
    mono = load_mono("teaching")
    domains = read_lines(bundled("teaching/mono.de.domains.txt"))
    assert len(mono) == len(set(mono)) == len(domains) >= 300
    assert set(domains) == set(TEST.domains)
    assert not set(mono) & ({*CANDS.texts} | {t for ref in TEST.refs.values() for t in ref})


def test_minimal_pairs_differ_and_cover_the_phenomena():
    rows = [line.split("\t") for line in read_lines(bundled("teaching/minimal_pairs.tsv"))]
    assert rows[0] == ["phenomenon", "good", "bad"]
    assert all(len(r) == 3 and r[1] != r[2] for r in rows)
    assert len({(r[1], r[2]) for r in rows}) == len(rows) >= 101
    counts = Counter(r[0] for r in rows[1:])
    assert all(counts[p] >= 25 for p in ("agreement", "verb-position", "case", "separable-verbs"))
    for phenomenon, good, bad in rows[1:]:
        if phenomenon == "verb-position":
            assert Counter(re.findall(r"\w+", good.lower())) == Counter(re.findall(r"\w+", bad.lower())), good


def test_mqm_rows_name_real_outputs_and_cover_every_one_twice():
    with bundled("teaching/mqm.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert {r["severity"] for r in rows} <= {"Major", "Minor", "Neutral", "No-error"}
    covered = set()
    for r in rows:
        i = int(r["seg_id"]) - 1
        assert re.sub("</?v>", "", r["target"]) == TEST.systems[r["system"]][i]
        assert re.sub("</?v>", "", r["source"]) == TEST.srcs[i]
        assert TEST.docs[i] == r["doc"]
        marked = ("<v>" in r["target"]) + ("<v>" in r["source"])
        assert marked == (r["category"] != "No-error"), r
        covered.add((r["system"], i, r["rater"]))
    assert len(covered) == 8 * len(TEST) * 2


@pytest.mark.parametrize(
    "name", ["README.md", "systems.tsv", "candidates.jsonl", "mono.de.txt", "mqm.tsv", "ratings.tsv"]
)
def test_files_are_there(name):
    assert bundled(f"teaching/{name}").is_file()
