"""The critic by hand, against scikit-learn, by properties; the bundled ones and their cards; bad input."""

import itertools
import lzma
import math
import runpy
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from anhelpers.data import bundled, load_mono
from anhelpers.errors import DataError
from anhelpers.naturalness import critic as critics
from anhelpers.naturalness.critic import critic_tokens, load_critic, score_critic, tv_lower_bound
from anhelpers.scoring.lookup import naturalness_metric

pytestmark = pytest.mark.usefixtures("kept_scores")
TOOLS = Path(__file__).parents[2] / "tools"
MINI = critics.Critic(
    "mini",
    "0",
    "de",
    frozenset({"das", "er"}),
    critics._Shape(order=2, lengths=(), ending=0),
    {"das": (1.0, 2.0), "x": (2.0, -1.0), "<s> das": (1.0, 0.5), "x </s>": (1.0, 1.0)},
    0.25,
)


@pytest.fixture(scope="module")
def critic():
    return load_critic("de")


@pytest.mark.verifies("Log-odds of the critic", by="hand")
def test_a_score_by_hand():
    """das, x twice, "<s> das", "x </s>": the vector (1, 4, 1, 1) has length √19."""
    size = math.sqrt(19)
    expected = 0.25 + (1 * 2.0 + 2 * 2 * -1.0 + 0.5 + 1.0) / size
    assert score_critic(MINI, "Das singt laut.") == pytest.approx(expected, abs=1e-12)
    parts = critics.explain(MINI, "Das singt laut.")
    assert [token for token, _ in parts] == ["", "Das", "singt", "laut", "."]
    wanted = [0.25, (2.0 + 0.5) / size, -2.0 / size, (-2.0 + 1.0) / size, 0.0]
    assert [nats for _, nats in parts] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.verifies(
    "Log-odds of the critic",
    by="foreign",
    of="scikit-learn 1.9.1: CountVectorizer(analyzer=ngrams), idf, normalize, weights",
)
def test_scores_are_scikit_learns(critic):
    theirs = {
        "Das ist ja wohl nicht wahr.": 1.799130375,
        "Er hat gesagt, dass er morgen kommen wird.": -2.6058481,
        "Na, dann mal los!": 2.567764729,
        load_mono("teaching")[7]: -2.242159752,
        "„Nein“, sagte er – und ging …": -0.937747138,
    }
    ours = [score_critic(critic, text) for text in theirs]
    assert ours == pytest.approx([*theirs.values()], abs=1e-8)


def test_one_form_of_each_sign():
    assert critic_tokens("»Wie?« – „Soso“ … ‚Na‘, ein Fuß", "de") == (
        ['"', "Wie", "?", '"', "-", '"', "Soso", '"', "...", "'", "Na", "'", ",", "ein", "Fuss"]
    )
    wanted = ['"', "Ja", '"', "-", '"', "nein", '"', "-"]
    assert critic_tokens("``Ja'' – ´´nein´´ --", "de") == wanted
    assert critic_tokens("Groß", "en") == ["Groß"]
    assert critic_tokens("u\u0308ber", "de") == ["über"]
    wanted = ["#PRS_ORG#", "hat", "1.000,50", "E-Mails"]
    assert critic_tokens("#PRS_ORG# hat 1.000,50 E-Mails", "de") == wanted


def test_ngrams_have_two_grains_and_no_last_sign():
    tokens = ["Das", "Rechnen", "lernte", "er", "!"]
    found = [gram for gram, _ in critics.ngrams(tokens, frozenset({"das", "er"}), critics._Shape())]
    coarse = ["das", "N", "x", "er", "<s> das", "das N", "N x", "x er", "er </s>"]
    assert found == [*coarse, "N1", "x1-te", "das N1", "N1 x1-te", "x1-te er"]


TEXTS = st.text(st.sampled_from("ab Aß.,!?…„“–1äöü#é\u0301'-"), max_size=60)


@pytest.mark.verifies("Log-odds of the critic", by="property")
@given(TEXTS)
def test_a_score_is_the_sum_over_known_n_grams(text):
    critic = load_critic("de")
    tokens, score = critic_tokens(text, "de"), score_critic(critic, text)
    if not any(token[0].isalpha() for token in tokens):
        assert math.isnan(score)
        assert critics.explain(critic, text) == []
        return
    counts = Counter(
        g for g, _ in critics.ngrams(tokens, critic.words, critic.shape) if g in critic.table
    )
    vector = {gram: n * critic.table[gram][0] for gram, n in counts.items()}
    size = math.sqrt(sum(v * v for v in vector.values())) or 1.0
    wanted = critic.intercept + sum(v * critic.table[g][1] / size for g, v in vector.items())
    assert score == pytest.approx(wanted, abs=1e-9)
    assert [token for token, _ in critics.explain(critic, text)[1:]] == tokens


# -- figures -----------------------------------------------------------------------------------------------------------


@pytest.mark.verifies("Lower bound of total variation", by="hand")
def test_the_bound_by_hand():
    """Three of four originals and both translations are told: 3/4 + 2/2 - 1."""
    rng = np.random.default_rng(0)
    found = tv_lower_bound([1, 2, -1, 3], [-1, -2], (list("abcd"), list("ef")), rng)
    assert (found.bound.value, found.accuracy) == (0.75, 0.875)
    assert (found.n_r, found.n_q, found.bound.n_docs) == (4, 2, 6)
    worse = tv_lower_bound([-1, -2, 1], [1, 2, -1], (list("abc"), list("def")), rng)
    assert (worse.bound.value, worse.bound.low) == (0, 0)


SIGNS = st.lists(st.sampled_from([-1.0, 1.0]), min_size=3, max_size=12)


@pytest.mark.verifies("Lower bound of total variation", by="property")
@given(SIGNS, SIGNS)
def test_the_bound_is_no_more_than_the_total_variation_of_the_samples(r, q):
    clusters = ([f"r{i}" for i in range(len(r))], [f"q{i}" for i in range(len(q))])
    found = tv_lower_bound(r, q, clusters, np.random.default_rng(1))
    of_samples = abs(np.mean(np.array(r) > 0) - np.mean(np.array(q) > 0))
    assert 0 <= found.bound.value <= of_samples + 1e-12
    assert 0 <= found.bound.low <= found.bound.high <= 1


@pytest.mark.verifies(
    "Lower bound of total variation",
    by="foreign",
    of="the total variation of two normals, by scipy",
)
def test_the_interval_covers_a_known_gap():
    """q = N(0, 1), r = N(1, 1), the best critic x - 1/2: TV = 2 Φ(1/2) - 1. Documents of three equal texts."""
    rng, hits = np.random.default_rng(5), 0
    tv = 2 * stats.norm.cdf(0.5) - 1
    docs = np.repeat(np.arange(60), 3)
    clusters = [f"r{d}" for d in docs], [f"q{d}" for d in docs]
    for _ in range(100):
        r, q = (np.repeat(rng.normal(mean, 1, 60), 3) - 0.5 for mean in (1, 0))
        found = tv_lower_bound(r, q, clusters, rng)
        hits += found.bound.low <= tv <= found.bound.high
    assert hits >= 88


class _Counts:
    """Naive Bayes: the log-ratio of the classes' shares of each word."""

    def fit(self, counts, native, sample_weight):
        r, q = ((counts * sample_weight[:, None])[side].sum(0) + 1e-3 for side in (native, ~native))
        self.odds = np.log(r / r.sum()) - np.log(q / q.sum())

    def decision_function(self, counts):
        return counts @ self.odds


@pytest.mark.verifies("Lower bound of total variation", by="property")
def test_topics_that_neighbours_share_leak_into_short_blocks():
    """Topics of both classes are drawn alike, so TV is 0; a critic that knows the topics tells them apart."""
    rng, tool = np.random.default_rng(8), runpy.run_path(str(TOOLS / "train" / "critic.py"))
    topics = rng.dirichlet(np.full(400, 0.3), 16)  # eight of each class, of 120 lines
    counts = np.concatenate([rng.multinomial(12, topic, 120) for topic in topics])
    sets, line = np.repeat(np.arange(16).astype(str), 120), np.tile(np.arange(120), 16)
    files = np.repeat(["", "mt"], 8 * 120)
    found = {}
    for name, blocks, judged in tool["designs"](files == "", sets, line):
        parts = zip(*tool["cross_fit"](_Counts(), counts, files, judged), strict=True)
        found[name] = tool["bound"](*map(np.concatenate, parts), files == "", blocks)
    assert found["blocks of 10 lines"]["low"] > 0.5
    assert found["one set left out"]["low"] == 0
    assert found["one set left out"]["bound"] < 0.1


SCORES = st.lists(st.integers(-3, 3), min_size=1, max_size=9)


@given(SCORES, SCORES)
@pytest.mark.verifies("AUC", by="property")
def test_the_auc_counts_pairs(r, q):
    pairs = [(a > b) + (a == b) / 2 for a, b in itertools.product(r, q)]
    assert critics.auc(r, q) == pytest.approx(np.mean(pairs))


@pytest.mark.verifies("AUC", by="foreign", of="scipy.stats.mannwhitneyu")
@pytest.mark.verifies("Reliability", by="foreign", of="scipy.stats.binned_statistic")
def test_the_figures_are_scipys():
    rng = np.random.default_rng(7)
    r, q = rng.normal(0.5, 1, 200), rng.normal(0, 1, 200)
    assert critics.auc(r, q) == pytest.approx(stats.mannwhitneyu(r, q).statistic / 200**2)
    scores, native = np.concatenate([r, q]), np.repeat([1.0, 0.0], 200)
    ranks, bins = stats.rankdata(scores) - 1, {"bins": 4, "range": (0, 400)}
    shares = stats.binned_statistic(ranks, native, **bins).statistic
    said = stats.binned_statistic(ranks, 1 / (1 + np.exp(-scores)), **bins).statistic
    found = np.array(critics.reliability(r, q, bins=4))
    assert found[:, 0] == pytest.approx(said, abs=6e-4)
    assert found[:, 1] == pytest.approx(shares, abs=6e-4)


@pytest.mark.verifies("Reliability", by="property")
def test_calibrated_scores_are_reliable():
    rng = np.random.default_rng(6)
    r, q = rng.normal(1, math.sqrt(2), 40_000), rng.normal(-1, math.sqrt(2), 10_000)  # log r/q = x
    for said, share, n in critics.reliability(r, q, bins=5):
        assert share == pytest.approx(said, abs=0.02)
        assert n == 10_000


def test_a_class_without_scores_is_refused():
    with pytest.raises(DataError, match="translations"):
        tv_lower_bound([1.0, 2.0], [np.nan], (["a", "b"], ["c"]), np.random.default_rng(0))
    with pytest.raises(DataError):
        critics.auc([1.0], [])


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("facts.json", lambda data: b'{"language": "de"}'),
        ("critic.tsv.xz", lambda data: data[:-9]),
        ("critic.tsv.xz", lambda data: lzma.compress(lzma.decompress(data)[:-40])),
        (
            "critic.tsv.xz",
            lambda data: lzma.compress(b"kind\tt\ti\tw\nword\tdas\t\t\nngram\tdas\t1\tnan\n"),
        ),
    ],
)
def test_damaged_folders_are_refused(tmp_path, name, damage):
    folder = shutil.copytree(bundled("critic/de"), tmp_path / "mine")
    (folder / name).write_bytes(damage((folder / name).read_bytes()))
    with pytest.raises(DataError, match="mine"):
        load_critic(folder)


def test_other_languages_and_names_are_refused(critic, tmp_path):
    for call in (lambda: critics.critic_metric(critic, "cs"), lambda: load_critic("cs")):
        with pytest.raises(DataError):
            call()
    assert naturalness_metric("critic", "de_AT").signature == critic.signature


def test_a_folder_named_like_the_language_is_not_the_bundled_critic(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(bundled("critic/en"), "de")
    assert critics._find_critic("de") == bundled("critic/de")
    assert load_critic(Path("de")).language == "en"
    with pytest.raises(DataError, match="en"):
        naturalness_metric("critic:de", "de")


def test_texts_without_a_word_are_nan_with_a_note(capsys, critic):
    values = critics.critic_metric(critic, "de").score_segments(["Ja, ja.", "", "12 …", "?"])
    assert np.isnan(values).tolist() == [False, True, True, True]
    assert "3 of 4 texts have no word" in capsys.readouterr().err


# -- the bundled critics -----------------------------------------------------------------------------------------------


def test_a_t_index_by_hand():
    """das, er, end once each against das twice and end: (1 + 3/4)/6 and (3/4)/6; (2 + 2/4)/5, (1 + 2/4)/5, (2/4)/5."""
    sides = ["Das er."], ["Das das"]
    one = math.log((1 / 2 * 1 / 10 * 3 / 10) / (7 / 24 * 1 / 8 * 7 / 24)) / 3
    two = math.log((1 / 20 * 3 / 10) / ((7 / 24) / 2 * (1 + 7 / 24) / 2)) / 2
    found = critics.t_index(MINI, ["Das singt", " ... "], sides)
    assert found == pytest.approx([one, math.nan], abs=1e-12, nan_ok=True)
    assert critics.t_index(MINI, ["Er!"], sides, 2) == pytest.approx([two], abs=1e-12)
    assert critics.t_index(MINI, ["Er!"], sides[::-1], 2) == pytest.approx([-two], abs=1e-12)
    with pytest.raises(DataError, match="no text with a word"):
        critics.t_index(MINI, ["Er"], (["..."], ["Er"]))


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1), min_size=1), st.integers(1, 3))
def test_the_probabilities_of_the_next_token_add_up_to_1(rows, order):
    rows = [["<s>"] * (order - 1) + row for row in rows]
    log_perplexity = critics._fitted(rows, order, 4)
    for before in itertools.product("abcx", repeat=order - 1):
        p = [math.exp(-log_perplexity([*before, token])) for token in "abcx"]
        assert math.fsum(p) == pytest.approx(1, abs=1e-12)
