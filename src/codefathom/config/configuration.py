"""Loading settings: defaults < user file < project file < environment < arguments.

The value of a setting is known together with the place it comes from (`Settings.origins`), and a wrong key or value is
an error that names both.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

from codefathom.compat.setting_names import SETTING_NAMES, SETTING_SWITCHES
from codefathom.config import project_file
from codefathom.config.model_names import model_and_address
from codefathom.config.settings import (
    NOTHING,
    SECTIONS,
    DeclaredSetting,
    SettingRule,
    Settings,
    declared_settings,
)
from codefathom.config.user_places import PROJECT_FILE
from codefathom.errors import SettingsError, SourceError
from codefathom.text.near_names import near_names
from codefathom.text.printable import is_text

ROOT_MARKS = (".fathom", PROJECT_FILE, ".git")

# Numbers beyond these overflow somewhere below, in a database or a clock.
_LARGEST_INT, _LARGEST_FLOAT = 10**15, 1e9


ROUTES = "routes"  # tables of the user's file that are no settings: several/routes.py reads them


class UserTables(NamedTuple):
    """Tables of one name in the user's settings file, and the path of that file."""

    tables: object  # None: there are none
    path: str


class _Assignment(NamedTuple):
    key: str  # as written
    value: object
    origin: str
    of_project: bool = False  # from the file that comes with the repository
    said_as: str = ""  # the option that sets it

    @property
    def place(self) -> str:
        """Where it is written, and under which name, for an error."""
        return self.said_as or f"{self.origin}: {self.key}"


def find_root(path: str) -> str:
    """Return the nearest folder at or above `path` that holds .fathom, fathom.toml or .git, else `path` itself.

    A bare repository is a root, too.
    """
    try:
        start = folder = os.path.realpath(path)
    except OSError as error:
        raise SourceError("the current folder does not exist any more", hint="change to another folder") from error
    while True:
        if any(os.path.exists(os.path.join(folder, mark)) for mark in ROOT_MARKS) or is_bare_repository(folder):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return start
        folder = parent


def is_bare_repository(folder: str) -> bool:
    """Return True for a repository of git without a work tree."""
    names = ("HEAD", "objects", "refs")
    is_one = os.path.basename(folder) != ".git" and all(os.path.exists(os.path.join(folder, name)) for name in names)
    return is_one and not os.path.lexists(os.path.join(folder, ".git"))


def load_settings(
    root: str,
    *,
    overrides: Mapping[str, object] = NOTHING,
    said_as: Mapping[str, str] = NOTHING,
    environ: Mapping[str, str] = NOTHING,
    user_file: str = "",
) -> Settings:
    """Return the settings of the project at `root`; later layers win over earlier ones.

    `said_as` holds the options of the command line that override settings, by setting: an error names these.
    Values that the project's file may not set are ignored and listed in `Settings.refused`. Raises SettingsError.
    """
    refused: dict[str, str] = {}
    assignments = [*_from_user(user_file), *_from_project(root, user_file, refused), *_from_environment(environ)]
    assignments += [
        _Assignment(key, value, "argument", said_as=said_as.get(key, "")) for key, value in overrides.items()
    ]
    if not assignments:
        return Settings(refused=MappingProxyType(refused)) if refused else Settings()
    declared = {setting.key: setting for setting in declared_settings()}
    settings = Settings()
    origins: dict[str, str] = {}
    for item in assignments:
        key, value = _resolve(item, declared)
        section, _, name = key.partition(".")
        if item.of_project:
            _check_project(item, declared[key], value, root)
            current = getattr(getattr(settings, section), name)
            if problem := project_file.refusal(declared[key], value, current):
                refused[key] = f"{PROJECT_FILE} sets {item.key}, which is ignored: {problem}"
                continue
        settings = settings._replace(**{section: getattr(settings, section)._replace(**{name: value})})
        origins[key] = item.origin
    settings = settings._replace(origins=MappingProxyType(origins), refused=MappingProxyType(refused))
    _check_together(settings)
    return settings


def _check_project(assignment: _Assignment, setting: DeclaredSetting, value: Any, root: str) -> None:
    """Raise SettingsError for values that are an error in the file of a project, not only ignored."""
    if setting.rule.local:
        _check_inside(assignment, setting, value, root)
    if setting.rule.remote and value != setting.default:
        raise _wrong(
            assignment,
            setting,
            "the file of a project must not choose where text is sent: set it in your own settings file",
        )


def _from_user(path: str) -> Iterator[_Assignment]:
    if not path or path == os.devnull:
        return
    content = _read(path, follow=True)
    if content.problem:
        raise SettingsError(
            f"cannot read {path}: {content.problem}",
            hint="put a regular file there, or name another one with FATHOM_CONFIG",
        )
    yield from (item for item in _parsed(content.data, path) if item.key != ROUTES)


def tables_of(path: str, name: str) -> UserTables:
    """Return the tables of a name in the user's settings file. Raises SettingsError for a file that cannot be read."""
    content = _read(path, follow=True) if path and path != os.devnull else project_file.Content()
    values = (item.value for item in _parsed(content.data, path) if item.key == name)
    return UserTables(next(values, None), path)


def _from_project(root: str, user_file: str, refused: dict[str, str]) -> Iterator[_Assignment]:
    path = os.path.join(root, PROJECT_FILE)
    if user_file and os.path.realpath(user_file) == os.path.realpath(path):  # the user has named it as his own
        return
    content = _read(path, follow=False)
    if content.problem:
        refused[PROJECT_FILE] = f"{PROJECT_FILE} is not read: {content.problem}"
        return
    for item in _parsed(content.data, path):
        if item.key == ROUTES:
            refused[ROUTES] = f"{PROJECT_FILE} sets routes, which is ignored: write them into your own settings file"
            continue
        if project_file.is_too_long(item.value):
            raise SettingsError(f"{path}: {item.key} is too long", hint="write a shorter value")
        yield item._replace(of_project=True)


def _read(path: str, *, follow: bool) -> project_file.Content:
    try:
        return project_file.read(path, follow=follow)
    except OSError as error:
        raise SettingsError(
            f"cannot read {path}: {error.strerror or error}", hint="correct the file or move it away"
        ) from error


def _parsed(data: bytes, path: str) -> Iterator[_Assignment]:
    if not data:
        return
    import tomllib  # noqa: PLC0415  12 ms, and most projects have no such file

    try:
        content = tomllib.loads(data.decode())
    except ValueError as error:  # not TOML, or not UTF-8
        raise SettingsError(f"cannot read {path}: {error}", hint="correct the file or move it away") from error
    except RecursionError as error:
        raise SettingsError(
            f"cannot read {path}: it is nested too deeply", hint="correct the file or move it away"
        ) from error
    for name, value in content.items():
        if name == "vector_index":
            from codefathom.compat import vector_index  # noqa: PLC0415  few files have it

            yield from (_Assignment(*each) for each in vector_index.settings_of(value, path))
        elif isinstance(value, dict) and name != ROUTES:
            yield from (_Assignment(f"{name}.{key}", inner, path) for key, inner in value.items())
        else:
            yield _Assignment(name, value, path)


def _from_environment(environ: Mapping[str, str]) -> Iterator[_Assignment]:
    for name, value in environ.items():
        if not name.startswith("FATHOM_"):
            continue
        section, mark, key = name.removeprefix("FATHOM_").lower().partition("__")
        if mark:
            yield _Assignment(f"{section}.{key}", value, f"environment {name}")
        elif (
            section.partition("_")[0] in SECTIONS and name != "FATHOM_INDEX_DIR"
        ):  # that one is a place for all projects
            right = name.replace("_", "__", 2).replace("__", "_", 1)
            raise SettingsError(
                f"environment {name} is not a setting", hint=f"did you mean {right}, with two underscores?"
            )


def _resolve(assignment: _Assignment, declared: Mapping[str, DeclaredSetting]) -> tuple[str, Any]:
    key = SETTING_NAMES.get(assignment.key, assignment.key)
    if key not in declared:
        nearest = _nearest(key, [*declared, *SETTING_NAMES])
        raise SettingsError(f"{assignment.place} is not a setting", hint=nearest)
    if assignment.key in SETTING_SWITCHES:
        on, off = SETTING_SWITCHES[assignment.key]
        return key, on if _convert(assignment, DeclaredSetting(key, True, SettingRule(""))) else off
    return key, _convert(assignment, declared[key])


def _nearest(key: str, names: Iterable[str]) -> str:
    near = near_names(key, names, most=1)
    remedy = f"did you mean {near[0]}? " if near else ""
    return f"{remedy}`fathom config show` lists all settings"


_TYPES = {bool: "true or false", int: "a whole number", float: "a number", str: "text", tuple: "a list of texts"}
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def _convert(assignment: _Assignment, setting: DeclaredSetting) -> Any:
    expected_type = type(setting.default)
    if not _is_unicode(assignment.value):
        raise SettingsError(f"{assignment.place} has a value that is not valid UTF-8", hint="write it in UTF-8")
    value: Any = _parse_text(assignment.value, expected_type) if isinstance(assignment.value, str) else assignment.value
    if setting.rule.choices and isinstance(value, str):
        value = value.strip()  # blanks belong to a free text only
    if isinstance(value, list):
        value = tuple(value)
    if expected_type is float and type(value) is int:
        value = float(value)
    # type() and not isinstance(): a bool is an int, but `limit = true` is a mistake.
    if type(value) is not expected_type or (
        expected_type is tuple and not all(isinstance(part, str) for part in value)
    ):
        raise _wrong(assignment, setting, f"give {_TYPES[expected_type]}")
    choices, low, high = setting.rule.choices, setting.rule.low, setting.rule.high
    if choices and not set(value if expected_type is tuple else (value,)) <= set(choices):
        raise _wrong(assignment, setting, f"choose one of {', '.join(choices)}")
    form, example = setting.rule.form, setting.rule.example
    if form and not all(re.fullmatch(form, part) for part in value):
        raise _wrong(assignment, setting, f"write each as {example}")
    # Written so that NaN is outside.
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        raise _wrong(assignment, setting, f"give a number from {low}" + ("" if high is None else f" to {high}"))
    if expected_type in (int, float) and not abs(value) <= (_LARGEST_INT if expected_type is int else _LARGEST_FLOAT):
        raise _wrong(assignment, setting, "give a smaller number")
    return value


def _parse_text(text: str, expected_type: type) -> object:
    if expected_type is bool:
        return _WORDS.get(text.strip().lower(), text)
    if expected_type is tuple:
        return _parse_list(text)
    try:
        return expected_type(text)
    except ValueError:
        return text


def _parse_list(text: str) -> object:
    """Return the list that a text is, as `fathom config` prints one, or its parts between commas."""
    if text.strip().startswith("["):  # which a pattern can begin with, too
        import tomllib  # noqa: PLC0415  only for such a text

        with suppress(tomllib.TOMLDecodeError, RecursionError):
            return tomllib.loads(f"value = {text.strip()}")["value"]
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _is_unicode(value: object) -> bool:
    """Return True if each text can be written as UTF-8: a wrong byte comes from the system as half a surrogate pair."""
    parts = value if isinstance(value, list | tuple) else (value,)
    return is_text("".join(part for part in parts if isinstance(part, str)))


def _wrong(assignment: _Assignment, setting: DeclaredSetting, remedy: str) -> SettingsError:
    also = "" if assignment.key == setting.key or assignment.said_as else f" ({setting.key})"
    return SettingsError(f"{assignment.place}{also} cannot be {_shown_value(assignment.value, setting)}", hint=remedy)


_MAX_SHOWN = 80  # characters of a value
# What may be a key: nobody writes so long a word with a digit in it.
_LONG_WORD = r"(?=[\w+=~-]*\d)[\w+=~-]{16,}"


def _shown_value(value: object, setting: DeclaredSetting) -> str:
    """Return a value as an error may repeat it: people send errors to others, and a key may be in the wrong setting."""
    if setting.key == "server.tokens":
        return "its present value"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_shown_value(part, setting) for part in value[:10])}{', …' if len(value) > 10 else ''}]"
    if not isinstance(value, str):
        return repr(value) if isinstance(value, bool | int | float) else f"this {type(value).__name__}"
    from codefathom.source.secrets import mask  # noqa: PLC0415  only for a wrong value

    name, address = model_and_address(value)
    shown = setting.shown(value) if setting.rule.remote else value
    shown = shown.partition("?")[0] if address or "://" in name else shown
    masked = re.sub(_LONG_WORD, "…", mask(shown[: 2 * _MAX_SHOWN]).text)
    return repr(masked if len(masked) <= _MAX_SHOWN else f"{masked[:_MAX_SHOWN]}…")


def _check_inside(assignment: _Assignment, setting: DeclaredSetting, value: str, root: str) -> None:
    """A project file comes with the repository: it must not point the program at other places of the machine."""
    top = os.path.join(os.path.realpath(root), "")
    place = os.path.join(os.path.realpath(os.path.join(top, value)), "")
    if not place.startswith(top):
        raise _wrong(
            assignment,
            setting,
            "give a path inside the project, or set it in your own settings file or the environment",
        )


def _check_together(settings: Settings) -> None:
    full, segment = settings.context.full_text_ratio, settings.context.segment_ratio
    # In thousandths: 0.9 + 0.1 is more than 1 in binary fractions.
    if round(full * 1000) + round(segment * 1000) > 1000:
        places = {settings.origins.get(f"context.{name}", "default") for name in ("full_text_ratio", "segment_ratio")}
        raise SettingsError(
            f"{', '.join(sorted(places))}: context.full_text_ratio {full} + context.segment_ratio {segment} is above 1",
            hint="make them add up to at most 1",
        )
    index = settings.index
    if index.max_tokens and index.min_tokens > index.max_tokens:
        places = {settings.origins.get(f"index.{name}", "default") for name in ("min_tokens", "max_tokens")}
        raise SettingsError(
            f"{', '.join(sorted(places))}: index.min_tokens {index.min_tokens} is above index.max_tokens "
            f"{index.max_tokens}, so that no file would be embedded",
            hint="lower index.min_tokens, or set one of the two to 0: no limit",
        )
