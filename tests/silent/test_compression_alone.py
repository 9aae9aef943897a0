"""A measure of naturalness for languages without a model: bits per character, whatever the language."""

import io
import os
import unicodedata
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anhelpers import cli, progress
from anhelpers.errors import DataError
from anhelpers.naturalness.compression import (
    bits_per_character,
    compressed_bits,
    compression_metric,
)
from anhelpers.scoring.lookup import naturalness_metric

VARIED = "Der Hund bellt.\nEine Katze schläft auf dem Dach.\nMorgen fahren wir ans Meer.\nWo liegt mein Schlüssel?"
REPETITIVE = "\n".join(["Der Hund bellt laut und lange."] * 4)


@pytest.mark.verifies("Compressed bits per character", by="hand")
def test_bits_per_character_by_hand():
    # a byte for a letter, the compressor's own overhead taken off
    assert bits_per_character("a") == 8
    assert bits_per_character("ä") == 16  # UTF-8
    assert bits_per_character("abcd" * 100) == 64 / 400
    assert np.isnan(bits_per_character(" \n"))


@pytest.mark.verifies("Compressed bits per character", by="property")
@pytest.mark.verifies("Compressed bits per character", by="foreign", of="zlib")
@given(st.text(min_size=1, max_size=200).filter(lambda text: text.strip()))
def test_bits_per_character_are_those_of_the_length(text):
    composed = unicodedata.normalize("NFC", text)
    bits = bits_per_character(text) * len(composed)
    assert bits == pytest.approx(compressed_bits(composed))
    # no worse than zlib without its container
    assert bits <= 8 * (len(zlib.compress(composed.encode(), 9)) - 6)
    assert bits_per_character(unicodedata.normalize("NFD", text)) == bits_per_character(composed)


def test_lower_is_more_repetitive_and_the_direction_claims_no_more():
    metric = compression_metric()
    assert metric.score_corpus(REPETITIVE.split("\n")) < 0.6 * metric.score_corpus(
        VARIED.split("\n")
    )
    assert metric.scale == "bits per character (higher is less repetitive)"
    assert "natural" not in metric.oriented_title


def test_blank_outputs_have_no_part_in_it():
    metric, texts = compression_metric(), VARIED.split("\n")
    assert (
        metric.score_corpus([texts[0], "", *texts[1:], "  "])
        == metric.score_corpus(texts)
        == bits_per_character(VARIED)
    )
    assert np.isnan(metric.score_segments(["", "Der Hund bellt."])).tolist() == [True, False]
    assert np.isnan(metric.score_corpus(["", " "]))


def test_the_signature_names_the_libraries_whose_versions_decide():
    metric = compression_metric()
    for signature in (metric.signature, metric.corpus_signature):
        assert signature.startswith("compression|chars:nfc|bits:min(zlib-9-raw,")
        assert f"|zlib:{zlib.ZLIB_RUNTIME_VERSION}|" in signature
        assert "|lzma:python" in signature
        assert "|zstd:" in signature
    assert metric.signature.endswith("|texts:each")
    assert metric.corpus_signature.endswith("|texts:joined")


@pytest.mark.parametrize("trg_lang", ["es", "th", "zh", "und"])
def test_no_language_needs_a_model_for_it(trg_lang):
    assert naturalness_metric("compression", trg_lang).score_corpus(["สวัสดี", "你好"]) > 0
    with pytest.raises(DataError, match=r"zip needs a language model.*compression needs none"):
        naturalness_metric("zip", trg_lang)


@pytest.fixture
def texts(tmp_path):
    """The options of a small test set from English into Thai, which has neither a model nor spaces between words."""
    thai = ["สวัสดีครับ", "วันนี้อากาศดีมาก", "แมวนอนอยู่บนหลังคา", "พรุ่งนี้เราจะไปทะเล"]
    files = {
        "src": [f"Sentence {i}." for i in range(4)],
        "ref": thai,
        "varied": [f"{line} จริงๆ" for line in thai],
        "same": [thai[0]] * 3 + [""],
    }
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", "utf-8")
    return [
        "-s",
        str(tmp_path / "src"),
        "-r",
        str(tmp_path / "ref"),
        "-l",
        "en-th",
        "-t",
        f"varied={tmp_path / 'varied'}",
        f"same={tmp_path / 'same'}",
    ]


def test_score_takes_it_without_a_model(texts, capsys):
    assert cli.main(["score", *texts, "-m", "compression"]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out)).set_index("system")
    assert table.level.unique().tolist() == ["corpus"]
    assert table.unit.unique().tolist() == ["bits per character (higher is less repetitive)"]
    assert table.n.to_dict() == {"varied": 4, "same": 3}
    assert table.value["same"] < table.value["varied"]


def test_single_segments_come_with_what_they_say(texts, capsys):
    progress.note_once.cache_clear()
    assert cli.main(["score", *texts, "-m", "compression", "--segments"]) == 0
    out, err = capsys.readouterr()
    assert "note: compression of single segments mostly says how short they are" in err
    assert pd.read_csv(io.StringIO(out)).value.isna().sum() == 1


@pytest.mark.parametrize("more", [[], ["--own-segments"]])
def test_the_plane_compares_it_with_the_human_text(texts, tmp_path, capsys, more):
    out = tmp_path / "plane"
    call = ["plane", *texts, "--naturalness", "compression", "--draws", "9", "-o", str(out)]
    assert cli.main([*call, *more]) == 0
    err = capsys.readouterr().err
    # the last one is blank in a system
    human = (tmp_path / "ref").read_text("utf-8").splitlines()[:3]
    bits = bits_per_character("\n".join(human))
    assert (
        f"note: natural is what comes near the {bits:.4g} (ref, 3 segments) bits per character of human text"
        in err
    )
    assert "single segments" not in err
    table = pd.read_csv(out / "systems.csv").set_index("system")
    assert table.naturalness["same"] < table.naturalness["varied"]
    assert "less repetitive" in (out / "caption.tex").read_text("utf-8")


@pytest.mark.parametrize("more", [[], ["--own-segments"]])
@pytest.mark.parametrize("measure", ["compression", "ttr"])
def test_without_a_reference_a_segment_counts_on_neither_axis(measure, texts, tmp_path, more):
    ref, out = tmp_path / "ref", tmp_path / "plane"
    lines = ref.read_text("utf-8").splitlines()
    ref.write_text("\n".join(["", *lines[1:]]) + "\n", "utf-8")
    pair = ["-l", "en-de"]  # whose words have spaces between them
    assert (
        cli.main(
            [
                "plane",
                *texts,
                *pair,
                "--naturalness",
                measure,
                "--draws",
                "9",
                "-o",
                str(out),
                *more,
            ]
        )
        == 0
    )
    table = pd.read_csv(out / "systems.csv").set_index("system")
    metric = naturalness_metric(measure, "de")
    for name in ("varied", "same"):
        # the first lacks a reference, "same" the last
        kept = (tmp_path / name).read_text("utf-8").splitlines()[1:3]
        assert table.naturalness[name] == metric.oriented(metric.score_corpus(kept))
        assert table.n[name] == 2


def test_the_help_names_it(capsys):
    for command in ("score", "plane"):
        with pytest.raises(SystemExit):
            cli.main([command, "--help"])
        assert "compression" in " ".join(capsys.readouterr().out.split())


@pytest.mark.real
@pytest.mark.skipif(
    "ANHELPERS_DATA" not in os.environ, reason="set ANHELPERS_DATA to the shared data sets"
)
def test_czech_by_people_repeats_itself_less_than_by_machines():
    """WMT24 en-cs: 3.19 bits per character of the reference, 3.13 and 3.05 of two systems."""
    root, metric = Path(os.environ["ANHELPERS_DATA"]) / "wmt24" / "txt", compression_metric()
    files = [
        "references/en-cs.refA.txt",
        "system-outputs/en-cs/Aya23.txt",
        "system-outputs/en-cs/Phi-3-Medium.txt",
    ]
    found = [
        metric.score_corpus((root / file).read_text("utf-8").split("\n")[1:]) for file in files
    ]
    assert found == sorted(found, reverse=True)
    assert found == pytest.approx([3.19, 3.13, 3.05], abs=0.01)
