"""A project at a glance, without a model: its own words on what it is for, sizes and ages, and a reading tour."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from codefathom.facts.languages import CODE
from codefathom.facts.paths import folders_of, starts_program
from codefathom.search.graph.main_types import stands_aside
from codefathom.search.graph.project_map import MapSymbol
from codefathom.search.graph.reference_graph import ReferenceGraph
from codefathom.search.graph.usual_map import usual_parts
from codefathom.search.project_overview import readmes
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.catalog.records import StoredDocument
from codefathom.text.kept_names import is_kept_text
from codefathom.types import StepReason, TourStep

MOST_STEPS = 10
MOST_SIZED_FILES = 400  # more can no longer be told apart in a picture
_MOST_STEP_LINES = 60
_MOST_PURPOSE_CHARS = 500
_IMPORTED: StepReason = "imported"


class SizedFile(NamedTuple):
    """A file with its size and the time of its last change."""

    path: str
    size: int  # bytes
    changed_at: float  # seconds since 1970, of its last commit, else as its time stamp says; 0 where there is none


class Glance(NamedTuple):
    """What the first page of a project shows of it at once."""

    purpose: str  # the first paragraph of its README, "" where there is none
    purpose_path: str
    files: tuple[SizedFile, ...]  # the largest first
    n_files_left_out: int
    n_bytes_left_out: int


def glance(catalog: SearchCatalog, *, has_times: bool = True) -> Glance:
    """Return a project at a glance; `has_times` is False where time stamps of files do not tell when they changed."""
    documents = [item for item in catalog.documents() if not is_kept_text(item.path)]
    path, text = _readme(catalog, documents)
    sized = sorted(documents, key=lambda item: (-item.size, item.path))
    return Glance(
        first_paragraph(text),
        path,
        tuple(
            SizedFile(item.path, item.size, item.mtime_ns / 1e9 if has_times else 0.0)
            for item in sized[:MOST_SIZED_FILES]
        ),
        len(sized[MOST_SIZED_FILES:]),
        sum(item.size for item in sized[MOST_SIZED_FILES:]),
    )


def _readme(catalog: SearchCatalog, documents: Sequence[StoredDocument]) -> tuple[str, str]:
    for document in catalog.texts(readmes(documents)):
        return document.path, document.text
    return "", ""


def first_paragraph(text: str) -> str:
    """Return the first paragraph of prose of a README, as plain words; "" where there is none."""
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n")[:20_000]):
        lines = [line.strip() for line in block.strip().split("\n")]
        if len(lines) > 1 and re.fullmatch(r"([=\-~^#*+])\1{2,}", lines[1]):  # a heading and its underline
            lines = lines[2:]
        lines = [line for line in lines if line and not re.match(r"(#|!\[|\[!|<|\.\. |:|```|---|===|\|)", line)]
        words = " ".join(lines)[: 4 * _MOST_PURPOSE_CHARS]  # more would not be shown, and may be made to be slow
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", words)
        words = re.sub(r"`([^`<]+?) *<[^>]*>`_+|[`*]{1,3}", lambda match: match[1] or "", words).strip()
        if len(words.split()) > 2 or (words and words[-1] in ".。"):
            return words if len(words) <= _MOST_PURPOSE_CHARS else words[: _MOST_PURPOSE_CHARS - 1].rstrip() + "…"
    return ""


def tour(catalog: SearchCatalog) -> tuple[TourStep, ...]:
    """Return places to read: an entry, then again and again the most central file that one read before imports.

    It needs the map, whose first one takes a minute in a very large project.
    """
    return tuple(_steps(catalog))


def _steps(catalog: SearchCatalog) -> Iterator[TourStep]:
    documents = (item for item in catalog.documents() if not is_kept_text(item.path))
    code = {item.path: item for item in documents if item.language in CODE and not stands_aside(item.path)}
    parts = usual_parts(catalog).parts
    ranks = {part.path: part.rank for part in parts if part.path in code}
    best: dict[str, MapSymbol] = {}
    for part in parts:
        if part.symbol is not None:
            best.setdefault(part.path, part.symbol)
    links = ReferenceGraph(catalog).links
    central = sorted(code, key=lambda path: (ranks.get(path, len(code)), path))
    entries = [path for path in central if starts_program(path.rpartition("/")[2])]
    n_below = Counter(folder for path in code for folder in folders_of(path))
    # Tools have entries of their own, beside less code.
    entries.sort(
        key=lambda path: (-n_below[path.rpartition("/")[0]], path.count("/"), ranks.get(path, len(code)), path)
    )
    starts: list[tuple[str, StepReason]] = [
        *((path, "entry") for path in entries),
        *((path, "central") for path in central),
    ]
    open_paths: dict[str, str] = {}
    read: dict[str, None] = {}
    while len(read) < min(MOST_STEPS, len(code)):
        source, reason = "", _IMPORTED
        if open_paths:
            path = min(open_paths, key=lambda path: (ranks.get(path, len(code)), path))
            source = open_paths.pop(path)
        else:
            path, reason = next(start for start in starts if start[0] not in read)
        read[path] = None
        for targets in links.targets(path).values():
            for target in targets:
                if target in code and target not in read:
                    open_paths.setdefault(target, path)
        yield _step(catalog, code[path], best, reason, source)


def _step(
    catalog: SearchCatalog, document: StoredDocument, best: Mapping[str, MapSymbol], reason: StepReason, source: str
) -> TourStep:
    start, end, name = 1, document.n_lines, ""
    if (chosen := best.get(document.path)) is not None:
        for symbol in catalog.symbols_of(document.path):
            if symbol.name_line == chosen.line and symbol.qualified_name == chosen.name:
                start, end, name = symbol.start_line, symbol.end_line, symbol.qualified_name
    return TourStep(document.path, start, max(start, min(end, start + _MOST_STEP_LINES - 1)), name, reason, source)
