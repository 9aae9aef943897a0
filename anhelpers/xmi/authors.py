"""Where the published files on cross-mutual information lie: results and translations, in every layout they come in."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path

from ..data.catalog import find_file
from ..errors import DataError

__all__ = ["find_outputs", "find_results"]

DIRECTION = re.compile(r"([a-z]{2})2([a-z]{2})")  # the folder of a direction: "en2de"


def find_results(folder: str | PathLike | None = None) -> Path:
    """The folder of the authors' results, which has test/, valid/ and features/.

    Parameters
    ----------
    folder : that folder itself, or one with results/ in it: the data set "xmi", or a checkout of the authors'
        repository; None: the data set "xmi".

    Raises
    ------
    DataError where there are none.
    """
    folder = find_file("xmi") if folder is None else Path(folder)
    for place in (folder, folder / "results"):
        if _is_results(place):
            return place
    told = "this folder has none of the results" if folder.is_dir() else "there is no such folder"
    move = "name the authors' repository, its folder results, or a folder with results/test/ in it"
    raise DataError(f"{told}; {move}.", folder)


def find_outputs(folder: str | PathLike | None = None) -> dict[str, Path]:
    """The folder of each direction whose translations are here: "bg-en" -> one with preds.test and truth.test.

    Parameters
    ----------
    folder : of such folders ("bg2en"); or any that `find_results` takes: then they are looked for in outputs/, as in
        the data set "xmi", and in experiments/bg2en/outputs/, as in the authors' repository, also where the folder of
        results alone is named and they lie beside it. None: the data set "xmi".

    Returns
    -------
    The directions in the order of their names; none where there are no translations.
    """
    folder = find_file("xmi") if folder is None else Path(folder)
    folder = folder.absolute()
    roots = [folder, folder / "outputs", folder / "experiments"]
    if _is_results(folder):
        roots += [folder.parent / "outputs", folder.parent / "experiments"]
    found: dict[str, Path] = {}
    for root in roots:
        for place in sorted(root.iterdir()) if root.is_dir() else ():
            named = DIRECTION.fullmatch(place.name)
            here = next(
                (p for p in (place, place / "outputs") if (p / "preds.test").is_file()), None
            )
            if named and here:
                found.setdefault(f"{named[1]}-{named[2]}", here)
    return found


def _is_results(folder: Path) -> bool:
    return any((folder / split / "xmi.mt.csv").is_file() for split in ("test", "valid"))
