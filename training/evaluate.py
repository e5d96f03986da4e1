"""Score a model on pairs of sources it has not seen: documentation → definition among 2,000, alone and with BM25.

python -m training.evaluate --sources training/sources.json --data PAIRS [--model FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codefathom.providers.local.bundled import MODEL_FILE, BundledEmbedder, parts_of, words_of
from training.sources import read_sources

CANDIDATES = 2_000
FEWEST = 100  # questions of one source that say something
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
Matrix = NDArray[np.float32]


def read_questions(folder: Path, names: Sequence[str], chinese: bool) -> list[tuple[str, str]]:
    """Return up to 2,000 documented definitions, the same ones on every run."""
    found: dict[str, str] = {}
    for name in names:
        path = folder / f"{name.replace('/', '+').replace(':', '+')}.jsonl"
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            if row["kind"] == "doc" and bool(_CHINESE.search(row["query"])) == chinese:
                found.setdefault(row["document"], row["query"])
    pairs = sorted((query, document) for document, query in found.items())
    random.Random(3).shuffle(pairs)
    return pairs[:CANDIDATES]


def bm25(queries: Sequence[str], documents: Sequence[str]) -> Matrix:
    """Return the BM25 score of each document for each query, over parts of identifiers."""
    bags = [Counter(part for word in words_of(text) for part in parts_of(word)) for text in documents]
    mean = sum(map(sum, (bag.values() for bag in bags))) / len(bags)
    postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for number, bag in enumerate(bags):
        norm = 1.2 * (0.25 + 0.75 * sum(bag.values()) / mean)
        for term, count in bag.items():
            postings[term].append((number, count * 2.2 / (count + norm)))
    scores = np.zeros((len(queries), len(documents)), dtype=np.float32)
    for row, query in enumerate(queries):
        for term in {part for word in words_of(query) for part in parts_of(word)}:
            found = postings.get(term, [])
            idf = math.log(1 + (len(bags) - len(found) + 0.5) / (len(found) + 0.5))
            for number, value in found:
                scores[row, number] += idf * value
    return scores


def reciprocal_rank(scores: Matrix) -> float:
    """Return MRR@10 when the answer of query n is document n; ties count against it."""
    own = scores.diagonal()[:, None]
    ranks = (scores >= own).sum(axis=1)
    return float(np.where(ranks <= 10, 1 / ranks, 0).mean())


def scaled(scores: Matrix) -> Matrix:
    """Scale each query's scores to 0..1."""
    low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    return np.asarray((scores - low) / np.where(high > low, high - low, 1), dtype=np.float32)


def report(title: str, pairs: Sequence[tuple[str, str]], embedder: BundledEmbedder) -> None:
    """Print the scores of one set."""
    queries, documents = [query for query, _ in pairs], [document for _, document in pairs]
    vectors = [np.array(embedder.embed(texts, "document")) for texts in (queries, documents)]
    cosine, words = vectors[0] @ vectors[1].T, bm25(queries, documents)
    both = {share: reciprocal_rank(share * scaled(cosine) + (1 - share) * scaled(words)) for share in (0.3, 0.4, 0.5)}
    print(
        f"{title}: {len(pairs)} pairs  model {reciprocal_rank(cosine):.3f}  BM25 {reciprocal_rank(words):.3f}  both "
        + "  ".join(f"{share} {value:.3f}" for share, value in both.items())
    )


def main() -> int:
    """Score English and Chinese questions, then each source among its own definitions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default=MODEL_FILE)
    options = parser.parse_args()
    names = [source.name for source in read_sources(options.sources) if source.split == "eval"]
    embedder = BundledEmbedder(options.model)
    print(embedder.name)
    report("English", read_questions(options.data, names, False), embedder)
    report("Chinese", read_questions(options.data, names, True), embedder)
    for name in names:
        if len(pairs := read_questions(options.data, [name], False)) >= FEWEST:
            report(name, pairs, embedder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
