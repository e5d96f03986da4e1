"""The commits of a repository as documents: message, author, date, and a bounded part of the lines that were changed.

`rev-list` lists them and `diff-tree` compares trees; no filter, textconv, external diff, hook or signature program is
used. One `git diff-tree --stdin` answers for many commits: it echoes a line that is no hash, which ends each answer.
A partial clone lacks contents: of its commits the messages alone are read.
"""

from __future__ import annotations

import atexit
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple

from codefathom.errors import SourceError
from codefathom.source.changes import UNKNOWN_SIZE, FileStat, Scan
from codefathom.source.revisions.git_program import answer, end_git, output_of_git, start_git
from codefathom.source.revisions.git_tree import is_partial
from codefathom.source.scan import ScanRules
from codefathom.types import CommitMark

if TYPE_CHECKING:
    import subprocess

FOLDER = "commit/"  # of the paths
_HASH_CHARS = 12
_SECOND_NS = 1_000_000_000
_LATEST_S = 9_000_000_000  # a commit may name any time; later ones do not fit into a catalogue
_MOST_MESSAGE_LINES = 60
_MOST_FILES = 40  # of a commit whose names are shown
_MOST_LINES = 60  # of a commit, added or removed
_MOST_LINES_OF_FILE = 20
_MOST_LINE_CHARS = 200
_MOST_BYTES = 4_000_000  # of the answer of git on one commit that are looked at; what follows is passed by
_COMPARE = (
    *("diff-tree", "--stdin", "--always", "--root", "-r", "-p", "-U0", "-M", "-l200", "--no-color"),
    *("--no-ext-diff", "--no-textconv", "--ignore-submodules=all", f"-O{os.devnull}", "--src-prefix=a/"),
    *("--dst-prefix=b/", "--no-notes", "--encoding=UTF-8", "--format=%H%n%an%n%ad%n%B", "--date=format:%Y-%m-%d"),
)
_MOST_READ = 65_536  # bytes at once: as many as a pipe holds
_BEGINS_FILE = "\ndiff --git "
_MOST_HEADER_LINES = 8  # of a file, before its changed lines
_MOST_NAME_CHARS = 1_000
_PULL_REQUEST = re.compile(r"\(#(\d{1,9})\)\s*$|^Merge (?:pull|merge) request #(\d{1,9})\b|^Merge PR #(\d{1,9})\b")
_AUTHOR = re.compile(r"author (?P<name>.*), (?P<date>\d+-\d\d-\d\d)(?:, pull request #(?P<number>\d+))?")
_FILE_LIST = re.compile(r"^\n?files ", re.MULTILINE)  # behind the message
_EACH_LINE = re.compile(r"[^\n]+")
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)")


class ListedCommit(NamedTuple):
    """A commit of a history."""

    id: str  # its whole hash
    time_ns: int  # since the epoch
    author: str  # the name

    @property
    def path(self) -> str:
        """The path of its document."""
        return f"{FOLDER}{self.id[:_HASH_CHARS]}"


@dataclass(frozen=True, slots=True)
class CommitTree:
    """The latest commits up to one, as the files of a tree. A process that gets it reads the same commits."""

    folder: str  # in the repository
    commit: str
    prefix: str  # of the project in the commit: "" or ends with "/"; commits that change nothing there are left out
    most: int

    @property
    def is_fixed(self) -> Literal[True]:
        """See `FixedTree`: a commit has the same history for ever."""
        return True

    def scan(self, _: ScanRules) -> Scan:
        """List the commits; no rule for files is about them. Raises SourceError."""
        return Scan(tuple(sorted(map(_stat, commits_of(self).values()))), ())

    def open(self, path: str) -> BinaryIO | None:
        """Return the document of a commit; None for any other path. Raises OSError where git cannot read it."""
        commit = commits_of(self).get(path)
        return None if commit is None else BytesIO(_comparisons(self.folder, self.prefix).document(commit.id))

    def stat(self, path: str) -> FileStat | None:
        """Return the stamp of a commit, which is its time; None for any other path."""
        commit = commits_of(self).get(path)
        return None if commit is None else _stat(commit)


def _stat(commit: ListedCommit) -> FileStat:
    return FileStat(commit.path, UNKNOWN_SIZE, commit.time_ns)


@dataclass(frozen=True, slots=True)
class CommitHistory:
    """The commits up to a branch or commit, as the files of a project."""

    folder: str
    target: str  # a branch or HEAD, which may move, or the hash of a commit
    prefix: str
    most: int

    @property
    def name(self) -> str:
        """Their name in messages."""
        return "commits"

    @property
    def has_times(self) -> bool:
        """True: the stamp of a commit is its time."""
        return True

    def tree(self, below: str = "") -> CommitTree:
        """Return the commits as they are now. Raises SourceError."""
        words = ("rev-parse", "--verify", "--end-of-options", f"{self.target}^{{commit}}")
        return CommitTree(self.folder, output_of_git(self.folder, *words).strip(), self.prefix, self.most)


@lru_cache(maxsize=4)
def commits_of(tree: CommitTree) -> Mapping[str, ListedCommit]:
    """Return the commits of a history by the paths of their documents, the latest first. Raises SourceError."""
    below = ("--", f":(top,literal){tree.prefix}") if tree.prefix else ()
    words = ("rev-list", f"--max-count={tree.most}", "--no-commit-header", "--encoding=UTF-8", "--format=%H %ct %an")
    output = output_of_git(tree.folder, *words, "--end-of-options", tree.commit, *below)
    listed = map(_listed, filter(None, output.split("\n")))
    return {commit.path: commit for commit in listed}


def _listed(line: str) -> ListedCommit:
    commit, seconds, author, *_ = (*line.split(" ", 2), "", "")
    time_s = int(seconds) if seconds.isdecimal() else 0  # a time before 1970 is none that anybody worked at
    return ListedCommit(commit, min(time_s, _LATEST_S) * _SECOND_NS, author)


def n_commits(tree: CommitTree) -> int:
    """Return the number of all commits of a history, also of those beyond its limit. Raises SourceError."""
    below = ("--", f":(top,literal){tree.prefix}") if tree.prefix else ()
    return int(output_of_git(tree.folder, "rev-list", "--count", "--end-of-options", tree.commit, *below))


class _Comparisons:
    """Commits of a repository with what they changed, read by one process for as long as they are needed."""

    def __init__(self, folder: str, prefix: str) -> None:
        self._folder = folder
        self._words = (*_COMPARE, "-s") if is_partial(folder) else _COMPARE
        if prefix:
            self._words = (*self._words, f"--relative={prefix}")
        self._mark = f"end {os.urandom(16).hex()}\n".encode()  # which no message can know
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)

    def document(self, commit: str) -> bytes:
        """Return the document of a commit. Raises OSError for one that cannot be read, SourceError when git hangs."""
        with self._lock:
            try:
                return _document(self._answer(commit)).encode()
            except (OSError, ValueError, SourceError) as error:
                self._end()
                if isinstance(error, SourceError):
                    raise
                raise OSError(f"the commit {commit} cannot be read") from error

    def close(self) -> None:
        """End the process; a later read starts another one."""
        with self._lock:
            self._end()

    def _answer(self, commit: str) -> str:
        """Return what git says of a commit, as much as is looked at. Raises ValueError where there are none."""
        if self._process is None:
            self._process = start_git(self._folder, *self._words)
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None and answers is not None  # pipes
        with answer(self._process, self._folder):
            requests.write(f"{commit}\n".encode() + self._mark)
            requests.flush()
            parts: list[bytes] = []
            n_bytes, end = 0, b""  # nothing comes behind the mark before the next request
            while not end.endswith(self._mark):
                if not (part := os.read(answers.fileno(), _MOST_READ)):
                    raise ValueError(commit)
                end = (end + part)[-len(self._mark) :]
                if n_bytes <= _MOST_BYTES:
                    parts.append(part)
                n_bytes += len(part)
        whole = b"".join(parts).removesuffix(self._mark)
        if len(whole) > _MOST_BYTES:
            whole = whole[: whole.rfind(b"\n", 0, _MOST_BYTES) + 1]
        return whole.decode("utf-8", "replace").replace("\0", "")

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            end_git(process)


@lru_cache(maxsize=4)
def _comparisons(folder: str, prefix: str) -> _Comparisons:
    return _Comparisons(folder, prefix)


def _document(answer_of_git: str) -> str:
    """Return the document of a commit from what git says: head, message, changed files, changed lines."""
    head_and_message, *files = answer_of_git.split(_BEGINS_FILE)
    commit, author, date, *rest = head_and_message.split("\n", 3)
    most = _MOST_MESSAGE_LINES + 1  # with the subject
    message = [_short(line) for line in "".join(rest).strip().split("\n", most)[:most]]
    number = pull_request_of(message[0])
    head = f"author {_short(author)}, {date}" + (f", pull request #{number}" if number else "")
    text = [message[0] or "(no message)", f"commit {commit}", head, *message[1:]]
    if files:
        text += ["", _files(files), *_shown(files)]
    return "\n".join(text).rstrip() + "\n"


N_LINES_OF_MESSAGE = 3 + _MOST_MESSAGE_LINES  # of a document, with the hash and the author


def message_of(head: str) -> str:
    """Return the message of a commit, its subject first, by the first lines of its document."""
    subject, _, rest = head.partition("\n")
    *_, body = rest.split("\n", 2)
    return f"{subject}\n{_FILE_LIST.split(body)[0]}"


def mark_of(head: str) -> CommitMark | None:
    """Return the mark of a commit by the first lines of its document; None for another text."""
    subject, number, author, *_ = (*head.split("\n"), "", "", "")
    match = _AUTHOR.fullmatch(author)
    if match is None or not number.startswith("commit "):
        return None
    return CommitMark(number.removeprefix("commit "), match["date"], match["name"], subject, match["number"] or "")


def pull_request_of(subject: str) -> str:
    """Return the number of the pull request that a subject names, "" without one."""
    match = _PULL_REQUEST.search(subject)
    return next(filter(None, match.groups()), "") if match else ""


def _name(change: str) -> str:
    """Return the name of a changed file, by what git says of it behind `diff --git `."""
    first, *lines = change.split("\n", _MOST_HEADER_LINES)
    name, old = first.rpartition(" b/")[2], ""
    for line in lines:
        if line.startswith("rename from "):
            old = line.removeprefix("rename from ")
        elif line.startswith("rename to "):
            return f"{line.removeprefix('rename to ')} (was {old})"
        elif line.startswith("@@ "):
            break
    return name


def _files(changes: Sequence[str]) -> str:
    names = [_name(change) for change in changes[:_MOST_FILES]]
    left = len(changes) - len(names)
    return "files " + _short(", ".join(names), _MOST_NAME_CHARS) + (f" and {left} more" if left > 0 else "")


def _shown(changes: Sequence[str]) -> Iterator[str]:
    """Yield the changed lines within the limit of a commit."""
    room = _MOST_LINES
    for change in changes:
        if room <= 0:
            yield "(more lines were changed)"
            return
        yield ""
        yield _name(change)
        lines = list(islice(_lines(change), room))
        yield from lines
        room -= len(lines)


def _lines(change: str) -> Iterator[str]:
    """Yield the first changed lines of a file, and before each group where it stands."""
    n_shown = 0
    for match in _EACH_LINE.finditer(change, change.find("\n@@ ") + 1 or len(change)):
        line = match[0]
        if hunk := _HUNK.match(line):
            yield f"@@ line {hunk[2]}{': ' if hunk[3] else ''}{_short(hunk[3])}"
        elif line[0] in "+-" and line[1:].strip() and not line.startswith(("--- ", "+++ ")):
            yield _short(line)
            n_shown += 1
            if n_shown >= _MOST_LINES_OF_FILE:
                return


def _short(line: str, most: int = _MOST_LINE_CHARS) -> str:
    line = line.rstrip()
    return line if len(line) <= most else f"{line[:most]}…"
