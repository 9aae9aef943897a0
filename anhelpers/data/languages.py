"""The languages that machine translation works on: their codes and names, and pairs such as "en-de"."""

from __future__ import annotations

import re

from ..errors import DataError, nearest

__all__ = [
    "CODES",
    "MEMBERS",
    "NAMES",
    "SAY_THE_PAIR",
    "UNDETERMINED",
    "base",
    "known_code",
    "short_code",
    "spaced",
    "split_pair",
]

UNDETERMINED = "und-und"
"""ISO 639's "undetermined", twice: the pair of a file that does not name its languages."""
SAY_THE_PAIR = (
    "which language the texts are in is not known: say the pair by -l, such as -l de-en (in "
    "Python: lp)."
)
"""Where a judge of one language is wanted."""

# ISO 639-1 in full; its code in ISO 639-3, with the members of a macrolanguage that models tell apart; an English name.
TABLE = [
    row.split()
    for row in """
    aa aar, ab abk, ae ave, af afr, ak aka, am amh, an arg, ar ara arb acm acq aeb ajp apc ars ary arz Arabic, as asm,
    av ava, ay aym ayr, az aze azj azb, ba bak, be bel, bg bul Bulgarian, bi bis, bm bam, bn ben Bengali, bo bod, br
    bre, bs bos, ca cat Catalan, ce che, ch cha, co cos, cr cre, cs ces Czech, cu chu, cv chv, cy cym, da dan Danish,
    de deu German, dv div, dz dzo, ee ewe, el ell Greek, en eng English, eo epo, es spa Spanish, et est Estonian, eu
    eus Basque, fa fas pes prs Persian, ff ful fuv, fi fin Finnish, fj fij, fo fao, fr fra French, fy fry, ga gle
    Irish, gd gla, gl glg, gn grn, gu guj Gujarati, gv glv, ha hau Hausa, he heb Hebrew, hi hin Hindi, ho hmo, hr hrv
    Croatian, ht hat, hu hun Hungarian, hy hye, hz her, ia ina, id ind Indonesian, ie ile, ig ibo, ii iii, ik ipk, io
    ido, is isl Icelandic, it ita Italian, iu iku, ja jpn Japanese, jv jav, ka kat, kg kon, ki kik, kj kua, kk kaz
    Kazakh, kl kal, km khm Khmer, kn kan, ko kor Korean, kr kau, ks kas, ku kur kmr ckb, kv kom, kw cor, ky kir, la
    lat, lb ltz, lg lug, li lim, ln lin, lo lao, lt lit Lithuanian, lu lub, lv lav lvs ltg Latvian, mg mlg plt, mh
    mah, mi mri, mk mkd, ml mal, mn mon khk, mr mar, ms msa zsm, mt mlt Maltese, my mya, na nau, nb nob, nd nde, ne
    nep npi, ng ndo, nl nld Dutch, nn nno, no nor nob nno Norwegian, nr nbl, nv nav, ny nya, oc oci, oj oji, om orm
    gaz, or ori ory, os oss, pa pan, pi pli, pl pol Polish, ps pus pbt Pashto, pt por Portuguese, qu que quy, rm roh,
    rn run, ro ron Romanian, ru rus Russian, rw kin, sa san, sc srd, sd snd, se sme, sg sag, sh hbs, si sin, sk slk
    Slovak, sl slv Slovene, sm smo, sn sna, so som, sq sqi als, sr srp Serbian, ss ssw, st sot, su sun, sv swe
    Swedish, sw swa swh Swahili, ta tam Tamil, te tel, tg tgk, th tha Thai, ti tir, tk tuk, tl tgl, tn tsn, to ton, tr
    tur Turkish, ts tso, tt tat, tw twi, ty tah, ug uig, uk ukr Ukrainian, ur urd Urdu, uz uzb uzn, ve ven, vi vie
    Vietnamese, vo vol, wa wln, wo wol, xh xho Xhosa, yi yid ydd, yo yor, za zha, zh zho cmn yue lzh nan wuu Chinese,
    zu zul Zulu
    """.split(",")  # noqa: SIM905
]
# Those of FLORES-200 and of the WMT tasks that have no code in ISO 639-1.
OTHERS = """
    ace ast awa ban bar bas bem bgc bho bjn brx bug bxr ceb cjk crh csb dik doi dsb dyu fil fon frp frr fur gom grc
    gsw haw hil hne hsb ilo kaa kab kac kam kbp kea kmb knc kok krl kru lad lep lij liv lmo lua luo lus luy mag mai
    mas mdf mhr min mni mos mrj mul mwl myv nap nds nso nus nyn olo pag pap pcd pms rom rue sah sat scn sgs shn sma
    smj smn sms stq szl taq teo tet tpi tum tzm udm umb und vec vep vls vro war zea
    """.split()  # noqa: SIM905

NAMES = {code: row[-1] for row in TABLE if row[-1][0].isupper() for code in row[:2]}
"""A language's two-letter and three-letter code -> its English name, where one is known here."""

MEMBERS = {row[0]: [code for code in row[1:] if code.islower()] for row in TABLE}
"""ISO 639-1 -> ISO 639-3: the language, or the members of a macrolanguage that models tell apart."""

CODES = frozenset([*MEMBERS, *(code for codes in MEMBERS.values() for code in codes), *OTHERS])

UNSPACED = frozenset("bo dz ja km lo my shn th zh".split())  # noqa: SIM905

# pt_BR, es_419, eng_Latn
LANGUAGE = re.compile(r"([a-z]{2,3})(?:_(?:[A-Z]{2}|[0-9]{3}|[A-Z][a-z]{3}))?")


def base(code: str) -> str:
    """The language of a code without its region or script, in lower case.

    >>> base("pt_BR"), base("zh-Hans"), base("eng_Latn")
    ('pt', 'zh', 'eng')
    """
    return re.split("[-_]", code, maxsplit=1)[0].lower()


def short_code(code: str) -> str:
    """The ISO 639-1 code of a language, or of the macrolanguage that it belongs to; else its code without region.

    >>> short_code("zho_Hans"), short_code("yue"), short_code("pt-BR"), short_code("gsw")
    ('zh', 'zh', 'pt', 'gsw')
    """
    language = base(code)
    own = [two for two, codes in MEMBERS.items() if language in (two, codes[0])]
    return next(iter(own or [two for two, codes in MEMBERS.items() if language in codes]), language)


def spaced(code: str) -> bool:
    """Whether texts in a language have spaces between their words.

    >>> spaced("de_AT"), spaced("zho_Hans"), spaced("tha")
    (True, False, False)
    """
    return short_code(code) not in UNSPACED


def known_code(code: str) -> str:
    """The code of one language, its region after an underscore; a DataError where there is no such language.

    >>> known_code("pt-BR")
    'pt_BR'
    """
    match = LANGUAGE.fullmatch(code.replace("-", "_"))
    if not match or match[1] not in CODES:
        hint = (
            nearest(code.lower(), CODES)
            or "; use an ISO 639 code with an optional region, like de or pt_BR."
        )
        raise DataError(f"'{code}' is no known language code{hint}")
    return match[0]


def split_pair(lp: str) -> tuple[str, str]:
    """The source and the target language of a pair; a DataError for anything else.

    >>> split_pair("en-pt_BR")
    ('en', 'pt_BR')
    """
    parts = lp.split("-") if isinstance(lp, str) else []
    if len(parts) != 2:
        raise DataError(f"unknown language pair {lp!r}; write source-target, like en-de.")
    try:
        return known_code(parts[0]), known_code(parts[1])
    except DataError as error:
        raise DataError(f"unknown language pair {lp!r}: {error}") from None
