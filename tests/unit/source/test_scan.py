"""A scan lists what is worth reading, says what it left out, and survives any tree."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codefathom.errors import MovedError, SourceError
from codefathom.source.scan import FileStat, Scan, ScanRules, scan

NEEDS_FIFO = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


def lay(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def paths(found: Scan) -> list[str]:
    return [file.path for file in found.files]


def reasons(found: Scan) -> dict[str, str]:
    return {item.path: item.reason for item in found.skipped}


def test_files_come_sorted_with_size_and_time(tmp_path: Path) -> None:
    lay(tmp_path, {"b.py": "12345", "a/z.py": "", "a.py": "1", "A.py": "", ".github/ci.yml": "on: push"})
    os.utime(tmp_path / "b.py", ns=(7, 1_234_567_890_123_456_789))
    found = scan(str(tmp_path))
    assert paths(found) == [".github/ci.yml", "A.py", "a.py", "a/z.py", "b.py"]
    status = os.stat(tmp_path / "b.py")
    assert found.files[-1] == FileStat("b.py", 5, 1_234_567_890_123_456_789, status.st_ctime_ns, status.st_ino)
    assert found.skipped == ()


def test_the_root_may_be_relative_or_end_with_a_slash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path, {"a/b.py": ""})
    monkeypatch.chdir(tmp_path)
    assert scan(".") == scan(f"{tmp_path}/") == scan(str(tmp_path)) == scan("a/..")


@pytest.mark.parametrize("path", ["missing", "file.py"])
def test_a_root_that_is_no_folder_is_an_error_with_its_name(tmp_path: Path, path: str) -> None:
    lay(tmp_path, {"file.py": ""})
    with pytest.raises(SourceError, match=path) as caught:
        scan(str(tmp_path / path))
    assert caught.value.hint


@pytest.mark.parametrize(
    ("extensions", "expected"),
    [
        ((".py", ".rs"), ["A.PY", "a.py", "lib/b.rs"]),
        ((".PY",), ["A.PY", "a.py"]),
        (("file", "_test.go"), ["Makefile", "x_test.go"]),
        ((".none",), []),
        ((), ["A.PY", "Makefile", "a.py", "a.pyc", "lib/b.rs", "x_test.go"]),
    ],
)
def test_required_extensions_are_ends_of_names_in_any_case(
    tmp_path: Path, extensions: tuple[str, ...], expected: list[str]
) -> None:
    lay(tmp_path, dict.fromkeys(("a.py", "A.PY", "a.pyc", "lib/b.rs", "Makefile", "x_test.go"), ""))
    assert paths(scan(str(tmp_path), ScanRules(required_exts=extensions))) == expected


def test_large_files_are_left_out_unread(tmp_path: Path) -> None:
    lay(tmp_path, {"small.py": "x" * 10, "large.py": "x" * 11})
    found = scan(str(tmp_path), ScanRules(max_bytes=10))
    assert (paths(found), reasons(found)) == (["small.py"], {"large.py": "oversized"})


def test_a_directory_may_be_named_like_a_file(tmp_path: Path) -> None:
    lay(tmp_path, {"module.py/inner.py": "", ".gitignore/x.py": "", "package.json/a.js": "", "Makefile/b.c": ""})
    assert paths(scan(str(tmp_path))) == [".gitignore/x.py", "Makefile/b.c", "module.py/inner.py", "package.json/a.js"]
    assert paths(scan(str(tmp_path), ScanRules(required_exts=(".py",)))) == [".gitignore/x.py", "module.py/inner.py"]


def test_depth_is_no_limit(tmp_path: Path) -> None:
    deep = "/".join(["d"] * 400)
    lay(tmp_path, {f"{deep}/a.py": ""})
    assert paths(scan(str(tmp_path))) == [f"{deep}/a.py"]


@NEEDS_FIFO
def test_pipes_are_named_and_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    os.mkfifo(tmp_path / ".gitignore")
    found = scan(str(tmp_path))
    assert (paths(found), reasons(found)) == (
        [],
        {"pipe.py": "not a regular file", ".gitignore": "not a regular file"},
    )


def test_names_that_are_no_text_are_reported(tmp_path: Path) -> None:
    lay(tmp_path, {"漢字/é.py": "", "line\nbreak.py": ""})
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.py")).write_text("")
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/dir\xfe")).mkdir()
    except OSError:
        pytest.skip("this file system refuses such names")
    found = scan(str(tmp_path))
    assert paths(found) == ["line\nbreak.py", "漢字/é.py"]
    assert reasons(found) == {"bad\\udcff.py": "name is not UTF-8", "dir\\udcfe/": "name is not UTF-8"}
    assert reasons(scan(str(tmp_path), ScanRules(ignore=("bad*", "dir*")))) == {}


def test_a_folder_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    lay(tmp_path, {"closed/a.py": "", "b.py": ""})
    (tmp_path / "closed").chmod(0)
    is_readable = os.access(tmp_path / "closed", os.R_OK)  # root may read all
    found = scan(str(tmp_path))
    (tmp_path / "closed").chmod(0o755)
    assert paths(found) == (["b.py", "closed/a.py"] if is_readable else ["b.py"])
    assert reasons(found) == ({} if is_readable else {"closed/": "unreadable"})


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """A tree full of links: in loops, out of the tree, to nothing, to what is listed and to what is not."""
    root = tmp_path / "root"
    lay(root, {"src/a.py": "", "src/deep/b.py": "", "node_modules/own/c.py": "", ".git/hooks/pre.py": ""})
    lay(tmp_path, {"outside/secret.py": "", "root2/near.py": ""})
    for link, target in {
        "loop": ".",
        "src/up": "..",
        "src/deep/self": "self",
        "ping": "pong",
        "pong": "ping",
        "out": "../outside",
        "near": "../root2/near.py",
        "out.py": "../outside/secret.py",
        "nothing": "missing",
        "alias": "src",
        "twin.py": "src/a.py",
        "own": "node_modules/own",
        "other": "node_modules/own/c.py",
        "hooks": ".git/hooks",
    }.items():
        (root / link).symlink_to(target)
    return root


def test_links_are_not_followed_unless_asked(linked: Path) -> None:
    found = scan(str(linked))
    assert paths(found) == ["src/a.py", "src/deep/b.py"]
    assert set(reasons(found).values()) == {"symlink", "vendored"}
    assert len(found.skipped) == 15


def test_links_are_followed_once_and_never_out_of_the_root(linked: Path) -> None:
    found = scan(str(linked), ScanRules(follow_symlinks=True))
    # "other" and "own" lead to the same file below a directory that is left out: the first in the alphabet has it
    assert paths(found) == ["other", "src/a.py", "src/deep/b.py"]
    twice, away, broken = "symlink to a place already listed", "symlink out of the project", "broken symlink"
    assert reasons(found) == {
        "node_modules/": "vendored",
        **dict.fromkeys(("alias", "loop", "own/c.py", "src/up", "twin.py"), twice),
        **dict.fromkeys(("out", "out.py", "near"), away),
        **dict.fromkeys(("nothing", "ping", "pong", "src/deep/self"), broken),
        "hooks": "symlink",
    }


def test_ignore_rules_hold_for_links(linked: Path) -> None:
    found = scan(str(linked), ScanRules(follow_symlinks=True, ignore=("own/", "other", "/*.py", "hooks")))
    assert paths(found) == ["src/a.py", "src/deep/b.py"]
    assert not {"other", "own", "twin.py", "out.py", "hooks"} & reasons(found).keys()


def test_a_root_that_is_a_link_is_not_followed(linked: Path) -> None:
    with pytest.raises(MovedError, match="is a link"):
        scan(str(linked / "alias"))
    assert paths(scan(str((linked / "alias").resolve()))) == ["a.py", "deep/b.py"]


def test_an_ignore_file_that_is_a_link_does_not_count(linked: Path) -> None:
    (linked / "rules").write_text("*.py")
    (linked / ".gitignore").symlink_to("rules")
    assert "src/a.py" in paths(scan(str(linked)))


def test_an_ignore_file_with_any_bytes_is_read(tmp_path: Path) -> None:
    lay(tmp_path, {"a.py": "", "b.py": ""})
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbfa.py\r\n\xff\xfe\x00[\n\\\n")
    assert paths(scan(str(tmp_path))) == [".gitignore", "b.py"]
