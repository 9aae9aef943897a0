"""Naturalness by compressors: a code's length in place of a system's own probabilities (AN eq. 15), and by itself."""

from __future__ import annotations

import bz2
import lzma
import platform
import unicodedata
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import zstandard
from numpy.typing import ArrayLike

from ..data.schema import TestSet
from ..errors import DataError
from ..metrics import Asked, Metric
from ..progress import note, note_once
from .lm import LanguageModel, TextLogProbs, lpp_metric, score_texts

__all__ = [
    "COMPRESSION",
    "COMPRESSORS",
    "bits_per_character",
    "compressed_bits",
    "compressed_bits_each",
    "compression_metric",
    "compressor_signature",
    "human_compression",
    "named_compression",
    "named_zip",
    "zip_metric",
    "zip_score",
]

COMPRESSION = "compression"


def _zlib(data: bytes) -> bytes:
    """Deflate alone, without zlib's header and checksum."""
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits=-15, memLevel=9)
    return packer.compress(data) + packer.flush()


def _bz2(data: bytes) -> bytes:
    """Python offers no raw stream of bzip2; a block's own header of 9 bytes is part of its length."""
    return bz2.compress(data, 9)


def _lzma(data: bytes) -> bytes:
    """LZMA1 alone; for text of single bytes, so without LZMA's guess that data come in groups of 4 (pb = 0)."""
    size = max(4096, len(data))  # a larger dictionary than the text finds nothing more
    chain = [
        {"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": size, "pb": 0}
    ]
    return lzma.compress(data, lzma.FORMAT_RAW, filters=chain)


def _zstd(data: bytes) -> bytes:
    """Without magic number, content size and checksum."""
    settings = zstandard.ZstdCompressionParameters.from_level(
        22,
        source_size=max(1, len(data)),
        format=zstandard.FORMAT_ZSTD1_MAGICLESS,
        write_content_size=False,
        write_checksum=False,
        write_dict_id=False,
    )
    return zstandard.ZstdCompressor(compression_params=settings).compress(data)


COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "zlib": _zlib,
    "bz2": _bz2,
    "lzma": _lzma,
    "zstd": _zstd,
}
"""Each at its highest level, with as little around the data as its library allows."""


def compressor_signature() -> str:
    """Which compressors with which settings, and their versions, in sacreBLEU's key:value style."""
    python, zstd = platform.python_version(), ".".join(map(str, zstandard.ZSTD_VERSION))
    return (
        f"bits:min(zlib-9-raw,bz2-9,lzma1-9e-pb0-raw,zstd-22-magicless)-empty|zlib:{zlib.ZLIB_RUNTIME_VERSION}"
        f"|bz2:python{python}|lzma:python{python}|zstd:{zstd}|zstandard:{zstandard.__version__}"
    )


def compressed_bits_each(text: str | bytes) -> dict[str, int]:
    """Compressor -> bits of the text, less the bits that the same compressor needs for the empty text, at least 0.

    >>> compressed_bits_each("ab")["zlib"]
    16
    """
    data = text if isinstance(text, bytes) else _utf8(text)
    return {name: 8 * max(0, len(pack(data)) - _empty(name)) for name, pack in COMPRESSORS.items()}


def compressed_bits(text: str | bytes) -> int:
    """How many bits the best of four compressors needs for a text: zlib, bz2, lzma and zstd, each at its highest level.

    The length of the compressed empty text is subtracted first, compressor by compressor, because for a sentence the
    container would be a large part of it; a result below 0 would count as 0. What is left is no longer the length of a
    code that could be decoded: it is short by that overhead and by the 2 bits that say which compressor it was.

    Parameters
    ----------
    text : as UTF-8, or as bytes.

    Returns
    -------
    int, in BITS, a multiple of 8; 0 for the empty text.

    References
    ----------
    Flamich et al. 2025, eq. 15 and footnote 7; the minimum over compressors: Serrà et al. 2020, appendix C.

    >>> compressed_bits("ab"), compressed_bits("ab" * 1000) < 200
    (16, True)
    """
    return min(compressed_bits_each(text).values())


def zip_score(neg_log_f: ArrayLike, bits: ArrayLike) -> np.ndarray:
    """Nats that a language model needs for a text beyond what a compressor needs: -log f(y) - ℓ(y)·ln 2.

    Parameters
    ----------
    neg_log_f : (...) -log f(y) in NATS, >= 0; nan stays nan.
    bits : (...) ℓ(y) in BITS, from `compressed_bits`.

    Returns
    -------
    (...) float64 in nats, as it is: a negative one stays negative.

    References
    ----------
    Flamich et al. 2025, eq. 15, where both terms are written without their units.

    >>> float(zip_score(10 * np.log(2), 8).round(4)) == round(2 * np.log(2), 4)
    True
    """
    return np.asarray(neg_log_f, dtype=np.float64) - np.asarray(bits, dtype=np.float64) * np.log(2)


def bits_per_character(text: str) -> float:
    """How many bits the best of four compressors needs for each character of a text, in NFC; nan for a blank text.

    Fewer bits are more repetitive text: the same words, phrases and sentences again. The number falls with the length
    of the text, because a compressor learns while it reads, and depends on the script, so it compares texts of the
    same sources in the same language only. Foreign words, misspellings and noise take many bits too: more is not
    better by itself. What is natural is to be near text of the language, D = |bits of Q - bits of R| (AN eq. 2's form).

    References
    ----------
    The code length of Flamich et al. 2025, eq. 15 and footnote 7 (`compressed_bits`), over the characters.

    >>> bits_per_character("ab"), bits_per_character("abcd" * 100)
    (8.0, 0.16)
    """
    text = unicodedata.normalize("NFC", text)
    return compressed_bits(text) / len(text) if text.strip() else float("nan")


def compression_metric() -> Metric:
    """Bits per character as a metric of any language, without a model: higher is less repetitive, not more natural.

    Its corpus score compresses all outputs of a system together, joined by line breaks, blank ones left out. Its
    segment score is of one output, and mostly says how short that is: of WMT24's outputs it has a rank correlation of
    -0.9 with the number of characters. A repetitive vocabulary can only be seen in the whole.
    """

    def score_segments(
        hyps: Sequence[str], refs: Any = None, srcs: Any = None, segment: Any = None
    ) -> np.ndarray:
        note_once(
            "compression of single segments mostly says how short they are (a compressor learns "
            "nothing from so few characters); its measure is the corpus score."
        )
        bits = {text: bits_per_character(text) for text in dict.fromkeys(hyps)}
        return np.array([bits[text] for text in hyps], dtype=np.float64)

    def score_corpus(hyps: Sequence[str], refs: Any = None, srcs: Any = None) -> float:
        return bits_per_character("\n".join(text for text in hyps if text.strip()))

    parts = f"compression|chars:nfc|{compressor_signature()}"
    return Metric(
        COMPRESSION,
        "compressed size",
        "bits per character",
        True,
        (),
        f"{parts}|texts:each",
        score_segments,
        score_corpus,
        f"{parts}|texts:joined",
        skips_blank=True,
        praise="less repetitive",
    )


def human_compression(test: TestSet, rows: np.ndarray) -> str:
    """A sentence on what the references have, by which alone a system's compression can be called natural or not.

    Parameters
    ----------
    rows : (N,) bool, the segments over which the systems were measured: bits per character fall with the length of
        a text, so other segments would say nothing of these.
    """
    there = {
        name: [texts[i] for i in np.flatnonzero(rows) if texts[i]]
        for name, texts in test.refs.items()
    }
    told = " and ".join(
        f"{bits_per_character(chr(10).join(texts)):.4g} ({name}, {len(texts)} segments)"
        for name, texts in there.items()
        if texts
    )
    near = (
        f"natural is what comes near the {told} bits per character of human text, from above as "
        "well as from below"
        if told
        else "what is natural cannot be said without text by people (-r REF)"
    )
    return f"{near}: fewer bits say that a system repeats itself, more that it does so less."


def zip_metric(
    lm: LanguageModel, trg_lang: str | None = None, *, eos: bool | None = None
) -> Metric:
    """D_zip: what a language model pays for a system's outputs beyond a compressor; an estimate of KL(Q || P_LM).

    Its segment score is D_zip of one output. Its corpus score compresses all outputs of a system joined by line breaks,
    [Σ -log f(y) - ln 2 · ℓ(y_1 ⏎ … ⏎ y_N)] / N, so that later outputs profit from earlier ones. Both are in nats per
    segment, lower is more natural, blank outputs left out (nan).

    A compressor's code is longer than -log q by all that it has yet to learn of the language, so both levels lie below
    KL(Q || P_LM): for single sentences far below 0, for a corpus less so. Only the order of systems can be read from
    them, and that with care: outputs that compress badly for any reason (foreign words, noise) look natural, and the
    mean over segments falls with their length, so that it says little but how long a system's outputs are. Compare at
    the corpus level, on the same segments.

    Parameters
    ----------
    lm : the model whose f(y) is the probability of the whole text.
    trg_lang : language of the texts: a DataError where the model is known to know another one only.
    eos : whether the end of the text is scored too, without which f is no distribution over texts; by default
        wherever the model has such a token.

    References
    ----------
    Flamich et al. 2025, eqs. 10 and 15.
    """
    eos = lm.ends if eos is None else eos
    lpp = lpp_metric(lm, eos, trg_lang)
    known: dict[str, tuple] = {}  # the corpus level needs what the segments have

    def neg_log_f(texts: Sequence[str]) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            fresh = score_texts(lm, new, eos)
            known.update(
                zip(new, zip(fresh.total, fresh.tokens, fresh.windowed, strict=True), strict=True)
            )
        columns = np.array([known[text] for text in texts], dtype=np.float64).reshape(-1, 3).T
        for sentence in TextLogProbs(columns[0], columns[1], columns[2]).notes if new else ():
            note(f"zip under {lm.name}: {sentence}")
        return -columns[0]

    def score_segments(
        hyps: Sequence[str], refs: Any = None, srcs: Any = None, segment: Any = None
    ) -> np.ndarray:
        bits = {text: compressed_bits(text) for text in dict.fromkeys(hyps)}
        return zip_score(neg_log_f(hyps), [bits[text] for text in hyps])

    def score_corpus(hyps: Sequence[str], refs: Any = None, srcs: Any = None) -> float:
        scored = [
            (text, nats)
            for text, nats in zip(hyps, neg_log_f(hyps), strict=True)
            if not np.isnan(nats)
        ]
        if not scored:
            return float("nan")
        texts, nats = zip(*scored, strict=True)
        return float(zip_score(np.sum(nats), compressed_bits("\n".join(texts))) / len(texts))

    parts = f"zip|{lpp.signature.removeprefix('lpp|')}|{compressor_signature()}"
    return Metric(
        "zip",
        f"zip score under {lm.name}",
        "nats per segment",
        False,
        (),
        f"{parts}|texts:each",
        score_segments,
        score_corpus,
        f"{parts}|texts:joined",
        skips_blank=True,
        lang=lm.language,
    )


def named_compression(asked: Asked) -> Metric:
    """`compression_metric` as the table of metrics asks for it: the same for all languages."""
    return compression_metric()


def named_zip(asked: Asked) -> Metric:
    """`zip_metric` as the table of metrics asks for it."""
    return zip_metric(asked.lm, asked.lang)


@cache
def _empty(name: str) -> int:
    """Bytes of the compressed empty text."""
    return len(COMPRESSORS[name](b""))


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        sign = f"U+{ord(text[error.start]):04X}"
        raise DataError(f"character {sign} cannot be compressed as UTF-8; remove it.") from None
