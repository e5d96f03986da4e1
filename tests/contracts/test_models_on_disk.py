"""Models in a folder keep the contract of embedders; tiny ones, which the test itself writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.protocols import tiny

from codefathom.providers.base import Embedder
from codefathom.providers.local.onnx import OnnxEmbedder
from codefathom.providers.local.static import StaticEmbedder
from codefathom.providers.local.transformer import Transformer
from codefathom.providers.prefixes import Prefixes
from codefathom.testing import EmbedderContract


class OnDisk(EmbedderContract):
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path) -> None:
        self.path = tmp_path / "tiny"
        self.write(self.path)

    def write(self, folder: Path) -> None:
        raise NotImplementedError


class TestTransformer(OnDisk):
    def write(self, folder: Path) -> None:
        tiny.embedder(folder)

    def make(self) -> Embedder:
        return OnnxEmbedder(Transformer(str(self.path), 1_000), Prefixes())


class TestTransformerOfTheLargest(TestTransformer):
    """Pooled by the largest of each number instead of the mean."""

    def write(self, folder: Path) -> None:
        super().write(folder)
        tiny.say(folder, "1_Pooling/config.json", {"pooling_mode_max_tokens": True, "pooling_mode_mean_tokens": False})


class TestTransformerWithPrefixes(TestTransformer):
    def make(self) -> Embedder:
        return OnnxEmbedder(Transformer(str(self.path), 1_000), Prefixes("query: ", "passage: "))


class TestStatic(OnDisk):
    def write(self, folder: Path) -> None:
        tiny.static(folder)

    def make(self) -> Embedder:
        return StaticEmbedder(str(self.path))


class TestStaticOfHalfNumbers(TestStatic):
    def write(self, folder: Path) -> None:
        tiny.static(folder, {"embeddings": tiny.table().astype(np.float16)})


class TestStaticWithWeights(TestStatic):
    """Fewer vectors than tokens, as after a quantisation of the vocabulary."""

    def write(self, folder: Path) -> None:
        random = np.random.default_rng(3)
        tiny.static(
            folder,
            {
                "weights": random.uniform(0.5, 2.0, len(tiny.VOCABULARY)),
                "mapping": np.arange(len(tiny.VOCABULARY)) % 90,
                "embeddings": (tiny.table()[:90] * 40).astype(np.int8),
            },
        )
