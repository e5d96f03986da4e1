"""A question → an answer: rewrite, search, select, related, judge, limit, pack, write. Reads in that order.

Without a model every stage that needs one is left out, and the answer is made of excerpts. One bad reply never ends a
question: the stage is left out too, and the answer says so (`degraded`). Where the answering model fails, excerpts
stand in for what it did not write.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from codefathom.answer import extract
from codefathom.answer.budget import Material, Packed, pack, shown, too_large
from codefathom.answer.cite import texts_now
from codefathom.answer.course import Course, Models, Project, Question
from codefathom.answer.gather import materials
from codefathom.answer.judge import judge
from codefathom.answer.prompting import fenced, language_of_question, prompt
from codefathom.answer.record import Record
from codefathom.answer.rewrite import rewrite
from codefathom.answer.select import excerpts_of, select
from codefathom.answer.stream import CheckedStream, ending
from codefathom.answer.types import NOTHING_WRITTEN, Answer, Checked, Source, label_of, with_hint
from codefathom.errors import ProviderError, UsageError
from codefathom.providers.base import Ask, ChatModel, Delta, Message
from codefathom.search.query import parse_query
from codefathom.types import SearchResult

# Hits asked for, for each file that is shown: several hits lie in one file.
_HITS_PER_SOURCE = 4
_MAX_RELATED = 5
_MAX_PROBLEMS = 3  # said of one stage
_OF_GIVEN = 0.5  # sources that the asker chose: likely, but nothing has looked at them
NOT_FOUND = "not found: nothing here seems to answer this, and no model was asked to"
NO_MODEL = "no language model is configured: the answer consists of excerpts"


class Found(NamedTuple):
    """The sources of an answer, before it is written."""

    sources: tuple[Source, ...]
    left_out: tuple[str, ...]  # paths that did not fit
    degraded: tuple[str, ...] = ()  # what was done without so far


class Text(NamedTuple):
    """A piece of the answer, its citations checked."""

    text: str


def ask(question: Question, project: Project, models: Models) -> Iterator[Found | Text | Answer]:
    """Yield the sources, the answer in checked pieces, and the whole answer last.

    Closing the iterator ends the model's call. A model that fails leaves what it wrote, excerpts, and `Answer.failure`.
    """
    record = Record(question.mask, question.prices_of)
    support = _OF_GIVEN if question.pinned else 0.0
    course = Course(question, project, models, record, support, by_itself=question.text)
    result = _search(course, _rewrite(course))
    found = _judge(course, _select(course, result))
    is_likely = _is_likely(course, result)
    packed = _pack(course, _choose_lines(course, found) if is_likely else found)
    if found and is_likely and not packed.sources:
        raise UsageError(
            "no line of any source fits into the context",
            hint="raise context.window and llm.window, lower answer.max_tokens, or ask a shorter question",
        )
    yield Found(packed.sources, packed.left_out, tuple(dict.fromkeys(course.degraded)))
    if models.answer is None:
        yield from _excerpts(course, result)
    elif not packed.sources or not is_likely:
        yield from _not_found(course, result)
    else:
        yield from _write(course, packed.sources, result, models.answer)


def _is_likely(course: Course, result: SearchResult) -> bool:
    """Whether what was found may hold the answer. Where a model judges, it decides: what it leaves is likely.

    The confidence of a search counts words, which tells nothing of a question in another language, and little of one
    that names its place.
    """
    question = course.question
    if question.pinned or result.confidence >= question.least_confidence:
        return True
    if question.filter_level >= 1 and course.models.judge is not None:
        return True
    named = parse_query(course.by_itself)
    return bool(named.paths or named.symbols) or language_of_question(course.by_itself) != "en"


def _rewrite(course: Course) -> tuple[str, ...]:
    """Return the searches: the question, or what a model makes of it and the turns before."""
    question, model = course.question, course.models.answer
    if not question.history or model is None:
        return (question.text,)
    with course.record.stage("rewrite", [f"{turn.role}: {turn.content}" for turn in question.history]) as stage:
        rewritten = rewrite(question.text, question.history, stage.recorded(model))
        stage.output = (rewritten.question, *rewritten.queries)
        stage.detail = rewritten.question
    course.lack(rewritten.problem)
    course.by_itself = rewritten.question
    return (rewritten.question, *rewritten.queries)


def _search(course: Course, queries: Sequence[str]) -> SearchResult:
    question = course.question
    limit = question.n_sources * _HITS_PER_SOURCE
    with course.record.stage("search", queries) as stage:
        found = [_found(course, query, limit) for query in queries]
        results = [result for result in found if result] or [course.project.search(question.text, limit)]
        best = results[0]
        hits = {hit.chunk.id: hit for result in reversed(results) for hit in reversed(result.hits)}
        ordered = sorted(hits.values(), key=lambda hit: -hit.score)[:limit]
        stage.n_out = len(ordered)
        stage.output = [
            f"{hit.chunk.path}:{hit.chunk.start_line}-{hit.chunk.end_line} {hit.score:.2f}" for hit in ordered
        ]
    course.degraded += best.degraded
    most = max(result.confidence for result in results)
    return SearchResult(
        question.text, tuple(ordered), best.level, best.mode, most, best.generation, best.degraded, best.stale
    )


def _found(course: Course, query: str, limit: int) -> SearchResult | None:
    """Search; None for a search that a model wrote and that names what is not there."""
    try:
        return course.project.search(query, limit)
    except UsageError as error:
        if query == course.question.text:
            raise
        course.lack(f"a search was left out: {error}")
        return None


def _select(course: Course, result: SearchResult) -> list[Material]:
    """Add what a model chooses from the outline (level 1) and what is connected with the best files (level 2)."""
    question, project, models = course.question, course.project, course.models
    found = materials(result, project.text)
    if question.filter_level >= 1 and models.select is not None:
        with course.record.stage("select", _paths(found)) as stage:
            chosen = select(
                course.by_itself,
                project.outline([item.path for item in found]),
                stage.recorded(models.select),
                question.count,
                question.max_input_tokens,
                pinned=[item.path for item in question.pinned],
            )
            found = _with_paths(found, chosen.paths, project, "selected by the model")
            stage.output = [f"{item.path}: {item.reason}" for item in found]
            unknown = f", {chosen.unknown} named that are not there" if chosen.unknown else ""
            stage.detail = f"{len(chosen.paths)} chosen by the model{unknown}"
        course.lack(chosen.problem)
    if question.filter_level >= 2:
        with course.record.stage("related", _paths(found)) as stage:
            near = {edge.path: "" for item in found[:_MAX_RELATED] for edge in project.related(item.path).edges}
            found = _with_paths(found, dict(list(near.items())[: question.n_sources]), project, "connected with a hit")
            stage.output = [f"{item.path}: {item.reason}" for item in found]
    return found


def _paths(found: Iterable[Material | Source]) -> list[str]:
    return [item.path for item in found]


def _places(sources: Iterable[Source]) -> list[str]:
    return [f"{source.path}:{source.start_line}-{source.end_line}" for source in sources]


def _with_paths(found: list[Material], paths: Mapping[str, str], project: Project, reason: str) -> list[Material]:
    known = {item.path for item in found}
    added = (
        Material(path, project.text(path), reason=why or reason) for path, why in paths.items() if path not in known
    )
    return [*found, *(item for item in added if item.text)]


def _judge(course: Course, found: list[Material]) -> list[Material]:
    """Let a model grade what was found (from level 1 on), then limit once; pinned sources come first and stay."""
    question, models = course.question, course.models
    pinned = {item.path for item in question.pinned}
    found = [item for item in found if item.path not in pinned]
    if question.filter_level >= 1 and models.judge is not None and found:
        with course.record.stage("judge", _paths(found)) as stage:
            judged = judge(question.text, question.history, found, stage.recorded(models.judge), question.judging)
            scores = zip(found, judged.scores, strict=True)
            stage.output = [f"{item.path}: {'not judged' if n is None else f'{n}/10'}" for item, n in scores]
            found = [*judged.kept, *judged.unjudged]
            if judged.kept:
                course.support = max(course.support, max(n or 0 for n in judged.scores) / 10)
            stage.n_out = len(found)
            stage.detail = f"{len(judged.dropped)} dropped, {len(judged.unjudged)} not judged"
        course.lack(*judged.problems[:_MAX_PROBLEMS])
    found = [*question.pinned, *found]
    with course.record.stage("limit", _paths(found)) as stage:
        found = found[: max(question.n_sources, len(question.pinned))]
        stage.output = _paths(found)
    return found


def _choose_lines(course: Course, found: list[Material]) -> list[Material]:
    """Let a model choose the lines of the files that do not fit whole (from level 1 on).

    Where it chooses none, the lines around the hits stay chosen.
    """
    question, model = course.question, course.models.excerpt
    if model is None or question.filter_level < 1 or not question.budget.segment:
        return found
    large = too_large(found, question.budget, question.count)
    if not large:
        return found
    asked = [found[index] for index in large]
    with course.record.stage("excerpts", _paths(asked)) as stage:
        chosen = excerpts_of(
            course.by_itself,
            asked,
            stage.recorded(model),
            question.count,
            question.max_input_tokens,
            workers=question.judging.workers,
        )
        found, problems, ranges = list(found), [], []
        for index, lines in zip(large, chosen, strict=True):
            if lines.spans:
                found[index] = found[index]._replace(spans=lines.spans, is_exact=True)
                ranges.append(f"{found[index].path}: {', '.join(f'{start}-{end}' for start, end in lines.spans)}")
            else:
                path = found[index].path
                problems.append(lines.problem or f"the excerpting model found nothing in {path} worth showing")
        stage.output = ranges
    course.lack(*list(dict.fromkeys(problems))[:_MAX_PROBLEMS])
    return found


def _pack(course: Course, found: Sequence[Material]) -> Packed:
    with course.record.stage("pack", _paths(found)) as stage:
        question = course.question
        packed = pack(
            found, question.budget, question.count, course.project.name_of, in_line_order=question.in_line_order
        )
        stage.output, stage.detail = _places(packed.sources), f"{packed.n_tokens} tokens"
    return packed


class _Written(NamedTuple):
    """What became of the model's answer."""

    checked: Checked
    failure: str = ""  # why it is not whole


def _write(
    course: Course, sources: tuple[Source, ...], result: SearchResult, model: ChatModel
) -> Iterator[Text | Answer]:
    """Stream the model's answer; where it breaks off, the best excerpts follow."""
    written = yield from _streamed(course, sources, model)
    if written.failure:
        yield from _broken_off(course, written, sources, result, model.name)
    else:
        course.lack(written.checked.problem)
        yield _answer(course, written.checked, sources, result, model.name)


def _streamed(course: Course, sources: tuple[Source, ...], model: ChatModel) -> Generator[Text, None, _Written]:
    """Yield the model's answer, checked block by block, and return it whole. Never raises ProviderError."""
    question = course.question
    stream = CheckedStream(sources, lambda: texts_now(sources, course.project.on_disk))
    finish, failure = "", ""
    with course.record.stage("answer", _places(sources)) as stage:
        try:
            for item in stage.recorded(model).stream(Ask(_messages(question, sources), max_tokens=question.max_tokens)):
                if isinstance(item, Delta):
                    yield from (Text(text) for text in stream.feed(item.text))
                else:
                    finish = item.finish
        except ProviderError as error:
            failure = with_hint(error)
        yield from (Text(text) for text in stream.finish())
        checked = stream.result
        if not failure and not checked.text.strip():
            failure = f"{model.name} gave an empty answer; ask again, or use another model"
        stage.n_out, stage.detail = len(checked.citations), failure or f"{len(checked.dropped)} citations dropped"
        stage.output = [call.reply for call in stage.calls if call.reply]
    if finish == "length":
        course.lack(f"the answer was cut at {question.max_tokens} tokens")
    if finish == "refused":
        course.lack("the model refused to answer")
    return _Written(checked, failure)


def _broken_off(
    course: Course, written: _Written, sources: tuple[Source, ...], result: SearchResult, model: str
) -> Iterator[Text | Answer]:
    """Let the best excerpts of what the model was shown follow on what it wrote."""
    paths = {source.path for source in sources}
    excerpts = extract.excerpts([hit for hit in result.hits if hit.chunk.path in paths] or result.hits)
    begun = written.checked if written.checked.text.strip() else NOTHING_WRITTEN
    language = language_of_question(course.question.text)
    added = _checked(extract.stand_in(excerpts, language), excerpts, course.project)
    added = replace(added, text=f"{ending(begun.text) if added.text else ''}{added.text}")
    yield Text(added.text)
    checked = begun.followed_by(added)
    failure = f"the answering model failed: {written.failure}"
    course.lack(failure, checked.problem)
    known = (*sources, *(replace(source, number=number) for number, source in enumerate(excerpts, len(sources) + 1)))
    answer = _answer(course, checked, known, result, model if begun.text else "")
    yield replace(answer, failure=failure)


def _messages(question: Question, sources: Sequence[Source]) -> list[Message]:
    language = language_of_question(question.text)
    documents = fenced("\n".join(shown(source) for source in sources), "sources")
    return [
        Message("system", prompt("answer", language)),
        *question.history,
        Message("user", f"{documents}\n\n{question.text}"),
    ]


def _excerpts(course: Course, result: SearchResult) -> Iterator[Text | Answer]:
    """Answer with the best excerpts."""
    sources = extract.excerpts(result.hits)
    course.lack(NO_MODEL)
    with course.record.stage("answer", _places(sources)) as stage:
        checked = _checked(extract.answer_of(sources), sources, course.project)
        stage.n_out, stage.output = len(checked.citations), (checked.text,)
    yield Text(checked.text)
    yield _answer(course, checked, sources, result)


_NOT_FOUND = {
    "en": "This was not found here. The nearest places:\n\n{places}",
    "zh": "这里没有找到答案。最接近的位置：\n\n{places}",
}


def _not_found(course: Course, result: SearchResult) -> Iterator[Text | Answer]:
    """Say so instead of letting a model guess."""
    sources = extract.excerpts(result.hits)
    course.lack(NOT_FOUND)
    text = _NOT_FOUND[language_of_question(course.question.text)].format(places=extract.nearest(sources))
    checked = _checked(text, sources, course.project)
    yield Text(checked.text)
    yield _answer(course, checked, sources, result)


def _checked(text: str, sources: Sequence[Source], project: Project) -> Checked:
    stream = CheckedStream(sources, lambda: texts_now(sources, project.on_disk))
    for _ in (*stream.feed(text), *stream.finish()):
        pass
    return stream.result


def _answer(
    course: Course, checked: Checked, sources: tuple[Source, ...], result: SearchResult, model: str = ""
) -> Answer:
    of_model = checked.confidence(max(result.confidence, course.support))
    confidence = round(of_model if model else result.confidence, 3)
    return Answer(
        question=course.question.text,
        text=checked.text,
        citations=checked.citations,
        dropped=checked.dropped,
        verified_share=round(checked.verified_share, 3),
        confidence=confidence,
        label=label_of(confidence),
        model=model,
        usage=course.record.usage,
        sources=sources,
        generation=result.generation,
        degraded=tuple(dict.fromkeys(course.degraded)),
        stale=result.stale,
        trace=tuple(course.record.stages),
        cost=course.record.cost,
    )
