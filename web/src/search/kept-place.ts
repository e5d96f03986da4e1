import { useCallback, useLayoutEffect, useRef, useState } from "react";
import { useLocation, useNavigationType } from "react-router";

const FIRST = 20;
const WIDER = [50, 200, 1_000];
const MOST = 1_000;
const MOST_KEPT = 50;

/** How far each list was scrolled and how long it was, by its entry in the history of the window, or its question. */
const tops = new Map<string, number>();
const limits = new Map<string, number>();

interface Limit {
  readonly limit: number;
  /** Asks for more places; undefined where no more can be asked for. */
  readonly widen?: () => void;
}

/** How many places of a question are asked for: Back to it asks for as many as were seen. */
export function useLimit(asks: string): Limit {
  const [, setRound] = useState(0);
  const limit = limits.get(asks) ?? FIRST;
  const widen = useCallback(() => {
    put(limits, asks, WIDER.find((wide) => wide > limit) ?? MOST);
    setRound((round) => round + 1);
  }, [asks, limit]);
  return { limit, widen: limit < MOST ? widen : undefined };
}

/** Brings a list back to where it was when Back or Forward lead to it; `isThere` tells whether its places are drawn. */
export function useKeptPlace(isThere: boolean): void {
  const { key } = useLocation();
  const isBack = useNavigationType() === "POP";
  const shown = useRef(key);
  // The list that leaves makes the page short, which is a scroll, too: it is no longer listened to then.
  useLayoutEffect(() => {
    const page = document.getElementById("content");
    const onScroll = () => page && put(tops, shown.current, page.scrollTop);
    page?.addEventListener("scroll", onScroll, { passive: true });
    return () => page?.removeEventListener("scroll", onScroll);
  }, []);
  useLayoutEffect(() => {
    shown.current = key;
    const page = document.getElementById("content");
    const top = tops.get(key);
    if (page && isThere && isBack && top !== undefined) page.scrollTop = top;
  }, [key, isThere, isBack]);
}

function put<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MOST_KEPT && oldest !== undefined) map.delete(oldest);
}
