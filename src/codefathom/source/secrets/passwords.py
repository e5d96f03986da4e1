"""Values of names such as PASSWORD, whatever they look like: a person chooses words, too. Pure.

The name ends with the word, the value is written out, and it is none of the words that stand beside such a name in code
for another reason: a type, a rule of a form, a label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from codefathom.source.secrets.names import FOREIGN_WORDS, PASSWORD, SECRET
from codefathom.source.secrets.scanned import ScannedText, SecretSpan, compiled
from codefathom.source.secrets.values import is_placeholder, is_reference

_EVERY_PATH = ""
_CONFIG = r"(?i)\.(?:ya?ml|properties|ini|cfg|conf|toml|env)$|(?:^|/)\.?env[^/]*$"
_MARKUP = r"(?i)\.(?:xml|config|csproj|props|plist)$"
_DOCKERFILE = r"(?i)(?:^|/)(?:Dockerfile|Containerfile)[^/]*$|\.dockerfile$"

_END = r"(?:_?\d{1,2})?(?![\w\-])"  # of the name
_PASSWORD, _SECRET = rf"(?i)pass(?:wor[dt]|wd|phrase){_END}", rf"(?i)secret(?:[_\-]?key)?{_END}"
_STRING = r"(?P<quote>[\"'`])(?P<value>[^\"'`\\\r\n«»]{4,100})(?P=quote)"
_BARE = r"(?P<value>[^\s\"'`«»#;,]{4,100})[ \t]*(?:[#;][^\r\n]*)?(?=\r?\n|\Z)"
_ASSIGNMENT = (
    r"(?:\\?[\"'`]|\]|\)){0,3}"
    r"(?:(?:[ \t]*:[ \t]*[\w.\[\]| ?<>&*]{1,30}(?==[ \t]*[\"'`]))?[ \t]*(?:=>|:=|={1,3}|:(?!:))[ \t]*[bru]?"
    r"|(?<=[\"'])[ \t]*,?[ \t]+(?:value|default)[ \t]*=[ \t]*)"
    rf"{_STRING}(?![ \t]*(?:[+%.?\[(]|\w))"  # no "wrong" + text, no "…".format(…)
)


class _Use(NamedTuple):
    """A way to give a name its value: what stands before the piece of the name, and the piece with what follows."""

    kind: str
    piece: str
    path: str  # of the files in which it is looked for
    before: str
    pattern: str


_PIECES = ("passwor", "passwd", "passphrase")
_USES = (
    *(_Use(PASSWORD, piece, _EVERY_PATH, "", _PASSWORD + _ASSIGNMENT) for piece in _PIECES),
    _Use(
        SECRET,
        "secret",
        _EVERY_PATH,
        r"(?i)(?:client|app|api|shared|consumer|signing|auth|oauth|webhook|jwt|cookie|session)[_\-]?\Z",
        _SECRET + _ASSIGNMENT,
    ),
    _Use(SECRET, "secret", _EVERY_PATH, r"(?:\A|[^\w\-.])\Z", rf"SECRET(?:_KEY)?{_END}{_ASSIGNMENT}"),
    _Use(PASSWORD, "passwor", _EVERY_PATH, r"(?i)(?:\b(?:set|with)|\.)\Z", rf"{_PASSWORD}\([ \t]*{_STRING}[ \t]*\)"),
    _Use(
        PASSWORD,
        "passwor",
        _EVERY_PATH,
        r"(?i)\b(?:define|putenv|setenv|setProperty)\([ \t]*[\"'][\w.]{0,60}\Z",
        rf"{_PASSWORD}[\"'][ \t]*,[ \t]*{_STRING}[ \t]*\)",
    ),
    *(
        use
        for piece in _PIECES
        for use in (
            _Use(PASSWORD, piece, _MARKUP, r"<[\w.\-]{0,60}\Z", rf"{_PASSWORD}>(?P<value>[^\s<>«»]{{4,100}})</"),
            _Use(
                PASSWORD,
                piece,
                _CONFIG,
                r"(?m)^[ \t]*(?:-[ \t]+)?[\w.\-]{0,60}\Z",
                rf"{_PASSWORD}[ \t]*[:=][ \t]*{_BARE}",
            ),
            _Use(PASSWORD, piece, _DOCKERFILE, r"(?m)^[ \t]*(?:ENV|ARG)[ \t]+\w{0,60}\Z", rf"{_PASSWORD}[ \t]+{_BARE}"),
        )
    ),
)
_LEFT = 100  # signs before a piece that are looked at
_TRANSLATED = re.compile(
    r"(?i)(?:^|[/._\-])(?:i18n|l10n|locales?|langs?|languages?|translations?|nls|messages|labels|strings)(?:[/._\-]|$)"
)
# What stands behind such a name for another reason than to be the password.
_NO_VALUE = re.compile(
    r"(?i)(?<![a-z])(?:str|string|text|char|varchar|bytes?|object|any|none|null|nil|undefined|unknown|true|false|empty"
    r"|blank|missing|hidden|required|optional|nullable|hash|hashed|encrypted|masked|plain|plaintext|clear|basic|bearer"
    r"|digest|values?|name|user|username|login|label|field|input|prompt|type|format|current|new|old|confirm\w*|wrong"
    r"|correct|incorrect|valid|must|should|please|enter|enable[ds]?|disabled?|reset|forgot\w*|forget|change|update"
    r"|file|path|env|vault|keyring|stdin|pass|pw|pwd|auth|credentials?|visible|show|hide|off|auto|error|unreserved"
    r"|reserved)(?![a-z])"
)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_WORD = re.compile(r"[^\W_]+")


def passwords(scanned: ScannedText) -> Iterator[SecretSpan]:
    """Yield the values of names of passwords and of secrets of programs."""
    joined, path = scanned.joined, scanned.path
    pieces = {piece for piece in (*_PIECES, "secret") if piece.encode() in joined}
    if not pieces or _TRANSLATED.search(path):
        return
    for use in _USES:
        if use.piece in pieces and (not use.path or compiled(use.path).search(path)):
            yield from _values(use, scanned)


def _values(use: _Use, scanned: ScannedText) -> Iterator[SecretSpan]:
    text, lowered, pattern, before = scanned.text, scanned.lowered, compiled(use.pattern), compiled(use.before)
    place = lowered.find(use.piece)
    while place >= 0:
        match = pattern.match(text, place)
        if match is not None and before.search(text[max(place - _LEFT, 0) : place]):
            # Only a constant is looked at for several words: behind other names stand sentences.
            is_constant = match[0][: len(use.piece)].isupper()
            if _is_chosen(match["value"], may_have_blanks=is_constant):
                yield SecretSpan(*match.span("value"), use.kind)
        place = lowered.find(use.piece, place + len(use.piece))


def _is_chosen(value: str, *, may_have_blanks: bool) -> bool:
    """Return True for a value that somebody may have chosen as a password."""
    if is_placeholder(value) or is_reference(value) or not value.isascii() or not _WORD.search(value):
        return False
    if any(sign in value for sign in "{}<>()[]\t") or value[0] in "-.#/" or value[-1] in ":?!.":
        return False
    if " " in value and not (may_have_blanks and len(value) >= 8):
        return False
    # Of several words, such as "correct-horse-battery", one may be any.
    n_words, n_others = len(_WORD.findall(value)), len(_NO_VALUE.findall(value))
    is_foreign = any(word in value.lower() for word in FOREIGN_WORDS)
    return 2 * n_others < n_words and not _DOTTED.fullmatch(value) and not is_foreign
