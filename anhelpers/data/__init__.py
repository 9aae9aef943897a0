"""Test sets, candidate translations and monolingual texts: one schema for each, one reader for each format.

`load("teaching")` gives a TestSet, `load_candidates("teaching")` its CandidateSet, `load_mono("teaching")` German
written by people. Everything else is read by the `read_` function of its format.
"""

from .candidates import from_systems, read_candidate_file, read_candidates, sample_candidates, write_candidates
from .catalog import available, bundled, load, load_candidates, load_mono, shared_data
from .languages import split_pair
from .lines import read_lines, write_text
from .mme import read_mme, read_mme_scores
from .plain import read_plain
from .schema import CandidateSet, TestSet
from .wmt import language_pairs, read_wmt

__all__ = [
    "CandidateSet", "TestSet", "available", "bundled", "from_systems", "language_pairs", "load", "load_candidates",
    "load_mono", "read_candidate_file", "read_candidates", "read_lines", "read_mme", "read_mme_scores", "read_plain",
    "read_wmt", "sample_candidates", "shared_data", "split_pair", "write_candidates", "write_text",
]  # fmt: skip
