"""What is wrong with a file: damage that can happen to any, and mistakes that only one format knows."""

from __future__ import annotations

import bz2
import gzip
import os
import shutil
import socket
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .good import BINARY, FORMATS, MQM, RATED, ROW, TEXTS, _tar

WEB_PAGE = (
    b"<!DOCTYPE html>\n<html><head><title>404</title></head>\n<body>Not Found</body></html>\n"
)
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"
PACKED = (".gz", ".parquet", ".sqlite")


@dataclass(frozen=True)
class Bad:
    """A valid file made bad: `make` gets its path and leaves something else there; `says` is in the message."""

    file: str
    name: str
    make: Callable[[Path], object]
    says: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {self.name}"


def _bytes(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


def _changed(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(change(path.read_bytes()))


def _instead(make: Callable[[Path], object]) -> Callable[[Path], object]:
    def made(path: Path) -> None:
        path.unlink()
        make(path)

    return made


def _packed(path: Path) -> None:
    content = path.read_bytes()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(path.name, content)


def _socket(path: Path) -> None:
    # the path of a socket may have about 100 characters
    here, _ = os.getcwd(), os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)
    os.chdir(here)


def _middle(piece: bytes) -> Callable[[Path], object]:
    """A piece put into the last line."""
    return _changed(lambda good: good.rstrip(b"\n") + piece + b"\n")


FILES = {  # what stands there instead of a file -> what the message says
    "missing": (
        _instead(lambda path: None),
        "no such|no file|neither|unknown|no sources|no .csv|no test set",
    ),
    "a folder": (_instead(Path.mkdir), "folder|no file|no sources|no test set|unknown"),
    "a link to itself": (
        _instead(lambda path: path.symlink_to(path.name)),
        "link|no such|no file|unknown|opened|wanted|neither",
    ),
    "a dangling link": (
        _instead(lambda path: path.symlink_to("nowhere")),
        "link|no such|no file|unknown|opened|wanted|neither",
    ),
    "a pipe": (_instead(os.mkfifo), "pipe|unknown|neither"),
    "a device": (
        _instead(lambda path: path.symlink_to("/dev/zero")),
        "device|no file|unknown|neither",
    ),
    "a socket": (_instead(_socket), "device|no file|unknown|neither"),
}
EVERYWHERE = {
    "empty": (_bytes(b""), ""),
    "a web page": (_bytes(WEB_PAGE), "web page"),
    "a web page after a mark and blank lines": (
        _bytes(b"\xef\xbb\xbf\r\n\r\n" + WEB_PAGE.lower()),
        "web page",
    ),
    "a pointer of git-lfs": (_bytes(POINTER), "git-lfs"),
}
TEXT = {
    "blank lines": (_bytes(b" \n\t\n"), ""),
    "line ends alone": (_bytes(b"\n\n"), ""),
    "UTF-16 with a mark": (_changed(lambda good: good.decode().encode("utf-16")), "UTF-16"),
    "UTF-16, big end first": (
        _changed(lambda good: b"\xfe\xff" + good.decode().encode("utf-16-be")),
        "UTF-16",
    ),
    "UTF-16 without a mark": (_changed(lambda good: good.decode().encode("utf-16-le")), "NUL"),
    "UTF-32": (_changed(lambda good: good.decode().encode("utf-32")), "UTF-16|UTF-32"),
    "Latin-1": (_middle("ä".encode("latin-1")), "0xe4.*UTF-8"),
    "cp1252": (_middle("„x“".encode("cp1252")), "0x84.*UTF-8"),
    "a NUL": (_middle(b"\0"), "NUL|severity"),
    "a character cut in two": (
        _changed(lambda good: good.rstrip() + "ä".encode()[:1]),
        "0xc3.*UTF-8",
    ),
    "half a surrogate pair": (_middle(b"\xed\xa0\x80"), "0xed.*UTF-8"),
    "a character too long": (_middle(b"\xc0\xaf"), "0xc0.*UTF-8"),
    "packed by gzip twice": (
        _changed(lambda good: gzip.compress(gzip.compress(good, mtime=0), mtime=0)),
        "gzip|.gz",
    ),
    "packed by gzip and cut off": (
        _changed(lambda good: gzip.compress(good, mtime=0)[:-9]),
        "gzip|.gz|end",
    ),
    "packed by bzip2": (_changed(bz2.compress), "bzip2|0x"),
    "packed by zip": (_packed, "zip"),
    "a PDF": (_bytes(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"), ""),
    "a PNG": (_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), ""),
    "a line of 10 MB": (_bytes(b"x" * 10_000_000), ""),
}
GENERAL = [
    Bad(file, name, make, "" if file in ("scores.sqlite", "other.parquet", "slurm.yaml") else says)
    for file in FORMATS
    for name, (make, says) in (FILES | EVERYWHERE | ({} if file.endswith(PACKED) else TEXT)).items()
    if not (file.startswith("mqm") and name == "packed by gzip")
    and not (
        file.startswith(("wmt/", "mme/"))
        and "sources" not in file
        and name in ("missing", "a folder")
    )
]


def _cut(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3])


def _flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for i in range(len(content) // 3, len(content) // 3 + 40):
        content[i] ^= 0xFF
    path.write_bytes(content)


def _parquet(**columns: list) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        import pandas as pd

        pd.DataFrame(columns).to_parquet(path, index=False)

    return make


def _line(file: str, number: int, text: str) -> Callable[[Path], object]:
    """The file with another line `number`, from 1; beyond its end, one more."""
    lines = TEXTS[file].splitlines()
    return _bytes(
        "".join(f"{one}\n" for one in [*lines[: number - 1], text, *lines[number:]]).encode()
    )


DEEP, HUGE = "[" * 100_000, "9" * 5000
JSON = {  # a line of JSON -> what the message says
    DEEP: "nested",
    '{"a": ' + DEEP: "nested",
    "{": "JSON",
    "[1, 2]": "object|none of",
    "7": "object|none of",
    '"text"': "object|none of",
    "null": "object|none of",
    "{'segment': 0}": "JSON",
    '{"segment": 0,}': "JSON",
    f'{{"segment": {HUGE}, "logprobs": {HUGE}, "text": "x"}}': "digits|number",
    "\ufeff{}": "JSON|mark",
    '{"segment": 0, "segment": 1, "text": "x", "logprobs": [-1], "logprobs": [-2], "candidates": ["x"]}': "twice",
    "{}\x0b{}": "JSON|none of",
    '{"text": "a\tb"}': "JSON",
}
CANDIDATE = {
    '{"text": "x"}': "segment",
    '{"segment": 0}': "text",
    '{"segment": "0", "text": "x"}': "whole number",
    '{"segment": 1.0, "text": "x"}': "whole number",
    '{"segment": true, "text": "x"}': "whole number",
    '{"segment": -1, "text": "x"}': "-1",
    '{"segment": 99, "text": "x", "id": "z"}': "source 3|99",
    '{"segment": 1000000000000, "text": "x", "id": "z"}': "source 3|1000000000000",
    '{"segment": 1e3, "text": "x"}': "whole number",
    '{"segment": 9223372036854775808, "text": "x", "id": "z"}': "9223",
    '{"segment": 0, "text": null}': "text",
    '{"segment": 0, "text": 5}': "a text",
    '{"segment": 0, "text": ["x"]}': "a text",
    '{"segment": 0, "text": "\\ud800"}': "D800",
    '{"segment": 0, "text": "x", "tag": 1}': "tag",
    '{"segment": 0, "text": "x", "tag": "\\udfff"}': "DFFF",
    '{"segment": 0, "text": "x", "id": "0-0"}': "used twice",
    '{"segment": 0, "text": "x"} ': "id",
    '{"segment": 0, "text": "x", "id": "z", "count": 0}': "count",
    '{"segment": 0, "text": "x", "id": "z", "count": -3}': "count",
    '{"segment": 0, "text": "x", "count": 1.5}': "count",
    '{"segment": 0, "text": "x", "count": 99999999999999999999, "id": "z"}': "count",
    '{"segment": 0, "text": "x", "count": NaN}': "count",
    '{"segment": 0, "text": "x", "logprob": 1, "id": "z"}': "logprob",
    '{"segment": 0, "text": "x", "logprob": "-1", "id": "z"}': "logprob",
    '{"segment": 0, "text": "x", "logprob": -Infinity, "id": "z"}': "logprob",
    '{"segment": 0, "text": "x", "logprob": -1e999, "id": "z"}': "logprob",
    '{"segment": 0, "text": "x", "logprob": [], "id": "z"}': "logprob",
    f'{{"segment": 0, "text": "x", "logprob": -1{"0" * 400}, "id": "z"}}': "logprob",
    '{"candidates": ["x"], "src": "s"}': "mix",
}
SOURCE = {
    '{"src": "s", "refs": ["r"], "candidates": [], "lp": "en-de"}': "no candidate",
    '{"src": "s", "refs": ["r"], "candidates": {}, "lp": "en-de"}': "a list",
    '{"src": "s", "refs": ["r"], "candidates": [7], "lp": "en-de"}': "candidate 7",
    '{"src": "s", "refs": ["r"], "candidates": [null], "lp": "en-de"}': "candidate",
    '{"refs": ["r"], "candidates": ["x"], "lp": "en-de"}': "src",
    '{"src": 5, "refs": ["r"], "candidates": ["x"], "lp": "en-de"}': "src",
    '{"src": "s", "refs": {"tow": "r"}, "candidates": ["x"], "lp": "en-de"}': "reference 'tow'",
    '{"src": "s", "refs": [7], "candidates": ["x"], "lp": "en-de"}': "refA",
    '{"src": "s", "refs": "r", "candidates": ["x"], "lp": "en-de"}': "refs",
    '{"src": "s", "refs": ["\\ud83d"], "candidates": ["x"], "lp": "en-de"}': "D83D",
    '{"src": "s", "refs": ["r"], "candidates": ["x"], "lp": "en-fr"}': "lp",
    '{"src": "s", "refs": ["r"], "candidates": ["x"], "lp": 7}': "lp",
    '{"src": "s", "refs": ["r"], "candidates": ["x"], "lp": []}': "lp",
    '{"src": "s", "refs": ["r"], "candidates": ["x"], "doc": 1, "lp": "en-de"}': "doc",
    '{"src": "s", "refs": ["r"], "candidates": ["x"], "segment": 7, "lp": "en-de"}': "segment",
}
TOKEN = {
    '{"logprobs": [0.5]}': "above 1",
    '{"logprobs": [-1, null]}': "null",
    '{"logprobs": ["-1"]}': "no number",
    '{"logprobs": [NaN]}': "finite",
    '{"logprobs": -Infinity}': "finite",
    '{"logprobs": []}': "no token",
    '{"logprobs": [-1e999]}': "finite",
    '{"logprobs": true}': "no number",
    '{"logprobs": {}}': "no number",
    f'{{"logprobs": [-1{"0" * 400}]}}': "finite|digits|number",
    '{"logprobs": [-1], "tokens": ["a", "b"]}': "2 tokens",
    '{"logprobs": [-1], "tokens": "a"}': "tokens",
    '{"logprobs": [-1], "unit": "dB"}': "unit",
    '{"logprobs_bits": [-1], "unit": "nats"}': "unit",
    '{"logprobs_bits": [-1], "lnprob": -1}': "logprobs_bits",
    '{"logprobs": [-1], "unit": ["nats"]}': "unit",
}
NUMBERS = {
    "-1,5": "-1,5",
    "": "''",
    "x": "x",
    "inf": "inf",
    "-inf": "-inf",
    "1e999": "1e999|inf",
    "-1 -2 x": "x",
    "--5": "--5",
    "0x1p3": "0x1p3",
    "+": r"\+",
    "3.5": "above 1",
    "1_000": "1_000",
    "−1.5": "−1.5",
    "NULL": "NULL",
    "-1;-2": "-1;-2",
    "\u202e-1": "-1",
    "٣": "٣",
    "٫": "٫",
}
RATING = {  # a row of an MQM table -> what the message says
    "A\td\t9\t9\tr1\tThe dog.": "fields",
    "A\td\t9\t9\tr1\ts\tt\tFluency\tMajor\tmore": "fields",
    "A\td\t9\t9\tr1\ts\tt\tFluency\tSevere": "severity",
    "\td\t9\t9\tr1\ts\tt\tFluency\tMajor": "empty",
    "A\t\t9\t9\tr1\ts\tt\tFluency\tMajor": "empty",
    "A\td\t\t\tr1\ts\tt\tFluency\tMajor": "empty",
    "A\td\t9\t9\tr1\ts\t<v>a <v>b</v></v>\tFluency\tMajor": "<v> within",
    "A\td\t9\t9\tr1\ts\ta</v>\tFluency\tMajor": "without its",
    "A\td\t9\t9\tr1\t</v>s<v>\tt\tFluency\tMajor": "without its",
    "A\td\t9\t9\tr1\ts\tt\tFluency\t1": "severity",
    "A\td\t9\t9\tr1\ts\t<v>a</v></v>\tFluency\tMajor": "without its",
}
APPRAISE = {  # a row of ESA -> what the message says
    "r1,A,1,TGT,eng,deu,80,d1,False,1,2": "11 cells.*da:FILE",
    "r1,A,1,TGT,eng,deu,180,d1,False,[],1,2": "0 to 100",
    "r1,A,1,TGT,eng,deu,x,d1,False,[],1,2": "rating",
    "r1,A,1,TGT,eng,deu,-1,d1,False,[],1,2": "rating",
    "r1,A,1.5,TGT,eng,deu,80,d1,False,[],1,2": "no line",
    "r1,A,1,TGT,eng,deu,80,d7,False,[],1,2": "d7",
    "r1,A,7,TGT,eng,deu,80,d1,False,[],1,2": "line 7",
    "r1,,1,TGT,eng,deu,80,d1,False,[],1,2": "no system",
    "r1,A,1,TGT,eng,deu,80,d1,False,{},1,2,3": "13 cells",
    'r1,A,1,TGT,eng,deu,80,d1,False,"[{""a"": 1}]",1,2': "spans",
    'r1,A,1,TGT,eng,deu,80,d1,False,"[{""start_i"": 0, ""end_i"": 900}]",1,2': "beyond",
    "r1,A,1,TGT,xx1,deu,80,d1,False,[],1,2": "xx1",
}
DOCUMENT = {  # a line of WMT25's outputs -> what the message says
    "{}": "doc_id",
    '{"doc_id": 7, "hypothesis": "x"}': "a text",
    '{"doc_id": "en-de_DE", "hypothesis": "x"}': "DOMAIN",
    '{"doc_id": "x_#_news_#_d1", "hypothesis": "x"}': "language pair",
    '{"doc_id": "en-de_DE_#_news_#_d0", "hypothesis": "x"}': "second time",
    '{"doc_id": "en-de_DE_#_news_#_d1", "hypothesis": ["x"]}': "a text",
    '{"doc_id": "en-de_AT_#_news_#_d1", "hypothesis": "x"}': "2 forms",
    "[]": "object",
}
_OF = '"language_pair": "en-de_DE", "domain": "news", "document_id"'
METRICS = {  # a line of WMT25's scores -> what the message says
    "{}": "language_pair",
    f'{{{_OF}: "d9", "metric_scores": {{"XCOMET-XL": [1]}}}}': "d9",
    f'{{{_OF}: "d0", "metric_scores": {{"XCOMET-XL": [1]}}}}': "second time",
    f'{{{_OF}: "d1", "metric_scores": {{"XCOMET-XL": [1, 0]}}}}': "2 scores",
    f'{{{_OF}: "d1", "metric_scores": {{"XCOMET-XL": ["1"]}}}}': "finite number",
    f'{{{_OF}: "d1", "metric_scores": {{"XCOMET-XL": [NaN]}}}}': "finite number",
    f'{{{_OF}: "d1", "metric_scores": {{"XCOMET-XL": [true]}}}}': "finite number",
    f'{{{_OF}: "d1", "metric_scores": {{"chrF": [1]}}}}': "chrF",
    f'{{{_OF}: "d1", "metric_scores": []}}': "metric_scores",
}
_TEXTS = '"doc_id": "en-de_#_news_#_d_#_1", "src_text": "Yes.", "tgt_text": {"A": "Ja!"}'
HUMAN = {  # a line of WMT's JSON with ratings -> what the message says
    "{}": "scores",
    '{"scores": {"A": {"human1": 80}}}': "translation by A",
    f'{{{_TEXTS}, "scores": {{"B": {{"human1": 80}}}}}}': "translation by B",
    f'{{{_TEXTS}, "scores": {{"A": {{"human1": 180}}}}}}': "0 to 100",
    f'{{{_TEXTS}, "scores": {{"A": {{"human1": true}}}}}}': "0 to 100",
    f'{{{_TEXTS}, "scores": {{"A": 80}}}}': "no rating",
    '{"scores": {"A": {}}, "tgt_text": 7}': "translation by A",
}
HEADERS = {  # files whose header can be wrong -> what their columns are separated by
    "mqm.tsv": "\t",
    "scheme.csv": ",",
    "weights.csv": ",",
    "wide.tsv": "\t",
    "kept.tsv": "\t",
    "long.tsv": "\t",
    "manifest.tsv": "\t",
    "systems.csv": ",",
    "world/targets.csv": ",",
    "world/distortion.csv": ",",
    "raters/Ann.csv": ",",
    "xmi/test/bleu.mt.csv": ",",
    "xmi/features/mcc.csv": ",",
}
CELLS = [  # file, line, what stands there instead, what the message says
    ("kept.tsv", 2, "A\t9\tchrF\t1", "segment '9'"),
    ("kept.tsv", 2, "A\t-1\tchrF\t1", "segment '-1'"),
    ("kept.tsv", 2, "A\t0\tchrF\tx", "score"),
    ("kept.tsv", 2, "A\t0\tchrF\tinf", "score"),
    ("kept.tsv", 2, "A\t0\tchrF", "fields"),
    ("kept.tsv", 2, "A\t0\tchrF\t700", "goes from"),
    ("docs.txt", 2, "news", "domain<TAB>document"),
    ("docs.txt", 2, "news\td1\tx", "domain<TAB>document"),
    ("docs.txt", 2, "\td1", "domain<TAB>document"),
    ("docs.txt", 2, "news\t ", "domain<TAB>document"),
    ("src.txt", 4, "One more.", "lines"),
    ("ref.txt", 4, "Einer mehr.", "lines"),
    ("A.txt", 4, "Einer mehr.", "lines"),
    ("logprobs.txt", 4, "-1", "4 lines"),
    ("wmt/system-outputs/en-de/A.txt", 4, "x", "lines"),
    ("wmt/documents/en-de.docs", 1, "one", "domain<TAB>document"),
    ("wmt/systems.tsv", 1, "A\tllm", "categor"),
    ("wmt/systems.tsv", 1, "A", "categor"),
    ("wmt/systems.tsv", 2, "A\tMT", "twice"),
    ("wmt/sources/en-de.txt", 1, "CANARY GUID x", "canary"),
    ("mme/references/en-de.refA.txt", 1, "CANARY GUID x", "canary"),
    ("fairseq.txt", 3, "P-0\t-0.5 x", "no number"),
    ("fairseq.txt", 6, "P-0\t-0.5", "second"),
    ("fairseq.txt", 9, f"P-{HUGE}\t-0.5", "digits|sentence"),
    ("fairseq.txt", 9, "P-99999999999\t-0.5", "99999999999"),
    ("fairseq.txt", 3, "P-0\t-0.5 0.5", "above 1"),
    ("fairseq.txt", 3, "P-0\t-inf", "finite"),
    ("fairseq.txt", 3, "P-0\t", "no token|no score"),
    ("scheme.csv", 2, "*,style,x", "dimension"),
    ("scheme.csv", 2, "*,accuracy", "cells"),
    ("scheme.csv", 2, "*,accuracy,x,y", "cells"),
    ("scheme.csv", 2, '"*,accuracy,x', "quote|cells"),
    ("scheme.csv", 2, "x" * 200_000 + ",accuracy,x,y", "cells|CSV|long"),
    *(
        ("weights.csv", 2, f"*,*,{w},x", "weight")
        for w in ("heavy", "-1", "nan", "inf", "1e999", "", "0x5", "１")
    ),
    ("weights.csv", 2, "*,*,1,5,x", "cells"),
    ("weights.csv", 2, '*,*,"1,x', "quote|cells"),
    ("wide.tsv", 2, "en-de\tA\tx\t0.7", "finite"),
    ("wide.tsv", 2, "en-de\tA\tnan\t0.7", "finite"),
    ("wide.tsv", 3, "en-de\tA\t1\t1", "second"),
    ("wide.tsv", 2, "en-de\tA\t1", "fields"),
    ("wide.tsv", 2, "en-de\tA\t1,5\t0.7", "finite"),
    ("wide.tsv", 2, "en-de\t\t1\t0.7", "system"),
    ("long.tsv", 2, "en-de\tA\tblorp\t30", "direction"),
    ("long.tsv", 2, "en-de\tA\tBLEU-refA\tinf", "finite"),
    ("long.tsv", 2, "", "fields"),
    *(
        ("manifest.tsv", 2, "\t".join([*ROW[:at], value, *ROW[at + 1 :]]), says)
        for at, value, says in (
            (1, "../etc/passwd", "relative"),
            (1, "/etc/passwd", "relative"),
            (1, "a/../b", "relative"),
            (1, "C:b", "character"),
            (1, "a\\b", "character"),
            (1, "", "relative"),
            (2, "https://x/y", "repo"),
            (3, "main", "commit"),
            (5, "-3", "size"),
            (5, "３", "size"),
            (5, HUGE, "size|digits"),
            (6, "zz", "git_blob"),
            (7, "1", "sha256"),
            (8, "", "licence"),
            (0, "a b", "dataset"),
        )
    ),
    ("manifest.tsv", 3, "\t".join(ROW), "twice"),
    ("manifest.tsv", 2, "a\tb", "columns"),
    ("systems.csv", 2, "A,llm,en-de,c,s", "category"),
    ("systems.csv", 2, "A,LLM,en-de,c", "cells"),
    ("systems.csv", 3, "A,MT,en-de,c,s", "twice"),
    ("systems.csv", 2, " ,LLM,en-de,c,s", "name"),
    ("systems.csv", 2, '"A,LLM,en-de,c,s', "quote"),
    ("systems.csv", 2, 'A,LLM,en-de,"c" x,s', "quote"),
    *(("world/targets.csv", 2, f"x,{c}", "count") for c in ("-1", "nan", "inf", "many", "")),
    ("world/targets.csv", 3, "x,1", "second"),
    ("world/targets.csv", 2, "x", "cells"),
    ("world/pairs.csv", 2, "s,unknown,1", "targets.csv"),
    ("world/pairs.csv", 3, "s,x,1", "second"),
    ("world/distortion.csv", 2, "*,*,*,-1", "distortion"),
    ("world/distortion.csv", 2, "s,x,y,1", "no row"),
    ("world/distortion.csv", 2, "nobody,*,*,1", "source"),
    ("world/targets.csv", 2, "x,1e308\ny2,1e308", "large"),
    *(
        ("raters/Ann.csv", 2, row, says)
        for row, says in (
            ("Ann,4b54,0,12,accuracy,6,2.5,0.1", "rating"),
            ("Ann,4b54,0,12,accuracy,0,2.5,0.1", "rating"),
            ("Ann,4b54,0,12,accuracy,nan,2.5,0.1", "rating"),
            ("Ann,4b54,0,12,accuracy,good,2.5,0.1", "rating"),
            ("Ann,4b54,0,12,accuracy,4.5,2.5,0.1", "rating"),
            (",4b54,0,12,accuracy,4,2.5,0.1", "rater"),
            ("Ann,,0,12,accuracy,4,2.5,0.1", "sheet"),
            ("Ann,4b54,-1,12,accuracy,4,2.5,0.1", "segment"),
            ("Ann,4b54,0,1.5,accuracy,4,2.5,0.1", "candidate"),
            ("Ann,4b54,²,12,accuracy,4,2.5,0.1", "segment"),
            (f"Ann,4b54,{HUGE},12,accuracy,4,2.5,0.1", "segment"),
            ("Ann,4b54,0,12,beauty,4,2.5,0.1", "criterion"),
            ("Ann,4b54,0,12,accuracy", "cells"),
            ('Ann,4b54,0,12,accuracy,4,2.5,"0.1', "quote|cells"),
            ("Ann,4b54,0,12,accuracy,4,soon,0.1", "seconds"),
            ("Ann,4b54,0,12,accuracy,4,-2,0.1", "seconds"),
            ("Ann,4b54,0,12,accuracy,4,inf,0.1", "seconds"),
        )
    ),
    ("raters/Ann.csv", 3, RATED.splitlines()[1], "second time"),
    ("raters/Ann.csv", 3, "Bea,9999,0,12,accuracy,4,2.5,0.1", "sheet"),
    *(
        (f"mme/{name}.score", 1, row, says)
        for name in ("metric-scores/en-de/chrF-refA.seg", "human-scores/en-de.mqm.sys")
        for row, says in (
            ("A\tx", "neither"),
            ("A\tinf", "infinite"),
            ("A", "form"),
            ("", "form"),
            ("Z\t1", "unknown system"),
            ("A\t1,5", "neither"),
            ("A\t1_0", "neither"),
        )
    ),
    ("mme/metric-scores/en-de/chrF-refA.seg.score", 4, "A\t1", "4 scores"),
    ("mme/human-scores/en-de.mqm.sys.score", 2, "A\t1", "2 scores"),
    ("xmi/test/bleu.mt.csv", 2, "en,de,x", "value"),
    ("xmi/test/bleu.mt.csv", 2, "en,de,nan", "value"),
    ("xmi/test/bleu.mt.csv", 3, "en,de,3", "twice"),
    ("xmi/test/bleu.mt.csv", 2, "en,fr,3", "no row"),
    ("xmi/features/mcc.csv", 3, "en,3", "twice"),
    ("xmi/features/mcc.csv", 2, "fr,3", "no row"),
    *(
        ("slurm.yaml", 3, row, says)
        for row, says in (
            ("n_jobs: -1", "n_jobs"),
            ("n_jobs: many", "n_jobs"),
            ("n_jobs: 1.5", "n_jobs"),
            ("n_jobs: true", "n_jobs"),
            ("n_jobs:", "n_jobs"),
            ("job: 1", "unknown setting"),
            ("n_jobs: [1", "yaml"),
            ("n_jobs: 1\nmemory: 5", "memory|twice"),
            ("\tn_jobs: 1", "yaml"),
            ("n_jobs: !!python/object/apply:os.system ['touch owned']", "yaml"),
            ("n_jobs: 1\n- x", "yaml"),
            ("n_jobs: 1\ndirectives: [[1]]", "directives"),
            ("n_jobs: " + "[" * 5000, "yaml"),
            ("n_jobs: " + HUGE, "n_jobs|digits|yaml"),
            ("n_jobs: 1\n5: x", "unknown setting"),
            (
                "n_jobs: 1\na: &a [x]\nb: &b [*a,*a]\n"
                + "\n".join(
                    f"k{i}: &c{i} [*{'b' if not i else f'c{i - 1}'},*{'b' if not i else f'c{i - 1}'}]"
                    for i in range(40)
                ),
                "unknown setting",
            ),
        )
    ),
    ("book.ipynb", 1, "{", "notebook"),
    ("book.ipynb", 1, "[]", "notebook"),
    ("book.ipynb", 1, "{}", "notebook"),
    ("book.ipynb", 1, "5", "notebook"),
    (
        "book.ipynb",
        1,
        '{"cells": 5, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
        "notebook",
    ),
    ("book.ipynb", 1, DEEP, "notebook"),
    (
        "book.ipynb",
        1,
        '{"cells": [{}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
        "notebook",
    ),
    (
        "book.ipynb",
        1,
        '{"cells": [], "metadata": {}, "nbformat": 99, "nbformat_minor": 5}',
        "notebook",
    ),
    ("examples.txt", 1, "Yes.", "tab"),
    ("examples.txt", 1, "Yes.\tJa.\tDoch.", "tab"),
    ("examples.txt", 1, "\tJa.", "tab"),
    ("examples.txt", 2, "", "tab"),
]
SPECIAL = [
    *(
        Bad(file, f"line 2 is {line:.60}", _line(file, 2, line), says)
        for file, lines in (
            ("cands.jsonl", JSON | CANDIDATE),
            ("self.jsonl", JSON | SOURCE),
            ("mt.jsonl", JSON | TOKEN),
            ("mt.txt", NUMBERS),
            ("logprobs.txt", NUMBERS),
            ("mqm.tsv", RATING),
            ("esa.csv", APPRAISE),
            ("wmt25/systems/A.jsonl", DOCUMENT),
            ("wmt25/automatic_scores/A.jsonl", METRICS),
            ("humeval.jsonl", HUMAN),
        )
        for line, says in lines.items()
    ),
    *(
        Bad("mqm.csv", f"line 3 is {line:.60}", _line("mqm.csv", 3, line.replace("\t", ",")), says)
        for line, says in RATING.items()
    ),
    Bad(
        "mqm.csv",
        "a quote that is not closed",
        _line("mqm.csv", 3, 'A,"d,2,2,r1,s,t,Fluency,Major'),
        "quot|fields",
    ),
    *(
        Bad(file, f"line {at} is {line:.60}", _line(file, at, line), says)
        for file, at, line, says in CELLS
    ),
    *(
        Bad(
            file,
            f"its header is {told}",
            _line(file, 1, change(TEXTS[file].splitlines()[0], mark)),
            "header|column|first line",
        )
        for file, mark in HEADERS.items()
        for told, change in (
            ("without its last column", lambda head, mark: head.rpartition(mark)[0]),
            ("of other names", lambda head, mark: head.replace("e", "ë")),
            ("its first name alone", lambda head, mark: head.partition(mark)[0]),
        )
    ),
    *(
        Bad(
            file,
            f"its header is {told}",
            _line(file, 1, change(TEXTS[file].splitlines()[0])),
            "header|column|twice",
        )
        for file, mark in HEADERS.items()
        for told, change in (
            (
                "given with its first column twice",
                lambda head, m=mark: f"{head.partition(m)[0]}{m}{head}",
            ),
            ("blank", lambda head: ""),
        )
    ),
    *(
        Bad(file, f"its {told}", make, "")
        for file in ("mqm.tsv.gz", "mqm.tar.gz", "cands.parquet", "other.parquet", "scores.sqlite")
        for told, make in (("end is cut off", _cut), ("middle is damaged", _flipped))
        if make is _cut or file.endswith("gz")
    ),
    *(
        Bad(file, "plain text under that name", _bytes(MQM.encode()), "")
        for file in ("cands.parquet", "other.parquet", "scores.sqlite")
    ),
    Bad("mqm.tar.gz", "two files in it", _bytes(_tar(MQM, "a", "b")), "holds 2"),
    Bad("mqm.tar.gz", "no file in it", _bytes(_tar(MQM)), "holds 0"),
    Bad(
        "mqm.tar.gz",
        "a table of 50 MB of zeros",
        _bytes(_tar("\0" * 50_000_000, "a")),
        "NUL|line|column",
    ),
    Bad(
        "mqm.tsv.gz", "50 MB of zeros", _bytes(gzip.compress(b"\0" * 50_000_000)), "NUL|line|column"
    ),
    Bad("mqm.tsv.gz", "a web page, packed", _bytes(gzip.compress(WEB_PAGE)), "web page"),
    Bad("mqm.tsv.gz", "a tar that is called .gz", _bytes(BINARY["mqm.tar.gz"]), "NUL|tar|column"),
    *(
        Bad("cands.parquet", name, _parquet(**columns), says)
        for name, columns, says in (
            ("no column text", {"segment": [0]}, "text"),
            ("no rows", {"segment": [], "text": []}, "rows"),
            ("a segment that is half", {"segment": [0.5], "text": ["x"]}, "whole number"),
            ("a segment of text", {"segment": ["0"], "text": ["x"]}, "whole"),
            ("a missing text", {"segment": [0, 1], "text": ["x", None]}, "row 1"),
            ("a text that is a number", {"segment": [0], "text": [5]}, "a text"),
            ("a gap", {"segment": [0, 5], "text": ["x", "y"]}, "source 1"),
            ("a negative count", {"segment": [0], "text": ["x"], "count": [-1]}, "count"),
            ("a positive logprob", {"segment": [0], "text": ["x"], "logprob": [0.5]}, "logprob"),
            ("bytes as text", {"segment": [0], "text": [b"x"]}, "text"),
            ("lists as texts", {"segment": [0], "text": [["x"]]}, "text"),
        )
    ),
    Bad("other.parquet", "columns of something else", _parquet(a=[1]), "export"),
    Bad(
        "scores.sqlite",
        "another program's database",
        lambda path: (path.unlink(), _sqlite(path)),
        "another program",
    ),
    Bad("cands.txt", "5 lines for 3 sources of 2", _line("cands.txt", 1, "x\ny\nz"), "lines"),
]


def _sqlite(path: Path) -> None:
    import sqlite3

    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()


@contextmanager
def damaged(bad: Bad, good: Path, here: Path) -> Iterator[Path]:
    """The path of the bad file in the folder `here`; afterwards that is as the folder `good` again."""
    path = here / bad.file
    bad.make(path)
    try:
        yield path
    finally:
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)
        shutil.copy(good / bad.file, path)


ALL = [bad for bad in (*GENERAL, *SPECIAL) if bad.name not in FORMATS[bad.file].takes]
if not os.geteuid():
    FORBIDDEN: list[Bad] = []  # root may read everything
else:
    FORBIDDEN = [
        Bad(file, "no permission", lambda path: path.chmod(stat.S_IWUSR), "ermission")
        for file in FORMATS
    ]
ALL += FORBIDDEN
