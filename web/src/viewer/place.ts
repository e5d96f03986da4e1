import { useCallback, useMemo } from "react";
import { useLocation, useNavigate } from "react-router";
import { pathHere, ROOT_PATH } from "../root-path";

/** A place in an indexed file, which the address of the page names: `?project=shop&file=shop/cart.py&lines=10-20`. */
export interface Place {
  readonly projectId: string;
  readonly path: string;
  readonly startLine?: number;
  readonly endLine?: number;
}

const NAMES = ["project", "file", "lines"] as const;

/** Returns the place that an address names, if it names one. */
export function placeOf(search: string): Place | undefined {
  const parameters = new URLSearchParams(search);
  const projectId = parameters.get("project") ?? "";
  const path = parameters.get("file") ?? "";
  if (!projectId || !path) return undefined;
  const found = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(parameters.get("lines") ?? "");
  const startLine = found ? Math.max(Number(found[1]), 1) : undefined;
  const endLine = found && startLine ? Math.max(Number(found[2] ?? found[1]), startLine) : undefined;
  return { projectId, path, startLine, endLine };
}

/** Returns the query of an address with another place in it; the rest of the query stays. */
export function searchWith(search: string, place: Place | undefined): string {
  const parameters = new URLSearchParams(search);
  for (const name of NAMES) parameters.delete(name);
  if (place) {
    parameters.set("project", place.projectId);
    parameters.set("file", place.path);
    if (place.startLine) parameters.set("lines", linesOf(place));
  }
  const text = parameters.toString();
  return text && `?${text}`;
}

/** Returns the lines of a place as people write them: `10-20`, `10`, or nothing for the whole file. */
export function linesOf({ startLine, endLine }: Place): string {
  if (!startLine) return "";
  return endLine && endLine > startLine ? `${startLine}-${endLine}` : `${startLine}`;
}

/** Returns a place as it is written in answers: `shop/cart.py:10-20`. */
export function writtenPlace(place: Place): string {
  const lines = linesOf(place);
  return lines ? `${place.path}:${lines}` : place.path;
}

export interface Places {
  /** What the viewer shows; none when it is closed. */
  readonly place: Place | undefined;
  readonly open: (place: Place, options?: { readonly replace?: boolean }) => void;
  readonly close: () => void;
  /** The address at which a place is shown beside the page that is open. */
  readonly addressOf: (place: Place) => string;
}

/** Returns what the viewer shows and how to show something else; Back goes to what was shown before. */
export function usePlaces(): Places {
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  const place = useMemo(() => placeOf(search), [search]);
  const addressOf = useCallback(
    (next: Place) => `${ROOT_PATH}${pathname}${searchWith(search, next)}`,
    [pathname, search],
  );
  const go = useCallback(
    (next: Place | undefined, options?: { readonly replace?: boolean }) => {
      void navigate({ pathname: pathHere(), search: searchWith(window.location.search, next) }, options);
    },
    [navigate],
  );
  const close = useCallback(() => go(undefined), [go]);
  return useMemo(() => ({ place, open: go, close, addressOf }), [place, go, close, addressOf]);
}
