"""Secrets in a text, found by what they look like, are masked before the text goes to a remote provider. Pure.

A rule is tried only where its anchor, a fixed piece of every such secret, stands in the text: most files hold none, and
to look for one costs next to nothing. What looks random is masked only behind a name that promises a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import log2
from typing import NamedTuple


class Masked(NamedTuple):
    """A text without its secrets, line by line as long as the original."""

    text: str
    n_masked: int
    kinds: tuple[str, ...]  # sorted, each once


class _Span(NamedTuple):
    start: int
    end: int
    kind: str


class _Rule(NamedTuple):
    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]  # its first group is the secret; without a group the whole match is
    accept: Callable[[str], bool] = bool


def mask(text: str) -> Masked:
    """Replace every secret by its kind, such as "«masked: GitHub token»"; all else and the number of lines stay.

    Mask whole documents and cut afterwards: half a key may not look like one.
    """
    n_masked, kinds = 0, set[str]()
    # What stands beside a masked place may be seen better without it; each round leaves less unmasked text.
    while spans := _spans(text):
        text = _replaced(text, spans)
        n_masked += len(spans)
        kinds.update(span.kind for span in spans)
    return Masked(text, n_masked, tuple(sorted(kinds)))


# Formats that are known by a fixed piece ------------------------------------------------------------------------------


def _rule(kind: str, anchors: str, pattern: str, accept: Callable[[str], bool] = bool) -> _Rule:
    # The secret begins where a word begins: "task-…" holds no "sk-…".
    return _Rule(kind, tuple(anchors.split()), re.compile(rf"(?<![A-Za-z0-9]){pattern}"), accept)


def _is_mixed(value: str) -> bool:
    """Whether both letters and digits occur: words joined with "-" or "_" have no digits."""
    return any(sign.isdigit() for sign in value) and any(sign.isalpha() for sign in value)


_RULES = (
    _rule("AWS key", "AKIA ASIA", r"A[KS]IA[A-Z2-7]{16}(?![A-Za-z0-9])"),
    _rule("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,}"),
    _rule("GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,}", _is_mixed),
    _rule(
        "GitLab token", "glpat- gldt- glrt- glcbt- glptt- glft-", r"gl(?:pat|dt|rt|cbt|ptt|ft)-[\w-]{20,}", _is_mixed
    ),
    _rule("Slack token", "xox", r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}", _is_mixed),
    _rule("Slack token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{20,}"),
    _rule(
        "Slack webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{20,})",
        _is_mixed,
    ),
    _rule("Discord webhook", "/webhooks/", r"discord(?:app)?\.com/api/webhooks/(\d{15,}/[\w-]{40,})"),
    _rule("Stripe key", "k_live_ k_test_", r"[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}", _is_mixed),
    _rule("Stripe key", "whsec_", r"whsec_[A-Za-z0-9+/]{24,}", _is_mixed),
    _rule("Google key", "AIza", r"AIza[\w-]{35}(?![\w-])"),
    _rule("Google key", "GOCSPX-", r"GOCSPX-[\w-]{20,}"),
    _rule("Google key", "ya29.", r"ya29\.[\w-]{20,}"),
    _rule("Anthropic key", "sk-ant-", r"sk-ant-[\w-]{20,}", _is_mixed),
    _rule("OpenAI key", "sk-", r"sk-(?:proj|svcacct|admin|or-v1)-[\w-]{20,}", _is_mixed),
    _rule("OpenAI key", "sk-", r"sk-[A-Za-z0-9]{32,}", _is_mixed),
    _rule(
        "model provider key",
        "hf_ gsk_ r8_",
        r"(?:hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{37})",
        _is_mixed,
    ),
    _rule("model provider key", "xai- pplx-", r"(?:xai|pplx)-[A-Za-z0-9]{40,}", _is_mixed),
    _rule("JWT", "eyJ", r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{10,}(?:\.[\w-]+)*"),
    _rule("npm token", "npm_", r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])", _is_mixed),
    _rule("PyPI token", "pypi-A", r"pypi-A[\w-]{50,}"),
    _rule("Docker token", "dckr_", r"dckr_[op]at_[\w-]{20,}"),
    _rule("RubyGems key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    _rule("Azure key", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{60,}={0,2})"),
    _rule("Azure key", "AccessKey=", r"(?:Shared)?AccessKey=([A-Za-z0-9+/]{40,}={0,2})"),
    _rule("Azure key", "sig=", r"sig=((?:[A-Za-z0-9+/-]|%[0-9A-Fa-f]{2}){40,}(?:%3[Dd]|=))", _is_mixed),
    _rule("Twilio key", "SK", r"SK[0-9a-f]{32}(?![0-9a-f])"),
    _rule("SendGrid key", "SG.", r"SG\.[\w-]{16,}\.[\w-]{32,}"),
    _rule("Telegram token", ":AA", r"\d{8,10}:AA[\w-]{33}(?![\w-])"),
    _rule("DigitalOcean token", "_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    _rule("Shopify token", "shp", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _rule("Vault token", "hvs. hvb.", r"hv[sb]\.[\w-]{24,}"),
    _rule("Terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}"),
    _rule("Databricks token", "dapi", r"dapi[0-9a-f]{32}(?![0-9a-f])"),
    _rule("Atlassian token", "ATATT3", r"ATATT3[\w=-]{60,}"),
    _rule("Grafana token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    _rule("age key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
)

# Private keys span lines, and stand in source code and JSON with quotes, "\n" and signs of comments around each line.
_KEY_NAME = r"(?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
_AROUND = r"\\[nrt\\]?|[\s\"'`+,;#*|>.]|//(?=\s)"
_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash): [^\r\n\"\\]*"
_BASE64 = "[A-Za-z0-9+/=]"
_KEY_BLOCK = re.compile(
    rf"-----BEGIN {_KEY_NAME}(?>(?:{_AROUND}|{_HEADER}|{_BASE64}{{24,}})*+)"
    rf"(?:{_BASE64}{{1,23}}(?>(?:{_AROUND})*+)(?=-----END))?(?:-----END {_KEY_NAME})?"
)
_KEY_END = re.compile(rf"-----END {_KEY_NAME}")
_REVERSED_AROUND = _AROUND.replace(r"\\[nrt\\]?", r"[nrt]?\\")
_REVERSED_KEY = re.compile(
    rf"(?>(?:{_REVERSED_AROUND})*+)(?:{_BASE64}{{1,23}}(?!{_BASE64}))?(?>(?:{_REVERSED_AROUND}|{_BASE64}{{24,}})*+)"
)
_KEY_LINE = re.compile(rf"{_BASE64}{{24,}}")
_EDGE = " \t\r\n\"'`,;#*|>.\\"
_MAX_KEY = 20_000


def _private_keys(text: str) -> Iterator[_Span]:
    if "PRIVATE KEY" not in text:
        return
    # Code that reads keys names the lines around them, and no key stands between.
    for match in _KEY_BLOCK.finditer(text):
        if _KEY_LINE.search(match[0]):
            yield _Span(match.start(), match.start() + len(match[0].rstrip(_EDGE)), "private key")
    for match in _KEY_END.finditer(text):  # the beginning may have been cut off: read backwards from the end
        key = _REVERSED_KEY.match(text[max(0, match.start() - _MAX_KEY) : match.start()][::-1])
        if key is not None and _KEY_LINE.search(key[0]):
            yield _Span(match.start() - len(key[0].rstrip(_EDGE)), match.end(), "private key")


# A piece of a key without its first and last line: several lines of the length at which keys are wrapped.
_WRAPPED = r"(?:\d+\t)?[ \t]*[A-Za-z0-9+/]{64}(?:[A-Za-z0-9+/]{12})?"
_WRAPPED_LINES = re.compile(
    rf"(?m)^{_WRAPPED}(?:\r?\n{_WRAPPED})+(?:\r?\n(?:\d+\t)?[ \t]*[A-Za-z0-9+/]{{1,75}}={{0,2}})?[ \t]*$"
)


def _lines_of_a_key(text: str) -> Iterator[_Span]:
    for block in _WRAPPED_LINES.finditer(text):
        for line in re.finditer(r"[^\n]+", block[0]):
            if part := re.search(r"[A-Za-z0-9+/]+={0,2}[ \t\r]*$", line[0]):
                encoded = part[0].rstrip()
                start = block.start() + line.start() + part.start()
                if len(encoded) < 64 or (_is_mixed(encoded) and encoded.lower() != encoded):
                    yield _Span(start, start + len(encoded), "private key")


# Passwords in addresses, headers and assignments ----------------------------------------------------------------------

_URL = re.compile(r"(?<=://)[^\s/:@\"'<>`«»\\]{0,100}:([^\s/@\"'<>`«»\\]{3,200})@(?=[\w\[])")
_HEADER_VALUE = re.compile(r"(?:bearer|basic|token)[ \t]+([\w.~+/-]{16,}={0,2})(?![\w(\[])", re.IGNORECASE)

_PASSWORD_NAMES = ("passw", "passphrase", "pwd")
_KEY_NAMES = ("api_key", "apikey", "api-key", "private_key", "encryption_key", "signing_key", "auth_key", "account_key")
_NAMES = (*_PASSWORD_NAMES, *_KEY_NAMES, "secret", "token", "access_key", "accesskey")
# From the middle of a name to its value: quoted, up to the end of the line, or between tags.
_ASSIGNED = re.compile(
    r"[\w.\-]{0,40}[\"'\]]{0,2}(?:[ \t]*:[ \t]*[\w.\[\]| ?]{1,30}(?==))?[ \t]*(?::=|=>|={1,3}|:|,(?=[ \t]*[\"']))[ \t]*"
    r"(?:[@bBrRuU]?(?P<quote>[\"'`])(?P<quoted>[^\s\"'`«»\\]{8,300})(?P=quote)"
    r"|(?P<bare>[\w+/=.~@%^&*!$-]{8,300})[ \t]*(?=[\r\n#;,]|\Z))"
    r"|[\w.\-]{0,40}>(?P<tagged>[^\s<>«»]{8,300})</"
)

_PLACEHOLDER = re.compile(
    r"example|change_?-?me|placeholder|your|dummy|sample|redacted|fake|xxx|\*\*\*|\.\.\.|passw|secret|token|test|mock|foobar"
    r"|1234567|abcdef|qwerty|default|invalid|00000",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"^[$%@#&<{(\[]|\$\{|\{\{|\$\(|%\(|#\{|://|^\.{0,2}/|\(\)|::")
_WORDS = re.compile(r"(?:[A-Za-z]*\d{0,4}(?:[_.\-/:@+,=&?!]|$))+")


def _addresses(text: str) -> Iterator[_Span]:
    if "://" not in text or "@" not in text:
        return
    for match in _URL.finditer(text):
        if not _is_placeholder(match[1]) and not _is_plain(match[1]):
            yield _Span(*match.span(1), "URL password")


def _headers(text: str, lowered: str) -> Iterator[_Span]:
    if "bearer" in lowered or "basic" in lowered or "authorization" in lowered:
        for match in _HEADER_VALUE.finditer(text):
            if _looks_random(match[1]) and not _is_placeholder(match[1]):
                yield _Span(*match.span(1), "authorization")


def _assignments(text: str, lowered: str) -> Iterator[_Span]:
    for name in _NAMES:
        place = lowered.find(name)
        while place >= 0:
            match = _ASSIGNED.match(text, place)
            if match is not None and (span := _assigned(match, name)):
                yield span
            place = lowered.find(name, place + len(name))


def _assigned(match: re.Match[str], name: str) -> _Span | None:
    group = match.lastgroup or ""
    group = "quoted" if group == "quote" else group
    value = match[group]
    if _is_placeholder(value) or _REFERENCE.search(value):
        return None
    is_password = name in _PASSWORD_NAMES
    if _looks_random(value) or (is_password and _looks_chosen(value)):
        return _Span(*match.span(group), "password" if is_password else "secret")
    return None


def _is_placeholder(value: str) -> bool:
    return bool(_PLACEHOLDER.search(value)) or len(set(value)) < 5


def _is_plain(value: str) -> bool:
    """Whether an address holds a word or a variable where the password stands, as examples do."""
    return value.isalpha() or value.isdigit() or bool(_REFERENCE.search(value)) or value[0] in "${%<"


def _looks_random(value: str) -> bool:
    """Whether letters and digits are mixed as no words are."""
    return len(value) >= 16 and _is_mixed(value) and _entropy(value) >= 3.0 and not _WORDS.fullmatch(value)


def _looks_chosen(value: str) -> bool:
    """Whether signs of at least three sorts are mixed, as people do who are asked for a good password."""
    sorts = (str.islower, str.isupper, str.isdigit, lambda sign: not sign.isalnum())
    return sum(any(map(sort, value)) for sort in sorts) >= 3 and not _WORDS.fullmatch(value)


def _entropy(value: str) -> float:
    """Bits for each sign."""
    shares = [value.count(sign) / len(value) for sign in set(value)]
    return -sum(share * log2(share) for share in shares)


# One round ------------------------------------------------------------------------------------------------------------

_GUESSED = frozenset({"secret", "password", "authorization"})
_TEXT_OF_LINE = re.compile(r"[^\s](?:[^\r\n\v\f\x1c-\x1e\x85\u2028\u2029]*[^\s])?")


def _spans(text: str) -> list[_Span]:
    """Return the places of secrets in order; those that overlap are one."""
    lowered = text.replace("İ", "I").lower()  # the only letter that grows
    found = [
        *_private_keys(text),
        *_lines_of_a_key(text),
        *_addresses(text),
        *_headers(text, lowered),
        *_assignments(text, lowered),
    ]
    for rule in _RULES:
        if any(anchor in text for anchor in rule.anchors):
            group = min(rule.pattern.groups, 1)
            matches = rule.pattern.finditer(text)
            found.extend(_Span(*match.span(group), rule.kind) for match in matches if rule.accept(match[group]))
    # A known format says more than a suspicious name: it comes first where both begin at the same place.
    found.sort(key=lambda span: (span.start, span.kind in _GUESSED, -span.end))
    spans: list[_Span] = []
    for span in found:
        if not spans or span.start >= spans[-1].end:
            spans.append(span)
        else:
            spans[-1] = spans[-1]._replace(end=max(span.end, spans[-1].end))
    return spans


def _replaced(text: str, spans: list[_Span]) -> str:
    pieces: list[str] = []
    end = 0
    for span in spans:
        mark = f"«masked: {span.kind}»"
        pieces += text[end : span.start], _TEXT_OF_LINE.sub(mark, text[span.start : span.end])
        end = span.end
    return "".join((*pieces, text[end:]))
