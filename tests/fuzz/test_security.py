"""Nothing that a user downloads is run: no model's code, no pickle; no archive writes outside; the sources say so."""

import ast
import io
import json
import os
import pickle
import shutil
import tarfile
import tempfile
from pathlib import Path

import pytest

import anhelpers
from anhelpers.data.candidates import read_candidates
from anhelpers.data.ratings import read_ratings
from anhelpers.errors import AnhelpersError, DataError

SOURCES = sorted(Path(anhelpers.__file__).parent.rglob("*.py"))
ROOT = Path(anhelpers.__file__).parent
RISKY = {  # function, by its last names -> keywords that make it safe; None: nothing does
    "joblib.load": None,
    "torch.load": {"weights_only": True},
    "load_from_checkpoint": {"weights_only": True},
    "np.load": {"allow_pickle": False},
    "from_pretrained": {"trust_remote_code": False},
    "shutil.unpack_archive": None,
    "extractall": {"filter": "data"},
    "extract": {"filter": "data"},
}
METHODS = {"load_from_checkpoint", "from_pretrained", "extractall", "extract"}  # of whatever object
OUTSIDE = Path(tempfile.gettempdir(), "anhelpers-out.tsv")


def called(node):
    """The dotted name of what is called, as far as it can be read."""
    if isinstance(node, ast.Attribute):
        return f"{called(node.value)}.{node.attr}".lstrip(".")
    return node.id if isinstance(node, ast.Name) else ""


def offences(source):
    """(line, what) of every call that could run or write what a file says."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = called(node.func)
            last = name.rpartition(".")[2]
            kind = last if last in METHODS else name if name in RISKY else None
            given = {k.arg: getattr(k.value, "value", ...) for k in node.keywords}
            if given.get("shell") or given.get("trust_remote_code") or given.get("allow_pickle"):
                yield node.lineno, f"{name} with shell, trust_remote_code or allow_pickle"
            if kind is not None and not (RISKY[kind] and RISKY[kind].items() <= given.items()):
                yield node.lineno, name


def test_no_source_runs_what_it_reads():
    found = [
        f"{path.relative_to(ROOT)}:{line} {what}"
        for path in SOURCES
        for line, what in offences(path.read_text())
    ]
    assert found == []
    assert not any("import pickle" in path.read_text() for path in SOURCES)


@pytest.mark.parametrize(
    "source",
    [
        "torch.load(f, weights_only=False)",
        "np.load(f, allow_pickle=True)",
        "a.b.from_pretrained(x, trust_remote_code=True)",
        "t.extractall(p)",
        "subprocess.run(x, shell=True)",
        "load(x, trust_remote_code=flag)",
    ],
)
def test_the_scan_finds(source):
    assert list(offences(source))


class Runs:
    """A pickle of this makes a file when it is loaded."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


@pytest.fixture
def mark(tmp_path):
    """A path that exists once some code of the attacker ran; the attack itself works."""
    pickle.loads(pickle.dumps(Runs(tmp_path / "works")))
    assert (tmp_path / "works").is_dir()
    yield tmp_path / "pwned"
    assert not (tmp_path / "pwned").exists()


@pytest.fixture
def copy(tiny_lm, tmp_path):
    return Path(shutil.copytree(tiny_lm, tmp_path / "model"))


def evil_state(torch, path, mark, *, zipped=True):
    torch.save({"weight": Runs(mark)}, path, _use_new_zipfile_serialization=zipped)


@pytest.mark.neural
@pytest.mark.parametrize("zipped", [True, False])
def test_a_pickle_of_weights_is_refused(copy, mark, zipped):
    torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
    from anhelpers.naturalness.lm import load_lm

    for old in copy.glob("*.safetensors"):
        old.unlink()
    evil_state(torch, copy / "pytorch_model.bin", mark, zipped=zipped)
    with pytest.raises(AnhelpersError):
        load_lm(copy, device="cpu")


CODE = """import os
os.mkdir({mark!r})
from transformers import GPT2Config, GPT2LMHeadModel
class C(GPT2Config):
    model_type = {kind!r}
class M(GPT2LMHeadModel):
    config_class = C
"""


@pytest.mark.neural
@pytest.mark.parametrize("kind", ["gpt2", "unheard-of"])
def test_code_that_comes_with_a_model_is_not_run(copy, mark, kind, monkeypatch):
    from anhelpers.naturalness.lm import load_lm

    (copy / "own.py").write_text(CODE.format(mark=str(mark), kind=kind))
    config = json.loads((copy / "config.json").read_text())
    config |= {
        "auto_map": {"AutoConfig": "own.C", "AutoModelForCausalLM": "own.M"},
        "model_type": kind,
    }
    (copy / "config.json").write_text(json.dumps(config))
    tokens = json.loads((copy / "tokenizer_config.json").read_text())
    tokens |= {"auto_map": {"AutoTokenizer": ["own.M", "own.M"]}} if kind == "unheard-of" else {}
    (copy / "tokenizer_config.json").write_text(json.dumps(tokens))
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("it asks at the terminal"))
    if kind == "gpt2":  # transformers' own class is taken
        assert type(load_lm(copy, device="cpu").model).__module__.startswith("transformers.")
        return
    with pytest.raises(AnhelpersError):
        load_lm(copy, device="cpu")


@pytest.mark.neural
def test_a_checkpoint_of_comet_that_would_run_code_is_refused(tmp_path, mark, tiny_lm):
    torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
    pytest.importorskip("comet", reason="pip install -c constraints.txt -e '.[neural]'")
    from anhelpers.accuracy.comet import _load_comet

    (tmp_path / "hparams.yaml").write_text(
        f"class_identifier: regression_metric\npretrained_model: {tiny_lm}\nencoder_model: XLM-RoBERTa\n"
    )
    evil_state(torch, tmp_path / "model.ckpt", mark)
    with pytest.raises(AnhelpersError):
        _load_comet(tmp_path / "model.ckpt", device="cpu")


def test_a_parquet_file_with_pickled_cells_is_refused(tmp_path, mark):
    pa = pytest.importorskip("pyarrow", reason="pip install pyarrow")
    from pyarrow import parquet

    evil = pickle.dumps(Runs(mark))
    meta = {
        b"pandas": evil,
        b"ARROW:extension:name": b"arrow.py_extension_type",
        b"ARROW:extension:metadata": evil,
    }
    field = pa.field(
        "text", pa.binary(), metadata={k: v for k, v in meta.items() if k != b"pandas"}
    )
    table = pa.table(
        [pa.array([0]), pa.array([evil])],
        schema=pa.schema([pa.field("segment", pa.int64()), field], meta),
    )
    parquet.write_table(table, tmp_path / "c.parquet")
    with pytest.raises(DataError):
        read_candidates(tmp_path / "c.parquet")


def member(name, content=b"", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in fields.items():
        setattr(info, key, value)
    return info, content


TABLE = b"system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\nX\td\t1\t1\tr\ta\tb\tNo-error\tNo-error\n"  # noqa: E501
ARCHIVES = {  # kind -> members, and whether the table is read all the same (never written)
    "a name that leads out": ([member("../../out.tsv", TABLE)], True),
    "an absolute name": ([member(str(OUTSIDE), TABLE)], True),
    "a symbolic link": ([member("l.tsv", type=tarfile.SYMTYPE, linkname="/etc/passwd")], False),
    "a hard link": ([member("l.tsv", type=tarfile.LNKTYPE, linkname="../../etc/passwd")], False),
    "a link and a file in it": (
        [member("l", type=tarfile.SYMTYPE, linkname=".."), member("l/out.tsv", TABLE)],
        True,
    ),
    "a device": ([member("zero", type=tarfile.CHRTYPE, devmajor=1, devminor=5)], False),
    "two files": ([member("a.tsv", TABLE), member("b.tsv", TABLE)], False),
    "a program": ([member("a.tsv", TABLE, mode=0o6777)], True),
}


@pytest.mark.parametrize("kind", ARCHIVES)
@pytest.mark.parametrize("mode", ["w:gz", "w"])
def test_an_archive_is_read_and_writes_nothing(kind, mode, tmp_path):
    members, read = ARCHIVES[kind]
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    path = inner / ("m.tar.gz" if mode == "w:gz" else "m.tar")
    with tarfile.open(path, mode) as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    before = sorted(tmp_path.rglob("*"))
    if read:
        assert len(read_ratings(path)) == 1
    else:
        with pytest.raises(DataError):
            read_ratings(path)
    assert sorted(tmp_path.rglob("*")) == before
    assert not OUTSIDE.exists()
