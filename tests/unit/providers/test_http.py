"""What is sent, tried again, refused and said, whatever the protocol; against a real server."""

from __future__ import annotations

import json
import time
from email.utils import formatdate
from math import ceil
from typing import Any

import pytest
from tests.protocols.server import ServedSettings, Turn, serving

from codefathom.errors import ProviderError
from codefathom.providers.http import Hints, Http, Server, StatusError, Timeouts

GOOD = Turn([b'{"a": ', b"1}\n"])
KEY = {"Authorization": "Bearer sk-very/secret"}


def http(served: ServedSettings, waits: list[float] | None = None, **server: Any) -> Http:
    server.setdefault("timeouts", Timeouts(2.0, 5.0))
    return Http(Server(served.base_url, **server), sleep=[].append if waits is None else waits.append)


@pytest.mark.parametrize("turn", [Turn(reset="first"), Turn(reset="middle"), Turn([b'{"a"'], reset="middle")])
def test_a_connection_lost_before_anything_was_handed_out_is_tried_again(turn: Turn) -> None:
    with serving(turn, GOOD) as served:
        assert http(served).post("/x", {}) == {"a": 1}
    with serving(turn, GOOD) as served:
        assert list(http(served).lines("/x", {})) == ['{"a": 1}']
        assert len(served.asked) == 2


def test_a_connection_lost_after_a_line_is_not() -> None:
    with serving(Turn([b"one\ntw"], reset="middle")) as served:
        lines = http(served).lines("/x", {})
        assert next(lines) == "one"
        with pytest.raises(ProviderError, match="was lost"):
            next(lines)
        assert len(served.asked) == 1


def test_a_lost_connection_is_an_error_after_all_attempts() -> None:
    waits: list[float] = []
    with serving(Turn(reset="middle")) as served:
        with pytest.raises(ProviderError, match="was lost"):
            http(served, waits, attempts=3).post("/x", {})
        assert (len(served.asked), len(waits)) == (3, 2)


def test_a_server_that_is_silent_in_the_middle_is_given_up_once() -> None:
    with serving(Turn([b"{"], pause_s=1.0)) as served:
        with pytest.raises(ProviderError, match=r"did not answer for 0\.1 s"):
            http(served, timeouts=Timeouts(2.0, 0.1)).post("/x", {})
        assert len(served.asked) == 1


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("after", "words"), [("61", "wait 61 s"), ("3599.2", "wait 3600 s")])
def test_nobody_waits_for_longer_than_a_minute(status: int, after: str, words: str) -> None:
    waits: list[float] = []
    with serving(Turn([b"slow down"], status, {"retry-after": after}), GOOD) as served:
        with pytest.raises(StatusError, match=f"answered {status}: slow down") as caught:
            http(served, waits).post("/x", {})
        assert words in caught.value.hint
        assert (len(served.asked), waits) == (1, [])


def test_a_wait_may_be_a_date() -> None:
    later = formatdate(time.time() + 7_200, usegmt=True)
    with serving(Turn([b"slow down"], 429, {"retry-after": later})) as served:
        with pytest.raises(StatusError) as caught:
            http(served).post("/x", {})
        assert "wait 7" in caught.value.hint


def test_a_minute_is_waited_for() -> None:
    waits: list[float] = []
    with serving(Turn([b"slow down"], 429, {"retry-after": "60"}), GOOD) as served:
        assert http(served, waits).post("/x", {}) == {"a": 1}
    assert waits == [60.0]


def test_a_refused_request_shows_that_the_server_is_there() -> None:
    with serving(*[Turn([b"oops"], 500)] * 4, Turn([b"no"], 404), *[Turn([b"oops"], 500)] * 4, GOOD) as served:
        asked = http(served, attempts=1)
        for _ in range(9):
            with pytest.raises(StatusError):
                asked.post("/x", {})
        assert asked.post("/x", {}) == {"a": 1}


def test_the_hints_of_the_caller_are_given() -> None:
    hints = Hints(unreachable="start it", key="say the word", unknown="fetch m")
    with serving(Turn([b"no"], 401), Turn([b"no"], 404), Turn([b"no"], 403)) as served:
        asked = http(served, hints=hints, attempts=1)
        given = []
        for _ in range(3):
            with pytest.raises(StatusError) as caught:
                asked.post("/x", {})
            given.append(caught.value.hint)
    assert given == ["say the word", "fetch m", "the key has no permission for this: use another key"]
    with pytest.raises(ProviderError, match="cannot be reached") as lost:
        http(served, hints=hints, attempts=1).post("/x", {})
    assert lost.value.hint == "start it"


@pytest.mark.parametrize(
    ("status", "hint"), [(400, "ask for less"), (413, "ask for less"), (422, "ask for less"), (418, "")]
)
def test_a_request_that_is_not_taken_has_a_hint(status: int, hint: str) -> None:
    with serving(Turn([b"no"], status)) as served, pytest.raises(StatusError) as caught:
        http(served, hints=Hints(refused="ask for less")).post("/x", {})
    assert (caught.value.hint, len(served.asked)) == (hint, 1)


def test_another_way_to_a_server_shares_its_breaker_and_has_its_own_attempts_and_timeouts() -> None:
    with serving(Turn([b"oops"], 500)) as served:
        server = Server(served.base_url, attempts=1)
        first = Http(server)
        second = first.also(server._replace(attempts=2))
        for ways in ((first, second),) * 2 + ((first,),):
            for way in ways:
                with pytest.raises(StatusError):
                    way.post("/x", {})
        assert len(served.asked) == 7
        for way in (first, second):
            with pytest.raises(ProviderError, match="failed 5 times in a row"):
                way.post("/x", {})
        assert len(served.asked) == 7
    with serving(Turn(silent_s=1.0)) as served:
        server = Server(served.base_url, timeouts=Timeouts(2.0, 30.0))
        with pytest.raises(ProviderError, match=r"did not answer for 0\.1 s"):
            Http(server).also(server._replace(timeouts=Timeouts(2.0, 0.1))).post("/x", {})


@pytest.mark.parametrize(
    ("turn", "why"),
    [
        (Turn([b"slow down"], 429, {"retry-after": "20"}), "asks for that (429)"),
        (Turn([b"busy"], 503, {"retry-after": "20"}), "asks for that (503)"),
    ],
)
def test_a_long_wait_is_told(turn: Turn, why: str) -> None:
    told: list[str] = []
    with serving(turn, turn, GOOD) as served:
        server = Server(served.base_url)
        assert Http(server, sleep=lambda _: None, on_wait=told.append).post("/x", {}) == {"a": 1}
        host = served.base_url.removeprefix("http://")
    assert told == [f"waiting 20 s: {host} {why}"]  # the second began while the first was said to last


@pytest.mark.parametrize(
    ("turn", "why"), [(Turn([b"oops"], 500), "failed (500)"), (Turn(reset="first"), "failed (connection lost)")]
)
def test_growing_pauses_are_told_once_they_are_long(turn: Turn, why: str) -> None:
    told: list[str] = []
    waits: list[float] = []
    with serving(turn) as served:
        with pytest.raises(ProviderError):
            Http(Server(served.base_url, attempts=5), waits.append, told.append).post("/x", {})
        host = served.base_url.removeprefix("http://")
    assert len(waits) == 4
    assert told == [f"waiting {n} s: {host} {why}" for n in [ceil(wait) for wait in waits if wait > 2][:1]]


def test_user_and_password_of_an_address_are_sent_and_never_said() -> None:
    with serving(Turn([b"no"], 403), Turn([b"no json"]), Turn(reset="first")) as served:
        asked = Http(Server(served.base_url.replace("//", "//me:pass@word@"), attempts=1))
        for path in ("/a", "/b", "/c"):
            with pytest.raises(ProviderError, match=served.base_url) as caught:
                asked.post(path, {})
            assert "word" not in f"{caught.value} {caught.value.hint}"
        assert served.asked[0].headers["authorization"].startswith("Basic ")


def test_no_hint_holds_a_placeholder() -> None:
    for hint in Hints():
        assert "MODEL" not in hint


def test_half_a_character_is_replaced() -> None:
    with serving(GOOD) as served:
        assert http(served).post("/x", {"text": "a\udc80b世"}) == {"a": 1}
        assert served.asked[0].body == {"text": "a?b世"}
        assert served.asked[0].headers["content-type"] == "application/json"


@pytest.mark.parametrize("address", ["nothing://here", "http://host:port"])
def test_an_address_that_is_none_is_asked_once(address: str) -> None:
    waits: list[float] = []
    with pytest.raises(ProviderError, match="is not a valid address") as caught:
        Http(Server(address), sleep=waits.append).post("/x", {})
    assert (waits, caught.value.hint) == ([], "correct llm.base_url")


@pytest.mark.parametrize(
    ("address", "is_by_proxy"),
    [
        ("http://localhost:9", False),
        ("http://me:word@127.0.0.1:9", False),
        ("http://[::1]:9", False),
        ("http://localhost.models.example", True),
        ("http://127.0.0.1@models.example", True),
    ],
)
def test_a_proxy_leads_to_other_machines_only(address: str, is_by_proxy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with serving(GOOD) as proxy:
        monkeypatch.setenv("http_proxy", proxy.base_url)
        asked = Http(Server(address, timeouts=Timeouts(2.0, 2.0), attempts=1))
        if is_by_proxy:
            assert asked.post("/x", {}) == {"a": 1}
        else:
            with pytest.raises(ProviderError, match="cannot be reached"):
                asked.post("/x", {})
        assert len(proxy.asked) == is_by_proxy


def test_a_proxy_that_is_none_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "nothing://here")
    with pytest.raises(ProviderError, match="proxy or certificates") as caught:
        Http(Server("https://example.com"))
    assert "HTTPS_PROXY" in caught.value.hint


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("the key sk-very/secret is old", "the key *** is old"),
        ("Authorization: Bearer sk-very/secret", "Authorization: ***"),
        ('{"key": "sk-very\\/secret"', '{"key": "***"'),
        ("SK-VERY/SECRET", "***"),
        ("a\x1b[31mb\x9b2Jc\u202ed\u2066e\x00f\n\tg", "a [31mb 2Jc d e f g"),
        ("x" * 290 + "sk-very/secret" + "y" * 90, "x" * 290 + "***" + "y" * 7),
        ("Grüße, 世界", "Grüße, 世界"),
    ],
)
def test_what_a_server_says_can_be_shown(said: str, shown: str) -> None:
    assert Http(Server("http://localhost", KEY)).sayable(said) == shown
    with serving(Turn([said.encode()]), Turn([said.encode()], 400)) as served:
        for _ in range(2):
            with pytest.raises(ProviderError) as caught:
                http(served, headers=KEY).post("/x", {})
            assert repr(shown)[1:-1] in str(caught.value)


@pytest.mark.parametrize("key", ["a\"b'c\\d/e", "a.b*c", "\\", "sk-proj_1+2="])
def test_a_key_of_any_signs_is_found_also_as_json_writes_it(key: str) -> None:
    asked = Http(Server("http://localhost", {"Authorization": f"Bearer {key}", "X-Other": f"{key}-and-more"}))
    for said in (f"<{key}>", json.dumps(f"<{key}>")[1:-1], f"<Bearer {key}>", f"<{key}-and-more>"):
        assert asked.sayable(said) == "<***>"


def test_a_password_that_a_server_repeats_is_not_said() -> None:
    said = b"not for me:pass%40word, me:pass@word, pass@word or Basic bWU6cGFzc0B3b3Jk"
    with serving(Turn([said], 403)) as served:
        with pytest.raises(StatusError, match=r"not for \*\*\*, \*\*\*, \*\*\* or Basic \*\*\*$"):
            Http(Server(served.base_url.replace("//", "//me:pass%40word@"))).post("/x", {})
        assert served.asked[0].headers["authorization"] == "Basic bWU6cGFzc0B3b3Jk"


def test_an_empty_header_hides_nothing() -> None:
    assert Http(Server("http://localhost", {"X-Empty": ""})).sayable("all of it") == "all of it"


def test_what_is_nested_too_deeply_is_no_json() -> None:
    with serving(Turn([b"[" * 100_000])) as served, pytest.raises(ProviderError, match="did not answer with JSON"):
        http(served).post("/x", {})


@pytest.mark.parametrize("page", [b"<!DOCTYPE html>\n<html>", b"\r\n  <html>", b"\xef\xbb\xbf<html>"])
def test_a_web_page_is_no_answer(page: bytes) -> None:
    with serving(Turn([page])) as served:
        for ask in (http(served).post, lambda path, body: list(http(served).lines(path, body))):
            with pytest.raises(ProviderError, match="/x answered with a web page") as caught:
                ask("/x", {})
            assert caught.value.hint == "this is not the address of a model: correct llm.base_url"
        assert len(served.asked) == 2


def test_a_line_that_begins_like_a_page_may_follow() -> None:
    with serving(Turn([b"one\n<two>\n"])) as served:
        assert list(http(served).lines("/x", {})) == ["one", "<two>"]


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("https://new.example/v1/x", "has moved to https://new.example/v1: correct llm.base_url"),
        ("https://me:word@new.example/?k=sk-very/secret", "has moved to https://new.example/?k=***: correct"),
        ("/login", "has moved to /login: correct llm.base_url"),
        ("", "has moved: correct llm.base_url"),
    ],
)
@pytest.mark.parametrize("status", [301, 307, 308])
def test_an_address_that_has_moved_is_said(status: int, location: str, words: str) -> None:
    headers = {"location": location} if location else {}
    with serving(Turn(status=status, headers=headers)) as served:
        with pytest.raises(StatusError, match=f"answered {status}") as caught:
            http(served, headers=KEY).post("/x", {})
        assert words in caught.value.hint
        assert len(served.asked) == 1
