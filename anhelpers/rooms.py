"""Lazy imports: the names of `import anhelpers as an` and of its subpackages are loaded when first used."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

__all__ = ["lazily"]


def lazily(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package whose names stand in the `.pyi` beside its `__init__.py`.

    Editors and mypy read that list too, so there is no other.

    Parameters
    ----------
    package, file : the package's `__name__` and `__file__`.
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
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module
        from sys import modules

        module, there = found()[name]
        loaded = import_module(module, package)
        value = getattr(loaded, there) if there else loaded
        setattr(modules[package], name, value)
        return value

    return get, lambda: sorted(found())
