# What stands in this room, and where it comes from: read by editors, by mypy and by `__init__.py`.

from . import chance as chance
from . import critics as critics
from . import kernels as kernels
from . import memed as memed
from . import mmd as mmd
from . import normals as normals
from . import pmf as pmf
from . import processes as processes
from . import samples as samples
