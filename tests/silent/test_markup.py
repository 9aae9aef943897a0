"""SGM and XML of WMT are test sets and no texts; packed texts are texts; other markup is refused."""

import contextlib
import gzip
import html
import lzma
import re
import tracemalloc

import pytest
import sacrebleu
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset
from sacrebleu.dataset.wmt_xml import WMTXMLDataset

from anhelpers import cli
from anhelpers.data import (
    add_systems,
    load,
    load_candidates,
    load_mono,
    packed,
    read_candidates,
    read_lines,
    read_plain,
)
from anhelpers.data.markup import read_marked
from anhelpers.errors import DataError

SRCS = [
    "The dog & the cat.",
    "Yes.",
    'He said: "no" < maybe.',
    "It does not rain today.",
    "We sleep.",
]
REFS = [
    "Der Hund & die Katze.",
    "Ja.",
    'Er sagte: "nein" < vielleicht.',
    "Es regnet heute nicht.",
    "Wir schlafen.",
]
HYPS = [
    "Ein Hund & eine Katze.",
    "Ja!",
    'Er sagte "nein" < kann sein.',
    "Es regnet heute nie.",
    "Wir schlafen nun.",
]
KEYS = [("news.1", "1"), ("news.1", "2"), ("chat-7", "1"), ("chat-7", "2"), ("chat-7", "3")]
DOMAINS = {"news.1": "news", "chat-7": "conversation"}


def sgm(kind, texts, sysid, keys=KEYS, escape=lambda text: text):
    """A file as WMT made them to 2020: one line per segment, documents in paragraphs, texts as they are."""
    lang = 'srclang="en"' if kind == "srcset" else 'srclang="en" trglang="de"'
    lines, at = [f'<{kind} setid="newstest2019" {lang}>'], None
    for (doc, seg), text in zip(keys, texts, strict=True):
        if doc != at:
            lines += ["</p>", "</doc>"] if at else []
            lines += [
                f'<doc sysid="{sysid}" docid="{doc}" genre="{DOMAINS.get(doc, "news")}" origlang="en">',
                "<p>",
            ]
        at = doc
        lines.append(f'<seg id="{seg}">{escape(text)}</seg>')
    return "\n".join([*lines, "</p>", "</doc>", f"</{kind}>"]) + "\n"


def xml(srcs=SRCS, keys=KEYS, domain="domain", **parts):
    """A file as WMT made them in 2021 and 2022; parts: ref_A=texts, hyp_NAME=texts, a None is left out."""
    lines = [
        "<?xml version='1.0' encoding='utf-8'?>",
        '<dataset id="generaltest2022">',
        '  <collection id="general">',
    ]
    for doc in dict.fromkeys(doc for doc, _ in keys):
        lines.append(f'    <doc origlang="en" id="{doc}" {domain}="{DOMAINS.get(doc, "news")}">')
        for kind, texts in {"src": srcs, **parts}.items():
            tag, _, name = kind.partition("_")
            said = {
                "src": ' lang="en"',
                "ref": f' lang="de" translator="{name}"',
                "hyp": f' lang="de" system="{name}"',
            }
            lines += [f"      <{tag}{said[tag]}>", "        <p>"]
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
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
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
    assert list(test.docs) == [doc for doc, _ in KEYS]
    assert list(test.domains) == [DOMAINS[doc] for doc, _ in KEYS]


@pytest.mark.parametrize(
    "escape", [str, html.escape, lambda t: t.replace("&", "&#38;").replace("<", "&#x3C;")]
)
def test_sgm_is_read_with_documents_domains_and_the_names_of_systems(put, escape):
    src, ref, hyp = (
        put(f"{kind}.sgm", sgm(kind, texts, name, escape=escape))
        for kind, texts, name in (
            ("srcset", SRCS, "any"),
            ("refset", REFS, "ref"),
            ("tstset", HYPS, "Own.123"),
        )
    )
    test = read_plain(src, ref, hyp, "en-de")
    the_same(test)
    assert (list(test.systems), test.notes) == (["Own.123"], ())


def test_scores_of_sgm_are_those_of_plain_files(three, put, capsys):
    plain = [put(f"{i}.txt", "\n".join(texts) + "\n") for i, texts in enumerate((SRCS, REFS, HYPS))]
    rows = []
    for src, ref, hyp in (three, plain):
        assert not cli.main(
            [
                "score",
                "-s",
                f"{src}",
                "-r",
                f"{ref}",
                "-t",
                f"{hyp}",
                "-m",
                "chrf",
                "bleu",
                "-l",
                "en-de",
            ]
        )
        rows.append([line.split(",")[1:4] for line in capsys.readouterr().out.split("\n")[1:-1]])
    assert rows[0] == rows[1]
    assert float(rows[0][0][2]) == pytest.approx(
        sacrebleu.corpus_chrf(HYPS, [REFS]).score, abs=1e-9
    )


def test_the_foreign_reader_takes_the_same_texts_from_sgm(three, tmp_path):
    test = read_plain(*three, "en-de")
    for path, texts in zip(
        three, (test.srcs, test.refs["ref"], test.systems["Own.123"]), strict=True
    ):
        FakeSGMLDataset._convert_format(FakeSGMLDataset, str(path), str(tmp_path / "out"))
        assert (tmp_path / "out").read_text().splitlines() == list(texts)


def test_segments_are_matched_by_document_and_number_whatever_their_order(three, put):
    order = [3, 4, 2, 1, 0]
    shuffled = put(
        "hyp.sgm", sgm("tstset", [HYPS[i] for i in order], "X", [KEYS[i] for i in order])
    )
    the_same(read_plain(three[0], three[1], shuffled, "en-de"))


def test_old_sgm_with_capital_tags_bare_attributes_and_open_paragraphs(put):
    text = (
        sgm("tstset", HYPS, "X")
        .replace("</p>\n", "")
        .replace("<doc ", "<DOC ")
        .replace("</doc>", "</DOC>")
    )
    text = re.sub(r'<seg id="(\d)">', r"<SEG id=\1>", text).replace("</seg>", "</SEG>")
    head = '<!DOCTYPE mteval SYSTEM "ftp://example.org/mteval.dtd">\n<!-- <seg id="9">no</seg> -->\n<mteval>\n'
    hyp = put("hyp.sgm", head + text + "</mteval>\n")
    the_same(
        read_plain(
            put("s.sgm", sgm("srcset", SRCS, "s")),
            put("r.sgm", sgm("refset", REFS, "ref")),
            hyp,
            "en-de",
        )
    )


def test_markup_within_a_segment_is_text(put):
    hyps = ["<unk> R&D </p> <seg", "a<b>c", "&nbsp; &amp;amp;", "<doc docid='x'>", "x & y;"]
    expected = ["<unk> R&D </p> <seg", "a<b>c", "&nbsp; &amp;", "<doc docid='x'>", "x & y;"]
    hyps[0], expected[0] = hyps[0].replace(" <seg", ""), expected[0].replace(" <seg", "")
    src = put("s.sgm", sgm("srcset", SRCS, "s"))
    test = read_plain(src, None, put("h.sgm", sgm("tstset", hyps, "X")), "en-de")
    assert list(test.systems["X"]) == expected


def test_one_xml_file_is_a_whole_test_set(put, capsys):
    path = put("all.xml", xml(ref_A=REFS, hyp_Own=HYPS))
    for test in (
        load(path),
        read_plain(path, None, None, "en-de"),
        read_plain(path, path, path, "en-de"),
    ):
        the_same(test, "refA")
        assert (list(test.systems), test.lp, test.name) == (["Own"], "en-de", "all")
    assert list(load_candidates(path).tags) == ["Own"] * 5
    for typed in (["--data", str(path)], ["-s", str(path)]):
        assert not cli.main(["score", *typed, "-m", "bleu"])
        out, err = capsys.readouterr()
        value = float(out.split("\n")[1].split(",")[3])
        assert value == pytest.approx(sacrebleu.corpus_bleu(HYPS, [REFS]).score, abs=1e-9)
        assert "compared with the reference refA." in err  # which nobody typed


def test_the_foreign_reader_takes_the_same_texts_from_xml(put):
    path = put("all.xml", xml(ref_A=REFS, ref_B=HYPS, hyp_Own=HYPS))
    test, theirs = load(path), WMTXMLDataset._unwrap_wmt21_or_later(str(path))
    assert (list(test.srcs), list(test.docs)) == (theirs["src"], theirs["docid"])
    assert (list(test.refs["refA"]), list(test.refs["refB"])) == (theirs["ref:A"], theirs["ref:B"])
    assert (list(test.systems["Own"]), list(test.domains)) == (theirs["Own"], theirs["domain"])


def test_segments_without_a_reference_and_test_suites_are_left_out_as_sacrebleu_does(put):
    text = xml(ref_A=[*REFS[:4], ""], ref_B=[REFS[0], None, *REFS[2:4], None], hyp_Own=HYPS)
    suite = (
        '<doc origlang="en" id="suite" testsuite="x"><src lang="en"><seg id="1">x</seg></src></doc>'
    )
    path = put("all.xml", text.replace("  </collection>", suite + "</collection>"))
    test, theirs = load(path), WMTXMLDataset._unwrap_wmt21_or_later(str(path))
    assert (
        (list(test.srcs), list(test.systems["Own"]))
        == (theirs["src"], theirs["Own"])
        == (SRCS[:4], HYPS[:4])
    )
    assert {name: list(texts) for name, texts in test.refs.items()} == {"refA": theirs["ref:A"]}
    assert "1 of 5 segments are left out: no reference of all.xml has them." in test.notes
    assert "refB is left out: it has no segment 2 of document 'news.1' (1 such)." in test.notes
    assert "all.xml: 1 documents of test suites are left out." in test.notes


def test_a_text_without_ids_stands_for_the_sources_in_order(put, three):
    mine = put("mine.de", "\n".join(HYPS) + "\n\n")
    test = read_plain(three[0], three[1], mine, "en-de")
    the_same(test)
    assert (
        "mine.de has no ids: its lines are taken in the order of src.sgm's segments." in test.notes
    )
    assert "mine.de: 1 blank lines at its end are left out." in test.notes
    with pytest.raises(DataError, match=r"mine\.de: has 4 lines, and .*src\.sgm has 5 segments"):
        read_plain(three[0], three[1], put("mine.de", "\n".join(HYPS[:4])), "en-de")
    with pytest.raises(DataError, match="a text without; give the sources as SGM or XML too"):
        read_plain(put("src.en", "\n".join(SRCS)), None, three[2], "en-de")


def test_a_folder_stands_for_its_files(put, three):
    for name in ("A", "B"):
        put(f"outputs/{name}.sgm", sgm("tstset", HYPS, f"sys-{name}"))
    folder = three[0].parent / "outputs"
    assert list(read_plain(three[0], three[1], folder, "en-de").systems) == ["sys-A", "sys-B"]
    assert list(read_plain(three[0], three[1], [f"mine={folder / 'A.sgm'}"], "en-de").systems) == [
        "mine"
    ]


def test_systems_are_added_by_document(put, three):
    test = load(put("all.xml", xml(ref_A=REFS, hyp_Own=HYPS)))
    more = add_systems(test, [f"more={three[2]}"])
    assert list(more.systems["more"]) == HYPS
    with pytest.raises(DataError, match=r"has no segment 1 of document 'news\.1'"):
        add_systems(
            test, [put("h.sgm", sgm("tstset", HYPS, "X", [("other", str(i)) for i in range(5)]))]
        )


WRONG = {  # what is wrong with the output -> what the message says
    "a segment is missing": (
        lambda t: t.replace(f'<seg id="2">{HYPS[3]}</seg>\n', ""),
        r"has no segment 2 of document 'chat-7' \(1 of 5 are missing\)",
    ),
    "another document": (
        lambda t: t.replace("chat-7", "chat-8"),
        "has no segment 1 of document 'chat-7'",
    ),
    "one too many": (
        lambda t: t.replace("</doc>\n</tstset>", '<seg id="9">x</seg></doc>\n</tstset>'),
        "has a segment 9 of document 'chat-7', and .* has none",
    ),
    "the same twice": (
        lambda t: t.replace('<seg id="3">', '<seg id="2">'),
        "line 12: segment 2 .* is there twice",
    ),
    "a segment that is not closed": (
        lambda t: t.replace("Ja!</seg>", "Ja!"),
        "line 5: a segment is not closed",
    ),
    "a segment without id": (
        lambda t: t.replace('<seg id="2">J', "<seg>J"),
        "line 5: <seg> without id",
    ),
    "a document without id": (lambda t: t.replace('docid="chat-7" ', ""), "<doc> without docid"),
    "another language": (
        lambda t: t.replace('trglang="de"', 'trglang="zh"'),
        "languages en-zh, and en-de",
    ),
    "no segment": (lambda t: re.sub("<seg.*", "", t), "holds no segment"),
    "declared entities": (
        lambda t: '<!DOCTYPE a [<!ENTITY b "ha">]>\n' + t.replace("Ja", "&b;"),
        "declares entities",
    ),
    "sources": (lambda t: t.replace("tstset", "srcset"), "holds no translation"),
    "a broken end": (lambda t: t[: len(t) // 2], "not closed|no segment"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_with_sgm_is_one_sentence(put, three, wrong):
    change, says = WRONG[wrong]
    hyp = put("hyp.sgm", change(sgm("tstset", HYPS, "X")))
    with pytest.raises(DataError, match=says) as error:
        read_plain(three[0], three[1], hyp, "en-de")
    assert "hyp.sgm" in str(error.value)
    assert "\n" not in str(error.value)


BOMB = (
    '<!DOCTYPE d [<!ENTITY a0 "ha">'
    + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
    + "]>\n"
)
WRONG_XML = {
    "a bomb of entities": (
        lambda t: t.replace("<dataset", BOMB + "<dataset", 1).replace("Yes.", "&a11;"),
        "entities",
    ),
    "a file from elsewhere": (
        lambda t: t.replace("<dataset", '<!DOCTYPE d SYSTEM "file:///etc/passwd">\n<dataset', 1),
        "document type",
    ),
    "a bare ampersand": (lambda t: t.replace("&amp;", "&"), "line 7: is no well-formed XML"),
    "a broken end": (lambda t: t[: len(t) // 2], "is no well-formed XML"),
    "an element in a segment": (
        lambda t: t.replace("Yes.", "Y<b>e</b>s."),
        "line 8: a segment holds <b>",
    ),
    "two source languages": (
        lambda t: t.replace('<src lang="en">', '<src lang="cs">', 1),
        "two source languages",
    ),
    "the same document twice": (
        lambda t: t.replace('"chat-7"', '"news.1"'),
        "segment 1 of document 'news.1' is there",
    ),
    "a system with a gap": (
        lambda t: t.replace('<seg id="2">Ja!</seg>', ""),
        "Own has no segment 2 of",
    ),
    "no languages": (
        lambda t: re.sub(' lang="..', ' lang="any', t),
        "does not declare its languages",
    ),
}


@pytest.mark.parametrize("wrong", WRONG_XML)
def test_what_is_wrong_with_xml_is_one_sentence(put, wrong):
    change, says = WRONG_XML[wrong]
    with pytest.raises(DataError, match=says) as error:
        load(put("all.xml", change(xml(ref_A=REFS, hyp_Own=HYPS))))
    assert "\n" not in str(error.value)


PIECES = (
    *(
        "<seg",
        "</seg>",
        "<doc",
        "</doc>",
        "<!--",
        "-->",
        "&",
        "&#0;",
        "&#x110000;",
        '"',
        ">",
        "]]>",
        "<![CDATA[",
        "\r",
    ),
    *("<p>", "<hyp>", 'id="1"', "\ufeff", "<!DOCTYPE x>", "\x01"),
)


@given(
    st.booleans(),
    st.lists(
        st.tuples(st.integers(0, 2000), st.integers(0, 30), st.sampled_from(PIECES)), max_size=4
    ),
)
def test_damaged_markup_is_read_or_refused(tmp_path_factory, old, changes):
    text = sgm("tstset", HYPS, "X") if old else xml(ref_A=REFS, hyp_Own=HYPS)
    for at, gone, piece in changes:
        text = text[:at] + piece + text[at + gone :]
    path = tmp_path_factory.mktemp("damaged") / "all.xml"
    path.write_text(text, encoding="utf-8")
    with contextlib.suppress(DataError):
        found = read_marked(path.read_bytes(), path)
        if found is not None and not old:
            test = load(path)
            assert all(
                len(texts) == len(test) for texts in (*test.refs.values(), *test.systems.values())
            )


def test_a_long_broken_file_takes_no_hours(put):
    for piece in ("<seg ", "<seg>", "<!--", "<seg id=1>a<", "&#", " ", "<doc ", "a"):
        with contextlib.suppress(DataError):
            read_marked(b"<tstset>" + piece.encode() * 200_000, "long.sgm")
        with contextlib.suppress(DataError):
            read_marked(b"<dataset>" + piece.encode() * 200_000, "long.xml")


OTHER = {
    "TMX": '<?xml version="1.0"?>\n<tmx version="1.4">\n<body>\n<tu><seg>Yes.</seg></tu>\n</body>\n</tmx>\n',
    "TMX in one line": '<?xml version="1.0"?><tmx><body><tu><seg>Yes.</seg></tu></body></tmx>',
    "XLIFF": '<xliff version="1.2">\n<file>\n<unit id="1">\n<source>Yes.</source>\n</unit>\n</file>\n</xliff>\n',
    "a piece of HTML": "<div>\n<p>Der Hund.</p>\n<p>Die Katze.</p>\n</div>\n",
    "SGM without a set": '<doc docid="a">\n<seg id="1">Ja.</seg>\n<seg id="2">Nein.</seg>\n</doc>\n',
}


@pytest.mark.parametrize("kind", OTHER)
def test_other_markup_is_refused_where_texts_are_read(put, kind):
    path = put("text.de", OTHER[kind])
    n = len(OTHER[kind].splitlines())
    src = put("src.en", "x\n" * n)
    for read in (
        read_lines,
        load_mono,
        lambda p: read_plain(src, None, p, "en-de"),
        lambda p: read_candidates(p, ["x"] * n, 1),
    ):
        with pytest.raises(DataError, match="this is markup"):
            read(path)


@pytest.mark.parametrize("kind", ["srcset", "dataset"])
def test_wmts_markup_is_refused_where_a_plain_text_is_wanted(put, kind):
    path = put("mono.de", sgm("srcset", SRCS, "s") if kind == "srcset" else xml())
    with pytest.raises(DataError, match=r"this is markup.* read as test sets"):
        load_mono(path)


def test_lines_that_hold_tags_are_no_markup(put):
    lines = ("<b>Hund</b>", "Die <i>Katze</i> schläft.", "Kein Regen.", "a < b", "<3", "Nein.")
    assert read_lines(put("a.de", "\n".join(lines) + "\n")) == lines


PACK = {
    ".gz": gzip.compress,
    ".xz": lambda data: lzma.compress(data, preset=0),
    ".zst": lambda data: zstandard.ZstdCompressor().compress(data),
}


@pytest.mark.parametrize("ending", PACK)
def test_a_packed_text_is_the_text(put, three, ending):
    pack = PACK[ending]
    src, ref, hyp = (
        put(f"{name}{ending}", pack("\n".join(texts).encode() + b"\n"))
        for name, texts in (("src.en", SRCS), ("ref.de", REFS), ("mine.de", HYPS))
    )
    test = read_plain(src, ref, hyp, "en-de")
    assert (list(test.srcs), list(test.refs["ref"]), list(test.systems["mine"])) == (
        SRCS,
        REFS,
        HYPS,
    )
    assert test.name == "src"
    two = put(f"two{ending}", pack(b"a\nb\n") + pack(b"c\n"))
    assert read_lines(two) == load_mono(two) == ("a", "b", "c")
    packed_sgm = [put(f"{path.name}{ending}", pack(path.read_bytes())) for path in three]
    the_same(read_plain(*packed_sgm, "en-de"))
    cands = put(f"c.JSONL{ending}", pack(b'{"segment": 0, "text": "a"}\n'))
    assert read_candidates(cands).texts == ("a",)
    for cut in (pack(b"abc\n" * 500)[:-5], pack(b"a\n") + b"rest", pack(b"")[:6] + b"x" * 30):
        with pytest.raises(DataError, match=r"is packed by (gzip|xz|zstd) and damaged or cut off"):
            read_lines(put(f"cut{ending}", cut))


@pytest.mark.parametrize("ending", PACK)
def test_a_bomb_does_not_take_the_memory(put, monkeypatch, ending):
    monkeypatch.setattr(packed, "MOST_UNPACKED", 2**20)
    path = put(f"bomb{ending}", PACK[ending](b"\0" * 50_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="has more than 1 MiB when unpacked"):
            read_lines(path)
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()


def test_a_packed_tree_of_wmt(tmp_path):
    texts = {
        "sources/en-de.txt": SRCS,
        "references/en-de.refA.txt": REFS,
        "system-outputs/en-de/A.TXT": HYPS,
    }
    texts["documents/en-de.docs"] = [f"news\t{doc}" for doc, _ in KEYS]
    for name, lines in texts.items():
        path = tmp_path / f"{name}.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress("\n".join(lines).encode() + b"\n"))
    test = load(tmp_path)
    assert (list(test.srcs), list(test.systems), list(test.refs)) == (SRCS, ["A"], ["refA"])
    assert test.docs[0] == "news.1"
    (tmp_path / "system-outputs/en-de/A.txt").write_text("x\n" * 5)
    with pytest.raises(DataError, match="has the same name"):
        load(tmp_path)


@pytest.mark.real
@pytest.mark.parametrize("name", ["wmt23/en-de", "wmt24/en-de", "wmt24/ja-zh"])
def test_real_lines_in_markup_score_as_the_plain_files_do(put, name):
    test = load(name).one_reference()
    systems = {s: test.systems[s] for s in list(test.systems)[:2]}
    seen, keys = {}, []
    docs = (
        test.docs if len(set(test.docs)) < len(test) else [f"d{i // 40}" for i in range(len(test))]
    )
    for doc in docs:
        seen[doc] = seen.get(doc, 0) + 1
        keys.append((doc, str(seen[doc])))
    src = put(
        "src.sgm", sgm("srcset", test.srcs, "src", keys).replace('srclang="en"', 'srclang="any"')
    )
    ref = put(
        "ref.sgm",
        sgm("refset", test.refs[test.reference], "ref", keys, html.escape)
        .replace('"en"', '"any"')
        .replace('trglang="de"', f'trglang="{test.trg_lang}"'),
    )
    hyps = [
        put(
            f"{s}.sgm",
            sgm("tstset", texts, s, keys).replace('"en"', '"any"').replace('"de"', '"any"'),
        )
        for s, texts in systems.items()
    ]
    parts = {
        "ref_A": test.refs[test.reference],
        **{f"hyp_{s}": texts for s, texts in systems.items()},
    }
    whole = put(
        "all.xml",
        xml(test.srcs, keys, **parts)
        .replace('lang="en"', f'lang="{test.src_lang}"')
        .replace('lang="de"', f'lang="{test.trg_lang}"'),
    )
    theirs = WMTXMLDataset._unwrap_wmt21_or_later(str(whole))
    for found in (read_plain(src, ref, hyps, test.lp), load(whole)):
        assert found.srcs == test.srcs
        assert next(iter(found.refs.values())) == test.refs[test.reference]
        for system, texts in systems.items():
            assert found.systems[system] == texts
            assert list(map(str.strip, texts)) == list(map(str.strip, theirs[system]))
    cut = "zh" if test.trg_lang == "zh" else "13a"
    system, texts = next(iter(systems.items()))
    mine = sacrebleu.corpus_bleu(
        list(load(whole).systems[system]), [list(load(whole).refs["refA"])], tokenize=cut
    )
    other = sacrebleu.corpus_bleu(theirs[system], [theirs["ref:A"]], tokenize=cut)
    assert mine.score == pytest.approx(other.score, abs=1e-9)
