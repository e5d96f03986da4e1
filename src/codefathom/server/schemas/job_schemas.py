"""The JSON of jobs."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from codefathom.server.schemas.project_schemas import StoreReportOut
from codefathom.server.schemas.search_schemas import In, Out, PageOut, Parts, Paths, RefusedOut, Sentence, Sound
from codefathom.source.size_limits import MAX_WHOLE_FILE_BYTES

_MOST_CHARS = MAX_WHOLE_FILE_BYTES  # of a text; one with more bytes than this is refused with that reason


class IndexIn(In):
    """The options of an indexing job."""

    full: bool = Field(
        default=False, description="Index all files again, also those that have not changed", examples=[False]
    )
    repositories: list[Annotated[str, Field(max_length=200)]] = Field(
        default=[],
        max_length=1_000,
        description="of a fleet: bring only these repositories up to date; empty: all",
        examples=[[]],
    )


class PushOut(Out):
    """What becomes of an event of a code host."""

    status: Literal["accepted", "ignored"] = Field(
        examples=["accepted"],
        description="accepted: a job brings the repository up to date; ignored: nothing is to be done",
    )


class PathsIn(In):
    """Files and folders to take in, and texts that are on no disk."""

    paths: Paths = Field(default=(), examples=[["shop/pricing.py"]])
    texts: dict[Annotated[str, Field(max_length=1_000)], Annotated[str, Field(max_length=_MOST_CHARS)] | None] = Field(
        default={},
        max_length=100,
        examples=[{"notes/meeting.md": "Discounts end in May.\n"}],
        description="texts by name, which the index keeps as texts://NAME; null removes one",
    )

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.paths and not self.texts:
            raise ValueError("name at least one path or one text")
        return self


class PathReportOut(Out):
    """The outcome of an update of named files; paths are those of the index."""

    project_id: str = Field(examples=["shop"])
    added: list[Sound] = Field(examples=[["shop/pricing.py"]])
    changed: list[Sound] = Field(examples=[[]])
    removed: list[Sound] = Field(examples=[[]])
    unchanged: list[Sound] = Field(examples=[[]])
    refused: list[RefusedOut] = Field(examples=[[]])


class StepOut(Out):
    """The progress of a job."""

    phase: str = Field(
        examples=["index"],
        description="queued, starting, clone, waiting (for another program that writes the index), scan, index, write, "
        "purposes, embed, move, map (a large project, whose index can be searched by then), paused; then the state in "
        "which it ended",
    )
    current_file: Sound = Field(default="", examples=["shop/cart.py"])
    current: int = Field(
        default=0,
        examples=[120],
        description="Number of files that are done; in the phase embed, of chunks; in the phase move, of vectors",
    )
    total: int = Field(
        default=0,
        examples=[480],
        description="Number of files to index or of the map, or of chunks to embed; 0 while it is unknown",
    )
    percent: float = Field(default=0.0, examples=[25.0])
    chunk_count: int = Field(default=0, examples=[900])
    files_per_second: float = Field(default=0.0, examples=[310.5])
    estimated_remaining_seconds: float | None = Field(default=None, examples=[1.2])
    message: str = ""


class ReportOut(Out):
    """The result of a job, and the contents of the index after it."""

    n_added: int = Field(examples=[480])
    n_changed: int = Field(examples=[0])
    n_removed: int = Field(examples=[0])
    n_unchanged: int = Field(examples=[0])
    n_failed: int = Field(examples=[0])
    skipped: dict[str, int] = Field(examples=[{"binary": 3}], description="Number of skipped files, by reason")
    n_files: int = Field(examples=[480])
    n_chunks: int = Field(examples=[3600])
    n_symbols: int = Field(examples=[2900])
    kinds: dict[str, int] = Field(examples=[{"function": 2100, "block": 1500}], description="Number of chunks by kind")
    n_bytes: int = Field(examples=[1250000], description="Size of the added and changed files")
    seconds: float = Field(examples=[1.6])
    generation: int = Field(examples=[12])
    index_dir: Sound = Field(examples=["/srv/shop/.fathom"])
    paused: Sentence = Field(default="", description="Reason why the run paused")
    n_by_text: int = Field(
        default=0, examples=[0], description="Number of files outside index.min_tokens and index.max_tokens"
    )
    lost: Sentence = Field(
        default="", description="Contents that only the index had and that are lost because it was damaged"
    )
    store_problem: Sentence = Field(
        default="",
        description="Reason why the store of vectors could not be brought up to date; the next run tries again",
    )
    missing_grammars: list[Sentence] = Field(
        default=[],
        examples=[[]],
        description="A sentence for each grammar that could not be loaded; its files are indexed as text until then",
    )
    missing_grammars_parts: Parts


class TroubleOut(Out):
    """The reason why a job failed."""

    code: str = Field(examples=["crashed"])
    detail: Sentence = Field(examples=["the process of the job ended with signal 9"])
    hint: Sentence = ""
    detail_parts: Parts
    hint_parts: Parts


class FileErrorOut(Out):
    """A file that could not be indexed."""

    path: Sound = Field(examples=["shop/broken.py"])
    reason: Sentence = Field(examples=["the parser crashed on it"])


class JobOut(Out):
    """A run of the indexer over a project, or a move of its vectors."""

    id: str = Field(examples=["5f0c9e1b7a3d2c48"])
    project_id: str = Field(examples=["shop"])
    full: bool = Field(examples=[False])
    move_to: str = Field(
        default="",
        examples=[""],
        description="Store that the vectors are moved to; empty: a run of the indexer",
    )
    state: str = Field(examples=["running"], description="queued, running, cancelled, failed or done")
    attempts: int = Field(
        examples=[1], description="Number of times the job was started; after a stop of the server it starts again"
    )
    created_at: float = Field(examples=[1764000000.0], description="Seconds since 1970; 0: not yet")
    started_at: float = Field(examples=[1764000000.1])
    ended_at: float = Field(examples=[0.0])
    progress: StepOut
    report: ReportOut | None = None
    moved: StoreReportOut | None = None
    error: TroubleOut | None = None
    file_errors: list[FileErrorOut] = Field(default=[], examples=[[]])


class JobsOut(PageOut):
    """Jobs, the latest first."""

    jobs: list[JobOut]


class CodebaseIn(In):
    """A folder to index."""

    codebase_path: str = Field(examples=["/srv/shop"], description="A folder inside one of server.allowed_roots")
    revision: str = Field(
        default="",
        max_length=1_000,
        examples=[""],
        description="a branch, tag or commit of its git repository, instead of the files of the folder",
    )
    full: bool = Field(default=False, examples=[False])


class CodebaseOut(Out):
    """The contents of the new index."""

    status: str = Field(examples=["success"])
    project_id: str = Field(examples=["shop"])
    total_files: int = Field(examples=[480])
    total_chunks: int = Field(examples=[3600])
    file_chunks: int = Field(examples=[1500], description="Chunks outside functions")
    function_chunks: int = Field(examples=[2100], description="Chunks of functions and methods")
    output_dir: Sound = Field(examples=["/srv/shop/.fathom"])
    job_id: str = Field(examples=["5f0c9e1b7a3d2c48"])
