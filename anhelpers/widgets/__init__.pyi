# Public names of this room and their modules; read by editors, mypy and `__init__.py`.

from .decisions import correction_explorer as correction_explorer
from .directions import direction_explorer as direction_explorer
from .divergences import divergence_explorer as divergence_explorer
from .divergences import three_routes as three_routes
from .explained import false_distance_explorer as false_distance_explorer
from .explained import power_explorer as power_explorer
from .explained import shift_explorer as shift_explorer
from .explorer import beta_explorer as beta_explorer
from .explorer import static_explorer as static_explorer
from .guesses import guess as guess
from .guesses import guessed as guessed
from .own import own_translation as own_translation
from .study import explore as explore
from .study import one_source as one_source
from .study import planes as planes
from .study import preview as preview
from .switch import either as either
from .tradeoff import static_tradeoff as static_tradeoff
from .tradeoff import tradeoff_explorer as tradeoff_explorer
