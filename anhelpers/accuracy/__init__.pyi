# Public names of this room and their modules; read by editors, mypy and `__init__.py`.

from . import surface as surface
from .surface import METRICS as METRICS
