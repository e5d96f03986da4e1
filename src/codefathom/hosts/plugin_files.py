"""The Agent Plugin that comes with fathom: its folder, and its skill, which is also written for single hosts."""

from __future__ import annotations

import os
import re
from hashlib import sha256

PLUGIN_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plugin")
_SKILL = os.path.join(PLUGIN_FOLDER, "skills", "fathom", "SKILL.md")
_CHECKSUM = re.compile(rb'(?<=\n  checksum: ")[0-9a-f]{8}(?=")')


def skill_text() -> bytes:
    """Return the content of the skill."""
    with open(_SKILL, "rb") as file:
        return file.read()


def is_own_skill(content: bytes) -> bool:
    """Return True for a skill as some version of fathom has written it, False where a person has changed it."""
    match = _CHECKSUM.search(content)
    return match is not None and match[0] == checksum(content)


def checksum(content: bytes) -> bytes:
    """Return the checksum of a skill, without regard to the one that it holds and to the kind of its line ends."""
    return sha256(_CHECKSUM.sub(b"", content).replace(b"\r\n", b"\n")).hexdigest()[:8].encode()
