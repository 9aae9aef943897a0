"""Two workers give the bits of one process; killed workers, interrupted runs, and what a user can get wrong."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed", reason="pip install -c constraints.txt -e '.[cluster]'")
torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
cloudpickle = pytest.importorskip("cloudpickle")

from anhelpers import cli  # noqa: E402
from anhelpers.errors import DataError  # noqa: E402
from anhelpers.naturalness.lm import language_model, load_lm, score_texts  # noqa: E402
from anhelpers.scoring import cluster as clusters  # noqa: E402
from anhelpers.scoring.cluster import connect  # noqa: E402
from anhelpers.scoring.memo import IN_MEMORY, sharing  # noqa: E402
from anhelpers.scoring.slurm import read_slurm, slurm_options  # noqa: E402
from anhelpers.scoring.store import Store, key  # noqa: E402
from anhelpers.scoring.worker import loaded_recipe, recipe  # noqa: E402

pytestmark = [pytest.mark.cluster, pytest.mark.neural]

WORDS = ["Das", "Haus", "ist", "alt", "und", "klein", "Der", "Hund", "bellt", "nicht"]
RNG = np.random.default_rng(0)
TEXTS = [" ".join(RNG.choice(WORDS, RNG.integers(1, 30))) for _ in range(120)] + ["", "Das Haus."]
BUDGET = 60
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def two():
    """A cluster of two processes of one thread, in no test's scope yet; this process has one thread as well."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with connect("local:2") as cluster, sharing(None):
        yield cluster
    torch.set_num_threads(threads)


@pytest.fixture
def small(monkeypatch):
    """Many chunks of few texts."""
    monkeypatch.setattr(clusters, "PER_CHUNK", 4)


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("ANHELPERS_STORE", str(tmp_path / "scores.sqlite"))
    return Store(tmp_path / "scores.sqlite")


def of(lm):
    return loaded_recipe("naturalness.lm:made", lm, eos=False, share_prefixes=None)


def rows(store) -> int:
    with store.connection() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return connection.execute("SELECT COUNT(*) FROM score").fetchone()[0]


def same(one, other) -> bool:
    return all(
        getattr(one, f).tobytes() == getattr(other, f).tobytes()
        for f in ("total", "tokens", "windowed")
    )


def after(monkeypatch, n, act):
    """Something happens when the n-th answer comes; how many came is counted."""
    answers, seen = clusters.Cluster.answers, []

    def watched(self, *given, **named):
        for answer in answers(self, *given, **named):
            seen.append(answer)
            if len(seen) == n:
                act(self)
            yield answer

    monkeypatch.setattr(clusters.Cluster, "answers", watched)
    return seen


def test_two_workers_one_killed_give_the_bits_of_one_process(
    two, small, tiny_lm, store, monkeypatch
):
    lm, killed = load_lm(tiny_lm, device="cpu"), []

    def kill(cluster):
        killed.append(next(iter(cluster.client.run(os.getpid).values())))
        os.kill(killed[0], signal.SIGKILL)

    with monkeypatch.context() as patch:
        patch.setenv("ANHELPERS_STORE", "off")
        alone = score_texts(lm, TEXTS, tokens_per_batch=BUDGET)
    with sharing(two), monkeypatch.context() as patch:
        seen = after(patch, 5, kill)
        assert same(score_texts(lm, TEXTS, tokens_per_batch=BUDGET), alone)
        assert len(seen) > 20
        assert killed[0] not in two.client.run(os.getpid).values()
    assert rows(store) == len(set(TEXTS))
    with sharing(two), monkeypatch.context() as patch:
        seen = after(patch, 1, kill)
        assert same(
            score_texts(lm, TEXTS[::-1]),
            replace(
                alone,
                total=alone.total[::-1],
                tokens=alone.tokens[::-1],
                windowed=alone.windowed[::-1],
            ),
        )
    assert not seen


def test_interrupted_what_came_back_is_kept_and_the_rest_is_done_later(
    two, small, tiny_lm, store, monkeypatch
):
    lm = load_lm(tiny_lm, device="cpu")

    def interrupt(cluster):
        raise KeyboardInterrupt

    with sharing(two), monkeypatch.context() as patch:
        after(patch, 9, interrupt)
        with pytest.raises(KeyboardInterrupt):
            score_texts(lm, TEXTS, tokens_per_batch=BUDGET)
    assert 8 <= rows(store) < len(set(TEXTS))
    with sharing(two):
        resumed = score_texts(lm, TEXTS, tokens_per_batch=BUDGET)
    monkeypatch.setenv("ANHELPERS_STORE", "off")
    assert same(resumed, score_texts(lm, TEXTS, tokens_per_batch=BUDGET))
    assert rows(store) == len(set(TEXTS))


THIEF = """
import os, sys
import distributed
import distributed.comm.tcp, tornado.platform.asyncio  # all that is loaded late, while it can be read
sys.path[:] = []  # which another user may not be allowed to read
os.setgid(65534), os.setuid(65534)
for address in sys.argv[1:]:
    try:
        with distributed.Client(address, timeout=3) as client:
            print("ran as", client.submit(os.getuid).result(timeout=10))
    except OSError as error:
        print("refused", error)
"""


def stolen(*addresses):
    """What another user of this machine gets from these ports."""
    call = [sys.executable, "-c", THIEF, *addresses]
    done = subprocess.run(call, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.splitlines()


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="run as root, to become another user"
)
def test_another_user_of_the_machine_is_refused(two, monkeypatch):
    """At the scheduler's port and at a worker's, with TLS that has no key of this run and without."""
    scheduler = two.client.scheduler.address
    (worker, *_) = two.client.nthreads()
    assert {scheduler[:6], worker[:6]} == {"tls://"}
    said = stolen(scheduler.replace("tls:", "tcp:"), worker.replace("tls:", "tcp:"))
    assert [line[:7] for line in said] == ["refused"] * 2
    (tried,) = stolen(scheduler) or ["no key, no connection"]
    assert "ran as" not in tried
    monkeypatch.setattr(clusters, "_keys", lambda: None)
    with contextlib.ExitStack() as ends:  # and without keys anything of theirs would run
        assert stolen(clusters._local(1, 1, ends).scheduler.address) == [f"ran as {os.getuid()}"]


def test_no_page_of_the_cluster_is_served(two):
    """Its web servers, which anybody on the machine can ask, know no address."""
    links = two.client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.http_server.port)
    for page in (
        "",
        "status",
        "info/main/workers.html",
        "json/identity.json",
        "api/v1/get_workers",
    ):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{links}/{page}", timeout=5)


def test_few_chunks_are_out_and_calls_are_read_as_they_are_needed(two, tiny_lm):
    lm, read = load_lm(tiny_lm, device="cpu"), []

    def calls():
        for i in range(200):
            read.append(i)
            yield i, [f"Haus {i}"], None

    answers = two.answers(of(lm), lm.signature(False), calls(), per_chunk=1)
    first = next(answers)
    assert first[1].shape == (1, 3)
    assert len(read) <= 2 * clusters.AHEAD + 2
    answers.close()


@pytest.fixture
def open_to_all(monkeypatch):
    """The address of a scheduler of one's own, as a user starts it, with two workers and without keys."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with monkeypatch.context() as patch, contextlib.ExitStack() as ends:
        patch.setattr(clusters, "_keys", lambda: None)
        yield clusters._local(2, 1, ends).scheduler.address
    torch.set_num_threads(threads)


def test_the_commands_with_a_running_scheduler_write_the_same_files(
    open_to_all, tiny_lm, tiny_marian, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").write_text("The dog barks.\nYes.\nA house is old.\n", "utf-8")
    (tmp_path / "hyp").write_text("Der Hund bellt.\nJa.\nDas Haus.\n", "utf-8")
    (tmp_path / "cands.txt").write_text(
        "Der Hund bellt.\nDer Hund da.\nJa.\nNein.\nDas Haus.\nEin Haus.\n", "utf-8"
    )
    texts = ["-s", "src", "-r", "hyp", "-l", "en-de"]
    words = {
        "v.csv": [
            "curve",
            "cands.txt",
            "-k",
            "2",
            *texts,
            "--naturalness",
            "lpp",
            "--lm",
            str(tiny_lm),
        ],
        "t.csv": ["score", "--lm", str(tiny_lm), "--segments", "-s", "src", "-t", "hyp"],
        "x.csv": [
            *(
                "xmi",
                "--mt",
                str(tiny_marian / "mt"),
                "--lm",
                str(tiny_marian / "lm"),
                "-s",
                "src",
                "-t",
                "hyp",
            ),
            *("--draws", "20", "--batch-tokens", "40"),
        ],
        "c.jsonl": [
            "generate",
            "--model",
            str(tiny_marian / "mt"),
            "-s",
            "src",
            "-n",
            "6",
            "--max-tokens",
            "9",
        ],
    }
    for name, command in words.items():
        outputs = []
        for more in ([], ["--scheduler", open_to_all]):
            seen = after(monkeypatch, 0, None)
            assert cli.main([*command, *more, "-o", name]) == 0
            assert bool(seen) == bool(more)
            outputs.append((tmp_path / name).read_bytes())
            (tmp_path / name).unlink()
        assert outputs[0] == outputs[1]
    assert f"{open_to_all} has no TLS: whoever reaches that port can run" in capsys.readouterr().err


def test_a_scheduler_whose_key_is_not_known_is_one_sentence(two, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").write_text("ja\n", "utf-8")
    address = two.client.scheduler.address
    call = ["score", "-s", "src", "-t", "src", "-m", "zip", "--scheduler", address]
    assert cli.main(call) == 2
    assert f"{address}: no key for its TLS is known here" in capsys.readouterr().err


def test_learned_metrics_go_to_the_workers_whose_errors_are_sentences(two, tmp_path):
    from anhelpers.accuracy.learned import Learned, learned_metric

    model = Learned(
        "m",
        "M",
        "points",
        True,
        "m|rev:abcdef0",
        ("src", "hyp"),
        "9 tokens",
        None,
        recipe("accuracy.metricx:made", "cpu", name=str(tmp_path)),
    )
    with (
        sharing(two),
        pytest.raises(DataError, match=r"a worker on .* failed: .* does not say which MetricX"),
    ):
        learned_metric(model).score_segments(["ja"], srcs=["yes"])


def test_a_worker_with_another_model_is_an_error_that_names_both(two, tiny_lm):
    lm = load_lm(tiny_lm, device="cpu")
    answers = two.answers(of(lm), "lpp|model:other", [(0, ["ja"], None)])
    with pytest.raises(
        DataError,
        match=r"its scores would be of lpp\|model:tiny.*, and here they are of lpp\|model:o",
    ):
        next(answers)


def test_a_model_made_in_this_process_is_computed_here(two, tiny_lm, capsys):
    loaded = load_lm(tiny_lm, device="cpu")
    lm = language_model(
        loaded.model, loaded.tokenizer, name="mine", revision=IN_MEMORY, device="cpu"
    )
    with sharing(two):
        assert score_texts(lm, ["ja"]).total == score_texts(loaded, ["ja"]).total
    assert "is computed in this process: workers cannot load its model." in capsys.readouterr().err


def deadly(*given):
    os.kill(os.getpid(), signal.SIGKILL)


def test_texts_that_kill_every_worker_are_told(tiny_lm, monkeypatch):
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setattr(clusters, "DEATHS", 0)
    monkeypatch.setattr(clusters, "answer", deadly)
    with (
        connect("local:1") as cluster,
        pytest.raises(DataError, match="workers before it were lost over the same tex"),
    ):
        next(cluster.answers(recipe("naturalness.lm:made", "cpu"), "", [(0, ["ja"], None)]))


def test_where_all_is_known_no_worker_is_started(tiny_lm, store):
    lm = load_lm(tiny_lm, device="cpu")
    store.put(lm.signature(False), [key("ja")], np.array([[-1.5, 2, 0]]))
    with connect("local:2") as cluster:
        assert score_texts(lm, ["ja"]).total == -1.5
        assert cluster._client is None


def test_workers_that_cannot_be_asked_for_are_one_sentence(monkeypatch):
    def fails(ends):
        raise RuntimeError("Cluster failed to start: 'ib0' is not a valid network interface")

    made = recipe("naturalness.lm:made", "cpu")
    with pytest.raises(
        DataError,
        match=r"slurm:s.yaml: no worker can be asked for \(Cluster failed to start: 'ib0'",
    ):
        next(clusters.Cluster("slurm:s.yaml", fails).answers(made, "", [(0, ["ja"], None)]))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DataError, match="there is no sbatch here"), contextlib.ExitStack() as ends:
        clusters._slurm({}, ends)


def test_workers_on_this_machine_take_the_device_that_was_asked_for(monkeypatch):
    made = recipe("naturalness.lm:made", "cuda:1", name="owner/model")
    assert dict(made.here().options) == {"name": "owner/model", "device": "cuda:1"}
    assert clusters._cluster("local:2").here
    assert not clusters.Cluster("tcp://h:1", lambda ends: None).here


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("local", "'local' names no cluster; write local:N"),
        ("local:0", "'local:0' names no cluster; write local:N"),
        ("10.0.0.1:8786", "'10.0.0.1:8786' names no cluster; write local:N"),
        ("slurm:none.yaml", "none.yaml: no such file; that folder holds hyp, src."),
        (
            "tcp://127.0.0.1:9",
            "tcp://127.0.0.1:9: no scheduler answers within 1 s; start one there (dask scheduler)",
        ),
    ],
)
def test_a_wrong_cluster_is_one_sentence(spec, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(clusters, "SECONDS_TO_CONNECT", 1.0)
    for name in ("src", "hyp"):
        (tmp_path / name).write_text("ja\n", "utf-8")
    assert cli.main(["score", "-s", "src", "-t", "hyp", "-m", "zip", "--scheduler", spec]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"anhelpers score: {sentence}")


NOTEBOOK = """import os, anhelpers as an
lm = an.load_lm(folder, device="cpu")
print([total.hex() for total in an.score_texts(lm, ["Das Haus ist alt."] + [f"Der Hund {i}." for i in range(9)]).total])
from anhelpers.naturalness.lm import language_model
own = language_model(lm.model, lm.tokenizer, name="own", revision="in-memory")
found = an.score_texts(own, ["Das Haus."])
print(found.total[0].hex())
from anhelpers.scoring import memo; import pathlib
workers = memo._cluster.get()
n = len(workers.client.nthreads()) if workers and workers._client else 0
pathlib.Path("workers").write_text(str(n)) and None"""


@pytest.mark.notebook
def test_a_notebook_scored_by_two_workers_has_the_same_bytes(
    tiny_lm, tmp_path, monkeypatch, capsys
):
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    cells = [f"folder = {str(tiny_lm)!r}", NOTEBOOK]
    book = nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, cells)])
    book.cells[0].metadata["tags"] = ["parameters"]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book.metadata["kernelspec"] = kernel
    nbformat.write(book, "own.ipynb")
    run = ["run", "own.ipynb", "--store", "off", "--out"]
    assert cli.main([*run, "alone"]) == 0
    assert Path("workers").read_text() == "0"
    assert cli.main([*run, "two", "--scheduler", "local:2"]) == 0
    assert Path("workers").read_text() == "2"
    for name in ("own.ipynb", "own.html"):
        assert Path("two", name).read_bytes() == Path("alone", name).read_bytes()
    capsys.readouterr()
    assert cli.main([*run, "wrong", "--scheduler", "local:two"]) == 2
    assert "anhelpers run: 'local:two' names no cluster; write local:N" in capsys.readouterr().err
    assert not Path("wrong").exists()


def test_without_the_library_the_line_that_installs_it(monkeypatch):
    from anhelpers.errors import MissingExtra

    monkeypatch.setitem(sys.modules, "distributed", None)
    wanted = r"sharing work over a cluster needs distributed.*\[cluster\]"
    with pytest.raises(MissingExtra, match=wanted), connect("local:2"):
        pass


GOOD = "memory: 16GB\nwalltime: '02:00:00'\nn_jobs: 4\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: [", "is no yaml"),
        ("gpu", "holds no settings"),
        (GOOD + "gpu: 1\n", "unknown setting 'gpu'; known: queue"),
        ("memory: 16GB\nn_jobs: 4\n", "walltime is absent; it must be text"),
        (
            GOOD.replace("'02:00:00'", "12:00:00"),
            "walltime is 43200; it must be text, in quotes where it has a colon.",
        ),
        (GOOD.replace("4", "0"), "n_jobs is 0; it must be positive."),
        (GOOD + "gpus: yes\n", "gpus is True; it must be a whole number."),
    ],
)
def test_wrong_settings_of_slurm_are_one_sentence(tmp_path, text, sentence):
    (tmp_path / "s.yaml").write_text(text, "utf-8")
    with pytest.raises(DataError, match=r"s\.yaml: ") as told:
        read_slurm(str(tmp_path / "s.yaml"))
    assert sentence in str(told.value)


def test_the_settings_in_the_documentation_make_a_script_for_slurm(tmp_path, monkeypatch):
    pytest.importorskip("dask_jobqueue")
    settings = read_slurm(str(DOCS / "slurm.yaml"))
    monkeypatch.chdir(tmp_path)
    with clusters._slurm_cluster(settings) as cluster:
        script = cluster.job_script()
        keys = [*tmp_path.iterdir()]
        assert len(keys) == 3
        assert {key.stat().st_mode & 0o777 for key in keys} == {0o600}
    del cluster
    gc.collect()
    assert [*tmp_path.iterdir()] == []
    for line in [
        "#SBATCH -p gpu",
        "#SBATCH --cpus-per-task=4",
        "#SBATCH --gres=gpu:1",
        "#SBATCH -t 08:00:00",
        "export OMP_NUM_THREADS=4 MKL_NUM_THREADS=4",
        settings["activate"],
    ]:
        assert line in script.splitlines()
    assert "python -m distributed.cli.dask_worker tls://" in script
    assert "--tls-key" in script
    assert "--nthreads 1 " in script


def test_what_the_file_leaves_out_is_taken_from_the_sites_own_settings_of_dask_jobqueue():
    dask, jobqueue = pytest.importorskip("dask"), pytest.importorskip("dask_jobqueue")
    own = slurm_options({"memory": "8GB", "walltime": "01:00:00", "n_jobs": 1, "queue": "mine"})
    site = {"jobqueue.slurm.account": "site", "jobqueue.slurm.queue": "site"}
    options = {"dashboard_address": "127.0.0.1:0"}
    with dask.config.set(site), jobqueue.SLURMCluster(**own, scheduler_options=options) as cluster:
        script = cluster.job_script().splitlines()
    assert {"#SBATCH -p mine", "#SBATCH -A site"} <= {*script}


def test_the_plan_in_the_documentation_is_what_its_program_prints():
    code = "from benchmarks.cluster_plan import main; import sys; sys.argv[1:] = []; main()"
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=DOCS.parent, capture_output=True, text=True, check=True
    )
    assert told.stdout in (DOCS / "cluster.md").read_text("utf-8")
