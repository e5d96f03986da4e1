"""Answers and traces as JSON: their keys are a promise."""

from __future__ import annotations

import json

from codefathom.answer.answer_types import Answer, Citation, ModelCall, Source, StageTrace, TracedMessage
from codefathom.facts.reasons import verbatim
from codefathom.providers.base import Usage
from codefathom.server.schemas.search_schemas import CommitOut, HitOut
from codefathom.shapes import answer_shape, hit_shape, to_json, trace_shape
from codefathom.types import Chunk, CommitMark, Hit

CALL = ModelCall("openai:m", (TracedMessage("user", "What?"),), "Two.", 1.5, Usage(9, 3), "gone")
SOURCE = Source(1, "a.py", 2, 3, "two\nthree", "pair", 0.83333, "mentions two; judged 8/10")


def answer(failure: str = "") -> Answer:
    return Answer(
        question="What?", text="Two [a.py:2-3].", citations=(Citation("a.py", 2, 3, "pair"),), dropped=(),
        verified_share=1.0, confidence=0.9, label="high", model="openai:m", usage=Usage(9, 3), sources=(SOURCE,),
        generation=1, failure=failure,
    )  # fmt: skip


def test_a_source_tells_its_symbol_and_why_it_is_there() -> None:
    (source,) = answer_shape(answer())["sources"]
    assert source == {
        "number": 1, "path": "a.py", "start_line": 2, "end_line": 3, "symbol": "pair", "score": 0.8333,
        "reason": "mentions two; judged 8/10", "place": "", "place_parts": [],
    }  # fmt: skip


def test_an_error_is_a_key_only_where_there_is_one() -> None:
    assert "error" not in answer_shape(answer())
    assert answer_shape(answer("gone; ask again"))["error"] == "gone; ask again"


def test_a_trace_tells_tokens_by_name() -> None:
    stage = StageTrace("answer", 2.0, 1, 1, Usage(9, 3), calls=(CALL,), n_calls=1)
    (shape,) = json.loads(to_json(trace_shape([stage])))
    tokens = {"prompt_tokens": 9, "completion_tokens": 3}
    assert shape["usage"] == tokens
    assert shape["calls"] == [
        {
            "model": "openai:m", "prompt": [{"role": "user", "text": "What?"}], "reply": "Two.", "milliseconds": 1.5,
            "usage": tokens, "problem": "gone",
        }
    ]  # fmt: skip


def test_each_key_of_a_hit_comes_over_http_too() -> None:
    chunk = Chunk("id", "a.py", "python", "function", "pair", ("pair",), 2, 3, "two\nthree\n")
    mark = CommitMark("1a2b", "2026-11-27", "Ann", "Retry")
    hit = Hit(chunk, 0.5, {}, (verbatim("mentions two"),), 2, "pair", commit=mark)
    assert {"project_id", *hit_shape(hit)} == set(HitOut.model_fields)
    assert hit_shape(hit)["commit"].keys() == set(CommitOut.model_fields)
