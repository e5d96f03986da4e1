/** From the numbers of a hit to bars: what each source of evidence adds to its rank, or takes from it. */

export interface Explained {
  readonly name: string;
  readonly meaning: string;
  readonly weight: number;
  readonly weight_for_long_text: number;
}

/** The name of the number that a hit has if the question is a long text. */
const LONG_TEXT = "long_text";

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
  const weightOf = (item: Explained) => (LONG_TEXT in signals ? item.weight_for_long_text : item.weight);
  const plain = Object.entries(signals).map(([name, value]) => {
    const item = known.get(name);
    return { name, meaning: item?.meaning ?? "", value, added: item ? weightOf(item) * value : 0 };
  });
  const isWeighed = plain.some((bar) => bar.added !== 0);
  const length = (bar: { added: number; value: number }) => (isWeighed ? bar.added : bar.value);
  const longest = Math.max(...plain.map((bar) => Math.abs(length(bar))), Number.MIN_VALUE);
  return plain
    .map((bar) => ({ ...bar, share: length(bar) / longest }))
    .sort((one, other) => Math.abs(other.share) - Math.abs(one.share) || one.name.localeCompare(other.name));
}
