import { memo, useId, useMemo, useState } from "react";
import { Said } from "../i18n/said";
import type { Place } from "../viewer/place";
import type { Hit } from "./asked";
import { HitActions } from "./hit-actions";
import { HitLink, placeOf } from "./hit-link";
import { HitMarks } from "./hit-marks";
import { wordsOf } from "./marks";
import { Snippet } from "./snippet";
import type { View } from "./view";
import { Why } from "./why";

export interface HitProps {
  readonly hit: Hit;
  readonly question: string;
  readonly isWeak: boolean;
  /** The name of the project, where places of several are listed. */
  readonly project: string;
  readonly view: View;
  /** Whether another place of the same file stands above it. */
  readonly isFurther: boolean;
  /** Whether the viewer shows it. */
  readonly isOpen: boolean;
  /** The address of the list, to which a link adds the place. */
  readonly list: string;
  readonly onOpen: (place: Place) => void;
}

/** One place: where it is, the lines to look at, and why it stands here. Typing on does not draw it again. */
export const HitCard = memo(function HitCard({ hit, question, ...props }: HitProps) {
  const { isWeak, project, view, isFurther, isOpen, list, onOpen } = props;
  const [isAsked, setAsked] = useState(false);
  const id = useId();
  const words = useMemo(() => wordsOf(question, hit.reason_parts), [question, hit.reason_parts]);
  const openAt = (line: number) => {
    if (window.getSelection()?.isCollapsed === false) return; // text is being selected, not opened
    const isInside = line >= hit.start_line && line <= hit.end_line;
    onOpen({ ...placeOf(hit), ...(isInside ? {} : { startLine: line, endLine: line }) });
  };
  const states = ["hit", isWeak && "is-weak", isOpen && "is-open", isFurther && "is-further"].filter(Boolean).join(" ");
  return (
    <li className={states} data-hit>
      <div className="hit-head">
        <HitLink hit={hit} isFurther={isFurther} list={list} onOpen={onOpen} />
        <HitMarks hit={hit} project={project} isWeak={isWeak} />
        <HitActions hit={hit} isAsked={isAsked} controls={id} onAsk={() => setAsked(!isAsked)} />
      </div>
      <div className="hit-body">
        <Snippet hit={hit} words={words} view={view} onOpen={openAt} />
        <p className="hit-reason" title={hit.reason}>
          <Said text={hit.reason} notes={hit.reason_parts} />
        </p>
      </div>
      {isAsked && <Why hit={hit} id={id} />}
    </li>
  );
});
