"""Values that only the name before them reveals: `db_password = "…"`, `"apiKey": "…"`, `密码：…`.

A password is masked when it looks like one that a person chose, any other value when it looks random.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from codefathom.source.secrets.scanned import ScannedText, SecretSpan
from codefathom.source.secrets.values import (
    is_dense,
    is_irregular,
    is_mixed,
    is_placeholder,
    is_reference,
    looks_chosen,
    looks_random,
    may_be_chosen,
)

PASSWORD, SECRET = "password", "secret"

# Pieces of names, in lower case. The words around them decide later; see `_kind_of_name`.
_PIECES = ("pass", "pwd", "secret", "token", "key", "auth", "credential", "creds", "salt", "cookie", "session")
_ALONE = ("sk", "psk", "sid", "pat", "jwt", "authtok", "bindpw")
FOREIGN_WORDS = (
    *("senha", "clave", "contrasena", "kennwort", "haslo", "wachtwoord", "losenord", "parola", "sifre", "jelszo"),
    *("heslo", "salasana", "adgangskode", "mima", "matkhau", "khau"),
)
_WHOLE_WORDS = frozenset(word.encode() for word in (*_ALONE, *FOREIGN_WORDS))
_FOREIGN_SCRIPTS = (
    *(
        "密码",
        "密碼",
        "口令",
        "密钥",
        "密鑰",
        "秘钥",
        "令牌",
        "パスワード",
        "暗証番号",
        "秘密鍵",
        "비밀번호",
        "암호",
        "토큰",
    ),
    *(
        "пароль",
        "пароля",
        "ключ",
        "токен",
        "секрет",
        "contraseña",
        "hasło",
        "lösenord",
        "şifre",
        "schlüssel",
        "mật khẩu",
    ),
    *(
        "heslo",
        "κωδικός",
        "סיסמה",
        "كلمة المرور",
        "كلمة السر",
        "رمز عبور",
        "पासवर्ड",
        "รหัสผ่าน",
        "mot de passe",
        "jelszó",
    ),
)

# From behind the piece to the value: the rest of the name, then what languages write between a name and its value.
_QUOTED = (
    r"[@bBrRuUfF$]{0,2}(?:\\?\"(?P<double>[^\s\"«»\\]{5,400})\\?\""
    r"|'(?P<single>[^\s'«»\\]{5,400})'|`(?P<tick>[^\s`«»\\]{5,400})`)"
)
_ASSIGNED = re.compile(
    r"[\w.\-]{0,40}"
    r"(?:>(?P<tagged>[^\s<>«»]{6,300})</"
    r"|(?:\\?[\"'`]|\]|\)){0,3}"
    r"(?:"
    # key="NAME" value="…", {"name": "NAME", "value": "…"}, - name: NAME
    r"(?:[ \t]*,)?\s{1,60}[\"']?[vV]alue[\"']?[ \t]*[:=][ \t]*"
    r"|(?<=\")[ \t]*\{[^{}]{0,400}?\bdefault[ \t]*=[ \t]*"
    r"|(?:[ \t]*:[ \t]*[\w.\[\]| ?<>&'*]{1,30}(?==[ \t]*[bru]?[\"'`])|[ \t]As[ \t]\w{1,20}(?=[ \t]=))?[ \t]*"
    r"(?:<-|:=|=>|->|={1,3}|:[ \t]*[>|][+-]?[ \t]*\r?\n|[ \t]\|(?=[ \t])|[:：＝是为]"
    r"|\?\?|\|\||[(,](?=[ \t]*[\"'])|[ \t]?(?=[\"'])"
    r"|(?<=[\"'`])[ \t](?:to|is|as|=)[ \t])[ \t]*"
    r"(?:\((?=\s)\s{0,100}|\((?=[\"'][^\"'\r\n]*[\"'][ \t]*\r?\n[ \t]*[\"'])|\\\r?\n[ \t]*)?"
    r")"
    rf"(?:{_QUOTED}"
    r"|(?P<bare>(?:base64:)?[\w+/=.~@%^*!?$#-]{6,300})(?=[ \t]*(?:[\r\n;,}\])\"'`|]|\Z|[ \t](?:#|//)))"
    r"|(?<==)(?P<tight>(?:base64:)?[\w+/=.~@%^*!?$#-]{6,300})(?=[\s;,&\"'`<>)]|\Z)))"
)
_MORE = re.compile(r"[ \t]*(?:[+.\\&]?[ \t]*\r?\n[ \t]*[+.&]?|[+.&])[ \t]*[\"'`]([^\s\"'`«»\\]{4,400})[\"'`]")
_MAX_MORE = 5
_LEFT = 40  # signs of a name before the piece
_LEFT_NAME = re.compile(r"[\w.\-]*\Z")
_REST_OF_NAME = re.compile(r"[\w\-]*")


_ENCODED = [(piece, piece.encode()) for piece in _PIECES]


def assignments(scanned: ScannedText) -> Iterator[SecretSpan]:
    """Yield values that stand behind a telling name and look like secrets."""
    lowered = scanned.lowered
    for piece in _pieces_in(scanned):
        place = lowered.find(piece)
        while place >= 0:
            end = place + len(piece)
            match = _ASSIGNED.match(scanned.text, end)
            if match is not None:
                yield from _assigned(match, scanned.text, place)
            place = lowered.find(piece, end)


def _pieces_in(scanned: ScannedText) -> Iterator[str]:
    """Yield the pieces of names that are in a text."""
    joined = scanned.joined
    yield from [piece for piece, data in _ENCODED if data in joined]
    yield from (word.decode() for word in scanned.words & _WHOLE_WORDS)
    if not scanned.text.isascii():
        yield from (word for word in _FOREIGN_SCRIPTS if word in scanned.lowered)


def _assigned(match: re.Match[str], text: str, place: int) -> Iterator[SecretSpan]:
    group = match.lastgroup or ""
    spans = [match.span(group)]
    if text[match.end() - 1] in "\"'`":
        end = match.end()
        while len(spans) < _MAX_MORE and (more := _MORE.match(text, end)):
            spans.append(more.span(1))
            end = more.end()
    value = "".join(text[start:end] for start, end in spans)
    if not may_be_chosen(value):  # cheap, and ends nearly all of it
        return
    left = _LEFT_NAME.search(text, max(place - _LEFT, 0), place)
    rest = _REST_OF_NAME.match(text, place)
    assert left is not None  # both may be empty
    assert rest is not None
    name = left[0] + rest[0]
    kind = _kind_of_name(left[0], rest[0])
    is_written_out = group not in ("bare", "tight")
    may_be_name = kind == SECRET or "." in value or value[0].isupper()
    may_be_weak = is_written_out and "(" not in text[place : match.start(group)]
    if kind and (is_written_out or not (may_be_name and _is_code(value))) and _fits(kind, name, value, may_be_weak):
        yield from (SecretSpan(start, end, kind) for start, end in spans)


def _fits(kind: str, name: str, value: str, may_be_weak: bool) -> bool:
    """Return True if a value looks like the kind that its name suggests; `may_be_weak` accepts a word with a number."""
    if is_placeholder(value) or _CALL.search(value):
        return False
    if is_reference(value) and not (value[0] == "/" and is_dense(value)):
        return False
    if kind == PASSWORD:
        is_weak = may_be_weak and is_mixed(value) and value.isalnum() and _ENDS_AS_PASSWORD.search(name) is not None
        return looks_random(value) or (len(value) >= 8 and looks_chosen(value)) or is_weak
    if name.lower() == "key":
        return is_dense(value)
    if looks_random(value):
        return True
    is_broken = is_irregular(value) or (may_be_weak and value.isalnum() and len(_NUMBER.findall(value)) >= 3)
    return len(value) >= 12 and is_mixed(value) and is_broken


_ENDS_AS_PASSWORD = re.compile(r"(?:pass(?:wor[dt]|wd|phrase)?|pwd)$", re.IGNORECASE)
_CALL = re.compile(r"\w\(")
_SMALL, _NUMBER = re.compile(r"[a-z]+"), re.compile(r"\d+")


def _is_code(value: str) -> bool:
    """Return True if a value without quotes looks like a name in code, or several joined by points."""
    return all(part.isidentifier() and _is_of_words(part) for part in value.split("."))


def _is_of_words(name: str) -> bool:
    """Return True if a name consists of words, with few numbers, such as `ClientHttp2Session`."""
    return sum(len(run) == 1 for run in _SMALL.findall(name)) <= 1 and len(_NUMBER.findall(name)) <= 2


_PASSWORD_NAME = re.compile(
    r"pass(?:w(?:or[dt]|d)?s?|phrase|code|e|wrd|ord)?(?![a-z])|pwd(?![a-z])|(?<![a-z])(?:psk|authtok|bindpw)(?![a-z])"
    rf"|(?<![a-z])(?:{'|'.join(FOREIGN_WORDS)})|{'|'.join(_FOREIGN_SCRIPTS)}"
)
_NO_SECRET = re.compile(
    r"public|publish|tokeni[sz]|passed|passing|keyword|keyboard|keyframe|keycode|monkey|authori?ty|authors?(?![a-z])"
    r"|(?:^|[_\-.])(?:primary|foreign|sort|partition|cache|hash|row|index|unique|object|group|dict|map|i18n|translation"
    r"|message|lookup|idempotency|routing|event|state|column|field|registry|dedup\w*)[_\-.]?key"
    r"|(?:name|path|file|dir|url|uri|type|field|pattern|regexp?|length|len|size|format|label|hint|header|prefix|suffix|count"
    r"|limit|version|algorithm|alg|class|template|message|error|status|expir\w*|lifetime|ttl|date|time|index|scheme"
    r"|provider|endpoint|issuer|placeholder|selector|ref|arn|fingerprint|digest|checksum|thumbprint|hash|sha\d*|md5|key[_\-]?id)s?$"
)
_KEY_BEFORE = re.compile(
    r"(?:api|app|access|private|secret|auth|account|master|admin|licen[cs]e|encryption|encrypt|decryption|signing|aes|des"
    r"|rsa|hmac|fernet|session|storage|deploy|ssh|validation|subscription|client|shared|host|server|service|user|site"
    r"|write|read|ingest|integration|product|serial|activation|webhook|crypt\w*|wrapping)$"
)
_WORD_END = re.compile(r"(?:key|auth|salt|cookie|session|sk|sid|pat|jwt|creds?|credentials?)s?(?:ids?|[_\-]ids?)?")


@lru_cache(maxsize=4_096)
def _kind_of_name(left: str, rest: str) -> str:
    """Return the kind of value that a name suggests, or "". `left` ends before the piece, `rest` begins with it."""
    name = (left + rest).lower()
    if _NO_SECRET.search(name):
        return ""
    if _PASSWORD_NAME.search(name):
        return PASSWORD
    lowered = rest.lower()
    if lowered.startswith(("secret", "token", "credential")):
        return SECRET
    word = _WORD_END.match(lowered)
    if word is None:
        return SECRET if rest in _FOREIGN_SCRIPTS or not rest.isascii() else ""
    after = rest[word.end() : word.end() + 1]
    is_known = lowered.startswith("key") and _KEY_BEFORE.search(left.lower()) is not None
    if (after.isalpha() and after.isascii()) and (after.islower() or not is_known):
        return ""
    is_own_word = not left[-1:].isalpha() or (rest[:1].isupper() and left[-1:].islower())
    return SECRET if is_own_word or is_known else ""
