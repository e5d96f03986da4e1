import { type MouseEvent, memo, type RefObject, useEffect, useRef, useState } from "react";
import type { Schemas } from "../api/client";
import { useText } from "../i18n";
import type { Blame } from "./blame";
import { highlighted, plain } from "./highlight";
import { NameCard } from "./name-card";
import { type Place, usePlaces } from "./place";
import { usePointing } from "./pointed";
import { isMarked, stretched } from "./window";
import { Wrote, type WroteProps } from "./wrote";
import "./blame.css";
import "./highlight.css";

type FileLines = Schemas["FileLinesOut"];

export interface CodeProps {
  readonly file: FileLines;
  readonly place: Place;
  readonly wraps: boolean;
  /** Which commit each line comes from, where that is wanted. */
  readonly blame: Blame | undefined;
  /** What had the keyboard when the file was asked for. */
  readonly focusBefore: RefObject<Element | null>;
  readonly onLines: (startLine: number, endLine: number) => void;
  /** Lists the uses of a symbol. */
  readonly onUses: (target: string) => void;
  /** Shows the commits that made some lines. */
  readonly onHistory: (startLine: number, endLine: number) => void;
}

/** The lines of a file, coloured, with their numbers; those of the place are marked and in sight. */
export function Code({ file, place, wraps, blame, focusBefore, onLines, onUses, onHistory }: CodeProps) {
  const t = useText();
  const lines = useHighlighted(file);
  const pointing = usePointing(place);
  const { open } = usePlaces();
  const region = useRef<HTMLDivElement>(null);
  const { startLine, endLine } = place;
  useEffect(() => {
    // Who has gone elsewhere while the file was loading stays there.
    const { activeElement } = document;
    const isFree = activeElement === focusBefore.current || activeElement?.contains(region.current);
    if (isFree) region.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    showLine(region.current, startLine, endLine);
  }, [file, startLine, endLine]);
  const onClick = (event: MouseEvent) => {
    if ((event.target as HTMLElement).closest(".wrote")) return;
    const number = Number((event.target as HTMLElement).closest<HTMLElement>("[data-number]")?.dataset.number);
    if (!number) return void goTo(event);
    const next = stretched(event.shiftKey ? startLine : undefined, number);
    onLines(next.startLine, next.endLine);
  };
  /** A click on a name leads to its definition; on the definition, to its uses. */
  const goTo = async (event: MouseEvent) => {
    if (window.getSelection()?.isCollapsed === false || event.shiftKey) return;
    const pointed = await pointing.ask(event).catch(() => undefined);
    const first = pointed?.meaning.definitions[0];
    if (!pointed || !first) return;
    pointing.close();
    if (pointed.meaning.is_definition) return onUses(`${first.path} @@${first.qualified_name}`);
    open({ projectId: place.projectId, path: first.path, startLine: first.start_line, endLine: first.end_line });
  };
  if (file.n_lines === 0 || file.content === "") return <p className="viewer-note">{t("viewer.empty")}</p>;
  return (
    <>
      <div
        ref={region}
        className={wraps ? "code code-wraps" : "code"}
        role="region"
        aria-label={file.path}
        tabIndex={0}
        onClick={onClick}
        onMouseMove={pointing.onMove}
        onMouseLeave={pointing.onLeave}
        onScroll={pointing.close}
        style={{ "--digits": `${file.end_line}`.length } as React.CSSProperties}
      >
        <div className="code-lines">
          {lines.map((html, index) => {
            const number = file.start_line + index;
            return (
              <Line
                key={number}
                number={number}
                html={html}
                marked={isMarked(number, place)}
                isBlamed={blame !== undefined}
                group={blame?.get(number)}
                onHistory={onHistory}
              />
            );
          })}
        </div>
      </div>
      {pointing.pointed && (
        <NameCard
          pointed={pointing.pointed}
          projectId={place.projectId}
          onStay={pointing.onStay}
          onLeave={pointing.onLeave}
          onUses={onUses}
        />
      )}
    </>
  );
}

interface LineProps extends WroteProps {
  readonly number: number;
  readonly html: string;
  readonly marked: boolean;
  readonly isBlamed: boolean;
}

const Line = memo(function Line({ number, html, marked, isBlamed, ...wrote }: LineProps) {
  return (
    <div className={marked ? "code-line code-line-marked" : "code-line"} data-line={number}>
      {isBlamed && <Wrote {...wrote} />}
      <span className="code-number" data-number={number} aria-hidden />
      {/* The highlighter and `plain` escape what the file says. */}
      <code dangerouslySetInnerHTML={{ __html: html || "\u200b" }} />
    </div>
  );
});

/** The text at once, and its colours when they are there. */
function useHighlighted(file: FileLines): readonly string[] {
  const [coloured, setColoured] = useState<{ readonly file: FileLines; readonly lines: string[] }>();
  useEffect(() => {
    let isOver = false;
    void highlighted(file.content.replace(/\n$/, ""), file.language)
      .then((lines) => !isOver && setColoured({ file, lines }))
      // Without colours it can be read as well.
      .catch(() => undefined);
    return () => {
      isOver = true;
    };
  }, [file]);
  return coloured?.file === file ? coloured.lines : plain(file.content.replace(/\n$/, ""));
}

/** Scrolls so that marked lines lie in the upper third, and does nothing when all of them are in sight. */
function showLine(region: HTMLElement | null, startLine?: number, endLine?: number): void {
  if (!region || !startLine) return;
  const first = region.querySelector<HTMLElement>(`[data-line="${startLine}"]`);
  if (!first) return;
  const last = region.querySelector<HTMLElement>(`[data-line="${endLine ?? startLine}"]`) ?? first;
  const seen = region.getBoundingClientRect();
  const top = first.getBoundingClientRect().top;
  if (top >= seen.top && last.getBoundingClientRect().bottom <= seen.bottom) return;
  region.scrollTop += top - seen.top - region.clientHeight / 5;
}
