"""The tasks of `evals.agent_tasks`, and what its script counts."""

from __future__ import annotations

from collections.abc import Iterator

from evals.agent_tasks import FILE, LIST, MEANING, Printed, Task, do, of_heads, of_related, read_tasks
from evals.metrics import Found, Target

HERE, THERE = Target("a.py", 3, 9), Target("b.py", 1, 2)


def test_the_tasks_have_places_in_known_repositories() -> None:
    commits, tasks = read_tasks(FILE.read_text())
    assert len(tasks) >= 40
    assert len(commits) >= 8
    assert {task.repository for task in tasks} == set(commits)
    assert {task.kind for task in tasks} == {MEANING, LIST}
    assert len({(task.repository, task.question) for task in tasks}) == len(tasks)
    for task in tasks:
        assert task.words
        assert all(0 < (place.start_line or 0) <= (place.end_line or 0) for place in task.places), task


def counted(*calls: Printed) -> tuple[int, int, int]:
    """Return the calls that are made, and the places that are neither printed nor named."""

    def each() -> Iterator[Printed]:
        yield from calls

    done = do(Task("r", "q", ("w",), "", (HERE, THERE)), each, len)
    return done.n_calls, len(done.missing), len(done.unnamed)


def test_calls_end_with_the_last_place_and_after_three() -> None:
    nothing = Printed("x", ())
    both = Printed("x", (Found("a.py", 9, 9), Found("b.py", 1, 1)))
    assert counted(nothing, both, nothing) == (2, 0, 0)
    assert counted(*[nothing] * 5) == (3, 2, 2)
    assert counted(Printed("x", (Found("a.py", 10, 10),), (Found("a.py", 1, 4),))) == (1, 2, 1)


def test_lines_of_related_and_heads_of_search_are_read() -> None:
    edges = "2 of 2 edges are exact.\n\ncalled by:\nmux.go:575 in one\n :589 in other\nroute.go:7 in third"
    assert [(found.path, found.start_line) for found in of_related(edges)] == [
        ("mux.go", 575),
        ("mux.go", 589),
        ("route.go", 7),
    ]
    hits = "confidence 0.5.\n\n1. src/a b.py:3-20 function f 1.00\n```python\n4:x\n```\n\n2. c.py:1-2 block 0.5"
    assert list(of_heads(hits)) == [Found("src/a b.py", 3, 20), Found("c.py", 1, 2)]
