"""The tools that a model may call in a project, for the agent's loop; those for agents of others are in `mcp`.

The text of a model is input: arguments are checked against the JSON schema, only indexed files can be read, and the
result of a mistake names what is allowed. No result is longer than its budget: it is cut at a line, with a note how to
continue.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from codefathom.compat.argument_names import TOOL_NAMES
from codefathom.errors import FathomError
from codefathom.facts.reasons import BY_HEAD, MOST_LIKELY_NOTHING
from codefathom.providers.base import ToolSpec
from codefathom.search.verdict import MAX_WEAK
from codefathom.source.globs import translate
from codefathom.text.kept_names import KEPT_TEXTS
from codefathom.text.printable import is_text
from codefathom.types import LEVELS, FoundSymbol, Hit, LevelName, RelatedResult, SearchResult

MAX_CHARS = 8_000
# Lines shown before the one to look at, when a hit is too long to be shown from its start.
_LINES_BEFORE = 3


class ShownLines(NamedTuple):
    """Lines that a model was shown."""

    path: str
    start_line: int
    end_line: int
    symbol: str = ""


class Observation(NamedTuple):
    """The result of a tool."""

    text: str
    places: tuple[ShownLines, ...] = ()
    is_error: bool = False


class Tool(NamedTuple):
    """A tool and its function. `run` never raises, whatever arguments a model writes."""

    spec: ToolSpec
    run: Callable[[Mapping[str, Any]], Observation]


@dataclass(frozen=True, slots=True)
class ToolProject:
    """The functions of a project that the tools need."""

    search: Callable[[str, LevelName, int], SearchResult]  # question, what a hit is, most hits
    text: Callable[[str], str | None]  # path → the indexed text, None when it is not in the index
    symbols: Callable[[str], Sequence[FoundSymbol]]  # a name, or a part of one
    related: Callable[[str], RelatedResult]  # a path, or @@ and a name
    paths: Callable[[], Sequence[str]]  # of all indexed documents


def tools(project: ToolProject, *, max_chars: int = MAX_CHARS) -> tuple[Tool, ...]:
    """Return the tools of a project; no observation is longer than `max_chars`."""
    runs: tuple[tuple[ToolSpec, _Run], ...] = (
        (_SEARCH, _search_code),
        (_READ, _read_file),
        (_SYMBOL, _find_symbol),
        (_RELATED, _related_files),
        (_LIST, _list_files),
    )
    return tuple(Tool(spec, partial(_checked, spec, run, project, max_chars)) for spec, run in runs)


def named(choices: Sequence[Tool], name: str) -> Tool | None:
    """Return the tool of this name, or of a name that other programs use for it."""
    return next((tool for tool in choices if name in (tool.spec.name, *TOOL_NAMES.get(tool.spec.name, ()))), None)


def usage(spec: ToolSpec) -> str:
    """Return a line on what a tool takes."""
    required = spec.parameters["required"]
    parts = [f"{key} ({_allowed(rule, key in required)})" for key, rule in spec.parameters["properties"].items()]
    return f"{spec.name} takes {', '.join(parts)}"


# ---- what they are called and take


def _object(required: str, **properties: Mapping[str, Any]) -> Mapping[str, Any]:
    needed = [required] * bool(required)
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


_TEXT = {"type": "string", "minLength": 1, "maxLength": 2_000}
_LINE = {"type": "integer", "minimum": 1, "maximum": 9_999_999}

_SEARCH = ToolSpec(
    "search_code",
    "Search the project by meaning and by words. Returns the best places with path, numbered lines, symbol and reason. "
    "Ask in plain words or with names from the code; `@path` and `@@symbol` in the question keep it to a place.",
    _object(
        "question",
        question=_TEXT,
        index_type={"type": "string", "enum": list(LEVELS), "default": "chunk"},
        top_k={"type": "integer", "minimum": 1, "maximum": 20, "default": 5},
    ),
)
_READ = ToolSpec(
    "read_file",
    "Read an indexed file, with line numbers. A long one is cut and says at which line to continue.",
    _object("file_path", file_path=_TEXT, start_line={**_LINE, "default": 1}, end_line=_LINE),
)
_SYMBOL = ToolSpec(
    "find_symbol",
    "Find where functions, classes, methods and other names are defined, by their name or a part of it.",
    _object("name", name=_TEXT),
)
_RELATED = ToolSpec(
    "related_files",
    "List what imports, is imported by, calls or uses a file (its path) or a symbol (@@name).",
    _object("target", target=_TEXT),
)
_LIST = ToolSpec(
    "list_files",
    "List the indexed files below a folder. The pattern is a glob: `*.py` for names, `src/**/test_*` for paths.",
    _object("", folder={**_TEXT, "minLength": 0, "default": ""}, pattern={**_TEXT, "maxLength": 200}),
)

_Run = Callable[[ToolProject, Mapping[str, Any], int], Observation]


# ---- arguments


def _checked(
    spec: ToolSpec, run: _Run, project: ToolProject, max_chars: int, arguments: Mapping[str, Any]
) -> Observation:
    """Check the arguments and run a tool; the observation is an error if they are wrong or the tool fails."""
    values, problems = _read(spec, arguments)
    if problems:
        observation = _error(f"{'; '.join(problems)}. {usage(spec)}.")
    else:
        try:
            observation = run(project, values, max_chars)
        except FathomError as error:
            observation = _error(f"{error}{'; ' if error.hint else ''}{error.hint}")
    return observation._replace(text=_clipped(observation.text, max_chars))


def _error(text: str) -> Observation:
    return Observation(f"Error: {text}", is_error=True)


def _clipped(text: str, max_chars: int) -> str:
    if len(text) <= max_chars:
        return text
    end = "\n(cut)"
    kept = text[: max(max_chars - len(end), 0)]
    return (kept[: kept.rfind("\n")] if "\n" in kept else kept) + end[: max_chars - len(kept)]


def _read(spec: ToolSpec, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the values, defaults included, and what is wrong. What is null counts as not given."""
    if not isinstance(arguments, Mapping):
        return {}, ["the arguments are not a JSON object"]
    rules = spec.parameters["properties"]
    entries = {key: value for key, value in arguments.items() if value is not None}
    problems = [f"there is no argument {_short(key)}" for key in entries if key not in rules]
    problems += [f"{key} is missing" for key in spec.parameters["required"] if key not in entries]
    values = {key: rule["default"] for key, rule in rules.items() if "default" in rule}
    for key in rules.keys() & entries.keys():
        value = _value(entries[key], rules[key])
        if value is None:
            problems.append(f"{key} cannot be {_short(entries[key])}")
        else:
            values[key] = value
    return values, problems


def _value(value: object, rule: Mapping[str, Any]) -> str | int | None:
    """Return a value as the schema has it; None when it does not follow it."""
    if rule["type"] == "integer":
        number = _integer(value)
        return number if number is not None and rule["minimum"] <= number <= rule["maximum"] else None
    if not isinstance(value, str) or not is_text(value):
        return None
    text = value.strip()
    if "enum" in rule:
        return text.lower() if text.lower() in rule["enum"] else None
    return text if rule["minLength"] <= len(text) <= rule["maxLength"] else None


def _integer(value: object) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"\s*\+?[0-9]{1,9}\s*", value):  # many models write numbers as text
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _short(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _allowed(rule: Mapping[str, Any], is_required: bool) -> str:
    if "enum" in rule:
        kind = f"one of {', '.join(rule['enum'])}"
    elif rule["type"] == "integer":
        kind = f"whole number from {rule['minimum']} to {rule['maximum']}"
    else:
        kind = f"text of at most {rule['maxLength']} characters"
    default = f", default {rule['default']}" if rule.get("default") else ""
    return kind + (", required" if is_required else default or ", optional")


# ---- search_code


def _search_code(project: ToolProject, values: Mapping[str, Any], max_chars: int) -> Observation:
    result = project.search(values["question"], values["index_type"], values["top_k"])
    if not result.hits:
        return Observation(f"Nothing found. {result.suggestion or 'Try other words, or list_files.'}")
    hits = result.hits[: MAX_WEAK if result.weak else None]
    notes = [f"{len(hits)} places, best first; confidence {result.confidence:.2f}."]
    notes += [f"{MOST_LIKELY_NOTHING.capitalize()}."] * result.weak
    notes += ["Files changed since the index was made."] * result.stale
    parts = [" ".join([*notes, *result.degraded])]
    places: list[ShownLines] = []
    for index, hit in enumerate(hits):
        # What one hit leaves over, the later ones may use.
        room = (max_chars - sum(len(part) + 2 for part in parts)) // (len(hits) - index)
        shown = _excerpt_of(hit, index + 1, room)
        parts.append(shown.text)
        places += shown.places
    return Observation("\n\n".join(parts), tuple(places))


def _excerpt_of(hit: Hit, number: int, room: int) -> Observation:
    """Return a hit that fits a number of characters: from its start, or else around the line to look at."""
    chunk = hit.chunk
    lines = _lines(chunk.text)
    name = f" {hit.kind} {hit.name}" if hit.name else ""
    reason = f"; {hit.reason}" if hit.reason else ""
    place = f", {hit.place}" if hit.place else ""
    title = f"{number}. {chunk.path}:{chunk.start_line}-{chunk.end_line}{place}{name} (score {hit.score:.2f}{reason})"
    first = chunk.start_line
    if sum(len(line) + 9 for line in lines) + len(title) > room and hit.line > first + _LINES_BEFORE:
        first = min(hit.line, chunk.start_line + len(lines) - 1) - _LINES_BEFORE
    body = _numbered(chunk.path, lines[first - chunk.start_line :], first, room - len(title) - 1)
    places = (ShownLines(chunk.path, first, first + body.n_lines - 1, chunk.symbol),) * bool(body.n_lines)
    return Observation(f"{title}\n{body.text}", places)


def _numbered(path: str, lines: Sequence[str], first: int, room: int) -> _Fitting:
    """Return lines with their numbers, as many as fit, then where to continue."""
    shown = [f"{number}\t{line}" for number, line in enumerate(lines, start=first)]
    left = room - len(_continue(path, first + len(lines))) - 1
    if len(shown[0]) > left and room > 0:  # one line that is too long, as in minified code: its beginning
        shown[0] = f"{shown[0][: max(left - 12, len(str(first)) + 1)]}… (line cut)"
    return _fitting(shown, room, lambda n: _continue(path, first + n))


def _continue(path: str, line: int) -> str:
    call = json.dumps({"file_path": path, "start_line": line}, ensure_ascii=False)
    return f"(continue at line {line}: read_file {call})"


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


# ---- read_file


def _read_file(project: ToolProject, values: Mapping[str, Any], max_chars: int) -> Observation:
    file_path = values["file_path"]
    if file_path not in project.paths() and _leaves_project(file_path):
        return _error(f"{_short(file_path)} is not a path from the project's root, such as src/main.py.")
    path = _indexed(project, file_path.removeprefix("./"))
    text = project.text(path)
    if text is None:
        return _error(f"{_short(file_path)} is not in the index. {_near(project, file_path)}")
    if not text:
        return Observation(f"{path} is empty.")
    lines = _lines(text)
    start, end = values["start_line"], min(values.get("end_line", len(lines)), len(lines))
    if end < start:
        return _error(
            f"{path} has lines 1 to {len(lines)}; {start} to {values.get('end_line', 'its end')} is not a part of it."
        )
    room = max_chars - len(f"{path}, lines {start} to {end} of {len(lines)}\n")
    body = _numbered(path, lines[start - 1 : end], start, room)
    last = start + body.n_lines - 1
    title = f"{path}, lines {start} to {last} of {len(lines)}"
    return Observation(f"{title}\n{body.text}", (ShownLines(path, start, last),) * bool(body.n_lines))


def _leaves_project(path: str) -> bool:
    path = path.removeprefix(KEPT_TEXTS)
    parts = re.split(r"[/\\]", path)
    return parts[0] in ("", "~") or ".." in parts or re.match(r"[A-Za-z]:[/\\]|\w+://", path) is not None


def _indexed(project: ToolProject, path: str) -> str:
    """Return the path that is meant: as given, or the only one that ends with it."""
    paths = project.paths()
    ending = [] if path in paths else [one for one in paths if one.endswith(f"/{path}")]
    return ending[0] if len(ending) == 1 else path


def _near(project: ToolProject, file_path: str) -> str:
    stem = file_path.rpartition("/")[2].partition(".")[0].lower()
    near = [path for path in project.paths() if stem and stem in path.rpartition("/")[2].lower()][:5]
    return f"Did you mean {', '.join(near)}?" if near else "list_files shows what is."


# ---- find_symbol, related_files, list_files


def _find_symbol(project: ToolProject, values: Mapping[str, Any], max_chars: int) -> Observation:
    name = values["name"].removeprefix("@@").removesuffix("()")
    symbols = project.symbols(name)
    if not symbols:
        return Observation(f"No symbol is called {_short(name)}. Try a part of the name, or search_code.")
    shown = _fitting([_definition(item) for item in symbols], max_chars, lambda n: f"({len(symbols) - n} more)")
    spans = [
        ShownLines(one.path, one.symbol.start_line, one.symbol.end_line, one.symbol.qualified_name) for one in symbols
    ]
    return Observation(shown.text, tuple(spans[: shown.n_lines]))


def _definition(item: FoundSymbol) -> str:
    symbol = item.symbol
    signature = f" — {symbol.signature[:200]}" if symbol.signature else ""
    mark = f" ({BY_HEAD})" if item.by_head else ""
    return f"{item.path}:{symbol.start_line}-{symbol.end_line} {symbol.kind} {symbol.qualified_name}{signature}{mark}"


def _related_files(project: ToolProject, values: Mapping[str, Any], max_chars: int) -> Observation:
    target = values["target"]
    if not target.startswith("@@") and _leaves_project(target.removeprefix("@")):
        return _error(f"{_short(target)} is neither a path from the project's root nor @@ and a name.")
    result = project.related(target)
    end = result.completeness
    if not result.edges:
        return Observation(f"Nothing is known to be connected with {target}. {end}")
    edges = [(item, f" in {item.symbol}" * bool(item.symbol)) for item in result.edges]
    lines = [f"{item.kind} {item.path}:{item.line}{inside} ({item.name})" for item, inside in edges]
    shown = _fitting(lines, max_chars - len(end) - 1, lambda n: f"({len(lines) - n} more)")
    places = tuple(ShownLines(item.path, item.line, item.line, item.symbol) for item in result.edges[: shown.n_lines])
    return Observation(f"{shown.text}\n{end}", places)


def _list_files(project: ToolProject, values: Mapping[str, Any], max_chars: int) -> Observation:
    folder, pattern = values["folder"].removeprefix("./").strip("/"), values.get("pattern", "")
    if _leaves_project(values["folder"].rstrip("/") or "."):
        return _error(f"{_short(values['folder'])} is not a folder below the project's root, such as src.")
    start = "" if folder in ("", ".") else f"{folder}/"
    below = [path for path in project.paths() if path.startswith(start)]
    files = list(filter(_matching(pattern), below)) if pattern else below
    if not files:
        return Observation(f"No indexed file{' matches' if below else ' lies'} there.")
    title = f"{len(files)} files"
    if sum(len(path) + 1 for path in files) + len(title) > max_chars:
        files = _folded(files, len(start))
        title += ", folders with the number of files below them"
    shown = _fitting(files, max_chars - len(title) - 2, lambda n: f"({len(files) - n} more: narrow it down)")
    return Observation(f"{title}:\n{shown.text}")


def _matching(pattern: str) -> Callable[[str], bool]:
    """Return a test of paths: by name, or when the pattern has a folder, by the whole path.

    Brackets also stand for themselves, as in `app/[id]/page.tsx`.
    """
    glob = pattern.removeprefix("./").lstrip("/")
    forms = filter(None, (translate(glob), translate(glob.replace("[", "\\["))))
    expression = re.compile("|".join(f"(?:{form})" for form in forms) or r"(?!)", re.DOTALL)
    if "/" in pattern:
        return lambda path: expression.fullmatch(path) is not None
    return lambda path: expression.fullmatch(path.rpartition("/")[2]) is not None


def _folded(paths: Sequence[str], start: int) -> list[str]:
    """Return the entries of a folder, each folder with its number of files."""
    folders = Counter(path[: path.index("/", start) + 1] for path in paths if "/" in path[start:])
    return [f"{folder} {n}" for folder, n in folders.items()] + [path for path in paths if "/" not in path[start:]]


class _Fitting(NamedTuple):
    """The first lines of many, and how many they are."""

    text: str
    n_lines: int


def _fitting(lines: Sequence[str], room: int, note: Callable[[int], str]) -> _Fitting:
    """Return as many lines as fit into a number of characters; when not all do, `note` of their number follows."""
    if sum(len(line) + 1 for line in lines) <= room:
        return _Fitting("\n".join(lines), len(lines))
    left = room - len(note(len(lines)))
    kept: list[str] = []
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    return _Fitting("\n".join([*kept, note(len(kept))]), len(kept))
