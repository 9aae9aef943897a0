"""The COMET family: CometModel checkpoints of unbabel-comet, each distinct text encoded once."""

from .load import Comet as Comet
from .load import load_comet as load_comet
from .score import comet_metric as comet_metric
from .score import comet_scores as comet_scores
from .score import named as named
