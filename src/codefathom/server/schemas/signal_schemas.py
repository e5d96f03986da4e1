"""The JSON that explains the signals of a hit."""

from __future__ import annotations

from pydantic import Field

from codefathom.server.schemas.search_schemas import Out


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
