"""The result of an agent → an answer with verified citations, in the form of every other answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from codefathom.agent.final import FinalAnswer
from codefathom.agent.loop import Final
from codefathom.agent.tools import ShownLines
from codefathom.answer.answer_types import Answer, Checked, Citation, Dropped, Label, Source, label_of
from codefathom.answer.budget import lines_of
from codefathom.answer.cite import check, texts_now
from codefathom.answer.prompting import language_of_question
from codefathom.answer.stages.extract import nearest, stand_in
from codefathom.answer.stream import check_whole
from codefathom.facts.reasons import BROKEN_SCHEMA, Note, Told

_CONFIDENCE: dict[Label, float] = {"high": 0.9, "medium": 0.6, "low": 0.2}
# No citation by number has as many digits: what the answer does not list cannot be meant by one.
_NOT_LISTED = 10_000
_STOPPED = {
    "rounds": "the agent used all its rounds",
    "tokens": "the agent used all its tokens",
    "time": "the agent used all its time",
    "cost": "the agent reached its limit of cost",
    "provider": "the model failed before the agent was done",
}
_NO_ANSWER = {
    "en": "The model failed before it answered. The places that it had looked at:\n\n{places}",
    "zh": "模型在回答之前出错。它查看过的位置：\n\n{places}",
}


def report(
    question: str,
    final: Final,
    seen: Sequence[ShownLines],
    text_of: Callable[[str], str],
    on_disk: Callable[[str], str | None],
    *,
    excerpts: Callable[[], Sequence[Source]] = tuple,
) -> Answer:
    """Return the answer; what it cites must have been shown by a tool and be on the disk as it was shown.

    Where the model failed before it answered, the answer consists of places that were shown; where nothing was, of
    excerpts.
    """
    sources = tuple(_sources(final.answer, seen, text_of))
    if final.answer.answer or final.answer.named:
        checked = _checked(question, final.answer, sources, texts_now(sources, on_disk))
    else:
        sources = tuple(excerpts())
        checked = check(stand_in(sources, language_of_question(question)), sources, texts_now(sources, on_disk))
    confidence = round(checked.confidence(_CONFIDENCE[final.answer.confidence] if final.answer.answer else 0.0), 3)
    return Answer(
        question=question,
        text=checked.text,
        citations=checked.citations,
        dropped=checked.dropped,
        verified_share=round(checked.verified_share, 3),
        confidence=confidence,
        label=label_of(confidence),
        model="",
        usage=final.usage,
        sources=tuple(_numbered(sources)),
        generation=0,
        problems=tuple(_lacking(final, checked)),
        failure="" if final.answer.answer else _stopped(final),
        hint="" if final.answer.answer else final.hint,
        claims=checked.claims,
    )


def shown_sources(seen: Sequence[ShownLines], text_of: Callable[[str], str]) -> tuple[Source, ...]:
    """Return the lines that were shown so far as sources, which no number can mean."""
    return tuple(_sources(FinalAnswer("", "low", ()), seen, text_of))


def _sources(answer: FinalAnswer, seen: Sequence[ShownLines], text_of: Callable[[str], str]) -> Iterator[Source]:
    """Yield the sources that the answer lists, with its numbers, then all other lines that were shown."""
    listed = [(number, item) for number, item in enumerate(answer.named, start=1) if isinstance(item, Citation)]
    shown = [(number, Citation(*place)) for number, place in enumerate(dict.fromkeys(seen), start=_NOT_LISTED)]
    for number, place in (*listed, *shown):
        text = lines_of(text_of(place.path), place.start_line, place.end_line)
        is_whole = place.start_line == 1 and text == text_of(place.path).removesuffix("\n")
        symbol = "" if is_whole else place.symbol
        yield Source(number, place.path, place.start_line, place.end_line, text, symbol, is_whole=is_whole)


def _numbered(sources: Sequence[Source]) -> Iterator[Source]:
    """Yield each source once, counted from 1."""
    for number, source in enumerate(dict.fromkeys(replace(source, number=0) for source in sources), start=1):
        yield replace(source, number=number)


def _checked(question: str, answer: FinalAnswer, sources: Sequence[Source], now: dict[str, str]) -> Checked:
    """Return the text that cites what the answer lists, its citations looked up, and all that was dropped."""
    listed = [source for source in sources if source.number < _NOT_LISTED]
    if answer.answer:
        marks = " ".join(f"[{answer.named.index(source) + 1}]" for source in answer.sources)
        text = f"{answer.answer.rstrip()}\n\n{marks}\n" if marks else answer.answer
    else:
        text = _NO_ANSWER[language_of_question(question)].format(places=nearest(listed))
    checked = check_whole(text, sources, lambda: now)
    return replace(checked, dropped=tuple(_dropped(checked.dropped, answer.dropped)))


def _dropped(in_text: Sequence[Dropped], listed: Sequence[Dropped]) -> Iterator[Dropped]:
    """Yield both; what the text names too is counted once."""
    yield from in_text
    texts = {item.text.strip("[]`") for item in in_text}
    yield from (item for item in listed if item.text.strip("[]`") not in texts)


def _stopped(final: Final) -> str:
    return _STOPPED[final.stopped_by] + (f": {final.failure}" if final.failure else "")


def _lacking(final: Final, checked: Checked) -> Iterator[Told]:
    """Yield the limitations of the answer."""
    if final.stopped_by:
        yield _stopped(final)
    if final.answer.problem:
        yield Note(BROKEN_SCHEMA, {"problem": final.answer.problem})
    if checked.problem:
        yield checked.problem
