"""Results of the tools: compact text and the same as JSON, both within a budget of tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from codefathom.answer.tokens import estimate
from codefathom.types import Hit, Progress, SearchResult

_WEAK = "Most likely nothing here answers this."
_INDEXING = "The index is being made, {done} of {total} files so far. Ask again soon, or use grep until then."
ERROR_CHARS = 300
_SHOWN_LINES, _LINES_BEFORE, _SHOWN_CHARS = 10, 2, 200


class ResultPart(NamedTuple):
    """One item of an answer in both of its forms."""

    text: str
    shape: Mapping[str, Any]


class ToolAnswer(NamedTuple):
    """The answer of a tool: a head, and items under a key of the JSON, the best first."""

    key: str
    head: ResultPart
    parts: Sequence[ResultPart]


def packed(answer: ToolAnswer, most: int, start: int) -> Mapping[str, Any]:
    """Return as many parts, from the first on, as both forms of the answer can show within the budget."""
    n, high = 0, len(answer.parts)
    while n < high:
        middle = (n + high + 1) // 2
        n, high = (middle, high) if fits(_packed_first(answer, middle, start), most) else (n, middle - 1)
    if answer.parts and not n and "text" in answer.parts[0].shape:  # the best one by its place alone
        first = answer.parts[0]
        shape = {key: value for key, value in first.shape.items() if key != "text"}
        lean = (ResultPart(first.text.partition("\n")[0], shape), *answer.parts[1:])
        lean_result = _packed_first(answer._replace(parts=lean), 1, start)
        return lean_result if fits(lean_result, most) else _packed_first(answer, 0, start)
    return _packed_first(answer, n, start)


def _packed_first(answer: ToolAnswer, n: int, start: int) -> Mapping[str, Any]:
    left = len(answer.parts) - n
    more = {"left_out": left, **({"next": str(start + n)} if left and answer.key == "hits" else {})}
    note = f"{left} left out; raise max_tokens" + (f" or use cursor {start + n}" if "next" in more else "")
    texts = [answer.head.text, *(part.text for part in answer.parts[:n]), *[note] * bool(left)]
    shape = {answer.key: [part.shape for part in answer.parts[:n]], **answer.head.shape, **more}
    return tool_result("\n\n".join(texts), shape)


def fits(result: Mapping[str, Any], most: int) -> bool:
    """Return True when both forms of a result keep to the budget."""
    structured = json.dumps(result["structuredContent"], ensure_ascii=False)
    return max(estimate(result["content"][0]["text"]), estimate(structured)) <= most


def tool_result(text: str, shape: Mapping[str, Any], *, is_error: bool = False) -> Mapping[str, Any]:
    """Return a result in the form of the protocol."""
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": is_error}
    return result if is_error else {**result, "structuredContent": shape}


def indexing_result(step: Progress) -> Mapping[str, Any]:
    """Return the result of any tool while the first index is being made."""
    numbers = {"done": step.n_done, "total": step.n_total}
    return tool_result(_INDEXING.format(**numbers), {"indexing": numbers})


def head_part(result: SearchResult) -> ResultPart:
    """Return the part that holds for all hits."""
    note = _WEAK if result.weak else "" if result.hits else f"Nothing found. {result.suggestion}"
    limits = cut(" ".join(result.degraded), ERROR_CHARS)
    text = f"confidence {result.confidence:.2f}. {note} {limits}".strip()
    return ResultPart(text, {"confidence": round(result.confidence, 4), "weak": result.weak})


def hit_part(hit: Hit, number: int) -> ResultPart:
    """Return a hit with its number in the list."""
    chunk = hit.chunk
    place = f"{json.dumps(chunk.path, ensure_ascii=False)} {chunk.start_line}-{chunk.end_line}"
    title = f"{number}. {place} {chunk.language} score {hit.score:.2f} {chunk.kind} {chunk.symbol}".rstrip()
    shape = {"path": chunk.path, "start_line": chunk.start_line, "end_line": chunk.end_line}
    code = _best_lines(hit)
    more = {"symbol": chunk.symbol, "why": hit.reason, "stale": hit.stale, "text": code}
    return ResultPart(f"{title}\n{_fenced(code)}", {**shape, **more})


def _best_lines(hit: Hit) -> str:
    """Return ten lines of a hit, around the one to look at; `read` shows the rest."""
    lines = hit.chunk.text.removesuffix("\n").split("\n")
    first = max(0, min(hit.line - hit.chunk.start_line - _LINES_BEFORE, len(lines) - _SHOWN_LINES))
    return "\n".join(cut(line, _SHOWN_CHARS) for line in lines[first : first + _SHOWN_LINES])


def cut(line: str, most: int) -> str:
    """Return a text of at most so many characters, which says where it was cut."""
    return line if len(line) <= most else f"{line[:most]}… (line cut)"


def lines_result(path: str, lines: Sequence[str], start: int, kept: int) -> Mapping[str, Any]:
    """Return the first of the lines that were asked for."""
    end, left = start + kept - 1, len(lines) - kept
    note = f"\n{left} lines left out; go on with start_line {end + 1}" if left else ""
    code = "\n".join(lines[:kept])
    text = f"{json.dumps(path, ensure_ascii=False)} {start}-{end}\n{_fenced(code)}{note}"
    shape = {"path": path, "start_line": start, "end_line": end, "text": code, "left_out": left}
    return tool_result(text, shape)


def _fenced(code: str) -> str:
    """Return code in a fence that is longer than any inside, so that no text of a file can end it."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}\n{code.rstrip()}\n{fence}"
