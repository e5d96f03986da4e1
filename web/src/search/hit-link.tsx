import type { MouseEvent } from "react";
import { useText } from "../i18n";
import { linesOf, type Place, searchWith } from "../viewer/place";
import type { Hit } from "./asked";

interface HitLinkProps {
  readonly hit: Hit;
  readonly isFurther: boolean;
  readonly list: string;
  readonly onOpen: (place: Place) => void;
}

/** The place as a link; arrow keys go from one to the next. Below another place of its file, only its lines are seen. */
export function HitLink({ hit, isFurther, list, onOpen }: HitLinkProps) {
  const t = useText();
  const place = placeOf(hit);
  const cut = hit.path.lastIndexOf("/") + 1;
  const [path = "", query = ""] = list.split("?");
  const onClick = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    onOpen(place);
  };
  return (
    <a
      className="hit-link"
      data-hit-link
      href={`${path}${searchWith(query, place)}`}
      title={t("viewer.place", { path: hit.path, lines: linesOf(place) })}
      onClick={onClick}
    >
      <span className={isFurther ? "visually-hidden" : "hit-folder"}>{hit.path.slice(0, cut)}</span>
      <span className={isFurther ? "visually-hidden" : "hit-file"}>{hit.path.slice(cut)}</span>
      <span className="hit-lines">:{linesOf(place)}</span>
    </a>
  );
}

export function placeOf(hit: Hit): Place {
  return { projectId: hit.project_id, path: hit.path, startLine: hit.start_line, endLine: hit.end_line };
}
