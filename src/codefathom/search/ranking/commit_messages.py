"""The order of commits: what a message says about a commit counts more than what its changed lines mention.

The weights of the ranking were learned from files, where any line may be what is asked for. Questions about commits ask
what was done, and the message says that, its first line above all (docs/history.md has the figures).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codefathom.search.question.ranking_query import RankingQuery
from codefathom.search.question.words import Cover
from codefathom.search.ranking.rank import RankedCandidate
from codefathom.stores.lexical.terms import terms

# Shares of a score, chosen on the repositories of `evals/history.py` that are not kept apart.
_OF_RANKING, _OF_MESSAGE, _OF_SUBJECT = 4 / 7, 2 / 7, 1 / 7


def by_message(
    query: RankingQuery, ranked: Sequence[RankedCandidate], message_of: Callable[[str], str]
) -> list[RankedCandidate]:
    """Return a ranking of chunks of commits again, by the words of the question in their messages, too.

    `message_of` gives the message of a commit by its path. Of several chunks of a commit the first counts it.
    """
    cover, seen = Cover(query.worth), set[str]()
    again = []
    for item in ranked:
        path, score = item.candidate.chunk.path, item.score * _OF_RANKING
        if path not in seen:
            seen.add(path)
            message = message_of(path)
            score += _OF_MESSAGE * _share(query, cover, message)
            score += _OF_SUBJECT * _share(query, cover, message.partition("\n")[0])
        again.append(item._replace(score=score))
    return sorted(again, key=lambda item: -item.score)  # stable: ties stay in their order


def _share(query: RankingQuery, cover: Cover, text: str) -> float:
    """Return the share of the question's words, by rarity, that stand in a text in any form, from 0 to 1."""
    return cover[query.word_forms.among(terms(text))]
