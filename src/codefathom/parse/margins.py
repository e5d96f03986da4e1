"""Comments and attributes that stand on lines of their own, and what they stand above."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tree_sitter import Node


class Margin(NamedTuple):
    """Comments and attributes without a blank line between them."""

    row: int
    column: int
    doc_start: int  # bytes of the comments among them; equal when there are only attributes
    doc_end: int


Margins = Mapping[int, Margin]  # by the last row of each margin, and of each beginning of one


def margins_of(comments: Iterable[Node], attributes: Iterable[Node], data: bytes) -> Margins:
    """Return the margins of a document."""
    found: dict[int, Margin] = {}
    nodes = [(node.start_byte, node, True) for node in comments]
    nodes += [(node.start_byte, node, False) for node in attributes]
    nodes.sort(key=lambda item: item[0])
    for start, node, is_comment in nodes:
        row, column = node.start_point
        if not opens_line(data, start, column):
            continue
        end = node.end_byte
        if not _closes_line(data, end):
            continue
        doc_start, doc_end = (start, end) if is_comment else (start, start)
        above = found.get(row - 1)
        if above is not None and above.column == column:
            row = above.row
            if above.doc_end > above.doc_start:
                doc_start, doc_end = above.doc_start, max(doc_end, above.doc_end) if is_comment else above.doc_end
        found[last_row(node)] = Margin(row, column, doc_start, doc_end)
    return found


def above(margins: Margins, row: int, column: int) -> Margin | None:
    """Return what stands directly above a node that begins at a row and column, not deeper than the node."""
    margin = margins.get(row - 1)
    return margin if margin is not None and margin.column <= column else None


def last_row(node: Node) -> int:
    """Return the last row of a node; one that ends with its line break does not reach the next row."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def opens_line(data: bytes, start: int, column: int) -> bool:
    """Return whether only white space stands before a byte on its line."""
    return not column or not data[start - column : start].strip()


def _closes_line(data: bytes, end: int) -> bool:
    if data[end : end + 1] in (b"\n", b"\r", b"") or data[end - 1 : end] == b"\n":
        return True
    line_end = data.find(b"\n", end)
    return not data[end : line_end if line_end >= 0 else len(data)].strip()
