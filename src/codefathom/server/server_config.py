"""The configuration of the server, from the section `server` of the settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from codefathom.askers.routes import PathRoute, routes_of
from codefathom.config.configuration import ROUTES, tables_of
from codefathom.config.settings import ServerSettings
from codefathom.config.user_places import user_data_dir, user_file
from codefathom.errors import SettingsError, without_login
from codefathom.remote.keyring_keys import keyring_key, setting_a_key
from codefathom.server.access.credentials import SignInRules
from codefathom.server.access.openid_client import SECRET_VARIABLE, OpenIdClient, is_possible_issuer
from codefathom.server.access.token_table import has_tokens
from codefathom.server.http.auth import Token, is_loopback, token_of
from codefathom.server.http.behind_proxy import root_path_of
from codefathom.server.http.client_address import Network, network_of
from codefathom.server.http.user_roles import rule_of
from codefathom.system.extras import EXTRAS, install_line

_DEFAULTS = ServerSettings()
_MOST_PROCESSES = 4  # that search, unless the settings say more: each holds 50 MB and more


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """The files with which the server itself speaks TLS; none where it does not."""

    certificate: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """All settings of one server."""

    data_dir: str  # projects, jobs, conversations
    allowed_roots: tuple[str, ...]  # resolved; projects lie in or below one of them
    host: str = _DEFAULTS.host
    port: int = _DEFAULTS.port
    root_path: str = ""  # before all routes, without a slash at its end
    tls: TlsFiles = TlsFiles()
    tokens: tuple[Token, ...] = ()
    sign_in: SignInRules = field(default_factory=SignInRules)  # without the tokens and proxies
    audit_days: int = _DEFAULTS.audit_days
    conversation_days: int = _DEFAULTS.conversation_days  # 0: for ever
    hosts: tuple[str, ...] = ()
    cors: tuple[str, ...] = ()
    model_hosts: tuple[str, ...] = _DEFAULTS.model_hosts
    opened_projects: int = _DEFAULTS.opened_projects
    cache_ttl_s: float = _DEFAULTS.cache_ttl_s
    cache_entries: int = _DEFAULTS.cache_entries
    max_body_bytes: int = _DEFAULTS.max_body_bytes
    read_timeout_s: float = _DEFAULTS.read_timeout_s
    write_timeout_s: float = _DEFAULTS.write_timeout_s
    connections: int = _DEFAULTS.connections
    connections_of_one: int = _DEFAULTS.connections_of_one
    trusted_proxies: tuple[Network, ...] = ()
    requests_per_minute: int = _DEFAULTS.requests_per_minute
    search_processes: int = 2
    search_timeout_s: float = _DEFAULTS.search_timeout_s
    waiting_searches: int = _DEFAULTS.waiting_searches
    jobs_at_once: int = _DEFAULTS.jobs_at_once
    watched_projects: int = _DEFAULTS.watched_projects
    git_schemes: tuple[str, ...] = _DEFAULTS.git_schemes
    clone_max_bytes: int = _DEFAULTS.clone_max_bytes
    clone_max_files: int = _DEFAULTS.clone_max_files
    clone_timeout_s: float = _DEFAULTS.clone_timeout_s
    log: str = _DEFAULTS.log
    routes: tuple[PathRoute, ...] = ()  # which paths belong to which projects
    user_file: str = ""  # the settings file of whoever runs the server
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)  # of the environment, with keys in it

    @property
    def credentials(self) -> SignInRules:
        """All ways to sign in that the settings name."""
        return replace(self.sign_in, tokens=self.tokens, proxies=self.trusted_proxies)

    def with_roots(self, folders: tuple[str, ...]) -> ServerConfig:
        """Return this with more folders in which projects may lie."""
        return replace(self, allowed_roots=(*self.allowed_roots, *map(os.path.realpath, folders)))


def config_of(settings: ServerSettings, variables: Mapping[str, str]) -> ServerConfig:
    """Return the configuration that the settings mean, with the variables of the environment.

    Raises SettingsError for an address that others reach while there is no token, and for routes that cannot be.
    """
    data_dir = os.path.realpath(settings.data_dir or user_data_dir(variables))
    check_access(settings, data_dir)
    tables, origin = tables_of(user_file(variables), ROUTES)
    return ServerConfig(
        data_dir=data_dir,
        allowed_roots=tuple(os.path.realpath(os.path.expanduser(root)) for root in settings.allowed_roots or ("~",)),
        host=settings.host,
        port=settings.port,
        root_path=root_path_in(settings),
        tls=tls_files(settings),
        tokens=tuple(map(token_of, settings.tokens)),
        sign_in=sign_in_rules(settings, variables),
        audit_days=settings.audit_days,
        conversation_days=settings.conversation_days,
        hosts=tuple(name.lower() for name in settings.hosts),
        cors=settings.cors,
        model_hosts=settings.model_hosts,
        opened_projects=settings.opened_projects,
        cache_ttl_s=settings.cache_ttl_s,
        cache_entries=settings.cache_entries,
        max_body_bytes=settings.max_body_bytes,
        read_timeout_s=settings.read_timeout_s,
        write_timeout_s=settings.write_timeout_s,
        connections=settings.connections,
        connections_of_one=settings.connections_of_one,
        trusted_proxies=proxies_of(settings),
        requests_per_minute=settings.requests_per_minute,
        search_processes=settings.search_processes or min(os.cpu_count() or 1, _MOST_PROCESSES),
        search_timeout_s=settings.search_timeout_s,
        waiting_searches=settings.waiting_searches,
        jobs_at_once=settings.jobs_at_once,
        watched_projects=settings.watched_projects,
        git_schemes=settings.git_schemes,
        clone_max_bytes=settings.clone_max_bytes,
        clone_max_files=settings.clone_max_files,
        clone_timeout_s=settings.clone_timeout_s,
        log=settings.log,
        routes=() if tables is None else routes_of(tables, origin),
        user_file=user_file(variables),
        variables=variables,
    )


def sign_in_rules(settings: ServerSettings, variables: Mapping[str, str]) -> SignInRules:
    """Return how people sign in. Raises SettingsError for a header that nobody is trusted to send, and `openid_of`."""
    if settings.user_header and not settings.trusted_proxies:
        raise SettingsError(
            f"server.user_header is {settings.user_header!r}, and no proxy is trusted to send it",
            hint="set server.trusted_proxies to the address of the proxy",
        )
    return SignInRules(
        roles=tuple(map(rule_of, settings.roles)),
        user_header=settings.user_header,
        groups_header=settings.groups_header,
        openid=openid_of(settings, variables),
    )


def openid_of(settings: ServerSettings, variables: Mapping[str, str]) -> OpenIdClient | None:
    """Return how this server is known at the provider, None without one. Raises SettingsError for what is missing."""
    if not settings.oidc_issuer:
        return None
    if not is_possible_issuer(settings.oidc_issuer):
        raise SettingsError(
            f"server.oidc_issuer cannot be {without_login(settings.oidc_issuer)!r}",
            hint="write the address of the provider with https://, such as https://id.example.org, without ? and #",
        )
    if missing := EXTRAS["oidc"].missing():
        raise SettingsError(
            f"server.oidc_issuer needs the package {missing[0]!r}", hint=f"install it: {install_line('oidc')}"
        )
    if not settings.oidc_client_id:
        raise SettingsError(
            "server.oidc_issuer is set, and server.oidc_client_id is empty",
            hint="register this server at the provider, and set the client id that the provider gives it",
        )
    secret = variables.get(SECRET_VARIABLE, "").strip() or keyring_key(SECRET_VARIABLE)
    if not secret:
        raise SettingsError(
            f"server.oidc_issuer is set, and there is no client secret in {SECRET_VARIABLE}",
            hint=setting_a_key(SECRET_VARIABLE),
        )
    return OpenIdClient(
        issuer=settings.oidc_issuer,
        client_id=settings.oidc_client_id,
        secret=secret,
        scopes=tuple(dict.fromkeys(("openid", *settings.oidc_scopes))),
        name_claim=settings.oidc_name_claim or "sub",
        groups_claim=settings.oidc_groups_claim,
        session_hours=settings.oidc_session_hours,
    )


def check_access(settings: ServerSettings, data_dir: str) -> None:
    """Raise SettingsError for an address that others reach while nobody has to sign in."""
    if is_loopback(settings.host) or settings.tokens or settings.user_header or settings.oidc_issuer:
        return
    if not has_tokens(data_dir):
        raise SettingsError(
            f"other machines can reach server.host = {settings.host!r}, and there is no token",
            hint="make a token with `fathom tokens new NAME --role admin` or `fathom serve --new-token NAME`, or "
            "listen on 127.0.0.1",
        )


def tls_files(settings: ServerSettings) -> TlsFiles:
    """Return the files for TLS that the settings name."""
    return TlsFiles(os.path.expanduser(settings.tls_certificate), os.path.expanduser(settings.tls_key))


def root_path_in(settings: ServerSettings) -> str:
    """Return the path before all routes that the settings name. Raises SettingsError."""
    try:
        return root_path_of(settings.root_path)
    except ValueError as error:
        raise SettingsError(
            f"server.root_path cannot be {settings.root_path!r}",
            hint="write it such as /code: letters, digits and . _ ~ - between slashes, and not the name of a route "
            "such as /search",
        ) from error


def proxies_of(settings: ServerSettings) -> tuple[Network, ...]:
    """Return the networks of the proxies that are trusted. Raises SettingsError."""
    return tuple(map(_proxy, settings.trusted_proxies))


def _proxy(text: str) -> Network:
    try:
        return network_of(text)
    except ValueError as error:
        raise SettingsError(
            f"server.trusted_proxies: {text!r} is not an address or network",
            hint="write it such as 127.0.0.1 or 10.0.0.0/8",
        ) from error
