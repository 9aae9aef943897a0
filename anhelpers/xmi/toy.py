"""Toy language pairs whose entropies and mutual information are known in closed form: a ruler for models.

And candidate translations of its sentences, from right to fluent but unrelated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count, islice

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..data.schema import CandidateSet
from ..divergences import pmf
from ..errors import DataError, nearest

LENGTHS = (0.0, 0.25, 0.25, 0.25, 0.25)  # sentences of 2 to 5 words

STEMS = (
    "tavin", "morel", "kadun", "pelis", "rogat", "lubin", "zemar", "fidol",
    "nerup", "sobik", "galem", "tunor", "haspek", "vikar", "bodin", "yalun",
)  # fmt: skip
"""Words of the invented source language, the frequent ones first."""

THINGS = {
    "bird": ("owl", "crow"),
    "tree": ("oak", "pine"),
    "fish": ("trout", "eel"),
    "dog": ("poodle", "terrier"),
    "flower": ("rose", "tulip"),
    "tool": ("hammer", "saw"),
    "boat": ("canoe", "ferry"),
    "hat": ("beret", "bonnet"),
}
"""Words of the target language: each general word, and the two precise ones that it may stand for."""


@dataclass(frozen=True)
class ToyPair:
    """Two made-up languages and how often each pair of sentences turns up.

    A sentence pair has a class g and a length l, drawn from `weights` and `lengths`; then l pairs of words are drawn,
    each by itself, from `joint[g]`. Entropies are in bits per sentence; its length, which a model tells by the end of
    the sentence, is part of them.

    Parameters
    ----------
    name : of the pair, for tables.
    sources, targets : V_S words and V_T words, without spaces, distinct on each side.
    joint : (G, V_S, V_T) P(source word, target word | class g); each class sums to 1.
    weights : (G,) P(g).
    lengths : (L,) P(1 word), ..., P(L words).
    related : False pairs the source of one draw with the target of another: all else is the same, but MI = 0.

    Raises
    ------
    DataError where shapes do not fit, probabilities do not add up, or a word is repeated.

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
        joint = np.asarray(self.joint, dtype=np.float64)
        weights, lengths = checks.pmf("weights", self.weights), checks.pmf("lengths", self.lengths)
        wanted = (len(weights), len(self.sources), len(self.targets))
        if joint.shape != wanted:
            raise DataError(
                f"the joint must have shape {wanted} (classes, source words, target words), "
                f"got {joint.shape}."
            )
        joint = np.stack(
            [checks.pmf(f"joint[{g}]", p.ravel()).reshape(p.shape) for g, p in enumerate(joint)]
        )
        for side, words in (("sources", self.sources), ("targets", self.targets)):
            bad = next((w for w in words if len(w.split()) != 1 or words.count(w) > 1), None)
            if bad is not None:
                raise DataError(
                    f"'{bad}' is no word of its own: give distinct words without spaces.", side
                )
        for name, value in (("joint", joint), ("weights", weights), ("lengths", lengths)):
            object.__setattr__(self, name, value)

    @cached_property
    def h_src(self) -> float:
        """H(S), bits per source sentence."""
        return self._entropy("source", self.joint.sum(2))

    @cached_property
    def h_trg(self) -> float:
        """H(T), bits per target sentence: the least that any language model can need, on average."""
        return self._entropy("target", self.joint.sum(1))

    @cached_property
    def h_joint(self) -> float:
        """H(S, T), bits per sentence pair."""
        if not self.related:
            return self.h_src + self.h_trg
        return self._entropy("pair", self.joint.reshape(len(self.joint), -1))

    @property
    def h_trg_given_src(self) -> float:
        """H(T | S), bits per target sentence: the least that any translation model can need, on average."""
        return max(0.0, self.h_joint - self.h_src)

    @property
    def h_src_given_trg(self) -> float:
        """H(S | T), bits per source sentence."""
        return max(0.0, self.h_joint - self.h_trg)

    @property
    def mi(self) -> float:
        """MI(S; T) in bits per sentence pair, the same in both directions: H(S) + H(T) - H(S, T)."""
        return max(0.0, self.h_src + self.h_trg - self.h_joint)

    def reversed(self) -> ToyPair:
        """The same sentence pairs, translated in the other direction."""
        turned = self.joint.transpose(0, 2, 1)
        return ToyPair(
            f"{self.name}, reversed",
            self.targets,
            self.sources,
            turned,
            self.weights,
            self.lengths,
            self.related,
        )

    def sample(self, n: int, rng: np.random.Generator) -> tuple[list[str], list[str]]:
        """n source sentences and their n translations, words separated by spaces; n is at least 1."""
        if n < 1:
            raise DataError(f"n must be at least 1, got {n}.")
        first = self._draw(n, rng)
        second = first if self.related else self._draw(n, rng)
        srcs = [" ".join(self.sources[i] for i in words // len(self.targets)) for words in first]
        return srcs, [
            " ".join(self.targets[i] for i in words % len(self.targets)) for words in second
        ]

    def logprob_trg(self, trgs: Sequence[str]) -> np.ndarray:
        """(n,) ln P(t) of target sentences in nats; -inf for one that is never said.

        Raises
        ------
        DataError with the line of a word that the language does not have.
        """
        return self._logprob(self.joint.sum(1), _numbers("targets", self.targets, trgs))

    def logprob_trg_given_src(self, srcs: Sequence[str], trgs: Sequence[str]) -> np.ndarray:
        """(n,) ln P(t | s) of aligned sentence pairs in nats; -inf for a translation that never turns up.

        Raises
        ------
        DataError with the line of a source that is never said, or of an unknown word; for unequal lengths.
        """
        checks.same_length(sources=srcs, targets=trgs)
        s, t = _numbers("sources", self.sources, srcs), _numbers("targets", self.targets, trgs)
        source = self._logprob(self.joint.sum(2), s)
        if (never := np.flatnonzero(source == -np.inf)).size:
            raise DataError(
                f"'{srcs[never[0]]}' is never said, so nothing translates it.",
                "sources",
                never[0] + 1,
            )
        if not self.related:
            return self._logprob(self.joint.sum(1), t)
        same = np.array([len(a) == len(b) for a, b in zip(s, t, strict=True)], dtype=bool)
        pairs = [
            a * len(self.targets) + b if fits else b[:0]
            for a, b, fits in zip(s, t, same, strict=True)
        ]
        return self._logprob(self.joint.reshape(len(self.joint), -1), pairs) - source

    def _draw(self, n: int, rng: np.random.Generator) -> list[np.ndarray]:
        """For each of n sentence pairs the numbers of its word pairs, source · V_T + target."""
        size = rng.choice(len(self.lengths), n, p=self.lengths) + 1
        of_word = np.repeat(rng.choice(len(self.weights), n, p=self.weights), size)
        drawn = np.empty(len(of_word), dtype=np.int64)
        for g, p in enumerate(self.joint):
            here = of_word == g
            drawn[here] = rng.choice(p.size, int(here.sum()), p=p.ravel())
        return np.split(drawn, np.cumsum(size)[:-1])

    def _entropy(self, what: str, words: np.ndarray) -> float:
        """Bits per sentence of (G, V) word probabilities: its length, its words, and the kind that the words show."""
        each = self.weights @ [pmf.entropy(p) for p in words]
        mean_length = self.lengths @ np.arange(1, len(self.lengths) + 1)
        kinds = np.bincount(_kinds(self.name, what, words), self.weights)
        return (pmf.entropy(self.lengths) + mean_length * each + pmf.entropy(kinds)) / np.log(2)

    def _logprob(self, words: np.ndarray, sentences: list[np.ndarray]) -> np.ndarray:
        """(n,) ln Σ_g P(g) P(l) Π P(word | g) of sentences of word numbers; a class may have any words."""
        with np.errstate(divide="ignore"):
            log_words = np.log(words)
            log_class = np.log(self.weights)
            log_length = np.log([0.0, *self.lengths])
        size = np.array([min(len(s), len(self.lengths) + 1) for s in sentences], dtype=np.int64)
        sums = np.array([log_class + log_words[:, s].sum(1) for s in sentences]).reshape(
            len(sentences), len(words)
        )
        return np.append(log_length, -np.inf)[size] + np.logaddexp.reduce(sums, axis=1)


def _kinds(name: str, what: str, words: np.ndarray) -> np.ndarray:
    """(G,) the first class with the same words and frequencies; a DataError where two classes are only similar."""
    kinds = np.arange(len(words))
    for g, p in enumerate(words):
        for k, q in enumerate(words[:g]):
            if np.allclose(p, q, rtol=0, atol=1e-12):
                kinds[g] = kinds[k]
                break
            if (p * q).any():
                raise DataError(
                    f"classes {k} and {g} of '{name}' share {what} words with other frequencies: "
                    "that has no closed form; let the words be disjoint, or the frequencies "
                    "equal."
                )
    return kinds


def _numbers(side: str, words: Sequence[str], texts: Sequence[str]) -> list[np.ndarray]:
    """The numbers of the words of each text."""
    number = {word: i for i, word in enumerate(words)}
    out = []
    for line, text in enumerate(texts, 1):
        said = text.split()
        if (odd := next((w for w in said if w not in number), None)) is not None:
            raise DataError(
                f"'{odd}' is no word of this language{nearest(odd, words)}.", side, line
            )
        out.append(np.array([number[w] for w in said], dtype=np.int64))
    return out


def toy_pair(
    name: str,
    *,
    n_words: int = 8,
    skew: float = 1.0,
    lengths: ArrayLike = LENGTHS,
    noise: float = 0.2,
    vague: float = 0.75,
) -> ToyPair:
    """A pair of languages of one of five kinds, from n stems.

    - "cipher": each source word has one target word. MI = H(S) = H(T).
    - "noisy": the same, but each target word is replaced by another one with probability `noise`.
    - "gender": every word of a source sentence is masculine and ends in -o, or every word is feminine and ends
      in -a; the target language has one form for both. MI = H(T), and H(S | T) is exactly 1 bit: nobody who
      translates into the source can know it.
    - "vague": each source word has a precise target word, and two of them share a general one, which is used instead
      with probability `vague`: "bird" for "owl" and for "crow".
    - "unrelated": source and target have nothing to do with each other. MI = 0.

    Parameters
    ----------
    n_words : n, at least 2. skew : stem k has a frequency proportional to k ** -skew; 0: all are equally frequent.
    lengths : (L,) P(1 word), ..., P(L words). noise, vague : in [0, 1], for the pair of that name.

    >>> pair = toy_pair("gender", n_words=2, skew=0, lengths=[1])
    >>> pair.sources, pair.targets
    (('tavino', 'morelo', 'tavina', 'morela'), ('owl', 'crow'))
    >>> pair.h_src, pair.h_trg, pair.mi, pair.h_src_given_trg
    (2.0, 1.0, 1.0, 1.0)
    """
    build = PAIRS[checks.one_of(name, PAIRS, "toy pair")]
    if n_words < 2 or not (0 <= noise <= 1 and 0 <= vague <= 1):
        raise DataError(
            f"a toy pair needs at least 2 words, and noise and vague in [0, 1]; got {n_words}, "
            f"{noise:g} and {vague:g}."
        )
    frequent = np.arange(1, n_words + 1) ** -float(skew)
    joint, sources, targets = build(frequent / frequent.sum(), noise, vague)
    weights = np.full(len(joint), 1 / len(joint))
    return ToyPair(name, sources, targets, joint, weights, np.asarray(lengths), name != "unrelated")


Built = tuple[np.ndarray, tuple[str, ...], tuple[str, ...]]


def _cipher(p: np.ndarray, noise: float, vague: float) -> Built:
    return np.diag(p)[None], _words(len(p), STEMS), _words(len(p), PRECISE)


def _noisy(p: np.ndarray, noise: float, vague: float) -> Built:
    joint, sources, targets = _cipher(p, noise, vague)
    others = (1 - np.eye(len(p))) / (len(p) - 1)
    return joint @ ((1 - noise) * np.eye(len(p)) + noise * others), sources, targets


def _gender(p: np.ndarray, noise: float, vague: float) -> Built:
    (joint,), stems, targets = _cipher(p, noise, vague)
    forms = np.stack([np.vstack([joint, 0 * joint]), np.vstack([0 * joint, joint])])
    return forms, tuple(stem + form for form in "oa" for stem in stems), targets


def _vague(p: np.ndarray, noise: float, vague: float) -> Built:
    (joint,), sources, _ = _cipher(p, noise, vague)
    general = _words((len(p) + 1) // 2, tuple(THINGS))
    shared = np.repeat(np.eye(len(general)), 2, axis=0)[: len(p)]
    precise = _words(len(p), PRECISE)
    both = np.hstack([vague * p[:, None] * shared, (1 - vague) * joint])
    return both[None], sources, (*general, *precise)


PAIRS: dict[str, Callable[[np.ndarray, float, float], Built]] = {
    "cipher": _cipher,
    "noisy": _noisy,
    "gender": _gender,
    "vague": _vague,
    "unrelated": _cipher,
}


PRECISE = tuple(word for two in THINGS.values() for word in two)


def _words(n: int, known: Sequence[str]) -> tuple[str, ...]:
    """The first n of the known words; where they do not last, they begin again with a number: "owl2"."""
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
    """A few candidates for each source, one of each kind, which its tag names; some texts may be equal.

    - "reference": the target itself. "sample", "sample 2", ...: others from the same true P(t | s).
    - "likeliest words": the most probable target word of each source word. "closest words": the one whose probability
      the source word raises most.
    - "one word wrong": the reference with a word exchanged. "unrelated": somebody else's target sentence. "parrot":
      the most probable sentence of all, always.

    Parameters
    ----------
    srcs, trgs : N sentence pairs of `pair.sample`. n_samples : how many samples of each source.

    >>> from anhelpers.xmi.toy import toy_pair
    >>> found = toy_candidates(toy_pair("vague"), ["tavin pelis"], ["owl tree"], np.random.default_rng(0), n_samples=0)
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
    """For each source word the target word of the largest P(t | s), and that of the largest P(t | s) / P(t)."""
    words = np.tensordot(pair.weights, pair.joint, 1)
    with np.errstate(invalid="ignore"):
        lift = np.nan_to_num(words / words.sum(0))
    targets = np.array(pair.targets)
    likeliest, closest = (targets[table.argmax(1)].tolist() for table in (words, lift))
    return dict(zip(pair.sources, likeliest, strict=True)), dict(
        zip(pair.sources, closest, strict=True)
    )


def _parrot(pair: ToyPair) -> str:
    """The most probable target sentence: some class's commonest word, some number of times."""
    once = [pair.targets[p.sum(0).argmax()] for p in pair.joint]
    every = [" ".join([word] * n) for word in once for n in range(1, len(pair.lengths) + 1)]
    return every[int(pair.logprob_trg(every).argmax())]


def _translated(pair: ToyPair, srcs: Sequence[str], rng: np.random.Generator) -> list[str]:
    """A translation of each source, drawn from P(t | s): its class given the source, then word by word."""
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
