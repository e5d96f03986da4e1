"""The text around a name, and its meaning: the thing it belongs to, and which names an import gives to its file."""

from __future__ import annotations

import re
import string

from tree_sitter import Node

_MOST_BYTES = 120  # that are looked at before a name
_MOST_IMPORT_BYTES = 20_000  # the list of a file that passes on what a package exports
_COMMENT = re.compile(r"//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)")
_UP = 6  # nodes from the path of an import to its statement

# `->` before a space is the arrow of a function or of its type.
_MARK = rb"(?:\?\.|!!?\.|&\.|(?<!\.)\.|::|->(?!\s)|\\|(?<=\w):(?=\w))"
# A chain of names that ends in a mark, or any other expression before one.
_CHAIN = re.compile(rb"((?:[\w$@]+[!?]?\s*" + _MARK + rb"\s*)*[\w$@]+[!?]?)\s*" + _MARK + rb"\s*$")
_AFTER_EXPRESSION = re.compile(rb"[)\]}\"'`>]\s*" + _MARK + rb"\s*$")
_MARKS = re.compile(r"\s*(?:\?\.|!!?\.|&\.|\.|::|->|\\|:)\s*")

_ENDS_OF_MARKS = (b".", b"::", b"->", b"\\")
_ENDS_OF_EXPRESSIONS = frozenset({b".", b")", b"]"})
# The same chain without spaces and rare marks, read from its end: it is found at the first byte or not at all.
_PLAIN_CHAIN = re.compile(rb"(?:\.|::|>-)([\w$@]++(?:(?:\.|::|>-)[\w$@]++)*+)\s*+(?![.:>\\])")
_NO_MARKS = frozenset(bytes([sign]) for sign in b"(,[{!=+-*/<&|~^;@#$%'\"`?0123456789")
_CHAIN_BYTES = string.ascii_letters.encode() + string.digits.encode() + string.whitespace.encode() + b"_$@!?&.:->\\"

# `import D, {a as b}, * as ns from`, `export {a as b} from`, `const {a: b} = require(`
_CLAUSE = re.compile(
    r"^\s*(?:import|export|const|let|var)\b(?:\s+(?:type|typeof)\b(?!\s*(?:,|from\b)))?(.*)$", re.DOTALL
)
_SCRIPT_STATEMENTS = frozenset({"import_statement", "export_statement", "lexical_declaration", "variable_declaration"})


def qualifier(node: Node, data: bytes) -> str:
    """Return the names before a name, with dots between them; "?" after another expression, "" before nothing."""
    start = node.start_byte
    if data[start - 1 : start] in _NO_MARKS:  # most names
        return ""
    before = data[max(0, start - _MOST_BYTES) : start]
    marked = before.rstrip()
    if marked.endswith(_ENDS_OF_MARKS) and b"\n" in before[len(marked) :]:  # seldom
        start = _before_comments(node, data)
        before = data[max(0, start - _MOST_BYTES) : start]
        marked = before.rstrip()
    if not marked.endswith(_ENDS_OF_MARKS) or marked.endswith(b".."):
        return ""
    if marked.endswith(b"->") and len(marked) < len(before):  # the type that a function returns
        return ""
    match = _PLAIN_CHAIN.match(before[::-1])
    if match is not None:  # nearly always
        first, chain = len(before) - match.end(1), match[1][::-1].replace(b"::", b".").replace(b"->", b".")
    else:
        # An expression that ends at the end of a text is tried at every byte, so most bytes are taken away before.
        match = _CHAIN.search(before, len(before.rstrip(_CHAIN_BYTES)))
        if match is None:
            return "?" if _AFTER_EXPRESSION.search(before) else ""
        first, chain = match.start(), match[1]
    if before[max(0, first - 1) : first] in _ENDS_OF_EXPRESSIONS or (not first and start > _MOST_BYTES):
        return "?"  # `make().part.name`: the beginning is no name
    return _MARKS.sub(".", chain.decode("utf-8", "replace")).strip(".").rstrip("!?")


def _before_comments(node: Node, data: bytes) -> int:
    """Return where the text before a name ends, without comments above it that end in a mark: `# All of it.`"""
    end = node.start_byte
    while True:
        before = data[max(0, end - _MOST_BYTES) : end]
        marked = before.rstrip()
        if not marked.endswith(_ENDS_OF_MARKS) or b"\n" not in before[len(marked) :]:
            return end
        comment = _node_at(node, end - len(before) + len(marked) - 1)
        if comment is None or "comment" not in comment.type:
            return end
        end = comment.start_byte


def _node_at(node: Node, place: int) -> Node | None:
    """Return the innermost node at a place before another node."""
    around: Node | None = node
    while around is not None and around.start_byte > place:
        around = around.parent
    return None if around is None else around.descendant_for_byte_range(place, place + 1)


def bound_names(node: Node, data: bytes) -> str:
    """Return the names that an import gives to its file where they are not the last part of its name.

    They are written as `a, b as c`; `*` stands for all names.
    """
    parent = node.parent
    if parent is None:
        return ""
    alias = parent.child_by_field_name("alias")
    if alias is None and parent.type in ("import_spec", "using_directive"):
        alias = parent.child_by_field_name("name")
    if alias is not None:
        return data[alias.start_byte : alias.end_byte].decode("utf-8", "replace").strip()
    if parent.type == "import_statement" and node.type == "dotted_name":  # Python's `import a.b`
        name = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
        return name if "." in name else ""
    return _of_script(node, data) if node.type == "string" else ""


def names_of_modules(name: str, names: str) -> list[str]:
    """Return the names under which a file has whole modules by an import, which says `name` and gives it `names`.

    In a script they are marked; else each name in small letters can be that of a module.
    """
    whole = [part.removeprefix("* as ") for part in names.split(", ") if part.startswith("* as ")]
    if whole or names.startswith(("{", "*")) or re.search(r"[/'\"]", name):
        return whole
    last = names or name.rpartition(".")[2]
    return [last] if last.islower() and last.replace(".", "_").isidentifier() else []


def _of_script(node: Node, data: bytes) -> str:
    statement: Node | None = node
    for _ in range(_UP):
        statement = statement.parent if statement is not None else None
        if statement is None or statement.type in _SCRIPT_STATEMENTS:
            break
    if statement is None or statement.type not in _SCRIPT_STATEMENTS:
        return ""
    written = data[statement.start_byte : min(node.start_byte, statement.start_byte + _MOST_IMPORT_BYTES)]
    match = _CLAUSE.match(_COMMENT.sub(" ", written.decode("utf-8", "replace")))
    return ", ".join(_script_names(match[1])) if match else ""


def _script_names(clause: str) -> list[str]:
    """Return the names of the clause of an import; what is exported by default is called `default`."""
    group = re.search(r"\{(.*?)\}", clause, re.DOTALL)
    rest = clause if group is None else clause[: group.start()] + clause[group.end() :]
    names = []
    for part in group[1].split(",") if group else ():
        words = re.sub(r"^\s*type\s+(?!as\b)", "", part).strip()
        words = re.sub(r"\s*:\s*", " as ", words.partition("=")[0].strip())
        if words:
            names.append(re.sub(r"\s+", " ", words))
    space = re.search(r"\*(?:\s*as\s+([\w$]+))?", rest)
    if space:
        names.append(f"* as {space[1]}" if space[1] else "*")
    default = re.match(r"\s*([\w$]+)\s*(?:,|from\b|=)", rest)
    if default and default[1] != "from":
        names.append(f"{'*' if '=' in rest else 'default'} as {default[1]}")
    return names
