"""The lexical view: BM25 over path, names, signature and body, in a tantivy index beside the catalogue."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import tantivy

from codefathom.errors import IndexingError
from codefathom.stores.base import FIELDS, Fields
from codefathom.stores.checked_files import CheckedFiles
from codefathom.stores.folder import Folder, UnsafeError, folder_at
from codefathom.stores.lexical.part_query import query_of
from codefathom.stores.lexical.term_list import TERMS, NewTerms, TermList, add_terms, list_files, read_terms
from codefathom.stores.write_errors import writing_error

if TYPE_CHECKING:
    from codefathom.text.required_words import Alternatives, WordPart

FORMAT = 5  # 1, 2: before the first release; 4: with checksums of the files; 5: with lists of terms, and files
ANALYZER = "whitespace"  # the terms are made by tokens.py; stemming them would need the same in `search`
_STATE = "state"
_META = "meta.json"  # tantivy's list of the files of the index, which it reads first
_PIECE = 1 << 20  # bytes read at a time
_MAX_STATE = 1_000_000  # bytes
_OF_SYSTEM = r"(?:\bOs \{ code: |\(os error )(\d{1,5})\b"
_NUMBER = re.compile("[0-9]{1,9}")  # of a folder
_MANAGED = ".managed.json"  # the files that tantivy may remove
_MAX_MANAGED = 10_000_000  # bytes
_NAME = rb'\s*"[\w-][\w.-]{0,100}"\s*'
_NAMES = re.compile(rb"\s*\[(?:%b(?:,%b)*|\s*)\]\s*" % (_NAME, _NAME))  # no path, and no escape that could hide one
_HEAP_BYTES = 60_000_000
_N_THREADS = 1
_N_AT_A_TIME = 1_000
_ANY_KEY = 1 << 64  # larger than any key
# BM25 goes on counting the words of what was deleted, so a view that was changed ranks a little differently from a new
# one. A rebuild costs 60 µs a chunk: it is due when 5 % were dropped, and always where it takes a tenth of a second.
_CHUNKS_FOR_DROPPED = 20
_REBUILT_AT_ONCE = 2_000
_LISTS_OF_ONE = 1_000  # numbers of lists of terms that one of several views may use
_MORE, _FILE = "more", "file"  # fields: chunks with words that are no terms, and the number of a chunk's file
_MAX_TERM_SET = 3_000  # a filter of more keys is faster outside: 50,000 of 80,000 chunks 68 ms inside, 1 ms outside


class _File(NamedTuple):
    """One file of tantivy's, as it was after the commit; only `meta.json` ever changes."""

    name: str
    size: int  # bytes
    checksum: int


class _State(NamedTuple):
    """One committed state of the view: its generation, folder and files; replaced as a whole after each commit."""

    generation: int
    folder: str
    stamp: int  # of the commit that it describes
    n_dropped: int  # chunks deleted since the folder was made
    is_open: int  # 1 from the moment a writer works in the folder until its commit is noted: files may be others
    files: tuple[_File, ...]


_NOTHING = _State(-1, "", 0, 0, 0, ())


class LexicalView:
    """One tantivy index. A rebuild goes into a new folder beside it, so readers see the old one until it is done."""

    def __init__(self, folder: Folder | str, owner: str = "") -> None:
        self.folder = folder_at(folder)
        self._state_file = self.folder.file(_STATE)
        self._owner = owner or "-"
        self._state = _NOTHING
        self._stamp: object = None
        self._index: tantivy.Index | None = None  # the committed index
        self._writer: tantivy.IndexWriter | None = None
        self._target = ""  # the folder the writer works in
        self._n_dropped = 0
        self._top_key = _ANY_KEY  # the largest that the writer has added to a new folder
        self._cleared = False
        self._new_terms = NewTerms()  # of the chunks that the writer has added
        self._term_list: TermList | None = None  # of the committed index, once it was asked for

    @classmethod
    def open(cls, folder: Folder | str, owner: str = "") -> LexicalView:
        """Open the view. One that is missing, damaged or made for another owner, the catalogue's identity, is empty."""
        view = cls(folder, owner)
        view.reload()
        return view

    @property
    def generation(self) -> int:
        """Generation of the catalogue this view shows; -1 when there is no usable view, or it was cleared."""
        return -1 if self._cleared else self._state.generation

    def reload(self) -> None:
        """See what another process has committed."""
        stamp = self._state_file.stamp()
        if stamp != self._stamp:
            self._stamp = stamp
            state = self._read_state()
            self._index = _open(self.folder.below(state.folder)) if state.folder else None
            self._state = state if self._index is not None else _NOTHING
            self._term_list = None

    def damage(self, *, whole: bool = True) -> str:
        """Return the first file that differs from its checksum, or nothing. See `LexicalStore` and `is_unsettled`."""
        state = self._state
        if self.is_unsettled:
            return ""
        folder = self.folder.below(state.folder) if state.folder else self.folder
        name = _first_damaged(folder, state.files) if whole else self._first_damaged(folder, state.files)
        # A commit by another process at this moment is no damage.
        return f"{name} differs from what was written" if name and self._read_state() == state else ""

    def _first_damaged(self, folder: Folder, files: Sequence[_File]) -> str:
        by_name = {file.name: file for file in files}
        try:
            places = [(folder.file(file.name), str(file.checksum)) for file in files]
        except (OSError, ValueError):  # a name that no file may have
            return _first_damaged(folder, files)
        damaged = CheckedFiles(self.folder).first_damaged(
            places, lambda file: _look(folder, file.name) == by_name[file.name]
        )
        return "" if damaged is None else damaged.name

    @property
    def is_unsettled(self) -> bool:
        """True if a process was killed before it noted its commit: these files cannot be checked."""
        state = self._state
        if not state.is_open:
            return False
        return _look(self.folder.below(state.folder), _META) not in state.files

    def update(self, added: Iterable[tuple[int, Fields | tuple[str, str, str, str]]], removed: Iterable[int]) -> None:
        """Delete and add, in any order and as often as you like; visible after `commit`."""
        writer = self._writing()
        keys = list(removed)
        self._n_dropped += len(keys)
        rows = iter(added)
        with self._guarded_writing():
            _delete(writer, keys)
        while part := list(islice(rows, _N_AT_A_TIME)):
            with self._guarded_writing():
                self._add(writer, part)

    def clear(self) -> None:
        """Drop all, to be built again; visible after `commit`."""
        self._drop()
        self._cleared = True

    def abandon(self) -> None:
        """Drop uncommitted changes; after `clear` the view must still be built anew."""
        was_cleared = self._cleared or (self._writer is not None and self._target != self._state.folder)
        self._drop()
        self._cleared = was_cleared

    def commit(self, generation: int) -> None:
        """Make all changes visible and durable, as this generation."""
        if self._writer is None and generation == self.generation:
            return
        if self._writer is None and self.generation >= 0:
            self._write_state(self._state._replace(generation=generation))
        else:
            # A kill between commit and state leaves files of which nothing is known: `is_unsettled`. A new folder is
            # not seen at all until the state names it.
            writer = self._writing()
            with self._guarded_writing():
                outdated = self._put_terms()
                stamp = writer.commit()
                writer.wait_merging_threads()
            self._write_state(_State(generation, self._target, stamp, self._n_dropped, 0, self._files(outdated)))
            self._remove_outdated(outdated)
            self._drop()
            self._remove_other_folders()
        self._stamp = None
        self.reload()

    @property
    def is_worn(self) -> bool:
        """True if deleted chunks distort its scores so far that it should be built again."""
        return self._n_dropped > 0 and self.n_chunks < _REBUILT_AT_ONCE + _CHUNKS_FOR_DROPPED * self._n_dropped

    @property
    def n_chunks(self) -> int:
        """Number of chunks in the view."""
        index = self._index
        if index is not None:
            with self._guarded():
                return int(index.searcher().num_docs)
        return 0

    def document_frequencies(self, words: Iterable[str]) -> dict[str, int]:
        """Return the number of chunks in whose body each term stands."""
        index = self._index
        if index is not None:
            with self._guarded():
                searcher = index.searcher()
                return {word: int(searcher.doc_freq("body", word)) for word in words}
        return dict.fromkeys(words, 0)

    def search(
        self, words: Mapping[str, float], k: int, weights: Mapping[str, float], allowed: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        """Return (key, sum of BM25 scores over fields, weighted by word and field), best first."""
        index = self._index
        if index is None or k < 1 or not words or (allowed is not None and not allowed):
            return []
        with self._guarded():
            return _search(index, _query(index.schema, words, weights), k, allowed)
        return []

    def containing(self, part: str, k: int, allowed: Collection[int] | None = None) -> list[int]:
        """Return the keys of at most k chunks in whose body a term has this part."""
        index = self._index
        if index is None or k < 1 or not part.isalnum() or (allowed is not None and not allowed):
            return []
        with self._guarded():
            query = tantivy.Query.regex_query(index.schema, "body", f".*{part}.*")
            return sorted(key for key, _ in _search(index, query, k, allowed))
        return []

    def chunks_with(self, needs: Sequence[Alternatives]) -> dict[int, int] | None:
        """Return the chunks whose bodies have words with these parts, with their files; see `LexicalStore`."""
        index = self._index
        if index is None or not self._has_terms():
            return None
        with self._guarded():
            query = query_of(needs, index.schema, index.searcher(), self._terms_with)
            return None if query is None else self._files_of(query)
        return None

    def with_more_words(self) -> dict[int, int] | None:
        """Return the chunks with words that are no terms, with their files; None where this cannot be told."""
        index = self._index
        if index is None:
            return None
        with self._guarded():
            return self._files_of(tantivy.Query.term_query(index.schema, _MORE, _MORE, "basic"))
        return None

    def take(self, other: Folder) -> None:
        """Take over the committed files of a view of the same catalogue in another folder; see `File.take`.

        tantivy never changes a file in place, except those it replaces as a whole, which are copied. Raises OSError.
        """
        state = LexicalView(other, self._owner)._read_state()
        if not state.folder or state.is_open:
            return
        target, source = self.folder.below(state.folder), other.below(state.folder)
        target.make()
        for file in state.files:
            if file.name != _META:
                target.file(file.name).take(source.file(file.name))
        target.file(_META).replace([source.file(_META).read(_MAX_MANAGED)])
        _manage(target, state.files)
        self._write_state(state)

    def join(self, others: Sequence[tuple[Folder, str]], generation: int) -> None:
        """Take over the committed files of the views of several catalogues, each with its owner, as one view of all.

        Their keys must differ. Scores, and the frequencies of words, are those of one view with all their chunks. No
        file is changed or copied where the disk can give it a second name. Raises IndexingError for a view that is not
        whole, OSError.
        """
        target = self._target_of_join()
        segments: list[object] = []
        taken: list[_File] = []
        meta: dict[str, Any] = {}
        for number, (folder, owner) in enumerate(others, start=1):
            state = LexicalView(folder, owner)._read_state()
            if not state.folder or state.is_open:
                raise IndexingError(f"the view {folder.path!r} is not whole", hint="run `fathom fleet index`")
            source = folder.below(state.folder)
            meta = json.loads(source.file(_META).read(_MAX_MANAGED))
            segments += meta["segments"]
            taken += _taken(source, target, state.files, number)
        meta |= {"segments": segments, "opstamp": 0}
        target.file(_META).replace([json.dumps(meta).encode()])
        _manage(target, taken)
        # The other files are checked where they come from.
        lists = [file for file in taken if file.name.startswith(TERMS)]
        self._write_state(_State(generation, "1", 0, 0, 0, (*lists, _look(target, _META))))
        self._stamp = None
        self.reload()

    def _target_of_join(self) -> Folder:
        self.folder.make()
        self.folder.remove("1")
        target = self.folder.below("1")
        target.make()
        return target

    def close(self) -> None:
        """Release files. Uncommitted changes are dropped."""
        self._index, self._state, self._stamp, self._term_list = None, _NOTHING, None, None

    # ---- inside

    def _has_terms(self) -> bool:
        """Return True if there is a list of all terms, which is read once."""
        if self._index is None or self._cleared or self.is_unsettled:
            return False
        if self._term_list is None:
            folder = self.folder.below(self._state.folder)
            by_name = {file.name: file for file in self._state.files}
            files = [by_name[name] for name in list_files(by_name)]
            self._term_list = read_terms([(folder.file(file.name), file.size, file.checksum) for file in files])
        return self._term_list is not None

    def _terms_with(self, part: WordPart) -> list[str]:
        """Return the terms that words with this part have."""
        return self._term_list.with_part(part) if self._term_list is not None else []

    def _files_of(self, query: tantivy.Query) -> dict[int, int] | None:
        """Return all chunks that a query finds, with the numbers of their files; None without a usable view."""
        index = self._index
        if index is None:
            return None
        searcher = index.searcher()
        every = tantivy.Query.const_score_query(query, 1.0)
        hits = searcher.search(every, limit=max(int(searcher.num_docs), 1), count=False).hits
        addresses = [address for _, address in hits]
        if not addresses:
            return {}
        keys, files = (searcher.fast_field_values(field, addresses) for field in ("key", _FILE))
        return {int(key or 0): int(file or 0) for key, file in zip(keys, files, strict=True)}

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Treat a view whose files turn out to be damaged as missing, here and in the next process."""
        try:
            yield
        except BaseException as error:
            if not _is_damage(error):
                raise
            self._forget()

    @contextmanager
    def _guarded_writing(self) -> Iterator[None]:
        """Raise IndexingError when the view cannot be written; its files are not trusted any more."""
        try:
            yield
        except BaseException as error:
            if not _is_damage(error):
                raise
            self._forget()
            self._drop()
            raise self._failure(error) from error

    def _forget(self) -> None:
        if self._stamp == self._state_file.stamp():
            with suppress(OSError):
                self._state_file.remove()
        self._index, self._state, self._stamp, self._term_list = None, _NOTHING, None, None

    def _writing(self) -> tantivy.IndexWriter:
        if self._writer is None:
            is_new = self._cleared or self._index is None
            self._n_dropped = 0 if is_new else self._state.n_dropped
            self._top_key = -1 if is_new else _ANY_KEY
            if not is_new and not self._state.is_open:
                self._state = self._state._replace(is_open=1)
                self._write_state(self._state)
                self._stamp = self._state_file.stamp()
            try:
                self._target = self._new_folder() if is_new else self._state.folder
                path = _checked_path(self.folder.below(self._target))
                index = tantivy.Index(_SCHEMA, path=path) if is_new else tantivy.Index.open(path)
                self._writer = index.writer(_HEAP_BYTES, _N_THREADS)
                _recover(self._writer)
                if not is_new and self._writer.commit_opstamp != self._state.stamp:
                    # A commit that was not noted: the same changes come again, and the old ones stay as dropped.
                    self._n_dropped += self.n_chunks
            except BaseException as error:
                if not _is_damage(error):
                    raise
                raise self._failure(error) from error
        return self._writer

    def _add(self, writer: tantivy.IndexWriter, rows: list[tuple[int, Fields | tuple[str, str, str, str]]]) -> None:
        keys = [key for key, _ in rows]
        if min(keys) <= self._top_key:  # above it there is nothing to replace: keys are never used twice, and grow
            _delete(writer, keys)
        self._top_key = max(self._top_key, *keys)
        for key, values in rows:
            fields = Fields(*values)
            document = tantivy.Document(**dict(zip(FIELDS, fields, strict=False)))
            document.add_unsigned("key", key)
            document.add_unsigned(_FILE, fields.file)
            if fields.has_more:
                document.add_text(_MORE, _MORE)
            self._new_terms.update(fields.body.split())
            writer.add_document(document)

    def _put_terms(self) -> list[str]:
        """List the terms of the chunks that were added; return the names of lists that are not needed any more."""
        is_new = self._target != self._state.folder
        if not self._new_terms and not is_new:
            return []
        before = [] if is_new else list_files(file.name for file in self._state.files)
        return add_terms(self.folder.below(self._target), self._new_terms, before)

    def _remove_outdated(self, names: Sequence[str]) -> None:
        for name in names:
            with suppress(OSError):  # held by a reader on Windows: the next commit keeps it as one more list
                self.folder.below(self._target).remove(name)

    def _files(self, outdated: Collection[str]) -> tuple[_File, ...]:
        """Return the files of the target; those of the state before keep their size and checksum."""
        by_name = {file.name: file for file in self._state.files if file.name != _META}
        before = by_name if self._target == self._state.folder else {}
        folder = self.folder.below(self._target)
        names = sorted(
            name
            for name in folder.names()
            if not name.startswith(".") and not name.endswith(".new") and name not in outdated
        )
        return tuple(before.get(name) or _look(folder, name) for name in names)

    def _failure(self, error: BaseException) -> IndexingError:
        message = f"the lexical view {self.folder.path!r} cannot be written"
        if isinstance(error, OSError):
            return writing_error(message, self.folder, error)
        if told := re.search(_OF_SYSTEM, str(error)):  # the library has an error of its own around that of the system
            number = int(told[1])
            return writing_error(message, self.folder, OSError(number, os.strerror(number)))
        return IndexingError(f"{message}: {error}", hint="run `fathom index --full`")

    def _drop(self) -> None:
        self._writer, self._target, self._cleared = None, "", False
        self._new_terms = NewTerms()

    def _new_folder(self) -> str:
        self.folder.make()
        number = max((int(name) for name in self.folder.names() if _NUMBER.fullmatch(name)), default=0) + 1
        self.folder.remove(str(number))
        self.folder.below(str(number)).make()
        return str(number)

    def _remove_other_folders(self) -> None:
        for name in self.folder.names():
            if _NUMBER.fullmatch(name) and name != self._read_state().folder:
                # Where a reader holds files that cannot be removed (Windows), the next commit tries again.
                with suppress(OSError):
                    self.folder.remove(name)

    def _read_state(self) -> _State:
        try:
            text, _, end = self._state_file.read(_MAX_STATE).rpartition(b"\n")
            made_for, generation, folder, stamp, n_dropped, is_open, *files = text.decode("ascii").split("\n")
            state = _State(
                *(int(generation), str(int(folder)), int(stamp), int(n_dropped), int(is_open)),
                tuple(_File(name, int(size), int(checksum)) for name, size, checksum in map(str.split, files)),
            )
        except (OSError, ValueError):
            return _NOTHING
        is_whole = end == b"%d" % crc32(text) and made_for == f"lexical {FORMAT} {self._owner}"
        return state if is_whole else _NOTHING

    def _write_state(self, state: _State) -> None:
        *values, files = state
        lines = [f"lexical {FORMAT} {self._owner}", *map(str, values), *(" ".join(map(str, file)) for file in files)]
        text = "\n".join(lines).encode("ascii")
        try:
            self._state_file.replace([b"%s\n%d" % (text, crc32(text))])
        except OSError as error:
            raise self._failure(error) from error


def _manage(folder: Folder, files: Iterable[_File]) -> None:
    """Write the list of the files that tantivy may remove when nothing names them any more: those that it has made."""
    names = [file.name for file in files if file.name != _META and not file.name.startswith(TERMS)]
    folder.file(_MANAGED).replace([json.dumps([*names, _META]).encode()])


def _taken(source: Folder, target: Folder, files: Sequence[_File], number: int) -> list[_File]:
    """Take the files of a view into a folder with those of others, and return them with their names there."""
    taken = []
    for file in files:
        if file.name == _META:
            continue
        name = file.name
        if name.startswith(TERMS):  # with a number, which a list of another view has, too
            name = f"{TERMS}{number * _LISTS_OF_ONE + int(name.removeprefix(TERMS)) % _LISTS_OF_ONE}"
        target.file(name).take(source.file(file.name))
        taken.append(file._replace(name=name))
    return taken


def _first_damaged(folder: Folder, files: Iterable[_File]) -> str:
    return next((file.name for file in files if _look(folder, file.name) != file), "")


def _look(folder: Folder, name: str) -> _File:
    """Return the present size and checksum of a file; -1 and 0 for one that cannot be read."""
    size = checksum = 0
    try:
        with folder.file(name).open() as file:
            while piece := file.read(_PIECE):
                size, checksum = size + len(piece), crc32(piece, checksum)
    except (OSError, ValueError):  # ValueError: not a valid name
        return _File(name, -1, 0)
    return _File(name, size, checksum)


def _search(
    index: tantivy.Index, query: tantivy.Query, k: int, allowed: Collection[int] | None
) -> list[tuple[int, float]]:
    searcher = index.searcher()
    if allowed is None:
        return _best(searcher, query, k)
    if len(allowed) <= _MAX_TERM_SET:
        return _best(searcher, _within(index.schema, query, allowed), k)
    return _best_of_many(searcher, query, k, allowed)


def _best(searcher: tantivy.Searcher, query: tantivy.Query, k: int) -> list[tuple[int, float]]:
    hits = searcher.search(query, limit=k, count=False).hits
    keys = searcher.fast_field_values("key", [address for _, address in hits]) if hits else []
    ranked = [(int(key or 0), float(score)) for key, (score, _) in zip(keys, hits, strict=True)]
    ranked.sort(key=lambda item: (-item[1], item[0]))
    return ranked


def _best_of_many(
    searcher: tantivy.Searcher, query: tantivy.Query, k: int, allowed: Collection[int]
) -> list[tuple[int, float]]:
    """Search for more than k and keep the allowed ones; search for more again, until there are k or no more."""
    inside = allowed if isinstance(allowed, (set, frozenset)) else set(allowed)
    limit = 4 * k * max(searcher.num_docs // len(inside), 1)
    while True:
        hits = _best(searcher, query, limit)
        ranked = [item for item in hits if item[0] in inside]
        if len(ranked) >= k or len(hits) < limit:
            return ranked[:k]
        limit *= 8


def _within(schema: tantivy.Schema, query: tantivy.Query, allowed: Collection[int]) -> tantivy.Query:
    inside = tantivy.Query.const_score_query(tantivy.Query.term_set_query(schema, "key", list(allowed)), 0.0)
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.Must, inside)])


def _query(schema: tantivy.Schema, words: Mapping[str, float], weights: Mapping[str, float]) -> tantivy.Query:
    return tantivy.Query.boolean_query(
        [
            (
                tantivy.Occur.Should,
                tantivy.Query.boost_query(tantivy.Query.term_query(schema, field, word, "freq"), counts * weight),
            )
            for word, counts in words.items()
            for field, weight in weights.items()
            if counts * weight > 0
        ]
    )


def _recover(writer: tantivy.IndexWriter) -> None:
    """Make a writer safe to use after one that was killed (found with tantivy 0.27 by the kill test)."""
    # A commit that was cut off leaves a file whose name the next commit would use again, and fail.
    writer.garbage_collect_files()
    # The first operation gets the number of the last commit. When a merge that was cut off is begun again, segments
    # that were cleaned in that commit pass over operations of this number: let it be one that does nothing.
    writer.delete_documents_by_query(tantivy.Query.empty_query())


def _delete(writer: tantivy.IndexWriter, keys: list[int]) -> None:
    # By query: a deletion by term takes the key for a signed number, which the unsigned field never holds.
    for start in range(0, len(keys), _N_AT_A_TIME):
        part = keys[start : start + _N_AT_A_TIME]
        writer.delete_documents_by_query(tantivy.Query.term_set_query(_SCHEMA, "key", part))


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("key", stored=False, indexed=True, fast=True)
    builder.add_unsigned_field(_FILE, stored=False, indexed=False, fast=True)
    builder.add_text_field(_MORE, stored=False, tokenizer_name="raw", index_option="basic")
    for field in FIELDS:
        builder.add_text_field(field, stored=False, tokenizer_name=ANALYZER, index_option="freq")
    return builder.build()


_SCHEMA = _schema()


def _checked_path(folder: Folder) -> str:
    """Return the path of a folder that tantivy may open. Raises UnsafeError, RefusedError.

    tantivy opens by path, and removes the files that `.managed.json` names. So there must be nothing but files in the
    folder, and nothing but names in that list. One risk remains: somebody with access can change them afterwards.
    """
    if not folder.has_only_files():
        raise UnsafeError(errno.ELOOP, "it holds something else than files", folder.path)
    try:
        names = folder.file(_MANAGED).read(_MAX_MANAGED)
    except FileNotFoundError:
        names = b"[]"
    if not _NAMES.fullmatch(names):
        raise UnsafeError(errno.EINVAL, f"{_MANAGED} names other files than those of an index", folder.path)
    return folder.path


def _open(folder: Folder) -> tantivy.Index | None:
    try:
        index = tantivy.Index.open(_checked_path(folder))
        index.config_reader("Manual")  # else a thread reloads it in the midst of a question, once the files change
        index.searcher()
    except BaseException as error:
        if _is_damage(error):
            return None
        raise
    return index


def _is_damage(error: BaseException) -> bool:
    # tantivy answers a damaged file with one of these or with a panic, which is no Exception and cannot be imported.
    return isinstance(error, (ValueError, OSError)) or type(error).__name__ == "PanicException"
