"""Which models are found and loaded, with which languages, and which are refused."""

import shutil
import time

import pytest

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
transformers = pytest.importorskip(
    "transformers", reason="pip install -c constraints.txt -e '.[neural]'"
)

from anhelpers import models  # noqa: E402
from anhelpers.errors import AnhelpersError, DataError, UnknownName  # noqa: E402
from anhelpers.gguf import _Packaged  # noqa: E402
from anhelpers.naturalness.lm import load_lm  # noqa: E402
from anhelpers.translation import _choose_language, load_mt  # noqa: E402

pytestmark = pytest.mark.neural

NLLB = ["ace_Arab", "ace_Latn", "deu_Latn", "eng_Latn", "hrv_Latn", "zho_Hans", "zho_Hant"]


@pytest.mark.parametrize(
    ("code", "known", "found"),
    [
        ("deu_Latn", NLLB, "deu_Latn"),
        ("de", NLLB, "deu_Latn"),
        ("deu", NLLB, "deu_Latn"),
        ("hr", NLLB, "hrv_Latn"),
        ("de", ["de_DE", "en_XX"], "de_DE"),
        ("deu", ["de", "en"], "de"),
        ("fr", [">>fra<<", ">>it<<"], ">>fra<<"),
        ("zh", [">>cmn_Hans<<", ">>fra<<"], ">>cmn_Hans<<"),
    ],
)
def test_a_plain_code_means_the_only_one_that_fits(code, known, found):
    assert _choose_language(code, known, "target language") == found


@pytest.mark.parametrize("code", ["zh", "ace", "deu_Latin", None])
def test_a_language_that_does_not_fit_is_refused(code):
    with pytest.raises(DataError):
        _choose_language(code, NLLB, "target language")


@pytest.mark.parametrize("name", ["m2m100", "nllb", "mbart50", "mbart25"])
def test_no_language_is_guessed(family, name):
    found = family(name)
    for missing in ("src_lang", "trg_lang"):
        options = {k: v for k, v in found.options.items() if k != missing}
        with pytest.raises(DataError, match="source" if missing == "src_lang" else "target"):
            load_mt(found.folder, device="cpu", **options)


def test_languages_of_models_of_one_pair(family):
    marian, many = family("marian").folder, family("marian-many").folder
    assert load_mt(marian, device="cpu", src_lang="en", trg_lang="de").trg_lang is None
    assert load_mt(many, device="cpu", trg_lang="fr").trg_lang == ">>fra<<"
    for folder, options in ((marian, {"trg_lang": "fr"}), (many, {})):
        with pytest.raises(DataError):
            load_mt(folder, device="cpu", **options)


def test_the_signature_has_what_decides_a_score(family):
    found = family("nllb")
    first = load_mt(found.folder, device="cpu", **found.options)
    assert first.signature() == (
        f"mt|model:{first.name}|rev:{first.revision}|dtype:float32|src:eng_Latn|trg:deu_Latn|given:</s> deu_Latn|"
        f"eos:yes|max:64/64|transformers:{transformers.__version__}"
    )
    t5 = load_mt(family("t5").folder, device="cpu", task="to German: ", dtype="bfloat16")
    assert "|dtype:bfloat16|task:'to German: '|given:<pad>|" in t5.signature()


def copied(family, tmp_path, name="marian"):
    return shutil.copytree(family(name).folder, tmp_path / "copy")


def test_what_cannot_be_loaded_is_an_error_with_the_model_s_name(family, tiny_lm, tmp_path):
    (tmp_path / "empty").mkdir()
    for load, name in ((load_mt, tmp_path / "empty"), (load_mt, "nobody/nothing")):
        with pytest.raises(AnhelpersError, match=str(name)):
            load(name)
    with pytest.raises(DataError):
        load_mt(tiny_lm)
    with pytest.raises(DataError):
        load_lm(family("marian").folder)
    with pytest.raises(AnhelpersError, match="gpu"):
        load_mt(family("marian").folder, device="gpu")
    with pytest.raises(UnknownName):
        load_mt(family("marian").folder, device="cpu", dtype="float8")


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "vocab.json", "source.spm"])
def test_damaged_files_are_one_short_line(family, tmp_path, name):
    folder = copied(family, tmp_path)
    (folder / name).write_text("{", "utf-8")
    with pytest.raises(AnhelpersError, match="copy") as told:
        load_mt(folder, device="cpu")
    assert "\n" not in str(told.value)


def test_weights_that_are_missing_are_no_model(family, tmp_path):
    folder = copied(family, tmp_path, "m2m100")
    model = transformers.M2M100ForConditionalGeneration.from_pretrained(folder)
    state = model.state_dict()
    model.save_pretrained(folder, state_dict={k: v for k, v in state.items() if "fc1" not in k})
    with pytest.raises(AnhelpersError, match="weights are missing"):
        load_mt(folder, src_lang="en", trg_lang="de")


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json", "merges.txt"])
def test_a_folder_s_revision_changes_with_what_decides_a_score(tmp_path, name):
    (tmp_path / "config.json").write_text("{}")
    before = models.find(tmp_path).revision_of()
    (tmp_path / name).write_text('{"a": 1}')
    assert models.find(tmp_path).revision_of() != before


def test_a_decoder_saved_alone_starts_as_in_the_pair(tiny_marian):
    mt, lm = load_mt(tiny_marian / "mt", device="cpu"), load_lm(tiny_marian / "lm", device="cpu")
    assert (lm.context_token,) == mt.prefix
    assert lm.never == mt.never == (mt.model.config.pad_token_id,)
    assert "|bos:<pad>|eos:yes|max:64|long:windows|never:<pad>|" in lm.signature(eos=True)


def test_an_address_is_no_model_and_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(AnhelpersError, match=r"^http://127.0.0.1:9/x: Repo id"):
        load_lm("http://127.0.0.1:9/x")
    assert [*tmp_path.iterdir()] == []


def test_a_name_is_a_folder_a_packaged_model_or_a_hub_id(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path.parent))
    assert models.find(f"~/{tmp_path.name}").folder == tmp_path
    monkeypatch.setattr(_Packaged, "files", lambda self: [])
    found = models.find("gemma-3-270m")
    assert (found.address, found.name, found.folder) == (
        "google/gemma-3-270m",
        "gemma-3-270m",
        None,
    )
    found = models.find("owner/model@abc")
    assert (found.address, found.revision, found.folder) == ("owner/model", "abc", None)


def test_without_a_network_a_model_of_the_hub_fails_at_once(monkeypatch):
    for name in ("HF_HUB_OFFLINE", "https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nothing answers there
    start = time.monotonic()
    with pytest.raises(AnhelpersError, match=r"owner/model: .* cannot be reached"):
        models.find("owner/model").load_config()
    assert time.monotonic() - start < 8
