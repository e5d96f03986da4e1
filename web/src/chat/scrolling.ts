import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

const NEAR = 48;

export interface Scrolling {
  /** What scrolls. */
  readonly outer: RefObject<HTMLDivElement | null>;
  /** What grows in it. */
  readonly inner: RefObject<HTMLDivElement | null>;
  readonly isAtEnd: boolean;
  /** Shows the end, and keeps it in sight while more comes. */
  readonly toEnd: () => void;
}

/**
 * Shows the latest of `n` articles from its beginning: who reads an answer while it is written begins there, and does
 * not want it to move.
 */
export function useScrolling(n: number): Scrolling {
  const outer = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const follows = useRef(false);
  const [isAtEnd, setAtEnd] = useState(true);
  const toEnd = useCallback(() => {
    follows.current = true;
    outer.current?.scrollTo({ top: outer.current.scrollHeight });
  }, []);
  useLayoutEffect(() => {
    follows.current = false;
    const latest = inner.current?.querySelector<HTMLElement>(":scope > article:last-of-type");
    outer.current?.scrollTo({ top: latest?.offsetTop ?? 0 });
  }, [n]);
  useEffect(() => {
    const [box, content] = [outer.current, inner.current];
    if (!box || !content) return undefined;
    let top = box.scrollTop;
    const look = () => setAtEnd(box.scrollHeight - box.scrollTop - box.clientHeight < NEAR);
    const observer = new ResizeObserver(() => {
      if (follows.current) box.scrollTop = box.scrollHeight;
      look();
    });
    const onScroll = () => {
      if (box.scrollTop < top) follows.current = false;
      top = box.scrollTop;
      look();
    };
    observer.observe(content);
    observer.observe(box);
    box.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      observer.disconnect();
      box.removeEventListener("scroll", onScroll);
    };
  }, []);
  return { outer, inner, isAtEnd, toEnd };
}
