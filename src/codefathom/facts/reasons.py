"""Statements about a result as kind and values, and the English words of each kind. Pure.

Whoever knows something makes a `Note` of it, and a face puts it into words: `str(note)` is the English sentence, and
the page has Chinese words for the same kinds (`web/src/i18n/kinds.ts` is generated from the table here). Nobody reads
a sentence to learn what it says: `note.kind` and `note.values` tell it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from codefathom.facts.quick_pickle import QuickPickle

Value: TypeAlias = "str | int | float | tuple[str, ...] | Note | tuple[Note, ...]"

ANYWAY = "`--anyway` shows the closest matches"
NO_FILE_INDEXED = "no file is indexed"
MOST_LIKELY_NOTHING = "most likely nothing here answers this"
# The English words of each kind. `{name}` stands for a value, `{name:,}` for a number with signs between thousands.
ENGLISH: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Note(QuickPickle):
    """One statement: its kind, and the values that the words of the kind name. `str` puts it into English."""

    kind: str  # a key of ENGLISH
    values: Mapping[str, Value] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        """The English sentence."""
        listed = {name: _joined(v) if isinstance(v, tuple) else v for name, v in self.values.items()}
        return ENGLISH[self.kind].format(**listed)

    def __format__(self, spec: str) -> str:
        """The English sentence, as part of another one."""
        return format(str(self), spec)


def _joined(values: tuple[str, ...] | tuple[Note, ...]) -> str:
    return ("; " if isinstance(values[0], Note) else ", ").join(map(str, values)) if values else ""


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


def notes_inside(notes: Iterable[Note]) -> Iterator[Note]:
    """Yield notes, and those that stand in their values."""
    for note in notes:
        yield note
        for value in note.values.values():
            values = value if isinstance(value, tuple) else (value,)
            yield from notes_inside(item for item in values if isinstance(item, Note))


def note_shape(note: Note) -> dict[str, Any]:
    """Return a note as JSON has it."""
    return {"kind": note.kind, "values": {name: _value_shape(value) for name, value in note.values.items()}}


def _value_shape(value: Value) -> Any:
    if isinstance(value, tuple):
        return list(map(_value_shape, value))
    return note_shape(value) if isinstance(value, Note) else value


def as_line(told: Told) -> str:
    """Return a statement as a text that `from_line` reads: its English words where they have no values, else JSON."""
    text = str(told)
    return text if isinstance(told, str) or from_line(text) == told else json.dumps(note_shape(told))


def from_line(line: str) -> Told:
    """Return the statement in a text of `as_line`. Any other text, whoever has written it, is taken as it is."""
    if line in _WITHOUT_VALUES:
        return Note(_WITHOUT_VALUES[line])
    if not line.startswith('{"kind":'):
        return line
    try:
        note = _from_shape(json.loads(line))
        str(note)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return line
    return note


def _from_shape(shape: dict[str, Any]) -> Note:
    values = {name: _from_value(value) for name, value in shape["values"].items()}
    return Note(shape["kind"], values)


def _from_value(shape: Any) -> Value:
    if isinstance(shape, dict):
        return _from_shape(shape)
    if isinstance(shape, list):
        notes = tuple(_from_shape(item) for item in shape if isinstance(item, dict))
        return notes or tuple(map(str, shape))
    return shape if isinstance(shape, int | float) else str(shape)


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

STANDS_ELSEWHERE = _kind(
    "stands_elsewhere",
    "the name also stands in 1 more file where it is most likely no use: "
    "in a comment or a text, as another name, or in another language",
)
STANDS_ELSEWHERE_TIMES = _kind(
    "stands_elsewhere_times",
    "the name also stands in {count} more files where it is most likely no use: "
    "in a comment or a text, as another name, or in another language",
)

NAMES_STAND_ELSEWHERE = _kind(
    "names_stand_elsewhere", "other files that have a name of the change, but no use that was seen: {count}"
)
CALLED_BY_SIGN = _kind(
    "called_by_sign", "uses of {name} by `{sign}`, without its name, are not listed; no other file seems to have one"
)
CALLED_BY_SIGN_THERE = _kind(
    "called_by_sign_there",
    "uses of {name} by `{sign}`, without its name, are not listed; other files that may have one: {count} ({places})",
)
CALLED_BY_SIGN_THERE_TOO = _kind(
    "called_by_sign_there_too",
    "uses of {name} by `{sign}`, without its name, are not listed; other files that may have one: {count} "
    "({places} and {more} more)",
)


def not_followed(count: int) -> tuple[Note, ...]:
    """Return how many imports could not be followed, where there are some."""
    if count == 1:
        return (Note(NOT_FOLLOWED),)
    return (Note(NOT_FOLLOWED_TIMES, {"count": count}),) if count else ()


def stands_elsewhere(count: int) -> tuple[Note, ...]:
    """Return in how many files a name stands where it is most likely no use, where there are some."""
    if count == 1:
        return (Note(STANDS_ELSEWHERE),)
    return (Note(STANDS_ELSEWHERE_TIMES, {"count": count}),) if count else ()


def n_not_followed(notes: Iterable[Note]) -> int:
    """Return the number of imports that could not be followed, as some notes say."""
    return _counted(notes, NOT_FOLLOWED, NOT_FOLLOWED_TIMES)


def n_standing_elsewhere(notes: Iterable[Note]) -> int:
    """Return the number of files in which a name stands and is most likely no use, as some notes say."""
    return _counted(notes, STANDS_ELSEWHERE, STANDS_ELSEWHERE_TIMES)


def _counted(notes: Iterable[Note], *kinds: str) -> int:
    return sum(int(str(note.values.get("count", 1))) for note in notes_inside(notes) if note.kind in kinds)


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
SOME_READ = _kind(
    "some_read", "{count:,} of {total:,} files were read, because the others lack words or signs that each match has"
)
ALL_READ = _kind("all_read", "all {total:,} files were read, because each of them may hold a match")
ABOUT_ALL = _kind("about_all", "it asks for the project as a whole: README, package, entry points, largest modules")
WHAT_USES = _kind("what_uses", "it asks what uses {name}")
WHAT_CALLS = _kind("what_calls", "it asks what calls {name}")
WHAT_IT_CALLS = _kind("what_it_calls", "it asks what {name} calls")
WHAT_IMPORTS = _kind("what_imports", "it asks what imports {name}")
WHAT_IT_IMPORTS = _kind("what_it_imports", "it asks what {name} imports")
ABOUT_HISTORY = _kind("about_history", "it asks for the history; these are commits of git")
MOVED_TO_COMMITS = _kind(
    "moved_to_commits",
    "the question asks for the history, so commits of git answer it; with path:* in the question the files do",
)
NO_COMMITS_INDEXED = _kind(
    "no_commits_indexed",
    "the question asks for the history, and no commit is indexed yet; these are files. --commits (over HTTP and for "
    'agents "commits": true) answers from the commits, and makes their index once',
)
MARKS_OF_COMMITS = _kind(
    "marks_of_commits",
    "author: and changed: choose commits; in a search of files they are plain words. --commits (over HTTP and for "
    'agents "commits": true) searches the commits; --changed-after chooses files by their time on the disk',
)
# What an answer says where its question asks for the history.
OF_HISTORY = (MOVED_TO_COMMITS, NO_COMMITS_INDEXED, MARKS_OF_COMMITS)
NOT_THAT_WAY = _kind("not_that_way", "{why}, but nothing was found that way")
STANDS_THERE = _kind("stands_there", "few of its words occur here, but these places contain its text as it is written")

# ---- how complete a list of edges or a map is
SENTENCE = _kind("sentence", "{notes}.")
EDGES_BY_COMPILER = _kind("edges_by_compiler", "{count} of {total} edges are by the compiler")
EDGES_EXACT = _kind("edges_exact", "{count} of {total} edges are exact, by scope or import")
EDGES_BY_UNIQUE_NAME = _kind(
    "edges_by_unique_name",
    "{count} by the name alone (one definition here has that name, and another one may be meant)",
)
EDGES_BY_NAME = _kind(
    "edges_by_name",
    "{count} by the name alone (up to {most} definitions here have that name, and another one may be meant)",
)
NO_EDGES = _kind("no_edges", "nothing was found")
NOTHING_CHANGED = _kind("nothing_changed", "nothing has changed: the files are as they were")
LOWER_BOUND = _kind("lower_bound", "this is a lower bound: uses through variables, strings or reflection are not seen")
LOWER_BOUND_WITHOUT = _kind(
    "lower_bound_without",
    "this is a lower bound: uses through variables, strings or reflection are not seen, nor any in {languages}",
)
SEVERAL_SYMBOLS = _kind("several_symbols", "{count} symbols have this name ({places}); ask for one by its place")
MANY_SYMBOLS = _kind(
    "many_symbols", "{count} symbols have this name ({places} and {more} more); ask for one by its place"
)
EDGES_LEFT_OUT = _kind("edges_left_out", "{count:,} more edges are left out")
LEAST_EDGES_LEFT_OUT = _kind("least_edges_left_out", "at least {count:,} more edges are left out")
MAYBE_EDGES_LEFT_OUT = _kind("maybe_edges_left_out", "maybe some more edges are left out")
COMMON_NAMES = _kind("common_names", "names that many definitions share are not followed: {names}")
MAP_RANKED = _kind(
    "map_ranked",
    "Files are ranked by imports and by uses of names, matched by name where at most {count} files define it; dynamic "
    "uses are missing.",
)
MAP_FOLLOWED = _kind(
    "map_followed",
    "Files that changed after all files were ranked ({count}) are shown as they are now; they keep their earlier "
    "places, and new files stand last.",
)

# ---- what to try where nothing was found
FILTER_EMPTY = _kind("filter_empty", "no indexed lines pass the filter; widen it or leave it out")
LIST_ENDS = _kind("list_ends", "the list ends before the offset {offset}: it has {count} places")
SCORES_BELOW = _kind("scores_below", "every hit scores below the limit; lower `--min-score`")
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
ALSO_IN_ONE = _kind("also_in_one", "also in {path}")
ALSO_IN = _kind("also_in", "also in {count} other places, such as {paths}")
IN_BRANCH = _kind("in_branch", "only in the branch {branch}")
IN_BRANCHES = _kind("in_branches", "in the branches {branches}")
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
FILES_INDEXED = _kind("files_indexed", "{count} of {total} files are indexed")
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

JUST_MADE = _kind(
    "just_made", "a part of the index is being made again, and has just been completed; ask again to search all of it"
)
OTHER_MODEL = _kind(
    "other_model",
    "the index was made with the embedding model {before} and has no vectors of {model} yet; {way}; until then only "
    "words and names are found",
)
INDEX_MAKES_THEM = _kind("index_makes_them", "`fathom index` makes them")
BEING_MADE = _kind("being_made", "they are being made{share}")
FIRST_RUN_UNFINISHED = _kind(
    "first_run_unfinished", "the first indexing run was not completed: files are missing in the index"
)

# ---- what of a fleet a question did not reach
PARTIAL = _kind(
    "partial",
    "the answer is partial: {count} of {total} shards were not searched to the end, with {repositories} repositories: "
    "{shards}",
)
SHARD_NOT_ASKED = _kind("shard_not_asked", "shard {shard} ({repositories}): {reason}")
AND_MORE = _kind("and_more", "and {count} more")
SHARD_LATE = _kind("shard_late", "the time for the question was over (search.fleet_timeout_s)")
SHARD_AWAY = _kind("shard_away", "no machine of the cluster answers for it (search.fleet_cluster)")
SHARD_STORE_AWAY = _kind("shard_store_away", "a machine of the cluster cannot read it: {error}")
SHARD_MIXED = _kind(
    "shard_mixed", "it holds repositories of other readers, too, until `fathom fleet index NAME` makes it again"
)
SHARD_FILE_MISSING = _kind("shard_file_missing", "its file {path} is missing")
SHARD_FILE_SIZE = _kind("shard_file_size", "its file {path} has {size} bytes, and {expected} were written")
SHARD_FILE_DIFFERS = _kind("shard_file_differs", "its file {path} holds something else than what was written")
SHARD_NOT_LISTED = _kind("shard_not_listed", "an earlier version made it, which kept no digests of its files")
SHARD_OLD_FORMAT = _kind(
    "shard_old_format", "it has format {before} of an older fathom; `fathom fleet index NAME` writes it in format {now}"
)
SHARD_REPAIR = _kind("shard_repair", "run `fathom fleet index NAME --full`, which makes damaged shards again")

# ---- what of an index is damaged or missing
REPAIRED_BY_INDEX = _kind("repaired_by_index", "{damage}; `fathom index` repairs it")
FILE_DAMAGED = _kind("file_damaged", "the index is damaged: what it holds of {path} is left out")
FILES_DAMAGED = _kind(
    "files_damaged", "the index is damaged: what it holds of {path} and {count} more files is left out"
)
OLDER_THAN_VIEWS = _kind("older_than_views", "the catalogue is older than the views that were made from it")
INDEX_INCOMPLETE = _kind("index_incomplete", "the index is incomplete: {reason}")
WAS_DAMAGED = _kind("was_damaged", "it was damaged")
PART_MISSING = _kind("part_missing", "the {part} is missing or damaged")
INDEX_OF_WORDS = _kind("index_of_words", "index of words")
INDEX_OF_VECTORS = _kind("index_of_vectors", "index of vectors")
NO_GRAMMAR = _kind(
    "no_grammar",
    "the grammar of {language} cannot be loaded ({error}): {count} files with {language} are indexed as text until "
    "`fathom index` can load it",
)

PART_DAMAGED = _kind("part_damaged", "the {part} is damaged: {error}")
CATALOGUE_DAMAGED = _kind("catalogue_damaged", "the catalogue {path} is damaged: {error}")
CATALOGUE_MARKED = _kind("catalogue_marked", "the catalogue {path} is damaged")
SET_ASIDE = _kind("set_aside", "the index was set aside: {reason}")
OLD_FORMAT = _kind(
    "old_format",
    "the index has format {before} of an older fathom: it is written in format {now} first, once, which takes some "
    "seconds, and minutes where the project is very large",
)
OLD_FORMAT_UNWRITABLE = _kind(
    "old_format_unwritable",
    "the index {path} has format {before} of an older fathom, and cannot be written in format {now}: {error}",
)
OLD_FORMAT_REMEDY = _kind(
    "old_format_remedy",
    "run `fathom status` once as a user who can write in the folder of the index, where its disk has room, or set "
    "FATHOM_INDEX_DIR to another folder: a new index is made there",
)
PARTS_DIFFER = _kind("parts_differ", "parts of it differ from what was written")
PART_OF_FILE_DIFFERS = _kind("part_of_file_differs", "a part of {path} differs from what was written")
CONTENT_DIFFERS = _kind("content_differs", "what it holds of {path} differs from what was written")
CONTENT_WRONG = _kind("content_wrong", "what it holds of {path} is wrong")
TEXT_DIFFERS = _kind("text_differs", "the text {path} differs from what was written")
COPY_DIFFERS = _kind("copy_differs", "it was to be copied, and differs from what was written")
OLDER_THAN_MADE = _kind("older_than_made", "it is older than what was made from it")
VALUE_WRONG = _kind("value_wrong", "{name} is {value}")
RUN_INDEX = _kind("run_index", "run `fathom index`")
INDEX_BUILDS_PART = _kind("index_builds_part", "run `fathom index`: it is built again")
INDEX_BUILDS_AGAIN = _kind("index_builds_again", "run `fathom index` to build it again")
POST_REPAIRS = _kind("post_repairs", "POST /projects/{project}/index repairs it")

# ---- why a file is not in the index
BINARY = _kind("binary", "binary")
GENERATED = _kind("generated", "generated")
MINIFIED = _kind("minified", "minified")
VENDORED = _kind("vendored", "vendored")
DATA = _kind("data", "data")
BUILD_OUTPUT = _kind("build_output", "build output")
CACHE = _kind("cache", "cache")
VIRTUAL_ENVIRONMENT = _kind("virtual_environment", "virtual environment")
WORKTREE = _kind("worktree", "worktree of this repository")
SUBMODULE = _kind("submodule", "submodule")
OVERSIZED = _kind("oversized", "oversized")
OVERSIZED_LINE = _kind("oversized_line", "oversized line")
UNREADABLE = _kind("unreadable", "unreadable")
NOT_REGULAR = _kind("not_regular", "not a regular file")
NOT_REGULAR_OR_UNREADABLE = _kind("not_regular_or_unreadable", "not a regular file, or unreadable")
NAME_NOT_UTF8 = _kind("name_not_utf8", "name is not UTF-8")
UNSAFE_PATH = _kind("unsafe_path", "path that no file may have")
SYMLINK = _kind("symlink", "symlink")
BROKEN_SYMLINK = _kind("broken_symlink", "broken symlink")
SYMLINK_OUTSIDE = _kind("symlink_outside", "symlink out of the project")
SYMLINK_LISTED = _kind("symlink_listed", "symlink to a place already listed")
ABSENT = _kind("absent", "its content is not in this partial clone; `git fetch --refetch --no-filter` brings it")
LFS_POINTER = _kind("lfs_pointer", "a pointer of Git LFS; `git lfs pull` brings the file")
NEEDS_EXTRA = _kind("needs_extra", "needs the extra `{extra}`: {command}")
LIBRARY_BROKEN = _kind("library_broken", "the library that reads it cannot be loaded: {error}")
OLD_WORD = _kind("old_word", "the format of Word before 2007 is not read; save it as .docx")
BROKEN_PDF = _kind("broken_pdf", "broken PDF")
BROKEN_WORD = _kind("broken_word", "broken Word document")
BROKEN_RTF = _kind("broken_rtf", "broken RTF document")
BROKEN_NOTEBOOK = _kind("broken_notebook", "broken notebook")
ENCRYPTED = _kind("encrypted", "encrypted with a password")
ENCRYPTED_OR_OTHER = _kind("encrypted_or_other", "encrypted with a password, or not a .docx file")
PDF_WITHOUT_TEXT = _kind("pdf_without_text", "a PDF without text; its pages may be pictures")
WORD_WITHOUT_TEXT = _kind("word_without_text", "a Word document without text")
RTF_WITHOUT_TEXT = _kind("rtf_without_text", "an RTF document without text")
WORD_WITH_DOCTYPE = _kind("word_with_doctype", "a Word document with a document type in its XML, which none needs")
MANY_PAGES = _kind("many_pages", "it has more than {count:,} pages")
MANY_PARTS = _kind("many_parts", "an archive with more than {count:,} parts")
LARGE_UNPACKED = _kind("large_unpacked", "an archive that is much too large when it is unpacked")
MANY_CHARACTERS = _kind("many_characters", "its text has more than {count:,} characters")
MUCH_MEMORY = _kind("much_memory", "reading it takes too much memory")
TOO_SLOW = _kind("too_slow", "reading it takes longer than {seconds} s")
TOO_SLOW_AFTER_OTHERS = _kind(
    "too_slow_after_others",
    "reading it takes longer than {seconds} s, and slow documents before it had used up {all_seconds} s; "
    "`fathom index --only` with its path reads it alone",
)
READER_CRASHED = _kind("reader_crashed", "the reader crashed on it")
PARSER_CRASHED = _kind("parser_crashed", "the parser crashed on it")
STEP_FAILED = _kind("step_failed", "unexpected {error}: {text}")
NOT_EMBEDDED = _kind("not_embedded", "not embedded: {error}")
NOT_PARSED = _kind("not_parsed", "not parsed by the model: {error}")
NO_PURPOSE = _kind("no_purpose", "no purpose from the model: {error}")

# ---- what of a document is not known as it should be
SYNTAX_ERROR = _kind("syntax_error", "syntax error at line {line}")
# `lines` are those of their names; without it all definitions of the file are meant.
READ_BY_HEAD = _kind("read_by_head", "definitions read without syntax: {count}")
BY_HEAD = "by its head"  # the mark of one of them in lists
LACKS_GRAMMAR = _kind("lacks_grammar", "no grammar for {language}: {error}")
TOO_LARGE_TO_PARSE = _kind("too_large_to_parse", "{count} bytes are too many to parse")
REPEATS_ITSELF = _kind("repeats_itself", "repeats itself too much to be code")
TOO_BROKEN = _kind("too_broken", "too broken to be parsed in time")
NO_ANSWER_OF_MODEL = _kind("no_answer_of_model", "could not be parsed by {model}: {error}")
SYMBOLS_DROPPED = _kind("symbols_dropped", "symbols of {model} dropped: {reasons}")

# ---- why a named file, folder or text is not searched or not taken in
NO_SUCH_FILE = _kind("no_such_file", "there is no such file")
NO_FILE_OF_FOLDER = _kind("no_file_of_folder", "no file of this folder is indexed")
SCIP_OUTSIDE = _kind("scip_outside", "the path leads out of the project")
SCIP_UNKNOWN = _kind("scip_unknown", "this file is not in the index")
SCIP_OTHER_VERSION = _kind(
    "scip_other_version", "the compiler has read another version of this file than the one that is indexed"
)
LEFT_OUT_BY_RULE = _kind("left_out_by_rule", "left out by an ignore rule, or by the kinds of files that are indexed")
NO_SUCH_TEXT = _kind("no_such_text", "there is no text of this name")
NAMED_AS_DOCUMENT = _kind(
    "named_as_document", "it is a text, but its name is that of a {documents}; end it with .txt or .md"
)
NOT_UNICODE = _kind("not_unicode", "it holds a NUL or half of a surrogate pair, which no text has")
LARGE_TEXT = _kind("large_text", "it has {count:,} bytes, and a text may have {most:,}; write it to a file instead")
ONLY_FILES = _kind("only_files", "only {count} files outside of projects are searched")
ONLY_ENTRIES = _kind("only_entries", "only the first {count:,} entries outside of projects are searched")
ONLY_BYTES = _kind("only_bytes", "only {count:,} bytes of files outside of projects are searched")
ONLY_PROJECTS = _kind(
    "only_projects", "{count} of the projects here are left out: one question is asked to at most {most}"
)
HIDDEN_FILE = _kind("hidden_file", "hidden files are searched as part of a project only")
FOLDER_OF_SERVER = _kind("folder_of_server", "it is in the folder of this server")

# ---- a place in a document
PAGE = _kind("page", "page {number}")
PAGES = _kind("pages", "pages {first}-{last}")
CELL = _kind("cell", "cell {number}")
CELLS = _kind("cells", "cells {first}-{last}")
PARAGRAPH = _kind("paragraph", "paragraph {number}")
HEADING = _kind("heading", 'heading "{title}"')

# ---- the state of a part of the service
ALL_OF = _kind("all_of", "{notes}")
MAKE_WRITABLE = _kind("make_writable", "make the folder writable")
CORRECT_SETTINGS = _kind("correct_settings", "correct the settings file")
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

# ---- why a job failed
INTERRUPTED = _kind("interrupted", "the server ended {count} times while this job was running")
NOT_STARTED = _kind("not_started", "the process of the job cannot be started: {error}")
WITHOUT_RESULT = _kind("without_result", "the process of the job ended without a result")
ENDED_BY_SIGNAL = _kind("ended_by_signal", "the process of the job ended with signal {number}")
ENDED_WITH_STATUS = _kind("ended_with_status", "the process of the job ended with status {number}")
ENDED_SAYING = _kind("ended_saying", "{end}: {text}")
NOTHING_TAKEN_IN = _kind("nothing_taken_in", "nothing was taken in")
TRY_AGAIN = _kind("try_again", "try again")
START_AGAIN = _kind("start_again", "start the job again")
START_AGAIN_OR_INDEX = _kind(
    "start_again_or_index", "start the job again; `fathom index` in the folder of the project shows more"
)
SEE_LOG = _kind("see_log", "see the log of the server")
SEE_FILE_ERRORS = _kind("see_file_errors", "see the errors of the single files")
INSTALL_AGAIN = _kind("install_again", "install fathom again, then index once more")

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

_WITHOUT_VALUES = {english: kind for kind, english in ENGLISH.items() if "{" not in english}
