"""Definition nodes → symbols: spans with comments and decorators, qualified names, signatures, documentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tree_sitter import Node

from codefathom.parse.leading_comments import CommentsByRow, above, last_row
from codefathom.types import CALLABLE_KINDS, TYPE_KINDS, VALUE_KINDS, Symbol

MAX_SIGNATURE_CHARS = 300
MAX_DOC_CHARS = 1_000
MAX_DEPTH = 40  # no one nests definitions deeper, but generated input may

# Nodes around a definition that belong to it: decorators, `export`, templates.
_WRAPPERS = frozenset({"decorated_definition", "export_statement", "template_declaration", "ambient_declaration"})
# Nodes around one definition, or around several.
_GROUPS = frozenset(
    {
        "const_declaration",
        "declaration",
        "expression_statement",
        "field_declaration",
        "lexical_declaration",
        "type_declaration",
        "var_declaration",
        "variable_declaration",
    }
)
_LISTS = frozenset({"lexical_declaration", "variable_declaration"})  # of names with values that may hold functions
_CALLABLE = CALLABLE_KINDS | {"friend"}
_MEMBERS = frozenset({"object", "table_constructor"})  # literals that may hold functions, as the value of a variable

# Marks of comments in all the languages at once: // /// //! /* /** * # -- --- --| ;; % <!-- """ '''
_OPEN = re.compile(
    r"^\s*(?:<!--|/\*\*?!?|\{-\s?\|?|--\[=*\[|///?!?|//!?|#+!?|--+\s?[|^]?|;+|%+|\*(?!/)|\"{3}|'{3}|[rRbBuU]\"{3})\s?"
)
_CLOSE = re.compile(r"(?:\*+/|-->|-\}|\]=*\]|\"{3}|'{3})$")
_ENDS_OF_CLOSE = ("/", ">", "}", "]", '"', "'")
# Marks of comments that would mean something else in other languages, by what the comment begins with.
_MARKS_BY_START = (
    ("(*", re.compile(r"^\s*\(\*+\s?|\s*\*+\)\s*$")),  # OCaml
    ("<#", re.compile(r"^\s*<#\s?|\s*#>\s*$")),  # PowerShell
    ("#'", re.compile(r"^\s*#+'")),  # R
    ("!", re.compile(r"^\s*!+[<>]?\s?")),  # Fortran
    ('"', re.compile(r'^\s*"+|"+\s*$')),  # Julia
)
_TAIL = re.compile(r"(?:\s|\{|=>|=|(?<!:):(?!:))+$")
_SCOPE_MARKS = re.compile(r"::|#|->|\\|:")


class Definition(NamedTuple):
    """The captures of a query for one definition."""

    kind: str
    node: Node
    name: Node | None  # None: the definition is named after its file
    scopes: list[Node]
    doc: Node | None
    body: Node | None
    pattern: int


class DefinitionSource(NamedTuple):
    """The document that definitions are read from."""

    data: bytes
    title: str  # the name of a definition without a name of its own
    comments: CommentsByRow
    is_indented: bool = False  # nodes may reach beyond their last word


class _DefinitionSpan(NamedTuple):
    start: int  # bytes of the definition node
    end: int
    definition: Definition


class _Around(NamedTuple):
    """A symbol that is still open."""

    start: int
    end: int
    qualified_name: str
    in_callable: bool
    is_class: bool
    is_local: bool


_MODULE = _Around(-1, -1, "", False, False, False)


def symbols_of(definitions: Iterable[Definition], source: DefinitionSource) -> list[Symbol]:
    """Return the symbols in order, outer before inner; of two patterns for one name the first in the file wins."""
    best: dict[int, Definition] = {}
    for definition in definitions:
        place = definition.name.start_byte if definition.name is not None else -1
        rival = best.get(place)
        if rival is None or definition.pattern < rival.pattern:
            best[place] = definition
    spans = []
    for item in best.values():
        node = _declarator(item) if item.kind in VALUE_KINDS else item.node
        spans.append(_DefinitionSpan(node.start_byte, _last_node(item, node).end_byte, item))
    spans.sort(key=lambda item: (item.start, -item.end))
    symbols = list(_nested(spans, source))
    symbols.sort(key=lambda symbol: (symbol.start_line, -symbol.end_line))  # stable: outer before inner
    return symbols


def _declarator(definition: Definition) -> Node:
    """Return the node that a variable spans: of several in one declaration each has its own value."""
    node, name = definition.node, definition.name
    if name is None or node.type not in _LISTS:
        return node
    declarator = name.parent
    return declarator if declarator is not None and declarator.type == "variable_declarator" else node


def _last_node(definition: Definition, node: Node) -> Node:
    """Return the node with which a definition ends: its body where that stands behind the node, as in Dart."""
    body = definition.body
    return body if body is not None and body.start_byte >= node.end_byte else node


def _nested(spans: list[_DefinitionSpan], source: DefinitionSource) -> Iterator[Symbol]:
    """Yield symbols with qualified names; variables of a function are left out."""
    stack = [_MODULE]
    for start, end, definition in spans:
        # Several names of one node, such as `a, b = 1, 2`, do not lie in each other.
        while len(stack) > 1 and (stack[-1].end < end or (stack[-1].start, stack[-1].end) == (start, end)):
            stack.pop()
        around, kind = stack[-1], definition.kind
        if len(stack) > MAX_DEPTH or (around.in_callable and kind in VALUE_KINDS) or kind == "prototype":
            continue
        if around.is_local and kind in VALUE_KINDS and not _is_chained(definition, around):
            continue
        if around.is_local or kind == "friend":
            around = _owner(definition, stack)
        symbol = _symbol(definition, around, source)
        if symbol.name:
            is_class = symbol.kind in TYPE_KINDS or (symbol.kind == "component" and "class" in definition.node.type)
            is_callable = symbol.kind in _CALLABLE or (
                symbol.kind == "component" and "function" in definition.node.type
            )
            in_callable = is_callable or (around.in_callable and not is_class)
            stack.append(_Around(start, end, symbol.qualified_name, in_callable, is_class, kind in VALUE_KINDS))
            yield symbol


def _is_chained(definition: Definition, around: _Around) -> bool:
    """Return True for a variable like b in `a = b = 1`, False for one inside the code that computes the value."""
    outer = definition.node.parent
    return outer is not None and (outer.start_byte, outer.end_byte) == (around.start, around.end)


def _owner(definition: Definition, stack: list[_Around]) -> _Around:
    """Return the symbol that owns a definition: a variable only if it holds functions, never the class of a friend."""
    if definition.kind == "friend":
        return next(around for around in reversed(stack) if not around.is_class)
    parent = definition.node.parent
    if definition.kind in _CALLABLE and parent is not None and parent.type in _MEMBERS:
        return stack[-1]
    return next(around for around in reversed(stack) if not around.is_local)


def _symbol(definition: Definition, around: _Around, source: DefinitionSource) -> Symbol:
    node = _whole(definition.node)
    row, column = node.start_point
    leading = above(source.comments, row, column)
    doc = definition.doc
    if doc is not None:
        comment = _text(doc, source.data).strip('"')
    else:
        comment = _slice(source.data, leading.doc_start, leading.doc_end) if leading is not None else ""
    name, name_row = source.title, row
    if definition.name is not None:
        name, name_row = _name(definition.name, source.data), definition.name.start_point[0]
    is_method = definition.kind == "function" and (around.is_class or bool(definition.scopes))
    first = min(leading.row if leading is not None else row, name_row)
    end = _last_node(definition, node)
    kind = "method" if is_method else "function" if definition.kind == "friend" else definition.kind
    return Symbol(
        kind,
        name,
        _qualified(name, definition.scopes, around.qualified_name, source.data),
        first + 1,
        max(_last_word_row(end, source.data) if source.is_indented else last_row(end), name_row, first) + 1,
        name_row + 1,
        _signature(definition, source.data),
        clean(comment) if comment else "",
    )


def _name(node: Node, data: bytes) -> str:
    """Return a name; that of a conversion operator ends where its parameters begin."""
    if node.type != "operator_cast":
        return _text(node, data).strip("\"'`")
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "abstract_function_declarator":
        declarator = next(reversed(declarator.named_children), None)
    end = declarator.start_byte if declarator is not None else node.end_byte
    return " ".join(_slice(data, node.start_byte, end).split())


def _last_word_row(node: Node, data: bytes) -> int:
    """Return the last row of a node that may reach to the next word, because only indentation ends its body."""
    end = node.end_byte
    if end < len(data) and not data[end - 1 : end].isspace():
        return last_row(node)
    end = _last_leaf(node).end_byte
    while data[end - 1 : end].isspace():
        end -= 1
    return node.end_point[0] - data.count(b"\n", end, node.end_byte)


def _last_leaf(node: Node) -> Node:
    """Return the last word of a definition, or the comment behind it when that is indented as a body is."""
    column = node.start_point[1]
    while node.child_count:
        inner = (child for child in reversed(node.children) if not _is_outside(child, column))
        child = next(inner, None)
        if child is None:
            break
        node = child
    return node


def _is_outside(node: Node, column: int) -> bool:
    return node.start_byte == node.end_byte or ("comment" in node.type and node.start_point[1] <= column)


def _whole(node: Node) -> Node:
    """Return a definition with its decorators, `export`, `template` or `const`."""
    parent = node.parent
    while parent is not None:
        kind = parent.type
        if kind in _GROUPS:
            if not _is_alone(node, parent):
                break
        elif kind not in _WRAPPERS:
            break
        node, parent = parent, parent.parent
    return node


def _is_alone(node: Node, parent: Node) -> bool:
    if parent.end_byte > node.end_byte + 1:
        return False
    before = node.prev_named_sibling
    return before is None or before.type != node.type


def _qualified(name: str, scopes: list[Node], owner: str, data: bytes) -> str:
    parts = [owner] if owner else []
    for scope in scopes:
        written = _SCOPE_MARKS.sub(".", "".join(_text(scope, data).split())).strip(".*&()")
        if written:
            parts.append(written)
    parts.append(name)
    return ".".join(parts)


def _signature(definition: Definition, data: bytes) -> str:
    """Return the definition up to its body, or its first line, on one line."""
    start, body = definition.node.start_byte, definition.body
    if definition.name is None:
        return ""
    if body is not None and body.start_byte > start:
        text = data[start : min(body.start_byte, start + 4 * MAX_SIGNATURE_CHARS)]
    else:
        text = data[start : min(definition.node.end_byte, start + 4 * MAX_SIGNATURE_CHARS)].split(b"\n", 1)[0]
    folded = " ".join(text.decode("utf-8", "replace").split())
    return _TAIL.sub("", folded)[:MAX_SIGNATURE_CHARS]


def clean(comment: str) -> str:
    """Return the text of a comment or docstring without its marks."""
    lines = comment[: 4 * MAX_DOC_CHARS].split("\n")
    if len(comment) > 4 * MAX_DOC_CHARS:
        lines = lines[:-1] or lines
    marks = next((marks for start, marks in _MARKS_BY_START if comment.startswith(start)), None)
    if marks is not None:
        lines = [marks.sub("", line) for line in lines]
    text = "\n".join(map(_unmarked, lines))
    return text.strip()[:MAX_DOC_CHARS].rstrip()


def _unmarked(line: str) -> str:
    """Return a line of a comment without the marks of any language."""
    opened = _OPEN.match(line)
    text = (line if opened is None else line[opened.end() :]).rstrip()
    return (_CLOSE.sub("", text) if text.endswith(_ENDS_OF_CLOSE) else text).strip()


def _text(node: Node, data: bytes) -> str:
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _slice(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "replace")
