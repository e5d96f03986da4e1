"""The JSON of requests and answers of files, symbols, connections and maps."""

from __future__ import annotations

from pydantic import Field

from codefathom.server.schemas.search_schemas import (
    BeingIndexed,
    CommitOut,
    NextOffset,
    NotSearched,
    Out,
    PageOut,
    Parts,
    ProblemOut,
    Roots,
    Sound,
)
from codefathom.types import Certainty


class FileOut(Out):
    """An indexed file."""

    path: Sound = Field(examples=["shop/pricing.py"])
    language: str = Field(examples=["python"])
    size: int = Field(examples=[1_200], description="size in bytes")
    n_lines: int = Field(examples=[40])


class FilesOut(PageOut):
    """Indexed files, ordered by path."""

    project_id: str = Field(examples=["shop"])
    n_files: int = Field(examples=[120], description="number of all files, also those not listed here")
    files: list[FileOut]
    completeness: str = Field(default="", examples=[""], description="what was not listed; empty: nothing")
    completeness_parts: Parts = Field(default=[])


class FileLinesOut(FileOut):
    """Lines of a file, as they are now."""

    project_id: str = Field(examples=["shop"])
    start_line: int = Field(examples=[1])
    end_line: int = Field(examples=[40])
    content: Sound = Field(examples=["def price_of(order): ..."])
    stale: bool = Field(
        default=False,
        examples=[False],
        description="the file has changed since it was indexed; the other fields describe the indexed version",
    )


class TreeEntryOut(Out):
    """A file or folder in a folder."""

    name: Sound = Field(examples=["pricing.py"])
    path: Sound = Field(examples=["shop/pricing.py"])
    is_folder: bool = Field(examples=[False])
    n_files: int = Field(examples=[1], description="number of files below a folder")
    language: str = Field(default="", examples=["python"])
    n_lines: int = Field(default=0, examples=[40])


class TreeOut(Out):
    """The contents of a folder, folders first."""

    project_id: str = Field(examples=["shop"])
    folder: Sound = Field(examples=["shop"])
    entries: list[TreeEntryOut]
    completeness: str = Field(default="", examples=[""], description="what was not listed; empty: nothing")
    completeness_parts: Parts = Field(default=[])


class SymbolOut(Out):
    """A definition."""

    path: Sound = Field(examples=["shop/pricing.py"])
    language: str = Field(examples=["python"])
    kind: str = Field(examples=["function"])
    name: Sound = Field(examples=["price_of"])
    qualified_name: Sound = Field(examples=["price_of"])
    start_line: int = Field(examples=[12])
    end_line: int = Field(examples=[30])
    name_line: int = Field(examples=[12])
    signature: Sound = Field(examples=["def price_of(order)"])
    doc: Sound = Field(examples=[""])
    by_head: bool = Field(examples=[False], description="Known by its first line alone: where it ends is a guess.")


class SymbolsOut(PageOut):
    """Definitions."""

    project_id: str = Field(examples=["shop"])
    query: str = Field(examples=["price"])
    symbols: list[SymbolOut]
    n_symbols: int = Field(examples=[97], description="all that fit, also those of other pages")
    completeness: str = Field(default="", examples=[""], description="what was not listed; empty: nothing")
    completeness_parts: Parts = Field(default=[])


class EdgeOut(Out):
    """A file or symbol that is connected with another one."""

    path: Sound = Field(examples=["shop/orders.py"])
    kind: str = Field(examples=["calls"])
    line: int = Field(examples=[20])
    name: Sound = Field(examples=["price_of"])
    symbol: Sound = Field(examples=["Order.total"])
    depth: int = Field(examples=[1])
    likely: bool = Field(
        default=True, examples=[True], description="False if nothing beside this use names the class of the symbol"
    )
    certainty: Certainty = Field(
        default="exact",
        examples=["exact"],
        description="a compiler has written it, or it is known by scope and imports (exact), or by the name alone",
    )
    n_definitions: int = Field(default=1, examples=[1], description="definitions that the name can mean here")


class NameAtOut(Out):
    """The definitions that a name can mean where it stands."""

    project_id: str = Field(examples=["shop"])
    name: Sound = Field(examples=["price_of"])
    is_definition: bool = Field(examples=[False], description="True where the name is defined at this place")
    certainty: Certainty = Field(
        examples=["exact"],
        description="a compiler has written it, or it is known by scope and imports (exact), or by the name alone",
    )
    n_definitions: int = Field(examples=[1], description="all that it can mean, also those that are not listed")
    definitions: list[SymbolOut] = Field(description="the nearest first; empty: it means nothing of this project")
    uses: list[EdgeOut] = Field(default=[], description="the first uses of the first definition")
    n_uses: int = Field(default=0, examples=[3], description="uses of it that are known by calls and types")
    n_uses_is_exact: bool = Field(
        default=True, examples=[True], description="False: so many at least; not all uses of the name were looked at"
    )


class RelatedOut(PageOut):
    """The files and symbols that a file or symbol is connected with, and how complete the list is."""

    project_id: str = Field(examples=["shop"])
    target: Sound = Field(examples=["@@price_of"])
    edges: list[EdgeOut]
    completeness: str = Field(examples=["imports and calls by name"])
    completeness_parts: Parts
    n_unresolved: int = Field(examples=[0])


class HistoryStepOut(CommitOut):
    """A commit that made some lines, with the lines before and after it."""

    path: Sound = Field(examples=["shop/pricing.py"], description="path after the commit")
    start_line: int = Field(examples=[12])
    end_line: int = Field(examples=[14])
    before: Sound = Field(examples=["    return cents"], description="the lines before the commit")
    after: Sound = Field(examples=["    return cents + tax"], description="the lines after it")


class FileOwnerOut(Out):
    """Somebody who has changed a file."""

    name: Sound = Field(examples=["Ann Example"], description="the name of the author")
    n_commits: int = Field(examples=[7], description="number of commits of this author to the file")


class HistoryOut(PageOut):
    """The commits that made some lines, the latest first, and the owners of their file."""

    project_id: str = Field(examples=["shop"])
    path: Sound = Field(examples=["shop/pricing.py"])
    start_line: int = Field(examples=[12])
    end_line: int = Field(examples=[14])
    commits: list[HistoryStepOut] = Field(description="the commits, the latest first")
    code_owners: list[Sound] = Field(examples=[["@shop/prices"]], description="owners that the file CODEOWNERS names")
    changed_by: list[FileOwnerOut] = Field(description="authors of most commits to the file")
    note: Sound = Field(examples=[""], description="reason why there is no commit")


class BlamedLinesOut(Out):
    """Lines that follow each other, and the commit that all of them come from."""

    start_line: int = Field(examples=[12])
    end_line: int = Field(examples=[14])
    commit: CommitOut | None = Field(description="the commit; null for lines that are in no commit yet")


class BlameOut(Out):
    """The commit that each line comes from."""

    project_id: str = Field(examples=["shop"])
    path: Sound = Field(examples=["shop/pricing.py"])
    lines: list[BlamedLinesOut] = Field(description="the lines in order, each group with its commit")


class MapSymbolOut(Out):
    """A definition in a map."""

    kind: str = Field(examples=["function"])
    name: Sound = Field(examples=["price_of"])
    line: int = Field(examples=[12])
    signature: Sound = Field(examples=["def price_of(order)"])


class MapFileOut(Out):
    """A file in a map, with the definitions that fit."""

    path: Sound = Field(examples=["shop/pricing.py"])
    language: str = Field(examples=["python"])
    rank: int = Field(examples=[1], description="1: the most central file of the project")
    symbols: list[MapSymbolOut]


class OutlineOut(Out):
    """The most central files, ordered by path."""

    query: str = Field(examples=["where are orders priced"])
    files: list[MapFileOut]
    n_files: int = Field(examples=[40], description="all files, also those that did not fit")
    n_tokens: int = Field(examples=[1_900], description="number of tokens of the map as text")
    completeness: str = Field(examples=["Files are ranked by imports and by uses of names."])
    completeness_parts: Parts
    confidence: float | None = Field(default=None, examples=[0.8], description="null without a question")
    weak: bool = Field(default=False, examples=[False], description="True if probably nothing answers the question")
    n_left_out: int = Field(default=0, examples=[0], description="files behind those of this page")
    n_symbols_left_out: int = Field(
        default=0, examples=[0], description="symbols behind this page, also those of files that are shown"
    )
    next_offset: NextOffset = None


class MapOut(OutlineOut):
    """The most central files of a project, ordered by path."""

    project_id: str = Field(examples=["shop"])


class FederatedMapOut(OutlineOut):
    """The most central files of several projects; each path begins with its project."""

    failed: dict[str, ProblemOut] = Field(default={}, examples=[{}], description="errors, by project")
    indexing: BeingIndexed = Field(default=[])
    roots: Roots = Field(default={})
    left_out: NotSearched = Field(default=[])


class ProjectSymbolOut(SymbolOut):
    """A definition, and the project it is in."""

    project_id: str = Field(examples=["shop"])


class FederatedSymbolsOut(PageOut):
    """Definitions in several projects, in the order of the projects."""

    query: str = Field(examples=["price"])
    symbols: list[ProjectSymbolOut]
    completeness: str = Field(default="", examples=[""], description="what was not listed; empty: nothing")
    completeness_parts: Parts = Field(default=[])
    failed: dict[str, ProblemOut] = Field(default={}, examples=[{}], description="errors, by project")
    indexing: BeingIndexed = Field(default=[])
    roots: Roots = Field(default={})
    left_out: NotSearched = Field(default=[])


class ProjectRelatedOut(PageOut):
    """The connections of a file or symbol in one project, and how complete the list is."""

    project_id: str = Field(examples=["shop"])
    edges: list[EdgeOut]
    completeness: str = Field(examples=["imports and calls by name"])
    completeness_parts: Parts
    n_unresolved: int = Field(examples=[0])


class FederatedRelatedOut(PageOut):
    """The connections of a file or symbol in each project that has it."""

    target: Sound = Field(examples=["@@price_of"])
    projects: list[ProjectRelatedOut]
    failed: dict[str, ProblemOut] = Field(default={}, examples=[{}], description="errors, by project")
    indexing: BeingIndexed = Field(default=[])
    roots: Roots = Field(default={})
    left_out: NotSearched = Field(default=[])
