"""Which lines a model was trained on: every one is known again, few others are, and chance is told from having read."""

import numpy as np
import pytest

from anhelpers.naturalness.prints import (
    lengthened_prints,
    line_fingerprints,
    lines_by_chance,
    seen_beyond_chance,
    shared_lines,
    shortened_prints,
    training_lines,
    write_training_lines,
)


def test_shared_lines_are_found_whatever_their_spacing_in_texts_and_in_fingerprints():
    for others in (["a b", " d "], line_fingerprints(["a   b", "d"])):
        assert shared_lines(["a  b", "c", "d"], others) == ["a  b", "d"]
    assert shared_lines(["c"], []) == []


def test_shortened_fingerprints_know_every_line_and_few_others():
    lines, others = [f"line {k}" for k in range(5000)], [f"other {k}" for k in range(5000)]
    gaps, bits = shortened_prints(line_fingerprints(lines))
    assert (gaps.dtype, len(gaps)) == (np.uint8, 2)
    known = lengthened_prints(gaps, bits)
    before = gaps[0] + 256 * gaps[1].astype(np.uint16)  # how older files have them
    assert lengthened_prints(before, bits).tolist() == known.tolist()
    assert shared_lines(lines, known) == lines
    assert lines_by_chance(5000, known) == pytest.approx(5000 * 5000 / 2**23, rel=0.01)
    assert len(shared_lines(others, known)) < 15
    assert lines_by_chance(5000, line_fingerprints(lines)) < 1e-8


def test_chance_hits_of_shortened_prints_are_not_taken_for_lines_that_were_read():
    lines, others = [f"line {k}" for k in range(5000)], [f"other {k}" for k in range(20_000)]
    known = lengthened_prints(*shortened_prints(line_fingerprints(lines)))
    assert len(shared_lines(others, known)) > 3
    assert seen_beyond_chance(others, known) == []
    assert set(lines[:50]) <= set(seen_beyond_chance([*lines[:50], *others], known))
    assert seen_beyond_chance(lines, None) == []


def test_written_lines_are_read_again(tmp_path):
    assert training_lines(tmp_path) is None
    write_training_lines(tmp_path, line_fingerprints(["a b", "c"]))
    assert shared_lines(["a  b", "x", "c"], training_lines(tmp_path)) == ["a  b", "c"]
