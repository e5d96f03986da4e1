"""Named definitions, and the uses of names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Symbol:
    """A named definition. The span includes decorators, attributes and the doc comment."""

    kind: str  # one of SYMBOL_KINDS
    name: str
    qualified_name: str  # "Outer.inner": names of the enclosing symbols joined with "."
    start_line: int
    end_line: int
    name_line: int  # the line on which the name stands
    signature: str = ""  # one line, white space folded, without the body
    doc: str = ""  # doc comment or docstring, comment marks removed


@dataclass(frozen=True, slots=True)
class Reference:
    """A use of a name: an import of a module, or a call, instantiation or type use."""

    kind: Literal["import", "call", "type"]
    name: str  # import: the module or path as written ("os.path", "./util"); otherwise the last name ("parse")
    line: int  # the first line in `container` on which it stands
    container: str = ""  # qualified name of the enclosing symbol; "" at module level
    count: int = 1  # how often it stands in `container`
    # call, type: what stands before the name ("self", "os.path"; "?": an expression; "?.row": a local value). import:
    # the names that it gives to its file ("a, b as c", "*"), where they are not the last part of its own name
    qualifier: str = ""


@dataclass(frozen=True, slots=True)
class FoundSymbol:
    """A symbol and the document it stands in."""

    path: str
    language: str
    symbol: Symbol
    by_head: bool = False  # known by its first line alone, where a grammar lost it: where it ends is a guess
