"""Charts without a network, as a notebook's output and as files."""

import base64
import json
import re

import altair as alt
import pandas as pd
import pytest

from anhelpers.charts import offline
from anhelpers.errors import UnknownName


@pytest.fixture
def chart():
    chart = alt.Chart(pd.DataFrame({"a": [1], "b": [2]})).mark_point().encode(x="a:Q", y="b:Q")
    return chart.properties(description='one "point" & </script>')


@pytest.fixture
def bundle():
    before = alt.renderers.active

    def shown(chart):
        offline.use_offline()
        made = chart._repr_mimebundle_()
        return made[0] if isinstance(made, tuple) else made

    yield shown
    alt.renderers.enable(before)


def test_a_picture_with_alt_text(chart, bundle):
    made = bundle(chart)
    assert set(made) == {"text/html", "text/plain"}
    assert 'alt="one &quot;point&quot; &amp; &lt;/script&gt;"' in made["text/html"]
    data = re.search(r"base64,([^\"]+)", made["text/html"]).group(1)
    assert base64.b64decode(data).decode() == offline._to_svg(chart)
    titled = chart.encode(x=alt.X("a:Q", title="a\x1bb\uffff"))
    assert "a\ufffdb\ufffd" in offline._to_svg(titled)


def test_a_chart_with_a_slider_is_interactive(chart, bundle):
    made = bundle(chart.add_params(alt.param("k", value=1, bind=alt.binding_range(min=0, max=2))))
    assert "vegaEmbed(" in made["text/html"]
    assert made["text/html"].startswith("<noscript><img alt=")


@pytest.mark.parametrize(
    ("suffix", "start"),
    [("svg", "<svg"), ("png", "\x89PNG"), ("pdf", "%PDF"), ("html", "<!doctype"), ("json", "{")],
)
def test_files(chart, tmp_path, suffix, start):
    content = offline.save(chart, tmp_path / "new" / f"chart.{suffix}").read_bytes()
    assert content.startswith(start.encode("latin-1"))
    if suffix == "html":
        assert not re.findall(rb"<(?:script|link)[^>]+(?:src|href)=", content)
        code = content.decode().partition('vegaEmbed("#')[2].partition("</script>")[0]
        spec, _ = json.JSONDecoder().raw_decode(code[code.index("{") :])
        assert spec["description"] == chart.description
    if suffix in ("svg", "json"):
        assert b"anhelpers:" in content


def test_unknown_file_types_are_refused(chart, tmp_path):
    for name, inches in (("chart.pngg", None), ("chart.html", 3.3)):
        with pytest.raises(UnknownName):
            offline.save(chart, tmp_path / name, inches=inches)


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_files_of_a_width_in_inches(chart, tmp_path, suffix):
    content = offline.save(chart, tmp_path / f"chart.{suffix}", inches=3.3).read_bytes()
    if suffix == "svg":
        assert re.match(rb'<svg[^>]* width="3\.3in" height="[\d.]+in" viewBox', content)
    elif suffix == "png":  # 300 dots per inch, as the file says
        assert int.from_bytes(content[16:20], "big") == 990
        density = int.from_bytes(content[content.index(b"pHYs") + 4 :][:4], "big")
        assert density == round(300 / 0.0254)
    else:
        width = float(re.search(rb"MediaBox ?\[0 0 ([\d.]+) ", content)[1])
        assert width == pytest.approx(237.6, abs=1)  # points
