"""A project with longer lists than any page shows, and ways to walk through the pages of a list."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

N_FILES, N_FUNCTIONS = 45, 5
NEEDLE = r"NEEDLE-\d+-[0-3]\b"
SHARED = "shared_total"
_PAGES = 1_000  # no list here has so many


def make_many_places(root: Path, n_files: int = N_FILES) -> Path:
    """Each file has functions that use one shared function; four of five hold a match of NEEDLE."""
    package = root / "pack"
    package.mkdir(parents=True)
    (root / "fathom.toml").touch()
    (package / "__init__.py").write_text("")
    (package / "shared.py").write_text(
        f'def {SHARED}(values):\n    """Add the values of an invoice."""\n    return 0\n'
    )
    for file in range(n_files):
        lines = [f"from pack.shared import {SHARED}", "", ""]
        for number in range(N_FUNCTIONS):
            lines += [
                f"def handle_invoice_{file}_{number}(values):",
                f'    """Handle invoice {file} of customer {number}, with tax and discount."""',
                f"    # NEEDLE-{file}-{number}",
                *(f"    step_{step} = values[{step}] + {file + number}" for step in range(12)),
                f"    return {SHARED}(values)",
                "",
                "",
            ]
        (package / f"invoice_{file}.py").write_text("\n".join(lines))
    return root


def lines_with(root: Path, pattern: str) -> set[tuple[str, int]]:
    """Path and number of each line that matches, found without an index."""
    return {
        (path.relative_to(root).as_posix(), number)
        for path in sorted(root.rglob("*.py"))
        for number, line in enumerate(path.read_text().split("\n"), start=1)
        if re.search(pattern, line)
    }


def walked(page: Callable[[Any], Mapping[str, Any]], following: str) -> Iterator[Mapping[str, Any]]:
    """Yield the pages of a list; `following` is the key of the place at which the next one begins."""
    place: Any = None
    for _ in range(_PAGES):
        answer = page(place)
        yield answer
        if answer.get(following) is None:
            return
        assert answer[following] != place
        place = answer[following]
    raise AssertionError("the list does not end")


def check_counts(pages: list[Mapping[str, Any]], key: str, *, exactly: bool = True) -> list[Any]:
    """Return the items of all pages; each page counts those behind it, the last one none."""
    items = [item for page in pages for item in page[key]]
    n_shown = 0
    for page in pages:
        n_shown += len(page[key])
        n_left = page["n_left_out"] if "n_left_out" in page else page["left_out"]
        if exactly:
            assert page.get("n_left_out_is_exact", True)
            assert n_left == len(items) - n_shown
        else:
            assert n_left <= len(items) - n_shown
    return items


def place_of(hit: Mapping[str, Any]) -> tuple[str, int, int]:
    return hit["path"], hit["start_line"], hit["end_line"]


def check_pages_of_agent(pages: list[Mapping[str, Any]], own: list[tuple[str, int, int]], *, exactly: bool) -> None:
    """The pages show or name each place of a list, in its order; each counts what is behind it."""
    begin = 0
    for page in pages:
        end = begin + len(page["hits"])
        assert [place_of(hit) for hit in page["hits"]] == own[begin:end]
        begin = int(page["next"].partition(".")[0]) if "next" in page else len(own) - page["left_out"]
        assert all(is_named(place, page) for place in own[end:begin])
        assert page["left_out"] == len(own) - begin or (not exactly and page["left_out"] < len(own) - begin)
    assert begin == len(own)


def is_named(place: tuple[str, int, int], page: Mapping[str, Any]) -> bool:
    """Return True if a line of a place stands beside the hits of a page for an agent, or in one."""
    path, start, end = place
    texts = [item["text"] for item in (*page["hits"], *page.get("also", ())) if item["path"] == path]
    lines = [int(line.partition(":")[0]) for text in texts for line in text.split("\n")]
    return any(start <= line <= end for line in lines)
