"""tree-sitter: definitions and references by the queries in `queries/*.scm`, whatever the language.

Captures: `@definition.<kind>` on a definition with `@name` inside (without one it is named after the file); `@scope`
(its owner, when it stands elsewhere), `@doc` and `@body` where they help, the body also behind the definition;
`@reference.call`, `@reference.type` and `@reference.import` on names, `@reference.value` on those of which only such
count that the file imports or defines or that have a capital; `@reference.macro` on the text that a macro stands for;
`@import.module` and `@import.name` where names of a module are imported;
`@embedded.<language>` on code in another language, such as a script in a page; `@margin.attribute` on what stands above
a definition and belongs to it, and `@margin.doc` on the text in it that says what is defined; `@local` and its kinds on
what is bound inside of a function (`local_names.py`).
"""

from __future__ import annotations

import re
import sys
import zlib
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from time import thread_time
from typing import Literal, NamedTuple

from tree_sitter import Node, Parser, QueryCursor, Range, Tree

from codefathom.facts.reasons import REPEATS_ITSELF, SYNTAX_ERROR, TOO_BROKEN, TOO_LARGE_TO_PARSE, Note
from codefathom.parse.clauses import LANGUAGES as WITH_CLAUSES
from codefathom.parse.clauses import merge_clauses
from codefathom.parse.fixed_form import ENDINGS as FIXED_FORM
from codefathom.parse.fixed_form import free_form
from codefathom.parse.grammars import Grammar, languages, load, load_problem
from codefathom.parse.leading_comments import CommentsByRow, above, comments_by_row, opens_line
from codefathom.parse.local_names import LocalNames
from codefathom.parse.lost_definitions import Head, has_heads, heads_of, note, with_heads, without_symbol
from codefathom.parse.macros import LANGUAGES as WITH_MACROS
from codefathom.parse.macros import without_macros
from codefathom.parse.outline import Definition, DefinitionSource, symbols_of
from codefathom.parse.qualifiers import bound_names, names_of_modules, qualifier
from codefathom.source.size_limits import MAX_WHOLE_FILE_BYTES
from codefathom.types import VALUE_KINDS, Break, Document, ParsedDocument, Reference, Symbol
from codefathom.versions import PARSER_VERSION

NAME = f"treesitter/{PARSER_VERSION}"

# What is not what it seems may take minutes: 200 kB of "(" as a shell script, 90 s; 300 kB of JSON as Lua, a minute.
# A file that repeats itself more than code does is not parsed: 17-fold is the most among 1,145 large files of 21
# repositories.
_MAY_REPEAT_BYTES = 8_000
_MAX_COMPRESSION = 20
_LARGE_BYTES = 64_000
# A few kilobytes may take seconds, too (`->` repeated in PowerShell or JavaScript), so that the steps of the parser are
# counted, which no slow machine changes: a hundred of its operations, or one piece that it reads. Among 20,000 files of
# 21 repositories the most for a byte are 0.04, in Scala 0.34; what runs away needs 2 to 5 and more.
_MOST_STEPS = 5_000
_STEPS_FOR_BYTE = 0.5
# A large one is parsed by the clock as well, since a step may take long there.
# In time of the processor, so that a file is given up on a busy machine no sooner than on another.
_SECONDS = 2.0
_SECONDS_FOR_BYTE = 4.0 / 1_000_000
# A query takes quadratic time over the signs in one error.
_MAX_ERROR_CHILDREN = 10_000
_MAX_ERRORS = 2_000
# Queries do not look at deeper nodes: the way up from a node takes time in proportion to its depth.
_MAX_DEPTH = 1_000
_LARGE_NODE_LINES = 25
_MAX_BREAK_DEPTH = 60
_MAX_REFERENCES = 50_000
_MAX_NAME_BYTES = 200
_MAX_IMPORT_BYTES = 1_000
_MAX_MACRO_BYTES = 5_000
_CAPITAL = re.compile(rb"_*[A-Z]")
_WORD = re.compile(rb"[A-Za-z_$][\w$]*")
_CALL = re.compile(rb"(?<![\w.#>])([A-Za-z_]\w*)\s*\(")
_NO_CODE = re.compile(rb"\"(?:\\.|[^\"\\\n])*+\"|'(?:\\.|[^'\\\n])*+'|/\*(?:[^*]|\*(?!/))*+\*/|//[^\n]*")
_NO_CALLS = frozenset({b"if", b"for", b"while", b"switch", b"return", b"sizeof", b"defined", b"do", b"typeof"})

# Clojure makes an Order with `(Order. …)` or `(->Order …)`.
_CONSTRUCTOR = re.compile(rb"^(?:map)?->(?=[A-Z])|(?<=\w)\.$")

# Nodes in which what looks like a definition is none.
_NO_CODE_NODES = re.compile(
    r"comment|string|heredoc|haddock|^pod|regex|quoted|here_doc|^preproc_arg$|^data_(?:section|not_for_compiler)$|raw_text|^interface$"
)

_INDENTED = frozenset({"scala"})

_Kind = Literal["import", "call", "type"]
_Captures = Mapping[str, list[Node]]


class _Tree(NamedTuple):
    tree: Tree
    grammar: Grammar
    captures: _Captures  # of `grammar.names`


def parse(document: Document) -> ParsedDocument | None:
    """Return symbols, references and breaks; None when there are no queries for the language. Never raises."""
    if document.language not in languages():
        return None
    problem = load_problem(document.language)
    data = document.text.encode("utf-8", "replace")
    if document.language == "fortran" and document.path.lower().endswith(FIXED_FORM):
        data = free_form(data)
    if not problem and len(data) > MAX_WHOLE_FILE_BYTES:
        problem = Note(TOO_LARGE_TO_PARSE, {"count": len(data)})
    if problem or (_repeats_itself(data) and not has_heads(document.text, document.language)):
        return _given_up(document, problem or Note(REPEATS_ITSELF))
    code = without_macros(data, document.language) if document.language in WITH_MACROS else data
    tree = _tree(code, load(document.language))
    if tree is not None and tree.tree.root_node.has_error and document.path.lower().endswith(".h"):
        tree = _read_as_cpp(code, document.language, tree)
    if tree is None:
        return _given_up(document, Note(TOO_BROKEN))
    return _parsed(document, data, [tree, *_embedded(tree, data)])


def _read_as_cpp(code: bytes, language: str, tree: _Tree) -> _Tree:
    """Return the tree of a header of C by the grammar of C++, if that finds fewer errors than the one of C."""
    if language != "c" or load_problem("cpp"):
        return tree
    other = _tree(code, load("cpp"))
    is_better = other is not None and _n_errors(other) < _n_errors(tree)
    return other if other is not None and is_better else tree


def _n_errors(tree: _Tree) -> int:
    return sum(1 for _ in _errors(tree.tree))


def _given_up(document: Document, problem: Note) -> ParsedDocument:
    return ParsedDocument(document, (), (), (), NAME, (problem,))


def _parsed(document: Document, data: bytes, trees: Sequence[_Tree]) -> ParsedDocument:
    comments, attributes, docs = (_captured(trees, f"margin.{kind}") for kind in ("comment", "attribute", "doc"))
    comments_above = comments_by_row(comments, attributes, docs, data)
    source = DefinitionSource(data, _title(document.path), comments_above, document.language in _INDENTED)
    definitions = [definition for tree in trees for definition in _definitions(tree)]
    symbols = symbols_of(definitions, source)
    if document.language in WITH_CLAUSES:
        symbols = merge_clauses(symbols, document.language)
    lost = _lost_heads(document, data, symbols, trees[0])
    symbols = with_heads(symbols, list(lost.values()), document.text) if lost else symbols
    names = {definition.name.start_byte for definition in definitions if definition.name is not None}
    return ParsedDocument(
        document,
        tuple(symbols),
        tuple(_references(_uses_of(trees, data, definitions, names | lost.keys()), symbols)),
        tuple(_breaks(trees, data, comments_above)),
        NAME,
        (
            *(problem for tree in trees for problem in _problems(tree.tree)),
            *_without_grammar(trees[0]),
            *note(lost.values()),
        ),
    )


def _lost_heads(document: Document, data: bytes, symbols: Sequence[Symbol], outer: _Tree) -> dict[int, Head]:
    """Return the heads of definitions in the code of a document that have no symbol, by where the name begins."""
    heads = without_symbol(heads_of(document.text, document.language), symbols)
    if not heads:
        return {}
    starts = [0, *accumulate(len(line) + 1 for line in data.split(b"\n"))]
    lines = document.text.split("\n")
    places: dict[int, Head] = {}
    line, column, width = 0, 0, 0
    for head in heads:  # in order, so that nothing is measured twice where many stand on one line
        line, column, width = (line, column, width) if head.line == line else (head.line, 0, 0)
        width += _width(lines[line - 1][column : head.column])
        column = head.column
        places[starts[line - 1] + width] = head
    root = outer.tree.root_node
    return {place: head for place, head in places.items() if _is_code(root.descendant_for_byte_range(place, place))}


def _width(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _is_code(node: Node | None) -> bool:
    """Return True if a node lies neither in a comment nor in a string, as far as the tree tells."""
    row = node.start_point[0] if node is not None else 0
    for _ in range(_MAX_DEPTH):
        if node is None:
            break
        # A regular expression that goes over lines with definitions is a division that the grammar of Perl misreads.
        if _NO_CODE_NODES.search(node.type) and not ("regex" in node.type and node.end_point[0] > row):
            return False
        node = node.parent
    return True


def _tree(data: bytes, grammar: Grammar, ranges: Sequence[Range] | None = None) -> _Tree | None:
    """Parse; None when that takes too long. A parser of its own each time: threads must not share one."""
    parser = Parser(grammar.language, included_ranges=ranges) if ranges else Parser(grammar.language)
    tree = _parse_within_limits(parser, data)
    if tree is None or any(error.child_count > _MAX_ERROR_CHILDREN for error in _errors(tree)):
        return None
    cursor = QueryCursor(grammar.names)
    cursor.set_max_start_depth(_MAX_DEPTH)
    return _Tree(tree, grammar, cursor.captures(tree.root_node))


def _repeats_itself(data: bytes) -> bool:
    return len(data) > _MAY_REPEAT_BYTES and len(zlib.compress(data, 1)) * _MAX_COMPRESSION < len(data)


def _parse_within_limits(parser: Parser, data: bytes) -> Tree | None:
    """Parse by callbacks, the only way to be asked whether to go on; None when it was stopped."""
    is_large = len(data) > _LARGE_BYTES
    deadline = thread_time() + _SECONDS + _SECONDS_FOR_BYTE * len(data)
    n_steps, most_steps = 0, _MOST_STEPS + _STEPS_FOR_BYTE * len(data)
    text = memoryview(data)
    # py-tree-sitter 0.26 never frees what `read` returns, and a scanner that looks ahead asks thousands of times: views
    # that are let go of, not copies.
    views: list[memoryview] = []

    def read(offset: int, _place: object) -> memoryview:
        views.append(text[offset:])
        return views[-1]

    def is_too_much(_offset: int, _error: bool) -> bool:
        nonlocal n_steps
        n_steps += 1
        return n_steps + len(views) > most_steps or (is_large and thread_time() > deadline)

    try:
        tree = parser.parse(read, progress_callback=is_too_much)
        # A tree made by callbacks would read its text by callbacks too, a thousand times slower. Made from that one, it
        # can have other errors, which is taken into account for large files, as they take long enough.
        is_made_anew = tree.root_node.has_error and not is_large
        return parser.parse(data) if is_made_anew else parser.parse(data, tree)
    except ValueError:  # how py-tree-sitter says that it was told to stop
        return None
    finally:
        for view in views:
            view.release()


def _embedded(outer: _Tree, data: bytes) -> Iterator[_Tree]:
    """Yield the trees of code in other languages; a node belongs to the first capture of its kind in the query."""
    seen: set[int] = set()
    for language, nodes in _embedded_code(outer):
        if load_problem(language):
            continue
        for node in nodes:
            if node.start_byte not in seen:
                seen.add(node.start_byte)
                inner = _tree(data, load(language), [node.range])
                if inner is not None:
                    yield inner


def _embedded_code(outer: _Tree) -> Iterator[tuple[str, Sequence[Node]]]:
    names = outer.grammar.names
    for capture in (names.capture_name(index) for index in range(names.capture_count)):
        language = capture.removeprefix("embedded.")
        if language != capture and (nodes := outer.captures.get(capture)):
            yield language, nodes


def _without_grammar(outer: _Tree) -> Iterator[Note]:
    """Yield a problem for each embedded language whose code was left out."""
    yield from filter(None, map(load_problem, dict.fromkeys(language for language, _ in _embedded_code(outer))))


def _captured(trees: Sequence[_Tree], capture: str) -> Iterator[Node]:
    return chain.from_iterable(tree.captures.get(capture, ()) for tree in trees)


def _title(path: str) -> str:
    """Return the name of what a file defines as a whole: its own, or its folder's for `index`."""
    folder, _, name = path.rpartition("/")
    stem = name.split(".")[0]
    return folder.rpartition("/")[2] or stem if stem == "index" else stem


def _definitions(tree: _Tree) -> Iterator[Definition]:
    kinds = tree.grammar.kinds
    cursor = QueryCursor(tree.grammar.definitions)
    cursor.set_max_start_depth(_MAX_DEPTH)
    for pattern, captures in cursor.matches(tree.tree.root_node):
        kind = kinds[pattern]
        nodes = captures.get(f"definition.{kind}")
        if not nodes:
            continue
        scopes = captures.get("scope", [])
        doc, body = captures.get("doc"), captures.get("body")
        # One pattern may define several names, such as `a, b = 1, 2`.
        for name in captures.get("name") or (None,):
            yield Definition(kind, nodes[0], name, scopes, doc[0] if doc else None, body[0] if body else None, pattern)


class _Use(NamedTuple):
    line: int
    name: str
    qualifier: str
    place: int  # in bytes


def _references(uses_of: Mapping[_Kind, Iterable[_Use]], symbols: Sequence[Symbol]) -> list[Reference]:
    """Return each used name once for each symbol that uses it and each thing it is taken from, with its first line and
    how often it stands there.
    """
    tallies: dict[tuple[_Kind, str, str, str], list[int]] = {}
    for kind, uses in uses_of.items():
        for use, container in _contained(sorted(uses), symbols if kind != "import" else ()):
            key = (kind, use.name, container, use.qualifier)
            tally = tallies.get(key)
            if tally is None:
                tallies[key] = [use.line, 1]
            else:
                tally[1] += 1
    references = [
        Reference(kind, name, line, container, count, before)
        for (kind, name, container, before), (line, count) in tallies.items()
    ]
    references.sort(key=lambda reference: (reference.line, reference.kind, reference.name))
    return references[:_MAX_REFERENCES]


def _uses_of(
    trees: Sequence[_Tree], data: bytes, definitions: Sequence[Definition], names: set[int]
) -> Mapping[_Kind, Iterable[_Use]]:
    """Return the imports, and the uses of names that are not those of local values; definitions stand at `names`."""
    calls, types = (list(_uses(_captured(trees, f"reference.{kind}"), data, names)) for kind in ("call", "type"))
    calls += _uses_in_macros(_captured(trees, "reference.macro"), data)
    imports = [*_imports(_captured(trees, "reference.import"), data), *_imported_names(trees, data)]
    seen = {use.place for use in (*calls, *types)} | names
    own = {data[node.start_byte : node.end_byte] for node in (item.name for item in definitions) if node is not None}
    values = list(_values(trees, data, seen, imports, own))
    used = {_first_name(use) for use in (*calls, *types, *values)}
    local = LocalNames(lambda capture: _captured(trees, capture), definitions, data, used)
    types_seen = [*_visible(types, "type", local), *_visible(_not_local(values, local), "type", local)]
    return {"import": imports, "call": _visible(calls, "call", local), "type": types_seen}


def _values(
    trees: Sequence[_Tree], data: bytes, seen: set[int], imports: Iterable[_Use], own: set[bytes]
) -> Iterator[_Use]:
    """Yield the uses of names as values or before a dot: of those that are imported or defined here, or have a capital
    as types, constants and their members do; also of what stands behind a module."""
    imports = list(imports)
    imported = {word for use in imports for word in _WORD.findall(f"{use.name} {use.qualifier}".encode())}
    modules = {name for use in imports for name in names_of_modules(use.name, use.qualifier)}
    before = tuple(f"{name}.".encode() for name in modules)
    statements = sorted((node.start_byte, node.end_byte) for node in _captured(trees, "reference.import"))
    nodes = (
        node
        for node in _captured(trees, "reference.value")
        if (start := node.start_byte) not in seen
        and (
            _CAPITAL.match(name := data[start : min(node.end_byte, start + _MAX_NAME_BYTES)])
            or name in imported
            or name in own
            or data.endswith(before, 0, start)
        )
    )
    for use in _uses(nodes, data, seen):
        place = bisect_right(statements, (use.place, sys.maxsize)) - 1
        if place >= 0 and statements[place][1] > use.place:
            continue
        if not use.qualifier or use.qualifier in modules or _is_named(use.name.encode(), imported):
            yield use


def _is_named(name: bytes, imported: Collection[bytes]) -> bool:
    return name in imported or _CAPITAL.match(name) is not None


def _not_local(uses: Iterable[_Use], local: LocalNames) -> Iterator[_Use]:
    return (use for use in uses if use.qualifier or not local.binds(use.name, use.place))


def _uses_in_macros(nodes: Iterable[Node], data: bytes) -> Iterator[_Use]:
    """Yield the calls in texts that macros stand for, which are not parsed."""
    for node in nodes:
        text = data[node.start_byte : min(node.end_byte, node.start_byte + _MAX_MACRO_BYTES)]
        for match in _CALL.finditer(_NO_CODE.sub(lambda quoted: b" " * len(quoted[0]), text)):
            if match[1] not in _NO_CALLS and match.end(1) - match.start(1) <= _MAX_NAME_BYTES:
                line = node.start_point[0] + 1 + text.count(b"\n", 0, match.start())
                yield _Use(line, match[1].decode(), "", node.start_byte + match.start())


def _uses(nodes: Iterable[Node], data: bytes, names: set[int]) -> Iterator[_Use]:
    """Yield the uses; `names` are the places at which definitions are named: no uses."""
    seen = set(names)
    for node in nodes:
        start, end = node.start_byte, node.end_byte
        if 1 < end - start <= _MAX_NAME_BYTES and start not in seen:
            seen.add(start)
            name = data[start:end]
            if not name.replace(b"_", b"").isalnum():  # seldom
                name = _CONSTRUCTOR.sub(b"", name).strip(b'"`')
            if b"\n" not in name:
                yield _Use(node.start_point[0] + 1, name.decode("utf-8", "replace"), qualifier(node, data), start)


def _first_name(use: _Use) -> str:
    return use.qualifier.partition(".")[0] or use.name


def _visible(uses: Iterable[_Use], kind: _Kind, local: LocalNames) -> Iterator[_Use]:
    """Yield the uses without those of local values; what stands behind such a value belongs to an expression."""
    for use in uses:
        if not use.qualifier:
            if not local.hides(use.name, use.place, kind):
                yield use
        elif local.binds(_first_name(use), use.place):
            yield use._replace(qualifier=f"?.{use.qualifier}")
        else:
            yield use


def _imports(nodes: Iterable[Node], data: bytes) -> Iterator[_Use]:
    places = {node.start_byte: node for node in nodes}
    for start, node in places.items():
        name = _folded(data[start : min(node.end_byte, start + _MAX_IMPORT_BYTES)])
        if name:
            yield _Use(node.start_point[0] + 1, name, bound_names(node, data), node.start_byte)


def _imported_names(trees: Sequence[_Tree], data: bytes) -> Iterator[_Use]:
    """Yield `module.name` for each name imported from a module, and the module when no name follows it."""
    nodes = [(node.start_byte, node, True) for node in _captured(trees, "import.module")]
    nodes += [(node.start_byte, node, False) for node in _captured(trees, "import.name")]
    nodes.sort(key=lambda item: item[0])
    module, line, n_names = "", 0, 1
    for _, node, is_module in nodes:
        text = _folded(data[node.start_byte : min(node.end_byte, node.start_byte + _MAX_NAME_BYTES)])
        if not is_module:
            n_names += 1
            if text:  # nothing stands behind the last comma
                name = module + text if module.endswith((".", "\\")) else f"{module}.{text}"
                yield _Use(node.start_point[0] + 1, name, bound_names(node, data), node.start_byte)
            continue
        if not n_names:
            yield _Use(line, module, "*", 0)
        module = f"{text}\\" if node.type == "namespace_name" else text
        line, n_names = node.start_point[0] + 1, 0
    if not n_names:
        yield _Use(line, module, "*", 0)


def _folded(name: bytes) -> str:
    return " ".join(name.decode("utf-8", "replace").split()).strip("\"'`<> ")


def _contained(uses: Iterable[_Use], symbols: Sequence[Symbol]) -> Iterator[tuple[_Use, str]]:
    """Add to each use, ordered by line, the innermost symbol around its line."""
    holders = [symbol for symbol in symbols if symbol.kind not in VALUE_KINDS]
    n_opened = 0
    around: list[Symbol] = []
    for use in uses:
        line = use.line
        while n_opened < len(holders) and holders[n_opened].start_line <= line:
            while around and around[-1].end_line < holders[n_opened].start_line:
                around.pop()
            around.append(holders[n_opened])
            n_opened += 1
        while around and around[-1].end_line < line:
            around.pop()
        yield use, around[-1].qualified_name if around else ""


def _breaks(trees: Sequence[_Tree], data: bytes, comments_above: CommentsByRow) -> list[Break]:
    """Return a break at the start of each child of a large node, above the comments that belong to it."""
    depth_of: dict[int, int] = {}
    stack = [(tree.tree.root_node, 2 * int(index > 0)) for index, tree in enumerate(trees)]
    while stack:
        node, depth = stack.pop()
        first = node.start_point[0]
        for child in node.named_children:
            row, column = child.start_point
            if child.end_point[0] - row > _LARGE_NODE_LINES and depth < _MAX_BREAK_DEPTH:
                stack.append((child, depth + 1))
            leading = above(comments_above, row, column)
            top = leading.row if leading is not None else row
            if top > first and depth_of.get(top, depth + 1) > depth and opens_line(data, child.start_byte, column):
                depth_of[top] = depth
    return [Break(row + 1, depth) for row, depth in sorted(depth_of.items())]


def _problems(tree: Tree) -> tuple[Note, ...]:
    first = next(_errors(tree), None)
    return (Note(SYNTAX_ERROR, {"line": _row_of_error(first, tree) + 1}),) if first is not None else ()


def _row_of_error(error: Node, tree: Tree) -> int:
    """Return the row at which an error stands; its node may begin with the file, and hold all that is sound before it.

    Whole pieces of syntax are sound; single words and signs in such a node are what the parser could not use.
    """
    first_row, row = tree.root_node.start_point[0], error.start_point[0]
    node: Node | None = error
    for _ in range(_MAX_DEPTH):
        if node is None:
            break
        children = [child for child in node.children if child.is_error or not child.is_extra]
        broken = next((child for child in children if child.has_error or child.is_missing), None)
        word = next((child for child in children if not child.child_count), None) if node.is_error else None
        unused = [child.start_point[0] for child in (word, broken) if child is not None]
        row = min(unused, default=row)
        # A word on the first row opens something that is broken further below.
        if broken is None or (word is not None and first_row < word.start_point[0] <= broken.start_point[0]):
            break
        row, node = broken.start_point[0], broken
    return row


def _errors(tree: Tree) -> Iterator[Node]:
    """Yield errors from the top down; of a very broken tree not all."""
    root = tree.root_node
    if not root.has_error:
        return
    stack = [root]
    n_seen = 0
    while stack and n_seen < _MAX_ERRORS:
        node = stack.pop()
        n_seen += 1
        if node.is_error or node.is_missing:
            yield node
        inner = [child for child in node.children if child.has_error or child.is_missing]
        stack.extend(reversed(inner))
