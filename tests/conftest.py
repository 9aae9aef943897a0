"""Shared by all tests: a tiny random language model, and no network."""

import os
import shutil
import tempfile
import warnings
from base64 import b64encode
from pathlib import Path

import hypothesis
import pytest
import sacrebleu

# a machine that does other things too is no failure
hypothesis.settings.register_profile("anywhere", deadline=None, max_examples=25)
hypothesis.settings.load_profile("anywhere")

# a test that asks the hub fails at once instead of hanging
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# nobody's downloads
os.environ["ANHELPERS_CACHE"] = str(Path(tempfile.gettempdir(), "anhelpers-tests-without-cache"))
# nobody's scores either; a test of the store names a file of its own
os.environ["ANHELPERS_STORE"] = "off"
# sacreBLEU's metrics of segments and of corpora
ORACLES = {
    "chrf": (sacrebleu.CHRF(), sacrebleu.CHRF()),
    "chrf++": (sacrebleu.CHRF(word_order=2), sacrebleu.CHRF(word_order=2)),
    "bleu": (sacrebleu.BLEU(effective_order=True), sacrebleu.BLEU()),
    "ter": (sacrebleu.TER(), sacrebleu.TER()),
}
# folders of tests whose matter is how scores are computed; all others look up what they can
COMPUTING = {"accuracy", "candidates", "naturalness", "scoring", "translation", "xmi"}
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # there are processes enough


@pytest.hookimpl(optionalhook=True)  # pytest-xdist's; its own groups are lost with pytest 9.2
def pytest_xdist_make_scheduler(config, log):
    """With several processes, tests of a file go to one of them, for their fixtures; notebooks go one by one.

    Files of few tests, which take long, are first, so that no process waits for another one at the end.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            return nodeid if file.endswith("test_notebooks.py") else file

        def _assign_work_unit(self, node):
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
            super()._assign_work_unit(node)

    return ByFile(config, log)


def pytest_runtest_setup(item):
    """Tests on real data need it."""
    if item.get_closest_marker("real") and not os.environ.get("ANHELPERS_DATA"):
        pytest.skip("ANHELPERS_DATA is not set; point it at the shared data to try the real sets.")


@pytest.fixture(scope="module")
def kept_scores(tmp_path_factory):
    """Scores are looked up, as everybody's are: a store for a file of tests, and what comes with the bundled models."""
    before = os.environ["ANHELPERS_STORE"]
    os.environ["ANHELPERS_STORE"] = str(tmp_path_factory.mktemp("store") / "scores.sqlite")
    yield
    os.environ["ANHELPERS_STORE"] = before


@pytest.fixture(autouse=True, scope="module")
def _look_scores_up(request):
    if request.path.parent.name not in COMPUTING:
        request.getfixturevalue("kept_scores")


MARIAN = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 2}
MARIAN |= {"decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32}


def byte_pieces(lines, vocab_size, longest):
    """A byte-level BPE tokenizer with <s>, </s> and <pad>, for any text; it adds no special token."""
    import tokenizers
    import transformers

    bpe = tokenizers.ByteLevelBPETokenizer(add_prefix_space=True)
    special = ["<s>", "</s>", "<pad>"]
    bpe.train_from_iterator(lines, vocab_size, 2, show_progress=False, special_tokens=special)
    named = dict(zip(("bos_token", "eos_token", "pad_token"), special, strict=True))
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=bpe._tokenizer, model_max_length=longest, **named
    )


@pytest.fixture(scope="session")
def tiny_lm(tmp_path_factory):
    """A folder with a random GPT-2 of width 16 and its tokenizer."""
    torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
    transformers = pytest.importorskip(
        "transformers", reason="pip install -c constraints.txt -e '.[neural]'"
    )
    folder = tmp_path_factory.mktemp("lm") / "tiny"
    tokenizer = byte_pieces(["Das Haus ist alt und klein.", "Der Hund bellt nicht."] * 4, 300, 64)
    config = transformers.GPT2Config(
        n_embd=16,
        n_layer=1,
        n_head=2,
        n_positions=64,
        vocab_size=len(tokenizer),
        bos_token_id=0,
        eos_token_id=1,
    )
    torch.manual_seed(0)
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def chromium():
    """A browser that reaches this machine only."""
    api = pytest.importorskip(
        "playwright.sync_api", reason="install playwright: pip install 'anhelpers[dev]'"
    )
    found = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if not found:
        pytest.skip("no chromium on the PATH; install it, e.g. with: apt-get install chromium")
    args = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=args)
        yield browser
        browser.close()


PAIRS = [
    ("The dog barks.", "Der Hund bellt."),
    ("A house is old and small.", "Ein Haus ist alt und klein."),
    (
        "The dog barks, the cat sleeps in the old house.",
        "Der Hund bellt, die Katze schläft im alten Haus.",
    ),
    ("Yes.", "Ja."),
    ("The cat sees the dog.", "Die Katze sieht den Hund."),
]


@pytest.fixture(scope="session")
def pairs():
    """Five sources with their targets: what the tiny models' pieces are trained on."""
    return PAIRS


@pytest.fixture(scope="session")
def pieces(tmp_path_factory):
    """A function (lines, more options of sentencepiece) -> the file of a new, tiny sentencepiece model."""
    sentencepiece = pytest.importorskip("sentencepiece", reason="pip install sentencepiece")
    folder = tmp_path_factory.mktemp("pieces")

    def train(lines, **options):
        name = folder / f"{len(list(folder.iterdir()))}"
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines * 4),
            model_prefix=str(name),
            hard_vocab_limit=False,
            minloglevel=2,
            **{"vocab_size": 60, "character_coverage": 1.0} | options,
        )
        return name.with_suffix(".model")

    return train


@pytest.fixture(scope="session")
def marian(tmp_path_factory, pieces):
    """A function (codes, apart) -> a folder with "mt", a random MarianMTModel, and "lm", a decoder of its shape."""
    torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
    transformers = pytest.importorskip(
        "transformers", reason="pip install -c constraints.txt -e '.[neural]'"
    )
    import json

    import sentencepiece

    def build(codes=(), apart=False, n_positions=64):
        folder = tmp_path_factory.mktemp("marian")
        spm = [pieces(list(lines)) for lines in zip(*PAIRS, strict=True)]
        own = [
            [sp.id_to_piece(i) for i in range(3, sp.get_piece_size())]
            for sp in (sentencepiece.SentencePieceProcessor(model_file=str(file)) for file in spm)
        ]
        sides = own if apart else [own[0] + own[1]]
        sides = [list(dict.fromkeys(["</s>", "<unk>", *codes, *side])) for side in sides]
        # both vocabularies have the size of the larger, and end in <pad>, as Marian's do
        n = max(map(len, sides)) + 1
        files = []
        for k, side in enumerate(sides):
            filled = [*side, *(f"<unused{i}>" for i in range(n - 1 - len(side))), "<pad>"]
            files.append(folder / f"{k}.json")
            files[-1].write_text(json.dumps({piece: i for i, piece in enumerate(filled)}), "utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it recommends a library that it does not use
            tokenizer = transformers.MarianTokenizer(
                *map(str, spm),
                str(files[0]),
                target_vocab_file=str(files[1]) if apart else None,
                separate_vocabs=apart,
                source_lang="en",
                target_lang="de",
                model_max_length=n_positions,
            )
        config = transformers.MarianConfig(
            **MARIAN,
            vocab_size=n,
            max_position_embeddings=n_positions,
            pad_token_id=n - 1,
            eos_token_id=0,
            decoder_start_token_id=n - 1,
            forced_eos_token_id=None,
            init_std=0.4,
        )
        torch.manual_seed(1)
        # it changes its config
        lm = transformers.MarianForCausalLM(transformers.MarianConfig(**config.to_dict()))
        mt = transformers.MarianMTModel(config)
        mt.final_logits_bias.normal_()
        for name, model in (("mt", mt), ("lm", lm)):
            model.generation_config.bad_words_ids = [[n - 1]]  # as in converted Marian models
            model.save_pretrained(folder / name)
            tokenizer.save_pretrained(folder / name)
        return folder

    return build


@pytest.fixture(scope="session")
def tiny_marian(marian):
    """The folder of a Marian pair whose translation and language model share one tokenizer."""
    return marian()


@pytest.fixture
def zeros(marian):
    """A translation model all of whose logits are 0; the padding token alone is never said."""
    from anhelpers.translation import load_mt

    mt = load_mt(marian() / "mt", device="cpu")
    for parameter in mt.model.parameters():
        parameter.data.zero_()
    mt.model.final_logits_bias.zero_()
    return mt


@pytest.fixture
def undrawn(monkeypatch):
    """A plane is written without its picture."""
    monkeypatch.setattr("anhelpers.charts.offline.save", lambda *args, **options: None)
    monkeypatch.setattr("anhelpers.charts.offline.interactive", lambda chart: "")


@pytest.fixture(scope="session")
def as_if_executed(tmp_path_factory):
    """A folder with the collection as if executed: every code cell prints a line and draws the same picture."""
    nbformat = pytest.importorskip("nbformat", reason="pip install 'anhelpers[notebooks]'")
    from anhelpers.notebooks import notebook_paths

    drawn = b64encode(
        b'<svg xmlns="http://www.w3.org/2000/svg" width="700" height="480"><rect width="700" height="480"/></svg>'
    )
    picture = f"<img alt='drawn' src='data:image/svg+xml;base64,{drawn.decode()}'>"
    folder = tmp_path_factory.mktemp("built")
    for path in notebook_paths():
        book = nbformat.read(path, 4)
        for cell in (c for c in book.cells if c.cell_type == "code"):
            cell.outputs = [
                nbformat.v4.new_output("stream", text=f"printed by {path.stem} {cell.id}\n"),
                nbformat.v4.new_output("display_data", {"text/html": picture}),
            ]
        nbformat.write(book, folder / path.name)
    return folder
