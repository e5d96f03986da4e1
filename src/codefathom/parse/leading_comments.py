"""Comments and attributes on lines of their own, directly above the definition that they belong to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tree_sitter import Node

_BLANK_LINES = re.compile(rb"[ \t]*\r?\n((?:[ \t]*\r?\n)*)")


class LeadingComments(NamedTuple):
    """Comments and attributes without a blank line between them, except below an attribute."""

    row: int
    column: int
    doc_start: int  # bytes of the comments among them; equal when there are only attributes
    doc_end: int
    has_own_doc: bool = False  # an attribute gives the doc; no comment adds to it


CommentsByRow = Mapping[int, LeadingComments]  # by the last row of each group, and of each beginning of one


def comments_by_row(
    comments: Iterable[Node], attributes: Iterable[Node], docs: Iterable[Node], data: bytes
) -> CommentsByRow:
    """Return the leading comments in a document; `docs` are texts in attributes that document the definition below."""
    by_row: dict[int, LeadingComments] = {}
    doc_spans = _doc_spans(docs)
    nodes = [(node.start_byte, node, True) for node in comments]
    nodes += [(node.start_byte, node, False) for node in attributes]
    nodes.sort(key=lambda item: item[0])
    for start, node, is_comment in nodes:
        row, column = node.start_point
        if not opens_line(data, start, column) or (start == 0 and data[:2] == b"#!"):
            continue
        end = node.end_byte
        if not _closes_line(data, end):
            continue
        doc_start, doc_end = (start, end) if is_comment else doc_spans.get(start, (start, start))
        has_own_doc = not is_comment and doc_end > doc_start
        above = by_row.get(row - 1)
        if above is not None and above.column == column:
            row = above.row
            if above.doc_end > above.doc_start and not has_own_doc:
                adds = is_comment and not above.has_own_doc
                doc_start, doc_end = above.doc_start, max(doc_end, above.doc_end) if adds else above.doc_end
                has_own_doc = above.has_own_doc
        last = last_row(node) if is_comment else last_row(node) + _n_blank_lines(data, end)
        by_row[last] = LeadingComments(row, column, doc_start, doc_end, has_own_doc)
    return by_row


def _doc_spans(docs: Iterable[Node]) -> dict[int, tuple[int, int]]:
    """Return the bytes of the text in an attribute, in however many parts, by where the attribute begins."""
    spans: dict[int, tuple[int, int]] = {}
    for node in docs:
        outer = node.parent
        while outer is not None and outer.type != "unary_operator":
            outer = outer.parent
        if outer is not None:
            start, end = spans.get(outer.start_byte, (node.start_byte, node.end_byte))
            spans[outer.start_byte] = min(start, node.start_byte), max(end, node.end_byte)
    return spans


def _n_blank_lines(data: bytes, end: int) -> int:
    """Count the blank lines below an attribute: it belongs to the definition below them, unlike a comment."""
    match = _BLANK_LINES.match(data, end)
    return match[1].count(b"\n") if match is not None else 0


def above(comments: CommentsByRow, row: int, column: int) -> LeadingComments | None:
    """Return the comments directly above a node that begins at a row and column, if not deeper than the node."""
    leading = comments.get(row - 1)
    return leading if leading is not None and leading.column <= column else None


def last_row(node: Node) -> int:
    """Return the last row of a node; one that ends with its line break does not reach the next row."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def opens_line(data: bytes, start: int, column: int) -> bool:
    """Return True if only white space stands before a byte on its line."""
    return not column or not data[start - column : start].strip()


def _closes_line(data: bytes, end: int) -> bool:
    if data[end : end + 1] in (b"\n", b"\r", b"") or data[end - 1 : end] == b"\n":
        return True
    line_end = data.find(b"\n", end)
    return not data[end : line_end if line_end >= 0 else len(data)].strip()
