# Public names of this room and their modules; read by editors, mypy and `__init__.py`.

from .catalog import about as about
from .catalog import notebook_paths as notebook_paths
from .catalog import parse_value as parse_value
from .export import linked as linked
from .run import run as run
