"""Translation models as probabilities: log q_MT(t | s) of given translations under encoder-decoders of transformers."""

from .load import TranslationModel, load_mt, translation_model
from .score import PairLogProbs, score_pairs, target_tokens

__all__ = [
    "PairLogProbs",
    "TranslationModel",
    "load_mt",
    "score_pairs",
    "target_tokens",
    "translation_model",
]
