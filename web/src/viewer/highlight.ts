import hljs from "highlight.js/lib/core";
import { GRAMMARS, LIKE } from "./grammars";

// Colouring longer texts would hold up the page; nobody reads them at one go.
const MOST_CHARACTERS = 600_000;

/** Returns the lines of a text as HTML with its words coloured, and only escaped where the language is not known. */
export async function highlighted(text: string, language: string): Promise<string[]> {
  const name = LIKE[language] ?? language;
  const load = GRAMMARS[name];
  if (!load || text.length > MOST_CHARACTERS) return plain(text);
  if (!hljs.getLanguage(name)) hljs.registerLanguage(name, (await load()).default);
  return splitLines(hljs.highlight(text, { language: name, ignoreIllegals: true }).value);
}

export function plain(text: string): string[] {
  return text.split("\n").map(escaped);
}

/** Cuts HTML made of nested spans into lines, each of which opens and closes its own. */
export function splitLines(html: string): string[] {
  const open: string[] = [];
  return html.split("\n").map((line) => {
    const before = open.join("");
    for (const tag of line.match(/<span[^>]*>|<\/span>/g) ?? []) {
      if (tag === "</span>") open.pop();
      else open.push(tag);
    }
    return before + line + "</span>".repeat(open.length);
  });
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
