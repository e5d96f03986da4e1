"""The loop of `fathom mcp`: lines in, lines out; tools run in threads, so that a ping is answered meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from codefathom import __version__
from codefathom.mcp.protocol import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    Json,
    ToolMessage,
    answer,
    failure,
    read_message,
    success,
)
from codefathom.mcp.tool_list import TOOLS

Call = Callable[[str, Mapping[str, Any]], Json]  # name and arguments of a tool → result; it never raises
_N_THREADS = 4


class StdioLoop:
    """The requests under way, and the one stream on which all is answered."""

    def __init__(self, call: Call, write: Callable[[str], None]) -> None:
        self._call = call
        self._write = write
        self._lock = Lock()
        self._waiting: SimpleQueue[ToolMessage | None] = SimpleQueue()
        self._under_way: set[str | int] = set()

    def run(self, lines: Iterable[bytes]) -> None:
        """Answer until the lines end, and wait for what is under way."""
        threads = [Thread(target=self._work, daemon=True) for _ in range(_N_THREADS)]
        for thread in threads:
            thread.start()
        for line in lines:
            if line.strip():
                self._take(read_message(line))
        for _ in threads:
            self._waiting.put(None)
        for thread in threads:
            thread.join()

    def _take(self, message: ToolMessage | Json | None) -> None:
        if not isinstance(message, ToolMessage):
            if message is not None:
                self._send(message)
        elif message.key is None:
            self._take_notification(message)
        elif message.method == "tools/call" and message.version in ("", "2026-07-28"):
            self._begin(message, message.key)
        else:
            self._send(answer(message, TOOLS, __version__))

    def _begin(self, message: ToolMessage, key: str | int) -> None:
        name, arguments = message.params.get("name"), message.params.get("arguments") or {}
        if name not in {tool["name"] for tool in TOOLS} or not isinstance(arguments, Mapping):
            text = "tools/call needs the name of a tool of tools/list, and its arguments as an object"
            self._send(failure(key, INVALID_PARAMS, text))
            return
        with self._lock:
            self._under_way.add(key)
        self._waiting.put(message)

    def _take_notification(self, message: ToolMessage) -> None:
        key = message.params.get("requestId")
        if message.method == "notifications/cancelled" and isinstance(key, str | int):
            with self._lock:
                self._under_way.discard(key)

    def _work(self) -> None:
        while (message := self._waiting.get()) is not None:
            key = message.key
            with self._lock:
                is_wanted = key in self._under_way
            if is_wanted:
                response = self._response(message)
                with self._lock:  # one that was cancelled meanwhile is not answered
                    is_wanted = key in self._under_way
                    self._under_way.discard(key or 0)
                if is_wanted:
                    self._send(response)

    def _response(self, message: ToolMessage) -> Json:
        try:
            return success(message, self._call(message.params["name"], message.params.get("arguments") or {}))
        except Exception as error:  # the last resort: no request may end the session
            return failure(message.key, INTERNAL_ERROR, f"unexpected {type(error).__name__}")

    def _send(self, message: Json) -> None:
        line = json.dumps(message, ensure_ascii=True, separators=(",", ":"))
        with self._lock:
            self._write(f"{line}\n")
