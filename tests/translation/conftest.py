"""Tiny random translation models of every family, made here: their pieces are trained on five sentences."""

from dataclasses import dataclass

import pytest

torch = pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")
transformers = pytest.importorskip(
    "transformers", reason="pip install -c constraints.txt -e '.[neural]'"
)

SHAPE = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": 64,
    "init_std": 0.4,
}


@dataclass(frozen=True)
class Family:
    """A saved checkpoint, how it is loaded, and what its decoder is given by its documentation."""

    folder: str
    options: dict
    given: tuple[str, ...]


def saved(folder, model, tokenizer, options, given):
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Family(str(folder), options, given)


def m2m100(folder, pieces, lines):
    import json

    import sentencepiece

    spm = pieces(lines)
    sp = sentencepiece.SentencePieceProcessor(model_file=str(spm))
    names = [
        "<s>",
        "<pad>",
        "</s>",
        "<unk>",
        *(sp.id_to_piece(i) for i in range(3, sp.get_piece_size())),
    ]
    (folder / "v.json").write_text(json.dumps({name: i for i, name in enumerate(names)}), "utf-8")
    tokenizer = transformers.M2M100Tokenizer(str(folder / "v.json"), str(spm))
    config = transformers.M2M100Config(vocab_size=len(names) + 108, **SHAPE)
    options = {"src_lang": "en", "trg_lang": "de"}
    return saved(
        folder,
        transformers.M2M100ForConditionalGeneration(config),
        tokenizer,
        options,
        ("</s>", "__de__"),
    )


def fast(make, pieces, lines, special=("<s>", "<pad>", "</s>", "<unk>"), **options):
    """A fast tokenizer as the hub has them, without the file of sentencepiece: its pieces, their scores."""
    import sentencepiece
    import tokenizers

    sp = sentencepiece.SentencePieceProcessor(model_file=str(pieces(lines)))
    vocabulary = [(name, 0.0) for name in special]
    vocabulary += [(sp.id_to_piece(i), sp.get_score(i)) for i in range(3, sp.get_piece_size())]
    unigram = tokenizers.Tokenizer(tokenizers.models.Unigram(vocabulary, special.index("<unk>")))
    unigram.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    unigram.decoder = tokenizers.decoders.Metaspace()
    return make(tokenizer_object=unigram, **options)


def nllb(folder, pieces, lines):
    tokenizer = fast(transformers.NllbTokenizerFast, pieces, lines)
    config = transformers.M2M100Config(vocab_size=len(tokenizer), **SHAPE)
    model = transformers.M2M100ForConditionalGeneration(config)
    return saved(
        folder, model, tokenizer, {"src_lang": "en", "trg_lang": "de"}, ("</s>", "deu_Latn")
    )


def mbart50(folder, pieces, lines):
    tokenizer = transformers.MBart50Tokenizer(str(pieces(lines)))
    config = transformers.MBartConfig(vocab_size=len(tokenizer), decoder_start_token_id=2, **SHAPE)
    model = transformers.MBartForConditionalGeneration(config)
    return saved(
        folder, model, tokenizer, {"src_lang": "en", "trg_lang": "de_DE"}, ("</s>", "de_DE")
    )


def mbart25(folder, pieces, lines):
    tokenizer = fast(transformers.MBartTokenizerFast, pieces, lines)
    model = transformers.MBartForConditionalGeneration(
        transformers.MBartConfig(vocab_size=len(tokenizer), **SHAPE)
    )
    return saved(folder, model, tokenizer, {"src_lang": "en_XX", "trg_lang": "de"}, ("de_DE",))


T5_SHAPE = {
    "d_model": 16,
    "d_kv": 8,
    "d_ff": 32,
    "num_layers": 1,
    "num_decoder_layers": 2,
    "num_heads": 2,
    "decoder_start_token_id": 0,
}


def t5(folder, pieces, lines):
    import tokenizers

    tokenizer = fast(
        transformers.T5TokenizerFast,
        pieces,
        lines,
        ("<pad>", "</s>", "<unk>"),
        extra_ids=4,
        model_max_length=64,
    )
    tokenizer.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    config = transformers.T5Config(
        vocab_size=len(tokenizer) + 5, initializer_factor=1.5, **T5_SHAPE
    )
    model = transformers.T5ForConditionalGeneration(config)
    return saved(folder, model, tokenizer, {"task": "to German: "}, ("<pad>",))


# its output layer is not its embeddings, and it has no fast tokenizer, as on the hub
def mt5(folder, pieces, lines):
    spm = pieces(lines, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    tokenizer = transformers.T5Tokenizer(str(spm), extra_ids=0, model_max_length=128, legacy=True)
    config = transformers.MT5Config(
        vocab_size=len(tokenizer) + 5, tie_word_embeddings=False, **T5_SHAPE
    )
    return saved(
        folder, transformers.MT5ForConditionalGeneration(config), tokenizer, {}, ("<pad>",)
    )


def byt5(folder, pieces, lines):
    tokenizer = transformers.ByT5Tokenizer(model_max_length=128)
    config = transformers.T5Config(vocab_size=384, tie_word_embeddings=False, **T5_SHAPE)
    return saved(folder, transformers.T5ForConditionalGeneration(config), tokenizer, {}, ("<pad>",))


def bart(folder, pieces, lines):
    import tokenizers

    bpe = tokenizers.ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    bpe.train_from_iterator(lines, vocab_size=300, special_tokens=special, show_progress=False)
    bpe.save_model(str(folder))
    tokenizer = transformers.BartTokenizerFast(
        str(folder / "vocab.json"), str(folder / "merges.txt")
    )
    config = transformers.BartConfig(vocab_size=len(tokenizer), forced_bos_token_id=None, **SHAPE)
    return saved(
        folder, transformers.BartForConditionalGeneration(config), tokenizer, {}, ("</s>", "<s>")
    )


FAMILIES = [m2m100, nllb, mbart50, mbart25, t5, mt5, byt5, bart]


@pytest.fixture(scope="session")
def family(tmp_path_factory, pieces, pairs, marian):
    """A function (name) -> its checkpoint, made once."""
    made = {}

    def build(name):
        if name not in made and name.startswith("marian"):
            codes = (">>deu<<", ">>fra<<") if name == "marian-many" else ()
            options = {"trg_lang": "de"} if codes else {}
            made[name] = Family(
                str(marian(codes, apart=name == "marian-apart") / "mt"), options, ("<pad>",)
            )
        elif name not in made:
            torch.manual_seed(2)
            lines = [text for pair in pairs for text in pair]
            make = next(f for f in FAMILIES if f.__name__ == name)
            made[name] = make(tmp_path_factory.mktemp(name), pieces, lines)
        return made[name]

    return build
