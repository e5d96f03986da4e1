"""The number of tokens of a text: by a model's own tokenizer, by a known encoding, or estimated. Offline.

The two libraries are optional (`pip install 'codefathom[tokens]'`) and are imported only when they are needed.
"""

from __future__ import annotations

import importlib
import math
from types import ModuleType
from typing import Any

from codefathom.answer.budget import CountTokens
from codefathom.answer.han import may_hold_han, split_han
from codefathom.errors import SettingsError
from codefathom.system.extras import install_line

_HINT = install_line("tokens")


def counter(tokenizer_path: str = "", encoding: str = "") -> CountTokens:
    """Return a counter of tokens: by a tokenizer.json, else by an encoding such as "cl100k_base", else an estimate.

    The counter may be used from several threads. Raises SettingsError when the file or the encoding cannot be
    used, or when the library that reads it is missing.
    """
    if tokenizer_path:
        return _by_tokenizer(tokenizer_path)
    return _by_encoding(encoding) if encoding else estimate


def estimate(text: str) -> int:
    """Return about as many tokens as cl100k_base gives, rather too many than too few.

    Of source, prose and Chinese 95 of 100 texts lie within 15 %, half between 0 and +8 %. What errs more are lists of
    foreign names and names in capitals (up to 50 %), and a text that repeats one sign (up to 30 times too high).
    """
    data, total = _bytes(text), 0.0
    if may_hold_han(data):
        rest, total = split_han(text)
        data = _bytes(rest)
    kinds = data.translate(_KIND)
    total += sum(weight * kinds.count(pattern) for pattern, weight in _WEIGHTS)
    for table, patterns in _MORE_WEIGHTS:
        marked = data.translate(table)
        total += sum(weight * marked.count(pattern) for pattern, weight in patterns)
    least = max(_LEAST_OF_SIGNS * data.translate(_ONLY["p"]).count(b"x"), _LEAST_OF_BYTES * (len(data) - 1))
    return math.ceil(max(total, least))


def _bytes(text: str) -> bytes:
    return f"\n{text}".encode("utf-8", "replace")  # begins with what is no part of a word


def _by_tokenizer(path: str) -> CountTokens:
    library = _library("tokenizers", f"the tokenizer {path!r}")
    try:
        tokenizer: Any = library.Tokenizer.from_file(path)
        # The file may say how texts are made ready for a model that embeds: cut after 512 tokens, or filled up to them.
        tokenizer.no_truncation()
        tokenizer.no_padding()
    except Exception as error:  # the library raises nothing narrower
        raise SettingsError(
            f"cannot use the tokenizer {path!r}: {error}", hint="name a tokenizer.json of the model"
        ) from error
    return lambda text: len(tokenizer.encode(_without_surrogates(text), add_special_tokens=False).ids)


def _by_encoding(name: str) -> CountTokens:
    library = _library("quicktok", f"the encoding {name!r}")
    try:
        encoding: Any = library.get_encoding(name)
    except RuntimeError as error:
        raise SettingsError(f"unknown encoding {name!r}", hint="use cl100k_base or o200k_base") from error
    return lambda text: int(encoding.count(_without_surrogates(text)))


def _library(name: str, purpose: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise SettingsError(f"{purpose} needs the library {name!r}, which is not installed", hint=_HINT) from error


def _without_surrogates(text: str) -> str:
    # Half a character, which file names and cut-up JSON can hold, is refused by both libraries.
    return text.encode("utf-8", "replace").decode("utf-8")


# What a byte is: lower case, capital, digit, blank, line end, sign; the first of 2, 3 or 4 bytes; a further one.
_KINDS = "lUdsnp234c"
_LOWER, _CAPITAL, _DIGIT, _BLANK, _END, _SIGN, _TWO, _THREE, _FOUR, _FURTHER = _KINDS.encode()


def _kind(byte: int) -> int:
    if byte >= 0x80:
        return _FURTHER if byte < 0xC0 else _TWO if byte < 0xE0 else _THREE if byte < 0xF0 else _FOUR
    character = chr(byte)
    if character.isalnum():
        return _DIGIT if character.isdigit() else _LOWER if character.islower() else _CAPITAL
    return _BLANK if character in " \t" else _END if character in "\r\n" else _SIGN


_KIND = bytes(map(_kind, range(256)))
_ONLY = {kinds: bytes(ord("x") if kind in kinds.encode() else ord(".") for kind in _KIND) for kinds in ("lU", "d", "p")}
_CONSONANT = bytes(
    ord("x") if chr(byte).isalpha() and byte < 0x80 and chr(byte) not in "aeiouAEIOU" else ord(".")
    for byte in range(256)
)

# Fitted to cl100k_base by quantile regression, so that four texts in five come out too high.
_WEIGHTS = (
    (b"lU", 0.98),  # a hump
    (b"UU", 0.24),
    (b"ss", 0.57),
    (b"s" * 8, -2.22),  # an indentation is one token, however deep
    (b"sp", 0.61),
    (b"sd", 1.01),
    (b"2", 0.6),
    (b"3", 1.15),
    (b"4", 2.9),
)
_MORE_WEIGHTS = (
    (_ONLY["lU"], ((b".x", 1.16),)),  # words
    (_ONLY["d"], ((b".x", 1.19), (b"xxx", 0.7))),  # numbers, in groups of three
    (_ONLY["p"], ((b".x", 0.66), (b"xxxx", 0.64))),
    (_CONSONANT, ((b"xxxxx", 3.52),)),  # no word: base64, a hash
)
_LEAST_OF_SIGNS = 0.4
_LEAST_OF_BYTES = 0.1
