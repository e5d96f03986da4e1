"""Train the token vectors on mined pairs and write the model of the package.

    python -m training.train --sources training/sources.json --data PAIRS --teacher e5-small-q4.bin \
        --out src/codefathom/providers/local/model

Needs torch. The vectors start from what a larger model makes of each token. One table serves both sides; a pair's
neighbours in the batch are its negatives, a quarter of them from its own source. Everything is seeded.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from codefathom.providers.local.bundled import parts_of, tokens_of, words_of
from training.batches import Neighbours, batches
from training.export import write_model
from training.sources import read_sources
from training.teacher import first_vectors

WORDS, PIECES = 32_000, 4_000
MOST_PAIRS_OF_A_SOURCE = 9_000
SAME = 0.9  # cosine of two documents from which neither is a wrong answer to the other's question
TEMPERATURE = 0.07
DROPPED = 0.2  # share of the tokens left out of each text at each step
FIRST_LENGTH = 4.0  # of the vectors at the start: the longer, the more of the teacher stays
SEED = 20_251


class Bag(NamedTuple):
    """The tokens of many texts, one after the other, with √count as weight."""

    ids: NDArray[np.int32]
    weights: NDArray[np.float32]
    starts: NDArray[np.int64]  # one more than texts


class Options(NamedTuple):
    """How long and how wide to train."""

    dimensions: int
    batch: int
    epochs: int
    rate: float
    threads: int


def read_pairs(folder: Path, names: Sequence[str]) -> list[list[tuple[str, str]]]:
    """Return the pairs of each source in a seeded order."""
    found = []
    for name in names:
        path = folder / f"{name.replace('/', '+').replace(':', '+')}.jsonl"
        if path.exists():
            rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            found.append([(question(row), row["document"]) for row in rows[:MOST_PAIRS_OF_A_SOURCE]])
    return found


def question(row: dict[str, str]) -> str:
    """Return the query of a pair; Go's habit of beginning with the name of the function would make it too easy."""
    first, _, rest = row["query"].partition(" ")
    names = row["document"].split("\n", 3)[2:3]
    return rest if rest and names and first == names[0].rpartition(".")[2] and len(row["query"]) % 4 else row["query"]


def make_vocabulary(texts: Iterator[str]) -> list[str]:
    """Return the most frequent words, Chinese characters and pairs, then the pieces that rarer words are made of."""
    seen = Counter[str]()
    for text in texts:
        seen.update(set(words_of(text)))
    counts = Counter[str]()
    for word, count in seen.items():
        for part in parts_of(word):
            counts[part] += count
    kept = [word for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if count > 3][:WORDS]
    known = set(kept)
    pieces = Counter[str]()
    for word, count in counts.items():
        if word not in known and word.isascii() and not word.isdigit():
            for start in range(len(word)):
                for size in range(1, min(9, len(word) - start + 1)):
                    pieces["##" + word[start : start + size]] += min(count, 20) * size
    letters = ["##" + letter for letter in "abcdefghijklmnopqrstuvwxyz0123456789"]
    ranked = [
        piece for piece, _ in sorted(pieces.items(), key=lambda item: (-item[1], item[0])) if piece not in letters
    ]
    return kept + letters + ranked[: PIECES - len(letters)]


def make_bag(texts: Sequence[str], vocabulary: dict[str, int]) -> Bag:
    """Return the tokens of the texts as the embedder counts them."""
    memo: dict[str, list[int]] = {}
    ids: list[NDArray[np.int32]] = []
    weights: list[NDArray[np.float32]] = []
    starts = [0]
    for text in texts:
        found = Counter[int]()
        for word in words_of(text):
            if word not in memo:
                memo[word] = [vocabulary[token] for token in tokens_of(word, vocabulary)]
            found.update(memo[word])
        ids.append(np.fromiter(found.keys(), dtype=np.int32, count=len(found)))
        weights.append(np.sqrt(np.fromiter(found.values(), dtype=np.float32, count=len(found))))
        starts.append(starts[-1] + len(found))
    return Bag(np.concatenate(ids), np.concatenate(weights), np.array(starts))


class Table(torch.nn.Module):
    """A vector and a weight for each token."""

    def __init__(self, vectors: NDArray[np.float32], weights: NDArray[np.float64]) -> None:
        super().__init__()
        self.vectors = torch.nn.Parameter(torch.from_numpy(vectors))
        self.weights = torch.nn.Parameter(torch.tensor(np.log(weights), dtype=torch.float32))

    def rows(self) -> torch.Tensor:
        """The weighted vectors, as they are exported."""
        return self.vectors * self.weights.exp()[:, None]

    def forward(self, bag: Bag, numbers: NDArray[np.int64]) -> torch.Tensor:
        """Return the unit vectors of some texts of a bag."""
        spans = [(bag.starts[i], bag.starts[i + 1]) for i in numbers]
        ids = torch.from_numpy(np.concatenate([bag.ids[a:b] for a, b in spans]).astype(np.int64))
        counts = torch.from_numpy(np.concatenate([bag.weights[a:b] for a, b in spans]))
        offsets = torch.from_numpy(np.cumsum([0] + [b - a for a, b in spans])[:-1])
        weights = counts * self.weights[ids].exp()
        if self.training:  # a pair must not hang on one rare word
            weights = weights * (torch.rand(len(weights)) >= DROPPED)
        total = torch.nn.functional.embedding_bag(ids, self.vectors, offsets, mode="sum", per_sample_weights=weights)
        return torch.nn.functional.normalize(total, dim=1)


def train(table: Table, queries: Bag, documents: Bag, groups: Sequence[range], options: Options) -> None:
    """Pull each query to its document and away from the others of the batch, both ways round."""
    optimizer = torch.optim.Adam(table.parameters(), lr=options.rate)
    total = options.epochs * (sum(map(len, groups)) // options.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, options.rate, total_steps=total + 1, pct_start=0.1)
    started, step = time.perf_counter(), 0
    for epoch in range(options.epochs):
        sources = [where_they_stand(table, queries, documents, numbers) for numbers in groups]
        for numbers in batches(sources, options.batch, SEED + epoch):
            loss = loss_of(table(queries, numbers), table(documents, numbers))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            step += 1
            if step % 50 == 0:
                print(f"{step}/{total} loss {loss.item() / 2:.3f} {time.perf_counter() - started:.0f} s", flush=True)


def loss_of(queries: torch.Tensor, documents: torch.Tensor) -> torch.Tensor:
    """How far the queries are from choosing their own documents, and the documents their queries."""
    scores = queries @ documents.T / TEMPERATURE
    target = torch.arange(len(scores))
    same = (documents @ documents.T > SAME) & (target[:, None] != target)
    scores = scores.masked_fill(same, -math.inf)
    loss = torch.nn.functional.cross_entropy
    return loss(scores, target) + loss(scores.T, target)


def where_they_stand(table: Table, queries: Bag, documents: Bag, numbers: range) -> Neighbours:
    """Return the pairs of a source with the middle of query and document."""
    rows = np.array(numbers)
    table.eval()
    parts = np.array_split(rows, len(rows) // 4096 + 1)
    with torch.no_grad():
        vectors = [table(queries, part) + table(documents, part) for part in parts]
    table.train()
    return Neighbours(rows, torch.cat(vectors).numpy())


def first_weights(documents: Bag, size: int) -> NDArray[np.float64]:
    """Return the smooth inverse frequency of each token, where the weights start."""
    share = np.bincount(documents.ids, minlength=size) / (len(documents.starts) - 1)
    return np.asarray(0.02 / (0.02 + share) + 0.02)


def main() -> int:
    """Read, train, export."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("sources", "data", "teacher", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(options.threads)
    by_source = read_pairs(options.data, [s.name for s in read_sources(options.sources) if s.split == "train"])
    pairs = [pair for source in by_source for pair in source]
    words = make_vocabulary(text for pair in pairs for text in pair)
    vocabulary = {word: number for number, word in enumerate(words)}
    print(len(pairs), "pairs", len(words), "tokens", flush=True)
    queries = make_bag([query for query, _ in pairs], vocabulary)
    documents = make_bag([document for _, document in pairs], vocabulary)
    ends = np.cumsum([0, *map(len, by_source)]).tolist()
    groups = [range(a, b) for a, b in pairwise(ends)]
    vectors = FIRST_LENGTH * first_vectors(options.teacher, words, options.dimensions)
    table = Table(vectors, first_weights(documents, len(words)))
    plan = Options(options.dimensions, options.batch, options.epochs, options.rate, options.threads)
    train(table, queries, documents, groups, plan)
    print(write_model(options.out / "static.bin", words, table.rows().detach().numpy()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
