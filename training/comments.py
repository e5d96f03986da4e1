"""Definitions with their documentation, found without a grammar, so that mined pairs do not depend on the parser."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from codefathom.types import Document, Symbol

BRACES = {"javascript", "typescript", "tsx", "go", "rust", "java", "c", "cpp"}
LANGUAGES = BRACES | {"python"}

_MOST_LINES = 80
_LINE_COMMENT = re.compile(r"\s*//[/!]?(?!\s*(?:-{4,}|={4,}))")
_SKIPPED = re.compile(r"\s*(?:@[\w.]+(?:\(.*\))?|#\[.*\]|template\s*<.*>|)\s*$")
# The name is what stands before an opening bracket, or after a word that defines something.
_DEFINED = re.compile(
    r"\b(?:func(?:tion)?(?:\s*\([^)]*\))?|fn|class|interface|struct|enum|trait|type|impl|mod|macro_rules!|record"
    r"|const|let|var|#define)\s*\*?\s*([A-Za-z_]\w*)|([A-Za-z_~][\w:]*)\s*\("
)
_TYPE_ALONE = re.compile(r"(?:[A-Za-z_]\w*[ \t*]+)*[A-Za-z_]\w*[ \t*]*$")  # the name stands on the next line
_KEYWORDS = {"if", "for", "while", "switch", "return", "catch", "else", "do", "import", "package", "require", "include"}


def definitions(document: Document) -> list[Symbol]:
    """Return the documented and the larger undocumented definitions of a file."""
    if document.language == "python":
        return list(_python(document.text))
    return list(_braces(document.text.split("\n")))


def _python(text: str) -> Iterator[Symbol]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = text.split("\n")
    yield from _members(tree, "", lines)


def _members(node: ast.AST, prefix: str, lines: Sequence[str]) -> Iterator[Symbol]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        name = f"{prefix}.{child.name}" if prefix else child.name
        doc = ast.get_docstring(child) or ""
        kind = "class" if isinstance(child, ast.ClassDef) else "function"
        end = child.end_lineno or child.lineno
        signature = lines[child.lineno - 1].strip()
        yield Symbol(kind, child.name, name, child.lineno, end, child.lineno, signature, doc)
        if kind == "class":
            yield from _members(child, name, lines)


def _braces(lines: Sequence[str]) -> Iterator[Symbol]:
    index = 0
    while index < len(lines):
        doc, after = _comment(lines, index)
        if after == index:
            index += 1
            continue
        start, index = index, after
        while after < len(lines) and _SKIPPED.match(lines[after]) and after - index < 4 and lines[after].strip():
            after += 1
        if after + 1 < len(lines) and _TYPE_ALONE.match(lines[after]):
            after += 1
        if after < len(lines) and (name := _name(lines[after])):
            end = _end(lines, after)
            yield Symbol("function", name, name, start + 1, end, after + 1, lines[after].strip()[:200], doc)


def _comment(lines: Sequence[str], start: int) -> tuple[str, int]:
    """The text of the comment that begins here and the first line after it; the same line when there is none."""
    line = lines[start].lstrip()
    end = start
    if line.startswith("/*"):
        while end < len(lines) and "*/" not in lines[end]:
            end += 1
        end += 1
    else:
        while end < len(lines) and _LINE_COMMENT.match(lines[end]):
            end += 1
    found = [part.strip().lstrip("/*!").rstrip("*/").strip() for part in lines[start:end]]
    text: list[str] = []
    for part in found:
        if part.startswith(("@param", "@return", "\\param", "@author", "@since", "@see", "@version")):
            break
        text.append(part)
    return "\n".join(text).strip(), end


def _name(line: str) -> str:
    if line.startswith((" " * 13, "\t\t\t")):
        return ""
    for match in _DEFINED.finditer(line):
        name = (match[1] or match[2]).strip()
        if name not in _KEYWORDS:
            return name
    return ""


def _end(lines: Sequence[str], start: int) -> int:
    """The last line of the body: where the brackets are even again."""
    depth = 0
    for index in range(start, min(start + _MOST_LINES, len(lines))):
        depth += sum(map(lines[index].count, "{([")) - sum(map(lines[index].count, "})]"))
        opens_below = index + 1 < len(lines) and lines[index + 1].lstrip().startswith("{")
        if depth <= 0 and not opens_below and lines[index].rstrip().endswith(("}", ";", "};", ")", ",")):
            return index + 1
    return min(start + _MOST_LINES, len(lines))
