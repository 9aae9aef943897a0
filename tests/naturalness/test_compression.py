"""Bits against the decompressors, and D_zip against its definition and a source whose divergence is known."""

import bz2
import lzma
import zlib

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from anhelpers.naturalness.compression import (
    COMPRESSORS,
    compressed_bits,
    compressed_bits_each,
    zip_metric,
    zip_score,
)


def inverse(name, packed):
    if name == "zlib":
        return zlib.decompress(packed, wbits=-15)
    if name == "bz2":
        return bz2.decompress(packed)
    if name == "lzma":
        chain = [
            {
                "id": lzma.FILTER_LZMA1,
                "preset": 9 | lzma.PRESET_EXTREME,
                "dict_size": 2**20,
                "pb": 0,
            }
        ]
        return lzma.decompress(packed, lzma.FORMAT_RAW, filters=chain)
    return (
        zstandard.ZstdDecompressor(format=zstandard.FORMAT_ZSTD1_MAGICLESS)
        .decompressobj()
        .decompress(packed)
    )


@pytest.mark.verifies("Compressed length", by="property")
@pytest.mark.verifies(
    "Compressed length", by="foreign", of="the decompressors of zlib, bz2, lzma, zstandard"
)
@given(st.text(max_size=300), st.integers(1, 30))
def test_every_stream_holds_the_whole_text_and_the_least_is_taken(text, times):
    data = (text * times).encode()
    each = compressed_bits_each(data)
    for name, pack in COMPRESSORS.items():
        packed = pack(data)
        assert inverse(name, packed) == data
        assert each[name] == 8 * max(0, len(packed) - len(pack(b"")))
    assert compressed_bits(text * times) == min(each.values())


@pytest.mark.verifies("Compressed length", by="hand")
def test_the_empty_text_costs_nothing_and_a_letter_one_byte():
    assert compressed_bits_each("") == dict.fromkeys(COMPRESSORS, 0)
    assert compressed_bits("") == 0
    assert compressed_bits("a") == 8
    assert compressed_bits("ä") == 16


@pytest.mark.verifies("D_zip", by="hand")
def test_bits_and_nats_meet_in_nats_and_a_negative_score_stays():
    np.testing.assert_allclose(
        zip_score([3 * np.log(2), 0.0, np.nan], [1, 8, 8]), [2 * np.log(2), -8 * np.log(2), np.nan]
    )


def d_zip(q, p, n):
    """D_zip per letter of a system q and a language model p, over n letters in one text."""
    letters = np.random.default_rng(3).choice(len(q), n, p=q)
    text = letters.astype(np.uint8).tobytes()
    return float(zip_score(-np.log(p)[letters].sum(), compressed_bits(text))) / n


@pytest.mark.verifies("D_zip", by="property")
@pytest.mark.verifies("D_zip", by="foreign", of="scipy's relative entropy")
def test_d_zip_is_the_divergence_where_a_compressor_reaches_the_entropy():
    """Probabilities that are powers of 2, for which Huffman's code is optimal: 8 letters of 4 bits, 128 of 8 bits."""
    q, p = np.r_[np.full(8, 1 / 16), np.full(128, 1 / 256)], np.full(136, 1 / 136)
    kl, n = float(entropy(q, p)), 50_000
    # the sample has a standard error of 0.006
    assert d_zip(q, p, n) == pytest.approx(kl, abs=0.008)
    assert -0.01 < d_zip(q, q, n) < 0  # here it cancels: zstd needs 6.012 bits where 6 are due


TEXTS = ["Das Haus ist alt.", "", "Der Hund bellt nicht.", "Das Haus ist alt.", " "]


@pytest.fixture(scope="module")
def lm(tiny_lm):
    from anhelpers.naturalness.lm import load_lm

    return load_lm(tiny_lm)


@pytest.mark.verifies("D_zip", by="property")
@pytest.mark.neural
def test_the_metric_is_its_definition_on_segments_and_on_the_corpus(lm):
    from anhelpers.naturalness.lm import score_texts

    metric = zip_metric(lm, "de")
    nats = -score_texts(lm, TEXTS, eos=True).total
    bits = [compressed_bits(text) for text in TEXTS]
    wanted = [
        n - b * np.log(2) if text.strip() else np.nan
        for n, b, text in zip(nats, bits, TEXTS, strict=True)
    ]
    np.testing.assert_allclose(metric.score_segments(TEXTS), wanted, rtol=1e-12)
    joined = compressed_bits("Das Haus ist alt.\nDer Hund bellt nicht.\nDas Haus ist alt.")
    assert metric.score_corpus(TEXTS) == pytest.approx(
        (np.nansum(nats) - joined * np.log(2)) / 3, rel=1e-12
    )
    assert np.isnan(metric.score_corpus(["", " "]))
    assert (metric.unit, metric.higher_is_better) == ("nats per segment", False)
    assert metric.signature.startswith(f"zip|model:{lm.name}|rev:{lm.revision}|")
    assert "|eos:yes|" in metric.signature
    assert f"|zstandard:{zstandard.__version__}|texts:each" in metric.signature
    assert metric.corpus_signature.endswith("|texts:joined")
