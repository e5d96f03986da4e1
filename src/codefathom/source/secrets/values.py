"""What values look like: random, chosen by a person, or neither. Pure."""

from __future__ import annotations

import re
from itertools import pairwise
from math import log2

from codefathom.source.masks import MASK

_PLACEHOLDER = re.compile(
    r"(?i:example|change_?-?me|placeholder|your|dummy|sample|redacted|fake|passw|secret|token|test|mock|foobar"
    rf"|1234567|abcdef|qwerty|default|invalid)|xxx|XXX|\*\*\*|\.\.\.|00000|{MASK}|«masked"
)
_REFERENCE = re.compile(r"^[$%@#&<{(\[]|\$\{|\{\{|\$\(|%\(|#\{|://|^\.{0,2}/|\(\)|::|^M(?:FkwEwYHKo|IIBIjAN)")
_WORDS = re.compile(r"(?:[A-Za-z]*\d{0,4}(?:[_.\-/:@+,=&?!]|$))+")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT_OR_SIGN = re.compile(r"[\d!@#$%^&*?~+=]|[A-Z][a-z][A-Z]")
_SMALL = re.compile(r"[a-z]+")
_CLUSTER = re.compile(r"[bcdfghjklmnpqrstvwxz]{5}", re.IGNORECASE)
_REPEATED = 5  # different signs that a secret has at least


def is_mixed(value: str) -> bool:
    """Whether both letters and digits occur: words joined with "-" or "_" have no digits."""
    return _DIGIT.search(value) is not None and _LETTER.search(value) is not None


def may_be_chosen(value: str) -> bool:
    """Whether a digit or a sign occurs that is in no word, cheaply."""
    return _DIGIT_OR_SIGN.search(value) is not None


def is_cased(value: str) -> bool:
    """Whether digits, or letters of both cases, stand among each other as in no name."""
    return is_mixed(value) or (not value.islower() and not value.isupper() and not value.istitle())


def is_placeholder(value: str) -> bool:
    """Whether a value says that it is none."""
    return bool(_PLACEHOLDER.search(value)) or len(set(value)) < _REPEATED


def is_reference(value: str) -> bool:
    """Whether a value only says where another one comes from."""
    return bool(_REFERENCE.search(value))


def is_plain(value: str) -> bool:
    """Whether a word or a variable stands where a password belongs, as examples have it."""
    return value.isalpha() or value.isdigit() or is_reference(value) or value[0] in "${%<"


def looks_random(value: str, least: int = 16) -> bool:
    """Whether letters and digits, or letters of both cases, are mixed as no words are."""
    if len(value) < least or entropy(value) < 3.0:
        return False
    if _WORDS.fullmatch(value) is None and is_mixed(value):
        return True
    return is_irregular(value) and (is_mixed(value) or len(value) >= 20)


def looks_chosen(value: str) -> bool:
    """Whether signs of at least three sorts are mixed, as people do who are asked for a good password."""
    return n_sorts(value) >= 3 and (_WORDS.fullmatch(value) is None or is_irregular(value))


def is_irregular(value: str) -> bool:
    """Whether letters stand together as in no word: single small ones between capitals, or five consonants."""
    runs = _SMALL.findall(value)
    singles = sum(len(run) == 1 for run in runs)
    return (singles >= 2 and 2 * singles >= len(runs)) or _CLUSTER.search(value) is not None


def n_sorts(value: str) -> int:
    """Count which of small letters, capitals, digits and other signs occur."""
    sorts = (str.islower, str.isupper, str.isdigit, lambda sign: not sign.isalnum())
    return sum(any(map(sort, value)) for sort in sorts)


def entropy(value: str) -> float:
    """Bits for each sign."""
    shares = [value.count(sign) / len(value) for sign in set(value)]
    return -sum(share * log2(share) for share in shares)


def is_dense(value: str, least: int = 16) -> bool:
    """Whether digits, capitals and small letters change so often that no word has a place."""
    sorts = ["d" if sign.isdigit() else "u" if sign.isupper() else "l" if sign.islower() else "-" for sign in value]
    changes = sum(before != after for before, after in pairwise(sorts))
    is_cut_small = 3 * changes >= len(value) >= least and {"d", "u", "l"} <= set(sorts)
    return is_cut_small and entropy(value) >= min(3.5, log2(least) - 0.6) and not is_placeholder(value)
