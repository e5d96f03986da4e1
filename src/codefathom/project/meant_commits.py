"""Whether the words of a question mean the commits of a project, and whether these are indexed."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any, Literal, cast

from codefathom.facts.reasons import MARKS_OF_COMMITS, MOVED_TO_COMMITS, NO_COMMITS_INDEXED, Note
from codefathom.project.location import HISTORY_FOLDER, Location
from codefathom.question.question import Question
from codefathom.search.question.history_words import asks_for_history
from codefathom.stores.folder import index_folder

Meant = Literal["files", "commits", "commits without an index", "files by marks of commits"]
_SAID = {
    "commits": MOVED_TO_COMMITS,
    "commits without an index": NO_COMMITS_INDEXED,
    "files by marks of commits": MARKS_OF_COMMITS,
}
_MARK = r'(?i)(?<!\S)-?(?:author:["\w]|changed:[<>]?=?\d)'


def _has_mark(text: str) -> bool:
    return ":" in text and re.search(_MARK, text) is not None


def meant_commits(place: Location, question: Question) -> Meant:
    """Return where the answer to a question lies. A chosen mode, file or filter overrules the words.

    Nothing is opened, and no git is started.
    """
    settings = place.settings
    if question.commits or question.kind not in ("search", "ask"):
        return "files"
    words = _meant_by_words(place, question)
    if words == "files" and settings.history.commits and _has_mark(question.text) and _has_repository(place):
        return "files by marks of commits"
    return words


def _meant_by_words(place: Location, question: Question) -> Meant:
    settings = place.settings
    if not question.or_commits:
        return "files"
    if (question.mode or settings.search.mode) != "auto" or not settings.history.commits:
        return "files"
    if question.files or question.where or question.pinned or question.documents or question.as_command:
        return "files"
    if not asks_for_history(question.text) or not _has_repository(place):
        return "files"
    is_indexed = index_folder(os.path.join(place.index_dir, HISTORY_FOLDER), place.root).exists()
    return "commits" if is_indexed else "commits without an index"


def told(meant: Meant, events: Iterator[Any]) -> Iterator[Any]:
    """Pass on the events of a search or an answer in words, whose result says what its words led to."""
    if meant == "files":
        return events
    return _with_note(Note(_SAID[meant]), events)


def _with_note(note: Note, events: Iterator[Any]) -> Iterator[Any]:
    with closing(cast("Generator[Any]", events)):
        for event in events:
            yield _noted(event, note) if hasattr(event, "problems") else event


def _noted(event: Any, note: Note) -> Any:
    problems = (*event.problems, note)
    # The sources of an answer are a named tuple, answers and results of a search are not.
    return event._replace(problems=problems) if hasattr(event, "_replace") else replace(event, problems=problems)


def _has_repository(place: Location) -> bool:
    folder, last = place.root, ""
    while folder != last:
        if os.path.lexists(os.path.join(folder, ".git")):
            return True
        folder, last = os.path.dirname(folder), folder
    return place.revision is not None
