"""/files, /file, /file-tree, /picture, /symbols, /related, /history, /blame and /map: looking around in an index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any, NamedTuple, TypeAlias

from fastapi import APIRouter, Depends, Query, Response

from codefathom.answer.tokens import counter
from codefathom.errors import UsageError
from codefathom.facts.reasons import Note
from codefathom.project.browsing import TreeEntry
from codefathom.project.location import path_within
from codefathom.question.asker import result_of
from codefathom.question.extents import (
    DEEPEST,
    MOST_BLAMED_LINES,
    MOST_PASSED_BY,
    USUAL_DEPTH,
    USUAL_LIMIT,
    USUAL_MAP_TOKENS,
)
from codefathom.question.question import Question
from codefathom.question.question_options import Values, question_of
from codefathom.search.graph.project_map import MapParts, first_parts
from codefathom.server.http.answer_size import within_tokens
from codefathom.server.http.auth import Caller
from codefathom.server.requests.asker_elsewhere import AskerElsewhere, asker_for, chosen_projects
from codefathom.server.requests.turns import in_turn
from codefathom.server.schemas.file_schemas import (
    BlamedLinesOut,
    BlameOut,
    EdgeOut,
    FileLinesOut,
    FileOut,
    FilesOut,
    HistoryOut,
    MapOut,
    NameAtOut,
    RelatedOut,
    SymbolOut,
    SymbolsOut,
    TreeEntryOut,
    TreeOut,
)
from codefathom.server.schemas.search_schemas import CommitOut, notes_out, query_values
from codefathom.server.searches.look import Look, TreeEntries
from codefathom.server.searches.search_end import SearchLease
from codefathom.server.state import ClientHere, ServerState
from codefathom.shapes import history_shape, map_shape, rest_shape
from codefathom.source.size_limits import MAX_PAGES
from codefathom.types import (
    BlamedLines,
    FileLines,
    FoundSymbol,
    IndexedFile,
    LineHistory,
    NamedPlace,
    Picture,
    Related,
    RelatedResult,
    Rest,
    SomeSymbols,
)

ProjectId: TypeAlias = Annotated[
    str, Query(max_length=200, examples=["shop"], description="may be left out where there is only one project")
]
Path: TypeAlias = Annotated[str, Query(min_length=1, max_length=4_096, examples=["shop/pricing.py"])]
Folder: TypeAlias = Annotated[str, Query(max_length=4_096, examples=["shop"])]
Line: TypeAlias = Annotated[int, Query(ge=1, le=1_000_000_000, examples=[1])]
LastLine: TypeAlias = Annotated[
    int, Query(ge=0, le=1_000_000_000, examples=[20], description="last line; 0: the end of the file")
]
BlamedTo: TypeAlias = Annotated[
    int,
    Query(
        ge=0,
        le=1_000_000_000,
        examples=[20],
        description=f"last line; 0: as far as the file or {MOST_BLAMED_LINES:,} lines reach, which is the most at once",
    ),
]
Name: TypeAlias = Annotated[str, Query(max_length=1_000, examples=["price"])]
OneName: TypeAlias = Annotated[str, Query(min_length=1, max_length=200, examples=["price_of"])]
Kind: TypeAlias = Annotated[str, Query(max_length=100, examples=["function"])]
HistoryPlace: TypeAlias = Annotated[
    str,
    Query(
        min_length=1,
        max_length=4_096,
        examples=["shop/pricing.py:12-14"],
        description="PATH, PATH:LINE, PATH:A-B or @@NAME",
    ),
]
Day: TypeAlias = Annotated[
    str, Query(max_length=100, examples=["2026-11-01"], description="only commits of this day or later")
]
Author: TypeAlias = Annotated[
    str, Query(max_length=1_000, examples=["ann"], description="only commits whose author has this in the name")
]
Many: TypeAlias = Annotated[int, Query(ge=1, le=10_000, examples=[100])]
Offset: TypeAlias = Annotated[int, Query(ge=0, le=MOST_PASSED_BY, examples=[0])]
Words: TypeAlias = Annotated[str, Query(max_length=20_000, examples=["where are orders priced"])]
Tokens: TypeAlias = Annotated[
    int, Query(ge=1, le=1_000_000, examples=[2_000], description="maximum number of tokens of the answer")
]
MostTokens: TypeAlias = Annotated[
    int | None,
    Query(
        ge=1,
        le=1_000_000,
        examples=[2_000],
        description="maximum number of tokens of the answer; the last items are left out if they do not fit",
    ),
]
PageOfPdf: TypeAlias = Annotated[
    int, Query(ge=0, le=MAX_PAGES, examples=[0], description="page of a PDF, counted from 1; 0: the file is a picture")
]
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml")
_PATH = Query(min_length=1, max_length=4_096, examples=["shop/pricing.py"], description="also called file_path")
_FOLDER = Query(max_length=4_096, examples=["shop"], description="also called root_path")
# FastAPI has no other names of a parameter before a version that is too new to be required.
_OTHER_PATH = Query(min_length=1, max_length=4_096, include_in_schema=False)
_OTHER_FOLDER = Query(max_length=4_096, include_in_schema=False)
_MOST_NAMED = 10  # projects in an error
Depth: TypeAlias = Annotated[int, Query(ge=1, le=DEEPEST, examples=[1])]


async def _path_of_file(
    path: Annotated[str | None, _PATH] = None,
    file_path: Annotated[str | None, _OTHER_PATH] = None,
    filePath: Annotated[str | None, _OTHER_PATH] = None,  # noqa: N803
) -> str:
    return _only(path=path, file_path=file_path, filePath=filePath)


async def _path_of_folder(
    folder: Annotated[str | None, _FOLDER] = None,
    root_path: Annotated[str | None, _OTHER_FOLDER] = None,
    rootPath: Annotated[str | None, _OTHER_FOLDER] = None,  # noqa: N803
) -> str:
    return _only(folder=folder, root_path=root_path, rootPath=rootPath)


def _only(**values: str | None) -> str:
    """Return the one value of several names of one thing, "" without any. Raises UsageError for two."""
    names = [name for name, value in values.items() if value is not None]
    if len(names) > 1:
        raise UsageError(f"{' and '.join(names)} name the same thing", hint="give exactly one of them")
    return (values[names[0]] or "") if names else ""


FilePathIn: TypeAlias = Annotated[str, Depends(_path_of_file)]
FolderPathIn: TypeAlias = Annotated[str, Depends(_path_of_folder)]


class MapQuery(NamedTuple):
    """Question, files and folders of a map."""

    query: str
    files: tuple[str, ...]
    folders: tuple[str, ...]


async def _map_query(
    query: Words = "",
    file: Annotated[tuple[Path, ...], Query(max_length=100)] = (),
    folder: Annotated[tuple[Folder, ...], Query(max_length=100)] = (),
) -> MapQuery:
    return MapQuery(query, file, folder)


MapQueryIn: TypeAlias = Annotated[MapQuery, Depends(_map_query)]


class SymbolQuery(NamedTuple):
    """Which symbols are asked for."""

    query: str
    kind: str


async def _named(query: Name = "", kind: Kind = "") -> SymbolQuery:
    return SymbolQuery(query, kind)


class PageQuery(NamedTuple):
    """The place at which a page begins, and the room that it has."""

    offset: int
    max_tokens: int | None


async def _page(offset: Offset = 0, max_tokens: MostTokens = None) -> PageQuery:
    return PageQuery(offset, max_tokens)


PageIn: TypeAlias = Annotated[PageQuery, Depends(_page)]


async def _related(
    target: Path,
    options: Annotated[Values, Depends(query_values("related"))],
    depth: Depth = USUAL_DEPTH["related"],
    limit: Many = USUAL_LIMIT["related"],
) -> Question:
    return replace(question_of("related", target, options), depth=depth, limit=limit)


async def _history(
    place: HistoryPlace, since: Day = "", author: Author = "", limit: Many = USUAL_LIMIT["history"]
) -> Question:
    return Question(place, "history", since=since, author=author, limit=limit)


HistoryIn: TypeAlias = Annotated[Question, Depends(_history)]
RelatedIn: TypeAlias = Annotated[Question, Depends(_related)]
NameIn: TypeAlias = Annotated[SymbolQuery, Depends(_named)]


class PictureResponse(Response):
    """A picture, which can do nothing where somebody opens it alone."""

    media_type = "image/png"

    def __init__(self, content: bytes, status_code: int = 200, media_type: str = media_type) -> None:
        """Let a drawing have styles, and nothing else: no script, nothing from elsewhere."""
        policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
        headers = {"content-security-policy": policy, "cross-origin-resource-policy": "same-origin"}
        super().__init__(content, status_code, headers, media_type)


def router(state: ServerState) -> APIRouter:
    """Return the routes that show what is indexed."""
    routes = APIRouter(tags=["files"])
    _add_files(routes, state)
    _add_symbols(routes, state)
    _add_history(routes, state)
    _add_blame(routes, state)
    _add_pictures(routes, state)
    _add_name_at(routes, state)
    return routes


def _add_files(routes: APIRouter, state: ServerState) -> None:
    @routes.get("/files", summary="List indexed files")
    async def files(
        client: ClientHere, folder: FolderPathIn, project_id: ProjectId = "", limit: Many = 1_000, offset: Offset = 0
    ) -> FilesOut:
        def look(lease: SearchLease) -> FilesOut:
            name = project_id or only_project(state, client.caller)
            with asker_for(state, name, client.caller, lease) as asker:
                page = asker.look(Look("files", path_inside(folder, asker), offset=offset, limit=limit))
            end = rest_shape(Rest(max(page.n_files - offset - len(page.files), 0)), offset, len(page.files))
            shown = [_file_out(file) for file in page.files]
            return FilesOut(project_id=name, n_files=page.n_files, files=shown, **end, **_told(page.limitations))

        return await in_turn(state, *client, look)

    @routes.get("/file", summary="Show lines of an indexed file, as they are now")
    async def file(
        path: FilePathIn, client: ClientHere, project_id: ProjectId = "", start_line: Line = 1, end_line: LastLine = 0
    ) -> FileLinesOut:
        def look(lease: SearchLease) -> FileLinesOut:
            name = project_id or only_project(state, client.caller)
            if not path:
                raise UsageError("no file is named", hint="give its path in the project as path or file_path")
            with asker_for(state, name, client.caller, lease) as asker:
                # From the first line on is what a place such as `a.py:10-20` says better.
                start = start_line if start_line > 1 else 0
                question = Question(path_inside(path, asker), "lines", start_line=start, end_line=end_line)
                excerpt: FileLines = result_of(asker, question)
            return FileLinesOut(
                **excerpt.file._asdict(),
                project_id=name,
                start_line=excerpt.start_line,
                end_line=excerpt.end_line,
                content=excerpt.text,
                stale=excerpt.stale,
            )

        return await in_turn(state, *client, look)

    @routes.get("/file-tree", summary="List the contents of a folder")
    async def file_tree(client: ClientHere, folder: FolderPathIn, project_id: ProjectId = "") -> TreeOut:
        def look(lease: SearchLease) -> TreeOut:
            name = project_id or only_project(state, client.caller)
            with asker_for(state, name, client.caller, lease) as asker:
                below = path_inside(folder, asker)
                seen: TreeEntries = asker.look(Look("entries", below))
            entries = [_entry_out(entry) for entry in seen.entries]
            return TreeOut(project_id=name, folder=below, entries=entries, **_told(seen.limitations))

        return await in_turn(state, *client, look)


def _add_symbols(routes: APIRouter, state: ServerState) -> None:
    @routes.get("/symbols", summary="Find definitions by name, or list those of a file")
    async def symbols(
        client: ClientHere,
        name: NameIn,
        path: FilePathIn,
        project_id: ProjectId = "",
        limit: Many = 100,
        *,
        page: PageIn,
    ) -> SymbolsOut:
        def look(lease: SearchLease) -> SymbolsOut:
            project = project_id or only_project(state, client.caller)
            with asker_for(state, project, client.caller, lease) as asker:
                result = _symbols(asker, name, path_inside(path, asker), page.offset, limit)
            listed, n_symbols = list(map(symbol_out, result.symbols)), result.n_symbols
            answer = SymbolsOut(
                project_id=project,
                query=name.query,
                symbols=listed,
                n_symbols=n_symbols,
                completeness=result.completeness,
                completeness_parts=notes_out(result.limitations),
            )

            def first(n: int) -> SymbolsOut:
                end = rest_shape(Rest(max(n_symbols - page.offset - n, 0)), page.offset, n)
                return answer.model_copy(update={"symbols": listed[:n], **end})

            return within_tokens(len(listed), first, page.max_tokens)

        return await in_turn(state, *client, look)

    @routes.get("/related", summary="Show the files and symbols that a file or symbol is connected with")
    async def related(
        question: RelatedIn,
        client: ClientHere,
        project_id: ProjectId = "",
        *,
        page: PageIn,
    ) -> RelatedOut:
        def look(lease: SearchLease) -> RelatedOut:
            name = project_id or only_project(state, client.caller)
            with asker_for(state, name, client.caller, lease) as asker:
                result = result_of(asker, replace(question, offset=page.offset))
            return _related_out(name, result, page)

        return await in_turn(state, *client, look)

    @routes.get("/map", summary="Outline the most central files, within a number of tokens")
    async def map_project(
        wish: MapQueryIn,
        client: ClientHere,
        project_id: ProjectId = "",
        max_tokens: Tokens = USUAL_MAP_TOKENS,
        offset: Offset = 0,
    ) -> MapOut:
        def look(lease: SearchLease) -> MapOut:
            name = project_id or only_project(state, client.caller)
            with asker_for(state, name, client.caller, lease) as asker:
                most = offset + max_tokens  # each part has at least one token
                question = Question(
                    wish.query, "map", files=wish.files, folders=wish.folders, limit=most, as_parts=True
                )
                parts: MapParts = result_of(asker, question)
                content = parts.behind(offset)
                count = counter(asker.settings.context.tokenizer_path)

            def first(n: int) -> MapOut:
                outline = first_parts(wish.query, content, n, count)
                told = notes_out(outline.limitations)
                return MapOut(project_id=name, completeness_parts=told, **map_shape(outline))

            return within_tokens(min(len(content.parts), max_tokens), first, max_tokens)

        return await in_turn(state, *client, look)


def _add_history(routes: APIRouter, state: ServerState) -> None:
    @routes.get("/history", summary="Show which commits made some lines or a symbol, and who owns the file")
    async def history(
        question: HistoryIn, client: ClientHere, project_id: ProjectId = "", *, page: PageIn
    ) -> HistoryOut:
        def look(lease: SearchLease) -> HistoryOut:
            name = project_id or only_project(state, client.caller)
            with asker_for(state, name, client.caller, lease) as asker:
                own = replace(question, text=path_inside(question.text, asker), offset=page.offset)
                line_history: LineHistory = result_of(asker, own)

            def first(n: int) -> HistoryOut:
                return HistoryOut.model_validate({"project_id": name, **history_shape(line_history, n)})

            return within_tokens(len(line_history.steps), first, page.max_tokens)

        return await in_turn(state, *client, look)


def _add_blame(routes: APIRouter, state: ServerState) -> None:
    @routes.get("/blame", summary="Show which commit each line of a file comes from")
    async def blame(
        path: FilePathIn, client: ClientHere, project_id: ProjectId = "", start_line: Line = 1, end_line: BlamedTo = 0
    ) -> BlameOut:
        def look(lease: SearchLease) -> BlameOut:
            name = project_id or only_project(state, client.caller)
            with asker_for(state, name, client.caller, lease) as asker:
                own = path_inside(path, asker)
                last = end_line or start_line + MOST_BLAMED_LINES - 1
                groups: tuple[BlamedLines, ...] = asker.look(Look("blame", own, line=start_line, end_line=last))
            return BlameOut(project_id=name, path=own, lines=list(map(_blamed_out, groups)))

        return await in_turn(state, *client, look)


def _add_pictures(routes: APIRouter, state: ServerState) -> None:
    @routes.get(
        "/picture",
        summary="Show a picture file, or a page of a PDF as a picture, as they are now",
        response_class=PictureResponse,
        responses={200: {"content": {kind: {} for kind in _PICTURES}}},
    )
    async def picture(
        path: FilePathIn, client: ClientHere, project_id: ProjectId = "", page: PageOfPdf = 0
    ) -> PictureResponse:
        def look(lease: SearchLease) -> PictureResponse:
            name = project_id or only_project(state, client.caller)
            with asker_for(state, name, client.caller, lease) as asker:
                shown: Picture = asker.look(Look("picture", path_inside(path, asker), line=page))
            return PictureResponse(shown.data, media_type=shown.media_type)

        return await in_turn(state, *client, look)


def _add_name_at(routes: APIRouter, state: ServerState) -> None:
    @routes.get("/name-at", summary="Show what a name means on a line of a file")
    async def name_at(
        path: FilePathIn, line: Line, name: OneName, client: ClientHere, project_id: ProjectId = ""
    ) -> NameAtOut:
        def look(lease: SearchLease) -> NameAtOut:
            project = project_id or only_project(state, client.caller)
            with asker_for(state, project, client.caller, lease) as asker:
                place: NamedPlace = asker.look(Look("name", path_inside(path, asker), line=line, name=name))
            return NameAtOut(
                project_id=project,
                name=place.name,
                is_definition=place.is_definition,
                certainty=place.certainty,
                n_definitions=place.n_definitions,
                definitions=list(map(symbol_out, place.definitions)),
                uses=list(map(edge_out, place.uses)),
                n_uses=place.n_uses,
                n_uses_is_exact=place.n_uses_is_exact,
            )

        return await in_turn(state, *client, look)


def _symbols(asker: AskerElsewhere, name: SymbolQuery, path: str, offset: int, limit: int) -> SomeSymbols:
    """Return the symbols of a page, and the number of all."""
    if path and not name.query and not name.kind:
        outline = asker.look(Look("outline", path))
        return SomeSymbols(outline[offset : offset + limit], len(outline))
    question = Question(name.query, "symbols", path=path, symbol_kind=name.kind, limit=limit, offset=offset)
    symbols: SomeSymbols = result_of(asker, question)
    return symbols


def _blamed_out(group: BlamedLines) -> BlamedLinesOut:
    commit = None if group.commit is None else CommitOut.model_validate(group.commit._asdict())
    return BlamedLinesOut(start_line=group.start_line, end_line=group.end_line, commit=commit)


def _related_out(project_id: str, result: RelatedResult, page: PageQuery) -> RelatedOut:
    edges = list(map(edge_out, result.edges))
    answer = RelatedOut(
        project_id=project_id,
        target=result.target,
        edges=edges,
        completeness=result.completeness,
        completeness_parts=notes_out(result.limitations),
        n_unresolved=result.n_unresolved,
    )

    def first(n: int) -> RelatedOut:
        end = rest_shape(result.rest.plus(len(edges) - n), page.offset, n)
        return answer.model_copy(update={"edges": edges[:n], **end})

    return within_tokens(len(edges), first, page.max_tokens)


def only_project(state: ServerState, caller: Caller) -> str:
    """Return the one project that the caller may see. Raises NotFoundError without any, UsageError for several."""
    visible = chosen_projects(state, caller, ())
    if len(visible) > 1:
        raise UsageError(
            f"no project is named, and there are {len(visible)}", hint=f"give project_id: {_some(visible)}"
        )
    return visible[0]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")


def path_inside(path: str, asker: AskerElsewhere) -> str:
    """Return a whole path of the disk inside the project as it is in the project; any other text stays."""
    place = path_within(path, asker.root)
    if place is None:
        return path
    return "" if place == "." else place


def _file_out(file: IndexedFile) -> FileOut:
    return FileOut(**file._asdict())


def _told(limitations: Sequence[Note]) -> dict[str, Any]:
    return {"completeness": " ".join(map(str, limitations)), "completeness_parts": notes_out(limitations)}


def _entry_out(entry: TreeEntry) -> TreeEntryOut:
    file = entry.file
    return TreeEntryOut(
        name=entry.name,
        path=entry.path,
        is_folder=file is None,
        n_files=entry.n_files,
        language=file.language if file else "",
        n_lines=file.n_lines if file else 0,
    )


def edge_out(edge: Related) -> EdgeOut:
    """Return a connection as JSON."""
    return EdgeOut.model_validate(edge)


def symbol_out(item: FoundSymbol) -> SymbolOut:
    """Return a symbol as JSON."""
    return SymbolOut(path=item.path, language=item.language, **asdict(item.symbol), by_head=item.by_head)
