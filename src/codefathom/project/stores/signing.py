"""Ed25519 keys of a team: what a private one signs, everybody who has the public one can believe.

The library is an extra; only a snapshot that is signed, or is to be, needs it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any, NamedTuple

from codefathom.errors import SettingsError, SourceError, UsageError
from codefathom.system.extras import EXTRAS, install_line

_KIND = b"\0\0\0\x0bssh-ed25519\0\0\0 "  # what the bytes of a public key begin with in OpenSSH
_KEY_BYTES = 32
_LINE = re.compile(r"ssh-ed25519 ([A-Za-z0-9+/]{68})(?: .*)?")
_MOST_BYTES = 20_000  # of a file with a private key
_PURPOSE = b"codefathom team index\n"  # a signature by this key for something else is none of a snapshot
_HINT = "make a key without a password: ssh-keygen -t ed25519 -N '' -f team-key"


class Signer(NamedTuple):
    """A private key."""

    public_key: str  # as OpenSSH writes it, without a comment
    sign: Callable[[bytes], bytes]


def signer(path: str) -> Signer:
    """Return the private key of a file of OpenSSH or PEM. Raises SourceError, UsageError, SettingsError."""
    serialization = _library("cryptography.hazmat.primitives.serialization")
    ed25519 = _library("cryptography.hazmat.primitives.asymmetric.ed25519")
    try:
        with open(path, "rb") as file:
            content = file.read(_MOST_BYTES)
    except OSError as error:
        raise SourceError(f"cannot read the key {path!r}: {error.strerror}", hint=_HINT) from error
    is_ssh = b"OPENSSH PRIVATE KEY" in content
    load = serialization.load_ssh_private_key if is_ssh else serialization.load_pem_private_key
    try:
        key = load(content, password=None)
    except (ValueError, TypeError, _library("cryptography.exceptions").UnsupportedAlgorithm) as error:
        raise UsageError(f"{path!r} holds no private key that can be used: {error}", hint=_HINT) from error
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise UsageError(f"the key in {path!r} is not an Ed25519 key", hint=_HINT)
    public = base64.b64encode(_KIND + key.public_key().public_bytes_raw()).decode()
    return Signer(f"ssh-ed25519 {public}", lambda content: bytes(key.sign(_PURPOSE + content)))


def is_signed(key: str, signature: bytes, content: bytes) -> bool:
    """Return True if the private part of a public key has signed a content. Raises SettingsError."""
    raw = _raw(key)
    if not raw or key.count(" ") != 1:  # its maker adds no comment
        return False
    ed25519 = _library("cryptography.hazmat.primitives.asymmetric.ed25519")
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(raw).verify(signature, _PURPOSE + content)
    except (_library("cryptography.exceptions").InvalidSignature, ValueError):
        return False
    return True


def is_of_team(key: str, keys: Collection[str]) -> bool:
    """Return True if a public key is one of these; comments do not count."""
    return bool(_raw(key)) and _raw(key) in {_raw(one) for one in keys}


def _raw(key: str) -> bytes:
    """Return the 32 bytes of a public key, none for what is not an Ed25519 key."""
    match = _LINE.fullmatch(key.strip())
    try:
        content = base64.b64decode(match[1], validate=True) if match else b""
    except binascii.Error:
        return b""
    raw = content.removeprefix(_KIND)
    return raw if content.startswith(_KIND) and len(raw) == _KEY_BYTES else b""


def _library(name: str) -> Any:
    if EXTRAS["team"].missing():
        raise SettingsError("signatures need the library cryptography", hint=install_line("team"))
    return import_module(name)
