"""The hosts that fathom can set up: where each keeps its settings and skills, and the form of an entry. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from codefathom.hosts import json_edits, toml_edits
from codefathom.hosts.json_edits import Entry

SERVER = "fathom"
_SKILL = ("skills", SERVER, "SKILL.md")
# Cursor and VS Code start the servers of a user in the home folder; with this they get the folder that is open.
_OPEN_FOLDER = "${workspaceFolder}"

Parts = tuple[str, ...]


class Surroundings(NamedTuple):
    """A user and a system, on which places of settings depend."""

    home: str
    variables: Mapping[str, str]
    system: str  # as `sys.platform`


class Target(NamedTuple):
    """A file by a folder that the user has chosen, and the way to it from there."""

    base: str
    parts: Parts

    @property
    def path(self) -> str:
        """The whole path."""
        return "/".join([self.base, *self.parts])


@dataclass(frozen=True, slots=True)
class Host:
    """A program that starts MCP servers. The places for a project are relative to its root."""

    name: str
    title: str
    key: str  # of the object or table that holds the servers
    project_settings: Parts
    project_skill: Parts
    is_toml: bool = False
    has_type: bool = True  # an entry says "type": "stdio"
    added: tuple[str, ...] = ()  # keys of an entry that the host itself writes, such as what a user has allowed

    def entry(self, command: str) -> Entry:
        """Return the settings of the server."""
        entry: dict[str, object] = {"type": "stdio"} if self.has_type else {}
        entry |= {"command": command, "args": ["mcp"]}
        if self.name == "cursor":
            entry["args"] = ["mcp", "--source-dir", _OPEN_FOLDER]
        if self.name == "vscode":
            entry["cwd"] = _OPEN_FOLDER
        return entry

    def created(self, entry: Entry) -> str:
        """Return the text of a new settings file."""
        edit = toml_edits.created if self.is_toml else json_edits.created
        return edit(self.key, SERVER, entry)

    def entry_in(self, text: str) -> object:
        """Return the entry in a text, None without one. Raises FormError."""
        edit = toml_edits.entry_in if self.is_toml else json_edits.entry_in
        return edit(text, self.key, SERVER)

    def with_entry(self, text: str, entry: Entry) -> str:
        """Return a text with the entry. Raises FormError."""
        edit = toml_edits.with_entry if self.is_toml else json_edits.with_entry
        return edit(text, self.key, SERVER, entry)

    def without_entry(self, text: str) -> str | None:
        """Return a text without the entry, None where nothing else is in it. Raises FormError."""
        edit = toml_edits.without_entry if self.is_toml else json_edits.without_entry
        return edit(text, self.key, SERVER)


HOSTS = (
    Host("claude", "Claude Code", "mcpServers", (".mcp.json",), (".claude", *_SKILL)),
    Host(
        "codex",
        "Codex",
        "mcp_servers",
        (".codex", "config.toml"),
        (".agents", *_SKILL),
        is_toml=True,
        has_type=False,
        added=("tools",),
    ),
    Host("cursor", "Cursor", "mcpServers", (".cursor", "mcp.json"), (".cursor", *_SKILL)),
    Host("vscode", "VS Code", "servers", (".vscode", "mcp.json"), (".github", *_SKILL)),
    Host("gemini", "Gemini CLI", "mcpServers", (".gemini", "settings.json"), (".gemini", *_SKILL), has_type=False),
)


class HostPlaces(NamedTuple):
    """The files of a host for one user or one project; a host is there where one of `marks` is."""

    settings: Target
    skill: Target
    marks: tuple[Target, ...]


def project_places(host: Host, root: str) -> HostPlaces:
    """Return the places in a project."""
    settings, skill = Target(root, host.project_settings), Target(root, host.project_skill)
    # Not `.github`, which says nothing of an editor, nor `.agents`, which several read.
    folder = {"claude": ".claude", "vscode": ".vscode"}.get(host.name, host.project_settings[0])
    return HostPlaces(settings, skill, (settings, Target(root, (folder,))))


def user_places(host: Host, around: Surroundings) -> HostPlaces:
    """Return the places of a user, wherever variables of the host move them."""
    home = around.home
    folder = Target(home, (f".{host.name}",))
    if host.name == "vscode":
        settings = Target(*_vscode_folder(around))
        skill = Target(home, (".copilot", *_SKILL))
        return HostPlaces(settings, skill, (settings._replace(parts=settings.parts[:-1]),))
    if host.name == "claude":
        own = around.variables.get("CLAUDE_CONFIG_DIR", "")
        settings = Target(own or home, (".claude.json",))
        skill = Target(own, _SKILL) if own else Target(home, (".claude", *_SKILL))
        return HostPlaces(settings, skill, (settings, Target(own, ()) if own else folder))
    if host.name == "codex":
        own = around.variables.get("CODEX_HOME", "")
        settings = Target(own, ("config.toml",)) if own else Target(home, (".codex", "config.toml"))
        return HostPlaces(settings, Target(home, (".agents", *_SKILL)), (Target(own, ()) if own else folder,))
    settings = Target(home, (f".{host.name}", host.project_settings[-1]))
    return HostPlaces(settings, Target(home, (f".{host.name}", *_SKILL)), (folder,))


def _vscode_folder(around: Surroundings) -> tuple[str, Parts]:
    end = ("Code", "User", "mcp.json")
    if around.system == "darwin":
        return around.home, ("Library", "Application Support", *end)
    if around.system == "win32":
        return around.variables.get("APPDATA") or around.home, end
    own = around.variables.get("XDG_CONFIG_HOME", "")
    return (own, end) if own else (around.home, (".config", *end))
