"""A language server over two streams. The loop reads messages; what asks the index runs in threads beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, NamedTuple, Protocol, TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from codefathom import __version__
from codefathom.engine import Engine
from codefathom.errors import FathomError
from codefathom.lsp.callers import Callers
from codefathom.lsp.editor_answers import EditorAnswers, NamedAt
from codefathom.lsp.positions import UTF16
from codefathom.lsp.shown_files import OpenText, ShownFiles, path_of
from codefathom.text.printable import show_text

_MOST_TRIES = 5  # of an answer while other threads take in files
_MOST_AT_ONCE = 4  # requests; an editor asks several things of a file when it opens it
_NOT_INITIALIZED = -32002
_REQUEST_FAILED = -32803

OpenProject = Callable[[str], Engine]  # of a folder; of "" that of the command line


class _AtPosition(Protocol):
    """The parameters of a request about a place."""

    text_document: lsp.TextDocumentIdentifier
    position: lsp.Position


class Respondent(NamedTuple):
    """What answers a request."""

    path_of: Callable[[str], str]  # of an address: the path in the project, "" for one outside
    answers: EditorAnswers
    callers: Callers


Ask = Callable[[Respondent, Any], Any]
_T = TypeVar("_T")


def of_one_state(engine: Engine, work: Callable[[], _T]) -> _T:
    """Return an answer during which the index did not change: else lines of before may stand in a text of now."""
    for _ in range(_MOST_TRIES):
        generation = engine.generation
        answer = work()
        if engine.generation == generation:
            break
    return answer


class EditorServer(LanguageServer):
    """The server of one editor, for one project: that of the first folder of its workspace."""

    def __init__(self, open_project: OpenProject) -> None:
        # An editor sends whole texts: what counts as a line is then decided here, in one place.
        super().__init__("codefathom", __version__, lsp.TextDocumentSyncKind.Full)
        self._open_project = open_project
        self._threads = ThreadPoolExecutor(_MOST_AT_ONCE)
        self._engine: Engine | None = None
        self._wrong_options: list[str] = []
        self._left_out: list[str] = []  # folders of the workspace that are not answered for

    @property
    def engine(self) -> Engine:
        """The project. Raises JsonRpcException before the editor has told its folder."""
        if self._engine is None:
            raise JsonRpcException("the editor has not told its folder yet", _NOT_INITIALIZED)
        return self._engine

    def begin(self, params: lsp.InitializeParams) -> None:
        """Open the project of an editor's workspace. Nothing is read yet."""
        folders = [folder.uri for folder in params.workspace_folders or ()]
        uris = folders or [params.root_uri or ""]
        self._left_out = folders[1:]
        try:
            engine = self._open_project(to_fs_path(uris[0]) or "" if uris[0].startswith("file:") else "")
        except FathomError as error:
            raise _failure(error) from error
        if not engine.folder:
            raise JsonRpcException("this repository has no working tree that an editor could show", _REQUEST_FAILED)
        self._engine = engine

    def wants_lenses(self, options: Any) -> bool:
        """Return False where the options of an editor turn lenses off; a value that is neither is told and ignored."""
        is_mapping = isinstance(options, Mapping)
        has_lenses = options.get("codeLens", True) if is_mapping else getattr(options, "codeLens", True)
        if not isinstance(has_lenses, bool):
            value = show_text(repr(has_lenses)[:80])
            self._wrong_options.append(f"the initialization option codeLens must be true or false, not {value}")
        return has_lenses is not False

    async def make_index(self) -> None:
        """Make or renew the index, so that the first request does not wait for it."""
        if self._left_out:
            self.tell(
                f"fathom lsp answers for one project, {self.engine.folder}, and not for {', '.join(self._left_out)}; "
                "open each of them in a window of its own",
                lsp.MessageType.Warning,
            )
        for text in self._wrong_options:
            self.tell(text, lsp.MessageType.Warning)
        try:
            await self.beside(self.engine.current.refresh)
        except FathomError as error:
            self.tell(f"the index cannot be made: {_words(error)}", lsp.MessageType.Error)

    def tell(self, text: str, kind: lsp.MessageType = lsp.MessageType.Log) -> None:
        """Write to the log of the editor; a warning or an error is shown."""
        if kind == lsp.MessageType.Log:
            self.window_log_message(lsp.LogMessageParams(kind, text))
        else:
            # VS Code makes `[words](command:...)` in a message a link that runs a command.
            self.window_show_message(lsp.ShowMessageParams(kind, text.replace("](", "] (")))

    async def beside(self, work: Callable[[], Any]) -> Any:
        """Return what some work gives that runs in a thread: the loop goes on, and a client may take its wish back."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def answered(self, ask: Ask, params: Any) -> Any:
        """Return the answer to a request. Raises JsonRpcException with an error and its remedy in words."""
        engine, texts = self.engine, self._open_texts()
        encoding = str(getattr(self.workspace.position_encoding, "value", None) or UTF16)

        def work() -> tuple[Any, list[str]]:
            files = ShownFiles(engine, texts, encoding)
            answers = EditorAnswers(engine, files)
            return ask(Respondent(self.path, answers, Callers(answers, files)), params), answers.remarks

        try:
            answer, remarks = await self.beside(lambda: of_one_state(engine, work))
        except FathomError as error:
            raise _failure(error) from error
        for remark in remarks:
            self.tell(remark)
        return answer

    async def take_in(self, uri: str) -> None:
        """Take in a file that was saved. What is wrong is told by the next question."""
        path = path_of(uri, self.engine.folder)
        if path is not None:
            try:
                await self.beside(lambda: self.engine.take_in([path]))
            except FathomError as error:
                self.tell(_words(error))

    def path(self, uri: str) -> str:
        """Return the path of a document in the project, "" for one outside."""
        return path_of(uri, self.engine.folder) or ""

    def _open_texts(self) -> dict[str, OpenText]:
        documents = self.workspace.text_documents.items()
        return {self.path(uri): OpenText(uri, document.source) for uri, document in documents}

    def close(self) -> None:
        """End the threads and close the project."""
        self._threads.shutdown(cancel_futures=True)
        if self._engine is not None:
            self._engine.close()


def serve(open_project: OpenProject, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Answer an editor on two streams until it leaves; `stdout` is closed then."""
    server = made(open_project)
    try:
        server.start_io(stdin, stdout)
    finally:
        server.close()


def made(open_project: OpenProject) -> EditorServer:
    """Return a server with all that it can answer."""
    server = EditorServer(open_project)

    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        server.begin(params)
        if server.wants_lenses(params.initialization_options):
            for method, ask in _LENSES.items():
                _add(server, method, ask)

    @server.feature(lsp.INITIALIZED)
    async def initialized(_: Any) -> None:
        await server.make_index()

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        await server.take_in(params.text_document.uri)

    for method, ask in _REQUESTS.items():
        _add(server, method, ask)
    return server


def _add(server: EditorServer, method: str, ask: Ask) -> None:
    @server.feature(method)
    async def answer(params: Any) -> Any:
        return await server.answered(ask, params)


def _symbols(respondent: Respondent, params: lsp.WorkspaceSymbolParams) -> Any:
    return respondent.answers.symbols(params.query)


def _outline(respondent: Respondent, params: lsp.DocumentSymbolParams) -> Any:
    return respondent.answers.outline(respondent.path_of(params.text_document.uri))


def _named(respondent: Respondent, params: _AtPosition) -> NamedAt | None:
    return respondent.answers.named_at(respondent.path_of(params.text_document.uri), params.position)


def _definition(respondent: Respondent, params: lsp.DefinitionParams) -> Any:
    named = _named(respondent, params)
    return respondent.answers.definitions(named.place) if named else None


def _hover(respondent: Respondent, params: lsp.HoverParams) -> Any:
    named = _named(respondent, params)
    return respondent.answers.hover(named) if named else None


def _references(respondent: Respondent, params: lsp.ReferenceParams) -> Any:
    named = _named(respondent, params)
    if named is None:
        return None
    definitions = respondent.answers.declarations(named.place) if params.context.include_declaration else []
    return definitions + [place for place in respondent.answers.uses(named.place) if place not in definitions]


def _call_items(respondent: Respondent, params: lsp.CallHierarchyPrepareParams) -> Any:
    named = _named(respondent, params)
    return respondent.callers.items(named) if named else None


def _incoming(respondent: Respondent, params: lsp.CallHierarchyIncomingCallsParams) -> Any:
    return respondent.callers.incoming(params.item.data)


def _outgoing(respondent: Respondent, params: lsp.CallHierarchyOutgoingCallsParams) -> Any:
    return respondent.callers.outgoing(params.item.data)


def _lenses(respondent: Respondent, params: lsp.CodeLensParams) -> Any:
    return respondent.callers.lenses(respondent.path_of(params.text_document.uri))


def _lens(respondent: Respondent, lens: lsp.CodeLens) -> Any:
    return respondent.callers.resolved(lens)


_REQUESTS: dict[str, Ask] = {
    lsp.WORKSPACE_SYMBOL: _symbols,
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: _outline,
    lsp.TEXT_DOCUMENT_DEFINITION: _definition,
    lsp.TEXT_DOCUMENT_HOVER: _hover,
    lsp.TEXT_DOCUMENT_REFERENCES: _references,
    lsp.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: _call_items,
    lsp.CALL_HIERARCHY_INCOMING_CALLS: _incoming,
    lsp.CALL_HIERARCHY_OUTGOING_CALLS: _outgoing,
}
_LENSES: dict[str, Ask] = {lsp.TEXT_DOCUMENT_CODE_LENS: _lenses, lsp.CODE_LENS_RESOLVE: _lens}


def _words(error: FathomError) -> str:
    return f"{error}; {error.hint}" if error.hint else str(error)


def _failure(error: FathomError) -> JsonRpcException:
    return JsonRpcException(_words(error), _REQUEST_FAILED)
