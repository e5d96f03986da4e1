"""A session of `fathom mcp` that a test speaks to line by line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.fathom import Fathom


class McpSession:
    """A process, and all that it has sent."""

    def __init__(self, root: Path, *words: str, environment: Mapping[str, str] | None = None) -> None:
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process = Fathom(["mcp", *words], cwd=root, env=environment, **streams)
        self.sent: list[dict[str, Any]] = []
        self._n_read = 0
        self._key = 0

    def send(self, **message: object) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def begin(self, tool: str, arguments: Mapping[str, object], **meta: object) -> int:
        """Call a tool, and return the id of the call."""
        self._key += 1
        params = {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})}
        self.send(id=self._key, method="tools/call", params=params)
        return self._key

    def cancel(self, key: int) -> None:
        self.send(method="notifications/cancelled", params={"requestId": key})

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """Return the response to a request that is no call of a tool."""
        self._key += 1
        self.send(id=self._key, method=method, params=params)
        return self.response(self._key)

    def response(self, key: int) -> dict[str, Any]:
        return self.next(lambda message: message.get("id") == key)

    def next(self, fits: Any) -> dict[str, Any]:
        """Return the first message that fits, of those that came or will come."""
        place = 0
        while True:
            while place < len(self.sent):
                if fits(self.sent[place]):
                    return self.sent[place]
                place += 1
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read().decode()
            self.sent.append(json.loads(line))

    def call(self, tool: str, /, **arguments: object) -> dict[str, Any]:
        """Return the result of a tool."""
        result: dict[str, Any] = self.response(self.begin(tool, arguments))["result"]
        return result

    def content(self, tool: str, /, **arguments: object) -> dict[str, Any]:
        """Return the structured content of a result that is no error."""
        result = self.call(tool, **arguments)
        assert not result["isError"], result
        content: dict[str, Any] = result["structuredContent"]
        return content

    def refusal(self, tool: str, /, **arguments: object) -> str:
        """Return the words of a result that is an error."""
        result = self.call(tool, **arguments)
        assert result["isError"], result
        assert "structuredContent" not in result
        text: str = result["content"][0]["text"]
        return text

    def end(self) -> int:
        """Close stdin, and return the exit code."""
        out, _ = self.process.communicate()
        self.sent += [json.loads(line) for line in out.splitlines()]
        return self.process.returncode

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None and self.process.poll() is None:
            assert self.end() == 0
        self.process.__exit__(kind, error, traceback)
