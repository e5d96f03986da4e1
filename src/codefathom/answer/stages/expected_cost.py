"""The cost of an answer in several stages, told before the first model is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codefathom.answer.answer_types import ExpectedCost
from codefathom.answer.budget import Material, too_large
from codefathom.answer.stages import judge, select
from codefathom.answer.stages.answer_run import AnswerRun
from codefathom.answer.stages.select import OutlineFile


def expected_cost(
    run: AnswerRun, files: Sequence[Material], outline: Sequence[OutlineFile], *, is_rewritten: bool = True
) -> ExpectedCost:
    """Return the calls and tokens that the stages after the search will take, as far as it can tell.

    Where the question is not rewritten yet, the call that does that for a follow-up counts, too.
    """
    calls = list(_calls(run, files, outline))
    history = run.question.history
    if history and not is_rewritten and run.models.answer is not None:
        calls.append(sum(run.question.count(turn.content) for turn in history))
    names = {model.name for model in run.models if model is not None}
    cost = None
    if len(names) == 1:
        cost = run.question.prices_of(next(iter(names))).prompt * sum(calls) / 1e6 or None
    return ExpectedCost(len(calls), sum(calls), cost)


def _calls(run: AnswerRun, files: Sequence[Material], outline: Sequence[OutlineFile]) -> Iterator[int]:
    """Yield the tokens of each call."""
    question, models = run.question, run.models
    is_chosen = question.filter_level >= 1
    if is_chosen and models.select is not None:
        yield from select.calls_of(outline, question.count, question.max_input_tokens)
    if is_chosen and models.judge is not None:
        yield from judge.calls_of(question.text, question.history, files, question.judging)
    if is_chosen and models.excerpt is not None and question.budget.segment:
        large = too_large(files[: question.n_sources], question.budget, question.count)
        yield from (min(question.count(files[index].text), question.max_input_tokens) for index in large)
    if models.answer is not None:
        n_sources = sum(question.count(item.text) for item in files[: question.n_sources])
        yield min(n_sources, sum(question.budget)) + question.max_tokens
