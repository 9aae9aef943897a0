from .divergences import divergence_explorer as divergence_explorer
from .divergences import three_routes as three_routes
from .explorer import beta_explorer as beta_explorer
from .explorer import explore as explore
from .own import own_translation as own_translation
from .tradeoff import tradeoff_explorer as tradeoff_explorer
