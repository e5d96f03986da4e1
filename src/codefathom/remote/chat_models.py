"""From a name such as "ollama:qwen2.5-coder:14b" to a chat model, with its address, key and limits.

A key is bound to its host: see `_key_variables`.
"""

from __future__ import annotations

import importlib
import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from codefathom.config.model_names import BUNDLED, is_on_disk, model_and_address, shown_model
from codefathom.config.settings import Settings
from codefathom.config.windows import largest_call
from codefathom.errors import SettingsError, without_login
from codefathom.providers.base import ChatModel
from codefathom.providers.http import Hints, Http, Server, Timeouts, is_local
from codefathom.providers.ollama import OllamaChat
from codefathom.providers.openai import OpenAIChat
from codefathom.providers.pace import CallLimits, OnWait
from codefathom.remote.masking import MaskingModel

KEYRING_SERVICE = "codefathom"  # under which keys are kept, by the names of their environment variables


class _Provider(NamedTuple):
    """The default address of a provider, and the environment variables for its address and key."""

    base_url: str
    address_variable: str
    key_variable: str  # "" when it takes no key


PROVIDERS: Mapping[str, _Provider] = {
    "openai": _Provider("https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "ollama": _Provider("http://127.0.0.1:11434", "OLLAMA_HOST", ""),
}
# Any server with POST /rerank.
_RERANKING = _Provider("", "", "RERANK_API_KEY")


class ModelName(NamedTuple):
    """A model and its address."""

    provider: str
    model: str
    base_url: str
    section: str = "llm"  # of the settings that name it
    has_own_address: bool = False  # the address is a part of its name

    @property
    def name(self) -> str:
        """Provider and model, and the address if it is a part of the name, without a login."""
        where = f"@{without_login(self.base_url)}" if self.has_own_address else ""
        return f"{self.provider}:{self.model}{where}"

    @property
    def is_remote(self) -> bool:
        """True if text that is sent to the model leaves this machine."""
        return not is_local(self.base_url)


def named(name: str, settings: Settings, environ: Mapping[str, str], *, section: str = "llm") -> ModelName:
    """Read "provider:model" or "provider:model@http://host"; without an address, `section` of the settings has it.

    Raises SettingsError.
    """
    if section == "rerank":
        return _named_reranker(name, settings)
    whole, own = model_and_address(name)
    provider, _, model = whole.partition(":")
    if provider not in PROVIDERS or not model:
        forms = ", ".join(f"{name}:…" for name in PROVIDERS)
        raise SettingsError(
            f"{_key_of(name, settings, section)} = "
            f"{without_login(name) if '://' in whole else shown_model(name)!r} does not name a provider and a model",
            hint=f"write one of {forms}; openai:NAME@http://host:port/v1 is any server that speaks its protocol",
        )
    usual = PROVIDERS[provider]
    if own:
        return ModelName(
            provider, model, _address(own, usual, f"the address of {whole}"), section, has_own_address=True
        )
    base_url = getattr(settings, section).base_url
    origin = f"{section}.base_url" if base_url else usual.address_variable
    address = base_url or environ.get(usual.address_variable, "").strip() or usual.base_url
    return ModelName(provider, model, _address(address, usual, origin), section)


def _named_reranker(name: str, settings: Settings) -> ModelName:
    """Read "http:model@http://host", or the address alone of a server that knows but one model."""
    whole, own = model_and_address(name)
    if whole.startswith(("http://", "https://")):
        return ModelName("http", "", _address(whole, _RERANKING, "rerank.model"), "rerank", has_own_address=True)
    provider, _, model = whole.partition(":")
    if provider != "http" or not model:
        raise SettingsError(
            f"rerank.model = {shown_model(name)!r} is not a reranking model",
            hint="write onnx:FOLDER, http://host:port, or http:NAME@http://host:port/v1",
        )
    address = own or settings.rerank.base_url
    if not address:
        raise SettingsError(
            f"rerank.model = {whole!r} has no address",
            hint=f"write {whole}@http://host:port/v1, or set rerank.base_url",
        )
    origin = f"the address of {whole}" if own else "rerank.base_url"
    return ModelName("http", model, _address(address, _RERANKING, origin), "rerank", has_own_address=bool(own))


def _usual(chosen: ModelName) -> _Provider:
    return _RERANKING if chosen.section == "rerank" else PROVIDERS[chosen.provider]


def _address(text: str, usual: _Provider, origin: str) -> str:
    """Return a complete address from one that may lack parts, or that means "every network", as servers write it."""
    try:
        whole = urlsplit(text if "://" in text else f"http://{_bracketed(text)}")
        host, port = whole.hostname or "", whole.port
        if port is None and "://" not in text:
            port = urlsplit(usual.base_url).port
    except ValueError as error:
        # What cannot be taken apart may hold a password in any place, and Python repeats it.
        where, why = text.rpartition("@")[2], "" if "@" in text else f": {error}"
        raise SettingsError(
            f"{origin} = {where!r} is not a valid address{why}", hint="write it as http://host:port"
        ) from None
    if not host or _is_any_address(host):
        host = "127.0.0.1"
    user, at, _ = whole.netloc.rpartition("@")
    place = f"{user}{at}{_bracketed(host)}" + ("" if port is None else f":{port}")
    return urlunsplit(whole._replace(netloc=place)).rstrip("/")


def _bracketed(host: str) -> str:
    try:
        return f"[{host}]" if ipaddress.ip_address(host).version == 6 else host
    except ValueError:
        return host


def _is_any_address(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


class HostAndPort(NamedTuple):
    """The server of an address."""

    scheme: str
    host: str  # in lower case, without brackets
    port: int


_PLAIN_ADDRESS = re.compile(r"(https?)://(\[[0-9a-f:.]+\]|[a-z0-9_.-]*[a-z0-9_-])(?::(\d{1,5}))?(?:/[!-~]*)?")


def host_and_port(address: str) -> HostAndPort | None:
    """Return the server of an address in a plain form: without login, query, fragment and unusual characters.

    None for any other address: two programs could disagree about its server.
    """
    match = _PLAIN_ADDRESS.fullmatch(address.lower())
    if match is None or {"\\", "@", "?", "#"} & set(address):
        return None
    host, port = match[2].strip("[]"), int(match[3] or (443 if match[1] == "https" else 80))
    if match[2].startswith("["):
        try:
            host = str(ipaddress.IPv6Address(host))
        except ValueError:
            return None
    return HostAndPort(match[1], host, port)


_LLM_KEYS = ("model", "index", "select", "judge", "excerpt", "answer", "agent")


def _key_of(name: str, settings: Settings, section: str) -> str:
    """Return the setting that names a model."""
    keys = _LLM_KEYS if section == "llm" else ("model",)
    key = next((key for key in keys if getattr(getattr(settings, section), key) == name), "model")
    return f"{section}.{key}"


def addresses(settings: Settings, environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the addresses of all models in some settings, each with the setting that names it.

    A name that cannot be read is left out: no call is made with it.
    """
    names = [("llm", key, getattr(settings.llm, key)) for key in _LLM_KEYS]
    names += [("embed", "model", settings.embed.model), ("rerank", "model", settings.rerank.model)]
    pairs = []
    for section, name, model in names:
        if model and model != BUNDLED and not is_on_disk(model):
            with suppress(SettingsError):
                pairs.append((f"{section}.{name}", named(model, settings, environ, section=section).base_url))
    for section, usual in (("llm", None), ("embed", None), ("rerank", _RERANKING)):
        if base_url := getattr(settings, section).base_url:
            for provider in [usual] if usual else PROVIDERS.values():
                with suppress(SettingsError):
                    pairs.append((f"{section}.base_url", _address(base_url, provider, f"{section}.base_url")))
    return pairs


def own_addresses(settings: Settings, environ: Mapping[str, str]) -> frozenset[str]:
    """Return the addresses that the user's own settings and environment name."""
    user_addresses = {address for _, address in addresses(settings, environ)}
    for usual in PROVIDERS.values():
        if named_there := environ.get(usual.address_variable, "").strip():
            with suppress(SettingsError):
                user_addresses.add(_address(named_there, usual, usual.address_variable))
    return frozenset(user_addresses)


class Connections:
    """The connections for some settings: models on one server share its connections, pace and breaker.

    `on_wait` is called with a line when a call has to wait for long. With `is_patient`, nobody waits for an answer:
    also a model that is needed for the first time gets all attempts. Safe to use from several threads.
    """

    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        on_wait: OnWait = lambda _: None,
        is_patient: bool = False,
    ) -> None:
        self.is_patient = is_patient
        self._settings = settings
        self._environ = environ
        self._on_wait = on_wait
        self._lock = Lock()
        self._clients: dict[tuple[str, str], Http] = {}  # by address and key

    def chat_model(self, name: str) -> ChatModel:
        """Return a language model, ready to use. Nothing is sent yet. Raises SettingsError."""
        llm = self._settings.llm
        chosen = self.named(name)
        http = self.to(chosen, Timeouts(llm.connect_timeout_s, llm.read_timeout_s))
        model: ChatModel
        if chosen.provider == "ollama":
            model = OllamaChat(chosen.model, http, chosen.name, largest_call(self._settings))
        else:
            model = OpenAIChat(chosen.model, http, chosen.name)
        return MaskingModel(model) if chosen.is_remote and self._settings.answer.mask_secrets else model

    def named(self, name: str, *, section: str = "llm") -> ModelName:
        """Return a model and its address. Raises SettingsError."""
        return named(name, self._settings, self._environ, section=section)

    def to(self, chosen: ModelName, timeouts: Timeouts, most_attempts: int = 1_000) -> Http:
        """Return the HTTP client for a model, with its key and limits. Nothing is sent yet. Raises SettingsError."""
        limits = self._settings.limits
        # A model on this machine has no quota to keep to, unless somebody has set one.
        is_paced = chosen.is_remote or "limits.min_interval_ms" in self._settings.origins
        interval_s = limits.min_interval_ms / 1000 if is_paced else 0.0
        served = self._settings.served
        variables = _key_variables(chosen, None if served is None else served.addresses)
        key = _key(chosen, self._environ, variables)
        server = Server(
            chosen.base_url,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeouts=timeouts,
            limits=CallLimits(interval_s, limits.requests_per_minute, limits.tokens_per_minute),
            attempts=min(limits.attempts, most_attempts),
            hints=_hints(chosen, variables),
            is_quoted=served is None,
        )
        with self._lock:
            if (chosen.base_url, key) not in self._clients:
                self._clients[chosen.base_url, key] = Http(server, on_wait=self._on_wait)
            return self._clients[chosen.base_url, key].also(server)

    def close(self) -> None:
        """Close all connections."""
        for http in self._clients.values():
            http.close()


_SILENT = {
    "llm": "set llm.read_timeout_s to wait for longer",
    "embed": "raise embed.timeout_s",
    "rerank": "raise rerank.timeout_s",
}
_REFUSED = {
    "llm": "the server does not take this request; is the model right, and llm.window what it takes?",
    "embed": "is it an embedding model? if it takes less at once, lower embed.max_tokens, embed.batch or "
    "embed.batch_tokens",
    "rerank": "is it a reranking model? if it takes less at once, lower rerank.depth or rerank.max_tokens",
}


def _hints(chosen: ModelName, key_variables: Sequence[str]) -> Hints:
    section, usual = chosen.section, _usual(chosen)
    own = f"the address in {chosen.name}" if chosen.has_own_address else ""
    common = Hints(
        silent=_SILENT[section],
        refused=_REFUSED[section],
        address=f"correct {own or f'{section}.base_url'}",
    )
    if chosen.provider == "ollama":
        where = own or f"{section}.base_url or {usual.address_variable}"
        return common._replace(
            unreachable=f"is the server running? `ollama serve` starts it; is {where} right?",
            key=f"Ollama itself takes no key; is {where} right?",
            unknown=f"`ollama pull {chosen.model}` if it is not there yet; else correct {where}",
        )
    where = own or f"{section}.base_url"
    return common._replace(
        unreachable=f"is the server running? and is {where} right?",
        key=f"the key is missing or wrong: {setting_a_key(key_variables[-1])}",
        unknown=f"no model {chosen.model!r}, or no such address: correct {own or f'{section}.model and {where}'}",
    )


def _key_variables(chosen: ModelName, own_addresses: frozenset[str] | None) -> tuple[str, ...]:
    """Return the variables that may hold the key for a server: its own one, then that of the provider.

    The key of a provider goes to the provider itself and to the addresses that the user has named, which are
    `own_addresses`, or all where that is None. Any other server gets a key only if there is one for its host.
    """
    usual = _usual(chosen)
    if not usual.key_variable:
        return ()
    host = re.sub("[^A-Z0-9]", "_", (urlsplit(chosen.base_url).hostname or "").upper())
    own = f"{usual.key_variable}_{host}"
    is_own = own_addresses is None or _is_one_of(chosen.base_url, {usual.base_url, *own_addresses})
    return (own, usual.key_variable) if is_own else (own,)


def _key(chosen: ModelName, environ: Mapping[str, str], variables: Sequence[str]) -> str:
    """Return the key for a server, from its own variable, which may be empty, else from the next."""
    if not variables:
        return ""
    usual, own, variable = _usual(chosen), variables[0], variables[-1]
    if own in environ:
        variable, key = own, environ[own].strip()
    else:
        key = environ.get(variable, "").strip() or (keyring_key(*variables) if chosen.is_remote else "")
    if not key.isascii() or not key.isprintable():
        raise SettingsError(
            f"{variable} contains characters that a key cannot have", hint="set it again, without line breaks"
        )
    if not key and chosen.base_url == usual.base_url:
        raise SettingsError(
            f"{chosen.name} needs a key",
            hint=f"{setting_a_key(variable)}; or set {chosen.section}.base_url to a server that needs none",
        )
    return key


def _is_one_of(address: str, others: Iterable[str]) -> bool:
    """Return True if an address is one of `others`, or leads to the server of one of them."""
    others, server = set(others), host_and_port(address)
    return address in others or (server is not None and server in set(map(host_and_port, others)))


def keyring_key(*variables: str) -> str:
    """Return the first key that the user's keyring holds, "" when it holds none or there is no keyring."""
    try:
        library: Any = importlib.import_module("keyring")
        keys = (library.get_password(KEYRING_SERVICE, variable) for variable in variables)
        return next((key.strip() for key in keys if key), "")
    except Exception:  # every keyring has errors of its own, and none of them is a reason to stop
        return ""


def setting_a_key(variable: str) -> str:
    """Return the remedy for a key that is missing."""
    return f"set {variable} in the environment, or `keyring set {KEYRING_SERVICE} {variable}` (codefathom[keyring])"
