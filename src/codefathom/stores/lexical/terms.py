"""Text → terms: identifiers whole and in their parts. Pure; the same for indexed texts and for questions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from codefathom.text.word_runs import word_runs

# Chinese, Japanese and Korean is cut out of a run of letters of any script.
_CJK = (  # takes 2 ms to compile
    r"[々\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+"
)
# parseHTTPResponse2 → parse HTTP Response 2.
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")

MAX_TERM = 64  # longer ones are data, such as base64; nobody asks for them whole
_MAX_WORD = 256  # and their parts neither, from here on
_MAX_MEMO = 200_000


def terms(text: str) -> list[str]:
    """Return the lower-cased terms of a text in order: each identifier whole, then its parts when it has several.

    `parseHTTPResponse2` gives parsehttpresponse2, parse, http, response, 2. Chinese, Japanese and Korean text gives
    overlapping pairs of characters; a single one stands alone.
    """
    return joined_terms(text).split()


def parts(name: str) -> list[str]:
    """Return the lower-cased words that one name is made of, each once, in order of the alphabet.

    Unlike `terms`, a name of several words does not stand there as a whole.
    """
    words = {part for word in word_runs(name) for part in _parts_alone(word)}
    return sorted(words)


def _parts_alone(word: str) -> list[str]:
    words = _memo[word].split()
    return words[1:] if len(words) > 1 and words[0] == word.strip("_").lower() else words


def joined_terms(text: str) -> str:
    """Return the same terms, parted by white space."""
    return terms_of_runs(word_runs(text))


def terms_of_runs(runs: Iterable[str]) -> str:
    """Return the terms of runs of letters, digits and underscores, parted by white space."""
    return " ".join(map(_memo.__getitem__, runs))


class _Memo(dict[str, str]):
    """The terms of each word; code repeats its words so often that splitting costs next to nothing."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _MAX_MEMO:
            self.clear()
        self[word] = joined = " ".join(_split(word))
        return joined


_memo = _Memo()


def _split(word: str) -> list[str]:
    if not word.isascii() and re.search(_CJK, word):
        return _with_pairs(word)
    bare = word.strip("_")
    if len(bare) > _MAX_WORD:
        return []
    parts = _PART.findall(bare) if bare.isascii() else _parts_of_any_script(bare)
    whole = [bare.lower()] if 0 < len(bare) <= MAX_TERM else []
    return whole + [part.lower() for part in parts if len(part) <= MAX_TERM] if len(parts) > 1 else whole


def _parts_of_any_script(word: str) -> list[str]:
    """Cut as `_PART` does, by the case of each letter in its own script; letters without case keep together."""
    parts: list[str] = []
    before = ""
    for place, letter in enumerate(word):
        kind = _kind(letter)
        upper_ends = kind == before == "upper" and _kind(word[place + 1 : place + 2]) == "lower"
        if not parts or (kind != before and (before, kind) != ("upper", "lower")) or upper_ends:
            parts.append("")
        parts[-1] += letter
        before = kind
    return [part for part in parts if part.strip("_")]


def _kind(letter: str) -> str:
    if letter in ("", "_"):
        return letter
    if letter.isnumeric():
        return "digit"
    return "upper" if letter.isupper() else "lower"


def _with_pairs(word: str) -> list[str]:
    pieces: list[str] = []
    position = 0
    for match in re.finditer(_CJK, word):
        pieces += _split(word[position : match.start()])
        run = match.group()
        pieces += [run] if len(run) == 1 else [run[place : place + 2] for place in range(len(run) - 1)]
        position = match.end()
    return pieces + _split(word[position:])
