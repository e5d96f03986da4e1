/** Highlighted code as lines of coloured pieces, in which words can be marked. */

import type { Range } from "./marks";

export interface Token {
  readonly text: string;
  /** Class names of the highlighter; "" for plain code. */
  readonly style: string;
}

export interface Piece extends Token {
  readonly marked: boolean;
}

const TAG = /<span class="([^"]*)">|<\/span>|([^<]+)/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'", "#39": "'" };

/** The lines of what highlight.js has written; a span may reach over several of them. */
export function linesOfTokens(html: string): readonly (readonly Token[])[] {
  const lines: Token[][] = [[]];
  const styles: string[] = [];
  for (const [tag, style, text] of html.matchAll(TAG)) {
    if (style !== undefined) styles.push(style);
    else if (text === undefined) styles.pop();
    else if (tag) {
      plain(text)
        .split("\n")
        .forEach((part, place) => {
          if (place > 0) lines.push([]);
          if (part) lines.at(-1)?.push({ text: part, style: styles.join(" ") });
        });
    }
  }
  return lines;
}

/** The tokens of a line from a column on, cut at the marks. */
export function markedTokens(tokens: readonly Token[], ranges: readonly Range[], from = 0): readonly Piece[] {
  const pieces: Piece[] = [];
  let place = 0;
  for (const { text, style } of tokens) {
    const end = place + text.length;
    const cuts = ranges.flat().filter((cut) => cut > place && cut < end);
    const edges = [place, ...new Set(cuts), end].map((edge) => Math.max(edge, from));
    edges.slice(1).forEach((to, index) => {
      const start = edges[index] ?? to;
      if (to > start) pieces.push({ text: text.slice(start - place, to - place), style, marked: isIn(start, ranges) });
    });
    place = end;
  }
  return pieces;
}

function isIn(place: number, ranges: readonly Range[]): boolean {
  return ranges.some(([start, end]) => place >= start && place < end);
}

function plain(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#x27|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
