"""The JSON of the modules and of the latest commits of a project."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from codefathom.server.schemas.search_schemas import CommitOut, Out, Sound


class ModuleOut(Out):
    """A folder of code."""

    path: Sound = Field(examples=["shop"], description="empty for the root of the project")
    n_files: int = Field(examples=[12], description="number of its files of code")
    n_lines: int = Field(examples=[1_400], description="number of lines of these files")
    language: str = Field(examples=["python"], description="the language of most lines")
    is_whole: bool = Field(examples=[True], description="True if it stands for the folders below it, too")
    has_folders: bool = Field(examples=[False], description="True if a map of this folder shows more than one module")


class ModuleLinkOut(Out):
    """Imports in one module that mean another one."""

    source: Sound = Field(examples=["shop"], description="the folder that imports")
    target: Sound = Field(examples=["shop/tax"], description="the folder that is imported")
    n_imports: int = Field(examples=[7], description="number of imports")


class ModulesOut(Out):
    """The folders of code of a project, those with most files first, and the imports between them."""

    project_id: str = Field(examples=["shop"], description="the project")
    folder: Sound = Field(examples=[""], description="the folder whose code is shown; empty: the whole project")
    modules: list[ModuleOut] = Field(description="the folders, those with most files first")
    links: list[ModuleLinkOut] = Field(description="between listed modules, those of most imports first")
    n_files: int = Field(examples=[40], description="number of files of code at or below the folder")
    n_modules_left_out: int = Field(examples=[0], description="modules that are not listed: those with fewest files")
    n_files_left_out: int = Field(examples=[0], description="files of these modules")
    entry_points: list[Sound] = Field(
        examples=[["shop/__main__.py"]], description="files by whose names programs start, the first ones"
    )
    n_entry_points: int = Field(examples=[1], description="number of all of them")


class TourStepOut(Out):
    """A place to read."""

    path: Sound = Field(examples=["shop/cart.py"], description="the file")
    start_line: int = Field(examples=[4], description="first line to read")
    end_line: int = Field(examples=[40], description="last line to read")
    symbol: Sound = Field(examples=["Cart"], description="the definition there; empty: the beginning of the file")
    reason: Literal["entry", "imported", "central"] = Field(
        examples=["imported"],
        description="`entry`: programs start there by its name; `imported`: a file of an earlier step imports it; "
        "`central`: none of them does, and other files use it most",
    )
    source: Sound = Field(examples=["main.py"], description="the file of an earlier step that imports it, else empty")


class SizedFileOut(Out):
    """A file by its size."""

    path: Sound = Field(examples=["shop/cart.py"], description="the file")
    size: int = Field(examples=[1_200], description="in bytes")
    changed_at: float = Field(
        examples=[1_790_000_000.0],
        description="when the last commit changed it, in seconds since 1970 (where none of the last 3,000 commits did, "
        "the time of the oldest of them); for a file that differs from its commit, and without a repository, its time "
        "stamp; 0 where there is none",
    )


class GlanceOut(Out):
    """A project at a glance, made of its index without a model."""

    project_id: str = Field(examples=["shop"], description="the project")
    purpose: Sound = Field(
        examples=["A shop that prices orders."], description="the first paragraph of its README; empty without one"
    )
    purpose_path: Sound = Field(examples=["README.md"], description="that README")
    files: list[SizedFileOut] = Field(description="up to 400 files, the largest first")
    n_files_left_out: int = Field(examples=[0], description="smaller files, which are not listed")
    n_bytes_left_out: int = Field(examples=[0], description="their size")


class TourOut(Out):
    """Places to read in a project, made of its index without a model."""

    project_id: str = Field(examples=["shop"], description="the project")
    steps: list[TourStepOut] = Field(description="a reading tour of at most 10 steps, from an entry point down")


class CommitsOut(Out):
    """The latest commits that changed a project, the newest first; merges are left out."""

    project_id: str = Field(examples=["shop"], description="the project")
    commits: list[CommitOut] = Field(description="the commits, the newest first")
