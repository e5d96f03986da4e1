"""Conversations that the server stores: questions, answers, and the sources of the answers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from secrets import token_hex
from typing import Any

from codefathom.providers.base import Message
from codefathom.server.answers.conversation_record import Conversation, ConversationTurn
from codefathom.server.http.problem_json import NotFoundError, RequestError
from codefathom.server.server_database import ServerDatabase

MOST_LISTED = 200
_MAX_TITLE = 120
_DAY_S = 86_400.0
_TABLES = """
CREATE TABLE IF NOT EXISTS conversations (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    projects TEXT NOT NULL,
    owner TEXT NOT NULL,
    created_at REAL NOT NULL,
    changed_at REAL NOT NULL,
    shared_by TEXT,
    scope TEXT NOT NULL DEFAULT '[]'
);
CREATE TABLE IF NOT EXISTS turns (
    number INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversations (number) ON DELETE CASCADE,
    question TEXT NOT NULL,
    answer TEXT NOT NULL,
    state TEXT NOT NULL,
    details TEXT NOT NULL,
    asked_at REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS turns_of_conversation ON turns (conversation, number);
CREATE INDEX IF NOT EXISTS conversations_changed ON conversations (changed_at);
"""
# Not in the tables of older versions.
_ADDED = {"shared_by": "TEXT", "scope": "TEXT NOT NULL DEFAULT '[]'"}
_SELECT = "SELECT number, id, title, projects, owner, created_at, changed_at, shared_by, scope FROM conversations"


class Conversations:
    """All conversations of one server. Safe to use from several threads."""

    def __init__(self, path: str, clock: Callable[[], float] = time.time, days: Callable[[], int] = lambda: 0) -> None:
        """`days` returns for how long a conversation is kept after its last question; 0: for ever."""
        self._database = ServerDatabase(path, _TABLES)
        self._add_columns()
        self._clock = clock
        self._days = days

    def forget_old(self) -> None:
        """Delete the conversations that were not used for too long; each use of any conversation does this, too."""
        days = self._days()
        oldest = self._clock() - days * _DAY_S
        # Looked at first: a reader need not wait for whoever writes.
        if days and self._database.read("SELECT 1 FROM conversations WHERE changed_at < ? LIMIT 1", (oldest,)):
            self._database.write("DELETE FROM conversations WHERE changed_at < ?", (oldest,))
            self._database.empty_log()

    def begin(self, projects: Sequence[str], owner: str = "", title: str = "") -> Conversation:
        """Return a new conversation about these projects."""
        now = self._clock()
        conversation = Conversation(token_hex(8), _title(title), tuple(projects), owner, now, now)
        self._database.write(
            "INSERT INTO conversations (id, title, projects, owner, created_at, changed_at) VALUES (?, ?, ?, ?, ?, ?)",
            (conversation.id, conversation.title, json.dumps(conversation.projects), owner, now, now),
        )
        return conversation

    def listed(self, owner: str = "", *, project: str = "") -> tuple[Conversation, ...]:
        """Return the conversations of an owner, the latest first, without their turns."""
        self.forget_old()
        rows = self._database.read(f"{_SELECT} WHERE owner = ? ORDER BY changed_at DESC, number DESC", (owner,))
        conversations = [_conversation(row) for row in rows]
        return tuple(item for item in conversations if not project or project in item.projects)

    def shared(self) -> tuple[Conversation, ...]:
        """Return the conversations that are shared, the latest first, without their turns."""
        self.forget_old()
        rows = self._database.read(f"{_SELECT} WHERE shared_by IS NOT NULL ORDER BY changed_at DESC, number DESC")
        return tuple(_conversation(row) for row in rows)

    def get_shared(self, conversation_id: str) -> Conversation:
        """Return a shared conversation with its turns. Raises NotFoundError, also for one that is not shared."""
        self.forget_old()
        return self._with_turns(self._row("id = ? AND shared_by IS NOT NULL", conversation_id))

    def get(self, conversation_id: str, owner: str = "") -> Conversation:
        """Return a conversation with its turns. Raises NotFoundError, also for that of somebody else."""
        self.forget_old()
        return self._with_turns(self._own(conversation_id, owner))

    def add(self, conversation_id: str, turn: ConversationTurn, owner: str = "") -> None:
        """Add a turn; a conversation without a title gets that of its first question. Raises NotFoundError."""
        self.forget_old()  # not in the transaction, which keeps the log from being emptied
        with self._database.transaction():
            number, _, title, *_, scope = self._own(conversation_id, owner)
            scope = sorted({*json.loads(scope), *turn.details.get("projects", ())})
            values = (_sound(turn.question), _sound(turn.answer), turn.state, json.dumps(turn.details), turn.asked_at)
            self._database.write(
                "INSERT INTO turns (conversation, question, answer, state, details, asked_at) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (number, *values),
            )
            self._database.write(
                "UPDATE conversations SET title = ?, changed_at = ?, scope = ? WHERE number = ?",
                (title or _title(turn.question), self._clock(), json.dumps(scope), number),
            )

    def rename(self, conversation_id: str, title: str, owner: str = "") -> Conversation:
        """Give a conversation another title. Raises NotFoundError, and RequestError for an empty title."""
        if not title.strip():
            raise RequestError("a title cannot be empty", hint="give a title with at least one letter")
        number = self._own(conversation_id, owner)[0]
        self._database.write("UPDATE conversations SET title = ? WHERE number = ?", (_title(title), number))
        return self.get(conversation_id, owner)

    def share(self, conversation_id: str, name: str | None, owner: str = "") -> Conversation:
        """Share a conversation under the name of its owner; None: with nobody any more. Raises NotFoundError.

        Raises RequestError for a turn of an older version, of which nobody knows which projects it is about.
        """
        with self._database.transaction():
            conversation = self._with_turns(self._own(conversation_id, owner))
            if name is not None and not all("projects" in turn.details for turn in conversation.turns):
                raise RequestError(
                    "this conversation has answers from an earlier version of the server and cannot be shared",
                    hint="ask the question again in a new conversation, and share that one",
                )
            scope = set(conversation.projects).union(*(turn.details.get("projects", ()) for turn in conversation.turns))
            self._database.write(
                "UPDATE conversations SET shared_by = ?, scope = ? WHERE id = ?",
                (None if name is None else _sound(name), json.dumps(sorted(scope)), conversation_id),
            )
        return self.get(conversation_id, owner)

    def delete(self, conversation_id: str, owner: str = "") -> None:
        """Forget a conversation. Raises NotFoundError."""
        self._database.write("DELETE FROM conversations WHERE number = ?", (self._own(conversation_id, owner)[0],))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _own(self, conversation_id: str, owner: str) -> tuple[Any, ...]:
        return self._row("id = ? AND owner = ?", conversation_id, owner)

    def _row(self, where: str, conversation_id: str, *more: str) -> tuple[Any, ...]:
        rows = self._database.read(f"{_SELECT} WHERE {where}", (conversation_id, *more))
        if not rows:
            raise NotFoundError(f"no such conversation: {conversation_id!r}", hint="GET /conversations lists them")
        return rows[0]

    def _with_turns(self, row: tuple[Any, ...]) -> Conversation:
        turns = self._database.read(
            "SELECT question, answer, state, asked_at, details FROM turns WHERE conversation = ? ORDER BY number",
            (row[0],),
        )
        return _conversation(row, tuple(_turn(row) for row in turns))

    def _add_columns(self) -> None:
        with self._database.transaction():
            there = {name for _, name, *_ in self._database.read("PRAGMA table_info(conversations)")}
            for name, kind in _ADDED.items():
                if name not in there:
                    self._database.write(f"ALTER TABLE conversations ADD COLUMN {name} {kind}")


def history(conversation: Conversation) -> tuple[Message, ...]:
    """Return the turns as messages for a model, without those that failed."""
    turns = (turn for turn in conversation.turns if turn.state != "failed" and turn.answer.strip())
    return tuple(
        message for turn in turns for message in (Message("user", turn.question), Message("assistant", turn.answer))
    )


def _conversation(row: tuple[Any, ...], turns: tuple[ConversationTurn, ...] = ()) -> Conversation:
    _, conversation_id, title, projects, owner, created_at, changed_at, shared_by, scope = row
    names = tuple(json.loads(projects))
    return Conversation(
        conversation_id,
        title,
        names,
        owner,
        created_at,
        changed_at,
        shared_by=shared_by,
        scope=frozenset((*names, *json.loads(scope))),
        turns=turns,
    )


def _turn(row: tuple[Any, ...]) -> ConversationTurn:
    question, answer, state, asked_at, details = row
    return ConversationTurn(question, answer, state, asked_at, json.loads(details))


def _title(text: str) -> str:
    title = _sound(" ".join(text.split()))
    return title if len(title) <= _MAX_TITLE else f"{title[: _MAX_TITLE - 1]}…"


def _sound(text: str) -> str:
    """Replace half characters, which names of files can hold and SQLite cannot."""
    return text.encode("utf-8", "replace").decode()
