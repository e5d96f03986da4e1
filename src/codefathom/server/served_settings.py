"""The settings of a project as the server uses them: its own, and over them what came over HTTP, where that may be.

Whoever may send requests does not thereby choose where the code of a project is sent, where the keys of the user go, or
which folder of this machine is read. This is checked whenever settings are used, not only when they come: the list of
hosts may have become shorter since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from codefathom.config.configuration import load_settings
from codefathom.config.model_names import is_on_disk
from codefathom.config.settings import ServedSettings, Settings
from codefathom.errors import SettingsError, without_login
from codefathom.remote.chat_models import HostAndPort, addresses, host_and_port, own_addresses

_ELSEWHERE = "set it in the settings of the server"


class ClosedSettingError(SettingsError):
    """A setting may not have this value when it came over HTTP."""


def served_settings(
    root: str, overrides: Mapping[str, object], environ: Mapping[str, str], user_file: str, hosts: Sequence[str]
) -> Settings:
    """Return the settings of a project, with what was given for it over HTTP.

    Raises SettingsError, ClosedSettingError among them for what only the settings of the server may say.
    """
    own = load_settings(root, environ=environ, user_file=user_file)
    own_places = own_addresses(own, environ)
    settings = load_settings(root, overrides=overrides, environ=environ, user_file=user_file) if overrides else own
    if overrides:
        _check_addresses(settings, environ, own_places, hosts)
        _check_folders(settings, own)
        _check_masks(settings, own)
    return settings._replace(served=ServedSettings(own_places))


def open_hosts(own: Settings, environ: Mapping[str, str], hosts: Sequence[str]) -> list[str]:
    """Return the hosts at which a project may ask for models: those of the list, and those of the server's settings."""
    of_settings = sorted({without_login(address).partition("//")[2] for address in own_addresses(own, environ)})
    return list(dict.fromkeys([*hosts, *(address.partition("/")[0] for address in of_settings)]))


def is_listed(address: str, hosts: Iterable[str]) -> bool:
    """Return True if the server of an address is on a list of hosts, each with or without scheme and port.

    Names are compared as they are written, and nothing is looked up: what a name leads to may change between two looks.
    """
    server = host_and_port(address)
    return server is not None and any(_is_meant(server, entry) for entry in hosts)


def _is_meant(server: HostAndPort, entry: str) -> bool:
    scheme, mark, place = entry.lower().rpartition("://")
    listed = host_and_port(f"{scheme or server.scheme}://{place}")
    if listed is None:
        return False
    has_port = bool(mark) or place.rpartition("]")[2].find(":") >= 0
    return listed == server if has_port else listed.host == server.host


def _check_addresses(
    settings: Settings, environ: Mapping[str, str], own_places: frozenset[str], hosts: Sequence[str]
) -> None:
    for key, address in addresses(settings, environ):
        if (
            address not in own_places
            and not is_listed(address, hosts)
            and host_and_port(address) not in _servers(own_places)
        ):
            raise ClosedSettingError(
                f"{key} is at {without_login(address)!r}, where this server may not use models",
                hint=f"add the host to server.model_hosts, or use a listed one: {', '.join(hosts) or 'none is listed'}",
            )


def _servers(own_places: Iterable[str]) -> set[HostAndPort]:
    return {server for address in own_places if (server := host_and_port(address)) is not None}


def _check_masks(settings: Settings, own: Settings) -> None:
    for key, value, own_value in (
        ("answer.mask_secrets", settings.answer.mask_secrets, own.answer.mask_secrets),
        ("source.secrets", settings.source.secrets, own.source.secrets),
        ("mcp.secrets", settings.mcp.secrets, own.mcp.secrets),
    ):
        if value != own_value:
            raise ClosedSettingError(f"{key} cannot be set for a project", hint=_ELSEWHERE)


def _check_folders(settings: Settings, own: Settings) -> None:
    for key, name, own_name in (
        ("embed.model", settings.embed.model, own.embed.model),
        ("rerank.model", settings.rerank.model, own.rerank.model),
    ):
        if is_on_disk(name) and name != own_name:
            raise ClosedSettingError(f"{key} cannot name a folder of the server", hint=_ELSEWHERE)
