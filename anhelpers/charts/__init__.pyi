# Public names of this room and their modules; read by editors, mypy and `__init__.py`.

from . import frame as frame
from . import marks as marks
from .bias import plot_bias as plot_bias
from .callouts import plot_callouts as plot_callouts
from .correlation import plot_against_fluency as plot_against_fluency
from .correlation import plot_local_correlation as plot_local_correlation
from .curve import plot_curve as plot_curve
from .curve import plot_gap as plot_gap
from .decisions import plot_decisions as plot_decisions
from .directions import language_label as language_label
from .lines import compare_curves as compare_curves
from .lines import plot_lines as plot_lines
from .moves import plot_moves as plot_moves
from .offline import save as save
from .offline import use_offline as use_offline
from .optimism import plot_optimism as plot_optimism
from .systems import focus_ranges as focus_ranges
from .systems import plot_systems as plot_systems
from .tradeoff import plot_tradeoff as plot_tradeoff
from .words import plot_words as plot_words
from .xmi_bars import plot_pieces as plot_pieces
from .xmi_bars import plot_xmi_bars as plot_xmi_bars
from .xmi_bleu import plot_xmi_bleu as plot_xmi_bleu
