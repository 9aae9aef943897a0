"""What a chart would draw, and a table of systems."""

import re

import numpy as np
import pandas as pd

from anhelpers.charts.offline import _to_svg


def table(n, seed=0):
    """Systems with standard errors and intervals."""
    rng = np.random.default_rng(seed)
    kinds = (["LLM", "MT", "online"] * n)[:n]
    frame = pd.DataFrame({"system": [f"System-{i}" for i in range(n)], "category": kinds})
    frame["accuracy"], frame["naturalness"] = rng.normal(60, 3, n), rng.normal(-3, 0.2, n)
    for axis, se in (("accuracy", 0.5), ("naturalness", 0.03)):
        frame[f"{axis}_se"] = se
        frame[f"{axis}_low"], frame[f"{axis}_high"] = frame[axis] - 2 * se, frame[axis] + 2 * se
    return frame.assign(correlation=0.3, n=90, pareto_share=0.5, accuracy_gap=1.0)


def layers(chart):
    """(mark with its name, encoding, rows) of every layer of every panel."""
    spec = chart if isinstance(chart, dict) else chart.to_dict()
    found = []

    def walk(part, data):
        data = part.get("data", data)
        for key in ("layer", "concat", "hconcat", "vconcat"):
            for one in part.get(key, ()):
                walk(one, data)
        if "mark" in part:
            rows = spec["datasets"][data["name"]]
            found.append((part["mark"] | {"name": part.get("name")}, part["encoding"], rows))

    walk(spec, None)
    return found


def rows_of(chart, **mark):
    """Rows of the layers whose mark has these properties."""
    return [row for m, _, rows in layers(chart) if mark.items() <= m.items() for row in rows]


def encoding_of(chart, **mark):
    return next(e for m, e, _ in layers(chart) if mark.items() <= m.items())


def texts(chart):
    """All labels and other texts."""
    found = [(e["text"].get("field"), rows) for m, e, rows in layers(chart) if m["type"] == "text"]
    return [row[field] for field, rows in found for row in rows]


def marks(chart, field):
    """Values of a field of all marks, as the drawing describes them."""
    return re.findall(rf'aria-label="[^"]*\b{field}: ([^;"]+)', _to_svg(chart))
