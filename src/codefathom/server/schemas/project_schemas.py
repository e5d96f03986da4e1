"""The JSON of projects."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import AliasChoices, Field

from codefathom.compat.argument_names import REQUEST_KEYS
from codefathom.server.schemas.search_schemas import In, Out, Parts, Sentence, Sound

SettingValue: TypeAlias = bool | int | float | str | list[str]


class ProjectIn(In):
    """A project to add. The path may also be called source_dir or codebase_path."""

    path: str = Field(
        default="",
        max_length=4_096,
        examples=["~/code/shop"],
        description="a folder on the server; the root of the project is the nearest folder, from this one upwards, "
        "with .fathom, fathom.toml or .git",
        validation_alias=AliasChoices("path", *REQUEST_KEYS["path"]),
    )
    url: str = Field(
        default="",
        max_length=2_000,
        examples=[""],
        description="instead of a path, the address of a git repository, without a login; see server.git_schemes",
    )
    revision: str = Field(
        default="",
        max_length=1_000,
        examples=[""],
        description="branch, tag or commit: of a url it is fetched, in place of the default branch; of a path it is "
        "read from the object store of git, in place of the files of the folder",
    )
    branch: str = Field(default="", max_length=1_000, examples=[""], description="an older name of revision")
    name: str = Field(default="", max_length=200, examples=["Shop"])
    settings: dict[str, SettingValue] = Field(default={}, max_length=200, examples=[{"search.limit": 20}])


class ProjectChangeIn(In):
    """Changes of a project; fields that are left out do not change."""

    name: str | None = Field(default=None, min_length=1, max_length=200, examples=["Shop"])
    settings: dict[str, SettingValue] | None = Field(
        default=None,
        max_length=200,
        examples=[{"search.limit": 20}],
        description="all settings that differ from the settings files",
    )


class TrialIn(In):
    """Settings to try."""

    settings: dict[str, SettingValue] = Field(
        default={},
        max_length=200,
        examples=[{"llm.model": "ollama:qwen2.5-coder:14b"}],
        description="settings over those of the project; keys of providers are not accepted",
    )


class ProjectOut(Out):
    """A project and the numbers of its index."""

    id: str = Field(examples=["shop"])
    name: Sound = Field(examples=["Shop"])
    root: Sound = Field(examples=["/srv/code/shop"])
    url: str = Field(default="", examples=[""], description="address of the repository that was cloned")
    branch: str = Field(default="", examples=[""], description="revision of a repository that was cloned")
    revision: str = Field(
        default="",
        examples=[""],
        description="branch, tag or commit; empty: the files of the folder, or the default branch",
    )
    added_at: float = Field(examples=[1_790_000_000.0])
    settings: dict[str, Any] = Field(examples=[{}])
    status: Literal["not_indexed", "queued", "indexing", "incomplete", "indexed", "damaged", "moved", "failed"] = Field(
        examples=["indexed"],
        description="state of the project; the next job repairs a damaged index and completes an incomplete one; "
        "nothing of a moved project is read, whose folder, or one above it, has become a link",
    )
    problem: Sentence = Field(
        default="", examples=[""], description="reason why it is failed, moved, damaged or incomplete"
    )
    problem_parts: Parts
    job_id: str = Field(default="", examples=[""], description="id of the job that waits or runs")
    store_problem: Sentence = Field(
        default="",
        examples=[""],
        description="reason why its store of vectors cannot be reached; meanwhile the vectors of the index answer; "
        "a list of projects does not ask their stores",
    )
    generation: int = Field(default=0, examples=[12])
    n_documents: int = Field(default=0, examples=[120])
    n_chunks: int = Field(default=0, examples=[900])
    n_symbols: int = Field(default=0, examples=[700])
    indexed_at: float = Field(
        default=0.0, examples=[1_790_000_100.0], description="seconds since 1970; 0 until a run has completed the index"
    )
    languages: dict[str, int] = Field(default={}, examples=[{"python": 100, "markdown": 20}])
    kinds: dict[str, int] = Field(default={}, examples=[{"function": 500}], description="number of chunks by kind")


class ProjectsOut(Out):
    """The projects that the caller may see."""

    projects: list[ProjectOut]


class PathIn(In):
    """A path to look at."""

    path: str = Field(max_length=4_096, examples=["~/code/shop"])
    revision: str = Field(
        default="", max_length=1_000, examples=[""], description="branch, tag or commit of its git repository"
    )


class PathOut(Out):
    """The project that a path would become."""

    ok: bool = Field(examples=[True])
    root: Sound = Field(default="", examples=["/srv/code/shop"])
    name: Sound = Field(default="", examples=["shop"])
    has_index: bool = Field(default=False, examples=[False])
    project_id: str = Field(default="", examples=[""], description="id of the project that already is there")
    problem: Sentence = Field(default="", examples=[""])
    hint: Sentence = Field(default="", examples=[""])
    folders: list[Sound] = Field(
        default=[],
        examples=[["/srv/code/shop", "/srv/code/shop-api"]],
        description="up to 12 folders of the server whose paths go on like this one",
    )


class RunPlanIn(In):
    """A project that may be added: either a path or a url."""

    path: str = Field(default="", max_length=4_096, examples=["~/code/shop"], description="a folder on the server")
    url: str = Field(
        default="", max_length=2_000, examples=[""], description="the address of a git repository, without a login"
    )
    revision: str = Field(
        default="", max_length=1_000, examples=[""], description="branch, tag or commit of its git repository"
    )
    settings: dict[str, SettingValue] = Field(
        default={}, max_length=200, examples=[{"source.ignore": ["fixtures/"]}], description="settings of the project"
    )


class LeftOutFilesOut(Out):
    """Files and folders that would be left out for one reason."""

    reason: Sentence = Field(examples=["larger than 32 MB"], description="why they are left out")
    reason_parts: Parts
    n: int = Field(examples=[3], description="number of these files and folders")
    examples: list[Sound] = Field(examples=[["data/prices.csv"]], description="the first ones")


class RunPlanOut(Out):
    """What a first run would read, and what it would take; names and sizes were looked at, and no file was read."""

    branch: Sound = Field(
        examples=["main"], description="the branch that is checked out, or the default one; empty where none is known"
    )
    is_known: bool = Field(
        examples=[True], description="False for a repository elsewhere: its files are known when the copy is made"
    )
    n_files: int = Field(default=0, examples=[120], description="files that would be read")
    n_bytes: int = Field(default=0, examples=[1_200_000], description="their size")
    languages: dict[str, int] = Field(
        default={}, examples=[{"python": 100, "markdown": 20}], description="number of files by language"
    )
    left_out: list[LeftOutFilesOut] = Field(default=[], description="by reason, those of most files first")
    n_reasons_left_out: int = Field(default=0, examples=[0], description="further reasons, which are not listed")
    seconds: float = Field(default=0.0, examples=[2.7], description="expected time until all can be searched")
    index_bytes: int = Field(default=0, examples=[6_000_000], description="expected size of the index")
    embedding_model: Sound = Field(
        default="", examples=[""], description="a slow embedding model that is asked for vectors after that"
    )
    embedding_tokens: int = Field(default=0, examples=[0], description="that it reads")
    model_tokens: int = Field(
        default=0, examples=[0], description="tokens that a language model would be sent at most, to parse or describe"
    )
    cost: float | None = Field(
        default=None, examples=[None], description="of all that remote models are sent; null where it is not known"
    )


class WatchOut(Out):
    """The watching of a project: whether its index follows its files by itself, and how."""

    project_id: str = Field(examples=["shop"])
    on: bool = Field(examples=[True])
    by: Literal["", "events", "polling"] = Field(
        default="",
        examples=["events"],
        description="how changes are noticed: `events` of the system, or checking all files, or all sources of a "
        "fleet, again and again (polling); empty while nothing is watched",
    )
    interval_s: float = Field(
        default=0.0,
        examples=[0.0],
        description="seconds between two checks of polling (index.fleet_watch_s in a fleet)",
    )
    reason: Sentence = Field(default="", examples=[""], description="reason for polling")
    changed_at: float = Field(
        default=0.0, examples=[1_790_000_100.0], description="last change that was noticed, in seconds since 1970"
    )
    error: Sound = Field(
        default="",
        examples=[""],
        description="error of the watching, such as a source that does not answer, or of the last job it started",
    )


class StoreActionIn(In):
    """A store of vectors, and what to do with it."""

    target: str = Field(
        default="",
        max_length=50,
        examples=["faiss"],
        description="name of a store; without it, the one that is used",
    )
    fix: bool = Field(default=False, description="verify: fill a store again that differs from the index")
    project: str = Field(
        default="",
        max_length=500,
        examples=[""],
        description="remove: another project of the store, as its list names it; without it, this project",
    )


class StoreStateOut(Out):
    """The state of a store of vectors, as it says it itself."""

    store: str = Field(examples=["flat"])
    is_used: bool = Field(description="true for the store in which searches of this project look")
    project: str = Field(description="the key of this project among others in one place", examples=["shop-1f0c9e1b"])
    state: dict[str, str | int | bool] = Field(
        description="address or file, version, kind of index and its settings", examples=[{"points": 80}]
    )
    projects: dict[str, int] = Field(
        description="number of vectors of each project in the same place", examples=[{"shop-1f0c9e1b": 80}]
    )
    choices: list[str] = Field(description="names of stores", examples=[["flat", "faiss"]])


class StoreReportOut(Out):
    """The comparison of a store with the index."""

    store: str = Field(examples=["faiss"])
    n_rows: int = Field(description="number of vectors of the index", examples=[80])
    same: float = Field(description="share of the nearest vectors of a sample that the store finds", examples=[1.0])
    problem: Sentence = Field(description="difference between the two, empty when there is none", examples=[""])
