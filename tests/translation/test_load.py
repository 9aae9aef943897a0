"""Which models are taken, with which languages, and what is said of the others."""

import json
import shutil
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
transformers = pytest.importorskip(
    "transformers", reason="pip install -c constraints.txt -e '.[neural]'"
)

import huggingface_hub  # noqa: E402
import requests  # noqa: E402
from huggingface_hub import errors as hub_errors  # noqa: E402

from anhelpers import hub  # noqa: E402
from anhelpers.errors import AnhelpersError, DataError, MissingExtra, UnknownName  # noqa: E402
from anhelpers.naturalness.lm import load_lm  # noqa: E402
from anhelpers.scoring.worker import loaded_recipe  # noqa: E402
from anhelpers.translation import load_mt  # noqa: E402
from anhelpers.translation.load import choose_language  # noqa: E402

pytestmark = pytest.mark.neural

NLLB = [
    "ace_Arab",
    "ace_Latn",
    "arb_Arab",
    "ary_Arab",
    "deu_Latn",
    "eng_Latn",
    "fra_Latn",
    "hrv_Latn",
    "lvs_Latn",
    "nob_Latn",
    "nno_Latn",
    "zho_Hans",
    "zho_Hant",
]


@pytest.mark.parametrize(
    ("code", "known", "found"),
    [
        ("deu_Latn", NLLB, "deu_Latn"),
        ("de", NLLB, "deu_Latn"),
        ("deu", NLLB, "deu_Latn"),
        ("hr", NLLB, "hrv_Latn"),
        ("lv", NLLB, "lvs_Latn"),
        ("de", ["de_DE", "en_XX"], "de_DE"),
        ("deu", ["de", "en"], "de"),
        ("de", [">>deu<<", ">>fra<<"], ">>deu<<"),
        ("fr", [">>fr<<", ">>it<<"], ">>fr<<"),
        ("en", ["en_XX"], "en_XX"),
        ("zh", [">>cmn_Hans<<", ">>fra<<"], ">>cmn_Hans<<"),
        ("cmn", ["de", "zh"], "zh"),
    ],
)
def test_a_plain_code_stands_for_the_only_one_that_fits(code, known, found):
    assert choose_language(code, known, "target language", "x") == found


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("zh", "the target language 'zh' of x may be zho_Hans or zho_Hant; name one of them."),
        ("no", "may be nob_Latn or nno_Latn"),
        ("ar", "may be arb_Arab or ary_Arab"),
        ("ace", "may be ace_Arab or ace_Latn"),
        ("deu_Latin", "has no target language 'deu_Latin'; did you mean 'deu_Latn'?; it knows "),
        (
            "klingon",
            "has no target language 'klingon'; it knows deu_Latn, eng_Latn, fra_Latn, zho_Hans, zho_Hant (13",
        ),
        (
            None,
            "translates between many languages: name the target language, such as deu_Latn, eng_Latn",
        ),
    ],
)
def test_what_does_not_fit_is_told_with_codes_that_do(code, words):
    with pytest.raises(DataError) as told:
        choose_language(code, NLLB, "target language", "x")
    assert words in str(told.value)


@pytest.mark.parametrize("name", ["m2m100", "nllb", "mbart50", "mbart25"])
def test_both_languages_are_wanted_and_none_is_guessed(family, name):
    found = family(name)
    for missing, what in (("src_lang", "source"), ("trg_lang", "target")):
        options = {k: v for k, v in found.options.items() if k != missing}
        with pytest.raises(DataError, match=f"name the {what} language, such as "):
            load_mt(found.folder, device="cpu", **options)
    with pytest.raises(DataError, match=r"has no target language 'xx'; it knows .*de.* in all"):
        load_mt(found.folder, device="cpu", **(found.options | {"trg_lang": "xx"}))


def test_multilingual_marian_wants_the_target_language_only(family):
    folder = family("marian-many").folder
    with pytest.raises(DataError, match=r"name the target language, such as >>deu<<, >>fra<<."):
        load_mt(folder, device="cpu")
    assert load_mt(folder, device="cpu", trg_lang="fr").trg_lang == ">>fra<<"


def test_a_language_that_cannot_be_chosen_is_refused(family):
    # its own
    assert (
        load_mt(family("marian").folder, device="cpu", src_lang="en", trg_lang="de").trg_lang
        is None
    )
    with pytest.raises(
        DataError,
        match="translates en to de, so target language 'fr' cannot be chosen: leave it out",
    ):
        load_mt(family("marian").folder, device="cpu", trg_lang="fr")
    with pytest.raises(
        DataError, match="has no language tokens, so source language 'en' cannot be chosen"
    ):
        load_mt(family("t5").folder, device="cpu", src_lang="en")


def test_the_signature_says_what_decides_a_score(family):
    found = family("nllb")
    first = load_mt(found.folder, device="cpu", **found.options)
    assert first.signature() == (
        f"mt|model:{first.name}|rev:{first.revision}|dtype:float32|src:eng_Latn|trg:deu_Latn|given:</s> deu_Latn|"
        f"eos:yes|max:64/64|transformers:{transformers.__version__}"
    )
    assert len(first.revision) == 12
    t5 = load_mt(family("t5").folder, device="cpu", task="to German: ", dtype="bfloat16")
    assert "|dtype:bfloat16|task:'to German: '|given:<pad>|" in t5.signature()


def test_wrong_kinds_of_models_are_told(tiny_lm, family):
    with pytest.raises(
        DataError,
        match=r"\(gpt2\) is a language model, which sees no source: name an encoder-decoder",
    ):
        load_mt(tiny_lm)
    with pytest.raises(
        DataError, match="is an encoder-decoder, which has no probability for a text by itself"
    ):
        load_lm(family("marian").folder)


def test_absent_models_are_told_in_one_sentence(tmp_path):
    with pytest.raises(
        AnhelpersError, match=r"no translation model at .*: give a folder with config.json and"
    ):
        load_mt(tmp_path)
    with pytest.raises(
        AnhelpersError,
        match="translation model nobody/nothing is not cached and the hub is out of re",
    ):
        load_mt("nobody/nothing")


def test_weights_that_are_not_there_are_no_model(family, tmp_path):
    folder = tmp_path / "part"
    shutil.copytree(family("m2m100").folder, folder)
    model = transformers.M2M100ForConditionalGeneration.from_pretrained(folder)
    rest = {
        k: v
        for k, v in model.state_dict().items()
        if "fc1" not in k and "lm_head" not in k and "embed" not in k
    }
    model.save_pretrained(folder, state_dict=rest)
    with pytest.raises(
        AnhelpersError,
        match=r"has no weights for \d+ parts of this translation model, such as model",
    ):
        load_mt(folder, src_lang="en", trg_lang="de")


def test_a_tokenizer_without_its_library_names_it(family, monkeypatch):
    def lacking(*args, **kwargs):
        raise ImportError(
            "MarianTokenizer requires the SentencePiece library but it was not found. " * 9
        )

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lacking)
    with pytest.raises(
        MissingExtra,
        match=r"the tokenizer of .* needs sentencepiece, .* extra 'neural': .*pip install",
    ):
        load_mt(family("marian").folder)


def test_a_folder_s_revision_changes_with_its_pieces(family, tmp_path):
    folder = tmp_path / "marian"
    shutil.copytree(family("marian").folder, folder)
    first = load_mt(folder, device="cpu").revision
    vocabulary = json.loads((folder / "vocab.json").read_text("utf-8"))
    (folder / "vocab.json").write_text(json.dumps(vocabulary | {"▁neu": 5}), "utf-8")
    assert load_mt(folder, device="cpu").revision != first


def test_a_decoder_saved_alone_is_a_language_model_that_starts_as_in_the_pair(tiny_marian):
    mt, lm = load_mt(tiny_marian / "mt", device="cpu"), load_lm(tiny_marian / "lm", device="cpu")
    assert (lm.context_token,) == mt.prefix
    assert lm.never == mt.never == (mt.model.config.pad_token_id,)
    assert "|bos:<pad>|eos:yes|max:64|long:windows|never:<pad>|" in lm.signature(eos=True)


@pytest.mark.parametrize(
    "name", ["tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "merges.txt"]
)
def test_a_folder_s_revision_changes_with_all_that_decides_its_tokens(tmp_path, name):
    (tmp_path / "config.json").write_text("{}")
    before = hub.revision_of(hub.find(tmp_path), None)
    (tmp_path / name).write_text("{}")
    assert hub.revision_of(hub.find(tmp_path), None) != before


def test_a_name_is_a_folder_a_bundled_model_or_a_hub_id(tmp_path, monkeypatch):
    assert hub.find(tmp_path).folder == tmp_path
    monkeypatch.setenv("HOME", str(tmp_path.parent))
    assert hub.find(f"~/{tmp_path.name}") == hub.find(tmp_path)
    with pytest.raises(DataError, match=r"^~no-such-user/x: no such user is known here; write"):
        hub.find("~no-such-user/x")
    # as in the hub's cache: the folder's name is no revision to ask for
    cached = tmp_path / "snapshots" / ("0" * 40)
    shutil.copytree(hub.find("de-small").folder, cached)
    made = loaded_recipe("naturalness.lm:made", load_lm(cached, device="cpu"))
    assert (dict(made.options)["name"], dict(made.options)["revision"]) == (str(cached), None)
    for folder in ("de-small", tmp_path):
        with pytest.raises(
            DataError, match="is a folder and has no revision 'abc'; leave the revision out"
        ):
            hub.find(folder, "abc")
    assert hub.find("de-small").folder.name == "de-small"
    found = hub.find("owner/model@abc")
    assert (found.address, found.revision, found.folder, str(found)) == (
        "owner/model",
        "abc",
        None,
        "owner/model@abc",
    )
    assert hub.find("owner/model", "main").revision == "main"


def refused(kind, text, status):
    answer = requests.Response()
    answer.status_code = status
    return getattr(hub_errors, kind)(
        f"{status} Client Error. (Request ID: Root=1-404-401)\n\n{text}", response=answer
    )


NO_JSON = OSError(
    "It looks like the config file at '/data/run403/config.json' is not a valid JSON file."
)


@pytest.mark.parametrize(
    ("error", "folder", "sentence"),
    [
        (
            NO_JSON,
            "/data/run403",
            "could not be loaded, its files may be damaged .*: It looks like the config file",
        ),
        (
            OSError("Error in /models/connectome/x: gated-gelu"),
            "/models/connectome",
            "could not be loaded, its files ",
        ),
        (
            OSError("It looks like '/data/run404/c' is no JSON"),
            "/data/run404",
            "could not be loaded, its files may be ",
        ),
        (refused("HfHubHTTPError", "Unauthorized", 401), None, "is gated and no token is here"),
        (refused("GatedRepoError", "no access", 403), None, "is gated and no token is here"),
        (
            refused("RepositoryNotFoundError", "nothing there", 401),
            None,
            "^no language model at owner/model@v9: give a ",
        ),
        (
            refused("RevisionNotFoundError", "Invalid rev id", 404),
            None,
            "^there is no revision 'v9' of owner/model: name ",
        ),
        (
            OSError("v9 is not a valid git identifier (branch name"),
            None,
            "^there is no revision 'v9' of owner/model: ",
        ),
        (hub_errors.OfflineModeIsEnabled("x"), None, "is not cached and the hub is out of reach"),
        (OSError(28, "voll"), None, "^the disk is full while fetching owner/model@v9"),
    ],
)
def test_why_a_model_is_not_loaded_is_not_read_from_its_name(error, folder, sentence, monkeypatch):
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: None)
    place = hub.Place(folder, None, Path(folder)) if folder else hub.Place("owner/model", "v9")

    def load(options):
        raise error

    with pytest.raises(AnhelpersError, match=sentence):
        hub.cache_first(place, "language model", load)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (
            "model.safetensors",
            "x",
            "could not be loaded, its files may be damaged or not belong together: SafetensorE",
        ),
        (
            "config.json",
            "{",
            "could not be loaded, its files may be damaged or not belong together: It looks like",
        ),
        ("vocab.json", "", "could not be loaded, its files may be damaged"),
        (
            "source.spm",
            "",
            "the tokenizer of the translation model .* cannot be read: its files are damaged.",
        ),
    ],
)
def test_damaged_files_are_told_in_one_sentence(family, tmp_path, name, text, words):
    folder = tmp_path / "marian"
    shutil.copytree(family("marian").folder, folder)
    (folder / name).write_text(text, "utf-8")
    with pytest.raises(AnhelpersError, match=words) as told:
        load_mt(folder, device="cpu")
    assert "\n" not in str(told.value)


def test_a_tokenizer_of_another_model_is_told(family, tmp_path):
    folder = tmp_path / "mixed"
    shutil.copytree(family("nllb").folder, folder)
    tiny = transformers.M2M100Config.from_pretrained(folder)
    tiny.vocab_size = 30
    transformers.M2M100ForConditionalGeneration(tiny).save_pretrained(folder)
    with pytest.raises(
        DataError,
        match=r"gives token \d+, and the model knows 30 tokens only; they do not belong to",
    ):
        load_mt(folder, src_lang="en", trg_lang="de", device="cpu")


def test_a_device_or_dtype_that_is_not_here_is_told(family):
    with pytest.raises(DataError, match="there is no device 'gpu' here; there is cpu"):
        load_mt(family("marian").folder, device="gpu")
    with pytest.raises(UnknownName, match="unknown dtype 'float8'"):
        load_mt(family("marian").folder, device="cpu", dtype="float8")
