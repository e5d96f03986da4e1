"""The check that an index can be opened and asked under some settings. Nothing is opened, and nothing is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from codefathom.config.model_names import BUNDLED, is_on_disk
from codefathom.config.settings import Settings
from codefathom.config.windows import check_room
from codefathom.errors import SettingsError
from codefathom.project.opening import parsing_model
from codefathom.project.roles import ROLES
from codefathom.providers.http import Timeouts
from codefathom.remote.chat_models import Connections
from codefathom.remote.on_disk import kind_and_path
from codefathom.system.adapters import VECTOR_STORES, load

_TIMEOUTS = Timeouts(1.0, 1.0)  # of connections that are not used


def faults(settings: Settings, variables: Mapping[str, str], *, keys: bool) -> tuple[SettingsError, ...]:
    """Return an error for each store, model or address that cannot be used.

    With `keys` also for what keeps from questions alone: a missing key, a window without room for sources.
    Whether a model answers is another question: `project/roles.py`.
    """
    return tuple(error for check in _checks(settings, variables, keys) if (error := _error_of(check)) is not None)


def _error_of(check: Callable[[], object]) -> SettingsError | None:
    try:
        check()
    except SettingsError as error:
        return error
    return None


def _checks(settings: Settings, variables: Mapping[str, str], keys: bool) -> Iterator[Callable[[], object]]:
    yield partial(load, "store.vectors", settings.store.vectors, VECTOR_STORES)
    connections = Connections(settings, variables)
    for section, name in _models(settings):
        yield partial(_check_model, connections, section, name, keys)
    embed = settings.embed
    if is_on_disk(embed.model):
        yield partial(kind_and_path, embed.model, "embed.model")
    if "llm" in settings.parse.chain:
        yield partial(parsing_model, settings)
    if keys:
        yield partial(check_room, settings)


def _models(settings: Settings) -> list[tuple[str, str]]:
    """Return the models behind HTTP that the settings name, each with its section."""
    embed, rerank = settings.embed.model, settings.rerank.model
    names = {settings.llm.of(role) for role in (*ROLES, "index")} - {""}
    models = [("llm", name) for name in sorted(names)]
    models += [("embed", embed)] if embed != BUNDLED and not is_on_disk(embed) else []
    models += [("rerank", rerank)] if rerank and not is_on_disk(rerank) else []
    return models


def _check_model(connections: Connections, section: str, name: str, keys: bool) -> None:
    chosen = connections.named(name, section=section)
    if keys:
        connections.to(chosen, _TIMEOUTS)
