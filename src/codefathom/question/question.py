"""A question with everything that decides how it is answered. Pure.

Each face translates its words into this value, and each asker answers it: what an option means is decided below the
faces. None stands for what the settings of the project that is asked say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from codefathom.facts.quick_pickle import QuickPickle
from codefathom.types.choices import Direction, EdgeKind, Grouping, LevelName, Mode
from codefathom.types.where import Where

if TYPE_CHECKING:
    from codefathom.providers.base import Message

Kind = Literal[
    "search", "context", "related", "impact", "symbols", "map", "files", "lines", "texts", "outlines", "history", "ask"
]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Which text of a file: the indexed one, that of now for a question, or the bytes of this moment, for citations.
AsOf = Literal["index", "question", "now"]


@dataclass(frozen=True, slots=True)
class Question(QuickPickle):
    """One question of any kind; options that a kind does not have are left as they are."""

    # Words, path or `@@name` (related), revisions (impact), part of a name (symbols), folder (files), path or place
    # such as `a.py:10-20` (lines).
    text: str = ""
    kind: Kind = "search"
    # Where: in the whole project, unless one of these keeps the question to a part of it.
    # Only in these files and folders, with what has changed in them. Of a map: in work. Of texts and outlines: which.
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()  # of a map
    tour: bool = False  # of a map: places to read, one after the other, in its place
    where: Where | None = None  # a filter
    path: str = ""  # of symbols: a file or folder
    symbol_kind: str = ""  # of symbols
    start_line: int = 0  # of lines; 0: as the text says, else the first
    end_line: int = 0  # of lines; 0: as the text says, else the last
    as_of: AsOf = "index"  # of texts
    with_purposes: bool = False  # of outlines
    # How.
    level: LevelName | None = None
    mode: Mode | None = None
    min_score: float = 0.0
    group: Grouping = "none"  # of a search: the hits of a page by rank, or gathered by repository and file
    facets: bool = False  # of a search: count what its places have in common
    depth: int | None = None  # of related and impact
    direction: Direction = "both"  # of related
    edge_kinds: tuple[EdgeKind, ...] = ()  # of related; none: all
    diff: str = ""  # of impact: the change itself, instead of revisions
    commits: bool = False  # of the commits of the project instead of its files
    or_commits: bool = False  # of the commits, if its words ask for the history, and they are indexed
    since: str = ""  # of a history: a day such as 2026-11-01
    author: str = ""  # of a history: a part of the name
    anyway: bool = False  # answer also where most likely nothing here does
    # How much.
    limit: int | None = None  # items of a list
    offset: int = 0  # items that are passed by
    max_files: int | None = None  # of a context
    max_tokens: int | None = None  # of a context or map
    format_name: str = "files"  # of a context: what its tokens are counted in
    as_parts: bool = False  # of a map: the parts that it is made of, for one map of several projects
    # An answer in words.
    pinned: tuple[str, ...] = ()  # paths that are among the sources in any case
    documents: tuple[tuple[str, str], ...] = ()  # name and text of what is on no disk
    as_command: bool = False  # one shell command instead of a text
    dry_run: bool = False  # ask no model, say what the answer would cost
    as_agent: bool = False  # let the model look for itself with tools
    history: tuple[Message, ...] = ()  # the turns before
    # An agent's model reads the answer: marks stand in the place of secrets in lines of files, as `mcp.secrets` says.
    for_agent: bool = False
    on_step: Callable[[Any], None] | None = field(default=None, compare=False)  # takes each `AnswerStep`
