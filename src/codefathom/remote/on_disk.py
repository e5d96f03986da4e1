"""From `onnx:FOLDER` and `model2vec:FOLDER` to models on this disk; nothing is downloaded or sent."""

from __future__ import annotations

import os
from importlib.util import find_spec

from codefathom.config.settings import EmbedSettings, Settings
from codefathom.errors import ProviderError, SettingsError
from codefathom.providers.base import Embedder, Reranker
from codefathom.providers.local.model_folder import EXTRA
from codefathom.providers.local.onnx import OnnxEmbedder, OnnxReranker, prompts
from codefathom.providers.local.reduce import shortened
from codefathom.providers.local.static import StaticEmbedder
from codefathom.providers.local.transformer import Transformer
from codefathom.providers.prefixes import AUTO, Prefixes

_LIBRARIES = {"onnx": ("onnxruntime", "tokenizers"), "model2vec": ("tokenizers",)}


def embedder(settings: Settings) -> Embedder:
    """Return the embedding model of the settings. Raises SettingsError when it cannot be used."""
    embed = settings.embed
    kind, path = kind_and_path(embed.model, "embed.model")
    try:
        whole: Embedder = StaticEmbedder(path) if kind == "model2vec" else _transformer(path, embed)
        return shortened(whole, embed.dimensions, embed.reduce)
    except ProviderError as error:
        raise SettingsError(f"embed.model = {embed.model!r}: {error}", hint=error.hint) from error


def reranker(settings: Settings) -> Reranker:
    """Return the reranking model of the settings. Raises SettingsError when it cannot be used."""
    rerank = settings.rerank
    kind, path = kind_and_path(rerank.model, "rerank.model")
    if kind != "onnx":
        raise SettingsError(
            f"rerank.model = {rerank.model!r} cannot grade texts", hint="a reranker is read from onnx:FOLDER"
        )
    try:
        return OnnxReranker(Transformer(path, rerank.max_tokens, rerank.threads))
    except ProviderError as error:
        raise SettingsError(f"rerank.model = {rerank.model!r}: {error}", hint=error.hint) from error


def _transformer(path: str, embed: EmbedSettings) -> OnnxEmbedder:
    model = Transformer(path, embed.max_tokens, embed.threads)
    defaults = prompts(model.folder)
    return OnnxEmbedder(
        model,
        Prefixes(
            query=defaults.query if embed.query_prefix == AUTO else embed.query_prefix,
            document=defaults.document if embed.document_prefix == AUTO else embed.document_prefix,
        ),
    )


def kind_and_path(name: str, setting: str) -> tuple[str, str]:
    """Return kind and folder of a model that `setting` names. Raises SettingsError."""
    kind, _, folder = name.partition(":")
    path = os.path.expanduser(folder.strip())
    if not os.path.isabs(path):
        # Whose folder it would be relative to: the server's, that of the project, or that of the settings file?
        raise SettingsError(
            f"{setting} = {name!r} does not name a folder by its whole path", hint=f"write it as {kind}:~/models/NAME"
        )
    missing = [library for library in _LIBRARIES[kind] if find_spec(library) is None]
    if missing:
        raise SettingsError(f"{setting} = {name!r} needs {' and '.join(missing)}", hint=EXTRA)
    return kind, path
