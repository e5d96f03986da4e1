import { useMemo, useState } from "react";
import { useText } from "../i18n";
import type { Hit } from "./asked";
import { briefOf } from "./brief";
import { excerptOf, indentOf } from "./excerpt";
import { useTokens } from "./highlighted";
import { marksIn } from "./marks";
import { markedTokens, type Piece } from "./tokens";
import type { View } from "./view";

const MOST_LINES = 8;
/** A line of a minified file must not hold up the page. */
const LONGEST_LINE = 400;

interface SnippetProps {
  readonly hit: Hit;
  readonly words: readonly string[];
  readonly view: View;
  readonly onOpen: (line: number) => void;
}

/** The lines of a place that tell most, or those around the one to look at first; words of the question are marked. */
export function Snippet({ hit, words, view, onOpen }: SnippetProps) {
  const t = useText();
  const [isWhole, setWhole] = useState(false);
  const lines = useMemo(() => hit.content.replace(/\r\n?/g, "\n").split("\n"), [hit.content]);
  const tokens = useTokens(lines, hit.language);
  const isBrief = view === "compact" && !isWhole;
  const places = useMemo(
    () => (isBrief ? briefLines(hit, lines, words) : aroundBest(hit, lines, isWhole)),
    [isBrief, isWhole, hit, lines, words],
  );
  const indent = indentOf(places.map((place) => lines[place] ?? ""));
  const n_lines = lines.findLastIndex((text) => text.trim() !== "") + 1;
  const hidden = n_lines - places.length;
  return (
    <div className="snippet">
      <table>
        <tbody>
          {places.map((place) => {
            const number = hit.content_line + place;
            const ranges = marksIn((lines[place] ?? "").slice(0, LONGEST_LINE), words);
            const pieces = markedTokens(tokens[place] ?? [], ranges, indent);
            return (
              <tr key={number} className={number === hit.line ? "is-best" : undefined} onClick={() => onOpen(number)}>
                <th scope="row">{number}</th>
                <td>
                  <code>
                    {place === 0 && hit.content_column > 1 && "… "}
                    {pieces.length ? pieces.map(shownPiece) : "\n"}
                  </code>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {(hidden > 0 || isWhole) && (
        <button type="button" className="snippet-more" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? t("search.lines.less") : t("search.lines.more", { n: hidden })}
        </button>
      )}
    </div>
  );
}

function briefLines(hit: Hit, lines: readonly string[], words: readonly string[]): readonly number[] {
  const matches = (line: string) => marksIn(line.slice(0, LONGEST_LINE), words).length;
  return briefOf(lines, hit.line - hit.content_line, hit.name, matches);
}

function aroundBest(hit: Hit, lines: readonly string[], isWhole: boolean): readonly number[] {
  const { from, to } = excerptOf(lines, hit.content_line, hit.line, isWhole ? lines.length : MOST_LINES);
  return Array.from({ length: to - from }, (_, place) => from + place);
}

function shownPiece({ text, style, marked }: Piece, place: number) {
  const cut = text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)} …` : text;
  if (marked) return <mark key={place}>{cut}</mark>;
  return style ? (
    <span key={place} className={style}>
      {cut}
    </span>
  ) : (
    cut
  );
}
