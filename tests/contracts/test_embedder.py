"""Every embedder keeps the contract."""

from __future__ import annotations

from codefathom.providers.base import Embedder
from codefathom.providers.bundled import BundledEmbedder
from codefathom.testing import EmbedderContract, FakeEmbedder


class TestBundled(EmbedderContract):
    def make(self) -> Embedder:
        return BundledEmbedder()


class TestFake(EmbedderContract):
    def make(self) -> Embedder:
        return FakeEmbedder()


class TestFakeOfAnotherSize(EmbedderContract):
    def make(self) -> Embedder:
        return FakeEmbedder(dimensions=64)
