"""The JSON of monitoring and settings."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import Field

from codefathom.server.schemas.search_schemas import Out, Parts, Sentence, Sound

RoleName: TypeAlias = Literal["none", "reader", "indexer", "maintainer", "admin"]


class CheckOut(Out):
    """A part of the service, and its state."""

    name: str = Field(examples=["embedding model"])
    ok: bool = Field(examples=[True])
    detail: Sentence = Field(examples=["bundled, 256 dimensions"])
    hint: Sentence = Field(default="", examples=[""])
    name_parts: Parts
    detail_parts: Parts
    hint_parts: Parts


class ServicesOut(Out):
    """The parts of the service and their state."""

    ok: bool = Field(examples=[True])
    version: str = Field(examples=["0.1.0"])
    started_at: float = Field(examples=[1_790_000_000.0])
    services: list[CheckOut]
    models_asked_at: float | None = Field(
        default=None,
        examples=[1_790_000_040.0],
        description="when the models of the whole server were asked; 0: they are being asked for the first time",
    )


class ProjectStatsOut(Out):
    """The contents of the index of a project."""

    project_id: str = Field(examples=["shop"])
    n_documents: int = Field(examples=[120])
    n_chunks: int = Field(examples=[900])
    n_symbols: int = Field(examples=[700])
    indexed_at: float = Field(examples=[1_790_000_000.0])
    languages: dict[str, int] = Field(examples=[{"python": 100}], description="number of files by language")
    kinds: dict[str, int] = Field(examples=[{"function": 500}], description="number of chunks by kind")
    modules: dict[str, int] = Field(examples=[{"shop": 80}], description="number of files by first folder")


class RouteTimesOut(Out):
    """The times until the answers of a route began, without those that failed.

    An answer that is written begins with its first word.
    """

    method: str = Field(examples=["POST"])
    route: str = Field(examples=["/search"])
    n_requests: int = Field(examples=[1_000])
    n_failed: int = Field(default=0, examples=[2])
    p50_ms: float = Field(examples=[8.0])
    p95_ms: float = Field(examples=[20.0])
    p99_ms: float = Field(examples=[45.0])


class MinuteOut(Out):
    """The requests of one minute, without those that only watch the service, and the times until answers began.

    Requests that failed are counted, and have no time. An answer that is written begins with its first word.
    """

    at: int = Field(examples=[1_790_000_040])
    n_requests: int = Field(examples=[30])
    n_failed: int = Field(examples=[0])
    p50_ms: float = Field(examples=[8.0])
    p95_ms: float = Field(examples=[20.0])


class FailedOut(Out):
    """A request that failed for no fault of its own; an answer may fail after it has begun with the status 200."""

    at: float = Field(examples=[1_790_000_041.5])
    method: str = Field(examples=["POST"])
    route: str = Field(examples=["/ask"])
    status: int = Field(examples=[502])
    detail: Sentence = Field(examples=["the model did not answer"])


class CacheOut(Out):
    """The use of the cache of results."""

    n_entries: int = Field(examples=[40])
    n_hits: int = Field(examples=[300])
    n_misses: int = Field(examples=[60])


class StatsOut(Out):
    """Numbers of the indexes and of the server."""

    projects: list[ProjectStatsOut]
    routes: list[RouteTimesOut]
    minutes: list[MinuteOut]
    failed: list[FailedOut]
    cache: CacheOut
    n_in_flight: int = Field(examples=[1])
    n_opened: int = Field(examples=[2], description="number of indexes that are open now")


class HourOut(Out):
    """What the server did in one hour."""

    at: int = Field(examples=[1_789_999_200], description="its beginning, in seconds since the epoch")
    n_questions: int = Field(examples=[420], description="searches, contexts, answers, and calls of tools by agents")
    n_failed: int = Field(examples=[1], description="questions that failed for no fault of their own")
    p50_ms: float = Field(examples=[8.0], description="median time until an answer began, exact to 5 percent")
    p95_ms: float = Field(examples=[20.0], description="95th percentile of this time, exact to 5 percent")
    n_answers: int = Field(examples=[30], description="answers that were written")
    prompt_tokens: int = Field(examples=[60_000], description="tokens of these answers that models read")
    completion_tokens: int = Field(examples=[5_000], description="tokens of these answers that models wrote")
    cost: float | None = Field(default=None, examples=[0.4], description="null: no price is known")
    n_jobs: int = Field(examples=[4], description="jobs that ended")
    n_failed_jobs: int = Field(examples=[0], description="jobs that failed")
    job_seconds: float = Field(examples=[31.5], description="duration of all these jobs")
    longest_job_s: float = Field(examples=[20.1], description="duration of the longest one")
    memory_bytes: int = Field(
        examples=[400_000_000], description="highest memory of the server and its processes, measured each minute"
    )


class HistoryOfServerOut(Out):
    """What the server did, by hour; it survives a restart."""

    hours: list[HourOut] = Field(description="hours in which something was done, the latest last")


class CompilerFilesOut(Out):
    """The files whose edges a compiler has written."""

    tool: Sound = Field(examples=["scip-typescript 0.4.0"], description="name and version of the program")
    n_files: int = Field(examples=[120])
    n_changed: int = Field(
        default=0, examples=[0], description="number of these files that have changed since: they have own edges"
    )


class KnownCommitsOut(Out):
    """The commits that are indexed, and those that are not, because they are older or new."""

    n_known: int = Field(examples=[1_200], description="number of commits that are indexed")
    n_left_out: int = Field(examples=[0], description="number of commits that are not")
    n_bytes: int = Field(examples=[4_000_000], description="size of their index, a part of the whole")


class StoreOut(Out):
    """The place and the state of the index of a project."""

    project_id: str = Field(examples=["shop"])
    index_dir: Sound = Field(default="", examples=["/srv/code/shop/.fathom"])
    n_bytes: int = Field(default=0, examples=[1_500_000])
    generation: int = Field(default=0, examples=[12])
    model: str = Field(default="", examples=["bundled"], description="the embedding model")
    n_without_vector: int = Field(default=0, examples=[0], description="number of chunks without a vector")
    n_by_text: int = Field(
        default=0, examples=[0], description="number of files outside index.min_tokens and index.max_tokens"
    )
    n_by_head: int = Field(
        default=0,
        examples=[0],
        description="number of definitions that were read without syntax, by the line that they begin with",
    )
    n_files_by_head: int = Field(default=0, examples=[0], description="number of files with such definitions")
    encodings: dict[str, int] = Field(
        default={},
        examples=[{}],
        description="number of files that are not UTF-8, by the encoding in which they are read",
    )
    compilers: list[CompilerFilesOut] = Field(
        default=[], description="the compilers that have written edges, and of how many files"
    )
    commits: KnownCommitsOut | None = Field(
        default=None, description="the indexed commits; null before the first question about commits"
    )
    views_current: bool = Field(default=False, examples=[True])
    pending: int = Field(
        default=0, examples=[0], description="number of files that are new, changed or removed since the last run"
    )
    n_failures: int = Field(default=0, examples=[0])
    n_skipped: int = Field(default=0, examples=[3])
    incomplete: Sentence = Field(
        default="", examples=[""], description="how far the first run has come, until a run is completed"
    )
    store_problem: Sentence = Field(
        default="",
        examples=[""],
        description="reason why the store of vectors cannot be reached; meanwhile the vectors of the index answer",
    )
    problem: Sentence = Field(default="", examples=[""])


class StoresOut(Out):
    """The places of the indexes and the free disk space."""

    data_dir: Sound = Field(examples=["/home/me/.local/share/codefathom/server"])
    free_bytes: int = Field(examples=[50_000_000_000])
    stores: list[StoreOut]


class FileReasonOut(Out):
    """A file that is not in the index, with the reason."""

    path: Sound = Field(examples=["logo.png"])
    reason: Sentence = Field(examples=["binary"])
    reason_parts: Parts


class ReaderHostOut(Out):
    """A code host that says who may read the repositories of a fleet."""

    host: Sound = Field(examples=["git.example.org"], description="name of the host, as in its addresses")
    n_lists: int = Field(examples=[120], description="repositories of which it has said who may read them")
    n_logins: int = Field(examples=[45], description="people in these lists")
    n_unknown: int = Field(examples=[2], description="people of them that mean nobody at this server")
    oldest_at: float = Field(examples=[1_790_000_000.0], description="time of its oldest answer; 0: none yet")
    newest_at: float = Field(examples=[1_790_003_600.0], description="time of its newest answer; 0: none yet")
    n_failing: int = Field(examples=[1], description="repositories about which it did not answer the last time")
    problem: Sound = Field(
        examples=["acme/shop: the host answers 403"], description="the last such repository, and the reason"
    )
    problem_at: float = Field(examples=[1_790_003_600.0], description="time of that question")


class ProjectStatusOut(StoreOut):
    """The same for one project, with every file that is not in its index."""

    root: Sound = Field(examples=["/srv/code/shop"])
    paused: Sentence = Field(default="", examples=[""], description="reason why the last run paused")
    damage: list[Sentence] = Field(
        default=[], examples=[[]], description="damaged parts of the index; the next job repairs them"
    )
    damage_parts: Parts
    skipped: list[FileReasonOut]
    failures: list[FileReasonOut]
    reader_hosts: list[ReaderHostOut] = Field(
        default=[],
        description="code hosts that say who may read the repositories of a fleet, for those who may see all of it",
    )
    readers_problem: Sound = Field(
        default="",
        examples=[""],
        description="reason why it cannot be known who may read what; meanwhile only administrators may ask the fleet",
    )


class SettingOut(Out):
    """A setting, its value and the origin of the value."""

    key: str = Field(examples=["search.limit"])
    value: Any = Field(examples=[10])
    default: Any = Field(examples=[10])
    origin: Sound = Field(examples=["default"])
    help: str = Field(examples=["Most hits of a search."])
    choices: list[str] = Field(examples=[[]])
    kind: Literal["switch", "number", "fraction", "text", "list"] = Field(examples=["number"])
    low: float | None = Field(default=None, examples=[1.0], description="smallest value")
    high: float | None = Field(default=None, examples=[1_000.0], description="largest value")
    changeable: bool = Field(
        examples=[True], description="True if PATCH /projects/{project_id} can change it for a project"
    )
    closed: Literal["", "path", "server", "masking"] = Field(
        default="", examples=[""], description="reason why it cannot be changed"
    )
    hosts: list[str] = Field(
        default=[],
        examples=[["localhost"]],
        description="hosts that its value may name; see server.model_hosts",
    )


class ConfigOut(Out):
    """The settings in force."""

    settings: list[SettingOut]
    leaving: Sound = Field(
        examples=["nothing leaves this machine"], description="the data that leaves this machine, and its destination"
    )


class SessionOut(Out):
    """Who the caller is, and the rights of the caller; a page offers what they allow."""

    name: str = Field(examples=["ada@example.org"], description="name of the person or the token; empty without one")
    kind: Literal["nobody", "token", "person"] = Field(
        examples=["person"], description="nobody: this server requires no token, and each caller may do everything"
    )
    may_sign_out: bool = Field(
        examples=[True], description="has signed in with OpenID Connect in this browser, and `POST /sign-out` ends that"
    )
    role: RoleName = Field(
        examples=["reader"], description="role that holds in all projects, those that will be added, too"
    )
    may_manage: bool = Field(
        examples=[True],
        description="has the role admin in all projects: may also add projects, move vectors, and see all of the "
        "server",
    )
    projects: list[str] = Field(examples=[["shop"]], description="projects that the caller sees")
    roles: dict[str, RoleName] = Field(
        examples=[{"shop": "maintainer"}],
        description="role in each of these projects. A reader asks and reads; an indexer indexes, too; a maintainer "
        "also changes settings, watches the files, and removes the index; an admin also removes the project",
    )
