/** Which name stands under the pointer in the lines of a file. */

export interface NameUnder {
  readonly name: string;
  readonly line: number;
  /** Where it stands in the window. */
  readonly left: number;
  readonly top: number;
  readonly bottom: number;
}

const WORD = /[\p{L}\p{N}_$]/u;
const NAME = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;
/** What the highlighter calls by these names is no use of anything. */
const NO_NAMES = ".hljs-comment, .hljs-string, .hljs-keyword, .hljs-number, .hljs-literal, .hljs-meta";

/** Returns the first and last place, from 0, of the word around a place in a text; undefined where none stands. */
export function wordAround(text: string, place: number): readonly [number, number] | undefined {
  let start = place;
  let end = place;
  while (start > 0 && WORD.test(text[start - 1] ?? "")) start -= 1;
  while (end < text.length && WORD.test(text[end] ?? "")) end += 1;
  return NAME.test(text.slice(start, end)) ? [start, end] : undefined;
}

/** Returns the name at a point of the window, if one stands there. */
export function nameUnder(x: number, y: number): NameUnder | undefined {
  const caret = caretAt(x, y);
  const node = caret?.node;
  if (!caret || !(node instanceof Text)) return undefined;
  const line = Number(node.parentElement?.closest<HTMLElement>("[data-line]")?.dataset.line);
  const word = wordAround(node.data, caret.offset);
  if (!line || !word || node.parentElement?.closest(NO_NAMES)) return undefined;
  const range = document.createRange();
  range.setStart(node, word[0]);
  range.setEnd(node, word[1]);
  const { left, right, top, bottom } = range.getBoundingClientRect();
  // Beside the end of a line the nearest letter is told, though the pointer is not on it.
  if (x < left - 1 || x > right + 1 || y < top - 1 || y > bottom + 1) return undefined;
  return { name: node.data.slice(word[0], word[1]), line, left, top, bottom };
}

function caretAt(x: number, y: number): { readonly node: Node; readonly offset: number } | undefined {
  if ("caretPositionFromPoint" in document) {
    const found = document.caretPositionFromPoint(x, y);
    return found ? { node: found.offsetNode, offset: found.offset } : undefined;
  }
  const found = (document as Document).caretRangeFromPoint(x, y); // Safari
  return found ? { node: found.startContainer, offset: found.startOffset } : undefined;
}
