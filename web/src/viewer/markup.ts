// A tag of HTML outside of code; `<!-- ... -->` is nothing that anybody misses. No part of it goes on past the next "<":
// else a text of many open tags would be read to its end for each of them.
const TAG = /^[^`\n]*<\/?[a-z][a-z0-9-]*(?:\s[^<>]*)?\/?>/im;
const EMPTY = /^[\s>]*$/;
// The line below the head of a table, also in a quotation or a list.
const RULE = /^[\s>*+.)\d|:-]*$/;
const MOST_CELLS = 20_000;
const DEEPEST = 100;
const MOST_DEFINITIONS = 1_000;
// Lines that are not empty, and signs that may begin something inside of a line. Each becomes an element, or nearly so:
// ten thousand take some seconds on a slow machine.
const MOST_PARTS = 12_000;
const INLINE = /[*_~`]+|\[|<|https?:|www\.|@/g;

/** Returns whether a text of Markdown has a tag of HTML. */
export function hasTag(text: string): boolean {
  return TAG.test(text);
}

/**
 * Returns whether a text of Markdown can be set in a moment, whatever its writer meant it to do to the page. Each row of
 * a table gets as many cells as its head has, each reference is compared with all definitions, and parts in parts are
 * set within each other: few signs can stand for more than a browser can hold. And a flat text can have too many parts.
 */
export function isSoonSet(text: string): boolean {
  const lines = text.split("\n");
  return (
    nParts(lines) <= MOST_PARTS &&
    nCells(lines) <= MOST_CELLS &&
    lines.every((line) => depthOf(line) <= DEEPEST) &&
    nNamed(text) <= MOST_DEFINITIONS
  );
}

function nParts(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + (EMPTY.test(line) ? 0 : 1 + (line.match(INLINE)?.length ?? 0)), 0);
}

/** The most cells that the tables can have: all lines below the head, up to an empty one, are rows. */
function nCells(lines: readonly string[]): number {
  let cells = 0;
  let columns = 0;
  for (const line of lines) {
    if (EMPTY.test(line)) columns = 0;
    else if (RULE.test(line)) columns = Math.max(columns, line.split("|").length);
    cells += columns > 1 ? columns : 0;
  }
  return cells;
}

/** How deep the quotations and lists are in which a line stands, at most. */
function depthOf(line: string): number {
  return (/^(?:\s*(?:>|[-*+](?=\s)|\d{1,9}[.)](?=\s)))*/.exec(line)?.[0] ?? "").replace(/[\s\d]/g, "").length;
}

/** Definitions of links and notes, and references to notes. */
function nNamed(text: string): number {
  return (text.match(/^[\s>]*\[[^\]\n]{1,999}\]:|\[\^/gm) ?? []).length;
}
