# The public names of this room and their modules; read by editors, mypy and `__init__.py`.

from . import critic as critic
from . import ngrams as ngrams
from .compression import compressed_bits as compressed_bits
from .compression import compressed_bits_each as compressed_bits_each
from .compression import zip_metric as zip_metric
from .compression import zip_score as zip_score
from .critic import auc as auc
from .critic import critic_metric as critic_metric
from .critic import critic_tokens as critic_tokens
from .critic import explain as explain
from .critic import load_critic as load_critic
from .critic import reliability as reliability
from .critic import score_critic as score_critic
from .critic import t_index as t_index
from .critic import tv_lower_bound as tv_lower_bound
from .lm import lm_tokens as lm_tokens
from .lm import load_lm as load_lm
from .lm import lpp_metric as lpp_metric
from .lm import score_texts as score_texts
from .lpp import Mono as Mono
from .lpp import lpp_distance as lpp_distance
from .native import load_heads as load_heads
from .ngrams import ngram_features as ngram_features
from .ngrams import text_mmd as text_mmd
