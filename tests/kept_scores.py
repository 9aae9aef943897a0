"""The scores that come with the bundled models: `python -m tests.kept_scores` computes them anew (5 minutes).

They are those of the bundled texts, and of what the notebooks score besides with their own parameters, on one CPU.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from anhelpers.naturalness.kept import ENDS, FILE
from anhelpers.naturalness.load import LanguageModel

import anhelpers as an
from anhelpers.data.fetch import bundled
from anhelpers.data.sets import minimal_pairs, mono_for
from anhelpers.notebooks import notebook_paths, parameters_of, run
from anhelpers.provenance import environment
from anhelpers.scoring.store import Store
from anhelpers.scoring.upkeep import export_parquet


def bundled_texts(data: str) -> tuple[list[str], list[str]]:
    """The texts of a teaching set; the sentences of its minimal pairs."""
    test, candidates = an.load(data), an.load_candidates(data)
    lists = [
        candidates.texts,
        *test.systems.values(),
        *test.refs.values(),
        mono_for(data, test.trg_lang)[0],
    ]
    pairs = minimal_pairs(data) or []
    return [text for one in lists for text in one], [text for _, *two in pairs for text in two]


def kept_of(lm: LanguageModel, scores: Path) -> dict[str, np.ndarray]:
    """The arrays of a model's file: signature, keys and values of each kind, in the order of the keys."""
    arrays = {}
    for eos, end in enumerate(ENDS):
        signature = lm.signature(bool(eos))
        rows = pq.read_table(scores, filters=[("signature", "==", signature)]).to_pydict()
        order = sorted(range(len(rows["key"])), key=rows["key"].__getitem__)
        keys = np.frombuffer(b"".join(rows["key"][i] for i in order), np.uint8).reshape(-1, 16)
        values = np.array([rows["value"][i] for i in order])
        arrays |= {
            f"signature_{end}": np.array(signature),
            f"keys_{end}": keys,
            f"values_{end}": values,
        }
    return arrays


def main() -> None:
    folders = sorted(path for path in bundled("lm").iterdir() if path.is_dir())
    for folder in folders:
        (folder / FILE).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "scores.sqlite")
        with environment(ANHELPERS_STORE=str(file)):
            models = {lm.language: lm for lm in (an.load_lm(folder) for folder in folders)}
            for data in an.data.TEACHING:
                texts, pairs = bundled_texts(data)
                lm = models[an.load(data).trg_lang]
                for eos in (False, True):
                    an.score_texts(lm, [*texts, *pairs], eos)
            run(out=Path(scratch, "out"), jobs=2)
            both = [p.stem for p in notebook_paths() if parameters_of(p)["data"] == '"teaching"']
            run(both, {"data": "teaching/de-en"}, Path(scratch, "out"), jobs=2)
        export_parquet(Store(file), Path(scratch, "scores.parquet"))
        for folder, lm in zip(folders, models.values(), strict=True):
            arrays = kept_of(lm, Path(scratch, "scores.parquet"))
            np.savez_compressed(folder / FILE, **arrays)
            print(folder / FILE, *(len(arrays[f"keys_{end}"]) for end in ENDS))


if __name__ == "__main__":
    main()
