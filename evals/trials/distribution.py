"""A wheel and an sdist, each installed into a fresh environment and used there as by a new user.

    python -m evals.trials.distribution dist

For each: `fathom version`, a search that makes its index, the list of tools of `fathom mcp`, `fathom install --print`,
and the page of `fathom serve` with each file that it names. In the place of the network they have a proxy that answers
nobody. Exit status 1 when one of them fails.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

_LIMIT_S = 600
_EXTRAS = "server"
_SOURCE = "def retry_payment(call):\n    '''Call the payment provider again until it answers.'''\n    return call()\n"
# An address that answers nobody: whatever wants to use the network fails.
_OFFLINE = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")


class TrialError(Exception):
    """Something does not work as it should; the text says what."""


def main(folder: str) -> int:
    """Try each file; return 1 if one fails."""
    files = [*Path(folder).glob("*.whl"), *Path(folder).glob("*.tar.gz")]
    kinds = {file.suffix for file in files}
    if kinds != {".whl", ".gz"} or len(files) != 2:
        print(f"{folder} should hold one wheel and one sdist, but holds {[file.name for file in files]}")
        return 1
    problems = 0
    for file in files:
        try:
            _check_contents(file)
            _check_use(file.resolve())
        except (TrialError, subprocess.SubprocessError, OSError) as error:
            print(f"{file.name}: {error}\n{getattr(error, 'stderr', None) or ''}")
            problems += 1
        else:
            print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB, works")
    return 1 if problems else 0


def _check_contents(file: Path) -> None:
    """Raise TrialError if a file is missing in it, or one of this machine is in it."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    else:
        with tarfile.open(file) as tar:
            names = [name.partition("/")[2].removeprefix("src/") for name in tar.getnames()]
    needed = ("server/static/index.html", "hosts/plugin/plugin.json", "hosts/plugin/skills/fathom/SKILL.md", "py.typed")
    missing = [name for name in needed if f"codefathom/{name}" not in names]
    foreign = [
        name
        for name in names
        if re.search(r"__pycache__|node_modules|(^|/)\.(venv|env|fathom|git|DS_Store)(/|$)|\.map$", name)
    ]
    if missing or foreign:
        raise TrialError(f"missing: {missing}; not wanted: {foreign[:5]}")


def _check_use(file: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        project = home / "project"
        (project / ".git").mkdir(parents=True)
        (project / "pay.py").write_text(_SOURCE, encoding="utf-8")
        programs = home / "venv" / ("Scripts" if os.name == "nt" else "bin")
        _run([sys.executable, "-m", "venv", str(home / "venv")], home)
        _run([str(programs / "pip"), "install", "--quiet", f"{file}[{_EXTRAS}]"], home, is_offline=False)
        fathom = str(programs / "fathom")
        _expect("version", _run([fathom, "version"], home), f"codefathom {_version()}")
        _expect("search", _run([fathom, "search", "who calls the provider again"], home), "pay.py:1-3")
        _expect("install --print", _run([fathom, "install", "claude", "--print"], home), "mcpServers")
        _check_tools(fathom, home)
        with _server(fathom, home) as address:
            _check_page(address)


def _check_tools(fathom: str, home: Path) -> None:
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    answer = json.loads(_run([fathom, "mcp"], home, typed=request + "\n"))
    _expect("mcp", [tool["name"] for tool in answer["result"]["tools"]], "search")


@contextmanager
def _server(fathom: str, home: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [fathom, "serve", "--port", "0"], cwd=home / "project", env=_environ(home), stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if match := re.search(r"http://[\w.:\[\]]+", line):
                yield match[0]
                return
        raise TrialError(f"fathom serve has ended: {''.join(lines)}")
    finally:
        process.terminate()
        process.wait(_LIMIT_S)


def _check_page(address: str) -> None:
    page = _get(f"{address}/search", "text/html")
    files = re.findall(r'(?:src|href)="(/assets/[^"]+)"', page)
    if not files:
        raise TrialError(f"the page names no files: {page[:200]}")
    for name in files:
        _get(address + name, "*/*")
    _expect("health", _get(f"{address}/health", "application/json"), '"ok"')


def _get(address: str, accepted: str) -> str:
    with urlopen(Request(address, headers={"Accept": accepted}), timeout=60) as response:
        return str(response.read().decode())


def _expect(what: str, output: object, expected: str) -> None:
    if expected not in output:  # type: ignore[operator]
        raise TrialError(f"fathom {what} says {output!r} without {expected!r}")


def _run(words: list[str], home: Path, *, typed: str = "", is_offline: bool = True) -> str:
    done = subprocess.run(
        words,
        cwd=home / "project",
        env=_environ(home) | (_OFFLINE if is_offline else {}),
        input=typed,
        capture_output=True,
        text=True,
        check=True,
        timeout=_LIMIT_S,
    )
    return done.stdout


def _environ(home: Path) -> dict[str, str]:
    """Return an environment without anything of this project, but what pip needs to find packages."""
    kept = {name: value for name, value in os.environ.items() if name == "PATH" or name.startswith("PIP_")}
    return {**kept, "HOME": str(home)}


def _version() -> str:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
