"""An engine that is closed while other threads ask it: they get an answer or a plain error, and the process lives.

Each trial is a process of its own: what it looks for ends the process without a word of Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.waiting import LONG_S

# The readers come out of a running statement at the moment in which another thread closes their connections.
CATALOGUE = """
import faulthandler, sys, threading
from codefathom.errors import IndexClosedError
from codefathom.stores.database import Database

faulthandler.enable()
sys.setswitchinterval(1e-6)
outcomes = set()


def trial(path):
    database, held, go_on = Database(path), threading.Semaphore(0), threading.Event()

    def hold():
        held.release()
        go_on.wait()
        return 1

    def read():
        database.connection().create_function("hold", 0, hold)
        try:
            outcomes.add(str(database.read("SELECT hold()")))
        except IndexClosedError:
            outcomes.add("closed")

    readers = [threading.Thread(target=read) for _ in range(4)]
    for thread in readers:
        thread.start()
    for _ in readers:
        held.acquire()
    closer = threading.Thread(target=database.close)
    closer.start()
    closer.join(0.002)  # it may be anywhere by then
    go_on.set()
    for thread in (*readers, closer):
        thread.join()


for _ in range(100):
    trial(sys.argv[1])
print(outcomes <= {"closed", "[(1,)]"}, "lives")
"""

QUESTIONS = """
import faulthandler, sys, threading
from codefathom import Engine
from codefathom.errors import IndexClosedError

faulthandler.enable()
root, n_rounds = sys.argv[1], int(sys.argv[2])
ASK = (
    lambda engine: [hit.chunk.id for hit in engine.search("refresh the token of a user").hits],
    lambda engine: engine.related("@@refresh_token").edges,
    lambda engine: [file.path for file in engine.context("refresh the token of a user").files],
    lambda engine: engine.symbols("token"),
)
with Engine.open(root) as engine:
    engine.index()
    expected = [ask(engine) for ask in ASK]
wrong = []


def ask_on(engine, number, is_over):
    while not is_over.is_set():
        try:
            answer = ASK[number](engine)
        except IndexClosedError:
            continue  # it is opened again by the next question
        if answer != expected[number]:
            wrong.append((number, answer))


engine, is_over = Engine.open(root), threading.Event()
readers = [threading.Thread(target=ask_on, args=(engine, number, is_over)) for number in range(len(ASK))]
for thread in readers:
    thread.start()
for _ in range(n_rounds):
    engine.generation  # opened
    engine.close()
is_over.set()
for thread in readers:
    thread.join()
engine.close()
print(wrong, "lives")
"""


def ran(program: str, *words: object) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program, *map(str, words)]
    result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LONG_S, env=environment)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("FATHOM_")]:
        monkeypatch.delenv(name)
    for name in ("FATHOM_CACHE_DIR", "XDG_CONFIG_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    root = tmp_path / "project"
    for number in range(20):
        file = root / f"auth/session{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f"class Session{number}:\n    def refresh_token(self, user):\n"
            f'        """Give the user token {number} before the old one expires."""\n        return self.issue(user)\n'
        )
    (root / "fathom.toml").write_text('[search]\nrefresh = "never"\n')
    return root


def test_no_connection_is_closed_under_a_statement(tmp_path: Path) -> None:
    assert ran(CATALOGUE, tmp_path / "x.db") == "True lives"


def test_a_question_is_answered_or_told_that_the_engine_was_closed(project: Path) -> None:
    assert ran(QUESTIONS, project, 60) == "[] lives"


@pytest.mark.long
def test_hundreds_of_engines_are_closed_under_questions(project: Path) -> None:
    assert ran(QUESTIONS, project, 1_000) == "[] lives"
