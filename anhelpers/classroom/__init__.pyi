# Public names of this room and their modules; read by editors, mypy and `__init__.py`.

from . import site as site
from .alpha import agreement as agreement
from .alpha import krippendorff_alpha as krippendorff_alpha
from .alpha import pairwise_agreement as pairwise_agreement
from .exercises import check as check
from .exercises import holds as holds
from .files import COLUMNS as COLUMNS
from .files import ClassRatings as ClassRatings
from .files import ratings_csv as ratings_csv
from .files import read_class_ratings as read_class_ratings
from .files import write_ratings as write_ratings
from .invented import invented_class as invented_class
from .plane import class_plane as class_plane
from .plane import plane_claim as plane_claim
from .plane import plane_notes as plane_notes
from .projector import live_plane as live_plane
from .sentences import read_sentences as read_sentences
from .sheet import CRITERIA as CRITERIA
from .sheet import SCALE as SCALE
from .sheet import Sheet as Sheet
from .sheet import draw_sheet as draw_sheet
from .sheet import one_of_each as one_of_each
