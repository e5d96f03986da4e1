"""What an agent found out → an answer whose citations were looked up, in the form of every other answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codefathom.agent.loop import Final
from codefathom.agent.tools import Place
from codefathom.answer.budget import lines_of
from codefathom.answer.cite import check
from codefathom.answer.types import Answer, Label, Source

_CONFIDENCE: dict[Label, float] = {"high": 0.9, "medium": 0.6, "low": 0.2}
_HIGH, _MEDIUM = 0.66, 0.33
_STOPPED = {
    "rounds": "the agent used all its rounds",
    "tokens": "the agent used all its tokens",
    "time": "the agent used all its time",
    "cost": "the agent used all that it may cost",
    "provider": "the model failed before the agent was done",
}


def report(
    question: str,
    final: Final,
    seen: Sequence[Place],
    text_of: Callable[[str], str],
    on_disk: Callable[[str], str | None],
) -> Answer:
    """Return the answer; what it cites must have been shown by a tool and be on the disk as it was shown."""
    places = dict.fromkeys((place.path, place.start_line, place.end_line, place.symbol) for place in seen)
    named = [(item.path, item.start_line, item.end_line, item.symbol) for item in final.answer.sources]
    sources = tuple(
        Source(number, path, start, end, lines_of(text_of(path), start, end), symbol)
        for number, (path, start, end, symbol) in enumerate((*dict.fromkeys(named), *places), start=1)
    )
    present = {path: on_disk(path) for path in {source.path for source in sources}}
    now = {path: text for path, text in present.items() if text is not None}
    checked = check(_with_sources(final.answer.answer, len(dict.fromkeys(named))), sources, now)
    share = checked.verified_share
    confidence = round(_CONFIDENCE[final.answer.confidence] * (0.3 + 0.7 * share), 3)
    n_lost = len(checked.dropped) + final.answer.n_dropped
    degraded = [_STOPPED.get(final.stopped_by, "")]
    degraded += [f"{n_lost} citations could not be verified and were removed"] if n_lost else []
    return Answer(
        question=question,
        text=checked.text,
        citations=checked.citations,
        dropped=checked.dropped,
        verified_share=round(share, 3),
        confidence=confidence,
        label="high" if confidence >= _HIGH else "medium" if confidence >= _MEDIUM else "low",
        model="",
        usage=final.usage,
        sources=sources,
        generation=0,
        degraded=tuple(problem for problem in degraded if problem),
    )


def _with_sources(text: str, n_named: int) -> str:
    """Let the text cite the sources that the answer lists beside it."""
    marks = " ".join(f"[{number}]" for number in range(1, n_named + 1))
    return f"{text.rstrip()}\n\n{marks}\n" if marks else text
