"""Secrets that are recognised by their place in a command, a header, a call, a cookie or an address."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from typing import NamedTuple

from codefathom.source.secrets.names import PASSWORD, SECRET
from codefathom.source.secrets.scanned import ScannedText, SecretSpan, compiled, words_of
from codefathom.source.secrets.values import (
    is_mixed,
    is_placeholder,
    is_plain,
    is_reference,
    looks_random,
)

URL_PASSWORD, AUTHORIZATION, COOKIE = "URL password", "authorization", "cookie"


class _Place(NamedTuple):
    """A pattern whose groups are secrets. It is tried at each `sign`, in texts that hold `word`."""

    kind: str
    word: bytes  # a word of every such text; b"" for none
    sign: str  # in lower case; the pattern begins with it
    pattern: str
    accept: Callable[[str], bool]


def _is_written_out(value: str) -> bool:
    return not is_placeholder(value) and not is_reference(value)


def _is_own(value: str) -> bool:
    """Return True for a value that is neither a word of an example nor a variable."""
    return _is_written_out(value) and is_mixed(value)


def _is_random(value: str) -> bool:
    return _is_written_out(value) and looks_random(value)


def _is_login(value: str) -> bool:
    """Return True for a name and a password in base64."""
    try:
        login = b64decode(value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4), validate=True).decode()
    except ValueError:
        return False
    return ":" in login and login.isprintable()


def _place(kind: str, sign: str, rest: str, accept: Callable[[str], bool] = _is_own) -> _Place:
    words = words_of(sign)
    return _Place(kind, words[0] if words else b"", sign, "(?i)" + re.escape(sign) + rest, accept)


# An argument of a shell: quoted, or up to the next white space.
_ARGUMENT = r"(?:\"([^\"\r\n«»]{4,200})\"|'([^'\r\n«»]{4,200})'|([^\s\"'`;|&<>()«»]{4,200}))"
_REST = r"(?:[^\r\n|;]{0,300}?[ \t])?"  # of a command, up to an option
_STRING = r"(?:\"([^\"\r\n«»\\]{4,200})\"|'([^'\r\n«»\\]{4,200})')"
_OTHER = r"(?:[\w.()]{1,60}|\"[^\"\r\n]{0,100}\"|'[^'\r\n]{0,100}')"  # an argument before it

_COMMANDS = (
    _place(
        PASSWORD,
        "curl ",
        rf"{_REST}(?:-u|--user|--proxy-user)[ \t=]*[\"']?[^\s:\"']{{0,80}}:([^\s\"'`;|&<>()«»]{{3,200}})",
    ),
    _place(PASSWORD, "wget ", rf"{_REST}--(?:http-|ftp-|proxy-)?password[ \t=]+{_ARGUMENT}"),
    _place(PASSWORD, "mysql ", rf"{_REST}(?:-p|--password=){_ARGUMENT}"),
    _place(PASSWORD, "mysqldump ", rf"{_REST}(?:-p|--password=){_ARGUMENT}"),
    _place(PASSWORD, "mysqladmin ", rf"{_REST}(?:-p|--password=){_ARGUMENT}"),
    _place(PASSWORD, "mysqlimport ", rf"{_REST}(?:-p|--password=){_ARGUMENT}"),
    _place(PASSWORD, "mariadb ", rf"{_REST}(?:-p|--password=){_ARGUMENT}"),
    _place(PASSWORD, "sshpass ", rf"(?:-\w+[ \t]+)?-p[ \t]*{_ARGUMENT}"),
    _place(PASSWORD, "redis-cli ", rf"{_REST}(?:-a|--pass)[ \t]+{_ARGUMENT}"),
    _place(PASSWORD, "docker login ", rf"{_REST}(?:-p|--password)[ \t=]+{_ARGUMENT}"),
    _place(PASSWORD, "podman login ", rf"{_REST}(?:-p|--password)[ \t=]+{_ARGUMENT}"),
    _place(
        PASSWORD, "echo ", rf"{_ARGUMENT}[ \t]*\|[ \t]*(?:sudo[ \t]+-S|docker[ \t]+login|passwd|chpasswd|gh[ \t]+auth)"
    ),
    _place(PASSWORD, "az login ", rf"{_REST}(?:-p|--password)[ \t=]+{_ARGUMENT}"),
    _place(PASSWORD, "net use ", rf"[^\r\n]{{1,100}}?\\\\[^\s]+[ \t]+{_ARGUMENT}[ \t]+/user"),
    _place(PASSWORD, "ldapsearch ", rf"{_REST}-w[ \t]*{_ARGUMENT}"),
    _place(PASSWORD, "ldapadd ", rf"{_REST}-w[ \t]*{_ARGUMENT}"),
    _place(PASSWORD, "ldapmodify ", rf"{_REST}-w[ \t]*{_ARGUMENT}"),
    _place(PASSWORD, "openssl ", rf"{_REST}-pass(?:in|out)?[ \t]+[\"']?pass:([^\s\"'`;|&<>()«»]{{3,200}})"),
    _place(PASSWORD, "zip ", rf"{_REST}-P[ \t]*{_ARGUMENT}"),
    _place(PASSWORD, "7z ", rf"[^\r\n|;]{{0,300}}?[ \t]-p{_ARGUMENT}"),
    _place(PASSWORD, "unrar ", rf"[^\r\n|;]{{0,300}}?[ \t]-p{_ARGUMENT}"),
    _place(PASSWORD, "htpasswd ", rf"-\w*b\w*[ \t]+(?:\S+[ \t]+){{2}}{_ARGUMENT}"),
    _place(PASSWORD, "smbclient ", rf"{_REST}-U[ \t]*[\"']?[^\s%]{{1,80}}%([^\s\"'`;|&<>()«»]{{3,200}})"),
    _place(PASSWORD, "--passphrase", rf"[ \t=]+{_ARGUMENT}"),
    _place(PASSWORD, "--password", rf"[ \t=]+{_ARGUMENT}"),
    _place(PASSWORD, "-storepass", rf"[ \t=]+{_ARGUMENT}"),
    _place(PASSWORD, "-keypass", rf"[ \t=]+{_ARGUMENT}"),
    _place(SECRET, "--token", rf"[ \t=]+{_ARGUMENT}", _is_random),
    _place(SECRET, "--api-key", rf"[ \t=]+{_ARGUMENT}", _is_random),
    _place(SECRET, "--secret", rf"(?:-\w+)?[ \t=]+{_ARGUMENT}", _is_random),
    _place(PASSWORD, "pgpassword=", _ARGUMENT),
    _place(PASSWORD, "mysql_pwd=", _ARGUMENT),
    _place(PASSWORD, "net user ", rf"[^\s/]{{1,60}}[ \t]+{_ARGUMENT}[ \t]+/add"),
    _place(PASSWORD, "mongo ", rf"{_REST}(?:-p|--password)[ \t=]*{_ARGUMENT}"),
    _place(PASSWORD, "mongosh ", rf"{_REST}(?:-p|--password)[ \t=]*{_ARGUMENT}"),
    _place(PASSWORD, "convertto-securestring ", rf"(?:-string[ \t]+)?{_STRING}"),
    _place(SECRET, "configure set ", rf"[\w.]{{0,40}}(?:secret|token|key)\w{{0,20}}[ \t]+{_ARGUMENT}", _is_random),
    _place(SECRET, "--from-literal=", rf"[\w.-]{{1,60}}={_ARGUMENT}"),
    _place(PASSWORD, "connect ", r"\w{1,60}/([^\s@/]{4,60})@\w"),
    _place(SECRET, "jwt.sign(", rf"[^,\r\n]{{1,100}},[ \t]*{_STRING}"),
    _place(SECRET, "jwt.verify(", rf"[^,\r\n]{{1,100}},[ \t]*{_STRING}"),
    _place(SECRET, "hmac.new(", rf"[ \t]*[bBrR]{{0,2}}{_STRING}"),
    _place(SECRET, "createhmac(", rf"[^,\r\n]{{1,40}},[ \t]*{_STRING}"),
    _place(PASSWORD, "send ", r"\"([^\"\s\\]{6,100})\\[rn]\"", _is_random),
    # Settings of programs
    _place(
        SECRET,
        "env ",
        r"[ \t]*\w{0,40}(?:pass|secret|token|key)\w{0,40}[ \t]+([^\s\"'«»]{8,300})[ \t]*(?=[\r\n]|\Z)",
        _is_random,
    ),
    _place(PASSWORD, "requirepass ", _ARGUMENT),
    _place(PASSWORD, "masterauth ", _ARGUMENT),
    _place(PASSWORD, "bindpw ", _ARGUMENT),
    _place(PASSWORD, "rootpw ", _ARGUMENT),
    _place(PASSWORD, "psk=", _STRING),
    _place(PASSWORD, "psk ", _STRING),
    _place(PASSWORD, "enable secret ", r"(?:\d[ \t]+)?(\S{6,})"),
    _place(PASSWORD, "password 7 ", r"([0-9A-Fa-f]{8,})"),
    _place(PASSWORD, "keypassword ", _STRING),
    _place(PASSWORD, "storepassword ", _STRING),
    _place("private key", "privatekey = ", r"([A-Za-z0-9+/]{42,43}=)"),
    _place("private key", "presharedkey = ", r"([A-Za-z0-9+/]{42,43}=)"),
    _place("machine key", "validationkey=", r"\"([0-9A-Fa-f]{40,})\""),
    _place("machine key", "decryptionkey=", r"\"([0-9A-Fa-f]{32,})\""),
    # Connection strings
    _place(PASSWORD, "pwd=", r"([^\s;\"'`«»&]{4,200})(?=[;\"'])"),
    _place(PASSWORD, "password=", r"([^\s;\"'`«»&<>()]{4,200})(?=[;\"'&]|[ \t]+\w+=)"),
    _place(PASSWORD, "jdbc:oracle:thin:", r"[\w$]{1,60}/([^\s@\"']{3,100})@"),
    # SQL
    _place(PASSWORD, "identified by ", _STRING),
    _place(PASSWORD, "identified with ", rf"[\w']{{1,60}}[ \t]+(?:by|as)[ \t]+{_STRING}"),
    _place(PASSWORD, "with password", rf"[ \t]*=?[ \t]*{_STRING}"),
    _place(PASSWORD, "= password(", _STRING),
    # Calls
    _place(PASSWORD, ".login(", rf"[ \t]*{_OTHER},[ \t]*{_STRING}"),
    _place(PASSWORD, "auth=(", rf"[ \t]*{_OTHER},[ \t]*{_STRING}"),
    _place(PASSWORD, "basicauth(", rf"[ \t]*{_OTHER},[ \t]*{_STRING}"),
    _place(PASSWORD, "networkcredential(", rf"[ \t]*{_OTHER},[ \t]*{_STRING}"),
    _place(PASSWORD, "getconnection(", rf"[ \t]*{_OTHER},[ \t]*{_OTHER},[ \t]*{_STRING}"),
    # Headers and cookies
    _place(COOKIE, "set-cookie:", r"[ \t]*[\w.\-]{1,60}=([^\s;,\"'«»\\]{16,4000})", _is_random),
    _place(AUTHORIZATION, "bearer ", r"[ \t]*([\w.~+/-]{16,}={0,2})(?![\w(\[])", _is_random),
    _place(AUTHORIZATION, "basic ", r"[ \t]*([\w.~+/-]{8,}={0,2})(?![\w(\[])", _is_login),
    _place(
        AUTHORIZATION,
        "authorization",
        r"[\"']?[ \t]*(?::|=>|=|,)[ \t]*[\"']?(?:[A-Za-z-]{1,30}[ \t]+)?([\w.~+/-]{16,}={0,2})(?![\w(\[])",
        _is_random,
    ),
    # Addresses
    _place(
        URL_PASSWORD,
        "://",
        r"[^\s/:@\"'<>`«»\\]{0,100}:([^\s/@\"'<>`«»\\]{3,200})@(?=[\w\[])",
        lambda value: not is_placeholder(value) and not is_plain(value),
    ),
)
_BY_WORD: dict[bytes, list[_Place]] = {}
for _rule in _COMMANDS:
    _BY_WORD.setdefault(_rule.word, []).append(_rule)
_WORDS = frozenset(_BY_WORD)
_COOKIE_LINE = re.compile(r"cookies?[\"']?[ \t]*[:=][ \t]*([^\r\n]{0,4000})", re.IGNORECASE)
_COOKIE = re.compile(
    r"(?<![\w-])[\w.\-]{0,20}(?:sess(?:ion)?(?:[_-]?(?:id|token))?|sid|auth|token|remember_\w{1,20}|jwt)="
    r"([^\s;,\"'«»\\]{16,4000})",
    re.IGNORECASE,
)
_TCP = re.compile(r"(?<![\w/])[\w.-]{1,60}:([^\s:@/\"'`«»]{4,100})@(?:tcp|unix)\(")


def places(scanned: ScannedText) -> Iterator[SecretSpan]:
    """Yield the values at places where a secret belongs."""
    for word in (b"", *(scanned.words & _WORDS)):
        for rule in _BY_WORD[word]:
            yield from _from_sign(rule, scanned)
    if scanned.has(b"cookie") or scanned.has(b"cookies"):
        yield from _cookies(scanned.text)
    if scanned.has(b"tcp") and "@tcp(" in scanned.text:
        yield from _matches(_TCP, scanned.text, PASSWORD, _is_own)


def _from_sign(rule: _Place, scanned: ScannedText) -> Iterator[SecretSpan]:
    lowered = scanned.lowered
    place = lowered.find(rule.sign)
    while place >= 0:
        match = compiled(rule.pattern).match(scanned.text, place)
        if match is not None and (group := match.lastindex) and rule.accept(match[group]):
            yield SecretSpan(*match.span(group), rule.kind)
        place = lowered.find(rule.sign, place + len(rule.sign))


def _matches(pattern: re.Pattern[str], text: str, kind: str, accept: Callable[[str], bool]) -> Iterator[SecretSpan]:
    for match in pattern.finditer(text):
        if accept(match[1]):
            yield SecretSpan(*match.span(1), kind)


def _cookies(text: str) -> Iterator[SecretSpan]:
    for line in _COOKIE_LINE.finditer(text):
        for match in _COOKIE.finditer(text, *line.span(1)):
            if _is_random(match[1]):
                yield SecretSpan(*match.span(1), COOKIE)
