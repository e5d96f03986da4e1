"""Tests of a value: does it look random, chosen by a person, or like neither? Pure."""

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
    """Return True if both letters and digits occur: words joined with "-" or "_" have no digits."""
    return _DIGIT.search(value) is not None and _LETTER.search(value) is not None


def may_be_chosen(value: str) -> bool:
    """Return True if a digit or a sign occurs that is in no word; a cheap first test."""
    return _DIGIT_OR_SIGN.search(value) is not None


def is_cased(value: str) -> bool:
    """Return True if digits, or letters of both cases, are mixed as in no name."""
    return is_mixed(value) or (not value.islower() and not value.isupper() and not value.istitle())


def is_placeholder(value: str) -> bool:
    """Return True for a value that only stands for a real one, such as "changeme"."""
    return bool(_PLACEHOLDER.search(value)) or len(set(value)) < _REPEATED


def is_reference(value: str) -> bool:
    """Return True for a value that refers to another one, such as a variable or a path."""
    return bool(_REFERENCE.search(value))


def is_plain(value: str) -> bool:
    """Return True for a word, a number or a variable, as examples have in place of a password."""
    return value.isalpha() or value.isdigit() or is_reference(value) or value[0] in "${%<"


def looks_random(value: str, least: int = 16) -> bool:
    """Return True if letters and digits, or letters of both cases, are mixed as in no word."""
    if len(value) < least or entropy(value) < 3.0:
        return False
    if _WORDS.fullmatch(value) is None and is_mixed(value):
        return True
    return is_irregular(value) and (is_mixed(value) or len(value) >= 20)


def looks_chosen(value: str) -> bool:
    """Return True if signs of at least three sorts are mixed, as in a password that a person chose with care."""
    return n_sorts(value) >= 3 and (_WORDS.fullmatch(value) is None or is_irregular(value))


def is_irregular(value: str) -> bool:
    """Return True for letters as in no word: single small ones between capitals, or five consonants."""
    runs = _SMALL.findall(value)
    singles = sum(len(run) == 1 for run in runs)
    return (singles >= 2 and 2 * singles >= len(runs)) or _CLUSTER.search(value) is not None


def n_sorts(value: str) -> int:
    """Count which of small letters, capitals, digits and other signs occur."""
    sorts = (str.islower, str.isupper, str.isdigit, lambda sign: not sign.isalnum())
    return sum(any(map(sort, value)) for sort in sorts)


def entropy(value: str) -> float:
    """Return the entropy of a value in bits for each sign."""
    shares = [value.count(sign) / len(value) for sign in set(value)]
    return -sum(share * log2(share) for share in shares)


def is_dense(value: str, least: int = 16) -> bool:
    """Return True if digits, capitals and small letters change so often that no word fits between."""
    sorts = ["d" if sign.isdigit() else "u" if sign.isupper() else "l" if sign.islower() else "-" for sign in value]
    changes = sum(before != after for before, after in pairwise(sorts))
    is_cut_small = 3 * changes >= len(value) >= least and {"d", "u", "l"} <= set(sorts)
    return is_cut_small and entropy(value) >= min(3.5, log2(least) - 0.6) and not is_placeholder(value)
