# Public names of this room and their modules; read by editors, mypy and `__init__.py`.

from .load import TranslationModel as TranslationModel
from .load import load_mt as load_mt
from .load import translation_model as translation_model
from .score import PairLogProbs as PairLogProbs
from .score import score_pairs as score_pairs
from .score import target_tokens as target_tokens
