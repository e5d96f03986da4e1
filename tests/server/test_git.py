"""Repositories by their address: fetched by real git, kept up to date, limited, removed."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.waiting import LONG_S, comes

from codefathom.clones.git_address import checked_url, repository_name
from codefathom.clones.git_copies import bring
from codefathom.clones.git_origin import GitOrigin
from codefathom.errors import SourceError, UsageError
from codefathom.server.server_config import ServerConfig
from codefathom.source.revisions.revision import checked_name
from codefathom.types import Progress

from .conftest import Serve
from .test_routes_jobs import messages

DEFAULT = ("https", "ssh")


def git(folder: Path, *words: str) -> None:
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    names = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(
        ["git", *names, *words], cwd=folder, check=True, capture_output=True, env=os.environ | own, timeout=LONG_S
    )


def commit(folder: Path, path: str, text: str) -> None:
    (folder / path).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-m", "change")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "remote" / "orders.git"
    folder.mkdir(parents=True)
    git(folder, "init")
    commit(folder, "first.py", "def first_price(): pass\n")
    commit(folder, "old.py", "def old_price(): pass\n")
    return folder


@pytest.fixture
def origin(repository: Path) -> GitOrigin:
    return GitOrigin(repository.as_uri(), schemes=("file",))


@pytest.fixture
def client(config: ServerConfig, serve: Serve) -> Iterator[httpx.Client]:
    with serve(replace(config, git_schemes=("file",))) as client:
        yield client


def add(client: httpx.Client, url: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/projects", json={"url": url, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def told(client: httpx.Client, project: str, method: str = "GET") -> list[dict[str, Any]]:
    """Follow a job to its end."""
    return messages(client.request(method, f"/projects/{project}/index").text)


@pytest.mark.parametrize(
    "url",
    [
        "https://host.example/group/name.git",
        "HTTPS://host.example/name",
        "ssh://git@host.example:2222/name.git",
        "git@host.example:group/name.git",
        "git@host.example:~user/name.git",
        "ssh://git@[2001:db8::1]:22/group/name.git",
        "https://host.example/a-b/-/c%20d/name.git",
        "ssh://host.example/~user/name",
    ],
)
def test_addresses_that_are_taken(url: str) -> None:
    assert checked_url(url, DEFAULT) == url
    assert repository_name(url) == "name"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("file:///etc", "does not clone from"),
        ("http://host.example/name", "does not clone from"),
        ("/srv/name", "does not clone from"),
        ("../name", "does not clone from"),
        ("ext::sh -c 'touch x'", "is not the address"),
        ("ext::sh", "does not clone from"),
        ("--upload-pack=touch", "is not the address"),
        ("-oProxyCommand=x@host:y", "is not the address"),
        ("https://host.example/a b", "is not the address"),
        ("https://host.example/a\n", "is not the address"),
        ("https://user:secret@host.example/name", "contains a login"),
        ("https://token@host.example/name", "contains a login"),
        ("ssh://git:secret@host.example/name", "contains a login"),
        ("https://host.example/name?private_token=secret", "contains a login"),
        ("https://[host/name", "is not the address"),
        ("git@host.example:/x:y", "does not clone from"),
        ("", "does not clone from"),
    ],
)
def test_addresses_that_are_refused_and_no_secret_is_repeated(url: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        checked_url(url, DEFAULT)
    if "secret" in url and "?" not in url:
        assert "secret" not in str(caught.value)
    assert caught.value.hint


# Each of these would reach ssh, git or a program of theirs as an option or as a command.
OPTIONS_AS_ADDRESSES = [
    "ssh://-oProxyCommand=touch$IFS/tmp/x/name",
    "ssh://-oProxyCommand=touch/name.git",
    "ssh://%2DoProxyCommand=touch/name",
    "ssh://%2doProxyCommand%3Dtouch/name",
    "ssh://-lroot@host.example/name",
    "ssh://-l@host.example/name",
    "ssh://git@-oProxyCommand=x/name",
    "ssh://git@-E/name",
    "ssh://git@-host.example:22/name",
    "ssh://host.example:-22/name",
    "ssh://host.example:22x/name",
    "ssh://host.example/-oProxyCommand=x",
    "ssh://host.example/%2Dupload",
    "ssh://host.example//-x",
    "ssh://host.example/~-x/name",
    "ssh:///name",
    "ssh://@host.example/name",
    "ssh://git@/name",
    "ssh://a@b@host.example/name",
    "ssh://host.example\\@other.example/name",
    "ssh://ho$(touch)st/name",
    "ssh://ho`touch`st/name",
    "ssh://host;touch/name",
    "ssh://'host'/name",
    "git@-E:name",
    "-E@host.example:name",
    "-git@host.example:name",
    "git@host.example:-u",
    "git@host.example:--upload-pack=touch",
    "git@.host:name",
    "git@host..example:name",
    "https://-u/name",
    "https://--upload-pack=touch/name",
    "https://host.example/-x",
    "https://host.example/a%0ab",
    "https://host.example/a%00b",
    "https://host.example/a%1bb",
    "https://host.example/a%7Fb",
    "https://host.example:99999999/name",
    "https:///name",
    "https://",
    "https:name",
    "https:/host.example/name",
    "-u/bin/sh",
    "--upload-pack=/bin/sh",
    "-c",
    "ext::ssh://host.example/name",
    "ext::sh -c touch",
    "fd::17/name",
    "https::ssh://host.example/name",
    "transport::https://host.example/name",
    "file:///etc",
    "file://-x",
    "host.example:name",
    "C:\\name",
    "https://host.example/a\tb",
    "https://host.example/a\u202eb",
    "https://host.example/a\x1b[2J",
    "https://host.example/name\0",
]


@pytest.mark.parametrize("url", OPTIONS_AS_ADDRESSES)
def test_nothing_passes_for_an_option_or_a_command(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        checked_url(url, DEFAULT)
    assert caught.value.hint


@pytest.mark.parametrize("url", ["file://-x", "file://host.example/-x", "file://%2Dx"])
def test_a_file_passes_for_no_option_either(url: str) -> None:
    with pytest.raises(UsageError, match="is not the address"):
        checked_url(url, ("file",))


@given(
    st.text(alphabet=st.characters(codec="utf-8"), max_size=20), st.sampled_from(["", "ssh://", "https://", "git@h:"])
)
def test_what_is_taken_begins_no_part_with_a_dash(text: str, start: str) -> None:
    try:
        url = checked_url(start + text, DEFAULT)
    except UsageError:
        return
    assert re.fullmatch(
        r"(?:ssh|https)://(?:\w[\w.-]*@)?[\w\[][^/]*(?:/(?!-).*)?|\w[\w.-]*@\w[\w.-]*:(?![-/]).+", url, re.I
    )


@pytest.mark.parametrize("branch", ["--force", "a..b", "a b", "-x", "a\n", "@{1}", "a:b", "+a", "a" * 201])
def test_names_of_branches_that_are_refused(branch: str) -> None:
    with pytest.raises(UsageError, match="not the name of a branch"):
        checked_name(branch)


@pytest.mark.parametrize("branch", ["", "main", "v1.2", "feature/#12", "npm/@types/node-1", "größe", "0" * 40])
def test_names_of_branches_that_are_taken(branch: str) -> None:
    assert checked_name(branch) == branch


def test_a_copy_is_fetched_without_its_history_and_brought_up_to_date(
    repository: Path, origin: GitOrigin, tmp_path: Path
) -> None:
    tree = tmp_path / "copy" / "tree"
    steps = list(bring(origin, str(tree)))
    assert all(isinstance(step, Progress) and step.phase == "clone" for step in steps)
    assert sorted(path.name for path in tree.iterdir()) == [".git", "first.py", "old.py"]
    count = subprocess.run(
        ["git", "rev-list", "--count", "HEAD"], cwd=tree, capture_output=True, text=True, check=True, timeout=LONG_S
    )
    assert count.stdout.strip() == "1"
    (tree / "first.py").write_text("changed here, which nobody asked for")
    (tree / "left.py").write_text("left over")
    (repository / "old.py").unlink()
    commit(repository, "new.py", "def new_price(): pass\n")
    list(bring(origin, str(tree)))
    assert sorted(path.name for path in tree.iterdir()) == [".git", "first.py", "new.py"]
    assert (tree / "first.py").read_text() == "def first_price(): pass\n"


def test_a_branch_is_taken_where_one_is_named(repository: Path, origin: GitOrigin, tmp_path: Path) -> None:
    git(repository, "checkout", "-b", "side/one")
    commit(repository, "side.py", "")
    git(repository, "checkout", "main")
    for _ in range(2):
        list(bring(replace(origin, branch="side/one"), str(tmp_path / "tree")))
        assert (tmp_path / "tree" / "side.py").exists()


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with programs that git runs where a repository asks for them; return the file that they write."""
    marker, template = tmp_path / "ran", tmp_path / "template"
    touch = f"touch {marker}; cat"
    (template / "hooks").mkdir(parents=True)
    for hook in ("post-checkout", "reference-transaction", "post-index-change", "post-merge", "pre-auto-gc"):
        (template / "hooks" / hook).write_text(f"#!/bin/sh\n{touch} < /dev/null\n")
        (template / "hooks" / hook).chmod(0o755)
    names = {"init.templateDir": template, "core.fsmonitor": touch, "submodule.recurse": "true"}
    for name in ("lfs", "other"):
        names |= {f"filter.{name}.smudge": touch, f"filter.{name}.clean": touch, f"filter.{name}.required": "true"}
    names |= {
        "filter.lfs.process": touch,
        "protocol.ext.allow": "always",
        "core.attributesFile": tmp_path / "attributes",
    }
    (tmp_path / "attributes").write_text("*.py filter=other\n")
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name, value in names.items():
        words = ["git", "config", "--file", str(home / ".gitconfig"), name, str(value)]
        subprocess.run(words, check=True, timeout=LONG_S)
    return marker


def test_what_a_repository_asks_for_is_not_run(
    repository: Path, origin: GitOrigin, user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "first.py").write_bytes(b"def first_price(): pass  # $Id$\n")
    (repository / ".gitattributes").write_text(
        "* filter=lfs ident text eol=crlf\n[attr]other filter=other working-tree-encoding=ISO-8859-15\nold.py other\n"
    )
    (repository / ".lfsconfig").write_text("[lfs]\n\turl = https://host.example/\n")
    (repository / ".gitmodules").write_text(f'[submodule "x"]\n\tpath = x\n\turl = ext::touch {user}\n')
    for program in ("ssh", "git", "git-lfs"):
        (repository / program).write_text(f"#!/bin/sh\ntouch {user}\n")
        (repository / program).chmod(0o755)
    commit(repository, "x.py", "")
    tree = tmp_path / "tree"
    for number in range(2):
        with monkeypatch.context() as there:
            there.chdir(repository)
            there.setenv("PATH", os.pathsep.join(["", ".", os.environ["PATH"]]))
            list(bring(origin, str(tree)))
        assert not user.exists()
        assert (tree / "first.py").read_bytes() == b"def first_price(): pass  # $Id$\n"
        assert (tree / "old.py").read_bytes() == b"def old_price(): pass\n"
        commit(repository, "x.py", f"n = {number}\n")


def test_a_repository_without_a_commit_is_brought_here(repository: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.git"
    empty.mkdir()
    git(empty, "init")
    list(bring(GitOrigin(empty.as_uri(), schemes=("file",)), str(tmp_path / "tree")))
    assert [path.name for path in (tmp_path / "tree").iterdir()] == [".git"]


def test_hooks_and_other_protocols_do_not_run(repository: Path, origin: GitOrigin, tmp_path: Path) -> None:
    (repository / ".gitmodules").write_text(f'[submodule "x"]\n\tpath = x\n\turl = ext::touch {tmp_path}/run\n')
    commit(repository, "x", "")
    list(bring(origin, str(tmp_path / "tree")))
    assert not (tmp_path / "run").exists()
    with pytest.raises(UsageError, match="does not clone from"):
        list(bring(replace(origin, schemes=DEFAULT), str(tmp_path / "tree")))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"branch": "none"}, "Remote branch none not found"),
        ({"most_bytes": 100}, "larger than 100 bytes"),
        ({"limit_s": -1.0}, "was not finished after"),
    ],
)
def test_what_fails_says_why_and_leaves_nothing(origin: GitOrigin, tmp_path: Path, change: Any, said: str) -> None:
    with pytest.raises(SourceError, match=said) as caught:
        list(bring(replace(origin, **change), str(tmp_path / "copy" / "tree")))
    assert caught.value.hint
    assert list((tmp_path / "copy").iterdir()) == []


def add_forest(repository: Path) -> None:
    """Commit 1,000 files, which few objects are: every folder is the same one, and every file, too."""

    def object_of(*words: str, text: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=repository, input=text, check=True, capture_output=True, text=True, timeout=LONG_S
        ).stdout.strip()

    entry = f"100644 blob {object_of('hash-object', '-w', '--stdin', text='x = 1')}"
    for _ in range(3):
        tree = object_of("mktree", text="".join(f"{entry}\t{name}\n" for name in "abcdefghij"))
        entry = f"040000 tree {tree}"
    git(repository, "read-tree", tree)
    git(repository, "commit", "-m", "forest")


@pytest.mark.parametrize("is_hash", [False, True])
def test_many_files_of_few_objects_are_refused_before_one_is_written(
    repository: Path, origin: GitOrigin, tmp_path: Path, is_hash: bool
) -> None:
    add_forest(repository)
    head = (repository / ".git" / "refs" / "heads" / "main").read_text().strip()
    origin = replace(origin, branch=head if is_hash else "")
    with pytest.raises(SourceError, match="files") as caught:
        list(bring(replace(origin, most_files=500), str(tmp_path / "copy" / "tree")))
    assert "server.clone_max_files" in caught.value.hint
    assert list((tmp_path / "copy").iterdir()) == []
    list(bring(replace(origin, most_files=100_000), str(tmp_path / "copy" / "tree")))
    assert len(list((tmp_path / "copy" / "tree").glob("?/?/?"))) == 1_000


def test_a_copy_stays_as_it_was_when_too_many_files_come(repository: Path, origin: GitOrigin, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    list(bring(origin, str(tree)))
    add_forest(repository)
    with pytest.raises(SourceError, match="files"):
        list(bring(replace(origin, most_files=500), str(tree)))
    assert sorted(path.name for path in tree.iterdir()) == [".git", "first.py", "old.py"]


def test_what_is_no_repository_says_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="git cannot clone") as caught:
        list(bring(GitOrigin((tmp_path / "none").as_uri(), schemes=("file",)), str(tmp_path / "tree")))
    assert "check the address" in caught.value.hint


def test_over_http_a_repository_becomes_a_project_is_refreshed_and_removed(
    client: httpx.Client, repository: Path, tmp_path: Path
) -> None:
    project = add(client, repository.as_uri())
    assert (project["id"], project["url"]) == ("orders", repository.as_uri())
    assert project["status"] in {"queued", "indexing"}
    events = told(client, "orders")
    assert events[-1] == {"type": "done", "data": {"job_id": project["job_id"], "state": "done"}}
    shown = client.get("/projects/orders").json()
    assert (shown["status"], shown["n_documents"]) == ("indexed", 2)
    assert client.post("/search", json={"query": "first_price"}).json()["hits"][0]["path"] == "first.py"
    commit(repository, "later.py", "def later_price(): pass\n")
    assert "clone" in [event["type"] for event in told(client, "orders", "POST")]
    assert client.post("/search", json={"query": "later_price"}).json()["hits"][0]["path"] == "later.py"
    again = client.post("/projects", json={"url": repository.as_uri()})
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    assert Path(project["root"]).is_relative_to(tmp_path / "data" / "clones")
    assert client.delete("/projects/orders").status_code == 204
    assert list((tmp_path / "data" / "clones").iterdir()) == []
    assert repository.exists()
    assert add(client, repository.as_uri())["id"] == "orders"


def test_over_http_what_cannot_be_fetched_is_a_failed_project_that_can_be_removed(
    client: httpx.Client, tmp_path: Path
) -> None:
    project = add(client, (tmp_path / "none").as_uri(), name="Gone")
    (error,) = [event["data"] for event in told(client, project["id"]) if event["type"] == "error"]
    assert "git cannot clone" in error["detail"]
    shown = client.get("/projects/gone").json()
    assert (shown["status"], shown["problem"]) == ("failed", error["detail"])
    answer = client.post("/search", json={"query": "x", "project_id": "gone"})
    assert (answer.status_code, answer.json()["code"]) == (409, "not_indexed")
    assert client.delete("/projects/gone").status_code == 204


def test_a_repository_cannot_bring_its_own_index(client: httpx.Client, repository: Path) -> None:
    (repository / ".fathom").mkdir()
    commit(repository, ".fathom/catalog.db", "not a database")
    project = add(client, repository.as_uri())
    assert told(client, project["id"])[-1]["data"]["state"] == "done"
    assert client.post("/search", json={"query": "first_price"}).json()["hits"]


def test_git_ends_with_its_job(client: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    slow = tmp_path / "bin" / "git"
    slow.write_text(
        f"#!/bin/sh\necho $$ > {tmp_path}/pid.new; mv {tmp_path}/pid.new {tmp_path}/pid; sleep 600 & wait\n"
    )
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    project = add(client, (tmp_path / "slow").as_uri())
    assert comes((tmp_path / "pid").exists)
    pid = int((tmp_path / "pid").read_text())
    assert client.delete("/projects/slow").status_code == 204
    assert comes(lambda: not _runs(pid))
    assert client.get(f"/jobs/{project['job_id']}").status_code == 404
    assert list((tmp_path / "data" / "clones").iterdir()) == []


def _runs(pid: int) -> bool:
    try:  # a process whose parent has gone may wait for whoever takes it over
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"url": "https://host.example/name.git"}, 400),  # not among the schemes of this server
        ({"url": "file:///x", "path": "/tmp"}, 400),
        ({}, 400),
        ({"url": "file:///x", "branch": "--x"}, 400),
        ({"url": "file:///x", "settings": {"index.dir": "/tmp"}}, 400),
    ],
)
def test_over_http_what_cannot_be_a_project_is_refused(client: httpx.Client, body: Any, status: int) -> None:
    assert client.post("/projects", json=body).status_code == status
    assert client.get("/projects").json() == {"projects": []}


@pytest.mark.parametrize(
    "said",
    [
        "fatal: remote error: WORD",
        "ERROR: WORD",
        "fatal: protocol error: bad line length character: WORD",
        "remote: WORD",
    ],
)
def test_words_of_the_other_side_are_not_told(origin: GitOrigin, tmp_path: Path, said: str) -> None:
    """Whoever may name an address must not read by it what only the server reaches."""
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin" / "git"
    fake.write_text(f"#!/bin/sh\necho '{said}' >&2; exit 128\n")
    fake.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SourceError, match="git cannot clone") as caught:
        patch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
        list(bring(origin, str(tmp_path / "tree")))
    assert "WORD" not in f"{caught.value} {caught.value.hint}"
