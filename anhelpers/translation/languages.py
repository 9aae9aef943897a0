"""The language codes of multilingual models, and the plain codes such as "de" that stand for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..data.languages import MEMBERS, base
from ..errors import DataError, nearest

__all__ = ["choose_language", "known_languages"]

CODE = re.compile(r"[a-z]{2,3}_[A-Za-z]{2,4}")  # de_DE, en_XX, deu_Latn


def known_languages(tokenizer: Any) -> list[str]:
    """The codes that this tokenizer has a token for, as it writes them; none for a model of one language pair."""
    # Marian, whose separate vocabularies hide them
    if hasattr(tokenizer, "supported_language_codes"):
        return sorted(
            piece for piece in tokenizer.encoder if piece.startswith(">>") and piece.endswith("<<")
        )
    if hasattr(tokenizer, "lang_code_to_token"):  # M2M100
        return sorted(tokenizer.lang_code_to_token)
    if hasattr(tokenizer, "tgt_lang"):  # NLLB, mBART
        return sorted(
            token for token in tokenizer.additional_special_tokens if CODE.fullmatch(token)
        )
    return []


def choose_language(code: str | None, known: Sequence[str], what: str, name: str) -> str:
    """The model's own code for a language: as given, or the only one that "de" or "deu" may stand for.

    Parameters
    ----------
    code : given by the user. known : the model's codes. what, name : "source language", the model, for the error.

    Raises
    ------
    DataError : none given, none that fits, or several.

    >>> choose_language("de", ["deu_Latn", "eng_Latn"], "target language", "nllb")
    'deu_Latn'
    """
    if code is None:
        raise DataError(
            f"{name} translates between many languages: name the {what}, such as {_some(known)}."
        )
    if code in known:
        return code
    wanted = {
        code,
        *MEMBERS.get(code, []),
        *(two for two, three in MEMBERS.items() if code in three),
    }
    hits = [own for own in known if base(own.strip("<>")) in wanted]
    if len(hits) == 1:
        return hits[0]
    if hits:
        raise DataError(
            f"the {what} '{code}' of {name} may be {' or '.join(hits)}; name one of them."
        )
    raise DataError(
        f"{name} has no {what} '{code}'{nearest(code, known)}; it knows {_some(known)}."
    )


def _some(known: Sequence[str]) -> str:
    """All codes if they are few, else the first well-known ones and how many there are."""
    if len(known) <= 8:
        return ", ".join(known)
    common = {form for two in ("de", "en", "fr", "zh") for form in (two, *MEMBERS[two])}
    shown = [own for own in known if base(own.strip("<>")) in common][:5] or list(known[:5])
    return f"{', '.join(shown)} ({len(known)} in all)"
