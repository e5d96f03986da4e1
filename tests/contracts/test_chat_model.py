"""Every chat model keeps one contract; the remote ones against a real server, faults included."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.protocols.server import ServedSettings, Turn, serving
from tests.waiting import LONG_S

from codefathom.answer.record import RecordingModel
from codefathom.errors import ProviderError
from codefathom.providers.base import Ask, ChatModel, Delta, Message, Reply, ToolCall, ToolSpec, Usage, whole
from codefathom.providers.http import Http, Server, Timeouts
from codefathom.providers.ollama import OllamaChat
from codefathom.providers.openai import OpenAIChat
from codefathom.testing import ChatModelContract, ScriptedChat

ASK = Ask([Message("system", "be brief"), Message("user", "hello")])
TOOL = ToolSpec("look", "looks", {"type": "object", "properties": {"path": {"type": "string"}}})
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
TEXT = "Grüße, 世界 😀."
CALLS = (ToolCall("c1", "look", '{"path": "a.py"}'), ToolCall("c2", "look", '{"path": "b.py"}'))


def sse(*events: object, done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events]
    return ("".join(lines) + ("data: [DONE]\n\n" if done else "")).encode()


def delta(finish: str | None = None, **parts: object) -> dict[str, Any]:
    return {"model": "m-1", "choices": [{"index": 0, "delta": parts, "finish_reason": finish}]}


def fragment(index: int, **function: str) -> dict[str, Any]:
    name = {"id": f"c{index + 1}"} if "name" in function else {}
    return delta(tool_calls=[{"index": index, **name, "function": function}])


USAGE = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}


def body(finish: str | None = "stop", **parts: object) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **parts}, "finish_reason": finish}
    return {"model": "m-1", "choices": [choice], "usage": USAGE["usage"]}


class OpenAI:
    """How OpenAI's protocol says things."""

    path = "/v1/chat/completions"
    text = sse(delta(role="assistant"), *(delta(content=sign) for sign in TEXT), delta("stop"), USAGE)
    calls = sse(
        *(fragment(0, name="look", arguments=""), fragment(0, arguments='{"path": '), fragment(1, name="look")),
        *(fragment(0, arguments='"a.py"}'), fragment(1, arguments='{"path": "b.py"}'), delta("tool_calls")),
    )
    refusal = sse(delta(refusal="I will not."), delta("stop"))
    thought = sse(delta(reasoning_content="hm"), delta(content="so"), delta("stop"))
    cut = sse(delta(content="so"), delta("length"))
    truncated = sse(delta(content="so"), done=False)
    no_json = b"data: {broken\n\n"
    no_event = b"data: [1, 2]\n\n"
    error = sse({"error": {"message": "out of memory"}})
    empty = sse(delta("stop"))
    comments = b": keep-alive\r\n\r\n" + text.replace(b"\n", b"\r\n")

    @staticmethod
    def model(http: Http) -> ChatModel:
        return OpenAIChat("m", http)

    @staticmethod
    def address(served: ServedSettings) -> str:
        return f"{served.base_url}/v1"


def lines(*events: object) -> bytes:
    return "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events).encode()


def message(content: str = "", **parts: object) -> dict[str, Any]:
    return {"model": "m-1", "message": {"role": "assistant", "content": content, **parts}, "done": False}


def done(reason: str = "stop") -> dict[str, Any]:
    end = {"done": True, "done_reason": reason, "prompt_eval_count": 7, "eval_count": 3}
    return {**message(), **end}


class Ollama:
    """How Ollama's protocol says things."""

    path = "/api/chat"
    text = lines(*(message(sign) for sign in TEXT), done())
    calls = lines(
        message(tool_calls=[{"id": "c1", "function": {"name": "look", "arguments": {"path": "a.py"}}}]),
        message(tool_calls=[{"id": "c2", "function": {"name": "look", "arguments": {"path": "b.py"}}}]),
        done(),
    )
    refusal = b""
    thought = lines(message(thinking="hm"), message("so"), done())
    cut = lines(message("so"), done("length"))
    truncated = lines(message("so"))
    no_json = b"{broken\n"
    no_event = b"[1, 2]\n"
    error = lines({"error": "out of memory"})
    empty = lines(done())
    comments = b"\r\n\r\n" + text.replace(b"\n", b"\r\n")

    @staticmethod
    def model(http: Http) -> ChatModel:
        return OllamaChat("m", http)

    @staticmethod
    def address(served: ServedSettings) -> str:
        return served.base_url


Protocol = type[OpenAI] | type[Ollama]


@pytest.fixture(params=[OpenAI, Ollama], ids=["openai", "ollama"])
def protocol(request: pytest.FixtureRequest) -> Protocol:
    chosen: Protocol = request.param
    return chosen


def asked(
    protocol: Protocol, *turns: Turn, ask: Ask = ASK, **server: Any
) -> tuple[list[Delta | Reply], ServedSettings, list[float]]:
    """Ask one question and return all that came, the server, and the waits between attempts."""
    waits: list[float] = []
    with serving(*turns) as served:
        server.setdefault("timeouts", Timeouts(LONG_S, LONG_S))
        model = protocol.model(Http(Server(protocol.address(served), **server), sleep=waits.append))
        return list(model.stream(ask)), served, waits


def failed(protocol: Protocol, *turns: Turn, **server: Any) -> tuple[ProviderError, list[float], int]:
    waits: list[float] = []
    with serving(*turns) as served:
        server.setdefault("timeouts", Timeouts(LONG_S, LONG_S))
        model = protocol.model(Http(Server(protocol.address(served), **server), sleep=waits.append))
        with pytest.raises(ProviderError) as caught:
            list(model.stream(ASK))
        return caught.value, waits, len(served.asked)


# ---- what all do


class OfAServer(ChatModelContract):
    protocol: Protocol

    @pytest.fixture(autouse=True)
    def serve(self) -> Iterator[None]:
        with serving(Turn([self.protocol.text], pause_s=0.001)) as self.served:
            yield

    def make(self) -> ChatModel:
        return self.protocol.model(Http(Server(self.protocol.address(self.served))))

    def make_away(self) -> ChatModel:
        with serving(Turn()) as gone:
            address = self.protocol.address(gone)
        return self.protocol.model(Http(Server(address, attempts=2), sleep=lambda _: None))


class TestOpenAI(OfAServer):
    protocol = OpenAI


class TestOllama(OfAServer):
    protocol = Ollama


class TestThatThinksAloud(OfAServer):
    protocol = type("Thinking", (OpenAI,), {"text": OpenAI.thought})


class TestNotStreamed(OfAServer):
    """A server that sends its reply as a whole."""

    protocol = type("Whole", (OpenAI,), {"text": json.dumps(body(content=TEXT)).encode()})


class TestScripted(ChatModelContract):
    def make(self) -> ChatModel:
        return ScriptedChat([Reply(TEXT, usage=Usage(7, 3))] * 9)

    def make_away(self) -> ChatModel:
        return ScriptedChat([ProviderError("nobody is there", hint="write a reply")])


class TestRecorded(TestScripted):
    """A model whose calls are kept."""

    def make(self) -> ChatModel:
        return RecordingModel(super().make())

    def make_away(self) -> ChatModel:
        return RecordingModel(super().make_away())


def test_all_of_a_reply_comes(protocol: Protocol) -> None:
    *pieces, reply = asked(protocol, Turn([protocol.text]))[0]
    assert reply == Reply(TEXT, (), Usage(7, 3), "stop", "m-1")
    assert pieces == [Delta(sign) for sign in TEXT]


# ---- what is sent


def test_the_conversation_is_sent_as_it_is(protocol: Protocol) -> None:
    talk = [
        *ASK.messages,
        Message("assistant", "", CALLS[:1]),
        Message("tool", "found", tool_call_id="c1"),
    ]
    _, served, _ = asked(protocol, Turn([protocol.text]), ask=Ask(talk, [TOOL], max_tokens=99, temperature=0.5))
    [request] = served.asked
    assert request.path == protocol.path
    assert [item["role"] for item in request.body["messages"]] == ["system", "user", "assistant", "tool"]
    assert request.body["messages"][1]["content"] == "hello"
    function = request.body["messages"][2]["tool_calls"][0]["function"]
    arguments = function["arguments"]
    assert (json.loads(arguments) if isinstance(arguments, str) else arguments) == {"path": "a.py"}
    assert request.body["tools"][0]["function"]["name"] == "look"
    assert 99 in {request.body.get("max_tokens"), request.body.get("options", {}).get("num_predict")}


def test_a_schema_is_sent(protocol: Protocol) -> None:
    _, served, _ = asked(protocol, Turn([protocol.text]), ask=ASK._replace(schema=SCHEMA))
    assert SCHEMA in (
        served.asked[0].body.get("format"),
        served.asked[0].body.get("response_format", {}).get("json_schema", {}).get("schema"),
    )


def closed(**properties: object) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


WORD = {"type": "string"}
OPEN = {"type": "object", "properties": {"a": WORD}, "required": ["a"]}
SOME = {**closed(a=WORD, b=WORD), "required": ["a"]}


@pytest.mark.parametrize(
    ("schema", "is_strict"),
    [
        (closed(a=WORD), True),
        (closed(), True),
        (closed(properties=WORD, items=WORD, required=WORD), True),
        (closed(a={"type": "array", "items": closed(b=WORD)}), True),
        (closed(a={"anyOf": [closed(b=WORD), {"type": "null"}]}), True),
        ({**closed(a={"$ref": "#/$defs/b"}), "$defs": {"b": closed(c=WORD)}}, True),
        ({"anyOf": [closed(a=WORD), closed(b=WORD)]}, False),
        (OPEN, False),
        (SOME, False),
        ({"type": "object"}, False),
        (closed(a=OPEN), False),
        (closed(a={"properties": {"b": WORD}}), False),
        (closed(a={"type": ["object", "null"], "properties": {"b": WORD}}), False),
        (closed(a={"type": "array", "items": SOME}), False),
        (closed(a={"anyOf": [closed(b=WORD), OPEN]}), False),
        ({**closed(a={"$ref": "#/$defs/b"}), "$defs": {"b": OPEN}}, False),
        (closed(a={"oneOf": [WORD, {"type": "null"}]}), False),
    ],
)
def test_openai_is_asked_to_be_strict_where_a_schema_allows_it(schema: dict[str, Any], is_strict: bool) -> None:
    _, served, _ = asked(OpenAI, Turn([OpenAI.text]), ask=ASK._replace(schema=schema))
    assert served.asked[0].body["response_format"]["json_schema"] == {
        "name": "reply",
        "schema": schema,
        "strict": is_strict,
    }


REFUSED = [("json_schema",), ("json_schema", "json_object"), ("json_schema", "json_object", "stream_options")]


@pytest.mark.parametrize("refused", REFUSED)
def test_openai_leaves_out_what_a_server_refuses(refused: tuple[str, ...]) -> None:
    def accepts(body: dict[str, Any]) -> bool:
        return not any(word in json.dumps(body) for word in refused)

    events, served, _ = asked(OpenAI, Turn([OpenAI.text], when=accepts), ask=ASK._replace(schema=SCHEMA))
    assert isinstance(events[-1], Reply)
    assert events[-1].text == TEXT
    assert len(served.asked) == len(refused) + 1


def learnt(refused: tuple[str, ...], n_calls: int) -> list[list[str]]:
    """Ask a model again and again; return which of all extras each request held."""

    def held(body: dict[str, Any]) -> list[str]:
        return [word for word in REFUSED[-1] if word in json.dumps(body)]

    def accepts(body: dict[str, Any]) -> bool:
        return not set(held(body)) & set(refused)

    with serving(Turn([OpenAI.text], when=accepts)) as served:
        model = OpenAIChat("mine", Http(Server(OpenAI.address(served))))
        for _ in range(n_calls):
            assert whole(model, ASK._replace(schema=SCHEMA)).text == TEXT
        assert whole(model, ASK).text == TEXT
    return [held(asked.body) for asked in served.asked]


@pytest.mark.parametrize(
    ("refused", "sent"),
    [
        ((), [["json_schema", "stream_options"]] * 2),
        (("json_schema",), [["json_schema", "stream_options"], *[["json_object", "stream_options"]] * 2]),
        (
            ("json_schema", "json_object"),
            [["json_schema", "stream_options"], ["json_object", "stream_options"], *[["stream_options"]] * 2],
        ),
        # Not counting tokens is no reason to do without a schema.
        (
            ("stream_options",),
            [
                ["json_schema", "stream_options"],
                ["json_object", "stream_options"],
                *[["stream_options"], [], ["json_schema"]],
            ],
        ),
    ],
)
def test_openai_learns_once_what_a_server_refuses(refused: tuple[str, ...], sent: list[list[str]]) -> None:
    plain = [] if "stream_options" in refused else ["stream_options"]
    assert learnt(refused, 2) == [*sent, plain]


def test_openai_forgets_a_refusal_that_had_another_reason() -> None:
    """When nothing is taken, it was not the extras."""
    with serving(Turn(status=400, pieces=[b'{"error": "a bad day"}'])) as served:
        model = OpenAIChat("mine", Http(Server(OpenAI.address(served))))
        for _ in range(2):
            with pytest.raises(ProviderError, match="a bad day"):
                whole(model, ASK._replace(schema=SCHEMA))
        assert ["json_schema" in json.dumps(asked.body) for asked in served.asked] == [True, False, False, False] * 2


def test_a_key_is_sent_and_never_said() -> None:
    headers = {"Authorization": "Bearer sk-very-secret"}
    _, served, _ = asked(OpenAI, Turn([OpenAI.text]), headers=headers)
    assert served.asked[0].headers["authorization"] == "Bearer sk-very-secret"
    error, _, _ = failed(OpenAI, Turn([b"bad key"], 401), headers=headers)
    assert "secret" not in f"{error} {error.hint}"
    assert "OPENAI_API_KEY" in error.hint


# ---- what comes


def test_tool_calls(protocol: Protocol) -> None:
    *_, reply = asked(protocol, Turn([protocol.calls]))[0]
    assert isinstance(reply, Reply)
    assert [(call.id, call.name, json.loads(call.arguments)) for call in reply.tool_calls] == [
        (call.id, call.name, json.loads(call.arguments)) for call in CALLS
    ]
    assert reply.finish == "tool_calls"


def part(index: int | None, id_: str | None, name: str | None, arguments: str) -> dict[str, Any]:
    """A fragment of a call as a server may send it."""
    return delta(tool_calls=[{"index": index, "id": id_, "function": {"name": name, "arguments": arguments}}])


ONE_INDEX = [part(0, "c1", "look", '{"a"'), part(0, None, None, ": 1}"), part(0, "c2", "look", '{"b": 2}')]
MIXED = [
    *(part(0, "c1", "look", '{"a"'), part(0, "c2", "look", '{"b"')),
    *(part(0, "c1", "", ": 1}"), part(0, "c2", "", ": 2}")),
]
LATE_ID = [part(0, "", "look", '{"a"'), part(0, "c1", "", ": 1}"), part(1, "c2", "look", '{"b": 2}')]
ID_AGAIN = [part(0, "c1", "look", '{"a"'), part(0, "c1", "", ": 1}"), part(1, "c2", "look", '{"b": 2}')]
NO_INDEX = [part(None, "c1", "look", '{"a": 1}'), part(None, "c2", "look", '{"b": 2}')]


@pytest.mark.parametrize("events", [ONE_INDEX, MIXED, LATE_ID, ID_AGAIN, NO_INDEX])
@pytest.mark.parametrize("end", ["tool_calls", "stop"])
def test_openai_keeps_two_calls_apart(events: list[dict[str, Any]], end: str) -> None:
    *_, reply = asked(OpenAI, Turn([sse(*events, delta(end))]))[0]
    assert isinstance(reply, Reply)
    assert reply.tool_calls == (ToolCall("c1", "look", '{"a": 1}'), ToolCall("c2", "look", '{"b": 2}'))
    assert reply.finish == "tool_calls"


def test_calls_that_were_cut_say_so() -> None:
    *_, reply = asked(OpenAI, Turn([sse(part(0, "c1", "look", '{"a'), delta("length"))]))[0]
    assert isinstance(reply, Reply)
    assert reply.finish == "length"


def test_text_may_come_as_parts() -> None:
    picture = {"type": "image_url", "image_url": {"url": "x"}}
    parts = [{"type": "text", "text": "Grüße"}, picture, {"type": "text", "text": ", 世界"}]
    *pieces, reply = asked(OpenAI, Turn([sse(delta(content=parts), delta(content=" 😀."), delta("stop"))]))[0]
    assert isinstance(reply, Reply)
    assert pieces == [Delta("Grüße, 世界"), Delta(" 😀.")]
    assert reply.text == TEXT


def test_what_a_model_thinks_is_no_text(protocol: Protocol) -> None:
    events = asked(protocol, Turn([protocol.thought]))[0]
    assert events[:2] == [Delta("", "hm"), Delta("so")]
    assert isinstance(events[-1], Reply)
    assert events[-1].text == "so"


def said(protocol: Protocol, pieces: list[str], finish: str = "stop") -> bytes:
    if protocol is OpenAI:
        return sse(*(delta(content=piece) for piece in pieces), delta(finish))
    return lines(*(message(piece) for piece in pieces), done(finish))


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("content", "reasoning", "text"),
    [
        ("<think>a <b> </thin </think>so", "a <b> </thin ", "so"),
        (" \n<think>\nhm\n</think>\n\nso <think>no</think>", "\nhm\n", "so <think>no</think>"),
        ("<think></think>so", "", "so"),
        ("<think>hm", "hm", ""),
        ("<think>hm</thi", "hm</thi", ""),
        ("<think>hm</think>\n", "hm", ""),
        ("so <think>hm</think>", "", "so <think>hm</think>"),
        ("<thinking>hm", "", "<thinking>hm"),
        (" <thi", "", " <thi"),
        ("\n" * 99 + "so", "", "\n" * 99 + "so"),
        ("<think>hm</think>" + "\n" * 300 + "so", "hm", None),
    ],
)
def test_what_a_model_thinks_between_tags_is_no_text(
    protocol: Protocol, content: str, reasoning: str, text: str | None, size: int
) -> None:
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    *deltas, reply = asked(protocol, Turn([said(protocol, pieces, "length")]))[0]
    assert isinstance(reply, Reply)
    assert "".join(piece.reasoning for piece in deltas if isinstance(piece, Delta)) == reasoning
    assert "".join(piece.text for piece in deltas if isinstance(piece, Delta)) == reply.text
    assert (reply.text if text is not None else reply.text.lstrip()) == (text if text is not None else "so")
    assert reply.finish == "length"


def test_thoughts_come_while_they_are_thought(protocol: Protocol) -> None:
    *pieces, _ = asked(protocol, Turn([said(protocol, ["<think>", "one ", "two</", "think>", "\n", "so"])]))[0]
    assert pieces == [Delta("", "one "), Delta("", "two"), Delta("so")]


@pytest.mark.parametrize("begin", ["", "<think>", "<think></think>"])
def test_white_space_without_an_end_is_ended(protocol: Protocol, begin: str) -> None:
    first, blank = said(protocol, [begin]), said(protocol, [" " * 99])
    first, blank = (body[: body.rindex(b'"m-1"')].rpartition(b"\n")[0] + b"\n" for body in (first, blank))
    with serving(Turn([first + blank * 999])) as served:
        model = protocol.model(Http(Server(protocol.address(served))))
        with pytest.raises(ProviderError, match="did not stop after the 16 tokens"):
            whole(model, ASK._replace(max_tokens=16))


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("finish", ["stop", None])
def test_openai_takes_a_reply_that_is_not_streamed(indent: int | None, finish: str | None) -> None:
    answer = json.dumps(body(finish, content=f"<think>hm</think>{TEXT}"), indent=indent).encode()
    events = asked(OpenAI, Turn([answer]))[0]
    assert events == [Delta(TEXT, "hm"), Reply(TEXT, (), Usage(7, 3), "stop", "m-1")]


def test_openai_takes_calls_that_are_not_streamed() -> None:
    calls = [{"id": call.id, "function": {"name": call.name, "arguments": call.arguments}} for call in CALLS]
    [reply] = asked(OpenAI, Turn([json.dumps(body("tool_calls", content=None, tool_calls=calls)).encode()]))[0]
    assert reply == Reply("", CALLS, Usage(7, 3), "tool_calls", "m-1")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b'{"message": "bad key sk-secret"}', 'not a reply: \'{"message": "bad key ***"}\''),
        (b'{"choices": []}', "not a reply"),
        (b'{"error": {"message": "bad key sk-secret"}}', "failed: bad key ***"),
        (b'{\n"choices": [', "not JSON"),
        (b'{"a":' * 100_000, "not JSON"),
    ],
)
def test_what_is_no_reply_is_an_error(answer: bytes, words: str) -> None:
    error, _, _ = failed(OpenAI, Turn([answer]), headers={"Authorization": "Bearer sk-secret"})
    assert words in str(error)
    assert "secret" not in str(error)


def test_a_whole_reply_does_not_follow_on_pieces() -> None:
    answer = sse(delta(content="so"), done=False) + json.dumps(body(content="so")).encode()
    error, _, _ = failed(OpenAI, Turn([answer]))
    assert "broke off" in str(error)


def test_a_web_page_is_no_model(protocol: Protocol) -> None:
    error, _, _ = failed(protocol, Turn([b"<!doctype html>\n<title>Welcome</title>"]))
    assert "answered with a web page" in str(error)
    assert "llm.base_url" in error.hint


def test_an_address_that_has_moved_is_said(protocol: Protocol) -> None:
    moved = "https://new.example" + protocol.path
    error, _, _ = failed(protocol, Turn(status=308, headers={"location": moved}))
    assert moved.removesuffix("/chat/completions").removesuffix("/api/chat") + ": correct llm.base_url" in error.hint


def test_a_reply_that_was_cut_says_so(protocol: Protocol) -> None:
    *_, reply = asked(protocol, Turn([protocol.cut]))[0]
    assert isinstance(reply, Reply)
    assert (reply.text, reply.finish) == ("so", "length")


def test_a_refusal_says_so() -> None:
    *_, reply = asked(OpenAI, Turn([OpenAI.refusal]))[0]
    assert isinstance(reply, Reply)
    assert (reply.text, reply.finish) == ("I will not.", "refused")


def test_an_empty_reply_is_a_reply(protocol: Protocol) -> None:
    [reply] = asked(protocol, Turn([protocol.empty]))[0]
    assert isinstance(reply, Reply)
    assert reply.text == ""


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_packets_may_end_anywhere(protocol: Protocol, size: int) -> None:
    pieces = [protocol.text[start : start + size] for start in range(0, len(protocol.text), size)]
    *_, reply = asked(protocol, Turn(pieces))[0]
    assert isinstance(reply, Reply)
    assert reply.text == TEXT


def test_comments_and_other_line_ends(protocol: Protocol) -> None:
    *_, reply = asked(protocol, Turn([protocol.comments]))[0]
    assert isinstance(reply, Reply)
    assert reply.text == TEXT


# ---- faults


def test_too_many_requests_are_waited_for(protocol: Protocol) -> None:
    events, served, waits = asked(protocol, Turn([b"slow down"], 429, {"retry-after": "7"}), Turn([protocol.text]))
    assert isinstance(events[-1], Reply)
    assert (len(served.asked), waits) == (2, [7.0])


LOST = Turn(reset="middle")  # after the status, before the first byte of the body


@pytest.mark.parametrize("turn", [Turn([b"oops"], 500), Turn([b"busy"], 503), Turn(reset="first"), LOST])
def test_what_passes_is_tried_again(protocol: Protocol, turn: Turn) -> None:
    events, served, waits = asked(protocol, turn, turn, Turn([protocol.text]))
    assert isinstance(events[-1], Reply)
    assert len(served.asked) == 3
    assert 0.25 <= waits[0] <= 0.5 <= waits[1] <= 1.0


def test_what_does_not_pass_is_an_error_after_all_attempts(protocol: Protocol) -> None:
    error, waits, n_asked = failed(protocol, Turn([b"oops, all   broken"], 500), attempts=3)
    assert "answered 500: oops, all broken" in str(error)
    assert (n_asked, len(waits)) == (3, 2)


@pytest.mark.parametrize(("status", "word"), [(401, "key"), (404, "llm.model"), (403, "key")])
def test_a_refused_request_is_not_tried_again(protocol: Protocol, status: int, word: str) -> None:
    error, _, n_asked = failed(protocol, Turn([b"no"], status))
    assert n_asked == 1
    assert word in error.hint


def test_a_server_that_is_not_there(protocol: Protocol) -> None:
    with serving(Turn()) as served:
        address = protocol.address(served)
    model = protocol.model(Http(Server(address, attempts=2), sleep=lambda _: None))
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        list(model.stream(ASK))
    assert "is the server running?" in caught.value.hint


def test_a_server_that_says_nothing_is_given_up_once(protocol: Protocol) -> None:
    error, _, n_asked = failed(protocol, Turn([protocol.text], silent_s=LONG_S), timeouts=Timeouts(LONG_S, 1.0))
    assert "did not answer for 1 s" in str(error)
    assert "llm.read_timeout_s" in error.hint
    assert n_asked == 1


@pytest.mark.parametrize(
    ("what", "word"),
    [
        ("truncated", "broke off"),
        ("no_json", "not JSON"),
        ("no_event", "not an event"),
        ("error", "out of memory"),
    ],
)
def test_a_stream_that_breaks_is_an_error_and_not_an_answer(protocol: Protocol, what: str, word: str) -> None:
    error, _, n_asked = failed(protocol, Turn([getattr(protocol, what)]))
    assert word in str(error)
    assert n_asked == 1


def test_a_connection_that_is_lost_in_the_middle_is_not_tried_again(protocol: Protocol) -> None:
    error, _, n_asked = failed(protocol, Turn([protocol.truncated], pause_s=0.05, reset="middle"))
    assert "lost" in str(error) or "broke off" in str(error)
    assert n_asked == 1


def test_a_server_that_keeps_failing_is_left_alone_for_a_while(protocol: Protocol) -> None:
    with serving(Turn([b"oops"], 500)) as served:
        model = protocol.model(Http(Server(protocol.address(served), attempts=3), sleep=lambda _: None))
        for n_calls in range(1, 6):
            with pytest.raises(ProviderError, match="answered 500"):
                list(model.stream(ASK))
            assert len(served.asked) == 3 * n_calls
        with pytest.raises(ProviderError, match=r"failed 5 times in a row.* answered 500: oops"):
            list(model.stream(ASK))
        assert len(served.asked) == 15


def test_closing_the_iterator_hangs_up(protocol: Protocol) -> None:
    first = protocol.text.split(b"\n")[2 if protocol is OpenAI else 0] + b"\n\n"
    with serving(Turn([first], pause_s=0.01, repeat=10_000)) as served:
        stream = protocol.model(Http(Server(protocol.address(served)))).stream(ASK)
        assert isinstance(next(stream), Delta)
        stream.close()  # type: ignore[attr-defined]
        assert served.asked[0].is_closed.wait(LONG_S)


def test_an_address_that_is_none() -> None:
    model = OpenAIChat("m", Http(Server("http://[bad"), sleep=lambda _: None))
    with pytest.raises(ProviderError, match=r"\[bad"):
        list(model.stream(ASK))


def test_json_answers() -> None:
    with serving(Turn([b'{"a": ', b"1}"]), Turn([b"nope"])) as served:
        http = Http(Server(served.base_url))
        assert http.post("/x", {"b": 2}) == {"a": 1}
        with pytest.raises(ProviderError, match="did not answer with JSON: 'nope'"):
            http.post("/x", {})
        assert served.asked[0].body == {"b": 2}


def test_openai_learns_once_that_a_model_takes_other_limits() -> None:
    def accepts(body: dict[str, Any]) -> bool:
        return "max_tokens" not in body and "temperature" not in body

    refusal = Turn([OpenAI.text], when=accepts)
    with serving(refusal, refusal, Turn([OpenAI.text])) as served:
        served.refusal = b'{"error": {"message": "Unsupported parameter: max_tokens"}}'
        model = OpenAIChat("mine", Http(Server(OpenAI.address(served))))
        assert whole(model, ASK).text == whole(model, ASK).text == TEXT
        assert ["max_tokens" in request.body for request in served.asked] == [True, False, False]


@pytest.mark.parametrize("model", ["gpt-5-mini", "o3"])
def test_openai_knows_its_reasoning_models(model: str) -> None:
    with serving(Turn([OpenAI.text])) as served:
        assert whole(OpenAIChat(model, Http(Server(OpenAI.address(served)))), ASK._replace(max_tokens=9)).text == TEXT
        body = served.asked[0].body
        assert (body["max_completion_tokens"], "temperature" in body, "max_tokens" in body) == (9, False, False)


@pytest.mark.parametrize(
    "event",
    [
        {"choices": "abc"},
        {"choices": [{"delta": "abc"}]},
        {"choices": [{"delta": {"tool_calls": [1]}}]},
        {"choices": [{"delta": {"content": 7}}]},
        {"choices": [{"delta": {"content": {"text": "x"}}}]},
        {"choices": [{"delta": {"content": ["x"]}}]},
        {"choices": [7]},
    ],
)
def test_an_event_of_a_wrong_shape_is_an_error_of_the_provider(event: object) -> None:
    error, _, _ = failed(OpenAI, Turn([sse(event)]))
    assert "not an event" in str(error)


@pytest.mark.parametrize("event", [{"message": "x"}, {"message": {"tool_calls": 3}}, {"message": {"tool_calls": [3]}}])
def test_a_line_of_a_wrong_shape_is_an_error_of_the_provider(event: object) -> None:
    error, _, _ = failed(Ollama, Turn([lines(event)]))
    assert "not an event" in str(error)


def test_a_key_that_a_server_repeats_is_not_said() -> None:
    said = b"invalid key sk-very-secret-1234"
    error, _, _ = failed(OpenAI, Turn([said], 401), headers={"Authorization": "Bearer sk-very-secret-1234"})
    assert "secret" not in str(error)
    assert "invalid key ***" in str(error)


KEY = "sk-very-secret-1234"


@pytest.mark.parametrize("what", ["error", "not JSON", "not an event", "message"])
def test_a_key_in_a_good_reply_is_not_said(protocol: Protocol, what: str) -> None:
    said = {
        "error": {"error": f"bad key {KEY} \x9b2J\u202e"},
        "not an event": [f"bad key {KEY} \x9b2J\u202e"],
        "message": {"error": {"message": f"bad key {KEY}", "code": 7}},
    }
    body = {OpenAI: sse, Ollama: lines}[protocol](said.get(what, {}))
    if what == "not JSON":
        body = ("data: " if protocol is OpenAI else "").encode() + f"bad key {KEY}\x1b[2J\n".encode()
    error, _, _ = failed(protocol, Turn([body]), headers={"Authorization": f"Bearer {KEY}"})
    assert "secret" not in f"{error} {error.hint}"
    assert "bad key ***" in str(error)
    assert str(error).isprintable()


def test_what_is_nested_too_deeply_is_no_json(protocol: Protocol) -> None:
    prefix = b"data: " if protocol is OpenAI else b""
    error, _, _ = failed(protocol, Turn([prefix + b"[" * 100_000 + b"\n"]))
    assert "not JSON" in str(error)


def test_arguments_that_are_nested_too_deeply_go_back_as_they_are() -> None:
    deep = "[" * 100_000
    talk = [Message("user", "hello"), Message("assistant", "", (ToolCall("c1", "look", deep),))]
    _, served, _ = asked(Ollama, Turn([Ollama.text]), ask=Ask(talk))
    assert served.asked[0].body["messages"][1]["tool_calls"][0]["function"]["arguments"] == {"text": deep}


def test_a_count_that_is_none_is_an_error_of_the_provider(protocol: Protocol) -> None:
    for count in (b"1e999", b'"many"'):
        error, _, _ = failed(protocol, Turn([protocol.text.replace(b": 7", b": " + count)]))
        assert "not an event" in str(error)


def test_signs_that_end_lines_elsewhere_are_text() -> None:
    text = "one\u2028two\x85three\u2029"
    *_, reply = asked(OpenAI, Turn([sse(delta(content=text), delta("stop"))]))[0]
    assert isinstance(reply, Reply)
    assert reply.text == text


def test_a_proxy_does_not_lead_to_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    *_, reply = asked(OpenAI, Turn([OpenAI.text]))[0]
    assert isinstance(reply, Reply)


def test_ollama_is_told_which_tool_gave_a_result() -> None:
    find = ToolCall("c1", "find", "{}")  # some servers number the calls of each round anew
    talk = [
        *(Message("user", "hello"), Message("assistant", "", (CALLS[0], CALLS[1]._replace(name="list")))),
        *(Message("tool", "two", tool_call_id="c2"), Message("tool", "one", tool_call_id="c1")),
        *(Message("assistant", "", (find,)), Message("tool", "three", tool_call_id="c1")),
        Message("tool", "whose?", tool_call_id="c9"),
    ]
    _, served, _ = asked(Ollama, Turn([Ollama.text]), ask=Ask(talk))
    sent = served.asked[0].body["messages"]
    results = [(item["content"], item.get("tool_name")) for item in sent if item["role"] == "tool"]
    assert results == [("two", "list"), ("one", "look"), ("three", "find"), ("whose?", None)]
    assert all("tool_call_id" not in item for item in sent)
    assert [item for item in sent if "tool_name" in item and item["role"] != "tool"] == []


def test_openai_is_told_which_call_a_result_answers() -> None:
    talk = [Message("user", "hello"), Message("assistant", "", CALLS[:1]), Message("tool", "one", tool_call_id="c1")]
    _, served, _ = asked(OpenAI, Turn([OpenAI.text]), ask=Ask(talk))
    assert served.asked[0].body["messages"][2] == {"role": "tool", "content": "one", "tool_call_id": "c1"}


def test_half_a_character_can_be_asked_about(protocol: Protocol) -> None:
    events, served, _ = asked(protocol, Turn([protocol.text]), ask=Ask([Message("user", "a\udc80b")]))
    assert isinstance(events[-1], Reply)
    assert served.asked[0].body["messages"][0]["content"] == "a?b"


def test_what_failed_at_ollama_may_be_a_model_to_pull() -> None:
    error, _, _ = failed(Ollama, Turn([Ollama.error]))
    assert error.hint == "`ollama pull m` if it is not there yet"


@pytest.mark.parametrize(("n_chars", "window"), [(100, None), (9_000, 8_192), (60_000, 32_768), (9_000_000, 131_072)])
def test_ollama_is_told_how_much_it_must_take(n_chars: int, window: int | None) -> None:
    # Beyond its default of 4,096 tokens or less it would cut the prompt and say nothing.
    _, served, _ = asked(Ollama, Turn([Ollama.text]), ask=Ask([Message("user", "x" * n_chars)]))
    assert served.asked[0].body["options"].get("num_ctx") == window


def test_a_reply_without_an_end_is_ended(protocol: Protocol) -> None:
    piece = {OpenAI: sse(delta(content="so"), done=False), Ollama: lines(message("so"))}[protocol]
    with serving(Turn([piece], repeat=1_000_000)) as served:
        model = protocol.model(Http(Server(protocol.address(served))))
        with pytest.raises(ProviderError, match="did not stop after the 16 tokens"):
            whole(model, ASK._replace(max_tokens=16))
        assert served.asked[0].is_closed.wait(LONG_S)
