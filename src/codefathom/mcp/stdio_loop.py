"""The loop of `fathom mcp`: lines in, lines out; tools run in threads, so that a ping is answered meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from queue import SimpleQueue
from threading import Event, Lock, Thread

from codefathom import __version__
from codefathom.mcp.call_control import CallControl
from codefathom.mcp.protocol import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ToolMessage,
    answer,
    failure,
    progress,
    read_message,
    success,
)
from codefathom.mcp.tool_list import own_name, unknown_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from codefathom.mcp.protocol import Json
    from codefathom.mcp.tool_list import ToolSpec
    from codefathom.types import Progress

    # Name and arguments of a tool → result; it never raises.
    Call: TypeAlias = Callable[[str, Mapping[str, Any], CallControl], Json]

_N_THREADS = 4
_PHASES = {"scan": "looking for files", "index": "reading files", "write": "writing the index", "embed": "embedding"}
_MOST_WAITING = 1_000  # calls; a client that sends more is told so


class _Task:
    """A call of a tool that is not answered yet."""

    __slots__ = ("cancelled", "key", "message")

    def __init__(self, key: str | int, message: ToolMessage) -> None:
        self.key = key
        self.message = message
        self.cancelled = Event()


class StdioLoop:
    """The requests under way, and the one stream on which all is answered."""

    def __init__(self, call: Call, tools: Callable[[], Sequence[ToolSpec]], write: Callable[[str], None]) -> None:
        self._call = call
        self._tools = tools
        self._write = write
        self._lock = Lock()
        self._waiting: SimpleQueue[_Task | None] = SimpleQueue()
        self._under_way: dict[str | int, _Task] = {}
        self._threads: list[Thread] = []  # as many as were needed at a time, as there may be many sessions in a process

    def run(self, lines: Iterable[bytes]) -> None:
        """Answer until the lines end, and wait for what is under way."""
        for line in lines:
            if line.strip():
                self._take(read_message(line))
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()

    def give_up(self) -> None:
        """End what is under way: nobody waits for it any more."""
        with self._lock:
            for task in self._under_way.values():
                task.cancelled.set()

    def _take(self, message: ToolMessage | Json | None) -> None:
        if not isinstance(message, ToolMessage):
            if message is not None:
                self._send(message)
        elif message.key is None:
            self._take_notification(message)
        elif message.method == "tools/call" and message.is_supported:
            self._begin(message, message.key)
        else:
            self._send(answer(message, self._tools, __version__))

    def _begin(self, message: ToolMessage, key: str | int) -> None:
        name, offered = own_name(message.params.get("name")), self._tools()
        if name not in [tool["name"] for tool in offered]:
            self._send(failure(key, INVALID_PARAMS, unknown_tool(name, offered)))
            return
        if not isinstance(message.params.get("arguments") or {}, Mapping):
            self._send(failure(key, INVALID_PARAMS, f"the arguments of {name} must be an object"))
            return
        task = _Task(key, message)
        with self._lock:
            refusal = "its id is that of a call under way" if key in self._under_way else ""
            if len(self._under_way) >= _MOST_WAITING:
                refusal = f"{_MOST_WAITING} calls are under way already; wait for one of them"
            if not refusal:
                self._under_way[key] = task
            n_needed = len(self._under_way)
        if refusal:
            self._send(failure(key, INVALID_PARAMS, f"the call is refused: {refusal}"))
            return
        self._waiting.put(task)
        if len(self._threads) < min(n_needed, _N_THREADS):
            self._threads.append(Thread(target=self._work, daemon=True))
            self._threads[-1].start()

    def _take_notification(self, message: ToolMessage) -> None:
        key = message.params.get("requestId")
        if message.method == "notifications/cancelled" and isinstance(key, str | int):
            with self._lock:
                task = self._under_way.get(key)
            if task is not None:
                task.cancelled.set()

    def _work(self) -> None:
        while (task := self._waiting.get()) is not None:
            response = None if task.cancelled.is_set() else self._response(task)
            with self._lock:
                del self._under_way[task.key]
                is_wanted = response is not None and not task.cancelled.is_set()
            if is_wanted and response is not None:  # one that was cancelled is not answered
                self._send(response)

    def _response(self, task: _Task) -> Json:
        message = task.message
        token = message.progress_token
        teller = _Teller(token, self._send) if token is not None else None
        control = CallControl(task.cancelled.is_set, teller.tell if teller is not None else None)
        try:
            result = self._call(str(own_name(message.params["name"])), message.params.get("arguments") or {}, control)
        except Exception as error:  # the last resort: no request may end the session
            return failure(message.key, INTERNAL_ERROR, f"unexpected {type(error).__name__}")
        finally:
            if teller is not None:
                teller.end()
        return success(message, result)

    def _send(self, message: Json) -> None:
        line = json.dumps(message, ensure_ascii=True, separators=(",", ":"))
        with self._lock:
            self._write(f"{line}\n")


class _Teller:
    """The progress of one call, told by numbers that grow, and never after its end."""

    def __init__(self, token: str | int, send: Callable[[Json], None]) -> None:
        self._token = token
        self._send = send
        self._lock = Lock()
        self._last: int | None = None  # None once the call has ended, too
        self._is_over = False

    def tell(self, step: Progress) -> None:
        with self._lock:
            last = -1 if self._last is None else self._last
            is_counted = step.n_total > 0
            n_done = step.n_done if is_counted else last + 1
            if self._is_over or n_done <= last:
                return
            self._last = n_done
            text = step.message or _PHASES.get(step.phase, step.phase)
            self._send(progress(self._token, n_done, step.n_total if is_counted else None, text))

    def end(self) -> None:
        with self._lock:
            self._is_over = True
