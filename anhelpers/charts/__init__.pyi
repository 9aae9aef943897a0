# Public names of this room and their modules; read by editors, mypy and `__init__.py`.

from . import frame as frame
from .correlation import plot_bias as plot_bias
from .correlation import plot_local_correlation as plot_local_correlation
from .curve import plot_curve as plot_curve
from .curve import plot_optimism as plot_optimism
from .curve import plot_tradeoff as plot_tradeoff
from .lines import plot_lines as plot_lines
from .offline import save as save
from .offline import use_offline as use_offline
from .systems import Panel as Panel
from .systems import plot_gap as plot_gap
from .systems import plot_panels as plot_panels
from .systems import plot_systems as plot_systems
from .xmi import language_label as language_label
from .xmi import plot_pieces as plot_pieces
from .xmi import plot_words as plot_words
from .xmi import plot_xmi_bars as plot_xmi_bars
from .xmi import plot_xmi_bleu as plot_xmi_bleu
