"""WMT's SGM and XML, matched by document and segment."""

import contextlib
import html
import re

import pytest
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset
from sacrebleu.dataset.wmt_xml import WMTXMLDataset

from anhelpers.data import add_systems, load, load_candidates, read_plain
from anhelpers.data.plain import _marked
from anhelpers.errors import DataError

SRCS = ["The dog & the cat.", "Yes.", 'He said: "no" < maybe.', "It does not rain.", "We sleep."]
REFS = ["Der Hund & die Katze.", "Ja.", 'Er sagte: "nein" < nie.', "Es regnet nicht.", "Gut."]
HYPS = ["Ein Hund & eine Katze.", "Ja!", 'Er sagte "nein" < kann.', "Es regnet nie.", "Nun gut."]
KEYS = [("news.1", "1"), ("news.1", "2"), ("chat-7", "1"), ("chat-7", "2"), ("chat-7", "3")]
DOMAINS = {"news.1": "news", "chat-7": "conversation"}


def sgm(kind, texts, sysid, keys=KEYS, escape=str):
    """A file as WMT made them to 2020: a segment a line, texts without escapes."""
    lang = 'srclang="en"' if kind == "srcset" else 'srclang="en" trglang="de"'
    lines, at = [f'<{kind} setid="newstest2019" {lang}>'], None
    for (doc, seg), text in zip(keys, texts, strict=True):
        if doc != at:
            genre = DOMAINS.get(doc, "news")
            lines += ["</p>", "</doc>"] if at else []
            lines += [f'<doc sysid="{sysid}" docid="{doc}" genre="{genre}" origlang="en">', "<p>"]
        at = doc
        lines.append(f'<seg id="{seg}">{escape(text)}</seg>')
    return "\n".join([*lines, "</p>", "</doc>", f"</{kind}>"]) + "\n"


def xml(srcs=SRCS, keys=KEYS, langs=("en", "de"), **parts):
    """A file as WMT made them in 2021 and 2022; parts: ref_A=texts, hyp_NAME=texts, None is omitted."""
    lines = ["<?xml version='1.0' encoding='utf-8'?>", "<dataset>", '  <collection id="general">']
    for doc in dict.fromkeys(doc for doc, _ in keys):
        lines.append(f'    <doc origlang="en" id="{doc}" domain="{DOMAINS.get(doc, "news")}">')
        for kind, texts in {"src": srcs, **parts}.items():
            tag, _, name = kind.partition("_")
            label = {"src": "", "ref": f' translator="{name}"', "hyp": f' system="{name}"'}[tag]
            lines += [f'      <{tag} lang="{langs[tag != "src"]}"{label}>', "        <p>"]
            lines += [
                f'          <seg id="{seg}">{html.escape(text, quote=False)}</seg>'
                for (at, seg), text in zip(keys, texts, strict=True)
                if at == doc and text is not None
            ]
            lines += ["        </p>", f"      </{tag}>"]
        lines.append("    </doc>")
    return "\n".join([*lines, "  </collection>", "</dataset>"]) + "\n"


@pytest.fixture
def put(tmp_path):
    def make(name, content):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return make


@pytest.fixture
def three(put):
    """Source, reference and output in SGM."""
    return (
        put("src.sgm", sgm("srcset", SRCS, "src")),
        put("ref.sgm", sgm("refset", REFS, "ref")),
        put("newstest2019.Own.123.en-de.sgm", sgm("tstset", HYPS, "Own.123")),
    )


def the_same(test, refs="ref"):
    assert list(test.srcs) == SRCS
    assert {name: list(texts) for name, texts in test.refs.items()} == {refs: REFS}
    assert [list(texts) for texts in test.systems.values()] == [HYPS]
    assert list(zip(test.docs, test.domains, strict=True)) == [(d, DOMAINS[d]) for d, _ in KEYS]


def numbered(text):
    return text.replace("&", "&#38;").replace("<", "&#x3C;")


@pytest.mark.parametrize("escape", [str, html.escape, numbered])
def test_sgm_is_read_with_documents_domains_and_the_names_of_systems(put, escape):
    parts = (("srcset", SRCS, "any"), ("refset", REFS, "ref"), ("tstset", HYPS, "Own.123"))
    files = [put(f"{part[0]}.sgm", sgm(*part, escape=escape)) for part in parts]
    test = read_plain(*files)
    the_same(test)
    assert (list(test.systems), test.lp) == (["Own.123"], "en-de")


def test_the_foreign_reader_takes_the_same_texts_from_sgm(three, tmp_path):
    test = read_plain(*three, "en-de")
    columns = (test.srcs, test.refs["ref"], test.systems["Own.123"])
    for path, texts in zip(three, columns, strict=True):
        FakeSGMLDataset._convert_format(FakeSGMLDataset, str(path), str(tmp_path / "out"))
        assert (tmp_path / "out").read_text().splitlines() == list(texts)


def test_old_sgm_with_capital_tags_bare_attributes_and_another_order(put, three):
    order = [3, 4, 2, 1, 0]
    text = sgm("tstset", [HYPS[i] for i in order], "X", [KEYS[i] for i in order])
    text = text.replace("</p>\n", "").replace("<doc ", "<DOC ").replace("</doc>", "</DOC>")
    text = re.sub(r'<seg id="(\d)">', r"<SEG id=\1>", text).replace("</seg>", "</SEG>")
    head = (
        '<!DOCTYPE mteval SYSTEM "ftp://example.org/mteval.dtd">\n<!-- <seg id="9">no</seg> -->\n'
    )
    hyp = put("hyp.sgm", f"{head}<mteval>\n{text}</mteval>\n")
    the_same(read_plain(*three[:2], hyp, "en-de"))


def test_markup_within_a_segment_is_text(put, three):
    hyps = ["<unk> R&D </p>", "a<b>c", "&nbsp; &amp;amp; &copy=1", "a <src> b\n  c", "&b; &#0;"]
    expected = [*hyps[:2], "&nbsp; &amp; &copy=1", "a <src> b c", hyps[4]]
    head = '<!DOCTYPE a [<!ENTITY b "ha">]>\n'
    test = read_plain(three[0], None, put("h.sgm", head + sgm("tstset", hyps, "X")), "en-de")
    assert list(test.systems["X"]) == expected


def test_one_xml_file_is_a_whole_test_set(put):
    path = put("all.xml", xml(ref_A=REFS, hyp_Own=HYPS))
    for test in (load(path), read_plain(path, None, None), read_plain(path, path, path, "en-de")):
        the_same(test, "refA")
        assert (list(test.systems), test.lp, test.name) == (["Own"], "en-de", "all")
    assert list(load_candidates(path).tags) == ["Own"] * 5


def test_the_foreign_reader_takes_the_same_texts_from_xml(put):
    suite = '<doc id="s" testsuite="x"><src lang="en"><seg id="1">x</seg></src></doc>'
    short = [REFS[0], None, *REFS[2:4], None]
    text = xml(ref_A=[*REFS[:4], ""], ref_B=short, ref_C=[*HYPS[:4], ""], hyp_Own=HYPS)
    path = put("all.xml", text.replace("  </collection>", suite + "</collection>"))
    test, theirs = load(path), WMTXMLDataset._unwrap_wmt21_or_later(str(path))
    assert (list(test.srcs), list(test.docs)) == (theirs["src"], theirs["docid"])
    assert (list(test.systems["Own"]), list(test.domains)) == (theirs["Own"], theirs["domain"])
    assert len(test) == 4  # the last one has no reference
    refs = {name: list(texts) for name, texts in test.refs.items()}
    assert refs == {"refA": theirs["ref:A"], "refC": theirs["ref:C"]}  # B lacks a segment


def test_a_text_without_ids_has_the_order_of_the_sources(put, three):
    the_same(read_plain(*three[:2], put("mine.de", "\n".join(HYPS) + "\n"), "en-de"))
    with pytest.raises(DataError):
        read_plain(*three[:2], put("mine.de", "\n".join(HYPS[:4])), "en-de")
    with pytest.raises(DataError):
        read_plain(put("src.en", "\n".join(SRCS)), None, three[2], "en-de")


def test_systems_are_added_by_document(put, three):
    test = load(put("all.xml", xml(ref_A=REFS, hyp_Own=HYPS)))
    assert list(add_systems(test, [f"more={three[2]}"]).systems["more"]) == HYPS
    other = [("other", str(i)) for i in range(5)]
    with pytest.raises(DataError):
        add_systems(test, [put("h.sgm", sgm("tstset", HYPS, "X", other))])


WRONG = {  # damage of the output -> the line in the error
    "missing": (lambda t: t.replace(f'<seg id="2">{HYPS[3]}</seg>\n', ""), None),
    "repeated": (lambda t: t.replace('<seg id="3">', '<seg id="2">'), 12),
    "not closed": (lambda t: t.replace("Ja!</seg>", "Ja!"), 5),
    "no id": (lambda t: t.replace('<seg id="2">J', "<seg>J"), 5),
    "no document": (lambda t: t.replace('docid="chat-7" ', ""), 10),
    "sources": (lambda t: t.replace("tstset", "srcset"), None),
    "cut": (lambda t: t[: t.index("Ja!")], 5),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_malformed_sgm_is_refused_with_its_line(put, three, wrong):
    change, line = WRONG[wrong]
    hyp = put("hyp.sgm", change(sgm("tstset", HYPS, "X")))
    with pytest.raises(DataError) as error:
        read_plain(*three[:2], hyp, "en-de")
    assert error.value.line == line
    assert line is None or error.value.path == hyp


def test_malformed_xml_is_refused(put):
    text = xml(ref_A=REFS, hyp_Own=HYPS)
    for bad in (
        text[: len(text) // 2],
        text.replace('"chat-7"', '"news.1"'),
        text.replace('<seg id="2">Ja!</seg>', ""),
    ):
        with pytest.raises(DataError):
            load(put("all.xml", bad))
    bomb = '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>\n<dataset'
    text = text.replace("<dataset", bomb, 1).replace("Yes.", "&b;")
    assert load(put("all.xml", text)).srcs[1] == "&b;"  # nothing is expanded


def test_a_long_broken_file_takes_linear_time():
    for piece in ("<seg ", "<seg>", "<!--", "<seg id=1>a<", "&#", " ", "<doc ", "a"):
        for root in ("<tstset>", "<dataset>"):
            with contextlib.suppress(DataError):
                _marked(root + piece * 200_000, "long.sgm")
