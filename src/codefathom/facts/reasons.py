"""Statements about a result as kind and values, and the English words of each kind. Pure.

Whoever knows something makes a `Note` of it, and a face puts it into words: `str(note)` is the English sentence, and
the page has Chinese words for the same kinds (`web/src/i18n/kinds.ts` is generated from the table here). Nobody reads
a sentence to learn what it says: `note.kind` and `note.values` tell it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Value: TypeAlias = "str | int | float | tuple[str, ...] | Note"

ANYWAY = '--anyway (over HTTP "anyway": true) shows the closest matches'
MOST_LIKELY_NOTHING = "most likely nothing here answers this"
# The English words of each kind. `{name}` stands for a value, `{name:,}` for a number with signs between thousands.
ENGLISH: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Note:
    """One statement: its kind, and the values that the words of the kind name. `str` puts it into English."""

    kind: str  # a key of ENGLISH
    values: Mapping[str, Value] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        """The English sentence."""
        listed = {name: ", ".join(v) if isinstance(v, tuple) else v for name, v in self.values.items()}
        return ENGLISH[self.kind].format(**listed)

    def __format__(self, spec: str) -> str:
        """The English sentence, as part of another one."""
        return format(str(self), spec)


Told: TypeAlias = "str | Note"  # a text that somebody else has written, such as a model, or a note


def sentence(notes: Iterable[Told]) -> str:
    """Return some notes as one English line."""
    return "; ".join(map(str, notes))


def verbatim(text: str) -> Note:
    """Return a text that somebody else has written as a note; no face can say it in another language."""
    return Note(VERBATIM, {"text": text})


def notes_of(told: Told) -> tuple[Note, ...]:
    """Return a text as notes: none for an empty one."""
    if isinstance(told, Note):
        return (told,)
    return (verbatim(told),) if told else ()


def _kind(name: str, english: str) -> str:
    ENGLISH[name] = english
    return name


VERBATIM = _kind("verbatim", "{text}")

# ---- why a hit ranks where it does
ONE_MATCH = _kind("one_match", "1 match, in line {line}")
MATCHES = _kind("matches", "{count} matches, the first in line {line}")
CALLS_IT = _kind("calls_it", "calls it")
CALLS_IT_TIMES = _kind("calls_it_times", "calls it {count} times")
USES_IT = _kind("uses_it", "uses it")
USES_IT_TIMES = _kind("uses_it_times", "uses it {count} times")
IMPORTS_IT = _kind("imports_it", "imports it")
IS_CALLED = _kind("is_called", "is called there")
IS_IMPORTED = _kind("is_imported", "is imported there")
IN_SCOPE = _kind("in_scope", "inside the scope of the question")
TELLS_PURPOSE = _kind("tells_purpose", "tells what the project is for")
IN_TRACE = _kind("in_trace", "in the stack trace")
DEFINES = _kind("defines", "defines {name}")
NAMED = _kind("named", "named {names}")
FILE = _kind("file", "file {name}")
MENTIONS = _kind("mentions", "mentions {words}")
CLOSE = _kind("close", "close in meaning")
WEAK = _kind("weak", "weak evidence only")
HAS_WORDS = _kind("has_words", "has the words {words}")

# ---- what connections could not be seen
NOT_FOLLOWED = _kind("not_followed", "1 import of a package of this name could not be followed")
NOT_FOLLOWED_TIMES = _kind("not_followed_times", "{count} imports of a package of this name could not be followed")

# ---- why a search was planned as it was
MEMBERS = _kind("members", "it asks for members of {owner}: other places are left out")
DEFINED_HERE = _kind("defined_here", "{name} is defined here; definitions come first")
NAMES_MODULE = _kind("names_module", "it names a module; its file comes first")
PASTED = _kind("pasted", "it is a pasted text, such as an issue; files that it names count more")
QUESTION = _kind("question", "it is a question; `fathom ask` answers it in words")
NOT_DEFINED = _kind("not_defined", "no symbol of this name is defined here")
NAMES_FILE = _kind("names_file", "it names a file")
ERROR_MESSAGE = _kind("error_message", "it is an error message; the places that it names come first")
KEYWORDS = _kind("keywords", "words and meaning decide")
EXPRESSION = _kind("expression", "it reads as a regular expression")
AS_WRITTEN = _kind("as_written", "it is found as it is written")
ABOUT_ALL = _kind("about_all", "it asks for the project as a whole: README, package, entry points, largest modules")
WHAT_USES = _kind("what_uses", "it asks what uses {name}")
WHAT_CALLS = _kind("what_calls", "it asks what calls {name}")
WHAT_IT_CALLS = _kind("what_it_calls", "it asks what {name} calls")
WHAT_IMPORTS = _kind("what_imports", "it asks what imports {name}")
WHAT_IT_IMPORTS = _kind("what_it_imports", "it asks what {name} imports")
NOT_THAT_WAY = _kind("not_that_way", "{why}, but nothing was found that way")
STANDS_THERE = _kind("stands_there", "few of its words occur here, but these places contain its text as it is written")

# ---- what to try where nothing was found
FILTER_EMPTY = _kind("filter_empty", "no indexed lines pass the filter; widen it or leave it out")
LIST_ENDS = _kind("list_ends", "the list ends before the offset {offset}: it has {count} places")
SCORES_BELOW = _kind(
    "scores_below", "every hit scores below the limit; lower --min-score, or min_score over HTTP and in tools"
)
INDEX_EMPTY = _kind(
    "index_empty", "the index is empty; `fathom status --skipped` tells which files were left out and why"
)
SIMILAR_NAMES = _kind("similar_names", "try another word; similar names here: {names}")
OTHER_WORDS = _kind("other_words", "try other words, or fewer; `fathom status` tells what is indexed")

# ---- what a search or an answer had to do without
IN_PROJECT = _kind("in_project", "{project}: {note}")
PROJECT_FAILED = _kind("project_failed", "{project}: {error}")
NOT_ASKED = _kind("not_asked", "{project} was not asked: {error}")
BEING_INDEXED = _kind("being_indexed", "{project} is being indexed{share}")
LEFT_OUT = _kind("left_out", "{path}: {reason}")
MORE_LEFT_OUT = _kind("more_left_out", "{count} more places were left out; the JSON of a search lists them")
NO_EMBEDDER = _kind("no_embedder", "no embedding model: ranked by words and names only")
BY_WORDS_ONLY = _kind("by_words_only", "ranked by words and names only: {error}")
NOT_RERANKED = _kind("not_reranked", "not reranked: {error}")
STORE_AWAY = _kind("store_away", "the vectors of the index answer, since the store cannot be used: {problem}")
WEAK_RESULT = _kind("weak_result", f"weak: {MOST_LIKELY_NOTHING} (confidence {{confidence}})")
WEAK_REMEDY = _kind(
    "weak_remedy",
    f"weak: {MOST_LIKELY_NOTHING} (confidence {{confidence}}); {ANYWAY}",
)
GONE = _kind("gone", "gone since it was indexed: {path}")
CHANGED = _kind("changed", "changed since it was indexed, so that other lines may be the best: {path}")
NOT_FOUND = _kind(
    "not_found",
    f"not found: nothing in the index seems to answer this, so no model was called; {ANYWAY}",
)
NO_MODEL = _kind("no_model", "no language model is configured: the answer consists of excerpts")
PINNED_UNUSED = _kind(
    "pinned_unused", "only a language model reads texts that are given with the question: this answer does not use them"
)
NOT_RUN = _kind(
    "not_run", "a model wrote this command, and nothing has checked it: it was not run, so read it before you run it"
)
ANSWER_CUT = _kind("answer_cut", "the answer was cut at {count} tokens; answer.max_tokens sets the limit")
REFUSED = _kind("refused", "the model refused to answer")
CITATION_REMOVED = _kind("citation_removed", "1 citation could not be verified and was removed")
CITATIONS_REMOVED = _kind("citations_removed", "{count} citations could not be verified and were removed")
CITES_NOTHING = _kind("cites_nothing", "the answer cites no source: nothing in it could be checked")
MODEL_FAILED = _kind("model_failed", "the {roles} model failed: {cause}")
MODELS_FAILED = _kind("models_failed", "the {roles} and {last} models failed: {cause}")
QUERY_SKIPPED = _kind("query_skipped", "a query that the model wrote was skipped: {error}")
BROKEN_SCHEMA = _kind("broken_schema", "the final answer did not follow the schema: {problem}")
INDEXED_BY_NOW = _kind("indexed_by_now", "the project is being indexed{share}; until then {what}")
FIRST_UNFINISHED = _kind("first_unfinished", "the first `fathom index` has not finished: {how_far}; until then {what}")
OTHERS_NOT_FOUND = _kind("others_not_found", "the others are not found")
ONLY_NAMES = _kind("only_names", "only names are found")
RESTORED = _kind(
    "restored",
    "the index was restored from a backup, and words and vectors are not made from it yet; `fathom index` makes them; "
    "until then only names are found",
)
MADE_AGAIN = _kind("made_again", "a part of the index is being made again{share}; until then less is found")

# ---- a place in a document
PAGE = _kind("page", "page {number}")
PAGES = _kind("pages", "pages {first}-{last}")
CELL = _kind("cell", "cell {number}")
CELLS = _kind("cells", "cells {first}-{last}")
PARAGRAPH = _kind("paragraph", "paragraph {number}")
HEADING = _kind("heading", 'heading "{title}"')

# ---- the state of a part of the service
JOBS = _kind("jobs", "{running} running, {waiting} waiting, {failed} failed")
REGISTERED = _kind("registered", "{count} registered")
NO_MODEL_SET = _kind("no_model_set", "none is configured; answers consist of excerpts")
SET_A_MODEL = _kind("set_a_model", "for written answers, set llm.model, for example to {model}")
EMBEDDER_ANSWERED = _kind("embedder_answered", "{model} answered in {ms} ms with {dimensions} dimensions")
MODEL_ANSWERED = _kind("model_answered", "{model} answered in {seconds} s")
MODEL_ANSWERED_AS = _kind("model_answered_as", "{model} answered in {seconds} s as {name}")
MODEL_FOR = _kind("model_for", "model for {roles}")
EMBEDDING_MODEL = _kind("embedding_model", "embedding model")
RERANKING_MODEL = _kind("reranking_model", "reranking model")
LANGUAGE_MODEL = _kind("language_model", "language model")
OF_PROJECTS = _kind("of_projects", "{projects}: {part}")
DATA_FOLDER = _kind("data_folder", "data folder")
SETTINGS = _kind("settings", "settings")
INDEXING = _kind("indexing", "indexing")
PROJECTS = _kind("projects", "projects")
VECTOR_STORE = _kind("vector_store", "vector store")

# ---- why a citation was removed
NO_SUCH_NUMBER = _kind("no_such_number", "there is no source of this number")
NO_SUCH_PATH = _kind("no_such_path", "no source has this path")
SEVERAL_FILES = _kind("several_files", "several files have this name")
NOT_SHOWN = _kind("not_shown", "these lines were not shown")
NAMES_NO_LINES = _kind("names_no_lines", "this does not name lines of a file")
FILE_GONE = _kind("file_gone", "the file is no longer there")
FILE_CHANGED = _kind("file_changed", "the file has changed there")
QUOTE_NOT_THERE = _kind("quote_not_there", "the quoted {line} does not stand there")

# ---- marks in the text of an answer
PLACE_NOT_FOUND = _kind("place_not_found", "[cited place not found]")
PLACES_NOT_FOUND = _kind("places_not_found", "[cited places not found]")
CODE_NOT_IN_SOURCES = _kind("code_not_in_sources", "[this code is not in the sources]")
MARKS = (PLACE_NOT_FOUND, PLACES_NOT_FOUND, CODE_NOT_IN_SOURCES)
