"""From bytes to characters: the encoding that a file declares, and the one that a project's old files share.

A detector fails on one short comment and hardly ever on a hundred: files that are not UTF-8 and declare nothing are
therefore read as what most of them look like. Only a file with enough letters of its own, or one that this encoding
cannot mean, is read as what it looks like itself. See docs/decisions/encodings.md.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

from codefathom.types.choices import USUAL_ENCODING

# Only character sets: Python's other codecs unpack archives, or turn ASCII into something else. Each is read as the
# largest set that contains it, as browsers do.
_NAMES = {
    "gb18030": "gb18030 gb2312 gbk cp936 ms936 gb_2312_80 euc_cn",
    "big5hkscs": "big5hkscs big5_hkscs big5 big5_tw csbig5",
    "cp950": "cp950",
    "cp932": "cp932 shift_jis sjis shiftjis s_jis ms_kanji windows_31j mskanji ms932 csshiftjis x_sjis",
    "euc_jis_2004": "euc_jis_2004 euc_jisx0213 euc_jp eucjp ujis u_jis x_euc_jp",
    "cp949": "cp949 euc_kr euckr ks_c_5601_1987 ksc5601 uhc ms949 korean",
    USUAL_ENCODING: "windows_1252 cp1252 latin_1 latin1 iso_8859_1 iso8859_1 l1 8859 cp819",
    "iso8859_15": "iso8859_15 iso_8859_15 latin_9 latin9",
    "cp1250": "cp1250 windows_1250",
    "iso8859_2": "iso8859_2 iso_8859_2 latin2 latin_2",
    "cp1251": "cp1251 windows_1251",
    "iso8859_5": "iso8859_5 iso_8859_5 cyrillic",
    "koi8_r": "koi8_r",
    "koi8_u": "koi8_u",
    "cp866": "cp866 ibm866",
    "cp1253": "cp1253 windows_1253",
    "iso8859_7": "iso8859_7 iso_8859_7 greek",
    "cp1254": "cp1254 windows_1254 iso8859_9 iso_8859_9 latin5",
    "cp1255": "cp1255 windows_1255",
    "cp1256": "cp1256 windows_1256",
    "cp1257": "cp1257 windows_1257",
    "cp1258": "cp1258 windows_1258",
    "cp874": "cp874 tis_620 iso8859_11 iso_8859_11",
    "cp437": "cp437 ibm437",
    "cp850": "cp850 ibm850",
    "mac_roman": "mac_roman macroman macintosh",
}
_SEVEN_BITS = {
    "iso2022_jp_2": "iso2022_jp iso_2022_jp iso2022_jp_1 iso_2022_jp_1 iso2022_jp_2 iso_2022_jp_2 csiso2022jp",
    "iso2022_kr": "iso2022_kr iso_2022_kr",
    "hz": "hz hz_gb hzgb hz_gb_2312",
}
_ENCODINGS = {name: encoding for encoding, names in {**_NAMES, **_SEVEN_BITS}.items() for name in names.split()}

DECIDED = "!"  # behind the name of an encoding that a person chose: no file is read as what it looks like

_MULTI_BYTE = ("gb18030", "big5hkscs", "cp932", "euc_jis_2004", "cp949")
# The smaller set of each: the signs that are in daily use.
_USUAL_SIGNS = {
    "gb18030": "gb2312",
    "big5hkscs": "big5",
    "cp932": "shift_jis",
    "euc_jis_2004": "euc_jp",
    "cp949": "euc_kr",
}
_MIN_OWN_BYTES = 40  # above 127 in a file that tells its encoding itself
_MOST_VOTES = 60  # files
_OF_ALPHABETS = ("cp1251", "koi8-r", "cp1250")
# Of one letter in a hundred lines nobody can tell the alphabet: so many different high bytes or pairs must occur.
_MIN_VARIETY = 40

# Compiled when the first such file comes: every search imports this module.
_DECLARATIONS = (
    # PEP 263, Emacs and Vim, and Ruby: in a comment on one of the first two lines.
    rb"\A(?:[^\n]*\n)?[^\n\w]{0,40}[^\n]{0,200}?\b(?:file)?(?:en)?coding[:=][ \t]*([-\w.]{2,40})",
    rb"\A\s*<\?xml[^>]{0,200}?\bencoding\s*=\s*[\"']([-\w.]{2,40})[\"']",
    rb"(?i)\A[^\0]{0,4000}?<meta[^>]{0,200}?\bcharset\s*=\s*[\"']?([-\w.]{2,40})",
    rb"\A@charset [\"']([-\w.]{2,40})[\"'];",
)
_HEAD_BYTES = 4_500
_THREE_BYTES = rb"[\xe0-\xef][\x80-\xbf]{2}"
_UTF_8 = rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
_HIGH = rb"[\x80-\xff]+"
_CROWD = rb"[\x80-\xff](?:[\0-\x7f]?[\x80-\xff])+"
_MOST_BYTES_OF_ONE = 4_000
_MOST_BYTES = 200_000


def known_encoding(name: str) -> str:
    """Return the encoding that a name stands for, "" when it names no character set that is read here."""
    return _ENCODINGS.get(re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_"), "")


def decode(data: bytes, assumed: str = USUAL_ENCODING) -> tuple[str, bool]:
    """Return the text of bytes without a byte order mark, and whether `assumed` decided how they are read.

    In this order: what they declare, UTF-8, `assumed` (a name of a character set), Windows-1252, which takes all.
    """
    if data.isascii() and b"\x1b" not in data and b"~{" not in data:
        return data.decode("ascii"), False
    declared = _declared(data)
    if declared in _SEVEN_BITS or (declared and not _is_surely_utf_8(data)):
        text = _strictly(data, declared)
        if text is not None:
            return text, False
    text = _strictly(data, "utf-8")
    if text is not None:
        return text, False
    if _is_broken_utf_8(data):
        return data.decode("utf-8", "replace"), False
    return _nearly(data, assumed_encoding(data, assumed)), True


def assumed_encoding(data: bytes, assumed: str) -> str:
    """Return the encoding in which bytes are read that are not UTF-8 and declare nothing.

    It is `assumed`, or one of East Asia for which these bytes speak alone, unless a person has decided.
    """
    usual = known_encoding(assumed) or USUAL_ENCODING
    lines = _crowded_lines(data) if not assumed.endswith(DECIDED) else b""
    n_high = sum(map(len, re.findall(_HIGH, lines)))
    if not n_high or (n_high < _MIN_OWN_BYTES and _may_be(lines, usual)):
        return usual
    own = _detected(lines)
    return own if own in _MULTI_BYTE and own != usual and _strictly(data, own) is not None else usual


def read_as(data: bytes, assumed: str) -> str:
    """Return `assumed`, with the encoding behind it that was used instead: `gb18030/cp932`."""
    own = assumed_encoding(data, assumed)
    return assumed if own == (known_encoding(assumed) or USUAL_ENCODING) else f"{assumed}/{own}"


def _may_be(lines: bytes, encoding: str) -> bool:
    """Return True unless an encoding of East Asia makes mostly signs of these lines that hardly anybody writes."""
    if encoding not in _MULTI_BYTE:
        return True
    text = _strictly(lines, encoding)
    if text is None:
        return False
    letters = [letter for letter in text if not letter.isascii()]
    n_usual = sum(_strictly_encoded(letter, _USUAL_SIGNS[encoding]) for letter in letters)
    return 2 * n_usual > len(letters)


def _strictly_encoded(letter: str, encoding: str) -> bool:
    try:
        return len(letter.encode(encoding)) > 1  # katakana of half width has one byte
    except UnicodeEncodeError:
        return False


def undecodable_lines(data: bytes) -> bytes:
    """Return lines that only an assumed encoding can read and that may tell which, not too many.

    Empty where the file tells its own encoding, and where it holds a letter with an accent here and there.
    """
    if not decode(data)[1]:
        return b""
    return _crowded_lines(data)


def _crowded_lines(data: bytes) -> bytes:
    lines = [line for line in data.splitlines(keepends=True) if not line.isascii() and _is_crowded(line)]
    return b"".join(lines)[:_MOST_BYTES_OF_ONE]


def likely_encoding(samples: Iterable[bytes]) -> str:
    """Return the encoding that these lines of many files look like, USUAL_ENCODING where nothing speaks for another."""
    lines = list(_within(samples, _MOST_BYTES))
    votes: Counter[str] = Counter()
    for sample in lines[:: len(lines) // _MOST_VOTES + 1]:
        own = _detected(sample)
        is_readable = own not in _MULTI_BYTE or _strictly(sample, own) is not None
        votes[own if is_readable else ""] += len(sample)
    most = [encoding for encoding, n in votes.most_common(1) if encoding in _MULTI_BYTE and 2 * n >= votes.total()]
    return most[0] if most else _detected(b"".join(lines))


def _detected(sample: bytes) -> str:
    import chardet

    lines = sample.splitlines(keepends=True)
    data = b"".join(dict.fromkeys(lines))  # an author's name at the head of each file says it once
    if not data:
        return USUAL_ENCODING
    variety = len({pair for run in re.findall(_HIGH, data) for pair in zip(run, run[1:] or b"\0", strict=False)})
    allowed = (*_MULTI_BYTE, *(_OF_ALPHABETS if variety >= _MIN_VARIETY else ()), "cp1252")
    name = chardet.detect(data, include_encodings=allowed)["encoding"]
    return known_encoding(name or "") or USUAL_ENCODING


def _within(samples: Iterable[bytes], most: int) -> Iterator[bytes]:
    for sample in samples:
        if most <= 0:
            return
        most -= len(sample)
        yield sample if sample.endswith(b"\n") else sample + b"\n"


def _declared(data: bytes) -> str:
    head = data[:_HEAD_BYTES]
    for declaration in _DECLARATIONS:
        match = re.search(declaration, head)
        if match is not None:
            return known_encoding(match[1].decode("ascii", "replace"))
    return ""


def _is_surely_utf_8(data: bytes) -> bool:
    """Return True for valid UTF-8 with a character of three bytes: two bytes may be a character of GBK by chance."""
    return re.search(_THREE_BYTES, data) is not None and _strictly(data, "utf-8") is not None


def _is_broken_utf_8(data: bytes) -> bool:
    """Return True if nearly all bytes that are not ASCII are UTF-8, so that the others are damage."""
    n_high = sum(map(len, re.findall(_HIGH, data)))
    return 20 * (n_high - sum(map(len, re.findall(_UTF_8, data)))) < n_high


def _is_crowded(data: bytes) -> bool:
    """Return True if most high bytes have another one next to them, or one byte further, as in words not in Latin.

    Two bytes may be one Chinese character, or a letter with an accent and its neighbour.
    """
    n_high = sum(map(len, re.findall(_HIGH, data)))
    return 2 * sum(map(len, re.findall(_CROWD, data))) > n_high


def _strictly(data: bytes, encoding: str) -> str | None:
    if encoding == USUAL_ENCODING:
        return _windows(data)
    try:
        text, _ = codecs.lookup(encoding).decode(data, "strict")
    except UnicodeDecodeError:
        return None
    return text


def _nearly(data: bytes, encoding: str) -> str:
    """Decode; a few bytes that have no meaning become U+FFFD, many tell that this is another encoding."""
    if encoding == USUAL_ENCODING or (encoding in _MULTI_BYTE and not _is_crowded(data)):
        return _windows(data)
    text, _ = codecs.lookup(encoding).decode(data, "replace")
    n_high = sum(not sign.isascii() for sign in text)
    return text if 20 * text.count("\ufffd") <= n_high else _windows(data)


def _windows(data: bytes) -> str:
    return data.decode("latin-1").translate(_signs_of_windows())


@cache
def _signs_of_windows() -> dict[int, str]:
    # Five codes are unassigned: they keep the Latin-1 meaning, so no two bytes are one.
    codes = set(range(0x80, 0xA0)) - {0x81, 0x8D, 0x8F, 0x90, 0x9D}
    return {code: bytes([code]).decode("cp1252") for code in codes}
