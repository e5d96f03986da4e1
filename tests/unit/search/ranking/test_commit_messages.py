"""The order of commits by their messages."""

from __future__ import annotations

from codefathom.search.question.ranking_query import RankingQuery
from codefathom.search.ranking.commit_messages import by_message
from codefathom.search.ranking.rank import RankedCandidate
from codefathom.search.ranking.signals import Candidate
from codefathom.types import Chunk

QUERY = RankingQuery(("retry", "limit"), rarity={"retry": 1.0, "limit": 1.0})
MESSAGES = {
    "commit/a": "Limit retries\n\nThree are enough.",
    "commit/b": "Clean up\n\nThe limit of retries stays.",
    "commit/c": "Clean up\n\nNothing else.",
}


def ranked(*places: tuple[str, float]) -> list[RankedCandidate]:
    chunks = [Chunk(f"c{n}", path, "", "block", "", (), n, n, "") for n, (path, _) in enumerate(places)]
    return [
        RankedCandidate(Candidate(n, chunk), score, {})
        for n, (chunk, (_, score)) in enumerate(zip(chunks, places, strict=True))
    ]


def order(*places: tuple[str, float]) -> list[tuple[str, float]]:
    again = by_message(QUERY, ranked(*places), MESSAGES.__getitem__)
    return [(item.candidate.chunk.path, round(item.score, 3)) for item in again]


def test_a_subject_counts_more_than_a_body_and_both_more_than_nothing() -> None:
    same = [("commit/c", 0.5), ("commit/b", 0.5), ("commit/a", 0.5)]
    assert order(*same) == [("commit/a", 0.714), ("commit/b", 0.571), ("commit/c", 0.286)]


def test_a_commit_is_counted_once() -> None:
    assert order(("commit/a", 0.9), ("commit/a", 0.8)) == [("commit/a", 0.943), ("commit/a", 0.457)]


def test_what_is_far_better_stays_before() -> None:
    assert [path for path, _ in order(("commit/c", 0.9), ("commit/b", 0.1))] == ["commit/c", "commit/b"]
