"""From `embed.model` to an embedding model: the bundled one, or one behind HTTP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Literal, cast

from codefathom.config.model_names import BUNDLED
from codefathom.config.settings import EmbedSettings, Settings
from codefathom.errors import ProviderError, without_login
from codefathom.providers.base import Embedder
from codefathom.providers.batching import BatchLimits
from codefathom.providers.embedding import (
    Calls,
    OllamaEmbeddings,
    OpenAIEmbeddings,
    Options,
    RemoteEmbedder,
)
from codefathom.providers.http import Timeouts
from codefathom.providers.local.bundled import BundledEmbedder
from codefathom.providers.local.reduce import shortened
from codefathom.providers.prefixes import AUTO, Prefixes, known_prefixes
from codefathom.remote.chat_models import Connections
from codefathom.remote.masking import MaskingModel
from codefathom.types import Matrix

# Somebody waits for the answer to a question: a search by words alone is better than many attempts.
_ATTEMPTS_FOR_A_QUESTION = 2


def embedder(settings: Settings, connections: Connections, dimensions_of: Callable[[str], int]) -> Embedder:
    """Return the embedding model of the settings.

    `dimensions_of` gives the length of the stored vectors of a model, 0 if there are none. A model that cannot be
    reached, and that has no stored vectors, becomes one that always fails: search by words and names still works.
    Raises SettingsError.
    """
    embed = settings.embed
    whole = BundledEmbedder() if embed.model == BUNDLED else _remote(settings, connections, dimensions_of)
    return whole if isinstance(whole, _Away) else shortened(whole, embed.dimensions, embed.reduce)


def _remote(settings: Settings, connections: Connections, dimensions_of: Callable[[str], int]) -> Embedder:
    embed = settings.embed
    chosen = connections.named(embed.model, section="embed")
    timeouts = Timeouts(settings.llm.connect_timeout_s, embed.timeout_s)
    calls = Calls(
        query=connections.to(chosen, timeouts, _ATTEMPTS_FOR_A_QUESTION),
        document=connections.to(chosen, timeouts),
        first=connections.to(chosen, timeouts, 1_000 if connections.is_patient else _ATTEMPTS_FOR_A_QUESTION),
    )
    endpoint = OllamaEmbeddings(chosen.model) if chosen.provider == "ollama" else OpenAIEmbeddings(chosen.model)
    prefixes = _prefixes(embed, chosen.model)
    dimensions = embed.dimensions if embed.reduce == "ask" else 0
    # An own server may serve any model under a name; one of Ollama has the same under the same name everywhere.
    is_own = chosen.provider == "openai" and (chosen.has_own_address or embed.base_url)
    where = f"@{without_login(chosen.base_url)}" if is_own else ""
    name = f"{chosen.provider}:{chosen.model}{where}{f':{dimensions}' if dimensions else ''}{_mark(prefixes)}"
    masks = chosen.is_remote and settings.answer.mask_secrets
    batching = BatchLimits(embed.batch, embed.batch_tokens, embed.max_tokens)
    model = RemoteEmbedder(name, endpoint, calls, Options(prefixes, batching, dimensions, dimensions_of(name)))
    try:
        _ = model.dimensions
    except ProviderError as error:
        return _Away(name, error)
    return MaskingModel(model) if masks else model


def _prefixes(embed: EmbedSettings, model: str) -> Prefixes:
    defaults = known_prefixes(model)
    return Prefixes(
        query=defaults.query if embed.query_prefix == AUTO else embed.query_prefix,
        document=defaults.document if embed.document_prefix == AUTO else embed.document_prefix,
    )


def _mark(prefixes: Prefixes) -> str:
    """Return a part of the name: with another prefix before the texts, their vectors are others too."""
    return f"#{blake2b(prefixes.document.encode(), digest_size=3).hexdigest()}" if prefixes.document else ""


def is_away(model: Embedder) -> bool:
    """Return True for a model that could not be reached when it was first needed."""
    return isinstance(model, _Away)


class _Away:
    """A model that could not be reached when it was first needed."""

    dimensions = 1  # nothing will be stored

    def __init__(self, name: str, error: ProviderError) -> None:
        self.name = name
        self._error = error

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> Matrix:
        if not texts:
            return cast(Matrix, memoryview(b"").cast("f"))
        raise self._error
