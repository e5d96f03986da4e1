"""Repositories of other machines: the addresses that are allowed, and cloning and updating with git."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from urllib.parse import unquote, urlsplit

from codefathom.errors import SourceError, UsageError, without_login
from codefathom.server.jobs.job_messages import GitOrigin, Step
from codefathom.source.revisions.git_program import answer, start_git
from codefathom.source.revisions.git_tree import check_n_files
from codefathom.source.revisions.revision import checked_name, is_commit
from codefathom.stores.folder import Folder
from codefathom.system.children import Program, environment, find_program

_LOOK_S = 0.25  # how often size and time are looked at
# No part may begin with a dash, which would make an option of it, nor hold a sign that a shell reads. git decodes
# percent signs in all parts of an address for ssh.
_USER, _HOST = r"\w[\w.+-]*", r"\w(?:[\w-]|\.(?!\.))*|\[[0-9A-Fa-f:.]+\]"
_SHORT = re.compile(rf"(?:{_USER})@(?:{_HOST}):(?P<path>[^/\s]\S*)", re.ASCII)  # user@host:path, which ssh understands
_LONG = re.compile(rf"\w+://(?:{_USER}(?::[^/@]*)?@)?(?:{_HOST})(?::\d{{1,5}})?(?:/(?P<path>.*))?", re.ASCII)
_OF_FILE = re.compile(r"\w+:///(?P<path>.+)", re.ASCII)
_PROGRESS = re.compile(r"(?:remote: )?([A-Z][a-z]+ [a-z ]+): +\d+% \((\d+)/(\d+)\)")
# After these words comes text of the other side.
_OF_THE_OTHER_SIDE = re.compile(r"(fatal: remote error:|fatal: protocol error:|ERROR:|remote:)")
# What git says, and what may be done about it.
_HINTS = (
    (
        r"Authentication failed|could not read Username|Permission denied|Invalid username|Host key verification",
        "give the user that runs the server access: by an ssh key or by git's credential store",
    ),
    (
        r"resolve host|Connection|timed out|unable to access",
        "check that the address is right, and that the server can reach it",
    ),
    (r"not found|does not exist|not appear to be a git repository", "check the address"),
    (
        r"Remote branch|couldn't find remote ref|not our ref|unadvertised object",
        "check the branch, tag or commit, of which a server may want the whole hash; without one, the default branch "
        "is used",
    ),
)


def checked_url(url: str, schemes: Sequence[str]) -> str:
    """Return an address that git may be given. Raises UsageError."""
    if not url.isprintable() or not url.isascii() or " " in url or url.startswith("-"):
        raise _no_address(url)
    is_short = _SHORT.fullmatch(url) is not None
    scheme = "ssh" if is_short else url.partition("://")[0].lower() if "://" in url else ""
    if scheme not in schemes:
        allowed = ", ".join(f"{name}://" for name in schemes) or "none"
        raise UsageError(
            f"this server does not clone from {without_login(url)!r}",
            hint=f"allowed addresses: {allowed}; the setting is server.git_schemes",
        )
    parts = (_SHORT if is_short else _OF_FILE if scheme == "file" else _LONG).fullmatch(url)
    if parts is None or not _is_harmless(parts["path"] or ""):
        raise _no_address(url)
    if not is_short and _has_secret(url, scheme):
        raise UsageError(
            f"the address {without_login(url)!r} contains a login",
            hint="remove the login, and give the user that runs the server access: by an ssh key or a credential store",
        )
    return url


def _no_address(url: str) -> UsageError:
    return UsageError(
        f"{without_login(url)!r} is not the address of a repository", hint="an example is https://host/group/name.git"
    )


def _is_harmless(path: str) -> bool:
    """Return True if a path with its percent signs decoded is no option and has no control character."""
    decoded = unquote(path)
    return decoded.isprintable() and not decoded.lstrip("/~").startswith("-")


def _has_secret(url: str, scheme: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return True
    return bool(parts.password or (parts.username and scheme != "ssh") or parts.query)


def folder_of(url: str) -> str | None:
    """Return the folder on this machine that an address names, as git reads it; None for one that names another host.

    An address with a host in it, of which git makes a folder too, names none that can be allowed.
    """
    scheme, mark, place = url.partition("://")
    if not mark or scheme.lower() != "file":
        return None
    return unquote(place) if place.startswith("/") else "\0"


def name_of(url: str) -> str:
    """Return the name of a repository, taken from its address."""
    return re.split("[/:]", url.rstrip("/"))[-1].removesuffix(".git") or "repository"


def bring(origin: GitOrigin, tree: str) -> Iterator[Step]:
    """Copy a repository to a folder, or bring the copy there up to date; yield how far that is.

    The files are those of the repository, byte by byte; nothing that it asks for is run. Raises UsageError for an
    address that is not allowed, SourceError when git fails, or it takes too long or too much.
    """
    url, branch = checked_url(origin.url, origin.schemes), checked_name(origin.branch)
    if os.path.isdir(os.path.join(tree, ".git")):
        _write_attributes(Folder(tree).below(".git"))
        yield from _bring_up_to_date(origin, tree, url)
        return
    folder, name = Folder(os.path.dirname(tree)), os.path.basename(tree)
    new, template = f"{name}.new", f"{name}.template"  # whole, or not there
    for old in (new, template, name):
        folder.remove(old)
    folder.below(new).make()
    _write_attributes(folder.below(template))
    of_template = f"--template={folder.below(template).path}"
    words = ["clone", "--depth=1", "--single-branch", "--no-tags", "--no-checkout", of_template]
    words += ["--progress", "--no-recurse-submodules", *([f"--branch={branch}"] if branch else [])]
    copy = folder.below(new).path
    try:
        if is_commit(branch):  # which is no name that `clone` takes
            form = "sha1" if len(branch) == 40 else "sha256"
            yield from _git(origin, copy, "init", "--quiet", f"--object-format={form}", of_template, "--", copy)
            yield from _bring_up_to_date(origin, copy, url)
        else:
            yield from _git(origin, copy, *words, "--", url, copy)
            yield from _check_out(origin, copy, "HEAD")
        folder.rename(new, name)
    finally:
        with suppress(OSError):
            folder.remove(new)
            folder.remove(template)


def _bring_up_to_date(origin: GitOrigin, tree: str, url: str) -> Iterator[Step]:
    fetch = ("fetch", "--depth=1", "--no-tags", "--no-recurse-submodules", "--progress")
    yield from _git(origin, tree, *_here(tree), *fetch, "--", url, origin.branch or "HEAD")
    yield from _check_out(origin, tree, "FETCH_HEAD")
    yield from _git(origin, tree, *_here(tree), "clean", "-ffdq")


def _check_out(origin: GitOrigin, tree: str, name: str) -> Iterator[Step]:
    """Write the files of a commit, which are counted first; none of a repository that has no commit.

    A few trees that name each other list more files than a disk or git itself can hold.
    """
    with start_git(tree, "rev-parse", "--verify", "--quiet", name) as process, answer(process, tree):
        commit = process.communicate()[0].decode("ascii", "replace").strip()
    if not commit:
        return
    try:
        check_n_files(tree, commit, origin.most_files, with_folders=True)
    except SourceError as error:
        raise SourceError(f"{origin.url!r} is not checked out: {error}", hint="see server.clone_max_files") from error
    yield from _git(origin, tree, *_here(tree), "reset", "--hard", "--quiet", commit)


def _here(tree: str) -> tuple[str, ...]:
    """Return the options of git for this repository, and for no other one around it."""
    return "-C", tree, "--git-dir=.git", "--work-tree=."


def _write_attributes(git_folder: Folder) -> None:
    """Switch off the `.gitattributes` of a repository: filters are programs, and texts must stay as they are."""
    information = git_folder.below("info")
    information.make()
    information.file("attributes").replace([b"* -filter -ident -text -eol -working-tree-encoding\n"])


# Whatever the settings of the user say: nothing runs on the way, and no file of a repository passes for one of git.
_SETTINGS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    "transfer.bundleURI": "false",
}


def _git(origin: GitOrigin, folder: str, *words: str) -> Iterator[Step]:
    """Run git and yield its progress; `folder` is what may not become too large. Raises SourceError."""
    program = find_program("git")
    if program is None:
        raise SourceError("git cannot be started: it is not in the PATH", hint="install git on the server")
    settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
    try:
        process = Program(
            [program, *settings, *words],
            has_input=False,
            env=_environment(origin),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise SourceError(f"git cannot be started: {error.strerror}", hint="install git on the server") from error
    try:
        messages = yield from _watched(process, origin, folder)
        if process.wait():
            raise _failure(origin, messages)
    finally:
        process.kill()
        process.wait()


def _watched(process: subprocess.Popen[bytes], origin: GitOrigin, folder: str) -> Generator[Step, None, list[str]]:
    """Yield progress until git ends; return its other messages. Raises SourceError beyond the limits."""
    lines: SimpleQueue[str | None] = SimpleQueue()
    Thread(target=_read, args=(process, lines), daemon=True).start()
    until, looked_at = time.monotonic() + origin.limit_s, 0.0
    messages: list[str] = []
    has_ended = False
    while not has_ended:
        with suppress(Empty):
            line = lines.get(timeout=_LOOK_S)
            if line is None:
                has_ended = True
            elif progress := _PROGRESS.match(line):
                yield Step("clone", current=int(progress[2]), total=int(progress[3]), message=progress[1])
            elif line.strip():
                messages.append(line.strip())
        now = time.monotonic()
        if has_ended or now - looked_at > _LOOK_S:
            looked_at = now
            _check(origin, folder, is_late=now > until)
    return messages


def _check(origin: GitOrigin, folder: str, *, is_late: bool) -> None:
    if is_late:
        raise SourceError(
            f"cloning {origin.url!r} was not finished after {origin.limit_s:g} s", hint="see server.clone_timeout_s"
        )
    if Folder(folder).n_bytes() > origin.most_bytes:
        raise SourceError(f"{origin.url!r} is larger than {origin.most_bytes} bytes", hint="see server.clone_max_bytes")


def _read(process: subprocess.Popen[bytes], lines: SimpleQueue[str | None]) -> None:
    assert process.stderr is not None  # a pipe
    remainder = b""
    with process.stderr:
        while piece := os.read(process.stderr.fileno(), 4_096):
            *whole, remainder = re.split(b"[\r\n]", remainder + piece)
            for line in whole:
                lines.put(line.decode("utf-8", "replace"))
    lines.put(remainder.decode("utf-8", "replace"))
    lines.put(None)


def _failure(origin: GitOrigin, messages: Sequence[str]) -> SourceError:
    errors = [line for line in messages if line.startswith(("fatal:", "error:", "ERROR:"))] or list(messages[-1:])
    text = "; ".join(errors[:3])
    hint = next(
        (hint for pattern, hint in _HINTS if re.search(pattern, text)), "run `git clone` on the server to see more"
    )
    own = "; ".join(_own_words(line) for line in errors[:3])
    return SourceError(f"git cannot clone {origin.url!r}: {own or 'it gave no reason'}", hint=hint)


def _own_words(line: str) -> str:
    """Return only git's own words: a client must not read data of other servers through an error."""
    prefix = _OF_THE_OTHER_SIDE.match(line)
    return f"{prefix[1]} …" if prefix else line


def _environment(origin: GitOrigin) -> dict[str, str]:
    """Return an environment in which git asks nobody anything, and goes nowhere but where it may."""
    variables = {name: value for name, value in environment().items() if not name.startswith(("GIT_", "SSH_ASKPASS"))}
    return variables | {
        "GIT_ALLOW_PROTOCOL": ":".join(origin.schemes),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes -o ConnectTimeout=20",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "LC_ALL": "C",
    }
