"""What was found → what a model finds useful for the question: several documents a call, several calls at once.

A reply that cannot be read, and a call that fails, leave their documents unjudged; they never end a question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from codefathom.answer.budget import CountTokens, Material, Shares, pack
from codefathom.answer.grades import UNJUDGED, Grade, read_grades
from codefathom.answer.parallel import in_parallel
from codefathom.answer.prompting import Language, fenced, language_of_question, prompt
from codefathom.answer.tokens import estimate
from codefathom.errors import ProviderError
from codefathom.providers.base import NO_USAGE, Ask, ChatModel, Message, Usage, whole

# Of the tokens of a call, for what was said before: the question is the last of it, and mostly enough.
_HISTORY_SHARE = 0.25
# For the roles and the joints between messages, which no counter sees.
_OVERHEAD_TOKENS = 64
_QUESTION = {"en": "Question: {question}", "zh": "问题：{question}"}


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How to judge."""

    threshold: int = 6  # least score that is kept
    workers: int = 5  # calls at the same time
    hint: str = ""  # what the user adds to the rules
    per_call: int = 4  # most documents in one call
    max_input_tokens: int = 16_000  # of one call
    count: CountTokens = estimate


class Judged(NamedTuple):
    """What became of each document. Those that are kept stand in the order of their grades, then as they were found."""

    kept: tuple[Material, ...]
    dropped: tuple[Material, ...]
    unjudged: tuple[Material, ...]  # to be kept too, but not as if they had been found good
    usage: Usage = NO_USAGE
    problems: tuple[str, ...] = ()
    scores: tuple[int | None, ...] = ()  # of the candidates, in their order; None: not judged


def judge(
    question: str, history: Sequence[Message], candidates: Sequence[Material], model: ChatModel, options: JudgeOptions
) -> Judged:
    """Let a model grade the candidates. What is pinned must not be among them. Never raises ProviderError."""
    call = _Call(question, history, options)
    documents, too_large = _documents(candidates, call)
    batches = list(_batches(documents, call))
    replies = in_parallel(lambda batch, model: _graded(call, batch, model), batches, model, options.workers)
    grades = dict.fromkeys(range(len(candidates)), UNJUDGED)
    problems = [f"nothing of {candidates[index].path} fits into a call of the judging model" for index in too_large]
    for batch, reply in zip(batches, replies, strict=True):
        grades.update(zip((document.place for document in batch), reply.grades, strict=True))
        problems += [reply.problem] if reply.problem else []
    return _sorted(candidates, grades, options.threshold)._replace(
        usage=sum((reply.usage for reply in replies), NO_USAGE),
        problems=tuple(dict.fromkeys(problems)),
        scores=tuple(grade.score for grade in grades.values()),
    )


class _Document(NamedTuple):
    """A candidate as the model is shown it."""

    place: int  # among the candidates
    path: str
    text: str
    n_tokens: int


class _Graded(NamedTuple):
    """What one call gave."""

    grades: list[Grade]
    usage: Usage = NO_USAGE
    problem: str = ""


class _Call:
    """What all calls of one question have in common."""

    def __init__(self, question: str, history: Sequence[Message], options: JudgeOptions) -> None:
        language: Language = language_of_question(question)
        self.options = options
        self.question = _QUESTION[language].format(question=question)
        hint = f"\n{options.hint.strip()}\n" if options.hint.strip() else ""
        system = Message("system", prompt("judge", language, hint=hint))
        said = [message for message in history if message.role in {"user", "assistant"} and message.content.strip()]
        spoken = [Message(message.role, message.content) for message in said]
        self.before = (system, *_latest(spoken, int(options.max_input_tokens * _HISTORY_SHARE), options.count))
        used = sum(options.count(text) for text in (*(message.content for message in self.before), self.question))
        self.room = options.max_input_tokens - used - _OVERHEAD_TOKENS

    def messages(self, batch: Sequence[_Document]) -> tuple[Message, ...]:
        """Return the conversation that asks about a batch."""
        shown = [_shown(number, document.path, document.text) for number, document in enumerate(batch, start=1)]
        return (*self.before, Message("user", "\n\n".join([*shown, self.question])))


def _latest(messages: Sequence[Message], most: int, count: CountTokens) -> list[Message]:
    """Return the last messages that fit."""
    kept: list[Message] = []
    for message in reversed(messages):
        most -= count(message.content)
        if most < 0:
            break
        kept.insert(0, message)
    return kept


def _shown(number: int, path: str, text: str) -> str:
    return fenced(text, f"document {number} ({path})")


def _documents(candidates: Sequence[Material], call: _Call) -> tuple[list[_Document], list[int]]:
    """Return each candidate, cut to what one call takes, and the indexes of those of which nothing fits."""
    documents, too_large = [], []
    for index, item in enumerate(candidates):
        text, n_tokens = _cut(item, call)
        if text:
            documents.append(_Document(index, item.path, text, n_tokens))
        else:
            too_large.append(index)
    return documents, too_large


def _cut(item: Material, call: _Call) -> tuple[str, int]:
    """Return the whole text if it fits, else the excerpts around its hits, and the tokens of what is shown."""
    count = call.options.count
    n_tokens = count(_shown(call.options.per_call, item.path, item.text))
    if item.text and n_tokens <= call.room:
        return item.text, n_tokens
    empty = count(_shown(call.options.per_call, item.path, ""))
    # An excerpt is counted with its line numbers, which are not shown here, so it never grows by the joints.
    packed = pack([item], Shares(0, max(call.room - empty, 0), 0), count)
    text = "\n...\n".join(source.text for source in packed.sources)
    return text, count(_shown(call.options.per_call, item.path, text))


def _batches(documents: Sequence[_Document], call: _Call) -> Iterator[list[_Document]]:
    """Yield documents in their order, as many as one call takes."""
    batch: list[_Document] = []
    room = call.room
    for document in documents:
        if batch and (document.n_tokens > room or len(batch) >= call.options.per_call):
            yield batch
            batch, room = [], call.room
        batch.append(document)
        room -= document.n_tokens
    if batch:
        yield batch


def _graded(call: _Call, batch: Sequence[_Document], model: ChatModel) -> _Graded:
    unjudged = [UNJUDGED] * len(batch)
    try:
        reply = whole(model, Ask(call.messages(batch), temperature=0.0))
    except ProviderError as error:
        return _Graded(unjudged, problem=f"the judging model failed: {error}")
    grades = read_grades(reply.text, len(batch))
    unread = [document.path for document, grade in zip(batch, grades, strict=True) if grade.score is None]
    problem = f"the judging model gave no grade for {', '.join(unread)}" if unread else ""
    return _Graded(grades, reply.usage, problem)


def _sorted(candidates: Sequence[Material], grades: dict[int, Grade], threshold: int) -> Judged:
    """Divide the candidates. The score decides; what a model says beside it does not."""
    kept: list[tuple[int, Material]] = []
    dropped: list[Material] = []
    unjudged: list[Material] = []
    for index, item in enumerate(candidates):
        score = grades[index].score
        if score is None:
            unjudged.append(_with_reason(item, "not judged"))
        elif score >= threshold:
            kept.append((score, _with_reason(item, f"judged {score}/10")))
        else:
            dropped.append(_with_reason(item, f"judged {score}/10"))
    kept.sort(key=lambda pair: -pair[0])  # stable: those of one grade stay as they were found
    return Judged(tuple(item for _, item in kept), tuple(dropped), tuple(unjudged))


def _with_reason(item: Material, reason: str) -> Material:
    return item._replace(reason=f"{item.reason}; {reason}" if item.reason else reason)
