"""Changes in the files of a host that set it up, or take that back. Only `write` makes them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from codefathom.errors import SourceError
from codefathom.hosts import hooks, instructions
from codefathom.hosts.host_list import Host, HostPlaces, Target
from codefathom.hosts.json_edits import Entry, FormError
from codefathom.hosts.plugin_files import is_own_text, skill_text, sub_agent_text
from codefathom.stores.folder import File, Folder, RefusedError, UnsafeError

_MOST_BYTES = 64_000_000
_BOM = b"\xef\xbb\xbf"
_CHANGED = "its entry for fathom was changed, and stays"
_CHANGED_PARAGRAPH = "the paragraph of fathom was changed, and stays"
_CHANGED_HOOK = "the hook of fathom was changed, and stays"
_NEW_INSTRUCTIONS = instructions.created().encode()
_BY_HAND = "`fathom install --print` shows the settings, to add them by hand"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file, its content before and after: None where there is no file."""

    target: Target
    before: bytes | None
    after: bytes | None
    note: str = ""  # the reason why nothing changes

    @property
    def path(self) -> str:
        """The whole path."""
        return self.target.path

    @property
    def kind(self) -> str:
        """One of "added", "changed", "removed", or "" where nothing changes."""
        if self.before == self.after:
            return ""
        return "added" if self.before is None else "removed" if self.after is None else "changed"


def is_there(places: HostPlaces) -> bool:
    """Return True if the host has settings, or a folder for them."""
    return any(os.path.lexists(mark.path) for mark in places.marks)


def setup_changes(
    host: Host, places: HostPlaces, command: str, *, instructs: bool = False, hook: bool = False
) -> list[FileChange]:
    """Return the changes that set the host up. Raises SourceError for a file that cannot be read or understood.

    A paragraph in a file of instructions and a hook are added where they are wanted, and renewed wherever they are.
    """
    skill = [_text_change(places.skill, skill_text(), "skill")] if places.skill else []
    sub_agent = [_text_change(places.sub_agent, sub_agent_text(), "sub-agent")] if places.sub_agent else []
    paragraph = _instructed(places, is_wanted=instructs)
    settings = _settings_change(host, places.settings, host.entry(command))
    if places.hooks == places.settings:  # one file, and one change of it
        settings = next(_hooked(host, settings, command, is_wanted=hook), settings)
        return [settings, *skill, *sub_agent, *paragraph]
    offer = _hooked(host, _as_it_is(places.hooks), command, is_wanted=hook)
    return [settings, *skill, *sub_agent, *paragraph, *offer]


def removal_changes(host: Host, places: HostPlaces, others: Iterable[tuple[Host, HostPlaces]]) -> list[FileChange]:
    """Return the changes that take it back. Raises SourceError for a file that cannot be read or understood.

    A skill and a paragraph stay while one of the other hosts, which reads the same file, is set up.
    """
    set_up = [(other.title, its) for other, its in others if _is_set_up(other, its.settings)]
    users = [title for title, its in set_up if its.skill == places.skill]
    readers = [title for title, its in set_up if its.instructions == places.instructions]
    texts = ((places.skill, "skill", users), (places.sub_agent, "sub-agent", ()))
    removals = [_text_removal(target, what, whose) for target, what, whose in texts if target is not None]
    offer = list(_unhooked(host, _as_it_is(places.hooks)))
    settings = _as_it_is(places.settings) or FileChange(places.settings, None, None)
    if places.hooks == places.settings:
        settings, offer = (offer or [settings])[0], []
    return [_settings_removal(host, settings), *removals, *_uninstructed(places, readers), *offer]


def _instructed(places: HostPlaces, *, is_wanted: bool) -> Iterator[FileChange]:
    """Yield the change that adds the paragraph to the instructions, or renews it; none where it is not wanted."""
    target, hidden = places.instructions, places.hidden
    if target is None:
        return
    before, text = _text_of(target)
    if text is None and os.path.lexists(target.path):
        note = "it is a link, or not a text in UTF-8; the paragraph is not added"
        yield from [FileChange(target, before, before, note)] if is_wanted else []
    elif before is None or text is None:
        note = f"it is not made, because then some agents would not read {hidden.parts[-1]}" if hidden else ""
        is_hiding = hidden is not None and os.path.lexists(hidden.path)
        change = FileChange(target, None, None, note) if is_hiding else FileChange(target, None, _NEW_INSTRUCTIONS)
        yield from [change] if is_wanted else []
    elif is_wanted or instructions.has_paragraph(text):
        try:
            after = before[: len(before) - len(text.encode())] + instructions.with_paragraph(text).encode()
            yield FileChange(target, before, after)
        except instructions.ChangedError:
            yield FileChange(target, before, before, _CHANGED_PARAGRAPH)


def _uninstructed(places: HostPlaces, readers: Sequence[str]) -> Iterator[FileChange]:
    """Yield the change that takes the paragraph out of the instructions; none where it is not there."""
    target = places.instructions
    before, text = _text_of(target) if target else (None, None)
    if target is None or before is None or text is None or not instructions.has_paragraph(text):
        return
    if readers:
        yield FileChange(target, before, before, f"the paragraph stays, because {readers[0]} uses it, too")
        return
    try:
        rest = instructions.without_paragraph(text)
        mark = before[: len(before) - len(text.encode())]
        yield FileChange(target, before, None if rest is None else mark + rest.encode())
    except instructions.ChangedError:
        yield FileChange(target, before, before, _CHANGED_PARAGRAPH)


def _as_it_is(target: Target | None) -> FileChange | None:
    """Return a change of a file that changes nothing yet, None for no file. Raises SourceError."""
    if target is None:
        return None
    before = _read(target)
    return FileChange(target, before, before)


def _hooked(host: Host, change: FileChange | None, command: str, *, is_wanted: bool) -> Iterator[FileChange]:
    """Yield a change that also adds the hook, or renews it; none where it is not wanted. Raises SourceError."""
    if change is None or not (is_wanted or _has_hook(change)):
        return
    form = hooks.FORMS[host.name]
    if change.after is None:
        yield replace(change, after=hooks.created(form, command).encode())
        return
    with _understanding(change.target):
        mark, text = _decoded(change.after)
        try:
            yield replace(change, after=mark + hooks.with_hook(form, text, command).encode())
        except instructions.ChangedError:
            yield replace(change, note=_CHANGED_HOOK)


def _unhooked(host: Host, change: FileChange | None) -> Iterator[FileChange]:
    """Yield a change that also takes the hook out; none where it is not there. Raises SourceError."""
    if change is None or change.after is None or not _has_hook(change):
        return
    with _understanding(change.target):
        mark, text = _decoded(change.after)
        try:
            rest = hooks.without_hook(hooks.FORMS[host.name], text)
            yield replace(change, after=None if rest is None else mark + rest.encode())
        except instructions.ChangedError:
            yield replace(change, note=_CHANGED_HOOK)


def _has_hook(change: FileChange) -> bool:
    """Return True if settings may hold a hook of fathom; those that cannot be read as text do not."""
    try:
        return change.after is not None and hooks.may_have_hook(_decoded(change.after)[1])
    except FormError:
        return False


def _text_of(target: Target) -> tuple[bytes | None, str | None]:
    """Return the content of a file and its text; None for what is not there, is not a file, or is not text."""
    try:
        before = _read(target)
        return before, None if before is None else _decoded(before)[1]
    except SourceError:
        return None, None
    except FormError:
        return before, None


def _text_removal(target: Target, what: str, users: Sequence[str]) -> FileChange:
    before = _read(target)
    note = f"the {what} stays, because {users[0]} uses it, too" if users and before is not None else ""
    if before is not None and not is_own_text(before):
        note = f"the {what} was changed, and stays"
    return FileChange(target, before, before if note else None, note)


def _is_set_up(host: Host, target: Target) -> bool:
    try:
        before = _read(target)
        return before is not None and _is_own(host.entry_in(_decoded(before)[1]))
    except (SourceError, FormError):  # what cannot be understood may use it
        return True


def _settings_removal(host: Host, change: FileChange) -> FileChange:
    """Return a change that also takes the entry out. Raises SourceError."""
    if change.after is None or not change.after.strip():
        return change
    with _understanding(change.target):
        mark, text = _decoded(change.after)
        entry = host.entry_in(text)
        if not _is_own(entry):
            return change
        if _is_changed(host, entry):
            return replace(change, note=f"{_CHANGED}; remove it there if you do not want it")
        rest = host.without_entry(text)
        return replace(change, after=None if rest is None else mark + rest.encode())


def followed(places: HostPlaces) -> HostPlaces:
    """Return the places of a user behind links, as long as these stay in the folder that the user has chosen.

    A link that leads elsewhere stays what it is, so that the file is refused.
    """
    return places._replace(
        settings=_followed(places.settings),
        skill=places.skill and _followed(places.skill),
        sub_agent=places.sub_agent and _followed(places.sub_agent),
        instructions=places.instructions and _followed(places.instructions),
        hooks=places.hooks and _followed(places.hooks),
    )


def _followed(target: Target) -> Target:
    base, path = os.path.realpath(target.base), os.path.realpath(target.path)
    inside = path.startswith(os.path.join(base, ""))
    return Target(base, tuple(os.path.relpath(path, base).split(os.sep))) if inside else target


def write(change: FileChange) -> None:
    """Put the new content in the place of the old, at once or not at all. Raises SourceError.

    A file that is no longer as it was when the change was made is not written; nothing is between this look and the
    replacement but a moment.
    """
    target = change.target
    if _read(target) != change.before:
        raise SourceError(
            f"{target.path!r} has changed meanwhile; it was not written", hint="run the same command again"
        )
    file = _file(target)
    try:
        if change.after is None:
            file.remove()
            _remove_empty_folders(target)
            return
        file.folder.make()
        status = file.status()
        file.replace([change.after], by_many=True, private=status is not None)
        if status is not None and hasattr(os, "fchmod"):
            with file.open() as opened:
                os.fchmod(opened.fileno(), stat.S_IMODE(status.st_mode))
    except (RefusedError, OSError) as error:
        raise _refused(target, error) from error


def _settings_change(host: Host, target: Target, entry: Entry) -> FileChange:
    before = _read(target)
    if before is None:
        return FileChange(target, None, host.created(entry).encode())
    with _understanding(target):
        mark, text = _decoded(before)
        old = host.entry_in(text)
        if old is not None and not _is_own(old):
            raise SourceError(
                f"{target.path!r} has another server of the name fathom",
                hint="give that server another name, or remove it",
            )
        if old is not None and _is_changed(host, old):
            note = f"{_CHANGED}; to let fathom write it again, remove it there and run `fathom install` again"
            return FileChange(target, before, before, note)
        after = before if old == entry else mark + host.with_entry(text, entry).encode()
    return FileChange(target, before, after)


def _is_own(entry: object) -> bool:
    """Return True if an entry starts fathom, wherever it lies."""
    command = entry.get("command") if isinstance(entry, dict) else None
    command = command[0] if isinstance(command, list) and command else command  # with its arguments behind it
    name = command.replace("\\", "/").rpartition("/")[2] if isinstance(command, str) else ""
    return name.lower().removesuffix(".exe") == "fathom"


def _is_changed(host: Host, entry: object) -> bool:
    """Return True if a person has changed an entry: it differs from ours in more than the place of the command.

    What a host itself adds to it is no change of a person.
    """
    own = {key: value for key, value in entry.items() if key not in host.added} if isinstance(entry, dict) else {}
    command = own.get("command")
    nowhere = ["", *command[1:]] if isinstance(command, list) else ""
    return {**own, "command": nowhere} != host.entry("")


def _text_change(target: Target, text: bytes, what: str) -> FileChange:
    before = _read(target)
    if before is None or is_own_text(before):
        return FileChange(target, before, text)
    return FileChange(target, before, before, f"the {what} was changed, and stays")


@contextmanager
def _understanding(target: Target) -> Iterator[None]:
    """Raise SourceError where the content of a file is not understood."""
    try:
        yield
    except FormError as error:
        raise SourceError(
            f"{target.path!r} cannot be understood ({error}); it stays as it is", hint=_BY_HAND
        ) from error


def _decoded(content: bytes) -> tuple[bytes, str]:
    """Return the byte order mark of a content, and its text. Raises FormError."""
    mark = _BOM if content.startswith(_BOM) else b""
    try:
        return mark, content[len(mark) :].decode()
    except UnicodeDecodeError as error:
        raise FormError("it is not valid UTF-8") from error


def _file(target: Target) -> File:
    *folders, name = target.parts
    return Folder(target.base, tuple(folders)).file(name)


def _read(target: Target) -> bytes | None:
    """Return the content of a file, None without one. Raises SourceError for a link, and for all else but a file."""
    try:
        content = _file(target).read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except (RefusedError, OSError) as error:
        raise _refused(target, error) from error
    if len(content) > _MOST_BYTES:
        raise SourceError(f"{target.path!r} has more than 64 MB", hint=_BY_HAND)
    return content


def _refused(target: Target, error: Exception) -> SourceError:
    """Return the error for a file that is not read or written."""
    reason = "a folder on the way to it is a link or a file"
    if isinstance(error, UnsafeError):
        reason = error.strerror or reason
    elif isinstance(error, OSError):
        reason = error.strerror or str(error)
    return SourceError(f"{target.path!r} is not read or written: {reason}", hint=_BY_HAND)


def _remove_empty_folders(target: Target) -> None:
    """Remove the folders on the way to a file, as far as nothing is in them."""
    for count in range(len(target.parts) - 1, 0, -1):
        try:
            os.rmdir(os.path.join(target.base, *target.parts[:count]))
        except OSError:
            return
