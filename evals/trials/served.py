"""One server under mixed load, with clients that leave in the middle.

    python -m evals.trials.served [--clients 8] [--minutes 10] [--seed 1]

Clients search, read, follow connections, ask, call tools over /mcp and start jobs, while files change and are watched;
one request in three is left before its answer has come. The server must live: every answer is one that the documents
know, /health answers within its limit, no work is left when the clients are gone, and nothing in the log is a fault.
Exit status 1 when something was wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from threading import Lock, Thread
from urllib.parse import urlencode

from evals.memory import bytes_held, family

N_FILES = 60
_FINE = {200, 202, 204, 409, 429, 503, 504}  # 409: before the first index; 503, 504: busy, too slow
_MEANT = {"busy", "too_slow", "locked", "not_indexed", "too_many_requests", "conflict"}  # codes of those above 399
_MOST_SHOWN = 4_000  # characters of a fault in the log, the last ones
_LOGGED = re.compile(r"\d{4}-\d\d-\d\d ")
_FAULTS = re.compile(r"Traceback|ERROR|CRITICAL|Segmentation|Exception ignored|died")
_HEALTH_S = 60.0  # on a machine that does nothing else it takes milliseconds
_LIMIT_S = 600.0
_HELD_EVERY_S = 5.0
_LEFT = 1 / 3  # of the requests
_PROTOCOL = "2026-07-28"  # the era of /mcp that has no handshake
_META = {"io.modelcontextprotocol/protocolVersion": _PROTOCOL, "io.modelcontextprotocol/clientCapabilities": {}}


@dataclass(frozen=True, slots=True)
class Call:
    """One request."""

    method: str
    path: str
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)


def _tool(name: str, **arguments: object) -> Call:
    """Return the call of a tool over /mcp."""
    params = {"name": name, "arguments": arguments, "_meta": _META}
    headers = {"mcp-protocol-version": _PROTOCOL, "mcp-method": "tools/call", "mcp-name": name}
    headers["accept"] = "application/json, text/event-stream"
    return Call("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers)


_CALLS = (
    *(Call("POST", "/search", {"query": "compute the total of orders"}),) * 3,
    Call("POST", "/search", {"query": "handler_1\\d", "mode": "regex"}),
    Call("POST", "/context", {"query": "total of orders"}),
    *(Call("GET", "/related?" + urlencode({"target": "pack1/m1.py", "depth": 2})),) * 2,
    Call("GET", "/related?" + urlencode({"target": "@@handler_3_0"})),
    Call("GET", "/federated/related?" + urlencode({"target": "pack2/m2.py"})),
    Call("GET", "/symbols?query=handler"),
    Call("GET", "/map?max_tokens=2000"),
    Call("GET", "/files?limit=20"),
    Call("GET", "/monitoring/stats"),
    Call("GET", "/projects"),
    Call("POST", "/ask", {"query": "where is the total computed"}),
    Call("POST", "/ask/stream", {"query": "what computes the total"}),
    Call("POST", "/projects/project/index", {}),
    *(_tool("search", query="total"), _tool("related", target="@@handler_5_1"), _tool("map")),
)


@dataclass(frozen=True, slots=True)
class HeldAt:
    """Memory at one moment of the load."""

    seconds: float  # since it began
    server: int  # bytes
    others: int  # bytes of all processes that the server has started


class ServedLoad:
    """A server with its clients, and what was wrong."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.done: Counter[str] = Counter()
        self.errors: list[str] = []
        self.held: list[HeldAt] = []
        self._root = folder / "project"
        self._seed = seed
        self._lock = Lock()
        self._over = False
        self._n_left = 0  # calls that may still begin
        self._versions = [0] * N_FILES
        for number in range(N_FILES):
            self._write(number)
        self._log = folder / "log.txt"
        with self._log.open("wb") as log:
            self._server = subprocess.Popen(
                [sys.executable, "-P", "-m", "codefathom", "serve", "--port", "0", str(self._root)],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._port = self._listening()

    def run(self, n_clients: int, *, seconds: float = _LIMIT_S, n_calls: int = 1 << 62) -> None:
        """Let clients work for some time, or until they have made so many calls."""
        self._n_left = n_calls
        first = self._answer(Call("POST", "/index", {"codebase_path": str(self._root)}))
        if first[0] != 200:
            self._note(f"the first index: {first}")
        self._answer(Call("POST", "/projects/project/watch"))
        clients = [Thread(target=self._ask, args=(number,)) for number in range(n_clients)]
        others = [Thread(target=work) for work in (self._change, self._look, self._weigh)]
        for thread in (*clients, *others):
            thread.start()
        until = time.monotonic() + seconds
        for thread in clients:
            thread.join(max(until - time.monotonic(), 0))
        self._over = True
        for thread in (*clients, *others):
            thread.join()
        self._end()

    # ---- inside

    def _ask(self, number: int) -> None:
        chance = random.Random(f"{self._seed} {number}")
        while not self._over:
            with self._lock:
                self._n_left -= 1
                if self._n_left < 0:
                    return
            call = chance.choice(_CALLS)
            try:
                if chance.random() < _LEFT:
                    self._leave(call, chance.choice([0.0, 0.02, 0.2, 1.5]))
                else:
                    self._check(call, *self._answer(call))
            except OSError as error:
                self._note(f"{call.method} {call.path}: {error!r}")
            with self._lock:
                self.done[call.path.partition("?")[0]] += 1

    def _check(self, call: Call, status: int, body: str) -> None:
        code = ""
        if status > 399:
            try:
                code = str(json.loads(body)["code"])
            except (ValueError, KeyError, TypeError):
                code = body[:200]
        if status not in _FINE or (status > 399 and code not in _MEANT):
            self._note(f"{call.method} {call.path}: {status} {code}: {body[:300]}")

    def _look(self) -> None:
        while not self._over:
            began = time.monotonic()
            status, body = self._answer(Call("GET", "/health"))
            if status != 200 or (taken := time.monotonic() - began) > _HEALTH_S:
                self._note(f"/health: {status} after {time.monotonic() - began:.1f} s: {body[:200]}")
                return
            time.sleep(max(0.5 - taken, 0))

    def _weigh(self) -> None:
        began = time.monotonic()
        while not self._over:
            held = {process: bytes_held(process, alone=True) for process in family(self._server.pid)}
            server = held.pop(self._server.pid)
            self.held.append(HeldAt(time.monotonic() - began, server, sum(held.values())))
            until = time.monotonic() + _HELD_EVERY_S
            while not self._over and time.monotonic() < until:
                time.sleep(0.1)

    def _change(self) -> None:
        chance = random.Random(self._seed)
        while not self._over:
            number = chance.randrange(N_FILES)
            self._versions[number] += 1
            self._write(number)
            time.sleep(0.5)

    def _write(self, number: int) -> None:
        path = self._root / f"pack{number % 5}" / f"m{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        other = (number + 1) % N_FILES
        calls = "".join(
            f"def handler_{number}_{k}(orders):\n    # Compute the total of orders, version {self._versions[number]}\n"
            f"    return handler_{other}_{k}(orders) + {k}\n\n\n"
            for k in range(8)
        )
        new.write_text(f"from pack{other % 5}.m{other} import *\n\n\n{calls}")
        os.replace(new, path)

    def _end(self) -> None:
        """No work is left when nobody waits, then the server ends as it is told, with all that it has started."""
        until = time.monotonic() + _LIMIT_S
        while self._server.poll() is None and time.monotonic() < until:
            stats = json.loads(self._answer(Call("GET", "/monitoring/stats"))[1])
            jobs = json.loads(self._answer(Call("GET", "/jobs"))[1])["jobs"]
            if stats["n_in_flight"] <= 1 and not any(job["state"] in ("running", "queued") for job in jobs):
                break
            time.sleep(0.2)
        else:
            self._note("work goes on although all clients have gone, or the server has ended")
        children = _children(self._server.pid)
        if self._server.poll() is None:
            self._server.send_signal(signal.SIGINT)
        status = self._server.wait(_LIMIT_S)
        if status != 130:
            self._note(f"the server ended with status {status}")
        while left := [child for child in children if Path(f"/proc/{child}").exists()]:
            if time.monotonic() > until:
                self._note(f"processes of the server are left: {left}")
                break
            time.sleep(0.1)
        lines = self._log.read_text(errors="replace").splitlines()
        for number, line in enumerate(lines):
            if _FAULTS.search(line):
                inner = takewhile(lambda after: not _LOGGED.match(after), lines[number + 1 :])  # of a traceback
                self._note(f"log: {line[:300]} " + "\n".join(inner)[-_MOST_SHOWN:])

    def _listening(self) -> int:
        until = time.monotonic() + _LIMIT_S
        while time.monotonic() < until and self._server.poll() is None:
            if place := re.search(r"serving http://[^\s;]*:(\d+)", self._log.read_text(errors="replace")):
                return int(place[1])
            time.sleep(0.05)
        raise RuntimeError(f"the server does not start: {self._log.read_text(errors='replace')[-2_000:]}")

    def _sent(self, call: Call) -> socket.socket:
        body = b"" if call.body is None else json.dumps(call.body).encode()
        headers = {"host": "localhost", "connection": "close", "content-length": str(len(body))}
        headers |= {"content-type": "application/json", "accept": "*/*", **call.headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        connection = socket.create_connection(("127.0.0.1", self._port), timeout=_LIMIT_S)
        connection.sendall(f"{call.method} {call.path} HTTP/1.1\r\n{head}\r\n".encode() + body)
        return connection

    def _leave(self, call: Call, after_s: float) -> None:
        with self._sent(call):
            time.sleep(after_s)

    def _answer(self, call: Call) -> tuple[int, str]:
        with self._sent(call) as connection, connection.makefile("rb") as answer:
            status = int(answer.readline().split()[1])
            is_chunked = False
            while (line := answer.readline().strip()) != b"":
                is_chunked |= line.lower() == b"transfer-encoding: chunked"
            if not is_chunked:
                return status, answer.read().decode(errors="replace")
            parts = []
            while size := int(answer.readline() or b"0", 16):
                parts.append(answer.read(size))
                answer.readline()
            return status, b"".join(parts).decode(errors="replace")

    def _note(self, error: str) -> None:
        with self._lock:
            self.errors.append(error)


def _children(process: int) -> list[int]:
    """Return the processes that a process has started and that still run, where the system tells."""
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        return [int(number) for task in tasks for number in (task / "children").read_text().split()]
    except OSError:
        return []


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="fathom-served-"))
    for name in ("FATHOM_CACHE_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "HOME"):
        os.environ[name] = str(folder / name.lower())
    try:
        load = ServedLoad(folder, options.seed)
        load.run(options.clients, seconds=60 * options.minutes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for error in load.errors[:20]:
        print(error)
    print(f"{sum(load.done.values())} requests, {len(load.errors)} errors: {dict(load.done.most_common())}")
    return 1 if load.errors else 0


if __name__ == "__main__":
    sys.exit(main())
