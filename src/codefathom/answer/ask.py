"""A question → an answer: rewrite, search, select, related, judge, limit, pack. Reads in that order; `write` is last.

Without a model every stage that needs one is left out. A bad reply never ends the answer: its stage is left out too,
with a note in `degraded`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from codefathom.answer.answer_types import NOTHING_WRITTEN, Answer, ExpectedCost, Source
from codefathom.answer.budget import Material, PackedSources, pack, too_large
from codefathom.answer.problems import merge_failures
from codefathom.answer.prompting import language_of_question
from codefathom.answer.record import Record
from codefathom.answer.stages.answer_run import AnswerProject, AnswerQuestion, AnswerRun, Models
from codefathom.answer.stages.command import write_command
from codefathom.answer.stages.expected_cost import expected_cost
from codefathom.answer.stages.gather import materials
from codefathom.answer.stages.judge import judge
from codefathom.answer.stages.rewrite import rewrite
from codefathom.answer.stages.select import OutlineFile, excerpts, select
from codefathom.answer.stages.write import Text, answer_of_run, from_excerpts, is_weak, not_found, places, write
from codefathom.errors import SettingsError, UsageError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note, Told
from codefathom.providers.parallel import in_parallel
from codefathom.search.question.query import parse_query
from codefathom.search.verdict import handed_on, note_of, of_several
from codefathom.types import SearchResult

# The names that a caller of `ask` needs.
__all__ = ["AnswerSources", "Text", "ask"]

# Hits that are searched for each source that is shown: several hits lie in one file.
_HITS_PER_SOURCE = 4
_MAX_RELATED = 5
_MAX_PROBLEMS = 3  # that are reported of one stage
_PINNED_SUPPORT = 0.5  # of sources that the user chose: probably right, but no model has judged them


class AnswerSources(NamedTuple):
    """The sources of an answer, before it is written."""

    sources: tuple[Source, ...]
    left_out: tuple[str, ...]  # paths that did not fit
    problems: tuple[Told, ...] = ()  # the limitations so far
    weak: bool = False  # most likely none of them answers

    @property
    def degraded(self) -> tuple[str, ...]:
        """The problems in English, one sentence each."""
        return tuple(map(str, self.problems))


def ask(question: AnswerQuestion, project: AnswerProject, models: Models) -> Iterator[AnswerSources | Text | Answer]:
    """Yield the sources, the answer in checked pieces, and the whole answer last.

    Closing the iterator ends the model's call. If it fails, the answer has the text so far, excerpts, and a `failure`.
    """
    if question.shell and models.answer is None:
        raise SettingsError(
            "a shell command is written by a language model, and none is set",
            hint="set llm.model, for example FATHOM_LLM__MODEL=ollama:qwen2.5-coder:14b",
        )
    record = Record(question.mask, question.prices_of, on_step=question.on_step)
    support = _PINNED_SUPPORT if question.pinned else 0.0
    run = AnswerRun(question, project, models, record, support, by_itself=question.text)
    if question.dry_run:
        yield _dry_run(run)
        return
    result = _search(run, _rewrite(run))
    if result.unanswerable and not _is_wanted(run):
        # No model chooses among files, or judges them, where the verdict is that there is nothing.
        run_notes = [*run.degraded, *filter(None, [note_of(result)])]
        yield AnswerSources((), (), merge_failures(run_notes), weak=True)
        yield from not_found(run, result)
        return
    if not (_is_wanted(run) or _is_judged(run)):
        run.add_degraded(note_of(result))
        result = handed_on(result)
    files = _judge(run, _select(run, result))
    is_likely = _is_likely(run, result)
    packed = _pack(run, _choose_lines(run, files) if is_likely else files)
    if files and is_likely and not packed.sources:
        n_tokens = question.budget.full + question.budget.segment
        raise UsageError(
            f"no line of any source fits into the {n_tokens} tokens of the context",
            hint="raise context.window and llm.window, lower answer.max_tokens, or ask a shorter question",
        )
    yield AnswerSources(packed.sources, packed.left_out, merge_failures(run.degraded), weak=is_weak(run, result))
    if not is_likely:
        yield from not_found(run, result)
    elif models.answer is None:
        yield from from_excerpts(run, result)
    elif question.shell:
        yield from write_command(run, packed.sources, result, models.answer)
    elif not packed.sources:
        yield from not_found(run, result)
    else:
        yield from write(run, packed.sources, result, models.answer)


def _dry_run(run: AnswerRun) -> Answer:
    """Return an answer that says what the real one would cost. No model is asked for that."""
    result = _search(run, (run.question.text,))
    expected = ExpectedCost(0, 0)
    if _is_wanted(run) or (_is_likely(run, result) and not result.unanswerable):
        expected = expected_cost(run, *_candidates(run, result), is_rewritten=False)
    return replace(answer_of_run(run, NOTHING_WRITTEN, (), result), text=str(expected), expected=expected)


def _is_wanted(run: AnswerRun) -> bool:
    """Return True for an answer that is wanted whatever the search says: a shell command often stands in no file."""
    question = run.question
    return bool(question.shell or question.pinned or question.anyway)


def _is_judged(run: AnswerRun) -> bool:
    """Return True if a model judges the sources, which decides more than words do."""
    return run.question.filter_level >= 1 and run.models.judge is not None


def _is_likely(run: AnswerRun, result: SearchResult) -> bool:
    """Return True if the confidence is enough for an answer from these hits, as the user has set it.

    The confidence of a search counts words. That says nothing about a question in another language, and little about
    one that names a path or a symbol.
    """
    named = parse_query(run.by_itself)
    if _is_wanted(run) or _is_judged(run) or named.paths or named.symbols:
        return True
    return result.confidence >= run.question.least_confidence or language_of_question(run.by_itself) != "en"


def _rewrite(run: AnswerRun) -> tuple[str, ...]:
    """Return the queries: the question, or those that a model writes from it and the earlier turns."""
    question, model = run.question, run.models.answer
    if not question.history or model is None:
        return (question.text,)
    run.say("rewrite", "reading the question together with the turns before it")
    with run.record.stage("rewrite", [f"{turn.role}: {turn.content}" for turn in question.history]) as stage:
        rewritten = rewrite(question.text, question.history, stage.recorded(model))
        stage.output = (rewritten.question, *rewritten.queries)
        stage.detail = rewritten.question
    run.add_degraded(rewritten.problem)
    run.by_itself = rewritten.question
    return (rewritten.question, *rewritten.queries)


def _search(run: AnswerRun, queries: Sequence[str]) -> SearchResult:
    question = run.question
    limit = question.n_sources * _HITS_PER_SOURCE
    run.say("search", "searching")
    with run.record.stage("search", queries) as stage:
        outcomes = [_search_one(run, query, limit) for query in queries]
        results = [result for result in outcomes if result] or [run.project.search(question.text, limit)]
        best = results[0]
        hits = {hit.chunk.id: hit for result in reversed(results) for hit in reversed(result.hits)}
        ordered = sorted(hits.values(), key=lambda hit: -hit.score)[:limit]
        stage.n_out = len(ordered)
        stage.output = [
            f"{hit.chunk.path}:{hit.chunk.start_line}-{hit.chunk.end_line} {hit.score:.2f}" for hit in ordered
        ]
    run.degraded += best.problems
    judged = of_several(results)
    return SearchResult(
        question.text,
        tuple(ordered),
        best.level,
        best.mode,
        judged.confidence,
        best.generation,
        best.problems,
        best.stale,
        weak=judged.weak,
        unanswerable=judged.unanswerable,
        advice=None if ordered else best.advice,
    )


def _search_one(run: AnswerRun, query: str, limit: int) -> SearchResult | None:
    """Search; None if a query that a model wrote names a path or symbol that does not exist."""
    try:
        return run.project.search(query, limit)
    except UsageError as error:
        if query == run.question.text:
            raise
        run.add_degraded(Note(say.QUERY_SKIPPED, {"error": str(error)}))
        return None


def _select(run: AnswerRun, result: SearchResult) -> list[Material]:
    """Add files that a model chooses from the outline (level 1), and files connected with the best ones (level 2)."""
    question, project, models = run.question, run.project, run.models
    files, outline = _candidates(run, result)
    if question.filter_level >= 1 and (models.select or models.judge):
        run.say("plan", str(expected_cost(run, files, outline)))
    if outline and models.select is not None:
        run.say("select", f"choosing from the outline of {len(outline)} files")
        with run.record.stage("select", _paths(files)) as stage:
            chosen = select(
                run.by_itself,
                outline,
                stage.recorded(models.select),
                question.count,
                question.max_input_tokens,
                pinned=[item.path for item in question.pinned],
            )
            files = _with_paths(files, chosen.paths, project, "selected by the model")
            stage.output = [f"{item.path}: {item.reason}" for item in files]
            unknown = f", {chosen.unknown} named that are not there" if chosen.unknown else ""
            stage.detail = f"{len(chosen.paths)} chosen by the model{unknown}"
        run.add_degraded(chosen.problem)
    if question.filter_level >= 2:
        with run.record.stage("related", _paths(files)) as stage:
            near = {edge.path: "" for item in files[:_MAX_RELATED] for edge in project.related(item.path).edges}
            files = _with_paths(files, dict(list(near.items())[: question.n_sources]), project, "connected with a hit")
            stage.output = [f"{item.path}: {item.reason}" for item in files]
    return files


def _candidates(run: AnswerRun, result: SearchResult) -> tuple[list[Material], Sequence[OutlineFile]]:
    """Return the files with hits, and from level 1 on the outline from which a model chooses."""
    files = materials(result, run.project.text)
    is_chosen = run.question.filter_level >= 1 and run.models.select is not None
    return files, run.project.outline([item.path for item in files]) if is_chosen else ()


def _paths(files: Iterable[Material | Source]) -> list[str]:
    return [item.path for item in files]


def _with_paths(files: list[Material], paths: Mapping[str, str], project: AnswerProject, reason: str) -> list[Material]:
    present = {item.path for item in files}
    added = (
        Material(path, project.text(path), reason=why or reason) for path, why in paths.items() if path not in present
    )
    return [*files, *(item for item in added if item.text)]


def _judge(run: AnswerRun, files: list[Material]) -> list[Material]:
    """Let a model grade the files (from level 1 on), then limit their number; pinned sources come first and stay."""
    question, models = run.question, run.models
    pinned = {item.path for item in question.pinned}
    files = [item for item in files if item.path not in pinned]
    if question.filter_level >= 1 and models.judge is not None and files:
        with run.record.stage("judge", _paths(files)) as stage:
            judged = judge(
                question.text,
                question.history,
                files,
                stage.recorded(models.judge),
                question.judging,
                on_done=_counting(run, "judge", "grading", len(files)),
            )
            scores = zip(files, judged.scores, strict=True)
            stage.output = [f"{item.path}: {'not judged' if n is None else f'{n}/10'}" for item, n in scores]
            files = [*judged.kept, *judged.unjudged]
            if judged.kept:
                run.support = max(run.support, max(n or 0 for n in judged.scores) / 10)
            stage.n_out = len(files)
            calls = f"{len(stage.calls)} calls" + (", one for each file" if question.judging.is_one_by_one else "")
            stage.detail = f"{len(judged.dropped)} dropped, {len(judged.unjudged)} not judged, {calls}"
        run.add_degraded(*judged.problems[:_MAX_PROBLEMS])
    files = [*question.pinned, *files]
    with run.record.stage("limit", _paths(files)) as stage:
        files = files[: max(question.n_sources, len(question.pinned))]
        stage.output = _paths(files)
    return files


def _counting(run: AnswerRun, phase: str, what: str, n_total: int) -> Callable[[int], None]:
    """Return a function that tells how many of the files are done; begin with none."""

    def say(n_done: int) -> None:
        run.say(phase, f"{what} {n_done} of {n_total} files")

    say(0)
    return say


def _choose_lines(run: AnswerRun, files: list[Material]) -> list[Material]:
    """Let a model choose the lines of the files that do not fit whole (from level 1 on).

    If it chooses none, the lines around the hits are shown.
    """
    question, model = run.question, run.models.excerpt
    if model is None or question.filter_level < 1 or not question.budget.segment:
        return files
    large = too_large(files, question.budget, question.count)
    if not large:
        return files
    large_files = [files[index] for index in large]
    with run.record.stage("excerpts", _paths(large_files)) as stage:
        chosen = in_parallel(
            lambda item, model: excerpts(run.by_itself, item, model, question.count, question.max_input_tokens),
            large_files,
            stage.recorded(model),
            question.judging.workers,
            _counting(run, "excerpts", "choosing lines of", len(large_files)),
        )
        files, problems, ranges = list(files), [], []
        for index, lines in zip(large, chosen, strict=True):
            if lines.spans:
                files[index] = files[index]._replace(spans=lines.spans, is_exact=True)
                ranges.append(f"{files[index].path}: {', '.join(f'{start}-{end}' for start, end in lines.spans)}")
            else:
                path = files[index].path
                problems.append(lines.problem or f"the excerpting model found nothing in {path} worth showing")
        stage.output = ranges
    run.add_degraded(*list(dict.fromkeys(problems))[:_MAX_PROBLEMS])
    return files


def _pack(run: AnswerRun, files: Sequence[Material]) -> PackedSources:
    with run.record.stage("pack", _paths(files)) as stage:
        question = run.question
        packed = pack(files, question.budget, question.count, run.project.name_of, in_line_order=question.in_line_order)
        stage.output, stage.detail = places(packed.sources), f"{packed.n_tokens} tokens"
    return packed
