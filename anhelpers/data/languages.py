"""Language pairs such as "en-de": two ISO 639 codes of the languages that machine translation works on."""

from __future__ import annotations

import re

from ..errors import DataError, nearest

__all__ = ["UNDETERMINED", "split_pair"]

UNDETERMINED = "und-und"
"""ISO 639's "undetermined", twice: the pair of a file that does not name its languages."""

# ISO 639-1 in full; of ISO 639-3 the same languages, those of FLORES-200 and those of the WMT tasks.
CODES = frozenset(
    """
    aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el
    en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it
    iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt
    my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk
    sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi
    yo za zh zu
    aar abk ace acm acq aeb afr ajp aka als amh apc ara arb arg ars ary arz asm ast ava ave awa aym ayr azb aze
    azj bak bam ban bar bas bel bem ben bgc bho bis bjn bod bos bre brx bug bul bxr cat ceb ces cha che chu chv
    cjk ckb cor cos cre crh csb cym dan deu dik div doi dsb dyu dzo ell eng epo est eus ewe fao fas fij fil fin
    fon fra frp frr fry ful fur fuv gaz gla gle glg glv gom grc grn gsw guj hat hau haw hbs heb her hil hin hmo
    hne hrv hsb hun hye ibo ido iii iku ile ilo ina ind ipk isl ita jav jpn kaa kab kac kal kam kan kas kat kau
    kaz kbp kea khk khm kik kin kir kmb kmr knc kok kom kon kor krl kru kua kur lad lao lat lav lep lij lim lin
    lit liv lmo ltg ltz lua lub lug luo lus luy lvs lzh mag mah mai mal mar mas mdf mhr min mkd mlg mlt mni mon
    mos mri mrj msa mul mwl mya myv nan nap nau nav nbl nde ndo nds nep nld nno nob nor npi nso nus nya nyn oci
    oji olo ori orm ory oss pag pan pap pbt pcd pes pli plt pms pol por prs pus que quy roh rom ron rue run rus
    sag sah san sat scn sgs shn sin slk slv sma sme smj smn smo sms sna snd som sot spa sqi srd srp ssw stq sun
    swa swe swh szl tah tam taq tat tel teo tet tgk tgl tha tir ton tpi tsn tso tuk tum tur twi tzm udm uig ukr
    umb und urd uzb uzn vec ven vep vie vls vol vro war wln wol wuu xho ydd yid yor yue zea zha zho zsm zul
    """.split()  # noqa: SIM905
)

# pt_BR, es_419, eng_Latn
LANGUAGE = re.compile(r"([a-z]{2,3})(?:_(?:[A-Z]{2}|[0-9]{3}|[A-Z][a-z]{3}))?")


def split_pair(lp: str) -> tuple[str, str]:
    """The source and the target language of a pair; a DataError for anything else.

    >>> split_pair("en-pt_BR")
    ('en', 'pt_BR')
    """
    parts = lp.split("-") if isinstance(lp, str) else []
    if len(parts) != 2:
        raise DataError(f"unknown language pair {lp!r}; write source-target, like en-de.")
    for code in parts:
        match = LANGUAGE.fullmatch(code)
        if not match or match[1] not in CODES:
            hint = nearest(code, CODES) or "; use ISO 639 codes with an optional region, like en-de or en-pt_BR"
            raise DataError(f"unknown language pair {lp!r}: '{code}' is no known language code{hint}.")
    return parts[0], parts[1]
