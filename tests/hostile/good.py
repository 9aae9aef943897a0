"""A folder of small valid files of every format, who reads each, and which commands take it."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anhelpers.data.catalog import load_candidates, load_mono
from anhelpers.data.manifest import COLUMNS as MANIFEST
from anhelpers.data.manifest import read_manifest
from anhelpers.data.stored import read_system_scores
from anhelpers.data.wmt25 import read_wmt25, read_wmt25_scores
from anhelpers.scoring.slurm import read_slurm
from anhelpers.scoring.store import Store
from anhelpers.scoring.upkeep import export_parquet, import_parquet, sizes

import anhelpers.data as data
from anhelpers import notebooks
from anhelpers.classroom import read_class_ratings
from anhelpers.cli import generate
from anhelpers.data.numbers import read_logprobs
from anhelpers.data.plain import add_systems, read_documents
from anhelpers.data.token_scores import read_token_scores
from anhelpers.data.wmt import COLUMNS as SYSTEMS
from anhelpers.data.wmt import read_categories, system_categories
from anhelpers.data.worlds import load_world
from anhelpers.scoring import lookup, system_scores
from anhelpers.xmi.published import FEATURES, SCORES, read_features, read_results

SRC = "The dog barks.\nYes.\nIt does not rain.\n"
REF = "Der Hund bellt.\nJa.\nEs regnet nicht.\n"
HYP = "Der Hund bellte.\nJa!\nEs regnet nie.\n"
MQM = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n" + "".join(
    f"{s}\td\t{i}\t{i}\tr1\tThe dog.\t{t}\tAccuracy/Mistranslation\tMajor\n"
    for s, t in (("A", "Der <v>Hut</v>."), ("B", "<v>Dem</v> Hund."))
    for i in (1, 2)
)
LOGPROBS = "-3.5\nnan\n-1.25\n"
TOKENS = "-1.5 -0.5\n-0.25 -1\n-2 -3\n"
LM_TOKENS = "-2.5 -0.5\n-1.25 -1\n-4 -3\n"
JSON_TOKENS = "".join(
    f'{{"logprobs": [-1.5, -0.5], "tokens": ["a{i}", "</s>"]}}\n' for i in range(3)
)
FAIRSEQ = "".join(f"S-{i}\tx\nH-{i}\t-0.5\ta\nP-{i}\t-0.5 -0.5\n" for i in range(3))
CANDS = "".join(
    f'{{"segment": {i}, "text": "Text {k}", "tag": "t{k}", "id": "{i}-{k}"}}\n'
    for i in range(3)
    for k in range(2)
)
SELF = "".join(
    json.dumps({"src": s, "refs": [r], "candidates": [h, {"text": r, "tag": "ref"}], "lp": "en-de"})
    + "\n"
    for s, r, h in zip(*(text.splitlines() for text in (SRC, REF, HYP)), strict=True)
)
NOTEBOOK = {
    "cells": [
        {
            "cell_type": "code",
            "id": "a",
            "metadata": {"tags": ["parameters"]},
            "execution_count": None,
            "outputs": [],
            "source": "n = 1",
        }
    ],
    "metadata": {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
    },
    "nbformat": 4,
    "nbformat_minor": 5,
}
ROW = ("wmt24/en-de", "a/b.txt", "own/er", "0" * 40, "p/b.txt", "3", "1" * 40, "", "CC0")
RATED = "rater,sheet,segment,candidate,criterion,rating,seconds,version\nAnn,4b54,0,12,accuracy,4,2.5,0.1\n"


def _tar(text: str, *names: str) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return stream.getvalue()


ESA = "".join(
    f'r1,{s},{i},TGT,eng,deu,{80 + i},{d},False,"[{{""start_i"": 0, ""end_i"": 2, ""severity"": ""minor""}}]",1.5,2.5\n'
    for s in "A"
    for i, d in ((1, "d1"), (2, "d1"), (3, "d2"))
)
HUMEVAL = "".join(
    json.dumps(
        {
            "doc_id": f"en-de_DE_#_news_#_d_#_{i}",
            "src_text": src,
            "tgt_text": {"A": hyp},
            "scores": {"A": {"human1": 80, "annotator1": "r1"}},
        }
    )
    + "\n"
    for i, (src, hyp) in enumerate(zip(SRC.splitlines(), HYP.splitlines(), strict=True))
)
OUTPUTS = "".join(
    json.dumps({"doc_id": f"en-de_DE_#_news_#_d{i}", "hypothesis": hyp}) + "\n"
    for i, hyp in enumerate(HYP.splitlines())
)
STORED = "".join(
    json.dumps(
        {
            "language_pair": "en-de_DE",
            "domain": "news",
            "document_id": f"d{i}",
            "metric_scores": {"XCOMET-XL": [0.5 + i / 10]},
        }
    )
    + "\n"
    for i in range(3)
)
TEXTS = {
    "src.txt": SRC,
    "ref.txt": REF,
    "A.txt": HYP,
    "docs.txt": "news\td1\nnews\td1\nweb\td2\n",
    "names.txt": "d1\nd1\nd2\n",
    "logprobs.txt": LOGPROBS,
    "mt.txt": TOKENS,
    "lm.txt": LM_TOKENS,
    "mt.jsonl": JSON_TOKENS,
    "fairseq.txt": FAIRSEQ,
    "cands.jsonl": CANDS,
    "cands.txt": HYP + REF,
    "self.jsonl": SELF,
    "mqm.tsv": MQM,
    "mqm.csv": MQM.replace("\t", ","),
    "scheme.csv": "category,dimension,source\n*,accuracy,x\n",
    "weights.csv": "severity,category,weight,source\n*,*,1,x\n",
    "wide.tsv": "lp\tsystem\tmetricx\tcometkiwi\nen-de\tA\t1.5\t0.7\nen-de\tB\t2\t0.6\n",
    "long.tsv": "pair\tsystem\tmetric\tscore\nen-de\tA\tBLEU-refA\t30\n",
    "manifest.tsv": "\t".join(MANIFEST) + "\n" + "\t".join(ROW) + "\n",
    "systems.csv": ",".join(SYSTEMS) + "\nA,LLM,en-de,claim,source\n",
    "world/targets.csv": "target,count\nx,3\ny,1\n",
    "world/pairs.csv": "source,reference,count\ns,x,1\nt,y,1\n",
    "world/distortion.csv": "source,reference,candidate,distortion\n*,*,*,1\n",
    "raters/Ann.csv": RATED,
    "slurm.yaml": "memory: 4GB\nwalltime: '1:00:00'\nn_jobs: 1\n",
    "wmt/sources/en-de.txt": SRC,
    "wmt/references/en-de.refA.txt": REF,
    "wmt/system-outputs/en-de/A.txt": HYP,
    "wmt/documents/en-de.docs": "news\td1\nnews\td1\nweb\td2\n",
    "wmt/systems.tsv": "A\tLLM\n",
    "mme/sources/en-de.txt": SRC,
    "mme/references/en-de.refA.txt": REF,
    "mme/system-outputs/en-de/A.txt": HYP,
    "mme/metric-scores/en-de/chrF-refA.seg.score": "A\t1\nA\t2\nA\tNone\n",
    "mme/human-scores/en-de.mqm.sys.score": "A\t-3.5\n",
    "book.ipynb": json.dumps(NOTEBOOK),
    "examples.txt": "Yes.\tJa.\n",
    "esa.csv": ESA,
    "da.csv": "".join(
        f"r1,A,{i},TGT,eng,deu,{70 + i},{d},False,1.5,2.5\n"
        for i, d in ((1, "d1"), (2, "d1"), (3, "d2"))
    ),
    "humeval.jsonl": HUMEVAL,
    "kept.tsv": "system\tsegment\tmetric\tscore\n"
    + "".join(f"A\t{i}\tchrF\t{i}.5\n" for i in range(3)),
    "wmt25/systems/A.jsonl": OUTPUTS,
    "wmt25/automatic_scores/A.jsonl": STORED,
}
TEXTS |= {
    f"xmi/{'features' if kind is FEATURES else split}/{name}": _values
    for kind in (SCORES, FEATURES)
    for split in ("test", "valid")
    for name, by in kind.values()
    for _values in [
        "src,tgt,value\nen,de,2\nde,en,3\n" if by == "both" else "lang,value\nen,2\nde,3\n"
    ]
}
BINARY = {"mqm.tsv.gz": gzip.compress(MQM.encode(), mtime=0), "mqm.tar.gz": _tar(MQM, "a/mqm.tsv")}


def fill(folder: Path) -> Path:
    """Write all valid files into a folder."""
    import pandas as pd

    for name, content in [*TEXTS.items(), *BINARY.items()]:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    pd.DataFrame({"segment": [0, 1, 2], "text": ["a", "b", "c"]}).to_parquet(
        folder / "cands.parquet", index=False
    )
    with Store(folder / "scores.sqlite") as store:
        store.put("m|x", [bytes([i]) * 16 for i in range(50)], [1.5] * 50)
        export_parquet(store, folder / "other.parquet")
    return folder


@dataclass(frozen=True)
class Format:
    """A file of the folder, the readers that take it, and the commands (as typed in that folder)."""

    file: str
    readers: Mapping[str, Callable[[Path], object]]
    commands: Sequence[str] = ()
    # kinds of damage after which it is still a valid file
    takes: frozenset[str] = field(default_factory=frozenset)


def _beside(path: Path, name: str) -> Path:
    return path.parent / name


def _plain(path: Path, **others: Path) -> data.TestSet:
    src, ref, hyp = (_beside(path, name) for name in ("src.txt", "ref.txt", "A.txt"))
    return data.read_plain(src, [ref], [hyp], "en-de", **others)


def _added(path: Path) -> data.TestSet:
    return add_systems(data.read_plain(_beside(path, "src.txt"), None, None, "en-de"), path)


def _given(name: str, path: Path) -> object:
    kind, _, rest = name.partition(":")
    place = f"{path}{rest[len(path.name) :]}"
    return system_scores(data.load(path.parent / "wmt"), lookup.metric(f"{kind}:{place}", "de"))


def _with_store(path: Path, do: Callable, *args: object) -> object:
    with Store(path) as store:
        return do(store, *args)


SCORE = "score -s src.txt -r ref.txt -t A.txt -o out.csv"
PLANE = "plane -s src.txt -r ref.txt -t A.txt -o out"
XMI = "xmi --lm-logprobs lm.txt -o out.csv --mt-logprobs "
CURVE = "curve {} -s src.txt -r ref.txt -o out.csv --html out.html"
GIVEN = "score --data wmt -o out.csv -m"
WMT = ("score --data wmt -o out.csv", "plane --data wmt -o out")
LINES = frozenset({"empty", "blank lines", "line ends alone", "a line of 10 MB"})
"""What is text all the same, where nothing says how many lines there must be."""

FORMATS = {
    f.file: f
    for f in (
        Format(
            "src.txt",
            {"read_plain": _plain},
            (SCORE, PLANE, CURVE.format("cands.jsonl"), WMT[0] + " --data src.txt"),
        ),
        Format("ref.txt", {"read_plain": _plain}, (SCORE, PLANE, CURVE.format("cands.jsonl"))),
        Format(
            "A.txt",
            {"read_plain": _plain, "add_systems": _added},
            (
                SCORE,
                PLANE,
                "plane --data wmt --mine mine=A.txt -o out",
                XMI + "mt.txt --per-char -t A.txt",
            ),
        ),
        Format("names.txt", {"read_lines": data.read_lines, "load_mono": load_mono}, (), LINES),
        Format(
            "docs.txt",
            {
                "read_documents": lambda path: read_documents(path, data.read_lines(path)),
                "read_plain": lambda p: _plain(p, docs=p),
            },
            (PLANE + " --docs docs.txt", XMI + "mt.txt --docs docs.txt"),
            frozenset({"empty"}),
        ),
        Format(
            "logprobs.txt",
            {"read_logprobs": lambda p: read_logprobs(p, 3)},
            (SCORE + " --lm de-small --system-logprobs A=logprobs.txt",),
        ),
        *(
            Format(name, {"read_token_scores": read_token_scores}, (XMI + name,))
            for name in ("mt.txt", "mt.jsonl", "fairseq.txt")
        ),
        Format(
            "cands.jsonl",
            {
                "read_candidates": data.read_candidates,
                "read_candidate_file": data.read_candidate_file,
                "load_candidates": load_candidates,
            },
            (CURVE.format("cands.jsonl"),),
        ),
        Format(
            "self.jsonl",
            {"read_candidate_file": data.read_candidate_file, "load": data.load},
            (
                "curve self.jsonl -o out.csv --html out.html",
                "score --data self.jsonl -o out.csv",
                "plane --data self.jsonl -o out",
            ),
        ),
        Format(
            "cands.txt",
            {"read_candidates": lambda p: data.read_candidates(p, SRC.splitlines(), 2)},
            (CURVE.format("cands.txt -k 2"),),
        ),
        Format(
            "cands.parquet",
            {"read_candidates": data.read_candidates, "load_candidates": load_candidates},
            (CURVE.format("cands.parquet"),),
        ),
        *(
            Format(name, {"read_system_scores": lambda p: read_system_scores(p, "en-de")})
            for name in ("wide.tsv", "long.tsv")
        ),
        Format("manifest.tsv", {"read_manifest": read_manifest}),
        Format("systems.csv", {"system_categories": system_categories}),
        *(
            Format(f"world/{name}.csv", {"load_world": lambda p: load_world(p.parent)})
            for name in ("targets", "pairs", "distortion")
        ),
        Format(
            "raters/Ann.csv",
            {
                "raters.read_ratings": read_class_ratings,
                "raters.read_ratings of a folder": lambda p: read_class_ratings(p.parent),
            },
        ),
        Format(
            "wmt/sources/en-de.txt",
            {
                "read_wmt": lambda p: data.read_wmt(p.parents[1], "en-de"),
                "load": lambda p: data.load(p.parents[1]),
            },
            WMT,
        ),
        Format(
            "wmt/references/en-de.refA.txt",
            {"read_wmt": lambda p: data.read_wmt(p.parents[1], "en-de")},
            WMT,
        ),
        Format(
            "wmt/system-outputs/en-de/A.txt",
            {"read_wmt": lambda p: data.read_wmt(p.parents[2], "en-de")},
            WMT,
        ),
        Format(
            "wmt/documents/en-de.docs",
            {"read_wmt": lambda p: data.read_wmt(p.parents[1], "en-de")},
            WMT,
        ),
        Format(
            "wmt/systems.tsv",
            {
                "read_categories": read_categories,
                "read_wmt": lambda p: data.read_wmt(p.parent, "en-de"),
            },
            WMT,
            frozenset({"empty"}),
        ),
        Format(
            "mme/references/en-de.refA.txt",
            {"read_mme": lambda p: data.read_mme(p.parents[1], "en-de")},
            ("score --data mme -o out.csv",),
        ),
        Format(
            "mme/metric-scores/en-de/chrF-refA.seg.score",
            {
                "read_mme_scores": lambda p: data.read_mme_scores(
                    p.parents[2], "en-de", "chrF", "refA"
                )
            },
            (),
            frozenset({"empty"}),
        ),
        Format(
            "mme/human-scores/en-de.mqm.sys.score",
            {
                "read_mme_scores": lambda p: data.read_mme_scores(
                    p.parents[1], "en-de", "mqm", level="sys"
                )
            },
            (),
            frozenset({"empty"}),
        ),
        Format("xmi/test/bleu.mt.csv", {"read_results": lambda p: read_results(p.parents[1])}),
        Format("xmi/features/mcc.csv", {"read_features": lambda p: read_features(p.parents[1])}),
        Format(
            "slurm.yaml",
            {"read_slurm": lambda p: read_slurm(str(p))},
            (SCORE + " --scheduler slurm:slurm.yaml",),
        ),
        Format(
            "scores.sqlite",
            {"sizes": lambda p: _with_store(p, sizes)},
            ("store --store scores.sqlite", "store --store scores.sqlite export out.parquet"),
            frozenset({"missing", "a dangling link", "empty"}),
        ),
        Format(
            "other.parquet",
            {
                "import_parquet": lambda p: _with_store(
                    _beside(p, "scores.sqlite"), import_parquet, p
                )
            },
            ("store --store scores.sqlite import other.parquet",),
        ),
        Format(
            "book.ipynb",
            {"parameters_of": notebooks.parameters_of},
            ("run book.ipynb --out out",),
        ),
        *(
            Format(name, {"scores": lambda p, m=metric: _given(m, p)}, (f"{GIVEN} {metric}",))
            for name, metric in (
                ("esa.csv", "esa:esa.csv"),
                ("da.csv", "da:da.csv"),
                ("humeval.jsonl", "esa:humeval.jsonl"),
                ("kept.tsv", "stored:kept.tsv#chrF"),
            )
        ),
        Format(
            "wmt25/systems/A.jsonl",
            {
                "read_wmt25": lambda p: read_wmt25(p.parents[1], "en-de"),
                "load": lambda p: data.load(p.parents[1]),
            },
            ("score --data wmt25 -m mattr -o out.csv",),
        ),
        Format(
            "wmt25/automatic_scores/A.jsonl",
            {
                "read_wmt25_scores": lambda p: read_wmt25_scores(
                    p.parents[1], read_wmt25(p.parents[1], "en-de"), "XCOMET-XL"
                )
            },
            ("score --data wmt25 -m stored:wmt25#XCOMET-XL -o out.csv",),
            frozenset({"missing"}),
        ),
        Format(
            "examples.txt",
            {"generate's examples": lambda p: generate._examples(str(p))},
            (),
            frozenset({"empty"}),
        ),
    )
}
