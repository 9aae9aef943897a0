# The public names of this room, read by editors, by mypy and by `__init__.py`.

from .raters import category_table as category_table
from .raters import marked_example as marked_example
from .raters import marks_table as marks_table
from .scores import DOMAINS as DOMAINS
from .scores import KINDS as KINDS
from .scores import MqmScores as MqmScores
from .scores import Scheme as Scheme
from .scores import Weights as Weights
from .scores import base_system as base_system
from .scores import choose_scheme as choose_scheme
from .scores import load_scheme as load_scheme
from .scores import load_weights as load_weights
from .scores import score_ratings as score_ratings
from .table import adjust_raters as adjust_raters
from .table import rater_notes as rater_notes
from .table import system_table as system_table
