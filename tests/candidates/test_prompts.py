"""What a language model is given, and what of its answer is the candidate."""

import copy
from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="pip install -c constraints.txt -e '.[neural]'")

from anhelpers import hub
from anhelpers.candidates import Drawing, Prompt, draw
from anhelpers.candidates.prompts import language_name
from anhelpers.errors import DataError, UnknownName

CHAT = (
    "{% for m in messages %}<bos>{{ m.role }}: {{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}answer:{% endif %}"
)


@pytest.fixture
def chatty(lm):
    """The same model with a chat template."""
    tokenizer = copy.deepcopy(lm.tokenizer)
    tokenizer.chat_template = CHAT
    return replace(lm, tokenizer=tokenizer, name="chatty")


def test_examples_stand_above_the_source_each_ended_as_an_answer_ends(lm):
    prompt = Prompt("English", "German", examples=[("Yes.", "Ja."), ("{src}", "No")]).settled(lm)
    assert prompt.text("A {trg_lang}.") == (
        "English: Yes.\nGerman: Ja.\nEnglish: {src}\nGerman: No\nEnglish: A {trg_lang}.\nGerman:"
    )
    ids = hub.plain_ids(lm.tokenizer, [prompt.text("A")])[0]
    assert prompt.ids(lm, "A") == [lm.context_token, *ids]


def test_a_chat_has_turns_and_its_own_template(chatty):
    prompt = Prompt(
        "English", "German", "{src_lang}>{trg_lang} {src}", (("Yes.", "Ja."),), system="Be brief."
    )
    settled = prompt.settled(chatty)
    assert (settled.chat, settled.separator) == (True, "")
    roles = [(turn["role"], turn["content"]) for turn in settled.turns("No.")]
    assert roles == [
        ("system", "Be brief."),
        ("user", "English>German Yes."),
        ("assistant", "Ja."),
        ("user", "English>German No."),
    ]
    text = "".join(f"<bos>{role}: {content}\n" for role, content in roles) + "answer:"
    assert (
        settled.ids(chatty, "No.") == chatty.tokenizer(text, add_special_tokens=False)["input_ids"]
    )
    plain = replace(prompt, system="", chat=False).settled(chatty)
    assert (plain.separator, plain.text("No.")) == (
        " ",
        "English>German Yes. Ja.\nEnglish>German No.",
    )
    assert settled.hash(chatty) != plain.hash(chatty)


def test_the_hash_names_everything(chatty):
    prompt = Prompt("English", "German")
    changes = [
        {"src_lang": "French"},
        {"template": "{src}"},
        {"examples": (("a", "b"),)},
        {"system": "x"},
        {"separator": "\n"},
        {"stop": None},
        {"chat": False},
    ]
    hashes = {replace(prompt, **change).settled(chatty).hash(chatty) for change in [{}, *changes]}
    assert len(hashes) == 1 + len(changes)
    other = copy.deepcopy(chatty.tokenizer)
    other.chat_template = CHAT + " "
    assert prompt.settled(chatty).hash(replace(chatty, tokenizer=other)) not in hashes


@pytest.mark.parametrize("stop", ["\n", "a", "un", "ß"])
def test_an_answer_ends_before_the_stop_text(lm, stop):
    cands = draw(lm, ["The d."], 200, max_tokens=12, prompt=Prompt(template="{src}", stop=stop))
    free = draw(lm, ["The d."], 200, max_tokens=12, prompt=Prompt(template="{src}", stop=None))
    assert not any(stop in text for text in cands.texts)
    assert cands.texts != free.texts or not any(stop in text for text in free.texts)
    drawing = Drawing(lm, 1, prompt=Prompt(template="{src}", stop=stop))
    for text in (f"xy{stop}", f"xy{stop}cd"):
        ids = hub.plain_ids(lm.tokenizer, [text])[0]
        assert drawing.text(ids) == "xy"
        ended = [drawing.ended(ids[: i + 1]) for i in range(len(ids))]
        spelt = [stop in lm.tokenizer.decode(ids[: i + 1]) for i in range(len(ids))]
        assert ended[spelt.index(True)]
        assert not any(ended[: spelt.index(True)])


def test_every_token_may_complete_a_stop_text_that_ends_in_a_space(lm):
    # decoders may strip it
    assert Drawing(lm, 1, prompt=Prompt(template="{src}", stop="a: ")).stoppers.all()
    assert not Drawing(lm, 1, prompt=Prompt(template="{src}", stop="a:")).stoppers.all()


def test_the_separator_is_no_part_of_the_candidate_and_all_else_is(lm):
    drawing = Drawing(lm, 1, prompt=Prompt(template="{src}:"))
    spell = lambda text: drawing.text(hub.plain_ids(lm.tokenizer, [text])[0])  # noqa: E731
    assert [spell(text) for text in (" Das Haus ", "Das", "  Das", " ")] == [
        "Das Haus ",
        "Das",
        " Das",
        "",
    ]
    (end,) = drawing.ends
    assert drawing.text([*hub.plain_ids(lm.tokenizer, [" Das."])[0], end]) == "Das."


def test_marks_in_a_source_are_text_in_a_plain_prompt_and_refused_in_a_chat(lm, chatty):
    mark = lm.tokenizer.eos_token
    prompt = Prompt(template="{src}")
    assert lm.tokenizer.eos_token_id not in prompt.settled(lm).ids(lm, f"a {mark} b")
    with pytest.raises(
        DataError, match=f"source 1 holds {mark!r}, which chatty takes for a mark of the chat"
    ):
        draw(chatty, ["Yes.", f"a {mark} b"], 1, prompt=prompt)


def test_ends_of_a_chat_are_ends(lm):
    model = copy.deepcopy(lm.model)
    model.generation_config.eos_token_id = [lm.tokenizer.eos_token_id, 7]
    assert Drawing(replace(lm, model=model), 1, prompt=Prompt(template="{src}")).ends == {
        lm.tokenizer.eos_token_id,
        7,
    }


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        (
            {"template": "Translate:"},
            DataError,
            r"the prompt template has no \{src\}, so the model would never see",
        ),
        (
            {"template": "{src} {trg-lang} {target}"},
            UnknownName,
            r"unknown field of the prompt template '\{target\}'",
        ),
        ({"stop": ""}, DataError, "stop is an empty text"),
    ],
)
def test_a_bad_prompt_is_told(options, error, sentence):
    with pytest.raises(error, match=sentence):
        Prompt("English", "German", **options)


def test_a_prompt_that_does_not_fit_the_model_is_told(lm, chatty):
    for prompt, sentence in [
        (Prompt(), "the prompt of tiny names the languages, and src_lang is not given; say it"),
        (Prompt("English"), "trg_lang is not given"),
        (
            Prompt(template="{src}", chat=True),
            "the tokenizer of tiny has no chat template; leave chat out",
        ),
        (
            Prompt(template="{src}", system="x"),
            "tiny is asked without a chat, and a system message needs one",
        ),
        (
            Prompt(template="word " * 80 + "{src}"),
            r"source 0 has \d+ tokens with its prompt, and tiny takes 64 in all",
        ),
        (
            Prompt(template="{src}", stop="s"),
            "source 0 holds the stop text 's', which would cut its translation",
        ),
    ]:
        with pytest.raises(DataError, match=sentence):
            draw(lm, ["Yes."], 1, prompt=prompt)
    grumpy = replace(chatty, tokenizer=copy.deepcopy(chatty.tokenizer))
    grumpy.tokenizer.chat_template = "{{ raise_exception('no system role') }}"
    with pytest.raises(
        DataError, match="the chat template of chatty refuses this prompt: no system role"
    ):
        draw(grumpy, ["Yes."], 1, prompt=Prompt(template="{src}"))
    endless = replace(lm, tokenizer=copy.deepcopy(lm.tokenizer), model=copy.deepcopy(lm.model))
    endless.tokenizer.eos_token = endless.model.generation_config.eos_token_id = None
    with pytest.raises(
        DataError,
        match="tiny has no end-of-sequence token, so its answers have no end; name a stop",
    ):
        draw(endless, ["Yes."], 1, prompt=Prompt(template="{src}", stop=None))


def test_languages_are_named_by_code_or_by_name():
    names = [
        language_name(given)
        for given in ("en", "de", "pt_BR", "Low German", "pt-BR", "eng_Latn", "eu", "br", "gsw")
    ]
    assert names == [
        "English",
        "German",
        "Portuguese",
        "Low German",
        "Portuguese",
        "English",
        "Basque",
        "Breton",
        "Swiss German",
    ]
    with pytest.raises(
        DataError,
        match="no name is known here for the language 'und'; give its name, such as 'Breton'",
    ):
        language_name("und")
    with pytest.raises(UnknownName, match="unknown language 'qq'"):
        language_name("qq")
