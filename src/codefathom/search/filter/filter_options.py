"""Plain options (`--dir`, `--lang`, `lang:go`) → conditions of a filter. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable

from codefathom.errors import UsageError
from codefathom.facts.languages import LANGUAGES, language_named
from codefathom.question.question_options import OPTIONS, QuestionOption, Values
from codefathom.stores.conditions import combine, normalise
from codefathom.text.near_names import near_names
from codefathom.text.path_spelling import spellings
from codefathom.types.choices import KIND_ALIASES, SYMBOL_KINDS
from codefathom.types.where import Filter, FilterGroup, Where

MAX_PATH = 4_096  # characters; no system takes more

# Of symbols, and of lines that belong to none.
KINDS = (*SYMBOL_KINDS, "block")
IMPORT = "import"  # the kind of imports, where symbols are listed


def split_values(text: str) -> tuple[str, ...]:
    """Part a list at its commas; a comma in quotes or in {a,b} belongs to its value."""
    parts, start, place = [], 0, 0
    last = {'"': text.rfind('"'), "{": text.rfind("}")}
    while place < len(text):
        char = text[place]
        if place < last.get(char, -1):  # the quote or brace is closed further on
            place = text.index('"' if char == '"' else "}", place + 1)
        elif char == ",":
            parts.append(text[start:place])
            start = place + 1
        place += 1
    parts.append(text[start:])
    return tuple(value for part in parts if (value := part.strip().replace('"', "")))


def split_all(texts: Iterable[str]) -> tuple[str, ...]:
    """Part several lists at their commas, and return all values."""
    return tuple(value for text in texts for value in split_values(text))


def one_of(field: str, values: tuple[str, ...]) -> Where | None:
    """Return the condition that a field has one of the values, read as a person means them; None when all have.

    Raises UsageError for a language or a kind that does not exist.
    """
    builder = _BUILDERS.get(field)
    if builder is None:
        return Filter(field, "in", values)
    if field in _OF_PATHS:
        values = tuple(spelling for value in values for spelling in spellings(value))
    wheres = [builder(value) for value in values]
    conditions = tuple(where for where in wheres if where is not None)
    if not conditions or len(conditions) < len(wheres):  # one of them is the whole project
        return None
    return conditions[0] if len(conditions) == 1 else FilterGroup("OR", conditions)


def condition_of(values: Values, folder_named: Callable[[str], str] = str) -> Where | None:
    """Return the condition of the options that are about files and symbols, by their names in the table of options.

    Several values of an option are alternatives, different options must all hold. `folder_named` makes a folder of the
    project of one that somebody has written. Raises UsageError for a wrong value.
    """
    options = [option for option in OPTIONS if option.field and values.get(option.name)]
    return combine(*(_condition(option, values[option.name], folder_named) for option in options))


def _condition(option: QuestionOption, value: str | Iterable[str], folder_named: Callable[[str], str]) -> Where | None:
    if option.operator != "in":
        return normalise(Filter(option.field, option.operator, str(value)))
    texts = split_all((value,) if isinstance(value, str) else value)
    return one_of(option.field, tuple(map(folder_named, texts)) if option.field == "dir" else texts)


def as_spelled(item: Filter) -> Where:
    """Return a condition on a path so that it holds however its value is spelled; other conditions as they are."""
    if item.field not in _OF_PATHS or item.operator.startswith("regex"):
        return item
    values = item.value if isinstance(item.value, tuple) else (item.value,)
    forms = tuple(form for value in values for form in spellings(str(value)))
    if forms == values:
        return item
    if isinstance(item.value, tuple):
        return Filter(item.field, item.operator, forms)
    is_negative = item.operator.startswith(("ne", "not_"))
    return FilterGroup("AND" if is_negative else "OR", tuple(Filter(item.field, item.operator, form) for form in forms))


_OF_PATHS = frozenset({"path", "dir", "name", "module", "sub_module"})


def glob_expression(glob: str) -> str:
    """Return a regular expression for a path: `*` and `?` stay within a folder's name, `**` and {a,b} as in a shell.

    A glob that begins with "/" begins at the project's root, any other at any folder. One that names a folder means
    everything below it. Brackets and braces also stand for themselves, as in `app/[id]/page.tsx`. Raises UsageError for
    one that is longer than a path can be.
    """
    if len(glob) > MAX_PATH:
        raise UsageError(
            f"a path with {len(glob):,} characters is too long", hint=f"give at most {MAX_PATH:,} characters"
        )
    # A choice such as {src/,lib/} may end in a folder by itself.
    end = "/" if glob.endswith("/") else r"(?:/|\Z|(?<=/))"
    return ("^" if glob.startswith("/") else "(?:^|/)") + _pieces(glob.strip("/")) + end


def _pieces(glob: str) -> str:
    return "".join(_piece(piece) for piece in re.findall(r"\*\*/?|\[!?[^\]]+\]|\{[^}]*\}|.", glob, re.DOTALL))


def _piece(piece: str) -> str:
    if piece == "**/":
        return "(?:.*/)?"
    if piece == "**":
        return ".*"
    if piece in ("*", "?"):
        return "[^/]" + piece.replace("?", "")
    if len(piece) > 1 and piece[0] == "[":
        return _bracket(piece)
    if len(piece) > 1 and piece[0] == "{":
        return f"(?:{re.escape(piece)}|{'|'.join(map(_pieces, piece[1:-1].split(',')))})"
    return re.escape(piece)


def _bracket(piece: str) -> str:
    body = re.sub(r"[\\\[&~|^]", r"\\\g<0>", piece[1:-1])
    expression = f"[^{body[1:]}/]" if body[0] == "!" else f"[{body}]"
    try:
        re.compile(expression)
    except re.error:  # [z-a] is no range: the characters themselves
        return re.escape(piece)
    return f"(?:{re.escape(piece)}|{expression})"


def _language(value: str) -> Where:
    name = language_named(value)
    if not name:
        near = near_names(value, LANGUAGES)
        meant = f"did you mean {', '.join(near)}? " if near else ""
        hint = f"{meant}`fathom status` lists the languages of this project"
        raise UsageError(f"no language is called {value!r}", hint=hint)
    return Filter("language", "eq", name)


def _kind(value: str) -> Where:
    return Filter("kind", "eq", _one_kind(value, KINDS))


def kind_named(value: str) -> str:
    """Return the kind of symbols, or of imports, with this name. Raises UsageError where there is none."""
    return _one_kind(value, (*SYMBOL_KINDS, IMPORT))


def _one_kind(value: str, kinds: Collection[str]) -> str:
    folded = value.lower()
    name = KIND_ALIASES.get(folded, folded)
    if name not in kinds:
        raise UsageError(f"no kind of symbol is called {value!r}", hint=f"choose one of {', '.join(kinds)}")
    return name


def _ext(value: str) -> Where:
    return Filter("ext", "eq", value)


def folder_of(value: str) -> str:
    """Return a folder as the index names it, "" for the whole project."""
    folder = value.replace("\\", "/").strip("/").removeprefix("./")
    return "" if folder == "." else folder


def _directory(value: str) -> Where | None:
    folder = folder_of(value)
    if not folder:
        return None
    if is_glob(folder):
        return Filter("path", "regex", glob_expression(f"/{folder}/"))
    return FilterGroup("OR", (Filter("dir", "eq", folder), Filter("dir", "starts_with", folder + "/")))


def _path(value: str) -> Where:
    path = value.removeprefix("./")
    if is_glob(path):
        return Filter("path", "regex", glob_expression(path))
    if path.startswith("/"):
        return Filter("path", "starts_with", path.lstrip("/"))
    return Filter("path", "contains", path)


def _name(value: str) -> Where:
    if "/" in value:
        return _path(value)
    if is_glob(value):
        return Filter("name", "regex", glob_expression("/" + value))
    return Filter("name", "contains", value)


def _symbol(value: str) -> Where:
    """Return the condition for a symbol and all inside it; the parts of a dotted name must follow one another."""
    dotted = re.sub(r"::|#|->|\\", ".", value)
    if "*" not in dotted:
        return members_of(dotted)
    body = "".join(r"\w*" if char == "*" else re.escape(char) for char in dotted)
    expression = rf"(?:^|\.){body}(?:\.|$)"
    return FilterGroup("OR", (Filter("symbol", "regex", expression), Filter("names", "regex", expression)))


def members_of(name: str) -> FilterGroup:
    """Return the condition that lines belong to a symbol or to anything inside it, however deep; parts follow dots."""
    tests = (("eq", name), ("starts_with", f"{name}."), ("ends_with", f".{name}"), ("contains", f".{name}."))
    return FilterGroup("OR", tuple(Filter(field, *test) for field in ("symbol", "names") for test in tests))


def as_itself(path: str) -> str:
    """Return a path so that it is no pattern, whatever its name holds."""
    return re.sub(r"[*?\[{]", r"[\g<0>]", path)


def is_glob(text: str) -> bool:
    """Return True if a path has wildcards."""
    return any(char in text for char in "*?[{")


_BUILDERS: dict[str, Callable[[str], Where | None]] = {
    "language": _language,
    "kind": _kind,
    "ext": _ext,
    "dir": _directory,
    "path": _path,
    "name": _name,
    "symbol": _symbol,
}
