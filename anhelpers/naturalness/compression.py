"""Compressed length, as a substitute for a system's own probabilities (AN eq. 15) and as a metric in its own right."""

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

from ..metrics import Asked, Metric
from .lm import LanguageModel, lpp_metric, score_texts

COMPRESSION = "compression"


def _zlib(data: bytes) -> bytes:
    """Deflate without zlib's header and checksum."""
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits=-15, memLevel=9)
    return packer.compress(data) + packer.flush()


def _lzma(data: bytes) -> bytes:
    """LZMA1 alone, for single bytes (pb = 0); a dictionary larger than the text finds nothing more."""
    settings = {"preset": 9 | lzma.PRESET_EXTREME, "dict_size": max(4096, len(data)), "pb": 0}
    chain = [{"id": lzma.FILTER_LZMA1, **settings}]
    return lzma.compress(data, lzma.FORMAT_RAW, filters=chain)


def _zstd(data: bytes) -> bytes:
    """Without magic number, content size and checksum."""
    bare: dict = dict.fromkeys(("write_content_size", "write_checksum", "write_dict_id"), False)
    bare |= {"source_size": max(1, len(data)), "format": zstandard.FORMAT_ZSTD1_MAGICLESS}
    settings = zstandard.ZstdCompressionParameters.from_level(22, **bare)
    return zstandard.ZstdCompressor(compression_params=settings).compress(data)


# Each at its highest level, with as little overhead as its library allows.
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "zlib": _zlib,
    "bz2": lambda data: bz2.compress(data, 9),
    "lzma": _lzma,
    "zstd": _zstd,
}


def _signature() -> str:
    """The compressors with their settings and versions."""
    python, zstd = platform.python_version(), ".".join(map(str, zstandard.ZSTD_VERSION))
    return (
        "bits:min(zlib-9-raw,bz2-9,lzma1-9e-pb0-raw,zstd-22-magicless)-empty"
        f"|zlib:{zlib.ZLIB_RUNTIME_VERSION}|bz2:python{python}|lzma:python{python}"
        f"|zstd:{zstd}|zstandard:{zstandard.__version__}"
    )


@cache
def _empty(name: str) -> int:
    """Bytes of the compressed empty text."""
    return len(COMPRESSORS[name](b""))


def compressed_bits_each(text: str | bytes) -> dict[str, int]:
    """Compressor -> bits of the text, minus the bits of the empty text, at least 0.

    >>> compressed_bits_each("ab")["zlib"]
    16
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    return {name: 8 * max(0, len(pack(data)) - _empty(name)) for name, pack in COMPRESSORS.items()}


def compressed_bits(text: str | bytes) -> int:
    """Bits that the best of zlib, bz2, lzma and zstd needs for a text, each at its highest level.

    The length of the compressed empty text is subtracted, since the container would be a large part of a sentence's
    length. The result is therefore shorter than a decodable code, by this overhead and 2 bits for the compressor.

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
    """Nats that a language model needs beyond a compressor: -log f(y) - ℓ(y)·ln 2.

    Parameters
    ----------
    neg_log_f : (...) -log f(y) in NATS, >= 0; nan stays nan.
    bits : (...) ℓ(y) in BITS, from `compressed_bits`.

    Returns
    -------
    (...) float64 in nats; may be negative.

    References
    ----------
    Flamich et al. 2025, eq. 15, where both terms are written without their units.

    >>> float(zip_score(10 * np.log(2), 8).round(4)) == round(2 * np.log(2), 4)
    True
    """
    return np.asarray(neg_log_f, dtype=np.float64) - np.asarray(bits, dtype=np.float64) * np.log(2)


def _bits_per_character(text: str) -> float:
    """`compressed_bits` per character of a text in NFC; nan for a blank text.

    Fewer bits mean more repetition. The number falls with the length of the text and depends on the script, so compare
    texts of the same sources in the same language only. Foreign words, misspellings and noise also need many bits:
    natural is what is near human text, D = |bits of Q - bits of R| (the form of AN eq. 2).

    References
    ----------
    Flamich et al. 2025, eq. 15 and footnote 7.

    >>> _bits_per_character("ab"), _bits_per_character("abcd" * 100)
    (8.0, 0.16)
    """
    text = unicodedata.normalize("NFC", text)
    return compressed_bits(text) / len(text) if text.strip() else float("nan")


def _compression_metric() -> Metric:
    """Bits per character as a metric of any language: higher is less repetitive.

    The corpus score compresses all outputs of a system joined by line breaks, without blank ones. A segment score
    mostly measures length: for WMT24's outputs its rank correlation with the number of characters is -0.9.
    """

    def score_segments(hyps: Sequence[str], **others: Any) -> np.ndarray:
        bits = {text: _bits_per_character(text) for text in dict.fromkeys(hyps)}
        return np.array([bits[text] for text in hyps], dtype=np.float64)

    def score_corpus(hyps: Sequence[str], refs: Any = None, srcs: Any = None) -> float:
        return _bits_per_character("\n".join(text for text in hyps if text.strip()))

    facts = COMPRESSION, "compressed size", "bits per character", True, (), "compression|chars:nfc"
    return _metric(facts, score_segments, score_corpus, praise="less repetitive")


def _metric(facts: tuple, score_segments: Callable, score_corpus: Callable, **how: Any) -> Metric:
    """A metric that compresses each text, or all joined; the last of the facts begins its signature."""
    each, joined = (f"{facts[-1]}|{_signature()}|texts:{of}" for of in ("each", "joined"))
    given: Any = (*facts[:-1], each, score_segments, score_corpus, joined)
    return Metric(*given, **{"skips_blank": True, **how})


def zip_metric(lm: LanguageModel, trg_lang: str | None = None) -> Metric:
    """D_zip: nats that a language model needs beyond a compressor, an estimate of KL(Q || P_LM).

    The segment score is that of one output. The corpus score compresses all outputs of a system joined by line breaks,
    [Σ -log f(y) - ln 2 · ℓ(y_1 ⏎ … ⏎ y_N)] / N. Both are in nats per segment, lower is more natural, nan for a blank
    output. A compressor's code is longer than -log q, so both are below KL, for single sentences far below 0: use the
    order of systems at the corpus level, on the same segments. Foreign words and noise, which compress badly, look
    natural, and the mean over segments falls with their length.

    Parameters
    ----------
    trg_lang : str or None
        Language of the texts; a DataError if the model is for a different one only. The end of a text is scored if
        the model has such a token.

    References
    ----------
    Flamich et al. 2025, eqs. 10 and 15.
    """
    eos = lm.ends
    lpp = lpp_metric(lm, eos, trg_lang)

    def score_segments(hyps: Sequence[str], **others: Any) -> np.ndarray:
        bits = {text: compressed_bits(text) for text in dict.fromkeys(hyps)}
        return zip_score(-score_texts(lm, hyps, eos).total, [bits[text] for text in hyps])

    def score_corpus(hyps: Sequence[str], refs: Any = None, srcs: Any = None) -> float:
        nats = -score_texts(lm, hyps, eos).total
        texts = [text for text, n in zip(hyps, nats, strict=True) if not np.isnan(n)]
        bits = compressed_bits("\n".join(texts))
        return float(zip_score(np.nansum(nats), bits)) / len(texts) if texts else float("nan")

    model = f"zip|{lpp.signature.removeprefix('lpp|')}"
    facts = "zip", f"zip score under {lm.name}", "nats per segment", False, (), model
    return _metric(facts, score_segments, score_corpus, lang=lm.language)


def _named_compression(asked: Asked) -> Metric:
    """The maker of `_compression_metric` in the table of metrics."""
    return _compression_metric()


def _named_zip(asked: Asked) -> Metric:
    """The maker of `zip_metric` in the table of metrics."""
    return zip_metric(asked.lm, asked.lang)
