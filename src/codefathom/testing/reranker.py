"""The contract of reranking models."""

from __future__ import annotations

import math

from codefathom.providers.base import Reranker

_QUESTION = "parse json text"
_NEAR, _FAR = "parse json text quickly", "socket listens"
_CLOSE = 1e-4  # how far the same text may be graded apart: a server's arithmetic depends on the batch


class RerankerContract:
    """The behaviour of every `Reranker`. A test class inherits from it and defines the making of one."""

    def make(self) -> Reranker:
        """Return the reranker under test."""
        raise NotImplementedError

    def test_names_itself_the_same_every_time(self) -> None:
        """Reports of a failure name the model."""
        assert self.make().name == self.make().name
        assert self.make().name.strip()

    def test_grades_each_text(self) -> None:
        """One finite number for each text, also when they are equal."""
        scores = self.make().scores(_QUESTION, [_NEAR, _FAR, _NEAR])
        assert [type(score) for score in scores] == [float, float, float]
        assert all(map(math.isfinite, scores))
        assert abs(scores[0] - scores[2]) < _CLOSE

    def test_takes_no_texts(self) -> None:
        """Nothing in, nothing out."""
        assert self.make().scores(_QUESTION, []) == []

    def test_what_answers_is_graded_higher(self) -> None:
        """Larger is better."""
        near, far = self.make().scores(_QUESTION, [_NEAR, _FAR])
        assert near > far

    def test_grades_come_in_the_order_of_the_texts(self) -> None:
        """Whatever order the model has."""
        texts = [_FAR, _NEAR, "read a file", "parse the configuration"]
        model = self.make()
        for one, other in zip(model.scores(_QUESTION, texts), model.scores(_QUESTION, texts[::-1])[::-1], strict=True):
            assert abs(one - other) < _CLOSE

    def test_takes_any_text(self) -> None:
        """Nothing, much, and half a character, which file names can hold."""
        texts = ["", "{}();", "世界", "\ud800 parse", "parse json " * 5_000]
        assert all(map(math.isfinite, self.make().scores(_QUESTION, texts)))
        assert all(map(math.isfinite, self.make().scores("parse json " * 5_000, [_NEAR, _FAR])))
