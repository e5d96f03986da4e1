"""The state of an index and of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codefathom.facts.reasons import Note, Told
from codefathom.types.skipped_files import Failure, Skipped


@dataclass(frozen=True, slots=True)
class SecretPlace:
    """The place of a secret in an indexed file, without its value."""

    path: str
    line: int
    kind: str  # "secret" where the file has changed, and nothing more is known of it


@dataclass(frozen=True, slots=True)
class Status:
    """The contents of the index, and its distance from the files."""

    root: str
    index_dir: str
    generation: int
    n_documents: int
    n_chunks: int
    n_symbols: int
    n_bytes: int  # of the index on disk
    languages: Mapping[str, int]  # documents by language
    kinds: Mapping[str, int]  # chunks by kind
    model: str
    n_without_vector: int
    indexed_at: float  # seconds since the epoch; 0.0 before the first run
    pending: int  # files that are new, changed or gone since then
    views_current: bool
    skipped: tuple[Skipped, ...]
    failures: tuple[Failure, ...]
    broken: tuple[Failure, ...] = ()  # indexed files of which something may be missing; what is sound of them is there
    paused: str = ""  # why the last run stopped early
    damages: tuple[Note, ...] = ()  # what is known to be damaged
    required_exts: tuple[str, ...] = ()  # only files that end like this are indexed; empty: all
    ignore: tuple[str, ...] = ()  # patterns of the settings or of an index run
    kept: tuple[str, ...] = ()  # the settings of these that an index run was given, and that hold since then
    first_run: Note | None = None  # how far it has come, when it was not completed
    doubt: str = ""  # why the index that lies there is not believed; then nothing of it is told
    revision: str = ""  # the revision whose files these are; empty: those of the folder
    n_by_text: int = 0  # documents outside index.min_tokens and index.max_tokens: not embedded
    store_problem: str = ""  # why the store of vectors cannot be used; meanwhile those of the catalogue answer
    n_by_head: int = 0  # definitions that the grammar of their language has lost: known by the line they begin with
    n_files_by_head: int = 0  # files with such definitions
    encodings: Mapping[str, int] = field(
        default_factory=dict
    )  # files that are not UTF-8 and declare nothing, by encoding
    compilers: tuple[CompilerFiles, ...] = ()  # whose edges the index has
    commits: KnownCommits | None = None  # None before the first question about commits

    @property
    def damage(self) -> tuple[str, ...]:
        """What is known to be damaged in English, one sentence each."""
        return tuple(map(str, self.damages))

    @property
    def incomplete(self) -> str:
        """How far the first run has come in English, "" when it was completed."""
        return str(self.first_run or "")


@dataclass(frozen=True, slots=True)
class KnownCommits:
    """The commits that are indexed, and those that are not, because they are older or new."""

    n_known: int
    n_left_out: int
    n_bytes: int  # of their index on disk, a part of the whole


@dataclass(frozen=True, slots=True)
class CompilerFiles:
    """The files whose edges a compiler has written."""

    tool: str  # name and version
    n_files: int
    n_changed: int  # of these: changed since, so that their edges are those that the parser sees


@dataclass(frozen=True, slots=True)
class StoreReport:
    """The comparison of a store of vectors with the index."""

    store: str
    n_rows: int  # vectors of the index
    same: float  # share of the nearest vectors of a sample that the store finds
    problem: str = ""  # why the two do not agree


@dataclass(frozen=True, slots=True)
class StoreState:
    """The state of a store of vectors, as it says it itself."""

    store: str
    project: str  # the key of this project among others in one place
    state: Mapping[str, str | int | bool]  # address or file, version, kind of index, its settings
    projects: Mapping[str, int]  # vectors of each project whose rows lie in the same place


@dataclass(frozen=True, slots=True)
class Check:
    """One finding of `doctor`."""

    part: Told  # the part that was looked at
    ok: bool
    told: Told  # its state
    remedy: Told = ""

    @property
    def name(self) -> str:
        """The part in English."""
        return str(self.part)

    @property
    def detail(self) -> str:
        """The state in English."""
        return str(self.told)

    @property
    def hint(self) -> str:
        """The remedy in English, "" without one."""
        return str(self.remedy)
