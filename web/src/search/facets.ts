/** What there is to choose from in the filters. */

export type Counts = readonly (readonly [name: string, count: number])[];

/** How often each name is counted in all together, the most frequent first. */
export function countsOf(counted: readonly Readonly<Record<string, number>>[]): Counts {
  const sums = new Map<string, number>();
  for (const counts of counted) {
    for (const [name, count] of Object.entries(counts)) sums.set(name, (sums.get(name) ?? 0) + count);
  }
  return [...sums].sort((one, other) => other[1] - one[1] || one[0].localeCompare(other[0]));
}

/** The folder in which a path is being typed: of `src/sh` it is `src`. */
export function folderBefore(text: string): string {
  return text.includes("/") ? text.slice(0, text.lastIndexOf("/")).replace(/^\/+/, "") : "";
}
