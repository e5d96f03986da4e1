"""Planning as a table: a file of the tree beside its entry in the catalogue, and what an index run does with it."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import pytest

from codefathom.errors import NoFilesError
from codefathom.index.chunk import ChunkLimits
from codefathom.index.plan import (
    INODES,
    UNSTABLE,
    FileJob,
    IndexPlan,
    Recipe,
    TokenLimits,
    incompleteness,
    is_as_made_by,
    is_assumed,
    missing_languages,
    note_of_grammars,
    plan,
    reading_of_documents,
    refuse_to_empty,
    with_found_encoding,
    without_grammar,
)
from codefathom.parse import grammars
from codefathom.providers.base import BYTES_PER_TOKEN
from codefathom.source.changes import FileStat, Scan
from codefathom.source.documents import read
from codefathom.source.large import survey
from codefathom.source.scan import ScanRules
from codefathom.source.size_limits import MAX_WHOLE_FILE_BYTES
from codefathom.stores.catalog.records import Entry, RejectedFile
from codefathom.types import USUAL_ENCODING, Document, Skipped
from codefathom.versions import EXTRACTION_VERSION

HOUR_NS = 3_600 * 10**9
INDEXED_NS = 1_700_000_000 * 10**9 + 1  # the clock of the run before
BEFORE = INDEXED_NS - HOUR_NS
LATE = INDEXED_NS - 5_000_000  # within one tick of the clock that stamps files
TEXT = b"def price():\n    return 1\n"


@dataclass
class Tree:
    """A tree of files in memory."""

    files: Mapping[str, FileStat]
    contents: Mapping[str, bytes] = field(default_factory=dict)

    def scan(self, rules: ScanRules) -> Scan:
        return Scan(tuple(self.files[path] for path in sorted(self.files)), ())

    def open(self, path: str) -> BinaryIO | None:
        return io.BytesIO(self.contents[path])

    def stat(self, path: str) -> FileStat | None:
        return self.files.get(path)


@dataclass
class Kept:
    """What the catalogue holds."""

    documents: Iterable[Entry] = ()
    left_out: Iterable[RejectedFile] = ()
    meta: Mapping[str, str | None] = field(default_factory=dict)  # None: there is no such key
    generation: int = 1

    def get_meta(self, key: str, default: str = "") -> str:
        value = {"indexed_at_ns": str(INDEXED_NS), **self.meta}.get(key)
        return default if value is None else value

    def entries(self) -> dict[str, Entry]:
        return {entry.path: entry for entry in self.documents}

    def rejected(self) -> list[RejectedFile]:
        return list(self.left_out)


def recipe_for(files: Iterable[FileStat], contents: Mapping[str, bytes] | None = None, **values: object) -> Recipe:
    tree = Tree({file.path: file for file in files}, contents or {})
    return Recipe("/project", revision=tree, **values)  # type: ignore[arg-type]


PLAIN = recipe_for(())
FILE = FileStat("a.py", len(TEXT), BEFORE, BEFORE, 7)
PDF = FileStat("a.pdf", 9, BEFORE, BEFORE, 7)


def fingerprint_of(content: bytes, path: str = "a.py") -> str:
    file = FileStat(path, len(content), BEFORE)
    document = read(Tree({path: file}, {path: content}), file)
    assert isinstance(document, Document)
    return document.fingerprint


def entry_of(file: FileStat = FILE, **values: object) -> Entry:
    stored = Entry(1, file.path, file.size, file.mtime_ns, "f" * 8, PLAIN.parser, PLAIN.chunker, file.ctime_ns)
    return stored._replace(**{"inode": file.inode, **values})  # type: ignore[arg-type]


def fate(todo: IndexPlan) -> str:
    """One word for what becomes of the one file of a plan."""
    named = {
        "read": [job for job in todo.jobs if not job.fingerprint],
        "compared": [job for job in todo.jobs if job.fingerprint],
        "removed": todo.removed,
        "asked again": todo.unfinished,
        "as it is": range(todo.n_unchanged),
    }
    [(word, _)] = [(word, items) for word, items in named.items() if items]
    return word


@pytest.mark.parametrize(
    ("entry", "file", "word"),
    [
        (None, FILE, "read"),
        (entry_of(), None, "removed"),
        (entry_of(), FILE, "as it is"),
        (entry_of(), FILE._replace(size=1), "compared"),
        (entry_of(), FILE._replace(mtime_ns=BEFORE - 1), "compared"),
        (entry_of(), FILE._replace(ctime_ns=BEFORE + 1), "compared"),  # size and time were put back
        (entry_of(), FILE._replace(inode=8), "compared"),
        (entry_of(), FILE._replace(ctime_ns=0, inode=8), "as it is"),  # a system that knows no ctime
        (entry_of(ctime_ns=0, inode=0), FILE, "as it is"),  # written by an older version
        (entry_of(ctime_ns=0, inode=0), FILE._replace(ctime_ns=LATE), "compared"),
        (entry_of(parser="old"), FILE, "read"),
        (entry_of(parser=f"{PLAIN.parser} more"), FILE, "read"),
        (entry_of(chunker="old"), FILE, "read"),
        (entry_of(chunker=f"{PLAIN.chunker}, short"), FILE, "as it is"),
        (entry_of(chunker=f"{PLAIN.chunker}, long"), FILE, "as it is"),
        (entry_of(parser=PLAIN.unfinished_parser), FILE, "asked again"),
        (entry_of(parser=PLAIN.unfinished_parser), FILE._replace(size=1), "read"),
        (entry_of(parser=f"{PLAIN.parser} read as {USUAL_ENCODING}"), FILE, "as it is"),
        (entry_of(parser=f"{PLAIN.parser} read as koi8-r"), FILE, "read"),
        (entry_of(parser=f"{PLAIN.parser} without klingon"), FILE, "as it is"),
        (entry_of(parser=f"{PLAIN.parser} without klingon"), FILE._replace(size=1), "read"),
        (entry_of(PDF, parser=PLAIN.parser), PDF, "read"),  # its text was taken out by no version
        (entry_of(PDF, parser=f"{PLAIN.parser} extracted/{EXTRACTION_VERSION}"), PDF, "as it is"),
        (entry_of(PDF, parser=f"{PLAIN.parser} extracted/0"), PDF, "read"),
        (entry_of(parser=f"{PLAIN.parser} extracted/{EXTRACTION_VERSION}"), FILE, "read"),
    ],
)
def test_what_becomes_of_a_file(entry: Entry | None, file: FileStat | None, word: str) -> None:
    kept = Kept([entry] if entry else [])
    todo = plan(kept, recipe_for([file] if file else []))
    assert fate(todo) == word
    assert todo.n_pending == (word in {"read", "compared", "removed"})
    assert todo.entries == kept.entries()
    # A run over everything reads each file that is there, and nothing else is different.
    assert fate(plan(kept, recipe_for([file] if file else []), full=True)) == ("read" if file else "removed")


def test_a_job_carries_the_fingerprint_that_the_catalogue_knows() -> None:
    changed = FILE._replace(size=1)
    assert plan(Kept([entry_of(fingerprint="abc")]), recipe_for([changed])).jobs == (FileJob(changed, "abc"),)
    other = FILE._replace(path="b.py")
    todo = plan(Kept([entry_of(fingerprint="abc"), entry_of(other, fingerprint="def")]), recipe_for([FILE, other]))
    assert (todo.jobs, todo.n_unchanged, todo.n_pending) == ((), 2, 0)


@pytest.mark.parametrize(
    ("content", "is_due"),
    [(TEXT, False), (TEXT.replace(b"1", b"2"), True), (b"\0" * len(TEXT), True)],
    ids=["the same bytes", "other bytes", "it is binary now"],
)
def test_of_a_file_stamped_while_it_was_read_the_bytes_tell(content: bytes, is_due: bool) -> None:
    late = FILE._replace(mtime_ns=LATE)
    kept = Kept([entry_of(late, fingerprint=fingerprint_of(TEXT))])
    todo = plan(kept, recipe_for([late], {"a.py": content}))
    assert [job.file.path for job in todo.jobs] == ["a.py"] * is_due
    assert todo.n_unchanged == (not is_due)


def test_a_late_file_that_breaks_its_reader_is_read_again_where_it_is_named() -> None:
    late = FILE._replace(mtime_ns=LATE)
    todo = plan(Kept([entry_of(late)]), recipe_for([late], {}))  # opening it raises KeyError
    assert fate(todo) == "compared"


def test_a_late_file_that_is_read_in_windows_is_compared_by_all_its_bytes() -> None:
    content = b"x = 1\n" * (MAX_WHOLE_FILE_BYTES // 6 + 1)
    late = FileStat("big.py", len(content), LATE, BEFORE, 7)
    tree = Tree({"big.py": late}, {"big.py": content})
    whole = survey(tree, late)
    assert not isinstance(whole, Skipped)
    kept = Kept([entry_of(late, fingerprint=whole.fingerprint)])
    assert fate(plan(kept, recipe_for([late], {"big.py": content}))) == "as it is"
    assert fate(plan(kept, recipe_for([late], {"big.py": content[:-2] + b"2\n"}))) == "compared"


@pytest.mark.parametrize("size", [0, MAX_WHOLE_FILE_BYTES])
def test_a_late_generated_file_is_compared_where_generated_files_are_read(size: int) -> None:
    content = b"# Code generated by a tool. DO NOT EDIT.\n" + b"x = 1\n" * (size // 6 + 1)
    late = FileStat("made.py", len(content), LATE, BEFORE, 7)
    tree = Tree({"made.py": late}, {"made.py": content})
    reader = survey if size else read
    assert isinstance(reader(tree, late), Skipped)
    generated = reader(tree, late, include_generated=True)
    assert not isinstance(generated, Skipped)
    recipe = recipe_for([late], {"made.py": content}, rules=ScanRules(include_generated=True))
    assert fate(plan(Kept([entry_of(late, fingerprint=generated.fingerprint)]), recipe)) == "as it is"


def test_without_a_run_before_the_bytes_tell_of_every_file() -> None:
    kept = Kept([entry_of(fingerprint=fingerprint_of(TEXT))], meta={"indexed_at_ns": None})
    assert fate(plan(kept, recipe_for([FILE], {"a.py": TEXT}))) == "as it is"
    assert fate(plan(kept, recipe_for([FILE], {"a.py": TEXT.replace(b"1", b"2")}))) == "compared"


def test_files_with_a_stamp_to_record_and_those_with_another_inode_are_named() -> None:
    unrecorded = FILE._replace(path="b.py")
    renumbered = FILE._replace(path="c.py", inode=9)
    stored = [entry_of(unrecorded, ctime_ns=0, inode=0), entry_of(FILE._replace(path="c.py"))]
    todo = plan(Kept(stored), recipe_for([unrecorded, renumbered]))
    assert todo.unrecorded == {"b.py": unrecorded}
    assert (todo.renumbered, [job.file.path for job in todo.jobs]) == (frozenset({"c.py"}), ["c.py"])
    todo = plan(Kept(stored, meta={INODES: UNSTABLE}), recipe_for([unrecorded, renumbered]))
    assert (todo.renumbered, todo.jobs) == (frozenset(), ())


def test_a_renamed_file_is_a_new_and_a_removed_one() -> None:
    todo = plan(Kept([entry_of()]), recipe_for([FILE._replace(path="b.py")]))
    assert ([job.file.path for job in todo.jobs], todo.removed, todo.n_pending) == (["b.py"], ("a.py",), 2)


def test_a_catalogue_that_is_not_known_is_not_read() -> None:
    todo = plan(Kept([entry_of()], meta={"indexed_at_ns": "no number"}), recipe_for([FILE]), is_known=False)
    assert (todo.jobs, todo.removed, todo.n_unchanged, todo.entries) == ((FileJob(FILE, ""),), (), 0, {})


# ---- files that were opened and left out

BINARY = RejectedFile(FILE.path, "binary", FILE.size, FILE.mtime_ns, FILE.ctime_ns, FILE.inode)
REFUSED = RejectedFile(PDF.path, "encrypted", PDF.size, PDF.mtime_ns, PDF.ctime_ns, PDF.inode)


@pytest.mark.parametrize(
    ("left_out", "file", "meta", "word"),
    [
        (BINARY, FILE, {}, "as it is"),
        (BINARY, FILE._replace(size=1), {}, "read"),
        (REFUSED, PDF, reading_of_documents(), "as it is"),
        (REFUSED, PDF, {}, "read"),  # perhaps it can be read now
        (REFUSED, PDF, dict.fromkeys(reading_of_documents(), "another version"), "read"),
    ],
)
def test_a_file_that_was_left_out_is_not_opened_again(
    left_out: RejectedFile, file: FileStat, meta: Mapping[str, str], word: str
) -> None:
    assert fate(plan(Kept(left_out=[left_out], meta=meta), recipe_for([file]))) == word


def test_a_document_that_may_be_read_now_brings_no_other_file_back() -> None:
    todo = plan(Kept(left_out=[BINARY, REFUSED]), recipe_for([FILE, PDF]))
    assert ([job.file.path for job in todo.jobs], todo.n_unchanged) == (["a.pdf"], 1)


def test_a_file_that_was_left_out_and_is_gone_is_not_removed_from_the_index() -> None:
    todo = plan(Kept(left_out=[BINARY]), recipe_for([]))
    assert (todo.removed, todo.n_pending) == ((), 0)


# ---- texts that are on no disk

NOTES = FileStat("texts://notes.md", 20, BEFORE)


@pytest.mark.parametrize(
    ("values", "full", "jobs", "unfinished"),
    [
        ({}, False, 0, 0),
        ({}, True, 1, 0),
        ({"parser": "old"}, False, 1, 0),
        ({"chunker": "old"}, False, 1, 0),
        ({"parser": PLAIN.unfinished_parser}, False, 0, 1),
        ({"parser": PLAIN.unfinished_parser}, True, 1, 0),
    ],
)
def test_a_kept_text_is_made_again_and_never_removed(
    values: Mapping[str, str], full: bool, jobs: int, unfinished: int
) -> None:
    todo = plan(Kept([entry_of(NOTES, **values)]), recipe_for([]), full=full)
    job = FileJob(FileStat(NOTES.path, NOTES.size, NOTES.mtime_ns), "")
    assert (todo.jobs, todo.unfinished, todo.removed) == ((job,) * jobs, (job,) * unfinished, ())
    assert todo.n_unchanged == 0


# ---- grammars that were missing


@pytest.mark.parametrize(
    ("stored", "languages"),
    [
        ("p", []),
        ("p without klingon", ["klingon"]),
        ("p without elvish,klingon", ["elvish", "klingon"]),
        ("p without klingon extracted/1", ["klingon"]),
        ("p without klingon read as cp1252", ["klingon"]),
        ("p without elvish,klingon extracted/1 read as cp1252", ["elvish", "klingon"]),
    ],
)
def test_languages_whose_grammar_was_missing_are_noted_with_the_document(stored: str, languages: list[str]) -> None:
    assert missing_languages(entry_of(parser=stored)) == languages


@pytest.mark.parametrize(
    ("loadable", "stored", "is_due"),
    [
        ({"klingon"}, "klingon", True),
        ({"klingon"}, "elvish", False),
        ({"klingon"}, "elvish,klingon", True),
        (set(), "elvish,klingon", False),
    ],
)
def test_a_grammar_that_is_there_now_makes_its_documents_be_read(
    loadable: set[str], stored: str, is_due: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grammars, "load_problem_now", lambda name: name not in loadable)
    stored_parser = f"{PLAIN.parser} without {stored}"
    kept = Kept([entry_of(parser=stored_parser), entry_of(NOTES, parser=stored_parser)])
    todo = plan(kept, recipe_for([FILE]))
    assert [job.file.path for job in todo.jobs] == [FILE.path, NOTES.path] * is_due
    assert [job.fingerprint for job in todo.jobs] == ["", ""] * is_due


def test_the_note_about_grammars_counts_files_and_keeps_reasons() -> None:
    stored = [
        entry_of(parser="p without klingon,elvish"),
        entry_of(FILE._replace(path="b.py"), parser="p without klingon"),
    ]
    [(key, note)] = note_of_grammars(Kept(stored), {"klingon": "no file"}).items()
    assert json.loads(note) == {"elvish": [1, ""], "klingon": [2, "no file"]}
    assert list(json.loads(note)) == ["elvish", "klingon"]
    # The run after it parses nothing, and the reason stays; another reason takes its place.
    kept = Kept(stored, meta={key: note})
    assert json.loads(note_of_grammars(kept, {})[key])["klingon"] == [2, "no file"]
    assert json.loads(note_of_grammars(kept, {"klingon": "damaged"})[key])["klingon"] == [2, "damaged"]
    assert str(without_grammar(kept)[1]) == (
        "the grammar of klingon cannot be loaded (no file): 2 files with klingon are indexed as text until "
        "`fathom index` can load it"
    )
    # All are there again: the note is emptied, and an empty one is not written again.
    assert note_of_grammars(Kept(meta={key: note}), {}) == {key: ""}
    assert note_of_grammars(Kept(meta={key: ""}), {}) == {}
    assert without_grammar(Kept()) == ()


@pytest.mark.parametrize("note", ["[", "[1]", '{"a": 1}', '{"a": ["x", "y"]}', '{"a": [1]}', "[" * 20_000, "3"])
def test_a_note_of_another_form_is_no_note(note: str) -> None:
    [key] = note_of_grammars(Kept([entry_of(parser="p without klingon")]), {"klingon": "x"})
    assert without_grammar(Kept(meta={key: note})) == ()


# ---- the recipe, and what is stored of it


@pytest.mark.parametrize(
    ("values", "is_remade"),
    [
        ({}, False),
        ({"chain": ("text",)}, True),
        ({"keeps_secrets": True}, True),
        ({"limits": ChunkLimits(max_lines=7)}, True),
        ({"limits": ChunkLimits(target_chars=77)}, True),
        ({"tokens": TokenLimits(fewest=3)}, True),
        ({"tokens": TokenLimits(most=3)}, True),
        ({"cache_folder": "/cache"}, False),
        ({"encoding": "koi8-r"}, False),  # it matters to documents that are not UTF-8 alone
        ({"rules": ScanRules(include_generated=True)}, False),
    ],
)
def test_settings_that_make_a_document_anew(values: Mapping[str, object], is_remade: bool) -> None:
    recipe = recipe_for([FILE], **values)
    assert is_as_made_by(entry_of(), recipe) is not is_remade
    assert fate(plan(Kept([entry_of()]), recipe)) == ("read" if is_remade else "as it is")


@pytest.mark.parametrize(
    ("fewest", "most", "n_tokens", "verdict"),
    [
        (0, 0, 0, ""),
        (5, 0, 4, ", short"),
        (5, 0, 5, ""),
        (0, 5, 5, ""),
        (0, 5, 6, ", long"),
        (2, 5, 1, ", short"),
        (2, 5, 6, ", long"),
    ],
)
def test_both_borders_of_the_tokens_are_inside(fewest: int, most: int, n_tokens: int, verdict: str) -> None:
    limits = TokenLimits(fewest, most)
    assert limits.verdict(n_tokens) == verdict
    recipe = PLAIN._replace(tokens=limits)
    size = n_tokens * BYTES_PER_TOKEN + BYTES_PER_TOKEN - 1  # a part of a token does not count
    of_a_file = recipe.chunker_of(Document("a.py", "python", "", "f", size))
    assert of_a_file == recipe.chunker + verdict
    assert recipe.makes(of_a_file)
    assert not recipe.makes(of_a_file + "x")
    # Of a PDF the text counts that was taken out of it.
    extracted = Document("a.pdf", "text", "x" * size, "f", 1_000_000)
    assert recipe.chunker_of(extracted) == recipe.chunker + verdict


@pytest.mark.parametrize(
    ("document", "values", "after"),
    [
        (Document("a.py", "python", "", "f", 1), {}, ""),
        (Document("a.py", "python", "", "f", 1), {"is_finished": False}, " unfinished"),
        (Document("a.py", "python", "", "f", 1), {"lacks": ("b", "a", "b")}, " without a,b"),
        (Document("a.pdf", "text", "", "f", 1), {}, f" extracted/{EXTRACTION_VERSION}"),
        (Document("a.py", "python", "", "f", 1, encoding="koi8-r"), {}, " read as koi8-r"),
        (
            Document("a.pdf", "text", "", "f", 1, encoding="koi8-r"),
            {"is_finished": False, "lacks": ("a",)},
            f" unfinished without a extracted/{EXTRACTION_VERSION} read as koi8-r",
        ),
    ],
)
def test_how_a_document_was_parsed_is_stored_with_it(
    document: Document, values: Mapping[str, object], after: str
) -> None:
    stored = PLAIN.parser_of(document, **values)  # type: ignore[arg-type]
    assert stored == PLAIN.parser + after
    assert is_assumed(entry_of(parser=stored)) is bool(document.encoding)
    # The run after it knows the document again, and reads it anew where another encoding is assumed by then.
    entry = entry_of(FileStat(document.path, 1, BEFORE), parser=stored)
    same = PLAIN._replace(encoding=document.encoding)
    assert is_as_made_by(entry, same) is not values
    assert is_as_made_by(entry, PLAIN._replace(encoding="utf-7")) is (not values and not document.encoding)


def test_the_encoding_is_the_one_that_is_set_else_the_one_that_was_found() -> None:
    found = with_found_encoding(PLAIN, Kept(meta={"encoding": "shift_jis"}))
    assert (PLAIN.assumed_encoding, found.assumed_encoding) == (USUAL_ENCODING, "shift_jis")
    assert found._replace(encoding="koi8-r").assumed_encoding == "koi8-r!"
    stored = entry_of(parser=f"{PLAIN.parser} read as shift_jis")
    assert fate(plan(Kept([stored], meta={"encoding": "shift_jis"}), recipe_for([FILE]))) == "as it is"
    assert fate(plan(Kept([stored]), recipe_for([FILE]))) == "read"


def test_the_way_in_which_documents_are_read_is_kept() -> None:
    [(_, value)] = reading_of_documents().items()
    assert value.split(" ")[0] == EXTRACTION_VERSION


# ---- progress, and an index that must not be emptied


@pytest.mark.parametrize(
    ("kept", "files", "sentence"),
    [
        (Kept(generation=0, meta={"indexed_at_ns": "0"}), [FILE], ""),  # none has begun
        (Kept(), [FILE], ""),
        (Kept(meta={"indexed_at_ns": None}), [FILE], "0 of 1 files are indexed"),
        (Kept(meta={"indexed_at_ns": "0"}), [FILE], "0 of 1 files are indexed"),
        (Kept([entry_of()], meta={"indexed_at_ns": "0"}), [FILE], "0 of 1 files are indexed"),
        (
            Kept([entry_of(NOTES, parser="old")], meta={"indexed_at_ns": "0"}),
            [FILE, FILE._replace(path="b.py")],
            "0 of 2 files are indexed",
        ),
    ],
)
def test_how_far_the_first_run_came(kept: Kept, files: list[FileStat], sentence: str) -> None:
    files_there = {file.path: TEXT for file in files}
    assert str(incompleteness(kept, plan(kept, recipe_for(files, files_there))) or "") == sentence


@pytest.mark.parametrize(
    ("rules", "is_there", "entries", "message"),
    [
        ({}, True, [entry_of()], "the rules for files leave out all 1 files of the index, which stays as it is"),
        ({}, False, [entry_of()], ""),  # it is gone: that may empty the index
        ({}, True, [], ""),
        ({}, True, [entry_of(NOTES)], ""),
        ({"required_exts": (".rs",)}, True, [entry_of()], "has a name that ends with '.rs'"),
        ({"required_exts": (".rs", ".go")}, False, [], "has a name that ends with '.rs', '.go'"),
        ({"required_exts": (".rs",)}, False, [entry_of()], ""),
    ],
)
def test_rules_that_leave_out_every_file_do_not_empty_the_index(
    rules: Mapping[str, tuple[str, ...]], is_there: bool, entries: list[Entry], message: str, tmp_path: Path
) -> None:
    if is_there:
        (tmp_path / "a.py").write_bytes(TEXT)
    recipe = Recipe(str(tmp_path), ScanRules(ignore=("*",), **rules))  # type: ignore[arg-type]
    todo = plan(Kept(entries), recipe)
    if not message:
        refuse_to_empty(todo, recipe)
        return
    with pytest.raises(NoFilesError, match=r".") as raised:
        refuse_to_empty(todo, recipe)
    assert message in str(raised.value)
    assert "fathom index" in raised.value.hint
    # A commit without such files, or a tree with one, is no mistake of the rules.
    refuse_to_empty(todo, recipe._replace(revision=Tree({})))
    refuse_to_empty(todo._replace(scan=Scan((FILE,), ())), recipe)
