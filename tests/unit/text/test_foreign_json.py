"""text/foreign_json.py: what is read, and how deep."""

from __future__ import annotations

import gc
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.text.foreign_json import MAX_DEPTH, read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES, st.text())
def test_what_json_reads_is_read(value: Any, text: str) -> None:
    written = json.dumps([value] * 40)
    assert read_json(written) == read_json(written.encode("utf-16")) == json.loads(written)
    for wrong in (text + "]", written + text + "["):
        with pytest.raises(ValueError, match=r"."):
            read_json(wrong)


@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"a":', "}"), ('[{"[":', "}]"), ('{"\\"[": [', "]}")])
def test_brackets_are_counted_where_they_are_no_text(begin: str, end: str) -> None:
    each = 1 if len(end) == 1 else 2
    most = MAX_DEPTH // each
    assert read_json(begin * most + "1" + end * most)
    for deep in (begin * (most + 1) + "1" + end * (most + 1), begin * 100_000):
        with pytest.raises(ValueError, match="nested more than 200 deep"):
            read_json(deep)


def test_many_brackets_beside_one_another_are_not_deep() -> None:
    assert len(read_json("[" + "[], " * 10_000 + "{}]")) == 10_001
    assert read_json('["' + "[" * 10_000 + '"]') == ["[" * 10_000]


def test_a_text_that_is_never_closed_is_no_json() -> None:
    for wrong in ('"' + "[" * 300, '["\\' + "[" * 300, "]" * 300 + "[" * 300):
        with pytest.raises(ValueError, match="line 1"):
            read_json(wrong)


def test_what_is_tidied_up_meanwhile_has_room() -> None:
    """What Python collects while it reads, and closes, fails at the end of the stack."""
    unclosed: list[int] = []

    class Held:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            unclosed.append(depth(100))

    def depth(n: int) -> int:
        return 1 + depth(n - 1) if n else 0

    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(20):
            Held()
            with pytest.raises(ValueError, match="nested"):
                read_json("[" * 100_000)
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert unclosed == [100] * 20


def test_line_ends_in_texts_are_read_where_a_model_writes_them() -> None:
    assert read_json('["a\nb"]', strict=False) == ["a\nb"]
    with pytest.raises(ValueError, match="control character"):
        read_json('["a\nb"]')
