"""The file of ignore patterns that a user has set for all repositories: git's `core.excludesFile`.

Only the user's own configuration is read, never that of a repository, and nothing that it includes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from codefathom.config.user_places import home_folder

_SECTION = r"\s*\[\s*([^\]]*?)\s*\]"
_VALUE = r"""(?i)\s*excludesfile\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^#;\n]*))"""
_MAX_BYTES = 1_000_000


def excludes_file(environ: Mapping[str, str]) -> str:
    """Return the absolute path of the file, which need not exist; "" where git would read none."""
    home = environ.get("HOME") or home_folder()
    base = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    files = [os.path.join(base, "git", "config"), os.path.join(home, ".gitconfig")]
    if "GIT_CONFIG_GLOBAL" in environ:
        files = [environ["GIT_CONFIG_GLOBAL"]]
    chosen: str | None = None
    for file in files:  # the later one wins
        value = excludes_in(_text(file))
        chosen = value if value is not None else chosen
    if chosen is None:
        return os.path.join(base, "git", "ignore")
    path = os.path.join(home, chosen[2:]) if chosen.startswith("~/") else chosen
    # Many keep such files elsewhere, with a link: it is their own.
    return os.path.realpath(path) if os.path.isabs(path) else ""


def excludes_in(text: str) -> str | None:
    """Return the value in the text of a configuration, the last one; None where it is not set."""
    section, value = "", None
    for line in text.splitlines():
        match = re.match(_SECTION, line)
        section = match[1].lower() if match else section
        setting = re.match(_VALUE, line[match.end() if match else 0 :]) if section == "core" else None
        if setting:
            quoted, plain = setting.groups()
            value = plain.strip() if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
    return value


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(_MAX_BYTES).decode("utf-8", "surrogateescape")
    except (OSError, ValueError):
        return ""
