"""`fathom bench here`: what an agent gets and pays on the reader's own tree, beside a search for words."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from statistics import median
from typing import Any, NamedTuple

from codefathom.answer.tokens import estimate
from codefathom.askers.project_list import NamedProject
from codefathom.cli.display.output import Style
from codefathom.cli.face import Face
from codefathom.cli.options import BenchOptions
from codefathom.config.settings import StoreSettings
from codefathom.config.user_places import PROJECT_FILE
from codefathom.engine import Engine
from codefathom.errors import SourceError, UsageError
from codefathom.mcp.measured_tools import MOST_TOKENS, Measure, of_search, of_words, word_tool
from codefathom.mcp.session_projects import SessionProjects, SessionStart
from codefathom.mcp.tool_calls import ToolCalls
from codefathom.mcp.tool_list import TOOLS
from codefathom.mcp.tree_questions import (
    TreeQuestion,
    documented,
    place_texts,
    without_comments,
    written_questions,
)
from codefathom.project.removal import remove_index
from codefathom.shapes import to_json
from codefathom.types import FoundSymbol

_MOST_SYMBOLS = 1_000_000
_FATHOM = "fathom mcp: search"
_WAIT_S = 30.0


class _Trial(NamedTuple):
    """A tree, and the questions that are put to it."""

    engine: Engine
    questions: Sequence[TreeQuestion]
    origin: str  # of the questions, as a sentence


def run(options: BenchOptions, face: Face) -> int:
    """Measure, and print a table or JSON; return 1 where there is no question."""
    with _trial(options, face) as trial:
        if not trial.questions:
            face.note("no definition has a comment that can be a question; give your own with --questions FILE")
            return 1
        measures = _measured(trial, face)
    face.note_indexing()
    if face.common.json:
        face.write(to_json(_shape(trial, measures)))
    else:
        face.write(_text(trial, measures, face.style))
    return 0


@contextmanager
def _trial(options: BenchOptions, face: Face) -> Iterator[_Trial]:
    """Yield the project itself with the questions of a person, or a copy of it without the sentences it is asked."""
    with face.open() as engine:
        if options.questions:
            text = _read(options.questions)
            engine.symbols(limit=1)  # the index is there, and as the files are
            yield _Trial(engine, written_questions(text)[: options.limit], f"questions of {options.questions}")
            return
        pairs = documented(engine.symbols(limit=_MOST_SYMBOLS), options.limit)
        with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
            root = os.path.join(os.path.realpath(folder), os.path.basename(engine.root) or "project")
            _copy(engine, root, [one for _, one in pairs])
            # Nothing of the copy goes to a server of the user.
            copy = Engine.open(root, settings=engine.settings._replace(store=StoreSettings()))
            try:
                began = time.perf_counter()
                copy.index()
                seconds = time.perf_counter() - began
                yield _Trial(
                    copy,
                    [question for question, _ in pairs],
                    "first sentences of comments of definitions; all of these comments were taken out of a copy of the "
                    f"files, which was indexed in {seconds:.1f} s",
                )
            finally:
                copy.close()
                remove_index(copy.place, wait_s=_WAIT_S)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path!r} cannot be read: {reason}", hint="give a file with --questions") from error


def _copy(engine: Engine, root: str, symbols: Sequence[FoundSymbol]) -> None:
    """Copy the files of the index, and the settings; links stay behind, as does what is gone."""
    by_path: dict[str, list[FoundSymbol]] = defaultdict(list)
    for one in symbols:
        by_path[one.path].append(one)
    paths = [file.path for file in engine.files.listed()]
    for path in dict.fromkeys((*paths, PROJECT_FILE)):
        source, target = os.path.join(engine.folder, path), os.path.join(root, path)
        if os.path.islink(source) or not os.path.isfile(source):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(source, target, follow_symlinks=False)
        if path in by_path:
            with open(target, "rb") as file:
                lines = file.read().decode("utf-8", "surrogateescape").split("\n")
            with open(target, "wb") as copied:
                copied.write("\n".join(without_comments(lines, by_path[path])).encode("utf-8", "surrogateescape"))


def _measured(trial: _Trial, face: Face) -> Mapping[str, Sequence[Measure]]:
    """Return the measures of each tool, one a question, in the order of the questions."""
    engine, tool = trial.engine, word_tool()
    files = frozenset(file.path for file in engine.files.listed())
    settings = engine.settings._replace(mcp=engine.settings.mcp._replace(structured="always"))

    def open_project(project: NamedProject) -> Engine:
        raise SourceError(f"{project.name!r} is not measured")

    def open_here() -> Engine:
        return Engine.open(engine.root, settings=settings)

    measures: dict[str, list[Measure]] = defaultdict(list)
    has_names = all(question.name for question in trial.questions)
    with closing(SessionProjects(SessionStart(open_here, open_project))) as projects:
        calls = ToolCalls(projects)
        calls.call("search", {"query": "warm up"})  # opens what the first call of a session opens
        for number, question in enumerate(trial.questions, start=1):
            face.progress(f"question {number} of {len(trial.questions)}")
            measures[_FATHOM].append(of_search(calls, question))
            measures[f"{tool.name}: words of the question"].append(of_words(tool, engine.folder, files, question))
            if has_names:
                by_name = of_words(tool, engine.folder, files, question, question.name)
                measures[f"{tool.name}: name of the answer, known before"].append(by_name)
    return measures


def _list_tokens(name: str) -> int:
    """Return what a tool costs before it is called: its description, once for a session; a shell has its own."""
    return estimate(json.dumps(TOOLS)) if name == _FATHOM else 0


def _shape(trial: _Trial, measures: Mapping[str, Sequence[Measure]]) -> Mapping[str, Any]:
    questions = [
        {
            "question": question.text,
            "places": list(place_texts(question)),
            "tools": {
                name: {"found": of[number].is_found, "tokens": of[number].n_tokens, "ms": _ms(of[number].seconds)}
                for name, of in measures.items()
            },
        }
        for number, question in enumerate(trial.questions)
    ]
    return {"origin": trial.origin, "tools": [_row(name, of) for name, of in measures.items()], "questions": questions}


def _row(name: str, measures: Sequence[Measure]) -> dict[str, Any]:
    n_tokens, listed = sum(one.n_tokens for one in measures), _list_tokens(name)
    return {
        "tool": name,
        "found": sum(one.is_found for one in measures),
        "questions": len(measures),
        "tokens_per_answer": round(n_tokens / len(measures)),
        "tool_list_tokens": listed,
        "tokens_with_tool_list": n_tokens + listed,
        "median_ms": _ms(median(one.seconds for one in measures)),
    }


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)


def _text(trial: _Trial, measures: Mapping[str, Sequence[Measure]], style: Style) -> str:
    rows = [_row(name, of) for name, of in measures.items()]
    width = max(len(row["tool"]) for row in rows)
    lines = [
        f"{len(trial.questions)} questions: {trial.origin}.",
        "",
        style.faint(f"{'':{width}}  {'found':>9}  {'tokens an answer':>16}  {'all, with tool list':>19}  {'ms':>7}"),
    ]
    lines += [
        f"{row['tool']:{width}}  {row['found']:>3} of {row['questions']:<3}  {row['tokens_per_answer']:>15,}  "
        f"{row['tokens_with_tool_list']:>19,}  {row['median_ms']:>7,}"
        for row in rows
    ]
    lines += [
        "",
        "An answer is found if a line of the definition, or of the place that you gave, is shown.",
        f"Tokens are estimated; the list of tools ({_list_tokens(_FATHOM):,}) counts once for all questions.",
        "Words are searched in the indexed files only; files with most of the rare words come first, up to "
        f"{MOST_TOKENS:,} tokens.",
        "ms is the median of a session that has answered before.",
    ]
    return "\n".join(lines) + "\n"
