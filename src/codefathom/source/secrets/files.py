"""Files whose kind makes their values secret: `.env`, `.netrc`, `.pgpass`, a secret of Kubernetes, others."""

from __future__ import annotations

import re
from collections.abc import Iterator

from codefathom.source.secrets.names import PASSWORD, SECRET
from codefathom.source.secrets.scanned import ScannedText, SecretSpan, compiled
from codefathom.source.secrets.values import is_mixed, is_placeholder, is_reference

ENVIRONMENT = "value of an environment file"

_ENV_NAME = (
    r"(?i)(?:^|/)(?:\.env(?:rc)?(?:[.\-_][^/]*)?|[^/]*\.env(?:\.(?!md$|py$|[jt]sx?$)[^/.]*)?|\.flaskenv|\.dev\.vars"
    r"|dotenv)$"
)
# NAME=value, also in a comment: what was set aside is as secret.
_ENV_LINE = (
    r"(?m)^[ \t]*(?:#+[ \t]*)?(?:(?:export|set|setenv|declare[ \t]+-x)[ \t]+)?[A-Za-z_][\w.\-]*[ \t]*[=:][ \t]*"
    r"(?:\"((?:[^\"\\]|\\[\s\S])+)\"|'([^']+)'|`([^`]+)`|([^\s][^\r\n]*?))[ \t]*(?:[ \t]#[^\r\n]*)?\r?$"
)
_MACHINES = (
    r"(?m)^[ \t]*(?:machine|host|default)[ \t][^\r\n]{0,200}?(?:\r?\n[ \t]+[^\r\n]{0,200}?){0,4}"
    r"\bpass(?:word|wd)[ \t]+(\S+)"
)
_PASSWORD_LAST = r"(?m)^[ \t]*(?!#)[^\s:]*(?::[^\r\n:]*){3}:([^\r\n]+?)[ \t]*\r?$"
_PASSWORD_SECOND = r"(?m)^[ \t]*(?!#)[^\s:#]+:([^\r\n:*!]{4,})"
_WHOLE = r"(?m)^[ \t]*([0-9a-fA-F]{32,})[ \t]*\r?$"
_ASSIGNED = (
    r"(?im)^[ \t]*[\"']?[\w.\-/:]*(?:pass(?:word|wd|phrase|code)?|pwd|secret\w*|token|_auth|psk|[_-]key)[\"']?"
    r"[ \t]*[=:][ \t]*[\"']?([^\s\"'#;,]{3,}(?:[^\r\n\"'#;,]*[^\s\"'#;,])?)"
)
_URL_LOGIN = r"://[^\s/:@]*:([^\s@/]+)@"
_SETTINGS = (
    r"(?:^|/)(?:\.my\.cnf|\.mylogin\.cnf|\.pypirc|\.npmrc|\.yarnrc(?:\.yml)?|\.s3cfg|\.boto|rclone\.conf|credentials"
    r"|\.aws/config|\.dockercfg|\.docker/config\.json|\.dockerconfigjson|wpa_supplicant\.conf|[^/]*\.tfvars(?:\.json)?"
    r"|secrets?\.(?:ya?ml|toml|ini)|hosts\.yml|\.gem/credentials|\.cargo/credentials(?:\.toml)?)$"
)
_KEY_FILE = r"(?:^|/)(?:master\.key|credentials/[^/]+\.key|secret[_-]?key(?:\.\w+)?|\.vault[_-]?pass\w*)$"
# A piece of the path, in lower case, then the path, then what is secret in such a file.
_BY_NAME = (
    ("env", _ENV_NAME, _ENV_LINE, ENVIRONMENT),
    (".dev.vars", _ENV_NAME, _ENV_LINE, ENVIRONMENT),
    ("netrc", r"(?:^|/)[._]netrc$", _MACHINES, PASSWORD),
    (".authinfo", r"(?:^|/)\.authinfo$", _MACHINES, PASSWORD),
    ("pgpass", r"(?:^|/)\.?pgpass(?:\.conf)?$", _PASSWORD_LAST, PASSWORD),
    ("passwd", r"(?:^|/)(?:\.?htpasswd[^/]*|\.?passwd)$", _PASSWORD_SECOND, "password hash"),
    ("shadow", r"(?:^|/)g?shadow-?$", _PASSWORD_SECOND, "password hash"),
    ("key", _KEY_FILE, _WHOLE, SECRET),
    (".vault", _KEY_FILE, _WHOLE, SECRET),
    ("git-credentials", r"(?:^|/)\.?git-credentials$", _URL_LOGIN, PASSWORD),
    *((piece, _SETTINGS, _ASSIGNED, SECRET) for piece in ("cnf", "rc", "cfg", ".boto", "conf", "credentials")),
    *((piece, _SETTINGS, _ASSIGNED, SECRET) for piece in ("docker", "tfvars", "secret", "hosts.yml")),
)

# By what stands in it.
_SECRET_OBJECT = r"(?m)^kind:[ \t]*[\"']?Secret[\"']?[ \t]*\r?$"
_DATA = (
    r"(?m)^(?P<indent>[ ]*)(?:data|stringData):[ \t]*\r?\n"
    r"(?P<block>(?:(?P=indent)[ ]+[^\r\n]*(?:\r?\n|\Z)|[ \t]*\r?\n)+)"
)
_ENTRY = r"(?m)^[ ]+[\"']?[\w.\-/]+[\"']?:[ \t]*[\"']?([^\s\"'|>&*{][^\r\n\"']*?)[\"']?[ \t]*\r?$"
_SECRET_JSON = r"\"kind\"\s*:\s*\"Secret\""
_DATA_JSON = r"\"(?:data|stringData)\"\s*:\s*\{([^{}]{0,20000})\}"
_ENTRY_JSON = r":\s*\"([^\"]+)\""
_SENSITIVE = r"\"sensitive\"\s*:\s*true[^{}]{0,200}?\"value\"\s*:\s*\"([^\"\r\n]+)\""
_SENSITIVE_AFTER = r"\"value\"\s*:\s*\"([^\"\r\n]+)\"[^{}]{0,200}?\"sensitive\"\s*:\s*true"
_JWK = r"\"kty\"\s*:"
_JWK_PART = r"\"(?:d|p|q|dp|dq|qi|k)\"\s*:\s*\"([\w-]{20,})\""
_DOCKER = r"\"auth\"\s*:\s*\"([A-Za-z0-9+/]{8,}={0,2})\""
_KUBECONFIG = r"\b(?:client-key-data|token|id-token|refresh-token):[ \t]*[\"']?([\w+/.=-]{20,})"
_SERVICE = r"\"private_key_id\"\s*:\s*\"([0-9a-f]{32,})\""


def files(scanned: ScannedText) -> Iterator[SecretSpan]:
    """Yield the values of a file that its name, or what stands in it, calls secret."""
    text, path = scanned.text, scanned.path
    lowered = path.lower()
    for piece, name, pattern, kind in _BY_NAME:
        if piece in lowered and compiled(name).search(path):
            yield from _groups(pattern, text, kind)
    if scanned.has(b"kind", b"secret"):
        yield from _objects(text)
    for words, pattern, kind in _BY_CONTENT:
        if scanned.has(*words):
            yield from _groups(pattern, text, kind)
    if scanned.has(b"machine", b"login", b"password"):
        yield from (span for span in _groups(_MACHINES, text, PASSWORD) if _is_own(text[span.start : span.end]))
    if scanned.has(b"kty") and compiled(_JWK).search(text):
        yield from _groups(_JWK_PART, text, "JSON web key")


# A table of keys as a cloud gives it out: what is long and random in a line with signs between.
_KEY_TABLE = r"(?m)^[ \t]*(?:[^,\r\n]{0,100},){1,4}[ \t]*([A-Za-z0-9+/]{40})[ \t]*(?:,|\r?$)"
_BY_CONTENT: tuple[tuple[tuple[bytes, ...], str, str], ...] = (
    ((b"sensitive", b"value"), _SENSITIVE, SECRET),
    ((b"sensitive", b"value"), _SENSITIVE_AFTER, SECRET),
    ((b"auths", b"auth"), _DOCKER, PASSWORD),
    ((b"users", b"apiversion"), _KUBECONFIG, SECRET),
    ((b"client", b"certificate", b"users"), _KUBECONFIG, SECRET),
    ((b"private", b"account"), _SERVICE, SECRET),
    ((b"access", b"key", b"id", b"secret"), _KEY_TABLE, SECRET),
)


def _groups(pattern: str, text: str, kind: str) -> Iterator[SecretSpan]:
    for match in compiled(pattern).finditer(text):
        group = match.lastindex or 1
        yield SecretSpan(*match.span(group), kind)


def _is_own(value: str) -> bool:
    """Return True for a password that does not look like one of an example."""
    return len(value) >= 8 and is_mixed(value) and not is_placeholder(value)


def _objects(text: str) -> Iterator[SecretSpan]:
    kind = "Kubernetes secret"
    if compiled(_SECRET_OBJECT).search(text):
        for match in compiled(_DATA).finditer(text):
            yield from _inside(match, "block", _ENTRY, kind)
    if compiled(_SECRET_JSON).search(text):
        for match in compiled(_DATA_JSON).finditer(text):
            yield from _inside(match, 1, _ENTRY_JSON, kind)


def _inside(outer: re.Match[str], group: str | int, pattern: str, kind: str) -> Iterator[SecretSpan]:
    start = outer.start(group)
    for match in compiled(pattern).finditer(outer[group]):
        if not is_reference(match[1]):
            yield SecretSpan(start + match.start(1), start + match.end(1), kind)
