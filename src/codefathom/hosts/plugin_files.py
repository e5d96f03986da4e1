"""Texts that come with fathom: an Agent Plugin, its skill, which is also written for single hosts, and a sub-agent."""

from __future__ import annotations

import os
import re
from hashlib import sha256

_HERE = os.path.dirname(os.path.abspath(__file__))
PLUGIN_FOLDER = os.path.join(_HERE, "plugin")
_SKILL = os.path.join(PLUGIN_FOLDER, "skills", "fathom", "SKILL.md")
_SUB_AGENT = os.path.join(_HERE, "sub_agents", "code-finder.md")
_CHECKSUM = re.compile(rb'(?:(?<=\n  checksum: ")|(?<=\n<!-- checksum: "))[0-9a-f]{8}(?=")')


def skill_text() -> bytes:
    """Return the content of the skill."""
    with open(_SKILL, "rb") as file:
        return file.read()


def sub_agent_text() -> bytes:
    """Return the content of the sub-agent, which knows the command line: sub-agents often do not see MCP tools."""
    with open(_SUB_AGENT, "rb") as file:
        return file.read()


def is_own_text(content: bytes) -> bool:
    """Return True for a text as some version of fathom has written it, False where a person has changed it."""
    match = _CHECKSUM.search(content)
    return match is not None and match[0] == checksum(content)


def checksum(content: bytes) -> bytes:
    """Return the checksum of a text, without regard to the one that it holds and to the kind of its line ends."""
    return sha256(_CHECKSUM.sub(b"", content).replace(b"\r\n", b"\n")).hexdigest()[:8].encode()
