"""The name of a model says whom to ask; nothing leaves the machine that looks like a secret."""

from __future__ import annotations

import pytest

from codefathom.chatting import chat_model, named
from codefathom.errors import SettingsError
from codefathom.settings import LlmSettings, Settings


@pytest.mark.parametrize(
    ("name", "environ", "base_url", "model", "is_remote"),
    [
        ("openai:gpt-5-mini", {}, "https://api.openai.com/v1", "gpt-5-mini", True),
        ("openai:m", {"OPENAI_BASE_URL": "http://localhost:8000/v1/"}, "http://localhost:8000/v1", "m", False),
        ("ollama:qwen2.5-coder:14b", {}, "http://127.0.0.1:11434", "qwen2.5-coder:14b", False),
        ("ollama:m", {"OLLAMA_HOST": "10.0.0.5:11434"}, "http://10.0.0.5:11434", "m", True),
        ("ollama:m", {"OLLAMA_HOST": "http://[::1]:11434"}, "http://[::1]:11434", "m", False),
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
    with pytest.raises(SettingsError, match="names no provider and model") as caught:
        chat_model(name, Settings(), {})
    assert "ollama:…" in caught.value.hint


def test_a_missing_key_is_said_before_anything_is_sent() -> None:
    with pytest.raises(SettingsError, match="needs a key") as caught:
        chat_model("openai:gpt-5-mini", Settings(), {})
    assert "OPENAI_API_KEY" in caught.value.hint
