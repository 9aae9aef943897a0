"""What is drawn from, and how: truncations against their definitions and transformers', choices against their law."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from anhelpers.errors import DataError, UnknownName

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")

from anhelpers.candidates.drawing import (  # noqa: E402
    FIRST_TRY,
    Sampling,
    choose,
    least,
    levels,
    numbers,
    probabilities,
    read_method,
)

weights = st.integers(2, 3 * FIRST_TRY).flatmap(
    lambda n: arrays(np.int64, n, elements=st.integers(0, 50))
)
pmfs = weights.filter(lambda w: w.sum() > 0).map(lambda w: w / w.sum())


def kept(p, sampling):
    """Which tokens may be drawn."""
    return (torch.as_tensor(p)[None] >= least(torch.as_tensor(p)[None], sampling))[0].numpy()


@pytest.mark.verifies("Epsilon sampling", by="property")
@given(pmfs, st.floats(1e-6, 1, exclude_max=True))
def test_epsilon_keeps_what_is_likely_enough_and_the_likeliest(p, value):
    assert (kept(p, Sampling("epsilon", value)) == ((p >= value) | (p == p.max()))).all()


@pytest.mark.verifies("Top-k", by="property")
@given(pmfs, st.integers(1, 300))
def test_top_k_keeps_the_k_likeliest_and_those_as_likely(p, k):
    may = kept(p, Sampling("top-k", k))
    assert may.sum() >= min(k, len(p))
    assert (p > p[may].min()).sum() < k
    assert p[~may].max(initial=-1) < p[may].min()


@pytest.mark.verifies("Top-p", by="property")
@given(pmfs, st.floats(1e-6, 1))
def test_top_p_keeps_the_smallest_likeliest_set_with_enough_probability(p, value):
    may = kept(p, Sampling("top-p", value))
    assert p[~may].max(initial=-1) < p[may].min()
    assert p[may].sum() >= value - 1e-12
    assert p[p > p[may].min()].sum() < value + 1e-12


@given(pmfs, st.sampled_from([("epsilon", 0.03), ("top-k", 3), ("top-p", 0.7)]), st.randoms())
def test_what_is_kept_does_not_depend_on_the_order_of_the_tokens(p, method, random):
    order = np.array(random.sample(range(len(p)), len(p)))
    assert (kept(p[order], Sampling(*method)) == kept(p, Sampling(*method))[order]).all()


def test_top_p_by_hand():
    p = np.array([0.1, 0.4, 0.2, 0.3])
    assert kept(p, Sampling("top-p", 0.7)).tolist() == [False, True, False, True]
    assert kept(p, Sampling("top-p", 0.71)).tolist() == [False, True, True, True]
    assert kept(p, Sampling("top-p", 1)).all()
    flat = np.full(1000, 1e-3)
    assert kept(flat, Sampling("top-p", 0.5)).all()  # all are as probable as the last one kept


@pytest.mark.verifies(
    "Ancestral sampling",
    "Temperature",
    "Top-k",
    "Top-p",
    "Epsilon sampling",
    by="foreign",
    of="transformers",
)
@pytest.mark.parametrize("temperature", [1.0, 0.5, 2.0])
@pytest.mark.parametrize("method", ["ancestral", "epsilon:0.002", "top-p:0.8", "top-k:7"])
def test_the_distribution_is_transformers_own(method, temperature):
    transformers = pytest.importorskip("transformers")
    from transformers.generation import logits_process

    logits = torch.tensor(np.random.default_rng(0).normal(0, 2, (20, 500)), dtype=torch.float32)
    sampling = read_method(method, temperature)
    warpers = [logits_process.TemperatureLogitsWarper(temperature)] if temperature != 1 else []
    warpers += {
        "ancestral": list,
        "epsilon": lambda: [logits_process.EpsilonLogitsWarper(sampling.value)],
        "top-p": lambda: [logits_process.TopPLogitsWarper(sampling.value)],
        "top-k": lambda: [logits_process.TopKLogitsWarper(int(sampling.value))],
    }[sampling.method]()
    wanted = transformers.LogitsProcessorList(warpers)(None, logits).softmax(1)
    own, p = probabilities(logits, sampling)
    assert ((p > 0) == (wanted > 0)).all()
    torch.testing.assert_close(p / p.sum(1, keepdim=True), wanted.double(), rtol=2e-5, atol=0)
    torch.testing.assert_close(own, logits.double().softmax(1), rtol=0, atol=0)


def test_extreme_temperatures_give_the_likeliest_or_all_alike():
    logits = torch.tensor([[1.0, 5.0, 4.0, -torch.inf]])
    assert probabilities(logits, Sampling(temperature=1e-300))[1].tolist() == [[0, 1, 0, 0]]
    torch.testing.assert_close(
        probabilities(logits, Sampling(temperature=1e300))[1],
        torch.tensor([[1, 1, 1, 0.0]]).double() / 3,
    )


def chosen(p, u):
    return choose(torch.as_tensor(np.atleast_2d(p)), torch.as_tensor(u)).numpy()


@pytest.mark.verifies("Ancestral sampling", by="hand")
def test_tokens_are_chosen_down_a_tree_by_hand():
    p = [0.1, 0.4, 0.2, 0.3]  # 0.5 and 0.5; then 0.2 and 0.8, or 0.4 and 0.6 of these
    u = [[0.49, 0.19], [0.49, 0.21], [0.51, 0.39], [0.51, 0.41], [0.0, 0.0], [0.99, 0.99]]
    assert chosen(p, np.array(u)).tolist() == [0, 1, 2, 3, 0, 3]
    assert [levels(n) for n in (1, 2, 3, 4, 5, 58101)] == [1, 1, 2, 2, 3, 16]


@pytest.mark.verifies("Ancestral sampling", by="property")
@pytest.mark.parametrize("n_vocab", [1, 2, 9, 32, 33])
def test_tokens_are_chosen_by_their_probabilities(n_vocab):
    rng = np.random.default_rng(n_vocab)
    p, u = rng.dirichlet(np.full(n_vocab, 0.5)), rng.random((100_000, levels(n_vocab)))
    counts = np.bincount(chosen(3 * p, u), minlength=n_vocab)
    many = p > 1e-4
    assert (np.abs(counts - 1e5 * p) < 5 * np.sqrt(1e5 * p * (1 - p)) + 5).all()
    assert ((counts - 1e5 * p) ** 2 / (1e5 * p))[many].sum() < stats.chi2.ppf(
        0.999, max(many.sum() - 1, 1)
    )
    assert (chosen(np.tile(p, (100, 1)), u[:100]) == chosen(p, u[:100])).all()


@settings(max_examples=300)
@given(
    arrays(np.float64, st.integers(1, 20), elements=st.just(0) | st.floats(1e-300, 1)).filter(
        lambda p: p.sum() > 1e-6
    ),
    st.lists(
        st.sampled_from([0.0, 1 - 2.0**-53]) | st.floats(0, 1, exclude_max=True),
        min_size=5,
        max_size=5,
    ),
)
def test_no_token_without_probability_is_ever_chosen(p, u):
    assert p[chosen(p, np.array([u[: levels(len(p))]]))] > 0


def test_rounding_turns_few_tokens_however_large_the_vocabulary():
    rng = np.random.default_rng(0)
    n, size, error = 1000, 20_000, 1e-3
    logits = torch.as_tensor(rng.normal(0, 3, (n, size)))
    noisy = logits + torch.as_tensor(rng.normal(0, error, (n, size)))
    u = rng.random((n, levels(size)))
    turned = (chosen(logits.softmax(1), u) != chosen(noisy.softmax(1), u)).sum()
    assert turned <= 5 * n * error  # by one number and the distribution function about 200 n error


def test_the_numbers_are_uniform_and_belong_to_seed_source_sample_and_step():
    of = numbers(0, 3, "Yes.")
    u = np.stack([of(step, range(500), 10) for step in range(20)])
    assert u.min() >= 0
    assert u.max() < 1
    counts = np.bincount((u * 100).astype(int).ravel(), minlength=100)
    assert ((counts - 1000) ** 2 / 1000).sum() < stats.chi2.ppf(0.999, 99)
    # of steps, samples, levels
    for one, next_ in [(u[:-1], u[1:]), (u[:, :-1], u[:, 1:]), (u[..., :-1], u[..., 1:])]:
        assert abs(np.corrcoef(one.ravel(), next_.ravel())[0, 1]) < 4 / np.sqrt(one.size)
    assert len(np.unique(u)) == u.size
    assert (of(4, range(7, 30), 10) == u[4, 7:30]).all()
    others = [(1, 3, "Yes."), (0, 2, "Yes."), (0, 3, "Yes"), (2**64 - 1, 3, "Yes.")]
    for other in others:
        assert not np.isin(numbers(*other)(4, range(10), 10), u[4]).any()
    assert not (numbers(0, 1, "1:a")(0, range(5), 1) == numbers(0, 11, ":a")(0, range(5), 1)).any()


@pytest.mark.parametrize("text", ["ancestral", "epsilon:0.02", "top-p:1", "top-k:50"])
def test_a_method_is_read_as_it_is_written(text):
    assert read_method(text).name == text


@pytest.mark.parametrize(
    ("text", "temperature", "sentence"),
    [
        ("epsilon", 1, r"epsilon takes a probability in \(0, 1\), got none; write epsilon:NUMBER"),
        ("epsilon:0", 1, r"got 0; write"),
        ("epsilon:1", 1, r"got 1; write"),
        ("epsilon:nan", 1, r"got nan; write"),
        ("top-p:1.5", 1, r"top-p takes a probability in \(0, 1\], got 1.5"),
        ("top-k:0", 1, "top-k takes a whole number >= 1, got 0"),
        ("top-k:2.5", 1, "got 2.5"),
        ("top-k:many", 1, "the parameter of 'top-k:many' is no number; write top-k:NUMBER"),
        ("ancestral:1", 1, "ancestral takes no parameter, got 1"),
        ("ancestral", 0, "temperature must be a number above 0, got 0"),
        ("ancestral", -1, "temperature must be a number above 0, got -1"),
        ("ancestral", float("nan"), "temperature must be a number above 0, got nan"),
        ("ancestral", float("inf"), "temperature must be a number above 0, got inf"),
    ],
)
def test_a_bad_method_is_told(text, temperature, sentence):
    with pytest.raises(DataError, match=sentence):
        read_method(text, temperature)


def test_an_unknown_method_is_told_with_the_nearest():
    with pytest.raises(UnknownName, match="unknown method 'epsilo'; did you mean 'epsilon'"):
        read_method("epsilo:0.1")


@pytest.mark.verifies(
    "Ancestral sampling", "Temperature", "Top-k", "Top-p", "Epsilon sampling", by="hand"
)
@pytest.mark.parametrize(
    ("method", "temperature", "wanted"),
    [
        ("ancestral", 1.0, [1 / 2, 1 / 4, 1 / 8, 1 / 8]),
        ("ancestral", 0.5, [16 / 22, 4 / 22, 1 / 22, 1 / 22]),  # squares
        ("top-k:2", 1.0, [2 / 3, 1 / 3, 0, 0]),
        ("top-p:0.75", 1.0, [2 / 3, 1 / 3, 0, 0]),
        ("epsilon:0.2", 1.0, [2 / 3, 1 / 3, 0, 0]),
        ("epsilon:0.6", 1.0, [1, 0, 0, 0]),  # none is likely enough: the likeliest
        ("top-k:2", 0.5, [4 / 5, 1 / 5, 0, 0]),
    ],
)
def test_four_tokens_by_hand(method, temperature, wanted):
    logits = torch.log(torch.tensor([[1 / 2, 1 / 4, 1 / 8, 1 / 8]], dtype=torch.float64))
    _, p = probabilities(logits, read_method(method, temperature))
    np.testing.assert_allclose((p / p.sum())[0].numpy(), wanted, rtol=1e-12, atol=0)


@pytest.mark.verifies("Temperature", by="property")
@given(pmfs, st.floats(0.1, 5))
def test_a_temperature_keeps_the_order_and_one_changes_nothing(p, temperature):
    logits = torch.as_tensor(np.log(np.maximum(p, 1e-12)))[None]
    own, tempered = probabilities(logits, Sampling(temperature=temperature))
    tempered = (tempered / tempered.sum())[0].numpy()
    order = np.argsort(p)
    assert (np.diff(tempered[order]) >= -1e-12).all()
    np.testing.assert_allclose(
        probabilities(logits, Sampling())[1].numpy(), own.numpy(), rtol=1e-12
    )
