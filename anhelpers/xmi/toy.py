"""Toy language pairs with entropies and mutual information in closed form, to test models on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, count, islice

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from .._lazy import pd
from ..bootstrap import bootstrap_means
from ..data.schema import CandidateSet
from ..divergences import pmf
from ..errors import DataError
from ..estimate import Estimate
from .measure import UNITS, Xmi, _bits, _in_bits, xmi

# words of the source language, the frequent ones first
_STEMS = (
    "tavin", "morel", "kadun", "pelis", "rogat", "lubin", "zemar", "fidol",
    "nerup", "sobik", "galem", "tunor", "haspek", "vikar", "bodin", "yalun",
)  # fmt: skip
# Target language: each general word, and two precise words of the same meaning.
_THINGS = {
    "bird": ("owl", "crow"), "tree": ("oak", "pine"), "fish": ("trout", "eel"),
    "dog": ("poodle", "terrier"), "flower": ("rose", "tulip"), "tool": ("hammer", "saw"),
    "boat": ("canoe", "ferry"), "hat": ("beret", "bonnet"),
}  # fmt: skip
_PRECISE = tuple(word for two in _THINGS.values() for word in two)


@dataclass(frozen=True)
class ToyPair:
    """Two made-up languages and the probability of each pair of sentences.

    A sentence pair has a class g and a length l, drawn from `weights` and `lengths`; then l pairs
    of words are drawn independently from `joint[g]`. Entropies are in bits per sentence and include
    its length, which a model predicts by the end of the sentence.

    Parameters
    ----------
    name : str
        For tables.
    sources, targets : tuple of str
        V_S words and V_T words, without spaces, distinct on each side.
    joint : (G, V_S, V_T) array
        P(source word, target word | class g); each class sums to 1.
    weights : (G,) array
        P(g).
    lengths : (L,) array
        P(1 word), ..., P(L words).
    related : bool
        False pairs the source of one draw with the target of another, so that MI = 0.

    Raises
    ------
    DataError : shapes do not fit, probabilities do not add up to 1, or a word is repeated.

    >>> coin = ToyPair("coin", ("ba", "de"), ("if", "oz"), [[[0.5, 0], [0, 0.5]]], [1], [1])
    >>> coin.mi, coin.h_trg, coin.h_trg_given_src
    (1.0, 1.0, 0.0)
    """

    name: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    joint: np.ndarray = field(repr=False)
    weights: np.ndarray = field(repr=False)
    lengths: np.ndarray = field(repr=False)
    related: bool = True

    def __post_init__(self) -> None:
        weights, lengths = checks.pmf("weights", self.weights), checks.pmf("lengths", self.lengths)
        shape = (len(weights), len(self.sources), len(self.targets))
        checks.finite("joint", self.joint, shape)
        each = [checks.pmf(f"joint[{g}]", np.ravel(p)) for g, p in enumerate(self.joint)]
        joint = np.reshape(each, shape)
        for side, words in (("sources", self.sources), ("targets", self.targets)):
            bad = [w for w in words if len(w.split()) != 1 or words.count(w) > 1]
            if bad:
                raise DataError(f"got '{bad[0]}', expected distinct words without spaces.", side)
        for name, value in (("joint", joint), ("weights", weights), ("lengths", lengths)):
            object.__setattr__(self, name, value)

    @cached_property
    def h_src(self) -> float:
        """H(S), bits per source sentence."""
        return self._entropy("source", self.joint.sum(2))

    @cached_property
    def h_trg(self) -> float:
        """H(T), bits per target sentence: the minimum cross-entropy of a language model."""
        return self._entropy("target", self.joint.sum(1))

    @cached_property
    def h_joint(self) -> float:
        """H(S, T), bits per sentence pair."""
        if not self.related:
            return self.h_src + self.h_trg
        return self._entropy("pair", self.joint.reshape(len(self.joint), -1))

    @property
    def h_trg_given_src(self) -> float:
        """H(T | S), bits per target sentence: the minimum of a translation model."""
        return max(0.0, self.h_joint - self.h_src)

    @property
    def h_src_given_trg(self) -> float:
        """H(S | T), bits per source sentence."""
        return max(0.0, self.h_joint - self.h_trg)

    @property
    def mi(self) -> float:
        """MI(S; T) = H(S) + H(T) - H(S, T), bits per sentence pair, equal in both directions."""
        return max(0.0, self.h_src + self.h_trg - self.h_joint)

    def reversed(self) -> ToyPair:
        """The same sentence pairs in the other direction."""
        joint = self.joint.transpose(0, 2, 1)
        name = f"{self.name}, reversed"
        return replace(self, name=name, sources=self.targets, targets=self.sources, joint=joint)

    def sample(self, n: int, rng: np.random.Generator) -> tuple[list[str], list[str]]:
        """Draw n ≥ 1 source sentences and their translations, words separated by spaces."""
        checks.whole("n", n)
        first = self._draw(n, rng)
        second = first if self.related else self._draw(n, rng)
        srcs = [" ".join(self.sources[i] for i in words // len(self.targets)) for words in first]
        return srcs, [
            " ".join(self.targets[i] for i in words % len(self.targets)) for words in second
        ]

    def logprob_trg(self, trgs: Sequence[str]) -> np.ndarray:
        """(n,) ln P(t) of target sentences in nats; a DataError has the line of an unknown word."""
        return self._logprob(self.joint.sum(1), _numbers("targets", self.targets, trgs))

    def logprob_trg_given_src(self, srcs: Sequence[str], trgs: Sequence[str]) -> np.ndarray:
        """(n,) ln P(t | s) of aligned sentence pairs in nats.

        Raises
        ------
        DataError : with its line, a source of probability 0 or an unknown word; unequal lengths.
        """
        checks.same_length(sources=srcs, targets=trgs)
        s, t = _numbers("sources", self.sources, srcs), _numbers("targets", self.targets, trgs)
        source = self._logprob(self.joint.sum(2), s)
        if (never := np.flatnonzero(source == -np.inf)).size:
            raise DataError(f"'{srcs[never[0]]}' has probability 0.", "sources", int(never[0]) + 1)
        if not self.related:
            return self._logprob(self.joint.sum(1), t)
        pairs = [
            a * len(self.targets) + b if len(a) == len(b) else b[:0]
            for a, b in zip(s, t, strict=True)
        ]
        return self._logprob(self.joint.reshape(len(self.joint), -1), pairs) - source

    def _draw(self, n: int, rng: np.random.Generator) -> list[np.ndarray]:
        """The numbers of the word pairs, source · V_T + target, of n sentence pairs."""
        size = rng.choice(len(self.lengths), n, p=self.lengths) + 1
        of_word = np.repeat(rng.choice(len(self.weights), n, p=self.weights), size)
        drawn = np.empty(len(of_word), dtype=np.int64)
        for g, p in enumerate(self.joint):
            here = of_word == g
            drawn[here] = rng.choice(p.size, int(here.sum()), p=p.ravel())
        return np.split(drawn, np.cumsum(size)[:-1])

    def _entropy(self, what: str, words: np.ndarray) -> float:
        """Bits per sentence of (G, V) word probabilities: of its length, words and kind."""
        each = self.weights @ [pmf.entropy(p) for p in words]
        mean_length = self.lengths @ np.arange(1, len(self.lengths) + 1)
        kinds = np.bincount(_kinds(self.name, what, words), self.weights)
        return (pmf.entropy(self.lengths) + mean_length * each + pmf.entropy(kinds)) / np.log(2)

    def _logprob(self, words: np.ndarray, sentences: list[np.ndarray]) -> np.ndarray:
        """(n,) ln Σ_g P(g) P(l) Π P(word | g) of sentences of word numbers."""
        with np.errstate(divide="ignore"):
            log_words = np.log(words)
            log_class = np.log(self.weights)
            log_length = np.log([0.0, *self.lengths])
        size = np.array([min(len(s), len(self.lengths) + 1) for s in sentences], dtype=np.int64)
        sums = np.array([log_class + log_words[:, s].sum(1) for s in sentences])
        sums = sums.reshape(len(sentences), len(words))
        return np.append(log_length, -np.inf)[size] + np.logaddexp.reduce(sums, axis=1)


def _kinds(name: str, what: str, words: np.ndarray) -> np.ndarray:
    """(G,) the first class with the same word probabilities; a DataError if two overlap."""
    kinds = np.arange(len(words))
    for g, p in enumerate(words):
        for k, q in enumerate(words[:g]):
            if np.allclose(p, q, rtol=0, atol=1e-12):
                kinds[g] = kinds[k]
                break
            if (p * q).any():
                raise DataError(f"{what} words of classes {k}, {g} overlap: no closed form.", name)
    return kinds


def _numbers(side: str, words: Sequence[str], texts: Sequence[str]) -> list[np.ndarray]:
    """The numbers of the words of each text."""
    number = {word: i for i, word in enumerate(words)}
    out = []
    for line, text in enumerate(texts, 1):
        if odd := [w for w in text.split() if w not in number]:
            raise DataError(f"unknown word '{odd[0]}'.", side, line)
        out.append(np.array([number[w] for w in text.split()], dtype=np.int64))
    return out


def toy_pair(
    name: str,
    *,
    n_words: int = 8,
    skew: float = 1.0,
    lengths: ArrayLike = (0, 0.25, 0.25, 0.25, 0.25),
    noise: float = 0.2,
    vague: float = 0.75,
) -> ToyPair:
    """Return a pair of languages of one of five kinds, from n stems.

    - "cipher": each source word has one target word. MI = H(S) = H(T).
    - "noisy": the same, but a target word is replaced by another with probability `noise`.
    - "gender": the words of a source sentence are all masculine (-o) or all feminine (-a); the
      target language has one form for both. MI = H(T), and H(S | T) is exactly 1 bit.
    - "vague": each source word has a precise target word, and two share a general one, which is
      used with probability `vague`: "bird" for "owl" and for "crow".
    - "unrelated": source and target are independent. MI = 0.

    Parameters
    ----------
    n_words : int
        n, at least 2.
    skew : float
        Stem k has a frequency proportional to k ** -skew; 0: all are equally frequent.
    lengths : (L,) array
        P(1 word), ..., P(L words).
    noise, vague : float
        In [0, 1], for the pair of that name.

    >>> pair = toy_pair("gender", n_words=2, skew=0, lengths=[1])
    >>> pair.sources, pair.targets
    (('tavino', 'morelo', 'tavina', 'morela'), ('owl', 'crow'))
    >>> pair.h_src, pair.h_trg, pair.mi, pair.h_src_given_trg
    (2.0, 1.0, 1.0, 1.0)
    """
    build = PAIRS[checks.one_of(name, PAIRS, "toy pair")]
    checks.whole("n_words", n_words, least=2)
    for called, share in (("noise", noise), ("vague", vague)):
        checks.pmf(f"{called}, 1 - {called}", [share, 1 - share])
    frequent = np.arange(1, n_words + 1) ** -float(skew)
    joint, sources, targets = build(frequent / frequent.sum(), noise, vague)
    weights = np.full(len(joint), 1 / len(joint))
    return ToyPair(name, sources, targets, joint, weights, np.asarray(lengths), name != "unrelated")


_Built = tuple[np.ndarray, tuple[str, ...], tuple[str, ...]]


def _cipher(p: np.ndarray, noise: float, vague: float) -> _Built:
    return np.diag(p)[None], _words(len(p), _STEMS), _words(len(p), _PRECISE)


def _noisy(p: np.ndarray, noise: float, vague: float) -> _Built:
    joint, sources, targets = _cipher(p, noise, vague)
    others = (1 - np.eye(len(p))) / (len(p) - 1)
    return joint @ ((1 - noise) * np.eye(len(p)) + noise * others), sources, targets


def _gender(p: np.ndarray, noise: float, vague: float) -> _Built:
    (joint,), stems, targets = _cipher(p, noise, vague)
    forms = np.stack([np.vstack([joint, 0 * joint]), np.vstack([0 * joint, joint])])
    return forms, tuple(stem + form for form in "oa" for stem in stems), targets


def _vague(p: np.ndarray, noise: float, vague: float) -> _Built:
    (joint,), sources, _ = _cipher(p, noise, vague)
    general = _words((len(p) + 1) // 2, tuple(_THINGS))
    shared = np.repeat(np.eye(len(general)), 2, axis=0)[: len(p)]
    precise = _words(len(p), _PRECISE)
    both = np.hstack([vague * p[:, None] * shared, (1 - vague) * joint])
    return both[None], sources, (*general, *precise)


PAIRS: dict[str, Callable[[np.ndarray, float, float], _Built]] = {
    "cipher": _cipher,
    "noisy": _noisy,
    "gender": _gender,
    "vague": _vague,
    "unrelated": _cipher,
}


def _words(n: int, known: Sequence[str]) -> tuple[str, ...]:
    """The first n of the known words; further ones get a number: "owl2"."""
    again = (f"{word}{k or ''}" for k in chain([0], count(2)) for word in known)
    return tuple(islice(again, n))


def toy_candidates(
    pair: ToyPair,
    srcs: Sequence[str],
    trgs: Sequence[str],
    rng: np.random.Generator,
    *,
    n_samples: int = 3,
) -> CandidateSet:
    """Return candidates of each source, one of each kind, named by their tags.

    - "reference": the target itself. "sample", "sample 2", ...: draws from the true P(t | s).
    - "likeliest words": the most probable target word of each source word. "closest words": the one
      whose probability the source word raises most.
    - "one word wrong": the reference with a word exchanged. "unrelated": another sentence.
      "parrot": always the most probable sentence of all.

    Parameters
    ----------
    srcs, trgs : sequence of str
        N sentence pairs of `pair.sample`.
    n_samples : int
        Number of samples of each source.

    >>> pair, rng = toy_pair("vague"), np.random.default_rng(0)
    >>> found = toy_candidates(pair, ["tavin pelis"], ["owl tree"], rng, n_samples=0)
    >>> dict(zip(found.tags[:3], found.texts))
    {'reference': 'owl tree', 'likeliest words': 'bird tree', 'closest words': 'owl pine'}
    """
    checks.same_length(sources=srcs, targets=trgs)
    likeliest, closest = _best_words(pair)
    parrot, others = _parrot(pair), pair.sample(len(srcs), rng)[1]
    samples = {
        f"sample {k}" if k > 1 else "sample": _translated(pair, srcs, rng)
        for k in range(1, n_samples + 1)
    }
    rows = []
    for i, (src, trg) in enumerate(zip(srcs, trgs, strict=True)):
        wrong, at = trg.split(), int(rng.integers(len(trg.split())))
        wrong[at] = rng.choice([w for w in pair.targets if w != wrong[at]])
        kinds = {
            "reference": trg,
            "likeliest words": " ".join(likeliest[w] for w in src.split()),
            "closest words": " ".join(closest[w] for w in src.split()),
            "one word wrong": " ".join(wrong),
            "unrelated": others[i],
            "parrot": parrot,
        }
        kinds |= {tag: texts[i] for tag, texts in samples.items()}
        rows += [(i, text, tag) for tag, text in kinds.items()]
    segment, texts, tags = zip(*rows, strict=True)
    return CandidateSet(np.array(segment, dtype=np.int64), texts, tags)


def _best_words(pair: ToyPair) -> tuple[dict[str, str], dict[str, str]]:
    """The target word of each source word with the largest P(t | s), and P(t | s) / P(t)."""
    words = np.tensordot(pair.weights, pair.joint, 1)
    with np.errstate(invalid="ignore"):
        lift = np.nan_to_num(words / words.sum(0))
    targets = np.array(pair.targets)
    best = (targets[table.argmax(1)].tolist() for table in (words, lift))
    likeliest, closest = (dict(zip(pair.sources, one, strict=True)) for one in best)
    return likeliest, closest


def _parrot(pair: ToyPair) -> str:
    """The most probable target sentence: the commonest word of a class, repeated."""
    once = [pair.targets[p.sum(0).argmax()] for p in pair.joint]
    every = [" ".join([word] * n) for word in once for n in range(1, len(pair.lengths) + 1)]
    return every[int(pair.logprob_trg(every).argmax())]


def _translated(pair: ToyPair, srcs: Sequence[str], rng: np.random.Generator) -> list[str]:
    """Draw a translation of each source: its class given the source, then word by word."""
    if not pair.related:
        return pair.sample(len(srcs), rng)[1]
    number, words = {word: i for i, word in enumerate(pair.sources)}, pair.joint.sum(2)
    out = []
    for src in srcs:
        said = [number[w] for w in src.split()]
        of_class = pair.weights * words[:, said].prod(1)
        rows = pair.joint[rng.choice(len(of_class), p=of_class / of_class.sum())][said]
        out.append(" ".join(pair.targets[rng.choice(len(p), p=p / p.sum())] for p in rows))
    return out


@dataclass(frozen=True)
class _Gap:
    """XMI - MI = (H_LM - H(T)) - (H_MT - H(T | S)), estimated in two ways, in bits per sentence.

    The first way subtracts the closed form from the mean surprisal. The second is the mean of
    log2 p - log2 q over sentences, a Kullback-Leibler divergence with the same expectation and a
    much narrower interval.

    Parameters
    ----------
    name : str
        Of the pair.
    h_trg, h_trg_given_src, mi : float
        The truth.
    found : Xmi
        Of the models on the same sentences.
    lm, mt, both : Estimate
        The excess of each model over the closed form, and XMI - MI; both = lm - mt.
    lm_kl, mt_kl, both_kl : Estimate
        The same as divergences; lm_kl and mt_kl are at least 0 up to sampling.
    """

    name: str
    h_trg: float
    h_trg_given_src: float
    mi: float
    found: Xmi
    lm: Estimate
    mt: Estimate
    both: Estimate
    lm_kl: Estimate
    mt_kl: Estimate
    both_kl: Estimate

    def rows(self) -> pd.DataFrame:
        """Tabulate H_LM beside H(T), H_MT beside H(T | S) and XMI beside MI.

        Returns
        -------
        pair, quantity, truth, estimate, low, high, excess_mean (estimate - truth), excess with
        excess_low and excess_high (as a divergence), unit, n.
        """
        f = self.found
        rows = [
            ("H(T)", self.h_trg, f.h_lm, self.lm, self.lm_kl),
            ("H(T|S)", self.h_trg_given_src, f.h_mt, self.mt, self.mt_kl),
            ("MI", self.mi, f.xmi, self.both, self.both_kl),
        ]
        columns = (
            "quantity truth estimate low high excess_mean excess excess_low excess_high unit n"
        )
        table = [
            (name, truth, e.value, *e.interval, mean.value, kl.value, *kl.interval, e.unit, e.n)
            for name, truth, e, mean, kl in rows
        ]
        frame = pd.DataFrame(table, columns=columns.split())
        frame.insert(0, "pair", self.name)
        return frame


def model_gap(
    pair: ToyPair,
    srcs: Sequence[str],
    trgs: Sequence[str],
    scores: tuple[ArrayLike, ArrayLike],
    *,
    rng: np.random.Generator,
    n_draws: int = 1000,
) -> _Gap:
    """Excess of two models over the truth on sentences of a toy pair, and its effect on XMI.

    Parameters
    ----------
    srcs, trgs : sequence of str
        N sentence pairs of `pair.sample`, not used to train the models.
    scores : pair of (N,) arrays
        (mt, lm) natural-log probabilities of a sentence and its end; nan: missing, left out.

    Raises
    ------
    DataError : a sentence pair with probability 0 in this toy pair, and as in `xmi`.

    References
    ----------
    Bugliarello et al. 2020, Figure 1.

    >>> pair, rng = toy_pair("noisy"), np.random.default_rng(0)
    >>> srcs, trgs = pair.sample(50, rng)
    >>> truth = pair.logprob_trg_given_src(srcs, trgs), pair.logprob_trg(trgs)
    >>> model_gap(pair, srcs, trgs, truth, rng=rng).both_kl.value
    0.0
    """
    found = xmi(*scores, rng=rng, n_draws=n_draws)
    mt, lm = (_in_bits(name, s, "nats") for name, s in zip(("mt", "lm"), scores, strict=True))
    true_mt = -UNITS["nats"] * pair.logprob_trg_given_src(srcs, trgs)
    true_lm = -UNITS["nats"] * pair.logprob_trg(trgs)
    first = [lm - pair.h_trg, mt - pair.h_trg_given_src]
    second = [lm - true_lm, mt - true_mt]
    columns = np.stack([*first, first[0] - first[1], *second, second[0] - second[1]], axis=1)
    columns = columns[~np.isnan(columns).any(1)]
    means = bootstrap_means(columns, np.arange(len(columns)), rng, n_draws)
    names = ("H_LM - H(T)", "H_MT - H(T|S)", "XMI - MI") * 2
    six = _bits(names, means, f"{n_draws} resamples of {len(columns)} sentences")
    return _Gap(pair.name, pair.h_trg, pair.h_trg_given_src, pair.mi, found, *six)
