/** Which lines of a place are shown before it is opened. */

export interface Excerpt {
  /** Number of the first line that is shown, as in the file. */
  readonly firstLine: number;
  /** The same within the place, from 0. */
  readonly from: number;
  readonly to: number;
  /** How many lines of the place are not shown. */
  readonly hidden: number;
}

const BEFORE = 2;
/** So few hidden lines are not worth a button. */
const SLACK = 2;

/** At most about `most` lines around the line to look at first. */
export function excerptOf(lines: readonly string[], startLine: number, line: number, most: number): Excerpt {
  const last = lines.findLastIndex((text) => text.trim() !== "") + 1;
  if (last <= most + SLACK) return { firstLine: startLine, from: 0, to: last, hidden: 0 };
  const best = Math.max(line - startLine, 0);
  let wanted = Math.max(best - BEFORE, 0);
  while (wanted < best && lines[wanted]?.trim() === "") wanted += 1;
  wanted = Math.min(wanted, last - most);
  return { firstLine: startLine + wanted, from: wanted, to: wanted + most, hidden: last - most };
}

/** How many blanks all lines begin with. */
export function indentOf(lines: readonly string[]): number {
  const depths = lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length);
  return depths.length > 0 ? Math.min(...depths) : 0;
}
