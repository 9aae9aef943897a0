"""`python -m tests.hostile [WORD]`: what every reader says of every bad file (whose name has that word), and the counts."""

import re
import sys
import tempfile
from pathlib import Path

from anhelpers.data import lines
from anhelpers.errors import AnhelpersError

from .bad import ALL, damaged
from .good import FORMATS, fill


def main(word: str = "") -> None:
    """Print a line per run; a line that starts with DEFECT is one."""
    runs, lines.PIPE_SECONDS = 0, 0.05
    with tempfile.TemporaryDirectory() as top:
        good, here = fill(Path(top, "good")), fill(Path(top, "here"))
        for bad in (bad for bad in ALL if word in str(bad)):
            for name, read in FORMATS[bad.file].readers.items():
                with damaged(bad, good, here):
                    print(
                        f"{bad!s:.100} | {name} | {_told(read, here, bad.file, bad.says)}",
                        flush=True,
                    )
                runs += 1
    print(f"{len(ALL)} bad inputs, {runs} runs of readers")


def _told(read, folder: Path, file: str, says: str) -> str:
    try:
        value = read(folder / file)
    except AnhelpersError as error:
        told = str(error).replace(f"{folder}/", "")
        right = re.search(says, told, re.DOTALL) and any(
            part in str(error) for part in (Path(file).name, file.split("/")[0])
        )
        return told if right else f"DEFECT, wanted {says}: {told}"
    except BaseException as error:
        return f"DEFECT, {type(error).__name__}: {error!s:.150}"
    return f"DEFECT, accepted: {value!r:.150}"


if __name__ == "__main__":
    main(*sys.argv[1:])
