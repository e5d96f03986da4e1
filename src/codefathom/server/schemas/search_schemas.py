"""The JSON of requests and answers of search, files and symbols."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from fastapi import Query
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasGenerator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    create_model,
    model_validator,
)
from pydantic.alias_generators import to_camel

from codefathom.compat.argument_names import REQUEST_KEYS
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.facts.remedies import over_http
from codefathom.question.extents import MOST_PASSED_BY
from codefathom.question.question import Kind
from codefathom.question.question_options import OPTIONS, InBody, QuestionOption, Values, in_body
from codefathom.search.question.query import MAX_QUESTION
from codefathom.shapes import notes_shape
from codefathom.types import Branches, Mode, Route

MOST_VALUES = 10_000  # of a body, those inside others counted too


def _sound(value: object) -> object:
    """Replace what cannot be written as UTF-8: names of files may hold any bytes."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


# Text that comes from the disk.
Sound: TypeAlias = Annotated[str, BeforeValidator(_sound)]
# A sentence of the program: it names routes where one on a terminal names commands.
Sentence: TypeAlias = Annotated[Sound, AfterValidator(over_http)]


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


LeftOut: TypeAlias = Annotated[
    int, Field(examples=[0], description="items behind those of this page, whatever has cut them off")
]
NextOffset: TypeAlias = Annotated[
    int | None, Field(examples=[None], description="`offset` of the next page; null where the list has ended")
]
OffsetIn: TypeAlias = Annotated[
    int,
    Field(
        ge=0, le=MOST_PASSED_BY, examples=[0], description="items of earlier pages, which are passed by: `next_offset`"
    ),
]

# One value or several.
Several: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_listed), Field(max_length=100)]

# Files and folders.
Paths: TypeAlias = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=4_096)], ...], BeforeValidator(_listed), Field(max_length=100)
]


def _counted(body: object) -> object:
    """Return a body that has not too many values: each wrong one becomes an error, and half a million take 10 s."""
    n_values, open_parts = 0, [body]
    while open_parts:
        part = open_parts.pop()
        inside = list(part.values()) if isinstance(part, dict) else part if isinstance(part, list) else []
        n_values += len(inside)
        if n_values > MOST_VALUES:
            raise ValueError(f"a body may have {MOST_VALUES} values")
        open_parts += inside
    return body


class BoundedBody(BaseModel):
    """A body of bounded size. Its values are looked at while nobody else is answered."""

    @model_validator(mode="before")
    @classmethod
    def _count(cls, body: object) -> object:
        return _counted(body)


class In(BoundedBody):
    """The body of a request: names in snake_case or camelCase, and no unknown name."""

    model_config = ConfigDict(
        alias_generator=AliasGenerator(validation_alias=lambda name: AliasChoices(name, to_camel(name))),
        extra="forbid",
        str_max_length=MAX_QUESTION,
    )


class Out(BaseModel):
    """The body of an answer; made from values of the program by their attributes."""

    model_config = ConfigDict(from_attributes=True)


class NoteOut(Out):
    """One statement of a sentence, for a face that speaks another language."""

    kind: str = Field(examples=["defines"], description="of the sentence; its English words name the values")
    values: dict[str, Sound | int | float | list[Sound] | NoteOut | list[NoteOut]] = Field(
        examples=[{"name": "price_of"}], description="the values in the sentence, by name"
    )

    @model_validator(mode="after")
    def _name_routes(self) -> NoteOut:
        if self.kind == say.VERBATIM:
            self.values = {name: over_http(str(text)) for name, text in self.values.items()}
        return self


Parts: TypeAlias = Annotated[
    list[NoteOut],
    Field(
        default=[],
        examples=[[{"kind": "defines", "values": {"name": "price_of"}}]],
        description="the same as kinds and values, for a page in another language",
    ),
]


def notes_out(notes: Note | Iterable[Note] | None) -> list[NoteOut]:
    """Return the statements of a sentence as kinds and values."""
    return [NoteOut.model_validate(part) for part in notes_shape(notes)]


class PageOut(Out):
    """A page of a list."""

    n_left_out: LeftOut = 0
    n_left_out_is_exact: bool = Field(
        default=True, examples=[True], description="False: at least so many are left out, and maybe more"
    )
    next_offset: NextOffset = None


class ProblemOut(Out):
    """An error, as RFC 9457 has it; `code` is for programs, `hint` says what to do."""

    type: str = Field(examples=["urn:codefathom:problem:not_found"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    detail: Sentence = Field(examples=["no such project: 'shop'"])
    code: str = Field(examples=["not_found"])
    hint: Sentence = Field(default="", examples=["GET /projects lists them"])
    detail_parts: Parts
    hint_parts: Parts


class HealthOut(Out):
    """The state of the server, with the problems it has."""

    status: str = Field(examples=["ok"], description="`ok`, or `degraded` with the reasons")
    version: str = Field(examples=["0.1.0"])
    degraded: list[Sentence] = Field(default=[], examples=[[]])


class ReadyOut(Out):
    """Whether each shard of the fleets has somebody who answers for it."""

    status: str = Field(examples=["ready"], description="`ready`, or `not ready` with status 503")
    n_shards: int = Field(examples=[24], description="shards of all fleets; 0 without fleets")
    unanswered: list[Sound] = Field(
        default=[], examples=[[]], description="the first of the shards that nobody answers for"
    )
    n_unanswered: int = Field(examples=[0], description="shards that nobody answers for")
    n_unreadable: int = Field(examples=[0], description="fleets whose shards cannot be listed")


class VersionOut(Out):
    """The version of the server."""

    name: str = Field(examples=["codefathom"])
    version: str = Field(examples=["0.1.0"])


class RefusedOut(Out):
    """A path that is left out, and the reason."""

    path: Sound = Field(examples=["shop/logo.png"])
    reason: Sentence = Field(examples=["binary"])
    reason_parts: Parts


# ---- search


class QuestionIn(In):
    """A question and its limits. Every name may be written in camelCase too."""

    query: str = Field(
        min_length=1,
        max_length=MAX_QUESTION,
        examples=["where are orders priced"],
        validation_alias=AliasChoices("query", *REQUEST_KEYS["query"]),
    )
    project_id: str | None = Field(default=None, max_length=200, examples=["shop"])

    @property
    def values(self) -> Values:
        """The values of the options, by the names of the table of options."""
        return {option.name: getattr(self, option.name) for option in OPTIONS if hasattr(self, option.name)}


_ANY_OF = "of several values, one is enough"
_Body = TypeVar("_Body", bound=QuestionIn)


def with_options(kind: Kind) -> Callable[[type[_Body]], type[_Body]]:
    """Give a body the fields of the table of options that a question of this kind has."""

    def extended(body: type[_Body]) -> type[_Body]:
        fields: dict[str, Any] = {option.name: _field(option, field) for option, field in in_body(kind)}
        return create_model(body.__name__, __base__=body, __doc__=body.__doc__, __module__=body.__module__, **fields)

    return extended


def query_values(kind: Kind) -> Callable[..., Awaitable[Values]]:
    """Return what reads the options of a kind of question from the query of a request, by the names of the table."""

    async def values(**parameters: Any) -> Values:  # else it would run in a thread
        return parameters

    # FastAPI reads the parameters of a dependency from its signature.
    values.__signature__ = Signature([_parameter(*row) for row in in_body(kind)])  # type: ignore[attr-defined]
    return values


def _parameter(option: QuestionOption, field: InBody) -> Parameter:
    kind, said = _field(option, field)
    usual = said.default
    if option.form == "texts":  # given once for each value
        kind, usual = list[Literal[option.choices] if option.choices else str], []  # type: ignore[misc]
    query = Query(description=said.description, examples=said.examples)
    return Parameter(option.name, Parameter.KEYWORD_ONLY, default=usual, annotation=Annotated[kind, query])


def _field(option: QuestionOption, field: InBody) -> tuple[Any, Any]:
    """Return the type of a field and what is said about it."""
    types: dict[str, Any] = {"texts": Several, "paths": Paths, "count": int, "share": float, "switch": bool}
    usual, kind = option.usual, types.get(option.form, str)
    if option.form in ("texts", "paths"):
        usual = ()
    elif option.form in ("text", "filter"):
        usual = ""
    elif option.choices:
        kind = Literal[option.choices]
    is_number = option.form in ("count", "share")
    return kind | None if usual is None else kind, Field(
        default=usual,
        ge=option.least if is_number else None,
        le=field.most if is_number else None,
        max_length=field.most if kind is str else None,
        examples=[field.example],
        description="; ".join(filter(None, (option.help, field.more, _ANY_OF if kind is Several else ""))),
        validation_alias=AliasChoices(option.name, *names) if (names := REQUEST_KEYS.get(option.name)) else None,
    )


# Files and folders of the machine of the server, instead of projects.
AnyPaths: TypeAlias = Annotated[
    Paths,
    Field(
        examples=[[]],
        description="instead of projects: absolute paths of files and folders on the machine of the server; "
        "only these are searched, and changes in them are indexed first",
    ),
]


@with_options("search")
class SearchIn(QuestionIn):
    """A search; without a project, in all projects."""

    project_ids: list[str] = Field(default=[], max_length=100, examples=[["shop"]])
    whole: bool = Field(
        default=False,
        examples=[False],
        description="at level `file`, give whole files; else the content of a file is its best lines",
    )
    max_tokens: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        examples=[2_000],
        description="maximum number of tokens of the answer; the last hits are left out if they do not fit",
    )
    explain: bool = Field(default=False, examples=[False], description="give the signals of each hit, too")
    paths: AnyPaths = ()


@with_options("context")
class ContextIn(QuestionIn):
    """A question whose files are collected for a prompt; without a project, from all projects."""

    project_ids: list[str] = Field(default=[], max_length=100, examples=[["shop"]])
    paths: AnyPaths = ()


class CommitOut(Out):
    """The head of a commit."""

    commit: str = Field(examples=["1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"], description="its whole hash")
    date: str = Field(examples=["2026-11-27"], description="the day on which it was written")
    author: Sound = Field(examples=["Ann Example"], description="the name of the author")
    subject: Sound = Field(examples=["Retry three times"], description="the first line of its message")
    pull_request: str = Field(examples=["12"], description="its number; empty where the message names none")


class HitOut(Out):
    """A place."""

    project_id: str = Field(examples=["shop"])
    path: Sound = Field(examples=["shop/pricing.py"])
    start_line: int = Field(examples=[12])
    end_line: int = Field(examples=[30])
    line: int = Field(examples=[14], description="the most relevant line")
    column: int = Field(examples=[5], description="the place in that line, in characters from 1")
    kind: str = Field(examples=["function"])
    name: Sound = Field(examples=["price_of"])
    language: str = Field(examples=["python"])
    score: float = Field(examples=[1.0])
    signals: dict[str, float] = Field(
        default={}, examples=[{"lexical": 0.8}], description="value of each signal; only with `explain`"
    )
    content: Sound = Field(examples=["def price_of(order): ..."])
    content_line: int = Field(examples=[12], description="number of the first line of the content")
    content_column: int = Field(
        examples=[1], description="the place of the content in that line, from 1; more in a long line that was split"
    )
    module: Sound = Field(examples=["shop"], description="the first folder of the path")
    sub_module: Sound = Field(examples=[""], description="the second folder of the path")
    reason: Sound = Field(examples=["the name matches"])
    is_test: bool = Field(default=False, examples=[False], description="the file holds tests or belongs to them")
    stale: bool = Field(default=False, examples=[False], description="the file has changed since it was indexed")
    place: Sound = Field(
        default="", examples=["page 3"], description="page, heading or cell, in a document that has such"
    )
    commit: CommitOut | None = Field(default=None, description="the commit that it is; null for a place in a file")
    reason_parts: Parts
    place_parts: Parts


class UnaskedShardOut(Out):
    """A shard of a fleet that was not searched, or not to its end."""

    shard: str = Field(examples=["00004-b2e53f35fcfe8c6c91c2"], description="name of the shard")
    repositories: list[Sound] = Field(examples=[["auth", "web"]], description="repositories with files in it")
    reason: Sentence = Field(examples=["the time for the question was over (search.fleet_timeout_s)"])
    reason_parts: Parts


class PartialOut(Out):
    """The part of a fleet that was not searched."""

    n_shards: int = Field(examples=[40], description="shards of the fleet")
    n_unasked: int = Field(examples=[1], description="shards that were not searched to their end")
    n_repositories: int = Field(examples=[2], description="repositories with files in these")
    shards: list[UnaskedShardOut] = Field(description="each shard that was not searched to its end")


class SearchedOut(Out):
    """The result of a search in one project, in numbers."""

    project_id: str = Field(examples=["shop"])
    n_hits: int = Field(default=0, examples=[10])
    confidence: float = Field(default=0.0, examples=[0.8])
    generation: int = Field(default=0, examples=[12])
    stale: bool = Field(default=False, examples=[False])
    problem: ProblemOut | None = Field(default=None, description="error of the search in this project")
    partial: PartialOut | None = Field(
        default=None, description="part of a fleet that was not searched; null: all of it was"
    )
    branches: Branches = Field(
        default=None,
        examples=["default"],
        description="branches of the repositories of a fleet that were searched: the default ones, or all, as "
        "`branch:` or a path asks; null: it has one of each",
    )


class IndexingOut(Out):
    """A project whose first index is being made; until then it is not asked beside others."""

    project_id: str = Field(examples=["terraform"])
    n_done: int = Field(examples=[630], description="files that are indexed by now")
    n_files: int = Field(examples=[1_000], description="all files; 0 while this is not known")


BeingIndexed: TypeAlias = Annotated[
    list[IndexingOut], Field(examples=[[]], description="projects that were not asked because they are being indexed")
]


class PlanOut(Out):
    """The kind of search that was chosen for the query, and the reason."""

    route: Route = Field(examples=["graph"])
    why: Sentence = Field(
        examples=["it asks what calls price_of"], description='reason; "" if the query chose its mode'
    )
    kept_to: Sound = Field(default="", examples=["Order"], description="the type whose members alone were searched")
    why_parts: Parts


Roots: TypeAlias = Annotated[
    dict[str, Sound], Field(examples=[{}], description="folders of the projects that `paths` have chosen")
]
NotSearched: TypeAlias = Annotated[
    list[RefusedOut], Field(examples=[[]], description="parts of `paths` that were not searched")
]


class FacetValueOut(Out):
    """A value that places have in common."""

    value: Sound = Field(examples=["python"], description="as a filter takes it")
    n: int = Field(examples=[57], description="places of the list when it is kept to this value")


class FacetsOut(Out):
    """What the places of a list have in common, counted; the most frequent values come first."""

    is_whole: bool = Field(
        examples=[True], description="all places of the list were counted; False: the best ones, and there may be more"
    )
    n_places: int = Field(examples=[71], description="places that were counted")
    project: list[FacetValueOut] = Field(description="by the project that they lie in")
    language: list[FacetValueOut] = Field(description="by language, for `language_filter`")
    kind: list[FacetValueOut] = Field(description="by the kind of their lines, for `kind_filter`")
    dir: list[FacetValueOut] = Field(
        description="by folder, for `directory_filter`: the first one of each path, or the next one below those that "
        "`directory_filter` names"
    )
    is_test: list[FacetValueOut] = Field(description="`true` for places in tests, else `false`")


class SearchOut(PageOut):
    """The hits, best first."""

    query: str = Field(examples=["where are orders priced"])
    mode: Mode = Field(examples=["hybrid"], description='mode in which the hits were ranked; never "auto"')
    plan: PlanOut
    hits: list[HitOut]
    confidence: float = Field(examples=[0.8])
    weak: bool = Field(examples=[False], description="True if probably nothing in the index answers the query")
    degraded: list[Sentence] = Field(examples=[[]], description="problems of this search, one sentence each")
    degraded_parts: Parts
    stale: bool = Field(examples=[False], description="files have changed since the index was made")
    generation: int | None = Field(examples=[12], description="generation of the index; null for several projects")
    suggestion: Sentence = Field(examples=[""])
    suggestion_parts: Parts
    projects: list[SearchedOut]
    indexing: BeingIndexed = []
    roots: Roots = {}
    left_out: NotSearched = []
    facets: FacetsOut | None = Field(
        default=None, description="what the places of the whole list have in common; only with `facets`"
    )


class ContextFileOut(Out):
    """One file, or its excerpts, in a context."""

    path: Sound = Field(examples=["shop/pricing.py"])
    text: Sound = Field(examples=["def price_of(order): ..."])
    score: float = Field(examples=[1.0])
    reason: Sound = Field(examples=["the name matches"])
    spans: list[tuple[int, int]] = Field(examples=[[]], description="first and last line; empty for a whole file")
    symbols: list[Sound] = Field(examples=[["price_of"]])


class ContextOut(Out):
    """Files for a prompt, most relevant first, under a budget."""

    query: str = Field(examples=["where are orders priced"])
    project_id: str = Field(examples=["shop"], description="empty for several: then each path begins with its project")
    files: list[ContextFileOut]
    n_tokens: int = Field(examples=[850])
    truncated: list[Sound] = Field(examples=[[]], description="paths of files of which only a part fitted")
    absent: list[Sound] = Field(examples=[[]], description="paths of files of which nothing fitted")
    degraded: list[Sentence] = Field(default=[], examples=[[]], description="problems of the search")
    degraded_parts: Parts
    weak: bool = Field(default=False, examples=[False], description="True if most likely none of the files answers")
    n_left_out: int = Field(default=0, examples=[0], description="further files with hits, above max_files")
    n_left_out_is_exact: bool = Field(
        default=True, examples=[True], description="False: at least so many are left out, and maybe more"
    )
    roots: Roots = {}


# ---- the signals of a hit


class SignalOut(Out):
    """One signal of the ranking."""

    name: str = Field(examples=["lexical"])
    meaning: str = Field(examples=["words of the question stand in it"])
    weight: float = Field(examples=[0.36], description="factor of the signal in the score of a hit; 0: not used")
    weight_for_long_text: float = Field(
        examples=[0.58], description="the same where the question is a long text: a hit then has the signal `long_text`"
    )


class SignalsOut(Out):
    """All signals of the ranking."""

    signals: list[SignalOut]
