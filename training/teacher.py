"""What single words mean to a larger model, multilingual-e5-small: where the token vectors start. Needs torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from training.weights_file import read_weights

_BATCH = 256
_PREFIX = "query: "  # as the teacher was taught


class Teacher:
    """The network: what it makes of short texts."""

    def __init__(self, path: Path) -> None:
        self._sizes, self._pieces, tensors = read_weights(path)
        self._tensors = {name: torch.from_numpy(tensor) for name, tensor in tensors.items()}

    def words(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return a unit vector for each word, asked as a question of one word."""
        pieces = [self._pieces.of(_PREFIX + word) for word in words]
        order = sorted(range(len(words)), key=lambda number: (len(pieces[number]), number))
        found = np.zeros((len(words), self._sizes.width), dtype=np.float32)
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            found[part] = self._encode([pieces[number] for number in part]).numpy()
        return found

    @torch.no_grad()
    def _encode(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        sizes, longest = self._sizes, max(map(len, rows))
        ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
        seen = torch.arange(longest)[None, :] < torch.tensor([[len(row)] for row in rows])
        places = self._tensors["emb.pos"].view(-1, sizes.width)[:longest] + self._tensors["emb.type"][: sizes.width]
        state = self._norm("emb.ln", self._tensors["emb.word"].view(-1, sizes.width)[ids] + places)
        for layer in range(sizes.layers):
            state = self._norm(f"l{layer}.aln", state + self._attend(f"l{layer}", state, seen))
            inner = functional.gelu(self._linear(f"l{layer}.fi", state))
            state = self._norm(f"l{layer}.oln", state + self._linear(f"l{layer}.fo", inner))
        shares = seen[:, :, None] / seen.sum(1)[:, None, None]
        return functional.normalize((state * shares).sum(1), dim=1)

    def _attend(self, layer: str, state: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        texts, length, width = state.shape
        split = (texts, length, self._sizes.heads, width // self._sizes.heads)
        query, key, value = (self._linear(f"{layer}.{name}", state).view(split).transpose(1, 2) for name in "qkv")
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen[:, None, None, :])
        return self._linear(f"{layer}.ao", mixed.transpose(1, 2).reshape(texts, length, width))

    def _linear(self, name: str, state: torch.Tensor) -> torch.Tensor:
        weight = self._tensors[f"{name}.w"].view(-1, state.shape[-1])
        return functional.linear(state, weight, self._tensors[f"{name}.b"])

    def _norm(self, name: str, state: torch.Tensor) -> torch.Tensor:
        weight, bias = self._tensors[f"{name}.w"], self._tensors[f"{name}.b"]
        return functional.layer_norm(state, (self._sizes.width,), weight, bias, self._sizes.epsilon)


def first_vectors(path: Path, tokens: Sequence[str], dimensions: int) -> NDArray[np.float32]:
    """Return a unit vector for each token: what it means to the teacher, in the directions in which tokens differ."""
    vectors = Teacher(path).words([token.removeprefix("##") for token in tokens])
    chinese = np.array(["\u3400" <= token[0] <= "\u9fff" for token in tokens])
    for script in (chinese, ~chinese):  # or else 删除 is nearer to any Chinese word than to "delete"
        vectors[script] -= vectors[script].mean(axis=0)
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    vectors = vectors @ directions[:, ::-1][:, :dimensions]
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)
