"""Questions that ask what must change, and the task in them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.search.question.tasks import task_of

TASK = "limit the size of uploads"


@pytest.mark.parametrize(
    "frame",
    [
        "what I need to change to",
        "What do I have to change to",
        "what must be changed to",
        "which files should I touch to",
        "map of what I need to change to",
        "show me the files that we must edit in order to",
        "where do I need to look at if I want to",
        "everything I should understand to",
        "what I must know for",
    ],
)
def test_the_task_is_what_counts(frame: str) -> None:
    assert task_of(f"{frame} {TASK}") == TASK


@pytest.mark.parametrize(
    "text",
    [
        TASK,
        "where are orders priced",
        "what changed in the parser",
        "what is changed when a file is saved",
        "how do I change the theme",
        "what I need to change to ",
        "everything about changes",
        "",
    ],
)
def test_any_other_text_stays(text: str) -> None:
    assert task_of(text) == text


def test_a_map_of_what_must_change_is_that_of_the_task(tmp_path: Path) -> None:
    (tmp_path / "CHANGES.md").write_text("# Changes\n\n" + "What changed: change what you need to change.\n" * 20)
    (tmp_path / "upload.py").write_text("MOST = 5\n\n\ndef limit_size(upload):\n    return upload[:MOST]\n")
    (tmp_path / "web.py").write_text("from upload import limit_size\n\n\ndef post(file):\n    limit_size(file)\n")
    with Engine.open(str(tmp_path), is_root=True) as engine:
        plain, framed = (engine.map(text) for text in (TASK, f"what I need to change to {TASK}"))
    assert replace(framed, query=TASK) == plain
