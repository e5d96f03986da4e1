"""One entry of an object or one item of a list in a JSON file, added to its text or taken out of it. Pure.

Every other byte stays.

Comments and commas before a closing bracket are allowed, as hosts allow them. The way in which an entry is written says
what was made for it, so that taking it out restores the text to the byte without a record elsewhere:

- on one line: the object around it was there;
- with one field a line: the object around it was made with it;
- between two blanks on each side: `null` was there;
- as `created` gives it: the file was, or all of it but blanks and comments;
- an item right behind the bracket of a list, which has no other: the list was there, and empty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Entry = Mapping[str, Any]
EntryOrList = Entry | Sequence[Any]
_MAX_DEPTH = 100
_BLANK = re.compile(r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*(?s:.*?)\*/)*+")
_SCALAR = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"|-?[0-9][0-9.eE+-]*+|true|false|null')
_COMMENTS_OF_LINE = re.compile(r"(?:[ \t]*+(?://[^\r\n]*+|/\*(?:(?!\*/)[^\r\n])*+\*/))*+")


class FormError(ValueError):
    """The text cannot be read, or holds something else where the entry belongs."""


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A value and its place in the text."""

    data: Any
    start: int
    end: int
    members: tuple[Member, ...] = ()  # of an object, or the items of a list


@dataclass(frozen=True, slots=True)
class Member:
    """A key with its value in an object, or an item of a list."""

    key: str  # "" for an item
    start: int
    value: JsonValue
    comma: int = -1  # place of the comma behind it


def read_json(text: str) -> JsonValue:
    """Return the object that a text holds. Raises FormError."""
    reader = _Reader(text)
    value = reader.value(0)
    reader.skip()
    if reader.at < len(text):
        raise reader.problem("nothing more")
    if not isinstance(value.data, dict):
        raise FormError('it does not begin with "{"')
    return value


def entry_in(text: str, key: str, name: str) -> Any:
    """Return the entry of this name in the object of this key, None without one. Raises FormError."""
    if _is_blank(text):
        return None
    holder = _member(read_json(text), key)
    entry = _member(_object(holder), name) if holder and holder.value.data is not None else None
    return entry.value.data if entry else None


def created(key: str, name: str, entry: EntryOrList) -> str:
    """Return the text of a new file."""
    return json.dumps({key: {name: entry}}, indent=2, ensure_ascii=False) + "\n"


def with_entry(text: str, key: str, name: str, entry: EntryOrList) -> str:
    """Return the text with an entry in the object of a key, at its end; one of the same name is replaced.

    Raises FormError.
    """
    if _is_blank(text):
        return _begun(text, key, name, entry)
    root = read_json(text)
    holder = _member(root, key)
    if holder is not None and holder.value.data is None:
        made = _padded(f"{{{json.dumps(name)}: {_on_one_line(entry)}}}")
        return _proved(_put(text, holder.value, made), {**root.data, key: {name: _data(entry)}})
    old = _member(_object(holder), name) if holder else None
    if old is not None:
        if isinstance(old.value.data, (dict, list)):
            if text == created(key, name, old.value.data):
                return created(key, name, entry)
            if (before := _before_begun(text, key, name, old.value.data)) is not None:
                return _begun(before, key, name, entry)
        result = _put(text, old.value, _in_place_of(text, root, old, entry))
    elif holder is not None:
        result = _added(text, _object(holder), f"{json.dumps(name)}: {_on_one_line(entry)}", _unit(text, root))
    else:
        unit, newline = _unit(text, root), _newline(text)
        indent = _indent_inside(text, root, unit) or ""
        fields = _fields(entry, indent + unit, unit, newline)
        made = f"{json.dumps(key)}: {{{newline}{indent}{unit}{json.dumps(name)}: {fields}{newline}{indent}}}"
        result = _added(text, root, made, unit)
    expected = {**root.data, key: {**root.data.get(key, {}), name: _data(entry)}}
    return _proved(result, expected)


def _in_place_of(text: str, root: JsonValue, old: Member, entry: EntryOrList) -> str:
    """Return an entry in the form of the one that it replaces."""
    if old.value.data is None or _is_padded(text, old.value):
        return _padded(_on_one_line(entry))
    if "\n" not in text[old.value.start : old.value.end]:
        return _on_one_line(entry)
    return _fields(entry, _indent(text, old.start) or "", _unit(text, root), _newline(text))


def without_entry(text: str, key: str, name: str) -> str | None:
    """Return the text without the entry and what was made for it; None where that is the whole file. Raises FormError.

    A text that holds no such entry comes back as it is.
    """
    if entry_in(text, key, name) is None:
        return text
    root = read_json(text)
    holder = _member(root, key)
    entry = _member(_object(holder), name) if holder else None
    assert holder is not None  # there is an entry
    assert entry is not None
    if isinstance(entry.value.data, (dict, list)):
        if text == created(key, name, entry.value.data):
            return None
        if (before := _before_begun(text, key, name, entry.value.data)) is not None:
            return before
    if _is_padded(text, entry.value) or (len(holder.value.members) == 1 and _is_padded(text, holder.value)):
        return _with_null(text, root, holder, entry)
    rest = {other: value for other, value in holder.value.data.items() if other != name}
    if _made_the_holder(text, holder, entry):
        expected = {other: value for other, value in root.data.items() if other != key}
        return _first_proved(_cuts(text, root, holder), expected)
    return _first_proved(_cuts(text, holder.value, entry), {**root.data, key: rest})


def items_in(text: str, key: str, name: str) -> list[Any]:
    """Return the items of the list of this name in the object of a key, [] without one. Raises FormError."""
    items = entry_in(text, key, name)
    if items is not None and not isinstance(items, list):
        raise FormError(f'"{name}" holds no list')
    return items or []


def with_item(text: str, key: str, name: str, item: Mapping[str, Any], at: int | None) -> str:
    """Return the text with an item at the end of a list, or in the place of the one at `at`. Raises FormError."""
    items = items_in(text, key, name)
    if _is_blank(text) or entry_in(text, key, name) is None:
        return with_entry(text, key, name, [item])
    root = read_json(text)
    owner = _list(root, key, name)
    if at is None:
        expected = [*items, dict(item)]
        # Right behind the bracket: so it is seen later that the list was there.
        result = (
            _added(text, owner, json.dumps(item, ensure_ascii=False), _unit(text, root))
            if items
            else f"{text[: owner.start + 1]}{json.dumps(item, ensure_ascii=False)}{text[owner.start + 1 :]}"
        )
    else:
        if text == created(key, name, items) or _before_begun(text, key, name, items) is not None:
            return with_entry(text, key, name, [*items[:at], item, *items[at + 1 :]])
        expected = [*items[:at], dict(item), *items[at + 1 :]]
        result = _put(text, owner.members[at].value, json.dumps(item, ensure_ascii=False))
    return _proved(result, {**root.data, key: {**root.data[key], name: expected}})


def without_item(text: str, key: str, name: str, at: int) -> str | None:
    """Return the text without the item at `at`, and what was made for it; None where that is the whole file.

    Raises FormError.
    """
    items = items_in(text, key, name)
    root = read_json(text)
    owner = _list(root, key, name)
    own = owner.members[at]
    rest = {**root.data, key: {**root.data[key], name: [*items[:at], *items[at + 1 :]]}}
    if len(items) == 1 and own.start != owner.start + 1:
        return without_entry(text, key, name)
    if len(items) == 1:
        spans = [(own.start, own.value.end), *([(own.comma, own.comma + 1)] if own.comma >= 0 else [])]
        return _proved(_without(text, spans), rest)
    return _first_proved(_cuts(text, owner, own), rest)


def _list(root: JsonValue, key: str, name: str) -> JsonValue:
    """Return the place of a list that is there."""
    holder = _member(root, key)
    entry = _member(_object(holder), name) if holder else None
    assert entry is not None  # `items_in` has found it
    return entry.value


def _is_blank(text: str) -> bool:
    """Return True for a text of blanks and comments alone."""
    return _BLANK.fullmatch(text) is not None


def _begun(text: str, key: str, name: str, entry: EntryOrList) -> str:
    """Return a text of blanks and comments with an object behind it.

    It has no line end, so that the text is no file that was created; but where one had to be put before it.
    """
    made = created(key, name, entry)
    behind_object = text + made.removesuffix("\n")
    return behind_object if _holds_object(behind_object) else f"{text}\n{made}"


def _holds_object(text: str) -> bool:
    try:
        return bool(read_json(text).members)
    except FormError:  # it is a part of the comment before it
        return False


def _before_begun(text: str, key: str, name: str, entry: EntryOrList) -> str | None:
    """Return the blanks and comments before what `_begun` has added, None where it has not made this text."""
    made = created(key, name, entry)
    for before in (text.removesuffix(made.removesuffix("\n")), text.removesuffix(f"\n{made}")):
        if before != text and _is_blank(before) and _begun(before, key, name, entry) == text:
            return before
    return None


def _padded(value: str) -> str:
    """Return an object on one line in the form that says that `null` was there."""
    return f"{value[0]}  {value[1:-1].strip(' ')}  {value[-1]}"


def _is_padded(text: str, value: JsonValue) -> bool:
    shown = text[value.start : value.end]
    return shown.startswith(('{  "', "[  {")) and shown.endswith(("  }", "  ]")) and "\n" not in shown


def _with_null(text: str, root: JsonValue, holder: Member, entry: Member) -> str:
    """Return the text with `null` in the place of an entry, or of the object around it."""
    if _is_padded(text, entry.value):
        inside = {**holder.value.data, entry.key: None}
        return _proved(_put(text, entry.value, "null"), {**root.data, holder.key: inside})
    return _proved(_put(text, holder.value, "null"), {**root.data, holder.key: None})


def _put(text: str, value: JsonValue, other: str) -> str:
    return text[: value.start] + other + text[value.end :]


class _Reader:
    """A position in a text, which moves over one value after the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def skip(self) -> None:
        """Move over blanks and comments."""
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def take(self, sign: str) -> bool:
        """Move over a sign, if it is the next one."""
        self.skip()
        is_next = self.text.startswith(sign, self.at)
        self.at += len(sign) if is_next else 0
        return is_next

    def problem(self, expected: str) -> FormError:
        """Return the error that something else was expected here."""
        line = self.text.count("\n", 0, self.at) + 1
        return FormError(f"line {line}: expected {expected}")

    def value(self, depth: int) -> JsonValue:
        """Read one value."""
        if depth > _MAX_DEPTH:
            raise self.problem(f"at most {_MAX_DEPTH} brackets inside each other")
        self.skip()
        start = self.at
        if self.take("{"):
            members = tuple(self._members(depth))
            return JsonValue({member.key: member.value.data for member in members}, start, self.at, members)
        if self.take("["):
            items = tuple(self._items(depth))
            return JsonValue([item.value.data for item in items], start, self.at, items)
        return self._scalar("a value")

    def _scalar(self, expected: str) -> JsonValue:
        self.skip()
        match = _SCALAR.match(self.text, self.at)
        if not match:
            raise self.problem(expected)
        try:
            data = json.loads(match[0])
        except ValueError as error:
            raise self.problem(expected) from error
        self.at = match.end()
        return JsonValue(data, match.start(), match.end())

    def _members(self, depth: int) -> Iterator[Member]:
        while not self.take("}"):
            key = self._scalar("a key in quotes")
            if not isinstance(key.data, str):
                raise self.problem("a key in quotes")
            if not self.take(":"):
                raise self.problem('":"')
            value = self.value(depth + 1)
            comma = self.at - 1 if self.take(",") else -1
            yield Member(key.data, key.start, value, comma)
            if comma < 0 and not self.text.startswith("}", self.at):
                raise self.problem('"," or "}"')

    def _items(self, depth: int) -> Iterator[Member]:
        while not self.take("]"):
            value = self.value(depth + 1)
            comma = self.at - 1 if self.take(",") else -1
            yield Member("", value.start, value, comma)
            if comma < 0 and not self.text.startswith("]", self.at):
                raise self.problem('"," or "]"')


def _member(owner: JsonValue, key: str) -> Member | None:
    members = [member for member in owner.members if member.key == key]
    if len(members) > 1:
        raise FormError(f'"{key}" is there twice')
    return members[0] if members else None


def _object(holder: Member) -> JsonValue:
    if not isinstance(holder.value.data, dict):
        raise FormError(f'"{holder.key}" holds no object')
    return holder.value


def _data(entry: EntryOrList) -> Any:
    return dict(entry) if isinstance(entry, Mapping) else list(entry)


def _on_one_line(entry: EntryOrList) -> str:
    text = json.dumps(entry, ensure_ascii=False)
    return text if isinstance(entry, Mapping) else f"[ {text[1:-1]} ]"  # a blank: the list was made with its item


def _fields(entry: EntryOrList, indent: str, unit: str, newline: str) -> str:
    """Return an entry with one field or item a line, for a key that stands at `indent`."""
    if isinstance(entry, Mapping):
        begin, end = "{}"
        fields = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    else:
        begin, end = "[]"
        fields = [json.dumps(value, ensure_ascii=False) for value in entry]
    lines = (f"{indent}{unit}{field}" for field in fields)
    return f"{begin}{newline}{f',{newline}'.join(lines)}{newline}{indent}{end}"


def _newline(text: str) -> str:
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def _indent(text: str, at: int) -> str | None:
    """Return the blanks before a place on its line, None where more stands there."""
    start = text.rfind("\n", 0, at) + 1
    before = text[start:at]
    return before if start and not before.strip(" \t") else None


def _unit(text: str, root: JsonValue) -> str:
    first = _indent(text, root.members[0].start) if root.members else None
    return first or "  "


def _indent_inside(text: str, owner: JsonValue, unit: str) -> str | None:
    """Return the indent of the members of an object, None where they share a line with its bracket."""
    if owner.members:
        return _indent(text, owner.members[-1].start)
    if "\n" not in text[owner.start : owner.end]:
        return None
    line = text[text.rfind("\n", 0, owner.start) + 1 : owner.start]
    return line[: len(line) - len(line.lstrip(" \t"))] + unit


def _added(text: str, owner: JsonValue, member: str, unit: str) -> str:
    """Return the text with a member at the end of an object, on a line of its own where the others are."""
    indent = _indent_inside(text, owner, unit)
    own_line = "" if indent is None else _newline(text) + indent
    if not owner.members:
        at = owner.start + 1 if indent is None else _behind_comments(text, owner.start + 1)
        return text[:at] + own_line + member + text[at:]
    last = owner.members[-1]
    if last.comma >= 0:
        at = last.comma + 1 if indent is None else _behind_comments(text, last.comma + 1)
        return f"{text[:at]}{own_line or ' '}{member},{text[at:]}"
    end = last.value.end
    at = end if indent is None else _behind_comments(text, end)
    return f"{text[:end]},{text[end:at]}{own_line or ' '}{member}{text[at:]}"


def _behind_comments(text: str, at: int) -> int:
    """Return the place behind the comments that end this line."""
    match = _COMMENTS_OF_LINE.match(text, at)
    return match.end() if match else at


def _made_the_holder(text: str, holder: Member, entry: Member) -> bool:
    """Return True if the object around an entry was made with it, and holds nothing else."""
    value = holder.value
    around = text[value.start + 1 : entry.start] + text[entry.value.end : value.end - 1]
    return "\n" in text[entry.value.start : entry.value.end] and not around.strip(" \t\r\n,")


def _cuts(text: str, owner: JsonValue, member: Member) -> Iterator[str]:
    """Yield the text without a member: with its line end and comma, then with the line end left."""
    index = owner.members.index(member)
    indent = _indent(text, member.start)
    if indent is not None:
        start = member.start - len(indent) - 1
        start -= text[start - 1 : start] == "\r"
    else:
        start = member.start - (index > 0 and text[member.start - 1] == " ")
    commas = [member.comma] if member.comma >= 0 else [owner.members[index - 1].comma] if index else []
    for begin in (start, member.start):
        yield _without(text, [(begin, member.value.end), *((comma, comma + 1) for comma in commas)])


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return text


def _first_proved(texts: Iterable[str], expected: Any) -> str:
    problem = FormError("its form is not understood")
    for text in texts:
        try:
            return _proved(text, expected)
        except FormError as error:
            problem = error
    raise problem


def _proved(text: str, expected: Any) -> str:
    """Return the text if it holds what is expected, and nothing else. Raises FormError."""
    if read_json(text).data != expected:
        raise FormError("its form is not understood")
    return text
