"""The COMET family: CometModel checkpoints of unbabel-comet, each distinct text encoded once."""

from .load import Comet, load_comet
from .score import comet_metric, comet_scores, named

__all__ = ["Comet", "comet_metric", "comet_scores", "load_comet", "named"]
