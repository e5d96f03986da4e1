"""The commands: each asks the engine one thing, writes the answer and returns the exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, Any

from codefathom import __version__
from codefathom.cli import aliases
from codefathom.cli import options as given
from codefathom.cli.display.render import related_text, search_text, symbols_text
from codefathom.cli.face import Face
from codefathom.cli.filter_arguments import inside_project, where
from codefathom.errors import SourceError, UsageError
from codefathom.text.printable import show_name
from codefathom.types import Context, SearchResult

FOUND, NOTHING, ERROR = 0, 1, 2


def search(options: given.SearchOptions, face: Face) -> int:
    """Print the best places, best first."""
    with face.open() as engine:
        result = engine.search(options.query, where=where(options, engine.root), min_score=options.min_score)
    face.note_indexing()
    if face.common.json:
        from codefathom.shapes import search_shape, to_json

        face.write(to_json(search_shape(result)))
    else:
        face.notes([*_plan(result, always=options.explain or face.common.verbose), *_doubts(result)])
        face.write(search_text(result, face.style, whole=face.common.verbose, explain=_explainer(options.explain)))
    if not result.hits:
        face.note(f"nothing found for {options.query!r}" + (f"; {result.suggestion}" if result.suggestion else ""))
    elif face.common.verbose:
        face.note(f"{len(result.hits)} hits, confidence {result.confidence:.2f}, {result.milliseconds:.1f} ms")
    return FOUND if result.hits else NOTHING


def _plan(result: SearchResult, *, always: bool) -> list[str]:
    """Say how the query was taken, where that is not plain ranking by words and meaning."""
    plan = result.plan
    if not plan.why or not (always or plan.route in ("regex", "graph")):
        return []
    return [f"{plan.route}: {plan.why}; --mode chooses another way"]


def _doubts(result: SearchResult) -> list[str]:
    stale = ["files have changed since the index was made; fathom index brings it up to date"]
    weak = [f"weak: most likely nothing here answers this (confidence {result.confidence:.2f}); these are the nearest"]
    return [*result.degraded, *(stale if result.stale else []), *(weak if result.weak else [])]


def _explainer(wanted: bool) -> Callable[[Mapping[str, float]], Iterable[str]]:
    if not wanted:
        return lambda _: ()
    from codefathom.search.ranking.explain import lines

    return lines


def symbols(options: given.SymbolsOptions, face: Face) -> int:
    """Print definitions by name."""
    with face.open() as engine:
        path = inside_project(options.path, engine.root) if options.path else ""
        found = engine.symbols(options.query, path=path, kind=options.kind, limit=options.limit)
    face.note_indexing()
    if face.common.json:
        from codefathom.shapes import symbols_shape, to_json

        face.write(to_json(symbols_shape(options.query, found)))
    else:
        face.write(symbols_text(found, face.style))
    if not found:
        wanted = f"no symbol matches {options.query!r}" if options.query else "no symbol was found"
        face.note(f"{wanted}; fathom search looks inside the text too")
    return FOUND if found else NOTHING


def related(options: given.RelatedOptions, face: Face) -> int:
    """Print what a file or symbol is connected with, and how complete that is."""
    with face.open() as engine:
        result = engine.related(_target(options.target, engine.root), depth=options.depth)
    face.note_indexing()
    if face.common.json:
        from codefathom.shapes import plain_shape, to_json

        face.write(to_json(plain_shape(result)))
    else:
        face.write(related_text(result, face.style))
        unresolved = f"; {result.n_unresolved} imports lead outside the project" if result.n_unresolved else ""
        face.note(f"{result.completeness.rstrip('.')}{unresolved}")
    if not result.edges:
        face.note(f"nothing is connected with {show_name(result.target)}")
    return FOUND if result.edges else NOTHING


def _target(written: str, root: str) -> str:
    """Return a path as the project has it; what is none here may be a name, a module or the end of a path."""
    try:
        return written if written.startswith("@@") else inside_project(written.removeprefix("@"), root)
    except UsageError:
        return written


def context(options: given.ContextOptions, face: Face) -> int:
    """Print whole files for a prompt."""
    face.note(options.notice)
    with face.open() as engine:
        result = engine.context(options.query, where=where(options, engine.root))
    return _show_context(result, "json" if face.common.json else options.format, face)


def ask(options: given.AskOptions, face: Face) -> int:
    """Answer in words, or with excerpts where no language model is configured; or print what the answer rests on."""
    if options.rag:
        llm = face.settings().llm
        if not llm.of("answer"):
            return context(aliases.as_context(options), face)
    from codefathom.cli.commands.ask_command import contexts, run, unwrapped

    options = unwrapped(options)
    return _show_context(contexts(options, face), "json", face) if options.contexts_only else run(options, face)


def chat(options: given.AskOptions, face: Face) -> int:
    """Answer one question after another, until the input ends."""
    from codefathom.cli.commands.chat_command import run

    return run(options, face)


def _show_context(result: Context, format_name: str, face: Face) -> int:
    face.note_indexing()
    face.notes(result.degraded)
    face.write(_context_text(result, format_name))
    if result.truncated:
        face.note(f"not whole, the budget was too small: {', '.join(map(show_name, result.truncated))}")
    if not result.files:
        face.note(f"nothing found for {result.query!r}")
    elif face.common.verbose:
        face.note(f"{len(result.files)} files, about {result.n_tokens} tokens")
    return FOUND if result.files else NOTHING


def _context_text(result: Context, format_name: str) -> str:
    if format_name == "json":
        from codefathom.shapes import plain_shape, to_json

        return to_json(plain_shape(result))
    from codefathom.cli.display.context_formats import context_text

    return context_text(result, format_name)


def status(options: given.StatusOptions, face: Face) -> int:
    """Print what the index holds."""
    from codefathom.cli.display.render import secrets_text, status_text

    if options.secrets:
        with face.open() as engine:
            places = engine.secrets()
        if face.common.json:
            from codefathom.shapes import secrets_shape, to_json

            face.write(to_json(secrets_shape(places)))
        else:
            face.write(secrets_text(places, face.style))
        return FOUND
    with face.open() as engine:
        result = engine.status()
    if face.common.json:
        from codefathom.shapes import plain_shape, to_json

        face.write(to_json(plain_shape(result)))
    else:
        face.write(status_text(result, face.style, skipped=options.skipped))
    return FOUND


def doctor(options: given.DoctorOptions, face: Face) -> int:
    """Print what works and what does not; 1 when something does not."""
    from codefathom.cli.display.render import checks_text

    with face.open() as engine:
        checks = engine.doctor(providers=options.providers, fix=options.fix)
    face.note_indexing()
    if face.common.json:
        from codefathom.shapes import checks_shape, to_json

        face.write(to_json(checks_shape(checks)))
    else:
        face.write(checks_text(checks, face.style))
    return FOUND if all(check.ok for check in checks) else NOTHING


def config(_: given.ConfigOptions, face: Face) -> int:
    """Print every setting, its value and its origin."""
    from codefathom.config.settings import known_settings

    with face.open() as engine:
        settings = engine.settings
        face.note(engine.leaving())
    rows = []
    for known in known_settings():
        section, name = known.key.split(".")
        value: Any = getattr(getattr(settings, section), name)
        origin = "; ".join(filter(None, (settings.origins.get(known.key, "default"), settings.refused.get(known.key))))
        rows.append((known, known.shown(value), origin))
    if face.common.json:
        from codefathom.shapes import to_json

        face.write(to_json([{"key": known.key, "value": value, "origin": origin} for known, value, origin in rows]))
        return FOUND
    from codefathom.cli.display.render import setting_line

    for known, value, origin in rows:
        face.write(setting_line(known.key, value, origin, face.style, known.rule.help if face.common.verbose else ""))
    return FOUND


def export(options: given.ExportOptions, face: Face) -> int:
    """Write the index as lines."""
    with face.open() as engine:
        lines = engine.export(options.format)
        if options.output == "-":
            for line in lines:
                face.write(_ended(line))
        else:
            _save(options.output, lines)
            face.note(f"wrote {show_name(options.output)}")
    return FOUND


def _save(path: str, lines: Iterable[str]) -> None:
    try:
        with _opened(path, "w") as file:
            file.writelines(map(_ended, lines))
    except OSError as error:
        raise SourceError(f"cannot write {path!r}: {error.strerror or error}", hint="write to another place") from error


def import_(options: given.ImportOptions, face: Face) -> int:
    """Read lines which export has written."""
    with face.open() as engine:
        if options.file == "-":
            n_documents = engine.import_index(_lines(sys.stdin), options.format)
        else:
            with _opened(options.file, "r") as file:
                n_documents = engine.import_index(_lines(file), options.format)
    face.note(f"took over {n_documents} documents")
    return FOUND


def _lines(file: Iterable[str]) -> Iterator[str]:
    try:
        yield from file
    except UnicodeDecodeError as error:
        raise SourceError("what is to be imported is not UTF-8", hint="give a file of `fathom export`") from error
    except OSError as error:
        raise SourceError(
            f"cannot read it: {error.strerror or error}", hint="give a file of `fathom export`"
        ) from error


def _ended(line: str) -> str:
    return line if line.endswith("\n") else line + "\n"


def _opened(path: str, mode: str) -> IO[str]:
    try:
        return open(path, mode, encoding="utf-8", newline="")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else error
        raise SourceError(f"cannot open {path!r}: {reason}", hint="name a file that can be opened") from error


def version(_: given.PlainOptions, face: Face) -> int:
    """Print the version."""
    if face.common.json:
        from codefathom.shapes import to_json

        face.write(to_json({"name": "codefathom", "version": __version__}))
    else:
        face.write(f"codefathom {__version__}\n")
    return FOUND


def index(options: given.IndexOptions, face: Face) -> int:
    """Make or update the index."""
    from codefathom.cli.commands.index_command import run

    return run(options, face)


def serve(options: given.ServeOptions, face: Face) -> int:
    """Answer over HTTP."""
    from codefathom.cli.commands.serve_command import run

    return run(options, face)


RUN: Mapping[str, Callable[[Any, Face], int]] = {
    "index": index,
    "search": search,
    "symbols": symbols,
    "related": related,
    "context": context,
    "ask": ask,
    "chat": chat,
    "status": status,
    "doctor": doctor,
    "config": config,
    "export": export,
    "import": import_,
    "serve": serve,
    "version": version,
}
