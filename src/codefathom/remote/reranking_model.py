"""From `rerank.model` to a reranking model behind HTTP."""

from __future__ import annotations

from codefathom.config.settings import Settings
from codefathom.errors import without_login
from codefathom.providers.base import Reranker
from codefathom.providers.http import Timeouts
from codefathom.providers.reranking import RemoteReranker
from codefathom.remote.chat_models import Connections
from codefathom.remote.masking import MaskingModel

# Somebody waits for the answer to a question: an answer without grades is better than many attempts.
_ATTEMPTS = 2


def reranker(settings: Settings, connections: Connections) -> Reranker:
    """Return the reranking model of the settings. Nothing is sent yet. Raises SettingsError."""
    rerank = settings.rerank
    chosen = connections.named(rerank.model, section="rerank")
    http = connections.to(chosen, Timeouts(settings.llm.connect_timeout_s, rerank.timeout_s), _ATTEMPTS)
    name = f"{chosen.model or 'the reranker'} at {without_login(chosen.base_url)}"
    model = RemoteReranker(name, chosen.model, http, rerank.max_tokens)
    return MaskingModel(model) if chosen.is_remote and settings.answer.mask_secrets else model
