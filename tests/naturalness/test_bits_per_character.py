import unicodedata
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers.naturalness.compression import _bits_per_character, compressed_bits


@pytest.mark.verifies("Compressed bits per character", by="hand")
def test_bits_per_character_by_hand():
    # a byte for a letter, the compressor's own overhead taken off
    assert _bits_per_character("a") == 8
    assert _bits_per_character("ä") == 16  # UTF-8
    assert _bits_per_character("abcd" * 100) == 64 / 400
    assert np.isnan(_bits_per_character(" \n"))


@pytest.mark.verifies("Compressed bits per character", by="property")
@pytest.mark.verifies("Compressed bits per character", by="foreign", of="zlib")
@given(st.text(min_size=1, max_size=200).filter(lambda text: text.strip()))
def test_bits_per_character_are_those_of_the_length(text):
    composed = unicodedata.normalize("NFC", text)
    bits = _bits_per_character(text) * len(composed)
    assert bits == pytest.approx(compressed_bits(composed))
    # no worse than zlib without its container
    assert bits <= 8 * (len(zlib.compress(composed.encode(), 9)) - 6)
    assert _bits_per_character(unicodedata.normalize("NFD", text)) == _bits_per_character(composed)
