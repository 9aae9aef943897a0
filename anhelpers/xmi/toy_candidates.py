"""Candidate translations for the sentences of a toy pair, from right to fluent but unrelated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import checks
from ..data.schema import CandidateSet
from .toy import ToyPair

__all__ = ["toy_candidates"]


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
    >>> found = toy_candidates(toy_pair("vague"), ["ba da"], ["fali fa"], np.random.default_rng(0), n_samples=0)
    >>> dict(zip(found.tags[:3], found.texts))
    {'reference': 'fali fa', 'likeliest words': 'fa fa', 'closest words': 'fali falu'}
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
