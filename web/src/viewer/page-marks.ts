const MARK = /^\[page (\d+)\]$/;

/** The numbers of the pages that some text of a PDF has. */
export function pagesOf(text: string): readonly number[] {
  return text.split("\n").flatMap((line) => numberOf(line) ?? []);
}

/** The number of the page that has a line of the text, counted from 0; where none begins before it, the first one. */
export function pageAt(text: string, line: number): number {
  const lines = text.split("\n");
  const before = lines.slice(0, line + 1).flatMap((one) => numberOf(one) ?? []);
  return before.at(-1) ?? pagesOf(text)[0] ?? 1;
}

function numberOf(line: string): number | undefined {
  const found = MARK.exec(line);
  return found ? Number(found[1]) : undefined;
}
