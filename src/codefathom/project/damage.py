"""Questions and runs over an index that may be damaged, or not whole yet: an answer or an error says so.

What a run is making is not damaged: it is named with how far the run is.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from codefathom import types
from codefathom.errors import DamagedError, FathomError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note, from_line
from codefathom.index.plan import incompleteness, plan, without_grammar
from codefathom.project.opening import OpenedProject
from codefathom.stores.catalog.schema import RESTORED

if TYPE_CHECKING:
    from codefathom.types.index_runs import Progress, RunProgress

_Event = TypeVar("_Event")


@contextmanager
def reading(opened: OpenedProject, *, whole: bool = False, is_old_shown: bool = False) -> Iterator[OpenedProject]:
    """Give an index to a question. What breaks because files are damaged raises DamagedError that says so.

    So does, with `whole`, an answer that had to leave something out and has no place to say it, and, unless
    `is_old_shown`, a catalogue that is older than its views. An index that another thread closes raises
    IndexClosedError.
    """
    soundness = opened.catalog.soundness
    try:
        if not is_old_shown and opened.views.is_ahead:
            raise soundness.damaged(Note(say.OLDER_THAN_MADE))
        yield opened
        opened.catalog.check_open()  # views that are closed find nothing
        if whole and soundness.damaged_paths:
            raise soundness.damaged(Note(say.CONTENT_WRONG, {"path": min(soundness.damaged_paths)}))
    except FathomError:
        opened.catalog.check_open()  # if it is closed, that is the cause
        raise
    except Exception as error:
        opened.catalog.check_open()
        # Whatever a library makes of bytes that are not what was written; anything else is a fault of ours.
        problem = opened.damage_of_files()
        if not problem:
            raise
        if "catalogue" in problem:
            raise soundness.damaged(problem["catalogue"]) from error
        part, how = next(iter(problem.items()))
        what = Note(say.PART_DAMAGED, {"part": from_line(part), "error": how})
        raise DamagedError(what, hint=Note(say.INDEX_BUILDS_PART)) from error


def lines_of(opened: OpenedProject, lines: Iterator[str]) -> Iterator[str]:
    """Pass on what is read of the index piece by piece. Raises DamagedError, at the end too."""
    with reading(opened, whole=True):
        yield from lines


def again_when_damaged(
    run: Callable[[], Generator[_Event, None, None]], close: Callable[[], None]
) -> Generator[_Event | Progress, None, None]:
    """Pass on the events of an index run; one that finds the index damaged begins again, with one made anew."""
    try:
        yield from run()
    except DamagedError as error:
        yield types.Progress("scan", 0, 0, message=f"{error}; it is made again")
        close()
        yield from run()


def damage_of(opened: OpenedProject) -> tuple[Note, ...]:
    """Return a note on each part that is damaged or missing; nothing is read for that.

    All of it is made good by the next `fathom index`. What is not made yet, or is being made, is not damaged.
    """
    if not opened.is_known:
        return ()
    catalog, paths = opened.catalog, opened.catalog.soundness.damaged_paths
    damages: list[Note] = []
    if paths:
        kind = say.FILES_DAMAGED if len(paths) > 1 else say.FILE_DAMAGED
        damages.append(Note(kind, {"path": min(paths)} | ({"count": len(paths) - 1} if len(paths) > 1 else {})))
    latest = opened.views.latest_generation  # before the catalogue: another process may be writing
    with catalog.one_moment():
        if latest > catalog.generation:
            damages.append(Note(say.OLDER_THAN_VIEWS))
        seems_missing, unparsed = bool(_missing(opened, but_damaged=bool(paths))), without_grammar(catalog)
    if seems_missing and opened.lock().progress() is None:
        opened.views.reload()  # the run that made it may have ended in this moment
        damages += _missing(opened, but_damaged=bool(paths))
    return (*(Note(say.REPAIRED_BY_INDEX, {"damage": damage}) for damage in damages), *unparsed)


def _missing(opened: OpenedProject, *, but_damaged: bool) -> list[Note]:
    """Return a note on each part that was lost; a run that is under way makes it again."""
    reason = opened.catalog.get_meta("set_aside")
    notes = [Note(say.INDEX_INCOMPLETE, {"reason": from_line(reason)})] if reason and not but_damaged else []
    lacking = opened.views.lacking()  # nearly never, so that the rest is seldom asked
    if not lacking or not is_whole(opened) or _is_of_other_model(opened) or _is_restored(opened):
        return notes
    if not opened.catalog.is_replaced:
        notes += [Note(say.PART_MISSING, {"part": from_line(name)}) for name in lacking]
    return notes


def is_whole(opened: OpenedProject) -> bool:
    """Return True if a run has completed the index; it may be behind its files, or made with other settings."""
    return opened.is_known and int(opened.catalog.get_meta("indexed_at_ns", "0")) > 0


def made_meanwhile(opened: OpenedProject) -> bool:
    """Return True if a run has ended that made what a question has lacked: then it can be asked again."""
    if opened.views.are_made or opened.lock().progress() is not None:
        return False
    opened.views.reload()
    return opened.views.are_made


def first_run(opened: OpenedProject) -> RunProgress | None:
    """Return the progress of another run that makes the index for the first time; None while there is no such run."""
    return None if is_whole(opened) else opened.lock().progress()


def unfinished(opened: OpenedProject) -> tuple[Note, ...]:
    """Return a note on what cannot be found before a run has made it; nothing for an index that is whole."""
    if opened.views.are_made and is_whole(opened):
        return ()
    run = opened.lock().progress()
    if is_whole(opened):
        return (_without_vectors(opened, run),) if _is_of_other_model(opened) else _what_makes_it(opened, run)
    what = Note(say.OTHERS_NOT_FOUND if opened.views.are_made else say.ONLY_NAMES)
    if run is not None:
        return (Note(say.INDEXED_BY_NOW, {"share": run.share, "what": what}),)
    how_far = incompleteness(opened.catalog, plan(opened.catalog, opened.recipe))
    return (Note(say.FIRST_UNFINISHED, {"how_far": how_far, "what": what}),) if how_far else ()


def state_of(opened: OpenedProject) -> tuple[Note, ...]:
    """Return the notes on an answer that was just found: what was not made yet, and what is damaged."""
    was_made = opened.views.are_made
    notes = (*unfinished(opened), *damage_of(opened))
    return notes if was_made or notes or not is_whole(opened) else (Note(say.JUST_MADE),)


def _what_makes_it(opened: OpenedProject, run: RunProgress | None) -> tuple[Note, ...]:
    if run is not None:
        return (Note(say.MADE_AGAIN, {"share": run.share}),)
    return (Note(say.RESTORED),) if _is_restored(opened) else ()


def _without_vectors(opened: OpenedProject, run: RunProgress | None) -> Note:
    before, model = opened.catalog.get_meta("model", ""), opened.views.model
    way = Note(say.INDEX_MAKES_THEM) if run is None else Note(say.BEING_MADE, {"share": run.share})
    return Note(say.OTHER_MODEL, {"before": before, "model": model, "way": way})


def _is_restored(opened: OpenedProject) -> bool:
    """Return True if a backup was put in the place of the index, and no run has made its views since."""
    return bool(opened.catalog.get_meta(RESTORED))


def _is_of_other_model(opened: OpenedProject) -> bool:
    """Return True if the last run made the vectors of another model than the settings name now."""
    return opened.catalog.get_meta("model", "") != opened.views.model
