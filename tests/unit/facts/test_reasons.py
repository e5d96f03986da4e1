"""Statements as kind and values: in English, as JSON, as one line of a catalogue."""

from __future__ import annotations

import json
import re

import pytest

from codefathom.errors import DamagedError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import ENGLISH, Note, as_line, from_line, note_shape, notes_inside


def some(kind: str) -> Note:
    """Return a note of a kind, with a number or a text for each of its values."""
    fields = re.findall(r"{(\w+)(:,)?}", ENGLISH[kind])
    return Note(kind, {name: 1_200 if grouped else f"{name} of it" for name, grouped in fields})


@pytest.mark.parametrize("kind", ENGLISH)
def test_each_kind_comes_back_from_a_line(kind: str) -> None:
    note = some(kind)
    assert str(note)
    assert from_line(as_line(note)) == note
    assert json.loads(json.dumps(note_shape(note))) == {"kind": kind, "values": dict(note.values)}


def test_notes_inside_notes_come_back_and_are_found() -> None:
    inner = Note(say.EDGES_LEFT_OUT, {"count": 1_200})
    whole = Note(say.SENTENCE, {"notes": (Note(say.NO_EDGES), inner)})
    assert str(whole) == "nothing was found; 1,200 more edges are left out."
    assert from_line(as_line(whole)) == whole
    assert [note.kind for note in notes_inside([whole])] == [say.SENTENCE, say.NO_EDGES, say.EDGES_LEFT_OUT]
    places = Note(say.SEVERAL_SYMBOLS, {"count": 2, "places": ("a.py:1", "b.py:2")})
    assert from_line(as_line(places)) == places


@pytest.mark.parametrize(
    ("line", "kind"),
    [("binary", say.BINARY), ("symlink out of the project", say.SYMLINK_OUTSIDE), ("broken PDF", say.BROKEN_PDF)],
)
def test_a_line_of_an_older_catalogue_is_known(line: str, kind: str) -> None:
    assert from_line(line) == Note(kind)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "the disk caught fire",
        '{"kind":',
        '{"kind": "of tomorrow", "values": {}}',
        '{"kind": "many_pages", "values": {}}',
        '{"kind": "many_pages", "values": {"count": "many"}}',
        '{"kind": ["many_pages"], "values": {"count": 3}}',
        '{"kind": "many_pages", "values": [3]}',
        '{"kind": "sentence", "values": {"notes": [{"kind": "of tomorrow", "values": {}}]}}',
        '{"kind": "sentence", "values": {"notes": ' + "[" * 20_000,
    ],
)
def test_any_other_line_is_a_text(line: str) -> None:
    assert from_line(line) == line
    assert as_line(line) == line


def test_an_error_is_told_in_english_and_as_notes() -> None:
    error = DamagedError(Note(say.PART_DAMAGED, {"part": "index", "error": "x"}), hint=Note(say.RUN_INDEX))
    assert (str(error), error.hint) == ("the index is damaged: x", "run `fathom index`")
    assert (error.told, error.remedy) == (Note(say.PART_DAMAGED, {"part": "index", "error": "x"}), Note(say.RUN_INDEX))
