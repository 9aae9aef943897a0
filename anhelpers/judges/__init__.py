"""Do judges of naturalness agree with readers and with each other, and does the ranking of systems survive another one?

A judge is any metric that scores the naturalness of a text. `texts` puts a data set before some of them, `figures` has
each number with its interval, `table` all of them as tidy rows, `gates` what is wanted of the bundled judges, and
`page` writes it in Markdown.
"""

from .figures import (
    minimal_pair_table,
    prefers_original,
    rank_agreement,
    shuffled_words,
    win_share,
    within_sources,
)
from .gates import GATES, Gate, gate_table
from .page import gate_page, judge_page
from .table import TAG_PAIRS, judge_table
from .texts import DEFAULT, JudgedTexts, judge_texts, load_judges, load_texts

__all__ = [
    "DEFAULT",
    "GATES",
    "TAG_PAIRS",
    "Gate",
    "JudgedTexts",
    "gate_page",
    "gate_table",
    "judge_page",
    "judge_table",
    "judge_texts",
    "load_judges",
    "load_texts",
    "minimal_pair_table",
    "prefers_original",
    "rank_agreement",
    "shuffled_words",
    "win_share",
    "within_sources",
]
