"""Files with hits → those that a model grades as useful for the question: several in a call, several calls at once.

Small files share a call, but each has a grade of its own. A file that is too large for a call is judged in parts, and
its best grade counts.

A reply that cannot be read, and a call that fails, leave their documents unjudged; they never end a question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from codefathom.answer.budget import CountTokens, Material, Piece, Sizes, pieces
from codefathom.answer.problems import model_failed
from codefathom.answer.prompting import Language, fenced, language_of_question, latest, prompt
from codefathom.answer.stages.grades import MAX_SCORE, UNJUDGED, Grade, read_grades
from codefathom.answer.tokens import estimate
from codefathom.errors import ProviderError
from codefathom.facts.paths import is_prose
from codefathom.facts.reasons import Told
from codefathom.providers.base import Ask, ChatModel, Message, whole
from codefathom.providers.parallel import in_parallel

# Of the tokens of a call, for what was said before: the question is the last of it, and mostly enough.
_HISTORY_SHARE = 0.25
# For the roles and the joints between messages, which no counter sees.
_OVERHEAD_TOKENS = 64
# Each part of a file costs a call.
_MAX_PARTS = 8
_QUESTION = {"en": "Question: {question}", "zh": "问题：{question}"}


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Options for judging."""

    threshold: int = 6  # least score at which code is kept
    doc_threshold: int = 5  # and prose, such as Markdown
    workers: int = 5  # calls at the same time
    hint: str = ""  # what the user adds to the rules
    per_call: int = 4  # most documents in one call
    max_input_tokens: int = 16_000  # of one call
    count: CountTokens = estimate
    sizes: Sizes | None = None  # None: what a call takes
    is_one_by_one: bool = False  # each file whole and in a call of its own, whatever its size


class Judgement(NamedTuple):
    """The candidates by outcome. The kept ones are sorted by grade; those of one grade keep their order."""

    kept: tuple[Material, ...]
    dropped: tuple[Material, ...]
    unjudged: tuple[Material, ...]  # to be kept too, after those with a good grade
    problems: tuple[Told, ...] = ()
    scores: tuple[int | None, ...] = ()  # of the candidates, in their order; None: not judged


def judge(
    question: str,
    history: Sequence[Message],
    candidates: Sequence[Material],
    model: ChatModel,
    options: JudgeOptions,
    *,
    on_done: Callable[[int], None] = lambda _: None,
) -> Judgement:
    """Let a model grade the candidates. What is pinned must not be among them. Never raises ProviderError.

    `on_done` is called with the number of candidates that have a reply.
    """
    call = _Call(question, history, options)
    documents, problems = _documents(candidates, call)
    batches = list(_batches(documents, call))
    replies = in_parallel(
        lambda batch, model: _graded(call, batch, model),
        batches,
        model,
        options.workers,
        lambda n_calls: on_done(len({document.place for batch in batches[:n_calls] for document in batch})),
    )
    grades_of: list[list[Grade]] = [[] for _ in candidates]
    for batch, reply in zip(batches, replies, strict=True):
        for document, grade in zip(batch, reply.grades, strict=True):
            grades_of[document.place].append(grade)
        problems += [reply.problem] if reply.problem else []
    thresholds = [options.doc_threshold if is_prose(item.path) else options.threshold for item in candidates]
    grades = [_best(of_parts, threshold) for of_parts, threshold in zip(grades_of, thresholds, strict=True)]
    return _sorted(candidates, grades, thresholds)._replace(
        problems=tuple(dict.fromkeys(problems)),
        scores=tuple(grade.score for grade in grades),
    )


def calls_of(
    question: str, history: Sequence[Message], candidates: Sequence[Material], options: JudgeOptions
) -> list[int]:
    """Return the tokens of each call that `judge` would make."""
    call = _Call(question, history, options)
    before = sum(options.count(text) for text in (*(message.content for message in call.before), call.question))
    batches = _batches(_documents(candidates, call)[0], call)
    return [before + sum(document.n_tokens for document in batch) for batch in batches]


class _Document(NamedTuple):
    """A candidate, or a part of one, as the model is shown it."""

    place: int  # among the candidates
    name: str
    text: str
    n_tokens: int  # as it is shown
    is_small: bool


class _Graded(NamedTuple):
    """The grades of one call."""

    grades: list[Grade]
    problem: Told = ""


class _Call:
    """The part that all calls of one question share."""

    def __init__(self, question: str, history: Sequence[Message], options: JudgeOptions) -> None:
        language: Language = language_of_question(question)
        self.options = options
        self.question = _QUESTION[language].format(question=question)
        hint = f"\n{options.hint.strip()}\n" if options.hint.strip() else ""
        system = Message("system", prompt("judge", language, hint=hint))
        turns = [message for message in history if message.role in {"user", "assistant"} and message.content.strip()]
        spoken = [Message(message.role, message.content) for message in turns]
        self.before = (system, *latest(spoken, int(options.max_input_tokens * _HISTORY_SHARE), options.count))
        used = sum(options.count(text) for text in (*(message.content for message in self.before), self.question))
        self.room = max(options.max_input_tokens - used - _OVERHEAD_TOKENS, 0)
        sizes = options.sizes or Sizes(self.room, self.room, self.room)
        # A window that is too small for sizes of its own leaves those of a call.
        self.single = min(sizes.single or self.room, self.room)
        self.small = sizes.small or self.room
        self.merge = min(sizes.merge or self.room, self.room)

    def messages(self, batch: Sequence[_Document]) -> tuple[Message, ...]:
        """Return the conversation that asks about a batch."""
        shown = [_shown(number, document.name, document.text) for number, document in enumerate(batch, start=1)]
        return (*self.before, Message("user", "\n\n".join([*shown, self.question])))


def _shown(number: int, name: str, text: str) -> str:
    return fenced(text, f"document {number} ({name})")


def _documents(candidates: Sequence[Material], call: _Call) -> tuple[list[_Document], list[Told]]:
    """Return the documents to judge, and a problem for each candidate that does not fit."""
    documents: list[_Document] = []
    problems: list[Told] = []
    for place, item in enumerate(candidates):
        parts = list(_parts(item, call))
        if not parts:
            problems.append(f"nothing of {item.path} fits into a call of the judging model")
        if len(parts) > _MAX_PARTS:
            problems.append(f"only {_MAX_PARTS} of the {len(parts)} parts of {item.path} were judged")
            parts = _with_most_hits(parts, item)
        documents += (_document(place, item, part, call, is_whole=len(parts) == 1) for part in parts)
    return documents, problems


def _parts(item: Material, call: _Call) -> Iterator[Piece]:
    """Yield the file as it fits a call, or its parts."""
    count = call.options.count
    # A fence is as long as what is inside demands.
    fences = max(re.findall(r"`+", item.text), key=len, default="")
    around = count(_shown(call.options.per_call, f"{item.path}, lines 99999 to 99999", fences))
    if call.options.is_one_by_one:
        if 0 < count(item.text) <= call.room - around:
            yield Piece(1, item.text.removesuffix("\n").count("\n") + 1, item.text)
        return
    most = min(call.single, call.room - around)
    if item.text and count(item.text) <= most:
        yield Piece(1, item.text.removesuffix("\n").count("\n") + 1, item.text)
    else:
        yield from pieces(item.text, most, count)


def _with_most_hits(parts: Sequence[Piece], item: Material) -> list[Piece]:
    """Return as many parts as are judged, in their order: those of the best hits, then the first ones."""

    def rank(part: Piece) -> int:
        inside = (
            place for place, (start, end) in enumerate(item.spans) if start <= part.end_line and end >= part.start_line
        )
        return next(inside, len(item.spans))

    chosen = sorted(range(len(parts)), key=lambda index: rank(parts[index]))[:_MAX_PARTS]
    return [parts[index] for index in sorted(chosen)]


def _document(place: int, item: Material, part: Piece, call: _Call, *, is_whole: bool) -> _Document:
    count = call.options.count
    name = item.path if is_whole else f"{item.path}, lines {part.start_line} to {part.end_line}"
    n_tokens = count(_shown(call.options.per_call, name, part.text))
    return _Document(place, name, part.text, n_tokens, is_small=count(part.text) <= call.small)


def _batches(documents: Sequence[_Document], call: _Call) -> Iterator[list[_Document]]:
    """Yield each large document by itself, and the small ones in their order, as many as may share a call."""
    batch: list[_Document] = []
    room = call.merge
    for document in documents:
        if not document.is_small or call.options.is_one_by_one:
            yield [document]
            continue
        if batch and (document.n_tokens > room or len(batch) >= call.options.per_call):
            yield batch
            batch, room = [], call.merge
        batch.append(document)
        room -= document.n_tokens
    if batch:
        yield batch


def _graded(call: _Call, batch: Sequence[_Document], model: ChatModel) -> _Graded:
    unjudged = [UNJUDGED] * len(batch)
    try:
        reply = whole(model, Ask(call.messages(batch), temperature=0.0))
    except ProviderError as error:
        return _Graded(unjudged, problem=model_failed("judging", error))
    grades = read_grades(reply.text, len(batch))
    unread = [document.name for document, grade in zip(batch, grades, strict=True) if grade.score is None]
    problem = f"the judging model gave no grade for {', '.join(unread)}" if unread else ""
    return _Graded(grades, problem)


def _best(grades: Sequence[Grade], threshold: int) -> Grade:
    """Return the best grade of the parts of a file."""
    best = max((grade.score for grade in grades if grade.score is not None), default=None)
    is_complete = all(grade.score is not None for grade in grades)
    # What a part without a grade holds may be what is asked for.
    return Grade(best) if best is not None and (best >= threshold or is_complete) else UNJUDGED


def _sorted(candidates: Sequence[Material], grades: Sequence[Grade], thresholds: Sequence[int]) -> Judgement:
    """Divide the candidates. The score decides; what a model says beside it does not."""
    kept: list[tuple[int, Material]] = []
    dropped: list[Material] = []
    unjudged: list[Material] = []
    for index, item in enumerate(candidates):
        score = grades[index].score
        if score is None:
            unjudged.append(_with_reason(item, "not judged"))
        elif score >= thresholds[index]:
            kept.append((score, _graded_as(item, score)))
        else:
            dropped.append(_graded_as(item, score))
    kept.sort(key=lambda pair: -pair[0])  # stable: those of one grade stay as they were found
    return Judgement(tuple(item for _, item in kept), tuple(dropped), tuple(unjudged))


def _graded_as(item: Material, score: int) -> Material:
    return _with_reason(item, f"judged {score}/{MAX_SCORE}")._replace(score=score / MAX_SCORE)


def _with_reason(item: Material, reason: str) -> Material:
    return item._replace(reason=f"{item.reason}; {reason}" if item.reason else reason)
