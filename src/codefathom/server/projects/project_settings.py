"""Settings of a project over HTTP: those that may be changed, the values that may be shown, and their test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from codefathom.compat.setting_names import SETTING_NAMES
from codefathom.config.model_names import model_and_address
from codefathom.config.settings import DeclaredSetting, Settings, declared_settings
from codefathom.errors import FathomError, without_login
from codefathom.project.inspection import check_embedding
from codefathom.project.roles import check_models
from codefathom.server.http.problem_json import ClosedError, RequestError
from codefathom.server.projects.served_engine import ServedEngine
from codefathom.source.secrets import mask
from codefathom.types import Check

# Who tries settings waits for it: whatever the settings say, an answer or its absence is told within these seconds.
_CONNECT_S = 5.0
_ANSWER_S = 20.0


# A store is sent all code of a project, and may be a folder of the server.
_OF_ALL = "mcp.structured"  # there is one list of tools, whatever projects a call asks
_PLACES = ("store.url", "store.collection", "store.project")

Closed: TypeAlias = Literal["", "path", "server", "masking"]


def closed(setting: DeclaredSetting) -> Closed:
    """Return the reason why a setting may not be changed for a project over HTTP, "" if it may.

    Of those that may, some take no more than the server allows: see `served_settings.py`.
    """
    if setting.key.startswith(("server.", "team.")) or setting.key in (*_PLACES, _OF_ALL):
        return "server"
    if setting.key in ("answer.mask_secrets", "source.secrets", "mcp.secrets"):
        return "masking"
    return "path" if setting.rule.local else ""


def names_host(setting: DeclaredSetting) -> bool:
    """Return True if a setting can hold the address of a model."""
    return setting.rule.remote and isinstance(setting.default, str) and not closed(setting)


def check_changes(settings: Mapping[str, object]) -> None:
    """Raise RequestError for what may not be set for a project, or holds a key; the message repeats no value."""
    shut = {setting.key for setting in declared_settings() if closed(setting)}
    for key, value in settings.items():
        if SETTING_NAMES.get(key, key) in shut:
            raise ClosedError(f"{key} cannot be set for a project", hint="set it in the settings of the server")
        if any(map(_has_secret, _texts(value))):
            raise RequestError(
                f"the value of {key} contains a login or a key",
                hint="set keys in the environment or the keyring of the server, such as OPENAI_API_KEY_HOST",
            )


def shown(settings: Mapping[str, object]) -> dict[str, object]:
    """Return settings as they may be shown."""
    declared = {item.key: item for item in declared_settings()}
    return {key: declared[key].shown(value) if key in declared else value for key, value in settings.items()}


def checks(root: str, settings: Settings, revision: str = "") -> tuple[Check, ...]:
    """Return a check for each model of a project under these settings, which are not stored."""
    try:
        with ServedEngine.open(root, settings=in_haste(settings), revision=revision, is_root=True) as engine:
            return (check_embedding(engine.opened), *check_models(engine.opened))
    except FathomError as error:  # such as a kind of store that there is not
        return (Check("settings", False, str(error), error.hint),)


def in_haste(settings: Settings) -> Settings:
    """Return the settings with short limits of time: somebody waits, and a model that is away must be told soon."""
    llm, embed, rerank = settings.llm, settings.embed, settings.rerank
    return settings._replace(
        llm=llm._replace(
            connect_timeout_s=min(llm.connect_timeout_s, _CONNECT_S), read_timeout_s=min(llm.read_timeout_s, _ANSWER_S)
        ),
        embed=embed._replace(timeout_s=min(embed.timeout_s, _ANSWER_S)),
        rerank=rerank._replace(timeout_s=min(rerank.timeout_s, _ANSWER_S)),
        limits=settings.limits._replace(attempts=1),
    )


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        return (value,)
    return [text for text in value if isinstance(text, str)] if isinstance(value, list | tuple) else ()


def _has_secret(text: str) -> bool:
    address = model_and_address(text).address or text
    return without_login(address) != address or mask(text).text != text
