import type { MouseEvent, ReactNode } from "react";
import { useText } from "../i18n";
import { type Place, linesOf, usePlaces, writtenPlace } from "./place";
import "./citation-link.css";

export interface CitationLinkProps {
  readonly projectId: string;
  readonly path: string;
  readonly startLine?: number;
  readonly endLine?: number;
  /** What stands in the link; the place itself when left out. */
  readonly children?: ReactNode;
}

/** A link to lines of a file: opens the viewer beside the page, or in another tab as any link does. */
export function CitationLink({ children, ...place }: CitationLinkProps) {
  const t = useText();
  const { open, addressOf } = usePlaces();
  const onClick = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    open(place);
  };
  const title = t("viewer.place", { path: place.path, lines: linesOf(place) || "1" });
  return (
    <a className="citation" href={addressOf(place)} title={title} onClick={onClick}>
      {children ?? <Written place={place} />}
    </a>
  );
}

/** Long paths keep their end, which tells most: the name of the file and the lines. */
function Written({ place }: { readonly place: Place }) {
  const written = writtenPlace(place);
  const cut = written.lastIndexOf("/") + 1;
  return (
    <>
      {cut > 0 && <span className="citation-folder">{written.slice(0, cut)}</span>}
      <span>{written.slice(cut)}</span>
    </>
  );
}
