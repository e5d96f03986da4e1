"""Repositories of other machines: which addresses are taken, and how git brings a copy here and up to date."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from urllib.parse import urlsplit

from codefathom.errors import SourceError, UsageError, without_login
from codefathom.server.work import Origin, Step

_LOOK_S = 0.25  # how often size and time are looked at
_SHORT = re.compile(r"[\w.-]+@[\w.-]+:(?!/)\S+")  # user@host:path, which ssh understands
_BRANCH = re.compile(r"\w[\w./+-]*")
_PROGRESS = re.compile(r"(?:remote: )?([A-Z][a-z]+ [a-z ]+): +\d+% \((\d+)/(\d+)\)")
# What git says, and what may be done about it.
_HINTS = (
    (
        r"Authentication failed|could not read Username|Permission denied|Invalid username|Host key verification",
        "give the user that runs the server access, by a key for ssh or git's credential store; none is taken here",
    ),
    (r"resolve host|Connection|timed out|unable to access", "is the address right, and can the server reach it?"),
    (r"not found|does not exist|not appear to be a git repository", "is the address right?"),
    (r"Remote branch|couldn't find remote ref", "is the branch right? Without one the usual one is taken"),
)


def checked_url(url: str, schemes: Sequence[str]) -> str:
    """Return an address that git may be given. Raises UsageError."""
    if not url.isprintable() or not url.isascii() or " " in url or url.startswith("-"):
        raise UsageError(f"{url!r} is no address of a repository", hint="such as https://host/group/name.git")
    scheme = "ssh" if _SHORT.fullmatch(url) else url.partition("://")[0].lower() if "://" in url else ""
    if scheme not in schemes:
        allowed = ", ".join(f"{name}://" for name in schemes) or "none"
        raise UsageError(
            f"a repository may not come from {without_login(url)!r}",
            hint=f"addresses that are taken: {allowed}; the setting is server.git_schemes",
        )
    if _has_secret(url, scheme):
        raise UsageError(
            f"the address {without_login(url)!r} holds a login",
            hint="leave it out, and give the user that runs the server access, by a key for ssh or a credential store",
        )
    return url


def _has_secret(url: str, scheme: str) -> bool:
    if _SHORT.fullmatch(url):
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return True
    return bool(parts.password or (parts.username and scheme != "ssh") or parts.query)


def checked_branch(branch: str) -> str:
    """Return the name of a branch or tag that git may be given, "" for the usual one. Raises UsageError."""
    if branch and (not _BRANCH.fullmatch(branch) or ".." in branch):
        raise UsageError(f"{branch!r} is no name of a branch or tag", hint="such as main or v1.2")
    return branch


def name_of(url: str) -> str:
    """Return what a repository is called by its address."""
    return re.split("[/:]", url.rstrip("/"))[-1].removesuffix(".git") or "repository"


def bring(origin: Origin, tree: str) -> Iterator[Step]:
    """Copy a repository to a folder, or bring the copy there up to date; yield how far that is.

    Raises UsageError for an address that is not allowed, SourceError when git fails, or it takes too long or too much.
    """
    url, branch = checked_url(origin.url, origin.schemes), checked_branch(origin.branch)
    if os.path.isdir(os.path.join(tree, ".git")):
        yield from _git(origin, tree, "fetch", "--depth=1", "--no-tags", "--progress", "--", url, branch or "HEAD")
        yield from _git(origin, tree, "reset", "--hard", "--quiet", "FETCH_HEAD")
        yield from _git(origin, tree, "clean", "-ffdq")
        return
    new = f"{tree}.new"  # whole, or not there
    for folder in (new, tree):
        shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(new)
    words = ["clone", "--depth=1", "--single-branch", "--no-tags", "--template=", "--progress"]
    words += [f"--branch={branch}"] if branch else []
    try:
        yield from _git(origin, new, *words, "--", url, ".")
        os.rename(new, tree)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _git(origin: Origin, folder: str, *words: str) -> Iterator[Step]:
    """Run git and yield its progress. Raises SourceError."""
    command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0", *words]
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=_environment(origin),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise SourceError(f"git cannot be run: {error.strerror}", hint="install git on the server") from error
    try:
        said = yield from _watched(process, origin, folder)
        if process.wait():
            raise _failure(origin, said)
    finally:
        process.kill()
        process.wait()


def _watched(process: subprocess.Popen[bytes], origin: Origin, folder: str) -> Generator[Step, None, list[str]]:
    """Yield progress until git ends; return what else it said. Raises SourceError beyond the limits."""
    lines: SimpleQueue[str | None] = SimpleQueue()
    Thread(target=_read, args=(process, lines), daemon=True).start()
    until, looked_at = time.monotonic() + origin.limit_s, 0.0
    said: list[str] = []
    has_ended = False
    while not has_ended:
        with suppress(Empty):
            line = lines.get(timeout=_LOOK_S)
            if line is None:
                has_ended = True
            elif found := _PROGRESS.match(line):
                yield Step("clone", current=int(found[2]), total=int(found[3]), message=found[1])
            elif line.strip():
                said.append(line.strip())
        now = time.monotonic()
        if has_ended or now - looked_at > _LOOK_S:
            looked_at = now
            _check(origin, folder, is_late=now > until)
    return said


def _check(origin: Origin, folder: str, *, is_late: bool) -> None:
    if is_late:
        raise SourceError(f"{origin.url!r} was not here after {origin.limit_s:g} s", hint="see server.clone_timeout_s")
    if _n_bytes(folder) > origin.most_bytes:
        raise SourceError(f"{origin.url!r} has more than {origin.most_bytes} bytes", hint="see server.clone_max_bytes")


def _read(process: subprocess.Popen[bytes], lines: SimpleQueue[str | None]) -> None:
    assert process.stderr is not None  # a pipe
    rest = b""
    with process.stderr:
        while piece := os.read(process.stderr.fileno(), 4_096):
            *whole, rest = re.split(b"[\r\n]", rest + piece)
            for line in whole:
                lines.put(line.decode("utf-8", "replace"))
    lines.put(rest.decode("utf-8", "replace"))
    lines.put(None)


def _failure(origin: Origin, said: Sequence[str]) -> SourceError:
    told = [line for line in said if line.startswith(("fatal:", "error:", "ERROR:"))] or list(said[-1:])
    text = "; ".join(told[:3])
    hint = next((hint for pattern, hint in _HINTS if re.search(pattern, text)), "")
    return SourceError(f"git cannot bring {origin.url!r} here: {text or 'it said nothing'}", hint=hint)


def _environment(origin: Origin) -> dict[str, str]:
    """Return an environment in which git asks nobody anything, and goes nowhere but where it may."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "SSH_ASKPASS"))}
    return kept | {
        "GIT_ALLOW_PROTOCOL": ":".join(origin.schemes),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes -o ConnectTimeout=20",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "LC_ALL": "C",
    }


def _n_bytes(folder: str) -> int:
    total = 0
    for parent, _, files in os.walk(folder):
        for name in files:
            with suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size
    return total
