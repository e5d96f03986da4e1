"""Codefathom: ask a code base questions, get answers you can check line by line."""

# Imports nothing: with `python -m codefathom` the working directory, which may be anybody's, still comes first here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from codefathom.answer.answer_types import AnswerRequest
    from codefathom.askers.open_projects import Federation
    from codefathom.engine import Engine

__version__ = "0.1.0"
__all__ = ["AnswerRequest", "Engine", "Federation", "__version__"]


def __getattr__(name: str) -> object:
    # `import codefathom` stays cheap; these are loaded at their first use.
    if name == "Engine":
        from codefathom.engine import Engine  # noqa: PLC0415

        return Engine
    if name == "AnswerRequest":
        from codefathom.answer.answer_types import AnswerRequest  # noqa: PLC0415

        return AnswerRequest
    if name == "Federation":
        from codefathom.askers.open_projects import Federation  # noqa: PLC0415

        return Federation
    raise AttributeError(f"module 'codefathom' has no attribute {name!r}")
