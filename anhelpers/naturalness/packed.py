"""Prefix sharing: texts that begin alike, such as the candidates of a source, read each prefix once.

A row of the batch is a tree of prefixes. A token attends to its ancestors only and has its depth as position, so the
model computes for each text what it computes for the text alone. Whether a model takes such a mask and positions is
tried on the loaded model.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..errors import AnhelpersError, need

if TYPE_CHECKING:
    from .lm import LanguageModel

# Width of a row, or twice its longest text: attention grows with the square of a row.
TOKENS_PER_ROW = 256
# Longer texts are read whole: their rows would need masks of millions of numbers.
LONGEST_TEXT = 512
# A text is packed if it shares this part of its tokens with a neighbour in sorted order; less costs more than the
# mask saves (measured on models of 2.6 and 5 million parameters).
SHARED = 0.2
# Nats per token, absolute and relative, by which a tree may differ from its texts one by one: rounding of float32.
# With a wrong mask the difference is 0.1 and more.
AGREE = 1e-5
# model -> {(length, width): whether trees agree}
_trials: WeakKeyDictionary = WeakKeyDictionary()

Tokens = Sequence[int]


class _Tree(NamedTuple):
    """The distinct prefixes of some texts in depth-first order, and what is predicted after each.

    Parameters
    ----------
    tokens, depth, end : (nodes,) token, position, first node that is not a descendant. A text's last token has no node.
    after, targets : (edges,) node and the token predicted there; `after` ascends.
    paths : per text its edges, first to last.
    """

    tokens: np.ndarray
    depth: np.ndarray
    end: np.ndarray
    after: np.ndarray
    targets: np.ndarray
    paths: list[np.ndarray]


def _packs(
    lm: LanguageModel, ids: Sequence[Tokens], budget: int, always: bool | None = None
) -> Iterator[list[list[int]]]:
    """The texts worth sharing, as forward passes: lists of rows, each the texts of one tree.

    Parameters
    ----------
    ids : per text its tokens, the context token included.
    budget : tokens per forward pass.
    always : True packs whatever fits, None (default) where it pays, False nothing.
    """
    if always is False or not len(ids):
        return
    longest = min(LONGEST_TEXT, budget // 2, lm.max_tokens)
    fit = sorted((one, i) for i, one in enumerate(ids) if 2 <= len(one) <= longest)
    common = np.array([0, *(_common(a, b) for (a, _), (b, _) in pairwise(fit)), 0])
    most = np.maximum(common[:-1], common[1:])[: len(fit)]
    part = 0.0 if always else SHARED
    chosen = [one for one, n in zip(fit, most, strict=True) if n >= max(1, part * len(one[0]))]
    if not chosen:
        return
    length = max(len(text) for text, _ in chosen)
    width = min(max(TOKENS_PER_ROW, 2 * length), budget, 2 * LONGEST_TEXT)
    if not _shares(lm, length, width):
        return
    pack: list[list[int]] = []
    for row in _rows(chosen, width):
        if pack and (len(pack) + 1) * width > budget:
            yield pack
            pack = []
        pack.append(row)
    yield pack


def _shares(lm: LanguageModel, length: int, width: int) -> bool:
    """Whether texts of `length` tokens in trees of `width` get the scores that they get alone.

    Tried once on a tree of random tokens; the length is rounded up to a power of two.
    """
    length = max(2, min(1 << (length - 1).bit_length(), lm.max_tokens, width // 2))
    known = _trials.setdefault(lm.model, {})
    if (length, width) not in known:
        texts = _trial(lm, length, width)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = np.concatenate(_forward(lm, [texts, texts[:1]]))
            alone = np.concatenate([_forward(lm, [[text]])[0] for text in [*texts, texts[0]]])
            known[length, width] = np.allclose(tree, alone, rtol=AGREE, atol=AGREE)
        except (AnhelpersError, ValueError, TypeError, RuntimeError, IndexError):
            known[length, width] = False
    return known[length, width]


def _forward(lm: LanguageModel, rows: Sequence[Sequence[Tokens]]) -> list[np.ndarray]:
    """Log-probability of every token after the first, for the texts of all trees."""
    torch = need("torch", "language-model scoring")
    trees = [_tree(row) for row in rows]
    width = max(len(t.tokens) for t in trees)
    tokens, depth, end = (np.zeros((len(trees), width), np.int64) for _ in range(3))
    # padding attends to itself only: no empty softmax
    end[:] = np.arange(1, width + 1)
    for r, t in enumerate(trees):
        n = len(t.tokens)
        tokens[r, :n], depth[r, :n], end[r, :n] = t.tokens, t.depth, t.end
    real = torch.arange(width)[None] < torch.tensor([len(t.tokens) for t in trees])[:, None]
    x, positions, end = (torch.from_numpy(a).to(lm.device) for a in (tokens, depth, end))
    starts = np.cumsum([0, *(len(t.tokens) for t in trees)])
    after = np.concatenate([t.after + start for t, start in zip(trees, starts, strict=False)])
    targets = torch.from_numpy(np.concatenate([t.targets for t in trees]))
    given: dict[str, Any] = {}
    if any(len(row) > 1 for row in rows):  # a single text is its own tree
        mask = _ancestors(end, lm.model.dtype)
        given = {"attention_mask": mask, "position_ids": positions}
    flat = lm.log_probs(x, real, targets, after, **given)
    edges = np.split(flat, np.cumsum([len(t.after) for t in trees])[:-1])
    return [of_row[path] for of_row, t in zip(edges, trees, strict=True) for path in t.paths]


def _common(a: Tokens, b: Tokens) -> int:
    """The number of first tokens that are the same."""
    for n, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return n
    return min(len(a), len(b))


def _rows(chosen: list[tuple[Tokens, int]], width: int) -> Iterator[list[int]]:
    """Sorted texts in trees of at most `width` tokens."""
    row: list[int] = []
    before: Tokens = ()
    size = 0
    for text, i in chosen:
        new = len(text) - _common(before, text)
        if row and size + new > width:
            yield row
            row, size, new = [], 0, len(text)
        row.append(i)
        size, before = size + new, text
    yield row


def _tree(texts: Sequence[Tokens]) -> _Tree:
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
        new = len(text) - 1 - keep
        nodes[keep:] = range(len(tokens), len(tokens) + new)
        tokens += text[keep:-1]
        depth += range(keep, keep + new)
        end += [0] * new
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
    columns = (tokens, depth, end, np.array(after)[order], np.array(targets)[order])
    arrays = [np.array(column, np.int64) for column in columns]
    paths = [place[path] for path in paths]
    return _Tree(arrays[0], arrays[1], arrays[2], arrays[3], arrays[4], paths)


def _ancestors(end: Any, dtype: Any) -> Any:
    """(rows, 1, n, n) added to attention scores: 0 for the query's ancestors and itself."""
    torch = need("torch", "language-model scoring")
    node = torch.arange(end.shape[1], device=end.device)
    sees = (node[None, None, :] <= node[None, :, None]) & (node[None, :, None] < end[:, None, :])
    mask = torch.zeros(sees.shape, dtype=dtype, device=end.device)
    return mask.masked_fill_(~sees, torch.finfo(dtype).min)[:, None]


def _trial(lm: LanguageModel, length: int, width: int) -> list[list[int]]:
    """Sorted texts of random tokens in a tree of `width`: one of `length`, others that branch off."""
    size = lm.model.get_input_embeddings().weight.shape[0]
    left_out = {*lm.never, *lm.tokenizer.all_special_ids}
    some = np.array([i for i in range(size) if i not in left_out])
    rng = np.random.default_rng(length)
    start = [] if lm.context_token is None else [lm.context_token]
    texts, room = [[*start, *rng.choice(some, length - len(start)).tolist()]], width - length + 1
    while room > 0:  # a branch after `at` tokens adds n nodes
        at = int(rng.integers(1, length))
        n = min(room, int(rng.integers(1, length - at + 1)))
        texts.append(texts[0][:at] + rng.choice(some, n + 1).tolist())
        room -= n
    return sorted(texts)
