"""Numbers of the whole collection, as the commit that first recorded them computed them.

``python -m tests.golden`` records them again. A refactoring never does: it is the change that is reverted.
"""

import json
import os
import re
from base64 import b64decode
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

import anhelpers as an
from anhelpers import cli
from anhelpers.accuracy import surface

ROOT = Path(__file__).parents[2]
SHARED = os.environ.get("ANHELPERS_DATA")
SURFACES = ("chrf", "chrf++", "bleu", "ter")
SMALL = 400  # numbers of one column that are kept one by one; of more, their fingerprint


def fingerprint(values: np.ndarray) -> list[float]:
    """Count, sum, sum of absolute values and a projection on fixed pseudo-random weights of finite values, in order."""
    flat = np.asarray(values, float).ravel()
    there = flat[np.isfinite(flat)]
    weights = np.cos(np.arange(1, len(flat) + 1) * 2.399963)[np.isfinite(flat)]
    return [float(len(flat)), float(len(there)), there.sum(), np.abs(there).sum(), there @ weights]


def column(values: object) -> list:
    """One column of a table: its numbers, or the fingerprint of many; missing is "nan"."""
    numbers = np.asarray(values, float).ravel()
    numbers = numbers if len(numbers) <= SMALL else np.array(fingerprint(numbers))
    return [float(f"{v:.12g}") if np.isfinite(v) else str(v) for v in numbers]


def table(frame: pd.DataFrame) -> dict[str, list]:
    """The numeric columns of a table."""
    numeric = frame.select_dtypes("number").astype(float)
    return {str(name): column(numeric[name]) for name in numeric}


def commanded(folder: Path, *argv: str) -> dict[str, list]:
    """The numbers of every CSV file that a command writes to a folder; it draws no picture."""
    drawing = ("anhelpers.charts.offline.save", "anhelpers.charts.offline.interactive")
    with chdir(folder), mock.patch(drawing[0]), mock.patch(drawing[1], return_value=""):
        assert cli.main(list(argv)) == 0, argv
    found = {}
    for path in sorted(folder.rglob("*.csv")):
        for name, values in table(pd.read_csv(path)).items():
            found[f"{path.stem}.{name}"] = values
    return found


def plane(data: str, naturalness: str, metrics: tuple[str, ...] = ("chrf",)) -> Callable:
    return lambda folder: commanded(
        folder, "plane", "--data", data, "-m", *metrics, "--naturalness", naturalness, "-o", "out"
    )


def score(data: str, *metrics: str) -> Callable:
    def both(folder: Path) -> dict[str, list]:
        argv = ("score", "--data", data, "-m", *metrics, "-o")
        # sacreBLEU counts for TER as slowly the second time
        counter, known = surface._sacrebleu_counter, {}

        def kept(metric):
            key = type(metric), getattr(metric, "word_order", 0)
            return known[key] if key in known else known.setdefault(key, counter(metric))

        with mock.patch.object(surface, "_sacrebleu_counter", kept):
            segments = commanded(folder, *argv, "a.csv", "--segments")
            return segments | commanded(folder, *argv, "b.csv")

    return both


def curve(data: str, metric: str, naturalness: str) -> Callable:
    argv = ("curve", data, "-m", metric, "--naturalness", naturalness, "-o", "curve.csv")
    return lambda folder: commanded(folder, *argv)


def mqm(ratings: str, weights: str, by: str) -> Callable:
    argv = ("mqm", ratings, "--weights", weights, "--by", by, "-o", "mqm.csv")
    return lambda folder: commanded(folder, *argv)


def xmi(folder: Path) -> dict[str, list]:
    """Two models' scores of 60 made-up sentences in 12 documents."""
    rng = np.random.default_rng(5)
    tokens = rng.integers(3, 20, 60)
    for name, mean in (("mt", 2.0), ("lm", 4.0)):
        rows = [" ".join(f"{-v:.4f}" for v in rng.gamma(2, mean / 2, n)) for n in tokens]
        (folder / name).write_text("\n".join(rows) + "\n", "utf-8")
    (folder / "docs").write_text("".join(f"d{i // 5}\n" for i in range(60)), "utf-8")
    argv = ("xmi", "--mt", "mt", "--lm", "lm", "--unit", "nats", "--docs", "docs")
    return commanded(folder, *argv, "-o", "xmi.csv")


def surfaces(folder: Path) -> dict[str, list]:
    """Every surface metric on 5,000 made-up pairs, segment by segment."""
    rng = np.random.default_rng(7)
    words = Path(ROOT, "data/teaching/en-de/mono.de.txt").read_text("utf-8").split()[:400]
    refs = [" ".join(rng.choice(words, rng.integers(1, 25))) for _ in range(5_000)]
    hyps = [
        " ".join(w if rng.random() < 0.7 else rng.choice(words) for w in ref.split())
        for ref in refs
    ]
    found = {}
    for name in SURFACES:
        scores = an.metric(name, "de").score_segments(hyps, refs=[refs])
        found[name] = column(scores)
    return found


def oracle(folder: Path) -> dict[str, list]:
    """Vertices of curves over random candidates, with ties and single candidates."""
    found = {}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        segment = np.repeat(np.arange(40), rng.integers(1, 12, 40))
        a, n = rng.normal(60, 10, len(segment)), rng.normal(-3, 1, len(segment))
        if seed % 2:
            a, n = a.round(), n.round(1)
        traced = an.oracle_curve(segment, a, n)
        for name in ("beta", "accuracy", "naturalness"):
            found[f"{seed}.{name}"] = column(getattr(traced, name))
        found[f"{seed}.selected"] = column(traced.select(10.0))
    return found


def exact(folder: Path) -> dict[str, list]:
    """A(N) of the bundled world under five divergences."""
    problem = an.load_world("teacher").problem
    found = {}
    for divergence in ("tv", "kl", "chi2"):
        solved = an.exact.solve_curve(problem, divergence)
        for name in ("naturalness", "accuracy", "beta"):
            found[f"{divergence}.{name}"] = column(getattr(solved, name))
    return found


def divergences(folder: Path) -> dict[str, list]:
    """Divergences of five pairs of distributions and of samples."""
    d, found = an.divergences, {}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        q, r = rng.dirichlet(np.ones(6), 2)
        ground = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
        kernel, critics = np.exp(-(ground**2)), rng.normal(size=(4, 6))
        process = d.CriticProcess("identity", rng.normal(size=6), kernel)
        probit = d.CriticProcess("probit", rng.normal(size=6), kernel)
        values = [
            d.pmf.total_variation(q, r),
            d.pmf.wasserstein(q, r, ground),
            d.pmf.wasserstein(q, r, ground**2),
            d.pmf.kl(q, r),
            d.pmf.renyi(q, r, 0.5),
            d.pmf.renyi(q, r, 2.0),
            d.pmf.jensen_shannon(q, r),
            d.pmf.chi_squared(q, r),
            d.pmf.mmd_squared(q, r, kernel),
            d.pmf.entropy(q),
            d.pmf.cross_entropy(q, r),
            d.pmf.ipm(q, r, critics),
            d.critic_distance(q, r, critics, power=1.0),
            d.critic_distance(q, r, critics, power=2.0),
            d.gp_distance(q, r, process, power=1),
            d.gp_distance(q, r, process, power=2),
            *d.second_moment(probit).ravel()[:12],
            d.memed_squared(q, r, d.second_moment(probit)),
        ]
        x, y = rng.normal(0, 1, 30), rng.normal(0.5, 1.2, 25)
        estimates = [
            d.wasserstein_1d(x, y, rng=np.random.default_rng(0)),
            d.mmd.mmd2(x[:, None], y[:, None], d.rbf(1.0)),
            d.kl_from_logprobs(-np.abs(x) - 1, -np.abs(x) - 2),
        ]
        for one in estimates:
            values += [one.value, one.se]
        found[str(seed)] = column(values)
    return found


TED = f"{SHARED}/mqm/mqm_ted_ende.tsv"
CASES = {
    "plane-en-de-lpp": plane("teaching/en-de", "lpp", ("chrf", "bleu")),
    "plane-en-de-native": plane("teaching/en-de", "native"),
    "plane-en-de-compression": plane("teaching/en-de", "compression"),
    "plane-de-en-lpp": plane("teaching/de-en", "lpp", ("chrf", "bleu")),
    "plane-de-en-native": plane("teaching/de-en", "native"),
    "score-en-de": score("teaching/en-de", *SURFACES, "lpp", "critic", "native", "compression"),
    "score-de-en": score("teaching/de-en", *SURFACES, "lpp", "critic", "native", "compression"),
    "curve-en-de": curve("teaching/en-de", "chrf", "native"),
    "curve-de-en": curve("teaching/de-en", "bleu", "lpp"),
    "xmi": xmi,
    "surfaces": surfaces,
    "oracle": oracle,
    "exact": exact,
    "divergences": divergences,
}
for _weights in ("freitag2021", "mt-metrics-eval", "wmt24"):
    CASES[f"mqm-teaching-{_weights}"] = mqm("teaching/en-de", _weights, "system")
    CASES[f"mqm-ted-{_weights}"] = mqm(TED, _weights, "system")
CASES["mqm-ted-segment"] = mqm(TED, "freitag2021", "segment")
CASES["plane-wmt24-en-de"] = plane("wmt24/en-de", "critic")
NEURAL = {one for one in CASES if "lpp" in one or "native" in one or one.startswith("score")}
REAL = {name for name in CASES if name.startswith(("mqm-ted", "plane-wmt"))}

# --- notebooks: what a run of the collection has printed, tabulated, drawn and given to its widgets

NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")
PICTURE = re.compile(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)")
LABEL = re.compile(r'<(?!text)[^<>]*aria-label="([^"]*)"')  # where a name is written is layout
MARK = re.compile(r"\b([a-z]\w*): ([-−]?\d[\d.]*(?:e[-+]?\d+)?)(?=;|$)")
LAYOUT = re.compile(r"to_x|to_y|order|(d|t|l|n)[xy]|row|column|place|at_|label|line|size|angle")
LONG = re.compile(r"-?\d+\.\d{4,}(?:e[-+]?\d+)?")  # of a widget's data: no index, no rounded text
MOST = 200  # numbers of a chart or a widget that are kept, evenly spaced in their order


def numbers_of(text: str) -> list[float]:
    found = (one.replace("−", "-").replace(",", "") for one in NUMBER.findall(text))
    return [float(one) for one in found if one.count(".") <= 1]


def _spread(values: set[float]) -> list[float]:
    ordered = sorted(values)
    picked = np.linspace(0, len(ordered) - 1, min(MOST, len(ordered))).astype(int)
    return [float(f"{ordered[i]:.9g}") for i in picked]


def executed(path: Path, whole: bool = False) -> dict[str, list]:
    """The numbers of an executed notebook by cell: of its text, tables, pictures' marks and widgets' data.

    The last two are sets, of which `whole` keeps all.
    """
    found: dict[str, list] = {}
    sets: dict[str, set[float]] = {}
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            data, here = output.get("data", {}), cell["id"]
            page = "".join(data.get("text/html", ""))
            text = output.get("text") if output["output_type"] == "stream" else None
            text = text if page or text is not None else data.get("text/plain")
            if text is not None and output.get("name") != "stderr" and "widget" not in str([*data]):
                found.setdefault(f"{here}.text", []).extend(numbers_of("".join(text)))
            for body in re.findall(r"<tbody>(.*?)</tbody>", page, re.S):
                cells = re.sub(r"<[^>]*>", " ", re.sub(r"<th.*?</th>", " ", body, flags=re.S))
                found.setdefault(f"{here}.table", []).extend(numbers_of(cells))
            for picture in PICTURE.findall(page):
                for label in LABEL.findall(b64decode(picture).decode()):
                    for name, value in MARK.findall(label):
                        if "to_x" not in label and not LAYOUT.match(name):
                            number = float(value.replace("−", "-"))
                            sets.setdefault(f"{here}.marks", set()).add(number)
            for script in re.findall(r"<script>(.*?)</script>", page, re.S):
                long = map(float, LONG.findall(script[script.rfind("fakeModel(") :]))
                sets.setdefault(f"{here}.widget", set()).update(long)
    kept = sorted if whole else _spread
    return {k: column(v) for k, v in found.items()} | {k: kept(v) for k, v in sets.items() if v}


def is_self_contained(page):
    """Nothing is loaded, and no picture is lost: of a MaxRowsError Altair leaves a trace."""
    loaded = r"""<(script|link|img|iframe)[^>]+(src|href)=["']?(https?:)?//"""
    return not re.search(f"MaxRowsError|{loaded}", page)
