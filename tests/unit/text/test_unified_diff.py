"""Unified diffs as they come from git, from other programs, and from nobody who means well."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.errors import UsageError
from codefathom.text.unified_diff import other_side, read_diff

GIT = """\
Subject: a mail before it
diff --git a/x.py b/x.py
index 1..2 100644
--- a/x.py
+++ b/x.py
@@ -1,3 +1,3 @@ def head
 one
--- two
+++ zwei
 three
\\ No newline at end of file
diff --git a/old.py b/new.py
similarity index 100%
rename from old.py
rename to new.py
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/p.png b/p.png
new file mode 100644
Binary files /dev/null and b/p.png differ
"""


def test_files_of_a_diff_of_git() -> None:
    files = read_diff(GIT)
    assert [(item.old_path, item.new_path, item.is_binary, len(item.hunks)) for item in files] == [
        ("x.py", "x.py", False, 1),
        ("old.py", "new.py", False, 0),
        ("gone.py", "", False, 1),
        ("", "p.png", True, 0),
    ]
    assert files[0].hunks[0].side("-") == ["one", "-- two", "three"]


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("--- x.py\t2024-01-01\n+++ x.py\t2024-01-02\n@@ -1 +1 @@\n-a\n+b\n", "x.py", "x.py"),
        ('--- "a/\\303\\244 b.py"\n+++ "b/\\303\\244 b.py"\n@@ -1 +1 @@\n-a\n+b\n', "ä b.py", "ä b.py"),
        ("--- /dev/null\n+++ b/x.py\n@@ -0,0 +1 @@\n+b\n", "", "x.py"),
        ("--- i/x.py\r\n+++ w/x.py\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n", "x.py", "x.py"),
        ("diff --git i/a b.py w/a b.py\n--- i/a b.py\t\n+++ w/a b.py\t\n@@ -1 +1 @@\n-a\n+b\n", "a b.py", "a b.py"),
        ("diff --git a/a b/c b/a b/c\n--- a/a b/c\t\n+++ b/a b/c\t\n@@ -1 +1 @@\n-a\n+b\n", "a b/c", "a b/c"),
        ("diff --git i/a b w/c d\nrename from a b\nrename to c d\n", "a b", "c d"),
    ],
)
def test_paths_are_read_as_they_are(text: str, old: str, new: str) -> None:
    assert [(item.old_path, item.new_path) for item in read_diff(text)] == [(old, new)]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("hello\n", "not a unified diff"),
        ("--- a/x\n+++ b/x\n@@ -1,5 +1 @@\n-a\n+b\n", "fewer or more lines"),
        ("--- a/x\n+++ b/x\n@@ nonsense @@\n", "not a line of a hunk"),
        ("--- a/../../etc/passwd\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "not a path inside a project"),
        ("--- /etc/passwd\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "not a path inside a project"),
        ("diff --git a/x b/x\n@@@ -1 -1 +1 @@@\n", "of a merge"),
        ("--- a/x\n+++ b/x\n@@ -99999999999 +1 @@\n", "not a line of a hunk"),
    ],
)
def test_a_broken_diff_is_an_error_with_a_remedy(text: str, part: str) -> None:
    with pytest.raises(UsageError, match=part) as caught:
        read_diff(text)
    assert caught.value.hint


@given(st.lists(st.sampled_from(["a", "b", "", "-- c", "@@ d"])), st.lists(st.sampled_from(["a", "b", "", "++ c"])))
def test_each_side_gives_the_other_one(before: list[str], after: list[str]) -> None:
    if before == after:
        return
    old, new = ("".join(f"{line}\n" for line in side) for side in (before, after))
    pieces = difflib.unified_diff(old.splitlines(True), new.splitlines(True), "a/x", "b/x", n=1)
    (file,) = read_diff("".join(pieces))
    assert other_side(old, file) == new
    assert other_side(new, file, backwards=True) == old


def test_a_text_of_other_lines_has_no_other_side() -> None:
    (file,) = read_diff("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
    assert other_side("c\n", file) is None


@given(st.text(alphabet='ab-+@ \n/\\"01,', max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read_diff(f"--- a/x\n+++ b/x\n{text}")
    except UsageError as error:
        assert error.hint
