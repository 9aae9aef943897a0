# What stands in this room, and where it comes from: read by editors, by mypy and by `__init__.py`.

from ..scoring.lookup import accuracy_metric as accuracy_metric
from . import surface as surface
from .align import check_alignment as check_alignment
from .surface import METRICS as METRICS
