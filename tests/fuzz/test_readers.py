"""Every reader on random bytes, on damaged copies of a file that it reads, and on odd values in the right shape.

Each returns what keeps its promises, or raises an AnhelpersError of one line that names the file.
More examples than CI has time for: ``ANHELPERS_FUZZ=5000 python -m pytest tests/fuzz``.
"""

import gzip
import io
import json
import os
import re
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from anhelpers.data.manifest import read_manifest
from anhelpers.data.stored import read_system_scores
from anhelpers.scoring.slurm import read_slurm
from anhelpers.scoring.store import Store, key
from anhelpers.scoring.upkeep import export_parquet, import_parquet
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from anhelpers import data
from anhelpers.classroom import read_class_ratings, write_ratings
from anhelpers.data.candidates import read_candidate_file, read_candidates, write_candidates
from anhelpers.data.mqm_tables import _DIMENSIONS as DIMENSIONS
from anhelpers.data.mqm_tables import load_scheme, load_weights
from anhelpers.data.numbers import read_logprobs, read_numbers
from anhelpers.data.plain import read_documents
from anhelpers.data.ratings import read_ratings as read_mqm
from anhelpers.data.schema import CATEGORIES
from anhelpers.data.token_scores import read_token_scores
from anhelpers.data.wmt import read_categories, system_categories
from anhelpers.data.worlds import load_world
from anhelpers.errors import AnhelpersError
from anhelpers.xmi.published import FEATURES, SCORES, read_features, read_results

EXAMPLES = int(os.environ.get("ANHELPERS_FUZZ", 40))
ODD = [
    "",
    " ",
    "nan",
    "None",
    "inf",
    "-1",
    "0",
    "1",
    "1e999",
    "1_0",
    "9" * 30,
    "9" * 5000,
    "0.5",
    "1,5",
    "-0.25",
    "²",
    "é",
    "\u2028",
    "\x85",
    "\x0b",
    "\x00",
    "\ufeff",
    "\U0001f469\u200d\U0001f680",
    "\u202eabc",
    "a\u0301",
    "<v>",
    "</v>",
    '"',
    "'",
    '"a',
    "\t",
    ",",
    ";",
    "=",
    "*",
    "en",
    "de",
    "refA",
    "X",
    "mqm",
    "Major",
    "No-error",
    "<html>",
    "{",
    "[" * 3,
    "\\",
    "\r",
    "P-0\t-1",
    "..",
    "/",
    "CON",
    "x" * 300,
]
"""Cells, fields and texts that some reader may not expect."""


@dataclass(frozen=True)
class Reader:
    """Valid files, below a folder; which of them is damaged; the reader of that folder; what must hold of its result.

    `shapes`, if any, are strategies of text in the right shape with any values.
    """

    files: dict[str, bytes]
    damaged: str
    read: Callable[[Path], Any]
    holds: Callable[[Any, Path], None]
    shapes: tuple[st.SearchStrategy, ...] = ()


# ---- what holds of the results


def finite(values):
    assert np.isfinite(np.asarray(values, np.float64)).all()


def holds_lines(lines, path):
    whole = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    ended = [line.rstrip(b"\r") for line in whole.removesuffix(b"\n").split(b"\n")]
    assert [line.encode() for line in lines] == (ended if whole else [])


def holds_numbers(values, path):
    assert values.dtype == np.float64
    assert len(values) == len(data.read_lines(path))
    assert not np.isinf(values).any()


def holds_pairs(pairs, path):
    assert len(pairs) == len(data.read_lines(path))
    assert all(domain and doc for domain, doc in pairs)


def holds_categories(known, path):
    assert set(known.values()) <= set(CATEGORIES)


def holds_plain_paths(rows, path):
    for row in rows:
        assert ".." not in Path(row.file).parts
        assert not Path(row.file).is_absolute()


def holds_test_set(test, path):
    n = len(test)
    assert all(len(texts) == n for texts in (*test.refs.values(), *test.systems.values()))
    assert {len(test.docs), len(test.domains)} <= {0, n}
    assert set(test.categories.values()) <= set(CATEGORIES)


def holds_candidates(cands, path):
    assert (
        len(cands.segment)
        == len(cands.texts)
        == len(cands.tags)
        == len(cands.multiplicity)
        == len(cands.logprob)
    )
    assert (cands.multiplicity >= 1).all()
    assert (np.unique(cands.segment) == np.arange(cands.segment.max() + 1)).all()
    for name in ("again.jsonl", "again.parquet"):
        again = read_candidates(write_candidates(path.with_name(name), cands))
        assert (again.texts, again.tags, again.ids) == (cands.texts, cands.tags, cands.ids)
        for column in ("segment", "multiplicity", "logprob"):
            np.testing.assert_array_equal(getattr(again, column), getattr(cands, column))


def holds_both(result, path):
    test, cands = result
    holds_candidates(cands, path)
    if test is not None:
        holds_test_set(test, path)
        assert len(test) == cands.segment.max() + 1


def holds_ratings(ratings, path):
    n = len(ratings)
    for column, names in (
        ("system", "systems"),
        ("segment", "segments"),
        ("rater", "raters"),
        ("category", "categories"),
        ("severity", "severities"),
    ):
        codes = getattr(ratings, column)
        assert codes.shape == (n,)
        assert set(codes.tolist()) == set(range(len(getattr(ratings, names))))
    assert n == len(ratings.frame()) == len(ratings.spans)


def holds_class(ratings, path):
    rated = ratings.table.rating.dropna()
    assert rated.isin([1, 2, 3, 4, 5]).all()
    assert not ratings.table.duplicated(["rater", "segment", "candidate", "criterion"]).any()
    folder = path.parent / "again"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    try:
        write_ratings(ratings, folder)
    except AnhelpersError as error:  # a pseudonym that is no file name
        one_line(error)
        return
    again = read_class_ratings(folder)
    columns = ["rater", "sheet", "segment", "candidate", "criterion", "rating"]
    order = ["rater", "segment", "candidate", "criterion"]
    ours, theirs = (
        r.table[columns].sort_values(order).reset_index(drop=True) for r in (ratings, again)
    )
    assert ours.equals(theirs)


def holds_tokens(scores, path):
    assert len(scores) == len(scores.counts) == len(scores.tokens)
    assert not (scores.logprobs > 0).any()
    assert not np.isinf(scores.logprobs).any()
    assert scores.unit in ("nats", "bits")
    assert all(t is None or len(t) == c for t, c in zip(scores.tokens, scores.counts, strict=True))


def holds_world(world, path):
    problem = world.problem
    finite(problem.joint), finite(problem.distortion), finite(problem.reference)
    assert problem.joint.shape == (len(world.sources), len(world.targets))
    assert abs(problem.joint.sum() - 1) < 1e-9
    assert abs(problem.reference.sum() - 1) < 1e-9


def holds_table(table, path):
    finite(table.select_dtypes("number"))
    assert not table.isna().any(axis=None)


def holds_scores(table, path):
    assert not np.isinf(table.score).any()
    assert table.groupby("system").size().nunique() == 1


def holds_store(imported, path):
    assert imported.new >= 0 <= imported.same
    store = Store(path.with_name("s.sqlite"))
    with store.connection() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


# ---- valid files, and shapes for odd values

CELL = st.sampled_from(ODD) | st.text(max_size=6) | st.integers().map(str) | st.floats().map(repr)
LEAF = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(ODD)
    | st.sampled_from([0, 1, 10**30, -(10**400), 10**400, 1e308, "\ud800"])
)
JSON = st.recursive(
    LEAF,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=4,
)


def objects(required, optional):
    """Lines of JSON objects with these keys; half of the values are of the wanted kind."""
    one = st.fixed_dictionaries(
        {k: v | JSON if k != "segment" else v for k, v in required.items()},
        optional={k: v | JSON for k, v in optional.items()},
    )
    return st.lists(one, min_size=1, max_size=4).map(lambda rows: "\n".join(map(json.dumps, rows)))


def table(header, delimiter, *columns):
    """A header and rows, each cell of its column's usual values, sometimes anything."""
    row = st.tuples(*(st.sampled_from(usual) | CELL if usual else CELL for usual in columns))
    return st.lists(row, max_size=5).map(
        lambda rows: "\n".join(delimiter.join(cells) for cells in [header, *rows]) + "\n"
    )


def tar_of(name, content):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


MQM = "system doc doc_id seg_id rater source target category severity".split()  # noqa: SIM905
MQM_ROWS = [
    "\t".join(MQM),
    *(
        f"{s}\td\t{i}\t{i}\trater{i % 2}\ta <v>b</v>\tA <v>c</v> d\tAccuracy/Addition\tMajor"
        for s in "XY"
        for i in (1, 2)
    ),
]
MQM_BYTES = ("\n".join(MQM_ROWS) + "\n").encode()
QUOTED = (
    "\n".join(",".join(f'"{c}"' for c in row.split("\t")) for row in MQM_ROWS) + "\n"
).encode()
CANDIDATES = (
    b'{"segment": 0, "text": "a", "tag": "X", "logprob": -1.5}\n{"segment": 0, "text": "b", "count": 2}\n'
    b'{"segment": 1, "text": "\xc3\xa9"}\n'
)
SOURCES = (
    b'{"src": "s", "refs": ["r", "q"], "candidates": ["a", {"text": "b", "tag": "X"}], "lp": "en-de"}\n'
    b'{"src": "t", "refs": ["r", "q"], "candidates": ["c"]}\n'
)
MME = {
    "sources/en-de.txt": b"a\nb\n",
    "references/en-de.refA.txt": b"A\nB\n",
    "system-outputs/en-de/X.txt": b"x\n\n",
    "documents/en-de.docs": b"news d1\nnews d1\n",
    "metric-scores/en-de/chrF-refA.seg.score": b"X\t1.5\nX\t2\n",
    "human-scores/en-de.mqm.seg.score": b"X\tNone\nX\t-5\n",
    "systems.tsv": b"system\tcategory\nX\tLLM\n",
}
WORLD = {
    "targets.csv": b"target,count\nA,3\nB,1\n",
    "pairs.csv": b"source,reference,count\ns,A,2\nt,B,1\n",
    "distortion.csv": b"source,reference,candidate,distortion\ns,*,B,0.5\n*,*,*,1\n",
}
BOTH, LANGUAGE = b"src,tgt,value\nbg,en,1.5\nen,bg,2\n", b"lang,value\nbg,0.25\nen,0.5\n"
XMI = {
    f"{folder}/{file}": BOTH if by == "both" else LANGUAGE
    for folder, files in (("test", SCORES), ("features", FEATURES))
    for file, by in files.values()
}
CLASS = """rater,sheet,segment,candidate,criterion,rating,seconds,version,turn
Mo,4b54,0,1,accuracy,4,2.5,0.1,
Mo,4b54,0,1,fluency,,,0.1,
Mo,4b54,3,2,fluency,1,1.0,0.1,
"""
MANIFEST = "\t".join(
    ["dataset", "file", "repo", "commit", "path", "size", "git_blob_sha1", "sha256", "licence"]
)
MANIFEST_ROW = [
    "wmt24/en-de",
    "a/b.txt",
    "o/r",
    "0" * 40,
    "x/y.txt",
    "12",
    "1" * 40,
    "",
    "none stated",
]
SLURM = b'queue: gpu\ngpus: 1\nmemory: 32GB\nwalltime: "08:00:00"\nn_jobs: 8\ndirectives: ["--x"]\n'
WIDE = b"lp\tsystem\tmetricx\tcometkiwi\nen-de\tX\t1.5\t0.5\nen-de\tY\t2\t0.25\n"
LONG = b"pair\tsystem\tmetric\tscore\nen-de\tX\tBLEU-refA\t30\nen-de\tX\tchrF-refA\t60.5\n"
FAIRSEQ = b"S-1\tx\nT-1\ta b\nH-1\t-0.5\ta b\nP-1\t-0.5 -0.25 -1\nS-0\tx\nH-0\t-1\ta\nP-0\t-1 -2\nGenerate test\n"
SYSTEMS = b'system,category,lp,claim,source\nX,LLM,en-de,"a, b",c\nY,human,en-de,,\n'


def parquets():
    """Bytes of a file of candidates, and of an exported store."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        cands = data.CandidateSet(
            [0, 0, 1], ["a", "b", "é"], ["X", "", ""], None, (), [1, 2, 1], [-1.5, np.nan, -2]
        )
        store = Store(Path(folder, "s.sqlite"))
        store.put("lpp|model:x", [key("a"), key("b")], np.array([[1.0, 2.0], [np.nan, 3.0]]))
        export_parquet(store, Path(folder, "s.parquet"))
        return (
            write_candidates(Path(folder, "c.parquet"), cands).read_bytes(),
            Path(folder, "s.parquet").read_bytes(),
        )


def from_store(folder):
    target = folder / "s.sqlite"
    for old in folder.glob("s.sqlite*"):
        old.unlink(missing_ok=True)  # the last one's, which goes when it is closed
    return import_parquet(Store(target), folder / "s.parquet")


PARQUET, STORE = parquets()
SCORE = st.integers(-9, 0) | st.floats(-9, 0)
ONE = {"segment": st.integers(0, 1), "text": st.text(max_size=4)}
MORE = {
    "tag": st.text(max_size=2),
    "id": st.integers(0, 9),
    "count": st.integers(1, 3),
    "logprob": SCORE,
    "src": st.just("s"),
}
GROUP = {
    "candidates": st.lists(
        st.text(max_size=4) | st.fixed_dictionaries({"text": st.text()}, optional=MORE),
        min_size=1,
        max_size=2,
    )
}
GROUPED = {
    "src": st.text(max_size=3),
    "refs": st.lists(st.text(max_size=3), min_size=1, max_size=1),
    "doc": st.text(max_size=3),
    "lp": st.just("en-de"),
}
TOKENS = {"logprobs": st.lists(SCORE, max_size=3) | SCORE}


def single(name, content, read, holds, *shapes):
    return Reader({name: content}, name, lambda folder: read(folder / name), holds, shapes)


NUMBERS = table(["-1"], "", ["-0.5", "-2", "nan"])
READERS = {
    "read_lines": single(
        "a.txt", b"a\nb c\n\xc3\xa9\n", data.read_lines, holds_lines, table(["a"], "", None)
    ),
    "read_numbers": single("n.txt", b"1\n-2.5\nnan\n", read_numbers, holds_numbers, NUMBERS),
    "read_logprobs": single("n.txt", b"-1\n-2.5\nnan\n", read_logprobs, holds_numbers, NUMBERS),
    "read_documents": single(
        "x.docs",
        b"news\td1\nnews d2\n",
        lambda path: read_documents(path, data.read_lines(path)),
        holds_pairs,
        table(["a", "b"], "\t", ["n"], ["d"]),
    ),
    "read_categories": single(
        "systems.tsv",
        MME["systems.tsv"],
        read_categories,
        holds_categories,
        table(["system", "category"], "\t", ["X", "Y"], CATEGORIES),
    ),
    "system_categories": single(
        "s.csv",
        SYSTEMS,
        system_categories,
        holds_categories,
        table(
            ["system", "category", "lp", "claim", "source"],
            ",",
            ["X"],
            CATEGORIES,
            ["en-de"],
            ["a"],
            ["b"],
        ),
    ),
    "read_candidates, a candidate per line": single(
        "c.jsonl", CANDIDATES, read_candidates, holds_candidates, objects(ONE, MORE)
    ),
    "read_candidates, a source per line": single(
        "c.jsonl", SOURCES, read_candidates, holds_candidates, objects(GROUP, GROUPED)
    ),
    "read_candidate_file": single(
        "c.jsonl", SOURCES, read_candidate_file, holds_both, objects(GROUP, GROUPED)
    ),
    "read_candidates, text": single(
        "c.txt",
        b"a\nb\nc\nd\n",
        lambda path: read_candidates(path, None, 2),
        holds_candidates,
        table(["a"], "", None),
    ),
    "read_candidates, parquet": single("c.parquet", PARQUET, read_candidates, holds_candidates),
    "import_parquet": Reader({"s.parquet": STORE}, "s.parquet", from_store, holds_store),
    "read_token_scores, jsonl": single(
        "t.jsonl",
        b'{"logprobs": [-1, -2], "tokens": ["a", "b"]}\n{"logprobs": null}\n',
        read_token_scores,
        holds_tokens,
        objects(TOKENS, {"tokens": st.lists(st.text(max_size=2)), "unit": st.just("bits")}),
    ),
    "read_token_scores, fairseq": single(
        "t.txt",
        FAIRSEQ,
        read_token_scores,
        holds_tokens,
        table(["P-0", "-1"], "\t", ["P-1", "P-2", "H-1", "P-99999999999999"], ["-1 -2", "a b"]),
    ),
    "read_token_scores, numbers": single(
        "t.txt", b"log2prob\n-1 -2\nnan\n-3\n", read_token_scores, holds_tokens, NUMBERS
    ),
    "read_ratings, tab-separated": single(
        "m.tsv",
        MQM_BYTES,
        lambda path: read_mqm(path, texts=True),
        holds_ratings,
        table(
            MQM,
            "\t",
            "XY",
            "d",
            "12",
            "12",
            "r",
            "a",
            "b",
            ["Accuracy/Addition", "Fluency"],
            ["Major", "Minor"],
        ),
    ),
    "read_ratings, quoted": single(
        "m.csv",
        QUOTED,
        lambda path: read_mqm(path, texts=True),
        holds_ratings,
        table(MQM, ",", "XY", "d", "12", "12", "r", "a", "b", "A", ["Major", "Minor"]),
    ),
    "read_ratings, gz": single(
        "m.tsv.gz",
        gzip.compress(MQM_BYTES, mtime=0),
        lambda path: read_mqm(path, texts=True),
        holds_ratings,
    ),
    "read_ratings, tar.gz": single(
        "m.tar.gz",
        tar_of("m.tsv", MQM_BYTES),
        lambda path: read_mqm(path, texts=True),
        holds_ratings,
    ),
    "load_scheme": single(
        "s.csv",
        b"category,dimension,source\nA*,accuracy,x\n*,fluency,y\n",
        load_scheme,
        lambda scheme, path: finite([DIMENSIONS.index(d) for _, d, _ in scheme.rows]),
        table(["category", "dimension", "source"], ",", ["A", "*"], DIMENSIONS, ["x"]),
    ),
    "load_weights": single(
        "w.csv",
        b"severity,category,weight,source\nMajor,*,5,x\n*,*,1,y\n",
        load_weights,
        lambda weights, path: finite([w for _, _, w, _ in weights.rows]),
        table(["severity", "category", "weight", "source"], ",", ["Major"], ["*"], ["1"], ["x"]),
    ),
    "read_system_scores, wide": single(
        "s.tsv",
        WIDE,
        lambda path: read_system_scores(path, "en-de"),
        holds_table,
        table(["lp", "system", "metricx", "cometkiwi"], "\t", ["en-de"], "XY", "12", "34"),
    ),
    "read_system_scores, long": single(
        "s.tsv",
        LONG,
        lambda path: read_system_scores(path, "en-de"),
        holds_table,
        table(["pair", "system", "metric", "score"], "\t", ["en-de"], "XY", ["BLEU-refA"], "34"),
    ),
    "read_manifest": single(
        "m.tsv",
        (MANIFEST + "\n" + "\t".join(MANIFEST_ROW) + "\n").encode(),
        read_manifest,
        holds_plain_paths,
        table(MANIFEST.split("\t"), "\t", *([value] for value in MANIFEST_ROW)),
    ),
    "read_slurm": single(
        "s.yaml",
        SLURM,
        lambda path: read_slurm(str(path)),
        lambda found, path: finite(found["n_jobs"]),
        table(
            ["memory", " 1GB\nwalltime: '1'\nn_jobs: 2"],
            ":",
            ["queue", "gpus", "cores"],
            [" 1", " gpu"],
        ),
    ),
    "read_class_ratings": single(
        "Mo.csv",
        CLASS.encode(),
        read_class_ratings,
        holds_class,
        table(
            CLASS.splitlines()[0].split(","),
            ",",
            ["Mo", "Al"],
            ["4b"],
            "01",
            "12",
            ["accuracy", "fluency"],
            "12345",
            ["2.5", ""],
            ["0.1"],
        ),
    ),
    **{
        f"read_mme, {name}": Reader(
            MME, name, lambda folder: data.read_mme(folder, "en-de"), holds_test_set
        )
        for name in (
            "sources/en-de.txt",
            "system-outputs/en-de/X.txt",
            "documents/en-de.docs",
            "systems.tsv",
        )
    },
    "read_wmt": Reader(
        MME,
        "references/en-de.refA.txt",
        lambda folder: data.read_wmt(folder, "en-de"),
        holds_test_set,
    ),
    "read_mme_scores, metric": Reader(
        MME,
        "metric-scores/en-de/chrF-refA.seg.score",
        lambda folder: data.read_mme_scores(folder, "en-de", "chrF", "refA"),
        holds_scores,
        (table(["X", "1"], "\t", "X", ["1", "-2.5", "None"]),),
    ),
    "read_mme_scores, human": Reader(
        MME,
        "human-scores/en-de.mqm.seg.score",
        lambda folder: data.read_mme_scores(folder, "en-de", "mqm"),
        holds_scores,
    ),
    **{f"load_world, {name}": Reader(WORLD, name, load_world, holds_world) for name in WORLD},
    "read_results": Reader(
        XMI,
        f"test/{SCORES['xmi'][0]}",
        read_results,
        holds_table,
        (table(["src", "tgt", "value"], ",", ["bg", "en"], ["bg", "en"], "12"),),
    ),
    "read_features": Reader(
        XMI,
        f"features/{FEATURES['src_mcc'][0]}",
        read_features,
        holds_table,
        (table(["lang", "value"], ",", ["bg", "en"], "12"),),
    ),
}


# ---- the damage


@st.composite
def damaged(draw, content):
    """A copy of a file with one to four pieces (bytes, fields or lines) lost, doubled, swapped, or odd ones put in."""
    for _ in range(draw(st.integers(1, 4))):
        pieces = draw(st.sampled_from([rb"(?s)(.)", rb"([\t\n,: ]+)", rb"(\n)"]))
        parts = [part for part in re.split(pieces, content) if part]
        at = draw(st.integers(0, len(parts)))
        match draw(st.sampled_from(["cut", "drop", "double", "swap", "odd", "byte"])):
            case "cut":
                parts = parts[:at]
            case "drop":
                parts = parts[:at] + parts[at + 1 :]
            case "double":
                parts = parts[:at] + parts[at : at + 1] * 2 + parts[at + 1 :]
            case "swap":
                parts = (
                    parts[:at] + parts[at + 1 : at + 3][::-1] + parts[at : at + 1] + parts[at + 3 :]
                )
            case "odd":
                parts[at:at] = [draw(st.sampled_from(ODD)).encode()]
            case "byte":
                parts[at : at + draw(st.integers(0, 1))] = [draw(st.binary(min_size=1, max_size=2))]
        content = b"".join(parts)
    return content


def one_line(error):
    """The message is one line, whoever counts lines, and fits on a screen."""
    said = str(error)
    assert len(said.splitlines()) == 1, said
    assert not re.search(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]", said), said
    assert len(said) <= 2000, f"{len(said)} characters: {said[:200]}"


def names_the_file(error, path, folder, n_files):
    """The file, or of several the folder, as it may be another that does not fit; or else an argument is wrong."""
    named = [path.name, "language pair 'en-de'", *([folder.name] if n_files > 1 else [])]
    assert any(name in str(error) for name in named), str(error)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """(a name) -> the folder of the valid files of a reader, which is made once."""

    def of(name):
        folder = tmp_path_factory.getbasetemp() / "fuzz" / re.sub(r"\W+", "-", name)
        if not folder.exists():
            for file, content in READERS[name].files.items():
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / file).write_bytes(content)
        return folder

    return of


def tried(reader, folder, content):
    """Put `content` where the reader reads, and hold the outcome to what is promised."""
    path = folder / reader.damaged
    path.write_bytes(content)
    try:
        result = reader.read(folder)
    except AnhelpersError as error:
        one_line(error)
        names_the_file(error, path, folder, len(reader.files))
        return
    finally:
        written = path.read_bytes()
    assert written == content
    reader.holds(result, path)


@pytest.mark.parametrize("name", READERS)
def test_what_is_damaged_is_what_is_read(name, place):
    reader, folder = READERS[name], place(name)
    (folder / reader.damaged).write_bytes(reader.files[reader.damaged])
    reader.holds(reader.read(folder), folder / reader.damaged)  # the valid file is read
    (folder / reader.damaged).write_bytes(b"\xff\n" * 3)
    with pytest.raises(AnhelpersError):
        reader.read(folder)


bounded = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
    phases=[Phase.explicit, Phase.generate],  # examples are small as they are
)


@pytest.mark.parametrize("name", READERS)
@given(drawn=st.data())
@bounded
def test_random_bytes_damage_and_odd_values(name, place, drawn):
    reader = READERS[name]
    kinds = [
        st.binary(max_size=60),
        *[damaged(reader.files[reader.damaged])] * 3,
        *reader.shapes * 3,
    ]
    content = drawn.draw(st.one_of(kinds))
    content = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    assume(len(content) < 100_000)
    tried(reader, place(name), content)
