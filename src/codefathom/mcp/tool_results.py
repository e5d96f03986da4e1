"""Results of the tools: compact text and the same as JSON, both within a budget of tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from codefathom.answer.tokens import estimate
from codefathom.errors import FathomError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import MOST_LIKELY_NOTHING, NO_FILE_INDEXED, OF_HISTORY, Note, sentence, verbatim
from codefathom.facts.remedies import for_agents
from codefathom.mcp.agent_masks import masked_error
from codefathom.mcp.same_files import FileNames, name_lines
from codefathom.mcp.tool_arguments import Cursor
from codefathom.search.graph.edge_list import EdgeGroup, grouped, place_in_file
from codefathom.search.graph.impact_part import first_items, left_out, n_items
from codefathom.search.ranking.excerpt import NumberedLine, telling_line, telling_lines
from codefathom.search.verdict import MAX_WEAK, Verdict
from codefathom.text.packing import n_that_fit
from codefathom.text.printable import show_line, show_name
from codefathom.types import HistoryStep, Hit, LineHistory, Progress, RelatedResult, Rest, SearchResult, TourStep

if TYPE_CHECKING:
    from codefathom.answer.answer_types import Answer
    from codefathom.mcp.project_questions import FolderEntries, Outline
    from codefathom.search.graph.impact import Impact

_WEAK = f"{MOST_LIKELY_NOTHING.capitalize()}."
_MAP_OF_ALL = " This is the map of the whole project."
_INDEXING = "The index is being made, {done} of {total} files so far. Ask again soon, or use grep until then."
ERROR_CHARS = 300
_LINES = (3, 1)  # of the first hit and of the others; chosen on questions, as docs/benchmarks-agents.md says
_SHOWN_CHARS = 120  # of a line
# Of a list that nobody limits: hits with their lines at first, and at most on other pages; and how many of it are named
# at first, the others by file, line and name alone. See docs/decisions/hits-of-agents.md.
_FIRST_HITS, _USUAL_HITS, _NAMED_HITS = 3, 8, 12
_TOKENS_OF_BODY = 250  # a hit more has its lines for so many tokens of a budget that a caller names
_MOST_PARTS = 1_000_000
_MOST_BODIES = 10  # of hits, in one answer
_MOST_TRIALS = 20  # an answer or a map is made shorter so often to keep to the budget
_CHARS_OF_PLACE = 100  # of an answer for each place that is listed below it
_LINE_END = "\n"
# Of the sentence on how an impact is known, in which names of the diff may stand: the most that has room.
_SENTENCE_CHARS = (600, 300, 100, 0)
_IMPACT_TITLES = {"changes": "changed", "reached": "reached", "tests": "tests", "unseen": "not seen"}
_RANKED = ("hybrid", "vector", "lexical")
# What path, symbol and lines of a hit show by themselves.
_SHOWN_ANYWAY = frozenset({say.DEFINES, say.NAMED, say.FILE, say.MENTIONS, say.CLOSE, say.IN_SCOPE, say.WEAK})


# Numbered lines of a file.
Body: TypeAlias = Sequence[tuple[int, str]]
# The bodies that a hit at a place of the list may be shown with, the longest first.
Bodies: TypeAlias = Callable[[int], Iterable[Body]]
# A sentence of the program → what an agent is told.
AgentWords: TypeAlias = Callable[[str], str]


class PlaceLines(NamedTuple):
    """Lines of a place that was asked for, or why there are none."""

    path: str
    start_line: int = 0
    lines: Sequence[str] = ()
    problem: str = ""


class ResultPart(NamedTuple):
    """One item of an answer in both of its forms."""

    text: str
    shape: Mapping[str, Any]
    below: str = ""  # what else the text says under it; the JSON has that beside the list


class ListPage(NamedTuple):
    """The place of a page in its list, and the index that the list is of."""

    cursor: Cursor
    generation: int

    def after(self, n_shown: int) -> str:
        """Return the cursor of the page behind this one."""
        return f"{self.cursor.offset + n_shown}.{self.generation}"

    @property
    def note(self) -> str:
        """A sentence if the index is not the one that gave the cursor, "" else."""
        return self.cursor.note(self.generation)


class ToolAnswer(NamedTuple):
    """The answer of a tool: a head, and items under a key of the JSON, the best first."""

    key: str
    head: ResultPart
    parts: Sequence[ResultPart]
    page: ListPage
    rest: Rest  # of the list, behind these parts
    n_shown: int = _MOST_PARTS  # at most, also where there is room for more
    also: ResultPart = ResultPart("", {})  # what is beside the list, where all of it has room
    n_named: int = 0  # of the list behind those shown, whose places stand in what is beside it


def packed(answer: ToolAnswer, most: int) -> Mapping[str, Any]:
    """Return as many parts, from the first on, as both forms of the answer can show within the budget."""
    n = _n_that_fit(answer, most)
    if answer.parts and not n and "text" in answer.parts[0].shape:  # the best one by its place alone
        first = answer.parts[0]
        shape = {key: value for key, value in first.shape.items() if key != "text"}
        title = f"{first.text.partition(_LINE_END)[0]}\nraise max_tokens to see its lines"
        lean = answer._replace(parts=(ResultPart(title, shape), *answer.parts[1:]))
        lean_result = _packed_first(lean, 1)
        return lean_result if fits(lean_result, most) else _packed_first(answer, 0)
    return _packed_first(answer, n)


def _n_that_fit(answer: ToolAnswer, most: int) -> int:
    return n_that_fit(min(len(answer.parts), answer.n_shown), lambda n: fits(_packed_first(answer, n), most))


def _packed_first(answer: ToolAnswer, n: int) -> Mapping[str, Any]:
    is_cut = n < min(len(answer.parts), answer.n_shown)
    n_seen = n if is_cut else n + answer.n_named
    more = list_end(answer.rest.plus(len(answer.parts) - n_seen), answer.page, n_seen, is_cut=is_cut)
    also = ResultPart("", {}) if is_cut else answer.also
    items = ["\n".join(filter(None, (part.text, "" if is_cut else part.below))) for part in answer.parts[:n]]
    texts = [answer.head.text, *items, also.text, more.text]
    shape = {answer.key: [part.shape for part in answer.parts[:n]], **also.shape, **answer.head.shape, **more.shape}
    return tool_result("\n\n".join(filter(None, texts)), shape)


def list_end(rest: Rest, page: ListPage, n_shown: int, *, is_cut: bool) -> ResultPart:
    """Return the end of a page, which tells how its list goes on; `is_cut`: a larger budget would show more."""
    following = {"next": page.after(n_shown)} if rest and n_shown else {}
    ways = [*["raise max_tokens"] * is_cut, *(f"use cursor {cursor}" for cursor in following.values())]
    said = f"{rest} more" if rest else ""
    notes = " ".join(filter(None, ("" if rest.is_exact else f"There are {said}.", page.note)))
    text = f"{said}: {' or '.join(ways)}" if said and ways else said
    shape = {"left_out": rest.n, **following, **({"note": notes} if notes else {})}
    return ResultPart("\n".join(filter(None, (text, page.note))), shape)


def fits(result: Mapping[str, Any], most: int) -> bool:
    """Return True when both forms of a result keep to the budget."""
    structured = json.dumps(result["structuredContent"], ensure_ascii=False)
    return max(estimate(result["content"][0]["text"]), estimate(structured)) <= most


def tool_result(text: str, shape: Mapping[str, Any], *, is_error: bool = False) -> Mapping[str, Any]:
    """Return a result in the form of the protocol."""
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": is_error}
    return result if is_error else {**result, "structuredContent": shape}


def as_text_alone(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a result without its JSON, as `mcp.structured` may say."""
    return {key: value for key, value in result.items() if key != "structuredContent"}


def refusal_result(error: FathomError, words: AgentWords = for_agents) -> Mapping[str, Any]:
    """Return a mistake as a result of a tool, with its remedy."""
    error = masked_error(error)
    hint = words(error.hint)
    text = f"{cut(str(error), ERROR_CHARS)}{'. Remedy: ' if error.hint else ''}{cut(hint, ERROR_CHARS)}"
    return tool_result(text, {}, is_error=True)


def indexing_result(step: Progress) -> Mapping[str, Any]:
    """Return the result of any tool while the first index is being made."""
    numbers = _numbers(step)
    return tool_result(_INDEXING.format(**numbers), {"indexing": numbers})


def _numbers(step: Progress) -> Mapping[str, int]:
    return {"done": step.n_done, "total": step.n_total}


def in_words(result: SearchResult, words: AgentWords) -> SearchResult:
    """Return a result whose notes and remedy name what the agent has."""
    problems = tuple(words(str(told)) for told in result.problems)
    return replace(result, problems=problems, advice=result.advice and verbatim(words(str(result.advice))))


def head_part(result: SearchResult) -> ResultPart:
    """Return the part that holds for all hits."""
    note = f"Nothing found. {result.suggestion}" if not result.hits else _WEAK if result.weak else ""
    limits = cut(" ".join(result.degraded), ERROR_CHARS)
    text = f"confidence {result.confidence:.2f}. {note} {limits}".strip()
    return ResultPart(text, {"confidence": round(result.confidence, 4), "weak": result.weak})


def doubt_of_map(judged: Verdict | None) -> ResultPart:
    """Return the part of a map that is about its question: a line before it where most likely nothing here answers."""
    if judged is None:
        return ResultPart("", {})
    whole = _MAP_OF_ALL if judged.unanswerable else ""
    text = f"confidence {judged.confidence:.2f}. {_WEAK}{whole}\n\n" if judged.weak else ""
    return ResultPart(text, {"confidence": round(judged.confidence, 4), "weak": judged.weak})


class PageExtras(NamedTuple):
    """What may stand beside the hits of a page, where these leave room."""

    bodies: Bodies | None  # of the first hits
    near: Sequence[FileNames]  # names of the first files


def search_result(
    result: SearchResult,
    cursor: Cursor,
    most: int,
    *,
    is_limited: bool,
    extras: PageExtras | None = None,
    indexing: Progress | None = None,
) -> Mapping[str, Any]:
    """Return a page of hits; unless the caller limits them, the first page names those behind the best few by place.

    What the hits leave of the budget is for these names and for those of places in the files of the first hits, which
    are the best of the `extras`, and then for the bodies of the first ones.
    `indexing` is how far a first index is, where there is none yet.
    """
    parts = tuple(hit_part(hit, number) for number, hit in enumerate(result.hits, start=result.offset + 1))
    head = head_part(result)
    if indexing is not None:
        head = head._replace(shape={**head.shape, "indexing": _numbers(indexing)})
    page = ListPage(cursor, result.generation)
    room = most if extras is not None and extras.bodies is not None else 0
    n_shown = _n_at_once(result, is_limited=is_limited, room=room)
    answer = ToolAnswer("hits", head, parts, page, result.rest, n_shown)
    if is_first_look(result, is_limited=is_limited):
        answer = _with_names(answer, most, extras.near if extras else (), _named_hits(result, n_shown))
    if extras is not None and extras.bodies is not None:
        answer = _with_bodies(answer, result, most, extras.bodies)
    return packed(answer, most)


def _named_hits(result: SearchResult, n_shown: int) -> Sequence[Hit]:
    """Return the hits behind those shown that are named by their places; a commit has none."""
    hits = result.hits[n_shown:_NAMED_HITS]
    return () if any(hit.commit for hit in hits) else hits


def _with_names(answer: ToolAnswer, most: int, near: Sequence[FileNames], later: Sequence[Hit]) -> ToolAnswer:
    """Return an answer with names of the first files and places of later hits, if they have room beside all hits."""
    n = min(len(answer.parts), answer.n_shown)
    hits = [part.shape for part in answer.parts[:n]]
    shown = {(hit["path"], int(line.partition(":")[0])) for hit in hits for line in hit["text"].split("\n")}
    files = list(name_lines(near, shown, later))
    first = {hit["path"]: place for place, hit in reversed(list(enumerate(hits)))}
    parts = list(answer.parts)
    for file in (file for file in files if file.path in first):
        place = first[file.path]
        parts[place] = parts[place]._replace(below="\n".join(("also:", *file.lines)))
    texts = ["\n".join((f"also in {show_name(file.path)}", *file.lines)) for file in files if file.path not in first]
    shape = [{"path": file.path, "text": "\n".join(file.lines)} for file in files]
    also = ResultPart("\n\n".join(texts), {"also": shape} if shape else {})
    trial = answer._replace(parts=parts, also=also, n_named=len(later))
    return trial if fits(_packed_first(trial, n), most) else answer


def _with_bodies(answer: ToolAnswer, result: SearchResult, most: int, bodies: Bodies) -> ToolAnswer:
    """Return an answer with as many hits, and with the bodies of the best of them that have room beside the others."""
    n = _n_that_fit(answer, most)
    shown: set[tuple[str, int]] = set()  # path and line
    for place, hit in enumerate(result.hits[: min(n, _MOST_BODIES)]):
        if (hit.chunk.path, hit.line) in shown:
            continue
        for body in bodies(place):
            lines = [(number, cut(line, most // 4)) for number, line in body]
            part = hit_part(hit, result.offset + place + 1, lines)._replace(below=answer.parts[place].below)
            trial = answer._replace(parts=(*answer.parts[:place], part, *answer.parts[place + 1 :]))
            if fits(_packed_first(trial, n), most):
                answer = trial
                shown |= {(hit.chunk.path, number) for number, _ in body}
                break
    return answer


def is_first_look(result: SearchResult, *, is_limited: bool) -> bool:
    """Return True for the first page of a ranking that found something, where the caller names no number of hits."""
    return bool(result.hits) and result.mode in _RANKED and not (is_limited or result.offset)


def _n_at_once(result: SearchResult, *, is_limited: bool, room: int) -> int:
    """Return the number of hits that are shown with their lines; `room` is the budget for bodies, 0 for none."""
    if result.weak and not result.offset:
        return MAX_WEAK
    if is_limited or result.mode not in _RANKED:
        return _MOST_PARTS
    most = _USUAL_HITS if result.offset else room // _TOKENS_OF_BODY
    return min(max(most, _FIRST_HITS), _USUAL_HITS)


def hit_part(hit: Hit, number: int, body: Body | None = None) -> ResultPart:
    """Return a hit with its number in the list, and its body, else the best of its lines, more for the first hits."""
    chunk = hit.chunk
    n_lines = _LINES[min(number, len(_LINES)) - 1]
    lines = body or [(line.number, line.text) for line in _lines_of(hit, n_lines)]
    code = "\n".join(f"{number}:{text}" for number, text in lines)
    why = sentence(note for note in hit.reasons if note.kind not in _SHOWN_ANYWAY)
    place = f"{show_name(chunk.path)}:{chunk.start_line}-{chunk.end_line}"
    stale = "changed since it was indexed" if hit.stale else ""
    origin = show_line(hit.commit.origin) if hit.commit else ""
    notes = "".join(f"; {note}" for note in (origin, show_line(hit.place), show_line(why), stale) if note)
    title = " ".join(filter(None, (f"{number}. {place}", *_titles(hit, number, code))))
    shape = {
        "path": chunk.path,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        **({"symbol": hit.name} if hit.name else {}),
        **({"why": why} if why else {}),
        **({"place": hit.place} if hit.place else {}),
        **({"commit": hit.commit._asdict()} if hit.commit else {}),
        "stale": hit.stale,
        "text": code,
    }
    # Lines that begin with their numbers can end nothing.
    is_bare = len(code.splitlines()) == len(lines)
    return ResultPart(f"{title}{notes}\n{code if is_bare else _fenced(code, chunk.language)}", shape)


def _titles(hit: Hit, number: int, code: str) -> Iterable[str]:
    """Return what a hit is; of a later one only what its line does not show."""
    if number < len(_LINES):
        return (hit.kind, show_name(hit.name), f"{hit.score:.2f}")
    around, _, name = hit.name.rpartition(".")
    if name and name in code:
        return (f"in {show_name(around)}" if around else "",)
    return (hit.kind, show_name(hit.name))


def _lines_of(hit: Hit, n_lines: int) -> Sequence[NumberedLine]:
    if n_lines > 1:
        return telling_lines(hit, n_lines, _SHOWN_CHARS)
    line = telling_line(hit, _SHOWN_CHARS)
    return [line._replace(text=line.text.strip())]


def related_result(result: RelatedResult, page: ListPage, most: int) -> Mapping[str, Any]:
    """Return the connections of a file or symbol: as many as have room, one line each, by kind and file."""
    n = n_that_fit(len(result.edges), lambda n: fits(_first_edges(result, page, n), most))
    return _first_edges(result, page, n)


def _first_edges(result: RelatedResult, page: ListPage, n: int) -> Mapping[str, Any]:
    groups = list(grouped(result.edges[:n]))
    end = list_end(result.rest.plus(len(result.edges) - n), page, n, is_cut=n < len(result.edges))
    own = result.target.removeprefix("@@") if result.target.startswith("@@") else ""
    texts = (result.completeness, _edge_lines(groups, own), end.text)
    shape = {"edges": _edge_groups(groups, own), "completeness": result.completeness, **end.shape}
    return tool_result("\n\n".join(filter(None, texts)), shape)


def _edge_lines(groups: Sequence[EdgeGroup], own: str) -> str:
    """Return a line for each edge; a title and a path are said once for those that follow each other."""
    lines: list[str] = []
    before = ""
    for group in groups:
        lines += [f"{group.title}:"] if group.title != before else []
        before = group.title
        starts = (show_name(group.path), *(" " for _ in group.edges[1:]))
        lines += [f"{start}:{place_in_file(edge, own)}" for start, edge in zip(starts, group.edges, strict=True)]
    return "\n".join(lines)


def _edge_groups(groups: Iterable[EdgeGroup], own: str) -> list[Mapping[str, Any]]:
    """Return the same as JSON: in `at` the line and the words of each edge of a kind in a file."""
    return [
        {"kind": group.title, "path": group.path, "at": [place_in_file(edge, own) for edge in group.edges]}
        for group in groups
    ]


def impact_result(impact: Impact, page: ListPage, most: int) -> Mapping[str, Any]:
    """Return the reach of a change: as many symbols, places, tests and notes as have room; they take turns."""
    results = (_impact_within(impact, cut(impact.completeness, n), page, most) for n in _SENTENCE_CHARS)
    return next(result for result in results if fits(result, most) or not result["structuredContent"]["completeness"])


def _impact_within(impact: Impact, completeness: str, page: ListPage, most: int) -> Mapping[str, Any]:
    n = n_that_fit(n_items(impact), lambda n: fits(_first_of_impact(impact, completeness, page, n), most))
    return _first_of_impact(impact, completeness, page, n)


def _first_of_impact(impact: Impact, completeness: str, page: ListPage, n: int) -> Mapping[str, Any]:
    part = first_items(impact, n)
    reached = list(grouped(part.reached))
    lists: Mapping[str, Sequence[Any]] = {
        "changes": [asdict(item) for item in part.changes],
        "reached": _edge_groups(reached, ""),
        "tests": [{"path": test.path, "reason": test.reason} for test in part.tests],
        "unseen": list(part.unseen),
    }
    of_each = left_out(impact, part)
    left = sum(of_each.values())
    rest = ", ".join(f"{_IMPACT_TITLES[name]} {number}" for name, number in of_each.items())
    end = list_end(Rest(left), page, n, is_cut=True)
    ways = f" or use cursor {end.shape['next']}" if "next" in end.shape else ""
    texts = [completeness] if completeness else []
    texts += [f"{title}:\n{lines}" for title, lines in _impact_lines(part, reached).items() if lines]
    texts += [f"{left} left out ({rest}); raise max_tokens{ways}"] if left else []
    texts += [page.note] if page.note else []
    shape = {**lists, "completeness": completeness, **end.shape}
    return tool_result("\n\n".join(texts), shape)


def _impact_lines(part: Impact, reached: Sequence[EdgeGroup]) -> Mapping[str, str]:
    """Return the lines of each list below its title, one for each item: users and tests first."""
    changed = (
        f"{show_name(item.path)}:{item.line} {item.change} "
        + (f"{item.kind} {show_name(item.symbol)}" if item.symbol else "outside of all symbols")
        for item in part.changes
    )
    return {
        _IMPACT_TITLES["reached"]: _edge_lines(reached, ""),
        _IMPACT_TITLES["tests"]: "\n".join(f"{show_name(test.path)} {show_line(test.reason)}" for test in part.tests),
        _IMPACT_TITLES["changes"]: "\n".join(changed),
        _IMPACT_TITLES["unseen"]: "\n".join(map(show_line, part.unseen)),
    }


def map_result(outline: Outline, page: ListPage) -> Mapping[str, Any]:
    """Return a page of a map."""
    n_left = outline.n_left_out + outline.n_symbols_left_out
    n_shown = 0 if outline.next_offset is None else outline.next_offset - page.cursor.offset
    end = list_end(Rest(n_left), page, n_shown, is_cut=True)
    rest = f"{outline.n_left_out} files and {outline.n_symbols_left_out} symbols left out"
    ways = f", cursor {end.shape['next']}" if "next" in end.shape else ""
    note = f"{rest}; raise max_tokens, or use paths{ways}" if n_left else ""
    doubt = doubt_of_map(outline.verdict)
    shape = {"outline": outline.text, "completeness": outline.completeness, **end.shape, **doubt.shape}
    text = "\n".join(filter(None, (outline.missing, outline.text.strip("\n"), note, page.note)))
    return tool_result(f"{doubt.text}{text}" or NO_FILE_INDEXED, shape)


def tour_result(steps: Sequence[TourStep], most: int) -> Mapping[str, Any]:
    """Return places to read, one after the other: as many first ones as have room, in lines that `read` understands."""
    n = n_that_fit(len(steps), lambda n: fits(_tour_within(steps, n), most))
    return _tour_within(steps, n)


def _tour_within(steps: Sequence[TourStep], n: int) -> Mapping[str, Any]:
    lines = [
        f"{show_name(step.path)}:{step.start_line}-{step.end_line}"
        + (f" {show_name(step.symbol)}" if step.symbol else "")
        + f" ({show_line(step.why)})"
        for step in steps[:n]
    ]
    left = len(steps) - n
    note = f"{left} left out; raise max_tokens" if left else ""
    text = "\n".join(filter(None, (*lines, note))) or "There is no code in the index."
    return tool_result(text, {"outline": "\n".join(lines), "completeness": "", "left_out": left})


def answer_result(answer: Answer, most: int) -> Mapping[str, Any]:
    """Return the answer of a model with its places; a model that has failed is a mistake."""
    if answer.failure:
        return tool_result(f"{cut(answer.failure, ERROR_CHARS)}. Use search instead.", {}, is_error=True)
    places = [{"path": one.path, "start_line": one.start_line, "end_line": one.end_line} for one in answer.citations]

    led_to = sentence(told for told in answer.problems if isinstance(told, Note) and told.kind in OF_HISTORY)

    def result_of(n_chars: int) -> Mapping[str, Any]:
        kept = places[: n_chars // _CHARS_OF_PLACE + 1]
        text = cut(answer.text, n_chars)
        listed = "\n".join(
            f"{json.dumps(one['path'], ensure_ascii=False)} {one['start_line']}-{one['end_line']}" for one in kept
        )
        left = len(places) - len(kept)
        note = f"{left} places left out; raise max_tokens" if left else ""
        shape = {"answer": text, "places": kept, "left_out": left, "weak": answer.weak}
        return tool_result("\n\n".join(filter(None, (text, listed, note, led_to))), shape)

    # All places have room at first, also below a short text.
    return within(most, result_of, max(len(answer.text), len(places) * _CHARS_OF_PLACE, 1))


def within(most: int, result_of: Callable[[int], Mapping[str, Any]], size: int) -> Mapping[str, Any]:
    """Return the first result that fits, of sizes that become smaller."""
    for _ in range(_MOST_TRIALS):
        result = result_of(size)
        if fits(result, most):
            break
        size = max(size * 4 // 5, 1)
    return result


def cut(line: str, most: int) -> str:
    """Return a text of at most so many characters, which says where it was cut."""
    if not most:
        return ""
    return line if len(line) <= most else f"{line[:most]}… (line cut)"


def lines_result(path: str, lines: Sequence[str], start: int, kept: int) -> Mapping[str, Any]:
    """Return the first of the lines that were asked for."""
    end, left = start + kept - 1, len(lines) - kept
    note = f"\n{left} lines left out; go on with start_line {end + 1}" if left else ""
    code = "\n".join(lines[:kept])
    text = f"{json.dumps(path, ensure_ascii=False)} {start}-{end}\n{_fenced(code)}{note}"
    shape = {"path": path, "start_line": start, "end_line": end, "text": code, "left_out": left}
    return tool_result(text, shape)


def history_result(history: LineHistory, most: int) -> Mapping[str, Any]:
    """Return as many commits as have room, the latest first, then the owners of the file."""
    return _first_steps(history, n_that_fit(len(history.steps), lambda n: fits(_first_steps(history, n), most)))


def _first_steps(history: LineHistory, n: int) -> Mapping[str, Any]:
    left = len(history.steps) - n + history.rest.n
    steps = [_step_lines(step) for step in history.steps[:n]]
    owners = [*history.code_owners, *(f"{owner.name} ({owner.n_commits} commits)" for owner in history.changed_by)]
    place = f"{show_name(history.path)}:{history.start_line}-{history.end_line}"
    note = f"{left} older commits left out; raise max_tokens" if left else ""
    owned = f"owners: {', '.join(map(show_line, owners))}" if owners else ""
    text = "\n\n".join(filter(None, (place, *steps, history.note, owned, note)))
    commits = [
        {**step.commit._asdict(), "path": step.path, "start_line": step.start_line, "change": "\n".join(step.lines)}
        for step in history.steps[:n]
    ]
    return tool_result(text, {"path": history.path, "commits": commits, "owners": owners, "left_out": left})


def _step_lines(step: HistoryStep) -> str:
    commit = step.commit
    title = f"{commit.commit[:12]} {show_line(commit.subject)} ({show_line(commit.origin)})"
    place = f"{show_name(step.path)}:{step.start_line}-{step.end_line}"
    return f"{title}\n{place}\n{_fenced(_LINE_END.join(step.lines), 'diff')}"


def places_result(places: Sequence[PlaceLines], most: int) -> Mapping[str, Any]:
    """Return the lines of several places: all of them where they have room, else less of the longest ones."""
    kept = [len(place.lines) for place in places]
    while not fits(result := _first_lines(places, kept), most) and kept:
        longest = max(range(len(kept)), key=lambda number: kept[number])
        if kept[longest]:
            kept[longest] //= 2
        else:
            kept.pop()
    return result


def _first_lines(places: Sequence[PlaceLines], kept: Sequence[int]) -> Mapping[str, Any]:
    each = [
        lines_result(place.path, place.lines, place.start_line, n)
        if not place.problem
        else tool_result(f"{place.path}: {place.problem}", {"path": place.path, "problem": place.problem})
        for place, n in zip(places, kept, strict=False)
    ]
    left = len(places) - len(each)
    note = f"{left} places left out; raise max_tokens, or read them by themselves" if left else ""
    shape = {"places": [one["structuredContent"] for one in each], "left_out": left}
    return tool_result("\n\n".join(filter(None, (*(one["content"][0]["text"] for one in each), note))), shape)


def folder_result(listed: FolderEntries, most: int) -> Mapping[str, Any]:
    """Return as many entries of a folder as have room, folders first."""
    entries = [f"{name}/ ({count} files)" for name, count in listed.folders]
    entries += [f"{name} ({n_lines} lines)" for name, n_lines in listed.files]

    def first(n: int) -> Mapping[str, Any]:
        left = len(entries) - n
        note = f"{left} entries left out; raise max_tokens, or read a folder in it" if left else ""
        notes = (note, *map(str, listed.limitations))
        text = "\n".join(filter(None, (f"{show_name(listed.path)}/", *map(show_name, entries[:n]), *notes)))
        return tool_result(text, {"path": listed.path, "entries": entries[:n], "left_out": left})

    return first(n_that_fit(len(entries), lambda n: fits(first(n), most)))


def _fenced(code: str, language: str = "") -> str:
    """Return code in a fence that is longer than any inside, so that no text of a file can end it."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"
