"""Damage texts by rule, for the head fluent: 1 to 3 errors of determiners, forms, order, missing or doubled words.

The rules of function words, verbs and endings know German and English. In other languages, other forms of a word are
the words of the texts that share its beginning.
"""

import re
from collections import Counter, defaultdict

import numpy as np

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
FRAMED = re.compile(rf"(\W*)({WORD.pattern})(\W*)")  # a word between signs, which keep their place
N_ERRORS = {1: 0.7, 2: 0.2, 3: 0.1}  # errors in a text -> probability
FARTHEST = 6  # places that a word moves at most
TRIES = 20
SHORTEST, LONGEST = 4, 45  # words of a text that is damaged
ENDINGS = ["e", "en", "er", "es", "em"]
POSSESSIVE = ("kein", "mein", "dein", "sein", "ihr", "unser")
POINTING = ("dies", "jed", "jen", "welch", "all", "viel", "manch")
DETERMINERS = {
    "de": ["der die das den dem des", "ein eine einen einem einer eines",
           *(" ".join([stem, *(stem + end for end in ENDINGS)]) for stem in POSSESSIVE),
           *(" ".join(stem + end for end in ENDINGS) for stem in POINTING)],
    "en": ["a an the"],
}  # fmt: skip
CONFUSED = {  # a word -> another word of its row
    "de": "im ins|am ans|zum zur|vom von|im am|ihn ihm er|ihr ihnen sie|mich mir ich|dich dir du|wir uns|euch ihr"
    "|sich ihn ihm|wer wen wem|ist sind|war waren|hat haben|hatte hatten|wird werden|wurde wurden|kann können"
    "|muss müssen|soll sollen|will wollen|darf dürfen|bin ist|habe hat|bist ist|ist hat|sind haben|war hatte"
    "|waren hatten|habe bin|worden geworden|worden wurde|dass das|als wie|wenn als|nicht kein|in an auf bei zu nach"
    "|von aus|für um|mit bei|über auf|durch von|denn weil|wo der|zu um",
    "en": "is are|was were|has have|does do|has is|have are|had was|will would|be been|be is|been being|he him|she her"
    "|they them|we us|I me|who whom|his him|their them|my me|your you|this these|that those|much many|less fewer"
    "|than then|more most|good well|it its|who which|as like|in on at to|for of|with by from|to for|into in"
    "|go goes went gone|do did done|see saw seen|take took taken|come came|get got|make made|give gave given"
    "|know knew known|say said|think thought|find found|write wrote written|begin began begun|become became|run ran"
    "|any some|every all|since for|not no",
}  # fmt: skip
FINITE = {
    "de": "ist sind war waren hat haben hatte hatten wird werden wurde wurden kann können konnte konnten muss müssen "
    "musste soll sollen sollte will wollen wollte darf dürfen habe bin würde würden könnte",
    "en": "is are was were has have had will would can could should must may might do does did",
}
DROPPED = {
    "de": "der die das den dem des ein eine einen einem einer zu in im an am auf für mit von sich es ist hat wird "
    "werden haben und dass nicht",
    "en": "a an the to of in on at for with is are was were has have had be been it that he she they and will would "
    "not",
}

Rng = np.random.Generator
Forms = dict[str, tuple[list[str], np.ndarray]]
Parts = list[tuple[str, str, str]]
"""Signs before, the word, signs after."""


def other_forms(counts: Counter[str]) -> Forms:
    """Word -> (words that differ from it only in the last two letters, their probabilities by frequency)."""

    def stems(word: str) -> list[str]:
        return [word[: len(word) - k] for k in range(3) if len(word) - k >= max(2, len(word) / 2)]

    alike = defaultdict(list)
    for word in sorted(counts):
        for stem in stems(word):
            alike[stem].append(word)
    forms = {}
    for word in counts:
        if others := sorted({other for stem in stems(word) for other in alike[stem]} - {word}):
            n = np.array([counts[other] for other in others], float) ** 0.5
            forms[word] = others, n / n.sum()
    return forms


def confused_forms(rows: list[str]) -> Forms:
    """Word -> (the other words of its rows, equal probabilities), also with a capital."""
    alike = defaultdict(set)
    for row in rows:
        for word in row.split():
            alike[word] |= {*row.split()} - {word}

    def capital(word: str) -> str:
        return word[:1].upper() + word[1:]

    alike |= {capital(w): {capital(o) for o in alike[w]} for w in [*alike] if w != "I"}
    return {word: (sorted(o), np.full(len(o), 1 / len(o))) for word, o in alike.items()}


class Damage:
    """Rules: words, their parts and rng -> the words with one error, or None without a place for it."""

    def __init__(self, texts: list[str], lang: str) -> None:
        self.lang = lang
        self.words = Counter(word for text in texts for word in WORD.findall(text))
        forms, determiners = other_forms(self.words), DETERMINERS.get(lang, [])
        self.confused = confused_forms([*determiners, *CONFUSED.get(lang, "").split("|")])
        self.forms = {word: form for word, form in forms.items() if word not in self.confused}
        self.lowered = {*forms, *self.confused}
        known = {word for row in determiners for word in row.split()}
        self.determiners = {w: v for w, v in self.confused.items() if w.lower() in known}
        self.finite, self.drops = ({*of.get(lang, "").split()} for of in (FINITE, DROPPED))
        self.rules = {
            self.determiner: 0.22, self.function: 0.18, self.ending: 0.15, self.form: 0.15, self.verb: 0.1,
            self.swapped: 0.06, self.moved: 0.06, self.dropped: 0.05, self.doubled: 0.03,
        }  # fmt: skip

    def replaced(self, words: list[str], parts: Parts, table: Forms, rng: Rng) -> list[str] | None:
        if not (at := [i for i, (_, word, _) in enumerate(parts) if word in table]):
            return None
        before, word, after = parts[i := at[rng.integers(len(at))]]
        others, p = table[word]
        return [*words[:i], before + others[rng.choice(len(others), p=p)] + after, *words[i + 1 :]]

    def function(self, words: list[str], parts: Parts, rng: Rng) -> list[str] | None:
        """A function word for another: case, agreement, auxiliary, preposition, pronoun."""
        return self.replaced(words, parts, self.confused, rng)

    def form(self, words: list[str], parts: Parts, rng: Rng) -> list[str] | None:
        """A content word in another form that the texts have."""
        return self.replaced(words, parts, self.forms, rng)

    def determiner(self, words: list[str], parts: Parts, rng: Rng) -> list[str] | None:
        """A false determiner; in English also one too many."""
        bare = [
            i
            for i in range(1, len(words))
            if self.lang == "en"
            and re.fullmatch("[a-z]{3,}", parts[i][1])
            and not parts[i - 1][2]
            and not parts[i][0]
            and parts[i][1] not in self.confused
            and parts[i - 1][1] not in ("a", "an", "the")
        ]
        if not bare or rng.random() < 0.5:
            return self.replaced(words, parts, self.determiners, rng)
        i = bare[rng.integers(len(bare))]
        return [*words[:i], ["the", "a"][rng.choice(2, p=[0.7, 0.3])], *words[i:]]

    def ending(self, words: list[str], parts: Parts, rng: Rng) -> list[str] | None:
        """German: another ending of a lower-case word before a noun; English: -s, -ed or -ing."""
        german, shape = self.lang == "de", "([a-zäöüß]{3,}?)(e|en|er|es|em)"
        at = [
            i
            for i in (range(len(words) - 1) if german else range(1, len(words)))
            if re.fullmatch(shape if german else "[a-z]{3,}", parts[i][1])
            and parts[i][1] not in self.confused
            and (
                parts[i + 1][1][:1].isupper() and not parts[i][2]
                if german
                else parts[i][1] not in self.drops
            )
        ]
        if not at or self.lang not in DETERMINERS:
            return None
        before, word, after = parts[i := at[rng.integers(len(at))]]
        if german:
            stem, end = re.fullmatch(shape, word).groups()
            new = stem + [e for e in ENDINGS if e != end][rng.integers(4)]
        elif end := re.search("(?<!e)ed$|ing$|(?<!s)s$", word):
            new = word[: end.start()]
        else:
            new = word + ["s", "ed", "ing"][rng.choice(3, p=[0.7, 0.15, 0.15])]
        return (
            [*words[:i], before + new + after, *words[i + 1 :]]
            if german or new in self.words
            else None
        )

    def shift(self, words: list[str], parts: Parts, i: int, j: int) -> list[str] | None:
        """The word at i at place j, not beyond a sign; the first word of a text keeps its capital."""
        low, high = min(i, j), max(i, j)
        if low < 0 or high >= len(words) or low == high:
            return None
        found = parts[low : high + 1]
        if (
            not all(w for _, w, _ in found)
            or any(p[0] for p in found[1:])
            or any(p[2] for p in found[:-1])
        ):
            return None
        bare = [word for _, word, _ in found]
        order = [*bare[1:], bare[0]] if j > i else [bare[-1], *bare[:-1]]
        if order == bare:
            return None
        if not low and bare[0][:1].isupper() and order[0] != bare[0]:
            order[0] = order[0][:1].upper() + order[0][1:]
            if bare[0].lower() in self.lowered:
                order[1:] = [word.lower() if word == bare[0] else word for word in order[1:]]
        order[0], order[-1] = found[0][0] + order[0], order[-1] + found[-1][2]
        return [*words[:low], *order, *words[high + 1 :]]

    def swapped(self, words: list[str], parts: Parts, rng: Rng) -> list[str] | None:
        i = int(rng.integers(len(words)))
        return self.shift(words, parts, i, i + 1)

    def moved(self, words: list[str], parts: Parts, rng: Rng) -> list[str] | None:
        i, far = int(rng.integers(len(words))), int(rng.integers(2, FARTHEST + 1))
        return self.shift(words, parts, i, i + far * int(rng.choice([-1, 1])))

    def verb(self, words: list[str], parts: Parts, rng: Rng) -> list[str] | None:
        """A finite verb, or the last word of a clause, in another place of its clause."""
        ends = [i for i, (_, w, after) in enumerate(parts) if w and (after or i == len(words) - 1)]
        finite = [i for i, (_, word, _) in enumerate(parts) if word in self.finite]
        last = [i for i in ends if parts[i][1][:1].islower()]
        if not (at := finite if finite and (rng.random() < 0.5 or not last) else last):
            return None
        i = at[rng.integers(len(at))]
        start = max([e + 1 for e in ends if e < i], default=0)
        end = min([e for e in ends if e >= i], default=len(words) - 1)
        if i == end:
            j = int(rng.integers(start + 1, i)) if i - start >= 2 else i
        else:
            j = [end, i + 1, i - 1, i + 2][rng.choice(4, p=[0.4, 0.2, 0.2, 0.2])]
        return self.shift(words, parts, i, j)

    def dropped(self, words: list[str], parts: Parts, rng: Rng) -> list[str] | None:
        at = [i for i, (before, w, after) in enumerate(parts) if w and not before and not after]
        some = [i for i in at if parts[i][1].lower() in self.drops]
        if some and rng.random() < 0.7:
            at = some
        if not at:
            return None
        i = at[rng.integers(len(at))]
        rest = [*words[:i], *words[i + 1 :]]
        capital = not i and words[0][:1].isupper()
        return [rest[0][:1].upper() + rest[0][1:], *rest[1:]] if capital else rest

    def doubled(self, words: list[str], parts: Parts, rng: Rng) -> list[str] | None:
        if not (at := [i for i, (_, word, _) in enumerate(parts) if word]):
            return None
        before, word, after = parts[i := at[rng.integers(len(at))]]
        return [*words[:i], before + word, word + after, *words[i + 1 :]]

    def __call__(self, text: str, rng: Rng) -> str | None:
        words, rules = text.split(" "), [*self.rules]
        wanted = rng.choice([*N_ERRORS], p=[*N_ERRORS.values()])
        for _ in range(TRIES):
            parts = [
                found.groups() if (found := FRAMED.fullmatch(w)) else ("", "", w) for w in words
            ]
            if not wanted or sum(bool(word) for _, word, _ in parts) < 3:
                break
            rule = rules[rng.choice(len(rules), p=[*self.rules.values()])]
            new = rule(words, parts, rng)
            if new and new != words:
                words, wanted = new, wanted - 1
        return None if (changed := " ".join(words)) == text else changed
