"""Models in a folder: what is read from it, and what is said of a folder that holds none."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.protocols import tiny

from codefathom.config.settings import EmbedSettings, RerankSettings, Settings
from codefathom.errors import ProviderError, SettingsError
from codefathom.providers.base import Embedder
from codefathom.providers.local.model_folder import ModelFolder
from codefathom.providers.local.onnx import OnnxEmbedder, prompts
from codefathom.providers.local.static import StaticEmbedder
from codefathom.providers.local.transformer import Transformer
from codefathom.providers.prefixes import Prefixes
from codefathom.remote import on_disk
from codefathom.testing import rows_of

TEXT = "read a file"


def chosen(name: str, **more: object) -> Settings:
    return Settings(embed=EmbedSettings(model=name)._replace(**more))


def onnx(folder: Path, **more: object) -> Embedder:
    return on_disk.embedder(chosen(f"onnx:{folder}", **more))


def row(model: Embedder, text: str = TEXT) -> list[float]:
    return rows_of(model.embed([text], "document"))[0]


def cosine(one: list[float], other: list[float]) -> float:
    return sum(x * y for x, y in zip(one, other, strict=True))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny.embedder(tmp_path / "tiny")


# ---- pooling


def tokens_of(text: str) -> list[int]:
    return [tiny.VOCABULARY[word] for word in ("[CLS]", *text.split(), "[SEP]")]


@pytest.mark.parametrize(
    ("said", "pooled"),
    [
        ({}, lambda rows: rows.mean(axis=0)),
        ({"pooling_mode_mean_tokens": True, "include_prompt": True}, lambda rows: rows.mean(axis=0)),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, lambda rows: rows[0]),
        ({"pooling_mode_lasttoken": True}, lambda rows: rows[-1]),
        ({"pooling_mode_max_tokens": True}, lambda rows: rows.max(axis=0)),
        ({"pooling_mode": "cls"}, lambda rows: rows[0]),
        ({"pooling_mode": "mean"}, lambda rows: rows.mean(axis=0)),
    ],
)
def test_tokens_are_pooled_as_the_folder_says(
    folder: Path, said: object, pooled: Callable[[np.ndarray], np.ndarray]
) -> None:
    tiny.say(folder, "1_Pooling/config.json", said)
    expected = pooled(tiny.table()[tokens_of(TEXT)])
    expected = expected / np.linalg.norm(expected)
    assert row(onnx(folder)) == pytest.approx(expected.tolist(), abs=1e-6)


@pytest.mark.parametrize(
    "said",
    [
        {"pooling_mode_weightedmean_tokens": True},
        {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True},
        {"pooling_mode": "weightedmean"},
    ],
)
def test_another_pooling_is_refused(folder: Path, said: object) -> None:
    tiny.say(folder, "1_Pooling/config.json", said)
    with pytest.raises(SettingsError, match="pools tokens by") as caught:
        onnx(folder)
    assert "mean_tokens, cls_token" in caught.value.hint


def test_an_export_that_pools_by_itself_is_taken_as_it_is(tmp_path: Path) -> None:
    model = onnx(tiny.embedder(tmp_path / "tiny", output="token_embeddings"))
    assert row(model) == row(onnx(tiny.embedder(tmp_path / "other")))


# ---- what is read


def test_text_is_cut_at_the_least_of_what_is_said(folder: Path) -> None:
    assert Transformer(str(folder), 8_000).max_tokens == 96
    tiny.say(folder, "sentence_bert_config.json", {"max_seq_length": 64})
    tiny.say(folder, "tokenizer_config.json", {"model_max_length": 1_000_000_000_000_000_019_884_624_838_656})
    assert Transformer(str(folder), 8_000).max_tokens == 64
    assert Transformer(str(folder), 10).max_tokens == 10
    long = " ".join(["read"] * 8 + ["socket"] * 50)
    assert row(onnx(folder, max_tokens=10), long) == pytest.approx(row(onnx(folder), "read " * 8), abs=1e-6)


def test_positions_of_a_roberta_begin_at_two(tmp_path: Path) -> None:
    folder = tiny.embedder(tmp_path / "tiny", max_position_embeddings=66, model_type="xlm-roberta")
    assert Transformer(str(folder), 8_000).max_tokens == 64


def test_the_length_of_the_vectors_is_known_without_the_model(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"no model")
    assert onnx(folder).dimensions == tiny.DIMENSIONS


def test_the_length_of_the_vectors_is_asked_of_the_model_where_the_folder_does_not_say(folder: Path) -> None:
    (folder / "config.json").unlink()
    assert onnx(folder).dimensions == tiny.DIMENSIONS


def test_a_wrong_length_is_an_error(folder: Path) -> None:
    tiny.say(folder, "config.json", {"hidden_size": 23})
    with pytest.raises(ProviderError, match="24 numbers, but its folder says 23"):
        row(onnx(folder))


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_nothing(folder: Path, threads: int) -> None:
    assert row(onnx(folder, threads=threads)) == pytest.approx(row(onnx(folder)), abs=1e-6)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["model_quantized.onnx", "onnx/model.onnx"], "onnx/model.onnx"),
        (["onnx/model_quantized.onnx", "onnx/model_O4.onnx"], "onnx/model_quantized.onnx"),
        (["model.onnx", "onnx/model.onnx"], "model.onnx"),
        (["onnx/model_qint8_avx512.onnx"], "onnx/model_qint8_avx512.onnx"),
    ],
)
def test_the_best_of_several_files_is_taken(tmp_path: Path, names: list[str], found: str) -> None:
    folder = tmp_path / "many"
    for name in names:
        tiny.embedder(folder, file=name, hidden_size=tiny.DIMENSIONS)
        if name != found:
            (folder / name).write_bytes(b"no model")
    assert any(row(onnx(folder)))


def test_a_file_can_be_named(folder: Path) -> None:
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "mine.onnx")
    (folder / "onnx" / "other.onnx").write_bytes(b"no model")
    assert any(row(onnx(folder / "onnx" / "mine.onnx")))
    with pytest.raises(SettingsError, match="several models: "):
        onnx(folder)


def test_the_name_changes_with_what_decides(folder: Path, tmp_path: Path) -> None:
    names = {onnx(folder).name, onnx(folder).name, onnx(folder, max_tokens=20).name}
    names.add(onnx(folder, document_prefix="passage: ").name)
    tiny.say(folder, "1_Pooling/config.json", {"pooling_mode_cls_token": True})
    names.add(onnx(folder).name)
    (folder / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes() + b"\n")
    names.add(onnx(folder).name)
    assert len(names) == 5
    assert {name.partition("#")[0] for name in names} == {"onnx:tiny"}


def test_a_folder_of_a_cache_is_named_by_its_model(tmp_path: Path) -> None:
    folder = tmp_path / "models--minishlab--potion-code-16M" / "snapshots" / "0a1b2c"
    folder.mkdir(parents=True)
    assert ModelFolder(str(folder)).name == "minishlab/potion-code-16M"


# ---- prefixes


@pytest.mark.parametrize(
    ("said", "name", "expected"),
    [
        ({"prompts": {"query": "find: ", "document": "code: "}}, "e5-small", Prefixes("find: ", "code: ")),
        ({"prompts": {"query": "find: ", "passage": "code: "}}, "tiny", Prefixes("find: ", "code: ")),
        ({"prompts": {"query": "", "document": ""}}, "e5-small", Prefixes("query: ", "passage: ")),
        ({"prompts": None}, "tiny", Prefixes()),
        ({}, "multilingual-e5-small", Prefixes("query: ", "passage: ")),
    ],
)
def test_prefixes_are_those_of_the_folder(tmp_path: Path, said: object, name: str, expected: Prefixes) -> None:
    folder = tiny.embedder(tmp_path / name)
    tiny.say(folder, "config_sentence_transformers.json", said)
    assert prompts(ModelFolder(str(folder))) == expected


def test_prefixes_stand_before_the_texts(folder: Path) -> None:
    bare, made = onnx(folder), onnx(folder, query_prefix="query ", document_prefix="passage ")
    assert row(made) == row(bare, "passage read a file")
    assert rows_of(made.embed([TEXT], "query"))[0] == row(bare, "query read a file")


def test_the_name_in_the_configuration_tells_the_family(tmp_path: Path) -> None:
    folder = tiny.embedder(tmp_path / "mine", _name_or_path="intfloat/e5-base-v2")
    assert prompts(ModelFolder(str(folder))).document == "passage: "


# ---- faults


@pytest.mark.parametrize(
    ("spoil", "problem", "hint"),
    [
        (lambda folder: (folder / "model.onnx").unlink(), "no ONNX model", "download model.onnx"),
        (lambda folder: (folder / "config.json").write_text("{"), "cannot read", "download the model again"),
        (
            lambda folder: tiny.say(folder, "modules.json", [{"type": "sentence_transformers.models.Dense"}]),
            "a dense layer",
            "without one",
        ),
    ],
)
def test_a_folder_without_a_model_is_told_of_at_once(
    folder: Path, spoil: Callable[[Path], object], problem: str, hint: str
) -> None:
    spoil(folder)
    with pytest.raises(SettingsError, match=problem) as caught:
        onnx(folder)
    assert str(caught.value).startswith("embed.model = 'onnx:")
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda folder: (folder / "model.onnx").write_bytes(b"no model"), "cannot load"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "no tokenizer.json"),
        (lambda folder: (folder / "tokenizer.json").write_text("[1]"), "cannot use"),
        (lambda folder: tiny.embedder(folder, output="logits"), "has the outputs logits, but no vectors of tokens"),
    ],
)
def test_what_only_the_model_shows_is_told_when_it_is_asked(
    folder: Path, spoil: Callable[[Path], object], problem: str
) -> None:
    spoil(folder)
    model = onnx(folder)
    with pytest.raises(ProviderError, match=problem) as caught:
        row(model)
    assert caught.value.hint


def test_an_embedder_that_is_a_reranker_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="no vectors of tokens") as caught:
        row(onnx(tiny.reranker(tmp_path / "tiny")))
    assert "rerank.model" in caught.value.hint


def test_inputs_that_are_no_text_are_refused(folder: Path) -> None:
    path = folder / "model.onnx"
    path.write_bytes(path.read_bytes().replace(b"attention_mask", b"past_key_value"))
    with pytest.raises(ProviderError, match="needs past_key_value, which is not text"):
        row(onnx(folder))


def test_weights_without_an_export_are_told_so(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no ONNX model") as caught:
        onnx(tiny.static(tmp_path / "tiny"))
    assert "optimum-cli" in caught.value.hint


@pytest.mark.parametrize("kind", ["onnx", "model2vec"])
@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_a_missing_extra_is_named(folder: Path, kind: str, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    path = folder if kind == "onnx" else tiny.static(folder.parent / "static")
    if (kind, library) == ("model2vec", "onnxruntime"):
        assert any(row(on_disk.embedder(chosen(f"{kind}:{path}"))))
        return
    with pytest.raises(SettingsError, match=f"needs {library}") as caught:
        on_disk.embedder(chosen(f"{kind}:{path}"))
    assert "codefathom[onnx]" in caught.value.hint


@pytest.mark.parametrize("name", ["onnx:", "onnx:models/e5", "model2vec:potion", "model2vec:minishlab/potion-code-16M"])
def test_a_name_without_a_whole_path_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="does not name a folder by its whole path") as caught:
        on_disk.embedder(chosen(name))
    assert "~/models/" in caught.value.hint


def test_a_folder_below_home_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.setenv("USERPROFILE", str(folder.parent))
    assert on_disk.embedder(chosen("onnx:~/tiny")).name.startswith("onnx:tiny#")
    with pytest.raises(SettingsError, match="no such folder"):
        on_disk.embedder(chosen("onnx:~/none"))


def test_shorter_vectors(folder: Path) -> None:
    assert onnx(folder, dimensions=8, reduce="truncate").dimensions == 8
    assert onnx(folder, dimensions=8).dimensions == 8  # projected, as this model cannot be asked for fewer


# ---- model2vec


def static(folder: Path) -> StaticEmbedder:
    return StaticEmbedder(str(folder))


def test_a_static_row_is_the_mean_of_its_tokens(tmp_path: Path) -> None:
    total = tiny.table()[[tiny.VOCABULARY[word] for word in TEXT.split()]].sum(axis=0)
    expected = (total / np.linalg.norm(total)).tolist()
    assert row(static(tiny.static(tmp_path / "one"))) == pytest.approx(expected, abs=1e-6)
    # As sentence-transformers keeps it, unknown words and all.
    other = tiny.static(tmp_path / "two", {"embedding.weight": tiny.table().astype(np.float64)})
    assert row(static(other), "read zzz a \ud800 file") == pytest.approx(expected, abs=1e-6)


def test_a_mapping_and_weights_are_followed(tmp_path: Path) -> None:
    weights = np.linspace(0.5, 2.0, len(tiny.VOCABULARY)).astype(np.float32)
    mapping = (np.arange(len(tiny.VOCABULARY)) * 3) % 80
    tensors = {"embeddings": tiny.table()[:80].astype(np.float16), "weights": weights, "mapping": mapping}
    tokens = [tiny.VOCABULARY[word] for word in TEXT.split()]
    total = sum(weights[token] * tensors["embeddings"][mapping[token]].astype(float) for token in tokens)
    expected = (total / np.linalg.norm(total)).tolist()
    assert row(static(tiny.static(tmp_path / "tiny", tensors))) == pytest.approx(expected, abs=1e-5)


def test_static_text_is_cut_where_the_folder_says(tmp_path: Path) -> None:
    model = static(tiny.static(tmp_path / "tiny", max_length=2))
    assert cosine(row(model, "read file socket socket"), row(model, "read file")) == pytest.approx(1.0)


def test_weights_in_a_folder_of_their_own_are_found(tmp_path: Path) -> None:
    inner = tiny.static(tmp_path / "tiny" / "0_StaticEmbedding")
    (inner / "config.json").rename(tmp_path / "tiny" / "config.json")
    assert any(row(static(tmp_path / "tiny")))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "cannot read"),
        (b"\xff" * 40, "cannot read"),
        (tiny.safetensors({"embeddings": tiny.table()})[:-9], "cut off"),
        (tiny.safetensors({"other": tiny.table()}), "holds other, but no static embeddings"),
        (tiny.safetensors({"embeddings": tiny.table()[0]}), "no static embeddings"),
        (tiny.safetensors({"embeddings": tiny.table() > 0}), "in an unknown number format"),
        (b"\x02\0\0\0\0\0\0\0[]", "cannot read"),
        (b"\x0a\0\0\0\0\0\0\0" + b'{"a": {}} ', "cannot read"),
    ],
)
def test_a_damaged_static_model_is_told_of_at_once(tmp_path: Path, content: bytes, problem: str) -> None:
    folder = tiny.static(tmp_path / "tiny")
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(SettingsError, match=problem) as caught:
        on_disk.embedder(chosen(f"model2vec:{folder}"))
    assert caught.value.hint


def test_vectors_for_fewer_tokens_than_the_tokenizer_has_are_an_error(tmp_path: Path) -> None:
    model = static(tiny.static(tmp_path / "tiny", {"embeddings": tiny.table()[:8]}))
    with pytest.raises(ProviderError, match="has no vector for token"):
        row(model, "read a socket")


def test_numbers_that_are_none_are_an_error(tmp_path: Path) -> None:
    model = static(tiny.static(tmp_path / "tiny", {"embeddings": np.full_like(tiny.table(), math.nan)}))
    with pytest.raises(ProviderError, match="not a finite number"):
        row(model)


# ---- rerankers


def test_a_reranker_is_read_from_a_folder(tmp_path: Path) -> None:
    folder = tiny.reranker(tmp_path / "tiny")
    model = on_disk.reranker(Settings(rerank=RerankSettings(model=f"onnx:{folder}")))
    assert model.name == "onnx:tiny"
    near, far = model.scores("read json", ["read json quickly", "socket"])
    assert near > far


def test_a_static_model_is_no_reranker(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot grade texts"):
        on_disk.reranker(Settings(rerank=RerankSettings(model=f"model2vec:{tmp_path}")))


def test_the_configuration_of_a_folder_may_be_a_list(folder: Path) -> None:
    (folder / "modules.json").write_text(json.dumps(["odd", {"type": 3}]))
    assert any(row(onnx(folder)))
    assert isinstance(onnx(folder), OnnxEmbedder)
