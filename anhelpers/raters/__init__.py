"""A class as raters: the sheet that everybody rates, the students' files put together, their agreement, their plane.

A rating says on a scale from 1 to 5 how accurate, or how fluent, one rater finds one translation. A blank one is
missing, and stays missing: it is never 0 and never the middle of the scale.
"""

from .alpha import Agreement, agreement, krippendorff_alpha, pairwise_agreement
from .files import COLUMNS, ClassRatings, ratings_csv, read_ratings, write_ratings
from .invented import invented_class
from .plane import class_plane, plane_notes
from .sheet import CRITERIA, SCALE, Sheet, draw_sheet

__all__ = [
    "COLUMNS",
    "CRITERIA",
    "SCALE",
    "Agreement",
    "ClassRatings",
    "Sheet",
    "agreement",
    "class_plane",
    "draw_sheet",
    "invented_class",
    "krippendorff_alpha",
    "pairwise_agreement",
    "plane_notes",
    "ratings_csv",
    "read_ratings",
    "write_ratings",
]
