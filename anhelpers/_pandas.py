"""pandas, imported by its first use: most commands start without it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
else:

    class _Pandas:
        def __getattr__(self, name: str) -> Any:
            return getattr(import_module("pandas"), name)

    pd = _Pandas()
