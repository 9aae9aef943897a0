"""Test sets, candidate translations and monolingual texts: one schema for each, one reader for each format.

`load("teaching")` gives a TestSet, `load_candidates("teaching")` its CandidateSet, `load_mono("teaching")` German
written by people. Everything else is read by the `read_` function of its format.
"""

from .averages import averages_beside, compare_averages
from .candidates import (
    from_systems,
    read_candidate_file,
    read_candidates,
    sample_candidates,
    with_outputs,
    write_candidates,
)
from .catalog import (
    available,
    bundled,
    find_file,
    load,
    load_candidates,
    load_mono,
    mono_for,
    ratings_file,
    shared_data,
    target_language,
    teaching_set,
    whereabouts,
)
from .languages import split_pair
from .lines import read_lines
from .mme import (
    StoredScores,
    is_mme,
    mme_scores,
    read_mme,
    read_mme_scores,
    scores_matrix,
    write_mme,
    write_mme_scores,
)
from .plain import add_systems, read_plain
from .ratings import Ratings, pool_ratings, read_ratings
from .schema import CandidateSet, TestSet
from .score_pairs import read_score_pair
from .sets import TEACHING
from .stored import read_system_scores
from .text_ratings import TextRatings, load_ratings, rated_name
from .wmt import TABLES, language_pairs, read_wmt, system_categories
from .writing import write_text

__all__ = [
    "TABLES",
    "TEACHING",
    "CandidateSet",
    "Ratings",
    "StoredScores",
    "TestSet",
    "TextRatings",
    "add_systems",
    "available",
    "averages_beside",
    "bundled",
    "compare_averages",
    "find_file",
    "from_systems",
    "is_mme",
    "language_pairs",
    "load",
    "load_candidates",
    "load_mono",
    "load_ratings",
    "mme_scores",
    "mono_for",
    "pool_ratings",
    "rated_name",
    "ratings_file",
    "read_candidate_file",
    "read_candidates",
    "read_lines",
    "read_mme",
    "read_mme_scores",
    "read_plain",
    "read_ratings",
    "read_score_pair",
    "read_system_scores",
    "read_wmt",
    "sample_candidates",
    "scores_matrix",
    "shared_data",
    "split_pair",
    "system_categories",
    "target_language",
    "teaching_set",
    "whereabouts",
    "with_outputs",
    "write_candidates",
    "write_mme",
    "write_mme_scores",
    "write_text",
]
