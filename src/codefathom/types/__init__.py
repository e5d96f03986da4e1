"""The frozen values that flow through Codefathom; every module speaks in these.

Lines are 1-based and inclusive. Paths are relative to the project root, POSIX, without a leading "./".
Vectors are C-contiguous two-dimensional buffers of float32 with unit rows (shape (n, dimensions)).

Each subject has its module. A class costs a millisecond when it is made, so that a name is taken from its module when
it is first asked for; modules that a search imports take what they make from there, and what they only name in
annotations for type checkers alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codefathom.types.choices import *  # noqa: F403
    from codefathom.types.context_files import *  # noqa: F403
    from codefathom.types.edges import *  # noqa: F403
    from codefathom.types.hits import *  # noqa: F403
    from codefathom.types.index_copies import *  # noqa: F403
    from codefathom.types.index_runs import *  # noqa: F403
    from codefathom.types.index_states import *  # noqa: F403
    from codefathom.types.line_histories import *  # noqa: F403
    from codefathom.types.listed_files import *  # noqa: F403
    from codefathom.types.parsed_documents import *  # noqa: F403
    from codefathom.types.prices import *  # noqa: F403
    from codefathom.types.skipped_files import *  # noqa: F403
    from codefathom.types.symbols import *  # noqa: F403
    from codefathom.types.where import *  # noqa: F403

_NAMES = {  # the subjects, each with its names
    "choices": """
        Level Branches LevelName Grouping Mode Certainty Route LEVELS GROUPINGS MODES Direction EdgeKind
        DIRECTIONS EDGE_KINDS Matrix SymbolKind SYMBOL_KINDS KIND_ALIASES TYPE_KINDS VALUE_KINDS FUNCTION_KINDS
        CALLABLE_KINDS SECTION_SEPARATOR USUAL_ENCODING
    """,
    "where": """
        Filter FilterGroup Where
    """,
    "symbols": """
        Symbol Reference FoundSymbol
    """,
    "parsed_documents": """
        Document Break ParsedDocument
    """,
    "hits": """
        Chunk CommitMark Hit SearchPlan Rest NO_REST FACETS Facets NO_FACETS UnaskedShard Partial SearchResult
        ConsultedFile
    """,
    "edges": """
        Related RelatedResult NamedPlace
    """,
    "index_runs": """
        PathReport Progress Extent RunProgress ForModel Forecast IndexReport ScipReport
    """,
    "skipped_files": """
        Skipped Failure
    """,
    "index_states": """
        SecretPlace Status KnownCommits CompilerFiles StoreReport StoreState Check
    """,
    "index_copies": """
        Backup Snapshot
    """,
    "listed_files": """
        Picture SomeSymbols StepReason TourStep IndexedFile SomeFiles FileLines DocumentText SomeTexts
        FileOutline
    """,
    "line_histories": """
        HistoryStep FileOwner LineHistory BlamedLines
    """,
    "context_files": """
        Context ContextFile
    """,
    "prices": """
        Prices NO_PRICES
    """,
}
_SUBJECTS = {name: subject for subject, names in _NAMES.items() for name in names.split()}


if not TYPE_CHECKING:  # a checker would believe that any name is here

    def __getattr__(name: str) -> object:
        """Return a value that another module has."""
        if name not in _SUBJECTS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_SUBJECTS[name]}"), name)
        globals()[name] = value  # the next one who asks does not come here
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBJECTS})
