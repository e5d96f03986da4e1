"""What readers think of answers: thumbs up or down with a comment, kept beside the conversations."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from codefathom.server.http.problem_json import NotFoundError
from codefathom.server.schemas.ask_schemas import Verdict
from codefathom.server.server_database import ServerDatabase

MOST_RATINGS = 200  # of a page of the list
# Deleted with its conversation.
_TABLES = """
CREATE TABLE IF NOT EXISTS ratings (
    number INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversations (number) ON DELETE CASCADE,
    turn INTEGER NOT NULL REFERENCES turns (number) ON DELETE CASCADE,
    rater TEXT NOT NULL,
    name TEXT NOT NULL,
    verdict TEXT NOT NULL,
    comment TEXT NOT NULL,
    at REAL NOT NULL,
    UNIQUE (turn, rater)
);
CREATE INDEX IF NOT EXISTS ratings_of_conversation ON ratings (conversation);
"""
_LISTED = """
SELECT r.verdict, r.comment, r.name, r.at, c.id, t.question, t.answer, t.details, t.asked_at
FROM ratings r JOIN turns t ON t.number = r.turn JOIN conversations c ON c.number = r.conversation
"""


@dataclass(frozen=True, slots=True)
class AnswerRating:
    """What one reader thinks of one answer."""

    verdict: Verdict
    comment: str = ""


@dataclass(frozen=True, slots=True)
class RatedAnswer:
    """A rating with the answer that it is about, for administrators."""

    rating: AnswerRating
    by: str  # name of the reader, "" where none is needed
    at: float  # seconds since the epoch
    conversation_id: str
    question: str
    answer: str
    details: Mapping[str, Any]
    asked_at: float


class Ratings:
    """All ratings of one server. Safe to use from several threads."""

    def __init__(self, path: str, clock: Callable[[], float] = time.time) -> None:
        """`path` is the file of the conversations, which must exist."""
        self._database = ServerDatabase(path, _TABLES)
        self._clock = clock

    def rate(self, conversation_id: str, answer_id: str, rating: AnswerRating, rater: str = "", name: str = "") -> None:
        """Store what a reader thinks of an answer, in the place of what he thought before. Raises NotFoundError."""
        with self._database.transaction():
            conversation, turn = self._turn(conversation_id, answer_id)
            self._database.write(
                "INSERT OR REPLACE INTO ratings (conversation, turn, rater, name, verdict, comment, at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (conversation, turn, rater, _sound(name), rating.verdict, _sound(rating.comment), self._clock()),
            )

    def withdraw(self, conversation_id: str, answer_id: str, rater: str = "") -> None:
        """Forget what a reader thinks of an answer. Raises NotFoundError for an answer that is not there."""
        with self._database.transaction():
            _, turn = self._turn(conversation_id, answer_id)
            self._database.write("DELETE FROM ratings WHERE turn = ? AND rater = ?", (turn, rater))

    def of_reader(self, conversation_id: str, rater: str = "") -> dict[str, AnswerRating]:
        """Return what a reader thinks of the answers of a conversation, by the ids of the answers."""
        rows = self._database.read(
            "SELECT json_extract(t.details, '$.answer_id'), r.verdict, r.comment FROM ratings r "
            "JOIN turns t ON t.number = r.turn JOIN conversations c ON c.number = r.conversation "
            "WHERE c.id = ? AND r.rater = ?",
            (conversation_id, rater),
        )
        return {answer_id: AnswerRating(verdict, comment) for answer_id, verdict, comment in rows}

    def listed(self, limit: int, offset: int = 0, verdict: Verdict | None = None) -> tuple[RatedAnswer, ...]:
        """Return the ratings of all readers, the latest first."""
        where, values = ("WHERE r.verdict = ?", (verdict,)) if verdict else ("", ())
        rows = self._database.read(
            f"{_LISTED} {where} ORDER BY r.at DESC, r.number DESC LIMIT ? OFFSET ?", (*values, limit, offset)
        )
        return tuple(_rated(row) for row in rows)

    def count(self, verdict: Verdict | None = None) -> int:
        """Return how many ratings there are."""
        where, values = ("WHERE verdict = ?", (verdict,)) if verdict else ("", ())
        return int(self._database.read(f"SELECT count(*) FROM ratings {where}", values)[0][0])

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _turn(self, conversation_id: str, answer_id: str) -> tuple[int, int]:
        rows = self._database.read(
            "SELECT c.number, t.number FROM turns t JOIN conversations c ON c.number = t.conversation "
            "WHERE c.id = ? AND json_extract(t.details, '$.answer_id') = ?",
            (conversation_id, answer_id),
        )
        if not rows:
            raise NotFoundError(
                f"no such answer in this conversation: {answer_id!r}",
                hint="GET /conversations/{conversation_id} lists its answers",
            )
        return rows[0][0], rows[0][1]


def _rated(row: tuple[Any, ...]) -> RatedAnswer:
    verdict, comment, name, at, conversation_id, question, answer, details, asked_at = row
    rating = AnswerRating(verdict, comment)
    return RatedAnswer(rating, name, at, conversation_id, question, answer, json.loads(details), asked_at)


def _sound(text: str) -> str:
    """Replace half characters, which SQLite cannot store."""
    return text.encode("utf-8", "replace").decode()
