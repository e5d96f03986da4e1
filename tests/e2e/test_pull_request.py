"""The action and the hooks of this repository: their steps run as a runner and pre-commit run them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.e2e.test_impact import CHANGED, commit, git, made_repository
from tests.waiting import LONG_S

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
MARK = "<!-- codefathom impact -->"

if sys.platform == "win32":
    pytest.skip("the steps are for bash", allow_module_level=True)


@dataclass
class Host:
    """Comments of pull request 7, and what may be done with them."""

    comments: list[dict[str, Any]] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    may_write: bool = True


@pytest.fixture
def host() -> Iterator[tuple[Host, str]]:
    state = Host()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            state.asked.append((self.command, self.path))
            code, told = respond(self.command, self.path.partition("?")[0], body)
            if self.headers["Authorization"] != "Bearer secret":
                code, told = 401, {}
            self.send_response(code)
            self.end_headers()
            self.wfile.write(json.dumps(told).encode())

        do_GET = do_POST = do_PATCH = answer  # noqa: N815 - names of http.server

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    def respond(method: str, path: str, body: Any) -> tuple[int, Any]:
        if method == "GET" and path == "/repos/me/shop/issues/7/comments":
            return 200, state.comments
        if not state.may_write:
            return 403, {}
        if method == "POST" and path == "/repos/me/shop/issues/7/comments":
            state.comments.append({"id": len(state.comments) + 1, "user": {"type": "Bot"}, **body})
            return 201, {}
        if method == "PATCH" and (match := re.fullmatch(r"/repos/me/shop/issues/comments/(\d+)", path)):
            state.comments[int(match[1]) - 1].update(body)
            return 200, {}
        return 404, {}

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield state, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join(LONG_S)
    server.server_close()


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return made_repository(tmp_path, monkeypatch)


@pytest.fixture
def runner(shop: Path, tmp_path: Path, host: tuple[Host, str]) -> dict[str, str]:
    """The variables of a runner, in a repository whose branch changes one function."""
    temporary = tmp_path / "runner"
    (temporary / "fathom" / "bin").mkdir(parents=True)
    (temporary / "fathom" / "bin" / "fathom").symlink_to(Path(sys.executable).parent / "fathom")
    event = temporary / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}))
    git(shop, "update-ref", "refs/remotes/origin/main", "HEAD")
    (shop / "shop" / "money.py").write_text(CHANGED)
    commit(shop)
    return {
        **os.environ,
        "RUNNER_TEMP": str(temporary),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_BASE_REF": "main",
        "GITHUB_STEP_SUMMARY": str(temporary / "summary.md"),
        "GITHUB_OUTPUT": str(temporary / "output"),
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_API_URL": host[1],
        "GITHUB_REPOSITORY": "me/shop",
        "TOKEN": "secret",
        "BASE": "",
        "FAIL_ON": "never",
    }


def step(name: str, folder: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a step as a runner does: bash ends at the first command that fails."""
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[name]["run"]]
    return subprocess.run(words, check=False, cwd=folder, env=variables, capture_output=True, text=True, timeout=LONG_S)


def test_a_pull_request_gets_one_comment_that_is_renewed(
    shop: Path,
    runner: dict[str, str],
    host: tuple[Host, str],
) -> None:
    state, _ = host
    for _ in range(2):
        ran = step("Impact", shop, runner)
        assert ran.returncode == 0, ran.stderr
        ran = step("Comment", shop, runner)
        assert ran.returncode == 0, ran.stderr
    (comment,) = state.comments
    assert comment["body"].startswith(f"{MARK}\n### Tests to run: 1\n\n- `tests/test_orders.py`")
    assert "`shop/orders.py:5`" in comment["body"]
    assert "This is a lower bound" in comment["body"]
    assert [method for method, _ in state.asked] == ["GET", "POST", "GET", "PATCH"]
    outputs = dict(line.split("=", 1) for line in Path(runner["GITHUB_OUTPUT"]).read_text().splitlines())
    assert Path(outputs["tests"]).read_text() == "tests/test_orders.py\n"
    assert "Tests to run" in Path(runner["GITHUB_STEP_SUMMARY"]).read_text()


def test_a_comment_of_a_person_is_never_changed(
    shop: Path,
    runner: dict[str, str],
    host: tuple[Host, str],
) -> None:
    state, _ = host
    state.comments.append({"id": 1, "user": {"type": "User"}, "body": f"{MARK}\nmine"})
    assert step("Impact", shop, runner).returncode == 0
    assert step("Comment", shop, runner).returncode == 0
    assert state.comments[0]["body"] == f"{MARK}\nmine"
    assert len(state.comments) == 2


def test_without_the_permission_the_run_goes_on(
    shop: Path,
    runner: dict[str, str],
    host: tuple[Host, str],
) -> None:
    state, _ = host
    state.may_write = False
    assert step("Impact", shop, runner).returncode == 0
    ran = step("Comment", shop, runner)
    assert ran.returncode == 0
    assert "::warning::the comment was not written" in ran.stdout
    assert state.comments == []


@pytest.mark.parametrize(("fail_on", "code"), [("never", 0), ("reached", 1), ("tests", 1)])
def test_the_verdict_is_the_exit_code(
    shop: Path,
    runner: dict[str, str],
    fail_on: str,
    code: int,
) -> None:
    assert step("Verdict", shop, {**runner, "FAIL_ON": fail_on}).returncode == code


def test_no_step_puts_an_input_into_its_command() -> None:
    """Else a title or a branch could be run as a command."""
    assert all("${{" not in step["run"] for step in STEPS.values())


def test_names_of_a_repository_make_no_link_and_no_mention(shop: Path, runner: dict[str, str]) -> None:
    name = "tests/test_`x` [a](http-b) @me.py"
    (shop / name).write_text("from shop.money import parse\n\n\ndef test_it():\n    assert parse('1')\n")
    commit(shop)
    assert step("Impact", shop, runner).returncode == 0
    text = (Path(runner["RUNNER_TEMP"]) / "impact.md").read_text()
    assert f"`` {name} ``" in text
    assert "@me" not in text.replace(f"`` {name}", "")


@pytest.mark.parametrize("hook", yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")))
def test_hooks_run_and_stop_no_commit(shop: Path, runner: dict[str, str], hook: dict[str, Any]) -> None:
    (shop / "shop" / "money.py").write_text(CHANGED.replace("strip", "lower"))
    git(shop, "add", "-A")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    words = hook["entry"].split()
    assert shutil.which(words[0], path=path)
    ran = subprocess.run(
        words, check=False, cwd=shop, env={**runner, "PATH": path}, capture_output=True, text=True, timeout=LONG_S
    )
    assert ran.returncode == 0, ran.stderr
    if hook["id"] == "fathom-impact":
        assert "tests/test_orders.py" in ran.stdout
