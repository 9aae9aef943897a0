"""What a language model is given to translate: a template, the examples shown to it, and where its answer ends."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from hashlib import sha256

from .. import hub
from ..data.languages import CODES, NAMES, base
from ..errors import DataError, UnknownName, need
from ..naturalness.load import LanguageModel

__all__ = ["CHAT", "PLAIN", "Prompt", "language_name", "special_in"]

PLAIN = "{src_lang}: {src}\n{trg_lang}:"
CHAT = (
    "Translate the following text from {src_lang} into {trg_lang}. Give the translation "
    "only.\n\n{src}"
)
FIELDS = ("src", "src_lang", "trg_lang")
FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Prompt:
    """How a language model is asked for a translation.

    Parameters
    ----------
    src_lang, trg_lang : names of the languages as the template shows them, such as "English".
    template : text in which {src}, {src_lang} and {trg_lang} are filled in; None: `CHAT` for a model whose tokenizer
        has a chat template, else `PLAIN`.
    examples : (source, translation) pairs shown before: as turns of the chat, or one below the other.
    system : the system message of a chat.
    chat : whether the tokenizer's chat template is used; None: where it has one.
    separator : what stands between the template and a translation, and is no part of the translation; None: a space,
        and nothing in a chat.
    stop : the answer ends before this text, or where the model ends it; None: only there.
    """

    src_lang: str = ""
    trg_lang: str = ""
    template: str | None = None
    examples: tuple[tuple[str, str], ...] = ()
    system: str = ""
    chat: bool | None = None
    separator: str | None = None
    stop: str | None = "\n"

    def __post_init__(self) -> None:
        if self.template is not None:
            _check_template(self.template)
        if self.stop == "":
            raise DataError("stop is an empty text; name the text that ends an answer, or None.")

    def settled(self, lm: LanguageModel) -> Prompt:
        """The same with nothing left to the model's kind."""
        has_one = bool(getattr(lm.tokenizer, "chat_template", None))
        chat = has_one if self.chat is None else self.chat
        if chat and not has_one:
            raise DataError(f"the tokenizer of {lm.name} has no chat template; leave chat out.")
        if self.system and not chat:
            raise DataError(
                f"{lm.name} is asked without a chat, and a system message needs one; put it in the "
                "template."
            )
        template = self.template if self.template is not None else CHAT if chat else PLAIN
        for field in ("src_lang", "trg_lang"):
            if f"{{{field}}}" in template and not getattr(self, field):
                raise DataError(
                    f"the prompt of {lm.name} names the languages, and {field} is not given; say "
                    "it."
                )
        separator = self.separator if self.separator is not None else "" if chat else " "
        return Prompt(
            self.src_lang,
            self.trg_lang,
            template,
            tuple((src, trg) for src, trg in self.examples),
            self.system,
            chat,
            separator,
            self.stop,
        )

    def ids(self, lm: LanguageModel, src: str) -> list[int]:
        """The tokens before the answer, the context token or what the chat template begins with included."""
        if self.chat:
            jinja2 = need("jinja2", "chat templates")
            try:
                return lm.tokenizer.apply_chat_template(
                    self.turns(src), add_generation_prompt=True, return_dict=False
                )
            except jinja2.TemplateError as error:
                raise DataError(
                    f"the chat template of {lm.name} refuses this prompt: {error}."
                ) from error
        before = [] if lm.context_token is None else [lm.context_token]
        return before + hub.plain_ids(lm.tokenizer, [self.text(src)])[0]

    def turns(self, src: str) -> list[dict[str, str]]:
        """The messages of the chat."""
        turns = [{"role": "system", "content": self.system}] if self.system else []
        for shown, translation in self.examples:
            turns.append({"role": "user", "content": self.filled(shown)})
            turns.append({"role": "assistant", "content": (self.separator or "") + translation})
        return [*turns, {"role": "user", "content": self.filled(src)}]

    def text(self, src: str) -> str:
        """The examples, each ended by the stop text or a line end, and the template."""
        end = self.stop or "\n"
        shown = [self.filled(s) + (self.separator or "") + t + end for s, t in self.examples]
        return "".join(shown) + self.filled(src)

    def filled(self, src: str) -> str:
        """The template with this source; braces in the source are text."""
        values = {"src": src, "src_lang": self.src_lang, "trg_lang": self.trg_lang}
        return FIELD.sub(lambda match: values[match[1]], self.template or PLAIN)

    def hash(self, lm: LanguageModel) -> str:
        """12 hex digits of the sha256 of all that the prompt says, the chat template included."""
        said = asdict(self) | {"chat_template": lm.tokenizer.chat_template if self.chat else None}
        return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:12]


def language_name(code_or_name: str) -> str:
    """The English name of a language by its code, such as "de" or "pt_BR"; a name with a capital letter as it is.

    >>> language_name("de"), language_name("Low German")
    ('German', 'Low German')
    """
    if code_or_name[:1].isupper():
        return code_or_name
    code = base(code_or_name)
    if code in NAMES:
        return NAMES[code]
    if code in CODES:
        raise DataError(
            f"no name is known here for the language '{code_or_name}'; give its name, such as "
            "'Breton'."
        )
    raise UnknownName("language", code_or_name, NAMES)


def special_in(lm: LanguageModel, src: str) -> str | None:
    """A special token of the model that the text holds and that a chat template would take for one."""
    known = (str(token) for token in lm.tokenizer.added_tokens_decoder.values() if token.special)
    return next((token for token in known if token in src), None)


def _check_template(template: str) -> None:
    fields = FIELD.findall(template)
    for field in fields:
        if field not in FIELDS:
            raise UnknownName(
                "field of the prompt template", f"{{{field}}}", [f"{{{name}}}" for name in FIELDS]
            )
    if "src" not in fields:
        raise DataError(
            "the prompt template has no {src}, so the model would never see the source; put it in."
        )
