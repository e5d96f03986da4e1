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
    wanted = settings.embed
    kind, path = _kind_and_path(wanted.model, "embed.model")
    try:
        whole: Embedder = StaticEmbedder(path) if kind == "model2vec" else _transformer(path, wanted)
        return shortened(whole, wanted.dimensions, wanted.reduce)
    except ProviderError as error:
        raise SettingsError(f"embed.model = {wanted.model!r}: {error}", hint=error.hint) from error


def reranker(settings: Settings) -> Reranker:
    """Return the reranking model of the settings. Raises SettingsError when it cannot be used."""
    wanted = settings.rerank
    kind, path = _kind_and_path(wanted.model, "rerank.model")
    if kind != "onnx":
        raise SettingsError(
            f"rerank.model = {wanted.model!r} grades nothing", hint="a reranker is read from onnx:FOLDER"
        )
    try:
        return OnnxReranker(Transformer(path, wanted.max_tokens, wanted.threads))
    except ProviderError as error:
        raise SettingsError(f"rerank.model = {wanted.model!r}: {error}", hint=error.hint) from error


def _transformer(path: str, wanted: EmbedSettings) -> OnnxEmbedder:
    model = Transformer(path, wanted.max_tokens, wanted.threads)
    known = prompts(model.folder)
    return OnnxEmbedder(
        model,
        Prefixes(
            query=known.query if wanted.query_prefix == AUTO else wanted.query_prefix,
            document=known.document if wanted.document_prefix == AUTO else wanted.document_prefix,
        ),
    )


def _kind_and_path(name: str, setting: str) -> tuple[str, str]:
    kind, _, folder = name.partition(":")
    path = os.path.expanduser(folder.strip())
    if not os.path.isabs(path):
        # Whose folder it would be relative to: the server's, that of the project, or that of the settings file?
        raise SettingsError(f"{setting} = {name!r} names no folder", hint=f"write it as {kind}:~/models/NAME")
    missing = [library for library in _LIBRARIES[kind] if find_spec(library) is None]
    if missing:
        raise SettingsError(f"{setting} = {name!r} needs {' and '.join(missing)}", hint=EXTRA)
    return kind, path
