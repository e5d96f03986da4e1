"""`--mode lexical` beside bm25s: how good each list of ten is, and where the difference comes from.

    python -m evals.words --corpora CORPORA

BENCH_DIR names the folder of the annotated questions. bm25s, which is not a part of the project, has to be installed.
From one variant to the next one thing changes: chunks and words, then fields.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import bm25s

from codefathom import Engine
from codefathom.search.question.query import parse_query
from codefathom.search.question.ranking_query import analyse
from codefathom.search.retrieve import FIELD_WEIGHTS
from codefathom.stores.lexical.fields import fields_of
from codefathom.types import Chunk
from evals.adapters.bm25s import Bm25s
from evals.benchmark import CHINESE, Corpus, bench_folder, development, lay
from evals.metrics import CUT, Found, mean, score

Search: TypeAlias = Callable[[str], Sequence[Found]]


def main() -> None:
    """Ask every question of each corpus, and print NDCG@10 and the share of right first places of each variant."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpora", type=Path, required=True)
    corpora = development(bench_folder(), parser.parse_args().corpora)
    ndcg: dict[str, list[float]] = {}
    first: dict[str, list[float]] = {}
    for corpus in corpora:
        for name, figures in _measured(corpus):
            ndcg.setdefault(name, []).append(figures[0])
            first.setdefault(name, []).append(figures[1])
    for name, values in ndcg.items():
        print(f"{name}: NDCG@10 {mean(values):.3f}, first place {mean(first[name]):.3f}")


def _measured(corpus: Corpus) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield the figures of each variant for one corpus."""
    questions = [question for question in corpus.questions if question.category != CHINESE]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("INDEX_DIR", "CACHE_DIR", "STATE_DIR"):
            os.environ[f"FATHOM_{name}"] = str(Path(folder) / name)
        root = lay(corpus, Path(folder) / "tree")
        with Engine.open(str(root)) as engine:
            engine.index()
            for name, search in _variants(engine, root).items():
                scores = [score(search(question.text), question.targets) for question in questions]
                yield name, (mean(one.ndcg for one in scores), mean(one.first for one in scores))


def _variants(engine: Engine, root: Path) -> dict[str, Search]:
    usual = Bm25s()
    usual.index(root)
    chunks = [chunk for file in engine.files.listed() for _, chunk in engine.opened.catalog.chunks_of(file.path)]
    body = _bm25(chunks, ("body",))
    return {
        "bm25s, 50 lines, best of each file": lambda question: usual.search(question, CUT),
        "bm25s, our chunks and words, body": body,
        "bm25s, also path, name, signature": _bm25(chunks, tuple(FIELD_WEIGHTS)),
        "--mode lexical": lambda question: [
            Found(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line)
            for hit in engine.search(question, mode="lexical", limit=CUT).hits
        ],
    }


def _bm25(chunks: Sequence[Chunk], fields: Sequence[str]) -> Search:
    """Return a search by bm25s over some fields of our chunks, as our view sums them."""
    retrievers: dict[str, Any] = {}
    for field in fields:
        retrievers[field] = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        retrievers[field].index([getattr(fields_of(chunk), field).split() for chunk in chunks], show_progress=False)

    def search(question: str) -> Sequence[Found]:
        terms = analyse(parse_query(question)).terms
        sums = [0.0] * len(chunks)
        for field, retriever in retrievers.items():
            known = [term for term in terms if term in retriever.vocab_dict]
            weight = FIELD_WEIGHTS[field]
            if known:
                for place, value in enumerate(retriever.get_scores(known)):
                    sums[place] += weight * float(value)
        best = sorted((place for place, value in enumerate(sums) if value > 0), key=lambda place: -sums[place])[:CUT]
        return [Found(chunks[place].path, chunks[place].start_line, chunks[place].end_line) for place in best]

    return search


if __name__ == "__main__":
    main()
