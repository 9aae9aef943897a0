"""Every reader on random bytes and on damaged copies of a valid file: a result, or an error of one line."""

import gzip
import json
import os
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from anhelpers import data
from anhelpers.data.candidates import read_candidate_file
from anhelpers.data.plain import documents_of
from anhelpers.data.schema import CATEGORIES
from anhelpers.data.wmt import _read_categories
from anhelpers.errors import AnhelpersError

EXAMPLES = int(os.environ.get("ANHELPERS_FUZZ", 25))
ODD = ["", " ", "nan", "None", "inf", "-1", "1e999", "1_0", "9" * 5000, "0.5", "1,5", "²", "\u2028"]
ODD += ["\x85", "\0", "\ufeff", "a\u0301", "<v>", '"', "'", "\t", ",", "en", "refA", "X", "Major"]
ODD += ["<html>", "{", "[[[", "\\", "\r", "..", "x" * 300, "\\ud800", "1" + "0" * 22, "null"]


def holds_test(test):
    n = len(test)
    assert all(len(texts) == n for texts in (*test.refs.values(), *test.systems.values()))
    assert len(test.docs) == len(test.domains) == n
    assert set(test.categories.values()) <= set(CATEGORIES)


def holds_candidates(cands):
    sizes = {len(c) for c in (cands.segment, cands.texts, cands.tags, cands.multiplicity)}
    assert sizes == {len(cands)}
    assert (np.unique(cands.segment) == np.arange(cands.n_segments)).all()


def holds_ratings(ratings):
    assert len(ratings) == len(ratings.frame())


TREE = {
    "sources/en-de.txt": "a\nb\n",
    "references/en-de.refA.txt": "A\nB\n",
    "system-outputs/en-de/X.txt": "x\n\n",
    "documents/en-de.docs": "news d1\nnews d1\n",
    "metric-scores/en-de/chrF-refA.seg.score": "X\t1.5\nX\t2\n",
    "systems.tsv": "system\tcategory\nX\tLLM\n",
}
CANDIDATES = [
    {"segment": 0, "text": "a", "tag": "X", "logprob": -1.5, "count": 2},
    {"segment": 0, "text": "b"},
    {"segment": 1, "text": "é", "src": "t"},
]
SOURCES = [
    {"src": "s", "refs": ["r", "q"], "candidates": ["a", {"text": "b"}], "lp": "en-de"},
    {"src": "t", "refs": {"refA": "r"}, "candidates": ["c"]},
]
MQM = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n" + "".join(
    f"{s}\td\t{i}\t{i}\tr{i % 2}\ta <v>b</v>\tA <v>c</v> d\tAccuracy/Addition\tMajor\n"
    for s in "XY"
    for i in (1, 2)
)
SGM = '<srcset srclang="en"><doc docid="d"><seg id="1">a</seg></doc></srcset>'
XML = SGM.replace("srcset", "dataset").replace("docid", "id").replace("<seg", "<src><seg")
XML = XML.replace("</seg>", "</seg></src>")


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


READERS = {  # name -> valid file, reader, what holds of its result
    "a.txt": ("a\nb c\n\u00e9\n", data.read_lines, lambda lines: None),
    "x.docs": (
        "news\td1\nnews d2\n",
        lambda path: documents_of(path, data.read_lines(path)),
        lambda pairs: None,
    ),
    "systems.tsv": (TREE["systems.tsv"], _read_categories, lambda kinds: None),
    "s.csv": (
        'system,category,claim\nX,LLM,"a, b"\nY,human,\n',
        data.system_categories,
        lambda kinds: None,
    ),
    "c.jsonl": (jsonl(CANDIDATES), data.read_candidates, holds_candidates),
    "s.jsonl": (jsonl(SOURCES), read_candidate_file, lambda found: holds_candidates(found[1])),
    "c.txt": ("a\nb\nc\nd\n", lambda path: data.read_candidates(path, None, 2), holds_candidates),
    "s.sgm": (SGM, lambda path: data.read_plain(path, None, None, "en-de"), holds_test),
    "s.xml": (XML, data.load, holds_test),
    "m.tsv": (MQM, data.read_ratings, holds_ratings),
    **{
        f"tree/{name}": (text, lambda path: data.load(path), holds_test)
        for name, text in TREE.items()
        if "scores" not in name
    },
}


@st.composite
def damaged(draw, content):
    """A copy of a file with up to four bytes, fields or lines lost, doubled, or replaced."""
    for _ in range(draw(st.integers(1, 4))):
        pieces = draw(st.sampled_from([rb"(?s)(.)", rb"([\t\n,: ]+)", rb"(\n)"]))
        parts = [part for part in re.split(pieces, content) if part]
        at, end = draw(st.integers(0, len(parts))), draw(st.integers(0, 1))
        new = draw(st.sampled_from(ODD).map(str.encode) | st.binary(max_size=2) | st.just(None))
        parts[at : at + end] = parts[at : at + 1] * 2 if new is None else [new]
        content = b"".join(parts[: at + 1] if draw(st.integers(0, 9)) == 0 else parts)
    return content


@pytest.mark.parametrize("name", READERS)
@settings(
    max_examples=EXAMPLES,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
@given(drawn=st.data())
def test_damaged_files_are_read_or_refused(name, tmp_path_factory, drawn):
    text, read, holds = READERS[name]
    folder = tmp_path_factory.getbasetemp() / "fuzz"
    for file, content in {**{f"tree/{k}": v for k, v in TREE.items()}, name: text}.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(content, encoding="utf-8")
    path = folder / name
    where = folder / "tree" if name.startswith("tree/") else path
    holds(read(where))
    content = drawn.draw(st.binary(max_size=60) | damaged(text.encode()) | damaged(text.encode()))
    if drawn.draw(st.booleans()):
        content = gzip.compress(content, mtime=0)[: drawn.draw(st.sampled_from([None, 20]))]
    path.write_bytes(content)
    outcome(read, where, holds, path)


def outcome(read, where, holds, path):
    """Hold the result, or the error, to what is promised."""
    try:
        result = read(where)
    except AnhelpersError as error:
        told = str(error)
    else:
        holds(result)
        return
    assert len(told.splitlines()) == 1
    assert len(told) <= 400
    assert path.name in told or where != path or "lang" in told
