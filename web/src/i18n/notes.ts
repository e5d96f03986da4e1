import type { Schemas } from "../api/client";
import type { Language } from ".";
import { ENGLISH, type Kind, MARKS } from "./kinds";
import { onPage } from "./on-page";
import { chineseWords } from "./words";

export type Note = Schemas["NoteOut"];
type Value = Note["values"][string];

/** A piece of a sentence; `isForeign`: it is English on a page in another language. */
export interface Piece {
  readonly text: string;
  readonly isForeign: boolean;
}

/**
 * What a sentence of the server says, in the language of the page: a piece for each of its notes. `sentence` is the
 * same in English. What has no words in the language, such as an error of a model, is said as it is.
 */
export function piecesOf(notes: readonly Note[] | undefined, sentence: string, language: Language): readonly Piece[] {
  if (!sentence) return [];
  if (language === "en") return [{ text: onPage(sentence, "en"), isForeign: false }];
  if (!notes?.length) return [{ text: onPage(sentence, "en"), isForeign: true }];
  const pieces = notes.map((note) => ({ text: inChinese(note), isForeign: note.kind === "verbatim" }));
  return pieces.some((piece) => piece.text === undefined)
    ? [{ text: onPage(sentence, "en"), isForeign: true }]
    : pieces.map((piece) => ({ ...piece, text: onPage(piece.text ?? "", piece.isForeign ? "en" : "zh") }));
}

/** The same as one text. */
export function wordsOf(notes: readonly Note[] | undefined, sentence: string, language: Language): string {
  return piecesOf(notes, sentence, language)
    .map((piece) => piece.text)
    .join(SEPARATORS[language]);
}

export const SEPARATORS: Readonly<Record<Language, string>> = { en: "; ", zh: "；" };

/** The text of an answer with the marks of the server in the language of the page. */
export function withMarks(text: string, language: Language): string {
  const chinese = chineseWords()?.notes;
  if (language === "en" || !chinese) return text;
  return MARKS.reduce((said, kind) => said.replaceAll(ENGLISH[kind], () => chinese[kind]), text);
}

/** undefined: a server that is newer than this page has sent a kind that the page does not know. */
function inChinese({ kind, values }: Note): string | undefined {
  const chinese = chineseWords()?.notes;
  if (!chinese || !Object.hasOwn(chinese, kind)) return undefined;
  return chinese[kind as Kind].replace(/\{(\w+)(:,)?\}/g, (whole, name: string, grouped?: string) => {
    const value = values[name];
    return value === undefined ? whole : said(value, grouped !== undefined);
  });
}

function said(value: Value, isGrouped: boolean): string {
  if (Array.isArray(value)) {
    const inner = value.map((item) => (typeof item === "object" ? (inChinese(item) ?? "") : item));
    return inner.join(value.some((item) => typeof item === "object") ? SEPARATORS.zh : ", ");
  }
  if (typeof value === "object") return inChinese(value) ?? "";
  return typeof value === "number" && isGrouped ? new Intl.NumberFormat("zh").format(value) : String(value);
}
