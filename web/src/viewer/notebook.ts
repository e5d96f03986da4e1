const CELL = /^\[cell (\d+): ([^\]]+)\]$/;
const AS_IT_IS = new Set(["markdown", "text", "raw"]);

/** Returns the text of a notebook as Markdown: its cells of words as they are, code and what it printed in blocks. */
export function notebookMarkdown(text: string): string {
  const cells: { kind: string; lines: string[] }[] = [];
  for (const line of text.split("\n")) {
    const mark = CELL.exec(line);
    if (mark) cells.push({ kind: mark[2] ?? "", lines: [] });
    else cells.at(-1)?.lines.push(line);
  }
  return cells.map(({ kind, lines }) => written(kind, lines.join("\n").replace(/\n+$/, ""))).join("\n\n");
}

function written(kind: string, text: string): string {
  if (AS_IT_IS.has(kind)) return text;
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${kind === "output" ? "" : kind}\n${text}\n${fence}`;
}
