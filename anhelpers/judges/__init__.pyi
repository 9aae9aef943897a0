# Public names of this room and their modules; read by editors, mypy and `__init__.py`.

from .figures import minimal_pair_table as minimal_pair_table
from .figures import prefers_original as prefers_original
from .figures import rank_agreement as rank_agreement
from .figures import shuffled_words as shuffled_words
from .figures import win_share as win_share
from .figures import within_sources as within_sources
from .gates import GATES as GATES
from .gates import Gate as Gate
from .gates import gate_table as gate_table
from .page import gate_page as gate_page
from .page import judge_page as judge_page
from .table import TAG_PAIRS as TAG_PAIRS
from .table import judge_table as judge_table
from .texts import DEFAULT as DEFAULT
from .texts import JudgedTexts as JudgedTexts
from .texts import judge_texts as judge_texts
from .texts import load_judges as load_judges
from .texts import load_texts as load_texts
