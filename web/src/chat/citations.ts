import type { Answer } from "./answer";

/** Lines that an answer names, in the file of a project. */
export interface CitedPlace {
  readonly projectId: string;
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
}

export type Piece =
  | { readonly kind: "prose" | "code"; readonly text: string }
  | { readonly kind: "citation"; readonly text: string; readonly place: CitedPlace };

/** Says which lines of which project a citation means, if the server has found them to be there. */
export type LookUp = (path: string, startLine: number, endLine: number) => CitedPlace | undefined;

// A block between fences to its end or that of the text, or code within a line.
const CODE =
  /^[ \t]*(?<fence>`{3,}|~{3,})[^\n]*(?:\n[\s\S]*?(?:^[ \t]*\k<fence>[`~]*[ \t]*$|(?![\s\S]))|$)|(?<!`)(?<ticks>`{1,2})(?!`)[^\n]+?(?<!`)\k<ticks>(?!`)/gm;
const LINES = /:(\d{1,9})-(\d{1,9})\]/g;

/** Takes an answer apart into prose, citations that hold, and code, in which nothing is a citation. */
export function piecesOf(text: string, paths: readonly string[], lookUp: LookUp): Piece[] {
  const pieces: Piece[] = [];
  // The longest first: "b/a.py" also ends with "a.py".
  const known = [...new Set(paths)].sort((one, other) => other.length - one.length);
  let end = 0;
  for (const code of text.matchAll(CODE)) {
    pieces.push(...piecesOfProse(text.slice(end, code.index), known, lookUp));
    pieces.push({ kind: "code", text: code[0] });
    end = code.index + code[0].length;
  }
  pieces.push(...piecesOfProse(text.slice(end), known, lookUp));
  return pieces;
}

/** A path may hold brackets and spaces itself, so that a citation is found from its end. */
function* piecesOfProse(text: string, paths: readonly string[], lookUp: LookUp): Generator<Piece> {
  let end = 0;
  for (const lines of text.matchAll(LINES)) {
    const before = text.slice(end, lines.index);
    const path = paths.find((one) => before.endsWith(`[${one}`));
    const place = path === undefined ? undefined : lookUp(path, Number(lines[1]), Number(lines[2]));
    if (path === undefined || !place) continue;
    const start = lines.index - path.length - 1;
    if (start > end) yield { kind: "prose", text: text.slice(end, start) };
    end = lines.index + lines[0].length;
    yield { kind: "citation", text: text.slice(start, end), place };
  }
  if (end < text.length) yield { kind: "prose", text: text.slice(end) };
}

/** Returns how to look up the citations of an answer. While it is written the server sends only what it has checked. */
export function lookUpIn({ sources, citations }: Pick<Answer, "sources" | "citations">): LookUp {
  const held = citations && new Set(citations.map((one) => `${one.path}:${one.start_line}-${one.end_line}`));
  return (path, startLine, endLine) => {
    if (held && !held.has(`${path}:${startLine}-${endLine}`)) return undefined;
    const source = sources.find((one) => one.path === path);
    return source && { projectId: source.project_id, path: source.file, startLine, endLine };
  };
}

export interface Linked {
  /** Markdown in which every citation is a link to `scheme:NUMBER`. */
  readonly markdown: string;
  readonly places: readonly CitedPlace[];
}

/**
 * Makes links of the citations of an answer. `scheme` must not be known to whoever wrote the answer, who could write
 * such links as well. `said` puts what the server has written into the prose into the language of the page.
 */
export function linked(
  answer: Pick<Answer, "text" | "sources" | "citations">,
  scheme: string,
  said: (prose: string) => string = (prose) => prose,
): Linked {
  const places: CitedPlace[] = [];
  const paths = answer.sources.map((source) => source.path);
  let markdown = "";
  for (const piece of piecesOf(answer.text, paths, lookUpIn(answer))) {
    if (piece.kind === "citation") {
      // "!" before a link would make an image of it.
      if (markdown.endsWith("!")) markdown = `${markdown.slice(0, -1)}\\!`;
      markdown += `[${places.push(piece.place)}](${scheme}:${places.length - 1})`;
    } else {
      markdown += piece.kind === "code" ? named(piece.text, places.at(-1)) : said(piece.text);
    }
  }
  return { markdown, places };
}

/** Names the language of a block that names none by the ending of the file that was cited before it. */
function named(code: string, place: CitedPlace | undefined): string {
  const ending = /\.(\w{1,12})$/.exec(place?.path ?? "")?.[1];
  return ending ? code.replace(/^([ \t]*(?:`{3,}|~{3,}))[ \t]*(?=\n)/, `$1${ending}`) : code;
}

/** Returns the shortest end of a path that tells it from the other paths: mostly the name of the file. */
export function shortName(path: string, paths: readonly string[]): string {
  const parts = path.split("/");
  const others = paths.filter((other) => other !== path);
  for (let n = 1; n < parts.length; n++) {
    const end = parts.slice(-n).join("/");
    if (!others.some((other) => `/${other}`.endsWith(`/${end}`))) return end;
  }
  return path;
}
