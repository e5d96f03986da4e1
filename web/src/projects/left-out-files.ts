/** Files that are not in the index, counted and chosen from. */

import type { Note } from "../i18n/notes";

export interface LeftOutFile {
  readonly path: string;
  readonly reason: string;
  readonly reason_parts?: readonly Note[];
}

/** How many there are of each reason, the most frequent first. */
export function countsOf(files: readonly LeftOutFile[]): readonly (readonly [reason: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const { reason } of files) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1] || one[0].localeCompare(other[0]));
}

/** Those of one reason, or of any when none is given, whose path has all words of a text in it. */
export function matching(files: readonly LeftOutFile[], reason: string, text: string): readonly LeftOutFile[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return files.filter(
    (file) => (!reason || file.reason === reason) && words.every((word) => file.path.toLowerCase().includes(word)),
  );
}
