"""Stage 2 by a language model: files that the other parsers leave to it are parsed again and cut anew.

The model is asked in the main process, after the workers, which have no network and know no keys. A file on which it
fails keeps the symbols of the other parsers, so that a search finds it, and is marked to be tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from codefathom.facts.reasons import NO_ANSWER_OF_MODEL, NOT_PARSED, Note
from codefathom.index.plan import Recipe
from codefathom.index.prepare import Outcome, PreparedFile, prepare_parsed
from codefathom.parse import is_for_model
from codefathom.parse.llm import parser
from codefathom.providers.base import ChatModel
from codefathom.stores.cache import encode_parsed
from codefathom.types import Document, Failure, ParsedDocument

# A model that fails on so many files in a row is away: the run goes on without it.
GIVE_UP_AFTER = 8
# Files for each worker before their answers are stored: an interrupted run loses so many.
_FILES_PER_WORKER = 4


class ModelParser(NamedTuple):
    """A model as parser."""

    model: ChatModel
    parse: Callable[[Document, ChatModel], ParsedDocument | None]
    workers: int  # calls at the same time


def model_parser(model: ChatModel, workers: int, *, mask: Callable[[str], str]) -> ModelParser:
    """Return a parser that asks `model`; each text goes through `mask` first."""
    return ModelParser(model, lambda document, chat: parser(chat, mask=mask)(document), workers)


class ModelReparse:
    """The model's part in one run; collects the files that failed."""

    def __init__(self, model: ModelParser | None, recipe: Recipe) -> None:
        self.failures: list[Failure] = []
        self.sizes: list[int] = []  # of the files that were sent
        self._model = model
        self._recipe = recipe
        self._n_failed_in_a_row = 0

    def steps(self, batches: Iterable[list[Outcome]]) -> Iterator[list[Outcome]]:
        """Yield all outcomes, in their order and in no larger batches."""
        for batch in batches:
            for step in self._steps(batch):
                yield self.apply(step)

    def apply(self, outcomes: list[Outcome]) -> list[Outcome]:
        """Ask the model about those documents that are for it."""
        files = [item for item in outcomes if isinstance(item, PreparedFile) and self._is_for_model(item)]
        if self._model is None or not files:
            return outcomes
        model = self._model
        documents = [item.parsed.document for item in files]
        from codefathom.providers.parallel import in_parallel

        answers = in_parallel(partial(self._ask, model), documents, model.model, model.workers)
        name = model.model.name
        new = {item.path: self._finished(item, answer, name) for item, answer in zip(files, answers, strict=True)}
        return [new.get(item.path, item) for item in outcomes]

    # ---- inside

    def _steps(self, batch: list[Outcome]) -> Iterator[list[Outcome]]:
        """Cut a batch so that no step takes long."""
        most = _FILES_PER_WORKER * self._model.workers if self._model else 0
        step: list[Outcome] = []
        n_files = 0
        for item in batch:
            if n_files and n_files == most:
                yield step
                step, n_files = [], 0
            step.append(item)
            n_files += isinstance(item, PreparedFile) and self._is_for_model(item)
        yield step

    def _is_for_model(self, item: PreparedFile) -> bool:
        return is_for_model(item.path, item.parsed.document.language, item.parsed.parser, self._recipe.chain)

    def _ask(self, parsing: ModelParser, document: Document, model: ChatModel) -> ParsedDocument | None:
        if self._n_failed_in_a_row >= GIVE_UP_AFTER:
            return None
        self.sizes.append(document.size)
        parsed = parsing.parse(document, model)
        # Several threads count here; that one of them is late by one does not matter.
        failed = parsed is None or bool(_unanswered(parsed, model.name))
        self._n_failed_in_a_row = self._n_failed_in_a_row + 1 if failed else 0
        return parsed

    def _finished(self, item: PreparedFile, answer: ParsedDocument | None, model: str) -> PreparedFile:
        """Replace the symbols of the other parsers by those of the model, if it returned some."""
        if answer is None:
            reason = f"not asked after it failed on {GIVE_UP_AFTER} files in a row"
            return self._failed(item, reason)._replace(fresh_parse=b"", is_finished=False)
        parsed = _joined(item.parsed, answer)
        prepared = prepare_parsed(parsed, item.file, self._recipe)
        if unanswered := _unanswered(answer, model):
            return self._failed(prepared, unanswered[0])._replace(is_finished=False)
        return prepared._replace(fresh_parse=encode_parsed(parsed) if item.fresh_parse else b"")

    def _failed(self, item: PreparedFile, reason: str) -> PreparedFile:
        self.failures.append(Failure(item.path, Note(NOT_PARSED, {"error": reason})))
        return item


def _joined(before: ParsedDocument, answer: ParsedDocument) -> ParsedDocument:
    """Return the answer; when the model gave up, the document as it was before. The problems of both stay."""
    gave_up = answer.problems and not answer.symbols
    problems = (*before.problems, *answer.problems)
    return replace(before if gave_up else answer, parser=answer.parser, problems=problems)


def _unanswered(parsed: ParsedDocument, model: str) -> list[str]:
    """Return the reasons why the model did not answer for the document, or for a part of it."""
    notes = [note.values for note in parsed.problems if note.kind == NO_ANSWER_OF_MODEL]
    return [str(values["error"]) for values in notes if values["model"] == model]
