"""What is shown of text from elsewhere: nothing that steers a terminal, all that people write."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.counted import n_python_calls
from tests.hostile import BIDI, CONTROLS, EVERYTHING, FORBIDDEN
from tests.waiting import LONG_S

from codefathom.text.printable import (
    duration,
    escape_json,
    escape_xml,
    is_harmless,
    show_line,
    show_name,
    show_text,
    size,
)

# More of what matters than chance would give.
TEXTS = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\x1b\r\n\t\x9b\u202e\u200c\u200d\ufe0f\ufe00\u2028می👩❤1🏴\U000e0067\U000e007f葛\U000e0100\u180b\ud800\udc80"),
    )
)  # fmt: skip
HUMAN = "می‌خواهم क्‍ष 👨‍👩‍👧 👩🏽‍💻 ❤️ ☎︎ 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 葛󠄀 naïve 用户\u3000認証 \ue0b0 שלום ١٢٣ \xa0"


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("a\x1b[31m", "a␛[31m"),
        ("\x9b31m", "<U+009B>31m"),
        ("a\r\nb\tc\n", "a\nb\tc\n"),
        ("a\rb", "a␍b"),
        ("\x7f\x00", "␡␀"),
        ("a\u202eb", "a<U+202E>b"),
        ("a\u200db\u200c", "a<U+200D>b<U+200C>"),
        ("x\ufe0f 1\ufe0f\ufe0f\ufe0f", "x<U+FE0F> 1\ufe0f<U+FE0F><U+FE0F>"),
        ("\U0001f3f4\U000e0068\U000e007f", "\U0001f3f4<U+E0068><U+E007F>"),
        ("\udc80", "<U+DC80>"),
        ("\u3164\u2028", "<U+3164><U+2028>"),
        ("\u2060\u200d\u2060\ufe0f", "<U+2060><U+200D><U+2060><U+FE0F>"),
        (HUMAN, HUMAN),
    ],
)
def test_a_text_shows_what_is_in_it(given_text: str, shown: str) -> None:
    assert show_text(given_text) == shown
    assert is_harmless(given_text) == (given_text == shown)


@pytest.mark.parametrize(
    ("given_text", "shown"), [("a\nb\tc\r\n", "a␊b␉c␍␊"), (HUMAN, HUMAN), ("\x1b\u202e", "␛<U+202E>")]
)
def test_a_line_is_one_line(given_text: str, shown: str) -> None:
    assert show_line(given_text) == shown


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("src/a b.py", "src/a b.py"),
        ("it's.py", "it's.py"),
        ("a\nb.py", r"$'a\nb.py'"),
        ("it's\t.py", r"$'it\'s\t.py'"),
        ("a\\b\x1b", r"$'a\\b\e'"),
        ("a\u202eb\u2028", r"$'a\u202eb\u2028'"),
        ("\x9b\U000e0041", r"$'\u009b\U000e0041'"),
        ("bytes\udcff", r"$'bytes\xff'"),
        ("$'a'", r"$'$\'a\''"),
        ("👩‍💻.md", "👩‍💻.md"),
    ],
)
def test_a_name_is_quoted_where_it_has_to_be(name: str, shown: str) -> None:
    assert show_name(name) == shown


@pytest.mark.skipif(sys.platform == "win32" or not shutil.which("bash"), reason="there is no bash")
def test_a_shell_reads_the_very_name() -> None:
    names = [f"a{char}1b'c" for char in EVERYTHING + "\n\t\\'\""] + ["\udcff\udc80", "x\udce9\n"]
    script = "\n".join(
        f"printf '%s\\0' {show_name(name) if show_name(name) != name else shlex.quote(name)}" for name in names
    )
    ran = subprocess.run(
        ["bash", "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}, timeout=LONG_S
    )
    assert ran.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1] == names


@given(TEXTS)
@example(EVERYTHING)
def test_nothing_harmful_comes_out_and_nothing_changes_twice(text: str) -> None:
    for show in (show_text, show_line, show_name, escape_xml, escape_json):
        shown = show(text)
        assert is_harmless(shown)
        if not (set("\u200c\u200d\ufe0e\ufe0f") | set(map(chr, range(0xE0000, 0xE1000)))) & set(text):
            assert FORBIDDEN.isdisjoint(shown)
    for show in (show_text, show_line):
        assert show(show(text)) == show(text)
    assert "\n" not in show_line(text) + show_name(text)
    assert show_name(show_text(text).replace("\n", "").replace("\t", "")).startswith("$'") is text.startswith("$'")


@given(TEXTS, TEXTS)
def test_what_is_shown_in_pieces_is_harmless_as_a_whole(one: str, other: str) -> None:
    assert is_harmless(show_text(one) + "  " + show_name(other))


@given(TEXTS)
@example(EVERYTHING)
def test_json_means_the_same(text: str) -> None:
    for indent in (None, 2):
        document = json.dumps({text: [text]}, ensure_ascii=False, indent=indent)
        assert json.loads(escape_json(document)) == {text: [text]}


@given(TEXTS)
@example(BIDI + CONTROLS)
def test_xml_means_the_same_but_for_what_it_cannot_hold(text: str) -> None:
    shown = escape_xml(text)
    read = ElementTree.fromstring(f"<a>{shown}</a>").text or ""
    kept = text.replace("\r\n", "\n")
    if all(
        char in "\t\n\r" or (char >= " " and not "\ud800" <= char <= "\udfff" and char not in "\ufffe\uffff")
        for char in kept
    ):
        assert read == kept
    assert len(read) >= len(kept)


@pytest.mark.parametrize(
    ("n_bytes", "words"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (12_345, "12 kB"), (5_400_000, "5.4 MB"),
                           (3_000_000_000, "3.0 GB")]
)  # fmt: skip
def test_sizes(n_bytes: int, words: str) -> None:
    assert size(n_bytes) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.04, "0.0 s"), (9.94, "9.9 s"), (9.96, "10 s"), (59.6, "1:00 min"), (185, "3:05 min"), (3720, "1:02 h")],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize("one_of_them", ["\u200d", "\ufe0f", "👩\u200d👩", "\U0001f3f4\U000e0067"])
def test_the_work_is_for_the_harmful_characters_and_not_for_all(one_of_them: str) -> None:
    """A file with one emoji is shown as quickly as one without: a context shows each of its files many times."""
    plain = "let x = 1; // usual é\n" * 5_000
    assert n_python_calls(lambda: show_text(plain + one_of_them)) < 400
    assert show_text(plain + one_of_them) == plain + show_text(one_of_them)
