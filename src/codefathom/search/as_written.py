"""Text that stands in a file as it is written in a question: such a question is never one that nothing here answers.

It is looked for only where words and meaning have found next to nothing, so that no other search pays for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from codefathom.search.question.query import Query
from codefathom.stores.base import LexicalStore
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.lexical.terms import terms

_LONGEST = 300  # characters: what is longer is a text, not a part of one
_SHORT = 4  # characters: what is shorter stands inside many words by chance, and counts only as a word of its own
_PHRASE = re.compile(r'"([^"\n]+)"')
_N_CHUNKS = 64  # that have its words, and are looked through
_RUN = re.compile(r"[^\W_]+")
_BODY = {"body": 1.0}


def texts_of(query: Query) -> tuple[str, ...]:
    """Return the texts that a question may mean as they are written: all of it, and the phrases in double quotes."""
    whole = query.text.strip()
    if not whole or "\n" in whole or len(whole) > _LONGEST:
        return ()
    phrases = (phrase.strip() for phrase in _PHRASE.findall(whole))
    return (whole, *(phrase for phrase in phrases if len(phrase) >= _SHORT))


def pattern_of(text: str) -> str:
    """Return the regular expression of a text, in upper or lower case; a short one of letters is a whole word."""
    is_part = len(text) >= _SHORT or not text.isascii()
    begin, end = ("" if is_part or not re.match(r"\w", sign) else r"\b" for sign in (text[0], text[-1]))
    return f"(?i:{begin}{re.escape(text)}{end})"


def is_in(text: str, content: str) -> bool:
    """Return True if a text stands somewhere in a content."""
    return re.search(pattern_of(text), content) is not None


def keys_with(
    text: str, lexical: LexicalStore, catalog: SearchCatalog, allowed: Collection[int] | None
) -> frozenset[int]:
    """Return the chunks in which a text stands, of those that have most of its words, or words that it is a part of."""
    runs = list(_RUN.finditer(text))
    # The first and the last word may be parts of longer ones; those between them are words there, too.
    between = terms(text[runs[0].end() : runs[-1].start()]) if len(runs) > 2 else []
    if not all(lexical.document_frequencies(between).values()):
        return frozenset()
    words = dict.fromkeys(terms(text), 1.0)
    by_words = _holding(text, catalog, (key for key, _ in lexical.search(words, _N_CHUNKS, _BODY, allowed)))
    run = max((match[0] for match in runs), key=len, default="")
    if by_words or between or (len(run) < _SHORT and run.isascii()):
        return by_words
    return _holding(text, catalog, lexical.containing(run.lower(), _N_CHUNKS, allowed))


def _holding(text: str, catalog: SearchCatalog, keys: Iterator[int] | Collection[int]) -> frozenset[int]:
    expression = re.compile(pattern_of(text))
    return frozenset(key for key, chunk in catalog.chunks(list(keys)).items() if expression.search(chunk.text))
