"""`fathom history`: the commits that made some lines, and the owners of their file."""

from __future__ import annotations

from collections.abc import Iterator

from codefathom.cli.asked_questions import history_question
from codefathom.cli.display.output import Style
from codefathom.cli.face import Face
from codefathom.cli.filter_arguments import inside_project
from codefathom.cli.options import HistoryOptions
from codefathom.cli.token_budget import ItemList, write_items
from codefathom.question.asker import result_of
from codefathom.shapes import history_shape, to_json
from codefathom.text.printable import cut_line, show_line, show_name, show_text
from codefathom.text.written_place import place_of
from codefathom.types import HistoryStep, LineHistory

_MOST_LINES = 12  # of a change that is shown
_MOST_CHARS = 200  # of a line


def run(options: HistoryOptions, face: Face) -> int:
    """Print commits, the latest first. Return 1 where there is none."""
    with face.open() as engine:
        target = _target(options.target, engine.folder)
        history: LineHistory = result_of(engine, history_question(options, target))
    face.note_indexing()

    def text(n: int, style: Style) -> str:
        if face.common.json:
            return to_json(history_shape(history, n))
        return "\n".join(_step(step, style, whole=face.common.verbose) for step in history.steps[:n])

    items = ItemList(len(history.steps), text, "commits", offset=history.offset, rest=history.rest)
    write_items(items, options.max_tokens, face)
    face.notes(_owners(history))
    if not history.steps:
        face.note(
            f"no commit was found for {show_name(options.target)}" + (f": {history.note}" if history.note else "")
        )
    return 0 if history.steps else 1


def _target(written: str, folder: str) -> str:
    """Return a place as the project has it."""
    if written.startswith("@@") or not folder:
        return written
    place = place_of(written)
    return f"{inside_project(place.path, folder)}{written[len(place.path) :]}"


def _step(step: HistoryStep, style: Style, *, whole: bool) -> str:
    place = f"{show_name(step.path)}:{step.start_line}-{step.end_line}"
    head = f"{style.strong(step.commit.commit[:12])}  {show_line(step.commit.subject)}"
    lines = step.lines if whole else tuple(_telling(step))[:_MOST_LINES]
    left = len(step.lines) - len(lines)
    shown = [f"    {cut_line(show_text(line), _MOST_CHARS)}" for line in lines]
    more = [style.faint(f"    … {left} more lines (-v shows all)")] if left else []
    return "\n".join([head, f"  {show_line(step.commit.origin)}", f"  {place}", *shown, *more, ""])


def _telling(step: HistoryStep) -> Iterator[str]:
    """Yield the lines that differ; those that stay are left out where there are many."""
    yield from (line for line in step.lines if line[0] != " " or len(step.lines) <= _MOST_LINES)


def _owners(history: LineHistory) -> list[str]:
    notes = []
    if history.code_owners:
        notes.append(f"CODEOWNERS names {', '.join(map(show_line, history.code_owners))}")
    if history.changed_by:
        each = (f"{show_line(owner.name)} ({owner.n_commits})" for owner in history.changed_by)
        notes.append(f"most commits to this file: {', '.join(each)}")
    return notes
