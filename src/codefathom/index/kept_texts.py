"""Texts of the caller that are on no disk: they become documents, and the index is the only place that has them.

What is kept is the text with masks in the place of secrets, as the chunks of its document: they join up to it. When a
stage has a new version, the document is made again from that. No plan removes one; whoever gave it does, by its name.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from codefathom.errors import UsageError
from codefathom.facts import reasons as say
from codefathom.facts.languages import is_document, titles_of_documents
from codefathom.facts.reasons import Note
from codefathom.index.plan import FileJob, Recipe, is_as_made_by
from codefathom.index.prepare import PreparedFile, as_kept, prepare_masked
from codefathom.source.changes import FileStat
from codefathom.source.content import is_binary
from codefathom.source.documents import fingerprint, kind_of
from codefathom.source.origin import bytes_of_kept
from codefathom.source.size_limits import MAX_WHOLE_FILE_BYTES
from codefathom.stores.catalog.readers import IndexCatalog, SearchCatalog
from codefathom.stores.catalog.records import DocumentRecord, Entry
from codefathom.text.kept_names import is_kept_text
from codefathom.text.printable import is_text
from codefathom.types import Document, ParsedDocument, Skipped

MAX_TEXTS = 10_000
MAX_BYTES = 100_000_000  # of all texts together
_AT_ONCE = 64  # that are made again in one transaction


class TextChanges(NamedTuple):
    """The changes of an index by some texts of the caller."""

    prepared: tuple[PreparedFile, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    refused: tuple[Skipped, ...] = ()


def text_changes(
    texts: Mapping[str, str | None], entries: Mapping[str, Entry], recipe: Recipe, now_ns: int
) -> TextChanges:
    """Compare texts, by their paths, with those that are kept; None removes one, and a refused one changes nothing.

    Raises UsageError where too many or too much would be kept then.
    """
    refused = {path: why for path, text in texts.items() if (why := _reason_to_refuse(path, text, entries))}
    documents = {
        path: _document(path, text, recipe) for path, text in texts.items() if text is not None and path not in refused
    }
    removed = tuple(path for path, text in texts.items() if text is None and path not in refused)
    _check_limits(documents, removed, entries)
    same = {path for path, document in documents.items() if _is_kept(document, entries.get(path), recipe)}
    return TextChanges(
        tuple(
            prepare_masked(document, FileStat(path, document.size, now_ns), recipe)
            for path, document in documents.items()
            if path not in same
        ),
        removed,
        tuple(same),
        tuple(Skipped(path, why) for path, why in refused.items()),
    )


def texts_made_again(jobs: Sequence[FileJob], recipe: Recipe, catalog: IndexCatalog) -> Iterator[list[PreparedFile]]:
    """Prepare kept texts anew from what is kept of them, in batches. Raises DamagedError when that is not whole."""
    rest = iter(jobs)
    while batch := list(islice(rest, _AT_ONCE)):
        yield [_made_again(job, recipe, catalog) for job in batch]


def _made_again(job: FileJob, recipe: Recipe, catalog: IndexCatalog) -> PreparedFile:
    path, size, mtime_ns = job.file[:3]
    text = catalog.text(path)
    if size and not text:
        raise catalog.soundness.damaged(Note(say.TEXT_DIFFERS, {"path": repr(path)}))
    document = _document(path, text, recipe)
    return prepare_masked(document, FileStat(path, document.size, mtime_ns), recipe)


def _reason_to_refuse(path: str, text: str | None, kept: Collection[str]) -> Note | None:
    if text is None:
        return None if path in kept else Note(say.NO_SUCH_TEXT)
    if is_document(path):
        return Note(say.NAMED_AS_DOCUMENT, {"documents": titles_of_documents()})
    if not is_text(text):
        return Note(say.NOT_UNICODE)
    data = bytes_of_kept(text)
    if len(data) > MAX_WHOLE_FILE_BYTES:
        return Note(say.LARGE_TEXT, {"count": len(data), "most": MAX_WHOLE_FILE_BYTES})
    return Note(say.BINARY) if is_binary(data) else None


def _check_limits(documents: Mapping[str, Document], removed: Collection[str], entries: Mapping[str, Entry]) -> None:
    sizes = {path: entry.size for path, entry in entries.items() if is_kept_text(path) and path not in removed}
    sizes |= {path: document.size for path, document in documents.items()}
    if len(sizes) > MAX_TEXTS:
        raise UsageError(
            f"an index keeps at most {MAX_TEXTS:,} texts, and with these there would be {len(sizes):,}",
            hint="remove some of the texts by their names, or write them to files",
        )
    if sum(sizes.values()) > MAX_BYTES:
        raise UsageError(
            f"an index keeps at most {MAX_BYTES:,} bytes of texts, and with these there would be "
            f"{sum(sizes.values()):,}",
            hint="remove some of the texts by their names, or write them to files",
        )


def _document(path: str, text: str, recipe: Recipe) -> Document:
    """Return a text as it is kept; its fingerprint is that of the text with masks, so that it tells no secret."""
    document = as_kept(Document(path, kind_of(path, text), text, "", 0), recipe)
    data = bytes_of_kept(document.text)
    return replace(document, fingerprint=fingerprint(data), size=len(data) - len(BOM_UTF8))


def _is_kept(document: Document, entry: Entry | None, recipe: Recipe) -> bool:
    return entry is not None and entry.fingerprint == document.fingerprint and is_as_made_by(entry, recipe)


def kept_records(catalog: SearchCatalog) -> Iterator[DocumentRecord]:
    """Yield the kept texts of an index as another one can take them over; the next run makes the rest of them again."""
    for document in catalog.documents():
        if is_kept_text(document.path):
            pieces = tuple(piece for _, piece in catalog.chunks_of(document.path))
            plain = Document(document.path, document.language, "", document.fingerprint, document.size)
            parsed = ParsedDocument(plain, (), (), (), "")
            yield DocumentRecord(parsed, pieces, ("",) * len(pieces), document.mtime_ns, "", "", {}, "")
