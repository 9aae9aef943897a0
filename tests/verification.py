"""What is computed and how it is checked: `python -m tests.verification` writes docs/verification.md.

`@pytest.mark.verifies("chrF", by="foreign", of="sacreBLEU, bit for bit")` marks a test that verifies one or more
quantities of verification.tsv, by = "hand", "property" or "foreign"; `@pytest.mark.erratum("AN eq. 46")` one that
shows an erratum of errata.tsv.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "verification.md"
KINDS = ("hand", "property", "foreign")
HEAD = """# Verification: each quantity is checked in three ways

*By hand*: an example on paper. *Property*: an identity, a bound or an enumeration that holds for any input. *Foreign*:
another program or a published table. `python -m tests.verification` writes this page from the marks of the tests. Some
need the shared data sets (`ANHELPERS_DATA`). AN: Flamich et al. 2025, XMI: Bugliarello et al. 2020.
"""


@dataclass(frozen=True)
class Quantity:
    """A number that the package computes: a row of verification.tsv.

    Parameters
    ----------
    section : of the page.
    quantity : its name, as in the marks.
    source : the equation.
    functions : their addresses below anhelpers.
    unit : and direction.
    doctests : functions whose doctest is an example by hand.
    """

    section: str
    quantity: str
    source: str
    functions: str
    unit: str
    doctests: str


@dataclass(frozen=True)
class Erratum:
    """A place of a paper to read with care: a row of errata.tsv.

    Parameters
    ----------
    place : paper and equation, theorem or section.
    kind : one of REMARKS.
    printed, holds : what the paper prints, in our words, and what we think it should say.
    answer : a possible reply of its authors.
    untested : why no test shows it; usually empty.
    """

    place: str
    kind: str
    printed: str
    holds: str
    answer: str
    untested: str


FILES = {Quantity: "verification", Erratum: "errata"}
# The kinds of errata, the most serious first, with the page's sentence on each.
REMARKS = {
    "error": "A formula is wrong as printed and gives another number.",
    "slip": "A wrong word, symbol, digit or cross-reference; the surrounding text shows what is meant.",
    "caveat": "Correct as meant, but easily read as a stronger statement.",
    "open reading": "The text allows two readings, which lead to different results.",
}
ERRATA = """What we think the papers and files should say; later versions may have corrected some. None affects the main
results: the tradeoff, its concavity, and that XMI is higher, on average, out of English."""
NETWORK = "impossible for a trained network"
IMPOSSIBLE = {("COMET", "hand"): NETWORK, ("MetricX", "hand"): NETWORK}

# Every public function of these modules is in a row, or below: it only reads, names, sorts or packs.
MODULES = """
stats bootstrap frontier fan mqm exact classroom plane divergences.pmf divergences.samples divergences.mmd
divergences.critics divergences.processes accuracy.chrf accuracy.bleu accuracy.surface accuracy.comet accuracy.metricx
xmi.measure xmi.models xmi.toy xmi.features xmi.published xmi.trainings
"""
NOT_QUANTITIES = {
    "bootstrap": "clusters_of few_clusters note_few_draws",
    "stats": "mean_ranks",
    "mqm": "base_system category_table choose_scheme load_scheme marked_example marks_table rater_notes",
    "classroom": "check holds invented_class one_of_each plane_claim plane_notes "
    "read_class_ratings",
    "plane": "bias_claim by_pair few_documents fluency_rows fluency_summary judged_studies leaders "
    "mean_axis metric_against metric_axis mixed_systems oracle_studies oracle_study outside_of overshoot plane_of "
    "rated_metrics rated_plane sliced_table stored_against system_plane undecided verdict with_human_points "
    "with_sanity_systems without_sparse in_one_cell readable",
    "accuracy.surface": "sacrebleu_metric",
    "accuracy.chrf": "",
    "accuracy.bleu": "",
    "accuracy.comet": "",
    "accuracy.metricx": "",
    "xmi.models": "load_q_lm",
    "xmi.toy": "toy_candidates",
    "xmi.trainings": "read_trainings train_both_ways train_pair",
    "xmi.published": "find_outputs published_table read_features read_results recomputed_bleu",
}


@dataclass(frozen=True)
class Mark:
    """One `verifies` or `erratum` of a test."""

    kind: str
    of: str
    file: str


@cache
def marks() -> dict[str, list[Mark]]:
    """Quantity or place of an erratum → the tests marked with it, in the order of files and lines."""
    found: dict[str, list[Mark]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for names, kind, of in filter(None, map(_mark, node.decorator_list)):
                    mark = Mark(kind, of, path.relative_to(ROOT).as_posix())
                    for name in names:
                        found.setdefault(name, []).append(mark)
    return found


def _mark(decorator: ast.expr) -> tuple[list[str], str, str] | None:
    """(names, kind, of) of a mark `verifies` or `erratum`."""
    if not (isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute)):
        return None
    if (kind := decorator.func.attr) not in ("verifies", "erratum"):
        return None
    options = {word.arg: ast.literal_eval(word.value) for word in decorator.keywords}
    return (
        [ast.literal_eval(a) for a in decorator.args],
        options.get("by", kind),
        options.get("of", ""),
    )


def _rows(kind: type) -> list:
    lines = (ROOT / "tests" / f"{FILES[kind]}.tsv").read_text(encoding="utf-8").splitlines()
    return [kind(*line.split("\t")) for line in lines[1:]]


def quantities() -> list[Quantity]:
    """All, in the order of the page."""
    return _rows(Quantity)


def errata() -> list[Erratum]:
    """All, in the order of the page."""
    return _rows(Erratum)


def checks(one: Quantity, kind: str) -> str:
    """The cell of a quantity and kind of check: foreign programs and the files of the tests, or ""."""
    found = [mark for mark in marks().get(one.quantity, []) if mark.kind == kind]
    programs = "; ".join(dict.fromkeys(mark.of for mark in found if mark.of))
    doctest = "doctest" * (kind == "hand" and bool(one.doctests))
    return " ".join(filter(None, [programs, _files(found), doctest]))


def _files(found: list[Mark]) -> str:
    """Links to the files of the tests, each once."""
    names = dict.fromkeys(mark.file for mark in found)
    return " ".join(f"[{Path(name).stem.removeprefix('test_')}](../{name})" for name in names)


def page() -> str:
    """The text of docs/verification.md."""
    every = quantities()
    whole = [one for one in every if all(checks(one, kind) for kind in KINDS)]
    lines = [HEAD, f"**{len(every)} quantities, {len(whole)} with all three.**"]
    for title, rows in groupby(every, lambda one: one.section):
        lines += [
            "",
            f"## {title}",
            "",
            "| quantity | function | unit and direction | by hand | property | foreign |",
        ]
        lines += ["|---|---|---|---|---|---|", *map(_row, rows)]
    lines += ["", "## Errata", "", ERRATA]
    for kind, meaning in REMARKS.items():
        lines += ["", f"### {kind.capitalize()}s", "", meaning, ""]
        lines += [
            "| place | as printed | we think | a possible reply | shown by |",
            "|---|---|---|---|---|",
        ]
        lines += [_remark(one) for one in errata() if one.kind == kind]
    return "\n".join(lines) + "\n"


def _row(one: Quantity) -> str:
    functions = ", ".join(f"`{name}`" for name in one.functions.split())
    cells = [checks(one, kind) or IMPOSSIBLE[one.quantity, kind] for kind in KINDS]
    return _line(f"{one.quantity} ({one.source})", functions, one.unit, *cells)


def _remark(one: Erratum) -> str:
    shown = _files(marks().get(one.place, [])) or one.untested
    return _line(one.place, one.printed, one.holds, one.answer, shown)


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(page().split("**")[1])
