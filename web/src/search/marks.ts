/** Which parts of a line the question speaks of. */

import type { Note } from "../i18n/notes";
import type { Kind } from "../i18n/kinds";

const MENTIONS: Kind = "mentions";

/** From one place in a line to before another. */
export type Range = readonly [start: number, end: number];

const STOP_WORDS = new Set(
  (
    "a an and are as at be been by can do does for from has have how i if in into is it its me of on or our show that " +
    "the their them then there these this those to us was we what when where which who why will with would you your"
  ).split(" "),
);
const FIELD = /^-?(lang|language|path|dir|file|name|ext|kind|symbol|module|sub_module|lines|size|test|is_test|in):/i;
const WORD = /[\p{L}\p{N}]+/gu;
/** Parts of an identifier: `HTTPServer2` has HTTP, Server and 2. */
const PART = /\p{Script=Han}+|\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|\p{L}/gu;
const HAN = /^\p{Script=Han}+$/u;
const ENDINGS = ["ings", "ing", "ies", "ied", "ers", "er", "es", "ed", "s", "e", "y"];
const SHORTEST_STEM = 4;
const LONGEST_ENDING = 4;

/** The words to mark: those of the question, and those which the server says it has found. */
export function wordsOf(question: string, reasons: readonly Note[] = []): readonly string[] {
  const mentioned = reasons.filter((note) => note.kind === MENTIONS).flatMap((note) => note.values.words);
  const words = new Set<string>();
  for (const text of [...spoken(question), ...mentioned.map(String)]) {
    for (const part of partsOf(text)) {
      if (HAN.test(part)) pairs(part).forEach((pair) => words.add(pair));
      else if (part.length > 1 && !STOP_WORDS.has(part)) words.add(stem(part));
    }
  }
  return [...words];
}

/** The places in a line that belong to the words, in order, none touching another. */
export function marksIn(line: string, words: readonly string[]): readonly Range[] {
  const found: Range[] = [];
  for (const word of line.matchAll(WORD)) {
    for (const part of word[0].matchAll(PART)) {
      const start = word.index + part.index;
      found.push(...inside(part[0].toLowerCase(), words).map(([from, to]): Range => [start + from, start + to]));
    }
  }
  return joined(found);
}

/** What is asked in words, without conditions such as `lang:go` and `@src/`. */
function spoken(question: string): string[] {
  const tokens = question.split(/\s+/).filter(Boolean);
  return tokens
    .filter((token) => !FIELD.test(token) && (!token.startsWith("@") || token.startsWith("@@")))
    .map((token) => token.replace(/^@@/, ""));
}

function partsOf(text: string): string[] {
  const words = [...text.matchAll(WORD)].map((match) => match[0]);
  return words.flatMap((word) => (word.match(PART) ?? []).map((part) => part.toLowerCase()));
}

function pairs(text: string): string[] {
  const signs = [...text];
  if (signs.length < 2) return [text];
  return signs.slice(1).map((sign, place) => `${signs[place] ?? ""}${sign}`);
}

function stem(word: string): string {
  const ending = ENDINGS.find((ending) => word.endsWith(ending) && word.length - ending.length >= SHORTEST_STEM);
  return ending ? word.slice(0, -ending.length) : word;
}

function inside(part: string, words: readonly string[]): Range[] {
  if (HAN.test(part)) return words.flatMap((word) => (HAN.test(word) ? everywhere(part, word) : []));
  if (words.some((word) => isForm(part, word))) return [[0, part.length]];
  // Written as one, such as `retrybackoff`.
  return words.flatMap((word) => (word.length > SHORTEST_STEM ? everywhere(part, word) : []));
}

function isForm(part: string, word: string): boolean {
  if (!part.startsWith(word)) return false;
  const rest = part.slice(word.length);
  return word.length < SHORTEST_STEM ? rest === "" || rest === "s" : rest.length <= LONGEST_ENDING;
}

function everywhere(text: string, word: string): Range[] {
  const found: Range[] = [];
  for (let place = text.indexOf(word); place >= 0; place = text.indexOf(word, place + 1)) {
    found.push([place, place + word.length]);
  }
  return found;
}

function joined(ranges: Range[]): Range[] {
  const result: Range[] = [];
  for (const [start, end] of ranges.sort((one, other) => one[0] - other[0] || one[1] - other[1])) {
    const last = result.at(-1);
    if (last && start <= last[1]) result[result.length - 1] = [last[0], Math.max(last[1], end)];
    else result.push([start, end]);
  }
  return result;
}
