"""The manifest of a fleet: its sources, repositories, files and shards in one SQLite file.

A run writes in one transaction, whose commit switches the fleet to the new shards: whoever is killed before it leaves
the fleet as it was, and readers see the fleet of one moment.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from threading import Lock
from typing import Any, NamedTuple

from codefathom.errors import DamagedError, IndexingError, LockedError
from codefathom.fleet.fleet_list import MANIFEST
from codefathom.fleet.shard_parts import ShardPart
from codefathom.project.repository_sight import BRANCH_MARK, RepositorySight
from codefathom.source.changes import FileStat
from codefathom.stores.folder import Folder
from codefathom.stores.sqlite import connect, use_log
from codefathom.text.file_stems import by_stem

FORMAT = "2"
_BEFORE_BRANCHES = "1"
_WAIT_S = 30.0
_STORE_KEY = "store_key"
# A branch beside the default one is a row of `repositories` with a number from here on: of equal files, one that a
# default branch has comes first.
FIRST_BRANCH = 1 << 40
CLONES = "clones"  # folder beside the manifest, of repositories elsewhere
OF_DEFAULT = "-default"  # ends the words for what default branches have, in a fleet that has others
_REPOSITORIES = """
CREATE TABLE {0}(
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, place TEXT NOT NULL, source TEXT NOT NULL, state TEXT NOT NULL,
    slot INTEGER NOT NULL, n_files INTEGER NOT NULL, n_bytes INTEGER NOT NULL, problem TEXT NOT NULL,
    remedy TEXT NOT NULL, branch TEXT NOT NULL)
""".format
# files: content is the hash that git gives the bytes; home is 1 where the shard of its repository has them, else
# another repository, that came before, has the same bytes. `stem` is that of `text.file_stems`, of homes only.
_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sources(source TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE files(
    repository INTEGER NOT NULL, path TEXT NOT NULL, content BLOB NOT NULL, size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
    PRIMARY KEY(repository, path)) WITHOUT ROWID;
CREATE INDEX files_content ON files(content, repository);
CREATE TABLE stems(stem TEXT NOT NULL, path TEXT NOT NULL, slot INTEGER NOT NULL);
CREATE INDEX stems_stem ON stems(stem);
CREATE INDEX stems_slot ON stems(slot);
CREATE TABLE shards(
    slot INTEGER PRIMARY KEY, folder TEXT NOT NULL, identity TEXT NOT NULL, checksum TEXT NOT NULL,
    n_files INTEGER NOT NULL, n_lines INTEGER NOT NULL, n_chunks INTEGER NOT NULL, n_bytes INTEGER NOT NULL,
    names BLOB NOT NULL);
"""
# Of each version of a shard in force; an earlier version of fathom kept none.
_PARTS = """
CREATE TABLE IF NOT EXISTS parts(
    slot INTEGER NOT NULL, name TEXT NOT NULL, size INTEGER NOT NULL, ends TEXT NOT NULL, digest TEXT NOT NULL,
    PRIMARY KEY(slot, name)) WITHOUT ROWID
"""
# The class of readers of each repository in the last run; none for those that everybody may read.
_CLASSES = "CREATE TABLE IF NOT EXISTS classes(repository INTEGER PRIMARY KEY, readers TEXT NOT NULL)"
# When each repository was last active, in seconds: `time` is what questions go by, and stays as it is until the next
# switch, so that all processes give the same order; `latest` is what the last run has read. An earlier version of
# fathom kept none, and only a run makes the table.
_ACTIVITY = """
CREATE TABLE IF NOT EXISTS activity(
    repository INTEGER PRIMARY KEY, time INTEGER NOT NULL DEFAULT 0, latest INTEGER NOT NULL)
"""
# Equal files are one only among repositories with the same readers.
_SAME_READERS = (
    "(SELECT readers FROM classes WHERE repository = {0}.repository) IS "
    "(SELECT readers FROM classes WHERE repository = {1}.repository)"
).format
_EARLIER = "SELECT 1 FROM files g WHERE g.content = f.content AND g.repository < f.repository"
_HOME = f"NOT EXISTS ({_EARLIER} AND {_SAME_READERS('g', 'f')})"
# What a reader may see, under the names of the tables: each query of this connection gets these. A shard is seen by
# those only who may see all repositories whose files may be in it.
_SIGHT = """
CREATE TEMP TABLE seen(id INTEGER PRIMARY KEY);
CREATE TEMP VIEW repositories AS SELECT * FROM main.repositories WHERE id IN (SELECT id FROM temp.seen);
CREATE TEMP VIEW files AS SELECT * FROM main.files WHERE repository IN (SELECT id FROM temp.seen);
CREATE TEMP VIEW shards AS SELECT * FROM main.shards WHERE slot IN (SELECT slot FROM main.repositories)
    AND slot NOT IN (SELECT slot FROM main.repositories WHERE id NOT IN (SELECT id FROM temp.seen));
CREATE TEMP VIEW stems AS SELECT * FROM main.stems WHERE slot IN (SELECT slot FROM temp.shards);
CREATE TEMP VIEW parts AS SELECT * FROM main.parts WHERE slot IN (SELECT slot FROM temp.shards);
CREATE TEMP VIEW sources AS SELECT * FROM main.sources WHERE 0;
"""
_REPOSITORY = "id, name, place, source, state, slot, n_files, n_bytes, problem, remedy, branch"
_SHARD = "slot, folder, identity, checksum, n_files, n_lines, n_chunks, n_bytes"


class Repository(NamedTuple):
    """A repository of a fleet."""

    id: int
    name: str  # the first part of the paths of its files
    place: str  # its folder
    source: str
    state: str  # what was listed: a commit, or a hash of the files; "" before
    slot: int  # of its shard; 0 for none yet
    n_files: int
    n_bytes: int
    problem: str = ""  # why it could not be read the last time; what was read before stays
    remedy: str = ""
    branch: str = ""  # "": not known, as of a folder without commits

    @property
    def is_branch(self) -> bool:
        """True for a branch beside the default one of the repository that has the name before the @."""
        return BRANCH_MARK in self.name

    def clone_in(self, root: str) -> str:
        """Return the name of its clone in the folder of the fleet, "" for a repository that is none of its clones."""
        return clone_name(root, self.place)


class Shard(NamedTuple):
    """A version of a shard: an index that is never changed."""

    slot: int
    folder: str  # name below `shards/`
    identity: str  # of its catalogue
    checksum: str  # of its files, see `shard_parts.digest_of`
    n_files: int
    n_lines: int
    n_chunks: int
    n_bytes: int  # on the disk


class ListedFile(NamedTuple):
    """A file of a repository, with the hash of its content."""

    file: FileStat
    content: bytes


def clone_name(root: str, place: str) -> str:
    """Return the name of a clone that a fleet has made, "" for any other folder."""
    above, name = os.path.split(place)
    return name if above == os.path.join(root, CLONES) else ""


def locked(root: str) -> LockedError:
    """Return the error that says who else writes the fleet in a folder."""
    return LockedError(f"another process is indexing the fleet in {root!r}", hint="wait until it has ended")


class Manifest:
    """The manifest of one fleet. Safe to read from several threads and processes while another one writes."""

    def __init__(self, root: str, sight: RepositorySight | None = None, *, only_default: bool = False) -> None:
        """Open the manifest of a folder, or make it. Raises IndexingError.

        With a sight, only what it shows; with `only_default`, only the default branches of the repositories.
        """
        self.root = root
        self.sight = sight
        self._only_default, self._is_narrowed = only_default, False
        self._lock = Lock()
        try:
            self._db = connect(Folder(root).file(MANIFEST), wait_s=_WAIT_S)
            self._db.isolation_level = None
            self._prepare()
            self.look_again()
        except (OSError, sqlite3.Error) as error:
            raise IndexingError(
                f"cannot open the fleet in {root!r}: {error}",
                hint="see if the disk is full and the folder can be written",
            ) from error

    def _prepare(self) -> None:
        use_log(self._db)
        # Nothing is written without need: a run may hold the file for hours, and its fleet can be read meanwhile.
        if not (self._has_table("parts") and self._has_table("classes")):
            with self.transaction():
                if not self._has_table("meta"):
                    for statement in (*_SCHEMA.split(";"), _REPOSITORIES("repositories")):
                        self._db.execute(statement)
                    self.put_meta({"format": FORMAT, "identity": os.urandom(8).hex(), "generation": "0"})
                self._db.execute(_PARTS)
                self._db.execute(_CLASSES)
        if self.meta("format") == _BEFORE_BRANCHES:
            self._take_branches()
        if self.meta("format") != FORMAT:
            raise DamagedError(
                f"the fleet in {self.root!r} has another format",
                hint="remove it with `fathom fleet remove`, and add it",
            )

    def _take_branches(self) -> None:
        """Bring the table of repositories into the form that has branches: a place may have several rows."""
        columns = _REPOSITORY.removesuffix(", branch")
        with self.transaction():
            if self.meta("format") == _BEFORE_BRANCHES:  # nobody else has done it meanwhile
                self._db.execute(_REPOSITORIES("repositories_new"))
                self._db.execute(f"INSERT INTO repositories_new SELECT {columns}, '' FROM repositories")
                self._db.execute("DROP TABLE repositories")
                self._db.execute("ALTER TABLE repositories_new RENAME TO repositories")
                self.put_meta({"format": FORMAT})

    def look_again(self) -> None:
        """Look which repositories the sight shows now. Until then, one that is new is not seen."""
        if not self._is_narrowed:
            if self.sight is None and not (self._only_default and self.has_branches):
                return
            for statement in _SIGHT.split(";"):
                self._db.execute(statement)
            self._is_narrowed = True
        listed = self.read("SELECT id, name, place FROM main.repositories")
        seen = [
            (number,)
            for number, name, place in listed
            if not (self._only_default and number >= FIRST_BRANCH)
            and (self.sight is None or self.sight.sees(name, clone_name(self.root, place)))
        ]
        with self._lock:
            self._db.execute("BEGIN")
            self._db.execute("DELETE FROM temp.seen")
            self._db.executemany("INSERT INTO temp.seen VALUES (?)", seen)
            self._db.execute("COMMIT")

    @property
    def identity(self) -> str:
        """A word for this fleet, and for what is shown of it: nothing that is kept is shared with another."""
        of_default = OF_DEFAULT if self.is_default_only else ""
        return self.fleet_identity + (f" {self.sight.digest}" if self.sight else "") + of_default

    @property
    def fleet_identity(self) -> str:
        """A word for this fleet, whatever is shown of it."""
        return self.meta("identity")

    @property
    def has_branches(self) -> bool:
        """True for a fleet that has branches beside the default ones, whether these are shown or not."""
        return bool(self.read("SELECT 1 FROM main.repositories WHERE id >= ? LIMIT 1", (FIRST_BRANCH,)))

    @property
    def is_default_only(self) -> bool:
        """True where branches of the fleet are not shown."""
        return self._only_default and self.has_branches

    @property
    def view(self) -> str:
        """A word for what is shown, "" for all default branches: a part of names of files."""
        branches = "branches" if self.has_branches and not self._only_default else ""
        return "-".join(filter(None, (self.sight.digest if self.sight else "", branches)))

    def _has_table(self, name: str) -> bool:
        return bool(self.read("SELECT 1 FROM main.sqlite_master WHERE name = ?", (name,)))

    def read(self, sql: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._lock:
            return self._db.execute(sql, values).fetchall()

    def write(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        """Execute a statement for each row, inside a transaction."""
        self._db.executemany(sql, rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all that is written in the block, or nothing of it. Raises LockedError while another one writes."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            raise locked(self.root) from error
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    # ---- small values

    def meta(self, key: str) -> str:
        """Return a stored value, "" for none."""
        rows = self.read("SELECT value FROM meta WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else ""

    def put_meta(self, values: Mapping[str, str]) -> None:
        """Store values, inside a transaction."""
        self.write("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    @property
    def has_store_key(self) -> bool:
        """True once shards were kept for other machines."""
        return bool(self.meta(_STORE_KEY))

    def store_key(self) -> bytes:
        """Return the key that signs the records of shards elsewhere; it is made when it is first needed."""
        if not self.meta(_STORE_KEY):
            with self.transaction():
                self.put_meta({_STORE_KEY: os.urandom(32).hex()})
        return bytes.fromhex(self.meta(_STORE_KEY))

    @property
    def generation(self) -> int:
        """Number of switches; 0 before the first run."""
        return int(self.meta("generation"))

    # ---- sources and repositories

    def sources(self) -> list[str]:
        """Return the sources, as they were given."""
        return [row[0] for row in self.read("SELECT source FROM sources ORDER BY source")]

    def add_sources(self, sources: Iterable[str]) -> None:
        """Add sources."""
        with self.transaction():
            self.write("INSERT OR IGNORE INTO sources VALUES (?)", ((source,) for source in sources))

    def remove_source(self, source: str) -> bool:
        """Remove a source, whose repositories go with the next run; return False where there is none."""
        with self.transaction():
            is_there = bool(self.read("SELECT 1 FROM sources WHERE source = ?", (source,)))
            self.write("DELETE FROM sources WHERE source = ?", [(source,)])
        return is_there

    def repositories(self) -> list[Repository]:
        """Return the repositories, by name."""
        return [Repository(*row) for row in self.read(f"SELECT {_REPOSITORY} FROM repositories ORDER BY name")]

    def repositories_in(self, slot: int) -> list[Repository]:
        """Return the repositories of a shard, by name."""
        rows = self.read(f"SELECT {_REPOSITORY} FROM repositories WHERE slot = ? ORDER BY name", (slot,))
        return [Repository(*row) for row in rows]

    @property
    def n_default(self) -> int:
        """The number of repositories, without further branches."""
        return int(self.read("SELECT count(*) FROM repositories WHERE id < ?", (FIRST_BRANCH,))[0][0])

    @property
    def has_unplaced(self) -> bool:
        """True where a repository that was read has no shard yet."""
        return bool(self.read("SELECT 1 FROM repositories WHERE slot = 0 AND state <> '' LIMIT 1"))

    def put_repository(self, repository: Repository) -> None:
        """Store a repository, inside a transaction; one with the id 0 is new."""
        number = repository.id
        if not number:
            first, below = (FIRST_BRANCH, 2 * FIRST_BRANCH) if repository.is_branch else (1, FIRST_BRANCH)
            last = self.read("SELECT max(id) FROM repositories WHERE id >= ? AND id < ?", (first, below))[0][0]
            number = first if last is None else last + 1
        values = (number, *repository[1:])
        self.write(
            f"INSERT OR REPLACE INTO repositories({_REPOSITORY}) VALUES ({', '.join('?' * len(values))})", [values]
        )

    def remove_repository(self, repository: Repository) -> None:
        """Remove a repository with its files, inside a transaction."""
        self.write("DELETE FROM files WHERE repository = ?", [(repository.id,)])
        self.write("DELETE FROM repositories WHERE id = ?", [(repository.id,)])
        self.write("DELETE FROM classes WHERE repository = ?", [(repository.id,)])
        if self._has_activity:
            self.write("DELETE FROM activity WHERE repository = ?", [(repository.id,)])

    def classes(self) -> dict[int, str]:
        """Return the classes of readers in the last run, by repository; none for those that everybody may read."""
        return dict(self.read("SELECT repository, readers FROM classes"))

    def put_classes(self, classes: Mapping[int, str]) -> None:
        """Store the classes of readers, inside a transaction."""
        self._db.execute("DELETE FROM classes")
        self.write("INSERT INTO classes VALUES (?, ?)", ((key, value) for key, value in classes.items() if value))

    @property
    def _has_activity(self) -> bool:
        return self._has_table("activity")

    def activity(self) -> dict[str, int]:
        """Return when repositories were last active, in seconds, by name; none of those without a known time."""
        if not self._has_activity:
            return {}
        joined = "repositories r JOIN activity a ON a.repository = r.id"
        return dict(self.read(f"SELECT r.name, a.time FROM {joined} WHERE a.time > 0"))

    def latest_activity(self) -> dict[int, int]:
        """Return the same as the last run has read it, by repository."""
        return dict(self.read("SELECT repository, latest FROM activity")) if self._has_activity else {}

    def put_activity(self, times: Mapping[int, int]) -> None:
        """Store when repositories were last active, inside a transaction."""
        self._db.execute(_ACTIVITY)
        self.write(
            "INSERT INTO activity(repository, latest) VALUES (?, ?) "
            "ON CONFLICT(repository) DO UPDATE SET latest = excluded.latest",
            times.items(),
        )

    def use_activity(self) -> None:
        """Let questions go by the latest times, inside the transaction of a switch."""
        if self._has_activity:
            self._db.execute("UPDATE activity SET time = latest")

    # ---- files

    def put_files(self, repository: int, files: Iterable[ListedFile]) -> None:
        """Replace the files of a repository, inside a transaction."""
        self.write("DELETE FROM files WHERE repository = ?", [(repository,)])
        rows = (
            (repository, file.path, content, file.size, file.mtime_ns, file.ctime_ns, file.inode)
            for file, content in files
        )
        self.write("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def contents(self, repository: int) -> dict[str, ListedFile]:
        """Return the files of a repository by path."""
        rows = self.read(
            "SELECT path, size, mtime_ns, ctime_ns, inode, content FROM files WHERE repository = ?", (repository,)
        )
        return {row[0]: ListedFile(FileStat(*row[:5]), row[5]) for row in rows}

    def homes(self, slot: int) -> list[ListedFile]:
        """Return the files that a shard has to hold, by path in the fleet: those that no earlier repository has."""
        rows = self.read(
            "SELECT r.name || '/' || f.path, f.size, f.mtime_ns, f.ctime_ns, f.inode, f.content "
            f"FROM repositories r JOIN files f ON f.repository = r.id WHERE r.slot = ? AND {_HOME} ORDER BY 1",
            (slot,),
        )
        return [ListedFile(FileStat(*row[:5]), row[5]) for row in rows]

    def others(self, path: str, most: int) -> tuple[list[str], int]:
        """Return the first places, in other repositories, of the content of a file, and the number of all.

        Those in the repositories that were last active come first. The same path in another branch is no other place.
        """
        name, _, own = path.partition("/")
        same = (
            "FROM files h JOIN repositories q ON q.id = h.repository JOIN files f ON f.content = h.content "
            "JOIN repositories r ON r.id = f.repository WHERE q.name = :name AND h.path = :own AND r.id <> q.id "
            "AND NOT (f.path = h.path AND r.place = q.place)"
        )
        values = {"name": name, "own": own, "most": most}
        # NULL, for a time that is not known, comes last.
        by_time = "(SELECT time FROM activity WHERE repository = r.id) DESC, " if self._has_activity else ""
        rows = self.read(f"SELECT r.name || '/' || f.path {same} ORDER BY {by_time}r.id, f.path LIMIT :most", values)
        if len(rows) < most:
            return [row[0] for row in rows], len(rows)
        return [row[0] for row in rows], self.read(f"SELECT count(*) {same}", values)[0][0]

    def branches_with(self, path: str) -> list[str]:
        """Return the branches of its repository that have a file with the same path and content, the default first.

        None of a repository of which one branch is known.
        """
        name, _, own = path.partition("/")
        rows = self.read(
            "SELECT r.branch FROM main.repositories q JOIN main.files h ON h.repository = q.id "
            "JOIN main.repositories r ON r.place = q.place JOIN main.files f "
            "ON f.repository = r.id AND f.path = h.path AND f.content = h.content WHERE q.name = ? AND h.path = ? "
            "AND (SELECT count(*) FROM main.repositories o WHERE o.place = q.place) > 1 ORDER BY r.id",
            (name, own),
        )
        return [row[0] for row in rows if row[0]]

    def branches(self) -> dict[str, list[str]]:
        """Return the repositories that have a branch, by its name."""
        named: dict[str, list[str]] = {}
        for branch, name in self.read("SELECT branch, name FROM repositories WHERE branch <> '' ORDER BY branch, name"):
            named.setdefault(branch, []).append(name)
        return named

    def holders(self, path: str) -> list[str]:
        """Return the repositories that have the content of a file."""
        name, _, own = path.partition("/")
        rows = self.read(
            "SELECT DISTINCT r.name FROM files h JOIN repositories q ON q.id = h.repository JOIN files f "
            "ON f.content = h.content JOIN repositories r ON r.id = f.repository WHERE q.name = ? AND h.path = ? "
            f"AND {_SAME_READERS('f', 'h')}",
            (name, own),
        )
        return [row[0] for row in rows]

    def forks(self) -> list[str]:
        """Return the repositories of which at least half of the bytes are files of repositories that came before."""
        rows = self.read(
            f"SELECT name FROM repositories r WHERE n_bytes > 0 AND id < {FIRST_BRANCH} "
            "AND 2 * (SELECT coalesce(sum(size), 0) FROM files f "
            f"WHERE f.repository = r.id AND EXISTS ({_EARLIER})) >= n_bytes ORDER BY name"
        )
        return [row[0] for row in rows]

    def home_of(self, path: str) -> str:
        """Return the path under which the content of a file is indexed; the path itself for one that is not here."""
        name, _, own = path.partition("/")
        rows = self.read(
            "SELECT r.name || '/' || f.path FROM files h JOIN repositories q ON q.id = h.repository "
            "JOIN files f ON f.content = h.content JOIN repositories r ON r.id = f.repository "
            f"WHERE q.name = ? AND h.path = ? AND {_SAME_READERS('f', 'h')} "
            "ORDER BY f.repository, f.path <> h.path, f.path LIMIT 1",
            (name, own),
        )
        return rows[0][0] if rows else path

    def held_elsewhere(self, names: Collection[str]) -> dict[str, list[str]]:
        """Return the paths under which files of repositories are indexed in earlier ones, by repository."""
        rows = self.read(
            "SELECT DISTINCT q.name, r.name || '/' || f.path FROM repositories q JOIN files h ON h.repository = q.id "
            "JOIN files f ON f.content = h.content JOIN repositories r ON r.id = f.repository "
            f"WHERE q.name IN (SELECT value FROM json_each(?)) AND r.id < q.id AND {_HOME} "
            f"AND {_SAME_READERS('f', 'h')} ORDER BY 1, 2",
            (json.dumps([*names]),),
        )
        held: dict[str, list[str]] = {}
        for name, path in rows:
            held.setdefault(name, []).append(path)
        return held

    def shared_beyond(self, names: Sequence[str]) -> list[str]:
        """Return the indexed paths of repositories whose content a repository has that is not among these."""
        rows = self.read(
            "SELECT DISTINCT q.name || '/' || f.path FROM repositories q JOIN files f ON f.repository = q.id "
            "JOIN files o ON o.content = f.content JOIN repositories r ON r.id = o.repository "
            "WHERE q.name IN (SELECT value FROM json_each(:names)) "
            f"AND r.name NOT IN (SELECT value FROM json_each(:names)) AND {_HOME} AND {_SAME_READERS('o', 'f')} "
            "ORDER BY 1",
            {"names": json.dumps(names)},
        )
        return [row[0] for row in rows]

    # ---- shards

    def shards(self) -> list[Shard]:
        """Return the shards in force, by slot."""
        return [Shard(*row) for row in self.read(f"SELECT {_SHARD} FROM shards ORDER BY slot")]

    def all_shards(self) -> list[Shard]:
        """Return the shards in force, by slot, also those that are not shown: for whoever opens them for others."""
        return [Shard(*row) for row in self.read(f"SELECT {_SHARD} FROM main.shards ORDER BY slot")]

    def mixed(self) -> list[list[str]]:
        """Return the repositories of each shard that the sight does not show, though it shows some of these."""
        rows = self.read(
            "SELECT slot, name FROM repositories WHERE slot IN (SELECT slot FROM main.shards) "
            "AND slot NOT IN (SELECT slot FROM shards) ORDER BY slot, name"
        )
        return [[name for _, name in group] for _, group in groupby(rows, lambda row: row[0])]

    def names_of(self, slot: int) -> bytes:
        """Return the filter of the names of a shard."""
        rows = self.read("SELECT names FROM shards WHERE slot = ?", (slot,))
        return rows[0][0] if rows else b""

    def parts(self) -> dict[int, list[ShardPart]]:
        """Return the files of the shards by slot, as they were written; none of a shard of an earlier version."""
        return self._parts_in("parts")

    def all_parts(self) -> dict[int, list[ShardPart]]:
        """Return the same of `all_shards`."""
        return self._parts_in("main.parts")

    def _parts_in(self, name: str) -> dict[int, list[ShardPart]]:
        parts: dict[int, list[ShardPart]] = {}
        for slot, *part in self.read(f"SELECT slot, name, size, ends, digest FROM {name} ORDER BY slot, name"):
            parts.setdefault(slot, []).append(ShardPart(*part))
        return parts

    def put_parts(self, slot: int, parts: Collection[ShardPart]) -> None:
        """Store the files of a version of a shard, inside a transaction."""
        self.write("INSERT INTO parts VALUES (?, ?, ?, ?, ?)", ((slot, *part) for part in parts))

    def built_paths(self, slot: int) -> list[str]:
        """Return the paths of the files of a shard."""
        return [row[0] for row in self.read("SELECT DISTINCT path FROM stems WHERE slot = ? ORDER BY path", (slot,))]

    def put_shard(self, shard: Shard, names: bytes, paths: Collection[str]) -> None:
        """Put a version of a shard in force, inside a transaction."""
        slot, now = shard.slot, set(paths)
        before = set(self.built_paths(slot))
        self._db.execute("DELETE FROM parts WHERE slot = ?", (slot,))
        self.write("INSERT OR REPLACE INTO shards VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [(*shard, names)])
        self.write("DELETE FROM stems WHERE stem = ? AND path = ? AND +slot = ?", _stems(slot, before - now))
        self.write("INSERT INTO stems VALUES (?, ?, ?)", _stems(slot, now - before))

    def remove_shard(self, slot: int) -> None:
        """Take a shard out of the fleet, inside a transaction."""
        self.write("DELETE FROM stems WHERE slot = ?", [(slot,)])
        self.write("DELETE FROM parts WHERE slot = ?", [(slot,)])
        self.write("DELETE FROM shards WHERE slot = ?", [(slot,)])

    def paths_named(self, stem: str) -> list[str]:
        """Return the paths of the indexed files with a flat stem, in order; see `text.file_stems`."""
        return [row[0] for row in self.read("SELECT path FROM stems WHERE stem = ? ORDER BY path", (stem,))]

    def n_contents(self) -> tuple[int, int]:
        """Return the bytes of all files, and those of the distinct contents."""
        total = self.read("SELECT coalesce(sum(n_bytes), 0) FROM repositories")[0][0]
        distinct = self.read(f"SELECT coalesce(sum(size), 0) FROM files f WHERE {_HOME}")[0][0]
        return total, distinct


def _stems(slot: int, paths: Collection[str]) -> Iterator[tuple[str, str, int]]:
    return ((stem, path, slot) for stem, same in by_stem(sorted(paths)).items() for path in same)
