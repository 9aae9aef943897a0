# Public names of this room and their modules; read by editors, mypy and `__init__.py`.

from .catalog import About as About
from .catalog import about as about
from .catalog import notebook_paths as notebook_paths
from .catalog import parameters_of as parameters_of
from .catalog import parse_value as parse_value
from .export import export_html as export_html
from .export import linked as linked
from .export import typeset as typeset
from .run import Outcome as Outcome
from .run import run as run
