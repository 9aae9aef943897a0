"""`anhelpers plane`, as a user types it."""

import os
import re
from argparse import Namespace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sacrebleu

from anhelpers import cli
from anhelpers.cli.entries import split_kinds
from anhelpers.cli.mono import given_mono
from anhelpers.data import bundled, load, load_mono
from anhelpers.errors import UnknownName
from anhelpers.naturalness.prints import line_fingerprints

pytestmark = pytest.mark.neural
TREE = "references/en-de.refB.txt"
WRITTEN = {
    "MADE.txt",
    "appendix.tex",
    "appendix.txt",
    "caption.tex",
    "claim.csv",
    "curve.csv",
    "pairs.csv",
    "plane.html",
    "plane.pdf",
    "plane.png",
    "plane.svg",
    "refs.bib",
    "systems.csv",
    "systems.tex",
}
ZOOM = {"zoom.pdf", "zoom.png", "zoom.svg"}
"""Written where a name found no room."""


@pytest.fixture
def mine(tmp_path):
    """One's own system for the teaching set: MT-Tuned with one word changed."""
    path = tmp_path / "mine.txt"
    hyps = [text.replace("der", "die", 1) for text in load("teaching").systems["MT-Tuned"]]
    hyps[7] = ""
    path.write_text("\n".join(hyps) + "\n", encoding="utf-8")
    return path


def plane(tmp_path, tiny_lm, *more):
    return cli.main(
        [
            "plane",
            "--lm",
            str(tiny_lm),
            "--draws",
            "100",
            "-o",
            str(tmp_path / "out"),
            *map(str, more),
        ]
    )


def test_my_system_stands_among_those_of_a_data_set(tmp_path, tiny_lm, mine, capsys):
    assert plane(tmp_path, tiny_lm, "--data", "teaching", "--mine", mine, "--by", "domain") == 0
    out = tmp_path / "out"
    assert {p.name for p in out.iterdir()} - ZOOM == WRITTEN | {"slices.csv"}
    table = pd.read_csv(out / "systems.csv")
    assert table.system.tolist() == [*load("teaching").systems, "mine", "refA"]
    assert not table.set_index("system").among_candidates["mine"]
    assert table.n.eq(51).all()
    err = capsys.readouterr().err
    assert "note: mine: 1 blank hypothesis of 52." in err
    assert (
        "mine is blank in 1 of 52 segments where the other systems have text: left out for all and for the"
        in err
    )
    assert not table.above_curve[table.among_candidates].any()
    assert table.accuracy_low.notna().all()
    assert len(pd.read_csv(out / "pairs.csv")) == 2 * 10 * 9 / 2
    latex = (out / "systems.tex").read_text()
    # two tables, each a head and 10 systems
    assert len(re.findall(r"^(?:\\textbf\{)?[\w-]+\}?\*? & .*\\\\$", latex, flags=re.M)) == 22
    assert latex.count("\\textbf{") == 2 * table.pareto.sum()
    assert len(re.findall(r"refA\}?\*", latex)) == 2
    assert re.findall(r"\\label\{(.+)\}", latex) == ["tab:plane", "tab:plane-gaps"]
    assert "made up: none of its numbers is a finding" in err + (out / "appendix.tex").read_text()
    told = (out / "appendix.txt").read_text()
    assert table.accuracy_signature[0] in told
    assert table.naturalness_signature[0] in told
    assert "bootstrap intervals from 100 resamples of documents" in told
    assert (
        "on each axis for 21 pairs and, by themselves, 7 pairs with added ones, 17 pairs with people."
        in told
    )
    page = (out / "plane.html").read_text()
    assert 'src="http' not in page
    assert "mine" in page
    assert "Near the frontier the claim" in page


def test_what_stands_on_stderr_stands_in_the_appendix_and_on_the_page(tmp_path, tiny_lm, capsys):
    test, files = load("teaching"), {}
    rows = [i for i, doc in enumerate(test.docs) if doc in list(dict.fromkeys(test.docs))[:4]]
    for name, texts in {"src": test.srcs, "ref": test.refs["refB"], **test.systems}.items():
        files[name] = tmp_path / f"{name}.txt"
        files[name].write_text("".join(f"{texts[i]}\n" for i in rows), "utf-8")
    docs = tmp_path / "docs"
    docs.write_text("".join(f"{test.domains[i]}\t{test.docs[i]}\n" for i in rows), "utf-8")
    typed = [
        "-s",
        files.pop("src"),
        "-r",
        files.pop("ref"),
        "-t",
        *list(files.values())[:4],
        "-l",
        "en-de",
    ]
    assert (
        plane(tmp_path, tiny_lm, *typed, "--docs", docs, "--by", "length", "--naturalness", "zip")
        == 0
    )
    out, err = tmp_path / "out", capsys.readouterr().err
    told, page, latex = (
        (out / name).read_text("utf-8") for name in ("appendix.txt", "plane.html", "systems.tex")
    )
    tests = page.partition("<h2>Paired tests")[2]
    for sentence in (
        "No difference can be significant: the outputs of 4 documents",
        "4 documents",
        "are few: the int",
    ):
        assert all(sentence in text for text in (err, told, tests, latex))
    for text in (told, tests, latex):
        assert "100 resamples are too few for the ends of 95" in text
    assert (
        err.count("Slices of few documents (short (")
        == told.count("Slices of few documents (short (")
        == 1
    )
    assert "<th>n_docs</th>" in page.partition("<h2>Slices")[2].partition("<h2>")[0]
    assert "--" not in told.partition("Computed with")[0]
    assert "compare fewer systems" in err
    assert "compare fewer" not in told + latex
    assert "See " not in told
    ranks = page.partition("<h2>Ranks and clusters")[2].partition("<h2>")[0]
    assert "people, gets the ranks that it would have" in ranks
    assert "accuracy cluster" in ranks
    assert "accuracy cluster" not in page.partition("<h2>Ranks")[0].partition("<h2>Systems")[2]
    assert plane(tmp_path, tiny_lm, *typed) == 0
    err, told = capsys.readouterr().err, (out / "appendix.txt").read_text("utf-8")
    assert (
        "Documents are not known: segments count as independent, and intervals may be too short; name them by"
        in err
    )
    assert "intervals may be too short. 100 resamples are too few" in told
    assert "is undecided, because" in told or " holds: r" in told
    for sentence in re.split(r"(?<=[a-z)0-9])\. ", told.partition("Computed with")[0]):
        assert not sentence[:1].islower(), sentence


def test_plain_files_at_corpus_level_give_sacrebleu_s_score(tmp_path, tiny_lm, mine, capsys):
    tree, test = bundled("teaching/en-de/txt"), load("teaching")
    ref, src = tree / TREE, tree / "sources" / "en-de.txt"
    more = ("-s", src, "-r", ref, "-t", mine, "-m", "bleu", "--level", "corpus")
    assert plane(tmp_path, tiny_lm, *more) == 0
    table = pd.read_csv(tmp_path / "out" / "systems.csv")
    hyps, refs = mine.read_text(encoding="utf-8").split("\n")[:-1], list(test.refs["refB"])
    blank = hyps.pop(7), refs.pop(7)
    assert blank[0] == ""
    assert table.accuracy[0] == pytest.approx(sacrebleu.BLEU().corpus_score(hyps, [refs]).score)
    assert table.n[0] == 51
    assert "accuracy_gap" not in table
    assert not (tmp_path / "out" / "curve.csv").exists()
    out, err = capsys.readouterr()
    assert "it takes 4 different systems; here: 1 different system on 51 segments" in out
    assert "note: 1 of 52 segments are left out: no system has any text there." in err


def test_sanity_rows_are_placed_and_take_no_part_in_the_claim(tmp_path, tiny_lm, capsys):
    assert plane(tmp_path, tiny_lm, "--data", "teaching", "--sanity", "--against", "MT-Base") == 0
    table = pd.read_csv(tmp_path / "out" / "systems.csv").set_index("system")
    assert table.accuracy["empty"] == 0
    assert np.isnan(table.naturalness["empty"])
    assert table.n["MT-Base"] == 52
    claim = pd.read_csv(tmp_path / "out" / "claim.csv")
    assert not claim.systems.str.contains("shuffled|copied").any()
    pairs = pd.read_csv(tmp_path / "out" / "pairs.csv")
    assert pairs.system_a.eq("MT-Base").all()


def test_wrong_files_are_one_sentence_and_leave_nothing(tmp_path, tiny_lm, mine, capsys):
    lines = mine.read_text(encoding="utf-8").splitlines()
    cases = {
        "shifted": (
            [*lines[1:], ""],
            r"shifted, from segment 1: \d+ lines fit the reference 1 segment later",
        ),
        "short": (lines[:-1], r"short.txt: has 51 lines, and teaching has 52 segments"),
        "MT-Base": (lines, "teaching has a 'MT-Base' already; give this one another name"),
    }
    for name, (texts, words) in cases.items():
        path = tmp_path / f"{name}.txt"
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        assert plane(tmp_path, tiny_lm, "--data", "teaching", "--mine", path) == 2
        err = capsys.readouterr().err
        assert re.search(words, err), err
        assert len([line for line in err.splitlines() if not line.startswith("note:")]) == 1
    assert plane(tmp_path, tiny_lm) == 2
    assert "one of the two" in capsys.readouterr().err
    assert plane(tmp_path, tiny_lm, "--data", "teaching", "--against", "Online") == 2
    assert "did you mean 'Online-" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.real
@pytest.mark.skipif(
    "ANHELPERS_DATA" not in os.environ, reason="set ANHELPERS_DATA to the shared data sets"
)
def test_systems_of_wmt23_without_documents_are_resampled_by_segment(tmp_path, tiny_lm, capsys):
    test = load("wmt23/en-de").subset(slice(0, 60))
    for name, texts in {"src": test.srcs, "ref": test.refs["refA"], **test.systems}.items():
        (tmp_path / f"{name}.txt").write_text(
            "".join(f"{text[:200]}\n" for text in texts), encoding="utf-8"
        )
    files = {name: tmp_path / f"{name}.txt" for name in test.systems}
    more = ("-s", tmp_path / "src.txt", "-r", tmp_path / "ref.txt", "-t", *files.values())
    assert plane(tmp_path, tiny_lm, *more) == 0
    table = pd.read_csv(tmp_path / "out" / "systems.csv")
    assert len(table) == 12
    assert table.n_docs.eq(60).all()
    assert not table.above_curve.any()
    assert "resamples of segments" in (tmp_path / "out" / "appendix.txt").read_text()


def test_one_system_has_a_curve_of_one_point_which_is_told(tmp_path, tiny_lm, capsys):
    test = load("teaching")
    texts = {"src": test.srcs, "ref": test.streams[0], "mine": test.systems["MT-Base"]}
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    more = ("-s", tmp_path / "src", "-r", tmp_path / "ref", "-t", tmp_path / "mine")
    assert plane(tmp_path, tiny_lm, *more, "-l", "en-de") == 0
    told = "Each source has one candidate: there is nothing to choose, the curve is one point"
    assert told in capsys.readouterr().err
    appendix = (tmp_path / "out" / "appendix.txt").read_text("utf-8")
    assert told in appendix
    assert ": 1 system, 5" in appendix
    assert ": 1 system by chrF" in (tmp_path / "out" / "caption.tex").read_text("utf-8")


def test_results_of_two_runs_never_stand_side_by_side(tmp_path, tiny_lm, capsys, monkeypatch):
    out = tmp_path / "out"
    assert plane(tmp_path, tiny_lm, "--data", "teaching", "--by", "domain") == 0
    (out / "mine.txt").write_text("not a result", "utf-8")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    monkeypatch.setattr("anhelpers.report.write_page", lambda *parts: 1 / 0)
    assert plane(tmp_path, tiny_lm, "--data", "teaching", "--naturalness", "mtld") == 70
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    monkeypatch.undo()
    capsys.readouterr()
    assert (
        plane(tmp_path, tiny_lm, "--data", "teaching", "--naturalness", "mtld", "--by", "domain")
        == 0
    )
    err = capsys.readouterr().err
    assert "note: no slices by domain: the naturalness is known per system only." in err
    wanted = WRITTEN - {"curve.csv", "claim.csv"}
    assert {path.name for path in out.iterdir()} - ZOOM == wanted | {"mine.txt"}
    assert set(re.findall(r"wrote \S+/(\S+)", err)) - ZOOM == wanted


def test_systems_over_their_own_segments_are_not_tested(tmp_path, tiny_lm, capsys):
    assert (
        plane(tmp_path, tiny_lm, "--data", "teaching", "--own-segments", "--against", "MT-Base")
        == 0
    )
    assert (
        "note: no tests against MT-Base: systems are compared over their own segments"
        in capsys.readouterr().err
    )
    told = (tmp_path / "out" / "appendix.txt").read_text("utf-8")
    assert (
        "Each system is over its own segments: without common ones there are no oracle curve, no gaps to it, no"
        in told
    )


def test_zip_may_be_the_naturalness(tmp_path, tiny_lm):
    assert plane(tmp_path, tiny_lm, "--data", "teaching", "--naturalness", "zip") == 0
    table = pd.read_csv(tmp_path / "out" / "systems.csv")
    assert table.naturalness_signature.str.startswith("zip|model:tiny|").all()
    assert not table.above_curve[table.among_candidates].any()
    assert (table.naturalness_low < table.naturalness).all()
    assert "nats per segment, higher is better" in (tmp_path / "out" / "plane.html").read_text()


@pytest.mark.parametrize("measure", [["zip", "--naturalness-level", "corpus"], ["mtld"]])
def test_a_measure_of_the_corpus_is_a_point_without_an_interval(measure, tmp_path, tiny_lm, capsys):
    assert plane(tmp_path, tiny_lm, "--data", "teaching", "--naturalness", *measure) == 0
    table = pd.read_csv(tmp_path / "out" / "systems.csv")
    assert table.naturalness.notna().all()
    assert table.naturalness_low.isna().all()
    assert (table.accuracy_low < table.accuracy).all()
    assert (
        "known per system only and has no interval"
        in (tmp_path / "out" / "appendix.txt").read_text()
    )
    assert "No test of the claim" in capsys.readouterr().out
    caption = (tmp_path / "out" / "caption.tex").read_text()
    assert r"Bars: 95 \% of the mean accuracy." in caption
    assert "Ellipses" not in caption


def test_an_accuracy_that_is_none(tmp_path, tiny_lm, capsys):
    assert plane(tmp_path, tiny_lm, "--data", "teaching", "-m", "ttr") == 2
    assert "'ttr'" in capsys.readouterr().err
    assert plane(tmp_path, tiny_lm, "--data", "teaching", "--naturalness", "zap") == 2
    assert "'zap'; did you mean 'zip'" in capsys.readouterr().err


def test_r_is_in_the_table_the_picture_the_page_and_the_appendix(tmp_path, tiny_lm, capsys):
    file = tmp_path / "r.txt"
    file.write_text(
        "\n".join([*load_mono("teaching")[:30], load("teaching").systems["MT-Base"][0]]) + "\n\n",
        "utf-8",
    )
    assert plane(tmp_path, tiny_lm, "--data", "teaching", "--mono", file) == 0
    out, err = tmp_path / "out", capsys.readouterr().err
    table = pd.read_csv(out / "systems.csv")
    assert table.mono_n.eq(31).all()
    assert table.mono_seen.eq("unknown").all()
    assert table.lpp_gap.tolist() == pytest.approx((table.lpp_q - table.lpp_r).tolist())
    assert table.lpp_q.tolist() == pytest.approx((-table.naturalness).tolist())
    assert table.minus_lpp_distance.tolist() == pytest.approx((-table.lpp_gap.abs()).tolist())
    assert (table.lpp_gap_low < table.lpp_gap).all()
    assert "r.txt: 1 blank line of 32 left out" in err
    assert "R shares lines with translations (of its 31 lines: MT-Base 1)" in err
    page, told, latex = (
        (out / name).read_text("utf-8") for name in ("plane.html", "appendix.txt", "systems.tex")
    )
    for text in (err, page.replace("&lt;", "<").replace("&#x27;", "'"), told):
        assert "R stands at -" in text
        assert " than R, LPP" in text
    assert r"N(Q) = $-$\textbar{}LPP(Q) $-$ LPP(R)\textbar{}" in latex
    assert "texts written in the language, stands at" in page
    assert ">R</text>" in (out / "plane.svg").read_text("utf-8")


def test_the_plane_of_n_of_q_has_no_curve_and_intervals_of_both_samples(tmp_path, tiny_lm, capsys):
    assert plane(tmp_path, tiny_lm, "--data", "teaching", "--mono") == 0
    lpp = pd.read_csv(tmp_path / "out" / "systems.csv").set_index("system")
    capsys.readouterr()
    assert (
        plane(
            tmp_path,
            tiny_lm,
            "--data",
            "teaching",
            "--naturalness",
            "lpp-distance",
            "--by",
            "domain",
        )
        == 0
    )
    out, err = tmp_path / "out", capsys.readouterr().err
    table = pd.read_csv(out / "systems.csv").set_index("system")
    for end in ("", "_low", "_high"):
        assert table[f"naturalness{end}"].tolist() == pytest.approx(
            lpp[f"minus_lpp_distance{end}"].tolist()
        )
    assert "|R:" in table.naturalness_signature.iloc[0]
    assert not {"accuracy_gap", "minus_lpp_distance", "mono"} & {*table}
    assert not (out / "curve.csv").exists()
    assert not (out / "slices.csv").exists()
    for sentence in (
        "there is no oracle curve",
        "take LPP(R) as it is",
        "no slices by domain",
        "R is of teaching (360",
    ):
        assert sentence in err, sentence
    assert "stands at 0" in (out / "plane.html").read_text("utf-8")


def test_where_r_has_no_place_a_sentence_says_so(tmp_path, tiny_lm, capsys):
    cases = {
        "compression": "a whole corpus and follows its size",
        "zip": "of single texts mostly follows their length",
        "rated-naturalness": "needs srcs, and R is no translation",
    }
    for name, words in cases.items():
        assert plane(tmp_path, tiny_lm, "--data", "teaching", "--mono", "--naturalness", name) == 0
        err = capsys.readouterr().err
        assert f"note: R is not drawn: {name}" in err
        assert words in err
        assert "mono" not in pd.read_csv(tmp_path / "out" / "systems.csv")
    assert plane(tmp_path, tiny_lm, "--data", "teaching", "--mono", "--naturalness", "critic") == 0
    loosely = "knows the translations of 2022 and agrees with ratings only loosely"
    for name in ("caption.tex", "appendix.txt"):
        assert loosely in " ".join((tmp_path / "out" / name).read_text("utf-8").split())
    assert "does not measure fluency" in (tmp_path / "out" / "caption.tex").read_text()
    err = capsys.readouterr().err
    assert "note: R stands at +0." in err
    assert "probable" not in err


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (
            ["Nur eine Zeile."],
            "r.txt) has 1 line of text; a mean with an interval takes at least 2",
        ),
        (
            ["The committee will meet again next week to talk about the budget of the city."] * 40,
            "read as English",
        ),
    ],
)
def test_a_wrong_r_is_one_sentence(tmp_path, tiny_lm, capsys, lines, words):
    (tmp_path / "r.txt").write_text("\n".join(lines) + "\n", "utf-8")
    assert plane(tmp_path, tiny_lm, "--data", "teaching", "--mono", tmp_path / "r.txt") == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("seen", "told"), [(0, "m: 0."), (3, "m: 3."), (None, "m: unknown.")])
def test_lines_of_r_that_the_model_was_trained_on_are_told(tmp_path, seen, told):
    texts = load_mono("teaching")[:20]
    (tmp_path / "r.txt").write_text("\n".join(texts) + "\n", "utf-8")
    prints = None if seen is None else line_fingerprints(texts[:seen])
    lm = SimpleNamespace(name="m", training_lines=prints)
    mono, notes = given_mono(
        Namespace(mono=str(tmp_path / "r.txt"), data="teaching"), load("teaching"), lm
    )
    assert mono.texts == texts
    assert notes[0].endswith(f"Lines of R among the training lines of {told}")
    assert ("m was trained on lines of R" in notes[-1]) == bool(seen)


def test_several_metrics_are_panels_over_the_same_segments(tmp_path, tiny_lm, mine, capsys):
    more = ("-m", "chrf", "bleu", "chrf", "--mono", "--mine", f"ours={mine}:LLM")
    assert plane(tmp_path, tiny_lm, "--data", "teaching", *more) == 0
    out, (printed, err) = tmp_path / "out", capsys.readouterr()
    systems, pairs, curve, claim = (
        pd.read_csv(out / f"{name}.csv") for name in ("systems", "pairs", "curve", "claim")
    )
    for table in (systems, pairs, curve, claim):
        assert table.columns[0] == "metric"
        assert table.metric.unique().tolist() == ["chrf", "bleu"]
    assert systems.n.eq(51).all()
    chrf, bleu = (systems[systems.metric == name].set_index("system") for name in ("chrf", "bleu"))
    assert chrf.naturalness_low.tolist() == bleu.naturalness_low.tolist()
    assert chrf.category["ours"] == "LLM"
    assert chrf.outside["ours"] == "added"
    # one comparison of naturalness has one p
    by = pairs[pairs.axis == "naturalness"].groupby(["system_a", "system_b"]).p.nunique()
    assert by.eq(1).all()
    svg = re.sub(r"</?t[^>]*>", " ", (out / "plane.svg").read_text("utf-8"))
    assert "N(Q) = " in svg
    assert "chrF (points, 0 to 100) →" in svg
    assert "BLEU (points, 0 to 100) →" in svg
    assert "Ellipses" not in svg
    caption, latex = (out / "caption.tex").read_text(), (out / "systems.tex").read_text()
    assert r"\label{fig:plane}" in caption
    assert "by chrF and BLEU" in caption
    assert "popovic-2015-chrf,papineni-etal-2002-bleu" in caption
    labels = re.findall(r"\\label\{(.+)\}", latex)
    assert labels[:2] == ["tab:plane-scores", "tab:plane-chrf"]
    assert "none across metrics" in latex
    told = (out / "appendix.txt").read_text()
    assert told.count("Data set teaching") == 1
    assert "\n\nMeasures. Naturalness is" in told  # what both share once, and then
    assert re.search(r"By chrF: Accuracy is chrF [^\n]* By BLEU: Accuracy is BLEU", told)
    assert re.search(r"\nClaim\. By chrF: [^\n]* By BLEU: ", told)
    assert r"\textbf{Claim.} By chrF" in (out / "appendix.tex").read_text()
    # who is not counted is corrected apart, so that equal outputs may have other verdicts
    assert (
        "A verdict or rank of one of these families does not compare with that of another" in told
    )
    assert "corrected by themselves, so that equal outputs may differ in rank" in latex
    assert "Pareto-optimal by one of the metrics, as no counted system is better on both" in latex
    assert "-lm" not in caption  # nobody types in a paper
    assert systems.accuracy_title.unique().tolist() == [
        "chrF (points, 0 to 100, higher is better)",
        "BLEU (points, 0 to 100, higher is better)",
    ]
    assert systems[["accuracy_level", "resampled"]].drop_duplicates().to_numpy().tolist() == [
        ["segment-mean", "documents"]
    ]
    assert pairs.title[pairs.axis == "accuracy"].unique().tolist() == [
        *systems.accuracy_title.unique()
    ]
    assert pairs.resampled.eq("documents").all()
    assert "chrF: " in printed
    assert "BLEU: " in printed
    assert err.count("None of its numbers") <= 1


def test_the_latex_of_a_run_has_its_braces_and_escapes(tmp_path, tiny_lm, capsys):
    assert plane(tmp_path, tiny_lm, "--data", "teaching", "--mono") == 0
    out = tmp_path / "out"
    keys = re.findall(r"@\w+\{([^,]+),", (out / "refs.bib").read_text())
    for name in ("caption.tex", "systems.tex", "appendix.tex"):
        latex = (out / name).read_text("utf-8")
        body = "\n".join(line for line in latex.split("\n") if not line.startswith("%"))
        assert body.count("{") - body.count(r"\{") == body.count("}") - body.count(r"\}")
        assert not re.search(r"(?<!\\)[%#]", body), name
        assert body.isascii(), [c for c in body if not c.isascii()]
        for group in re.findall(r"\\cite\{([^}]+)\}", latex):
            assert set(group.split(",")) <= set(keys)
    assert "tiny" in keys


def test_systems_that_are_mostly_blank_may_be_left_out(tmp_path, tiny_lm, capsys):
    blank = tmp_path / "sparse.txt"
    hyps = list(load("teaching").systems["MT-Tuned"])
    blank.write_text("\n".join([""] * 30 + hyps[30:]) + "\n", "utf-8")
    more = ("--data", "teaching", "--mine", blank, "--max-blank-share", "0.5")
    assert plane(tmp_path, tiny_lm, *more) == 0
    table = pd.read_csv(tmp_path / "out" / "systems.csv")
    assert "sparse" not in table.system.tolist()
    assert table.n.eq(52).all()
    assert "sparse: left out of the comparison, more than 50.0%" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--mine", "{mine}:LLMs"], "unknown kind of system 'LLMs'"),
        (["--max-blank-share", "2"], "the largest share of blanks is 2; give 0 to 1."),
        (["-m", "chrf", "chfr"], "'chfr'"),
        (["--device", "moon"], "moon"),
    ],
)
def test_a_wrong_option_is_one_sentence_and_leaves_nothing(
    more, words, tmp_path, tiny_lm, mine, capsys
):
    typed = [one.format(mine=mine) for one in more]
    assert plane(tmp_path, tiny_lm, "--data", "teaching", *typed) == 2
    err = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("note:")]
    assert len(err) == 1
    assert words in err[0], err
    assert not (tmp_path / "out").exists()


def test_kinds_stand_behind_files_whose_own_names_stay(tmp_path):
    odd = tmp_path / "run:LLM"
    odd.write_text("x\n", "utf-8")
    assert split_kinds([f"a={odd}", "b=hyp.de:MT", "c.de"]) == (
        [f"a={odd}", "b=hyp.de", "c.de"],
        {"b": "MT"},
    )
    with pytest.raises(UnknownName, match="kind of system"):
        split_kinds(["hyp.de:mt"])
