"""From a name such as "ollama:qwen2.5-coder:14b" to a chat model, and what leaves the machine on the way."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from codefathom.errors import SettingsError
from codefathom.providers.base import Ask, ChatModel, Delta, Reply
from codefathom.providers.http import Http, Server, Timeouts
from codefathom.providers.ollama import OllamaChat
from codefathom.providers.openai import OpenAIChat
from codefathom.providers.pace import Limits
from codefathom.settings import Settings
from codefathom.source.secrets import mask


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
    address = getattr(settings, section).base_url or environ.get(usual.address_variable) or usual.base_url
    return Named(provider, model, (address if "://" in address else f"http://{address}").rstrip("/"))


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
        )
    )


def _key(chosen: Named, environ: Mapping[str, str]) -> str:
    usual = PROVIDERS[chosen.provider]
    key = environ.get(usual.key_variable, "").strip() if usual.key_variable else ""
    if not key.isascii() or not key.isprintable():
        raise SettingsError(
            f"{usual.key_variable} holds signs that no key has", hint="set it again, without line breaks"
        )
    if not key and chosen.base_url == usual.base_url and usual.key_variable:
        raise SettingsError(
            f"{chosen.provider}:{chosen.model} needs a key",
            hint=f"set {usual.key_variable} in the environment, or llm.base_url",
        )
    return key


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
