"""Addresses of repositories on other machines: which ones git may be given, and what they name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from codefathom.errors import UsageError, without_login

# No part may begin with a dash, which would make an option of it, nor hold a sign that a shell reads. git decodes
# percent signs in all parts of an address for ssh.
_USER, _HOST = r"\w[\w.+-]*", r"\w(?:[\w-]|\.(?!\.))*|\[[0-9A-Fa-f:.]+\]"
_SHORT = re.compile(rf"(?:{_USER})@(?:{_HOST}):(?P<path>[^/\s]\S*)", re.ASCII)  # user@host:path, which ssh understands
_LONG = re.compile(rf"\w+://(?:{_USER}(?::[^/@]*)?@)?(?:{_HOST})(?::\d{{1,5}})?(?:/(?P<path>.*))?", re.ASCII)
_OF_FILE = re.compile(r"\w+:///(?P<path>.+)", re.ASCII)


def checked_url(url: str, schemes: Sequence[str]) -> str:
    """Return an address that git may be given. Raises UsageError."""
    if not url.isprintable() or not url.isascii() or " " in url or url.startswith("-"):
        raise _no_address(url)
    is_short = _SHORT.fullmatch(url) is not None
    scheme = "ssh" if is_short else url.partition("://")[0].lower() if "://" in url else ""
    if scheme not in schemes:
        allowed = ", ".join(f"{name}://" for name in schemes) or "none"
        raise UsageError(
            f"fathom does not clone from {without_login(url)!r}",
            hint=f"allowed addresses: {allowed}; the setting is server.git_schemes",
        )
    parts = (_SHORT if is_short else _OF_FILE if scheme == "file" else _LONG).fullmatch(url)
    if parts is None or not _is_harmless(parts["path"] or ""):
        raise _no_address(url)
    if not is_short and _has_secret(url, scheme):
        raise UsageError(
            f"the address {without_login(url)!r} contains a login",
            hint="remove the login, and give the user that runs fathom access: by an ssh key or a credential store",
        )
    return url


def _no_address(url: str) -> UsageError:
    return UsageError(
        f"{without_login(url)!r} is not the address of a repository", hint="an example is https://host/group/name.git"
    )


def _is_harmless(path: str) -> bool:
    """Return True if a path with its percent signs decoded is no option and has no control character."""
    decoded = unquote(path)
    return decoded.isprintable() and not decoded.lstrip("/~").startswith("-")


def _has_secret(url: str, scheme: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return True
    return bool(parts.password or (parts.username and scheme != "ssh") or parts.query)


def folder_of(url: str) -> str | None:
    """Return the folder on this machine that an address names, as git reads it; None for one that names another host.

    An address with a host in it, of which git makes a folder too, names none that can be allowed.
    """
    scheme, mark, place = url.partition("://")
    if not mark or scheme.lower() != "file":
        return None
    return unquote(place) if place.startswith("/") else "\0"


def is_address(text: str) -> bool:
    """Return True for what has the form of an address, whether it is allowed or not."""
    return "://" in text or _SHORT.fullmatch(text) is not None


def repository_path(url: str) -> str:
    """Return the name of a repository with the group before it, taken from its address."""
    path = url.partition("://")[2].partition("/")[2] if "://" in url else url.partition(":")[2]
    return "/".join(unquote(path).strip("/").split("/")[-2:])


def repository_name(url: str) -> str:
    """Return the name of a repository, taken from its address."""
    return re.split("[/:]", url.rstrip("/"))[-1].removesuffix(".git") or "repository"
