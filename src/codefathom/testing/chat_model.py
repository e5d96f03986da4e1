"""The contract of chat models."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import cast, get_args

from codefathom.errors import ProviderError
from codefathom.providers.base import Ask, ChatModel, Delta, Finish, Message, Reply, ToolCall, ToolSpec, whole

_ASK = Ask([Message("system", "Be brief."), Message("user", "Say hello.")])
_LOOK = ToolSpec("look", "Shows a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
_SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
_TALK = (
    *_ASK.messages,
    Message("assistant", "", (ToolCall("c1", "look", '{"path": "a.py"}'), ToolCall("c2", "look", "{no JSON"))),
    Message("tool", "print('hello')", tool_call_id="c1"),
    Message("tool", "no such file", tool_call_id="c2"),
    Message("user", "And now?"),
)


class ChatModelContract:
    """The behaviour of every `ChatModel`. A test class inherits from it and defines the making of one."""

    def make(self) -> ChatModel:
        """Return the model under test, which answers every question with some text."""
        raise NotImplementedError

    def make_away(self) -> ChatModel:
        """Return such a model whose provider cannot be reached."""
        raise NotImplementedError

    def test_names_itself_the_same_every_time(self) -> None:
        """The name stands in answers, in the index and in prices."""
        assert self.make().name == self.make().name
        assert self.make().name.strip()

    def test_text_comes_in_pieces_and_whole(self) -> None:
        """The reply is the last item, and its text is that of all pieces."""
        *pieces, reply = self.make().stream(_ASK)
        assert isinstance(reply, Reply)
        assert all(isinstance(piece, Delta) and any(piece) for piece in pieces)
        assert "".join(piece.text for piece in pieces) == reply.text
        assert reply.text.strip()

    def test_a_reply_says_how_it_ended_and_what_it_took(self) -> None:
        """Nothing is called where there are no tools; tokens that nobody counted are 0."""
        reply = whole(self.make(), _ASK)
        assert reply.finish in set(get_args(Finish)) - {"tool_calls"}
        assert reply.tool_calls == ()
        assert all(type(count) is int and count >= 0 for count in reply.usage)

    def test_takes_all_that_can_be_asked(self) -> None:
        """Earlier calls and their results, tools, a schema, any temperature; a model asks again after any of it."""
        model = self.make()
        for ask in (Ask(_TALK), Ask(_TALK, [_LOOK]), _ASK._replace(schema=_SCHEMA), _ASK._replace(temperature=1.0)):
            assert isinstance(whole(model, ask), Reply)

    def test_half_a_character_can_be_asked_about(self) -> None:
        """Names of files can hold it."""
        assert whole(self.make(), Ask([Message("user", "What is in a\udc80b.py?")])).text.strip()

    def test_a_stream_may_be_closed_at_any_time(self) -> None:
        """Before the first piece and after it; the model can be asked again."""
        model = self.make()
        for n_taken in (0, 1):
            stream = cast("Generator[Delta | Reply, None, None]", model.stream(_ASK))
            for _ in range(n_taken):
                next(stream)
            stream.close()
            assert next(stream, None) is None
        assert whole(model, _ASK).text.strip()

    def test_several_threads_at_once(self) -> None:
        """Each gets a whole reply of its own."""
        model = self.make()
        with ThreadPoolExecutor(4) as threads:
            items = list(threads.map(lambda _: list(model.stream(_ASK)), range(4)))
        for *pieces, reply in items:
            assert isinstance(reply, Reply)
            assert "".join(piece.text for piece in pieces) == reply.text

    def test_a_provider_that_is_away_is_an_error_with_a_remedy(self) -> None:
        """It comes instead of the first piece."""
        stream = self.make_away().stream(_ASK)
        try:
            first = next(stream)
        except ProviderError as error:
            assert str(error).strip()
            assert error.hint.strip()
        else:
            raise AssertionError(f"nobody was there, and yet came {first!r}")
