"""Secrets in the answers of the tools: each is a mark, since an answer goes to the model of an agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from codefathom.errors import FathomError
from codefathom.source.masks import MARK, MASK, marked, marked_alone
from codefathom.source.secrets import blank, find
from codefathom.types import Chunk, FileLines, SearchResult

if TYPE_CHECKING:
    from codefathom.answer.answer_types import Answer

_T = TypeVar("_T")
_R = TypeVar("_R", SearchResult, FileLines)
_SIGN = MARK.partition(" ")[0]  # the kind of a secret stands behind it where a model has quoted what it was shown
_NOTE = f"{{values}} masked. The file has the real value where {MARK} stands here: do not write this mark into a file."
_NOTE_TOKENS = 60  # of the sentence and of the number, in either form of an answer


class AgentMasks:
    """The marks in the answer of one call. Safe to use from several threads.

    Lines of files have them already, see `Question.for_agent`; names, paths and sentences get them from `of`.
    """

    def __init__(self, *, shows: bool = False) -> None:
        """`shows` leaves all texts as they are."""
        self._shows = shows
        self._has_marks = False

    def room(self, most: int) -> int:
        """Return the number of tokens that the note leaves of those of an answer."""
        return most - _NOTE_TOKENS if self._has_marks else most

    def shown(self, result: _R) -> _R:
        """Take note of the marks that a result for an agent has in its lines."""
        self._has_marks |= result.has_marks
        return result

    def of(self, value: _T) -> _T:
        """Return a result with marks in all its texts but the lines of hits."""
        if self._shows:
            return value
        texts = dict.fromkeys(_texts(value))
        # Nearly always there is no secret: so all of them are looked through at once.
        together = "\n\n".join(texts)
        if MASK not in together and not find(together):
            return value
        shown = {text: masked_text(text) for text in texts}
        self._has_marks |= any(text != before for before, text in shown.items())
        marked_value: _T = _with_texts(value, shown)
        return marked_value

    def answer(self, answer: Answer) -> Answer:
        """Return the answer of a model with marks, also where it quotes those that the model was shown."""
        shown = replace(
            answer, text=self.of(answer.text), citations=self.of(answer.citations), failure=self.of(answer.failure)
        )
        self._has_marks |= _SIGN in answer.text
        return shown

    def noted(self, result: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the result of a tool with the number of its marks and what they mean, once."""
        (content,) = result["content"]
        n_marks = content["text"].count(_SIGN)
        if not self._has_marks or not n_marks or "masked" in result.get("structuredContent", {"masked": "an error"}):
            return result
        note = _NOTE.format(values="1 value is" if n_marks == 1 else f"{n_marks} values are")
        return {
            **result,
            "content": [{**content, "text": f"{content['text']}\n\n{note}"}],
            "structuredContent": {**result["structuredContent"], "masked": n_marks},
        }


def masked_error(error: FathomError) -> FathomError:
    """Return an error as an agent may read it: it may repeat a path, or words of the caller."""
    return FathomError(masked_text(str(error)), hint=masked_text(error.hint))


def masked_text(text: str) -> str:
    """Return a short text with a mark for each secret, whatever the settings say."""
    return marked_alone(marked(blank(text), text))


def _texts(value: object) -> Iterator[str]:
    """Yield the texts of a value but the lines of hits."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Chunk):
        yield from (value.path, value.symbol)
    elif isinstance(value, tuple):
        for item in value:
            yield from _texts(item)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _texts(getattr(value, field.name))


def _with_texts(value: Any, shown: Mapping[str, str]) -> Any:
    """Return a value with other texts in the place of those that `_texts` yields."""
    if isinstance(value, str):
        return shown[value]
    if isinstance(value, Chunk):
        return replace(value, path=shown[value.path], symbol=shown[value.symbol])
    if isinstance(value, tuple):
        items = [_with_texts(item, shown) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _with_texts(getattr(value, field.name), shown) for field in fields(value)})
    return value
