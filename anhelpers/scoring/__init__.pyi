# Public names of this room and their modules; read by editors, mypy and `__init__.py`.

from .lookup import accuracy_metric as accuracy_metric
from .lookup import default_naturalness as default_naturalness
from .lookup import fitting_metric as fitting_metric
from .stored import load_scores as load_scores
from .stored import score_tables as score_tables
from .tables import check_systems as check_systems
from .tables import scorable as scorable
from .tables import score_all as score_all
from .tables import segment_rows as segment_rows
from .tables import system_rows as system_rows
from .tables import system_scores as system_scores
