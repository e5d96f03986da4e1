"""Calls of tools, each in its turn among the searches of all clients, and ended when nobody waits any more."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from codefathom.errors import FathomError
from codefathom.facts.remedies import for_agents_over_http
from codefathom.mcp.call_control import CallControl
from codefathom.mcp.tool_arguments import own_argument, texts
from codefathom.mcp.tool_calls import ToolCalls, ToolResult, patience_s
from codefathom.mcp.tool_list import tool_named, tools
from codefathom.mcp.tool_results import as_text_alone, indexing_result, refusal_result
from codefathom.server.access.route_table import TOOL_NEEDS
from codefathom.server.http.auth import Caller
from codefathom.server.http.user_roles import Role
from codefathom.server.mcp.index_wait import first_steps, wait_for_index
from codefathom.server.mcp.served_projects import ServedProjects
from codefathom.server.mcp.tool_answers import Report, answered, has_model
from codefathom.server.requests.turns import LET_FINISH_S
from codefathom.server.searches.search_end import SearchEnd, SearchLease
from codefathom.server.state import ServerState
from codefathom.types import Progress

if TYPE_CHECKING:
    from codefathom.mcp.tool_list import ToolSpec

_PATHS = {"path", "target", "paths", "files", "glob"}  # arguments that hold paths


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """One call of a tool, and who wants it."""

    caller: Caller
    client: str  # whose turn it is among those who wait
    name: str
    arguments: Mapping[str, Any]
    is_heard: bool = False  # by somebody who wants to know how far it is


class ToolTurns:
    """The tools of one server."""

    def __init__(self, state: ServerState) -> None:
        self._state = state

    async def listed(self, caller: Caller) -> Sequence[ToolSpec]:
        """Return the tools that a caller is offered."""
        return tools(has_model=await self._has_model(caller), is_structured=self._is_structured)

    async def is_offered(self, name: str, caller: Caller) -> bool:
        """Return True if a caller is offered a tool of this name."""
        if caller.highest_role < TOOL_NEEDS.get(name, Role.ADMIN):
            return False
        return tool_named(name) is not None and (name != "ask" or await self._has_model(caller))

    async def call(self, request: ToolRequest, report: Report) -> ToolResult:
        """Return the result of a tool; a mistake and a limit are results too, and name the remedy.

        When this is cancelled, what has not begun is left undone, and a search that goes on for long is ended. An
        answer takes no turn of a search, and has no limit of time but those of its model: so it is with /ask, too.
        """
        started = monotonic()
        try:
            result = await self._called(request, report)
        except Exception:
            self._state.history.add_question(None, is_failed=True)
            raise
        self._state.history.add_question(monotonic() - started)
        return result

    async def _called(self, request: ToolRequest, report: Report) -> ToolResult:
        news = _News(report)
        telling = asyncio.ensure_future(news.pass_on())
        try:
            names, most_s = _names(request.arguments), patience_s(request.name, is_heard=request.is_heard)
            await wait_for_index(self._state, request.caller, names, news.tell, most_s)
            if request.name == "ask":
                news.end()
                await telling
                return await self._answered(request, names, _after(news.n_done, report))
            result = await self._in_turn(request, news)
            news.end()
            await telling
            return result
        except FathomError as error:
            return refusal_result(error, for_agents_over_http)
        finally:
            telling.cancel()

    async def _answered(self, request: ToolRequest, names: Sequence[str], report: Report) -> ToolResult:
        step = await to_thread.run_sync(first_steps, self._state, request.caller, names)
        if step is not None:
            result = indexing_result(step)
        else:
            result = await answered(self._state, request.caller, request.arguments, report)
        return result if self._is_structured else as_text_alone(result)

    async def _in_turn(self, request: ToolRequest, news: _News) -> ToolResult:
        limit_s, end = self._state.config.search_timeout_s, SearchEnd()
        until = monotonic() + limit_s
        projects = ServedProjects(self._state, request.caller, _paths(request), SearchLease(end, until))
        control = CallControl(is_cancelled=end.has_come, on_progress=news.tell)

        def work() -> ToolResult:
            return ToolCalls(projects, for_agents_over_http).call(request.name, request.arguments, control=control)

        try:
            return await self._state.search_queue.run(request.client, work, limit_s)
        finally:
            end.come()
            asyncio.get_running_loop().call_later(LET_FINISH_S, end.enforce)

    @property
    def _is_structured(self) -> bool:
        return self._state.projects.settings_outside().mcp.structured == "always"

    async def _has_model(self, caller: Caller) -> bool:
        return await to_thread.run_sync(has_model, self._state, caller)


def _names(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    try:
        return texts(arguments, "projects")
    except FathomError:  # told by the call itself
        return ()


def _paths(request: ToolRequest) -> list[str]:
    """Return the paths in the arguments of a tool, which may begin with the name of a project."""
    values = [value for name, value in request.arguments.items() if own_argument(request.name, name) in _PATHS]
    items = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return [text for text in items if isinstance(text, str)]


def _after(n_done: int, report: Report) -> Report:
    """Return a report whose numbers go on after those that were told before."""

    async def told(done: float, total: float | None, message: str | None) -> None:
        await report(n_done + done, total, message)

    return told


class _News:
    """The progress of a call on its way from the thread that works to the client; only the latest is sent."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._loop = asyncio.get_running_loop()
        self._latest: Progress | None = None
        self._n_done = -1
        self._is_over = False
        self._come = asyncio.Event()

    @property
    def n_done(self) -> int:
        """The highest number that was sent."""
        return max(self._n_done, 0)

    def tell(self, step: Progress) -> None:
        """Take a step, from any thread."""
        self._latest = step
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(self._come.set)

    def end(self) -> None:
        """Take no more steps."""
        self._is_over = True
        self._come.set()

    async def pass_on(self) -> None:
        """Send each step that is further than the one before, until the end."""
        while not self._is_over:
            await self._come.wait()
            self._come.clear()
            step = self._latest
            if step is not None and step.n_done > self._n_done:
                self._n_done = step.n_done
                await self._report(step.n_done, step.n_total or None, None)
