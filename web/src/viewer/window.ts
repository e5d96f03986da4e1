import type { Place } from "./place";

// As many lines are shown at a time: a browser shows them at once, and few files are longer.
export const MOST_LINES = 4_000;

/** Lines of a file, the first and the last one. */
export interface Window {
  readonly startLine: number;
  readonly endLine: number;
}

/** Returns which lines to load so that the place is among them: all of a short file, else those around it. */
export function windowAround({ startLine = 1 }: Pick<Place, "startLine">, most = MOST_LINES): Window {
  const block = Math.floor((startLine - 1) / most);
  const isNearEnd = (startLine - 1) % most >= most - 100 && most > 200;
  // A place at the end of a block is shown with what follows it.
  const first = block * most + 1 + (isNearEnd ? Math.floor(most / 2) : 0);
  return { startLine: first, endLine: first + most - 1 };
}

/** Whether a line is one of a place. */
export function isMarked(line: number, { startLine, endLine }: Pick<Place, "startLine" | "endLine">): boolean {
  return startLine !== undefined && line >= startLine && line <= (endLine ?? startLine);
}

/** Returns the lines from one that was clicked to another, in whichever order; `anchor` stays where it was. */
export function stretched(anchor: number | undefined, line: number): Window {
  const from = anchor ?? line;
  return { startLine: Math.min(from, line), endLine: Math.max(from, line) };
}
