"""Lazy imports: the names of `import anhelpers as an` and of its subpackages are loaded when first used."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

__all__ = ["UNTIL", "lazily", "old_names"]

UNTIL = "0.2"
"""The version without the old names."""


def lazily(
    package: str, file: str, **old: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package whose names stand in the `.pyi` beside its `__init__.py`.

    Editors and mypy read that list too, so there is no other.

    Parameters
    ----------
    package, file : the package's `__name__` and `__file__`. old : old=new, as in `old_names`.
    """

    @cache
    def found() -> dict[str, tuple[str, str]]:
        """Name -> (module, its name there); that is "" where the name is a module itself."""
        import ast

        with open(f"{file.removesuffix('.py')}.pyi", encoding="utf-8") as stub:
            lines = [
                line for line in ast.parse(stub.read()).body if isinstance(line, ast.ImportFrom)
            ]
        return {
            one.asname or one.name: (
                "." * line.level + (line.module or one.name),
                one.name if line.module else "",
            )
            for line in lines
            for one in line.names
        }

    def get(name: str) -> Any:
        if name == "__all__":  # for help() and `import *`
            return sorted(found())
        if name.startswith("_") or name not in found():
            return _renamed(package, old, name)
        from importlib import import_module
        from sys import modules

        module, there = found()[name]
        loaded = import_module(module, package)
        value = getattr(loaded, there) if there else loaded
        setattr(modules[package], name, value)
        return value

    return get, lambda: sorted(found())


def old_names(module: str, **old: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module that still answers to old names of what it holds, with a FutureWarning.

    Parameters
    ----------
    module : its `__name__`. old : old=new, both names in this module.
    """

    def get(name: str) -> Any:
        return _renamed(module, old, name)

    return get


def _renamed(module: str, old: dict[str, str], name: str) -> Any:
    """What has an old name, with a warning that names the line of whoever asked the `get` that calls this."""
    from sys import modules
    from warnings import warn

    if name not in old:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    warn(
        f"{module}.{name} is now {module}.{old[name]}; the old name goes with version {UNTIL}.",
        FutureWarning,
        stacklevel=3,
    )
    return getattr(modules[module], old[name])
