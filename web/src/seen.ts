import { type RefObject, useEffect, useRef, useState } from "react";

/** Tells when a place comes into sight for the first time: what is costly to show waits for that. */
export function useSeen<Place extends Element>(): readonly [RefObject<Place | null>, boolean] {
  const place = useRef<Place>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (!place.current) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) setSeen(true);
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return [place, isSeen];
}
