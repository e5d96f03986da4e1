/** From the numbers of a hit to bars: what each source of evidence adds to its rank, or takes from it. */

export interface Explained {
  readonly name: string;
  readonly meaning: string;
  readonly weight: number;
}

export interface Bar {
  readonly name: string;
  readonly meaning: string;
  /** What the source of evidence gave. */
  readonly value: number;
  /** What that adds to the sum by which places are ordered; 0 where it is no part of it. */
  readonly added: number;
  /** Length and side of the bar: -1 to 1 of the longest. */
  readonly share: number;
}

/** One bar for each signal, the strongest first; those that say nothing last. */
export function barsOf(signals: Readonly<Record<string, number>>, explained: readonly Explained[]): readonly Bar[] {
  const known = new Map(explained.map((item) => [item.name, item]));
  const plain = Object.entries(signals).map(([name, value]) => {
    const { meaning = "", weight = 0 } = known.get(name) ?? {};
    return { name, meaning, value, added: weight * value };
  });
  const isWeighed = plain.some((bar) => bar.added !== 0);
  const length = (bar: { added: number; value: number }) => (isWeighed ? bar.added : bar.value);
  const longest = Math.max(...plain.map((bar) => Math.abs(length(bar))), Number.MIN_VALUE);
  return plain
    .map((bar) => ({ ...bar, share: length(bar) / longest }))
    .sort((one, other) => Math.abs(other.share) - Math.abs(one.share) || one.name.localeCompare(other.name));
}
