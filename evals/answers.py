"""What an answer costs besides its model: `python -m evals.answers`, or `make bench-answers`.

The model is a server in this process that gives a fixed reply at once, so that what is measured is our own part.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Thread
from typing import cast

import httpx
from tests.protocols.server import Turn, serving

from codefathom import Engine
from codefathom.answer.ask import AnswerSources, Text
from codefathom.config.configuration import load_settings
from codefathom.source.secrets import mask
from evals.report import machine, table, write_section
from evals.run import REPOSITORY
from evals.text import text_files

QUESTION = "how are ignore rules applied"
REPEAT = 9
HEAD = """\
# What an answer costs besides its model

Questions about this repository, on {machine}. The model is a local server that gives its reply at once, and is
asked once, for the answer. Medians of {repeat}, in milliseconds unless it says otherwise. For the first word the server
follows a script at 8 tokens a second; it is no real model.
"""


def main(words: Sequence[str] | None = None) -> int:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, help="write the result into this page as well")
    given = parser.parse_args(words)
    with TemporaryDirectory() as folder:
        rows = [[name, f"{value:.1f}"] for name, value in measured(Path(folder))]
    page = f"{HEAD.format(machine=machine(), repeat=REPEAT)}\n{table(('what', 'value'), rows)}\n"
    print(page)
    if given.page:
        write_section(given.page, "make bench-answers", page)
    return 0


def measured(folder: Path) -> list[tuple[str, float]]:
    """Return what each part takes."""
    shutil.copytree(REPOSITORY / "src", folder / "src")
    (folder / "src" / ".fathom").mkdir()
    os.environ["FATHOM_CACHE_DIR"] = str(folder / "cache")
    found = []
    with serving(Turn([reply("It is in [1].\n\n")])) as served:
        wanted = {"llm.model": "openai:m", "llm.base_url": f"{served.base_url}/v1", "select.filter_level": 0}
        settings = load_settings(str(folder / "src"), overrides=wanted)
        with Engine.open(str(folder / "src"), settings=settings) as engine:
            engine.index()
            engine.ask(QUESTION)
            found.append(("search alone", timed(lambda: engine.search(QUESTION))))
            found.append(("question → numbered sources", timed(lambda: until(engine, AnswerSources))))
            found.append(("question → first checked word", timed(lambda: until(engine, Text))))
            found.append(("question → whole answer", timed(lambda: engine.ask(QUESTION))))
    for face, share in first_words(folder / "src"):
        found.append((f"the model's first token → first word, {face}, in tokens of the model", share))
    ended, closed = interruption(folder / "src")
    found.append(("Ctrl-C → process has ended", ended))
    found.append(("Ctrl-C → the model's server sees the call closed", closed))
    texts = [text for _, text in text_files(REPOSITORY / "src")]
    size = sum(len(text.encode()) for text in texts)
    found.append(("secrets are looked for at (MB/s)", size / 1_000 / timed(lambda: [mask(text) for text in texts])))
    return found


def reply(text: str) -> bytes:
    """Return a streamed reply of OpenAI's protocol."""
    events = [
        {"choices": [{"delta": {"content": text}}]},
        {"choices": [{"delta": {}, "finish_reason": "stop"}]},
    ]
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode() + b"data: [DONE]\n\n"


def timed(call: Callable[[], object]) -> float:
    """Return the median time of a call in milliseconds."""
    times = []
    for _ in range(REPEAT):
        started = time.perf_counter()
        call()
        times.append(1000 * (time.perf_counter() - started))
    return median(times)


def until(engine: Engine, kind: type) -> None:
    """Ask, and stop at the first event of a kind."""
    events = engine.ask_events(QUESTION)
    assert any(isinstance(event, kind) for event in events)


_PACE_S = 0.125  # 8 tokens a second, as a small model on a processor
_SPOKEN = ("The", "rules", "are", "read", "here", "[1]", "and", "applied", "there.")


def first_words(project: Path) -> list[tuple[str, float]]:
    """Return how many tokens of the model pass between its first token and the first word, for each face.

    The model is a server that follows a script at the pace of a small one.
    """
    events = [{"choices": [{"delta": {"content": f"{word} "}}]} for word in _SPOKEN]
    pieces = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    began: list[float] = []

    def note(_: object) -> bool:
        began.append(time.perf_counter())  # the first token follows at once
        return True

    with serving(Turn([*pieces, *[reply("end.")]], pause_s=_PACE_S, when=note)) as served:
        faces = (("a program", _word_of_program), ("the terminal", _word_of_terminal), ("HTTP", _word_of_http))
        shares = []
        for face, shown_at in faces:
            with shown_at(project, served.base_url) as ask:
                times = [ask() - began[-1] for _ in range(REPEAT)]
            shares.append((face, median(times) / _PACE_S))
        return shares


@contextmanager
def _word_of_program(project: Path, address: str) -> Iterator[Callable[[], float]]:
    settings = load_settings(str(project), overrides={"llm.model": "openai:m", "llm.base_url": f"{address}/v1"})
    with Engine.open(str(project), settings=settings) as engine:

        def ask() -> float:
            with closing(cast("Generator[object, None, None]", engine.ask_events(QUESTION))) as events:
                next(event for event in events if isinstance(event, Text))
                return time.perf_counter()

        yield ask


@contextmanager
def _word_of_terminal(project: Path, address: str) -> Iterator[Callable[[], float]]:
    environment = {**os.environ, "FATHOM_LLM__MODEL": "openai:m", "OPENAI_BASE_URL": f"{address}/v1"}
    command = [str(Path(sys.executable).with_name("fathom")), "ask", "-q", QUESTION]

    def ask() -> float:
        with subprocess.Popen(command, cwd=project, env=environment, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.read(1)
            shown = time.perf_counter()
            process.communicate()
        return shown

    yield ask


@contextmanager
def _word_of_http(project: Path, address: str) -> Iterator[Callable[[], float]]:
    model = {"FATHOM_LLM__MODEL": "openai:m", "OPENAI_BASE_URL": f"{address}/v1"}
    data = {
        "FATHOM_SERVER__DATA_DIR": str(project.parent / "data"),
        "FATHOM_SERVER__ALLOWED_ROOTS": str(project.parent),
    }
    command = [str(Path(sys.executable).with_name("fathom")), "serve", "--port", "0", str(project)]
    with subprocess.Popen(command, env={**os.environ, **model, **data}, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "http://" in line)
        Thread(target=process.stderr.read, daemon=True).start()
        address = re.search(r"http://[\w.:]+", line)[0]  # type: ignore[index]
        with httpx.Client(base_url=address, timeout=60) as client:
            job = client.post("/index", json={"codebase_path": str(project)})
            job.raise_for_status()

            def ask() -> float:
                with client.stream("POST", "/ask/stream", json={"question": QUESTION}) as response:
                    next(line for line in response.iter_lines() if '"content"' in line)
                    return time.perf_counter()

            yield ask
        process.terminate()


def interruption(project: Path) -> tuple[float, float]:
    """Return the medians from Ctrl-C to the end of the process, and to the closed call of the model."""
    pairs = [interrupted(project) for _ in range(REPEAT)]
    return median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)


def interrupted(project: Path) -> tuple[float, float]:
    """Interrupt an answer that streams."""
    word = b'data: {"choices": [{"delta": {"content": "word\\n\\n"}}]}\n\n'
    with serving(Turn([word], pause_s=0.001, repeat=1_000_000)) as served:
        model = {"FATHOM_LLM__MODEL": "openai:m", "OPENAI_BASE_URL": f"{served.base_url}/v1"}
        environment = {**os.environ, **model, "FATHOM_SELECT__FILTER_LEVEL": "0"}
        command = [str(Path(sys.executable).with_name("fathom")), "ask", QUESTION]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, cwd=project, env=environment, stdout=pipe, stderr=pipe) as process:
            assert process.stdout is not None
            process.stdout.read(4)
            started = time.perf_counter()
            process.send_signal(signal.SIGINT)
            process.wait()
            ended = time.perf_counter()
            served.asked[0].is_closed.wait()
            closed = time.perf_counter()
    return 1000 * (ended - started), 1000 * (closed - started)


if __name__ == "__main__":
    raise SystemExit(main())
