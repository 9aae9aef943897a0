"""The language of texts decides tokenizers and models: it is told from the texts, and contradictions are refused."""

import io
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from anhelpers import cli, data
from anhelpers.data.identify import FEWEST, RELATED, SAMPLE_BYTES, check_language, language_votes
from anhelpers.errors import DataError, LanguageConflict
from anhelpers.naturalness.lm import load_lm
from anhelpers.plane import oracle_study
from anhelpers.scoring.lookup import metric

TEXTS = {  # written for these tests
    "en": "The ferry leaves at seven in the morning, and whoever is late has to wait until the evening "
    "for the next one. My aunt never trusted the timetable, so she came an hour early and talked to the sailors.",
    "es": "El barco sale a las siete de la mañana, y quien llega tarde tiene que esperar hasta la noche "
    "el siguiente. Mi tía nunca se fió del horario, así que llegaba una hora antes y hablaba con los marineros.",
    "de": "Die Fähre legt um sieben Uhr morgens ab, und wer zu spät kommt, muss bis zum Abend auf die nächste "
    "warten. Meine Tante traute dem Fahrplan nie, also kam sie eine Stunde früher und redete mit den Matrosen.",
    "zh": "渡轮早上七点出发，迟到的人只好等到晚上才有下一班。我的姑姑从来不相信时刻表，"
    "所以她总是提前一个小时来，跟水手们聊天。"
    "有一次船长请她喝茶，她说从那以后她就再也没有迟到过，也再没有抱怨过天气。",
}
N = 2 * FEWEST


def write(folder, name, lang, n=N):
    path = folder / name
    path.write_text(
        f"{TEXTS[lang][: -5 if name.startswith('mt') else None]}\n" * n, encoding="utf-8"
    )
    return str(path)


@pytest.fixture
def files(tmp_path):
    """Source, reference and output file by language."""
    return {
        lang: [write(tmp_path, f"{kind}.{lang}", lang) for kind in ("src", "ref", "mt")]
        for lang in TEXTS
    }


def score(*args):
    return cli.main(["score", *args])


@pytest.mark.parametrize("lang", TEXTS)
def test_the_language_of_a_few_sentences_is_told(lang):
    votes = language_votes([TEXTS[lang]] * N)
    assert votes.most_common(1)[0][0] == lang
    assert votes.total() >= FEWEST


def test_too_little_text_tells_nothing():
    few = TEXTS["es"][: SAMPLE_BYTES // 2]
    assert not language_votes([few])
    assert check_language([few], "und", "the texts") == "und"
    assert check_language([few], "de", "the texts") == "de"


def test_related_languages_do_not_contradict_each_other():
    assert check_language([TEXTS["es"]] * N, "an", "the texts") == "an"
    # which the identifier does not know
    assert check_language([TEXTS["es"]] * N, "gsw", "the texts") == "gsw"
    assert all(len(group) > 1 for group in RELATED)


def test_without_a_pair_the_texts_decide_and_a_note_says_so(files, capsys):
    (src, *_), (_, ref, hyp) = files["en"], files["zh"]
    assert score("-s", src, "-r", ref, "-t", hyp, "-m", "bleu") == 0
    out, err = capsys.readouterr()
    assert "|tok:zh|" in pd.read_csv(io.StringIO(out)).signature[0]
    assert (
        "the languages are taken as en-zh: the texts read as English ('en') and Chinese ('zh')"
        in err
    )
    assert "BLEU's words are cut by the tokenizer zh" in err
    assert score("-s", src, "-r", ref, "-t", hyp, "-m", "bleu", "-l", "en-zh") == 0
    assert "note: the languages" not in (err := capsys.readouterr().err)
    assert "tokenizer" not in err


@pytest.mark.parametrize("lp", ["en-de", "de-es"])
def test_texts_that_contradict_the_pair_are_refused(files, lp, capsys):
    (src, *_), (_, ref, hyp) = files["en"], files["es"]
    assert score("-s", src, "-r", ref, "-t", hyp, "-l", lp) == 2
    out, err = capsys.readouterr()
    assert not out
    assert f"as the pair {lp} says; say the right pair by -l" in err
    assert ("read as Spanish" if lp == "en-de" else "the sources read as English") in err


@pytest.mark.neural
def test_the_plane_names_pair_texts_and_model(files, tmp_path, capsys):
    (src, *_), (_, ref, hyp) = files["en"], files["es"]
    plane = ["plane", "-s", src, "-r", ref, "-t", hyp, "-o", str(tmp_path / "out")]
    assert cli.main(plane) == 2
    assert (
        "no language model is bundled for 'es' (there are de-small, en-small)"
        in capsys.readouterr().err
    )
    assert cli.main([*plane, "--lm", "de-small"]) == 2
    assert "de-small knows only 'de' and the texts are 'es'" in capsys.readouterr().err
    assert cli.main([*plane, "-l", "en-de", "--lm", "de-small"]) == 2
    err = capsys.readouterr().err
    for value in ("Spanish", "en-de", "The language model de-small knows 'de'."):
        assert value in err
    assert not (tmp_path / "out").exists()


def test_a_second_reference_in_another_language_is_refused(files, capsys):
    assert (
        score("-s", files["en"][0], "-r", files["de"][1], files["es"][1], "-t", files["de"][2]) == 2
    )
    assert "reference es read as Spanish" in capsys.readouterr().err


def test_a_system_that_answers_in_another_language_is_named(files, capsys):
    assert (
        score(
            "-s",
            files["en"][0],
            "-r",
            files["de"][1],
            "-t",
            files["de"][2],
            f"lazy={files['en'][2]}",
        )
        == 0
    )
    assert "lazy: its outputs read as English ('en')" in capsys.readouterr().err


def test_texts_in_two_languages_are_told(files, tmp_path, capsys):
    """A reference that is half English makes good German bad; half of an output in English is a fact about it."""
    half = tmp_path / "half"
    twice = [f"{TEXTS[lang]} {TEXTS[lang]}\n" for lang in ("de", "en")]
    half.write_text(twice[0] * 3 + twice[1] * 3, encoding="utf-8")
    two = "read as German ('de') and English ('en')."
    (src, *_), (_, ref, hyp) = files["en"], files["de"]
    assert score("-s", src, "-r", ref, "-t", hyp, str(half)) == 0
    assert f"half: its outputs {two}" in capsys.readouterr().err
    assert score("-s", src, "-r", str(half), "-t", hyp, "-l", "en-de") == 0
    assert f"the texts of reference half {two}" in capsys.readouterr().err


def test_one_language_on_both_sides_is_asked_for(files, capsys):
    (src, ref, hyp) = files["en"]
    assert score("-s", src, "-r", ref, "-t", hyp) == 2
    assert (
        "the sources and the translations both read as English ('en'); say the pair by -l"
        in capsys.readouterr().err
    )
    assert score("-s", src, "-r", ref, "-t", hyp, "-l", "en-en") == 0  # as in work on paraphrases


def test_with_too_little_text_bleu_asks_for_the_pair(tmp_path, capsys):
    (tmp_path / "a").write_text("你好。\n", encoding="utf-8")
    (tmp_path / "b").write_text("您好。\n", encoding="utf-8")
    texts = ["-s", str(tmp_path / "a"), "-r", str(tmp_path / "a"), "-t", str(tmp_path / "b")]
    assert score(*texts, "-m", "bleu") == 2
    assert "say the pair by -l" in capsys.readouterr().err
    assert score(*texts, "-m", "chrf") == 0
    assert "too little text to tell the source and the target language" in capsys.readouterr().err
    assert score(*texts, "-m", "bleu", "-l", "ja-zh") == 0


def test_candidates_without_a_pair_are_told_from_their_texts(tmp_path):
    path = tmp_path / "c.jsonl"
    rows = [
        {"src": TEXTS["en"], "refs": [TEXTS["de"]], "candidates": [TEXTS["de"]], "id": i}
        for i in range(N)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert data.load(path).lp == "en-de"
    with pytest.raises(LanguageConflict, match=r"and not as Hungarian \('hu'\)"):
        data.load(path, lp="en-hu")


def test_a_monolingual_reference_must_be_in_the_target_language(tmp_path):
    path = write(tmp_path, "mono.txt", "es")
    assert data.mono_for("teaching", "es", path)[1] == path
    with pytest.raises(DataError, match=r"read as Spanish \('es'\) .* and not as German"):
        data.mono_for("teaching", "de", path)


@pytest.mark.real
@pytest.mark.parametrize(
    ("lp", "other"), [("ja-zh", "ja-ko"), ("en-cs", "en-pl"), ("en-de", "en-nl")]
)
def test_real_texts_are_told_and_held_against_the_pair(lp, other, real_data):
    txt = Path(real_data) / "wmt24" / "txt"
    src, ref = txt / "sources" / f"{lp}.txt", sorted((txt / "references").glob(f"{lp}.*.txt"))[0]
    hyp = txt / "system-outputs" / lp / "Claude-3.5.txt"
    assert data.read_plain(src, ref, hyp).lp == lp
    with pytest.raises(LanguageConflict):
        data.read_plain(src, ref, hyp, other)


@pytest.mark.real
def test_bleu_of_plain_chinese_files_is_that_of_the_named_set(real_data, capsys):
    txt = Path(real_data) / "wmt24" / "txt"
    texts = ["-s", txt / "sources" / "ja-zh.txt", "-r", txt / "references" / "ja-zh.refA.txt", "-t"]
    texts += [txt / "system-outputs" / "ja-zh" / "Claude-3.5.txt"]
    assert score(*map(str, texts), "-m", "bleu") == 0
    plain = pd.read_csv(io.StringIO(capsys.readouterr().out)).value[0]
    # sacreBLEU 2.6.0 with tokenizer zh; 13a gives 0.507
    assert plain == pytest.approx(33.568036, abs=1e-6)


@pytest.mark.parametrize("naturalness", ["critic", "lpp"])
def test_texts_too_short_to_tell_their_language_are_asked_for_it(naturalness, tmp_path, capsys):
    line = {
        "src": "Satz ist gut.",
        "refs": ["This is good."],
        "candidates": ["It is fine.", "Good."],
    }
    (tmp_path / "c.jsonl").write_text(json.dumps(line) + "\n")
    assert cli.main(["curve", str(tmp_path / "c.jsonl"), "--naturalness", naturalness]) == 2
    assert (
        "which language the texts are in is not known: say the pair by -l"
        in capsys.readouterr().err
    )


@pytest.mark.neural
def test_a_folder_called_as_the_bundled_model_is_not_the_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "en-small").mkdir()
    assert load_lm("bundled", lang="en").revision == load_lm(data.bundled("lm/en-small")).revision


def test_candidates_of_another_set_or_language_are_told(capsys):
    """They had a curve of numbers that mean nothing, with notes that only the study kept."""
    test, critic = data.load("teaching/de-en"), metric("critic", "en")
    with pytest.raises(DataError) as caught:
        oracle_study(test, data.load_candidates("teaching"), metric("chrf", test), critic)
    assert re.search(
        r"the candidates read as German \('de'\) .*and the target language is 'en'; and "
        r"the candidates of calque \(and of all others\): texts fit the references of their own",
        str(caught.value),
    )
    own = oracle_study(test, data.load_candidates("teaching/de-en"), metric("chrf", test), critic)
    assert "read as" not in " ".join(own.notes)


@pytest.mark.parametrize(("every", "told"), [(10, True), (26, False)])
def test_outputs_that_were_not_translated_are_counted(every, told):
    """A tenth of a system's lines in the source language leaves its language as it is, and its scores wrong."""
    test = data.load("teaching")
    hyps = [
        src if i % every == 0 else hyp
        for i, (src, hyp) in enumerate(zip(test.srcs, test.systems["MT-Base"], strict=True))
    ]
    some = data.TestSet(
        "some",
        "en-de",
        test.srcs,
        dict(test.refs),
        {"mine": hyps, "other": test.systems["Online-P"]},
    )
    notes = data.identify.untranslated(some, some.systems)
    assert notes == ["mine: 6 of its 52 outputs are their source, untranslated."] * told
    assert data.identify.untranslated(test, test.systems) == []
    names = data.TestSet(
        "names", "en-de", ["Anna Berg, Oslo"] * 9, {}, {"a": ["Anna Berg, Oslo"] * 9}
    )
    assert data.identify.untranslated(names, ["a"]) == []  # a name stays what it is
