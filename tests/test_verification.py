"""docs/verification.md is current, and no quantity of the package is missing from it."""

import ast
import importlib
import inspect
from collections import Counter
from pathlib import Path

import pytest

from . import verification as v


def test_the_page_is_current():
    assert v.PAGE.read_text(encoding="utf-8") == v.page(), "run python -m tests.verification"


@pytest.mark.parametrize("one", v.quantities(), ids=lambda one: one.quantity)
def test_every_quantity_is_checked_in_three_ways(one):
    lacks = [k for k in v.KINDS if not v.checks(one, k) and (one.quantity, k) not in v.IMPOSSIBLE]
    assert not lacks, f"{one.quantity}: mark a test by {lacks} with pytest.mark.verifies"


def test_reasons_are_for_what_is_missing():
    for name, kind in v.IMPOSSIBLE:
        (one,) = (one for one in v.quantities() if one.quantity == name)
        assert not v.checks(one, kind)


def test_marks_name_quantities_and_errata_of_the_lists():
    listed = [one.quantity for one in v.quantities()] + [one.place for one in v.errata()]
    assert max(Counter(listed).values()) == 1
    assert set(v.marks()) <= set(listed)
    kinds = {mark.kind for marks in v.marks().values() for mark in marks}
    assert kinds == {*v.KINDS, "erratum"}
    foreign = [mark for marks in v.marks().values() for mark in marks if mark.kind == "foreign"]
    assert all(mark.of for mark in foreign), "a foreign program or table has a name: of="


def test_every_erratum_has_a_test_or_a_reason():
    for one in v.errata():
        assert bool(v.marks().get(one.place)) != bool(one.untested), one.place


def test_errata_are_complete_and_in_order():
    assert [one.kind for one in v.errata()] == sorted(
        (one.kind for one in v.errata()), key=list(v.REMARKS).index
    )
    for one in v.errata():
        assert all((one.printed, one.holds, one.answer)), one.place
        assert all(
            f"| {text.replace('|', chr(92) + '|')} |" in v.page()
            for text in (one.place, one.answer)
        ), one.place


def test_marked_tests_are_run():
    """A later function of the same name would hide a test, and one inside a class or function has no mark here."""
    for path in {v.ROOT / mark.file for marks in v.marks().values() for mark in marks}:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = Counter(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
        assert max(names.values()) == 1, path
        inside = sum(
            v._mark(decorator) is not None
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node not in tree.body
            for decorator in node.decorator_list
        )
        assert not inside, path


def found(path):
    """The object at "frontier.OracleCurve.select": modules as far as they go, the rest by attributes and fields."""
    here, *inside = importlib.import_module("anhelpers"), *path.split(".")
    for k, name in enumerate(inside, 1):
        try:
            if k == len(inside):
                raise ModuleNotFoundError  # a function may be called as its module
            here = importlib.import_module(".".join(["anhelpers", *inside[:k]]))
        except ModuleNotFoundError:
            fields = getattr(here, "__dataclass_fields__", {})
            here = fields[name] if name in fields else getattr(here, name)
    return here


@pytest.mark.parametrize("one", v.quantities(), ids=lambda one: one.quantity)
def test_functions_exist_and_doctests_are_there(one):
    objects = {path.rpartition(".")[2]: found(path) for path in one.functions.split()}
    for name in one.doctests.split():
        assert ">>>" in inspect.getdoc(objects[name]), f"{name} has no doctest"


@pytest.mark.parametrize("module", v.MODULES.split())
def test_every_public_function_is_a_quantity_or_said_to_be_none(module):
    rows = {path for one in v.quantities() for path in one.functions.split()}
    here = importlib.import_module(f"anhelpers.{module}")
    listed = getattr(here, "__all__", None) or [
        name for name, one in vars(here).items() if getattr(one, "__module__", "") == here.__name__
    ]
    public = {n for n in listed if n[0] != "_" and inspect.isfunction(getattr(here, n))}
    others = set(v.NOT_QUANTITIES.get(module, "").split())
    named = {path.rpartition(".")[2] for path in rows if path.startswith(f"{module}.")}
    assert public - named == others, (
        f"add a row to verification.tsv, or to NOT_QUANTITIES: {(public - named) ^ others}"
    )


def test_links_lead_to_files():
    for mark in (mark for marks in v.marks().values() for mark in marks):
        assert (Path(v.PAGE.parent) / f"../{mark.file}").is_file()
