import { useEffect } from "react";

const NAME = "Codefathom";

/** Gives the window the title of a page, such as "Search · Codefathom"; what is asked or shown stands first. */
export function useTitle(...parts: readonly string[]): void {
  const title = [...parts.filter(Boolean), NAME].join(" · ");
  useEffect(() => {
    document.title = title;
    return () => {
      document.title = NAME;
    };
  }, [title]);
}
