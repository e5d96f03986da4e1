"""`fathom.toml` of a project: it comes with the repository, so what it may say is limited, and so is how it is read.

It may not loosen what the reader has set, or would have by default: not spend more of his tokens, money, time and
memory, nor show him less of what changed. `PERMISSIONS` decides it for every setting; `docs/settings.md` tells it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from codefathom.config.settings import DeclaredSetting

MAX_BYTES = 250_000
_MOST_CHARS = 2_000  # of one text: some go to a model with each call
_MOST_TEXTS = 1_000
# A key of many parts takes the standard library a time that grows with their square: 20,000 of them 15 seconds.
_LONG_KEY = re.compile(rb"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){30}""")

Direction: TypeAlias = Literal["free", "lower", "higher", "inside", "closed"]


class Permission(NamedTuple):
    """The changes of a setting that the file may make.

    Choose freely; only lower or only raise a number, and of a switch only turn it off; name a place inside the project;
    or nothing.
    """

    direction: Direction
    never: tuple[str, ...] = ()  # values that it may not choose either
    zero: bool = False  # 0 means no limit


_FREE, _LOWER, _HIGHER = Permission("free"), Permission("lower"), Permission("higher")
_LIMIT, _CLOSED = Permission("lower", zero=True), Permission("closed")


def _each(permission: Permission, section: str, names: str) -> dict[str, Permission]:
    return {f"{section}.{name}": permission for name in names.split()}


# Each with its reason where that is not plain. Of others, `remote` and `local` in their rule decide.
PERMISSIONS: Mapping[str, Permission] = {
    **_each(_FREE, "source", "required_exts ignore fleet_branches follow_symlinks include_generated encoding"),
    **_each(_LOWER, "source", "max_file_bytes max_document_bytes revision_files"),  # memory
    **_each(Permission("free", never=("keep",)), "source", "secrets"),
    **_each(Permission("free", never=("llm",)), "parse", "chain"),  # tokens
    **_each(_FREE, "chunk", "target_chars max_lines"),
    **_each(_LIMIT, "embed", "dimensions"),  # memory and disk; 0: the model's own
    **_each(_FREE, "embed", "reduce"),
    **_each(_LOWER, "embed", "batch batch_tokens max_tokens timeout_s threads"),
    **_each(_CLOSED, "embed", "query_prefix document_prefix"),  # they belong to the model, which is the user's
    # Where vectors and texts are sent, and what other projects share.
    **_each(_CLOSED, "store", "vectors collection project exact hnsw_m hnsw_ef_construct hnsw_ef on_disk"),
    **_each(_LOWER, "store", "batch timeout_s"),
    **_each(
        _FREE,
        "search",
        "limit level mode fleet_timeout_s candidates fusion ranking rrf_k lexical_weight vector_weight min_similarity",
    ),
    # An index that came with the repository must not be kept from being compared with the files.
    **_each(Permission("free", never=("never",)), "search", "refresh"),
    **_each(_HIGHER, "search", "refresh_max_files"),
    **_each(_FREE, "rerank", "candidates weight"),
    **_each(_LOWER, "rerank", "top_n depth max_tokens timeout_s threads"),
    **_each(_LOWER, "select", "filter_level"),  # calls of a model; -1 counts as 1
    **_each(_LIMIT, "select", "max_input_tokens"),
    **_each(_FREE, "judge", "relevance_threshold doc_relevance"),
    **_each(_LOWER, "judge", "workers"),
    **_each(_FREE, "context", "max_files full_text_ratio segment_ratio disable_segment_reorder"),
    **_each(_LOWER, "context", "window disable_auto_window"),  # a fixed window may be more than the model takes
    **_each(_CLOSED, "context", "tokenizer_path"),  # one that counts too few would widen the window
    **_each(_HIGHER, "limits", "min_interval_ms"),
    **_each(_LIMIT, "limits", "requests_per_minute tokens_per_minute"),
    **_each(_LOWER, "limits", "attempts"),
    **_each(_LOWER, "llm", "connect_timeout_s read_timeout_s"),
    **_each(_LIMIT, "llm", "window"),
    # Too low, they would let an agent spend more than `agent.max_cost`.
    **_each(_CLOSED, "llm", "prompt_price completion_price prices"),
    **_each(_LOWER, "answer", "max_tokens context_tokens"),
    **_each(_HIGHER, "answer", "least_confidence"),  # below it no model is asked
    **_each(_FREE, "answer", "filter_hint"),
    **_each(_LOWER, "agent", "rounds max_tokens max_seconds"),
    **_each(_LIMIT, "agent", "max_cost"),
    **_each(_FREE, "index", "error_share error_minimum min_tokens max_tokens"),
    **_each(_HIGHER, "index", "fleet_watch_s"),  # hosts are asked at each look
    **_each(_LOWER, "index", "siblings"),  # what a user keeps apart stays apart
    **_each(
        _CLOSED, "index", "watch kept_revisions kept_revision_bytes"
    ),  # polling takes time; other indexes of the user would go
    **_each(_LOWER, "index", "wait_s"),
    **_each(_LOWER, "history", "commits"),  # time and disk
    **_each(Permission("free", never=("show",)), "mcp", "secrets"),
    **_each(_CLOSED, "mcp", "structured"),  # there is one list of tools, whatever projects a call asks
    **_each(_CLOSED, "team", "keys"),  # who makes a snapshot would name his own key
    **_each(_LIMIT, "index", "workers"),  # 0: one for each processor
}
_LEVEL_OF_AUTO = {"select.filter_level": {-1: 1}}


def permission_of(setting: DeclaredSetting) -> Permission:
    """Return the permission of a project's file for a setting; "closed" for a setting that is not listed."""
    if setting.key in PERMISSIONS:
        return PERMISSIONS[setting.key]
    return Permission("inside") if setting.rule.local and not setting.rule.remote else _CLOSED


def refusal(setting: DeclaredSetting, value: Any, current: Any) -> str:
    """Return the reason to ignore a value of the file, given the one in force; "" if it is used."""
    permission = permission_of(setting)
    if value == current:
        return ""
    if permission.direction == "closed":
        return "the file of a project may not set it"
    chosen = {str(part) for part in (value if isinstance(value, tuple) else (value,))}
    if banned := sorted(chosen & set(permission.never)):
        return f"the file of a project may not choose {banned[0]!r}"
    if permission.direction in ("lower", "higher"):
        weighed = _weight(setting, value), _weight(setting, current)
        if weighed[0] > weighed[1] if permission.direction == "lower" else weighed[0] < weighed[1]:
            return f"the file of a project may only {_verb(permission, value)} it"
    return ""


def _verb(permission: Permission, value: Any) -> str:
    if isinstance(value, bool):
        return "turn off"
    return "lower" if permission.direction == "lower" else "raise"


def _weight(setting: DeclaredSetting, value: float) -> float:
    if permission_of(setting).zero and value == 0:
        return float("inf")
    return _LEVEL_OF_AUTO.get(setting.key, {}).get(int(value), value)


def is_too_long(value: object) -> bool:
    """Return True if a text, or a list of texts, is longer than a real value can be."""
    if isinstance(value, str):
        return len(value) > _MOST_CHARS
    return isinstance(value, list) and (len(value) > _MOST_TEXTS or any(map(is_too_long, value)))


class Content(NamedTuple):
    """The bytes of a settings file, or the reason for not reading it."""

    data: bytes = b""
    problem: str = ""


def read(path: str, *, follow: bool) -> Content:
    """Return the content of a settings file; of none, nothing. A link counts where `follow` says so. Raises OSError.

    A device or a pipe is not opened: it could wait for ever, or do something.
    """
    try:
        kind = os.stat(path, follow_symlinks=follow)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL in the path
        return Content()
    if problem := _problem(kind):
        return Content(problem=problem)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags if follow else flags | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
        problem = _problem(os.fstat(file.fileno()))  # another one may lie there by now
        data = b"" if problem else file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        return Content(problem=f"it is larger than {MAX_BYTES:,} bytes")
    if _LONG_KEY.search(data):
        return Content(problem="a key in it has more than 30 parts")
    return Content(data, problem)


def _problem(status: os.stat_result) -> str:
    if stat.S_ISLNK(status.st_mode):
        return "it is a symbolic link"
    return "" if stat.S_ISREG(status.st_mode) else "it is not a regular file"
