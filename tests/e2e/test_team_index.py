"""The index of a team in one file: it ends equal to a clean index, and nobody can plant anything by it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from tests.e2e.test_shipped_index import ATTACKS, EVIL, all_told, attack, author, become, copied, one_user, truth
from tests.e2e.test_siblings import N_FILES, answers, clean, content, copy_of, original
from tests.packed_texts import readable_bytes

from codefathom import Engine
from codefathom.cli import main
from codefathom.config.configuration import load_settings
from codefathom.errors import FathomError, IndexingError, SourceError, UsageError
from codefathom.project.stores import snapshot as snapshots
from codefathom.types import Snapshot

__all__ = ["one_user", "original", "truth"]  # fixtures
pytestmark = pytest.mark.usefixtures("own_folders")
MARK, HEAD, SEALS = 16, 8_192, 96  # bytes of the parts before the content

Head = dict[str, Any]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with an index, in the checkout of its author."""
    author(tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
def checkout(project: Path, tmp_path: Path) -> Path:
    """The same files in the checkout of a reader, without an index."""
    (tmp_path / "reader").mkdir()
    return Path(
        shutil.copytree(project, tmp_path / "reader" / "work", symlinks=True, ignore=shutil.ignore_patterns(".fathom"))
    )


def write(root: Path, path: Path, key_file: str = "") -> Path:
    with Engine.open(str(root)) as engine:
        engine.opened.catalog.store_made()  # as indexes of other stores have them, and those of earlier versions
        engine.export_snapshot(str(path), key_file=key_file)
    return path


def take(root: Path, path: Path, *, check: str = "sample", keys: tuple[str, ...] = ()) -> Snapshot:
    """Take over a snapshot, and bring the index up to date."""
    settings = load_settings(str(root))
    settings = settings._replace(team=settings.team._replace(keys=keys))
    with Engine.open(str(root), settings=settings) as engine:
        snapshot = engine.import_snapshot(str(path), check=check)
        engine.index()
        return snapshot


def key_pair(folder: Path, name: str = "key") -> tuple[str, str]:
    """Return the path of a new private key, and the public key with a comment."""
    key = Ed25519PrivateKey.generate()
    (folder / name).write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    return str(folder / name), key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode() + " ci"


def parts(path: Path) -> tuple[Head, bytes]:
    """Return the head of a snapshot, and its SQLite file."""
    data = path.read_bytes()
    return json.loads(data[MARK : MARK + HEAD]), zlib.decompress(data[MARK + HEAD + SEALS :])


def forged(path: Path, head: Head, database: bytes, *, signature: bytes = bytes(64), packed: bytes = b"") -> Path:
    """Write a snapshot as somebody does who knows its form: all digests are right."""
    packed = packed or zlib.compress(database)
    sizes = {"n_bytes": len(database), "n_packed": len(packed), "digest": blake2b(packed, digest_size=32).hexdigest()}
    signed = b"fathom snapshot\n" + json.dumps({**sizes, **head}).encode().ljust(HEAD)
    path.write_bytes(signed + blake2b(signed, digest_size=32).digest() + signature + packed)
    return path


def without_sizes(head: Head) -> Head:
    return {name: value for name, value in head.items() if name not in {"n_bytes", "n_packed", "digest"}}


def attacked(path: Path, statements: str, folder: Path) -> Path:
    """Change the content of a snapshot; its signature stays what it was."""
    head, database = parts(path)
    signature = path.read_bytes()[MARK + HEAD + 32 : MARK + HEAD + SEALS]
    (folder / "forge" / ".fathom").mkdir(parents=True)
    (folder / "forge" / ".fathom" / "catalog.db").write_bytes(database)
    attack(folder / "forge", statements)
    changed = (folder / "forge" / ".fathom" / "catalog.db").read_bytes()
    return forged(folder / "forged", without_sizes(head), changed, signature=signature)


def refused(root: Path, path: Path, match: str = "snapshot", **options: Any) -> None:
    """Assert that a snapshot is refused, and that nothing of it is left."""
    before = index_files(root)
    with pytest.raises(IndexingError, match=match):
        take(root, path, **options)
    assert index_files(root).keys() - before.keys() <= {".gitignore", "catalog.db", "write.lock", "catalog.db.seal"}
    with Engine.open(str(root)) as engine:
        assert engine.plan().n_unchanged == 0  # of an index that was made by opening


def index_files(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (root / ".fathom").glob("*") if path.is_file()}


# ---- the way there and back


def test_it_ends_equal_to_a_clean_index(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = write(original, tmp_path / "main.fathom")
    copy = copy_of(original, "copy")
    (copy / "module_7.py").write_text("def step_of_another_kind(value):\n    return value\n")
    same_size = (copy / "module_8.py").read_text().replace("step_8", "stop_8")
    (copy / "module_8.py").write_text(same_size)
    (copy / "new.py").write_text("def added_here():\n    return 1\n")
    (copy / "private.py").unlink()
    become("reader", tmp_path, monkeypatch)
    taken = take(copy, snapshot)
    assert (taken.n_documents, taken.n_taken, taken.n_checked) == (N_FILES + 2, N_FILES - 1, 200)
    other = clean(copy)
    assert content(copy) == content(other)
    assert answers(copy) == answers(other)
    with Engine.open(str(copy)) as engine:
        assert all(check.ok for check in engine.doctor() if check.name in {"catalogue", "views", "index folder"})
        assert engine.plan().n_unchanged == N_FILES + 2
        assert not engine.symbols("heliotrope_price")
    for path in (copy / ".fathom").rglob("*"):
        assert path.is_dir() or b"heliotrope" not in readable_bytes(path), path


def test_a_signed_one_is_believed(
    project: Path, checkout: Path, truth: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key_file, key = key_pair(tmp_path)
    snapshot = write(project, tmp_path / "s", key_file)
    become("reader", tmp_path, monkeypatch)
    taken = take(checkout, snapshot, keys=(key,))
    assert (taken.n_checked, taken.n_vectors, taken.key) == (0, 0, key.removesuffix(" ci"))
    assert taken.n_taken == taken.n_documents
    assert all_told(checkout) == truth


@pytest.mark.parametrize("is_signed", [True, False])
def test_files_that_differ_are_taken_in_again(project: Path, checkout: Path, tmp_path: Path, is_signed: bool) -> None:
    key_file, key = key_pair(tmp_path)
    snapshot = write(project, tmp_path / "s", key_file if is_signed else "")
    text = (checkout / "pay" / "invoice.py").read_text()
    (checkout / "pay" / "invoice.py").write_text(text.replace("charge_invoice", "refund_invoice"))
    take(checkout, snapshot, keys=(key,) if is_signed else ())
    with Engine.open(str(checkout)) as engine:
        assert [item.symbol.name for item in engine.symbols("invoice")] == ["refund_invoice"]


def test_nothing_of_the_machine_is_in_it(project: Path, tmp_path: Path) -> None:
    (project / "pay" / "gone.py").write_text("def heliotrope():\n    return 17\n")
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (project / "pay" / "token.py").write_text(f"TOKEN = '{token}'\n")
    with Engine.open(str(project)) as engine:
        engine.index()
        (project / "pay" / "gone.py").unlink()
    head, database = parts(write(project, tmp_path / "s"))
    everything = json.dumps(head).encode() + database
    for text in ("heliotrope", token, str(tmp_path), tmp_path.name, "known:", "indexed_at_ns"):
        assert text.encode() not in everything, text
    (tmp_path / "s.db").write_bytes(database)
    with closing(sqlite3.connect(tmp_path / "s.db")) as db:
        assert {row[0] for row in db.execute("SELECT mtime_ns FROM documents")} == {-1}
        assert {row[0] for row in db.execute("SELECT key FROM meta")} <= {
            "format",
            "generation",
            "identity",
            "encoding",
            "masked",
        }


def test_an_index_with_secrets_is_not_carried_away(project: Path, tmp_path: Path) -> None:
    settings = load_settings(str(project), overrides={"source.secrets": "keep"})
    with Engine.open(str(project), settings=settings) as engine, pytest.raises(UsageError, match="values of secrets"):
        engine.export_snapshot(str(tmp_path / "s"))
    assert not (tmp_path / "s").exists()


def test_vectors_of_a_remote_model_come_with_it(
    project: Path, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.e2e.test_remote_embeddings import said
    from tests.protocols.server import Turn, serving

    with serving(Turn(reply=said)) as served:
        chosen = {"embed.model": "ollama:m", "embed.base_url": served.base_url, "limits.attempts": 1}
        with Engine.open(str(project), settings=load_settings(str(project), overrides=chosen)) as engine:
            engine.index()
            engine.export_snapshot(str(tmp_path / "s"))
        become("reader", tmp_path, monkeypatch)
        monkeypatch.setattr(snapshots, "_SLOW_VECTORS", 1)
        with Engine.open(str(checkout), settings=load_settings(str(checkout), overrides=chosen)) as engine:
            n_calls = len(served.asked)
            engine.import_snapshot(str(tmp_path / "s"))
            engine.index()
            assert engine.status().n_without_vector == 0
            assert len(served.asked) == n_calls + 2  # the length of a vector, and the sample
            of_ollama = "model IN (SELECT id FROM models WHERE name LIKE 'ollama%')"
            planted = f"UPDATE embeddings SET vector = zeroblob(length(vector)) WHERE {of_ollama}"
            false = attacked(tmp_path / "s", planted, tmp_path)
            with pytest.raises(IndexingError, match="is not what ollama"):
                engine.import_snapshot(str(false))


def test_choices_of_the_index_before_stay(project: Path, checkout: Path, tmp_path: Path) -> None:
    snapshot = write(project, tmp_path / "s")
    settings = load_settings(str(checkout), overrides={"source.required_exts": (".py",)})
    with Engine.open(str(checkout), settings=settings) as engine:
        engine.index(keep_rules=True)
    take(checkout, snapshot)
    with Engine.open(str(checkout)) as engine:
        assert {file.path.rpartition(".")[2] for file in engine.files.listed()} == {"py"}


@pytest.mark.parametrize("packed", [True, False])
def test_it_says_the_commit(project: Path, tmp_path: Path, packed: bool) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    git = project / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    if packed:
        (git / "packed-refs").write_text(f"# pack-refs with: peeled\n{commit} refs/heads/main\n")
    else:
        (git / "refs" / "heads" / "main").write_text(f"{commit}\n")
    assert parts(write(project, tmp_path / "s"))[0]["commit"] == commit


def test_it_says_the_commit_of_a_linked_work_tree(project: Path, tmp_path: Path) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    own = tmp_path / "main" / ".git" / "worktrees" / "project"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/topic\n")
    (own / "commondir").write_text("../..\n")
    (tmp_path / "main" / ".git" / "packed-refs").write_text(f"{commit} refs/heads/topic\n")
    (project / ".git").write_text(f"gitdir: {own}\n")
    assert parts(write(project, tmp_path / "s"))[0]["commit"] == commit


@pytest.mark.parametrize("head", ["ref: ../../../etc/passwd", "ref: refs/heads/../../../../secret", "\x1b[2J", ""])
def test_a_strange_head_of_git_gives_no_commit(project: Path, tmp_path: Path, head: str) -> None:
    (project / ".git").mkdir()
    (project / ".git" / "HEAD").write_text(head)
    (tmp_path / "secret").write_text("0" * 40)
    assert parts(write(project, tmp_path / "s"))[0]["commit"] == ""


# ---- false ones


def test_any_changed_byte_is_found(project: Path, checkout: Path, tmp_path: Path) -> None:
    key_file, key = key_pair(tmp_path)
    for path, keys in ((write(project, tmp_path / "u"), ()), (write(project, tmp_path / "s", key_file), (key,))):
        honest = path.read_bytes()
        start = MARK + HEAD + SEALS
        middle = range(start, len(honest), (len(honest) - start) // 12)
        for place in (0, 15, 17, 300, MARK + HEAD - 1, MARK + HEAD, MARK + HEAD + 32, start - 1, *middle, -1):
            changed = bytearray(honest)
            changed[place] ^= 1
            path.write_bytes(changed)
            with Engine.open(str(checkout)) as engine, pytest.raises(FathomError):
                settings = engine.settings._replace(team=engine.settings.team._replace(keys=keys))
                with Engine.open(str(checkout), settings=settings) as reader:
                    reader.import_snapshot(str(path), check="all")


@pytest.mark.parametrize("name", ATTACKS)
def test_whatever_is_planted_is_refused_or_made_again(
    name: str, project: Path, checkout: Path, truth: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = attacked(write(project, tmp_path / "s"), ATTACKS[name], tmp_path)
    become("reader", tmp_path, monkeypatch)
    try:
        take(checkout, path, check="all")
    except IndexingError as error:
        assert "refused" in str(error)
    found = all_told(checkout)
    assert found == truth
    assert EVIL not in repr(found)


PLANTED = [
    "other text",
    "other text of the same length",
    "other line numbers",
    "other symbols",
    "other references",
    "other signature",
    "swapped vectors",
    "short vectors",
    "other hashes",
    "a trigger",
    "a view that never ends",
    "one table more",
]


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_refused(name: str, project: Path, checkout: Path, tmp_path: Path) -> None:
    refused(checkout, attacked(write(project, tmp_path / "s"), ATTACKS[name], tmp_path), "was refused", check="all")


@pytest.mark.parametrize("name", ["other text", "other symbols", "swapped vectors", "a trigger"])
def test_what_is_planted_below_a_signature_is_refused(name: str, project: Path, checkout: Path, tmp_path: Path) -> None:
    key_file, key = key_pair(tmp_path)
    path = attacked(write(project, tmp_path / "s", key_file), ATTACKS[name], tmp_path)
    refused(checkout, path, "its signature is wrong", keys=(key,))


def test_a_text_that_no_line_holds_is_found_without_a_sample(
    project: Path, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one before the first line, which no reader of the document would come to."""
    monkeypatch.setattr(snapshots, "_DOCUMENTS", 0)
    monkeypatch.setattr(snapshots, "_VECTORS", 0)
    evil = "PACKED('evil', '', '')"
    planted = copied("chunks", "key = 1", id="CAST('evil' AS BLOB)", start_line="0", end_line="0", packed=evil)
    refused(checkout, attacked(write(project, tmp_path / "s"), planted, tmp_path), "the text of '.*' in it is not")


def test_a_small_sample_finds_a_false_vector_at_once_in_a_small_project(
    project: Path, checkout: Path, tmp_path: Path
) -> None:
    planted = "UPDATE embeddings SET vector = zeroblob(length(vector)) WHERE rowid = 1"
    refused(checkout, attacked(write(project, tmp_path / "s"), planted, tmp_path), "a vector of '.*' is not what")


def test_a_whole_check_finds_one_vector_of_many(original: Path, tmp_path: Path) -> None:
    planted = "UPDATE embeddings SET vector = zeroblob(length(vector)) WHERE rowid = 1"
    path = attacked(write(original, tmp_path / "s"), planted, tmp_path)
    refused(copy_of(original, "copy"), path, "a vector of '.*' is not what", check="all")


# ---- keys


def strange_key(head: Head, tmp_path: Path) -> tuple[Head, bytes]:
    return {**head, "key": key_pair(tmp_path, "other")[1].removesuffix(" ci")}, b""


def no_key(head: Head, _: Path) -> tuple[Head, bytes]:
    return {**head, "key": ""}, b""


def no_signature(head: Head, _: Path) -> tuple[Head, bytes]:
    return head, bytes(64)


@pytest.mark.parametrize("change", [strange_key, no_key, no_signature])
def test_a_signature_is_not_to_be_exchanged(
    change: Callable[[Head, Path], tuple[Head, bytes]], project: Path, checkout: Path, tmp_path: Path
) -> None:
    key_file, key = key_pair(tmp_path)
    path = write(project, tmp_path / "s", key_file)
    head, database = parts(path)
    own = path.read_bytes()[MARK + HEAD + 32 : MARK + HEAD + SEALS]
    changed, signature = change(without_sizes(head), tmp_path)
    refused(checkout, forged(path, changed, database, signature=signature or own), "was refused", keys=(key,))


def test_the_signature_of_another_file_does_not_fit(project: Path, checkout: Path, tmp_path: Path) -> None:
    key_file, key = key_pair(tmp_path)
    one = write(project, tmp_path / "one", key_file).read_bytes()
    two = write(project, tmp_path / "two", key_file).read_bytes()
    place = MARK + HEAD + 32
    (tmp_path / "two").write_bytes(two[:place] + one[place : place + 64] + two[place + 64 :])
    refused(checkout, tmp_path / "two", "its signature is wrong", keys=(key,))


def test_a_strange_key_is_refused_also_where_no_key_is_set(project: Path, checkout: Path, tmp_path: Path) -> None:
    key_file, _ = key_pair(tmp_path)
    path = write(project, tmp_path / "s", key_file)
    refused(checkout, path, "a key that you do not know: ssh-ed25519 ")
    refused(checkout, path, "a key that you do not know", keys=(key_pair(tmp_path, "other")[1],), check="all")


def test_without_a_signature_only_a_whole_check_counts_where_keys_are_set(
    project: Path, checkout: Path, tmp_path: Path
) -> None:
    path, keys = write(project, tmp_path / "s"), (key_pair(tmp_path)[1],)
    refused(checkout, path, "it has no signature, and team.keys is set", keys=keys)
    assert take(checkout, path, keys=keys, check="all").n_taken


def test_the_file_of_a_project_names_no_key(project: Path, checkout: Path, tmp_path: Path) -> None:
    key_file, key = key_pair(tmp_path)
    path = write(project, tmp_path / "s", key_file)
    (checkout / "fathom.toml").write_text(f'[team]\nkeys = ["{key}"]\n')
    settings = load_settings(str(checkout))
    assert settings.team.keys == ()
    assert "team.keys" in settings.refused
    with Engine.open(str(checkout), settings=settings) as engine, pytest.raises(IndexingError, match="do not know"):
        engine.import_snapshot(str(path))


def other_kind_of_key(folder: Path) -> str:
    key = generate_private_key(SECP256R1())
    (folder / "k").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return str(folder / "k")


def no_key_at_all(folder: Path) -> str:
    (folder / "k").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nevil\n")
    return str(folder / "k")


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (other_kind_of_key, UsageError),
        (no_key_at_all, UsageError),
        (lambda folder: str(folder / "none"), SourceError),
        (str, SourceError),
    ],
)
def test_a_key_that_cannot_sign_is_an_error(
    make: Callable[[Path], str], kind: type[FathomError], project: Path, tmp_path: Path
) -> None:
    with Engine.open(str(project)) as engine, pytest.raises(kind):
        engine.export_snapshot(str(tmp_path / "s"), key_file=make(tmp_path))
    assert not (tmp_path / "s").exists()


def test_a_key_of_pem_signs_too(project: Path, checkout: Path, tmp_path: Path) -> None:
    key = Ed25519PrivateKey.generate()
    (tmp_path / "k").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    assert take(checkout, write(project, tmp_path / "s", str(tmp_path / "k")), keys=(public,)).key == public


# ---- hostile bytes


HEADS: dict[str, Head] = {
    "a huge size": {"n_bytes": 1 << 62},
    "a negative size": {"n_bytes": -1},
    "a size of words": {"n_bytes": "evil"},
    "a smaller size": {"n_bytes": 10},
    "another packed size": {"n_packed": 10},
    "another digest": {"digest": "evil"},
    "one field more": {"evil": 1},
    "a commit that is no text": {"commit": "\ud800"},
    "models that are none": {"models": 7},
    "another format": {"format": 999},
    "another version": {"version": 2},
    "another parser": {"parser": "evil"},
    "another chunker": {"chunker": "evil"},
    "other masks": {"secrets": "secrets kept"},
    "another model": {"models": ["evil\x1b[2J"]},
    "a key that is none": {"key": "evil"},
}


@pytest.mark.parametrize("name", HEADS)
def test_a_false_head_is_refused(name: str, project: Path, checkout: Path, tmp_path: Path) -> None:
    head, database = parts(write(project, tmp_path / "s"))
    refused(checkout, forged(tmp_path / "s", {**without_sizes(head), **HEADS[name]}, database))


def test_one_of_another_version_says_what_to_do(
    project: Path, checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head, database = parts(write(project, tmp_path / "s"))
    forged(tmp_path / "s", {**without_sizes(head), "models": ["evil\x1b[2J"]}, database)
    assert main(["import", "-C", str(checkout), str(tmp_path / "s")]) == 2
    said = capsys.readouterr().err
    assert "cannot be used" in said
    assert "use the same version and settings as its maker" in said
    assert "\x1b" not in said


def pressed(n_bytes: int) -> bytes:
    press = zlib.compressobj(9)
    return press.compress(bytes(n_bytes)) + press.flush()


BYTES: dict[str, Callable[[Head, bytes], tuple[Head, bytes, bytes]]] = {
    "a bomb": lambda head, _: ({**head, "n_bytes": 200_000_000}, b"", pressed(200_000_000)),
    "a bomb that says less": lambda head, data: ({**head, "n_bytes": len(data)}, data, pressed(200_000_000)),
    "no SQLite": lambda head, _: (head, b"evil" * 5_000, b""),
    "nothing": lambda head, _: (head, b"", zlib.compress(b"")),
    "half a database": lambda head, data: (head, data[: len(data) // 2], b""),
    "zeros in it": lambda head, data: (head, data[:8_192] + bytes(40_000) + data[48_192:], b""),
    "not packed": lambda head, data: ({**head, "n_bytes": len(data)}, b"", data),
    "more behind it": lambda head, data: ({**head, "n_bytes": len(data)}, b"", zlib.compress(data) + b"evil"),
    "cut": lambda head, data: ({**head, "n_bytes": len(data)}, b"", zlib.compress(data)[:-20]),
}


@pytest.mark.parametrize("name", BYTES)
def test_hostile_content_is_refused(name: str, project: Path, checkout: Path, tmp_path: Path) -> None:
    head, database = parts(write(project, tmp_path / "s"))
    changed, data, packed = BYTES[name](without_sizes(head), database)
    refused(checkout, forged(tmp_path / "s", changed, data, packed=packed), "was refused", check="all")


@pytest.mark.parametrize("n_bytes", [0, 10, 16, 5_000, MARK + HEAD, MARK + HEAD + SEALS, -1])
def test_half_a_snapshot_is_refused(n_bytes: int, project: Path, checkout: Path, tmp_path: Path) -> None:
    path = write(project, tmp_path / "s")
    path.write_bytes(path.read_bytes()[:n_bytes])
    refused(checkout, path, "was refused")


def test_one_of_another_project_is_refused(project: Path, original: Path, tmp_path: Path) -> None:
    path = write(project, tmp_path / "s")
    copy = copy_of(original, "copy")
    (copy / "fathom.toml").write_text("# another one\n")
    refused(copy, path, "no file of this project is in it")


def test_a_refused_one_leaves_the_index_as_it_was(project: Path, checkout: Path, tmp_path: Path) -> None:
    path = attacked(write(project, tmp_path / "s"), ATTACKS["other text"], tmp_path)
    with Engine.open(str(checkout)) as engine:
        engine.index()
        before, n_unchanged = index_files(checkout)["catalog.db"], engine.plan().n_unchanged
        with pytest.raises(IndexingError, match=r"the text of '.*' in it is not that of the file"):
            engine.import_snapshot(str(path))
        assert engine.plan().n_unchanged == n_unchanged
    assert index_files(checkout)["catalog.db"] == before
    assert not list((checkout / ".fathom").glob("catalog.restored*"))


# ---- the commands


def test_the_commands_say_what_they_did(
    project: Path, checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "s")
    assert main(["export", "-C", str(project), "--snapshot", path]) == 0
    assert f"wrote {path}, without a signature: 6 files, " in capsys.readouterr().err
    assert main(["import", "-C", str(checkout), path]) == 0
    out, err = capsys.readouterr()
    assert "6 of its files are the same here; their texts are equal, and 6 of them and " in err
    assert "6 unchanged" in out
    assert main(["import", "--json", "-C", str(checkout), path]) == 0
    assert json.loads(capsys.readouterr().out)["n_taken"] == 6


@pytest.mark.parametrize(
    "words",
    [
        ["export", "--sign", "key"],
        ["export"],
        ["export", "--as", "jsonl", "--snapshot", "s"],
        ["export", "--snapshot", "fathom.toml"],
        ["import", "fathom.toml"],
        ["import"],
        ["import", "s", "--check", "half"],
    ],
)
def test_words_that_do_not_fit_are_errors(
    words: list[str], project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "fathom.toml").write_text("# mine\n")
    monkeypatch.chdir(project)
    assert main(words) == 2
    assert "hint: " in capsys.readouterr().err
    assert (project / "fathom.toml").read_text() == "# mine\n"


@pytest.mark.parametrize("name", ["missing/s", "."])
def test_a_place_that_cannot_be_written_is_an_error(project: Path, tmp_path: Path, name: str) -> None:
    with Engine.open(str(project)) as engine:
        with pytest.raises((SourceError, UsageError)):
            engine.export_snapshot(str(tmp_path / name))
        with pytest.raises(SourceError, match="cannot read"):
            engine.import_snapshot(str(tmp_path / name))
