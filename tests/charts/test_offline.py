"""Charts that need no network, as a notebook's output and as files."""

import base64
import json
import re
import subprocess
import sys
from functools import cache

import altair as alt
import numpy as np
import pandas as pd
import pytest
import vl_convert

from anhelpers.charts import drawing, offline
from anhelpers.errors import DataError, UnknownName


@pytest.fixture
def chart():
    chart = alt.Chart(pd.DataFrame({"a": [1], "b": [2]})).mark_point().encode(x="a:Q", y="b:Q")
    return chart.properties(description='one "point" & more')


@pytest.fixture
def restored():
    before = alt.renderers.active, alt.data_transformers.active
    yield
    alt.renderers.enable(before[0])
    alt.data_transformers.enable(before[1])


def test_import_enables_nothing():
    code = (
        "import altair; from anhelpers.charts import offline, curve; print(altair.renderers.active)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip()
        == "default"
    )


def test_a_picture_with_alt_text(chart, restored):
    offline.use_offline()
    bundle = chart._repr_mimebundle_()
    bundle = bundle[0] if isinstance(bundle, tuple) else bundle
    assert set(bundle) == {"text/html", "text/plain"}
    assert 'alt="one &quot;point&quot; &amp; more"' in bundle["text/html"]
    data = re.search(r"base64,([^\"]+)", bundle["text/html"]).group(1)
    assert base64.b64decode(data).decode() == offline.to_svg(chart)
    assert bundle["text/plain"] == '<chart: one "point" & more>'


def test_tooltips_bring_the_mime_type_that_jupyterlab_draws(chart, restored):
    offline.use_offline(tooltips=True)
    bundle = chart._repr_mimebundle_()
    bundle = bundle[0] if isinstance(bundle, tuple) else bundle
    assert set(bundle) == {"application/vnd.vegalite.v5+json", "image/svg+xml", "text/plain"}
    assert "/vega-lite/v5" in bundle["application/vnd.vegalite.v5+json"]["$schema"]


@pytest.mark.parametrize(
    ("suffix", "start"),
    [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("html", b"<!DOCTYPE")],
)
def test_files(chart, tmp_path, suffix, start):
    path = offline.save(chart, tmp_path / "new" / f"chart.{suffix}")
    content = path.read_bytes()
    assert content.startswith(start)
    if suffix == "html":
        assert not re.findall(rb"<(?:script|link)[^>]+(?:src|href)=", content)


def test_an_unknown_file_type_is_told(chart, tmp_path):
    with pytest.raises(UnknownName, match=r"did you mean '\.png'"):
        offline.save(chart, tmp_path / "chart.pngg")


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_files_of_a_width_in_inches(chart, tmp_path, suffix):
    content = offline.save(chart, tmp_path / f"chart.{suffix}", inches=3.3).read_bytes()
    if suffix == "svg":
        assert re.match(rb'<svg[^>]* width="3\.3in" height="[\d.]+in" viewBox', content)
    elif suffix == "png":
        # 300 dots per inch, and the file says so:
        assert int.from_bytes(content[16:20], "big") == 990
        assert int.from_bytes(content[content.index(b"pHYs") + 4 :][:4], "big") == round(
            300 / 0.0254
        )
    else:
        assert re.search(rb"MediaBox ?\[0 0 237\.6 ", content)  # points


def test_a_page_has_no_inches(chart, tmp_path):
    with pytest.raises(DataError, match="no width in inches"):
        offline.save(chart, tmp_path / "chart.html", inches=3.3)


def test_the_code_that_draws_in_pages_is_kept_and_made_again_where_it_is_broken(
    chart, tmp_path, monkeypatch
):
    """It is vl-convert's own, whatever lies in the cache, and whether there is a cache or not."""
    spec = offline.spec_of(chart)
    theirs = vl_convert.vegalite_to_html(spec, bundle=True, vl_version=offline.VEGALITE_VERSION)
    monkeypatch.setenv("ANHELPERS_CACHE", str(tmp_path / "cache"))
    fresh = offline._library.__wrapped__
    code = fresh()
    assert f'<script type="text/javascript">{code}</script>' in theirs
    (kept,) = (tmp_path / "cache").iterdir()
    good = kept.read_bytes()
    for broken in (good[:-1], b"", b"no line", b"\xff\n"):
        kept.write_bytes(broken)
        assert fresh() == code
        assert kept.read_bytes() == good
    monkeypatch.setenv("ANHELPERS_CACHE", str(kept / "below"))
    assert fresh() == code
    assert code in offline.interactive(chart)


def test_a_picture_that_cannot_be_drawn_is_a_sentence_and_alt_text(chart, restored, monkeypatch):
    monkeypatch.setattr(drawing, "SERVE", "raise SystemExit(5)")
    monkeypatch.setattr(drawing, "_beside", cache(drawing._beside.__wrapped__))
    with pytest.raises(drawing.NotDrawn, match=r"has ended twice \(status 5\).*run again"):
        offline.to_svg(chart)
    if drawing.resource is not None:
        monkeypatch.setattr(drawing.resource, "getrlimit", lambda which: (2**34, 2**34))
        with pytest.raises(drawing.NotDrawn, match=r"16\.0 GB of addresses.*ulimit -v unlimited"):
            offline.to_svg(chart)
    offline.use_offline()
    bundle = chart._repr_mimebundle_()
    bundle = bundle[0] if isinstance(bundle, tuple) else bundle
    assert bundle["text/plain"].startswith('<chart: one "point" & more>\nno picture: ')
    offline.use_offline(tooltips=True)  # JupyterLab draws by itself
    bundle = chart._repr_mimebundle_()
    bundle = bundle[0] if isinstance(bundle, tuple) else bundle
    assert bundle["text/plain"].startswith('<chart: one "point" & more>\nno picture: ')
    assert {*bundle} == {offline.VEGALITE_MIME, "text/plain"}


@pytest.mark.parametrize(
    "table",
    [
        {"x": [1.5, np.nan, np.inf], "n": [1, 2, 3], "yes": [True, False, True]},
        {"text": ["a", "ä", ""], "small": np.array([1, 2, 3], dtype=np.int8)},
        {"text": ["a", None, "c"], "x": [0.1, 0.2, 0.3]},
        {"kind": pd.Categorical(["a", "b", "a"]), "day": pd.to_datetime(["2024-01-01"] * 3)},
        {"list": [[1, 2], [3], []], "whole": pd.array([1, None, 3], dtype="Int64")},
        {"x": []},
    ],
)
def test_tables_become_the_values_that_altair_makes_of_them(table):
    table = pd.DataFrame(table)
    ours, theirs = (
        make(table)["values"] for make in (offline._values, alt.default_data_transformer)
    )
    assert json.dumps(ours) == json.dumps(theirs)


def test_a_chart_has_the_specification_that_altair_gives_it():
    frame = pd.DataFrame({"x": [0.1, np.nan], "name": ["a", "b"], "n": [1, 2]})
    chart = alt.Chart(frame).mark_point().encode(x="x:Q", y="n:Q", tooltip=["name:N"])
    with alt.data_transformers.enable("default"):
        theirs = chart.to_dict()
    assert offline.spec_of(chart) == theirs


def test_the_limit_of_rows_is_the_users(restored, tmp_path):
    chart = alt.Chart(pd.DataFrame({"x": range(5001)})).mark_point().encode(x="x:Q")
    with pytest.raises(alt.MaxRowsError):
        offline.spec_of(chart)
    offline.use_offline()
    alt.data_transformers.disable_max_rows()
    assert len(*offline.spec_of(chart)["datasets"].values()) == 5001


def test_a_picture_names_the_library_that_draws_though_it_does_so_elsewhere(tmp_path):
    code = """
import sys, altair as alt, pandas as pd, anhelpers as an
an.save(alt.Chart(pd.DataFrame({"a": [1]})).mark_point().encode(x="a:Q"), sys.argv[1])
print("vl_convert" in sys.modules)
"""
    file = tmp_path / "a.svg"
    done = subprocess.run([sys.executable, "-c", code, file], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
    assert f"vl-convert-python:{vl_convert.__version__}" in file.read_text()
