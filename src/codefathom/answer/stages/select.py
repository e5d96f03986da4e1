"""A model chooses: from the outline of a project the files, and from a file the lines, that a question needs.

Each name is looked up; unknown names are dropped and counted. A failed call chooses nothing and gives its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from codefathom.answer.answer_types import Source
from codefathom.answer.budget import CountTokens, Material, Shares, merged, pack, shown
from codefathom.answer.problems import model_failed
from codefathom.answer.prompting import Language, fenced, language_of_question, prompt
from codefathom.errors import ProviderError
from codefathom.facts.reasons import Told, sentence
from codefathom.providers.base import Ask, ChatModel, Message, whole
from codefathom.text.loose_json import items

_MAX_SYMBOLS = 60  # names of one file in the outline
_MAX_RANGES = 4
# For the roles and the joints between messages, which no counter sees.
_OVERHEAD_TOKENS = 64
_QUESTION = {"en": "Question: {question}", "zh": "问题：{question}"}
_PINNED_NOTE = {
    "en": "These files are given already, do not choose them: {paths}",
    "zh": "以下文件已经提供，不必选择：{paths}",
}
_FILES_SCHEMA = {
    "type": "object",
    "properties": {
        "file_list": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"file_path": {"type": "string"}, "reason": {"type": "string"}},
                "required": ["file_path", "reason"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["file_list"],
    "additionalProperties": False,
}
_RANGES_SCHEMA = {
    "type": "object",
    "properties": {
        "ranges": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"start_line": {"type": "integer"}, "end_line": {"type": "integer"}},
                "required": ["start_line", "end_line"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["ranges"],
    "additionalProperties": False,
}


class OutlineFile(NamedTuple):
    """A file in the outline of a project."""

    path: str
    symbols: tuple[str, ...] = ()
    purpose: str = ""


class FileSelection(NamedTuple):
    """Files that a model chose."""

    paths: dict[str, str]  # path → reason, the most important first
    unknown: int = 0  # paths that it named and that are not in the outline
    problem: Told = ""


class LineSelection(NamedTuple):
    """Lines that a model chose, the most important first; each range both ends included."""

    spans: tuple[tuple[int, int], ...]
    problem: Told = ""


def select(
    question: str,
    outline: Sequence[OutlineFile],
    model: ChatModel,
    count: CountTokens,
    max_input_tokens: int,
    *,
    pinned: Sequence[str] = (),
) -> FileSelection:
    """Return the files of the outline that the model chooses. Never raises ProviderError."""
    language = language_of_question(question)
    system = prompt("select", language)
    request = _request(question, pinned, language)
    room = max_input_tokens - sum(map(count, (system, request, fenced("", "the list of files")))) - _OVERHEAD_TOKENS
    offered = [file for file in outline if file.path not in set(pinned)]
    if room <= 0:
        return FileSelection({}, problem="the question does not fit into a call of the selecting model")
    chosen: dict[str, str] = {}
    unknown, problems = 0, []
    for batch in _batches(offered, room, count):
        listing = fenced("\n".join(batch.values()), "the list of files")
        part = _select(model, _ask(system, f"{listing}\n\n{request}", _FILES_SCHEMA), batch, pinned)
        chosen |= part.paths
        unknown += part.unknown
        problems += [part.problem] if part.problem else []
    return FileSelection(chosen, unknown, problems[0] if len(set(problems)) == 1 else sentence(dict.fromkeys(problems)))


def calls_of(outline: Sequence[OutlineFile], count: CountTokens, max_input_tokens: int) -> list[int]:
    """Return the tokens of each call that `select` would make, but for the question and the rules."""
    batches = _batches(outline, max(max_input_tokens, 1), count)
    return [sum(count(line) for line in batch.values()) for batch in batches]


def excerpts(
    question: str, material: Material, model: ChatModel, count: CountTokens, max_input_tokens: int
) -> LineSelection:
    """Return at most four ranges of lines that the model chooses. Never raises ProviderError.

    Of a file that is too long for one call only the excerpts around its hits are shown, and can be chosen.
    """
    language = language_of_question(question)
    system = prompt("excerpt", language, most=str(_MAX_RANGES))
    request = _QUESTION[language].format(question=question)
    room = max_input_tokens - sum(map(count, (system, request, fenced("", "one file")))) - _OVERHEAD_TOKENS
    sources = pack([material], Shares(0, max(room, 0)), count).sources
    if not sources:
        return LineSelection((), problem=f"nothing of {material.path} fits into a call of the excerpting model")
    listing = fenced("\n".join(shown(source) for source in sources), "one file")
    try:
        reply = whole(model, _ask(system, f"{listing}\n\n{request}", _RANGES_SCHEMA))
    except ProviderError as error:
        return LineSelection((), problem=model_failed("excerpting", error))
    spans = _spans(items(reply.text, "ranges", "start_line"), sources)
    if spans is None:
        return LineSelection((), f"the excerpting model named no lines of {material.path} that are there")
    return LineSelection(tuple(spans))


def _ask(system: str, user: str, schema: Mapping[str, Any]) -> Ask:
    return Ask((Message("system", system), Message("user", user)), schema=schema, temperature=0.0)


def _request(question: str, pinned: Sequence[str], language: Language) -> str:
    notes = [_PINNED_NOTE[language].format(paths=", ".join(pinned))] if pinned else []
    return "\n".join([*notes, _QUESTION[language].format(question=question)])


def _batches(outline: Iterable[OutlineFile], room: int, count: CountTokens) -> Iterator[dict[str, str]]:
    """Yield path → line of the outline, as many as one call takes."""
    batch: dict[str, str] = {}
    left = room
    for file in outline:
        line = _line(file, room, count)
        n_tokens = count(f"{line}\n")
        if batch and n_tokens > left:
            yield batch
            batch, left = {}, room
        batch[file.path] = line
        left -= n_tokens
    if batch:
        yield batch


def _line(file: OutlineFile, room: int, count: CountTokens) -> str:
    """Return a file as one line; it loses its purpose, then names, until it fits by itself."""
    n_names = min(len(file.symbols), _MAX_SYMBOLS)
    purpose = f" # {' '.join(file.purpose.split())}" if file.purpose.strip() else ""
    while True:
        names = ", ".join(file.symbols[:n_names])
        more = f", and {len(file.symbols) - n_names} more" if 0 < n_names < len(file.symbols) else ""
        line = f"{file.path}{': ' if names else ''}{names}{more}{purpose}"
        if (not names and not purpose) or count(f"{line}\n") <= room:
            return line
        n_names = n_names // 2 if not purpose else n_names
        purpose = ""


def _select(model: ChatModel, ask: Ask, offered: Mapping[str, str], pinned: Sequence[str]) -> FileSelection:
    """Return the files that the model chooses from one batch."""
    try:
        reply = whole(model, ask)
    except ProviderError as error:
        return FileSelection({}, problem=model_failed("selecting", error))
    named = items(reply.text, "file_list", "file_path")
    if named is None:
        return FileSelection({}, problem="the selecting model gave no list of files")
    chosen: dict[str, str] = {}
    unknown = 0
    for written, reason in filter(None, map(_named, named)):
        path = _matching_path(written, [*offered, *pinned])
        unknown += not path
        if path in offered:
            chosen.setdefault(path, reason)
    return FileSelection(chosen, unknown)


def _named(item: Any) -> tuple[str, str] | None:
    """Return path and reason of an item of a reply."""
    if isinstance(item, str):
        return item, ""
    if not isinstance(item, Mapping) or not isinstance(item.get("file_path"), str):
        return None
    reason = item.get("reason")
    return item["file_path"], " ".join(reason.split()) if isinstance(reason, str) else ""


def _matching_path(written: str, paths: Sequence[str]) -> str:
    """Return the path that is meant: as it stands, else the only one of which it is the end, or that is its end."""
    path = written.strip(" \t\r\n\"'`").replace("\\", "/").lstrip("@").removeprefix("./")
    if path in paths:
        return path
    path = path.strip("/")
    ends = {
        candidate
        for candidate in paths
        if path and (f"/{candidate}".endswith(f"/{path}") or path.endswith(f"/{candidate}"))
    }
    return ends.pop() if len(ends) == 1 else ""


def _spans(ranges: list[Any] | None, sources: Sequence[Source]) -> list[tuple[int, int]] | None:
    """Return the lines that are named and were shown, the first named first, none twice.

    None when there are ranges, but none that can be used.
    """
    if not ranges:
        return ranges
    read = [span for span in map(_span, ranges) if span]
    inside = [
        (max(start, source.start_line), min(end, source.end_line))
        for start, end in read[:_MAX_RANGES]
        for source in sources
        if start <= end and start <= source.end_line and end >= source.start_line
    ]
    spans = merged(inside, max(source.end_line for source in sources))
    spans.sort(key=lambda span: next(place for place, (start, _) in enumerate(inside) if span[0] <= start <= span[1]))
    return spans or None


def _span(item: Any) -> tuple[int, int] | None:
    if isinstance(item, Mapping):
        item = [item.get("start_line"), item.get("end_line")]
    if not isinstance(item, list) or len(item) != 2:
        return None
    start, end = map(_line_number, item)
    return (start, end) if start is not None and end is not None else None


def _line_number(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
