"""Private keys, which span lines: PEM, OpenSSH, PGP, PuTTY, and the remains of a key that was cut."""

from __future__ import annotations

import re
from collections.abc import Iterator

from codefathom.source.secrets.scanned import ScannedText, SecretSpan
from codefathom.source.secrets.values import entropy, is_mixed

PRIVATE_KEY = "private key"

# They stand in source code and JSON with quotes, "\n" and signs of comments around each line.
_KEY_NAME = r"(?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
_AROUND = r"\\[nrt\\]?|[\s\"'`+,;#*|>.]|//(?=\s)"
_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash): [^\r\n\"\\]*"
_BASE64 = "[A-Za-z0-9+/=]"
_KEY_BLOCK = re.compile(
    rf"-----BEGIN {_KEY_NAME}(?>(?:{_AROUND}|{_HEADER}|{_BASE64}{{24,}})*+)"
    rf"(?:{_BASE64}{{1,23}}(?>(?:{_AROUND})*+)(?:={_BASE64}{{4}}(?>(?:{_AROUND})*+))?(?=-----END))?"
    rf"(?:-----END {_KEY_NAME})?"
)
_KEY_END = re.compile(rf"-----END {_KEY_NAME}")
_REVERSED_AROUND = _AROUND.replace(r"\\[nrt\\]?", r"[nrt]?\\")
_REVERSED_KEY = re.compile(
    rf"(?>(?:{_REVERSED_AROUND})*+)(?:{_BASE64}{{1,23}}(?!{_BASE64}))?(?>(?:{_REVERSED_AROUND}|{_BASE64}{{24,}})*+)"
)
_KEY_LINE = re.compile(rf"{_BASE64}{{24,}}")
_EDGE = " \t\r\n\"'`,;#*|>.\\"
_MAX_KEY = 20_000
# A piece of a key without its first and last line: several lines of the length at which keys are wrapped.
_WRAPPED = r"(?:\d+\t)?[ \t]*[A-Za-z0-9+/]{64}(?:[A-Za-z0-9+/]{12})?"
_WRAPPED_LINES = re.compile(
    rf"(?m)^{_WRAPPED}(?:\r?\n{_WRAPPED})+(?:\r?\n(?:\d+\t)?[ \t]*[A-Za-z0-9+/]{{1,75}}={{0,2}})?[ \t]*$"
)
_PUBLIC = re.compile(r"-----BEGIN (?:(?!PRIVATE)[A-Z0-9 ]){1,40}-----\s*\Z")
_HEADING = 60  # signs
# Bits for each sign of random bytes in base64, at least, by the number of signs; text has less.
_LEAST_ENTROPY = ((512, 5.75), (256, 5.6), (128, 5.2))
_PUTTY = re.compile(r"(?m)^[ \t]*Private-Lines: \d+[ \t]*\r?\n((?:[ \t]*[A-Za-z0-9+/]{1,64}={0,2}[ \t]*\r?\n?)+)")
_VAULT = re.compile(r"\$ANSIBLE_VAULT;[\w.;-]{1,60}[ \t]*\r?\n((?:[ \t]*[0-9a-f]{16,}[ \t]*(?:\r?\n|\Z))+)")


def private_keys(scanned: ScannedText) -> Iterator[SecretSpan]:
    """Yield the places of private keys, with the lines that name them."""
    text = scanned.text
    if scanned.has(b"private", b"key") and "PRIVATE KEY" in text:
        yield from _named_keys(text)
    if scanned.has(b"private", b"lines"):
        yield from _lines(text, _PUTTY, "Private-Lines: ", PRIVATE_KEY)
    if scanned.has(b"ansible"):
        yield from _lines(text, _VAULT, "$ANSIBLE_VAULT", "Ansible vault")
    if scanned.lengths and scanned.is_piece:  # a whole document has the lines around a key
        yield from _lines_of_a_key(text)


def _named_keys(text: str) -> Iterator[SecretSpan]:
    # Code that reads keys names the lines around them, and no key stands between.
    for match in _KEY_BLOCK.finditer(text):
        if _KEY_LINE.search(match[0]):
            yield SecretSpan(match.start(), match.start() + len(match[0].rstrip(_EDGE)), PRIVATE_KEY)
    before = 0
    for match in _KEY_END.finditer(text):  # the beginning may have been cut off: read backwards from the end
        key = _REVERSED_KEY.match(text[max(before, match.start() - _MAX_KEY) : match.start()][::-1])
        before = match.end()
        if key is not None and _KEY_LINE.search(key[0]):
            yield SecretSpan(match.start() - len(key[0].rstrip(_EDGE)), match.end(), PRIVATE_KEY)


def _lines(text: str, pattern: re.Pattern[str], sign: str, kind: str) -> Iterator[SecretSpan]:
    if sign in text:
        for match in pattern.finditer(text):
            yield SecretSpan(match.start(1), match.start(1) + len(match[1].rstrip()), kind)


def _lines_of_a_key(text: str) -> Iterator[SecretSpan]:
    for block in _WRAPPED_LINES.finditer(text):
        if not _is_key(block[0]) or _PUBLIC.search(text, max(block.start() - _HEADING, 0), block.start()):
            continue
        for line in re.finditer(r"[^\n]+", block[0]):
            if part := re.search(r"[A-Za-z0-9+/]+={0,2}[ \t\r]*$", line[0]):
                encoded = part[0].rstrip()
                start = block.start() + line.start() + part.start()
                if len(encoded) < 64 or (is_mixed(encoded) and encoded.lower() != encoded):
                    yield SecretSpan(start, start + len(encoded), PRIVATE_KEY)


def _is_key(block: str) -> bool:
    """Return True if lines in base64 hold random bytes, and no text."""
    signs = "".join(re.findall(r"[A-Za-z0-9+/]{16,}", block))
    return any(len(signs) >= n and entropy(signs[:n]) >= least for n, least in _LEAST_ENTROPY)
