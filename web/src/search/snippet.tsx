import { useMemo, useState } from "react";
import { useText } from "../i18n";
import type { Hit } from "./asked";
import { excerptOf, indentOf } from "./excerpt";
import { useTokens } from "./highlighted";
import { marksIn } from "./marks";
import { markedTokens, type Piece } from "./tokens";

const MOST_LINES = 8;
/** A line of a minified file must not hold up the page. */
const LONGEST_LINE = 400;

interface SnippetProps {
  readonly hit: Hit;
  readonly words: readonly string[];
  readonly onOpen: (line: number) => void;
}

/** The lines around the one to look at first, with the words of the question marked. */
export function Snippet({ hit, words, onOpen }: SnippetProps) {
  const t = useText();
  const [isWhole, setWhole] = useState(false);
  const lines = useMemo(() => hit.content.replace(/\r\n?/g, "\n").split("\n"), [hit.content]);
  const tokens = useTokens(lines, hit.language);
  const excerpt = excerptOf(lines, hit.content_line, hit.line, isWhole ? lines.length : MOST_LINES);
  const shown = lines.slice(excerpt.from, excerpt.to);
  const indent = indentOf(shown);
  const most = lines.length - MOST_LINES;
  return (
    <div className="snippet">
      <table>
        <tbody>
          {shown.map((line, place) => {
            const number = excerpt.firstLine + place;
            const cut = tokens[excerpt.from + place] ?? [];
            const pieces = markedTokens(cut, marksIn(line.slice(0, LONGEST_LINE), words), indent);
            return (
              <tr key={number} className={number === hit.line ? "is-best" : undefined} onClick={() => onOpen(number)}>
                <th scope="row">{number}</th>
                <td>
                  <code>
                    {place === 0 && excerpt.from === 0 && hit.content_column > 1 && "… "}
                    {pieces.length ? pieces.map(shownPiece) : "\n"}
                  </code>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {(excerpt.hidden > 0 || (isWhole && most > 0)) && (
        <button type="button" className="snippet-more" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? t("search.lines.less") : t("search.lines.more", { n: excerpt.hidden })}
        </button>
      )}
    </div>
  );
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
