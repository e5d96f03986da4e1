"""Regular expressions of users: they mean what they mean in Python, they are bounded, and none runs for ever."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from codefathom.errors import SlowExpressionError, UsageError
from codefathom.text.expression_syntax import MAX_CHARACTERS
from codefathom.text.expressions import check, compiled, deadline, is_match

# Python warns of `[[`, which may mean something else one day; nobody sees that who searches.
pytestmark = pytest.mark.filterwarnings(
    "error",
    "ignore:Possible:FutureWarning:tests",
    "ignore::pytest.PytestUnraisableExceptionWarning",  # of objects that tests before these have left
)

# Each doubles its work with every letter: no machine is done with it.
ENDLESS = (
    "(a|a)+$",
    "(?:a|aa)+$",
    "(?i)(?:A|aa)+$",
    r"(\w|\d|[a-z])+(\w|\d|[a-z])+(\w|\d|[a-z])+$",
    "(.*a){25}$",
    "(?=(a|a)+$)a",
    "(?>(a|a)+$)",
    r"(a|a)+\1$",
)
VICTIM = "d" + "ab" * 3 + "a" * 200 + "!"


@pytest.mark.parametrize("written", ENDLESS)
def test_an_expression_without_end_is_stopped(written: str) -> None:
    with deadline(0.2), pytest.raises(SlowExpressionError) as caught:
        is_match(written, VICTIM)
    assert repr(written.removeprefix("(?i)")) in str(caught.value)
    assert "0.2 s" in str(caught.value)
    assert "search.expression_timeout_s" in caught.value.hint


def test_all_texts_of_a_search_share_one_deadline() -> None:
    with deadline(0.5) as running:
        with pytest.raises(SlowExpressionError):
            is_match(ENDLESS[0], VICTIM)
        assert running.is_over
        with pytest.raises(SlowExpressionError), deadline(60.0):  # the outermost block counts
            is_match("a", "a")
    with deadline(0.5):
        assert is_match("a", "a")


def test_other_threads_that_work_give_a_search_no_second_deadline() -> None:
    """The library counts the time of all threads of the process."""
    has_ended = Event()

    def work() -> None:
        while not has_ended.is_set():
            pass

    with ThreadPoolExecutor(1) as threads:
        threads.submit(work)
        try:
            test_all_texts_of_a_search_share_one_deadline()
        finally:
            has_ended.set()


def test_one_text_leaves_time_for_the_others() -> None:
    with deadline(1.0) as running:
        with pytest.raises(SlowExpressionError):
            list(compiled(ENDLESS[0]).places(VICTIM))
        assert not running.is_over
        assert list(compiled("(a|a)+$").places("xaa")) == [1]


def test_only_the_time_of_expressions_counts() -> None:
    with deadline(0.2) as running:
        time.sleep(0.3)
        assert is_match("a", "a")
        assert not running.is_over


def test_other_threads_go_on_meanwhile() -> None:
    n_steps = 0
    with ThreadPoolExecutor(1) as threads:
        stopped = threads.submit(_stop)
        while not stopped.done():
            n_steps += 1
            time.sleep(0.01)
    assert stopped.result()
    # An engine that holds the interpreter would leave one or two.
    assert n_steps > 5


def _stop() -> bool:
    with deadline(1.0):
        try:
            return is_match(ENDLESS[0], VICTIM)
        except SlowExpressionError:
            return True


# ---- what is refused


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("(", "missing ), unterminated subpattern at position 0"),
        ("ab)", "unbalanced parenthesis at position 2"),
        ("[a", "unterminated character set at position 0"),
        ("a**", "multiple repeat at position 2"),
        (r"\p{L}", "bad escape"),
        ("(?R)", "unknown extension"),
        ("(?a:x)", "(?a)"),
        ("a{99999999999999999999}", "too large"),
        ("(" * 5_000, "nests too many groups"),
        ("(" * 4_000 + ")" * 4_000, "nests too many groups"),
        ("(?:" * 45 + "a" + ")" * 45 + "b" + "(" * 101 + ")" * 101, "nests too many groups"),
        ("a" * (MAX_CHARACTERS + 1), "at most 10,000 are allowed"),
        ("a|" * 500_000, "at most 10,000 are allowed"),
        ("(?:a{1000}){1000}", "at most 100,000 are allowed"),
        ("a{4294967290}", "at most 100,000 are allowed"),
        ("(?:" * 40 + "ab" + ")+" * 40, "at most 100,000 are allowed"),
        ("(?:" * 40 + "ab" + "){2,3}" * 40, "at most 100,000 are allowed"),
    ],
)
def test_what_is_no_expression_or_too_large_is_refused_with_the_reason(written: str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        check(written)
    assert why in str(caught.value)
    assert len(str(caught.value)) < 300
    assert "backslash" in caught.value.hint


@pytest.mark.parametrize(
    "written",
    [
        "w1|" * 3_000 + "w2",
        "(?i)" + "[ -\U0010ffff]" * 1_000,
        "(?:a{100}){300}",
        "(" * 40 + "a" + ")*" * 40,
        "(?:" * 12 + "ab" + ")+" * 12,
        "[" + "".join(chr(0x100 + 2 * n) for n in range(9_000)) + "]",
        "(a)" * 3_000,
    ],
)
def test_what_is_large_is_compiled(written: str) -> None:
    with deadline(600.0):
        assert is_match(written, "-") == ("*" in written)


# ---- the meaning is Python's


@pytest.mark.parametrize(
    ("written", "text", "places"),
    [
        (r'f"{e}"', 'x f"{e}"', [2]),  # `regex` alone takes {e} for "with errors"
        ("a{e<=1}", "a{e<=1} b", [0]),
        ("x{i}y", "x{i}y", [0]),
        ("[[:alpha:]]", "a:] l]", [1, 4]),  # a set of `[:alph`, then `]`
        ("[a&&b]", "&", [0]),
        (r"[\w&&\d]", "&", [0]),
        ("{", "a{", [1]),
        ("a{,2}b", "aab", [0]),
        (r"\Aa|b\Z", "ab", [0, 1]),
        ("^b", "a\nb", []),
        ("(?m)^b$", "a\nb\nc", [2]),
        ("(?s)a.b", "a\nb", [0]),
        ("(?x) a b # [", "ab", [0]),
        ("(?i)straße", "STRAßE", [0]),
        ("(?i:a)b", "Ab AB", [0]),
        ("(?-i:a)(?i:b)", "aB", [0]),
        (r"(?P<q>['\"]).*?(?P=q)", "'a' \"b\"", [0, 4]),
        (r"(a)?(?(1)b|c)", "ab c", [0, 3]),
        (r"\bfoo\b", "foo food", [0]),
        (r"\w+", "größe 漢字 x_1", [0, 6, 9]),
        (r"[^\W\d_]+", "é1漢", [0, 2]),
        (r"(?a)\w+", "aé", [0]),
        (r"\x41\u00e9\N{DIGIT ONE}", "Aé1", [0]),
        (r"\\d\.", r"\d.", [0]),
        ("", "ab", [0, 1, 2]),
        ("a*", "baa", [0, 1, 3]),
        (r"(?<=a)b|(?<!a)c", "abc", [1, 2]),
        ("a++b|c?+d|(?>e)", "aab d e", [0, 4, 6]),
        (" \t#", " \t#", [0]),
        ("\\0", "\0", [0]),
    ],
)
def test_meaning(written: str, text: str, places: list[int]) -> None:
    assert [match.start() for match in re.finditer(written, text)] == places
    assert list(compiled(written).places(text)) == places
    assert compiled(written).is_in(text) == bool(places)


_ATOMS = st.sampled_from(
    r"""a b A é 漢 ß . \. \w \d \s \W \b ^ $ \A \Z [ab] [^a] [a-c] [[:alpha:]] []a] {e} { } {s<=1} a{e<=1} \{ x _ 1 \n
    [^\W\d] \x41 \u00e9 [\]-] [a\-z] # ~ -- [a--b] && [a&&b] (?:) \\ / " [\s] [^\s\w]""".split()  # noqa: SIM905
)
_REPEATS = st.sampled_from("* + ? {2} {1,2} {,2} {1,} *? +? ?? {1,2}? *+ ++ ?+".split())  # noqa: SIM905
_GROUPS = st.sampled_from("(?= (?! (?i: (?s: (?m: (?-i: (?> (?s-i: (".split())  # noqa: SIM905


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.builds("(?:{}){}".format, inner, _REPEATS),
        st.builds("{}{})".format, _GROUPS, inner),
        st.builds(r"({}){}\1".format, inner, inner),
        st.builds("({})?(?(1){}|{})".format, inner, inner, inner),
    )


EXPRESSIONS = st.builds(
    "{}{}".format,
    st.sampled_from(["", "(?i)", "(?m)", "(?s)", "(?im)", "(?x)", "(?a)", "(?i)(?m)"]),
    st.recursive(_ATOMS, _larger, max_leaves=6),
)
TEXTS = st.text(alphabet='aabbABé漢ßx_1 \n.{}e[]:-#/"\\', min_size=1, max_size=10)


@settings(max_examples=500)
@given(written=EXPRESSIONS, text=TEXTS)
@example(written=r"(?i)[^\W\d]{2,}?", text="aß1")
def test_an_expression_matches_where_it_matches_in_python(written: str, text: str) -> None:
    try:
        expected = [match.start() for match in re.finditer(written, text)]
    except re.error:
        assume(False)
    assert list(compiled(written).places(text)) == expected


@settings(max_examples=300)
@given(written=st.text(alphabet="()[]{}?*+|^$\\.aP<>=!:-im1,#\n", max_size=12))
def test_what_python_refuses_is_refused(written: str) -> None:
    try:
        re.compile(written)
    except (re.error, OverflowError, ValueError) as error:
        if "look-behind" not in str(error):  # one of any width is understood here
            with pytest.raises(UsageError):
                check(written)
