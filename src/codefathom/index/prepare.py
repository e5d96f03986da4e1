"""Stages 1 to 3 for one file: read, parse, chunk, split into terms. No state; runs here or in a worker process."""

from __future__ import annotations

import errno
import sqlite3
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from typing import BinaryIO, NamedTuple

from codefathom.errors import FathomError
from codefathom.facts import reasons as say
from codefathom.facts.languages import is_document
from codefathom.facts.parse_problems import missing_grammars
from codefathom.facts.reasons import Note
from codefathom.index.chunk import chunk
from codefathom.index.plan import FileJob, Recipe
from codefathom.parse import parse
from codefathom.parse.text import PARSER
from codefathom.parse.text import parse as parse_text
from codefathom.source.changes import FileStat
from codefathom.source.documents import read
from codefathom.source.large import Survey, Window, look_through
from codefathom.source.secrets import MASK, blank
from codefathom.stores.base import Fields
from codefathom.stores.cache import Cache, decode_parsed, encode_parsed
from codefathom.stores.catalog.records import RejectedFile, TouchedFile
from codefathom.stores.lexical.fields import fields_of
from codefathom.types import Chunk, Document, Failure, ParsedDocument, Skipped

# Of a chunk so much is embedded: enough for its topic; a static model gains nothing from more.
MAX_EMBEDDED_CHARS = 2_000


class PreparedFile(NamedTuple):
    """A document, ready to be embedded and stored."""

    file: FileStat
    parsed: ParsedDocument
    chunks: tuple[Chunk, ...]
    text_hashes: tuple[str, ...]  # of `embedded_text`, parallel to chunks; "" for one that is not embedded
    fields: tuple[Fields, ...]  # for the lexical view, parallel to chunks
    fresh_parse: bytes  # to be put into the cache; empty when it came from there
    is_finished: bool = True  # False: a model should have parsed it and did not

    @property
    def path(self) -> str:
        """Path of the document."""
        return self.file.path


Outcome = PreparedFile | TouchedFile | RejectedFile | Failure

# Reasons that may pass by themselves: such a file is tried again in each run.
_PASSING = frozenset({say.UNREADABLE, say.ABSENT})


def prepare(job: FileJob, recipe: Recipe) -> Outcome:
    """Turn one file into chunks. Never raises because of the content of a file."""
    document = read(
        recipe.tree,
        job.file,
        include_generated=recipe.rules.include_generated,
        assumed=recipe.assumed_encoding,
        indexed=job.fingerprint,
    )
    if isinstance(document, Skipped):
        return outcome_of_skipped(document, job)
    if document.fingerprint == job.fingerprint:
        return TouchedFile(*job.file)
    return prepare_document(document, job.file, recipe)


# What these say is true of the machine, not of the file.
_OF_MACHINE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE})


def failure_of(path: str, error: Exception) -> Failure:
    """Return the failure of one file, on which a step of ours broke, so that no file ends a run.

    Raises `error` itself when it tells of something else: a full disk, a damaged index, work that was stopped.
    """
    is_of_machine = isinstance(error, OSError) and error.errno in _OF_MACHINE
    if is_of_machine or isinstance(error, FathomError | sqlite3.Error):
        raise error
    return Failure(path, Note(say.STEP_FAILED, {"error": type(error).__name__, "text": str(error)}))


def touched_file(job: FileJob, recipe: Recipe) -> TouchedFile | None:
    """Return the outcome of a file that is as it was indexed; None for one that must be prepared."""
    if is_document(job.file.path):  # one that has changed would be taken apart twice
        return None
    rules, assumed = recipe.rules, recipe.assumed_encoding
    try:
        document = read(recipe.tree, job.file, include_generated=rules.include_generated, assumed=assumed)
    except Exception as error:
        failure_of(job.file.path, error)
        return None  # it is prepared, and fails there
    is_same = not isinstance(document, Skipped) and document.fingerprint == job.fingerprint
    return TouchedFile(*job.file) if is_same else None


def look_into(stream: BinaryIO, job: FileJob, recipe: Recipe) -> Survey | TouchedFile | RejectedFile | Failure:
    """Survey a large file before it is parsed; for one that need not be parsed, return its outcome."""
    rules, assumed = recipe.rules, recipe.assumed_encoding
    try:
        survey = look_through(stream, job.file, include_generated=rules.include_generated, assumed=assumed)
    except Exception as error:
        return failure_of(job.file.path, error)
    if isinstance(survey, Skipped):
        return outcome_of_skipped(survey, job)
    return TouchedFile(*job.file) if survey.fingerprint == job.fingerprint else survey


def outcome_of_skipped(skipped: Skipped, job: FileJob) -> RejectedFile | Failure:
    """Return the outcome of a file that is no document: a failure where the reason may pass by itself."""
    if isinstance(skipped.why, Note) and skipped.why.kind in _PASSING:
        return Failure(skipped.path, skipped.why)
    return RejectedFile(skipped.path, skipped.why, *job.file[1:])


def prepare_document(document: Document, file: FileStat, recipe: Recipe) -> PreparedFile:
    """Parse, chunk and split a document that was read already.

    Secrets are masked before: nothing that is made of a document or stored holds their values.
    """
    return prepare_masked(as_kept(document, recipe), file, recipe)


def prepare_masked(document: Document, file: FileStat, recipe: Recipe) -> PreparedFile:
    """Parse, chunk and split a document that has masks in the place of secrets already."""
    parsed, fresh = _parsed(document, recipe)
    return prepare_parsed(parsed, file, recipe)._replace(fresh_parse=fresh)


def prepare_window(window: Window, recipe: Recipe) -> PreparedFile:
    """Chunk and split a window of a large file; the document that comes with it has no text."""
    text, is_assumed = window.text(recipe.assumed_encoding)
    encoding = recipe.assumed_encoding if is_assumed else ""
    document = as_kept(document_of(window.survey, text=text, encoding=encoding), recipe)
    prepared = prepare_parsed(parse_text(document), window.file, recipe, lines_before=window.lines_before)
    return prepared._replace(parsed=unparsed(document_of(window.survey, encoding=encoding)))


def document_of(survey: Survey, *, text: str = "", encoding: str = "") -> Document:
    """Return a large file as a document, whole or a window of it."""
    return Document(survey.file.path, survey.language, text, survey.fingerprint, survey.size, encoding)


def unparsed(document: Document) -> ParsedDocument:
    """Return a large file as a document without symbols, which only its chunks describe."""
    return ParsedDocument(document, (), (), (), PARSER, (Note(say.TOO_LARGE_TO_PARSE, {"count": document.size}),))


def as_kept(document: Document, recipe: Recipe) -> Document:
    """Return a document as an index of this recipe keeps it: with masks, unless the user keeps secrets."""
    return document if recipe.keeps_secrets else with_masks(document)


def with_masks(document: Document) -> Document:
    """Return a document with a mask in the place of each secret. Lines, columns and the fingerprint stay."""
    text = blank(document.text, document.path)
    return document if text is document.text else replace(document, text=text)


def prepare_parsed(parsed: ParsedDocument, file: FileStat, recipe: Recipe, *, lines_before: int = 0) -> PreparedFile:
    """Chunk and split a document that was parsed already."""
    chunks = chunk(parsed, recipe.limits, lines_before=lines_before)
    is_embedded = not recipe.verdict(parsed.document)
    hashes = tuple(text_hash(embedded_text(piece)) if is_embedded else "" for piece in chunks)
    return PreparedFile(file, parsed, chunks, hashes, tuple(map(fields_of, chunks)), b"")


def embedded_text(piece: Chunk) -> str:
    """Return the text that is embedded for a chunk: its path, its names and signature, then its lines."""
    module = piece.path.rpartition("/")[0]
    names = " ".join(piece.names) or piece.symbol
    return f"{piece.path}\n{module}\n{names}\n{piece.signature}\n{piece.text[:MAX_EMBEDDED_CHARS]}"


def text_hash(text: str) -> str:
    """Return the key under which the embedding of a text is kept."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def cache_key(document: Document, recipe: Recipe) -> str:
    """Return the key of a parse result: the bytes, how they are read, and by which version."""
    # The masks depend on the path as well, and the parse result is that of the masked text.
    text = f"|{text_hash(document.text)}" if MASK in document.text else ""
    return f"{document.fingerprint}|{document.language}|{recipe.parser_of(document)}{text}"


def store_parses(outcomes: list[Outcome], recipe: Recipe, cache: Cache) -> None:
    """Keep fresh parse results for other worktrees, clones and branches."""
    fresh = {
        cache_key(item.parsed.document, recipe): item.fresh_parse
        for item in outcomes
        if isinstance(item, PreparedFile) and item.fresh_parse
    }
    if fresh:
        cache.put_parsed(fresh)


def _parsed(document: Document, recipe: Recipe) -> tuple[ParsedDocument, bytes]:
    if not recipe.cache_folder:
        return parse(document, recipe.chain), b""
    key = cache_key(document, recipe)
    parses = _cache(recipe.cache_folder).get_parsed([key])
    if key in parses:
        parsed = decode_parsed(parses[key], document)
        if not missing_grammars(parsed.problems):  # as an older version has kept it
            return parsed, b""
    parsed = parse(document, recipe.chain)
    return parsed, b"" if missing_grammars(parsed.problems) else encode_parsed(parsed)


@lru_cache(maxsize=4)
def _cache(folder: str) -> Cache:
    return Cache.open(folder)
