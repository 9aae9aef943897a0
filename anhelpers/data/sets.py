"""The named data sets: what each is and where it lies, in the package or below a data folder. To add one, add an entry.

Where the files of most of them come from stands in the manifest, ``data/manifest.tsv``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from ..errors import DataError, UnknownName
from .languages import NAMES

__all__ = ["ENTRIES", "FILES", "LICENCES", "RATINGS", "TEACHING", "Entry", "bundled", "bundled_too"]


def bundled(name: str) -> Path:
    """The path of a file or folder that comes with the package, e.g. "teaching" or "teaching/en-de/mono.de.txt".

    In a checkout it lies in ``data/``, in an installed package in ``anhelpers/_bundle/data/``.
    """
    root, wanted = _bundle_root(), PurePosixPath(name)
    if wanted.is_absolute() or ".." in wanted.parts:
        raise DataError(
            f"'{name}' is no name of a bundled file; names are relative, like "
            "teaching/en-de/mono.de.txt."
        )
    path = root / wanted
    if not path.exists():
        beside = path.parent if path.parent.is_dir() else root
        raise UnknownName("bundled file", path.name, (p.name for p in beside.iterdir()))
    return path


def bundled_too(file: str, lang: str, called: str) -> str:
    """Of a sentence that refuses a judge of another language, the part that names the bundled one; "" without any.

    Parameters
    ----------
    file : of the bundled judge, where there is one. lang : ISO 639-1 code of the texts. called : what to ask for.

    >>> bundled_too("critic/en", "en", "critic"), bundled_too("critic/cs", "cs", "critic")
    ('for English there is a bundled one: critic; or ', '')
    """
    try:
        bundled(file)
    except (UnknownName, DataError):
        return ""
    return f"for {NAMES.get(lang, lang)} there is a bundled one: {called}; or "


@cache
def _bundle_root() -> Path:
    """The package's own data folder."""
    package = Path(__file__).resolve().parents[1]
    for root, mark in (
        (package / "_bundle" / "data", package),
        (package.parent / "data", package.parent / "pyproject.toml"),
    ):
        if root.is_dir() and mark.exists():
            return root
    raise DataError(
        "the package's data folder is missing; install anhelpers again, or work in a full "
        "checkout.",
        package,
    )


@dataclass(frozen=True)
class Entry:
    """One named test set: a WMT text tree, in the package or in a data folder.

    Parameters
    ----------
    lp : language pair. tree : folder of the texts. note : shown to the user. year : of the layout.
    mono : the monolingual text, a name of FILES. candidates : their file. Both "" for none.
    in_package : all lies in the package, `mono` being a path there.
    """

    lp: str
    tree: str
    note: str
    year: int = 2024
    mono: str = ""
    candidates: str = ""
    in_package: bool = False


_EN_DE, _DE_EN = (
    Entry(
        lp,
        f"teaching/{lp}",
        f"small, made for this course, into {into}",
        mono=f"teaching/{lp}/mono.{lp[3:]}.txt",
        candidates=f"teaching/{lp}/candidates.jsonl",
        in_package=True,
    )
    for lp, into in (("en-de", "German"), ("de-en", "English"))
)

TEACHING: Mapping[str, Entry] = {
    "teaching": _EN_DE,
    "teaching/en-de": _EN_DE,
    "teaching/de-en": _DE_EN,
}
"""The sets that come with the package; "teaching" is the first of them by its old name."""

ENTRIES: Mapping[str, Entry] = {
    **TEACHING,
    "wmt24/en-de": Entry(
        "en-de",
        "wmt24/txt",
        "26 systems, refB (standard) and refA; research use",
        mono="mono/de.original",
    ),
    "wmt24/ja-zh": Entry("ja-zh", "wmt24/txt", "22 systems, reference refA; research use"),
    "wmt24/en-es": Entry("en-es", "wmt24/txt", "23 systems, reference refA; research use"),
    "wmt24/en-cs": Entry("en-cs", "wmt24/txt", "26 systems, reference refA; research use"),
    "wmt23/en-de": Entry(
        "en-de",
        "wmt23/txt",
        "12 systems, paragraphs, reference refA; research use",
        2023,
        mono="mono/de.original",
    ),
    "wmt25/cs-de": Entry(
        "cs-de",
        "wmt25/data",
        "5 systems, paragraphs, stored scores of metrics; no sources, no references; research use",
        2025,
        mono="mono/de.original",
    ),
}

# name -> (a file or folder below the data folder, what it is)
FILES: Mapping[str, tuple[str, str]] = {
    "mqm/ted-ende": ("mqm/mqm_ted_ende.tsv", "expert MQM ratings of TED talks, 14 systems"),
    "mqm/wmt23-ende-sxs": (
        "mqm/sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv.tar.gz",
        "expert MQM ratings of wmt23/en-de, 10 systems, 3 raters per segment",
    ),
    "mqm/wmt24-ende": ("mqm/mqm_generalMT2024_ende.tsv", "expert MQM ratings of wmt24/en-de"),
    "mqm/wmt24-enes": ("mqm/mqm_generalMT2024_enes.tsv", "expert MQM ratings of wmt24/en-es"),
    "mqm/wmt24-jazh": ("mqm/mqm_generalMT2024_jazh.tsv", "expert MQM ratings of wmt24/ja-zh"),
    "esa/wmt24": (
        "wmt24/humeval/esa_generalMT2024_wave2.csv",
        "ESA ratings, 0 to 100, of wmt24/en-cs and three pairs more, the second wave",
    ),
    "xmi": ("xmi", "cross-mutual information: results for 40 directions, outputs and references"),
    "wmt24/autoscores": (
        "wmt24/autoscores.tsv",
        "MetricX-23-XL and CometKiwi-XL per system, from a spreadsheet",
    ),
    "mono/de.original": (
        "mono/de.original.txt",
        "German written as German, put together from several test sets",
    ),
    "mono/de.human": (
        "mono/de.human.txt",
        "German by people, put together from several collections",
    ),
}

# of the sets that are not in the manifest, which says it of the others
LICENCES: Mapping[str, str] = {
    **dict.fromkeys(TEACHING, "CC BY 4.0"),
    "wmt24/autoscores": "none stated; for research",
    "mono/de.original": "none stated; for research",
    "mono/de.human": "none stated; for research",
}

RATINGS: Mapping[str, str] = {  # test set -> its MQM ratings in FILES
    "wmt24/en-de": "mqm/wmt24-ende",
    "wmt24/en-es": "mqm/wmt24-enes",
    "wmt24/ja-zh": "mqm/wmt24-jazh",
    "wmt23/en-de": "mqm/wmt23-ende-sxs",
    "ted/en-de": "mqm/ted-ende",
}
