"""The hosts that fathom can set up: where each keeps its settings and skills, and the form of an entry. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from codefathom.hosts import json_edits, toml_edits
from codefathom.hosts.json_edits import Entry

SERVER = "fathom"
_SKILL = ("skills", SERVER, "SKILL.md")
_SUB_AGENT = ("agents", "code-finder.md")
_AGENTS, _CLAUDE, _GEMINI = "AGENTS.md", "CLAUDE.md", "GEMINI.md"
# Several hosts read the one only where the other is not.
_HIDDEN_BY = {_AGENTS: _CLAUDE, _CLAUDE: _AGENTS}
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

    def inner(self, *parts: str) -> Target:
        """Return a place inside of this folder."""
        return Target(self.base, (*self.parts, *parts))


@dataclass(frozen=True, slots=True)
class Host:
    """A program that starts MCP servers. The places for a project are relative to its root; () where there is none."""

    name: str
    title: str
    key: str  # of the object or table that holds the servers
    project_settings: Parts
    project_skill: Parts
    project_instructions: str = ""  # the file of instructions in the root that it documents
    is_toml: bool = False
    server_type: str = "stdio"  # what an entry calls a program that speaks on stdin and stdout; "": it does not say
    added: tuple[str, ...] = ()  # keys of an entry that the host itself writes, such as what a user has allowed

    def entry(self, command: str) -> Entry:
        """Return the settings of the server."""
        kind: dict[str, object] = {"type": self.server_type} if self.server_type else {}
        if self.name == "opencode":
            return {**kind, "command": [command, "mcp"], "enabled": True}
        entry = {**kind, "command": command, "args": ["mcp"]}
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
    Host("claude", "Claude Code", "mcpServers", (".mcp.json",), (".claude", *_SKILL), _CLAUDE),
    Host(
        "codex",
        "Codex",
        "mcp_servers",
        (".codex", "config.toml"),
        (".agents", *_SKILL),
        _AGENTS,
        is_toml=True,
        server_type="",
        added=("tools",),
    ),
    Host("cursor", "Cursor", "mcpServers", (".cursor", "mcp.json"), (".cursor", *_SKILL), _AGENTS),
    Host("vscode", "VS Code", "servers", (".vscode", "mcp.json"), (".github", *_SKILL), _AGENTS),
    Host(
        "gemini",
        "Gemini CLI",
        "mcpServers",
        (".gemini", "settings.json"),
        (".gemini", *_SKILL),
        _GEMINI,
        server_type="",
    ),
    Host("zed", "Zed", "context_servers", (".zed", "settings.json"), (), _AGENTS, server_type=""),
    Host("windsurf", "Windsurf", "mcpServers", (), (".windsurf", *_SKILL), server_type=""),
    Host("opencode", "opencode", "mcp", ("opencode.json",), (".opencode", *_SKILL), _AGENTS, server_type="local"),
    Host("cline", "Cline", "mcpServers", (), (".cline", *_SKILL), added=("autoApprove", "disabled", "timeout")),
    Host("amp", "Amp", "amp.mcpServers", (".amp", "settings.json"), (".agents", *_SKILL), _AGENTS, server_type=""),
    Host("junie", "Junie", "mcpServers", (".junie", "mcp", "mcp.json"), (".junie", *_SKILL), server_type=""),
)


_PROJECT_HOOKS = {
    "claude": (".claude", "settings.json"),
    "codex": (".codex", "hooks.json"),
    "gemini": (".gemini", "settings.json"),
    "vscode": (".github", "hooks", "fathom.json"),
}


class HostPlaces(NamedTuple):
    """The files of a host for one user or one project; a host is there where one of `marks` is."""

    settings: Target
    skill: Target | None  # None: the host reads no skills
    marks: tuple[Target, ...]
    sub_agent: Target | None = None  # None: the host has none in a file, or does not document where
    instructions: Target | None = None  # the same
    hidden: Target | None = None  # a file that hosts do not read any more once there are instructions
    hooks: Target | None = None  # the settings that hold hooks; None: the host has none, or does not document them


def has_project_settings(host: Host) -> bool:
    """Return True if a host reads settings of one project."""
    return bool(host.project_settings)


def project_places(host: Host, root: str) -> HostPlaces:
    """Return the places in a project, for a host that has settings there."""
    settings = Target(root, host.project_settings)
    skill = Target(root, host.project_skill) if host.project_skill else None
    # Not `.github`, which says nothing of an editor, nor `.agents`, which several read.
    folder = {"claude": ".claude", "opencode": ".opencode"}.get(host.name, host.project_settings[0])
    sub_agent = Target(root, (".claude", *_SUB_AGENT)) if host.name == "claude" else None
    name = host.project_instructions
    instructions = Target(root, (name,)) if name else None
    hidden = Target(root, (_HIDDEN_BY[name],)) if name in _HIDDEN_BY else None
    hooks = Target(root, _PROJECT_HOOKS[host.name]) if host.name in _PROJECT_HOOKS else None
    return HostPlaces(settings, skill, (settings, Target(root, (folder,))), sub_agent, instructions, hidden, hooks)


def user_places(host: Host, around: Surroundings) -> HostPlaces:
    """Return the places of a user, wherever variables of the host move them."""
    if host.name in _USER_PLACES:
        return _USER_PLACES[host.name](around)
    folder = f".{host.name}"
    settings = Target(around.home, (folder, *host.project_settings[1:]))
    places = HostPlaces(settings, Target(around.home, (folder, *_SKILL)), (Target(around.home, (folder,)),))
    instructions = Target(around.home, (folder, _GEMINI)) if host.name == "gemini" else None
    return places._replace(instructions=instructions, hooks=settings if host.name == "gemini" else None)


def _vscode_places(around: Surroundings) -> HostPlaces:
    folder = _vscode_folder(around)
    own = around.variables.get("COPILOT_HOME", "")
    copilot = Target(own, ()) if own else Target(around.home, (".copilot",))
    places = HostPlaces(folder.inner("mcp.json"), Target(around.home, (".copilot", *_SKILL)), (folder,))
    return places._replace(hooks=copilot.inner("hooks", "fathom.json"))


def _cline_places(around: Surroundings) -> HostPlaces:
    folder = _vscode_folder(around).inner("globalStorage", "saoudrizwan.claude-dev")
    settings = folder.inner("settings", "cline_mcp_settings.json")
    return HostPlaces(settings, Target(around.home, (".cline", *_SKILL)), (folder,))


def _claude_places(around: Surroundings) -> HostPlaces:
    own = around.variables.get("CLAUDE_CONFIG_DIR", "")
    settings = Target(own or around.home, (".claude.json",))
    folder = _claude_folder(around)
    marks = (settings, folder)
    places = HostPlaces(settings, folder.inner(*_SKILL), marks, folder.inner(*_SUB_AGENT), folder.inner(_CLAUDE))
    return places._replace(hooks=folder.inner("settings.json"))


def _codex_places(around: Surroundings) -> HostPlaces:
    own = around.variables.get("CODEX_HOME", "")
    folder = Target(own, ()) if own else Target(around.home, (".codex",))
    places = HostPlaces(folder.inner("config.toml"), Target(around.home, (".agents", *_SKILL)), (folder,))
    return places._replace(instructions=folder.inner(_AGENTS), hooks=folder.inner("hooks.json"))


def _zed_places(around: Surroundings) -> HostPlaces:
    if around.system == "win32":
        folder = Target(around.variables.get("APPDATA") or around.home, ("Zed",))
    else:
        folder = _config_folder(around).inner("zed")
    return HostPlaces(folder.inner("settings.json"), None, (folder,))


def _windsurf_places(around: Surroundings) -> HostPlaces:
    folder = Target(around.home, (".codeium", "windsurf"))
    return HostPlaces(folder.inner("mcp_config.json"), folder.inner(*_SKILL), (folder,))


def _opencode_places(around: Surroundings) -> HostPlaces:
    folder = _config_folder(around).inner("opencode")
    places = HostPlaces(folder.inner("opencode.json"), folder.inner(*_SKILL), (folder,))
    return places._replace(instructions=folder.inner(_AGENTS), hidden=_claude_folder(around).inner(_CLAUDE))


def _amp_places(around: Surroundings) -> HostPlaces:
    folder = Target(around.home, (".config", "amp"))
    skill = Target(around.home, (".config", "agents", *_SKILL))
    return HostPlaces(folder.inner("settings.json"), skill, (folder,), instructions=folder.inner(_AGENTS))


_USER_PLACES = {
    "amp": _amp_places,
    "claude": _claude_places,
    "cline": _cline_places,
    "codex": _codex_places,
    "opencode": _opencode_places,
    "vscode": _vscode_places,
    "windsurf": _windsurf_places,
    "zed": _zed_places,
}


def _claude_folder(around: Surroundings) -> Target:
    own = around.variables.get("CLAUDE_CONFIG_DIR", "")
    return Target(own, ()) if own else Target(around.home, (".claude",))


def _config_folder(around: Surroundings) -> Target:
    own = around.variables.get("XDG_CONFIG_HOME", "")
    return Target(own, ()) if own else Target(around.home, (".config",))


def _vscode_folder(around: Surroundings) -> Target:
    end = ("Code", "User")
    if around.system == "darwin":
        return Target(around.home, ("Library", "Application Support", *end))
    if around.system == "win32":
        return Target(around.variables.get("APPDATA") or around.home, end)
    return _config_folder(around).inner(*end)
