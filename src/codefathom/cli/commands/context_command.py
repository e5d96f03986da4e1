"""`fathom context`: whole files for a prompt, and the sources of an answer in the same form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from codefathom.cli.asked_questions import context_question
from codefathom.cli.face import Face
from codefathom.cli.options import ContextOptions
from codefathom.cli.token_budget import check_least, n_tokens
from codefathom.question.asker import result_of
from codefathom.text.packing import n_that_fit
from codefathom.text.printable import show_name
from codefathom.types import Context, Rest

SUCCESS, NO_RESULT = 0, 1


def run(options: ContextOptions, face: Face) -> int:
    """Print whole files for a prompt."""
    face.note(options.notice)
    with face.open_chosen(options) as engine:
        format_name = "json" if face.common.json else options.format
        counted = "files" if format_name == "json" else format_name
        most = budget = engine.settings.context.window
        question = context_question(options._replace(format=counted), engine.folder)
        while True:
            result: Context = result_of(engine, replace(question, max_tokens=budget))
            text = _context_text(result, format_name, face)
            if format_name != "json" or n_tokens(text) <= most:
                break
            check_least(len(result.files), text, most)
            # The keys and quotes of JSON take room, too: as large a share as this time, it is supposed.
            budget = max(min(budget * most // n_tokens(text), budget - 1), 1)
    return show_context(result, format_name, face)


def show_sources(result: Context, most: int, face: Face) -> int:
    """Print the sources of an answer as JSON, the first files of at most `most` tokens, 0: all. Raises UsageError."""
    return show_context(_kept_short(result, most, face) if most else result, "json", face)


def _kept_short(result: Context, most: int, face: Face) -> Context:
    """Return the first files of a context as JSON of so many tokens; the others are absent. Raises UsageError."""

    def first(n: int) -> Context:
        absent = (*(file.path for file in result.files[n:]), *result.absent)
        return replace(result, files=result.files[:n], absent=absent)

    n = n_that_fit(len(result.files), lambda n: n_tokens(_context_text(first(n), "json", face)) <= most)
    check_least(n, _context_text(first(n), "json", face), most)
    return first(n)


def show_context(result: Context, format_name: str, face: Face) -> int:
    """Print a context in a format; note on stderr what it lacks."""
    face.note_indexing()
    face.notes(result.problems)
    face.write(_context_text(result, format_name, face), keeps_ends=format_name == "autocoder")
    _note_lost("only parts of these files fit", result.truncated, face)
    _note_lost("these files are absent", result.absent, face)
    more = Rest(result.n_left_out, result.n_left_out_is_exact)
    face.note(f"{more} more files have hits; a higher --max-files shows more" if result.n_left_out else "")
    if not result.files:
        face.note(f"nothing found for {result.query!r}")
    elif face.common.verbose:
        face.note(f"{len(result.files)} files, {result.n_tokens} tokens")
    return SUCCESS if result.files else NO_RESULT


def _note_lost(problem: str, paths: Iterable[str], face: Face) -> None:
    names = ", ".join(map(show_name, paths))
    face.note(f"{problem}, because the limit of tokens is too low: {names}" if names else "")


def _context_text(result: Context, format_name: str, face: Face) -> str:
    if format_name == "json":
        from codefathom.shapes import plain_shape, to_json

        return to_json({**plain_shape(result), **face.of_paths})
    from codefathom.answer.context_formats import context_text

    return context_text(result, format_name)
