"""Ignore rules are git's own, in layers; what git leaves out is left out, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.waiting import LONG_S

from codefathom.source import ignore
from codefathom.source.ignore import BROUGHT_BACK, Layer, Layers, Patterns, add_layer, decide
from codefathom.source.scan import ScanRules, scan

NAMES = ("a", "b", "ab", "abc", "aXb", "x.py", "y.py", "a b", "é", "[a]", "-", "a ", "#a", "!a", "a\\b", ".h")
PIECES = (
    *("a", "b", "ab", "x", ".py", "é", " ", "#", "!", "-", "X", "\\", "\\!", "\\#", "\\ ", "\\*"),
    *("*", "**", "?", "/", "/", "/**/", "**/", "/**", "*.py", "a/b", "ab/", "/a"),
    *("[ab]", "[!a]", "[^b]", "[a-x]", "[]a]", "[", "]", "[[:alpha:]]", "[[:upper:]-]", "[[:no:]]", "[\\]]", "[a-"),
)
patterns = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)
ignore_files = st.lists(
    st.one_of(patterns, patterns.map("!".__add__), patterns.map("{}/".format)), min_size=1, max_size=6
)
paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("repository")
    git(root, "init", "-q")
    yield root


def git(root: Path, *arguments: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        ["git", *arguments], cwd=root, env=environment, capture_output=True, check=True, timeout=LONG_S
    )
    return done.stdout.decode()


def lay(root: Path, files: dict[str, str]) -> None:
    """Write the files; one whose parent is already a file, or that is a folder, is left out."""
    for path, text in files.items():
        target = root / path
        if any(parent.is_file() for parent in target.parents) or target.is_dir():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())


def clear(root: Path) -> None:
    for entry in root.iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    (root / ".git/info/exclude").write_text("")


def listed(root: Path, rules: ScanRules | None = None) -> set[str]:
    return {file.path for file in scan(str(root), rules or ScanRules()).files}


def git_lists(root: Path) -> set[str]:
    return set(git(root, "ls-files", "--others", "--exclude-standard", "-z").split("\0")) - {""}


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.lists(paths, min_size=1, max_size=25),
    ignores=st.dictionaries(st.sampled_from(("", "a/", "b/", "ab/", "a/b/", "é/")), ignore_files, max_size=3),
    exclude=ignore_files,
    line_end=st.sampled_from(("\n", "\r\n")),
)
@example(files=["a/b", "a/x.py"], ignores={"": ["/a?b", "/a[!y]x.py"]}, exclude=[], line_end="\n")
@example(files=["a/b/x.py", "ab/x.py"], ignores={"": ["a**/x.py", "!a/b/"]}, exclude=["ab/"], line_end="\n")
@example(
    files=["a/b/x.py", "a/b/y.py"], ignores={"": ["a/*", "!a/b/", "*.py"], "a/": ["!y.py"]}, exclude=[], line_end="\n"
)
def test_the_scan_of_any_tree_equals_git(
    repository: Path, files: list[str], ignores: dict[str, list[str]], exclude: list[str], line_end: str
) -> None:
    clear(repository)
    lay(repository, dict.fromkeys(files, ""))
    lay(repository, {f"{folder}.gitignore": line_end.join(lines) for folder, lines in ignores.items()})
    (repository / ".git/info/exclude").write_bytes(line_end.join(exclude).encode())
    assert listed(repository) == git_lists(repository)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(patterns, min_size=1, max_size=8), st.lists(paths, min_size=5, max_size=30))
def test_single_patterns_equal_git(repository: Path, lines: list[str], files: list[str]) -> None:
    for line in lines:
        clear(repository)
        lay(repository, {**dict.fromkeys(files, ""), ".gitignore": line})
        assert listed(repository) == git_lists(repository), line


def test_a_folder_inside_a_repository_obeys_the_files_above_it(repository: Path) -> None:
    clear(repository)
    lay(repository, {"a/b/x.py": "", "a/b/y.py": "", "a/b/c/z.py": "", ".gitignore": "/a/b/x.py", "a/.gitignore": "c/"})
    (repository / ".git/info/exclude").write_text("a/b/y.py")
    assert listed(repository / "a/b") == set()
    (repository / ".git/info/exclude").write_text("y.p")
    assert listed(repository / "a/b") == {"y.py"}
    (repository / "a/.gitignore").write_text("b/")  # the folder itself was asked for by name
    assert listed(repository / "a/b") == {"y.py", "c/z.py"}


def test_a_linked_work_tree_obeys_the_exclude_file_of_its_repository(tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "start")
    git(main, "worktree", "add", "-q", "../linked")
    (main / ".git/info/exclude").write_text("x.py\n")
    lay(tmp_path / "linked", {"x.py": "", "y.py": ""})
    assert listed(tmp_path / "linked") == {"y.py"}


LOGS = {"out.log", "docs/out.log"}
PLAIN = {"keep.py", "docs/page.md"}
MODULES = {"node_modules/lib/index.js", "node_modules/own/index.js"}


@pytest.mark.parametrize(
    ("files", "rules", "expected"),
    [
        ({}, ScanRules(), PLAIN | LOGS),
        ({".gitignore": "*.log"}, ScanRules(), PLAIN),
        ({".gitignore": "*.log", ".serveignore": "!*.log"}, ScanRules(), PLAIN | LOGS),
        ({".gitignore": "*.log", "docs/.fathomignore": "!out.log"}, ScanRules(), PLAIN | {"docs/out.log"}),
        ({".serveignore": "*.log", ".fathomignore": "!/out.log"}, ScanRules(), PLAIN | {"out.log"}),
        # our own file is stronger than any .gitignore, also one deeper down
        ({".fathomignore": "*.log", "docs/.gitignore": "!out.log"}, ScanRules(), PLAIN),
        ({".fathomignore": "!*.log"}, ScanRules(ignore=("*.log",)), PLAIN),
        ({}, ScanRules(ignore=("*.log",), extra_ignore=("!/out.log",)), PLAIN | {"out.log"}),
        ({}, ScanRules(ignore=("!*.log",), extra_ignore=("docs/",)), {"keep.py", "out.log"}),
        # a stronger layer brings back a built-in directory, whole or in part; a pattern without a path does not
        ({".gitignore": "!node_modules/"}, ScanRules(), PLAIN | LOGS | MODULES),
        ({}, ScanRules(extra_ignore=("!node_modules/own/",)), PLAIN | LOGS | {"node_modules/own/index.js"}),
        ({}, ScanRules(extra_ignore=("!/node_modules/*/index.js",)), PLAIN | LOGS | MODULES),
        ({}, ScanRules(extra_ignore=("!index.js",)), PLAIN | LOGS),
        ({".gitignore": "node_modules/\n!node_modules/own/"}, ScanRules(), PLAIN | LOGS),
        (
            {".gitignore": "node_modules/"},
            ScanRules(ignore=("!node_modules/own/index.js",)),
            PLAIN | LOGS | {"node_modules/own/index.js"},
        ),
    ],
)
def test_the_last_layer_that_matches_wins(
    tmp_path: Path, files: dict[str, str], rules: ScanRules, expected: set[str]
) -> None:
    lay(tmp_path, {**dict.fromkeys(PLAIN | LOGS | MODULES, ""), **files})
    assert listed(tmp_path, rules) - set(files) == expected


def test_the_repository_and_the_index_are_never_listed(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {".git/config": "", ".fathom/catalog.db": "", "lib/.git": "gitdir: x", "a.py": "", ".github/ci.yml": ""},
    )
    assert listed(tmp_path, ScanRules(extra_ignore=("!.git", "!.git/**", "!.fathom/"))) == {"a.py", ".github/ci.yml"}


@pytest.mark.parametrize(
    ("files", "expected", "skipped"),
    [
        (("build/a.c", "dist/a.js", "src/a.c"), {"src/a.c"}, {"build/": "build output", "dist/": "build output"}),
        (("go/build/a.go", "go/a.go"), {"go/build/a.go", "go/a.go"}, {}),
        (("web/package.json", "web/dist/a.js"), {"web/package.json"}, {"web/dist/": "build output"}),
        (("build", "src/dist"), {"build", "src/dist"}, {}),
    ],
)
def test_build_output_is_known_by_its_place(
    tmp_path: Path, files: tuple[str, ...], expected: set[str], skipped: dict[str, str]
) -> None:
    lay(tmp_path, dict.fromkeys(files, ""))
    found = scan(str(tmp_path))
    assert {file.path for file in found.files} == expected
    assert {item.path: item.reason for item in found.skipped} == skipped


def test_build_output_comes_back_when_it_is_asked_for(tmp_path: Path) -> None:
    lay(tmp_path, {"build/a.c": "", "build/b.c": "", ".gitignore": "!build/a.c"})
    assert listed(tmp_path) == {".gitignore", "build/a.c"}
    assert listed(tmp_path, ScanRules(extra_ignore=("!build/",))) == {".gitignore", "build/a.c", "build/b.c"}


@pytest.mark.parametrize(
    ("marker", "reason"),
    [
        ("env/pyvenv.cfg", "virtual environment"),
        ("env/CACHEDIR.TAG", "cache"),
        ("crates/serde/.cargo-checksum.json", "vendored"),
        ("deps/plug/.hex", "vendored"),
        ("vendor/modules.txt", "vendored"),
        ("vendor/autoload.php", "vendored"),
        ("ios/Pods/Manifest.lock", "vendored"),
        ("pip/_vendor/vendor.txt", "vendored"),
        ("external/zlib/LICENSE.txt", "vendored"),
        ("third_party/main.c", "vendored"),
        ("vendor/main.c", "vendored"),
        ("src/vendor/zlib/LICENSE", ""),
        ("src/vendor/main.c", ""),
        ("lib/LICENSE", ""),
    ],
)
def test_foreign_directories_are_known_by_what_lies_in_them(tmp_path: Path, marker: str, reason: str) -> None:
    folder = marker.rpartition("/")[0] + "/"
    lay(tmp_path, {marker: "", folder + "code.c": "", "main.c": ""})
    found = scan(str(tmp_path))
    assert [(item.path, item.reason) for item in found.skipped] == ([(folder, reason)] if reason else [])
    assert (folder + "code.c" in {file.path for file in found.files}) == (not reason)
    assert folder + "code.c" in listed(tmp_path, ScanRules(ignore=(f"!/{folder}",)))
    is_vendored_or_ours = reason in ("vendored", "")
    assert (folder + "code.c" in listed(tmp_path, ScanRules(include_generated=True))) == is_vendored_or_ours


def test_a_part_of_a_vendored_folder_comes_back_when_it_is_asked_for(tmp_path: Path) -> None:
    lay(tmp_path, {"vendor/ours/a.c": "", "vendor/zlib/b.c": "", ".fathomignore": "!/vendor/ours/"})
    assert listed(tmp_path) == {".fathomignore", "vendor/ours/a.c"}


def test_a_hostile_pattern_ends(tmp_path: Path) -> None:
    lay(tmp_path, {"a" * 200: "", "/".join(["a"] * 60) + "/c": ""})
    hostile = ("*a" * 60 + "b", "**/a/" * 30 + "b", "/" + "*a" * 60 + "?b*")
    assert len(listed(tmp_path, ScanRules(ignore=hostile))) == 2


def layers(*lines: str, rank: int = ignore.GITIGNORE) -> Layers:
    return add_layer((), Layer(rank, Patterns(lines)))


@pytest.mark.parametrize(
    ("line", "name", "is_match"),
    [
        ("a", "a", True),
        ("a/", "a", False),
        ("a\\ ", "a ", True),
        ("a ", "a", True),
        ("a\t", "a", False),
        ("# a", "# a", False),
        ("\\#a", "#a", True),
        ("\\!a", "!a", True),
        ("?", "é", False),  # two bytes
        ("??", "é", True),
        ("[!a-c]", "d", True),
        ("a\\", "a\\", False),
        ("/", "a", False),
        ("//a", "a", False),
    ],
)
def test_one_line(line: str, name: str, is_match: bool) -> None:
    assert decide(layers(line), "", [name], are_directories=False) == ({name: ignore.GITIGNORE} if is_match else {})


def test_the_names_of_the_answer_are_the_names_of_the_question() -> None:
    names = ["é.py", "plain.py", "\udcff.py", "other"]
    decisions = decide(layers("*.py", "!é*"), "ö/", names, are_directories=False)
    assert decisions == {"é.py": BROUGHT_BACK, "plain.py": ignore.GITIGNORE, "\udcff.py": ignore.GITIGNORE}


def test_a_deeper_file_beats_one_above_it_and_a_layer_beats_every_weaker_one() -> None:
    stack = layers("x")
    stack = add_layer(stack, Layer(ignore.SETTINGS, Patterns(["s"])))
    stack = add_layer(stack, Layer(ignore.GITIGNORE, Patterns(["!x"]), base="deep/"))
    stack = add_layer(stack, Layer(ignore.BUILT_IN, Patterns(["b"])))
    assert [(layer.rank, layer.base) for layer in stack] == [
        (ignore.SETTINGS, ""),
        (ignore.GITIGNORE, "deep/"),
        (ignore.GITIGNORE, ""),
        (ignore.BUILT_IN, ""),
    ]
