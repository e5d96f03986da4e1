"""The plan of an index run: the files whose state in the tree differs from the catalogue. Imports no parser.

Every search looks here first, so this stays cheap: one walk over the tree, by what the system says of each file. Only
files that were stamped while the index was made are read.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from codefathom.errors import FathomError, NoFilesError
from codefathom.facts import reasons as say
from codefathom.facts.languages import is_document, is_extracted
from codefathom.facts.reasons import Note
from codefathom.index.chunk import ChunkLimits
from codefathom.providers.base import BYTES_PER_TOKEN
from codefathom.source.changes import FileStat, IndexedFileStat, TreeChanges, compare
from codefathom.source.charset import DECIDED
from codefathom.source.origin import FolderFiles, opened_folders
from codefathom.source.scan import FileTree, Scan, ScanRules, scan
from codefathom.stores.catalog.records import LONG, SHORT, Entry, RejectedFile
from codefathom.system.extras import EXTRAS
from codefathom.text.kept_names import is_kept_text
from codefathom.types.choices import USUAL_ENCODING
from codefathom.types.skipped_files import Skipped
from codefathom.versions import CHUNKER_VERSION, EXTRACTION_VERSION, PARSER_VERSION, SECRETS_VERSION

if TYPE_CHECKING:
    from codefathom.types.parsed_documents import Document

if TYPE_CHECKING:  # which a process that only prepares files does not need
    from codefathom.source.large import Survey
    from codefathom.source.stamped_tree import StampedTree
    from codefathom.stores.catalog.readers import IndexState


class TokenLimits(NamedTuple):
    """The sizes of documents that are embedded, in estimated tokens; both borders are inside, 0 is no limit."""

    fewest: int = 0
    most: int = 0

    def verdict(self, n_tokens: int) -> str:
        """Return "" for a document that is embedded, else why words alone find it: `SHORT` or `LONG`."""
        if self.fewest and n_tokens < self.fewest:
            return SHORT
        return LONG if self.most and n_tokens > self.most else ""


class Recipe(NamedTuple):
    """All settings that decide which files are read and how they become chunks."""

    root: str  # a real path: no part of it is a link
    rules: ScanRules = ScanRules()
    chain: tuple[str, ...] = ("treesitter", "text")
    limits: ChunkLimits = ChunkLimits()
    cache_folder: str = ""  # user-wide cache of parse results; empty: none
    encoding: str = ""  # of files that are not UTF-8 and declare none; empty: the likeliest for all of them together
    found_encoding: str = ""  # the one that the last run found
    keeps_secrets: bool = False  # else their values are masked before anything is made of a text
    tokens: TokenLimits = TokenLimits()
    revision: FileTree | None = None  # the files are read from there, and not from the folder `root`

    @property
    def tree(self) -> str | FileTree:
        """The place of the files: a folder, or a revision of git."""
        if self.revision is not None:
            return self.revision
        return FolderFiles(self.root, follows=True) if self.rules.follow_symlinks else self.root

    @contextmanager
    def with_open_folders(self) -> Iterator[Recipe]:
        """Give this recipe for some files, whose folders stay open from one file to the next."""
        with opened_folders(self.tree) as tree:
            yield self if isinstance(tree, str) else self._replace(revision=tree)

    @property
    def parser(self) -> str:
        """Version of the parse stage, and of the masks on its input, as stored with each document."""
        return f"{PARSER_VERSION}:{','.join(self.chain)} {self.secrets}"

    @property
    def secrets(self) -> str:
        """The treatment of secrets, and the version of the rules that find them."""
        return "secrets kept" if self.keeps_secrets else f"secrets masked/{SECRETS_VERSION}"

    @property
    def unfinished_parser(self) -> str:
        """Version of the parse stage for a document that the model of the chain did not parse."""
        return f"{self.parser} unfinished"

    @property
    def assumed_encoding(self) -> str:
        """The encoding for files that are not UTF-8 and declare none; with a mark where the settings decide."""
        return f"{self.encoding}{DECIDED}" if self.encoding else self.found_encoding or USUAL_ENCODING

    def parser_of(self, document: Document, *, is_finished: bool = True, lacks: Iterable[str] = ()) -> str:
        """Version of the parse stage for one document, and of how it was read: it is read anew when that changes.

        `lacks` are the languages in it whose grammar could not be loaded.
        """
        parser = self.parser if is_finished else self.unfinished_parser
        parser += _WITHOUT + ",".join(sorted(languages)) if (languages := set(lacks)) else ""
        parser += _extraction(document.path)
        return f"{parser}{_READ_AS}{document.encoding}" if document.encoding else parser

    @property
    def chunker(self) -> str:
        """Version of the chunk stage, as stored with each document."""
        tokens = f" tokens {self.tokens.fewest}-{self.tokens.most}" if any(self.tokens) else ""
        return f"{CHUNKER_VERSION}:{self.limits.target_chars}:{self.limits.max_lines}{tokens}"

    def chunker_of(self, document: Document) -> str:
        """Version of the chunk stage for one document, and whether it is too short or too long to be embedded."""
        return self.chunker + self.verdict(document)

    def verdict(self, document: Document) -> str:
        """Return "" for a document that is embedded, else `SHORT` or `LONG`. An extracted text counts, not its file."""
        is_text_counted = any(self.tokens) and is_extracted(document.path)
        n_bytes = len(document.text.encode("utf-8", "replace")) if is_text_counted else document.size
        return self.tokens.verdict(n_bytes // BYTES_PER_TOKEN)

    def makes(self, chunker: str) -> bool:
        """Return True if documents of this version of the chunk stage are as this recipe makes them."""
        return chunker.removesuffix(SHORT).removesuffix(LONG) == self.chunker


_READ_AS = " read as "
_WITHOUT = " without "
INODES, UNSTABLE = "inodes", "unstable"  # key in the catalogue, and its value where they tell nothing
MASKED = "masked"  # key in the catalogue: the rules by which secrets are masked in it
_MISSING_GRAMMARS = "missing_grammars"  # key in the catalogue: for each language the number of files, and the reason
_GENERATED = "generated"  # key in the catalogue: its last run took in generated files where it is not empty
_READING = "documents read"  # key in the catalogue: what decided which documents were refused


def _extraction(path: str) -> str:
    return f" extracted/{EXTRACTION_VERSION}" if is_extracted(path) else ""


def reading_of_documents() -> dict[str, str]:
    """Return the reasons for which documents are refused or not, as the catalogue keeps them."""
    missing = EXTRAS["documents"].missing()
    return {_READING: " ".join((EXTRACTION_VERSION, *(f"without {module}" for module in missing)))}


def taking_of_generated(recipe: Recipe) -> dict[str, str]:
    """Return whether generated files are taken in, as the catalogue keeps it."""
    return {_GENERATED: "taken" if recipe.rules.include_generated else ""}


def with_found_encoding(recipe: Recipe, catalog: IndexState) -> Recipe:
    """Return the recipe with the encoding that the last run found for old files."""
    return recipe._replace(found_encoding=catalog.get_meta("encoding"))


def assumed_encodings(entries: Iterable[Entry]) -> dict[str, int]:
    """Return the number of files by the encoding in which they are read, of those that do not tell theirs."""
    how = (entry.parser.partition(_READ_AS)[2].rpartition("/")[2].removesuffix(DECIDED) for entry in entries)
    return dict(Counter(filter(None, how)).most_common())


def is_assumed(entry: Entry) -> bool:
    """Return True if the encoding of a document was assumed."""
    return _READ_AS in entry.parser


def assumed_paths(catalog: IndexState) -> list[str]:
    """Return the paths of the documents whose encoding was assumed."""
    return catalog.paths_parsed_by(_READ_AS)


class FileJob(NamedTuple):
    """A file to read; `fingerprint` is that of the catalogue, when its stages are current, else empty."""

    file: FileStat
    fingerprint: str


class IndexPlan(NamedTuple):
    """The files of the tree, and those that the catalogue does not show as they are.

    Among the jobs are texts that are on no disk, where a stage has a new version (`index/kept_texts.py`).
    """

    scan: Scan
    jobs: tuple[FileJob, ...]
    removed: tuple[str, ...]
    n_unchanged: int
    entries: Mapping[str, Entry]  # all of the catalogue; of a partial plan, those of its jobs and removed files
    unfinished: tuple[FileJob, ...] = ()  # unchanged files that a model is to be asked about once more
    unrecorded: Mapping[str, FileStat] = MappingProxyType({})  # unchanged, with a stamp to be recorded
    renumbered: frozenset[str] = frozenset()  # jobs of which only the inode differs
    gone: frozenset[str] | None = None  # files of the tree before, where this plan began with it
    tree: StampedTree | None = None  # the scan with the stamps of folders, where the next look can begin with it
    outer: tuple[str, ...] = ()  # the rules from outside of the root, as they were before the scan
    state: bytes = b""  # of catalogue, settings and these rules before the scan; see `index/plan_again.py`
    looked_at_ns: int = 0  # by the clock, before anything of the tree was looked at

    @property
    def n_pending(self) -> int:
        """Files that are new, changed or gone. No search waits for a model: unfinished ones do not count."""
        return len(self.jobs) + len(self.removed)


def plan(
    catalog: IndexState, recipe: Recipe, *, full: bool = False, is_known: bool = True, tree: Scan | None = None
) -> IndexPlan:
    """Compare the tree with the catalogue. A changed parser or chunker makes every file suspect; so does `full`.

    With `is_known` False the catalogue is not read: every file is new. `tree` is the tree where it was scanned already.
    """
    recipe = with_found_encoding(recipe, catalog)
    if tree is None:
        tree = scan(recipe.tree, recipe.rules)
    if not is_known:
        return IndexPlan(tree, tuple(FileJob(file, "") for file in tree.files), (), 0, {})
    entries = catalog.entries()
    stats = indexed_stats(entries, rejected_now(catalog, recipe, catalog.rejected))
    changes, suspects = compared(catalog, stats, tree, recipe)
    if catalog.get_meta(_GENERATED) and not recipe.rules.include_generated:
        suspects.update(entries)  # only their bytes tell which of them are generated
    outdated, unmade = _to_be_remade(entries, recipe)
    suspects |= outdated
    jobs = tuple(
        FileJob(file, "" if full else fingerprint_of(entries.get(file.path), recipe))
        for file in tree.files
        if full or file.path in suspects
    )
    removed = tuple(path for path in changes.removed if path in entries and not is_kept_text(path))
    unmade.difference_update(job.file.path for job in jobs)
    unfinished = tuple(FileJob(file, "") for file in tree.files if file.path in unmade) if unmade else ()
    n_unchanged = len(tree.files) - len(jobs) - len(unfinished)
    kept = [entry for entry in entries.values() if is_kept_text(entry.path)]
    due_texts = _jobs_of(entry for entry in kept if full or entry.path in outdated)
    unfinished_texts = _jobs_of(entry for entry in kept if not full and entry.path in unmade)
    return IndexPlan(
        tree,
        jobs + due_texts,
        removed,
        n_unchanged,
        entries,
        unfinished + unfinished_texts,
        unrecorded={file.path: file for file in changes.unrecorded},
        renumbered=frozenset(file.path for file in changes.renumbered),
    )


def compared(
    catalog: IndexState, stats: Mapping[str, IndexedFileStat], tree: Scan, recipe: Recipe
) -> tuple[TreeChanges, set[str]]:
    """Return the changes of files, and the paths of those that are to be prepared; unsure ones are read for that."""
    changes = compare(
        stats,
        tree,
        indexed_at_ns=int(catalog.get_meta("indexed_at_ns", "0")),
        by_inode=catalog.get_meta(INODES) != UNSTABLE,
    )
    suspects = {file.path for file in changes.suspect}
    suspects.update(file.path for file in changes.unsure if _differs(file, stats[file.path], recipe))
    return changes, suspects


def indexed_stats(entries: Mapping[str, Entry], rejected: Iterable[RejectedFile]) -> dict[str, IndexedFileStat]:
    """Return the files that the index knows as they were, also those that were left out because of their content."""
    stats = {path: _indexed(entry, entry.fingerprint) for path, entry in entries.items()}
    # These are not opened again until their stamp changes.
    stats.update({item.path: _indexed(item, "") for item in rejected})
    return stats


def _indexed(item: Entry | RejectedFile, fingerprint: str) -> IndexedFileStat:
    return IndexedFileStat(item.size, item.mtime_ns, fingerprint, item.ctime_ns, item.inode)


def refuse_to_empty(todo: IndexPlan, recipe: Recipe) -> None:
    """Raise NoFilesError where the rules leave out each file that there is: nobody wants an empty index.

    Files that are gone may leave it empty.
    """
    indexed = [path for path in todo.entries if not is_kept_text(path)]
    if todo.scan.files or recipe.revision is not None:
        return
    is_there = any(os.path.lexists(os.path.join(recipe.root, path)) for path in indexed)
    if endings := recipe.rules.required_exts:
        if is_there or not indexed:
            listed = ", ".join(map(repr, endings))
            raise NoFilesError(
                f"no file of {recipe.root!r} has a name that ends with {listed} (source.required_exts)",
                hint="give other endings, or `fathom index --required-exts ''` to index all files",
            )
    elif is_there:
        raise NoFilesError(
            f"the rules for files leave out all {len(indexed)} files of the index, which stays as it is",
            hint="look at source.ignore and the ignore files; `fathom index --remove` removes the index",
        )


def _jobs_of(entries: Iterable[Entry]) -> tuple[FileJob, ...]:
    return tuple(FileJob(FileStat(entry.path, entry.size, entry.mtime_ns), "") for entry in entries)


def rejected_now(catalog: IndexState, recipe: Recipe, read: Callable[[], list[RejectedFile]]) -> list[RejectedFile]:
    """Return the files that were left out, of those that a function reads, without those that may be read now.

    With another extra, for example.
    """
    if recipe.rules.include_generated and not catalog.get_meta(_GENERATED):
        return []
    rejected = read()
    if not any(is_document(item.path) for item in rejected):
        return rejected
    is_current = all(catalog.get_meta(key, "") == value for key, value in reading_of_documents().items())
    return rejected if is_current else [item for item in rejected if not is_document(item.path)]


def incompleteness(catalog: IndexState, todo: IndexPlan) -> Note | None:
    """Return the progress of the first run, None when a run has completed the index, or none has begun it."""
    if not catalog.generation or int(catalog.get_meta("indexed_at_ns", "0")):
        return None
    n_files = len(todo.scan.files)
    n_due = sum(not is_kept_text(job.file.path) for job in todo.jobs)
    return Note(say.FILES_INDEXED, {"count": n_files - n_due, "total": n_files})


def _differs(file: FileStat, before: IndexedFileStat, recipe: Recipe) -> bool:
    """Return True if a file has other bytes than the index has stored; False if it was left out and still is."""
    from codefathom.source.documents import is_read_whole, read
    from codefathom.source.large import survey

    include_generated = recipe.rules.include_generated
    try:
        if is_read_whole(file):
            content: Document | Survey | Skipped = read(
                recipe.tree, file, include_generated=include_generated, indexed=before.fingerprint
            )
        else:
            content = survey(recipe.tree, file, include_generated=include_generated)
    except FathomError:
        raise
    except Exception:  # it is prepared, where a file that breaks a step is named
        return True
    return ("" if isinstance(content, Skipped) else content.fingerprint) != before.fingerprint


def missing_languages(entry: Entry) -> list[str]:
    """Return the languages whose grammar was missing when a document was parsed."""
    _, _, languages = entry.parser.partition(_WITHOUT)
    return languages.split(" ", 1)[0].split(",") if languages else []


def note_of_grammars(catalog: IndexState, reasons: Mapping[str, str]) -> dict[str, str]:
    """Return the note about missing grammars for the catalogue; `reasons` are those of this run, by language."""
    before = _noted_grammars(catalog)
    if not before and not reasons:
        return {}
    n_files = Counter(name for entry in catalog.entries().values() for name in missing_languages(entry))
    kept = {name: (n, reasons.get(name) or before.get(name, (0, ""))[1]) for name, n in sorted(n_files.items())}
    return {_MISSING_GRAMMARS: json.dumps(kept) if kept else ""}


def without_grammar(catalog: IndexState) -> tuple[Note, ...]:
    """Return a note on each language whose files have no symbols because its grammar could not be loaded."""
    return tuple(
        Note(say.NO_GRAMMAR, {"language": name, "error": reason, "count": n_files})
        for name, (n_files, reason) in _noted_grammars(catalog).items()
    )


def _noted_grammars(catalog: IndexState) -> dict[str, tuple[int, str]]:
    """Return the note of the last run; nothing where it has another form than fathom writes."""
    try:
        note = json.loads(catalog.get_meta(_MISSING_GRAMMARS) or "{}")
        return {str(name): (int(n_files), str(reason)) for name, (n_files, reason) in note.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _to_be_remade(entries: Mapping[str, Entry], recipe: Recipe) -> tuple[set[str], set[str]]:
    """Return the paths of documents that other stages have made, and of those that a model is to parse.

    Few versions of the stages made all documents: each is looked at once.
    """
    verdicts: dict[tuple[str, str, bool], tuple[bool, bool]] = {}
    outdated: set[str] = set()
    unfinished: set[str] = set()
    loadable = _new_grammars(entries)
    for path, entry in entries.items():
        kind = (entry.parser, entry.chunker, is_extracted(path))
        if kind not in verdicts:
            is_outdated = _is_outdated(entry, recipe) or not loadable.isdisjoint(missing_languages(entry))
            verdicts[kind] = (is_outdated, _is_unfinished(entry, recipe))
        for holds, paths in zip(verdicts[kind], (outdated, unfinished), strict=True):
            if holds:
                paths.add(path)
    return outdated, unfinished


def _new_grammars(entries: Mapping[str, Entry]) -> set[str]:
    """Return the languages that documents were parsed without, and whose grammar can be loaded now."""
    examples = {entry.parser: entry for entry in entries.values()}
    missing = {language for entry in examples.values() for language in missing_languages(entry)}
    if not missing:
        return set()
    from codefathom.parse.grammars import load_problem_now

    return {language for language in missing if not load_problem_now(language)}


def is_as_made_by(entry: Entry, recipe: Recipe) -> bool:
    """Return True if a document was made by the stages of this recipe, and wholly."""
    return not (_is_outdated(entry, recipe) or _is_unfinished(entry, recipe) or missing_languages(entry))


def _is_outdated(entry: Entry | None, recipe: Recipe) -> bool:
    if entry is None:
        return False
    is_current = _parser(entry, recipe) in (recipe.parser, recipe.unfinished_parser)
    return not is_current or not recipe.makes(entry.chunker)


def _is_unfinished(entry: Entry | None, recipe: Recipe) -> bool:
    return entry is not None and _parser(entry, recipe) == recipe.unfinished_parser


def _parser(entry: Entry, recipe: Recipe) -> str:
    """Return the version of the parse stage of a stored document, "" if its text was taken out in another way."""
    parser, mark, encoding = entry.parser.partition(_READ_AS)
    if mark and encoding.partition("/")[0] != recipe.assumed_encoding:
        return ""
    extraction = _extraction(entry.path)
    return parser.removesuffix(extraction).partition(_WITHOUT)[0] if parser.endswith(extraction) else ""


def fingerprint_of(entry: Entry | None, recipe: Recipe) -> str:
    """Return the fingerprint of a document that is as the stages make it now, else ""."""
    return entry.fingerprint if entry is not None and is_as_made_by(entry, recipe) else ""
