"""A branch, tag or commit is a project of its own, read from the object store; the repository stays as it is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from hashlib import sha1
from pathlib import Path
from typing import Any
from zlib import compress

import pytest
from evals.branches import made, make_repository
from tests.protocols import tiny
from tests.waiting import LONG_S

from codefathom import Engine
from codefathom.askers.open_projects import Federation
from codefathom.askers.project_list import ProjectList
from codefathom.cli import main
from codefathom.config.configuration import load_settings
from codefathom.errors import SourceError, UsageError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.source.revisions import git_program
from codefathom.types import SearchResult

SHOP = Path(__file__).parents[1] / "repos" / "shop"
QUESTIONS = ("retry with backoff", "how is the price of an order made", "@@authenticate")

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cache", "state"):
        monkeypatch.setenv(f"FATHOM_{name.upper()}_DIR", str(tmp_path / name))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    (tmp_path / "gitconfig").write_text("[user]\n\tname = Ann\n\temail = ann@example.org\n")


def git(folder: Path, *words: str, text: bytes = b"") -> str:
    run = subprocess.run(
        ["git", "-C", str(folder), *words], input=text, capture_output=True, timeout=LONG_S, check=True
    )
    return run.stdout.decode().strip()


def commit(repository: Path, message: str = "a change") -> str:
    git(repository, "add", "--all")
    git(repository, "commit", "-q", "-m", message)
    return git(repository, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the tag v1; on main, `retry.go` is gone since."""
    root = tmp_path / "shop"
    shutil.copytree(SHOP, root, ignore=shutil.ignore_patterns(".fathom"))
    git(root, "init", "-q", "-b", "main")
    commit(root)
    git(root, "tag", "v1")
    (root / "api" / "handlers" / "retry.go").unlink()
    commit(root)
    return root


@pytest.mark.parametrize("damage", ["no objects", "no head", "leads nowhere"])
def test_a_damaged_repository_is_named(repository: Path, damage: str) -> None:
    place, inside = repository / ".git", repository / "inside"
    inside.mkdir()
    if damage == "no head":
        (place / "HEAD").write_text("rubbish\n")
    else:
        shutil.rmtree(place if damage == "leads nowhere" else place / "objects")
    if damage == "leads nowhere":
        place.write_text("gitdir: /nowhere/at/all\n")
    with pytest.raises(SourceError, match=r"git does not take '.*/\.git' for a repository") as error:
        git_program.output_of_git(str(inside), "rev-parse", "HEAD")
    assert f"run `git status` in {str(repository)!r}" in error.value.hint


def test_a_folder_without_git_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is not inside a git repository"):
        git_program.output_of_git(str(tmp_path), "rev-parse", "HEAD")


def ask(folder: Path, question: str, revision: str = "") -> SearchResult:
    with Engine.open(str(folder), revision=revision) as engine:
        return engine.search(question)


def paths(folder: Path, revision: str = "") -> set[str]:
    with Engine.open(str(folder), revision=revision) as engine:
        engine.index()
        return {file.path for file in engine.files.listed()}


def hits(result: SearchResult) -> list[tuple[object, ...]]:
    return [
        (hit.chunk.path, hit.line, hit.chunk.start_line, hit.chunk.text, round(hit.score, 9), hit.stale)
        for hit in result.hits
    ]


def everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the bytes and the time stamp of each file, and the time stamps of the folders."""
    return {
        str(path): (path.read_bytes() if path.is_file() else b"", path.lstat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("name", ["v1", "old", "main~1", "the whole hash", "a short hash"])
def test_a_revision_answers_as_a_checkout_of_it(name: str, repository: Path, tmp_path: Path) -> None:
    git(repository, "branch", "old", "v1")
    whole = git(repository, "rev-parse", "v1")
    name = {"the whole hash": whole, "a short hash": whole[:9]}.get(name, name)
    checkout = tmp_path / "elsewhere" / "shop"
    git(repository, "worktree", "add", "-q", "--detach", str(checkout), "v1")

    before = everything(repository)
    for question in QUESTIONS:
        revised = ask(repository, question, name)
        assert hits(revised) == hits(ask(checkout, question))
        assert not revised.stale
    assert everything(repository) == before


def test_names_of_one_commit_share_an_index(repository: Path) -> None:
    whole = git(repository, "rev-parse", "v1")
    places = []
    for name in ("v1", whole, whole[:9], "main~1"):
        with Engine.open(str(repository), revision=name) as engine:
            places.append(engine.index_dir)
    assert len(set(places)) == 1
    assert not places[0].startswith(str(repository))


def test_a_deleted_file_is_in_the_old_revision(repository: Path) -> None:
    assert "api/handlers/retry.go" not in paths(repository, "main")
    assert ask(repository, "retry with backoff", "v1").hits[0].chunk.path == "api/handlers/retry.go"
    assert not (repository / ".fathom").exists()


def test_what_is_not_committed_is_not_in_a_revision(repository: Path) -> None:
    (repository / "new.py").write_text("def not_committed():\n    pass\n")
    assert "new.py" in paths(repository)
    assert "new.py" not in paths(repository, "HEAD")


def test_a_branch_that_moves_is_followed(repository: Path) -> None:
    with Engine.open(str(repository), revision="main") as engine:
        first = engine.index()
        (repository / "added.py").write_text("def heliotrope_price():\n    return 17\n")
        commit(repository)
        second = engine.index()
        assert second.added == ("added.py",)
        assert second.n_unchanged == len(first.added)
        assert engine.search("heliotrope_price").hits[0].chunk.path == "added.py"
    assert not {"added.py"} & paths(repository, "main~1")


def test_a_folder_of_a_repository_is_read_alone(repository: Path) -> None:
    (repository / "api" / "fathom.toml").touch()
    assert paths(repository / "api", "v1") == {
        path.removeprefix("api/") for path in paths(repository, "v1") if path.startswith("api/")
    }


def test_a_bare_repository_is_read_at_its_head(
    repository: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bare = tmp_path / "shop.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    before = everything(bare)
    assert paths(bare) == paths(repository, "main")
    assert main(["search", "-C", str(bare), "price"]) == 0
    assert "HEAD is read" in capfd.readouterr().err
    assert main(["search", "-C", str(bare), "--rev", "v1", "--format", "path", "retry with backoff"]) == 0
    assert capfd.readouterr().out.startswith("api/handlers/retry.go:")
    assert everything(bare) == before


@pytest.mark.parametrize(
    "words",
    [
        ("index",),
        ("search", "retry with backoff"),
        ("context", "retry with backoff"),
        ("ask", "retry with backoff"),
        ("symbols", "--path", "api/handlers"),
        ("related", "api/handlers/retry.go"),
        ("files", "api/handlers"),
        ("search", "--dir", "api/handlers", "--", "backoff"),
        ("search", "--file", "api/handlers", "--", "backoff"),
    ],
)
def test_commands_read_a_revision(words: tuple[str, ...], repository: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([words[0], "-C", str(repository), "--rev", "v1", *words[1:]]) in ({0, 1} if "related" in words else {0})
    if words[0] not in {"index", "related"}:
        assert "retry.go" in capfd.readouterr().out


def test_the_status_names_the_revision(repository: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "-C", str(repository), "--rev", "v1", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["revision"] == "v1"


@pytest.mark.parametrize(
    "words", [("index", "--watch"), ("index", "--only", "README.md"), ("search", "-p", "shop", "price")]
)
def test_what_has_no_sense_for_a_revision_is_refused(
    words: tuple[str, ...], repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([words[0], "-C", str(repository), "--rev", "v1", *words[1:]]) == 2
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "name",
    ["--all", "-h", "--output=/tmp/x", "no-such", "v1:README.md", "a\nb", "a\0b", "../../etc", "v1..main", "x" * 2_000],
)
def test_hostile_names_are_refused(name: str, repository: Path) -> None:
    before = everything(repository)
    with pytest.raises((SourceError, UsageError)):
        Engine.open(str(repository), revision=name)
    assert everything(repository) == before


def _becomes_a_pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def _object(repository: Path, name: str) -> Path:
    number = git(repository, "rev-parse", name)
    return repository / ".git" / "objects" / number[:2] / number[2:]


@pytest.mark.skipif(os.name == "nt", reason="named pipes as POSIX has them")
@pytest.mark.parametrize(
    "file",
    ["HEAD", "config", "packed-refs", "index", "objects/info/alternates", "included", "a commit", "a tree", "a file"],
)
def test_git_that_waits_for_a_pipe_is_ended(file: str, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_program, "_MOST_S", 1.0)
    if file == "included":
        git(repository, "config", "include.path", "../included")
        _becomes_a_pipe(repository / file)
    elif file.startswith("a "):
        _becomes_a_pipe(_object(repository, {"commit": "v1", "tree": "v1^{tree}", "file": "v1:README.md"}[file[2:]]))
    else:
        _becomes_a_pipe(repository / ".git" / file)
    with pytest.raises(SourceError, match="within 1 s"), Engine.open(str(repository)) as engine:
        engine.index()
        engine.impact("v1")
    if file != "index":  # which a revision does not need
        with pytest.raises(SourceError, match="within 1 s"), Engine.open(str(repository), revision="v1") as engine:
            engine.index()


def test_the_configuration_of_a_repository_runs_nothing(repository: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap.sh"
    proof = tmp_path / "it-ran"
    trap.write_text(f"#!/bin/sh\ntouch {proof}\nexit 1\n")
    trap.chmod(0o755)
    (repository / ".gitattributes").write_text("* filter=trap diff=trap\n")
    commit(repository)
    for key, value in {
        "core.fsmonitor": str(trap),
        "core.pager": str(trap),
        "core.sshCommand": str(trap),
        "core.hooksPath": str(tmp_path),
        "core.alternateRefsCommand": str(trap),
        "filter.trap.smudge": str(trap),
        "filter.trap.clean": str(trap),
        "filter.trap.process": str(trap),
        "filter.trap.required": "true",
        "diff.trap.textconv": str(trap),
        "diff.external": str(trap),
        "alias.ls-tree": f"!{trap}",
        "alias.cat-file": f"!{trap}",
        "credential.helper": f"!{trap}",
        "uploadpack.packObjectsHook": str(trap),
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{trap}",
        "remote.origin.uploadpack": str(trap),
        "protocol.ext.allow": "always",
        "protocol.allow": "always",
    }.items():
        git(repository, "config", key, value)
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        shutil.copy(trap, repository / ".git" / "hooks" / name)
    missing = git(repository, "rev-parse", "v1:README.md")  # as in a partial clone
    (repository / ".git" / "objects" / missing[:2] / missing[2:]).unlink()
    before = everything(repository)
    with Engine.open(str(repository), revision="v1") as engine:
        report = engine.index()
        assert [(item.path, item.reason) for item in report.failures] == [("README.md", str(Note(say.ABSENT)))]
        assert engine.search("retry with backoff").hits[0].chunk.path == "api/handlers/retry.go"
    assert not proof.exists()
    assert everything(repository) == before

    plain = ["git", "-C", str(repository), "cat-file", "-p", missing]
    subprocess.run(plain, check=False, timeout=LONG_S, capture_output=True, stdin=subprocess.DEVNULL)
    assert proof.exists()  # plain git does run the trap


@pytest.fixture
def partial(repository: Path, tmp_path: Path) -> Path:
    """A real partial clone: commits and trees are there, and of the files only README.md."""
    git(repository, "config", "uploadpack.allowFilter", "true")
    root = tmp_path / "partial"
    git(tmp_path, "clone", "-q", "--filter=blob:none", "--no-checkout", repository.as_uri(), str(root))
    git(root, "cat-file", "-p", "v1:README.md")  # fetches it
    return root


def set_traps(root: Path, trap: Path) -> None:
    for key, value in {
        "remote.origin.uploadpack": str(trap),
        "protocol.file.allow": "always",
        "protocol.allow": "always",
        "core.fsmonitor": str(trap),
        "core.sshCommand": str(trap),
        "core.gitProxy": str(trap),
        "core.alternateRefsCommand": str(trap),
        "core.hooksPath": str(trap.parent / "hooks"),
        "credential.helper": f"!{trap}",
        "fetch.bundleURI": f"ext::{trap}",
        "alias.rev-list": f"!{trap}",
        "filter.trap.smudge": str(trap),
        "filter.trap.required": "true",
    }.items():
        git(root, "config", key, value)
    (trap.parent / "hooks").mkdir()
    for name in ("post-checkout", "reference-transaction", "pre-auto-gc"):
        shutil.copy(trap, trap.parent / "hooks" / name)


@pytest.mark.parametrize("remote", ["file", "ssh", "ext", "vcs"])
def test_what_a_partial_clone_lacks_is_named_and_not_fetched(remote: str, partial: Path, tmp_path: Path) -> None:
    trap, proof = tmp_path / "trap.sh", tmp_path / "it-ran"
    trap.write_text(f"#!/bin/sh\ntouch {proof}\nexit 1\n")
    trap.chmod(0o755)
    set_traps(partial, trap)
    if remote == "vcs":
        git(partial, "config", "remote.origin.vcs", "ext")
    elif remote != "file":
        address = {"ssh": "ssh://localhost:1/shop", "ext": f"ext::{trap}"}[remote]
        git(partial, "config", "remote.origin.url", address)
    before = everything(partial)
    with Engine.open(str(partial), revision="v1") as engine:
        report = engine.index()
        listed = {file.path for file in engine.files.listed()}
        assert engine.search("shop").hits[0].chunk.path == "README.md"
        again = engine.index()
    assert listed == {"README.md"}
    assert len(report.failures) > 5
    assert {item.reason for item in report.failures} == {str(Note(say.ABSENT))}
    assert {item.path for item in again.failures} == {item.path for item in report.failures}
    assert not proof.exists()
    assert everything(partial) == before

    plain = ["git", "-C", str(partial), "cat-file", "-p", "v1:api/handlers/retry.go"]
    subprocess.run(plain, check=False, timeout=LONG_S, capture_output=True, stdin=subprocess.DEVNULL)
    assert proof.exists() or remote == "vcs"  # plain git does fetch


def test_what_has_come_since_is_taken_in(partial: Path) -> None:
    with Engine.open(str(partial), revision="v1") as engine:
        assert len(engine.index().failures) > 5
    git(partial, "fetch", "-q", "--refetch", "--no-filter")  # as the message says
    assert "api/handlers/retry.go" not in paths(partial, "main")
    assert ask(partial, "retry with backoff", "v1").hits[0].chunk.path == "api/handlers/retry.go"
    assert hits(ask(partial, "price of an order", "v1")) == hits(ask(partial, "price of an order", "v1^{}"))


def test_a_clone_without_folders_says_what_to_do(repository: Path, tmp_path: Path) -> None:
    git(repository, "config", "uploadpack.allowFilter", "true")
    root = tmp_path / "treeless"
    git(tmp_path, "clone", "-q", "--filter=tree:0", "--no-checkout", repository.as_uri(), str(root))
    before = everything(root)
    with Engine.open(str(root), revision="v1") as engine, pytest.raises(SourceError, match="cannot list") as error:
        engine.index()
    assert "git fetch --refetch --no-filter" in error.value.hint
    assert everything(root) == before


def test_hostile_paths_of_a_commit_are_left_out(repository: Path) -> None:
    blob = git(repository, "rev-parse", "v1:README.md")
    names = [b"..", b".git", b"../../outside.md", b"/etc/passwd", b"a\\b.md", b"new\nline.md", b"\xff.md", b"good.md"]
    content = b"".join(b"100644 " + name + b"\0" + bytes.fromhex(blob) for name in sorted(names))
    content += b"120000 link\0" + bytes.fromhex(blob)
    content += b"160000 module\0" + bytes.fromhex(git(repository, "rev-parse", "v1"))
    tree = written(repository, b"tree", content)
    hostile = git(repository, "commit-tree", "-m", "hostile", tree)

    before = everything(repository.parent)
    with Engine.open(str(repository), revision=hostile) as engine:
        report = engine.index()
        skipped = {item.path: item.reason for item in engine.status().skipped}
        listed = {file.path for file in engine.files.listed()}
    assert {"good.md", "new\nline.md"} <= listed <= {"good.md", "new\nline.md", "a\\b.md"}
    assert not report.failures
    assert skipped["link"] == "symlink"
    assert skipped["module"] == "submodule"
    assert {"..", ".git", "../../outside.md", "/etc/passwd"} <= set(skipped)
    kept = {path: stamp for path, stamp in everything(repository.parent).items() if path in before}
    assert {path for path in before if "shop" in path and kept[path] != before[path]} == set()


def written(repository: Path, kind: bytes, content: bytes) -> str:
    """Write an object as git would not: nothing in it is checked."""
    data = kind + b" %d\0" % len(content) + content
    name = sha1(data, usedforsecurity=False).hexdigest()
    folder = repository / ".git" / "objects" / name[:2]
    folder.mkdir(exist_ok=True)
    (folder / name[2:]).write_bytes(compress(data))
    return name


def test_a_submodule_belongs_to_the_folder_and_not_to_the_revision(repository: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "-q", "-b", "main")
    (library / "helper.py").write_text("def of_the_library():\n    return 1\n")
    commit(library)
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "libs/library")
    commit(repository)
    assert "libs/library/helper.py" in paths(repository)
    with Engine.open(str(repository), revision="HEAD") as engine:
        engine.index()
        assert ("libs/library", "submodule") in {(item.path, item.reason) for item in engine.status().skipped}
        assert not any(file.path.startswith("libs/") for file in engine.files.listed())
    assert paths(repository / "libs" / "library", "HEAD") == {"helper.py"}


def test_files_outside_a_sparse_checkout_are_in_the_revision(repository: Path) -> None:
    whole = paths(repository)
    git(repository, "sparse-checkout", "set", "--no-cone", "/shop/")
    tracked = paths(repository, "HEAD")
    assert paths(repository) & tracked == {path for path in tracked if path.startswith("shop/")}
    assert tracked == whole & {*git(repository, "ls-files").split("\n")}


def test_without_git_the_message_says_so(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(SourceError, match="git is not in the PATH"):
        Engine.open(str(repository), revision="v1")


def test_a_folder_without_a_repository_is_told(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(SourceError, match="not inside a git repository"):
        Engine.open(str(tmp_path / "plain"), revision="main")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_user_is_refused_with_the_way_out(repository: Path) -> None:
    for path in (repository, repository / ".git"):
        os.chown(path, 12_345, 12_345)
    with pytest.raises(SourceError, match="another user") as error:
        Engine.open(str(repository), revision="v1")
    assert "safe.directory" in error.value.hint


def test_a_switch_embeds_only_what_was_never_seen(tmp_path: Path) -> None:
    """With a model of choice: the bundled one embeds about as fast as a cache is read, and keeps nothing there."""
    root = make_repository(tmp_path / "many", 320, 8)
    cache = tmp_path / "cache"
    tiny.static(tmp_path / "tiny")
    settings = load_settings(str(root), overrides={"embed.model": f"model2vec:{tmp_path / 'tiny'}"})

    def indexed(revision: str = "") -> tuple[int, int, int]:
        n_parsed, n_vectors = made(cache)
        with Engine.open(str(root), revision=revision, settings=settings) as engine:
            report = engine.index()
        return len(report.added) + len(report.changed), made(cache)[0] - n_parsed, made(cache)[1] - n_vectors

    assert indexed()[:2] == (320, 320)
    git(root, "switch", "-q", "feature")
    n_files, n_parsed, n_vectors = indexed()
    assert (n_files, n_parsed) == (8, 8)
    assert 8 <= n_vectors <= 16
    git(root, "switch", "-q", "main")
    assert indexed() == (8, 0, 0)
    assert indexed("feature") == (8, 0, 0)  # it begins with the index of the folder
    assert indexed("main")[1:] == (0, 0)
    assert indexed("main") == (0, 0, 0)


def added(repository: Path, *words: str) -> int:
    return main(["projects", "add", str(repository), *words])


def searched(capfd: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capfd.readouterr()
    assert main(["search", "--json", *words]) in {0, 1}
    result: dict[str, Any] = json.loads(capfd.readouterr().out)
    return result


def test_a_name_can_mean_a_revision(repository: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bare = tmp_path / "shop.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    assert added(repository, "--name", "now") == 0
    assert added(repository, "--rev", "v1", "--group", "olds") == 0
    assert added(bare, "--rev", "v1", "--name", "bare", "--group", "olds") == 0
    capfd.readouterr()
    assert main(["projects"]) == 0
    assert capfd.readouterr().out.splitlines() == [
        f"bare        {bare} at v1  (olds)",
        f"now         {repository}",
        f"shop-at-v1  {repository} at v1  (olds)",
    ]
    assert main(["projects", "--json"]) == 0
    assert [item["revision"] for item in json.loads(capfd.readouterr().out)] == ["v1", "", "v1"]

    question = "retry with backoff"
    assert {"retry.go"} == {
        hit["path"].split("/")[-1] for hit in searched(capfd, "-p", "shop-at-v1", "-n", "1", question)["hits"]
    }
    several = searched(capfd, "--all", question)
    assert {item["project"] for item in several["projects"]} == {"bare", "now", "shop-at-v1"}
    assert several["hits"][0]["project"] in {"bare", "shop-at-v1"}
    assert {item["project"] for item in searched(capfd, "-p", "olds", question)["projects"]} == {"bare", "shop-at-v1"}
    for words in (("symbols", "Retry"), ("context", question), ("ask", question)):
        capfd.readouterr()
        assert main([words[0], "--all", *words[1:]]) == 0
        assert "retry.go" in capfd.readouterr().out
    with Federation.open(["olds"]) as olds:
        assert olds.search(question, limit=1).hits[0].hit.chunk.path == "api/handlers/retry.go"


def test_files_are_looked_for_in_the_revision_that_is_named(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert added(repository, "--name", "now") == added(repository, "--rev", "v1", "--name", "old") == 0

    def projects(*files: str, names: tuple[str, ...] = ("now", "old")) -> set[str]:
        words = [f"--project={name}" for name in names] + [f"--file={file}" for file in files]
        return {item["project"] for item in searched(capfd, *words, "price backoff")["projects"]}

    on_disk = str(repository / "shop" / "pricing.py")
    assert projects("old/shop/pricing.py") == {"old"}
    assert projects("now/shop/pricing.py") == {"now"}
    assert projects(on_disk) == {"now"}  # what lies on the disk is the folder's
    assert projects(on_disk, names=("old",)) == {"old"}
    assert projects(str(repository), names=("now",)) == {"now"}
    assert projects(str(repository / "api"), "old/api", names=("now", "old")) == {"now", "old"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--rev", "no-such"), "there is no revision 'no-such'"),
        (("--rev=--all",), "'--all' is not the name of a revision"),
        (("--rev", "v1..main"), "revision"),
        (("--rev", "main", "--name", "old"), "'old' is the name of {} at v1 already"),
    ],
)
def test_a_name_for_no_revision_is_refused(
    words: tuple[str, ...], said: str, repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert added(repository, "--rev", "v1", "--name", "old") == 0
    before = ProjectList().listed()
    assert added(repository, *words) == 2
    assert said.format(repository) in capfd.readouterr().err
    assert ProjectList().listed() == before


def test_a_named_branch_that_is_gone_is_told_beside_the_others(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    git(repository, "branch", "feature")
    assert added(repository, "--name", "now") == added(repository, "--rev", "feature", "--name", "gone") == 0
    git(repository, "branch", "-D", "feature")
    said = searched(capfd, "--all", "price of an order")
    assert set(said["failed"]) == {"gone"}
    assert "there is no revision 'feature'" in said["failed"]["gone"]
    assert {hit["project"] for hit in said["hits"]} == {"now"}
    assert main(["projects", "rename", "gone", "--name", "went"]) == 0
    assert main(["projects", "remove", "--rev", "v1", "went"]) == 2
    assert main(["projects", "remove", "went"]) == 0


def test_a_list_of_an_older_version_has_folders_only(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "projects"
    folder.mkdir(parents=True)
    (folder / "shop").write_text('{"name": "shop", "root": "/srv/shop", "groups": []}')
    (folder / "odd").write_text('{"name": "odd", "root": "/srv/odd", "groups": [], "revision": 7}')
    assert [(item.name, item.revision) for item in ProjectList().listed()] == [("shop", "")]


def bomb(folder: Path, depth: int) -> str:
    """Make a commit of a few trees, each of which names the one below it ten times; return its hash."""

    def git(*words: str, text: str = "") -> str:
        made = subprocess.run(
            ("git", *words), cwd=folder, input=text, text=True, capture_output=True, check=True, timeout=LONG_S
        )
        return made.stdout.strip()

    git("init", "-q")
    blob = git("hash-object", "-w", "--stdin", text="def hello(): ...\n")
    tree = git("mktree", text="".join(f"100644 blob {blob}\tf{number}.py\n" for number in range(10)))
    for _ in range(depth - 1):
        tree = git("mktree", text="".join(f"040000 tree {tree}\td{number}\n" for number in range(10)))
    commit = git("commit-tree", tree, "-m", "bomb")
    git("update-ref", "refs/heads/main", commit)
    return commit


@pytest.mark.parametrize(
    "words",
    [("search", "hello", "--rev", "main"), ("index", "--rev", "main"), ("impact", "main..main"), ("impact", "main")],
)
def test_a_commit_that_lists_millions_of_files_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """A repository of a few kilobytes: the names are counted before anything else is done with them."""
    (tmp_path / "bomb").mkdir()
    commit = bomb(tmp_path / "bomb", 6)
    assert main([*words, "-C", str(tmp_path / "bomb")]) == 2
    said = capsys.readouterr().err
    assert f"the commit {commit} lists more than 50,000 files, with only 1 different contents" in said
    assert "raise source.revision_files, which is 500,000" in said


def test_the_limit_of_files_is_a_setting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bomb").mkdir()
    bomb(tmp_path / "bomb", 2)
    words = ["search", "hello", "--rev", "main", "-C", str(tmp_path / "bomb"), "--set"]
    assert main([*words, "source.revision_files=99"]) == 2
    assert "lists more than" in capsys.readouterr().err
    assert main([*words, "source.revision_files=1000"]) == 0
