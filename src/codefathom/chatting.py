"""From a name such as "ollama:qwen2.5-coder:14b" to a chat model, and what leaves the machine on the way."""

from __future__ import annotations

import importlib
import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from codefathom.errors import SettingsError
from codefathom.providers.base import Ask, ChatModel, Delta, Reply
from codefathom.providers.http import Hints, Http, Server, Timeouts
from codefathom.providers.ollama import OllamaChat
from codefathom.providers.openai import OpenAIChat
from codefathom.providers.pace import Limits
from codefathom.settings import Settings
from codefathom.source.secrets import mask

KEYRING_SERVICE = "codefathom"  # under which keys are kept, by the names of their environment variables


class _Provider(NamedTuple):
    """Where a provider is by default, and which environment variables say otherwise."""

    base_url: str
    address_variable: str
    key_variable: str  # "" when it takes no key


PROVIDERS: Mapping[str, _Provider] = {
    "openai": _Provider("https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "ollama": _Provider("http://127.0.0.1:11434", "OLLAMA_HOST", ""),
}


class Named(NamedTuple):
    """A model and where it is asked."""

    provider: str
    model: str
    base_url: str
    section: str = "llm"  # of the settings that name it

    @property
    def is_remote(self) -> bool:
        """Whether text that is sent there leaves this machine."""
        host = urlsplit(self.base_url).hostname or ""
        try:
            return not ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host != "localhost" and not host.endswith(".localhost")


def named(name: str, settings: Settings, environ: Mapping[str, str], *, section: str = "llm") -> Named:
    """Read "provider:model"; `section` of the settings says where it is asked. Raises SettingsError."""
    provider, _, model = name.partition(":")
    if provider not in PROVIDERS or not model:
        known = ", ".join(f"{known}:…" for known in PROVIDERS)
        raise SettingsError(
            f"{section}.model = {name!r} names no provider and model",
            hint=f"write one of {known}; openai:… with {section}.base_url serves every server that speaks its protocol",
        )
    usual = PROVIDERS[provider]
    own = getattr(settings, section).base_url
    origin = f"{section}.base_url" if own else usual.address_variable
    address = own or environ.get(usual.address_variable, "").strip() or usual.base_url
    return Named(provider, model, _address(address, usual, origin), section)


def _address(text: str, usual: _Provider, origin: str) -> str:
    """Return where to ask, from an address that may lack parts, or tell a server to listen on every network."""
    try:
        whole = urlsplit(text if "://" in text else f"http://{_bracketed(text)}")
        host, port = whole.hostname or "", whole.port
        if port is None and "://" not in text:
            port = urlsplit(usual.base_url).port
    except ValueError as error:
        raise SettingsError(
            f"{origin} = {text!r} is no address: {error}", hint="write it as http://host:port"
        ) from error
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


def chat_model(name: str, settings: Settings, environ: Mapping[str, str]) -> ChatModel:
    """Return the model, ready to be asked. Nothing is sent yet. Raises SettingsError."""
    chosen = named(name, settings, environ)
    timeouts = Timeouts(settings.llm.connect_timeout_s, settings.llm.read_timeout_s)
    http = connection(chosen, settings, environ, timeouts, settings.limits.attempts)
    model: ChatModel = OllamaChat(chosen.model, http) if chosen.provider == "ollama" else OpenAIChat(chosen.model, http)
    return _Masking(model) if chosen.is_remote and settings.answer.mask_secrets else model


def connection(
    chosen: Named, settings: Settings, environ: Mapping[str, str], timeouts: Timeouts, attempts: int
) -> Http:
    """Return the way to a model, with its key and limits. Nothing is sent yet. Raises SettingsError."""
    limits = settings.limits
    # A model on this machine has no quota to keep to.
    interval_s = limits.min_interval_ms / 1000 if chosen.is_remote else 0.0
    key = _key(chosen, environ)
    return Http(
        Server(
            chosen.base_url,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeouts=timeouts,
            limits=Limits(interval_s, limits.requests_per_minute, limits.tokens_per_minute),
            attempts=attempts,
            hints=_hints(chosen),
        )
    )


def _hints(chosen: Named) -> Hints:
    model, section = chosen.model, chosen.section
    common = Hints(
        silent="set llm.read_timeout_s to wait for longer" if section == "llm" else f"raise {section}.timeout_s",
        page=f"this is no model's address: correct {section}.base_url",
        moved=f"correct {section}.base_url",
    )
    if chosen.provider == "ollama":
        return common._replace(
            unreachable=f"is the server running? `ollama serve` starts it; is {section}.base_url or OLLAMA_HOST right?",
            key=f"Ollama itself takes no key; is {section}.base_url or OLLAMA_HOST right?",
            unknown=f"`ollama pull {model}` if it is not there yet; else correct {section}.base_url or OLLAMA_HOST",
        )
    return common._replace(
        unreachable=f"is the server running? and is {section}.base_url right?",
        key=f"the key is missing or wrong: {_setting_a_key(PROVIDERS[chosen.provider].key_variable)}",
        unknown=f"no model {model!r}, or no such address: correct {section}.model and {section}.base_url",
    )


def _key(chosen: Named, environ: Mapping[str, str]) -> str:
    usual = PROVIDERS[chosen.provider]
    variable = usual.key_variable
    if not variable:
        return ""
    key = environ.get(variable, "").strip() or (_kept(variable) if chosen.is_remote else "")
    if not key.isascii() or not key.isprintable():
        raise SettingsError(f"{variable} holds signs that no key has", hint="set it again, without line breaks")
    if not key and chosen.base_url == usual.base_url:
        raise SettingsError(
            f"{chosen.provider}:{chosen.model} needs a key",
            hint=f"{_setting_a_key(variable)}; or set {chosen.section}.base_url to a server that needs none",
        )
    return key


def _kept(variable: str) -> str:
    """Return the key that the user's keyring holds, "" when it holds none or there is no keyring."""
    try:
        library: Any = importlib.import_module("keyring")
        return (library.get_password(KEYRING_SERVICE, variable) or "").strip()
    except Exception:  # every keyring has errors of its own, and none of them is a reason to stop
        return ""


def _setting_a_key(variable: str) -> str:
    return f"set {variable} in the environment, or `keyring set {KEYRING_SERVICE} {variable}` (codefathom[keyring])"


class _Masking:
    """A model on another machine, which never sees what looks like a secret."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        messages = [message._replace(content=mask(message.content).text) for message in ask.messages]
        return self._model.stream(ask._replace(messages=messages))
