"""Which language model is asked in which role, whether it answers, and what leaves this machine on the way to it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from codefathom.config.model_names import BUNDLED, is_on_disk, shown_model
from codefathom.config.settings import Settings, StoreSettings
from codefathom.errors import ProviderError, SettingsError, without_login
from codefathom.facts.reasons import (
    EMBEDDER_ANSWERED,
    EMBEDDING_MODEL,
    MODEL_ANSWERED,
    MODEL_ANSWERED_AS,
    MODEL_FOR,
    NO_MODEL_SET,
    RERANKING_MODEL,
    Note,
    Value,
)
from codefathom.project.location import Location
from codefathom.project.opening import OpenedProject, index_model
from codefathom.providers.base import Ask, ChatModel, Message, Reranker, whole
from codefathom.system.adapters import VECTOR_STORES
from codefathom.types import Check

if TYPE_CHECKING:
    from codefathom.remote.chat_models import Connections

# Each may have a model of its own.
ROLES = ("answer", "select", "judge", "excerpt", "agent")


def model_of(role: str, settings: Settings, chat_model: Callable[[str], ChatModel]) -> ChatModel | None:
    """Return the model of a role, None when none is configured. Raises SettingsError."""
    name = settings.llm.of(role)
    return chat_model(name) if name else None


def masks_secrets(place: Location) -> bool:
    """Return True if secrets are taken out of texts, since they may leave the machine."""
    return place.settings.answer.mask_secrets and bool(_remote(_names(place).values(), place))


def leaving(place: Location, store: StoreSettings | None = None) -> str:
    """Say in one sentence what leaves this machine, and to where. `store` is the one in force, if it is known."""
    names = _names(place)
    embed = place.settings.embed.model
    destinations = _remote((name for role, name in names.items() if role != "index"), place)
    indexing = _remote((names.get("index", ""),), place)
    embedding = "" if embed == BUNDLED or is_on_disk(embed) else _remote((embed,), place, section="embed")
    secrets = "secrets masked" if place.settings.answer.mask_secrets else "secrets included"
    parts = [f"questions and the excerpts they need go to {destinations}, {secrets}"] if destinations else []
    parts += [f"text of indexed files goes to {indexing}, secrets masked"] if indexing else []
    rerank = place.settings.rerank.model
    reranking = "" if is_on_disk(rerank) else _remote((rerank,), place, section="rerank")
    parts += [f"every query and the best excerpts go to {reranking}, {secrets}"] if reranking else []
    parts += [f"all indexed text and every query go to {embedding}, {secrets}"] if embedding else []
    storing = _remote_store(store or place.settings.store, place)
    parts += [f"all indexed text and the vector of every query go to {storing}, {_masked(place)}"] if storing else []
    nothing = "the language models run on it" if names else "no language model is configured"
    return "; ".join(parts) or f"nothing leaves this machine: {nothing}"


def _remote_store(store: StoreSettings, place: Location) -> str:
    """Return the store of the vectors if its server is on another machine."""
    from codefathom.providers.http import is_local

    if not VECTOR_STORES[store.vectors].key_variable:
        return ""
    address = store.url
    if store.vectors == "postgres" and "://" not in address:  # libpq takes it from there
        hosts = re.findall(r"\bhost(?:addr)?\s*=\s*'?([^\s']*)", address) or [place.variables.get("PGHOST", "")]
        address = f"postgresql://{hosts[0]}" if hosts[0] else ""
    is_far = "://" in address and not is_local(address) and not re.match("postgres(ql)?:///", address)
    return f"{store.vectors} at {without_login(address)}" if is_far else ""


def _masked(place: Location) -> str:
    return "secrets masked" if place.settings.source.secrets == "mask" else "secrets included"


def _names(place: Location) -> dict[str, str]:
    """Return the models that are asked, by role."""
    names = {role: place.settings.llm.of(role) for role in ROLES} | {"index": index_model(place.settings)}
    return {role: name for role, name in names.items() if name}


def _remote(names: Iterable[str], place: Location, *, section: str = "llm") -> str:
    """Return those of the models that are on other machines, and where."""
    if not any(names := list(names)):
        return ""
    from codefathom.remote.chat_models import named  # with all that speaks to other machines

    chosen = {named(name, place.settings, place.variables, section=section) for name in names if name}
    places = {
        f"{f'{one.provider}:{one.model}' if one.model else 'the server'} at {without_login(one.base_url)}"
        for one in chosen
        if one.is_remote
    }
    return ", ".join(sorted(places))


def check_models(opened: OpenedProject) -> tuple[Check, ...]:
    """Ask the model of each role for one word."""
    by_name: dict[str, list[str]] = {}
    for role, name in _names(opened.place).items():
        by_name.setdefault(name, []).append(role)
    rerank = opened.place.settings.rerank.model
    reranking = (_check_reranker(opened.reranker, rerank),) if rerank else ()
    if not by_name:
        return (Check("language models", True, Note(NO_MODEL_SET)), *reranking)
    checks = [_check_model(opened.chat_model, name, roles) for name, roles in by_name.items()]
    return (*checks, *reranking, Check("what leaves", True, leaving(opened.place, opened.store)))


def ask_models(settings: Settings, variables: Mapping[str, str]) -> tuple[Check, ...]:
    """Ask each model that some settings name for one word, one vector or one grade; no index is opened."""
    from codefathom.remote.chat_models import Connections  # with all that speaks to other machines
    from codefathom.remote.reranking_model import reranker

    rerank = settings.rerank.model
    names = {role: settings.llm.of(role) for role in ROLES}
    by_name = {name: [role for role, other in names.items() if other == name] for name in names.values() if name}
    with closing(Connections(settings, variables)) as connections:
        checks = [_check_embedder(settings, connections)]
        checks += [_check_model(connections.chat_model, name, roles) for name, roles in by_name.items()]
        if rerank and not is_on_disk(rerank):
            checks.append(_check_reranker(lambda: reranker(settings, connections), rerank))
    return tuple(checks)


def _check_embedder(settings: Settings, connections: Connections) -> Check:
    from codefathom.remote.embedding_model import embedder
    from codefathom.remote.on_disk import kind_and_path

    said, started = shown_model(settings.embed.model), time.perf_counter()
    try:
        if is_on_disk(settings.embed.model):  # it is loaded by who embeds
            kind_and_path(settings.embed.model, "embed.model")
            return Check(Note(EMBEDDING_MODEL), True, said)
        model = embedder(settings, connections, lambda _: 0)
        model.embed(["read a file"], "query")
    except (ProviderError, SettingsError) as error:
        return Check(Note(EMBEDDING_MODEL), False, f"{said}: {error}", error.hint)
    took_ms = 1000 * (time.perf_counter() - started)
    values: dict[str, Value] = {"model": said, "ms": round(took_ms), "dimensions": model.dimensions}
    return Check(Note(EMBEDDING_MODEL), True, Note(EMBEDDER_ANSWERED, values))


def _check_model(chat_model: Callable[[str], ChatModel], name: str, roles: Sequence[str]) -> Check:
    started = time.perf_counter()
    label, said = Note(MODEL_FOR, {"roles": tuple(roles)}), shown_model(name)
    try:
        reply = whole(chat_model(name), Ask([Message("user", "Say OK.")], max_tokens=16))
    except (ProviderError, SettingsError) as error:
        return Check(label, False, f"{said}: {error}", error.hint)
    took_s = time.perf_counter() - started
    answered: dict[str, Value] = {"model": said, "seconds": round(took_s, 1)}
    if not reply.model:
        return Check(label, True, Note(MODEL_ANSWERED, answered))
    return Check(label, True, Note(MODEL_ANSWERED_AS, {**answered, "name": reply.model}))


def _check_reranker(reranker: Callable[[], Reranker], name: str) -> Check:
    started = time.perf_counter()
    said = shown_model(name)
    try:
        near, far = reranker().scores("read a file", ["def read(path): return open(path).read()", "class Colour:"])
    except (ProviderError, SettingsError) as error:
        return Check(Note(RERANKING_MODEL), False, f"{said}: {error}", error.hint)
    took_s = time.perf_counter() - started
    hint = "" if near > far else "it grades what fits no better than what does not; is it a reranking model?"
    return Check(Note(RERANKING_MODEL), near > far, f"{said} graded two texts in {took_s:.1f} s", hint)
