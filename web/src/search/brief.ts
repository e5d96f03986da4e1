/** The few lines of a place that tell most: the first one of its definition, and those that match. */

export const BRIEF_LINES = 3;

/**
 * Returns which lines of a place to show, counted from 0, in order, at most three: the first line of the definition of
 * `name`, the line to look at first (`best`), then those in which most of the question stands.
 */
export function briefOf(
  lines: readonly string[],
  best: number,
  name: string,
  matches: (line: string) => number,
): readonly number[] {
  const isFull = (place: number) => (lines[place] ?? "").trim() !== "";
  const head = headOf(lines, name);
  const chosen = new Set([head, best].filter(isFull));
  const rest = lines
    .map((line, place) => ({ place, n: matches(line) }))
    .filter(({ place, n }) => n > 0 && !chosen.has(place))
    .sort((one, other) => other.n - one.n || one.place - other.place);
  for (const { place } of rest) if (chosen.size < BRIEF_LINES) chosen.add(place);
  // Nothing matches by its letters: then it is read from its beginning.
  for (let place = head; place < lines.length && chosen.size < BRIEF_LINES; place++) {
    if (rest.length === 0 && isFull(place)) chosen.add(place);
  }
  return [...chosen].sort((one, other) => one - other);
}

/** The line in which the definition begins: the first one that has its name, else the first that is not blank. */
function headOf(lines: readonly string[], name: string): number {
  const last = name.split(/[.#]|::/).at(-1) ?? "";
  const named = last ? lines.findIndex((line) => line.includes(last) && !isRemark(line)) : -1;
  return named >= 0
    ? named
    : Math.max(
        lines.findIndex((line) => line.trim() !== ""),
        0,
      );
}

function isRemark(line: string): boolean {
  return /^\s*(\/\/|\/\*|\*|#(?!\s*(define|include))|--|;|"""|''')/.test(line);
}
