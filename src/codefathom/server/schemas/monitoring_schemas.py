"""The JSON of monitoring and settings."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from codefathom.server.schemas.search_schemas import Out, Sound


class CheckOut(Out):
    """A part of the service, and whether it works."""

    name: str = Field(examples=["embedding model"])
    ok: bool = Field(examples=[True])
    detail: Sound = Field(examples=["bundled, 256 dimensions"])
    hint: Sound = Field(default="", examples=[""])


class ServicesOut(Out):
    """Which parts work."""

    ok: bool = Field(examples=[True])
    version: str = Field(examples=["0.1.0"])
    started_at: float = Field(examples=[1_790_000_000.0])
    services: list[CheckOut]


class ProjectStatsOut(Out):
    """What the index of a project holds."""

    project_id: str = Field(examples=["shop"])
    n_documents: int = Field(examples=[120])
    n_chunks: int = Field(examples=[900])
    n_symbols: int = Field(examples=[700])
    indexed_at: float = Field(examples=[1_790_000_000.0])
    languages: dict[str, int] = Field(examples=[{"python": 100}], description="files by language")
    kinds: dict[str, int] = Field(examples=[{"function": 500}], description="chunks by kind")
    modules: dict[str, int] = Field(examples=[{"shop": 80}], description="files by first folder")


class RouteTimesOut(Out):
    """How long the answers of a route took to begin."""

    method: str = Field(examples=["POST"])
    route: str = Field(examples=["/search"])
    n_requests: int = Field(examples=[1_000])
    p50_ms: float = Field(examples=[8.0])
    p95_ms: float = Field(examples=[20.0])
    p99_ms: float = Field(examples=[45.0])


class MinuteOut(Out):
    """What was asked in one minute, without what only watches the service, and how long answers took to begin."""

    at: int = Field(examples=[1_790_000_040])
    n_requests: int = Field(examples=[30])
    n_failed: int = Field(examples=[0])
    p50_ms: float = Field(examples=[8.0])
    p95_ms: float = Field(examples=[20.0])


class FailedOut(Out):
    """A request that failed for no fault of its own."""

    at: float = Field(examples=[1_790_000_041.5])
    method: str = Field(examples=["POST"])
    route: str = Field(examples=["/ask"])
    status: int = Field(examples=[502])
    detail: Sound = Field(examples=["the model did not answer"])


class CacheOut(Out):
    """How much the cache of results is worth."""

    n_entries: int = Field(examples=[40])
    n_hits: int = Field(examples=[300])
    n_misses: int = Field(examples=[60])


class StatsOut(Out):
    """What is indexed, and how the server is doing."""

    projects: list[ProjectStatsOut]
    routes: list[RouteTimesOut]
    minutes: list[MinuteOut]
    failed: list[FailedOut]
    cache: CacheOut
    n_in_flight: int = Field(examples=[1])
    n_opened: int = Field(examples=[2], description="indexes that are open now")


class StoreOut(Out):
    """Where and how the index of a project is kept."""

    project_id: str = Field(examples=["shop"])
    index_dir: Sound = Field(default="", examples=["/srv/code/shop/.fathom"])
    n_bytes: int = Field(default=0, examples=[1_500_000])
    generation: int = Field(default=0, examples=[12])
    model: str = Field(default="", examples=["bundled"], description="the embedding model")
    n_without_vector: int = Field(default=0, examples=[0], description="chunks")
    views_current: bool = Field(default=False, examples=[True])
    pending: int = Field(default=0, examples=[0], description="files that are new, changed or gone since the last run")
    n_failures: int = Field(default=0, examples=[0])
    n_skipped: int = Field(default=0, examples=[3])
    problem: Sound = Field(default="", examples=[""])


class StoresOut(Out):
    """Where the indexes lie and how much room there is."""

    data_dir: Sound = Field(examples=["/home/me/.local/share/codefathom/server"])
    free_bytes: int = Field(examples=[50_000_000_000])
    stores: list[StoreOut]


class FileReasonOut(Out):
    """A file and why it is not in the index."""

    path: Sound = Field(examples=["logo.png"])
    reason: Sound = Field(examples=["binary"])


class ProjectStatusOut(StoreOut):
    """The same for one project, with every file that is not in its index."""

    root: Sound = Field(examples=["/srv/code/shop"])
    paused: Sound = Field(default="", examples=[""], description="why the last run stopped early")
    damage: list[Sound] = Field(
        default=[], examples=[[]], description="what is known to be damaged; the next job makes it again"
    )
    skipped: list[FileReasonOut]
    failures: list[FileReasonOut]


class SettingOut(Out):
    """A setting, its value and where that comes from."""

    key: str = Field(examples=["search.limit"])
    value: Any = Field(examples=[10])
    default: Any = Field(examples=[10])
    origin: Sound = Field(examples=["default"])
    help: str = Field(examples=["Most hits of a search."])
    choices: list[str] = Field(examples=[[]])
    kind: Literal["switch", "number", "fraction", "text", "list"] = Field(examples=["number"])
    low: float | None = Field(default=None, examples=[1.0], description="least value")
    high: float | None = Field(default=None, examples=[1_000.0], description="largest value")
    changeable: bool = Field(examples=[True], description="for a project, by PATCH /projects/{project_id}")
    closed: Literal["", "path", "server", "masking"] = Field(
        default="", examples=[""], description="why it cannot be changed so"
    )
    hosts: list[str] = Field(
        default=[],
        examples=[["localhost"]],
        description="where its models may be; see server.model_hosts",
    )


class ConfigOut(Out):
    """The settings in force."""

    settings: list[SettingOut]
    leaving: Sound = Field(
        examples=["nothing leaves this machine"], description="what leaves this machine, and to where"
    )
