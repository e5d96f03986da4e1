"""The contract of embedders."""

from __future__ import annotations

import math
from operator import mul
from typing import Literal, cast

from codefathom.providers.base import Embedder
from codefathom.types import Matrix

KINDS: tuple[Literal["document"], Literal["query"]] = ("document", "query")


class EmbedderContract:
    """The behaviour of every `Embedder`. A test class inherits from it and defines the making of one."""

    def make(self) -> Embedder:
        """Return the embedder under test."""
        raise NotImplementedError

    def test_names_itself_the_same_every_time(self) -> None:
        """The name is the key under which vectors are kept."""
        assert self.make().name == self.make().name
        assert self.make().name.strip()

    def test_gives_one_row_for_each_text(self) -> None:
        """Shape and type are those the stores expect."""
        embedder = self.make()
        for kind in KINDS:
            matrix = embedder.embed(["read a file", "write a file", "read a file"], kind)
            assert (matrix.shape, matrix.format, matrix.c_contiguous) == ((3, embedder.dimensions), "f", True)
            rows = rows_of(matrix)
            assert rows[0] == rows[2] != rows[1]

    def test_takes_no_texts(self) -> None:
        """Nothing in, nothing out."""
        assert all(len(self.make().embed([], kind)) == 0 for kind in KINDS)

    def test_rows_have_unit_length(self) -> None:
        """The dot product of two rows is their cosine."""
        for kind in KINDS:
            for row in rows_of(self.make().embed(["parse the configuration", "open_socket()"], kind)):
                assert abs(math.hypot(*row) - 1) < 1e-5

    def test_a_text_without_words_gives_zeros(self) -> None:
        """Nothing known is near to nothing, and never not-a-number."""
        for kind in KINDS:
            rows = rows_of(self.make().embed(["", "  \n", "parse", "{}();"], kind))
            assert [any(row) for row in rows] == [False, False, True, False]

    def test_gives_the_same_bits_again(self) -> None:
        """Also from another instance."""
        texts = ["def parse(text): return text.split()", "SELECT name FROM users"]
        for kind in KINDS:
            assert self.make().embed(texts, kind).tobytes() == self.make().embed(texts, kind).tobytes()

    def test_a_row_does_not_depend_on_its_neighbours(self) -> None:
        """A cached vector equals one made in any batch."""
        embedder = self.make()
        texts = [
            f"read {word} from the {word} of number {n}" for n, word in enumerate(["file", "socket", "cache"] * 60)
        ]
        together = rows_of(embedder.embed(texts, "document"))
        assert together[::20] == [rows_of(embedder.embed([text], "document"))[0] for text in texts[::20]]

    def test_a_question_lies_near_its_answer(self) -> None:
        """Both kinds of text live in one space."""
        embedder = self.make()
        question = rows_of(embedder.embed(["parse json text"], "query"))[0]
        near, far = rows_of(embedder.embed(["parse json text quickly", "socket listens"], "document"))
        assert sum(map(mul, question, near)) > sum(map(mul, question, far))


def rows_of(matrix: Matrix) -> list[list[float]]:
    """Return the rows of a matrix as plain numbers."""
    return cast(list[list[float]], matrix.tolist())
