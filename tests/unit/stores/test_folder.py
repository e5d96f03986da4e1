"""A folder that strangers have filled: no link is followed, nothing waits, nothing elsewhere changes."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.traps import CONTENT, TRAPS, Elsewhere, Trap, deep_folder, plant
from tests.waiting import Started

from codefathom.errors import SourceError
from codefathom.stores.folder import File, Folder, RefusedError, UnsafeError, file_at, folder_at, index_folder

needs_links = pytest.mark.skipif(sys.platform == "win32", reason="makes links and pipes")
pytestmark = needs_links


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Elsewhere]:
    place = Elsewhere(tmp_path / "elsewhere")
    yield place
    Folder(str(tmp_path)).remove("project")  # pytest cannot remove what is so deep
    assert place.is_untouched()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(str(tmp_path / "project"), (".fathom",))
    made.make()
    return made


WITH_DEPTH = TRAPS | {"deep folder": deep_folder}
each_trap = pytest.mark.parametrize("trap", WITH_DEPTH.values(), ids=WITH_DEPTH.keys())


def planted(folder: Folder, name: str, trap: Trap, elsewhere: Elsewhere) -> File:
    plant(Path(folder.path) / name, trap, elsewhere)
    return folder.file(name)


@each_trap
def test_a_replaced_file_takes_the_place_of_whatever_was_there(
    folder: Folder, elsewhere: Elsewhere, trap: Trap
) -> None:
    for name, planted_name in (("state", "state"), ("other", "other.new")):
        planted(folder, planted_name, trap, elsewhere)
        folder.file(name).replace([b"new ", memoryview(b"content")])
        assert folder.file(name).read() == b"new content"
        assert folder.file(name).is_whole()
    assert sorted(folder.names()) == ["other", "state"]


@each_trap
def test_a_file_to_lock_is_never_that_of_another_place(folder: Folder, elsewhere: Elsewhere, trap: Trap) -> None:
    file = planted(folder, "write.lock", trap, elsewhere)
    descriptor = file.descriptor()
    os.ftruncate(descriptor, 0)
    os.write(descriptor, b"process 1")
    os.close(descriptor)
    assert (file.read(), file.is_whole()) == (b"process 1", True)


@each_trap
def test_removing_takes_the_name_only(folder: Folder, elsewhere: Elsewhere, trap: Trap) -> None:
    planted(folder, "name", trap, elsewhere)
    folder.remove("name")
    folder.remove("name")
    assert folder.names() == []


@pytest.mark.parametrize("n_times", [1, 5])
def test_a_file_that_is_made_while_a_folder_is_removed_goes_too(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, n_times: int
) -> None:
    """As a thread of tantivy does, which makes its lock file a moment after an index was opened, and also closed."""
    view = folder.below("lexical")
    view.below("inner").make()
    waiting, rmdir = list(range(n_times)), os.rmdir

    def late(name: str, *, dir_fd: int) -> None:
        if waiting and name == "lexical":
            waiting.pop()
            view.file(".tantivy-meta.lock").make()
        rmdir(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "rmdir", late)
    folder.remove("lexical")
    assert folder.names() == []
    assert not waiting


def test_a_folder_that_is_filled_without_end_is_an_error(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    view, rmdir = folder.below("lexical"), os.rmdir
    view.make()

    def late(name: str, *, dir_fd: int) -> None:
        view.file("late").make()
        rmdir(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "rmdir", late)
    with pytest.raises(OSError, match="not empty"):
        folder.remove("lexical")


@each_trap
def test_setting_aside_leaves_the_place_free(folder: Folder, elsewhere: Elsewhere, trap: Trap) -> None:
    file = planted(folder, "catalog.db", trap, elsewhere)
    planted(folder, "catalog.db.broken", trap, elsewhere)
    file.set_aside()
    assert file.kind() == ""
    assert file.make()


@each_trap
def test_only_regular_files_are_read(folder: Folder, elsewhere: Elsewhere, trap: Trap) -> None:
    file = planted(folder, "state", trap, elsewhere)
    if file.kind() == "file":  # with two names: reading changes nothing
        assert file.read() == CONTENT
    else:
        with pytest.raises(UnsafeError, match="it is a"):
            file.read()
        assert file.stamp() is None
    assert not file.is_whole()
    assert not file.make()


@each_trap
def test_a_folder_of_ours_is_made_where_something_else_was(folder: Folder, elsewhere: Elsewhere, trap: Trap) -> None:
    file = planted(folder, "lexical", trap, elsewhere)
    own = folder.below("lexical")
    is_folder = file.kind() == "folder"
    assert own.exists() == is_folder
    if not is_folder:
        assert own.names() == []
        with pytest.raises(NotADirectoryError):
            own.file("state").replace([b"x"])
        own.below("1").make()
        own.file("state").replace([b"x"])
        assert sorted(own.names()) == ["1", "state"]


@each_trap
def test_the_index_folder_itself_is_refused_and_stays(tmp_path: Path, elsewhere: Elsewhere, trap: Trap) -> None:
    root = Folder(str(tmp_path / "project"))
    root.make()
    kind = planted(root, ".fathom", trap, elsewhere).kind()
    if kind == "folder":
        return
    folder = index_folder(os.path.join(root.path, ".fathom"), root.path)
    for use in (
        folder.make,
        folder.exists,
        folder.names,
        lambda: folder.remove("x"),
        lambda: folder.file("x").status(),
        lambda: folder.file("x").read(),
        lambda: folder.file("x").replace([b""]),
        lambda: folder.file("x").descriptor(),
        lambda: folder.below("lexical").make(),
    ):
        with pytest.raises(RefusedError, match=r"\.fathom") as caught:
            use()
        assert kind in str(caught.value)
        assert "remove" in caught.value.hint
    assert root.file(".fathom").kind() == kind


def test_a_linked_folder_above_the_index_is_refused(tmp_path: Path, elsewhere: Elsewhere) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "build").symlink_to(elsewhere.path)
    with pytest.raises(RefusedError, match="build"):
        index_folder(str(project / "build" / "index"), str(project)).make()


def test_the_folder_of_a_project_is_never_made(tmp_path: Path) -> None:
    project = tmp_path / "above" / "project"
    for path in (project / ".fathom", project / "build" / "index"):
        with pytest.raises(SourceError, match=r"project' is gone"):
            index_folder(str(path), str(project)).below("lexical").make()
    assert not list(tmp_path.iterdir())


def test_a_place_that_the_user_chose_may_lie_behind_links(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "cache").symlink_to(tmp_path / "disk")
    Folder(str(tmp_path / "cache" / "codefathom"), own=("sub",)).make()
    assert (tmp_path / "disk" / "codefathom" / "sub").is_dir()
    outside = index_folder(str(tmp_path / "cache" / "shop-1234"), str(tmp_path / "project"))
    outside.make()
    outside.file("x").replace([b"1"])
    assert (tmp_path / "disk" / "shop-1234" / "x").read_bytes() == b"1"


def test_a_failed_replacement_leaves_the_old_file_and_no_other(folder: Folder) -> None:
    file = folder.file("state")
    file.replace([b"old"])

    def parts() -> Iterator[bytes]:
        yield b"new"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        file.replace(parts())
    assert (file.read(), folder.names()) == (b"old", ["state"])


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc/passwd", "../x", "a\0b"])
def test_a_name_is_one_step(folder: Folder, name: str) -> None:
    for use in (folder.file, folder.below, folder.remove):
        with pytest.raises(ValueError, match="name"):
            use(name)


def test_sizes_are_those_of_the_entries_themselves(folder: Folder, elsewhere: Elsewhere) -> None:
    (elsewhere.path / "large").write_bytes(bytes(100_000))
    elsewhere.look_again()
    folder.below("a").make()
    folder.below("a").file("x").replace([bytes(1_000)])
    planted(folder, "link", TRAPS["link to a folder"], elsewhere)
    planted(folder, "deep", deep_folder, elsewhere)
    assert 1_000 <= folder.n_bytes() < 20_000_000


def test_a_folder_that_becomes_a_link_is_never_followed(folder: Folder, elsewhere: Elsewhere) -> None:
    """Another program changes the folder as fast as it can while we write into it."""
    own = folder.below("lexical")
    script = (
        "import os, sys\n"
        "place, target = sys.argv[1:]\n"
        "print('go', flush=True)\n"
        "while True:\n"
        "    try:\n"
        "        os.symlink(target, place + '.link'); os.rename(place, place + '.real')\n"
        "        os.rename(place + '.link', place); os.unlink(place); os.rename(place + '.real', place)\n"
        "    except OSError:\n"
        "        for undo in (lambda: os.unlink(place + '.link'), lambda: os.rename(place + '.real', place)):\n"
        "            try: undo()\n"
        "            except OSError: pass\n"
    )
    with Started([sys.executable, "-c", script, own.path, str(elsewhere.path)], stdout=-1) as other:
        assert other.stdout is not None
        other.stdout.readline()
        for number in range(2_000):
            try:
                own.make()
                own.file("authorized_keys").replace([b"%d" % number])
                own.remove("inner")
            except OSError:  # it was a link in this moment
                continue
        other.kill()


def test_paths_stay_what_they_are(tmp_path: Path) -> None:
    assert folder_at(str(tmp_path)) == Folder(str(tmp_path))
    assert folder_at(Folder("/x")) == Folder("/x")
    assert file_at(str(tmp_path / "a.db")).path == str(tmp_path / "a.db")
    assert file_at(Folder("/x").file("a")) == File(Folder("/x"), "a")
    assert index_folder("/p/.fathom", "/p") == Folder("/", ("p", ".fathom"), project="/p")
    assert index_folder("/p/a/b", "/p").path == "/p/a/b"


def test_new_files_have_the_rights_that_the_user_sets(folder: Folder) -> None:
    before = os.umask(0o027)
    try:
        folder.file("x").replace([b""])
        folder.below("y").make()
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(folder.file("x").path).st_mode) == 0o640
    assert stat.S_IMODE(os.stat(folder.below("y").path).st_mode) == 0o750
