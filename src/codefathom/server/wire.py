"""The JSON that the server takes and gives: the only place where its shapes are said."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel


def _sound(value: object) -> object:
    """Replace what cannot be written as UTF-8: names of files may hold any bytes."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


# Text that comes from the disk.
Sound: TypeAlias = Annotated[str, BeforeValidator(_sound)]


class In(BaseModel):
    """A body that is taken: snake_case and camelCase, and no name that is not known."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", str_max_length=100_000)


class Out(BaseModel):
    """A body that is given; made from values of the program by their attributes."""

    model_config = ConfigDict(from_attributes=True)


class ProblemOut(Out):
    """An error, as RFC 9457 has it; `code` is for programs, `hint` says what to do."""

    type: str = Field(examples=["urn:codefathom:problem:not_found"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["no such project: 'shop'"])
    code: str = Field(examples=["not_found"])
    hint: str = Field(default="", examples=["GET /projects lists them"])


class HealthOut(Out):
    """Whether the server answers, and what is not as it should be."""

    status: str = Field(examples=["ok"], description="`ok`, or `degraded` with the reasons beside it")
    version: str = Field(examples=["0.1.0"])
    degraded: list[str] = Field(default=[], examples=[[]])


class VersionOut(Out):
    """What runs here."""

    name: str = Field(examples=["codefathom"])
    version: str = Field(examples=["0.1.0"])
