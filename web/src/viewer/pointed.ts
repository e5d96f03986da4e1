import { type MouseEvent, useCallback, useEffect, useRef, useState } from "react";
import { get, type Schemas } from "../api/client";
import { type NameUnder, nameUnder } from "./names";
import type { Place } from "./place";

export type NameAt = Schemas["NameAtOut"];

const PAUSE_MS = 60; // who only passes over names asks nothing
const LEAVE_MS = 250; // time to move from the name into the card

export interface Pointed {
  readonly under: NameUnder;
  readonly meaning: NameAt;
}

interface Pointing {
  readonly pointed: Pointed | undefined;
  readonly onMove: (event: MouseEvent) => void;
  readonly onLeave: () => void;
  /** Keeps the card while the pointer is in it. */
  readonly onStay: () => void;
  readonly close: () => void;
  /** What the name at a point means. */
  readonly ask: (event: MouseEvent) => Promise<Pointed | undefined>;
}

/** What the name under the pointer means; what was asked in a file is asked once. */
export function usePointing({ projectId, path }: Place): Pointing {
  const [pointed, setPointed] = useState<Pointed>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const wanted = useRef("");
  const asked = useRef(new Map<string, Promise<NameAt>>());
  const close = useCallback(() => {
    clearTimeout(timer.current);
    wanted.current = "";
    setPointed(undefined);
  }, []);
  useEffect(() => {
    asked.current.clear();
    close();
    return () => clearTimeout(timer.current);
  }, [projectId, path, close]);
  const meaningOf = useCallback(
    ({ line, name }: NameUnder) => {
      const key = `${line} ${name}`;
      const known = asked.current.get(key) ?? get<NameAt>("/name-at", { project_id: projectId, path, line, name });
      asked.current.set(key, known);
      known.catch(() => asked.current.delete(key));
      return known;
    },
    [projectId, path],
  );
  const later = (what: () => void, pause: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(what, pause);
  };
  const onMove = (event: MouseEvent) => {
    const under = event.buttons ? undefined : nameUnder(event.clientX, event.clientY);
    const key = under ? `${under.line} ${under.name}` : "";
    if (key === wanted.current) return;
    wanted.current = key;
    if (!under) return later(() => setPointed(undefined), LEAVE_MS);
    later(() => {
      meaningOf(under)
        .then(
          (meaning) =>
            wanted.current === key && setPointed(meaning.definitions.length ? { under, meaning } : undefined),
        )
        .catch(() => undefined); // the code is readable without it
    }, PAUSE_MS);
  };
  const ask = async (event: MouseEvent) => {
    const under = nameUnder(event.clientX, event.clientY);
    return under && { under, meaning: await meaningOf(under) };
  };
  const onLeave = () => {
    wanted.current = "";
    later(() => setPointed(undefined), LEAVE_MS);
  };
  return { pointed, onMove, onLeave, onStay: () => clearTimeout(timer.current), close, ask };
}
