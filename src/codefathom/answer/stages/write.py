"""Sources → the answer: a model's, checked word by word, or the best excerpts.

If the model breaks off, excerpts follow its text. If no hit is likely to hold the answer, no model is called, and the
nearest places are named.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from codefathom.answer.answer_types import NOTHING_WRITTEN, Answer, Checked, Source, label_of
from codefathom.answer.budget import shown
from codefathom.answer.cite import texts_now
from codefathom.answer.problems import failure_of, merge_failures, model_failed
from codefathom.answer.prompting import fenced, language_of_question, prompt
from codefathom.answer.stages import extract
from codefathom.answer.stages.answer_run import AnswerProject, AnswerQuestion, AnswerRun
from codefathom.answer.stream import CheckedStream, check_whole, ending
from codefathom.errors import ProviderError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.providers.base import Ask, ChatModel, Delta, Message
from codefathom.search.verdict import MAX_WEAK
from codefathom.types import SearchResult

_NOT_FOUND = {"en": "This was not found here.", "zh": "这里没有找到答案。"}
_NEAREST = {"en": " The nearest places:\n\n", "zh": "最接近的位置：\n\n"}
_ROLE = "answering"
_MOST_UNFINISHED = 0.3  # confidence of an answer that is not whole: low, whatever its sources are


class Text(NamedTuple):
    """A piece of the answer, its citations checked."""

    text: str


def write(
    run: AnswerRun, sources: tuple[Source, ...], result: SearchResult, model: ChatModel
) -> Iterator[Text | Answer]:
    """Stream the model's answer, the whole last; if it breaks off, the best excerpts follow."""
    run.add_degraded(*_cut(run.question, sources))
    run.say("answer", f"{model.name} is reading {len({source.path for source in sources})} files")
    written = yield from _streamed(run, sources, model)
    if written.error:
        yield from _broken_off(run, written, sources, result, model.name)
    else:
        run.add_degraded(written.checked.problem)
        answer = answer_of_run(run, written.checked, sources, result, model.name)
        yield answer if written.is_whole else _unfinished(answer)


def from_excerpts(run: AnswerRun, result: SearchResult) -> Iterator[Text | Answer]:
    """Answer with the best excerpts."""
    is_short = result.weak and not run.question.anyway
    sources = extract.excerpts(result.hits)[: MAX_WEAK if is_short else run.question.n_sources]
    sources = extract.fitting(sources, run.question.max_tokens, run.question.count)
    run.add_degraded(Note(say.NO_MODEL), Note(say.PINNED_UNUSED) if run.question.pinned else None)
    with run.record.stage("answer", places(sources)) as stage:
        checked = _checked(extract.answer_of(sources), sources, run.project)
        stage.n_out, stage.output = len(checked.citations), (checked.text,)
    yield Text(checked.text)
    yield answer_of_run(run, checked, sources, result)


def not_found(run: AnswerRun, result: SearchResult) -> Iterator[Text | Answer]:
    """Answer that nothing was found, instead of letting a model guess."""
    sources = () if result.unanswerable else extract.excerpts(result.hits)
    run.add_degraded(Note(say.NOT_FOUND), None if result.hits else result.advice)
    language = language_of_question(run.question.text)
    text = _NOT_FOUND[language] + (f"{_NEAREST[language]}{extract.nearest(sources)}" if sources else "")
    checked = _checked(text, sources, run.project)
    yield Text(checked.text)
    yield answer_of_run(run, checked, sources, result)


def places(sources: Iterable[Source]) -> list[str]:
    """Return the places of sources, in the form for a trace."""
    return [f"{source.path}:{source.start_line}-{source.end_line}" for source in sources]


def _cut(question: AnswerQuestion, sources: Sequence[Source]) -> Iterator[str]:
    """Yield a note for each pinned text that is not shown whole."""
    for path in dict.fromkeys(item.path for item in question.pinned):
        parts = [source for source in sources if source.path == path]
        if not any(part.is_whole for part in parts):
            shown_of = "only parts of it" if parts else "nothing of it"
            yield f"{path} does not fit into the context: the model was shown {shown_of}"


class _Written(NamedTuple):
    """The answer of the model, checked, and its error if it broke off."""

    checked: Checked
    error: ProviderError | None = None  # why it broke off
    is_whole: bool = True


def _streamed(run: AnswerRun, sources: tuple[Source, ...], model: ChatModel) -> Generator[Text, None, _Written]:
    """Yield the model's answer, checked word by word, and return it whole. Never raises ProviderError."""
    question = run.question
    stream = CheckedStream(sources, lambda: texts_now(sources, run.project.on_disk))
    finish, failed = "", None
    with run.record.stage("answer", places(sources)) as stage:
        try:
            ask = Ask(messages(question, sources, "answer"), max_tokens=question.max_tokens)
            for item in stage.recorded(model).stream(ask):
                if isinstance(item, Delta):
                    yield from (Text(text) for text in stream.feed(item.text))
                else:
                    finish = item.finish
        except ProviderError as error:
            failed = error
        yield from (Text(text) for text in stream.finish())
        checked = stream.result
        if failed is None and not checked.text.strip():
            failed = ProviderError(f"{model.name} gave an empty answer", hint="ask again, or use another model")
        stage.n_out = len(checked.citations)
        stage.detail = str(failed or f"{len(checked.dropped)} citations dropped")
        stage.output = [call.reply for call in stage.calls if call.reply]
    if finish == "length":
        run.add_degraded(Note(say.ANSWER_CUT, {"count": question.max_tokens}))
    if finish == "refused":
        run.add_degraded(Note(say.REFUSED))
    return _Written(checked, failed, finish not in {"length", "refused"})


def _broken_off(
    run: AnswerRun, written: _Written, sources: tuple[Source, ...], result: SearchResult, model: str
) -> Iterator[Text | Answer]:
    """Add the best excerpts from the sources of the model to the text that it wrote."""
    assert written.error is not None  # else it would not have broken off
    paths = {source.path for source in sources}
    excerpts = extract.excerpts([hit for hit in result.hits if hit.chunk.path in paths] or result.hits)
    begun = written.checked if written.checked.text.strip() else NOTHING_WRITTEN
    language = language_of_question(run.question.text)
    added = _checked(extract.stand_in(excerpts, language), excerpts, run.project)
    added = replace(added, text=f"{ending(begun.text) if added.text else ''}{added.text}")
    yield Text(added.text)
    checked = begun.followed_by(added)
    is_unused = bool(run.question.pinned) and not begun.text
    unused = Note(say.PINNED_UNUSED) if is_unused else None
    run.add_degraded(model_failed(_ROLE, written.error), checked.problem, unused)
    shown_sources = (
        *sources,
        *(replace(source, number=number) for number, source in enumerate(excerpts, len(sources) + 1)),
    )
    answer = _unfinished(answer_of_run(run, checked, shown_sources, result, model if begun.text else ""))
    yield replace(answer, failure=failure_of(_ROLE, answer.problems), hint=written.error.hint)


def messages(question: AnswerQuestion, sources: Sequence[Source], name: str, **values: str) -> list[Message]:
    """Return the prompt of this name with its values, the turns before, the sources and the question."""
    documents = fenced("\n".join(shown(source) for source in sources), "sources")
    return [
        Message("system", prompt(name, language_of_question(question.text), **values)),
        *question.history,
        Message("user", f"{documents}\n\n{question.text}"),
    ]


def _checked(text: str, sources: Sequence[Source], project: AnswerProject) -> Checked:
    return check_whole(text, sources, lambda: texts_now(sources, project.on_disk))


def _unfinished(answer: Answer) -> Answer:
    confidence = min(answer.confidence, _MOST_UNFINISHED)
    return replace(answer, confidence=confidence, label=label_of(confidence))


def is_weak(run: AnswerRun, result: SearchResult) -> bool:
    """Return True if most likely nothing here answers: no model has found support, and no user has chosen sources."""
    return result.weak and not run.support


def answer_of_run(
    run: AnswerRun, checked: Checked, sources: tuple[Source, ...], result: SearchResult, model: str = ""
) -> Answer:
    """Return the answer of a run with this text; with a model, its confidence is that of its citations."""
    of_model = checked.confidence(max(result.confidence, run.support))
    confidence = round(of_model if model else result.confidence, 3)
    return Answer(
        question=run.question.text,
        text=checked.text,
        citations=checked.citations,
        dropped=checked.dropped,
        verified_share=round(checked.verified_share, 3),
        confidence=confidence,
        label=label_of(confidence),
        model=model,
        usage=run.record.usage,
        sources=sources,
        generation=result.generation,
        problems=merge_failures(run.degraded),
        stale=result.stale,
        trace=tuple(run.record.stages),
        cost=run.record.cost,
        claims=checked.claims,
        weak=is_weak(run, result),
    )
