"""A search in an index of commits: the messages that order it, and the hits with the heads of their commits."""

from __future__ import annotations

from dataclasses import replace

from codefathom.project.opening import OpenedProject
from codefathom.search.retrieve import Sources
from codefathom.source.revisions.commits import N_LINES_OF_MESSAGE, CommitHistory, mark_of, message_of
from codefathom.types import Hit


def with_messages(opened: OpenedProject) -> Sources:
    """Return the sources of a search, with the messages where the documents are commits."""
    if not isinstance(opened.place.revision, CommitHistory):
        return opened.sources
    catalog = opened.sources.catalog
    return opened.sources._replace(message_of=lambda path: message_of(catalog.lines(path, 1, N_LINES_OF_MESSAGE)))


def with_commits(hits: tuple[Hit, ...], opened: OpenedProject) -> tuple[Hit, ...]:
    """Return hits with the commits that they are; those of files as they are."""
    if not isinstance(opened.place.revision, CommitHistory):
        return hits
    return tuple(_with_commit(hit, opened) for hit in hits)


def _with_commit(hit: Hit, opened: OpenedProject) -> Hit:
    mark = mark_of(opened.catalog.lines(hit.chunk.path, 1, 3))
    return hit if mark is None else replace(hit, commit=mark, name=mark.subject, kind="commit")
