"""The commands: each asks the engine one thing, writes the answer and returns the exit code."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from codefathom import __version__, types
from codefathom.cli import aliases
from codefathom.cli.asked_questions import map_question, related_question, search_question, symbols_question
from codefathom.cli.display.output import Style
from codefathom.cli.display.render import files_text, map_code, map_notes, related_text, symbols_text
from codefathom.cli.face import Face
from codefathom.cli.filter_arguments import inside_project, path_typed
from codefathom.cli.options import (
    AskOptions,
    CompletionOptions,
    ContextOptions,
    DoctorOptions,
    FilesOptions,
    ImpactOptions,
    MapOptions,
    McpOptions,
    PlainOptions,
    RelatedOptions,
    SearchOptions,
    StatusOptions,
    SymbolsOptions,
)
from codefathom.cli.search_output import exit_code, write_hits
from codefathom.cli.token_budget import ItemList, map_within, write_items
from codefathom.errors import UsageError
from codefathom.facts.reasons import ALL_READ, SOME_READ, Told
from codefathom.question.asker import result_of
from codefathom.question.question import Question
from codefathom.search.verdict import note_of
from codefathom.text.printable import show_name
from codefathom.types.hits import Rest, SearchResult

if TYPE_CHECKING:
    from codefathom.engine import Engine
    from codefathom.search.graph.project_map import ProjectMap
    from codefathom.types.edges import RelatedResult
    from codefathom.types.index_states import Check
    from codefathom.types.listed_files import SomeFiles, SomeSymbols, TourStep

SUCCESS, NO_RESULT, ERROR = 0, 1, 2

Command: TypeAlias = Callable[[Any, Face], int]  # the options of the command; returns the exit code


def search(options: SearchOptions, face: Face) -> int:
    """Print the best places, best first."""
    options = options._replace(query=_question(options.query, face))
    if options.project or options.all or options.paths:
        from codefathom.cli.commands.several_commands import search_several

        return search_several(options, face)
    with face.open() as engine:
        question = search_question(options, engine.folder)
        files = tuple(path_typed(path, engine.root) for path in question.files)
        result = result_of(engine, replace(question, files=files))
    face.note_indexing()
    if not face.common.json:
        plan = _plan(result, always=options.explain or face.common.verbose)
        face.notes([*plan, *_doubts(result, anyway=question.anyway)])

    def shape(n_hits: int) -> Mapping[str, Any]:
        from codefathom.shapes import HitDetail, search_shape

        return search_shape(result, HitDetail(whole=face.common.verbose, explain=options.explain), n_hits)

    write_hits(result, shape, options, face)
    if not result.hits:
        face.note(f"nothing found for {options.query!r}" + (f"; {result.suggestion}" if result.suggestion else ""))
    elif face.common.verbose:
        face.note(f"{len(result.hits)} hits, confidence {result.confidence:.2f}, {result.milliseconds:.1f} ms")
    return exit_code(result, options)


def _question(written: str, face: Face) -> str:
    """Return the question as it was given, or for "-" the text of stdin. Raises SourceError for what is not text."""
    if written != "-":
        return written
    from codefathom.cli.extra_documents import text_of_stdin

    return text_of_stdin(face).strip()


def _plan(result: SearchResult, *, always: bool) -> list[str]:
    """Return a note on the kind of search, unless it is the usual ranking by words and vectors."""
    plan = result.plan
    is_chosen = plan.reason is not None and plan.reason.kind in (SOME_READ, ALL_READ)
    if is_chosen and not always:
        return []
    if not plan.why or not (always or plan.kept_to or plan.route in ("regex", "graph")):
        return []
    return [f"{plan.route}: {plan.why}; --mode chooses another way"]


def _doubts(result: SearchResult, *, anyway: bool) -> list[Told | None]:
    stale = ["files have changed since the index was made; run `fathom index` to update it"]
    return [*result.problems, *(stale if result.stale else []), note_of(result, anyway=anyway)]


def symbols(options: SymbolsOptions, face: Face) -> int:
    """Print definitions by name."""
    if options.project or options.all or options.paths:
        from codefathom.cli.commands.several_commands import symbols_of_several

        return symbols_of_several(options, face)
    with face.open() as engine:
        path = inside_project(options.path, engine.folder) if options.path else ""
        result: SomeSymbols = result_of(engine, symbols_question(options._replace(path=path)))
    symbols, n_symbols, limitations = result
    face.note_indexing()
    face.notes(limitations)

    def text(n: int, style: Style) -> str:
        if not face.common.json:
            return symbols_text(symbols[:n], style)
        from codefathom.shapes import symbols_shape, to_json

        return to_json(symbols_shape(options.query, result._replace(symbols=symbols[:n]), options.offset))

    rest = Rest(max(n_symbols - options.offset - len(symbols), 0))
    write_items(ItemList(len(symbols), text, "symbols", offset=options.offset, rest=rest), options.max_tokens, face)
    if n_symbols and not symbols:
        face.note(f"the list ends before the offset {options.offset}: it has {n_symbols} symbols")
    elif not symbols:
        problem = f"no symbol matches {options.query!r}" if options.query else "no symbol was found"
        face.note(f"{problem}; `fathom search` also searches the text")
    return SUCCESS if symbols else NO_RESULT


def files(options: FilesOptions, face: Face) -> int:
    """Print the files that are in the index."""
    with face.open() as engine:
        engine.refresh()
        folder = inside_project(options.folder, engine.folder) if options.folder else ""
        some: SomeFiles = result_of(engine, Question(folder, "files"))
    listed = some.files
    face.note_indexing()
    face.notes(some.limitations)

    def text(n: int, style: Style) -> str:
        if not face.common.json:
            return files_text(listed[:n], style, whole=face.common.verbose)
        from codefathom.shapes import files_shape, to_json

        return to_json(files_shape(some, n))

    write_items(ItemList(len(listed), text, "files"), options.max_tokens, face)
    if not listed:
        face.note("no file is indexed there; `fathom status --skipped` lists the files that are left out")
    return SUCCESS if listed else NO_RESULT


def completion(options: CompletionOptions, face: Face) -> int:
    """Print a script that completes commands and options in a shell."""
    from codefathom.cli.completion import script

    face.write(script(options.shell))
    return SUCCESS


def related(options: RelatedOptions, face: Face) -> int:
    """Print the files and symbols connected with a file or symbol, and how complete the list is."""
    if options.project or options.all or options.paths:
        from codefathom.cli.commands.several_commands import related_in_several

        return related_in_several(options, face)
    with face.open() as engine:
        target = _target(options.target, engine.folder)
        result = result_of(engine, related_question(options._replace(target=target)))
    face.note_indexing()

    def text(n: int, style: Style) -> str:
        if not face.common.json:
            return related_text(replace(result, edges=result.edges[:n]), style)
        from codefathom.shapes import related_shape, to_json

        return to_json(related_shape(result, n))

    items = ItemList(len(result.edges), text, "results", offset=result.offset, rest=result.rest)
    write_items(items, options.max_tokens, face)
    if not face.common.json:
        face.note(_completeness(result))
    if not result.edges:
        face.note(f"nothing is connected with {show_name(result.target)}")
    return SUCCESS if result.edges else NO_RESULT


def impact(options: ImpactOptions, face: Face) -> int:
    """Print what a change reaches, and the tests that touch it."""
    from codefathom.cli.commands.impact_command import run

    return run(options, face)


def _completeness(result: RelatedResult) -> str:
    outside = f"; {result.n_unresolved} imports refer to modules outside the project" if result.n_unresolved else ""
    return f"{result.completeness.rstrip('.')}{outside}"


def _target(written: str, root: str) -> str:
    """Return a path as it is in the project; other texts stay: a name, a module, the end of a path."""
    try:
        return written if written.startswith("@@") else inside_project(written.removeprefix("@"), root)
    except UsageError:
        return written


def map_project(options: MapOptions, face: Face) -> int:
    """Print the most central files, each with the definitions that others use."""
    from codefathom.search.graph.project_map import map_text
    from codefathom.shapes import map_shape, to_json

    options = options._replace(query=_question(options.query, face))
    if options.project or options.all or options.paths:
        from codefathom.cli.commands.several_commands import map_of_several

        return map_of_several(options, face)
    with face.open() as engine:
        files = tuple(inside_project(path, engine.folder) for path in options.file)
        folders = tuple(inside_project(folder, engine.folder) for folder in options.dir)
        question = map_question(options._replace(file=files, dir=folders))
        if question.tour:
            from codefathom.cli.tour_output import write_tour

            steps: Sequence[TourStep] = result_of(engine, question)
            return write_tour(steps, options.max_tokens, face)

        def draw(budget: int) -> tuple[ProjectMap, str]:
            outline: ProjectMap = result_of(engine, replace(question, max_tokens=budget))
            return outline, to_json(map_shape(outline)) if face.common.json else map_text(outline.files)

        outline, text = map_within(draw, options.max_tokens)
    face.note_indexing()
    face.write(text)
    face.notes(map_notes(outline))
    if not outline.files and not (outline.n_left_out or outline.verdict):
        face.note("no file is indexed; `fathom status --skipped` lists the files that are left out")
    return map_code(outline)


def context(options: ContextOptions, face: Face) -> int:
    """Print whole files for a prompt."""
    from codefathom.cli.commands.context_command import run

    return run(options._replace(query=_question(options.query, face)), face)


def ask(options: AskOptions, face: Face) -> int:
    """Print an answer, or excerpts if no language model is configured; or only the sources of an answer."""
    options = options._replace(query=_question(options.query, face))
    if options.rag:
        llm = face.settings().llm
        if not llm.of("answer") and not options.shell:
            return context(aliases.as_context(options), face)
    from codefathom.cli.commands.ask_command import choose_level, contexts, run, unwrapped

    options = unwrapped(options)
    choose_level(options, face)
    if not options.contexts_only:
        return run(options, face)
    from codefathom.cli.commands.context_command import show_sources

    return show_sources(contexts(options, face), options.max_tokens, face)


def status(options: StatusOptions, face: Face) -> int:
    """Print the contents and the state of the index."""
    with face.open() as engine:
        items = _secret_places(engine, face) if options.secrets else _status_items(engine, options, face)
    write_items(items, options.max_tokens, face)
    return SUCCESS


def _secret_places(engine: Engine, face: Face) -> ItemList:
    from codefathom.cli.display.render import secrets_text
    from codefathom.shapes import secrets_shape, to_json

    places = engine.secrets()

    def text(n: int, style: Style) -> str:
        return to_json(secrets_shape(places, n)) if face.common.json else secrets_text(places[:n], style)

    return ItemList(len(places), text, "places")


def _status_items(engine: Engine, options: StatusOptions, face: Face) -> ItemList:
    """Return the lines of a status; as JSON, the entries of its lists."""
    from codefathom.cli.commands.index_command import revision_line
    from codefathom.cli.display.render import status_text
    from codefathom.shapes import status_shape, to_json

    result, indexes = engine.status(), engine.revisions
    if face.common.json:
        n_items = len(result.failures) + len(result.broken) + len(result.skipped) + len(indexes)
        return ItemList(n_items, lambda n, _: to_json(status_shape(result, list(map(asdict, indexes)), n)), "entries")
    more = "" if options.skipped else "".join(map(revision_line, indexes))

    def lines(style: Style) -> list[str]:
        return f"{status_text(result, style, skipped=options.skipped)}{more}".splitlines(keepends=True)

    n_lines = len(lines(face.style))
    return ItemList(n_lines, lambda n, style: "".join(lines(style)[:n]), "files" if options.skipped else "lines")


def doctor(options: DoctorOptions, face: Face) -> int:
    """Print the result of each check; return 1 if one failed."""
    with face.open() as engine:
        checks = engine.doctor(providers=options.providers, fix=options.fix)
    face.note_indexing()
    return write_checks((*checks, *_session_checks()), face)


def _session_checks() -> tuple[Check, ...]:
    """Return whether the running `fathom serve` of this user, if there is one, answers the sessions of `fathom mcp`."""
    from codefathom.mcp.shared_session import server_refusal

    refusal = server_refusal(os.environ)
    if refusal == "":
        return (types.Check("sessions", True, "`fathom serve` answers the sessions of `fathom mcp` in one process"),)
    remedy = "start `fathom serve` again, with this `fathom` and from such a shell"
    return (types.Check("sessions", False, f"each `fathom mcp` is alone: {refusal}", remedy),) if refusal else ()


def write_checks(checks: Sequence[Check], face: Face) -> int:
    """Print the result of each check; return 1 if one failed."""
    from codefathom.cli.display.render import checks_text

    if face.common.json:
        from codefathom.shapes import checks_shape, to_json

        face.write(to_json(checks_shape(checks)))
    else:
        face.write(checks_text(checks, face.style))
    return SUCCESS if all(check.ok for check in checks) else NO_RESULT


def config(_: PlainOptions, face: Face) -> int:
    """Print every setting, its value and its origin."""
    from codefathom.config.settings import declared_settings

    with face.open() as engine:
        settings = engine.settings
        face.note(engine.leaving())
    rows = []
    for setting in declared_settings():
        section, name = setting.key.split(".")
        value: Any = getattr(getattr(settings, section), name)
        origin = "; ".join(
            filter(None, (settings.origins.get(setting.key, "default"), settings.refused.get(setting.key)))
        )
        rows.append((setting, setting.shown(value), origin))
    if face.common.json:
        from codefathom.shapes import to_json

        face.write(to_json([{"key": setting.key, "value": value, "origin": origin} for setting, value, origin in rows]))
        return SUCCESS
    from codefathom.cli.display.render import setting_line

    for setting, value, origin in rows:
        explanation = setting.rule.help if face.common.verbose else ""
        face.write(setting_line(setting.key, value, origin, face.style, explanation))
    return SUCCESS


def version(_: PlainOptions, face: Face) -> int:
    """Print the version."""
    if face.common.json:
        from codefathom.shapes import to_json

        face.write(to_json({"name": "codefathom", "version": __version__}))
    else:
        face.write(f"codefathom {__version__}\n")
    return SUCCESS


def mcp(options: McpOptions, _: Face) -> int:
    """Answer a coding agent until stdin ends."""
    from codefathom.cli.commands.mcp_command import run

    return run(options)


def _in(module: str, function: str = "run") -> Command:
    """Return a command that its module holds, which is imported only when the command runs."""

    def run(options: Any, face: Face) -> int:
        command: Command = getattr(import_module(f"codefathom.cli.commands.{module}"), function)
        return command(options, face)

    return run


RUN: Mapping[str, Command] = {
    "index": _in("index_command"),
    "search": search,
    "symbols": symbols,
    "files": files,
    "related": related,
    "impact": impact,
    "history": _in("history_command"),
    "map": map_project,
    "context": context,
    "ask": ask,
    "chat": _in("chat_command"),
    "status": status,
    "doctor": doctor,
    "config": config,
    "export": _in("exchange_command", "export"),
    "import": _in("exchange_command", "import_"),
    "serve": _in("serve_command"),
    "tokens": _in("tokens_command"),
    "install": _in("install_command", "install"),
    "uninstall": _in("install_command", "uninstall"),
    "mcp": mcp,
    "lsp": _in("lsp_command"),
    "bench": _in("bench_command"),
    "projects": _in("projects_command"),
    "fleet": _in("fleet_command"),
    "backup": _in("saved_index_command", "backup"),
    "restore": _in("saved_index_command", "restore"),
    "store": _in("store_command"),
    "completion": completion,
    "version": version,
}
