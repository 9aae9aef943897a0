# Public names of this room and their modules; read by editors, mypy and `__init__.py`.

from .critics import RaterCritics as RaterCritics
from .critics import rater_critics as rater_critics
from .critics import rating_human as rating_human
from .marks import MarkedTranslation as MarkedTranslation
from .marks import category_table as category_table
from .marks import marked_example as marked_example
from .marks import marks_table as marks_table
from .marks import rater_table as rater_table
from .scores import DOMAINS as DOMAINS
from .scores import KINDS as KINDS
from .scores import LEVELS as LEVELS
from .scores import Matrix as Matrix
from .scores import MqmScores as MqmScores
from .scores import Scheme as Scheme
from .scores import Weights as Weights
from .scores import base_system as base_system
from .scores import choose_scheme as choose_scheme
from .scores import domain_of as domain_of
from .scores import load_scheme as load_scheme
from .scores import load_weights as load_weights
from .scores import score_ratings as score_ratings
from .severity import adjust_raters as adjust_raters
from .table import rater_notes as rater_notes
from .table import system_table as system_table
