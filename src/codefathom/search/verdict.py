"""The verdict on a question: whether most likely nothing here answers it, and what follows from that. Pure.

This is the only place that decides. Every face and mode, one project and several, follow it:

| | weak: most likely nothing answers | unanswerable: that is as good as certain |
| --- | --- | --- |
| a list of places (search) | the closest ones, at most `MAX_WEAK` at once, marked; data has all of them | the same |
| files for a prompt, sources of an answer | those of the closest files, at most `MAX_WEAK` | none |
| an answer | from these sources | that nothing was found; no model is asked |
| a map | drawn around the closest places, marked | the map without the question, marked |
| exit code | 0 | 1 |

Whoever wants the closest places all the same says so (`--anyway`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.types.hits import SearchResult

WEAK = 0.2  # docs/confidence.md has the share of weak results for questions of either kind
NOTHING = 0.02  # below, it is as good as certain: no question of a project itself, a fifth of the others
MAX_WEAK = 3  # places or files that are shown where all are weak


class Verdict(NamedTuple):
    """The conclusion of a search about its question."""

    confidence: float  # 0 to 1: how likely the hits answer it
    weak: bool  # most likely nothing here answers it
    unanswerable: bool  # that is as good as certain


def verdict(confidence: float, *, has_hits: bool, is_strange: bool = False, is_placed: bool = False) -> Verdict:
    """Return the verdict on a question.

    `is_strange`: no word of it is anywhere in the project. `is_placed`: it names a file or a symbol of the project,
    where words say little about the answer.
    """
    if not has_hits:
        return Verdict(0.0, weak=True, unanswerable=True)
    weak = confidence < WEAK
    return Verdict(confidence, weak, weak and not is_placed and (is_strange or confidence < NOTHING))


def of_several(results: Collection[SearchResult | Verdict]) -> Verdict:
    """Return the verdict on a question to several projects, or in several words: that of the best result."""
    return Verdict(
        max((result.confidence for result in results), default=0.0),
        all(result.weak for result in results),
        all(result.unanswerable for result in results),
    )


def note_of(judged: Verdict | SearchResult, *, anyway: bool = False) -> Note | None:
    """Return the note that goes with weak hits, with the remedy unless it was used; None for any other result."""
    if not judged.weak or (isinstance(judged, SearchResult) and not judged.hits):
        return None
    return Note(say.WEAK_RESULT if anyway else say.WEAK_REMEDY, {"confidence": f"{judged.confidence:.2f}"})


def note_of_map(judged: Verdict | None) -> str:
    """Return the sentence that goes with a map whose question most likely nothing here answers; "" for any other."""
    if judged is None or not judged.weak:
        return ""
    whole = "; this is the map of the whole project" if judged.unanswerable else ""
    return f"{note_of(judged, anyway=True)}{whole}"


def handed_on(result: SearchResult) -> SearchResult:
    """Return a result with the hits that a prompt or answer may rest on: all, those of the closest files, or none."""
    if result.unanswerable:
        return replace(result, hits=())
    if not result.weak:
        return result
    paths = list(dict.fromkeys(hit.chunk.path for hit in result.hits))[:MAX_WEAK]
    return replace(result, hits=tuple(hit for hit in result.hits if hit.chunk.path in paths))
