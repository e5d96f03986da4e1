"""Tiny models as folders on the disk: an embedder and a cross-encoder in ONNX, and one of model2vec.

They think in words: near is what shares words.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

_TEXTS = (
    "read write a file parse the configuration open socket def text return split select name from users json quickly",
    "listens cache of number how is price order computed total retry payment failed label print query passage",
    "question length word",
)
WORDS = " ".join(_TEXTS).split()
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
VOCABULARY = {word: place for place, word in enumerate((*SPECIAL, *dict.fromkeys(WORDS), *map(str, range(200))))}
DIMENSIONS = 24


def tokenizer(folder: Path) -> None:
    """Write a tokenizer.json as those of BERT are: cut, filled up, and with marks around each text."""
    made = Tokenizer(models.WordLevel(VOCABULARY, unk_token="[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, VOCABULARY[name]) for name in ("[CLS]", "[SEP]")],
    )
    made.enable_padding(length=64)
    made.enable_truncation(5)  # as some models say it, and nobody means it
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))


def table() -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return a vector for each token; the unknown one and the marks are nearly nothing."""
    rows = np.random.default_rng(7).normal(size=(len(VOCABULARY), DIMENSIONS)).astype(np.float32)
    rows[: len(SPECIAL)] *= 0.01
    return rows


def embedder(folder: Path, *, output: str = "last_hidden_state", file: str = "model.onnx", **config: object) -> Path:
    """Write a model that gives each token its vector, and return the folder."""
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
        helper.make_node("Mul", ["rows", "column"], [output]),
    ]
    shape: list[str | int] = ["batch", "length", DIMENSIONS]
    _save(folder / file, nodes, ("input_ids", "attention_mask"), (output, shape), {"table": table(), "last": [2]})
    tokenizer(folder)
    say(folder, "config.json", {"hidden_size": DIMENSIONS, "max_position_embeddings": 96, **config})
    return folder


def reranker(folder: Path, *, n_logits: int = 1) -> Path:
    """Write a cross-encoder that counts the words which question and text share, and return the folder."""
    n = len(VOCABULARY)
    one_hot = np.eye(n, dtype=np.float32)
    one_hot[: len(SPECIAL)] = 0
    nodes = [
        helper.make_node("Gather", ["one_hot", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["one", "second"], ["first"]),
        helper.make_node("Unsqueeze", ["first", "last"], ["of_question"]),
        helper.make_node("Unsqueeze", ["second", "last"], ["of_text"]),
        helper.make_node("Mul", ["rows", "of_question"], ["question_rows"]),
        helper.make_node("Mul", ["rows", "of_text"], ["text_rows"]),
        helper.make_node("ReduceSum", ["question_rows", "middle"], ["question"], keepdims=0),
        helper.make_node("ReduceSum", ["text_rows", "middle"], ["text"], keepdims=0),
        helper.make_node("Mul", ["question", "text"], ["shared"]),
        helper.make_node("ReduceSum", ["shared", "middle"], ["total"], keepdims=1),
        helper.make_node("Sub", ["total", "least"], ["logits" if n_logits == 1 else "fits"]),
    ]
    if n_logits > 1:
        nodes.append(helper.make_node("Neg", ["fits"], ["fits_not"]))
        nodes.append(helper.make_node("Concat", ["fits_not", *["fits"] * (n_logits - 1)], ["logits"], axis=1))
    constants = {"one_hot": one_hot, "one": 1.0, "least": 1.5, "last": [2], "middle": [1]}
    _save(folder / "model.onnx", nodes, ("input_ids", "token_type_ids"), ("logits", ["batch", n_logits]), constants)
    tokenizer(folder)
    say(folder, "config.json", {"max_position_embeddings": 64})
    return folder


def static(folder: Path, tensors: Mapping[str, np.ndarray[Any, Any]] | None = None, **config: object) -> Path:
    """Write a model as model2vec does, and return the folder."""
    tokenizer(folder)
    say(folder, "config.json", {"normalize": True, **config})
    (folder / "model.safetensors").write_bytes(safetensors(tensors or {"embeddings": table()}))
    return folder


_DTYPES = {"float16": "F16", "float32": "F32", "float64": "F64", "int8": "I8", "int64": "I64", "bool": "BOOL"}


def safetensors(tensors: Mapping[str, np.ndarray[Any, Any]]) -> bytes:
    """Return the bytes of a safetensors file: the length of a head in JSON, the head, the numbers."""
    said: dict[str, object] = {"__metadata__": {"format": "np"}}
    data = b""
    for name, values in tensors.items():
        start = len(data)
        data += values.tobytes()
        said[name] = {
            "dtype": _DTYPES[values.dtype.name],
            "shape": list(values.shape),
            "data_offsets": [start, len(data)],
        }
    head = json.dumps(said).encode()
    return struct.pack("<Q", len(head)) + head + data


def say(folder: Path, name: str, content: object) -> None:
    """Write a JSON file into a folder."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(content))


def _save(
    path: Path,
    nodes: list[onnx.NodeProto],
    inputs: Sequence[str],
    output: tuple[str, list[str | int]],
    constants: Mapping[str, object],
) -> None:
    given = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in inputs]
    made = [helper.make_tensor_value_info(output[0], TensorProto.FLOAT, output[1])]
    kept = [
        numpy_helper.from_array(np.asarray(value, np.int64 if isinstance(value, list) else np.float32), name)
        for name, value in constants.items()
    ]
    graph = helper.make_graph(nodes, "tiny", given, made, kept)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))
