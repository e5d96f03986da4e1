"""The lexical view: BM25 over path, names, signature and body, in a tantivy index beside the catalogue."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from typing import NamedTuple

import tantivy

from codefathom.errors import IndexingError
from codefathom.stores.tokens import joined_terms
from codefathom.types import Chunk

FORMAT = 3  # 1, 2: before the first release
FIELDS = ("path", "name", "signature", "body")
ANALYZER = "whitespace"  # the terms are made by tokens.py; stemming them would need the same in `search`
_STATE = "state"
_HEAP_BYTES = 60_000_000
_N_THREADS = 1
_N_AT_A_TIME = 1_000
# BM25 goes on counting the words of what was deleted, so a view that was changed ranks a little differently from a new
# one. A rebuild costs 60 µs a chunk: it is due when 5 % were dropped, and always where it takes a tenth of a second.
_CHUNKS_FOR_DROPPED = 20
_REBUILT_AT_ONCE = 2_000
_MAX_TERM_SET = 3_000  # a filter of more keys is faster outside: 50,000 of 80,000 chunks 68 ms inside, 1 ms outside


class Fields(NamedTuple):
    """What is indexed of a chunk: terms, parted by white space."""

    path: str
    name: str
    signature: str
    body: str


def fields_of(chunk: Chunk) -> Fields:
    """Split a chunk into the terms of each field."""
    names = chunk.names or ((chunk.symbol,) if chunk.symbol else ())
    return Fields(
        joined_terms(chunk.path),
        joined_terms(" ".join(names)),
        joined_terms(f"{chunk.signature}\n{chunk.doc}"),
        joined_terms(chunk.text),
    )


class _State(NamedTuple):
    """What the view shows, and in which folder it lies; replaced as a whole after each commit."""

    generation: int
    folder: str
    stamp: int  # of the commit that it describes
    n_dropped: int  # chunks deleted since the folder was made


_NOTHING = _State(-1, "", 0, 0)


class LexicalView:
    """One tantivy index. A rebuild goes into a new folder beside it, so readers see the old one until it is done."""

    def __init__(self, folder: str, owner: str = "") -> None:
        self.folder = folder
        self._owner = owner or "-"
        self._state = _NOTHING
        self._stamp: object = None
        self._index: tantivy.Index | None = None  # what is shown
        self._writer: tantivy.IndexWriter | None = None
        self._target = ""  # the folder the writer works in
        self._n_dropped = 0
        self._cleared = False

    @classmethod
    def open(cls, folder: str, owner: str = "") -> LexicalView:
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
        stamp = _stamp(os.path.join(self.folder, _STATE))
        if stamp != self._stamp:
            self._stamp = stamp
            state = self._read_state()
            self._index = _open(os.path.join(self.folder, state.folder)) if state.folder else None
            self._state = state if self._index is not None else _NOTHING

    def update(self, added: Iterable[tuple[int, Fields | tuple[str, str, str, str]]], removed: Iterable[int]) -> None:
        """Delete and add, in any order and as often as you like; visible after `commit`."""
        writer = self._writing()
        gone = list(removed)
        self._n_dropped += len(gone)
        _delete(writer, gone)
        rows = iter(added)
        while part := list(islice(rows, _N_AT_A_TIME)):
            _delete(writer, [key for key, _ in part])
            for key, fields in part:
                document = tantivy.Document(path=fields[0], name=fields[1], signature=fields[2], body=fields[3])
                document.add_unsigned("key", key)
                writer.add_document(document)

    def clear(self) -> None:
        """Drop all, to be built again; visible after `commit`."""
        self._drop()
        self._cleared = True

    def commit(self, generation: int) -> None:
        """Make all changes visible and durable, as this generation."""
        if self._writer is None and generation == self.generation:
            return
        if self._writer is None and self.generation >= 0:
            self._write_state(self._state._replace(generation=generation))
        else:
            # A kill between these two leaves an old number on a newer view: the same changes come again, which
            # `update` allows. A new folder is not seen at all until the state names it.
            writer = self._writing()
            try:
                stamp = writer.commit()
            except (ValueError, OSError) as error:
                self._forget()
                self._drop()
                raise self._failure(error) from error
            self._write_state(_State(generation, self._target, stamp, self._n_dropped))
            writer.wait_merging_threads()
            self._drop()
            self._remove_other_folders()
        self._stamp = None
        self.reload()

    @property
    def is_worn(self) -> bool:
        """Whether it should be built again for the sake of its scores."""
        return self._n_dropped > 0 and self.n_chunks < _REBUILT_AT_ONCE + _CHUNKS_FOR_DROPPED * self._n_dropped

    @property
    def n_chunks(self) -> int:
        """How many chunks the view holds."""
        return int(self._index.searcher().num_docs) if self._index is not None else 0

    def document_frequencies(self, words: Iterable[str]) -> dict[str, int]:
        """In how many bodies each term stands."""
        if self._index is not None:
            with self._guarded():
                searcher = self._index.searcher()
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

    def close(self) -> None:
        """Release files; what was not committed is dropped."""
        self._index, self._state, self._stamp = None, _NOTHING, None

    # ---- inside

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Take a view whose files turn out to be damaged for none at all, here and in the next process."""
        try:
            yield
        except BaseException as error:
            if not _is_damage(error):
                raise
            self._forget()

    def _forget(self) -> None:
        if self._stamp == _stamp(os.path.join(self.folder, _STATE)):
            with suppress(OSError):
                os.remove(os.path.join(self.folder, _STATE))
        self._index, self._state, self._stamp = None, _NOTHING, None

    def _writing(self) -> tantivy.IndexWriter:
        if self._writer is None:
            is_new = self._cleared or self._index is None
            self._target = self._new_folder() if is_new else self._state.folder
            self._n_dropped = 0 if is_new else self._state.n_dropped
            path = os.path.join(self.folder, self._target)
            try:
                index = tantivy.Index(_SCHEMA, path=path) if is_new else tantivy.Index.open(path)
                self._writer = index.writer(_HEAP_BYTES, _N_THREADS)
                _recover(self._writer)
                if not is_new and self._writer.commit_opstamp != self._state.stamp:
                    # A commit that was not noted: the same changes come again, and the old ones stay as dropped.
                    self._n_dropped += self.n_chunks
            except (ValueError, OSError) as error:
                raise self._failure(error) from error
        return self._writer

    def _failure(self, error: Exception) -> IndexingError:
        return IndexingError(
            f"the lexical view {self.folder!r} cannot be written: {error}", hint="run `fathom index --full`"
        )

    def _drop(self) -> None:
        self._writer, self._target, self._cleared = None, "", False

    def _new_folder(self) -> str:
        os.makedirs(self.folder, exist_ok=True)
        number = max((int(name) for name in os.listdir(self.folder) if name.isdecimal()), default=0) + 1
        os.mkdir(os.path.join(self.folder, str(number)))
        return str(number)

    def _remove_other_folders(self) -> None:
        for name in os.listdir(self.folder):
            if name.isdecimal() and name != self._read_state().folder:
                _remove_folder(os.path.join(self.folder, name))

    def _read_state(self) -> _State:
        try:
            with open(os.path.join(self.folder, _STATE), encoding="ascii") as file:
                made_for, generation, folder, stamp, n_dropped, end = file.read().split("\n")
            state = _State(int(generation), str(int(folder)), int(stamp), int(n_dropped))
        except (OSError, ValueError):
            return _NOTHING
        return state if made_for == f"lexical {FORMAT} {self._owner}" and not end else _NOTHING

    def _write_state(self, state: _State) -> None:
        path = os.path.join(self.folder, _STATE)
        with open(path + ".new", "w", encoding="ascii", newline="\n") as file:
            file.write("\n".join((f"lexical {FORMAT} {self._owner}", *map(str, state), "")))
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".new", path)


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
    found = searcher.search(query, limit=k, count=False).hits
    keys = searcher.fast_field_values("key", [address for _, address in found]) if found else []
    ranked = [(int(key or 0), float(score)) for key, (score, _) in zip(keys, found, strict=True)]
    ranked.sort(key=lambda item: (-item[1], item[0]))
    return ranked


def _best_of_many(
    searcher: tantivy.Searcher, query: tantivy.Query, k: int, allowed: Collection[int]
) -> list[tuple[int, float]]:
    """Take more than k and keep those inside; more again, until there are k or no more to take."""
    inside = allowed if isinstance(allowed, (set, frozenset)) else set(allowed)
    limit = 4 * k * max(searcher.num_docs // len(inside), 1)
    while True:
        found = _best(searcher, query, limit)
        ranked = [item for item in found if item[0] in inside]
        if len(ranked) >= k or len(found) < limit:
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
    for field in FIELDS:
        builder.add_text_field(field, stored=False, tokenizer_name=ANALYZER, index_option="freq")
    return builder.build()


_SCHEMA = _schema()


def _open(path: str) -> tantivy.Index | None:
    try:
        index = tantivy.Index.open(path)
        index.searcher()
    except BaseException as error:
        if _is_damage(error):
            return None
        raise
    return index


def _is_damage(error: BaseException) -> bool:
    # tantivy answers a damaged file with one of these or with a panic, which is no Exception and cannot be imported.
    return isinstance(error, (ValueError, OSError)) or type(error).__name__ == "PanicException"


def _remove_folder(path: str) -> None:
    # Where a reader holds files that cannot be removed (Windows), the next commit tries again.
    with suppress(OSError):
        for name in os.listdir(path):
            os.remove(os.path.join(path, name))
        os.rmdir(path)


def _stamp(path: str) -> object:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size
