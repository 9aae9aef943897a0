"""Samples of tiny models against their exact probabilities, and files that resume."""

import json

import numpy as np
import pytest
from scipy import stats

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")

from anhelpers.candidates import Sampler, generate, language_name  # noqa: E402
from anhelpers.data import read_candidates  # noqa: E402
from anhelpers.errors import DataError, UnknownName  # noqa: E402

pytestmark = pytest.mark.neural
TEMPLATE = "{src} ="


@pytest.fixture
def model(request, kind):
    return request.getfixturevalue(kind)


def first_probabilities(sampler, src):
    """(V,) the model's own probabilities of the first token, from one plain forward pass."""
    model = sampler.model
    source, before, _ = sampler.start(0, src)
    given = torch.tensor([before])
    with torch.inference_mode():
        if source:
            logits = model.model(input_ids=torch.tensor([source]), decoder_input_ids=given).logits
        else:
            logits = model.model(input_ids=given).logits
    logits = logits[0, -1].double()
    logits[list(model.never)] = -torch.inf
    return logits.softmax(0).numpy()


def truncated(p, method, temperature):
    """The distribution that is drawn from, by its definition."""
    p = p ** (1 / temperature)
    p = p / p.sum()
    name, _, value = method.partition(":")
    order = np.argsort(-p)
    keep = {
        "ancestral": lambda: p >= 0,
        "epsilon": lambda: (p >= float(value)) | (p == p.max()),
        "top-k": lambda: np.isin(np.arange(len(p)), order[: int(value)]),
        "top-p": lambda: np.isin(
            np.arange(len(p)), order[: 1 + np.searchsorted(np.cumsum(p[order]), float(value))]
        ),
    }[name]()
    return np.where(keep, p, 0) / p[keep].sum()


@pytest.mark.verifies("Sampled candidates", by="property")
@pytest.mark.verifies("Sampled candidates", by="foreign", of="a plain forward pass of transformers")
@pytest.mark.parametrize("kind", ["mt", "lm"])
@pytest.mark.parametrize(
    ("method", "temperature"),
    [("ancestral", 1.0), ("epsilon:0.05", 1.0), ("top-p:0.6", 0.7), ("top-k:3", 2.0)],
)
def test_first_tokens_have_the_model_s_probabilities(model, method, temperature):
    from anhelpers.candidates import _rows

    k = 2000
    sampler = Sampler(model, k, method, temperature, max_tokens=1, template=TEMPLATE)
    wanted = truncated(first_probabilities(sampler, "The dog."), method, temperature)
    rows = _rows(sampler, 0, *sampler.start(0, "The dog."))
    counts = np.bincount([row[0] for row in rows], minlength=len(wanted))
    assert counts.sum() == k
    assert not counts[wanted == 0].any()
    many = wanted * k >= 5
    cells = [np.append(v[many], v[~many].sum()) for v in (counts, wanted * k)]
    kept = cells[1] > 0
    assert kept.sum() < 2 or stats.chisquare(cells[0][kept], cells[1][kept]).pvalue > 1e-3


@pytest.mark.verifies("Log-probability of a drawn candidate", by="foreign", of="score_pairs")
def test_a_logprob_is_that_of_score_pairs_for_the_tokenizer_s_own_tokens(mt, srcs):
    from anhelpers.translation import score_pairs

    cands = generate(Sampler(mt, 500, max_tokens=4), srcs)
    assert (np.bincount(cands.segment, cands.multiplicity) == 500).all()
    plain = score_pairs(mt, [srcs[i] for i in cands.segment], cands.texts).total
    both = ~np.isnan(plain) & ~np.isnan(cands.logprob)
    equal = np.isclose(cands.logprob[both], plain[both], atol=2e-5)
    assert equal.sum() > 15


@pytest.mark.verifies("Sampled candidates", "Log-probability of a drawn candidate", by="hand")
def test_a_model_of_zeros_by_hand(zeros):
    """Each of V − 1 tokens has probability 1 / (V − 1): a sample of n tokens −n log(V − 1)."""
    n_vocab = zeros.model.config.vocab_size
    cands = generate(Sampler(zeros, 200, max_tokens=30), ["The dog."])
    tokens = -cands.logprob / np.log(n_vocab - 1)
    assert np.nanmax(abs(tokens - np.round(tokens))) < 1e-4
    # a sample ends within 30 tokens with probability 1 − (1 − 1 / (V − 1))^30
    ended = cands.multiplicity[~np.isnan(tokens)].sum() / 200
    wanted = 1 - (1 - 1 / (n_vocab - 1)) ** 30
    assert abs(ended - wanted) < 5 * (wanted * (1 - wanted) / 200) ** 0.5


@pytest.mark.verifies("Log-probability of a drawn candidate", by="property")
def test_a_language_model_s_logprob_sums_over_its_answer(lm):
    sampler = Sampler(lm, 40, max_tokens=3, template=TEMPLATE)
    cands = generate(sampler, ["Yes."])
    probability = np.exp(cands.logprob)
    assert np.nansum(probability) <= 1 + 1e-6
    assert (cands.logprob[~np.isnan(cands.logprob)] <= 0).all()


def test_a_source_s_samples_depend_on_its_index_its_text_and_the_seed(mt, srcs):
    whole = generate(Sampler(mt, 20, seed=5, max_tokens=8), srcs)
    assert generate(Sampler(mt, 20, seed=5, max_tokens=8), srcs) == whole
    assert generate(Sampler(mt, 20, seed=6, max_tokens=8), srcs) != whole
    first = generate(Sampler(mt, 20, seed=5, max_tokens=8), srcs[:2])
    assert first.texts == tuple(np.array(whole.texts)[whole.segment < 2])


def test_a_stopped_run_resumes_with_the_same_file(mt, srcs, tmp_path, monkeypatch):
    path, sampler = tmp_path / "c.jsonl", Sampler(mt, 20, max_tokens=8)
    whole = generate(sampler, srcs, path)
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]) + lines[2][:30])  # the third line is torn
    assert generate(sampler, srcs, path) == whole
    assert path.read_bytes() == data
    assert read_candidates(path) == whole
    for other, sources in ((Sampler(mt, 20, seed=1, max_tokens=8), srcs), (sampler, srcs[::-1])):
        with pytest.raises(DataError, match=r"c\.jsonl"):
            generate(other, sources, path)
    path.write_text("[1]\n")
    with pytest.raises(DataError):
        generate(sampler, srcs, path)


@pytest.mark.parametrize(
    "options",
    [{"k": 0}, {"seed": -1}, {"method": "beam"}, {"method": "epsilon"}, {"method": "top-p:0"}],
)
def test_impossible_options_are_refused(mt, options):
    with pytest.raises((DataError, UnknownName)):
        Sampler(mt, **options)


def test_impossible_sources_and_prompts_are_refused(mt, lm):
    for srcs in (["a", " "], ["The dog. " * 60], "a text"):
        with pytest.raises(DataError):
            generate(Sampler(mt, 2), srcs)
    with pytest.raises(DataError):
        Sampler(lm, template="Translate:")
    with pytest.raises(UnknownName):
        generate(Sampler(lm, 2, lp="qq-de"), ["Yes."])
    with pytest.raises(UnknownName):
        language_name("qq")


def test_a_prompt_has_the_languages_and_the_source_as_text(lm):
    from anhelpers.candidates import PLAIN, _prompt

    ids = _prompt(lm, PLAIN, "en-de", "a {src_lang} </s>")
    assert lm.tokenizer.decode(ids[1:]).strip() == "English: a {src_lang} </s>\nGerman:"
    assert ids.count(lm.tokenizer.eos_token_id) == 0


def test_the_record_of_a_source(mt, tmp_path):
    generate(Sampler(mt, 6, "top-k:4", 0.7, max_tokens=3), ["Yes."], tmp_path / "c.jsonl")
    (record,) = map(json.loads, (tmp_path / "c.jsonl").read_text("utf-8").splitlines())
    assert sum(c["count"] for c in record["candidates"]) == 6
    assert {c["tag"] for c in record["candidates"]} == {"mt top-k:4 t:0.7"}
    assert "|method:top-k:4|temperature:0.7|k:6|seed:0|max:3|" in record["signature"]
    cut = [c for c in record["candidates"] if "logprob" not in c]
    assert record["cut"] >= len(cut) > 0
