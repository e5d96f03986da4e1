"""Copies of repositories of other machines: cloned and updated with git, within limits; nothing of them is run."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, NamedTuple
from urllib.parse import urlsplit

from codefathom.clones.git_address import checked_url
from codefathom.clones.git_origin import GitOrigin
from codefathom.errors import IndexingError, SourceError, UsageError
from codefathom.source.revisions.git_program import answer, start_git
from codefathom.source.revisions.git_tree import check_n_files
from codefathom.source.revisions.revision import checked_name, is_commit
from codefathom.stores.folder import Folder
from codefathom.system.children import Program, environment, find_program
from codefathom.types import Progress

_MOST_PACKS = 50  # each fetch brings one
_MOST_CONFIG_BYTES = 100_000
_MOST_LIST_BYTES = 4_000_000  # commits and names of branches
_HEADS = "refs/heads/"
_MOST_MESSAGES = 100  # lines; the reason of a failure is in the last ones
_LOOK_S = 0.25  # how often size and time are looked at
_PROGRESS = re.compile(r"(?:remote: )?([A-Z][a-z]+ [a-z ]+): +\d+% \((\d{1,18})/(\d{1,18})\)")
# After these words comes text of the other side.
_OF_THE_OTHER_SIDE = re.compile(r"(fatal: remote error:|fatal: protocol error:|ERROR:|remote:)")
# What git says, and what may be done about it.
_HINTS = (
    (
        r"Authentication failed|could not read Username|Permission denied|Invalid username|Host key verification",
        "give the user that runs fathom access: by an ssh key or by git's credential store",
    ),
    (
        r"resolve host|Connection|timed out|unable to access",
        "check that the address is right, and that this machine can reach it",
    ),
    (r"not found|does not exist|not appear to be a git repository", "check the address"),
    (
        r"Remote branch|couldn't find remote ref|not our ref|unadvertised object",
        "check the branch, tag or commit, of which a server may want the whole hash; without one, the default branch "
        "is used",
    ),
)


def bring(origin: GitOrigin, tree: str) -> Iterator[Progress]:
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


def bring_bare(
    origin: GitOrigin, place: str, most_file_bytes: int, choose: Callable[[Sequence[str]], Sequence[str]] | None = None
) -> Iterator[Progress]:
    """Copy the newest commit of a repository to a bare one, or bring that up to date; yield how far that is.

    It has no work tree, no history, and no file above so many bytes where the server can leave these out. Nothing is
    there afterwards of a repository that has no commit. Raises as `bring`, and a copy that was there stays as it was;
    one that is damaged is made again. With `choose`, which chooses among the names of branches, it has the newest
    commits of these branches, too, and its HEAD names the default one.
    """
    yield from _bring_head(origin, place, most_file_bytes)
    if choose is not None and os.path.isdir(place):
        yield from _bring_branches(origin, place, most_file_bytes, choose)


def _bring_branches(
    origin: GitOrigin, place: str, most_file_bytes: int, choose: Callable[[Sequence[str]], Sequence[str]]
) -> Iterator[Progress]:
    listed = yield from _heads(origin, place, f"{_HEADS}*")
    chosen = choose([name for name in listed.branches if name != listed.default])
    kept = {*chosen, listed.default}
    for name in _own_branches(place):  # first: git keeps no branch a beside one that is called a/b
        if name not in kept:
            yield from _git(origin, place, *_in_bare(place), "update-ref", "-d", f"{_HEADS}{name}")
    if chosen:
        specs = [f"+{_HEADS}{name}:{_HEADS}{name}" for name in chosen]
        words = (*_newest(most_file_bytes), "--no-recurse-submodules", "origin", *specs)
        yield from _git(origin, place, *_in_bare(place), "fetch", *words)
        for name in chosen:
            _counted_commit(origin, place, f"{_HEADS}{name}")
    if listed.default:
        ref, commit = f"{_HEADS}{listed.default}", _counted_commit(origin, place, "HEAD")
        yield from _git(origin, place, *_in_bare(place), "update-ref", ref, commit)
        yield from _git(origin, place, *_in_bare(place), "symbolic-ref", "HEAD", ref)


class RemoteHeads(NamedTuple):
    """The newest commits of a repository elsewhere."""

    commit: str  # of the default branch, "" where there is none
    default: str  # name of that branch, "" where the repository names none
    branches: Mapping[str, str]  # commits of all branches, by their names


def _heads(origin: GitOrigin, folder: str, pattern: str) -> Generator[Progress, None, RemoteHeads]:
    """Ask a repository for the commits of branches; names that git itself would not give are left out."""
    url = checked_url(origin.url, origin.schemes)
    file = os.path.join(folder, "tmp_heads")  # of a name that `_remove_left_over` removes
    try:
        with open(file, "wb+") as output:
            words = ("ls-remote", "--symref", "--", url, "HEAD", *([pattern] if pattern else []))
            yield from _git(origin, folder, *words, output=output)
            output.seek(0)
            text = output.read(_MOST_LIST_BYTES).decode("utf-8", "replace")
    finally:
        with suppress(OSError):
            os.unlink(file)
    default = re.match(rf"ref: {_HEADS}(\S{{1,255}})\tHEAD\n", text)
    commit = re.search(r"^([0-9a-f]{40,64})\tHEAD$", text, re.MULTILINE)
    listed = re.findall(rf"^([0-9a-f]{{40,64}})\t{_HEADS}(\S+)$", text, re.MULTILINE)
    return RemoteHeads(
        commit[1] if commit else "",
        default[1] if default and _is_name(default[1]) else "",
        {name: each for each, name in listed if _is_name(name)},
    )


def _is_name(name: str) -> bool:
    try:
        return bool(checked_name(name))
    except UsageError:
        return False


def _own_branches(place: str) -> list[str]:
    with start_git(place, "for-each-ref", "--format=%(refname)", _HEADS) as process, answer(process, place):
        output = process.communicate()[0]
    return [ref.removeprefix(_HEADS) for ref in output.decode("utf-8", "replace").splitlines()]


def _newest(most_file_bytes: int) -> tuple[str, ...]:
    """Return the options of git for the newest commits alone, without large files."""
    return "--depth=1", "--no-tags", "--progress", f"--filter=blob:limit={most_file_bytes}"


def _bring_head(origin: GitOrigin, place: str, most_file_bytes: int) -> Iterator[Progress]:
    url = checked_url(origin.url, origin.schemes)
    words = _newest(most_file_bytes)
    if os.path.isdir(place):
        _remove_left_over(place)
    if _has_commit(place):
        yield from _git(origin, place, *_in_bare(place), "config", "remote.origin.url", url)
        yield from _git(origin, place, *_in_bare(place), "fetch", *words, "--no-recurse-submodules", "origin", "HEAD")
        if commit := _counted_commit(origin, place, "FETCH_HEAD"):
            yield from _git(origin, place, *_in_bare(place), "update-ref", "--no-deref", "HEAD", commit)
        if len(_packs(place)) > _MOST_PACKS:  # nothing is lost: readers may still need the commits before
            yield from _git(origin, place, *_in_bare(place), "repack", "-a", "-d", "--keep-unreachable", "--quiet")
        return
    folder, name = Folder(os.path.dirname(place)), os.path.basename(place)
    new = f"{name}.new"  # whole, or not there
    folder.remove(new)
    folder.below(new).make()
    copy = folder.below(new).path
    try:
        more = ("--bare", "--single-branch", "--no-recurse-submodules", "--template=")
        yield from _git(origin, copy, "clone", *words, *more, "--", url, copy)
        if _counted_commit(origin, copy, "HEAD"):
            folder.remove(name)
            folder.rename(new, name)
    finally:
        with suppress(OSError):
            folder.remove(new)


def remote_heads(origin: GitOrigin, folder: str, *, with_branches: bool = False) -> RemoteHeads:
    """Return the newest commits of a repository, which is asked for them alone; `folder` takes the answer.

    Raises as `bring`.
    """
    looking = _heads(origin, folder, f"{_HEADS}*" if with_branches else "")
    while True:
        try:
            next(looking)
        except StopIteration as end:
            heads: RemoteHeads = end.value
            return heads


def default_branch(origin: GitOrigin, folder: str) -> str:
    """Return the branch that a copy of a repository would have, "" where it names none; see `remote_heads`."""
    return remote_heads(origin, folder).default


def address_of(place: str) -> str:
    """Return the address from which a bare copy was brought; "" for a folder that is none."""
    try:  # as git has written it; a process for each of many thousand copies would take minutes
        config = Folder(place).file("config").read(_MOST_CONFIG_BYTES).decode("utf-8", "replace")
    except (OSError, IndexingError):
        return ""
    url = re.search(r'^\[remote "origin"\]\n(?:[^\[\n].*\n)*?\turl = "?([^"\n]*)', config, re.MULTILINE)
    return url[1].strip() if url else ""


def _has_commit(place: str) -> bool:
    """Return True for a bare repository whose HEAD can be read: not so after a full disk or a loss of power."""
    if not os.path.isdir(place):
        return False
    words = ("--git-dir=.", "rev-parse", "--verify", "--quiet", "HEAD^{tree}")
    with start_git(place, *words) as process, answer(process, place):
        process.communicate()
    return process.returncode == 0


def _in_bare(place: str) -> tuple[str, ...]:
    return "-C", place, "--git-dir=."


def _packs(place: str) -> list[str]:
    with suppress(FileNotFoundError):
        return [name for name in os.listdir(os.path.join(place, "objects", "pack")) if name.endswith(".pack")]
    return []


def _remove_left_over(place: str) -> None:
    """Remove locks and unfinished files of a git that was killed; nobody else writes here."""
    for folder, _, names in os.walk(place):
        for name in names:
            if name.endswith(".lock") or name.startswith("tmp_"):
                with suppress(OSError):
                    os.unlink(os.path.join(folder, name))


def _bring_up_to_date(origin: GitOrigin, tree: str, url: str) -> Iterator[Progress]:
    fetch = ("fetch", "--depth=1", "--no-tags", "--no-recurse-submodules", "--progress")
    yield from _git(origin, tree, *_here(tree), *fetch, "--", url, origin.branch or "HEAD")
    yield from _check_out(origin, tree, "FETCH_HEAD")
    yield from _git(origin, tree, *_here(tree), "clean", "-ffdq")


def _check_out(origin: GitOrigin, tree: str, name: str) -> Iterator[Progress]:
    """Write the files of a commit, which are counted first; none of a repository that has no commit."""
    if commit := _counted_commit(origin, tree, name):
        yield from _git(origin, tree, *_here(tree), "reset", "--hard", "--quiet", commit)


def _counted_commit(origin: GitOrigin, folder: str, name: str) -> str:
    """Return the commit of a name, "" for none. Raises SourceError for one of too many files.

    A few trees that name each other list more files than a disk or git itself can hold.
    """
    with start_git(folder, "rev-parse", "--verify", "--quiet", name) as process, answer(process, folder):
        commit = process.communicate()[0].decode("ascii", "replace").strip()
    if commit:
        try:
            check_n_files(folder, commit, origin.most_files, with_folders=True)
        except SourceError as error:
            raise SourceError(f"{origin.url!r} is not taken: {error}", hint="see server.clone_max_files") from error
    return commit


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


def _git(
    origin: GitOrigin, folder: str, *words: str, output: IO[bytes] | int = subprocess.DEVNULL
) -> Iterator[Progress]:
    """Run git and yield its progress; `folder` is what may not become too large. Raises SourceError."""
    program = find_program("git")
    if program is None:
        raise SourceError("git cannot be started: it is not in the PATH", hint="install git")
    settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
    try:
        process = Program(
            [program, *settings, *words],
            has_input=False,
            env=_environment(origin),
            stdout=output,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise SourceError(f"git cannot be started: {error.strerror}", hint="install git") from error
    try:
        messages = yield from _watched(process, origin, folder)
        if process.wait():
            raise _failure(origin, messages)
    finally:
        process.kill()
        process.wait()


def _watched(process: subprocess.Popen[bytes], origin: GitOrigin, folder: str) -> Generator[Progress, None, list[str]]:
    """Yield progress until git ends; return its other messages. Raises SourceError beyond the limits."""
    lines: SimpleQueue[str | None] = SimpleQueue()
    Thread(target=_read, args=(process, lines), daemon=True).start()
    until, looked_at = time.monotonic() + origin.limit_s, 0.0
    messages: deque[str] = deque(maxlen=_MOST_MESSAGES)  # the other side may say as much as it likes
    has_ended = False
    while not has_ended:
        with suppress(Empty):
            line = lines.get(timeout=_LOOK_S)
            if line is None:
                has_ended = True
            elif progress := _PROGRESS.match(line):
                yield Progress("clone", int(progress[2]), int(progress[3]), message=progress[1])
            elif line.strip():
                messages.append(line.strip())
        now = time.monotonic()
        if has_ended or now - looked_at > _LOOK_S:
            looked_at = now
            _check(origin, folder, is_late=now > until)
    return list(messages)


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
        (hint for pattern, hint in _HINTS if re.search(pattern, text)), "run `git clone` on this machine to see more"
    )
    own = "; ".join(_own_words(line) for line in errors[:3])
    return SourceError(f"git cannot clone {origin.url!r}: {own or 'it gave no reason'}", hint=hint)


def _own_words(line: str) -> str:
    """Return only git's own words: a client must not read data of other servers through an error."""
    prefix = _OF_THE_OTHER_SIDE.match(line)
    return f"{prefix[1]} …" if prefix else line


def _login(origin: GitOrigin) -> dict[str, str]:
    """Return variables that give git a login, for this server alone: it is in no command line and in no file."""
    if not origin.authorization:
        return {}
    parts = urlsplit(origin.url)
    settings = {
        f"http.{parts.scheme}://{parts.netloc}/.extraHeader": f"Authorization: {origin.authorization}",
        "http.followRedirects": "false",
        "credential.helper": "",
    }
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def _environment(origin: GitOrigin) -> dict[str, str]:
    """Return an environment in which git asks nobody anything, and goes nowhere but where it may."""
    variables = {name: value for name, value in environment().items() if not name.startswith(("GIT_", "SSH_ASKPASS"))}
    return (
        variables
        | _login(origin)
        | {
            "GIT_ALLOW_PROTOCOL": ":".join(origin.schemes),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_SSH_COMMAND": "ssh -o BatchMode=yes -o ConnectTimeout=20",
            "GIT_LFS_SKIP_SMUDGE": "1",
            "LC_ALL": "C",
        }
    )
