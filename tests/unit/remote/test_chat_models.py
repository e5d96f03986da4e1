"""The name of a model says whom to ask; nothing leaves the machine that looks like a secret."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import InitError
from tests.protocols.server import Turn, serving

from codefathom.config.settings import LimitsSettings, LlmSettings, Settings
from codefathom.errors import ProviderError, SettingsError
from codefathom.providers.base import Ask, ChatModel, Message, whole
from codefathom.providers.http import Timeouts
from codefathom.remote.chat_models import Connections, named

HERE = "http://127.0.0.1:11434"
ASK = Ask([Message("user", "hello")])


def chat_model(name: str, settings: Settings, environ: Mapping[str, str]) -> ChatModel:
    return Connections(settings, environ).chat_model(name)


def at(base_url: str) -> Settings:
    return Settings(llm=LlmSettings(base_url=base_url))


@pytest.mark.parametrize(
    ("name", "environ", "base_url", "model", "is_remote"),
    [
        ("openai:gpt-5-mini", {}, "https://api.openai.com/v1", "gpt-5-mini", True),
        ("openai:m", {"OPENAI_BASE_URL": "http://localhost:8000/v1/"}, "http://localhost:8000/v1", "m", False),
        ("ollama:qwen2.5-coder:14b", {}, "http://127.0.0.1:11434", "qwen2.5-coder:14b", False),
        ("ollama:m", {"OLLAMA_HOST": "10.0.0.5:11434"}, "http://10.0.0.5:11434", "m", True),
        ("ollama:m", {"OLLAMA_HOST": "http://[::1]:11434"}, "http://[::1]:11434", "m", False),
        # What a server listens on is not where it is asked.
        ("ollama:m", {"OLLAMA_HOST": "0.0.0.0"}, HERE, "m", False),
        ("ollama:m", {"OLLAMA_HOST": "0.0.0.0:8080"}, "http://127.0.0.1:8080", "m", False),
        ("ollama:m", {"OLLAMA_HOST": "http://0.0.0.0:11434/"}, HERE, "m", False),
        ("ollama:m", {"OLLAMA_HOST": "[::]"}, HERE, "m", False),
        ("ollama:m", {"OLLAMA_HOST": "[::]:8080"}, "http://127.0.0.1:8080", "m", False),
        ("ollama:m", {"OLLAMA_HOST": "::"}, HERE, "m", False),
        ("ollama:m", {"OLLAMA_HOST": ":8080"}, "http://127.0.0.1:8080", "m", False),
        ("openai:m", {"OPENAI_BASE_URL": "http://0.0.0.0:8000/v1"}, "http://127.0.0.1:8000/v1", "m", False),
        # Ollama's own port, unless a scheme brings another.
        ("ollama:m", {"OLLAMA_HOST": "localhost"}, "http://localhost:11434", "m", False),
        ("ollama:m", {"OLLAMA_HOST": " box "}, "http://box:11434", "m", True),
        ("ollama:m", {"OLLAMA_HOST": "::1"}, "http://[::1]:11434", "m", False),
        ("ollama:m", {"OLLAMA_HOST": "box/models"}, "http://box:11434/models", "m", True),
        ("ollama:m", {"OLLAMA_HOST": "https://box"}, "https://box", "m", True),
        ("ollama:m", {"OLLAMA_HOST": "https://me:word@box/models"}, "https://me:word@box/models", "m", True),
        ("openai:m", {"OPENAI_BASE_URL": "box"}, "http://box", "m", True),
        ("ollama:m", {"OLLAMA_HOST": " "}, HERE, "m", False),
    ],
)
def test_names(name: str, environ: dict[str, str], base_url: str, model: str, is_remote: bool) -> None:
    found = named(name, Settings(), environ)
    assert (found.base_url, found.model, found.is_remote) == (base_url, model, is_remote)


def test_the_setting_wins_over_the_environment() -> None:
    settings = Settings(llm=LlmSettings(base_url="http://127.0.0.1:1234/v1"))
    assert named("openai:m", settings, {"OPENAI_BASE_URL": "http://x"}).base_url == "http://127.0.0.1:1234/v1"


@pytest.mark.parametrize("name", ["gpt-5-mini", "openai:", ":m", "nobody:m"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="does not name a provider and a model") as caught:
        chat_model(name, Settings(), {})
    assert "ollama:…" in caught.value.hint


OWN = "http://box:8000/v1"


@pytest.mark.parametrize(
    ("name", "base_url", "model", "shown"),
    [
        ("openai:m@http://box:8000/v1", OWN, "m", "openai:m@http://box:8000/v1"),
        ("openai:m@http://box:8000/v1/", OWN, "m", "openai:m@http://box:8000/v1"),
        (" openai:m @http://box:8000/v1 ", OWN, "m", "openai:m@http://box:8000/v1"),
        ("openai:m@https://me:word@box/v1", "https://me:word@box/v1", "m", "openai:m@https://box/v1"),
        ("openai:m@http://me:word@", "http://me:word@127.0.0.1", "m", "openai:m@http://127.0.0.1"),
        ("openai:m@http://0.0.0.0:8000/v1", "http://127.0.0.1:8000/v1", "m", "openai:m@http://127.0.0.1:8000/v1"),
        ("openai:maker/m@2024@http://box:8000/v1", OWN, "maker/m@2024", "openai:maker/m@2024@http://box:8000/v1"),
        ("openai:m@http://box/@https://x", "http://box/@https://x", "m", "openai:m@http://box/@https://x"),
        ("ollama:qwen:14b@http://box:11434", "http://box:11434", "qwen:14b", "ollama:qwen:14b@http://box:11434"),
        # Only an address is split off.
        ("openai:m@box", "http://elsewhere/v1", "m@box", "openai:m@box"),
        ("openai:m@ftp://box", "http://elsewhere/v1", "m@ftp://box", "openai:m@ftp://box"),
    ],
)
def test_a_model_may_carry_its_address(name: str, base_url: str, model: str, shown: str) -> None:
    environ = {"OPENAI_BASE_URL": "http://nowhere", "OLLAMA_HOST": "nowhere"}
    found = named(name, at("http://elsewhere/v1"), environ)
    assert (found.base_url, found.model, found.name) == (base_url, model, shown)
    assert chat_model(name, at("http://elsewhere/v1"), environ).name == shown


@pytest.mark.parametrize(
    ("address", "is_remote"),
    [
        ("http://localhost:8000/v1", False),
        ("https://127.0.0.2/v1", False),
        ("http://me:word@[::1]:8000", False),
        ("http://models.localhost", False),
        ("http://127.0.0.1@models.example/v1", True),
        ("http://localhost.models.example/v1", True),
        ("http://models.example/v1#@localhost", True),
        ("http://models.example\\@localhost@models.example", True),
    ],
)
def test_text_leaves_to_the_address_that_counts(address: str, is_remote: bool) -> None:
    assert named(f"openai:m@{address}", Settings(), {}).is_remote == is_remote
    assert named("openai:m", at(address), {}).is_remote == is_remote


@pytest.mark.parametrize("name", ["m@http://me:word@box", "openai:@http://me:word@box", "http://me:word@box/v1"])
def test_a_name_that_is_none_is_said_without_its_login(name: str) -> None:
    with pytest.raises(SettingsError, match="does not name a provider and a model") as caught:
        named(name, Settings(), {})
    assert "box" in str(caught.value)
    assert "word" not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize("address", ["http://me:word@box:word", "http://me:wo/rd@box", "http://me:word@[box"])
def test_an_address_that_is_none_is_said_without_its_login(address: str) -> None:
    for name, settings in ((f"openai:m@{address}", Settings()), ("openai:m", at(address))):
        with pytest.raises(SettingsError, match="is not a valid address") as caught:
            named(name, settings, {})
        assert "me:wo" not in f"{caught.value} {caught.value.hint}"
        assert caught.value.__cause__ is None


@pytest.mark.parametrize("address", ["http://[bad", "box:port", "http://box:99999"])
def test_an_address_that_is_none_is_said(address: str) -> None:
    with pytest.raises(SettingsError, match=r"OLLAMA_HOST = .* is not a valid address") as caught:
        named("ollama:m", Settings(), {"OLLAMA_HOST": address})
    assert "http://host:port" in caught.value.hint
    with pytest.raises(SettingsError, match=r"llm\.base_url = .* is not a valid address"):
        named("openai:m", at(address), {})


# ---- connections

DONE = Turn([b'data: {"choices": [{"delta": {"content": "so"}, "finish_reason": "stop"}]}\n\n'])


def test_two_models_may_be_asked_at_two_addresses() -> None:
    with serving(DONE) as one, serving(DONE) as other:
        connections = Connections(at(one.base_url), {})
        for name in ("openai:a", f"openai:b@{other.base_url}"):
            assert whole(connections.chat_model(name), ASK).text == "so"
        assert [[asked.body["model"] for asked in served.asked] for served in (one, other)] == [["a"], ["b"]]


def test_models_on_one_server_share_what_is_known_of_it() -> None:
    with serving(Turn([b"oops"], 500)) as served, serving(DONE) as other:
        settings = at(served.base_url)._replace(limits=LimitsSettings(attempts=1))
        connections = Connections(settings, {})
        names = ("openai:a", "openai:b", f"openai:c@{served.base_url}/")
        for name in (*names, *names[:2]):
            with pytest.raises(ProviderError, match="answered 500"):
                whole(connections.chat_model(name), ASK)
        for name in (*names, "openai:d"):
            with pytest.raises(ProviderError, match="failed 5 times in a row"):
                whole(connections.chat_model(name), ASK)
        assert whole(connections.chat_model(f"openai:c@{other.base_url}"), ASK).text == "so"
        assert len(served.asked) == 5


def test_each_model_on_a_server_keeps_its_own_hints() -> None:
    with serving(Turn([b"no"], 404)) as served:
        connections = Connections(at(served.base_url), {})
        hints = [hint_of(connections.chat_model(name)) for name in ("ollama:a", "ollama:b")]
    assert ["`ollama pull a`" in hints[0], "`ollama pull b`" in hints[1]] == [True, True]


class ServerEvent:
    """Takes the note of a wait and interrupts, so that no test has to wait."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def __call__(self, line: str) -> None:
        self.said.append(line)
        raise KeyboardInterrupt


def test_a_quota_holds_for_all_models_of_a_server_and_its_wait_is_told() -> None:
    told = ServerEvent()
    with serving(DONE) as served:
        settings = at(served.base_url)._replace(limits=LimitsSettings(requests_per_minute=1))
        connections = Connections(settings, {}, told)
        assert whole(connections.chat_model("openai:a"), ASK).text == "so"
        with pytest.raises(KeyboardInterrupt):
            whole(connections.chat_model("openai:b"), ASK)
        host = served.base_url.removeprefix("http://")
        assert told.said == [f"waiting 60 s: limits.requests_per_minute allows no more calls to {host} for now"]


def test_a_long_wait_is_told_with_the_server_and_without_its_login() -> None:
    told = ServerEvent()
    with serving(Turn([b"slow down"], 429, {"retry-after": "20"})) as served:
        address = served.base_url.replace("//", "//me:word@")
        with pytest.raises(KeyboardInterrupt):
            whole(Connections(Settings(), {}, told).chat_model(f"openai:m@{address}"), ASK)
        assert told.said == [f"waiting 20 s: {served.base_url.removeprefix('http://')} asks for that (429)"]


def test_closed_connections_are_not_used() -> None:
    with serving(DONE) as served:
        connections = Connections(at(served.base_url), {})
        model = connections.chat_model("openai:m")
        assert whole(model, ASK).text == "so"
        connections.close()
        with pytest.raises(RuntimeError, match="closed"):
            whole(model, ASK)


# ---- keys


class Kept(KeyringBackend):
    """A keyring of one process."""

    priority = 1.0

    def __init__(self, passwords: Mapping[tuple[str, str], str], error: Exception | None = None) -> None:
        super().__init__()
        self.passwords = passwords
        self.error = error
        self.asked: list[tuple[str, str]] = []

    def get_password(self, service: str, username: str) -> str | None:
        self.asked.append((service, username))
        if self.error is not None:
            raise self.error
        return self.passwords.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        raise NotImplementedError  # nothing here keeps a key


KEPT = {("codefathom", "OPENAI_API_KEY"): "sk-kept\n"}


@pytest.fixture(autouse=True)
def use() -> Iterator[Callable[[Kept], Kept]]:
    """No test looks into the keyring of whoever runs it."""

    def set_keyring(kept: Kept) -> Kept:
        keyring.set_keyring(kept)
        return kept

    before = keyring.get_keyring()
    keyring.set_keyring(Kept({}))
    yield set_keyring
    keyring.set_keyring(before)


def sent_key(monkeypatch: pytest.MonkeyPatch, environ: Mapping[str, str], name: str = "openai:m") -> str | None:
    """Return the key that a model on another machine is sent; a proxy stands for that machine."""
    with serving(DONE) as served:
        monkeypatch.setenv("HTTP_PROXY", served.base_url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert whole(chat_model(name, at("http://models.example/v1"), environ), ASK).text == "so"
        assert served.asked[0].path == "http://models.example/v1/chat/completions"
        return served.asked[0].headers.get("authorization")


def test_a_key_may_be_kept_in_a_keyring(monkeypatch: pytest.MonkeyPatch, use: Callable[[Kept], Kept]) -> None:
    kept = use(Kept(KEPT))
    assert sent_key(monkeypatch, {}) == "Bearer sk-kept"
    assert kept.asked == [("codefathom", "OPENAI_API_KEY_MODELS_EXAMPLE"), ("codefathom", "OPENAI_API_KEY")]
    assert chat_model("openai:gpt-5-mini", Settings(), {}).name == "openai:gpt-5-mini"


def test_the_environment_goes_before_a_keyring(monkeypatch: pytest.MonkeyPatch, use: Callable[[Kept], Kept]) -> None:
    kept = use(Kept(KEPT))
    monkeypatch.delitem(sys.modules, "keyring")
    assert sent_key(monkeypatch, {"OPENAI_API_KEY": "sk-own"}) == "Bearer sk-own"
    assert kept.asked == []
    assert "keyring" not in sys.modules


OF_HOST = "OPENAI_API_KEY_MODELS_EXAMPLE"


@pytest.mark.parametrize("name", ["openai:m", "openai:m@http://models.example/v1"])
@pytest.mark.parametrize(
    ("environ", "kept", "key"),
    [
        ({"OPENAI_API_KEY": "sk-own"}, {}, "sk-own"),
        ({"OPENAI_API_KEY": "sk-own", OF_HOST: "sk-host"}, {}, "sk-host"),
        ({"OPENAI_API_KEY": "sk-own", OF_HOST: ""}, {}, None),  # so none goes there
        ({OF_HOST: " "}, KEPT, None),
        ({"OPENAI_API_KEY": "sk-own", "OPENAI_API_KEY_OTHER_EXAMPLE": "sk-other"}, {}, "sk-own"),
        ({}, {**KEPT, ("codefathom", OF_HOST): "sk-kept-for-host"}, "sk-kept-for-host"),
    ],
)
def test_a_server_may_have_a_key_of_its_own(
    name: str,
    environ: Mapping[str, str],
    kept: Mapping[tuple[str, str], str],
    key: str | None,
    monkeypatch: pytest.MonkeyPatch,
    use: Callable[[Kept], Kept],
) -> None:
    use(Kept(kept))
    assert sent_key(monkeypatch, environ, name) == (key and f"Bearer {key}")


@pytest.mark.parametrize("name", ["openai:m", "ollama:m"])
def test_no_keyring_is_asked_for_a_model_on_this_machine(name: str, use: Callable[[Kept], Kept]) -> None:
    kept = use(Kept(KEPT))
    chat_model(name, at("http://127.0.0.1:8000/v1"), {})
    assert kept.asked == []


@pytest.mark.parametrize("error", [InitError("no desktop"), RuntimeError("locked"), OSError("no bus")])
def test_a_keyring_that_fails_is_none(
    error: Exception, monkeypatch: pytest.MonkeyPatch, use: Callable[[Kept], Kept]
) -> None:
    kept = use(Kept(KEPT, error))
    assert sent_key(monkeypatch, {}) is None
    assert len(kept.asked) == 1


def test_without_the_library_there_is_no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)  # so Python says that it is not installed
    assert sent_key(monkeypatch, {}) is None
    with pytest.raises(SettingsError, match="needs a key"):
        chat_model("openai:gpt-5-mini", Settings(), {})


@pytest.mark.parametrize("key", ["sk-\u200bx", "sk-a\nb"])
def test_a_key_with_signs_that_no_key_has_is_refused(key: str, use: Callable[[Kept], Kept]) -> None:
    use(Kept({("codefathom", "OPENAI_API_KEY"): key}))
    for environ in ({"OPENAI_API_KEY": key}, {}):
        with pytest.raises(SettingsError, match="OPENAI_API_KEY contains characters that a key cannot have") as caught:
            chat_model("openai:m", Settings(), environ)
        assert key not in f"{caught.value} {caught.value.hint}"


def test_a_missing_key_is_said_before_anything_is_sent() -> None:
    with pytest.raises(SettingsError, match="needs a key") as caught:
        chat_model("openai:gpt-5-mini", Settings(), {})
    assert "OPENAI_API_KEY " in caught.value.hint
    assert "keyring set codefathom OPENAI_API_KEY" in caught.value.hint
    assert "llm.base_url" in caught.value.hint


# ---- what to do about an error


def hint(name: str, *turns: Turn) -> str:
    """Return what a user is told to do when a server on this machine answers so; without an answer there is none."""
    with serving(*(turns or [Turn()])) as served:
        settings = at(served.base_url)._replace(limits=LimitsSettings(attempts=1))
        if name.endswith("@"):
            name, settings = name + served.base_url, settings._replace(llm=LlmSettings())
        if turns:
            return hint_of(chat_model(name, settings, {}))
    return hint_of(chat_model(name, settings, {}))


def hint_of(model: ChatModel) -> str:
    with pytest.raises(ProviderError) as caught:
        whole(model, ASK)
    return caught.value.hint


@pytest.mark.parametrize(
    ("name", "turns", "parts"),
    [
        ("ollama:qwen:14b", [], ["`ollama serve`", "llm.base_url", "OLLAMA_HOST"]),
        ("ollama:qwen:14b", [Turn([b"not found"], 404)], ["`ollama pull qwen:14b`"]),
        ("ollama:qwen:14b", [Turn([b'{"error": "no such model"}\n'])], ["`ollama pull qwen:14b`"]),
        ("openai:m-1", [], ["is the server running?", "llm.base_url"]),
        ("openai:m-1", [Turn([b"not found"], 404)], ["'m-1'", "llm.model", "llm.base_url"]),
        ("openai:m-1@", [], ["is the server running?", "the address in openai:m-1@http://127.0.0.1:"]),
        ("ollama:m-1@", [], ["`ollama serve`", "the address in ollama:m-1@http://127.0.0.1:"]),
        ("openai:m-1@", [Turn([b"not found"], 404)], ["'m-1'", "correct the address in openai:m-1@http://127.0.0.1:"]),
        ("openai:m-1@", [Turn([b"<html>"])], ["not the address of a model: correct the address in openai:m-1@http"]),
        ("openai:m-1", [Turn([b"no"], 401)], ["OPENAI_API_KEY", "keyring set codefathom OPENAI_API_KEY"]),
    ],
)
def test_hints_name_what_is_meant(name: str, turns: list[Turn], parts: list[str]) -> None:
    said = hint(name, *turns)
    assert [part for part in parts if part not in said] == []
    assert "MODEL" not in said
    assert ("ollama" in said) == name.startswith("ollama")


def test_hints_name_the_section_of_the_settings() -> None:
    chosen = named("openai:m", Settings(), {}, section="embed")
    with serving(Turn([b"no"], 404)) as served:
        http = Connections(Settings(), {}).to(chosen._replace(base_url=served.base_url), Timeouts(2.0, 5.0), 1)
        with pytest.raises(ProviderError) as caught:
            http.post("/embeddings", {})
    assert "embed.model" in caught.value.hint
    assert "embed.base_url" in caught.value.hint


@pytest.mark.parametrize(("section", "part"), [("llm", "llm.window"), ("embed", "lower embed.max_tokens")])
def test_what_a_server_does_not_take_names_the_settings(section: str, part: str) -> None:
    with serving(Turn([b"maximum context length is 512 tokens"], 400)) as served:
        chosen = named(f"openai:m@{served.base_url}", Settings(), {}, section=section)
        with pytest.raises(ProviderError) as caught:
            Connections(Settings(), {}).to(chosen, Timeouts(2.0, 5.0), 1).post("/x", {})
    assert part in caught.value.hint
