"""What the tags of the teaching sets' candidates mean: a sentence each, for readers of a page."""

from __future__ import annotations

__all__ = ["TAGS"]

TAGS = {
    # of every source
    "calque": "Put together word for word, in the order of the source.",
    "literal": "Close to the wording of the source: correct, and noticeably foreign.",
    "literal-2": "Another literal version, often a heavier one.",
    "near-reference": "The first reference translation with a word or two changed.",
    "idiomatic": "What a translator who grew up with the language would write.",
    "idiomatic-2": "Another version that a native translator would write.",
    "free": "Rephrased: the gist in other words, and some details are lost or new.",
    "free-short": "Rephrased and shortened: only the point of the sentence is left.",
    "generalised": "Says it with vaguer words, so that details are lost.",
    "omission": "Something that the source says is left out.",
    "omission-2": "Something else that the source says is left out.",
    "addition": "Says something that the source does not say.",
    "explicitation": "Spells out what the source leaves to the reader.",
    "wrong-sense": "A word with two meanings is taken in the wrong one.",
    "wrong-sense-2": "Another word with two meanings is taken in the wrong one.",
    "wrong-order": "The right words in an order that the language does not allow.",
    "grammar": "One grammatical error, such as a wrong ending, tense or preposition.",
    "bureaucratic": "Stiff and full of nouns, as offices write.",
    "officialese": "Stiff and full of nouns, as offices write.",
    "colloquial": "As people talk, with spoken words and short forms.",
    "elevated": "Solemn and old-fashioned.",
    "unrelated-fluent": "A natural sentence that says something else than the source.",
    "untranslated": "Words of the source are left untranslated.",
    # where they fit
    "gender-dropped": "The source says whether it is a man or a woman; the translation does not.",
    "gender-wrong": "A man has become a woman, or a woman a man.",
    "number-dropped": "A number of the source is left out.",
    "number-wrong": "A number is not that of the source.",
    "tense-shift": "The time has moved, such as from the past into the present.",
    "negation-flipped": "A not is missing, or is there too much: it says the opposite.",
    "role-swap": "Who does it and to whom it is done have changed places.",
    "passive": "Turned into the passive: it is done, instead of somebody does it.",
    "nominal": "Actions have become nouns: the doing of something, instead of doing it.",
    "split": "One sentence of the source has become two or more.",
    "compressed": "As short as a headline, without the words that a sentence needs.",
    "typo": "With a spelling error.",
    "punctuation": "With an error in the punctuation.",
    "false-friend": "A word that looks like that of the source and means something else.",
    "repetition": "A word or phrase stands there twice.",
    "hedged": "With possibly, perhaps and seems, where the source is sure.",
    "register": "The wrong tone for the occasion, too formal or too familiar.",
    "british": "In British English; the other candidates are in American English.",
    "swiss": "In the German of Switzerland.",
    "entity-wrong": "A name is not that of the source.",
}
"""Tag -> what it says of a candidate, in a sentence; the READMEs of the teaching sets list them too."""
