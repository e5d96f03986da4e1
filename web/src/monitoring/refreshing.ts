import { type DependencyList, useEffect, useState } from "react";
import { type Load, useLoad } from "../api/client";

/** What is loaded again and again. */
export interface Refreshing<T> extends Load<T> {
  /** When it came, in seconds since the epoch; 0 before. */
  readonly at: number;
}

/** Loads again every so often while the page is to be seen, and at once when it is seen again. */
export function useRefreshing<T>(
  loader: (signal: AbortSignal) => Promise<T>,
  everySeconds: number,
  deps: DependencyList = [],
): Refreshing<T> {
  const [at, setAt] = useState(0);
  const load = useLoad(async (signal) => {
    const value = await loader(signal);
    setAt(Date.now() / 1000);
    return value;
  }, deps);
  const { reload } = load;
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === "visible") reload();
    };
    const timer = setInterval(look, everySeconds * 1000);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [reload, everySeconds]);
  return { ...load, at };
}
