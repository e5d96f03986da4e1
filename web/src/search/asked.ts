import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useLocation, useNavigate } from "react-router";
import { type Load, post, type Schemas, useLoad } from "../api/client";
import { pathHere } from "../root-path";
import { addressOf, bodyOf, type Filters, type Query, queryOf } from "./query";

export type Answer = Schemas["SearchOut"];
export type Hit = Schemas["HitOut"];

const PAUSE_MS = 140;

export interface Asked {
  /** What stands in the box; the query follows when nothing has been typed for a moment. */
  readonly text: string;
  /** What the address says, and is searched for. */
  readonly query: Query;
  readonly type: (text: string, options?: { readonly isComposing?: boolean }) => void;
  /** Searches at once for what has been typed. Returns whether the address changes by it. */
  readonly flush: () => boolean;
  /** Changes filters; Back goes to those before. */
  readonly choose: (filters: Partial<Filters>) => void;
  /** Asks something else; Back goes to what was asked before. */
  readonly ask: (query: Query) => void;
}

/** The question and its filters, kept in the address of the page. */
export function useAsked(): Asked {
  const { search } = useLocation();
  const navigate = useNavigate();
  const query = useMemo(() => queryOf(new URLSearchParams(search)), [search]);
  const [text, setText] = useState(query.text);
  const written = useRef(query.text); // what this page has put into the address
  const waiting = useRef<{ timer: ReturnType<typeof setTimeout>; text: string }>(undefined);

  const ask = useCallback(
    (next: Query, replace = false): boolean => {
      clearTimeout(waiting.current?.timer);
      waiting.current = undefined;
      written.current = next.text;
      setText(next.text);
      const { search: shown } = window.location; // `useLocation` follows a little later
      const parameters = addressOf(next, new URLSearchParams(shown)).toString();
      const address = parameters && `?${parameters}`;
      if (address === shown) return false;
      void navigate({ pathname: pathHere(), search: address }, { replace });
      return true;
    },
    [navigate],
  );
  const now = useCallback(() => queryOf(new URLSearchParams(window.location.search)), []);
  const flush = useCallback(() => {
    const pending = waiting.current;
    return pending !== undefined && ask({ ...now(), text: pending.text }, true);
  }, [ask, now]);
  const type = useCallback(
    (next: string, { isComposing = false } = {}) => {
      clearTimeout(waiting.current?.timer);
      waiting.current = undefined;
      setText(next);
      // Half of a Chinese word is not yet what is meant.
      if (!isComposing) waiting.current = { timer: setTimeout(flush, PAUSE_MS), text: next };
    },
    [flush],
  );
  const choose = useCallback(
    (filters: Partial<Filters>) => ask({ ...now(), text: waiting.current?.text ?? now().text, ...filters }),
    [ask, now],
  );
  useEffect(() => {
    // Back and Forward change the address without this page. Who types on does, too: then this address is over already.
    const isOver = search !== window.location.search;
    if (isOver || query.text.trim() === written.current.trim()) return;
    written.current = query.text;
    setText(query.text);
  }, [search]);
  useEffect(() => () => clearTimeout(waiting.current?.timer), []);
  return { text, query, type, flush, choose, ask };
}

export interface Found {
  readonly query: Query;
  readonly answer: Answer;
  readonly milliseconds: number;
}

/** The last lists, the newest at the end: Back shows one at once, while it is searched for again. */
const lists = new Map<string, Found>();
const MOST_LISTS = 10;

/** What the server finds. What was asked before is aborted, so that no older answer comes after a newer one. */
export function useFound(query: Query, limit: number): Load<Found | null> {
  const body = bodyOf(query, limit);
  const key = JSON.stringify(body);
  const [first] = useState(() => lists.get(key));
  const loaded = useLoad(
    async (signal) => {
      if (!body) return null;
      const began = performance.now();
      const answer = await post<Answer>("/search", body, signal);
      const found = { query, answer, milliseconds: performance.now() - began };
      keep(key, found);
      return found;
    },
    [key],
  );
  return useMemo(() => (loaded.value === undefined && first ? { ...loaded, value: first } : loaded), [loaded, first]);
}

function keep(key: string, found: Found): void {
  lists.delete(key);
  lists.set(key, found);
  const [oldest] = lists.keys();
  if (lists.size > MOST_LISTS && oldest !== undefined) lists.delete(oldest);
}
