"""A question that continues a conversation → a complete question, and queries for its answer.

If anything goes wrong, the result is the question as it was typed, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from codefathom.answer.problems import model_failed
from codefathom.answer.prompting import fenced, language_of_question, prompt
from codefathom.errors import ProviderError
from codefathom.facts.reasons import Told
from codefathom.providers.base import Ask, ChatModel, Message, whole
from codefathom.text.loose_json import items

_MAX_QUERIES = 3
# A longer search is no better one; a model that repeats itself writes such.
_MAX_CHARACTERS = 1_000
_MAX_TOKENS = 512
_QUESTION = {"en": "Question: {question}", "zh": "问题：{question}"}
_SCHEMA = {
    "type": "object",
    "properties": {"question": {"type": "string"}, "queries": {"type": "array", "items": {"type": "string"}}},
    "required": ["question", "queries"],
    "additionalProperties": False,
}


class Rewritten(NamedTuple):
    """A question that can be searched for without its conversation."""

    question: str
    queries: tuple[str, ...] = ()  # at most three, none of them the question
    problem: Told = ""


def rewrite(question: str, history: Sequence[Message], model: ChatModel) -> Rewritten:
    """Return the question by itself and queries for it, as the model writes them. Never raises ProviderError."""
    language = language_of_question(question)
    conversation = fenced("\n\n".join(f"{turn.role}: {turn.content}" for turn in history), "the conversation")
    user = f"{conversation}\n\n{_QUESTION[language].format(question=question)}"
    messages = (Message("system", prompt("rewrite", language)), Message("user", user))
    try:
        reply = whole(model, Ask(messages, schema=_SCHEMA, max_tokens=_MAX_TOKENS))
    except ProviderError as error:
        return Rewritten(question, problem=model_failed("rewriting", error))
    written = _written(reply.text)
    if written is None:
        return Rewritten(question, problem="the question was not rewritten: the reply is unreadable")
    return Rewritten(written[0], tuple(written[1:]))


def _written(text: str) -> list[str] | None:
    """Return the question and then the queries of a reply, each once; None without a question."""
    # No list is wanted from outside an object, so no key is asked for: what has a question is the reply.
    objects = [item for item in items(text, "", "question") or [] if isinstance(item, Mapping)]
    question = _line(objects[-1].get("question")) if objects else ""
    if not question:
        return None
    queries = objects[-1].get("queries")
    lines = map(_line, queries if isinstance(queries, list) else [])
    return list(dict.fromkeys([question, *filter(None, lines)]))[: 1 + _MAX_QUERIES]


def _line(value: Any) -> str:
    return " ".join(value.split())[:_MAX_CHARACTERS] if isinstance(value, str) else ""
