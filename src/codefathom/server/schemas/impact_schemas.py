"""The JSON of requests and answers of the impact of a change."""

from __future__ import annotations

from pydantic import Field

from codefathom.question.extents import DEEPEST, USUAL_DEPTH, USUAL_LIMIT
from codefathom.server.schemas.file_schemas import EdgeOut
from codefathom.server.schemas.search_schemas import In, LeftOut, NextOffset, OffsetIn, Out, Parts, Sound


class ImpactIn(In):
    """A change: the text of a diff, or revisions of the repository; without either, the files against HEAD."""

    diff: str = Field(
        default="",
        max_length=2_000_000,
        examples=["--- a/shop/pricing.py\n+++ b/shop/pricing.py\n@@ -12 +12 @@\n-    return 0\n+    return 1\n"],
        description="a unified diff, applied to the files or not",
    )
    revisions: str = Field(
        default="",
        max_length=500,
        examples=[""],
        description="`A..B`, `A...B`, or `A` alone, which is compared with the files; branches, tags and commits. It "
        "needs a token for all projects",
    )
    depth: int = Field(
        default=USUAL_DEPTH["impact"],
        ge=1,
        le=DEEPEST,
        examples=[3],
        description="maximum number of steps from the change",
    )
    limit: int = Field(
        default=USUAL_LIMIT["impact"],
        ge=1,
        le=10_000,
        examples=[200],
        description="maximum number of items of each list",
    )
    offset: OffsetIn = 0
    max_tokens: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        examples=[2_000],
        description="maximum number of tokens of the answer; symbols, places, tests and notes take turns",
    )


class ChangedSymbolOut(Out):
    """A symbol that differs between two versions; \"\" is what stands outside of all symbols of a file."""

    path: Sound = Field(examples=["shop/pricing.py"])
    symbol: Sound = Field(examples=["price_of"])
    kind: str = Field(examples=["function"])
    change: str = Field(examples=["changed"], description="`added`, `removed` or `changed`")
    line: int = Field(examples=[12])


class TouchingTestOut(Out):
    """A test file that most likely runs something of a change."""

    path: Sound = Field(examples=["tests/test_pricing.py"])
    score: float = Field(examples=[0.9], description="0 to 1")
    reason: Sound = Field(examples=["line 34 calls price_of"])
    depth: int = Field(examples=[1], description="steps from the change; 0: by names and words only")


class ImpactOut(Out):
    """The reach of a change, as far as it can be seen; the keys of `fathom impact --json`, and notes."""

    project_id: str = Field(examples=["shop"])
    changes: list[ChangedSymbolOut]
    reached: list[EdgeOut] = Field(description="nearest first")
    n_reached: int = Field(examples=[1], description="all places, also those of other pages")
    tests: list[TouchingTestOut] = Field(description="likeliest first")
    completeness: Sound = Field(examples=["1 of 1 edges are exact, by scope or import."])
    completeness_parts: Parts
    unseen: list[Sound] = Field(examples=[[]], description="parts of the change of which nothing is known")
    n_changes: int = Field(examples=[1], description="all symbols that differ")
    n_tests: int = Field(examples=[1], description="all tests")
    n_unseen: int = Field(examples=[0])
    left_out_of: dict[str, int] = Field(
        default={}, examples=[{}], description="number of items behind those of this page, by list"
    )
    n_left_out: LeftOut = 0
    next_offset: NextOffset = None
