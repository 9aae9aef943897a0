"""Texts that begin alike, such as the candidates of a source, scored with each distinct prefix read once.

A row of the batch is a tree of prefixes: a token attends to its ancestors only and stands at its depth, so that the
model sees for each text what it sees of the text alone. Whether a model heeds a mask and positions that are given is
tried on the loaded model, not known from its name.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..errors import AnhelpersError, need
from ..progress import note_once
from .load import LanguageModel

__all__ = ["SHARED", "TOKENS_PER_ROW", "packed_scores", "packs", "sharing_limit"]

TOKENS_PER_ROW = 256
"""A row is so wide, or twice its longest text. Attention grows with the square of a row: on one core of a CPU, half the
tokens saved make a model of 2.6 million parameters 1.8 times as fast in rows of 256, 1.5 in rows of 512, 1.3 in rows of
1024, and a model of 5 million parameters 1.6 in each."""

LONGEST_TEXT = 512
"""Longer ones are read whole: their rows would need masks of millions of numbers."""

SHARED = 0.2
"""A text is packed where it has at least this part of its tokens in common with its neighbour in sorted order. Of two
such texts a tenth is saved, which the mask costs: eight texts that share 15 % of their tokens, so that 18 % are saved,
are scored 1.1 times as fast, with 30 % 1.25 times, with 70 % 2.5 times (the same models)."""

AGREE = 1e-5
"""Nats per token, or this part of a token's log-probability, in which a tree may differ from its texts one by one: the
rounding of float32 grows with the logits, to 1.5e-5 in a token of -20 nats; with a wrong mask it is 0.1 and more."""

SHORTEST_TRIAL = 16
_limits: WeakKeyDictionary = WeakKeyDictionary()  # model -> {length: why not, "" where it agrees}

Tokens = Sequence[int]


@dataclass(frozen=True)
class Tree:
    """The distinct prefixes of some texts in depth-first order, and what is predicted after each.

    Parameters
    ----------
    tokens, depth, end : (nodes,) token, position, and the first node that is no descendant; a text's last token is
        predicted only and has no node.
    after, targets : (edges,) node and the token predicted there, each pair once; `after` ascends.
    paths : per text its edges, first to last.
    """

    tokens: np.ndarray
    depth: np.ndarray
    end: np.ndarray
    after: np.ndarray
    targets: np.ndarray
    paths: list[np.ndarray]


def packs(
    lm: LanguageModel, ids: Mapping[int, Tokens], budget: int, always: bool | None = None
) -> Iterator[list[list[int]]]:
    """The texts worth sharing, as lists of rows, each the texts of one tree; a list is one forward pass.

    Texts are sorted by their tokens, which puts those that begin alike side by side. Which texts go together depends on
    those after them only, so that without the first lists the others are as before.

    Parameters
    ----------
    ids : per text its tokens, the context token included.
    budget : tokens per forward pass, which bounds the masks as well: up to 2 `LONGEST_TEXT` numbers for a token.
    always : True packs whatever fits, None (default) where it pays, False nothing.
    """
    part, longest = 0.0 if always else SHARED, min(LONGEST_TEXT, budget // 2, lm.max_tokens)
    fitting = (
        sorted((ids[i], i) for i in ids if 2 <= len(ids[i]) <= longest)
        if always is not False
        else []
    )
    widest = 0
    if chosen := _neighbours(fitting, part):
        limit, widest = sharing_limit(lm, max(len(text) for text, _ in chosen))
        chosen = _neighbours([(text, i) for text, i in chosen if len(text) <= limit], part)
    pack: list[list[int]] = []
    width = 0
    for row, wide in _rows(chosen, part, min(widest, budget)):
        if pack and (len(pack) + 1) * max(width, wide) > budget:
            yield pack
            pack, width = [], 0
        pack.append(row)
        width = max(width, wide)
    if pack:
        yield pack


def packed_scores(
    lm: LanguageModel, texts: Sequence[Tokens], ends: Sequence[int] | np.ndarray
) -> np.ndarray:
    """(n, 3) for the texts of a pack, tree by tree: log-probability, scored tokens, 0 (none is read in windows).

    Parameters
    ----------
    ends : where each tree of the pack ends.
    """
    rows = [texts[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    return np.array([(of_text.sum(), len(of_text), 0) for of_text in _forward(lm, rows)])


def _forward(lm: LanguageModel, rows: Sequence[Sequence[Tokens]]) -> list[np.ndarray]:
    """Log-probability of every token after the first, for the texts of all trees."""
    torch = need("torch", "language-model scoring")
    trees = [_tree(row) for row in rows]
    width = max(len(t.tokens) for t in trees)
    tokens, depth, end = (np.zeros((len(trees), width), np.int64) for _ in range(3))
    end[:] = np.arange(1, width + 1)  # padding sees itself only: no empty softmax
    for r, t in enumerate(trees):
        n = len(t.tokens)
        tokens[r, :n], depth[r, :n], end[r, :n] = t.tokens, t.depth, t.end
    real = torch.arange(width)[None] < torch.tensor([len(t.tokens) for t in trees])[:, None]
    x, positions, end = (torch.from_numpy(a).to(lm.device) for a in (tokens, depth, end))
    starts = np.cumsum([0, *(len(t.tokens) for t in trees)])
    after = np.concatenate([t.after + start for t, start in zip(trees, starts, strict=False)])
    targets = torch.from_numpy(np.concatenate([t.targets for t in trees]))
    mask = _ancestors(end, lm.model.dtype)
    flat = lm.log_probs(x, real, targets, after, attention_mask=mask, position_ids=positions)
    edges = np.split(flat, np.cumsum([len(t.after) for t in trees])[:-1])
    return [of_row[path] for of_row, t in zip(edges, trees, strict=True) for path in t.paths]


def sharing_limit(lm: LanguageModel, longest: int) -> tuple[int, int]:
    """(length, width): texts of up to `length` tokens, in rows of up to `width`, get the scores that they get alone.

    (0, 0) where none do, from this model; lengths up to about `longest` are tried.

    Tried on the model with a tree of random tokens so deep and so wide; the depth is halved until both agree (`AGREE`).
    A sliding window agrees up to its length; some models have a mask of their own for rows as long as a text can be,
    and fail on wider ones. What cannot be shared is told once on stderr.
    """
    known, why, under = _limits.setdefault(lm.model, {}), "", f"log-probabilities under {lm.name}:"
    depth = max(SHORTEST_TRIAL, 1 << (longest - 1).bit_length())
    for cap in (2 * LONGEST_TEXT, lm.max_tokens):
        length = min(depth, lm.max_tokens, cap // 2)
        least = max(2, min(SHORTEST_TRIAL, length))
        while length >= least:
            trial = length, _room(length, cap)
            if trial not in known:
                known[trial] = _disagreement(lm, *trial)
            if not known[trial]:
                if length < longest:
                    note_once(
                        f"{under} prefixes are shared by texts of up to {length} tokens only: in "
                        f"longer ones {why}."
                    )
                return trial
            why, length = known[trial], length // 2
    note_once(f"{under} prefixes are not shared, each text is read whole: {why}.")
    return 0, 0


def _room(longest: int, widest: int) -> int:
    """The width of a row whose longest text this is: two such texts fit whatever they share."""
    return min(max(TOKENS_PER_ROW, 2 * longest), widest)


def _neighbours(fitting: list[tuple[Tokens, int]], part: float) -> list[tuple[Tokens, int]]:
    """Those close to the one before or to a later one.

    Without the first of them, those left out are left out still: a later one not seen before is no closer.
    """
    _, before, ahead = _close([text for text, _ in fitting], part)
    return [one for one, chosen in zip(fitting, before | ahead, strict=True) if chosen]


def _close(texts: Sequence[Tokens], part: float) -> tuple[list[int], np.ndarray, np.ndarray]:
    """For sorted texts: tokens in common with the one before; whether they are at least this part of its own; and
    whether some later text has so much in common with it."""
    common = [_common(texts[j - 1], texts[j]) if j else 0 for j in range(len(texts))]
    shared = np.array(common)
    lengths = np.array([len(text) for text in texts], np.int64)
    at = np.arange(len(texts))
    before = (shared >= part * lengths) & (at > 0)
    steps = np.zeros(len(texts) + 1, np.int64)
    for length in np.unique(lengths[before]):
        # the first that has so much in common
        first = np.maximum.accumulate(np.where(shared >= part * length, 0, at))
        these = before & (lengths == length)
        np.add.at(steps, first[these], 1)
        np.add.at(steps, at[these], -1)
    return common, before, np.cumsum(steps)[:-1] > 0


def _common(a: Tokens, b: Tokens) -> int:
    """How many first tokens are the same."""
    for n, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return n
    return min(len(a), len(b))


def _rows(
    chosen: list[tuple[Tokens, int]], part: float, widest: int
) -> Iterator[tuple[list[int], int]]:
    """Sorted texts, each at most half as long as a row, in trees; and the width of each row at most.

    Never first one close to the text before it only: without that one, it would not be packed.
    """
    texts = [text for text, _ in chosen]
    common, _, ahead = _close(texts, part)
    start = tokens = longest = 0
    for j, text in enumerate(texts):
        tokens += len(text) - (common[j] if j > start else 0)
        longest = max(longest, len(text))
        if tokens > _room(longest, widest):
            cut = j if ahead[j] else j - 1
            yield [i for _, i in chosen[start:cut]], _room(max(map(len, texts[start:cut])), widest)
            start, longest = cut, max(map(len, texts[cut : j + 1]))
            tokens = len(text) + (len(texts[cut]) - common[j] if cut < j else 0)
    if texts:
        yield [i for _, i in chosen[start:]], _room(longest, widest)


def _tree(texts: Sequence[Tokens]) -> Tree:
    """The tree of sorted texts of at least two tokens each."""
    tokens: list[int] = []
    depth: list[int] = []
    end: list[int] = []
    after: list[int] = []
    targets: list[int] = []
    paths: list[np.ndarray] = []
    nodes: list[int] = []  # of the text before, root first
    edges: list[int] = []
    before: Tokens = ()
    for text in texts:
        common = _common(before, text)
        keep = min(common, len(nodes), len(text) - 1)
        for node in nodes[keep:]:
            end[node] = len(tokens)
        nodes[keep:] = range(len(tokens), len(tokens) + len(text) - 1 - keep)
        tokens += text[keep:-1]
        depth += range(keep, len(text) - 1)
        end += [0] * (len(text) - 1 - keep)
        keep = max(common - 1, 0)
        edges[keep:] = range(len(after), len(after) + len(text) - 1 - keep)
        after += nodes[keep:]
        targets += text[keep + 1 :]
        paths.append(np.array(edges))
        before = text
    for node in nodes:
        end[node] = len(tokens)
    order = np.argsort(after, kind="stable")
    place = np.argsort(order)
    whole = [np.array(a, np.int64) for a in (tokens, depth, end)]
    cut = np.array(after)[order], np.array(targets)[order]
    return Tree(whole[0], whole[1], whole[2], cut[0], cut[1], [place[path] for path in paths])


def _ancestors(end: Any, dtype: Any) -> Any:
    """(rows, 1, n, n) what is added to attention scores: 0 where the key is the query's ancestor or itself."""
    torch = need("torch", "language-model scoring")
    node = torch.arange(end.shape[1], device=end.device)
    sees = (node[None, None, :] <= node[None, :, None]) & (node[None, :, None] < end[:, None, :])
    return torch.zeros(sees.shape, dtype=dtype, device=end.device).masked_fill_(
        ~sees, torch.finfo(dtype).min
    )[:, None]


def _disagreement(lm: LanguageModel, length: int, width: int) -> str:
    """Why a tree so deep and wide cannot stand for its texts; "" where it can."""
    texts = _trial(lm, length, width)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = _forward(lm, [texts, texts[:1]])
        alone = [lm.log_probs(*_alone(lm, text)) for text in [*texts, texts[0]]]
    except AnhelpersError:  # of a token that is in none of the texts, perhaps
        return "this model gives nan for some tokens"
    except Exception as error:  # whatever a model raises that takes no such mask or no positions
        return f"this model does not take the mask and positions of a tree ({type(error).__name__})"
    tree, alone = np.concatenate(tree), np.concatenate(alone)
    if np.allclose(tree, alone, rtol=AGREE, atol=AGREE):
        return ""
    worst = np.abs(tree - alone).max()
    return (
        f"this model, given the mask and positions of a tree, differs by {worst:.0e} nats per token"
    )


def _alone(lm: LanguageModel, text: Tokens) -> tuple[Any, Any, Any]:
    torch = need("torch", "language-model scoring")
    x = torch.tensor([list(text[:-1])])
    return x.to(lm.device), torch.ones(x.shape, dtype=torch.bool), torch.tensor(text[1:])


def _trial(lm: LanguageModel, length: int, width: int) -> list[list[int]]:
    """Sorted texts of random tokens in a tree of `width`: one of `length`, and others that leave it at any height."""
    size = lm.model.get_input_embeddings().weight.shape[0]
    left_out = {*lm.never, *lm.tokenizer.all_special_ids}
    some = np.array([i for i in range(size) if i not in left_out])
    rng = np.random.default_rng(length)
    start = [] if lm.context_token is None else [lm.context_token]
    texts, room = [[*start, *rng.choice(some, length - len(start)).tolist()]], width - length + 1
    # a branch that leaves the longest text after `at` tokens has n new ones to be read, and a last
    while room > 0:
        at = int(rng.integers(1, length))
        n = min(room, int(rng.integers(1, length - at + 1)))
        texts.append(texts[0][:at] + rng.choice(some, n + 1).tolist())
        room -= n
    return sorted(texts)
