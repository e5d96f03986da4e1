"""A manifest is data of a repository: what it repeats costs no more than its size, and no form of it is an error."""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import thread_time

import pytest

from codefathom.search.graph import manifests

READERS: list[Callable[[str], object]] = [
    manifests.script_package,
    manifests.script_paths,
    manifests.crate,
    manifests.python_project,
    manifests.setup_cfg,
    manifests.requirements,
    manifests.composer_folders,
    manifests.dart_package,
    manifests.go_replacements,
    manifests.swift_targets,
]
PIECES = [
    '"',
    '"\\',
    "[",
    '{"a":',
    "a = {a = ",
    "[a.b]\n",
    "/*",
    "//",
    ", ",
    " \n",
    "replace a => b\n",
    "name: ",
    ".target(",
    '.target(name: "a", [',
    "a=1\n",
]


@pytest.mark.parametrize("read", READERS)
def test_a_manifest_takes_no_more_steps_than_its_size(read: Callable[[str], object]) -> None:
    def is_linear() -> bool:
        few, many = (sum(_seconds(read, piece * (size // len(piece))) for piece in PIECES) for size in (4_000, 24_000))
        return many < 12 * few + 0.2  # of the processor: 36 times as long would be quadratic

    assert any(is_linear() for _ in range(5))  # what is quadratic is so each time


def _seconds(read: Callable[[str], object], text: str) -> float:
    gc.disable()  # its work grows with all that the tests before have left in memory
    try:
        begin = thread_time()
        read(text)
        read("{" + text)
        return thread_time() - begin
    finally:
        gc.enable()
